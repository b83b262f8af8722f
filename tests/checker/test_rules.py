"""What others weigh by each rule: the series that FORMAT.md sums up, and real heads as bad as allowed."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from fractions import Fraction
from functools import partial
from math import exp, inf, isclose

import pytest
from flint import arb

from attemper.checker.attention.leads import Trail
from attemper.checker.rules import HeadFact, Rule, stray_mass
from attemper.exact.balls import ball, precision
from attemper.exact.closed_forms import I, number, times
from attemper.networks import layers
from tests.support.drawn.head_cases import (
    LOCAL_SIGN,
    LOOKUP,
    NEIGHBOUR,
    SELECT,
    SIGN,
    UNIFORM,
    Case,
    fact_of,
    local_sign_rows,
)
from tests.support.drawn.heads import ALL, LEFT, Form

SCORE_GAPS = (Fraction(1, 2), Fraction(2), Fraction(5))
TERMS = 200
"""So many terms of each series; what follows is less than 2^-60 of the whole."""

Powers = Callable[[Fraction], arb]
"""e to the minus so much, with what is lost of it."""


def powers_of(loss: Fraction) -> Powers:
    return lambda score_gap: (-ball(score_gap * (1 - loss))).exp()


# The series of FORMAT.md, section 5; `e` is of who is behind, `a` of who is ahead -----------------------


def tie_break(e: Powers, a: Powers, gap: Fraction, push: Fraction | None) -> arb:
    """One position for each number of steps; on the other side 2 push - gap, and push - gap more each."""
    near = sum((e(gap * k) for k in range(1, TERMS)), arb(0))
    if push is None:
        return near
    return near + sum((a(2 * push - gap + (push - gap) * k) for k in range(TERMS)), arb(0))


def shift(e: Powers, a: Powers, gap: Fraction, turn: Fraction) -> arb:
    """Position i; an even number of steps beyond the neighbour its own parity, at an odd one i's."""
    of_parity = (e(gap * k + (turn if k % 2 else 0)) for k in range(1, TERMS))
    return a(turn - gap) + sum(of_parity, arb(0))


def sign(e: Powers, _: Powers, gap: Fraction, level: bool) -> arb:
    """Two wrong ones for each right one; or e^-gap (1 + e^(-2 gap / 3) + ...)."""
    if level:
        return e(2 * gap) + e(2 * gap)
    return sum((e(gap * (3 + 2 * k) / 3) for k in range(3 * TERMS)), arb(0))


def local_sign(e: Powers, _: Powers, gap: Fraction) -> arb:
    """Three positions near by, and two on either side for each step further."""
    return 3 * e(2 * gap) + 2 * sum((e(6 * gap * k) for k in range(1, TERMS)), arb(0))


def lookup(e: Powers, _: Powers, gap: Fraction) -> arb:
    """Two at each distance d, d^2 being at least 5 d - 6: 1, 4, 9, 14, ..."""
    return 2 * (e(gap) + sum((e(gap * (4 + 5 * k)) for k in range(TERMS)), arb(0)))


# Heads with these leads ----------------------------------------------------------------------------------


def rule_of(case: Case) -> Rule:
    """The rule of a head; where it has several cells they are alike."""
    rules = fact_of(case)[2].rules
    assert len({(rule.construction, rule.behind, rule.ahead) for rule in rules}) == 1
    return rules[0]


def tied(gap: Fraction, push: Fraction | None = None) -> Rule:
    rows: list[tuple[Form, Form]] = [({"1": gap}, {"i": 1})]
    return rule_of(Case(SELECT, LEFT, rows if push is None else [*rows, ({"i": push}, {"b": -1})], {"a": 1}))


def shifted(gap: Fraction, turn: Fraction) -> Rule:
    rows: list[tuple[Form, Form]] = [({"sign": -turn / 2}, {"sign": 1}), ({"1": gap}, {"i": 1})]
    return rule_of(Case(NEIGHBOUR, LEFT, rows, {"a": 1}))


def signed(gap: Fraction, level: bool) -> Rule:
    cold, key = (times(gap, I), "sign") if level else (number(gap), "i sign")
    return rule_of(Case(SIGN, LEFT, [({"odd left": 1}, {key: 1})], {"sign": 1}, cold))


def locally_signed(gap: Fraction) -> Rule:
    rows = local_sign_rows("both", 6)
    scaled = [({name: 2 * gap * factor for name, factor in query.items()}, key) for query, key in rows]
    return rule_of(Case(LOCAL_SIGN, ALL, scaled, {"sign": 1}))


def looked_up(gap: Fraction) -> Rule:
    rows: list[tuple[Form, Form]] = [({"mark left": -1}, {"i^2": 1}), ({"a left": 2}, {"i": 1})]
    return rule_of(Case(LOOKUP, LEFT, rows, {"sign": 1}, times(gap, I)))


def cases() -> Iterator[tuple[Rule, Callable[[Powers, Powers], arb]]]:
    """Each rule, and the sum of the others' weights."""
    for gap in SCORE_GAPS:
        for push in (None, 2 * gap, gap + Fraction(1, 2)):
            yield tied(gap, push), partial(tie_break, gap=gap, push=push)
        for turn in (gap * 5 / 2, gap / 3):
            yield shifted(gap, turn), partial(shift, gap=gap, turn=turn)
        for level in (False, True):
            yield signed(gap, level), partial(sign, gap=gap, level=level)
        yield locally_signed(gap), partial(local_sign, gap=gap)
        yield looked_up(gap), partial(lookup, gap=gap)


@pytest.mark.sweep(2)
@pytest.mark.parametrize("ahead", [None, Fraction(0), Fraction(1, 4), Fraction(1, 2)])
@pytest.mark.parametrize("loss", [Fraction(0), Fraction(1, 3), Fraction(1, 2)])
def test_others_weigh_what_the_series_in_the_format_do(loss: Fraction, ahead: Fraction | None) -> None:
    """Each side loses its own part, and the same one if nothing else is said."""
    with precision(100):
        for rule, weights in cases():
            others = weights(powers_of(loss), powers_of(loss if ahead is None else ahead))
            found = rule.others(ball(loss), None if ahead is None else ball(ahead))
            assert abs(found - others) < ball(Fraction(1, 2**50)) * (1 + others), rule


def test_the_stray_mass_is_what_others_weigh_of_the_whole() -> None:
    """W / (1 + W), so that what is left is 1 / (1 + W), in the worst of all cells."""
    with precision(100):
        for rule, _ in cases():
            others = rule.others(arb(0))
            found = stray_mass(others)
            assert abs((1 - found) * (1 + others) - 1) < ball(Fraction(1, 2**90))
            assert abs(HeadFact((rule,), ()).stray_mass - found) < ball(Fraction(1, 2**90))
        strays = [HeadFact((tied(gap),), ()).stray_mass for gap in SCORE_GAPS]
        assert strays[0] > strays[1] > strays[2]
        for rules in (map(tied, SCORE_GAPS), map(tied, SCORE_GAPS[::-1])):
            assert HeadFact(tuple(rules), ()).stray_mass.overlaps(strays[0])


def test_the_least_gap_is_the_least_start_on_either_side_in_any_cell() -> None:
    one = Rule(layers.Select, (Trail(Fraction(7), Fraction(1)), Trail(Fraction(5))), (Trail(Fraction(6)),))
    other = Rule(layers.Select, (Trail(Fraction(8)),), (Trail(Fraction(3), Fraction(2)), Trail(Fraction(4))))
    assert [HeadFact(rules, ()).least_gap for rules in ((one,), (other,))] == [5, 3]
    assert HeadFact((one, other), ()).least_gap == HeadFact((other, one), ()).least_gap == 3
    below = Rule(layers.Neighbour, (Trail(Fraction(8)),), (Trail(Fraction(-2)),))
    assert HeadFact((one, below), ()).least_gap == -2


def test_a_uniform_head_has_no_gap_and_no_stray_mass() -> None:
    (rule,) = fact_of(Case(UNIFORM, LEFT, [], {"a": 1}))[2].rules
    assert rule == Rule(layers.Uniform)
    assert HeadFact((rule,), ()).least_gap == 0
    assert HeadFact((rule,), ()).stray_mass == 0
    assert rule.others(ball(Fraction(1, 2))) == 0
    no_bound = Rule(layers.Select, (Trail(Fraction(0), Fraction(0)),))
    assert not no_bound.others(arb(0)).is_finite()
    assert not HeadFact((no_bound,), ()).stray_mass.is_finite()


# Real heads -------------------------------------------------------------------------------------------


def mass_off(scores: dict[int, float], right: set[int]) -> float:
    """Which part of the attention lies elsewhere."""
    weights = {j: exp(score - max(scores.values())) for j, score in scores.items()}
    return sum(weight for j, weight in weights.items() if j not in right) / sum(weights.values())


def bound(rule: Rule) -> float:
    return float(HeadFact((rule,), ()).stray_mass)


@pytest.mark.parametrize("gap", [0.5, 1.0, 3.0])
def test_no_head_has_more_stray_mass_than_its_rule_says(gap: float) -> None:
    exact = Fraction(gap)
    worst: dict[str, float] = {}
    rules = {
        "ties": tied(exact),
        "blocked": tied(exact, 2 * exact),
        "shift": shifted(exact, 4 * exact),
        "level": signed(exact, level=True),
        "rising": signed(exact, level=False),
        "lookup": looked_up(exact),
        "local": locally_signed(exact),
    }
    bounds = {name: bound(rule) for name, rule in rules.items()}

    def note(name: str, found: float) -> None:
        assert found <= bounds[name] * (1 + 1e-12)
        worst[name] = max(worst.get(name, 0.0), found / bounds[name])

    for n in range(1, 30):
        note("ties", mass_off({j: gap * j for j in range(1, n + 1)}, {n}))
        # All beyond w are blocked, by 2 gap n.
        for w in range(1, n + 1):
            scores = {j: gap * j - 2 * gap * n * (j > w) for j in range(1, n + 1)}
            note("blocked", mass_off(scores, {w}))
        # w = 2 gap: position i is 4 gap - gap behind, its parity 4 gap.
        scores = {j: gap * j - 2 * gap * (-1) ** (j + n) for j in range(1, n + 1)}
        note("shift", mass_off(scores, {max(n - 1, 1)}))
        for parity in (0, 1):
            right = {j for j in range(1, n + 1) if j % 2 == parity}
            if n == 1:
                continue
            signs = {j: 1 if j in right else -1 for j in range(1, n + 1)}
            note("level", mass_off({j: gap * s for j, s in signs.items()}, right))
            note("rising", mass_off({j: gap * s * j / n for j, s in signs.items()}, right))
        for i in range(1, n + 1):
            note("lookup", mass_off({j: -gap * (j - i) ** 2 for j in range(1, n + 1)}, {i}))
            if n == 1:
                continue
            centre = max(i, 2) - 0.5
            scores = {j: -gap * (j - centre) ** 2 + gap * (-1) ** j for j in range(1, n + 1)}
            best = max(scores, key=lambda j: scores[j])
            assert best % 2 == 0
            note("local", mass_off(scores, {best}))
    assert isclose(worst["ties"], 1, rel_tol=1e-3)
    assert min(worst.values(), default=inf) > 1 / 3, "the bounds are not far from what happens"
