"""Selections: what is derived is what they compute, bounds are the least, conditions are needed."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction
from itertools import pairwise

import flint
import pytest

from attemper.checker.constructions.neighbour import NeighbourRule
from attemper.checker.constructions.select import SelectRule
from attemper.checker.heads import head_fact
from attemper.checker.names import UnprovenError
from attemper.checker.rounding import attention
from attemper.checker.rounding.arithmetic import (
    BeyondError,
)
from attemper.exact.balls import ball, precision, upper_bound
from attemper.exact.formats import BFLOAT16, FLOAT64
from attemper.networks.layers import (
    Masking,
    Network,
)
from tests.support.drawn.head_cases import (
    SELECT,
    WIDTH,
    Case,
    Formula,
    bounds_of,
    fact_of,
    least,
    number_visible,
    palette,
    reach,
    require_refused,
    require_refused_if_wrong,
    require_what_is_computed,
    wrongly,
)
from tests.support.drawn.heads import ALL, LEFT, RIGHT, Form, Palette, Rows, attended, places, short_words
from tests.support.judges.rounding import (
    U,
    finely,
    loss_of,
    run_at,
    selecting,
    shifting,
)

prepare = palette


def tie_break(
    masking: Masking,
    rightmost: bool,
    inverse: bool,
    push: tuple[str, int] | None,
    keys: Form,
    strength: int = 4,
) -> Case:
    """strength * j or -1/j in the direction, less push * keys."""
    sign = 1 if rightmost else -1
    tie: Form = {"1/i": -sign} if inverse else {"i": sign}
    size = (
        {"i^2": strength}
        if inverse and masking.weak is LEFT
        else {"n^2": strength}
        if inverse
        else {"1": strength}
    )
    rows: list[tuple[Form, Form]] = [(size, tie)]
    n_, r = number_visible(masking), reach(masking)

    def give(i: int, n: int) -> Fraction:
        return Fraction(strength * r(i, n) ** 2 if inverse else strength)

    gap: Formula = lambda i, n: give(i, n) / (r(i, n) ** 2 if inverse else 1)  # noqa: E731
    if push is None:
        return Case(SELECT, masking, rows, {"a": 1}, gap=gap)
    name, factor = push
    rows.append(({name: factor}, {k: -v for k, v in keys.items()}))
    levels = sorted({sum(v for k, v in keys.items() if k in held) for held in ({"a"}, {"b"})})
    step = min(b - a for a, b in pairwise(levels))

    def far(part: Fraction) -> Formula:
        def bound(i: int, n: int) -> Fraction:
            taken = (
                factor
                * step
                * (i if name == "i" else n if name == "n" else i * i if name == "i^2" else n * n)
            )
            gain = give(i, n) * (1 - Fraction(1, r(i, n))) if inverse else give(i, n) * (n_(i, n) - 1)
            return part * (taken - gain) - (n_(i, n) - 1) + 1

        return bound

    return Case(
        SELECT, masking, rows, {"a": 1, "sign": 2}, gap=gap, bounds=(far(Fraction(1)), far(Fraction(1, 2)))
    )


SELECTIONS = [
    tie_break(LEFT, True, False, None, {}),
    tie_break(LEFT, False, False, None, {}, 3),
    tie_break(RIGHT, True, False, None, {}),
    tie_break(RIGHT, False, True, None, {}),
    tie_break(LEFT, True, True, None, {}),
    tie_break(ALL, True, True, None, {}),
    tie_break(ALL, False, False, None, {}),
    tie_break(LEFT, True, False, ("i", 8), {"b": 1}),
    tie_break(LEFT, True, False, ("i", 9), {"a": -1}),
    tie_break(LEFT, False, False, ("n", 7), {"b": 1}),
    tie_break(LEFT, True, False, ("i", 4), {"a": 1, "b": 3}),
    tie_break(RIGHT, False, False, ("n", 8), {"a": 2, "b": 3}),
    tie_break(RIGHT, True, False, ("n", 11), {"a": 1}),
    tie_break(ALL, True, False, ("n", 8), {"a": 1}),
    tie_break(ALL, False, False, ("n", 12), {"b": -1}),
    tie_break(LEFT, True, True, ("i^2", 8), {"b": 1}),
    tie_break(LEFT, False, True, ("i^2", 9), {"a": 1}),
    tie_break(RIGHT, False, True, ("n^2", 8), {"b": 1}),
    tie_break(RIGHT, True, True, ("n^2", 9), {"b": 1}),
    tie_break(ALL, True, True, ("n^2", 8), {"b": 1}),
    tie_break(Masking.STRICT_FUTURE, True, False, ("i", 8), {"b": 1}),
    tie_break(Masking.STRICT_FUTURE, False, False, ("n", 8), {"b": 1}),
    tie_break(Masking.STRICT_PAST, False, False, ("n", 8), {"b": 1}),
    tie_break(Masking.STRICT_PAST, True, True, ("n^2", 8), {"b": 1}),
]


def select(masking: Masking, *rows: tuple[Form, Form]) -> Case:
    return Case(SELECT, masking, rows, {"a": 1})


TIE: tuple[Form, Form] = ({"1": 4}, {"i": 1})
BLOCK: tuple[Form, Form] = ({"i": 8}, {"b": -1})


@pytest.mark.sweep(8)
@pytest.mark.parametrize("case", SELECTIONS)
def test_what_is_derived_of_a_head_is_what_it_computes(case: Case) -> None:
    fact = require_what_is_computed(case)
    assert isinstance(fact.rule, SelectRule)
    assert fact.rule.far == (bounds_of(case) or None)


@pytest.mark.parametrize("seed", range(8))
def test_changed_heads_are_refused_or_do_what_is_derived(seed: int) -> None:
    require_refused_if_wrong(SELECTIONS, seed)


REFUSED: dict[str, tuple[str, Case]] = {
    "no tie-break": ("no tie-break", select(LEFT, BLOCK)),
    "two tie-breaks": ("no tie-break", select(LEFT, TIE, BLOCK, ({"1": 1}, {"1/i": 1}))),
    "tie-break of squares": ("neither in j nor in 1/j", select(LEFT, ({"1": 4}, {"i^2": 1}), BLOCK)),
    "tie-break of a letter": ("no tie-break", select(LEFT, ({"a": 4}, {"i": 1}), BLOCK)),
    "tie-break of an average": ("depends on the word", select(LEFT, ({"a left": 4}, {"i": 1}), BLOCK)),
    "tie-break times a letter": (
        "neither|depends on the word",
        select(LEFT, ({"1": 4}, {"i sign": 1}), BLOCK),
    ),
    "tie-break that fades": ("the tie-break fades", select(LEFT, ({"1/i": 4}, {"i": 1}))),
    "tie-break in 1/j that fades": ("the tie-break fades", select(LEFT, ({"i": 4}, {"1/i": -1}))),
    "weak push": ("blocked positions can win", select(LEFT, TIE, ({"1": 8}, {"b": -1}))),
    "push that is too small": (
        "its lead is not positive",
        select(LEFT, TIE, ({"i": 6, "1": -10, "n": 0}, {"b": -1})),
    ),
    "pushes of two kinds": ("weighed differently", select(LEFT, TIE, BLOCK, ({"n": 8}, {"sign": -1}))),
    "push of a letter": ("blocked positions can win", select(LEFT, TIE, ({"a": 8}, {"b": -1}))),
    "push of an average": ("depends on the word", select(LEFT, TIE, ({"a left": 8}, {"b": -1}))),
}


@pytest.mark.parametrize("name", REFUSED)
def test_a_head_without_a_side_condition_is_refused(name: str) -> None:
    require_refused(*REFUSED[name])


@pytest.mark.parametrize(
    ("masking", "rows", "text"),
    [
        # At the first corner everything is as in heads that are right.
        (RIGHT, [({"1": 4}, {"i": -1}), ({"n": 6, "i^2": -2}, {"b": -1})], "blocked positions can win"),
        (RIGHT, [({"1": 4}, {"i": -1}), ({"n": 8, "i": -7}, {"b": -1})], ""),
        (ALL, [({"1": 4}, {"i": -1}), ({"n": 8, "i": -4}, {"b": -1})], "blocked positions can win"),
        (ALL, [({"1": 4}, {"i": 1}), ({"n": 4}, {"b": -1})], "blocked positions can win"),
        (LEFT, [({"1": 4}, {"i": 1}), ({"i": 4}, {"b": -1})], "blocked positions can win"),
        (RIGHT, [({"n^2/i": 4}, {"1/i": -1})], "the tie-break fades"),
        (ALL, [({"n^2/i": 4}, {"1/i": -1})], "the tie-break fades"),
        (LEFT, [({"i": 4}, {"1/i": -1})], "the tie-break fades"),
    ],
)
def test_bounds_hold_at_all_positions(masking: Masking, rows: Rows, text: str) -> None:
    own = Palette()
    own.values["n^2/i"] = {(-1, 2): own.names.true}
    head = own.head(SELECT, masking, rows, {"a": 1})
    if text:
        with pytest.raises(UnprovenError, match=text):
            head_fact(own.names, head, own.stream())
    else:
        assert wrongly(own, head, head_fact(own.names, head, own.stream())) is None


@pytest.mark.parametrize("keys", [{"a": 1, "b": 3}, {"a": -2, "b": 5}, {"a": 3, "b": 4}, {"a": 4}])
@pytest.mark.parametrize("size", [1, 2, 7])
def test_levels_are_apart_by_their_smallest_difference(keys: Form, size: int) -> None:
    """Three levels of keys: the letters' and the third letter's, which is 0."""
    own = Palette(("a", "b", "c"))
    rows: Rows = [({"1": 4}, {"i": 1}), ({"i": 8 * size}, {name: -factor for name, factor in keys.items()})]
    head = own.head(SELECT, LEFT, rows, {"a": 1, "b": 2})
    fact = head_fact(own.names, head, own.stream())
    levels = sorted({Fraction(0), *map(Fraction, keys.values())})
    step = min(after - before for before, after in pairwise(levels))
    assert isinstance(fact.rule, SelectRule)
    expected = [
        least(LEFT, lambda i, n, k=k: k * (8 * size * step * i - 4 * (i - 1)) - (i - 1) + 1)
        for k in (1, Fraction(1, 2))
    ]
    assert fact.rule.far == tuple(expected)
    with precision(100):
        mass = ball(upper_bound(fact.rule.stray(flint.arb(0), flint.arb(1))))
        (output,) = fact.outputs
        for place in places(own, head, short_words(("a", "b", "c"), 3)):
            right = place.reading.number(output.diagram, place.i)
            assert abs(attended(place) - ball(right)) <= mass * ball(output.spread) + WIDTH


def test_pushes_may_be_written_with_either_sign() -> None:
    rules = [
        fact_of(select(LEFT, TIE, push))[2].rule for push in (({"i": 8}, {"b": -1}), ({"i": -8}, {"b": 1}))
    ]
    bounds = [(rule.gap, rule.far) for rule in rules if isinstance(rule, SelectRule)]
    assert len(bounds) == 2
    assert bounds[0] == bounds[1]
    own, head, fact = fact_of(select(LEFT, TIE, ({"i": -8}, {"b": 1})))
    assert wrongly(own, head, fact) is None


def test_a_lead_of_nothing_is_refused() -> None:
    with pytest.raises(UnprovenError, match="its lead is not positive"):
        fact_of(select(LEFT, TIE, ({"i": 6, "1": -8}, {"b": -1})))


# Floats --------------------------------------------------------------------------------------------


@finely
def test_blocked_positions_may_lose_half_of_their_lead(monkeypatch: pytest.MonkeyPatch) -> None:
    """The argument of exp loses 2 u of it."""
    run, analysis = run_at(selecting(), BFLOAT16, 3)
    [fact] = analysis.layers[0].heads
    near, most, slight = Fraction(3, 4), Fraction(1, 2) - 2 * U["bfloat16"], Fraction(1, 2**60)
    for far, is_covered in [(Fraction(0), True), (most, True), (most + slight, False), (Fraction(1), False)]:
        monkeypatch.setattr(attention, "losses", lambda *_, far=far: (ball(near), ball(far)))
        if is_covered:
            assert loss_of(run, analysis, fact) == ball(near)
        else:
            with pytest.raises(BeyondError, match=r"^the head$"):
                loss_of(run, analysis, fact)


@pytest.mark.parametrize("network", [selecting(), shifting()])
def test_a_tie_break_whose_rows_are_too_mixed_has_no_bound(network: Network) -> None:
    run, analysis = run_at(network, FLOAT64, 3)
    [fact] = analysis.layers[0].heads
    assert isinstance(fact.rule, SelectRule | NeighbourRule)
    assert loss_of(run, analysis, fact) < 1
    with pytest.raises(BeyondError, match="no rule for rounding covers its rows"):
        loss_of(run, analysis, replace(fact, rule=replace(fact.rule, competition=None)))
