"""Sizes and errors as polynomials in n: of linear forms, term by term."""

from __future__ import annotations

from fractions import Fraction

import flint
import pytest

from attemper.checker import whole_numbers
from attemper.checker.identities import Formulas
from attemper.checker.names import Affine
from attemper.checker.rounding.arithmetic import EXACT, Arithmetic, Lengths, OfInteger
from attemper.checker.rounding.growth import Forms, at_most, scaled, size_of
from attemper.checker.values import ResidualValues
from attemper.exact.balls import ball, precision
from attemper.exact.formats import BFLOAT16, FLOAT32, FloatFormat
from attemper.networks.layers import LinearForm, Masking
from tests.support.judges.rounding import off_of

U = ball(Fraction(1, 2**24))


def forms(form: FloatFormat = FLOAT32, length: int = 10) -> Forms:
    """n K (off by 5/n and 7), a letter (exact), a mean (off by 1/8, and 1/16 of itself), i n (off by 1/4)."""
    names = Formulas(("a", "b")).names
    whole = names.affine(whole_numbers.clamped(names, Masking.FUTURE, names.letter("a"), 1))
    mean = names.mean(Masking.FUTURE, names.scaled(names.letter("a"), 4))
    stream = ResidualValues(
        [{(0, 1): whole}, {(0, 0): names.letter("a")}, {(0, 0): mean}, {(1, 1): names.number(3)}]
    )
    eighth = flint.arb(1) / 8
    offs = [
        OfInteger({-1: flint.arb(5), 0: flint.arb(7)}, {0: flint.arb(3)}, off_of(*[flint.arb(9)] * 3)),
        EXACT,
        off_of(average=eighth, relative=eighth / 2),
        off_of(at_zero=eighth, elsewhere=2 * eighth),
    ]
    return Forms(Lengths(Arithmetic(names, form), length), stream, offs)


def part(coordinate: int, factor: int | Fraction) -> LinearForm:
    return ((coordinate, Fraction(factor)),)


def test_sizes_are_those_of_the_terms() -> None:
    with precision(64):
        assert forms().size(part(0, -2)) == {2: 2}
        assert forms().size(part(3, 1)) == {2: 3}
        assert forms().size((*part(0, 1), *part(1, -5), *part(2, 1))) == {2: 1, 0: 9}
        assert forms().size(()) == {}


def test_errors_are_those_of_the_coordinates() -> None:
    with precision(64):
        assert forms().error(()) == {}
        assert forms().error(part(1, 2)) == {}
    with precision(1000):
        tiny = forms().lengths.tiny
        assert tiny > 0
        assert forms().error(part(0, -4)) == {-1: 20, 0: 28 + tiny}
        assert forms().error(part(2, 1)) == {0: flint.arb(3) / 8 + tiny}  # 1/8 + 1/16 of at most 4
        assert forms().error(part(3, 1)) == {0: flint.arb(1) / 4 + tiny}


def test_a_factor_that_is_no_power_of_two_rounds_twice() -> None:
    with precision(64):
        found = forms().error(part(0, 3))
        assert found.keys() == {-1, 0, 2}
        assert found[-1].overlaps(15 * (1 + 3 * U))
        assert found[0].overlaps(21 * (1 + 3 * U))
        assert found[2].overlaps(3 * 3 * U)
        assert forms().error(part(1, 3))[0].overlaps(9 * U)


@pytest.mark.parametrize("form", [FLOAT32, BFLOAT16])
def test_a_sum_rounds_by_its_sizes(form: FloatFormat) -> None:
    """Relative to the sizes and errors of all terms."""
    with precision(64):
        own = forms(form)
        rate = own.lengths.arithmetic.summed(2, flint.arb(1), flint.arb(1))
        found = own.error((*part(0, 1), *part(1, 2)))
        assert found[2].overlaps(rate)
        assert found[-1].overlaps(5 * (1 + rate))
        assert found[0].overlaps(7 * (1 + rate) + 2 * rate)
        assert rate > 0


def test_polynomials_are_greatest_at_one_or_at_the_end() -> None:
    lengths = forms().lengths
    assert at_most(lengths, {-3: flint.arb(2), 0: flint.arb(3), 2: flint.arb(4)}) == 2 + 3 + 400
    assert at_most(lengths, {}) == 0
    assert scaled({1: flint.arb(2)}, flint.arb(3)) == {1: 6}


def test_the_size_of_a_sum_of_powers() -> None:
    names = Formulas(("a", "b")).names
    lengths = Lengths(Arithmetic(names, FLOAT32), 10)
    square = whole_numbers.clamped(names, Masking.NONE, names.letter("b"), 2)
    value = {(2, -1): names.affine(Affine(Fraction(1), square.parts)), (-3, 0): names.number(-5)}
    assert size_of(lengths, value) == {3: 2, 0: 5}
    assert size_of(lengths, {(0, 0): names.digits()}) == {1: 1}
    assert lengths.size({(0, 0): names.digits()}) == 4
    assert lengths.size({(0, 1): names.affine(Affine(Fraction(-2), square.parts))}) == 10 * 102
