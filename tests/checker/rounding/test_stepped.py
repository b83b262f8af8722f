"""What hidden units lose that read whole numbers: FORMAT.md, section 6, "Whole numbers", said once more by
fractions.
"""

from __future__ import annotations

from fractions import Fraction

import pytest

from attemper.checker import whole_numbers
from attemper.checker.feed_forward import Unit, UnitGroup
from attemper.checker.identities import Formulas
from attemper.checker.rounding.arithmetic import (
    EXACT,
    ZERO,
    Arithmetic,
    BeyondError,
    Lengths,
    OfNumber,
)
from attemper.checker.rounding.stepped import stepped_off
from attemper.checker.values import ResidualValues
from attemper.exact.balls import ball, precision, upper_bound
from attemper.exact.formats import FLOAT32
from attemper.networks.layers import Masking
from tests.support.drawn.hand_built import linear

U = Fraction(1, 2**24)
TINY = Fraction(1, 2**100)
STEP: tuple[Unit, ...] = ((Fraction(-5, 4), Fraction(2)), (Fraction(-7, 4), Fraction(-2)))
"""[w >= 2]."""
BUMP: tuple[Unit, ...] = (
    (Fraction(-5, 4), Fraction(2)),
    (Fraction(-7, 4), Fraction(-2)),
    (Fraction(-9, 4), Fraction(-2)),
    (Fraction(-11, 4), Fraction(2)),
)
"""[w = 2]."""
RISING: tuple[tuple[Unit, ...], ...] = (
    ((Fraction(-3, 2), Fraction(1)), (Fraction(-7, 2), Fraction(-1))),
    ((Fraction(-3, 2), Fraction(1)), (Fraction(-5, 2), Fraction(-1))),
)


def off(units: tuple[Unit, ...], error: Fraction, length: int, halves: int = 1, bit: int = 0) -> OfNumber:
    """That of w + bit, w a count of a's that is off by the error; the bit is exact, and there if it is not
    0.
    """
    with precision(64):
        names = Formulas(("a", "b")).names
        whole = names.affine(whole_numbers.clamped(names, Masking.FUTURE, names.letter("a"), 1))
        letter = names.letter("b")
        values = ResidualValues([{(0, 0): whole}, {(0, 0): letter}], [error, Fraction(0)])
        read = linear((0, 1), (1, bit))
        diagram = names.plus(whole, names.scaled(letter, bit))
        known = OfNumber(ZERO, ball(error), ball(error), ZERO)
        lengths = Lengths(Arithmetic(names, FLOAT32, halves), length)
        return stepped_off(lengths, (UnitGroup(read, diagram, {}), units), values, [known, EXACT])


def own(units: tuple[Unit, ...], error: Fraction, length: int, bit: int = 0) -> tuple[Fraction, Fraction]:
    """o, what a unit loses of its own, and what the units' sum loses."""
    size = length + abs(bit)
    most = size + error + max(abs(bias) for bias, _ in units)
    terms = 1 + bool(bit)
    lost = Fraction(8, 7) * terms * U * most + 8 * U * most + TINY
    factors = sum((abs(factor) for _, factor in units), Fraction(0))
    reach = most + lost
    products = Fraction(8, 7) * (len(units) - 1) * U * reach
    return lost, factors * (lost + 3 * U * reach + products) + TINY


@pytest.mark.parametrize("units", [STEP, BUMP])
@pytest.mark.parametrize(("error", "length", "bit"), [("1/8", 100, 0), ("1/100", 5000, 1), ("1/1000", 9, -3)])
def test_a_step_loses_what_its_units_lose_apart(
    units: tuple[Unit, ...], error: str, length: int, bit: int
) -> None:
    found = off(units, Fraction(error), length, bit=bit)
    _, expected = own(units, Fraction(error), length, bit)
    for each in (found.elsewhere, found.average):
        assert 0 <= upper_bound(each) / expected - 1 < Fraction(1, 10**6)
    assert found.relative == 0
    # Above its thresholds a bump is 0 again, and no unit of it is.
    assert (found.at_zero == 0) is (units == STEP)


def test_no_value_may_come_as_near_to_a_threshold_as_the_errors() -> None:
    length = 1000
    error = Fraction(1, 4) - own(STEP, Fraction(1, 4), length)[0]
    off(STEP, error - Fraction(1, 10**9), length)
    with pytest.raises(BeyondError, match="integers that grow"):
        off(STEP, error + Fraction(1, 10**9), length)


@pytest.mark.parametrize("units", RISING)
def test_what_rises_around_a_value_is_refused(units: tuple[Unit, ...]) -> None:
    with pytest.raises(BeyondError, match="integers that grow"):
        off(units, Fraction(1, 10**6), 100)


def test_a_threshold_at_a_value_is_refused() -> None:
    at_two = ((Fraction(-2), Fraction(2)), (Fraction(-5, 2), Fraction(-2)))
    with pytest.raises(BeyondError, match="integers that grow"):
        off(at_two, Fraction(0), 100)


def test_what_leaves_the_range_is_refused() -> None:
    huge = tuple((bias, factor * 2**94) for bias, factor in STEP)
    off(huge, Fraction(1, 10**6), 2)
    with pytest.raises(BeyondError, match="integers that grow"):
        off(tuple((bias, 8 * factor) for bias, factor in huge), Fraction(1, 10**6), 2)


def test_behind_a_normalisation_there_is_no_rule() -> None:
    with pytest.raises(BeyondError, match="behind a normalisation"):
        off(STEP, Fraction(0), 10, halves=2)
