"""The lemma of heads that choose: what it says of all positions in short words, and what it must not say."""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from fractions import Fraction
from itertools import product
from math import exp

import flint
import pytest

from attemper.checker.attention.contests import contest_of
from attemper.checker.attention.leads import MAX_DEGREE, ONE, UNIT, Trail, least_of, scored, trail
from attemper.checker.attention.scores import read_head
from attemper.checker.names import UnprovenError
from attemper.exact.balls import ball, precision
from attemper.networks.layers import Masking
from tests.support.drawn.head_cases import SELECT
from tests.support.drawn.heads import ALL, LEFT, RIGHT, Palette, Rows

Terms = dict[tuple[int, ...], Fraction]
"""The sum of factor * i^a n^b j^c w^d by (a, b, c, d); without j and w by (a, b)."""

I, N, J, W = range(4)  # noqa: E741 - i, n, j and w, as everywhere
LONGEST = 9
MASKS = (LEFT, RIGHT, ALL)
SHAPES = [(masking, gap, every) for masking in MASKS for gap in (1, 2) for every in (1, 2)]

Place = tuple[int, int, int, int]
"""i, n, j and w."""


def sees(masking: Masking, i: int, k: int) -> bool:
    return k <= i if masking is LEFT else k >= i if masking is RIGHT else True


def places(masking: Masking, low: int, gap: int, lengths: Iterable[int]) -> Iterator[Place]:
    """Where both are seen, and `low` (J or W) is left of the other one by the gap or more."""
    for n in lengths:
        for i, left in product(range(1, n + 1), repeat=2):
            for right in range(left + gap, n + 1):
                if sees(masking, i, left) and sees(masking, i, right):
                    yield (i, n, left, right) if low == J else (i, n, right, left)


def value(terms: Terms, place: Sequence[int]) -> Fraction:
    total = Fraction(0)
    for powers, factor in terms.items():
        above, below = factor.numerator, factor.denominator
        for own, power in zip(place, powers, strict=True):
            above, below = (above * own**power, below) if power >= 0 else (above, below * own**-power)
        total += Fraction(above, below)
    return total


def distance(place: Place) -> int:
    return abs(place[J] - place[W])


# What is drawn ----------------------------------------------------------------------------------------


def summed(pairs: Iterable[tuple[tuple[int, ...], Fraction]]) -> Terms:
    total: Terms = {}
    for powers, factor in pairs:
        total[powers] = total.get(powers, Fraction(0)) + factor
    return {powers: factor for powers, factor in total.items() if factor}


def drawn_form(rng: random.Random, a: int, b: int) -> Terms:
    """About i^a n^b, times a number, and perhaps less of something else."""
    form: Terms = {(a, b): Fraction(rng.choice((1, 2, 3, 4, 8, 12)))}
    if rng.random() < 0.4:
        form[a + rng.choice((-1, 0, 1)), b + rng.choice((-1, 0, 1))] = Fraction(rng.choice((-2, -1, 1, 3)), 2)
    return form


def compiled(rng: random.Random, masking: Masking, low: int) -> tuple[Terms, int]:
    """The difference of two levels and of a tie-break j or 1/j, and that power."""
    power, reach = rng.choice((1, -1)), 0 if masking is LEFT else 1
    grown = [0, 0]
    grown[reach] = 0 if power == 1 else 2
    if rng.random() < 0.3:
        grown[rng.randrange(2)] += rng.choice((-1, 1))
    tie = drawn_form(rng, *grown)
    # Who is w wins the tie-break, or j does, and is pushed back.
    wins = rng.random() < 0.5
    sign = (1 if low == J else -1) * (1 if wins else -1) * power
    pairs = [
        ((a, b, power * (own == J), power * (own == W)), factor * sign * (1 if own == W else -1))
        for (a, b), factor in tie.items()
        for own in (J, W)
    ]
    if not wins or rng.random() < 0.5:
        grown[reach] += 1 if power == 1 else 0
        pushed = drawn_form(rng, *grown)
        if rng.random() < 0.3:
            pushed[0, 0] = pushed.get((0, 0), Fraction(0)) + rng.choice((-12, -4, 4))
        pairs += [((a, b, 0, 0), 2 * factor) for (a, b), factor in pushed.items()]
    return summed(pairs), power


def wild(rng: random.Random, low: int) -> tuple[Terms, int]:
    """Any powers of all four, mostly more of who is on the right."""
    high = W if low == J else J
    pairs: list[tuple[tuple[int, ...], Fraction]] = []
    for _ in range(rng.randrange(1, 4)):
        powers = [rng.randrange(-1, 3) for _ in range(4)]
        more = list(powers)
        more[high] += 1
        factor = Fraction(rng.randrange(1, 5))
        pairs += [(tuple(more), factor), (tuple(powers), -factor * rng.choice((0, 1, 1, 2)))]
    return summed(pairs), 0


def drawn(rng: random.Random, masking: Masking, low: int) -> tuple[Terms, int]:
    return wild(rng, low) if rng.random() < 0.25 else compiled(rng, masking, low)


def accepted(
    rng: random.Random, masking: Masking, gap: int, every: int, count: int
) -> Iterator[tuple[Terms, int, int, Trail]]:
    """So many differences, of which the lemma says something: with the power of the tie-break, and `low`."""
    kinds: Counter[int] = Counter()
    for _ in range(60 * count):
        low = rng.choice((J, W))
        terms, power = drawn(rng, masking, low)
        if kinds[power] >= count:
            continue
        try:
            found = trail(dict(terms), masking, low, gap, every)
        except UnprovenError:
            continue
        kinds[power] += 1
        yield terms, power, low, found
    assert all(kinds[power] == count for power in (1, -1, 0)), kinds


# What is said -----------------------------------------------------------------------------------------


@pytest.mark.sweep(3)
@pytest.mark.parametrize("seed", range(6))
@pytest.mark.parametrize(("masking", "gap", "every"), SHAPES)
def test_every_position_is_behind_by_what_is_said(masking: Masking, gap: int, every: int, seed: int) -> None:
    """In all short words, and in some long ones."""
    rng = random.Random(f"{masking} {gap} {every} {seed}")
    for terms, _, low, found in accepted(rng, masking, gap, every, 2):
        assert found.step is not None
        assert found.step > 0
        for place in places(masking, low, gap, range(1, LONGEST + 1)):
            behind = found.start + found.step / every * (distance(place) - gap)
            assert value(terms, place) >= behind, (terms, place)
        for place in long_places(rng, masking, low, gap):
            behind = found.start + found.step / every * (distance(place) - gap)
            assert value(terms, place) >= behind, (terms, place)


def long_places(rng: random.Random, masking: Masking, low: int, gap: int) -> Iterator[Place]:
    """Some where two are far from the ends, or close to them, or to each other."""
    for _ in range(40):
        steps = [rng.choice((0, 1, 2, 10, 10**3, 10**6)) for _ in range(4)]
        if masking is RIGHT or (masking is ALL and rng.random() < 0.3):
            i = 1 + steps[0]
            left = i + steps[1]
            right = left + gap + steps[2]
            n = right + steps[3]
        else:
            left = 1 + steps[0]
            right = left + gap + steps[1]
            between = masking is ALL and right - left > 1 and rng.random() < 0.5
            i = rng.randrange(left + 1, right) if between else right + steps[2]
            n = max(i, right) + steps[3]
        yield (i, n, left, right) if low == J else (i, n, right, left)


@pytest.mark.sweep(3)
@pytest.mark.parametrize(("masking", "gap", "every"), SHAPES)
def test_a_weight_is_no_less_than_those_of_all_that_are_behind(
    masking: Masking, gap: int, every: int
) -> None:
    """Seen from one i, with one winner: of all on one side of it, or of every second one."""
    rng = random.Random(f"{masking} {gap} {every}")
    with precision(100):
        for terms, _, low, found in accepted(rng, masking, gap, every, 2):
            leads: dict[tuple[int, int, int], list[Fraction]] = {}
            for place in places(masking, low, gap, range(2, 8)):
                if (distance(place) - gap) % every == 0:
                    i, n, _, w = place
                    leads.setdefault((i, n, w), []).append(value(terms, place))
            for loss in (Fraction(0), Fraction(1, 3), Fraction(15, 16)):
                weight = found.weight(ball(loss))
                for own in leads.values():
                    total = sum(((-ball(lead * (1 - loss))).exp() for lead in own), flint.arb(0))
                    assert total <= weight * (1 + ball(Fraction(1, 2**80))), terms


@pytest.mark.parametrize("loss", [Fraction(0), Fraction(1, 2), Fraction(15, 16)])
def test_a_tail_weighs_what_its_series_does(loss: Fraction) -> None:
    with precision(1500):
        for start, step in product(map(Fraction, ("-3", "0", "1/3", "7")), map(Fraction, ("1/2", "4"))):
            kept = 1 - loss
            weight = Trail(start, step).weight(ball(loss))
            terms = [(-ball((start + step * k) * kept)).exp() for k in range(200)]
            rest = (-ball((start + step * 200) * kept)).exp() / (1 - (-ball(step * kept)).exp())
            assert sum(terms, flint.arb(0)) < weight
            assert weight < sum(terms, flint.arb(0)) + 2 * rest
            assert Trail(start).weight(ball(loss)).overlaps(terms[0])
            assert abs(float(Trail(start).weight(ball(loss))) - exp(-start * kept)) < 1e-12 * exp(3)


def test_the_least_of_several_is_no_more_than_any() -> None:
    tails = [Trail(Fraction(3), Fraction(5)), Trail(Fraction(4), Fraction(2)), Trail(Fraction(9))]
    assert least_of(tails) == Trail(Fraction(3), Fraction(2))
    assert least_of(tails[1:]) == Trail(Fraction(4), Fraction(2))


def test_a_form_is_multiplied_with_a_power_of_one_variable() -> None:
    form: Terms = {(2, -1): Fraction(3), (0, 0): Fraction(-1, 2)}
    place = (3, 7, 2, 5)
    for variable, power in product((I, N, J, W), (-2, -1, 0, 1)):
        found = scored(dict(form), variable, power)
        assert value(found, place) == value(form, place[:2]) * Fraction(place[variable]) ** power
    assert value(UNIT, place[:2]) == value(ONE, place) == 1


# By the format ----------------------------------------------------------------------------------------

Line = tuple[tuple[int, int], ...]
"""Variables, each at least so far beyond the one before it, the first beyond 0."""


def lines(masking: Masking, low: int, gap: int) -> list[Line]:
    """The orders of FORMAT.md."""
    high = W if low == J else J
    left_of_i: Line = ((low, 1), (high, gap), (I, 0), (N, 0))
    right_of_i: Line = ((I, 1), (low, 0), (high, gap), (N, 0))
    around_i: Line = ((low, 1), (I, 1), (high, 1), (N, 0))
    return {LEFT: [left_of_i], RIGHT: [right_of_i], ALL: [left_of_i, right_of_i, around_i]}[masking]


def times(one: Terms, other: Terms) -> Terms:
    return summed(
        (tuple(a + b for a, b in zip(p, q, strict=True)), x * y)
        for p, x in one.items()
        for q, y in other.items()
    )


def spelled_out(terms: Terms, cleared: Sequence[int], line: Line) -> Terms:
    """In the distances of a line from the least ones, after multiplying with powers."""
    places: dict[int, Terms] = {}
    before: Terms = {}
    for number, (variable, gap) in enumerate(line):
        one_more = tuple(int(k == number) for k in range(4))
        before = summed([*before.items(), (one_more, Fraction(1)), ((0,) * 4, Fraction(gap))])
        places[variable] = before
    total: Terms = {}
    for powers, factor in terms.items():
        own: Terms = {(0,) * 4: factor}
        for variable, power in enumerate(powers):
            if power + cleared[variable]:
                own = times(own, raised(places[variable], power + cleared[variable]))
        total = summed([*total.items(), *own.items()])
    return total


def raised(terms: Terms, power: int) -> Terms:
    return terms if power == 1 else times(terms, raised(terms, power - 1))


def greatest(over: Terms, under: Terms, orders: list[Line]) -> Fraction | None:
    """The greatest c such that over - c under has no negative coefficient in any order, if there is one."""
    found: list[Fraction] = []
    cleared = [max(-powers[k] for powers in (*over, *under)) for k in range(4)]
    for line in orders:
        ours, theirs = (spelled_out(terms, cleared, line) for terms in (over, under))
        if any(own < 0 for place, own in ours.items() if place not in theirs):
            return None
        found += [ours.get(place, Fraction(0)) / own for place, own in theirs.items()]
    return min(found)


def by_the_format(terms: Terms, masking: Masking, low: int, gap: int) -> tuple[Fraction, Fraction] | None:
    """start and step, for positions that are one further off each."""
    orders, one = lines(masking, low, gap), (0, 0, 0, 0)
    start = greatest(terms, {one: Fraction(1)}, orders)
    if start is None:
        return None
    right, left = ((0, 0, 0, 1), (0, 0, 1, 0)) if low == J else ((0, 0, 1, 0), (0, 0, 0, 1))
    further = summed([(right, Fraction(1)), (left, Fraction(-1)), (one, Fraction(-gap))])
    step = greatest(summed([*terms.items(), (one, -start)]), further, orders)
    return None if step is None or step <= 0 else (start, step)


@pytest.mark.sweep(3)
@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize(("masking", "gap", "every"), SHAPES)
def test_start_and_step_are_those_of_the_format(masking: Masking, gap: int, every: int, seed: int) -> None:
    """Or nothing is said."""
    rng = random.Random(f"by the format {masking} {gap} {every} {seed}")
    seen: Counter[bool] = Counter()
    while min(seen[True], seen[False]) < 3:
        low = rng.choice((J, W))
        terms, _ = drawn(rng, masking, low)
        expected = by_the_format(terms, masking, low, gap)
        seen[expected is None] += 1
        if expected is None:
            with pytest.raises(UnprovenError, match="not proved for all lengths"):
                trail(dict(terms), masking, low, gap, every)
        else:
            start, step = expected
            assert trail(dict(terms), masking, low, gap, every) == Trail(start, every * step)


def difference(tie: Terms, power: int, push: Terms | None = None) -> Terms:
    """push + tie (w^power - j^power)."""
    return summed(
        [
            *(((a, b, 0, power), factor) for (a, b), factor in tie.items()),
            *(((a, b, power, 0), -factor) for (a, b), factor in tie.items()),
            *(((a, b, 0, 0), factor) for (a, b), factor in (push or {}).items()),
        ]
    )


FOUR: Terms = {(0, 0): Fraction(4)}
EXAMPLES: dict[str, tuple[Terms, Masking, int, int, int, tuple[int, int]]] = {
    "behind": (difference(FOUR, 1), LEFT, J, 1, 1, (4, 4)),
    "ahead": (difference(FOUR, 1, {(1, 0): Fraction(8)}), LEFT, W, 1, 1, (12, 4)),
    "bounded, behind": (difference({(2, 0): Fraction(-4)}, -1), LEFT, J, 1, 1, (4, 4)),
    "bounded, ahead": (
        difference({(2, 0): Fraction(-4)}, -1, {(2, 0): Fraction(8)}),
        LEFT,
        W,
        1,
        1,
        (24, 20),
    ),
    "of one parity": (difference(FOUR, 1), LEFT, J, 2, 2, (8, 8)),
    "of the other parity": (difference(FOUR, 1, {(0, 0): Fraction(12)}), LEFT, J, 1, 2, (16, 8)),
    "leftmost": (difference({(0, 0): Fraction(-4)}, 1), RIGHT, W, 1, 1, (4, 4)),
    "leftmost, ahead": (
        difference({(0, 0): Fraction(-4)}, 1, {(0, 1): Fraction(8)}),
        RIGHT,
        J,
        1,
        1,
        (12, 4),
    ),
    "of all": (difference({(0, 2): Fraction(-4)}, -1, {(0, 2): Fraction(8)}), ALL, W, 1, 1, (24, 20)),
    # (w - j)^2 + (j - i) (w - i) + j, which is least for j = 1, i = 2, w = 3, and then grows by 3 for w = 4.
    "between the two": (
        {
            (0, 0, 0, 2): Fraction(1),
            (0, 0, 2, 0): Fraction(1),
            (2, 0, 0, 0): Fraction(1),
            (0, 0, 1, 1): Fraction(-1),
            (1, 0, 1, 0): Fraction(-1),
            (1, 0, 0, 1): Fraction(-1),
            (0, 0, 1, 0): Fraction(1),
        },
        ALL,
        J,
        2,
        1,
        (4, 3),
    ),
}


@pytest.mark.parametrize("name", EXAMPLES)
def test_examples_have_their_leads(name: str) -> None:
    """Those of FORMAT.md, and such as are counted by hand."""
    terms, masking, low, gap, every, (start, step) = EXAMPLES[name]
    assert trail(dict(terms), masking, low, gap, every) == Trail(Fraction(start), Fraction(step))


# What must not be said --------------------------------------------------------------------------------


@pytest.mark.parametrize("masking", MASKS)
@pytest.mark.parametrize("power", [1, -1])
def test_a_tie_break_that_fades_is_refused(masking: Masking, power: int) -> None:
    """Its lead, or what it grows by, comes down to nothing in long words."""
    reach = 0 if masking is LEFT else 1
    for grown in (-1, -2) if power == 1 else (1, 0):
        tie: Terms = {(grown * (reach == 0), grown * (reach == 1)): Fraction(4 * power)}
        terms, n = difference(tie, power), 10**6
        near: Place = (1 if masking is RIGHT else n, n, n - 1, n)
        assert 0 < value(terms, near) < Fraction(1, 10**4)
        with pytest.raises(UnprovenError, match="the tie-break fades"):
            trail(dict(terms), masking, J)


@pytest.mark.parametrize("masking", MASKS)
@pytest.mark.parametrize("power", [1, -1])
def test_a_tie_break_the_other_way_is_refused(masking: Masking, power: int) -> None:
    terms = difference({(0, 0) if power == 1 else (0, 2): Fraction(4 * power)}, power)
    with pytest.raises(UnprovenError, match="not proved for all lengths"):
        trail(dict(terms), masking, W)


@pytest.mark.parametrize("masking", MASKS)
@pytest.mark.parametrize(
    ("grown", "factor", "text"),
    [
        # A number, and less than a step, or just a step, of the greatest position.
        (0, Fraction(1000), "other positions can win"),
        (1, Fraction(7, 2), "other positions can win"),
        (1, Fraction(4), "the tie-break fades"),
    ],
)
def test_a_level_must_outweigh_the_tie_break(
    masking: Masking, grown: int, factor: Fraction, text: str
) -> None:
    reach = (1, 0) if masking is LEFT else (0, 1)
    terms, n = difference(FOUR, 1, {tuple(grown * own for own in reach): factor}), 10**4
    far: Place = (1 if masking is RIGHT else n, n, n, 1)
    assert value(terms, far) <= 4
    with pytest.raises(UnprovenError, match=text):
        trail(dict(terms), masking, W)
    more = difference(FOUR, 1, {reach: Fraction(9, 2)})
    assert trail(dict(more), masking, W).step == Fraction(1, 2)


def test_what_is_left_of_i_is_no_word_on_what_is_right_of_it() -> None:
    """Without a mask i may stand left of both, right of both, or between them."""
    outweighs_left: Terms = difference(FOUR, 1, {(1, 0): Fraction(8)})
    assert trail(dict(outweighs_left), LEFT, W) == Trail(Fraction(12), Fraction(4))
    assert value(outweighs_left, (1, 9, 9, 1)) < 0
    for masking in (RIGHT, ALL):
        with pytest.raises(UnprovenError, match="other positions can win"):
            trail(dict(outweighs_left), masking, W)
    # n - i + 1 is as much as who stands right of i can be off, n as much as others can.
    outweighs_right: Terms = difference(FOUR, 1, {(0, 1): Fraction(8), (1, 0): Fraction(-8)})
    assert trail(dict(outweighs_right), RIGHT, W) == Trail(Fraction(4), Fraction(4))
    assert value(outweighs_right, (9, 9, 9, 1)) < 0
    for masking in (LEFT, ALL):
        with pytest.raises(UnprovenError, match="other positions can win"):
            trail(dict(outweighs_right), masking, W)
    # 8 (j - i) (w - i) + w - j: positive wherever i stands, unless that is between the two.
    between = summed(
        [
            ((0, 0, 1, 1), Fraction(8)),
            ((1, 0, 1, 0), Fraction(-8)),
            ((1, 0, 0, 1), Fraction(-8)),
            ((2, 0, 0, 0), Fraction(8)),
            *difference({(0, 0): Fraction(1)}, 1).items(),
        ]
    )
    assert value(between, (3, 5, 1, 5)) < 0
    assert trail(dict(between), LEFT, J) == trail(dict(between), RIGHT, J) == Trail(Fraction(1), Fraction(1))
    with pytest.raises(UnprovenError, match="other positions can win"):
        trail(dict(between), ALL, J)


@pytest.mark.parametrize("size", [0, 1, -1])
def test_what_does_not_grow_is_no_tie_break(size: int) -> None:
    """The same lead over everybody: more and more of them weigh more and more."""
    for masking in MASKS:
        with pytest.raises(UnprovenError, match="the tie-break fades"):
            trail({(0, 0, 0, 0): Fraction(size)} if size else {}, masking, J)


@pytest.mark.parametrize(
    ("push", "is_covered"),
    [("6 i - 8", False), ("6 i - 9", False), ("6 i - 7", True), ("8 i - 12", False), ("8 i - 11", True)],
)
def test_who_is_ahead_must_be_behind_by_more_than_nothing(push: str, is_covered: bool) -> None:
    """4 per step against the push: at w = 1, j = i = 2 who is blocked is as far ahead."""
    own = Palette()
    slope, constant = (int(part.replace(" ", "")) for part in push.split("i"))
    rows: Rows = [({"1": 4}, {"i": 1}), ({"i": slope, "1": constant}, {"b": -1})]
    head = own.head(SELECT, LEFT, rows, {"a": 1})
    contest = contest_of(read_head(own.names, head, own.stream()))
    lead = 2 * slope + constant - 4
    assert is_covered is (lead > 0)
    if is_covered:
        (found,) = contest.ahead()
        assert found.start == lead
    else:
        with pytest.raises(UnprovenError, match="blocked positions can win"):
            contest.ahead()


@pytest.mark.parametrize(
    ("forms", "start", "step"),
    [
        # Three levels, 8 i and 5 i apart: the lesser of both counts.
        (({"i": 8}, {"i": 5}), 6, 1),
        (({"i": 5}, {"i": 8}), 6, 1),
        # The least start, and the least step, of whichever levels.
        (({"i": 5, "1": 20}, {"i": 8}), 12, 1),
        (({"i": 8}, {"i": 5, "1": 20}), 12, 1),
    ],
)
def test_each_level_leads_over_the_next(
    forms: tuple[dict[str, int], dict[str, int]], start: int, step: int
) -> None:
    own = Palette(("a", "b", "c"))
    first, second = forms
    rows: Rows = [
        ({"1": 4}, {"i": 1}),
        (first, {"b": -1, "c": -1}),
        (second, {"c": -1}),
    ]
    head = own.head(SELECT, LEFT, rows, {"a": 1})
    contest = contest_of(read_head(own.names, head, own.stream()))
    assert contest.ahead() == (Trail(Fraction(start), Fraction(step)),)
    assert contest.behind() == Trail(Fraction(4), Fraction(4))


def test_powers_that_no_construction_has_are_refused() -> None:
    """At most 16, of all variables together: of each the greatest one and the least one, if below 0."""
    assert MAX_DEGREE == 16
    four = Fraction(4)
    assert trail({(0, 0, 14, 1): four, (0, 0, 15, 0): -four}, LEFT, J) == Trail(four, four)
    with pytest.raises(UnprovenError, match="powers that no construction has"):
        trail({(0, 0, 15, 1): four, (0, 0, 16, 0): -four}, LEFT, J)
    for powers in (
        [(0, 0, 15, 0)],
        [(0, 0, -15, 0)],
        [(0, 0, 7, 0), (0, 0, -3, 5)],
        [(0, 0, -7, 0), (0, 0, 3, 5)],
        [(0, 2, 6, 1), (0, -1, 1, -4), (1, 0, 0, 1)],
        [(-2, 0, -10, 0), (-1, 0, 3, 0)],
    ):
        for more in range(4):
            (a, b, c, d), *others = powers
            first = (a, b, c + (more if c > 0 else -more), d)
            terms: Terms = {own: Fraction(1) for own in (first, *others)}
            try:
                trail(terms, LEFT, J)
                text = ""
            except UnprovenError as error:
                text = str(error)
            assert ("powers that no construction has" in text) is (15 + more > 16)
