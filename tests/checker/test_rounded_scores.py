"""The one lemma for heads against its definition: scores perturbed in every way that is allowed."""

from __future__ import annotations

import random
from dataclasses import dataclass
from fractions import Fraction
from itertools import product

import flint
import pytest
from hypothesis import given
from hypothesis import strategies as st

from attemper.checker.contests import Contest, Kind, Lead, Pair, Row
from attemper.checker.identities import Formulas
from attemper.checker.rounded_forms import Arithmetic, Lengths, Rounded
from attemper.checker.rounded_scores import Cold, ScoredRow, losses
from attemper.exact import laurent
from attemper.exact.balls import ball, precision
from attemper.exact.formats import BFLOAT16
from attemper.exact.laurent import Laurent

POWERS = st.tuples(st.integers(-3, 3), st.integers(-3, 3))
FORMS = st.dictionaries(POWERS, st.integers(1, 9).map(Fraction), min_size=1, max_size=3)
DOMAINS = (laurent.AFTER_FIRST, laurent.BEFORE_LAST, laurent.LONGER_THAN_ONE)


def places_in(domain: laurent.Domain, longest: int) -> list[tuple[int, int]]:
    """All (i, n) of a domain up to a length."""
    grid = product(range(1, longest + 1), repeat=2)
    return [(i, n) for i, n in grid if any(i >= i0 and n >= i + d for i0, d in domain)]


# Laurent forms -----------------------------------------------------------------------------------------


@given(FORMS, POWERS, st.sampled_from(DOMAINS))
def test_a_form_is_at_least_the_multiple_of_a_monomial_that_is_found(
    over: Laurent, power: tuple[int, int], domain: laurent.Domain
) -> None:
    factor = laurent.most_times(over, power, domain)
    if factor is not None:
        under = laurent.monomial(*power, factor)
        assert all(laurent.at(over, i, n) >= laurent.at(under, i, n) for i, n in places_in(domain, 12))


def test_the_multiple_is_the_greatest_where_it_is_known() -> None:
    four = {(1, 0): Fraction(4), (0, 0): Fraction(4)}
    assert laurent.most_times(four, (1, 0), laurent.AFTER_FIRST) == 4
    assert laurent.most_times(four, (0, 0), laurent.AFTER_FIRST) == 12
    assert laurent.most_times(four, (2, 0), laurent.AFTER_FIRST) is None
    assert laurent.most_times(laurent.times(four, -1), (0, 0), laurent.AFTER_FIRST) is None
    assert laurent.most_times({}, (0, 0), laurent.AFTER_FIRST) is None


@given(FORMS, POWERS, st.sampled_from(DOMAINS), st.integers(2, 12))
def test_what_a_lead_is_worth(
    form: Laurent, power: tuple[int, int], domain: laurent.Domain, longest: int
) -> None:
    worth = Lead(form, domain).worth(power)
    if worth is not None:
        k, factor = worth
        for i, n in places_in(domain, longest):
            assert laurent.at({power: Fraction(1)}, i, n) <= longest**k * laurent.at(form, i, n) / factor


def test_errors_that_grow_as_their_lead_does_need_no_power_of_the_length() -> None:
    lead = Lead({(1, 0): Fraction(4), (0, 0): Fraction(4)}, laurent.AFTER_FIRST)
    assert lead.worth((1, 0)) == (0, 4)
    assert lead.worth((2, 0)) == (1, 4)


# The lemma ---------------------------------------------------------------------------------------------

LONGEST = 7


@dataclass(frozen=True)
class Trial:
    """A future-masked contest of a tie-break, a row that blocks and a level one, with their errors."""

    power: int
    contest: Contest
    scored: list[ScoredRow]
    queries: list[Laurent]
    cold: Cold


def number(size: Fraction, relative: Fraction, zero: Fraction = Fraction(0)) -> Rounded:
    """What is known of a number that is off by a relative error, or by `zero` where it is 0."""
    absolute = ball(max(size * relative, zero))
    return Rounded(ball(size), flint.arb(1), None, absolute, ball(zero), ball(relative))


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
            pairs.append(Pair(0, at[b], at[c], Kind.LEVEL, Lead(closest, after)))
        elif b < c:
            pushed = laurent.times(pushing, c - b)
            ahead = laurent.plus(pushed, laurent.times(span, -1))
            pairs.append(Pair(0, at[b], at[c], Kind.BEHIND, Lead(pushed, after)))
            pairs.append(Pair(0, at[b], at[c], Kind.AHEAD, Lead(ahead, after)))
    rows = tuple(Row(k == 0, (query,)) for k, query in enumerate(queries))
    contest = Contest(power, Lead(size, after), reach, 1, rows, tuple(pairs))
    return Trial(
        power, contest, scored, queries, Cold(number(Fraction(1), Fraction(0)), is_exact=rng.random() < 0.5)
    )


def upper(value: flint.arb) -> Fraction:
    found = value.upper().fmpq()
    return Fraction(int(found.p), int(found.q))


@pytest.mark.parametrize("seed", range(30))
def test_no_rounding_takes_more_from_a_lead_than_the_loss(seed: int) -> None:
    """Errors at the ends of what is allowed, in random directions, for all i, winners and others."""
    rng = random.Random(seed)
    trial = drawn(rng)
    u = BFLOAT16.roundoff
    with precision(64):
        lengths = Lengths(Arithmetic(Formulas(("a",)), BFLOAT16), LONGEST)
        near, far = (upper(loss) for loss in losses(lengths, trial.contest, trial.scored, trial.cold))
    most_of_product = (1 + u) ** trial.cold.roundings - 1

    def ends(error: Fraction) -> Fraction:
        return error * rng.choice([-1, 1])

    def score(i: int, j: int, b: int, queries: list[Fraction]) -> Fraction:
        keys = [Fraction(j) if trial.power > 0 else Fraction(-1, j), Fraction(-b), Fraction(1)]
        products = []
        for query, key, scored in zip(queries, keys, trial.scored, strict=True):
            off = upper(scored.key.zero) if not key else upper(scored.key.relative) * abs(key)
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
            lead = exact(i, w, b) - exact(i, j, c)
            assert lead > 0
            loss = far if j > w else near
            for _ in range(2):
                queries = [
                    laurent.at(query, i, LONGEST) * (1 + ends(upper(scored.query.relative)))
                    for query, scored in zip(trial.queries, trial.scored, strict=True)
                ]
                computed = score(i, w, b, queries) - score(i, j, c, queries)
                assert computed >= (1 - loss) * lead
                worst = max(worst, (lead - computed) / (loss * lead))
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
            Rounded(ball(Fraction(1)), ball(Fraction(1)), Fraction(1), *[ball(Fraction(0))] * 3),
            Fraction(1),
        )
        for q, k in zip(exact, exact, strict=True)
    ]
    with precision(64):
        lengths = Lengths(Arithmetic(Formulas(("a",)), BFLOAT16), LONGEST)
        found = losses(lengths, trial.contest, products, Cold(exact[0], is_exact=True))
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
    lead = sum(q * (one - other) for q, one, other in zip(queries, keys[best], keys[j], strict=True))
    assert lead > 0
    by_query = sum(q * distance for q, distance in zip(queries, apart, strict=True))
    by_product = sum(q * abs(key) for x in (best, j) for q, key in zip(queries, keys[x], strict=True))
    return by_query / lead, by_product / lead, apart[0] / lead, apart[1] / lead
