"""The one lemma for heads against its definition: scores perturbed in every way that is allowed."""

from __future__ import annotations

import random
from dataclasses import dataclass, replace
from fractions import Fraction
from itertools import product
from typing import cast

import flint
import pytest
from hypothesis import given
from hypothesis import strategies as st

from attemper.checker.attention.contests import Contest, ScoreLevels
from attemper.checker.identities import Formulas
from attemper.checker.rounding import competition as competing
from attemper.checker.rounding.arithmetic import (
    UNKNOWN,
    Arithmetic,
    BeyondError,
    Inexact,
    Lengths,
    OnGrid,
    Rounded,
)
from attemper.checker.rounding.competition import Competition, Rival, RivalPair, ScoreGap, ScoreTerm
from attemper.checker.rounding.score_gaps import Cold, ScoredRow, losses, lost_below, scored_row, sum_rate
from attemper.exact import laurent
from attemper.exact.balls import ball, precision
from attemper.exact.formats import BFLOAT16, FLOAT32, FLOAT64, FloatFormat
from attemper.exact.laurent import Laurent
from attemper.networks.layers import Masking
from tests.support.judges.rounding import grid_of

POWERS = st.tuples(st.integers(-3, 3), st.integers(-3, 3))
FORMS = st.dictionaries(POWERS, st.integers(1, 9).map(Fraction), min_size=1, max_size=3)
DOMAINS = (laurent.AFTER_FIRST, laurent.BEFORE_LAST, laurent.LONGER_THAN_ONE)


def places_in(domain: laurent.Domain, longest: int) -> list[tuple[int, int]]:
    """All (i, n) of a domain up to a length."""
    grid = product(range(1, longest + 1), repeat=2)
    ends = [(first.gap, last.gap) for first, last in domain]
    return [(i, n) for i, n in grid if any(i >= i0 and n >= i + d for i0, d in ends)]


# Laurent forms -----------------------------------------------------------------------------------------


@given(FORMS, POWERS, st.sampled_from(DOMAINS))
def test_a_form_is_at_least_the_multiple_of_a_monomial_that_is_found(
    over: Laurent, power: tuple[int, int], domain: laurent.Domain
) -> None:
    factor = laurent.most(over, laurent.monomial(*power), domain)
    if factor is not None:
        under = laurent.monomial(*power, factor)
        assert all(laurent.at(over, i, n) >= laurent.at(under, i, n) for i, n in places_in(domain, 12))


def test_the_multiple_is_the_greatest_where_it_is_known() -> None:
    """The limit for long words, also where that is not attained; and what is less than 0, but no more."""
    one, after = laurent.constant(1), laurent.AFTER_FIRST
    four = laurent.plus(laurent.monomial(1, 0, 4), laurent.constant(4))
    assert laurent.most(four, laurent.monomial(1, 0), after) == 4
    assert laurent.most(four, one, after) == 12
    assert laurent.most(four, laurent.monomial(2, 0), after) == 0
    assert laurent.most(laurent.times(four, -1), laurent.monomial(1, 0), after) == -6
    assert laurent.most(laurent.times(four, -1), one, after) is None
    assert laurent.most({}, one, after) == 0
    assert laurent.most(four, {}, after) is None
    assert laurent.most(four, laurent.times(one, -1), after) is None


@given(FORMS, POWERS, st.sampled_from(DOMAINS), st.integers(2, 12))
def test_what_a_lead_is_worth(
    form: Laurent, power: tuple[int, int], domain: laurent.Domain, longest: int
) -> None:
    worth = ScoreGap(form, domain).worth(power)
    if worth is not None:
        k, factor = worth
        for i, n in places_in(domain, longest):
            assert laurent.at({power: Fraction(1)}, i, n) <= longest**k * laurent.at(form, i, n) / factor


def test_errors_that_grow_as_their_lead_does_need_no_power_of_the_length() -> None:
    score_gap = ScoreGap({(1, 0): Fraction(4), (0, 0): Fraction(4)}, laurent.AFTER_FIRST)
    assert score_gap.worth((1, 0)) == (0, Fraction(4))
    assert score_gap.worth((2, 0)) == (1, Fraction(4))


# The lemma ---------------------------------------------------------------------------------------------

LONGEST = 7


@dataclass(frozen=True)
class Trial:
    """A future-masked contest of a tie-break, a row that blocks and a level one, with their errors."""

    power: int
    competition: Competition
    scored: list[ScoredRow]
    queries: list[Laurent]
    cold: Cold


def number(size: Fraction, relative: Fraction, zero: Fraction = Fraction(0)) -> Rounded:
    """What is known of a number that is off by a relative error, or by `zero` where it is 0."""
    absolute = ball(max(size * relative, zero))
    return Inexact(ball(size), flint.arb(1), absolute, ball(zero), ball(relative))


def drawn(rng: random.Random) -> Trial:
    """A contest whose scores are G t(j) - P b(j) + a constant, t(j) = j or -1/j."""
    power = rng.choice([1, -1])
    margin, push, level = (Fraction(rng.randint(1, 40), rng.choice([1, 2, 4])) for _ in range(3))
    size = laurent.monomial(0, 0, margin) if power > 0 else laurent.monomial(2, 0, margin)
    pushing = laurent.monomial(1, 0, push + margin) if power > 0 else laurent.monomial(2, 0, push + margin)
    queries = [size, pushing, laurent.constant(level)]
    errors = [Fraction(rng.choice([0, 1, 1, 3]), rng.choice([2**8, 2**12, 2**16])) for _ in range(7)]
    keys = [
        number(Fraction(LONGEST), errors[0]),
        number(Fraction(2), errors[1], errors[2]),
        number(Fraction(1), errors[3]),
    ]
    sizes = [laurent.at(query, LONGEST, LONGEST) for query in queries]
    wholes = [number(size, error) for size, error in zip(sizes, errors[4:], strict=True)]
    scored = [
        ScoredRow(q, k, number(q_size * 8, Fraction(1)), None)
        for q, k, q_size in zip(wholes, keys, sizes, strict=True)
    ]
    reach = laurent.monomial(1, 0)
    closest = size if power > 0 else laurent.times(size, laurent.monomial(-2, 0))
    others = laurent.plus(reach, laurent.constant(-1))
    span = (
        laurent.times(size, others)
        if power > 0
        else laurent.plus(size, laurent.times(size, laurent.monomial(-1, 0, -1)))
    )
    after = laurent.AFTER_FIRST
    sign = Fraction(power)
    at = [(sign, Fraction(-b), Fraction(1)) for b in range(3)]
    pairs = []
    for b, c in product(range(3), repeat=2):
        if b == c:
            pairs.append(RivalPair(at[b], at[c], Rival.FARTHER, ScoreGap(closest, after)))
        elif b < c:
            pushed = laurent.times(pushing, c - b)
            ahead = laurent.plus(pushed, laurent.times(span, -1))
            pairs.append(RivalPair(at[b], at[c], Rival.PENALISED, ScoreGap(pushed, after)))
            pairs.append(RivalPair(at[b], at[c], Rival.AHEAD, ScoreGap(ahead, after)))
    rows = tuple(ScoreTerm(k == 0, query) for k, query in enumerate(queries))
    apart = reach if power > 0 else laurent.constant(1)
    distances = apart, laurent.times(apart, 2)
    competition = Competition(power, ScoreGap(size, after), reach, 1, *distances, rows, tuple(pairs))
    return Trial(
        power,
        competition,
        scored,
        queries,
        Cold(number(Fraction(1), Fraction(0)), is_exact=rng.random() < 0.5),
    )


def upper(value: flint.arb) -> Fraction:
    found = value.upper().fmpq()
    return Fraction(int(found.p), int(found.q))


@pytest.mark.sweep(1)
@pytest.mark.parametrize("seed", range(30))
def test_no_rounding_takes_more_from_a_lead_than_the_loss(seed: int) -> None:
    """Errors at the ends of what is allowed, in random directions, for all i, winners and others."""
    rng = random.Random(seed)
    trial = drawn(rng)
    u = BFLOAT16.roundoff
    with precision(64):
        lengths = Lengths(Arithmetic(Formulas(("a",)).names, BFLOAT16), LONGEST)
        near, far = (upper(loss) for loss in losses(lengths, trial.competition, trial.scored, trial.cold))
    most_of_product = (1 + u) ** trial.cold.roundings - 1

    def ends(error: Fraction) -> Fraction:
        return error * rng.choice([-1, 1])

    def score(i: int, j: int, b: int, queries: list[Fraction]) -> Fraction:
        keys = [Fraction(j) if trial.power > 0 else Fraction(-1, j), Fraction(-b), Fraction(1)]
        products = []
        for query, key, scored in zip(queries, keys, trial.scored, strict=True):
            off = upper(scored.key.at_zero) if not key else upper(scored.key.relative) * abs(key)
            products.append(query * (key + ends(off)) * (1 + ends(most_of_product)))
        present = [p for p in products if p]
        summed = (len(present) > 1) * (Fraction(8, 7) * (len(present) - 1) * BFLOAT16.sum_roundoff + 2 * u)
        return sum(products) + ends(summed * sum(map(abs, products)) * Fraction(99, 100))

    def exact(i: int, j: int, b: int) -> Fraction:
        g, p, level = (laurent.at(query, i, LONGEST) for query in trial.queries)
        return g * (Fraction(j) if trial.power > 0 else Fraction(-1, j)) - p * b + level

    worst = Fraction(0)
    for i in range(2, LONGEST + 1):
        for w, j, b, c in product(range(1, i + 1), range(1, i + 1), range(3), range(3)):
            if w == j or c < b or (b == c and j > w):
                continue
            score_gap = exact(i, w, b) - exact(i, j, c)
            assert score_gap > 0
            loss = far if j > w else near
            for _ in range(2):
                queries = [
                    laurent.at(query, i, LONGEST) * (1 + ends(upper(scored.query.relative)))
                    for query, scored in zip(trial.queries, trial.scored, strict=True)
                ]
                computed = score(i, w, b, queries) - score(i, j, c, queries)
                assert computed >= (1 - loss) * score_gap
                worst = max(worst, (score_gap - computed) / (loss * score_gap))
    assert worst > Fraction(1, 20), "the bound is not far from what happens"


@pytest.mark.parametrize("power", [1, -1])
def test_a_head_without_errors_loses_only_to_roundings_of_products_and_sums(power: int) -> None:
    exact = [number(Fraction(1), Fraction(0))] * 3
    rng = random.Random(power)
    trial = next(t for t in iter(lambda: drawn(rng), None) if t.power == power)
    products = [
        ScoredRow(
            q,
            k,
            OnGrid(ball(Fraction(1)), Fraction(1)),
            Fraction(1),
        )
        for q, k in zip(exact, exact, strict=True)
    ]
    with precision(64):
        lengths = Lengths(Arithmetic(Formulas(("a",)).names, BFLOAT16), LONGEST)
        found = losses(lengths, trial.competition, products, Cold(exact[0], is_exact=True))
        assert all(loss < ball(Fraction(1, 2**90)) for loss in found), "all that is left is underflow"


# Lookups -----------------------------------------------------------------------------------------------


def test_what_errors_of_a_lookup_are_to_its_lead() -> None:
    """The ratios in FORMAT.md, for every count c and position j, in both forms, up to V = N = 14."""
    for visible in range(2, 15):
        for c, j in product(range(visible + 1), range(1, visible + 1)):
            best = max(c, 1)
            if j == best:
                continue
            for bounded in (False, True):
                query, products, of_unit, of_ratio = _ratios(c, best, j, visible, bounded)
                assert query <= 4 * visible
                assert products <= 6 * visible**2
                assert max(of_unit, of_ratio) <= 2 * visible**2


def _ratios(c: int, best: int, j: int, visible: int, bounded: bool) -> tuple[Fraction, ...]:
    """Changes of a lead relative to that lead: by queries and products off by a part, means by a number."""
    unit, ratio = Fraction(1, visible), Fraction(c, visible)
    if bounded:
        keys = {x: (Fraction(2, x), Fraction(-1, x * x)) for x in (best, j)}
        queries = (unit, ratio)
    else:
        keys = {x: (Fraction(-x * x), Fraction(2 * x)) for x in (best, j)}
        queries = (unit, ratio)
    apart = [abs(one - other) for one, other in zip(keys[best], keys[j], strict=True)]
    terms = (q * (one - other) for q, one, other in zip(queries, keys[best], keys[j], strict=True))
    score_gap = sum(terms, Fraction(0))
    assert score_gap > 0
    by_query = sum(q * distance for q, distance in zip(queries, apart, strict=True))
    by_product = sum(q * abs(key) for x in (best, j) for q, key in zip(queries, keys[x], strict=True))
    return by_query / score_gap, by_product / score_gap, apart[0] / score_gap, apart[1] / score_gap


# The loss, from the text of FORMAT.md ------------------------------------------------------------------

Sizes = Laurent
"""A bound on an error, by powers of i and n."""

ROUNDOFFS = {"float32": (24, 24, 100, 126), "bfloat16": (8, 24, 100, 126), "float64": (53, 53, 900, 1022)}
"""-log2 of u, of U, of what is added for underflow and of the least normal number."""


@dataclass(frozen=True)
class Read:
    """A number as it is computed; `relative` is None if no relative error is known."""

    size: Fraction
    relative: Fraction | None
    absolute: Fraction
    zero: Fraction

    @property
    def rounded(self) -> Rounded:
        relative = UNKNOWN if self.relative is None else ball(self.relative)
        return Inexact(ball(self.size), ball(Fraction(1)), ball(self.absolute), ball(self.zero), relative)


@dataclass(frozen=True)
class Ruled:
    """One row: its query, its key at each place, and what is computed."""

    exact: Laurent
    keys: tuple[Fraction, ...]
    is_tie: bool
    growth: int
    is_average: bool
    query: Read
    key: Read
    product: Fraction
    grid: Fraction | None

    @property
    def row(self) -> ScoreTerm:
        if not self.growth and not self.is_average:
            return ScoreTerm(self.is_tie, self.exact)
        return ScoreTerm(self.is_tie, self.exact, self.growth, self.is_average)

    @property
    def scored(self) -> ScoredRow:
        product = Read(self.product, None, Fraction(0), Fraction(0)).rounded
        return ScoredRow(self.query.rounded, self.key.rounded, product, self.grid)


@dataclass(frozen=True)
class Rounds:
    """All that a loss depends on but the pair."""

    format: str
    longest: int
    rows: tuple[Ruled, ...]
    temperature: Fraction
    is_exact: bool
    power: int
    size: ScoreGap
    reach: tuple[int, int]
    steps: int

    def roundoff(self, number: int) -> Fraction:
        return Fraction(1, 2 ** ROUNDOFFS[self.format][number])

    def of_sum(self, terms: int) -> Fraction:
        """sigma for so many terms that are not computed as exactly 0, if the sum rounds."""
        u, wider, rate = self.roundoff(0), self.roundoff(1), Fraction(0)
        if terms > 1:
            rate = Fraction(8, 7) * (terms - 1) * wider
            rate += 2 * u * (1 + rate) if wider != u else 0
            rate = rate if self.is_exact else (1 + rate) * (1 + u) - 1
        return rate

    def sigma(self, place: int) -> Fraction:
        present = []
        for row in self.rows:
            no_query = not row.exact and not row.query.zero
            no_key = not row.keys[place] and not row.key.zero
            if not no_query and not no_key:
                present.append(row)
        if len(present) > 1 and None not in {row.grid for row in present}:
            grid = min(row.grid for row in present if row.grid is not None)
            if sum(row.product for row in present) * self.roundoff(0) <= grid:
                return Fraction(0)
        return self.of_sum(len(present))

    def pi(self, row: Ruled) -> Fraction:
        u = self.roundoff(0)
        return Fraction(0) if row.grid is not None else (1 + u) ** (1 if self.is_exact else 2) - 1

    def off_query(self, row: Ruled) -> Sizes:
        relative = row.query.relative
        if relative is None or relative > Fraction(1, 2) or row.is_average:
            return {(0, 0): row.query.absolute}
        own = {powers: relative * size for powers, size in row.exact.items()}
        return laurent.plus(own, laurent.constant(row.query.zero))

    def kappa(self, row: Ruled, place: int) -> Fraction:
        key = abs(row.keys[place])
        if not key:
            return row.key.zero
        return row.key.absolute if row.key.relative is None else min(row.key.absolute, row.key.relative * key)

    def errors(self, winner: int, other: int) -> tuple[Sizes, Sizes, Sizes]:
        """E: of rows without t, times |t(w) - t(j)|, and times |t(w)| + |t(j)|."""
        tiny, least = self.roundoff(2), self.roundoff(3)
        others = laurent.constant(4 * len(self.rows) * (tiny + least * (1 + self.temperature)))
        apart: Sizes = {}
        both: Sizes = {}
        for row in self.rows:
            query, off, pi = row.exact, self.off_query(row), self.pi(row)
            whole = laurent.plus(query, off)
            if row.is_tie:
                assert row.key.relative is not None
                key = laurent.monomial(0, row.growth, abs(row.keys[0]))
                sums = max(self.sigma(winner), self.sigma(other))
                apart = laurent.plus(apart, laurent.times(off, key))
                rate = (1 + row.key.relative) * (1 + pi) * (1 + sums) - 1
                both = laurent.plus(both, laurent.times(laurent.times(whole, key), rate))
                continue
            offs = self.kappa(row, winner) + self.kappa(row, other)
            distance = abs(row.keys[winner] - row.keys[other])
            others = laurent.plus(others, laurent.times(off, distance + offs), laurent.times(query, offs))
            for place in (winner, other):
                rate = (1 + pi) * (1 + self.sigma(place)) - 1
                most = (abs(row.keys[place]) + self.kappa(row, place)) * rate
                others = laurent.plus(others, laurent.times(whole, most))
        return others, apart, both

    def share(self, errors: Sizes, score_gap: ScoreGap) -> Fraction | None:
        total = Fraction(0)
        for powers, size in errors.items():
            worth = score_gap.worth(powers)
            if worth is None:
                return None
            total += size * self.longest ** worth[0] / worth[1]
        return total

    def loss(self, pair: RivalPair, winner: int, other: int) -> Fraction | None:
        """The table of FORMAT.md; None if nothing relates an error to its lead."""
        others, apart, both = self.errors(winner, other)
        far = laurent.monomial(*self.reach) if self.power > 0 else laurent.constant(1)
        twice = laurent.times(both, laurent.times(far, 2))
        found: list[Fraction | None]
        match pair.kind:
            case Rival.FARTHER:
                ratio = laurent.monomial(*self.reach, Fraction(2, self.steps))
                tie = laurent.plus(apart, laurent.times(both, ratio))
                found = [self.share(tie, self.size), self.share(others, pair.score_gap)]
                return (
                    None if None in found else sum((part for part in found if part is not None), Fraction(0))
                )
            case Rival.PENALISED:
                found = [
                    self.share(apart, self.size),
                    self.share(laurent.plus(others, twice), pair.score_gap),
                ]
                return None if None in found else max(part for part in found if part is not None)
            case Rival.AHEAD:
                step, ends = self.of_those_ahead
                all_errors = laurent.plus(others, laurent.times(apart, step), laurent.times(both, ends))
        return self.share(all_errors, pair.score_gap)

    @property
    def of_those_ahead(self) -> tuple[Laurent, Laurent]:
        """|t(w) - t(j)| and |t(w)| + |t(j)|: of a Neighbour it is i itself that is ahead."""
        if self.steps == 2:
            step = laurent.constant(1) if self.power > 0 else laurent.monomial(-2, 0, 2)
            return step, laurent.monomial(1 if self.power > 0 else -1, 0, 3)
        far = laurent.monomial(*self.reach) if self.power > 0 else laurent.constant(1)
        return far, laurent.times(far, 2)

    @property
    def cold(self) -> Cold:
        return Cold(number(self.temperature, Fraction(0)), self.is_exact)

    def competition(self, *pairs: RivalPair) -> Competition:
        rows = tuple(row.row for row in self.rows)
        reach, masking = laurent.monomial(*self.reach), Masking.FUTURE if self.reach[0] else Masking.PAST
        contest = Contest(cast(ScoreLevels, None), masking, self.power, {}, True, self.steps)
        _, apart, both = competing._distances(contest, reach)
        return Competition(self.power, self.size, reach, self.steps, apart, both, rows, pairs)

    def found(self, *pairs: RivalPair) -> tuple[flint.arb, flint.arb]:
        lengths = Lengths(Arithmetic(Formulas(("a",)).names, formats()[self.format]), self.longest)
        return losses(lengths, self.competition(*pairs), [row.scored for row in self.rows], self.cold)

    def place(self, number: int) -> tuple[Fraction, ...]:
        return tuple(row.keys[number] for row in self.rows)


def formats() -> dict[str, FloatFormat]:
    return {form.name: form for form in (BFLOAT16, FLOAT32, FLOAT64)}


PLACES = 3


def any_form(rng: random.Random, least: int = 0) -> Laurent:
    powers = [(0, 0), (1, 0), (0, 1), (-1, 0), (1, 1), (2, 0), (-1, -1)]
    chosen = rng.sample(powers, rng.randint(least, 2))
    return {power: Fraction(rng.randint(1, 9), rng.choice([1, 2, 4])) for power in chosen}


def any_read(rng: random.Random, known: bool) -> Read:
    options = [Fraction(0), Fraction(1, 2**9), Fraction(1, 3), Fraction(1, 2)]
    options += [] if known else [Fraction(1, 2) + Fraction(1, 2**20), Fraction(2)]
    relative = rng.choice([*options, *([] if known else [None])])
    absolute = Fraction(rng.randint(1, 9), 2 ** rng.randint(4, 12))
    return Read(Fraction(rng.randint(1, 9)), relative, absolute, rng.choice([Fraction(0), absolute / 3]))


def any_row(rng: random.Random, is_tie: bool) -> Ruled:
    one = Fraction(rng.choice([-3, 1, 5]), rng.choice([1, 2]))
    keys = [one] * PLACES if is_tie else [Fraction(rng.choice([0, 0, 1, -2, 3]), 2) for _ in range(PLACES)]
    query = any_form(rng, least=is_tie and rng.random() < 1 / 2)
    growth = rng.choice([0, 0, 1, 2, -1]) if is_tie else 0
    product = Fraction(rng.randint(1, 2**10))
    grid = rng.choice([None, Fraction(1, 2**14), Fraction(64), Fraction(16)])
    average = rng.random() < 1 / 4
    return Ruled(
        query,
        tuple(keys),
        is_tie,
        growth,
        average,
        any_read(rng, False),
        any_read(rng, is_tie),
        product,
        grid,
    )


def any_rounds(rng: random.Random) -> Rounds:
    rows = [any_row(rng, True)] + [any_row(rng, False) for _ in range(rng.randint(0, 3))]
    if rng.random() < 1 / 4:
        rows.append(any_row(rng, True))
    rng.shuffle(rows)
    return Rounds(
        format=rng.choice(list(ROUNDOFFS)),
        longest=rng.choice([1, 7, 1000]),
        rows=tuple(rows),
        temperature=Fraction(rng.choice([1, 3, 2**30])),
        is_exact=rng.random() < 1 / 2,
        power=rng.choice([1, -1]),
        size=ScoreGap(any_form(rng, 1), laurent.AFTER_FIRST),
        reach=rng.choice([(1, 0), (0, 1)]),
        steps=rng.choice([1, 2]),
    )


def is_near(found: flint.arb, expected: Fraction | None) -> bool:
    if expected is None:
        return bool(found >= UNKNOWN)
    return bool(abs(found - ball(expected)) <= ball(expected / 2**150 + Fraction(1, 2**1200)))


@pytest.mark.parametrize("part", range(4))
def test_the_loss_is_what_the_format_says(part: int) -> None:
    """Random rows, kinds and leads: the text read once more, in rational numbers."""
    known = 0
    with precision(250):
        for seed in range(30 * part, 30 * part + 30):
            rng = random.Random(seed)
            rounds = any_rounds(rng)
            for kind in Rival:
                winner, other = rng.randrange(PLACES), rng.randrange(PLACES)
                score_gap = ScoreGap(any_form(rng, 1), laurent.LONGER_THAN_ONE)
                pair = RivalPair(rounds.place(winner), rounds.place(other), kind, score_gap)
                expected = rounds.loss(pair, winner, other)
                near, far = rounds.found(pair)
                loss, nothing = (far, near) if kind is Rival.AHEAD else (near, far)
                assert nothing == 0
                assert is_near(loss, expected), (seed, kind)
                known += expected is not None
    assert known > 50


def test_the_greatest_loss_of_all_pairs_counts_near_and_far() -> None:
    with precision(250):
        for seed in range(20):
            rng = random.Random(seed)
            rounds = any_rounds(rng)
            pairs, near, far = [], [Fraction(0)], [Fraction(0)]
            for kind in Rival:
                for _ in range(2):
                    winner, other = rng.randrange(PLACES), rng.randrange(PLACES)
                    score_gap = ScoreGap(any_form(rng, 1), laurent.LONGER_THAN_ONE)
                    pair = RivalPair(rounds.place(winner), rounds.place(other), kind, score_gap)
                    expected = rounds.loss(pair, winner, other)
                    if expected is not None:
                        pairs.append(pair)
                        (far if kind is Rival.AHEAD else near).append(expected)
            found = rounds.found(*pairs)
            assert is_near(found[0], max(near))
            assert is_near(found[1], max(far))


ROW = Ruled(
    exact=laurent.constant(1),
    keys=(Fraction(1),) * PLACES,
    is_tie=True,
    growth=0,
    is_average=False,
    query=Read(Fraction(1), Fraction(0), Fraction(0), Fraction(0)),
    key=Read(Fraction(1), Fraction(0), Fraction(0), Fraction(0)),
    product=Fraction(1),
    grid=Fraction(1),
)
SCORE_GAP = ScoreGap(laurent.constant(1), laurent.AFTER_FIRST)
ROUNDS = Rounds("float32", 7, (ROW,), Fraction(1), True, 1, SCORE_GAP, (1, 0), 1)


@pytest.mark.parametrize("kind", list(Rival))
def test_the_key_of_a_tie_break_must_be_known_to_half_of_itself(kind: Rival) -> None:
    for relative, is_known in ((Fraction(1, 2), True), (Fraction(1, 2) + Fraction(1, 2**40), False)):
        row = replace(ROW, key=replace(ROW.key, relative=relative))
        rounds = replace(ROUNDS, rows=(row,))
        pair = RivalPair(rounds.place(0), rounds.place(1), kind, SCORE_GAP)
        if is_known:
            rounds.found(pair)
        else:
            with pytest.raises(BeyondError):
                rounds.found(pair)


def test_an_error_of_nothing_is_no_part_of_any_lead() -> None:
    """The tie-break has no errors, so what its own lead is does not matter."""
    hopeless = ScoreGap(laurent.constant(-1), laurent.AFTER_FIRST)
    rounds = replace(ROUNDS, size=hopeless)
    pair = RivalPair(rounds.place(0), rounds.place(1), Rival.FARTHER, SCORE_GAP)
    near, _ = rounds.found(pair)
    assert near < ball(Fraction(1, 2**90))
    row = replace(ROW, query=replace(ROW.query, relative=Fraction(1, 4)))
    near, _ = replace(rounds, rows=(row,)).found(pair)
    assert near > UNKNOWN / 2


def test_a_key_is_known_to_a_part_of_itself_only_if_that_part_is_known() -> None:
    """2^1000 times a key of 2^-1100 is far less than its error, but says nothing."""
    slight, coarse = Fraction(1, 2**1100), Fraction(1, 2**4)
    for relative, least, most in ((None, coarse, 1), (Fraction(1, 8), Fraction(0), Fraction(1, 2**90))):
        key = Read(Fraction(1), relative, coarse, Fraction(0))
        row = replace(ROW, is_tie=False, keys=(slight,) * PLACES, key=key)
        rounds = replace(ROUNDS, rows=(row,))
        near, _ = rounds.found(RivalPair(rounds.place(0), rounds.place(1), Rival.FARTHER, SCORE_GAP))
        assert ball(least) <= near <= ball(Fraction(most))


# Rows as they are computed -------------------------------------------------------------------------------


def held(size: Fraction, grid: Fraction) -> Rounded:
    """A number that is exact."""
    return OnGrid(ball(size), grid)


ONE = held(Fraction(1), Fraction(1))


def in_float32() -> Lengths:
    return Lengths(Arithmetic(Formulas(("a",)).names, FLOAT32), 7)


@pytest.mark.parametrize("large", range(3))
def test_sixteen_rows_may_be_added_within_the_range(large: int) -> None:
    """Of query times temperature, query times key, and all three; each may be largest."""
    end = Fraction(2**96)
    low, high = Fraction(1, 2**40), Fraction(2**40)
    factor, key, cold = ((high, low**2, low), (high, low, low**2), (low**2, high, high))[large]

    def row(query: Rounded) -> ScoredRow:
        return scored_row(in_float32(), query, held(key, key), Cold(held(cold, cold), is_exact=True))

    def whole(size: Fraction) -> Rounded:
        return held(size * factor, end / 2**20 * factor)

    def off(size: Fraction, error: Fraction) -> Rounded:
        nothing = ball(Fraction(0))
        return Inexact(ball(size * factor), ball(1 / factor), ball(error * factor), nothing, nothing)

    with precision(200):
        for inside in (whole(end - end / 2**20), off(end - end / 2**10, end / 2**12)):
            row(inside)
        for beyond in (whole(end), off(end - end / 2**10, end / 2**9)):
            with pytest.raises(BeyondError):
                row(beyond)


def test_a_row_is_exact_if_all_products_are_in_whichever_order() -> None:
    lengths = in_float32()

    def row_grid(query: Rounded, key: Rounded, cold: Rounded) -> Fraction | None:
        return scored_row(lengths, query, key, Cold(cold, is_exact=True)).grid

    four = held(Fraction(12), Fraction(4))
    assert row_grid(four, four, held(Fraction(1, 2), Fraction(1, 2))) == 8
    off = Inexact(four.size, four.inverse, *[ball(Fraction(1, 2**30))] * 3)
    for query, key, cold in ((off, four, ONE), (four, off, ONE), (four, four, off)):
        assert row_grid(query, key, cold) is None
    # 2^-60 times 2^-60 is too small, unless 2^40 is there before.
    low, high = held(Fraction(1, 2**60), Fraction(1, 2**60)), held(Fraction(2**40), Fraction(2**40))
    assert grid_of(lengths.product(lengths.product(low, high), low)) == Fraction(1, 2**80)
    assert row_grid(low, low, high) is None


def test_what_a_sum_of_rows_can_lose() -> None:
    with precision(300):
        for form, name in ((BFLOAT16, "bfloat16"), (FLOAT32, "float32"), (FLOAT64, "float64")):
            lengths = Lengths(Arithmetic(Formulas(("a",)).names, form), 7)
            for terms, exact in product((0, 1, 2, 5), (False, True)):
                expected = replace(ROUNDS, format=name, is_exact=exact).of_sum(terms)
                assert is_near(sum_rate(lengths, terms, Cold(ONE, exact)), expected)


def test_what_underflow_can_take_away() -> None:
    """Four roundings for each row, one of each number below the least normal one, and the temperature's."""
    with precision(200):
        for rows, size in product((1, 3), (Fraction(1), Fraction(2**50), Fraction(1, 2))):
            found = lost_below(in_float32(), rows, Cold(held(size, size), is_exact=True))
            assert is_near(found, 4 * rows * (Fraction(1, 2**100) + Fraction(1, 2**126) * (1 + size)))


def test_a_product_of_three_is_rounded_twice_unless_the_temperature_is_a_power_of_two() -> None:
    assert (Cold(ONE, is_exact=True).roundings, Cold(ONE, is_exact=False).roundings) == (1, 2)
