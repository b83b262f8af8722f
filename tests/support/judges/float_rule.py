"""A second reading of the float rule of Select, from FORMAT.md: nothing here imports the checker.

The first version was written without a look at the code, and the two were compared. Where the text left a
constant open (what a weight costs, when a number is known relatively) this one takes the one of the checker.
Names follow sections 5 and 6. Laurent forms, and the lemma of heads that choose, are those of the second
reader.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable
from dataclasses import dataclass
from fractions import Fraction
from functools import cache, reduce
from itertools import pairwise, product

from flint import arb, ctx, fmpq

from attemper.exact import closed_forms
from attemper.networks.layers import Head, Layer, LinearForm, Masking, Network, Select, Softmax
from tests.support.oracles.second_reader.laurent import (
    STARTS,
    J,
    Laurent,
    Lead,
    W,
    at_shortest,
    in_distances,
    lead,
    minus,
    of_four,
    plus,
    scaled,
    tie_difference,
    times,
    worst,
)

ZERO, ONE, HALF = Fraction(0), Fraction(1), Fraction(1, 2)
BITS = 200


class NoBoundError(Exception):
    """A side condition of the rule fails, or no bound is left."""


@dataclass(frozen=True)
class Arithmetic:
    """A number format as section 6 introduces the format: u, U, the range, the least normal number, exp."""

    name: str
    u: Fraction
    sums: Fraction
    range: int
    tiny: Fraction
    exp: int

    @property
    def unit(self) -> Fraction:
        """What is added for underflow."""
        return Fraction(1, self.range)


DOUBLE = Fraction(1, 2**53)
FORMATS = {
    "float64": Arithmetic("float64", DOUBLE, DOUBLE, 2**900, Fraction(1, 2**1022), 8),
    "float32": Arithmetic("float32", Fraction(1, 2**24), Fraction(1, 2**24), 2**100, Fraction(1, 2**126), 8),
    "bfloat16": Arithmetic("bfloat16", Fraction(1, 2**8), Fraction(1, 2**24), 2**100, Fraction(1, 2**126), 2),
}


# Laurent forms ------------------------------------------------------------------------------------


def sizes(form: Laurent) -> Laurent:
    """The form with every coefficient's absolute value: a bound of the form's absolute value."""
    return {monomial: abs(factor) for monomial, factor in form.items()}


def greatest(form: Laurent, length: int) -> Fraction:
    """A bound of a form with positive coefficients on 1 <= i <= n <= N."""
    powers = ((a + b if a >= 0 else b, factor) for (a, b), factor in form.items())
    return sum((factor * length ** max(power, 0) for power, factor in powers), ZERO)


CONSTANT: Laurent = {(0, 0): ONE}
POSITION: Laurent = {(1, 0): ONE}
LENGTH: Laurent = {(0, 1): ONE}
FUTURE, PAST = Masking.FUTURE, Masking.PAST
SHOWN = {FUTURE: "<=", PAST: ">=", Masking.NONE: "all"}
VISIBLE: dict[Masking, Laurent] = {
    FUTURE: POSITION,
    PAST: plus(LENGTH, scaled(POSITION, -1), CONSTANT),
    Masking.NONE: LENGTH,
}
GREATEST: dict[Masking, Laurent] = {FUTURE: POSITION, PAST: LENGTH, Masking.NONE: LENGTH}


def coefficient_ratio(above: Laurent, below: Laurent, mask: Masking) -> Fraction:
    """The c of section 6 with above >= c below: the least ratio of coefficients in x and y, or 0."""
    found = []
    for order in STARTS[SHOWN[mask]]:
        p, q = in_distances((above, below), order)
        if any(factor < 0 for factor in p.values()):
            return ZERO
        found += [p.get(monomial, ZERO) / factor for monomial, factor in q.items()]
    return min(found)


MOST_LOWERED = 24
"""No lead of these heads needs more."""
MOST_LOST = Fraction(15, 16)
"""A greater loss is no bound."""


@cache
def _lowered(
    score_gap: tuple[tuple[tuple[int, ...], Fraction], ...], a: int, b: int, mask: Masking
) -> tuple[int, Fraction]:
    for k in range(MOST_LOWERED):
        found = max(
            coefficient_ratio(dict(score_gap), {lowered: ONE}, mask) for lowered in ((a - k, b), (a, b - k))
        )
        if found > 0:
            return k, found
    raise NoBoundError("no multiple of the lead")


def against(errors: Laurent, score_gap: Laurent, mask: Masking, length: int) -> Fraction:
    """The errors as a multiple of the lead: a term e i^a n^b is at most (N^k / c) e times the lead."""
    total, key = ZERO, tuple(sorted(score_gap.items()))
    for (a, b), e in errors.items():
        k, c = _lowered(key, a, b, mask)
        total += e * length**k / c
    return total


# Numbers of a run -----------------------------------------------------------------------------------


@dataclass(frozen=True)
class Computed:
    """A number that is computed: its greatest size, the greatest of its inverse, and its errors.

    `grid` is there if it is exact: the format holds all multiples of 2^grid up to its size. Else `absolute`
    holds everywhere, `zero` where it is 0, and `relative` elsewhere; None: it is not known relatively.
    """

    size: Fraction
    inverse: Fraction | None
    grid: int | None
    absolute: Fraction = ZERO
    zero: Fraction = ZERO
    relative: Fraction | None = ZERO


def grid_of(value: Fraction) -> int | None:
    """The greatest g with the value a multiple of 2^g; None for values such as 1/3."""
    if value.denominator & (value.denominator - 1):
        return None
    return (value.numerator & -value.numerator).bit_length() - value.denominator.bit_length()


def common_grid(values: Iterable[Fraction]) -> int | None:
    """The greatest g with all values multiples of 2^g, 0 if all are 0; None if there is none."""
    grids = [grid_of(value) for value in values if value]
    return None if None in grids else min((g for g in grids if g is not None), default=0)


def is_power_of_two(value: Fraction) -> bool:
    """Whether the value is plus or minus a power of two."""
    grid = grid_of(value)
    return bool(value) and grid is not None and abs(value) == Fraction(2) ** grid


def held(size: Fraction, grid: int | None, u: Fraction) -> bool:
    """Whether a format holds all multiples of 2^grid up to the size."""
    return grid is not None and size * u <= Fraction(2) ** grid


def holds(value: Fraction, u: Fraction) -> bool:
    """Whether a format holds the number."""
    return held(abs(value), common_grid([value]), u)


def chain(*errors: Fraction | None) -> Fraction | None:
    """The relative error of errors one after the other."""
    total = ONE
    for error in errors:
        if error is None:
            return None
        total *= 1 + error
    return total - 1


def exact(size: Fraction, grid: int) -> Computed:
    """A number without error; what is not 0 is at least 2^grid."""
    return Computed(size, 1 / Fraction(2) ** grid, grid)


def product_of(left: Computed, right: Computed, u: Fraction, unit: Fraction) -> Computed:
    """The product, rounded once unless the format holds it; `unit` is what underflow adds."""
    size = left.size * right.size
    inverse = None if left.inverse is None or right.inverse is None else left.inverse * right.inverse
    grid = None if left.grid is None or right.grid is None else left.grid + right.grid
    if held(size, grid, u):
        return Computed(size, inverse, grid)
    most_left, most_right = left.size + left.absolute, right.size + right.absolute
    return Computed(
        size,
        inverse,
        None,
        most_left * most_right * (1 + u) - size + unit,
        max(left.zero * most_right, right.zero * most_left) * (1 + u),
        chain(left.relative, right.relative, u),
    )


def in_double(form: closed_forms.ClosedForm, length: int) -> Computed:
    """A closed form as evaluated in float64, one rounding for each operation."""
    match form:
        case closed_forms.Number(value) if holds(value, DOUBLE):
            return exact(abs(value), common_grid([value]) or 0)
        case closed_forms.Number(value):
            return Computed(abs(value), 1 / abs(value), None, DOUBLE * abs(value), ZERO, DOUBLE)
        case closed_forms.Position() | closed_forms.Length():
            return exact(Fraction(length), 0)
        case closed_forms.Alternating():
            return exact(ONE, 0)
        case closed_forms.Product(parts):
            return _repeated([in_double(part, length) for part in parts])
        case closed_forms.Sum(parts):
            return _sum_in_double([in_double(part, length) for part in parts])
        case closed_forms.Power(base, exponent):
            found = _repeated([in_double(base, length)] * abs(exponent))
            return found if exponent >= 0 else _reciprocal(found)
    raise NoBoundError(f"a closed form of another kind: {form}")


def _repeated(parts: list[Computed]) -> Computed:
    return reduce(lambda x, y: product_of(x, y, DOUBLE, ZERO), parts, exact(ONE, 0))


def _sum_in_double(parts: list[Computed]) -> Computed:
    size = sum((part.size for part in parts), ZERO)
    grids = [part.grid for part in parts if part.grid is not None]
    if len(grids) == len(parts) and held(size, min(grids), DOUBLE):
        return exact(size, min(grids))
    off = sum((part.absolute for part in parts), ZERO)
    off += 2 * len(parts) * DOUBLE * (size + off)
    return Computed(size, ONE, None, off, off, None)


def _reciprocal(number: Computed) -> Computed:
    if number.relative is None or number.inverse is None or 2 * number.relative >= 1:
        raise NoBoundError("a reciprocal of a number that is not known relatively")
    relative = chain(2 * number.relative, DOUBLE)
    assert relative is not None
    return Computed(number.inverse, number.size, None, relative * number.inverse, ZERO, relative)


def in_format(form: closed_forms.ClosedForm, arithmetic: Arithmetic, length: int) -> Computed:
    """A closed form as the run gets the form: rounded to the format once."""
    found, u = in_double(form, length), arithmetic.u
    size = min(found.size, greatest(sizes(exactly(form)), length))
    if size >= arithmetic.range or found.inverse is None or found.inverse >= arithmetic.range:
        raise NoBoundError("a closed form leaves the range")
    if held(size, found.grid, u):
        return Computed(size, found.inverse, found.grid)
    off = found.absolute if found.relative is None else min(found.absolute, found.relative * size)
    return Computed(
        size, found.inverse, None, off + u * (size + off), found.zero * (1 + u), chain(found.relative, u)
    )


def exactly(form: closed_forms.ClosedForm) -> Laurent:
    """A closed form as a Laurent form; (-1)^i, which only bounds need, counts as 1."""
    match form:
        case closed_forms.Number(value):
            return scaled(CONSTANT, value)
        case closed_forms.Alternating():
            return CONSTANT
        case closed_forms.Position():
            return POSITION
        case closed_forms.Length():
            return LENGTH
        case closed_forms.Product(parts):
            return reduce(times, [exactly(part) for part in parts], CONSTANT)
        case closed_forms.Sum(parts):
            return plus(*(exactly(part) for part in parts))
        case closed_forms.Power(closed_forms.Position(), exponent):
            return {(exponent, 0): ONE}
        case closed_forms.Power(closed_forms.Length(), exponent):
            return {(0, exponent): ONE}
    raise NoBoundError(f"a closed form of another kind: {form}")


# The stream before the head -------------------------------------------------------------------------


@dataclass(frozen=True)
class Coordinate:
    """A coordinate before the head: its values by symbol, or its closed form; and its errors.

    `zero` is its error where it is 0, `other` elsewhere; `relative` is there for closed forms only.
    """

    values: tuple[Fraction, ...] | None
    form: Laurent
    zero: Fraction
    other: Fraction
    relative: Fraction | None
    alternates: bool = False

    @property
    def constants(self) -> tuple[Fraction, ...] | None:
        """All values, if they depend on the symbol only."""
        if self.values is not None:
            return self.values
        return (self.form[0, 0],) if set(self.form) == {(0, 0)} else None

    @property
    def is_exact(self) -> bool:
        """Whether it is computed without error."""
        return not (self.zero or self.other or self.relative is None or self.relative)

    def peaks(self) -> Laurent:
        """A bound of its size, as a form."""
        if self.values is None:
            return sizes(self.form)
        return scaled(CONSTANT, max(map(abs, self.values)))

    def grid(self) -> int | None:
        """The grid of all its values, if it is exact."""
        if not self.is_exact or any(a < 0 or b < 0 for a, b in self.form):
            return None
        return common_grid(self.form.values() if self.values is None else self.values)


Stream = dict[int, Coordinate]


def read_stream(network: Network, arithmetic: Arithmetic, length: int) -> Stream:
    """What the head's layer reads: the embedding, and what the feed-forward layer before the head wrote."""
    stream: Stream = {}
    letters = [dict(embedding) for embedding in network.embedding]
    for coordinate in {c for letter in letters for c in letter}:
        values = tuple(letter.get(coordinate, ZERO) for letter in letters)
        if not all(holds(value, arithmetic.u) for value in values):
            raise NoBoundError("an embedding that the format does not hold")
        stream[coordinate] = Coordinate(values, {}, ZERO, ZERO, ZERO)
    for coordinate, form in network.positions:
        read = in_format(form, arithmetic, length)
        alternates = "Alternating" in repr(form)
        stream[coordinate] = Coordinate(
            None, exactly(form), read.zero, read.absolute, read.relative, alternates
        )
    for layer in network.layers[:-1]:
        stream |= written_by(layer, stream, arithmetic)
    return stream


def written_by(layer: Layer, stream: Stream, arithmetic: Arithmetic) -> Stream:
    """What a layer of units without bias writes, each coordinate by units that read one exact bit."""
    found: Stream = {}
    for target in {target for unit in layer.hidden for target, _ in unit.outputs}:
        units = [unit for unit in layer.hidden if target in dict(unit.outputs)]
        [((source, one),)] = {unit.form for unit in units}
        bits = stream[source].values
        assert one == 1
        assert bits is not None
        assert set(bits) <= {0, 1}
        assert all(unit.bias == 0 for unit in units)
        factors = [dict(unit.outputs)[target] for unit in units]
        assert sum(factors) == 1
        found[target] = Coordinate(bits, {}, ZERO, _error_of_sum(factors, arithmetic), ZERO)
    return found


def _error_of_sum(factors: list[Fraction], arithmetic: Arithmetic) -> Fraction:
    """The error of a sum of factors, each times a unit that is exactly 1: rules 2 and 4 of a coordinate."""
    u, size = arithmetic.u, sum(map(abs, factors), ZERO)
    if all(holds(factor, u) for factor in factors) and held(size, common_grid(factors), u):
        return ZERO
    of_unit = 2 * u + arithmetic.unit
    computed = size * (1 + of_unit)
    even = all(is_power_of_two(factor) for factor in factors)
    off = size * of_unit + (ZERO if even else 3 * u * computed) + arithmetic.unit
    return off + summed(len(factors), computed, 1 + off, arithmetic)


def summed(terms: int, size: Fraction, total: Fraction, arithmetic: Arithmetic) -> Fraction:
    """What adding terms of that size together can lose, the sum being at most `total`."""
    if terms <= 1:
        return ZERO
    inner = Fraction(8, 7) * (terms - 1) * arithmetic.sums * size
    return inner + (2 * arithmetic.u * (total + inner) if arithmetic.name == "bfloat16" else ZERO)


def linear(form: LinearForm, stream: Stream, arithmetic: Arithmetic, length: int) -> Computed:
    """A linear form of the stream, its products added in any order."""
    u, size, absolute = arithmetic.u, ZERO, ZERO
    known: int | None = 60
    for coordinate, factor in form:
        read, weight = stream[coordinate], abs(factor)
        own_size = greatest(read.peaks(), length)
        known = _finer(known, read.grid(), factor, u)
        size += weight * own_size
        error = max(read.zero, read.other)
        absolute += weight * error
        if not is_power_of_two(factor) and not held(weight * own_size, known, u):
            absolute += 3 * u * weight * (own_size + error)
    if known is not None and held(size, known, u):
        return exact(size, known)
    if 2 * (size + absolute) >= arithmetic.range:
        raise NoBoundError("a linear form leaves the range")
    absolute += summed(len(form), size + absolute, size + absolute, arithmetic) + arithmetic.unit
    if len(form) > 1:
        return _sum_of_several(form, stream, size, absolute)
    [(coordinate, factor)] = form
    read = stream[coordinate]
    inverse = _inverse(read, length)
    relative = read.relative
    if read.constants is not None:
        least = min((abs(value) for value in read.constants if value), default=ONE)
        relative = None if relative is None else relative + read.other / least
    relative = relative if is_power_of_two(factor) or relative is None else relative + 3 * u * (1 + relative)
    zero = abs(factor) * read.zero * (1 + 3 * u)
    if inverse is None or inverse / abs(factor) >= arithmetic.range:
        return Computed(size, None, None, absolute, zero, None)
    return Computed(size, inverse / abs(factor), None, absolute, zero, relative)


def _finer(known: int | None, own: int | None, factor: Fraction, u: Fraction) -> int | None:
    """The grid of the terms so far and of one more: None once a term is not exact, or its factor not held."""
    factor_grid = grid_of(factor)
    if known is None or own is None or factor_grid is None or not holds(factor, u):
        return None
    return min(known, own + factor_grid)


def _inverse(read: Coordinate, length: int) -> Fraction | None:
    """The greatest 1 / |value| of a constant or monomial."""
    if read.constants is not None:
        return 1 / min(ONE, *(abs(value) for value in read.constants if value))
    if len(read.form) != 1:
        return None
    [((a, b), factor)] = read.form.items()
    return Fraction(length) ** max(-b, -(a + b), 0) / min(ONE, abs(factor))


def _sum_of_several(form: LinearForm, stream: Stream, size: Fraction, absolute: Fraction) -> Computed:
    """Known relatively if all its terms are constants of one sign: where the sum is 0, all of them are."""
    values = []
    for coordinate, factor in form:
        constants = stream[coordinate].constants
        if constants is None:
            return Computed(size, None, None, absolute, absolute, None)
        values += [factor * value for value in constants if value]
    if not values or min(values) < 0 < max(values):
        return Computed(size, None, None, absolute, absolute, None)
    least = min(map(abs, values))
    zero = absolute if any(stream[coordinate].zero for coordinate, _ in form) else ZERO
    return Computed(size, 1 / least, None, absolute, zero, absolute / least)


# Rows -----------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Row:
    """A computed row. In a row with t the key's size and powers of n count to the query.

    `size` bounds |q|, `off` is dq, `power` that of j in the key, `signed` the exact query with its
    temperature, `values` the key by symbol, `products` the greatest size of q k, `grid` their grid if exact.
    """

    size: Laurent
    off: Laurent
    power: int | None
    signed: Laurent | None
    values: tuple[Fraction, ...]
    key: Computed
    products: Fraction
    grid: int | None
    is_nothing: bool

    def key_error(self, symbol: int) -> Fraction:
        """kappa where the symbol stands, for a row without t."""
        value = abs(self.values[symbol])
        if not value:
            return self.key.zero
        if self.key.relative is None:
            return self.key.absolute
        return min(self.key.absolute, self.key.relative * value)


def _value(form: LinearForm, stream: Stream) -> tuple[Laurent | None, Laurent, tuple[Fraction, ...] | None]:
    """A linear form: exactly, if the form reads no symbol; a bound of its size; its values by symbol."""
    parts = [(stream[coordinate], factor) for coordinate, factor in form]
    constants = [read.constants for read, _ in parts]
    count = max((len(found) for found in constants if found is not None), default=1)
    values = None
    if None not in constants:
        wide = [found * (count // len(found)) for found in constants if found is not None]
        values = tuple(
            sum((f * v for f, v in zip((factor for _, factor in parts), column, strict=True)), ZERO)
            for column in zip(*wide, strict=True)
        )
        same = scaled(CONSTANT, values[0]) if len(set(values)) == 1 else None
        return same, scaled(CONSTANT, max(map(abs, values))), values
    if any(read.values is not None for read, _ in parts) or any(read.alternates for read, _ in parts):
        [(read, factor)] = parts
        return None, scaled(read.peaks(), abs(factor)), None
    whole = plus(*(scaled(read.form, factor) for read, factor in parts))
    return whole, sizes(whole), None


def read_row(
    query: LinearForm,
    key: LinearForm,
    cold_form: closed_forms.ClosedForm,
    stream: Stream,
    arithmetic: Arithmetic,
    length: int,
) -> Row:
    """A row of the head, at N."""
    u, unit = arithmetic.u, arithmetic.unit
    cold = in_format(cold_form, arithmetic, length)
    asked, k = (linear(form, stream, arithmetic, length) for form in (query, key))
    q = _known(product_of(asked, cold, u, unit), arithmetic)
    products = _known(product_of(q, k, u, unit), arithmetic)
    inner = product_of(asked, k, u, unit)
    if any(16 * (number.size + number.absolute) >= arithmetic.range for number in (q, inner, products)):
        raise NoBoundError("scores leave the range")
    grid = products.grid if q.grid is not None and inner.grid is not None else None
    signed, bound_of_query, _ = _value(query, stream)
    size = sizes(times(bound_of_query, exactly(cold_form)))
    whole = None if signed is None else times(signed, exactly(cold_form))
    off = scaled(CONSTANT, q.absolute)
    if q.relative is not None and q.relative <= HALF:
        off = plus(scaled(size, q.relative), scaled(CONSTANT, q.zero))
    is_nothing = not size and not q.zero
    of_key, _, values = _value(key, stream)
    if values is not None:
        count = len(next(read.values for read in stream.values() if read.values is not None))
        wide = values * (count // len(values))
        return Row(size, off, None, whole, wide, k, products.size, grid, is_nothing)
    if of_key is None or len(of_key) != 1:
        raise NoBoundError("a key that is neither a multiple of t(j) nor finitely many values")
    [((a, b), factor)] = of_key.items()
    if a not in (1, -1) or k.relative is None or k.relative > HALF:
        raise NoBoundError("a key that is neither a multiple of t(j) nor finitely many values")
    moved: Laurent = {(0, b): abs(factor)}
    own: Laurent = {(0, b): factor}
    whole = None if whole is None else times(whole, own)
    return Row(times(size, moved), times(off, moved), a, whole, (), k, products.size, grid, is_nothing)


def _known(number: Computed, arithmetic: Arithmetic) -> Computed:
    """The number, known relatively only while its inverse is in range."""
    if number.grid is not None or (number.inverse is not None and number.inverse < arithmetic.range):
        return number
    return Computed(number.size, number.inverse, None, number.absolute, number.zero, None)


# The head -------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Place:
    """A combination of values of all keys: the keys, their errors kappa, the level, 0 the best, and sigma."""

    keys: tuple[Fraction, ...]
    errors: tuple[Fraction, ...]
    level: int
    sigma: Fraction


@dataclass(frozen=True)
class Bound:
    """What the rule derives for a head at N; over one position nothing is lost, and nothing strays."""

    near: Fraction
    ahead: Fraction
    stray_mass: arb
    value_error: arb


@dataclass(frozen=True)
class Score:
    """The score T t(j) + L(j): the power of j in t, T, the levels, the best first, and which by symbol."""

    power: int
    t: Laurent
    levels: tuple[Laurent, ...]
    level_of: tuple[int, ...]
    rightmost: bool

    @property
    def g(self) -> Laurent:
        """T or -T, whichever is positive."""
        return scaled(self.t, 1 if self.rightmost == (self.power == 1) else -1)

    def pushed(self, w: Place, j: Place) -> Laurent:
        """L_w - L_j."""
        return minus(self.levels[w.level], self.levels[j.level])


def read_score(rows: list[Row], mask: Masking, symbols: int) -> Score:
    """The score's normal form: the first lines of Select in section 5."""
    powers = {row.power for row in rows if row.power is not None}
    if len(powers) != 1:
        raise NoBoundError("not one t(j)")
    [power] = powers
    ties = [row.signed for row in rows if row.power is not None]
    if None in ties:
        raise NoBoundError("a query of t that is no form of i and n")
    t = plus(*(form for form in ties if form is not None))
    others = _other_terms([row for row in rows if row.power is None], symbols)
    shown = SHOWN[mask]
    levels = [form for k, form in enumerate(others) if form not in others[:k]]
    levels.sort(key=lambda form: at_shortest(form, shown), reverse=True)
    numbers = tuple(levels.index(form) for form in others)
    return Score(power, t, tuple(levels), numbers, power * at_shortest(t, shown) > 0)


def _other_terms(rows: list[Row], symbols: int) -> list[Laurent]:
    """By symbol, the score without t, but for what does not depend on j."""
    total: list[Laurent] = [{}] * symbols
    for row in rows:
        if len(set(row.values)) == 1:
            continue
        if row.signed is None:
            raise NoBoundError("a query of b that is no form of i and n")
        total = [plus(x, scaled(row.signed, value)) for x, value in zip(total, row.values, strict=True)]
    return total


def sigma_at(rows: list[Row], symbol: int, cold_is_power: bool, arithmetic: Arithmetic) -> Fraction:
    """What adding the rows can lose where the symbol stands, relative to the sum of their sizes."""
    there = [
        row
        for row in rows
        if not row.is_nothing and (row.power is not None or row.values[symbol] or row.key.zero)
    ]
    if len(there) <= 1:
        return ZERO
    grids = [row.grid for row in there if row.grid is not None]
    total = sum((row.products for row in there), ZERO)
    if len(grids) == len(there) and held(total, min(grids), arithmetic.u):
        return ZERO
    lost = summed(len(there), ONE, ONE, arithmetic)
    return lost if cold_is_power else (1 + lost) * (1 + arithmetic.u) - 1


@dataclass(frozen=True)
class Errors:
    """All of E for the rows of a head; p is the number of roundings of q k."""

    rows: list[Row]
    p: int
    u: Fraction
    underflow: Fraction

    def lost(self, row: Row, sigma: Fraction) -> Fraction:
        """What products and sums lose, relative to the products: (1 + pi) (1 + sigma) - 1."""
        pi = ZERO if row.grid is not None else (1 + self.u) ** self.p - 1
        return (1 + pi) * (1 + sigma) - 1

    def apart(self) -> Laurent:
        """What multiplies |t(w) - t(j)|."""
        return plus(*(row.off for row in self.rows if row.power is not None))

    def together(self, w: Place, j: Place) -> Laurent:
        """What multiplies |t(w)| + |t(j)|."""
        found: list[Laurent] = []
        for row in self.rows:
            if row.power is not None:
                assert row.key.relative is not None
                lost = self.lost(row, max(w.sigma, j.sigma))
                kappa = row.key.relative + (1 + row.key.relative) * lost
                found.append(scaled(plus(row.size, row.off), kappa))
        return plus(*found)

    def others(self, w: Place, j: Place) -> Laurent:
        """The errors of all rows without t, and underflow."""
        found = [scaled(CONSTANT, self.underflow)]
        for r, row in enumerate(self.rows):
            if row.power is not None:
                continue
            off = w.errors[r] + j.errors[r]
            found.append(scaled(row.off, abs(w.keys[r] - j.keys[r]) + off))
            found.append(scaled(row.size, off))
            for x in (w, j):
                lost = (abs(x.keys[r]) + x.errors[r]) * self.lost(row, x.sigma)
                found.append(scaled(plus(row.size, row.off), lost))
        return plus(*found)


def bound(network: Network, arithmetic: Arithmetic, length: int) -> Bound:
    """The float rule of Select for the only head of the network, for words of up to `length` symbols."""
    head: Head = network.layers[-1].heads[0]
    assert isinstance(head.weighting, Softmax)
    assert isinstance(head.construction, Select)
    stream = read_stream(network, arithmetic, length)
    cold_form = head.weighting.inverse_temperature
    pairs = zip(head.query, head.key, strict=True)
    rows = [read_row(q, k, cold_form, stream, arithmetic, length) for q, k in pairs]
    if sum(row.products for row in rows) >= arithmetic.range or 8 * length * arithmetic.sums >= 1:
        raise NoBoundError("scores leave the range, or too many positions")
    mask = head.masking.weak
    score = read_score(rows, mask, len(network.embedding))
    leads = leads_of(score, mask)
    exact_cold = exactly(cold_form)
    cold = in_format(cold_form, arithmetic, length)
    is_power = set(exact_cold) == {(0, 0)} and is_power_of_two(exact_cold[0, 0])
    cold_is_power = is_power and cold.grid is not None
    places, agreeing = _places(head, rows, score, cold_is_power, stream, arithmetic)
    underflow = 4 * len(rows) * (arithmetic.unit + arithmetic.tiny * (1 + cold.size))
    errors = Errors(rows, 1 if cold_is_power else 2, arithmetic.u, underflow)
    near = ahead = ZERO
    stray = arb(0)
    if length > 1:
        near = max([ZERO, *_near_losses(score, places, agreeing, errors, mask, length)])
        ahead = max([ZERO, *_ahead_losses(score, places, errors, mask, length)])
        if max(near, ahead) > MOST_LOST:
            raise NoBoundError("too much is lost")
        stray = stray_mass(leads, (near, ahead), arithmetic)
    return Bound(near, ahead, stray, _value_error(head, stray, stream, arithmetic, length))


def _places(
    head: Head, rows: list[Row], score: Score, cold_is_power: bool, stream: Stream, arithmetic: Arithmetic
) -> tuple[list[Place], set[int]]:
    """The places of the head, and the levels on which its values agree."""
    found: dict[tuple[Fraction, ...], Place] = {}
    values: defaultdict[int, set[tuple[Fraction, ...]]] = defaultdict(set)
    for symbol, level in enumerate(score.level_of):
        keys = tuple(row.values[symbol] if row.power is None else ZERO for row in rows)
        errors = tuple(row.key_error(symbol) if row.power is None else ZERO for row in rows)
        found[keys] = Place(keys, errors, level, sigma_at(rows, symbol, cold_is_power, arithmetic))
        values[level].add(tuple(_values(value, stream)[symbol] for value in head.values))
    return list(found.values()), {level for level, several in values.items() if len(several) == 1}


def _values(form: LinearForm, stream: Stream) -> tuple[Fraction, ...]:
    """A value of the head, by symbol."""
    _, _, values = _value(form, stream)
    assert values is not None
    return values


def _near_losses(
    score: Score, places: list[Place], agreeing: set[int], errors: Errors, mask: Masking, length: int
) -> Iterable[Fraction]:
    """The losses of the pairs called farther and penalised."""
    g, top = score.g, GREATEST[mask]
    [(a, b)] = top
    inverse: Laurent = {(-2 * a, -2 * b): ONE}
    step = g if score.power == 1 else times(g, inverse)
    reach = top if score.power == 1 else CONSTANT
    apart = errors.apart()
    for w, j in product(places, places):
        together, others = errors.together(w, j), errors.others(w, j)
        if w.level == j.level and w.level not in agreeing:
            t_errors = plus(apart, scaled(times(together, top), 2))
            yield against(t_errors, g, mask, length) + against(others, step, mask, length)
        if w.level < j.level:
            yield against(apart, g, mask, length)
            rest = plus(others, scaled(times(together, reach), 2))
            yield against(rest, score.pushed(w, j), mask, length)


def _gain_ahead(score: Score, mask: Masking) -> Laurent:
    """G (V - 1), or G - G / R: what t can gain on the near side."""
    if score.power == 1:
        return times(score.g, plus(VISIBLE[mask], scaled(CONSTANT, -1)))
    [(a, b)] = GREATEST[mask]
    return times(score.g, {(0, 0): ONE, (-a, -b): -ONE})


def _ahead_losses(
    score: Score, places: list[Place], errors: Errors, mask: Masking, length: int
) -> Iterable[Fraction]:
    """The losses of the pairs called ahead."""
    reach = GREATEST[mask] if score.power == 1 else CONSTANT
    for w, j in product(places, places):
        if w.level < j.level:
            score_gap = minus(score.pushed(w, j), _gain_ahead(score, mask))
            t_errors = plus(errors.apart(), scaled(errors.together(w, j), 2))
            yield against(plus(errors.others(w, j), times(t_errors, reach)), score_gap, mask, length)


def leads_of(score: Score, mask: Masking) -> tuple[Lead, Lead | None]:
    """Behind and ahead, as section 5 has them; None where there is one level."""
    shown, tie = SHOWN[mask], tie_difference(score.t, score.power)
    farther, nearer = (J, W) if score.rightmost else (W, J)
    behind = lead(tie, shown, low=farther)
    if behind is None or behind.start <= 0:
        raise NoBoundError("no lead over those further off")
    ahead: list[Lead] = []
    for better, worse in pairwise(score.levels):
        found = lead(plus(of_four(minus(better, worse)), tie), shown, low=nearer)
        if found is None or found.start <= 0:
            raise NoBoundError("no lead over those on worse levels")
        ahead.append(found)
    return behind, worst(ahead) if ahead else None


def _ball(value: Fraction) -> arb:
    return arb(fmpq(value.numerator, value.denominator))


def stray_mass(
    leads: tuple[Lead, Lead | None], losses: tuple[Fraction, Fraction], arithmetic: Arithmetic
) -> arb:
    """W / (1 + W), with each lead less by its loss + 2 u, and noise."""
    with ctx.workprec(BITS):
        others = arb(0)
        for own, loss in zip(leads, losses, strict=True):
            if own is not None:
                start, step = (x * (1 - loss - 2 * arithmetic.u) for x in (own.start, own.step))
                others += (-_ball(start)).exp() / (1 - (-_ball(step)).exp())
        others *= _ball(_noise(arithmetic))
        return others / (1 + others)


def _noise(arithmetic: Arithmetic) -> Fraction:
    e = arithmetic.exp * arithmetic.u
    return (1 + e) / (1 - e) * (1 + 4 * arithmetic.u)


def _value_error(head: Head, stray: arb, stream: Stream, arithmetic: Arithmetic, length: int) -> arb:
    """By how much the head's only value is off."""
    [form] = head.values
    computed = linear(form, stream, arithmetic, length)
    values, off = _values(form, stream), computed.absolute
    if 2 * length * (computed.size + off) >= arithmetic.range:
        raise NoBoundError("values leave the range")
    long = 2 * length * arithmetic.sums
    quotient = _noise(arithmetic) * (1 + 2 * long / (1 - long) + 4 * arithmetic.u) - 1
    largest = max(map(abs, values)) + off
    with ctx.workprec(BITS):
        return stray * _ball(max(values) - min(values)) + _ball(off) + _ball(largest * quotient)
