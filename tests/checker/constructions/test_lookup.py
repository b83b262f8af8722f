"""Lookups: what is derived is what they compute, bounds are the least, conditions are needed."""

from __future__ import annotations

import random
from dataclasses import replace
from fractions import Fraction

import flint
import pytest

from attemper.checker.attention.counts import Margin
from attemper.checker.attention.leads import Trail
from attemper.checker.names import UnprovenError
from attemper.checker.rounding import attention, rules
from attemper.checker.rounding.arithmetic import (
    EXACT,
    BeyondError,
    as_number,
)
from attemper.checker.rounding.attention import RoundedRow
from attemper.checker.rounding.rules import offs_of
from attemper.checker.rules import HeadFact, Rule
from attemper.checker.values import Value
from attemper.exact.balls import ball, precision
from attemper.exact.closed_forms import ClosedForm, I, N, number, plus, times
from attemper.exact.formats import BFLOAT16, FLOAT32, FloatFormat
from attemper.networks.layers import (
    Lookup,
    Masking,
)
from tests.support.drawn.head_cases import (
    LONG,
    LOOKUP,
    WORDS,
    Case,
    Formula,
    fact_of,
    gap_of,
    number_visible,
    palette,
    require_refused,
    require_refused_if_wrong,
    require_what_is_computed,
    with_rows,
    wrongly,
)
from tests.support.drawn.heads import ALL, LEFT, RIGHT, Form, places
from tests.support.judges.rounding import (
    ERRORS,
    RANGE,
    SUMS,
    U,
    cold_of,
    each_format,
    finely,
    fraction,
    is_same,
    looking_up,
    losses_borne,
    noise_at,
    rounded_at,
    run_at,
    scored,
    sums_at,
)
from tests.support.mutants.attacks import form

prepare = palette


def lookup(
    masking: Masking, side: str, count: str | None, bounded: bool, kappa: Formula, coldness: ClosedForm
) -> Case:
    rows: list[tuple[Form, Form]] = (
        [({f"mark {side}": 2}, {"1/i": 1}), *([({count: -1}, {"1/i^2": 1})] if count else [])]
        if bounded
        else [({f"mark {side}": -1}, {"i^2": 1}), *([({count: 2}, {"i": 1})] if count else [])]
    )
    v = number_visible({"left": LEFT, "right": RIGHT, "all": ALL}[side])
    gap: Formula = lambda i, n: Fraction(kappa(i, n)) / (i**4 if bounded else v(i, n))  # noqa: E731
    return Case(LOOKUP, masking, rows, {"sign": 1, "i >= 3": 2, "third": 4}, coldness, gap)


LOOKUPS = [
    lookup(LEFT, "left", "a left", False, lambda i, n: 3 * i, times(3, I)),
    lookup(LEFT, "left", "a left", False, lambda i, n: 2 * n * i, times(2, N, I)),
    lookup(ALL, "left", "a left", False, lambda i, n: 3 * n, times(3, N)),
    lookup(ALL, "right", "a right", False, lambda i, n: 3 * n, times(3, N)),
    lookup(ALL, "all", "a all", False, lambda i, n: 2 * n, times(2, N)),
    lookup(LEFT, "left", "a left", True, lambda i, n: 2 * i**4, times(2, I, I, I, I)),
    lookup(LEFT, "left", "1", False, lambda i, n: 3 * i, times(3, I)),
    lookup(ALL, "left", None, False, lambda i, n: 3 * n, times(3, N)),
]
WANTED = LOOKUPS[0]


@pytest.mark.parametrize("case", LOOKUPS)
def test_what_is_derived_of_a_head_is_what_it_computes(case: Case) -> None:
    fact = require_what_is_computed(case)
    gap = gap_of(fact)
    assert fact.rules == (Rule(Lookup, (Trail(gap), Trail(4 * gap, 5 * gap)) * 2),)


@pytest.mark.sweep(4, also=["flat at 0"])
@pytest.mark.parametrize(
    "case",
    [*LOOKUPS, pytest.param(replace(LOOKUPS[5], coldness=times(Fraction(1, 9), I, I, I, I)), id="flat at 0")],
)
def test_positions_are_behind_by_the_square_of_their_distance(case: Case) -> None:
    """Also where the count is 0, or beyond the word."""
    own, head, fact = fact_of(case)
    gap = gap_of(fact)
    for place in places(own, head, [*WORDS, LONG]):
        best = max(place.scores, key=lambda j: place.scores[j])
        for j, score in place.scores.items():
            assert place.scores[best] - score >= gap * (j - best) ** 2
    assert wrongly(own, head, fact) is None


@pytest.mark.parametrize("seed", range(8))
def test_changed_heads_are_refused_or_do_what_is_derived(seed: int) -> None:
    require_refused_if_wrong(LOOKUPS, seed)


REFUSED: dict[str, tuple[str, Case]] = {
    "lookup by waves": ("depends on the word", with_rows(WANTED, ({"1": 1}, {"sign": 1}))),
    "lookup without a top": ("not those of a lookup", replace(WANTED, rows=WANTED.rows[1:])),
    "lookup of three powers": ("not those of a lookup", with_rows(WANTED, ({"1": 1}, {"1/i": 1}))),
    "lookup without a mark": (
        "does not carry 1",
        replace(WANTED, rows=[({"a left": -1}, {"i^2": 1}), WANTED.rows[1]]),
    ),
    "lookup with a number for a mark": (
        "does not carry 1",
        replace(WANTED, rows=[({"1": -1}, {"i^2": 1}), WANTED.rows[1]]),
    ),
    "lookup whose parabola cancels": (
        "lead is not positive",
        replace(WANTED, rows=[WANTED.rows[0], ({"mark left": 1}, {"i^2": 1})]),
    ),
    "lookup off its top": (
        "top at the count",
        replace(WANTED, rows=[WANTED.rows[0], ({"a left": 3}, {"i": 1})]),
    ),
    "lookup of a count of the other side": (
        "not a count",
        replace(WANTED, rows=[WANTED.rows[0], ({"a right": 2}, {"i": 1})]),
    ),
    "lookup of no count": (
        "not a count",
        replace(WANTED, rows=[WANTED.rows[0], ({"odd left": 2}, {"i": 1})]),
    ),
    "lookup of what is not seen": (
        "may not see",
        lookup(RIGHT, "right", "a right", False, lambda i, n: 3 * n, times(3, N)),
    ),
    "lookup on the other side": ("may not see", replace(LOOKUPS[3], masking=LEFT)),
    "bounded lookup of all": ("may not see", replace(LOOKUPS[5], masking=ALL)),
    "lookup that fades": ("lead is not positive", replace(WANTED, coldness=number(3))),
    "lookup that loses in long words": (
        "other positions can win",
        replace(WANTED, coldness=plus(times(3, I), times(-1, N))),
    ),
    "bounded lookup that fades": (
        "lead is not positive",
        replace(LOOKUPS[5], coldness=times(9, I, I, I)),
    ),
    "bounded lookup of the other side": (
        "may not see",
        lookup(RIGHT, "right", "a right", True, lambda i, n: n**4, times(N, N, N, N)),
    ),
    "lookup the other way": ("lead is not positive", replace(WANTED, coldness=times(-3, I))),
    "lookup of a letter as value": ("not a function of its position", replace(WANTED, value={"a": 1})),
}


@pytest.mark.parametrize("name", REFUSED)
def test_a_head_without_a_side_condition_is_refused(name: str) -> None:
    require_refused(*REFUSED[name])


def test_a_bounded_lookup_of_nothing_reads_the_first_position() -> None:
    case = lookup(LEFT, "left", None, True, lambda i, n: 2 * i**4, times(2, I, I, I, I))
    own, head, fact = fact_of(case)
    assert fact.rules == (Rule(Lookup, Margin(Fraction(2), 0).trails()),)
    assert wrongly(own, head, fact) is None


def test_lookups_with_waves_of_their_own_powers_are_refused() -> None:
    for key in ("i sign", "i^2 sign"):
        with pytest.raises(UnprovenError, match="a factor of its scores depends on the word"):
            fact_of(with_rows(WANTED, ({"1": 1}, {key: 1})))


def test_a_lookup_reads_a_remainder_of_the_count() -> None:
    own, _, fact = fact_of(replace(WANTED, value={"third": 1}))
    names = own.names
    a, third = names.letter("a"), own.values["third"][0, 0]
    some = names.positions.sum_at_least(LEFT, a, 1)
    assert names.both(some, fact.outputs[0].diagram) == names.both(
        some, names.positions.looked_up(LEFT, a, third)
    )


# Floats --------------------------------------------------------------------------------------------

LOOKED_UP = HeadFact((Rule(Lookup, Margin(Fraction(1), 0).trails()),), ())
"""A gap of 1."""


@finely
@each_format
@pytest.mark.parametrize("is_exact", [True, False])
@pytest.mark.parametrize("length", [2, 7])
@pytest.mark.parametrize("count", [1, 2])
def test_what_a_lookup_loses(format_: FloatFormat, is_exact: bool, length: int, count: int) -> None:
    """4 N rho + 6 N^2 theta (1 + rho) + (2 N^2 + 4 N^3 theta) delta."""
    run, analysis = run_at(looking_up(), format_, length)
    terms, n, name = analysis.names, length, format_.name
    ratio, unit = (analysis.layers[0].middle.values[coordinate] for coordinate in (5, 6))
    run.offs[5], run.offs[6] = ERRORS, replace(ERRORS, average=flint.arb(2) ** -15)
    queries, keys = (Fraction(1, 2**12), Fraction(1, 2**10)), (Fraction(1, 2**7), Fraction(1, 2**14))
    rows = [
        RoundedRow(form((5, 1)), ratio, {(1, 0): terms.number(2)}, scored(queries[0], keys[0])),
        RoundedRow(form((6, 1)), unit, {(2, 0): terms.number(-1)}, scored(queries[1], keys[1])),
    ][:count]
    cold = cold_of(run, number(8), is_exact)
    u, p, rho, kappa = U[name], 1 if is_exact else 2, max(queries[:count]), max(keys[:count])
    sigma = Fraction(8, 7) * (count - 1) * SUMS[name]
    if name == "bfloat16" and count > 1:
        sigma += 2 * u * (1 + sigma)
    if p == 2 and count > 1:
        sigma = (1 + sigma) * (1 + u) - 1
    theta = (1 + kappa) * (1 + u) ** p * (1 + sigma) - 1
    delta = (Fraction(1, 2**13) + (Fraction(1, 2**15) if count == 2 else 0)) * (1 + rho)
    expected = 4 * n * rho + 6 * n**2 * theta * (1 + rho) + (2 * n**2 + 4 * n**3 * theta) * delta
    computed = replace(rounded_at(run, analysis), rows=tuple(rows), cold=cold)
    [found] = losses_borne(LOOKED_UP, computed)
    assert is_same(found, expected)


@pytest.mark.parametrize("seed", range(4))
def test_no_error_takes_more_from_a_lookup_than_its_loss(seed: int) -> None:
    """Scores kappa (2 c j - j^2) / V with errors at the ends of what is allowed, for all c, j and V."""
    rng = random.Random(seed)
    longest = 6
    run, analysis = run_at(looking_up(), BFLOAT16, longest)
    ratio, unit = (analysis.layers[0].middle.values[coordinate] for coordinate in (5, 6))
    terms = analysis.names
    rho, kappa, means, u = Fraction(1, 2**13), Fraction(1, 2**14), Fraction(1, 2**14), U["bfloat16"]
    run.offs[5] = run.offs[6] = replace(EXACT, average=ball(means))
    rows = [
        RoundedRow(form((5, 1)), ratio, {(1, 0): terms.number(2)}, scored(rho, kappa)),
        RoundedRow(form((6, 1)), unit, {(2, 0): terms.number(-1)}, scored(rho, kappa)),
    ]
    with precision(64):
        cold = cold_of(run, number(8), is_exact=True)
        computed = replace(rounded_at(run, analysis), rows=tuple(rows), cold=cold)
        loss = fraction(attention.lost_of_parabola(computed).upper())
    sigma = Fraction(8, 7) * SUMS["bfloat16"] * 99 / 100

    def ends(error: Fraction) -> Fraction:
        return error * rng.choice([-1, 1])

    for visible in range(2, longest + 1):
        for c in range(visible + 1):
            queries = [
                (exact + ends(means)) * (1 + ends(rho))
                for exact in (Fraction(c, visible), Fraction(1, visible))
            ]
            best = max(c, 1)

            def score(j: int, queries: list[Fraction] = queries) -> Fraction:
                keys = [2 * j * (1 + ends(kappa)), -j * j * (1 + ends(kappa))]
                products = [q * k * (1 + ends(u)) for q, k in zip(queries, keys, strict=True)]
                return sum(products) + ends(sigma) * sum(map(abs, products))

            for j in {*range(1, visible + 1)} - {best}:
                score_gap = Fraction((j - c) ** 2 - (best - c) ** 2, visible)
                assert score(best) - score(j) >= (1 - loss) * score_gap


@finely
def test_a_lookup_loses_the_same_part_on_both_sides(monkeypatch: pytest.MonkeyPatch) -> None:
    """gap, 4 gap, 9 gap, 14 gap and so on behind, each less by the loss and 2 u: at most 15/16 are lost."""
    run, analysis = run_at(looking_up(), BFLOAT16, 3)
    most, u = Fraction(15, 16), U["bfloat16"]
    computed = rounded_at(run, analysis)
    [_, output] = computed.values[0]
    assert output.spread == output.size == 1
    rest = noise_at("bfloat16") * (1 + sums_at("bfloat16", 3)) - 1 + Fraction(4, RANGE["bfloat16"])
    for loss in (Fraction(0), Fraction(1, 3), most, most + Fraction(1, 2**60), Fraction(1)):
        monkeypatch.setattr(rules, "lost_of_parabola", lambda _, loss=loss: ball(loss))
        if loss > most:
            with pytest.raises(BeyondError, match=r"^the head$"):
                offs_of(LOOKED_UP, computed)
            continue
        first, fourth, fifth = (ball(-k * (1 - loss - 2 * u)).exp() for k in (1, 4, 5))
        weight = 2 * (first + fourth / (1 - fifth)) * ball(noise_at("bfloat16"))
        [off] = offs_of(LOOKED_UP, computed)
        assert is_same(as_number(off).at_zero, weight / (1 + weight) + ball(rest))
        assert is_same(computed.lost_shares["the head"], loss / most)


def test_keys_of_one_power_each() -> None:
    _, analysis = run_at(looking_up(), FLOAT32, 3)
    terms = analysis.names

    def are_covered(*keys: Value) -> bool:
        return attention._one_of_each_power(terms, list(keys))

    def multiple(power: int, factor: int = 1, growth: int = 0) -> Value:
        return {(power, growth): terms.number(factor)}

    assert are_covered(multiple(1, 2), multiple(2, -1))
    assert are_covered(multiple(2, -1), multiple(1, 2))
    assert all(are_covered(multiple(power)) for power in (1, 2, -1, -2))
    assert are_covered(multiple(1, 2, 1))
    assert are_covered(multiple(-1), multiple(-2))
    for powers in (
        (0,),
        (3,),
        (-3,),
        (1, -2),
        (-1, 2),
        (1, 1),
        (2, 2),
        (-1, -1),
        (-2, -2),
        (1, 3),
        (0, 2),
        (1, -1),
    ):
        assert not are_covered(*map(multiple, powers)), powers
    for wild in ({(1, 0): terms.sign}, {(1, 0): terms.true, (2, 0): terms.true}, {}):
        assert not are_covered(wild)
        assert not are_covered(wild, multiple(2))
        assert not are_covered(multiple(2), wild)
    assert not are_covered(multiple(1), multiple(2), multiple(1, -2))
    assert not are_covered({(1, 0): terms.first}, multiple(2))
