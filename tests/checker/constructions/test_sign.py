"""Sign heads: what is derived is what they compute, bounds are the least, conditions are needed."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction

import pytest

from attemper.certifying.horizons import horizon_of
from attemper.checker.analysis import analyse
from attemper.checker.attention.leads import Trail
from attemper.checker.heads import head_fact
from attemper.checker.names import UnprovenError
from attemper.checker.rounding import rules
from attemper.checker.rules import Rule
from attemper.checker.values import Value
from attemper.exact.closed_forms import SIGN as ALTERNATING
from attemper.exact.closed_forms import ClosedForm, I, N, number, plus, times
from attemper.exact.formats import BFLOAT16, FLOAT32, FLOAT64
from attemper.networks.layers import (
    Masking,
    Sign,
)
from tests.support.drawn.head_cases import (
    SIGN,
    Case,
    Formula,
    gap_of,
    number_visible,
    palette,
    require_refused,
    require_refused_if_wrong,
    require_what_is_computed,
    with_rows,
)
from tests.support.drawn.heads import ALL, LEFT, RIGHT, Form, Palette
from tests.support.judges.rounding import (
    ERRORS,
    NUMERATOR,
    U,
    cold_of,
    finely,
    fraction,
    is_same,
    loss_of,
    rounded_row,
    run_at,
    signed,
)
from tests.support.mutants.attacks import form

prepare = palette


def signs(
    masking: Masking, mean: str, level: bool, coldness: ClosedForm, kappa: Formula, unit: Fraction
) -> Case:
    key: Form = {"sign": 1} if level else {"i sign": 1}
    v = number_visible(masking)
    gap: Formula = (
        (lambda i, n: 2 * kappa(i, n) * unit / Fraction(v(i, n)))
        if level
        else (lambda i, n: kappa(i, n) * unit)
    )
    return Case(SIGN, masking, [({mean: 1}, key)], {"sign": 1, "1": 3}, coldness, gap, unit=unit)


SIGNS = [
    signs(LEFT, "odd left", True, times(5, I), lambda i, n: 5 * i, Fraction(1)),
    signs(RIGHT, "odd right", True, times(3, N), lambda i, n: 3 * n, Fraction(1)),
    signs(ALL, "odd all", True, times(4, N), lambda i, n: 4 * n, Fraction(1)),
    signs(LEFT, "half odd left", True, times(2, I), lambda i, n: 2 * i, Fraction(3, 2)),
    signs(LEFT, "odd left", False, number(4), lambda i, n: 4, Fraction(1)),
    signs(RIGHT, "odd right", False, times(2, I), lambda i, n: 2 * i, Fraction(1)),
    signs(ALL, "half odd all", False, number(3), lambda i, n: 3, Fraction(3, 2)),
]


@pytest.mark.parametrize("case", SIGNS)
def test_what_is_derived_of_a_head_is_what_it_computes(case: Case) -> None:
    fact = require_what_is_computed(case)
    gap, is_level = gap_of(fact), {"sign": 1} in [key for _, key in case.rows]
    behind = (Trail(gap),) * 2 if is_level else (Trail(gap, gap * 2 / 3),)
    assert fact.rules == (Rule(Sign, behind, said=case.unit),)


@pytest.mark.parametrize("seed", range(8))
def test_changed_heads_are_refused_or_do_what_is_derived(seed: int) -> None:
    require_refused_if_wrong(SIGNS, seed)


REFUSED: dict[str, tuple[str, Case]] = {
    "sign of squares": (
        "times a number of i",
        Case(SIGN, LEFT, [({"odd left": 1}, {"i^2 sign": 1})], {"sign": 1}),
    ),
    "sign of places": ("times a number of i", Case(SIGN, LEFT, [({"odd left": 1}, {"i": 1})], {"sign": 1})),
    "sign twice": ("times a number of i", with_rows(SIGNS[4], ({"odd left": 1}, {"sign": 1}))),
    "sign of another side": ("does not see the positions", replace(SIGNS[4], masking=ALL)),
    "sign of nothing": (
        "does not see the positions",
        Case(SIGN, LEFT, [({"1": 4}, {"i sign": 1})], {"sign": 1}),
    ),
    "sign of what may be 0": ("may be 0", Case(SIGN, LEFT, [({"even left": 4}, {"i sign": 1})], {"sign": 1})),
    "sign of what may be 0 by letters": (
        "may be 0",
        Case(SIGN, LEFT, [({"a left": 4}, {"i sign": 1})], {"sign": 1}),
    ),
    "sign of thirds": ("may be 0", Case(SIGN, LEFT, [({"thirds left": 4}, {"i sign": 1})], {"sign": 1})),
    "sign of two averages": (
        "not a multiple of an average",
        Case(SIGN, LEFT, [({"odd left": 4, "a left": 1}, {"i sign": 1})], {"sign": 1}),
    ),
    "sign of an average and a number": (
        "not a multiple of an average",
        Case(SIGN, LEFT, [({"odd left": 4, "1": 1}, {"i sign": 1})], {"sign": 1}),
    ),
    "sign of an average at times": (
        "not a multiple of an average",
        Case(SIGN, LEFT, [({"odd left": 4, "i >= 3": 1}, {"i sign": 1})], {"sign": 1}),
    ),
    "sign that fades": ("lead is not positive", replace(SIGNS[0], coldness=number(5))),
    "sign that is as likely": (
        "both parities are as likely",
        replace(SIGNS[0], coldness=plus(times(3, I), times(-1, N))),
    ),
    "sign the other way": ("lead is not positive", replace(SIGNS[4], coldness=number(-4))),
    "sign of a threshold as value": ("more than the parity", replace(SIGNS[4], value={"i >= 3": 1})),
    "sign of a letter as value": ("not a function of its position", replace(SIGNS[4], value={"a": 1})),
}


@pytest.mark.parametrize("name", REFUSED)
def test_a_head_without_a_side_condition_is_refused(name: str) -> None:
    require_refused(*REFUSED[name])


def test_a_sum_that_is_odd_for_some_words_only_is_refused() -> None:
    own = Palette()
    names = own.names
    a, first = names.letter("a"), names.first
    even = names.plus(names.scaled(a, 4), names.number(-2))
    own.mean("odd with a", LEFT, names.plus(even, names.both(first, a)))
    own.mean("odd without", LEFT, names.choose(first, names.true, a))
    for name in ("odd with a", "odd without"):
        head = own.head(SIGN, LEFT, [({name: 4}, {"i sign": 1})], {"sign": 1})
        with pytest.raises(UnprovenError, match="the sum whose sign it reads may be 0"):
            head_fact(names, head, own.stream())


# Floats --------------------------------------------------------------------------------------------


@finely
@pytest.mark.parametrize("unit", [Fraction(1), Fraction(2, 3)])
@pytest.mark.parametrize("length", [2, 5])
def test_what_a_sign_head_loses(unit: Fraction, length: int) -> None:
    """D is an odd multiple of unit / V; its relative error stands in the row's product."""
    run, analysis = run_at(signed(), BFLOAT16, length)
    [fact] = analysis.layers[-1].heads
    [rule] = fact.rules
    assert rule.construction is Sign
    run.offs[5] = ERRORS
    own, before, cold = analysis.network.layers[-1].heads[0], analysis.layers[-1].before, None
    cold = cold_of(run, times(8, I), is_exact=False)
    row = rounded_row(run.lengths, own.query[0], own.key[0], cold, before, run.offs)
    rho = fraction(row.scored.product.relative)
    assert rho > U["bfloat16"]
    expected = (1 + rho) * (1 + Fraction(1, 2**13) * length / unit) - 1
    assert is_same(loss_of(run, analysis, replace(fact, rules=(replace(rule, said=unit),)), cold), expected)


@pytest.mark.parametrize("beside", [0, 2**30])
def test_a_constant_beside_the_sign_has_no_rule(beside: int) -> None:
    network = signed()
    places = tuple((c, plus(ALTERNATING, beside) if c == 3 else closed) for c, closed in network.positions)
    analysis = analyse(replace(network, positions=places))
    assert [rule.construction for rule in analysis.layers[-1].heads[0].rules] == [Sign]
    assert (horizon_of(analysis, FLOAT64, NUMERATOR)[0] > 0) is (beside == 0)


def test_a_sign_head_has_one_row() -> None:
    """The sign twice, or beside it what does not depend on j."""
    for row in ((form((5, 1)), form((3, 1))), (form((1, 1)), form((1, 1)))):
        analysis = analyse(signed([(form((5, 1)), form((3, 1))), row]))
        assert [rule.construction for rule in analysis.layers[-1].heads[0].rules] == [Sign]
        horizon, blame = horizon_of(analysis, FLOAT64, NUMERATOR)
        assert horizon == 0
        assert blame == "layer 1, head 0 (no rule for rounding covers its rows)"


def test_keys_that_alternate() -> None:
    _, analysis = run_at(signed(), FLOAT32, 3)
    terms = analysis.names
    sign, twice = terms.sign, terms.scaled(terms.sign, -2)
    key: Value
    for key in ({(0, 0): sign}, {(1, 0): sign}, {(0, 0): twice}, {(2, 1): twice}):
        assert rules._alternates(terms, key)
    others: list[Value] = [
        {(0, 0): sign, (1, 0): sign},
        {(0, 0): terms.plus(sign, terms.number(2**30))},
        {(0, 0): terms.true},
        {(0, 0): terms.first},
        {(1, 0): terms.true, (0, 0): sign},
    ]
    for key in others:
        assert not rules._alternates(terms, key)
