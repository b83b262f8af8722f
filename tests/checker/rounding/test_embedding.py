"""Closed forms in floats: bounds against the numbers that a run gets, and against a second reading."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction

import flint
import pytest
import torch

from attemper.certifying.horizons import horizon_of
from attemper.checker.identities import Formulas
from attemper.checker.proof import prove
from attemper.checker.rounding.arithmetic import (
    UNKNOWN,
    ZERO,
    Arithmetic,
    BeyondError,
    Inexact,
    Kernel,
    Lengths,
    OnGrid,
    Rounded,
)
from attemper.checker.rounding.embedding import (
    MAX_TEST,
    UNDERFLOW,
    _evaluated,
    _held,
    _reciprocal,
    _sum,
    _times,
    rounded_form,
)
from attemper.exact.balls import ball, precision
from attemper.exact.closed_forms import (
    FIRST,
    FORM,
    LAST,
    ONE,
    SIGN,
    ClosedForm,
    I,
    N,
    Number,
    Power,
    Product,
    Sum,
    evaluate,
    number,
    over,
    plus,
    times,
)
from attemper.exact.closed_forms import Test as Asked
from attemper.exact.formats import FORMATS
from attemper.exact.predicates import NonNegative
from attemper.languages.temporal.parse import parse
from attemper.languages.temporal.reading import At, TemporalLanguage
from attemper.networks.layers import Hidden, Layer, Network, Select, Uniform
from attemper.running.closed_form_tensors import form_values
from attemper.running.dense import DenseTransformer
from tests.support.judges import float_rule
from tests.support.judges.rounding import grid_of
from tests.support.mutants.attacks import form, head, hidden, network_of

F = Fraction
SMALL = plus(F(1, 3 * 2**128))
"""A sum that rounds, and is far below 1."""
GREAT = number(3 * 2**128)
TINY = times(Power(SMALL, 10), Power(GREAT, 6), Power(GREAT, 4))
"""1, but the first factor is below all numbers of float64."""
SLIGHT = F(1, 2**53)
NOTHING = plus(times(F(1, 10), I), times(F(1, 5), I), times(F(-3, 10), I))
"""0, but not in float64."""

FORMS: tuple[ClosedForm, ...] = (
    number(0),
    number(3),
    number(F(-5, 7)),
    number(F(1, 3)),
    number(F(3, 2**20)),
    number(2**60),
    number(2**53 + 1),
    number(10**20),
    I,
    N,
    SIGN,
    Product(()),
    times(3, I),
    times(F(1, 3), I, over(N)),
    times(I, over(N)),
    over(I, 3),
    over(N, 4),
    Power(I, 4),
    Power(N, 1),
    Power(I, 0),
    Power(number(F(1, 3)), 3),
    Power(number(F(1, 3)), 1),
    Power(number(F(1, 3)), 0),
    plus(1, 1),
    plus(F(1, 3), SIGN),
    times(F(3, 4), F(1, 8), I),
    times(2**40, 3 * 2**30),
    plus(F(1, 2), F(1, 4), 4),
    plus(F(1, 3), I),
    plus(2**53, 2**53, -1),
    plus(2**40, F(1, 2**40)),
    times(F(1, 3), F(1, 5)),
    times(F(1, 3), F(3, 4), 2**30),
    times(0, plus(F(1, 3), 1)),
    times(plus(F(1, 3), 1), 0),
    times(plus(F(1, 3), 1), plus(F(1, 5), N)),
    times(plus(F(1, 3), F(-1, 3)), 7),
    times(7, plus(F(1, 3), F(-1, 3)), plus(F(1, 3), F(2, 3))),
    plus(times(F(1, 3), I), times(F(-1, 3), I)),
    plus(plus(F(1, 3), 1), plus(F(1, 5), I), N),
    Power(plus(F(1, 3), 1), 2),
    NOTHING,
)


def lengths_of(length: int, name: str) -> Lengths:
    return Lengths(Arithmetic(Formulas(("a", "b")).names, FORMATS[name]), length)


def repeated(closed: ClosedForm) -> ClosedForm:
    """A power as its repeated product."""
    match closed:
        case Power(Number() | Sum() as base, exponent):
            return Product((base,) * exponent)
        case _:
            return closed


def most(value: flint.arb) -> Fraction:
    """The greatest number in a ball."""
    upper = value.upper().fmpq()
    return F(int(upper.p), int(upper.q))


@pytest.mark.parametrize("name", list(FORMATS))
@pytest.mark.parametrize("length", [1, 7, 1000, 2**20])
def test_both_readings_of_the_format_agree(name: str, length: int) -> None:
    slack = ball(F(1, 2**90))
    with precision(200):
        lengths = lengths_of(length, name)
        for closed in FORMS:
            found = rounded_form(lengths, closed)
            expected = float_rule.in_format(repeated(closed), float_rule.FORMATS[name], length)
            assert expected.inverse is not None
            assert grid_of(found) == (None if expected.grid is None else F(2) ** expected.grid), closed
            assert (found.relative < UNKNOWN) != (expected.relative is None), closed
            pairs = [
                (found.size, expected.size),
                (found.inverse, expected.inverse),
                (found.absolute, expected.absolute),
                (found.at_zero, expected.zero),
                (found.relative, expected.relative),
            ]
            for ours, theirs in pairs:
                if theirs is not None:
                    assert abs(ours - ball(theirs)) <= slack * (1 + ball(theirs)), closed


EXTREME: tuple[ClosedForm, ...] = (
    Sum(()),
    FIRST,
    TINY,
    times(GREAT, Power(SMALL, 7), Power(GREAT, 6)),
    times(Power(SMALL, 8), Power(GREAT, 6)),
    plus(NOTHING, Power(SMALL, 16)),
    times(FIRST, plus(F(1, 3), I)),
    times(plus(F(1, 3), I), LAST, SIGN),
    times(NOTHING, Power(SMALL, 9)),
    times(Power(SMALL, 16), 0),
)


@pytest.mark.parametrize("name", ["float64", "float32", "bfloat16"])
def test_no_computed_number_is_farther_off_than_the_bounds(name: str) -> None:
    """At every position of words of up to 40 symbols; also where intermediate numbers underflow."""
    longest, checked = 40, 0
    n = torch.full((longest,), longest)
    i = torch.arange(1, longest + 1)
    for closed in (*FORMS, *EXTREME):
        with precision(200):
            try:
                found = rounded_form(lengths_of(longest, name), closed)
            except BeyondError:
                continue
            computed = form_values(closed, i, n).to(getattr(torch, name)).double().tolist()
            for place, value in enumerate(computed, start=1):
                exact = evaluate(closed, place, longest)
                off = abs(F(value) - exact)
                assert abs(exact) <= most(found.size)
                assert off <= most(found.absolute)
                if not exact:
                    assert off <= most(found.at_zero)
                elif found.relative < UNKNOWN:
                    assert off <= most(found.relative) * abs(exact)
                    assert most(found.inverse) * abs(exact) >= 1
                if isinstance(found, OnGrid):
                    assert F(value) % found.grid == 0
                checked += 1
    assert checked > 40 * longest


@pytest.mark.parametrize("name", list(FORMATS))
def test_a_test_counts_as_much_as_1(name: str) -> None:
    lengths = lengths_of(7, name)
    for asked, one in ((plus(F(1, 3), FIRST), plus(F(1, 3), 1)), (times(F(1, 3), LAST), times(F(1, 3), 1))):
        found, expected = rounded_form(lengths, asked), rounded_form(lengths, one)
        assert most(found.absolute) == most(expected.absolute)
    assert grid_of(rounded_form(lengths, FIRST)) == 1


def test_an_empty_sum_is_exactly_0() -> None:
    found = rounded_form(lengths_of(3, "bfloat16"), Sum(()))
    assert found.size == found.absolute == found.at_zero == found.relative == 0
    assert isinstance(found, OnGrid)


def test_what_is_exact_is_a_multiple_of_its_grid_in_the_format() -> None:
    for name, bits in (("float64", 53), ("float32", 24), ("bfloat16", 8)):
        lengths = lengths_of(2**bits, name)
        assert grid_of(rounded_form(lengths, I)) == 1
        assert grid_of(rounded_form(lengths_of(2**bits + 1, name), N)) is None
        assert grid_of(rounded_form(lengths_of(2, name), number(F(2**bits, 3 * 2**40)))) is None
        assert grid_of(rounded_form(lengths_of(2, name), number(F(2**bits - 1, 2**40)))) == F(1, 2**40)


# Ends of what float64 holds --------------------------------------------------------------------------


def test_float64_holds_multiples_of_a_grid_up_to_2_to_the_53_of_it() -> None:
    step = F(1, 2**20)
    assert _held(ball(step * 2**53), step)
    assert not _held(ball(step * 2**53 + F(1, 2**30)), step)
    assert _held(ball(F(1, 2**850)), F(1, 2**900))
    assert not _held(ball(F(1, 2**850)), F(1, 2**901))
    assert _held(ball(F(2**900 - 2**860)), F(2**850))
    assert not _held(ball(F(2**900)), F(2**850))


def exact(size: Fraction, grid: Fraction) -> Rounded:
    return OnGrid(ball(size), grid)


def inexact(size: Fraction, inverse: Fraction, relative: Fraction = SLIGHT) -> Rounded:
    return Inexact(ball(size), ball(inverse), ball(size * relative), ZERO, ball(relative))


def test_sums_and_products_beyond_the_range_are_refused() -> None:
    half, whole = F(2**899), F(2**900)
    with precision(200):
        inside = _sum([inexact(half, F(1)), inexact(half - 2**800, F(1))])
        assert inside.size < ball(whole)
        with pytest.raises(BeyondError):
            _sum([inexact(half, F(1)), inexact(half, F(1))])
        for left, right, is_inside in (
            (inexact(half, F(1)), inexact(F(1), F(1)), True),
            (inexact(half, F(1)), inexact(F(2), F(1)), False),
            (inexact(F(1), half), inexact(F(1), F(1)), True),
            (inexact(F(1), half), inexact(F(1), F(2)), False),
            # Numbers that float64 holds may not leave the range either.
            (exact(half, F(2**860)), exact(F(2), F(1)), False),
            (exact(F(1, 2**449), F(1, 2**450)), exact(F(1, 2**449), F(1, 2**450)), False),
            (exact(F(1, 2**449), F(1, 2**450)), exact(F(1, 2**449), F(1, 2**449)), True),
        ):
            if is_inside:
                assert _times(left, right).size < ball(whole)
            else:
                with pytest.raises(BeyondError):
                    _times(left, right)


@pytest.mark.parametrize("name", ["float32", "float64"])
def test_forms_beyond_the_range_of_the_format_are_refused(name: str) -> None:
    """The size and its inverse stay below 2^100, in float64 below 2^900."""
    end = F(FORMATS[name].range)
    lengths = lengths_of(3, name)
    for value in (end, 1 / end):
        with pytest.raises(BeyondError):
            rounded_form(lengths, Number(value))
    assert rounded_form(lengths, Number(end - end / 2**20)).size < ball(end)
    assert grid_of(rounded_form(lengths, Number(2 / end))) == 2 / end
    # The simplified value counts, not the sizes along the tree.
    half = Number(end / 2 - end / 2**20)
    assert rounded_form(lengths, plus(half, times(-1, half))).size == 0


def test_a_reciprocal_needs_a_number_that_is_known_to_half_of_itself() -> None:
    with precision(200):
        almost = F(1, 2) - F(1, 2**40)
        found = _reciprocal(inexact(F(8), F(4), almost))
        v = ball(F(1, 2**53))
        assert found.size == 4
        assert found.inverse == 8
        assert found.at_zero == 0
        assert isinstance(found, Inexact)
        assert abs(found.relative - ((1 + 2 * ball(almost)) * (1 + v) - 1)) < ball(F(1, 2**100))
        assert abs(found.absolute - 4 * found.relative) < ball(F(1, 2**100))
        for relative in (F(1, 2), F(1), F(2**1000)):
            with pytest.raises(BeyondError):
                _reciprocal(inexact(F(8), F(4), relative))


def test_a_reciprocal_bounds_what_it_is_off_by() -> None:
    """1 / (x (1 + d)) is off by at most 2 |d| of itself as long as |d| <= 1/2, and rounded once."""
    for d in (F(-49, 100), F(-1, 4), F(1, 3), F(-1, 2**20)):
        found = _reciprocal(inexact(F(1), F(1), abs(d)))
        assert abs(1 / (1 + d) - 1) * (1 + F(1, 2**53)) <= most(found.relative)


def test_arguments_of_tests_stay_below_2_to_the_62() -> None:
    for per_position, per_length, shift in (
        (2**58, 0, -(2**61)),
        (0, -(2**58), 2**61),
        (-(2**57), 2**57, 2**61),
        (2**57, 2**57, -(2**61)),
    ):
        with pytest.raises(BeyondError):
            rounded_form(lengths_of(8, "float64"), Asked(NonNegative(), per_position, per_length, shift))
        sign = 1 if shift < 0 else -1
        inside = Asked(NonNegative(), per_position, per_length, shift + sign)
        assert rounded_form(lengths_of(8, "float64"), inside).absolute == 0
        with pytest.raises(BeyondError):
            rounded_form(lengths_of(9, "float64"), inside)
    assert MAX_TEST == 8 * 2**58 + 2**61


# Underflow -------------------------------------------------------------------------------------------


def test_underflow_is_charged_where_a_number_is_not_known_relatively() -> None:
    lengths = lengths_of(2, "float64")
    underflow, most = ball(F(1, 2**900)), ball(F(1, 2**899))
    with precision(200):
        low = _evaluated(lengths, plus(Number(F(1, 3 * 2**890))))
        assert underflow <= low.absolute < most
        assert underflow <= low.at_zero < most
        product = _times(low, inexact(F(1), F(1)))
        assert 2 * underflow <= product.absolute < 2 * most
        assert 2 * underflow <= product.at_zero < 2 * most
        one = _times(inexact(F(1, 3), F(3)), inexact(F(1, 3), F(3)))
        assert one.at_zero == 0, "a product that is 0 is computed as 0 where its factors are"
        # Rounding to the format flushes, too.
        for name, least in (("float64", 900), ("float32", 100)):
            found = rounded_form(lengths_of(2, name), plus(Number(F(1, 3 * 2**128))))
            extra = ball(F(1, 2**least))
            assert extra <= found.absolute < 4 * extra + ball(F(1, 2**150))
            assert extra <= found.at_zero < 4 * extra + ball(F(1, 2**150))
        assert rounded_form(lengths_of(2, "float32"), number(F(1, 3))).at_zero == 0
    assert underflow == UNDERFLOW


def _in_floats(network: Network, word: str, name: str) -> list[float]:
    tokens = torch.tensor([["ab".index(symbol) for symbol in word]])
    with torch.no_grad():
        return DenseTransformer(network, getattr(torch, name))(tokens)[0].double().tolist()


def _longest(network: Network, text: str, name: str, kernels: Sequence[Kernel] = tuple(Kernel)) -> int:
    formula = parse(text, network.alphabet)
    analysis = prove(network, TemporalLanguage(formula, At.LAST, False))
    return max(horizon_of(analysis, FORMATS[name], kernel)[0] for kernel in kernels)


@pytest.mark.parametrize("name", list(FORMATS))
def test_no_length_is_claimed_where_a_position_embedding_underflows(name: str) -> None:
    """A coordinate that holds 1 is computed as 0: its first factor is 2^-1300, as a power of a sum."""
    assert FORM.read(FORM.encode(TINY)) == TINY, "it can stand in a file"
    assert evaluate(TINY, 1, 1) == 1
    clamp = (hidden([(0, 2)], F(-1, 2), 1), hidden([(0, 2)], F(-3, 2), 1, -1))
    network = network_of(2, [[], []], {0: TINY}, [Layer((), clamp, ())], 1)
    assert _in_floats(network, "a", name) == [0.0], "the attack works"
    assert _longest(network, "true", name) == 0


@pytest.mark.parametrize("name", ["float64", "float32"])
def test_no_length_is_claimed_where_a_tiny_key_is_computed_as_noise(name: str) -> None:
    """A key is 2^-2072 everywhere, but off by 2^-54 or more: 2^1000 times the key is less than that."""
    key = plus(NOTHING, Power(SMALL, 16))
    assert FORM.read(FORM.encode(key)) == key, "it can stand in a file"
    rows = [(form((2, 4)), form((3, 1))), (form((5, 1)), form((4, 1)))]
    places: dict[int, ClosedForm] = {2: ONE, 3: I, 4: key, 5: number(2**80)}
    select = head(Select(False, ((None, ()),)), ONE, rows, [(form((0, 1)), 6)])
    network = network_of(7, [[(0, 1)], [(1, 1)]], places, [Layer((select,), (), ())], 6)
    word = "aaaabbbaaabbba"
    outputs = _in_floats(network, word, name)
    wrong = [place for place, out in enumerate(outputs, 1) if abs(out - (word[place - 1] == "a")) > 1 / 4]
    assert wrong, "the attack works"
    assert _longest(network, "a", name) < wrong[0]


def test_an_absolute_bound_is_not_replaced_by_an_unknown_part_of_a_tiny_number() -> None:
    with precision(200):
        found = rounded_form(lengths_of(14, "float64"), plus(NOTHING, Power(SMALL, 16)))
        assert found.size < ball(F(1, 2**2000))
        assert found.absolute > ball(F(1, 2**54))
        # What is known relatively is known absolutely by its size.
        small = rounded_form(lengths_of(14, "float64"), times(I, over(N), F(1, 3)))
        assert small.absolute <= (small.relative + ball(F(1, 2**90))) * small.size


LARGE = number(10**39)
CANCELLED = times(
    10**39, plus(times(10**39, I), times(10**38, LARGE), times(-(10**39), I), times(-(10**38), LARGE))
)
"""0 in real numbers; computed in float64 it can be as large as 10^60."""


@pytest.mark.parametrize("name", ["float32", "bfloat16"])
def test_what_cancels_must_stay_in_the_range_of_the_format_as_it_is_computed(name: str) -> None:
    assert evaluate(CANCELLED, 3, 5) == 0
    with pytest.raises(BeyondError, match="range of the format"):
        rounded_form(lengths_of(16, name), CANCELLED)
    half = number(2**99)
    assert rounded_form(lengths_of(16, name), plus(half, I, times(-1, half))).size <= 16
    # A coordinate that nothing reads is multiplied by 0 all the same, and 0 times infinity is no number.
    rows = [[(0, 1)], [(1, 1)]]
    assert _longest(network_of(3, rows, {2: CANCELLED}, [], 0), "a", name) == 0
    average = head(Uniform(), plus(1, CANCELLED), [], [(form((0, 1)), 2)])
    network = network_of(3, rows, {}, [Layer((average,), (), ())], 0)
    assert _longest(network, "a", name, [Kernel.NUMERATOR_FIRST, Kernel.NORMALISE_FIRST]) == 0
    # A scan's temperatures are float64.
    assert _longest(network, "a", name, [Kernel.SCAN]) > 0


@pytest.mark.parametrize("name", list(FORMATS))
def test_a_hidden_unit_that_is_written_nowhere_may_leave_the_range(name: str) -> None:
    dead = Hidden(form((2, 2**39)), F(0), ())
    unread: dict[int, ClosedForm] = {2: times(10**9, Power(I, 16))}
    for units, is_covered in (((dead,), False), ((), True)):
        layer = Layer((), (hidden([(0, 1)], 0, 1), *units), ())
        network = network_of(3, [[(0, 1)], []], unread, [layer], 1)
        assert (_longest(network, "a", name) > 0) is is_covered


@pytest.mark.parametrize("name", list(FORMATS))
def test_constants_beyond_the_range_of_float64_are_refused_even_if_they_cancel(name: str) -> None:
    """2^-1080 is 0 in float64, whatever it is multiplied with; 2^1030 is infinite."""
    for middle, ends in ((F(1, 2**1080), (2**890, 2**190)), (F(2**1030), (F(1, 2**890), F(1, 2**140)))):
        closed = times(number(ends[0]), number(middle), number(ends[1]))
        assert evaluate(closed, 1, 1) == 1
        with pytest.raises(BeyondError, match="range of float64"):
            rounded_form(lengths_of(1, name), closed)
    for value in (F(2**900), F(2**902, 3), F(3, 2**902)):
        with pytest.raises(BeyondError, match="range of float64"):
            _evaluated(lengths_of(1, name), Number(value))
    for value in (F(2**900, 3), F(4, 3 * 2**900)):
        assert _evaluated(lengths_of(1, name), Number(value)).relative == ball(F(1, 2**53))
