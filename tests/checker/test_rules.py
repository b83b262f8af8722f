"""The stray mass of each rule: the series that FORMAT.md sums up, and real heads as bad as allowed."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from fractions import Fraction
from math import exp, inf, isclose

import pytest
from flint import arb

from attemper.checker.attention.bounds import HALF, for_losses
from attemper.checker.constructions.local_sign import LocalSignRule
from attemper.checker.constructions.lookup import LookupRule
from attemper.checker.constructions.neighbour import NeighbourRule
from attemper.checker.constructions.select import SelectRule
from attemper.checker.constructions.sign import SignRule
from attemper.checker.constructions.uniform import UniformRule
from attemper.checker.rules import Rule
from attemper.exact import laurent
from attemper.exact.balls import ball, precision

SCORE_GAPS = (Fraction(1, 2), Fraction(2), Fraction(5))
TERMS = 200
"""So many terms of each series; what follows is less than 2^-60 of the whole."""

Powers = Callable[[Fraction], arb]
"""e to the minus so much, with what is lost of it."""


def powers_of(loss: Fraction) -> Powers:
    return lambda score_gap: (-ball(score_gap * (1 - loss))).exp()


def tie_break(e: Powers, gap: Fraction, far: Fraction | None) -> arb:
    """One position for each number of steps, and all blocked ones beyond."""
    near = sum((e(gap * k) for k in range(1, TERMS)), arb(0))
    return near + (arb(0) if far is None else (-ball(far)).exp())


def shift(e: Powers, gap: Fraction, own: Fraction, parity: Fraction) -> arb:
    """Position i; an even number of steps beyond the neighbour its own parity, at an odd one i's."""
    of_parity = (e(gap * k) * (e(parity) if k % 2 else 1) for k in range(1, TERMS))
    return e(own) + sum(of_parity, arb(0))


def sign(e: Powers, gap: Fraction, level: bool) -> arb:
    """Two wrong ones for each right one; or e^-gap (1 + e^(-2 gap / 3) + ...)."""
    if level:
        return e(2 * gap) + e(2 * gap)
    return sum((e(gap * (3 + 2 * k) / 3) for k in range(3 * TERMS)), arb(0))


def local_sign(e: Powers, gap: Fraction) -> arb:
    """Three positions near by, and two on either side for each step further."""
    return 3 * e(2 * gap) + 2 * sum((e(6 * gap * k) for k in range(1, TERMS)), arb(0))


def lookup(e: Powers, gap: Fraction, zero: Fraction | None) -> arb:
    """Two at each distance d, d^2 being at least 5 d - 6: 1, 4, 9, 14, ..."""
    both = 2 * (e(gap) + sum((e(gap * (4 + 5 * k)) for k in range(TERMS)), arb(0)))
    return both + (arb(0) if zero is None else (-ball(zero)).exp())


def cases() -> Iterator[tuple[Rule, Callable[[Powers, bool], arb]]]:
    """Each rule, and the sum of the others' weights, without and with a loss."""
    far = (Fraction(3), Fraction(7, 4))
    for gap in SCORE_GAPS:
        yield SelectRule(gap, None), lambda e, _, gap=gap: tie_break(e, gap, None)
        yield SelectRule(gap, far), lambda e, lost, gap=gap: tie_break(e, gap, far[lost])
        own, parity = gap / 3, gap * 3 / 2
        yield NeighbourRule(gap, own, parity), lambda e, _, g=gap, o=own, p=parity: shift(e, g, o, p)
        yield NeighbourRule(gap, -own, -parity), lambda e, _, g=gap, o=own, p=parity: shift(e, g, -o, -p)
        for level in (False, True):
            yield SignRule(gap, level, Fraction(1)), lambda e, _, g=gap, level=level: sign(e, g, level)
        yield LocalSignRule(gap), lambda e, _, gap=gap: local_sign(e, gap)
        yield LookupRule(gap, None), lambda e, _, gap=gap: lookup(e, gap, None)
        yield LookupRule(gap, far), lambda e, lost, gap=gap: lookup(e, gap, far[lost])


@pytest.mark.parametrize("loss", [Fraction(0), Fraction(1, 3), Fraction(1, 2)])
def test_the_stray_mass_is_that_of_the_series_in_the_format(loss: Fraction) -> None:
    with precision(100):
        for noise in (Fraction(1), Fraction(9, 8)):
            for rule, weights in cases():
                others = weights(powers_of(loss), loss != 0) * ball(noise)
                found = rule.stray(ball(loss), ball(noise))
                # The mass is W / (1 + W), so 1 - mass is 1 / (1 + W).
                assert abs((1 - found) * (1 + others) - 1) < ball(Fraction(1, 2**50)) * (1 + others), rule


def test_a_uniform_head_has_no_gap_and_no_stray_mass() -> None:
    assert UniformRule().gap == 0
    assert UniformRule().stray(ball(Fraction(1, 2)), ball(Fraction(2))) == 0
    no_bound = SelectRule(UniformRule().gap, None).stray(arb(0), arb(1))
    assert not no_bound.is_finite()


def test_the_second_bound_on_what_is_far_holds_for_half_of_the_lead() -> None:
    score_gap, rest = laurent.monomial(1, 0, 10), laurent.monomial(1, 0, -3)
    assert HALF * 2 == 1
    found = for_losses(score_gap, rest, laurent.AFTER_FIRST, "")
    assert found == (10 * 2 - 3 * 2, 10 * 2 / 2 - 3 * 2)


# Real heads -------------------------------------------------------------------------------------------


def mass_off(scores: dict[int, float], right: set[int]) -> float:
    """Which part of the attention lies elsewhere."""
    weights = {j: exp(score - max(scores.values())) for j, score in scores.items()}
    return sum(weight for j, weight in weights.items() if j not in right) / sum(weights.values())


def bound(rule: Rule) -> float:
    return float(rule.stray(arb(0), arb(1)))


@pytest.mark.parametrize("gap", [0.5, 1.0, 3.0])
def test_no_head_has_more_stray_mass_than_its_rule_says(gap: float) -> None:
    exact = Fraction(gap)
    worst: dict[str, float] = {}

    def note(name: str, found: float, rule: Rule) -> None:
        assert found <= bound(rule) * (1 + 1e-12)
        worst[name] = max(worst.get(name, 0.0), found / bound(rule))

    for n in range(1, 30):
        note("ties", mass_off({j: gap * j for j in range(1, n + 1)}, {n}), SelectRule(exact, None))
        # w = 2 gap: position i is 4 gap - gap behind, its parity 4 gap.
        scores = {j: gap * j - 2 * gap * (-1) ** (j + n) for j in range(1, n + 1)}
        note("shift", mass_off(scores, {max(n - 1, 1)}), NeighbourRule(exact, 3 * exact, 4 * exact))
        for parity in (0, 1):
            right = {j for j in range(1, n + 1) if j % 2 == parity}
            if n == 1:
                continue
            signs = {j: 1 if j in right else -1 for j in range(1, n + 1)}
            level = {j: gap * s for j, s in signs.items()}
            note("level", mass_off(level, right), SignRule(exact, level=True, unit=Fraction(1)))
            rising = {j: gap * s * j / n for j, s in signs.items()}
            note("rising", mass_off(rising, right), SignRule(exact, level=False, unit=Fraction(1)))
        for i in range(1, n + 1):
            scores = {j: -gap * (j - i) ** 2 for j in range(1, n + 1)}
            note("lookup", mass_off(scores, {i}), LookupRule(exact, None))
            if n == 1:
                continue
            centre = max(i, 2) - 0.5
            scores = {j: -gap * (j - centre) ** 2 + gap * (-1) ** j for j in range(1, n + 1)}
            best = max(scores, key=lambda j: scores[j])
            assert best % 2 == 0
            note("local", mass_off(scores, {best}), LocalSignRule(exact))
    assert isclose(worst["ties"], 1, rel_tol=1e-3)
    assert min(worst.values(), default=inf) > 1 / 3, "the bounds are not far from what happens"
