"""Heads built by hand: what is derived is what they compute, bounds are the least, conditions are needed."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction
from typing import get_args

import pytest

from attemper.checker.attention.leads import Trail
from attemper.checker.heads import RULES, head_fact, prover_of
from attemper.checker.names import UnprovenError
from attemper.networks.layers import (
    Construction,
    Foreign,
    HardWeighting,
    Lookup,
    Masking,
    Neighbour,
    Select,
    Uniform,
)
from tests.support.drawn.head_cases import (
    NEIGHBOUR,
    SELECT,
    UNIFORM,
    Case,
    fact_of,
    palette,
    wrongly,
)
from tests.support.drawn.heads import ALL, LEFT, RIGHT, Form, Palette, Rows

prepare = palette


def test_every_construction_has_a_rule() -> None:
    assert set(RULES) == set(get_args(Construction))
    proofs = [prover_of(construction) for construction in RULES]
    assert [proof.__module__.rpartition(".")[2] for proof in proofs] == [proof.__name__ for proof in proofs]


def test_what_is_no_construction_has_no_rule() -> None:
    with pytest.raises(UnprovenError, match="no rule is about Foreign"):
        prover_of(Foreign)  # type: ignore[arg-type]


def test_the_table_says_of_which_constructions_what_others_ask() -> None:
    assert [kind for kind, rule in RULES.items() if not rule.has_gap] == [Uniform]
    assert [kind for kind, rule in RULES.items() if rule.is_unique] == [Select, Neighbour, Lookup]


def selecting(*rows: tuple[Form, Form]) -> Case:
    return Case(SELECT, LEFT, rows, {"a": 1})


REFUSED: dict[str, tuple[str, Case]] = {
    "approximate query": ("only approximate", selecting(({"rough": 4}, {"i": 1}))),
    "approximate key": ("only approximate", selecting(({"1": 4}, {"i": 1, "rough": 1}))),
    "approximate value": ("only approximate", Case(UNIFORM, LEFT, [], {"rough": 1})),
    "value of an average": ("a value depends on an average", Case(UNIFORM, LEFT, [], {"a left": 1})),
    "value of an average, of no selection": ("a value depends", Case(SELECT, LEFT, [], {"a left": 1})),
    "key of an average": (
        "a key depends on an average",
        selecting(({"1": 4}, {"i": 1}), ({"1": 9}, {"a left": -1})),
    ),
    "value that grows": ("a value reads a position embedding", Case(UNIFORM, LEFT, [], {"i": 1})),
    "strict neighbour": ("strict masks", Case(NEIGHBOUR, Masking.STRICT_FUTURE, [], {"a": 1})),
    "strict uniform": ("strict masks", Case(UNIFORM, Masking.STRICT_PAST, [], {"a": 1})),
    "nothing that is not softmax": ("not a softmax head", selecting(({"1": 4}, {"i": 1}))),
}


@pytest.mark.parametrize("name", REFUSED)
def test_a_head_without_a_side_condition_is_refused(name: str) -> None:
    text, case = REFUSED[name]
    own = palette()
    head = own.head(case.construction, case.masking, case.rows, case.value, case.coldness)
    if "softmax" in text:
        head = replace(head, weighting=HardWeighting.AVERAGE)
    with pytest.raises(UnprovenError, match=text):
        head_fact(own.names, head, own.stream())


def test_leads_may_be_small() -> None:
    """Half a unit per step, in both directions."""
    own = Palette()
    half = Fraction(1, 2)
    for masking, direction in ((LEFT, 1), (LEFT, -1), (RIGHT, 1), (RIGHT, -1), (ALL, 1), (ALL, -1)):
        for rows in ([({"1": half}, {"i": direction})], [({"1": 1}, {"i": direction})]):
            head = own.head(SELECT, masking, rows, {"a": 1})
            fact = head_fact(own.names, head, own.stream())
            step = Fraction(rows[0][0]["1"])
            assert [rule.behind for rule in fact.rules] == [(Trail(step, step),)]
            assert wrongly(own, head, fact) is None
    for masking, direction in ((LEFT, 1), (RIGHT, -1)):
        for size in (half, 1):
            shift: Rows = [({"sign": -6}, {"sign": 1}), ({"1": size}, {"i": direction})]
            head = own.head(NEIGHBOUR, masking, shift, {"a": 1})
            fact = head_fact(own.names, head, own.stream())
            two, turn = Fraction(2 * size), 12 + Fraction(size)
            assert [rule.behind for rule in fact.rules] == [(Trail(two, two), Trail(turn, two))] * 2
            assert [rule.ahead for rule in fact.rules] == [(Trail(12 - Fraction(size)),)] * 2
            assert wrongly(own, head, fact) is None


@pytest.mark.parametrize(
    ("masking", "construction", "rows", "starts"),
    [
        # What vanishes where a single position is seen, or beyond the word, is positive elsewhere.
        (LEFT, SELECT, [({"i": 4, "1": -4}, {"i": 1})], [4]),
        (LEFT, SELECT, [({"n": 4, "i": -4, "1": 4}, {"i": 1})], [4]),
        (RIGHT, SELECT, [({"n": 4, "i": -4}, {"i": -1})], [4]),
        (RIGHT, SELECT, [({"n": 4, "i": -4}, {"i": 1})], [4]),
        (ALL, SELECT, [({"n": 4, "1": -4}, {"i": 1})], [4]),
        (LEFT, SELECT, [({"1": 4}, {"i": 1}), ({"i": 8, "1": -8}, {"b": -1})], [4, 4]),
        (RIGHT, SELECT, [({"1": 4}, {"i": -1}), ({"n": 8, "i": -8}, {"b": -1})], [4, 4]),
        (RIGHT, SELECT, [({"1": 4}, {"i": -1}), ({"n": -9, "i": 9}, {"b": 1})], [4, 5]),
        # i sees three where two are of one parity.
        (LEFT, NEIGHBOUR, [({"i sign": -6}, {"sign": 1}), ({"i": 4, "1": -4}, {"i": 1})], [16, 28, 20]),
        (RIGHT, NEIGHBOUR, [({"n sign": -6}, {"sign": 1}), ({"n": 4, "i": -4}, {"i": -1})], [16, 28, 20]),
    ],
)
def test_what_is_positive_only_where_several_positions_are_seen(
    masking: Masking, construction: Construction, rows: Rows, starts: list[int]
) -> None:
    own, head, fact = fact_of(Case(construction, masking, rows, {"a": 1, "sign": 2}))
    for rule in fact.rules:
        assert [tail.start for tail in (*rule.behind, *rule.ahead)] == starts
    assert fact.least_gap == min(starts)
    assert wrongly(own, head, fact) is None


@pytest.mark.parametrize("what", ["query", "key", "value"])
def test_one_approximate_form_is_enough_to_refuse_a_head(what: str) -> None:
    reason, case = REFUSED[f"approximate {what}"]
    with pytest.raises(UnprovenError, match=reason):
        fact_of(case)


@pytest.mark.parametrize("order", [1, -1])
def test_one_approximate_value_of_two_is_enough(order: int) -> None:
    own, values = palette(), ({"rough": 1}, {"a": 1})[::order]
    first, second = (own.head(UNIFORM, LEFT, [], value) for value in values)
    head = replace(first, values=(*first.values, *second.values), targets=(0, 1))
    with pytest.raises(UnprovenError, match="only approximate"):
        head_fact(own.names, head, own.stream())
