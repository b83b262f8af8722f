"""IntegerValue and NearestInteger again (FORMAT.md section 5), on raw files; and what stands before them.

Forms of i and n are compared for all lengths, as the text says; the integers themselves are read off a sample
of words. Uniform and Sign heads are followed as the hard attention that they approximate.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from fractions import Fraction
from math import exp, floor, isqrt
from typing import Any

from tests.support.oracles.second_reader.forms import NothingShownError
from tests.support.oracles.second_reader.laurent import (
    J,
    Laurent,
    Lead,
    W,
    at_shortest,
    constant,
    lead,
    least_ratio,
    minus,
    monomial,
    of_four,
    plus,
    scaled,
    tie_difference,
    times,
)
from tests.support.oracles.second_reader.raw import RawHead
from tests.support.oracles.second_reader.streams import (
    Held,
    Integer,
    Known,
    Sample,
    Table,
    linear,
    linear_or_integer,
    of_form,
)

FADES = 3 * exp(-2)
"""n e^-D is at most this, D the number of binary digits of n."""

SEEN: dict[str, Laurent] = {
    "<=": monomial(1, 0),
    ">=": plus(minus(monomial(0, 1), monomial(1, 0)), constant(1)),
    "all": monomial(0, 1),
}
"""The number of positions that a mask shows at i; also what counts them all."""

WEAK = {"future-masked": "<=", "past-masked": ">=", "unmasked": "all"}


class MisfitError(Exception):
    """A side condition that fails."""


@dataclass(frozen=True)
class Values:
    """IntegerValue applies: the margin is base + digits D."""

    base: Fraction
    digits: int


@dataclass(frozen=True)
class Nearests:
    """NearestInteger applies, by these leads before the noise is taken off."""

    behind: Lead
    ahead: Lead
    noise: Fraction

    @property
    def stray_mass(self) -> float:
        """W / (1 + W)."""
        weight = exp(self.noise) * (self.behind.weight + self.ahead.weight)
        return weight / (1 + weight)


@dataclass(frozen=True)
class Scores:
    """The inverse temperature over the root of d_head, the rows, and the mask."""

    cold: Known
    rows: list[tuple[Known | Integer, Known | Integer]]
    mask: str
    sample: Sample


def scores_of(head: RawHead, stream: Sequence[Held], sample: Sample, width: int) -> Scores:
    """What a head's scores are made of; raises where they are not followed, or the mask is strict."""
    if head.masking not in WEAK:
        raise MisfitError("a strict mask")
    root = isqrt(width)
    if root * root != width:
        raise NothingShownError("the root of d_head is no rational")
    temperature = of_form(head.temperature, sample)
    if not isinstance(temperature, Known):
        raise NothingShownError("the temperature is not followed")
    rows = []
    for r in range(width if head.w_q else 0):
        query = linear_or_integer(stream, [row[r] for row in head.w_q], len(sample.spots))
        key = linear_or_integer(stream, [row[r] for row in head.w_k], len(sample.spots))
        if not _is_nothing(query) and not _is_constant(key):
            rows.append((query, key))
    return Scores(temperature.times(Fraction(1, root)), rows, WEAK[head.masking], sample)


def _is_nothing(held: Known | Integer) -> bool:
    return isinstance(held, Known) and not (held.powers or held.digits or any(held.table) or held.error)


def _is_constant(held: Known | Integer) -> bool:
    """Whether it is the same at all j; powers of n alone are."""
    if isinstance(held, Integer):
        return False
    return (
        not held.error and len(set(held.table)) == 1 and not any(a for a, _ in (*held.powers, *held.digits))
    )


# Uniform and Sign ---------------------------------------------------------------------------------------


def words_of(table: Sequence[Any], sample: Sample) -> Iterator[Sequence[Any]]:
    """The table word by word."""
    begin = 0
    for word in sample.words:
        yield table[begin : begin + len(word)]
        begin += len(word)


def seen(mask: str, i: int, length: int) -> range:
    """The positions that i sees, from 0."""
    return {"<=": range(i + 1), ">=": range(i, length), "all": range(length)}[mask]


def uniform(scores: Scores, values: Sequence[Known]) -> list[Held]:
    """The means of the values; nothing may depend on j."""
    if scores.rows:
        raise MisfitError("its scores depend on j")
    return [_mean(value, scores) for value in values]


def _mean(value: Known, scores: Scores) -> Held:
    if value.powers or value.digits or value.error:
        return NothingShownError("a mean of what is no exact number")
    found: list[Fraction] = []
    for own in words_of(value.table, scores.sample):
        for i in range(len(own)):
            shown = seen(scores.mask, i, len(own))
            found.append(sum((own[j] for j in shown), Fraction(0)) / len(shown))
    return Known({}, tuple(found))


def sign(
    head: RawHead, stream: Sequence[Held], sample: Sample, width: int, values: Sequence[Known]
) -> list[Held]:
    """The value at the positions of the better parity; keys are multiples of sigma_j, or of j sigma_j.

    The error is the text's for what `gap` is on the sample.
    """
    scores = scores_of(replace(head, w_q=[], w_k=[]), [], sample, width)
    table, power = _signed(head, stream, scores)
    gap = min(
        abs(x) * len(shown) ** power
        for x, (word, i) in zip(table, sample.spots, strict=True)
        if len(shown := seen(scores.mask, i - 1, len(word))) > 1
    )
    bound = 1 / (exp(gap) - exp(gap / 3)) if power else 2 * exp(-2 * gap)
    return [_at_parity(value, table, scores, bound / (1 + bound)) for value in values]


def _signed(head: RawHead, stream: Sequence[Held], scores: Scores) -> tuple[Table, int]:
    """Query times temperature at each spot, for the key (-1)^j j^power; and the power."""
    sample = scores.sample
    asked = [_numbers([row[r] for row in head.w_q], stream, sample) for r in range(len(head.w_q[0]))]
    keys = [_numbers([row[r] for row in head.w_k], stream, sample) for r in range(len(head.w_k[0]))]
    total, powers = [Fraction(0)] * len(sample.spots), set()
    for query, key in zip(asked, keys, strict=True):
        if not any(query) or len(set(key)) == 1:
            continue
        for power in (0, 1):
            ups = {x * (-1) ** i / i**power for x, (_, i) in zip(key, sample.spots, strict=True)}
            if len(ups) == 1:
                powers.add(power)
                (factor,) = ups
                total = [t + q * factor for t, q in zip(total, query, strict=True)]
                break
        else:
            raise MisfitError("a key is no multiple of sigma_j")
    if len(powers) != 1:
        raise MisfitError("keys of several kinds")
    cold = at_spots(scores.cold, sample)
    return tuple(c * t for c, t in zip(cold, total, strict=True)), powers.pop()


def _numbers(factors: Sequence[Fraction], stream: Sequence[Held], sample: Sample) -> list[Fraction]:
    """A linear form of exact coordinates at every spot."""
    total = [Fraction(0)] * len(sample.spots)
    for held, factor in zip(stream, factors, strict=True):
        if factor:
            if isinstance(held, NothingShownError):
                raise held
            if held.error:
                raise MisfitError("it reads what is not exact")
            table = at_spots(held, sample)
            total = [t + factor * x for t, x in zip(total, table, strict=True)]
    return total


def _at_parity(value: Known, table: Table, scores: Scores, stray: float) -> Held:
    if value.powers or value.digits or value.error:
        return NothingShownError("a sign head's value that is no exact number")
    found: list[Fraction] = []
    for own, asked in zip(words_of(value.table, scores.sample), words_of(table, scores.sample), strict=True):
        for i, score in enumerate(asked):
            shown = seen(scores.mask, i, len(own))
            right = [own[j] for j in shown if (j % 2 == 1) == (score > 0)] or [own[i]]
            if len(set(right)) > 1 or (score == 0 and len(shown) > 1):
                raise MisfitError("a sign head that is no function of the parity")
            found.append(right[0])
    spread = max(value.table) - min(value.table)
    return Known({}, tuple(found), spread * Fraction(stray))


def at_spots(held: Known | Integer, sample: Sample) -> list[Fraction]:
    """What a coordinate should be, at every spot."""
    found = []
    for spot, (word, i) in enumerate(sample.spots):
        n = len(word)
        if isinstance(held, Integer):
            found.append(held.factor * Fraction(n) ** held.growth * held.table[spot] ** held.power)
            continue
        at = {
            key: Fraction(i) ** key[0] * Fraction(n) ** key[1]
            for key in (*held.powers, *held.digits, *held.mixed)
        }
        powers = sum((x * at[key] for key, x in held.powers.items()), held.table[spot])
        powers += sum((row[spot] * at[key] for key, row in held.mixed.items()), Fraction(0))
        digits = sum((x * at[key] for key, x in held.digits.items()), Fraction(0))
        found.append(powers + len(f"{n:b}") * digits)
    return found


# IntegerValue -------------------------------------------------------------------------------------------


@dataclass
class _Parabola:
    """What stands before j and before j^2: of each query table, the form without and with digits."""

    terms: dict[int, tuple[Table, Laurent, Laurent]] = field(default_factory=dict)

    def add(self, power: int, table: Table, fixed: Laurent, digits: Laurent) -> None:
        if power not in self.terms:
            self.terms[power] = (table, {}, {})
        first, before, before_digits = self.terms[power]
        at = next(k for k, x in enumerate(first) if x)
        ratio = table[at] / first[at]
        if any(y != ratio * x for x, y in zip(first, table, strict=True)):
            raise MisfitError("queries that are no multiples of each other")
        self.terms[power] = (
            first,
            plus(before, scaled(fixed, ratio)),
            plus(before_digits, scaled(digits, ratio)),
        )


def integer_value(scores: Scores, values: Sequence[Known]) -> tuple[Values, list[Held]]:
    """The rule, and the integers that it makes."""
    parabola = _parabola(scores)
    if not {2} <= set(parabola.terms) <= {1, 2}:
        raise MisfitError("no parabola")
    bowl, fixed, digits = parabola.terms[2]
    side, unit = _side(bowl, scores.sample)
    if scores.mask != "all" and not (scores.mask == side == "<="):
        raise MisfitError("it may not see the position")
    fixed, digits = scaled(fixed, -unit), scaled(digits, -unit)
    integers = _integers(parabola, (fixed, digits), side, scores)
    base, per_digit = _margin(fixed, digits, side, scores.mask)
    r, rest = exp(-base), exp(-3 * base)
    off = Fraction(2 * r * FADES**per_digit / (1 - rest) ** 2)
    made = [_made(value, integers, off, per_digit) for value in values]
    if scores.mask != "all" and any(isinstance(own, Integer) and own.power == 2 for own in made):
        raise MisfitError("a square that is read with a mask")
    return Values(base, per_digit), made


def _parabola(scores: Scores) -> _Parabola:
    if scores.cold.mixed or len(set(scores.cold.table)) > 1:
        raise NothingShownError("a temperature that depends on the position")
    cold = plus(scores.cold.powers, constant(scores.cold.table[0]))
    parabola = _Parabola()
    for query, key in scores.rows:
        if isinstance(query, Integer) or isinstance(key, Integer):
            raise MisfitError("integers look for integers")
        if query.powers or query.digits or query.error or key.error or any(key.table):
            raise MisfitError("a query with powers, or a key without")
        for (power, b), factor in key.powers.items():
            form = scaled(monomial(0, b), factor)
            parabola.add(power, query.table, times(form, cold), times(form, scores.cold.digits))
        for (power, b), factor in key.digits.items():
            if scores.cold.digits:
                raise MisfitError("digits times digits")
            parabola.add(power, query.table, {}, times(scaled(monomial(0, b), factor), cold))
    return parabola


def _side(bowl: Table, sample: Sample) -> tuple[str, Fraction]:
    """The mask, and the factor: the table is the factor over the number of positions that it shows."""
    for mask in SEEN:
        units = {
            x * len(seen(mask, i - 1, len(word))) for x, (word, i) in zip(bowl, sample.spots, strict=True)
        }
        if len(units) == 1:
            return mask, units.pop()
    raise MisfitError("no mean of a mark")


def _integers(
    parabola: _Parabola, kappa: tuple[Laurent, Laurent], side: str, scores: Scores
) -> tuple[int, ...]:
    """c at every spot, within 1..n; with the mask within 1..i."""
    if 1 not in parabola.terms:
        return (1,) * len(scores.sample.spots)
    table, *slope = parabola.terms[1]
    ratios = {
        slope[k].get(key, Fraction(0)) / (2 * value)
        for k, form in enumerate(kappa)
        for key, value in form.items()
    }
    if len(ratios) != 1 or any(set(slope[k]) - set(kappa[k]) for k in (0, 1)):
        raise MisfitError("the top of the parabola is not where the query says")
    (ratio,) = ratios
    found = []
    for x, (word, i) in zip(table, scores.sample.spots, strict=True):
        c = ratio * x * len(seen(side, i - 1, len(word)))
        if c.denominator != 1:
            raise MisfitError("no integer is looked for")
        found.append(min(max(int(c), 1), len(seen(scores.mask, i - 1, len(word)))))
    return tuple(found)


def _margin(fixed: Laurent, digits: Laurent, side: str, mask: str) -> tuple[Fraction, int]:
    base = least_ratio(fixed, SEEN[side], mask)
    if base is None or base <= 0:
        raise MisfitError("no margin")
    if not digits:
        return base, 0
    per_digit = least_ratio(digits, SEEN[side], mask)
    if per_digit is None or per_digit < 0:
        raise MisfitError("a margin that shrinks")
    return base, floor(per_digit)


def _made(value: Known, integers: tuple[int, ...], off: Fraction, digits: int) -> Held:
    if any(value.table) or value.digits or value.error or len(value.powers) != 1:
        raise MisfitError("a value that is no multiple of j or j^2")
    (((power, growth), factor),) = value.powers.items()
    if power not in (1, 2):
        raise MisfitError("a value that is no multiple of j or j^2")
    return Integer(factor, growth, power, integers, power * abs(factor) * off, growth + power - 1 - digits)


# NearestInteger -----------------------------------------------------------------------------------------


@dataclass
class _Terms:
    """The scores, but for what is the same at all j: what stands before each thing at j."""

    products: Laurent = field(default_factory=dict)
    """Before K(i) K'(j)."""
    singles: Laurent = field(default_factory=dict)
    """Before K'(j), where K' is an integer."""
    squares: Laurent = field(default_factory=dict)
    """Before K'(j)^2, or before j^2."""
    places: Laurent = field(default_factory=dict)
    """Before j."""
    place_products: Laurent = field(default_factory=dict)
    """Before K(i) j."""
    blocks: list[tuple[Laurent, Table]] = field(default_factory=list)
    query: tuple[int, ...] | None = None
    key: tuple[int, ...] | None = None


def nearest_integer(scores: Scores, values: Sequence[Known]) -> tuple[Nearests, list[Held]]:
    """The rule, and the values where the integer at j is nearest."""
    terms, noise = _terms(scores), _noise(scores)
    reason = MisfitError("its scores are not those of a nearest integer")
    for query, key, push, tie in _readings(terms, scores.sample):
        try:
            return _nearest(scores, terms, noise, (query, key, push, tie), values)
        except MisfitError as misfit:
            reason = misfit
    raise reason


def _number(held: Known) -> Laurent:
    """A coordinate that is the same for all words, as a form."""
    if held.digits or held.error or held.mixed or len(set(held.table)) > 1:
        raise MisfitError("what is multiplied with an integer depends on the word")
    return plus(held.powers, constant(held.table[0]))


def _terms(scores: Scores) -> _Terms:
    terms, cold = _Terms(), _number(scores.cold)
    for query, key in scores.rows:
        if isinstance(query, Integer):
            if query.power != 1 or terms.query not in (None, query.table):
                raise MisfitError("several integers at i")
            terms.query = query.table
            factor = times(cold, scaled(monomial(0, query.growth), query.factor))
        else:
            factor = times(cold, _number(query))
        _add_key(terms, factor, key, is_product=isinstance(query, Integer))
    return terms


def _add_key(terms: _Terms, factor: Laurent, key: Known | Integer, *, is_product: bool) -> None:
    if isinstance(key, Integer):
        if terms.key not in (None, key.table):
            raise MisfitError("several integers at j")
        terms.key = key.table
        own = times(factor, scaled(monomial(0, key.growth), key.factor))
        name = "squares" if key.power == 2 else "products" if is_product else "singles"
        if is_product and key.power == 2:
            raise MisfitError("an integer times a square")
        setattr(terms, name, plus(getattr(terms, name), own))
        return
    if key.digits or key.error:
        raise MisfitError("a key with digits or an error")
    for (power, b), value in key.powers.items():
        own = times(factor, scaled(monomial(0, b), value))
        if power not in (1, 2) or (power == 2 and (is_product or terms.key is not None)):
            raise MisfitError("a key with other powers of j")
        name = "squares" if power == 2 else "place_products" if is_product else "places"
        setattr(terms, name, plus(getattr(terms, name), own))
    if len(set(key.table)) > 1:
        if is_product:
            raise MisfitError("an integer times what is none")
        terms.blocks.append((factor, key.table))


def _readings(
    terms: _Terms, sample: Sample
) -> Iterator[tuple[tuple[int, ...], tuple[int, ...], Laurent, Laurent]]:
    """K, K', G and T: each way to read the scores."""
    push = scaled(terms.squares, -1)
    if not push:
        return
    twice = scaled(push, 2)
    key = terms.key or tuple(i for _, i in sample.spots)
    products, singles, tie = terms.products, terms.singles, terms.places
    if terms.key is None:
        products, singles, tie = terms.place_products, terms.places, {}
    elif terms.place_products:
        return
    if terms.query is not None:
        if products == twice:
            rest = plus(singles, tie)
            if terms.key is None or not singles:
                yield terms.query, key, push, rest
        return
    for mask, counted in SEEN.items():
        left = minus(singles, times(twice, counted))
        if terms.key is None or not left:
            query = tuple(len(seen(mask, i - 1, len(word))) for word, i in sample.spots)
            yield query, key, push, plus(left, tie)


def _nearest(
    scores: Scores,
    terms: _Terms,
    noise: Fraction,
    reading: tuple[tuple[int, ...], tuple[int, ...], Laurent, Laurent],
    values: Sequence[Known],
) -> tuple[Nearests, list[Held]]:
    query, key, push, tie = reading
    rightmost = at_shortest(tie, scores.mask) > 0
    blocked = _blocked(terms.blocks, push, len(scores.sample.spots))
    apart = tie_difference(tie, 1)
    farther, nearer = (J, W) if rightmost else (W, J)
    behind = lead(apart, scores.mask, low=farther)
    ahead = lead(plus(of_four(push), apart), scores.mask, low=nearer)
    if behind is None or ahead is None or min(behind.start, ahead.start) <= noise:
        raise MisfitError("no lead")
    answer = Nearests(behind, ahead, noise)
    return answer, [
        _read_nearest(value, (query, key, blocked), scores, rightmost, answer.stray_mass) for value in values
    ]


def _blocked(blocks: Sequence[tuple[Laurent, Table]], push: Laurent, size: int) -> tuple[int, ...]:
    """b at every spot, 0 or 1."""
    total = (Fraction(0),) * size
    for form, table in blocks:
        ratio = (
            next(iter(form.values())) / push.get(next(iter(form)), Fraction(0))
            if set(form) == set(push)
            else None
        )
        if ratio is None or scaled(push, ratio) != form:
            raise MisfitError("what is taken away is no multiple of G")
        total = tuple(t - ratio * x for t, x in zip(total, table, strict=True))
    least = min(total)
    if {x - least for x in total} - {Fraction(0), Fraction(1)}:
        raise MisfitError("what is taken away is no bit")
    return tuple(int(x - least) for x in total)


def _read_nearest(
    value: Known,
    tables: tuple[tuple[int, ...], tuple[int, ...], tuple[int, ...]],
    scores: Scores,
    rightmost: bool,
    stray: float,
) -> Held:
    if value.powers or value.digits or value.error:
        raise MisfitError("a value that is no exact number")
    found = []
    each = zip(*(words_of(table, scores.sample) for table in (value.table, *tables)), strict=True)
    for own, query, key, blocked in each:
        for i in range(len(own)):
            shown = seen(scores.mask, i, len(own))
            off = {j: (query[i] - key[j]) ** 2 + blocked[j] for j in shown}
            best = [j for j in shown if off[j] == min(off.values())]
            found.append(own[best[-1] if rightmost else best[0]])
    spread = max(value.table) - min(value.table)
    return Known({}, tuple(found), spread * Fraction(stray))


Grown = tuple[Fraction, int]
"""At most factor * n^power."""


def _plus(left: Grown, right: Grown) -> Grown:
    return left[0] + right[0], max((own[1] for own in (left, right) if own[0]), default=0)


def _times(left: Grown, right: Grown) -> Grown:
    return left[0] * right[0], left[1] + right[1]


def _size(held: Known | Integer) -> Grown:
    """The greatest multiple e n^p of what a coordinate should be."""
    if isinstance(held, Integer):
        return abs(held.factor), held.growth + held.power
    total = (max(map(abs, held.table)), 0)
    for form, more in ((held.powers, 0), (held.digits, 1)):
        for (a, b), value in form.items():
            total = _plus(total, (abs(value), max(a, 0) + b + more))
    return total


def _error(held: Known | Integer) -> Grown:
    return (held.error, held.fading) if isinstance(held, Integer) else (held.error, 0)


def _noise(scores: Scores) -> Fraction:
    """The sum over rows of 2 e_q |k| + 2 (|q| + e_q) e_k."""
    total: Grown = (Fraction(0), 0)
    cold = _size(scores.cold)
    for query, key in scores.rows:
        asked, off = _times(_size(query), cold), _times(_error(query), cold)
        total = _plus(total, _times((Fraction(2), 0), _times(off, _size(key))))
        total = _plus(total, _times((Fraction(2), 0), _times(_plus(asked, off), _error(key))))
    if total[1] > 0:
        raise MisfitError("integers that are off by more in longer words")
    return total[0]


def values_of(head: RawHead, stream: Sequence[Held], sample: Sample) -> list[Known]:
    """The head's values."""
    columns = [v for v, row in enumerate(head.w_o) if any(row)]
    return [linear(stream, [row[v] for row in head.w_v], len(sample.spots)) for v in columns]
