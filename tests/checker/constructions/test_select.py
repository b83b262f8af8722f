"""Selections: what is derived is what they compute, bounds are the least, conditions are needed."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction
from itertools import pairwise

import pytest

from attemper.checker.attention.leads import Trail
from attemper.checker.heads import head_fact
from attemper.checker.names import UnprovenError
from attemper.checker.rounding import attention
from attemper.checker.rounding.arithmetic import (
    ZERO,
    BeyondError,
    as_number,
)
from attemper.checker.rounding.rules import offs_of
from attemper.exact.balls import ball, precision, upper_bound
from attemper.exact.formats import BFLOAT16, FLOAT64
from attemper.networks.layers import (
    Layer,
    Masking,
    Neighbour,
    Network,
    Select,
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
    RANGE,
    U,
    finely,
    is_same,
    loss_of,
    noise_at,
    rounded_at,
    run_at,
    selecting,
    shifting,
    sums_at,
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
    least_push = factor * min(b - a for a, b in pairwise(levels))

    def start(i: int, n: int) -> Fraction:
        """By how much the winner leads over who is as far ahead of it as i sees."""
        taken = least_push * (i if name == "i" else n if name == "n" else i * i if name == "i^2" else n * n)
        gain = give(i, n) * (1 - Fraction(1, r(i, n))) if inverse else give(i, n) * (n_(i, n) - 1)
        return taken - gain

    def step(_i: int, _n: int) -> Fraction | int:
        """Who is y off has r = 2 + y at least: that much more of r is y, of r^2 4 y, of r^2 - r 3 y."""
        return 4 * least_push - 3 * strength if inverse else least_push - strength

    return Case(SELECT, masking, rows, {"a": 1, "sign": 2}, gap=gap, bounds=(start, step))


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
    (rule,) = require_what_is_computed(case).rules
    assert case.gap is not None
    gap = least(case.masking, case.gap)
    assert rule.construction is Select
    assert rule.behind == (Trail(gap, gap),)
    assert rule.ahead == ((Trail(*bounds_of(case)),) if case.bounds else ())


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
    "weak push": ("other positions can win", select(LEFT, TIE, ({"1": 8}, {"b": -1}))),
    "push that is too small": (
        "blocked positions can win",
        select(LEFT, TIE, ({"i": 6, "1": -10, "n": 0}, {"b": -1})),
    ),
    "pushes of two kinds that change places": (
        "other positions can win",
        select(LEFT, TIE, ({"i": 24}, {"b": -1}), ({"n": 8}, {"sign": -1})),
    ),
    "push of a letter": ("other positions can win", select(LEFT, TIE, ({"a": 8}, {"b": -1}))),
    "push of an average": ("depends on the word", select(LEFT, TIE, ({"a left": 8}, {"b": -1}))),
}


@pytest.mark.parametrize("name", REFUSED)
def test_a_head_without_a_side_condition_is_refused(name: str) -> None:
    require_refused(*REFUSED[name])


@pytest.mark.parametrize(
    ("masking", "rows", "text"),
    [
        # At the first corner everything is as in heads that are right.
        (RIGHT, [({"1": 4}, {"i": -1}), ({"n": 6, "i^2": -2}, {"b": -1})], "other positions can win"),
        (RIGHT, [({"1": 4}, {"i": -1}), ({"n": 8, "i": -7}, {"b": -1})], ""),
        (ALL, [({"1": 4}, {"i": -1}), ({"n": 8, "i": -4}, {"b": -1})], "the tie-break fades"),
        (ALL, [({"1": 4}, {"i": -1}), ({"n": 8, "i": -3}, {"b": -1})], ""),
        (ALL, [({"1": 4}, {"i": 1}), ({"n": 4}, {"b": -1})], "the tie-break fades"),
        (LEFT, [({"1": 4}, {"i": 1}), ({"i": 4}, {"b": -1})], "the tie-break fades"),
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
    (rule,) = fact.rules
    expected = least(LEFT, lambda i, n: 8 * size * step * i - 4 * (i - 1)), 8 * size * step - 4
    assert rule.ahead == (Trail(*expected),)
    with precision(100):
        mass = ball(upper_bound(fact.stray_mass))
        (output,) = fact.outputs
        for place in places(own, head, short_words(("a", "b", "c"), 3)):
            right = place.reading.number(output.diagram, place.i)
            assert abs(attended(place) - ball(right)) <= mass * ball(output.spread) + WIDTH


def test_pushes_may_be_written_with_either_sign() -> None:
    rules = [
        fact_of(select(LEFT, TIE, push))[2].rules for push in (({"i": 8}, {"b": -1}), ({"i": -8}, {"b": 1}))
    ]
    bounds = [(rule.behind, rule.ahead) for own in rules for rule in own]
    assert len(bounds) == 2
    assert bounds[0] == bounds[1]
    own, head, fact = fact_of(select(LEFT, TIE, ({"i": -8}, {"b": 1})))
    assert wrongly(own, head, fact) is None


def test_a_lead_of_nothing_is_refused() -> None:
    with pytest.raises(UnprovenError, match="blocked positions can win"):
        fact_of(select(LEFT, TIE, ({"i": 6, "1": -8}, {"b": -1})))
    little = Fraction(1, 64)
    own, head, fact = fact_of(select(LEFT, TIE, ({"i": 6, "1": -8 + little}, {"b": -1})))
    assert fact.least_gap == little
    assert wrongly(own, head, fact) is None


def test_pushes_of_two_kinds_may_follow_each_other() -> None:
    """-8 n at odd j and 8 n at even j, less 8 i at b: four levels, 8 i or 16 n - 8 i apart."""
    own, head, fact = fact_of(select(LEFT, TIE, BLOCK, ({"n": 8}, {"sign": 1})))
    (rule,) = fact.rules
    assert [len(rule.said.levels.forms), rule.ahead] == [4, (Trail(Fraction(12), Fraction(4)),)]
    assert wrongly(own, head, fact) is None


# Floats --------------------------------------------------------------------------------------------


@finely
@pytest.mark.parametrize("side", [0, 1])
def test_each_side_loses_its_own_part_of_its_leads(side: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """4 per step behind, 12 and 4 per step ahead: up to 15/16 of either, and 2 u more, in exp's argument."""
    other, most, u = Fraction(1, 8), Fraction(15, 16), U["bfloat16"]
    for loss in (Fraction(0), Fraction(1, 3), most, most + Fraction(1, 2**60), Fraction(1), Fraction(2)):
        parts = (loss, other) if side == 0 else (other, loss)
        monkeypatch.setattr(attention, "losses", lambda *_, parts=parts: tuple(map(ball, parts)))
        run, analysis = run_at(selecting(), BFLOAT16, 3)
        [fact], computed = analysis.layers[0].heads, rounded_at(run, analysis)
        if loss > most:
            with pytest.raises(BeyondError, match=r"^the head$"):
                offs_of(fact, computed)
            continue
        weight = ZERO
        for start, part in zip((4, 12), parts, strict=True):
            kept = 1 - part - 2 * u
            weight += ball(-start * kept).exp() / (1 - ball(-4 * kept).exp())
        weight *= ball(noise_at("bfloat16"))
        rest = 3 * (noise_at("bfloat16") * (1 + sums_at("bfloat16", 3)) - 1 + Fraction(4, RANGE["bfloat16"]))
        [off] = offs_of(fact, computed)
        assert is_same(as_number(off).at_zero, 3 * weight / (1 + weight) + ball(rest))
        assert is_same(computed.lost_shares["the head"], max(parts) / most)


@pytest.mark.parametrize(("network", "row", "one"), [(selecting(), 0, 3), (shifting(), 1, 1)])
def test_a_tie_break_whose_rows_are_too_mixed_has_no_bound(network: Network, row: int, one: int) -> None:
    """A constant beside j, which does not matter in real arithmetic."""
    run, analysis = run_at(network, FLOAT64, 3)
    [fact] = analysis.layers[0].heads
    assert {rule.construction for rule in fact.rules} <= {Select, Neighbour}
    assert loss_of(run, analysis, fact) < 1
    [head] = network.layers[0].heads
    keys = [(*key, (one, Fraction(1))) if k == row else key for k, key in enumerate(head.key)]
    head = replace(head, key=tuple(tuple(sorted(key)) for key in keys))
    mixed, analysis = run_at(replace(network, layers=(Layer((head,), (), ()),)), FLOAT64, 3)
    [again] = analysis.layers[0].heads
    assert [(rule.behind, rule.ahead) for rule in again.rules] == [
        (rule.behind, rule.ahead) for rule in fact.rules
    ]
    with pytest.raises(BeyondError, match="no rule for rounding covers its rows"):
        loss_of(mixed, analysis, again)
