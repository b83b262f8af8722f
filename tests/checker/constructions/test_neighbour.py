"""Neighbours: what is derived is what they compute, bounds are the least, conditions are needed."""

from __future__ import annotations

from fractions import Fraction

import pytest

from attemper.checker.constructions.neighbour import NeighbourRule
from attemper.checker.rounding import attention
from attemper.exact.balls import ball
from attemper.exact.formats import BFLOAT16
from attemper.networks.layers import (
    Masking,
)
from tests.support.drawn.head_cases import (
    NEIGHBOUR,
    Case,
    bounds_of,
    fact_of,
    palette,
    reach,
    require_refused,
    require_refused_if_wrong,
    require_what_is_computed,
    with_rows,
    wrongly,
)
from tests.support.drawn.heads import ALL, LEFT, RIGHT, Form, Rows
from tests.support.judges.rounding import (
    finely,
    loss_of,
    run_at,
    shifting,
)

prepare = palette


def neighbour(masking: Masking, inverse: bool, w: tuple[str, int], strength: int) -> Case:
    sign = 1 if masking is LEFT else -1
    size: Form = (
        {"1": strength} if not inverse else {"i^2": strength} if masking is LEFT else {"n^2": strength}
    )
    tie: Form = {"1/i": -sign} if inverse else {"i": sign}
    name, factor = w
    r = reach(masking)

    def own(i: int, n: int) -> Fraction:
        score_gap = 2 * factor * (1 if name == "sign" else i if name == "i sign" else n)
        return score_gap - (Fraction(2 * strength * r(i, n) ** 2, i * i) if inverse else strength)

    def parity(i: int, n: int) -> int:
        return 2 * factor * (1 if name == "sign" else i if name == "i sign" else n)

    rows = [({name: -factor}, {"sign": 1}), (size, tie)]
    return Case(NEIGHBOUR, masking, rows, {"a": 1}, gap=lambda i, n: strength, bounds=(own, parity))


NEIGHBOURS = [
    neighbour(LEFT, False, ("sign", 6), 4),
    neighbour(LEFT, False, ("i sign", 6), 2),
    neighbour(LEFT, True, ("sign", 9), 4),
    neighbour(RIGHT, False, ("sign", 6), 4),
    neighbour(RIGHT, False, ("n sign", 6), 5),
]
TURN: tuple[Form, Form] = ({"sign": -6}, {"sign": 1})
UP: tuple[Form, Form] = ({"1": 4}, {"i": 1})


@pytest.mark.parametrize("case", NEIGHBOURS)
def test_what_is_derived_of_a_head_is_what_it_computes(case: Case) -> None:
    fact = require_what_is_computed(case)
    assert isinstance(fact.rule, NeighbourRule)
    assert (fact.rule.own, fact.rule.parity) == bounds_of(case)


@pytest.mark.parametrize("seed", range(8))
def test_changed_heads_are_refused_or_do_what_is_derived(seed: int) -> None:
    require_refused_if_wrong(NEIGHBOURS, seed)


REFUSED: dict[str, tuple[str, Case]] = {
    "neighbour without turns": ("not those of a neighbour", Case(NEIGHBOUR, LEFT, [UP], {"a": 1})),
    "neighbour without a tie-break": ("not those of a neighbour", Case(NEIGHBOUR, LEFT, [TURN], {"a": 1})),
    "neighbour of all": ("not those of a neighbour", Case(NEIGHBOUR, ALL, [TURN, UP], {"a": 1})),
    "neighbour with two tie-breaks": (
        "not those of a neighbour",
        Case(NEIGHBOUR, LEFT, [TURN, UP, ({"1": 1}, {"1/i": -1})], {"a": 1}),
    ),
    "neighbour with growing turns": (
        "not those of a neighbour",
        Case(NEIGHBOUR, LEFT, [TURN, UP, ({"sign": -6}, {"i sign": 1})], {"a": 1}),
    ),
    "neighbour of a letter": (
        "not a function of its position",
        Case(NEIGHBOUR, LEFT, [TURN, UP, ({"1": 1}, {"a": 1})], {"a": 1}),
    ),
    "neighbour on the left of the left": (
        "points away",
        Case(NEIGHBOUR, LEFT, [TURN, ({"1": 4}, {"i": -1})], {"a": 1}),
    ),
    "neighbour on the right of the left": (
        "points away",
        Case(NEIGHBOUR, RIGHT, [TURN, ({"1": 4}, {"i": 1})], {"a": 1}),
    ),
    "neighbour in 1/j on the wrong side": (
        "points away",
        Case(NEIGHBOUR, LEFT, [TURN, ({"i^2": 4}, {"1/i": 1})], {"a": 1}),
    ),
    "neighbour that fades": (
        "position i can win",
        Case(NEIGHBOUR, LEFT, [({"sign/i": -6}, {"sign": 1}), UP], {"a": 1}),
    ),
    "neighbour of a threshold": ("more than the parity", with_rows(NEIGHBOURS[0], ({"1": 1}, {"i >= 3": 1}))),
}


@pytest.mark.parametrize("name", REFUSED)
def test_a_head_without_a_side_condition_is_refused(name: str) -> None:
    require_refused(*REFUSED[name])


def test_what_grows_with_the_length_in_keys_is_a_factor_of_the_query() -> None:
    rows: Rows = [({"sign": -6}, {"n sign": 1}), ({"1": 4}, {"i": 1})]
    own, head, fact = fact_of(Case(NEIGHBOUR, LEFT, rows, {"a": 1}))
    assert isinstance(fact.rule, NeighbourRule)
    assert (fact.rule.gap, fact.rule.own, fact.rule.parity) == (4, 20, 24)
    assert wrongly(own, head, fact) is None


# Floats --------------------------------------------------------------------------------------------


@finely
def test_a_shift_loses_as_much_as_its_worst_pair(monkeypatch: pytest.MonkeyPatch) -> None:
    run, analysis = run_at(shifting(), BFLOAT16, 3)
    [fact] = analysis.layers[0].heads
    assert isinstance(fact.rule, NeighbourRule)
    for pair in ((Fraction(3, 4), Fraction(1, 8)), (Fraction(1, 8), Fraction(3, 4))):
        monkeypatch.setattr(attention, "losses", lambda *_, pair=pair: tuple(map(ball, pair)))
        assert loss_of(run, analysis, fact) == ball(Fraction(3, 4))
