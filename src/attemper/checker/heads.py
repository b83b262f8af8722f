"""What an attention head computes: its scores are derived from the weights, then a rule is applied to them.

The score of j seen from i is a sum of (value at i) * j^p * (diagram at j). What a head is said to be for only
selects the rule to try; the rule proves its own conditions from that sum.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from itertools import pairwise, product
from math import gcd, lcm
from typing import assert_never, final

from attemper.checker.contests import Contest, Kind, Lead, Pair, Place, places_of, rows_of
from attemper.checker.diagrams import Diagram
from attemper.checker.names import Affine, Names, UnprovenError
from attemper.checker.rules import (
    HALF,
    LocalSignRule,
    LookupRule,
    Rule,
    ShiftRule,
    SignRule,
    TieBreakRule,
    UniformRule,
)
from attemper.checker.values import (
    Stream,
    Value,
    add,
    error_of,
    multiply,
    of_closed_form,
    of_form,
    plain,
)
from attemper.exact import laurent
from attemper.exact.laurent import Domain, Laurent
from attemper.exact.predicates import Remainder
from attemper.networks.layers import (
    Head,
    LocalSign,
    Lookup,
    Masking,
    Neighbour,
    Select,
    Sign,
    Softmax,
    Uniform,
)

Scores = dict[tuple[int, Diagram], Value]
"""The sum of value(i) * j^p * diagram(j) by (p, diagram)."""

Waves = dict[tuple[int, bool], Value]
"""The sum of value(i) * j^p, times (-1)^j if the flag is set, by (p, flag)."""

DOMAINS = {
    Masking.FUTURE: laurent.AFTER_FIRST,
    Masking.PAST: laurent.BEFORE_LAST,
    Masking.NONE: laurent.LONGER_THAN_ONE,
}
"""Where a head sees more than one position."""

VISIBLE: dict[Masking, Laurent] = {
    Masking.FUTURE: laurent.monomial(1, 0),
    Masking.PAST: laurent.plus(laurent.monomial(0, 1), laurent.monomial(1, 0, -1), laurent.constant(1)),
    Masking.NONE: laurent.monomial(0, 1),
}
"""How many positions are visible from i."""

REACH = {
    Masking.FUTURE: laurent.monomial(1, 0),
    Masking.PAST: laurent.monomial(0, 1),
    Masking.NONE: laurent.monomial(0, 1),
}
"""The greatest visible position."""


@final
@dataclass(frozen=True)
class Output:
    """What a head adds to one coordinate: the value at the right position, of values that far apart."""

    target: int
    diagram: Diagram
    spread: Fraction
    size: Fraction


@final
@dataclass(frozen=True)
class HeadFact:
    """What was proved of one head.

    An average whose sign it reads is an odd multiple of `unit` / (number of visible positions). `contest`
    says which positions compete, for a head with a tie-break; None if its rows are too mixed for that.
    """

    rule: Rule
    outputs: tuple[Output, ...]
    unit: Fraction = Fraction(1)
    contest: Contest | None = None


def head_fact(names: Names, head: Head, stream: Stream) -> HeadFact:
    """Apply the rule of the head's construction. Raises `UnprovenError`."""
    if any(error_of(form, stream) for form in (*head.query, *head.key, *head.values)):
        raise UnprovenError("it reads a coordinate that is only approximate")
    if head.masking.is_strict and not isinstance(head.construction, Select):
        raise UnprovenError("only selections have a rule for strict masks")
    scores = _scores(names, head, stream)
    values = [plain(of_form(names, form, stream), names, "a value") for form in head.values]
    for value in values:
        names.constants(value, "a value")
    match head.construction:
        case Uniform():
            return _uniform(names, head, scores, values)
        case Select():
            return _select(names, head, scores, values, stream)
        case Neighbour():
            return _neighbour(names, head, scores, values, stream)
        case Sign():
            return _sign(names, head, scores, values)
        case LocalSign():
            return _local_sign(names, head, scores, values)
        case Lookup():
            return _lookup(names, head, scores, values)
        case _:
            assert_never(head.construction)


# Rules -----------------------------------------------------------------------------------------------


def _uniform(names: Names, head: Head, scores: Scores, values: list[Diagram]) -> HeadFact:
    if scores:
        raise UnprovenError("its scores are not all equal")
    return HeadFact(UniformRule(), _outputs(names, head, values, lambda v: names.mean(head.masking, v)))


def _select(names: Names, head: Head, scores: Scores, values: list[Diagram], stream: Stream) -> HeadFact:
    """Lemma 8: blocked positions lose more than the tie-break can give, the tie-break chooses the rest.

    A strict mask shows at i what the weak one shows at the neighbour of i, so the weak one's bounds hold.
    """
    masking = head.masking.weak
    ties = {key: value for key, value in scores.items() if key[0] != 0}
    if len(ties) != 1:
        raise UnprovenError("its scores have no tie-break")
    ((power, one), value), domain = next(iter(ties.items())), DOMAINS[masking]
    tie = laurent.times(_scalar(names, value), _constant(names, one))
    towards_larger = _is_positive(tie, domain) == (power > 0)
    size = tie if _is_positive(tie, domain) else laurent.times(tie, -1)
    gap, span = _tie_break(size, power, masking)
    blocked, push = _blocked(names, {d: v for (p, d), v in scores.items() if p == 0}, domain)
    far = None
    levels = sorted({value.constant for value in names.values(blocked)})
    if len(levels) > 1:
        # Two positions are compared, each with what its own level takes away and its own tie-break.
        least_push = laurent.times(push, min(b - a for a, b in pairwise(levels)))
        lead = laurent.plus(least_push, laurent.times(span, -1))
        others = laurent.plus(VISIBLE[masking], laurent.constant(-1))
        room = laurent.plus(laurent.constant(1), laurent.times(others, -1))
        far = _for_losses(lead, room, domain, "blocked positions can win")
    leftmost = not towards_larger
    bits = [names.equals(blocked, level) for level in levels]

    def read(value: Diagram) -> Diagram:
        found = names.chosen(masking, leftmost, bits[-1], value)
        for bit in reversed(bits[:-1]):
            here = names.chosen(masking, leftmost, bit, value)
            found = names.choose(names.exists(masking, bit), here, found)
        if not head.masking.is_strict:
            return found
        return names.shifted(found, -1 if masking is Masking.FUTURE else 1, names.false)

    settled = {level for level, bit in zip(levels, bits, strict=True) if _agree(names, values, bit)}

    def contest() -> Contest:
        rows, keys = rows_of(names, _rows(names, head, stream), _coldness(names, head), power, [names.true])
        places = places_of(names, [*keys, blocked], names.true)
        pairs = _selection_pairs(places, settled, _level_lead(size, power, masking, 1), push, span, domain)
        return Contest(power, Lead(size, domain), REACH[masking], 1, rows, pairs)

    outputs = _outputs(names, head, values, read)
    return HeadFact(TieBreakRule(gap, far), outputs, contest=_if_covered(contest))


def _selection_pairs(
    places: list[Place], settled: set[Fraction], level: Lead, push: Laurent, span: Laurent, domain: Domain
) -> tuple[Pair, ...]:
    """All pairs of places, each with its level b as its last entry: the winner's is the least that occurs.

    On a `settled` level the values agree: whichever of its positions wins, the head reads the same.
    """
    pairs: list[Pair] = []
    for (*winner, b), (*other, c) in product(places, repeat=2):
        if c < b or (b == c and b in settled):
            continue
        if b == c:
            pairs.append(Pair(0, tuple(winner), tuple(other), Kind.LEVEL, level))
            continue
        pushed = laurent.times(push, c - b)
        ahead = laurent.plus(pushed, laurent.times(span, -1))
        for kind, lead in ((Kind.BEHIND, pushed), (Kind.AHEAD, ahead)):
            pairs.append(Pair(0, tuple(winner), tuple(other), kind, Lead(lead, domain)))
    return tuple(pairs)


def _neighbour(names: Names, head: Head, scores: Scores, values: list[Diagram], stream: Stream) -> HeadFact:
    """Theorems 12, 13: the other parity first, then the nearest."""
    waves = _waves(names, scores)
    domain = DOMAINS[head.masking]
    powers = [p for p, wave in waves if not wave]
    if (0, True) not in waves or len(waves) != 2 or len(powers) != 1 or head.masking is Masking.NONE:
        raise UnprovenError("its scores are not those of a neighbour")
    power = powers[0]
    tie = _scalar(names, waves[power, False])
    opposite = _scalar(names, multiply(names, waves[0, True], {(0, 0): names.scaled(names.sign, -1)}))
    towards_larger = _is_positive(tie, domain) == (power > 0)
    if towards_larger != (head.masking is Masking.FUTURE):
        raise UnprovenError("its tie-break points away from the neighbour")
    size = tie if _is_positive(tie, domain) else laurent.times(tie, -1)
    gap, _ = _tie_break(size, power, head.masking)
    # For j = i: 1/(i-1) - 1/i <= 2/i^2.
    back = size if power > 0 else laurent.times(size, laurent.monomial(-2, 0, 2))
    twice = laurent.times(opposite, 2)
    ahead = laurent.plus(twice, laurent.times(back, -1))
    own = _proved(laurent.least(ahead, domain), "position i can win")
    parity = _proved(laurent.least(twice, domain), "the parity of i can win")
    offset = -1 if towards_larger else 1

    def read(value: Diagram) -> Diagram:
        return names.shifted(value, offset, value)

    def contest() -> Contest:
        odd = names.place(Remainder(2, 1), 1, 0, 0)
        cases = [odd, names.negation(odd)]
        rows, keys = rows_of(names, _rows(names, head, stream), _coldness(names, head), power, cases)
        level = _level_lead(size, power, head.masking, 2)
        behind, beside = Lead(twice, domain), Lead(ahead, domain)
        pairs: list[Pair] = []
        for case, (same, different) in enumerate((cases, cases[::-1])):
            winners, others = (places_of(names, keys, parity) for parity in (different, same))
            pairs += [Pair(case, w, o, Kind.LEVEL, level) for w, o in product(winners, winners)]
            pairs += [Pair(case, w, o, Kind.BEHIND, behind) for w, o in product(winners, others)]
            pairs += [Pair(case, w, o, Kind.SELF, beside) for w, o in product(winners, others)]
        return Contest(power, Lead(size, domain), REACH[head.masking], 2, rows, tuple(pairs))

    outputs = _outputs(names, head, values, read)
    return HeadFact(ShiftRule(gap, own, parity), outputs, contest=_if_covered(contest))


def _sign(names: Names, head: Head, scores: Scores, values: list[Diagram]) -> HeadFact:
    """The parity whose sign is that of D = T / (number visible), T an odd multiple of a constant."""
    waves = _waves(names, scores)
    if len(waves) != 1 or next(iter(waves)) not in {(0, True), (1, True)}:
        raise UnprovenError("its scores are not (-1)^j times a number of i")
    ((power, _), value) = next(iter(waves.items()))
    number, factor = _single_mean(names, value, head.masking)
    if number is None or names.means[number].masking is not head.masking:
        raise UnprovenError("it does not see the positions that its query averages")
    mean = names.means[number]
    unit = _odd_unit(names, head.masking, mean.summand)
    lead = laurent.times(factor, unit)
    visible = VISIBLE[head.masking] if power == 0 else laurent.constant(1)
    gap = _proved(laurent.least_ratio(lead, visible, DOMAINS[head.masking]), "both parities are as likely")
    positive = names.sum_at_least(head.masking, names.scaled(mean.summand, 1 / unit), 1)
    rule = SignRule(_positive(gap), level=power == 0)

    def read(value: Diagram) -> Diagram:
        return _by_parity(names, head.masking, positive, value)

    return HeadFact(rule, _outputs(names, head, values, read), unit)


def _lookup(names: Names, head: Head, scores: Scores, values: list[Diagram]) -> HeadFact:
    """Theorems 20, 21 and Lemma 7: -(j - c)^2 at j = c = the number of positions with a bit."""
    waves = _waves(names, scores)
    powers = {p for p, _ in waves}
    bounded = -1 in powers
    top = -1 if bounded else 2
    if any(wave for _, wave in waves) or not {top} <= powers <= {top, -2 if bounded else 1}:
        raise UnprovenError("its scores are not those of a lookup")
    ratio_at, unit_at = ((-2, False), (-1, False)) if bounded else ((1, False), (2, False))
    marking, unit_factor = _single_mean(names, waves[unit_at], head.masking)
    side = None if marking is None else names.means[marking].masking
    if marking is None or side is None or names.means[marking].summand != names.mark(side):
        raise UnprovenError("its query does not carry 1 / (number visible)")
    # scores = scale * (2 c j - j^2) / visible, or scale * (2 / j - c / j^2) / visible
    scale = laurent.times(unit_factor, HALF if bounded else -1)
    counting, counted = None, names.false
    if ratio_at in waves:
        counting, ratio_factor = _single_mean(names, waves[ratio_at], head.masking)
        counted = names.true if counting is None else names.means[counting].summand
        if laurent.times(scale, -1 if bounded else 2) != ratio_factor:
            raise UnprovenError("its parabola does not have its top at the count")
    if not names.is_bit(counted) or (counting is not None and names.means[counting].masking is not side):
        raise UnprovenError("its query is not a count over the visible positions")
    if head.masking is not Masking.NONE and (side is not Masking.FUTURE or head.masking is not side):
        raise UnprovenError("it may not see the position that it looks for")
    if bounded and head.masking is not Masking.FUTURE:
        raise UnprovenError("bounded lookups are future-masked")
    domain, zero = DOMAINS[head.masking], None
    under = laurent.monomial(4, 0) if bounded else VISIBLE[side]
    gap = _proved(laurent.least_ratio(scale, under, domain), "other positions can win")
    if bounded:
        alone = laurent.times(scale, laurent.monomial(-1, 0))
        others = laurent.plus(laurent.monomial(1, 0, -1), laurent.constant(2))
        zero = _for_losses(alone, others, domain, "other positions can win at count 0")
    some = names.sum_at_least(side, counted, 1)

    def read(value: Diagram) -> Diagram:
        found = names.looked_up(side, counted, value)
        return names.choose(some, found, names.at_position_one(value))

    return HeadFact(LookupRule(_positive(gap), zero), _outputs(names, head, values, read))


def _local_sign(names: Names, head: Head, scores: Scores, values: list[Diagram]) -> HeadFact:
    """The sign of T = sum over j <= i + sum over j >= i + bits at i, at two neighbouring positions.

    scores = C (2 centre j - j^2) + (-1)^j (A1 j + A0), centre = i - 1/2 + [i = 1].
    """
    waves = _waves(names, scores)
    if set(waves) - {(1, False), (2, False), (1, True), (0, True)} or head.masking is not Masking.NONE:
        raise UnprovenError("its scores are not those of a local sign head")
    bowl = _scalar(names, waves.get((2, False), {}))
    tightness = -bowl.get((0, 0), Fraction(0))
    middle = {
        (1, 0): names.number(2 * tightness),
        (0, 0): names.plus(names.number(-tightness), names.scaled(names.first, 2 * tightness)),
    }
    if set(bowl) != {(0, 0)} or tightness <= 0 or waves.get((1, False)) != middle:
        raise UnprovenError("its parabola is not centred on i - 1/2")
    slope = plain(waves.get((1, True), {}), names, "the slope of a local sign head")
    offset = waves.get((0, True), {})
    if set(offset) - {(0, 0), (0, 1)}:
        raise UnprovenError("its scores grow in an unknown way")
    fixed, by_length = (offset.get(powers, names.false) for powers in ((0, 0), (0, 1)))
    left, right, own = _two_sided_sum(names, slope, fixed, by_length)
    unit = _common(names, (left, right, own))
    left, right, own = (names.scaled(part, 1 / unit) for part in (left, right, own))
    if any(v % 2 for part in (left, right) for v in names.constants(part, "a count")):
        raise UnprovenError("T may be 0")
    if any(v % 2 != 1 for v in names.constants(own, "a count")):
        raise UnprovenError("T may be 0")
    gap = unit / 2
    steepest = max(abs(end) for value in names.values(slope) for end in names.bounds(value))
    if tightness < steepest + gap:
        raise UnprovenError("its parabola is too flat for its slope")
    half_left, half_right = (names.scaled(part, HALF) for part in (left, right))
    half_own = names.scaled(names.plus(own, names.number(-1)), HALF)
    positive = names.mixed_at_least(half_left, half_right, half_own, 0)

    def read(value: Diagram) -> Diagram:
        return _by_parity(names, head.masking, positive, value)

    return HeadFact(LocalSignRule(_positive(gap)), _outputs(names, head, values, read))


def _two_sided_sum(
    names: Names, slope: Diagram, fixed: Diagram, by_length: Diagram
) -> tuple[Diagram, Diagram, Diagram]:
    """(left, right, own): the sum of A1 j + A0 at the two middle positions, as two sums over positions.

    For i > 1 it is (2i - 1) A1 + 2 A0, for i = 1 it is 3 A1 + 2 A0; A0 = fixed + n by_length. A mean over
    j <= i times i is a sum over j <= i; one over j >= i times (n - i + 1) is a sum over j >= i.
    """
    later = names.negation(names.first)
    starting = names.both(names.first, names.negation(names.only))
    per_position, per_length = (names.scaled(part, 2) for part in (slope, by_length))
    rest = names.plus(names.scaled(slope, -1), names.scaled(fixed, 2))
    start = names.plus(names.scaled(slope, 3), names.scaled(fixed, 2))
    cases = {
        "i": names.diagrams.constrain(per_position, later, names.false),
        "n": names.diagrams.constrain(per_length, later, names.false),
        "1": names.diagrams.constrain(rest, later, names.false),
    }
    start_n = names.diagrams.constrain(per_length, starting, names.false)
    start_1 = names.diagrams.constrain(start, starting, names.false)
    numbers = {k for d in (slope, fixed, by_length) for v in names.values(d) for k, _ in v.parts}
    left = right = names.false
    for number in sorted(numbers):
        mean = names.means[number]
        factors = {name: _factor(names, diagram, number) for name, diagram in cases.items()}
        if mean.masking is Masking.FUTURE and factors["n"] == factors["1"] == 0:
            left = names.plus(left, names.scaled(mean.summand, factors["i"]))
            start_n = names.replace_mean(start_n, number, mean.summand)
            start_1 = names.replace_mean(start_1, number, mean.summand)
        elif mean.masking is Masking.PAST and factors["n"] == factors["1"] == -factors["i"]:
            right = names.plus(right, names.scaled(mean.summand, factors["n"]))
            at_start = _factor(names, start_n, number), _factor(names, start_1, number)
            if at_start != (factors["n"], Fraction(0)):
                raise UnprovenError("its scores at i = 1 are those of another sum")
            start_n, start_1 = (names.replace_mean(d, number, names.false) for d in (start_n, start_1))
        else:
            raise UnprovenError("its scores are not those of a sum over positions")
    plain_parts = {name: _without_means(names, diagram) for name, diagram in cases.items()}
    by_i, by_n = (_constant(names, plain_parts[name]) for name in ("i", "n"))
    start_n = names.diagrams.constrain(start_n, starting, names.false)
    if start_n != names.number(by_n):
        raise UnprovenError("its scores at i = 1 are those of another sum")
    own_start = names.plus(start_1, names.scaled(names.plus(left, names.number(by_i)), -1))
    own = names.choose(names.first, own_start, plain_parts["1"])
    # by_i i + by_n n = sum over j <= i of (by_i + by_n) + sum over j >= i of by_n - by_n
    return (
        names.plus(left, names.number(by_i + by_n)),
        names.plus(right, names.number(by_n)),
        names.plus(own, names.number(-by_n)),
    )


# Scores ----------------------------------------------------------------------------------------------


def _rows(names: Names, head: Head, stream: Stream) -> list[tuple[Value, Value]]:
    """The values of each query row, without temperature, and of its key row."""
    pairs = zip(head.query, head.key, strict=True)
    return [(of_form(names, query, stream), of_form(names, key, stream)) for query, key in pairs]


def _coldness(names: Names, head: Head) -> Value:
    """The value of the inverse temperature."""
    if not isinstance(head.weighting, Softmax):
        raise UnprovenError("it is not a softmax head")
    return of_closed_form(names, head.weighting.inverse_temperature)


def _scores(names: Names, head: Head, stream: Stream) -> Scores:
    """The scores, without what does not depend on j: softmax does not see it."""
    coldness = _coldness(names, head)
    scores: Scores = {}
    for row, key in _rows(names, head, stream):
        query = multiply(names, row, coldness)
        for (power, length), diagram in key.items():
            names.constants(diagram, "a key")
            at_i: Value = {(a, b + length): d for (a, b), d in query.items()}
            scores[power, diagram] = add(names, scores.get((power, diagram), {}), at_i)
    constant = names.diagrams.is_constant
    return {k: v for k, v in scores.items() if v and not (k[0] == 0 and constant(k[1]))}


def _waves(names: Names, scores: Scores) -> Waves:
    """Scores whose diagrams are constants and multiples of (-1)^j."""
    waves: Waves = {}
    for (power, diagram), value in scores.items():
        at_even, at_odd = (_constant(names, part) for part in _even_and_odd(names, diagram))
        for wave, factor in ((False, (at_even + at_odd) / 2), (True, (at_even - at_odd) / 2)):
            part = {p: names.scaled(d, factor) for p, d in value.items()} if factor else {}
            waves[power, wave] = add(names, waves.get((power, wave), {}), part)
    return {key: value for key, value in waves.items() if value and key != (0, False)}


def _tie_break(size: Laurent, power: int, masking: Masking) -> tuple[Fraction, Laurent]:
    """The lead per step, and how much a position further off can gain, of size * j or size / j."""
    domain = DOMAINS[masking]
    if power == 1:
        others = laurent.plus(VISIBLE[masking], laurent.constant(-1))
        return _positive(_proved(laurent.least(size, domain), "the tie-break fades")), laurent.times(
            size, others
        )
    if power == -1:
        reach = laurent.times(REACH[masking], REACH[masking])
        gap = _proved(laurent.least_ratio(size, reach, domain), "the tie-break fades")
        inverse = {(-a, -b): x for (a, b), x in REACH[masking].items()}
        return _positive(gap), laurent.plus(size, laurent.times(laurent.times(size, inverse), -1))
    raise UnprovenError("its tie-break is neither in j nor in 1/j")


def _is_positive(form: Laurent, domain: Domain) -> bool:
    """Whether a form is positive at a corner of the domain: a guess, confirmed by what is proved of it."""
    i0, d = domain[0]
    return laurent.at(form, i0, i0 + d) > 0


def _level_lead(size: Laurent, power: int, masking: Masking, steps: int) -> Lead:
    """The least lead between two positions at least so many steps apart, where only the tie-break decides.

    |1/j - 1/k| = |j - k| / (j k), and both are at most the greatest visible position.
    """
    closest = (
        size
        if power > 0
        else laurent.times(size, {(-2 * a, -2 * b): x for (a, b), x in REACH[masking].items()})
    )
    return Lead(laurent.times(closest, steps), DOMAINS[masking])


def _agree(names: Names, values: list[Diagram], bit: Diagram) -> bool:
    """Whether each value is the same at all positions where a bit holds."""
    there = (names.diagrams.constrain(value, bit, names.false) for value in values)
    return all(names.diagrams.is_constant(value) for value in there)


def _if_covered(contest: Callable[[], Contest]) -> Contest | None:
    """The contest; None where its rows are too mixed, which matters for floats only."""
    try:
        return contest()
    except UnprovenError:
        return None


def _blocked(names: Names, parts: dict[Diagram, Value], domain: Domain) -> tuple[Diagram, Laurent]:
    """(b, P): what the scores take away from position j is P b(j), up to what is the same for all j."""
    blocked, push = names.false, laurent.constant(1)
    for number, (diagram, value) in enumerate(parts.items()):
        own = _scalar(names, value)
        if number == 0:
            push = own if _is_positive(own, domain) else laurent.times(own, -1)
        powers = next(iter(push))
        ratio = own.get(powers, Fraction(0)) / push[powers]
        if laurent.times(push, ratio) != own:
            raise UnprovenError("its keys are weighed differently by different positions")
        blocked = names.plus(blocked, names.scaled(diagram, -ratio))
    return blocked, push


def _by_parity(names: Names, masking: Masking, positive: Diagram, value: Diagram) -> Diagram:
    """A value of the parity of j, at even j where `positive`, else at odd j; at i where only i is seen."""
    at_even, at_odd = _even_and_odd(names, value)
    return names.choose(names.edge(masking), value, names.choose(positive, at_even, at_odd))


def _even_and_odd(names: Names, diagram: Diagram) -> tuple[Diagram, Diagram]:
    """The values at even and at odd positions of a diagram that depends on nothing else."""
    at_even, at_odd = (names.at_fixed(diagram, j) for j in (2, 1))
    half_sum, half_difference = (
        names.scaled(names.plus(at_even, names.scaled(at_odd, sign)), HALF) for sign in (1, -1)
    )
    if names.plus(half_sum, names.product(half_difference, names.sign)) != diagram:
        raise UnprovenError("a key or value depends on more than the parity of its position")
    return at_even, at_odd


def _outputs(
    names: Names, head: Head, values: list[Diagram], read: Callable[[Diagram], Diagram]
) -> tuple[Output, ...]:
    outputs = []
    for value, target in zip(values, head.targets, strict=True):
        found = names.constants(value, "a value")
        size = max(abs(v) for v in found)
        outputs.append(Output(target, read(value), max(found) - min(found), size))
    return tuple(outputs)


# Small proofs ----------------------------------------------------------------------------------------


def _scalar(names: Names, value: Value) -> Laurent:
    """A value that is the same for all words, as a polynomial in i and n."""
    return {powers: _constant(names, diagram) for powers, diagram in value.items()}


def _constant(names: Names, diagram: Diagram) -> Fraction:
    values = names.values(diagram)
    if len(values) != 1 or values[0].parts:
        raise UnprovenError("a factor of its scores depends on the word")
    return values[0].constant


def _single_mean(names: Names, value: Value, masking: Masking) -> tuple[int | None, Laurent]:
    """The mean of which a value is a multiple (None: of 1), and the factor, where i sees several."""
    several = names.negation(names.edge(masking))
    numbers: set[int | None] = set()
    factor: Laurent = {}
    for powers, diagram in value.items():
        inner = names.values(names.diagrams.constrain(diagram, several, names.false))
        if len(inner) != 1 or len(inner[0].parts) + (inner[0].constant != 0) != 1:
            raise UnprovenError("its query is not a multiple of an average")
        ((number, own),) = inner[0].parts or ((None, inner[0].constant),)
        numbers.add(number)
        factor = laurent.plus(factor, laurent.monomial(*powers, own))
    if len(numbers) != 1:
        raise UnprovenError("its query is not a multiple of an average")
    return numbers.pop(), factor


def _odd_unit(names: Names, masking: Masking, summand: Diagram) -> Fraction:
    """A unit of which the sum over the visible positions is an odd multiple: only one summand is odd."""
    unit = _common(names, (summand,))
    mark = names.mark(masking)
    marked, others = (
        names.constants(names.diagrams.constrain(summand, bit, names.false), "a count")
        for bit in (mark, names.negation(mark))
    )
    if any(v / unit % 2 != 1 for v in marked) or any(v / unit % 2 for v in others):
        raise UnprovenError("the sum whose sign it reads may be 0")
    return unit


def _common(names: Names, diagrams: tuple[Diagram, ...]) -> Fraction:
    """The greatest common divisor of all values, a positive rational."""
    values = [v for diagram in diagrams for v in names.constants(diagram, "a count")]
    denominator = lcm(*(v.denominator for v in values))
    common = gcd(*(int(v * denominator) for v in values))
    if not common:
        raise UnprovenError("the sum whose sign it reads is 0")
    return Fraction(common, denominator)


def _factor(names: Names, diagram: Diagram, number: int) -> Fraction:
    """The factor of a mean, which must be the same everywhere."""
    found = {dict(value.parts).get(number, Fraction(0)) for value in names.values(diagram)}
    if len(found) != 1:
        raise UnprovenError("an average is weighed differently at different positions")
    return found.pop()


def _without_means(names: Names, diagram: Diagram) -> Diagram:
    return names.diagrams.map("constant part", lambda value: Affine(value.constant), diagram)


def _for_losses(lead: Laurent, rest: Laurent, domain: Domain, what: str) -> tuple[Fraction, Fraction]:
    """The least lead + rest, and the least lead/2 + rest; both positive."""
    whole, half = (
        _proved(laurent.least(laurent.plus(laurent.times(lead, part), rest), domain), what)
        for part in (1, HALF)
    )
    return _positive(whole), _positive(half)


def _proved(value: Fraction | None, what: str) -> Fraction:
    if value is None:
        raise UnprovenError(f"not proved for all lengths: {what}")
    return value


def _positive(gap: Fraction) -> Fraction:
    if gap <= 0:
        raise UnprovenError("its lead is not positive")
    return gap
