"""How far a run in floats can be off, against the rules of FORMAT.md, section 6, written here once more.

The bounds that other modules derive (errors of linear forms, of rows, of tie-breaks) are taken as they are:
they have tests of their own. What is made of them is computed here in rational numbers.
"""

from __future__ import annotations

from fractions import Fraction
from math import ceil

import pytest

from attemper.certifying.horizons import horizon_of
from attemper.checker.analysis import analyse
from attemper.checker.names import UnprovenError
from attemper.checker.rounding.arithmetic import (
    Kernel,
)
from attemper.checker.rounding.network import Rounding, failure_at
from attemper.exact.closed_forms import FIRST, ONE, ClosedForm, I, number, times
from attemper.exact.formats import BFLOAT16, FLOAT32, FLOAT64, FloatFormat
from attemper.networks.layers import (
    Layer,
    Network,
    Select,
    Uniform,
)
from tests.support.judges.rounding import (
    NORMALISE,
    NUMERATOR,
    SUMS,
    U,
    each_format,
    each_kernel,
    looking_up,
    selecting,
    signed,
    sums_at,
)
from tests.support.mutants.attacks import Part, form, head, hidden, network_of


def averaging(size: int | Fraction) -> Network:
    """The output is the average of size * [a]."""
    average = head(Uniform(), ONE, [], [(form((0, 1)), 1)])
    return network_of(2, [[(0, size)], []], {}, [Layer((average,), (), ())], 1)


def averages_hold(size: int | Fraction, name: str, length: int) -> bool:
    """Whether normalise-first kernels are within 1/4, for averages that are at most 1."""
    few = 8 * length * SUMS[name] < 1
    return few and size * sums_at(name, length) + 4 * U[name] <= Fraction(1, 4)


@pytest.mark.parametrize(
    "size",
    [700_000, 500_000, 349_000, 262_000, 200_000, 150_000, 131_000, 116_000, 105_000, 60_000, 9_999, 17, 1],
)
def test_the_horizon_is_the_last_length_at_which_the_rule_holds(size: int) -> None:
    analysis = analyse(averaging(size))
    horizon, blame = horizon_of(analysis, FLOAT32, NORMALISE)
    assert horizon == 0 or averages_hold(size, "float32", horizon)
    assert not averages_hold(size, "float32", horizon + 1)
    assert blame in {"layer 0, head 0", "sums over so many positions"}
    for length in {0, 1, 2, horizon, horizon + 1, 2 * horizon + 2, 2**40, 2**40 + 1}:
        expected = length == 0 or averages_hold(size, "float32", length)
        assert (failure_at(analysis, FLOAT32, NORMALISE, length) is None) is expected


def test_the_sizes_above_have_horizons_around_small_powers_of_two() -> None:
    sizes = (700_000, 500_000, 349_000, 262_000, 200_000, 150_000, 131_000, 116_000, 105_000)
    found = [next(n for n in range(99) if not averages_hold(s, "float32", n + 1)) for s in sizes]
    assert found == [0, 1, 2, 3, 4, 5, 7, 8, 8]


@pytest.mark.parametrize(
    ("size", "low", "high"), [(683, 39, 40), (1500, 38, 39), (2**30, 18, 19), (400, 40, 40)]
)
def test_horizons_in_float64_end_at_two_to_the_40(size: int, low: int, high: int) -> None:
    analysis = analyse(averaging(size))
    horizon, _ = horizon_of(analysis, FLOAT64, NORMALISE)
    assert 2**low <= horizon <= 2**high
    assert averages_hold(size, "float64", horizon)
    assert horizon == 2**40 or not averages_hold(size, "float64", horizon + 1)
    assert failure_at(analysis, FLOAT64, NORMALISE, horizon) is None
    assert failure_at(analysis, FLOAT64, NORMALISE, horizon + 1) is not None


@each_format
@each_kernel
def test_a_network_that_never_rounds_is_right_until_sums_may_be_too_long(
    format_: FloatFormat, kernel: Kernel
) -> None:
    """8 N U < 1 is asked of all networks, U being that of float64 if they are scanned."""
    analysis = analyse(network_of(1, [[(0, 1)], []], {}, [], 0))
    sums = SUMS["float64" if kernel is Kernel.SCAN else format_.name]
    expected = min(2**40, ceil(1 / (8 * sums)) - 1)
    horizon, blame = horizon_of(analysis, format_, kernel)
    assert horizon == expected
    assert blame == ("" if horizon == 2**40 else "sums over so many positions")
    assert failure_at(analysis, format_, kernel, expected) is None
    assert failure_at(analysis, format_, kernel, expected + 1) is not None


def test_the_output_may_be_off_by_a_quarter_and_no_more() -> None:
    """i / 8 is off by 2^-8 of itself where bfloat16 does not hold it: by 1/4 at i = 512."""
    analysis = analyse(network_of(1, [[], []], {0: times(Fraction(1, 8), I)}, [], 0))
    assert horizon_of(analysis, BFLOAT16, NUMERATOR) == (512, "the embedding")


@pytest.mark.parametrize("size", [13, 14])
def test_an_average_is_off_by_a_number_and_by_a_part_of_itself(size: int) -> None:
    analysis = analyse(averaging(size))
    horizon, _ = horizon_of(analysis, BFLOAT16, NORMALISE)
    assert averages_hold(size, "bfloat16", horizon)
    assert not averages_hold(size, "bfloat16", horizon + 1)


def test_what_holds_at_a_length_holds_at_all_shorter_ones() -> None:
    for network in (averaging(60_000), selecting(), looking_up(), signed()):
        for kernel in Kernel:
            rounded = Rounding(analyse(network), FLOAT32)
            lengths = (1, 2, 3, 4, 8, 20, 100, 1000, 10**6, 2**21)
            held = [rounded.bounds_at(kernel, length).failure is None for length in lengths]
            assert held == sorted(held, reverse=True)


def test_the_empty_word_needs_no_proof() -> None:
    for network in (averaging(2**41), averaging(700_000)):
        assert failure_at(analyse(network), FLOAT32, NORMALISE, 0) is None
        assert failure_at(analyse(network), FLOAT32, NORMALISE, 1) is not None


def weighing(weight: Fraction, place: str) -> Network:
    """A network whose output is [a], and which has a weight somewhere."""
    one = form((0, 1))
    layer = {
        "query": Layer(
            (head(Select(False, ((None, ()),)), ONE, [(form((1, weight)), form((2, 1)))], [(one, 3)]),),
            (),
            (),
        ),
        "key": Layer(
            (head(Select(False, ((None, ()),)), ONE, [(form((1, 1)), form((2, weight)))], [(one, 3)]),),
            (),
            (),
        ),
        "value": Layer((head(Uniform(), ONE, [], [(form((0, weight)), 3)]),), (), ()),
        "form": Layer((), (hidden([(0, weight)], 0, 3),), ()),
        "bias": Layer((), (hidden([(0, 1)], weight, 3),), ()),
        "output": Layer((), (hidden([(0, 1)], 0, 3, weight),), ()),
        "embedding": Layer((), (), ()),
    }[place]
    letters: list[list[Part]] = [[(0, 1)], [(4, weight)] if place == "embedding" else []]
    return network_of(5, letters, {1: ONE, 2: I}, [layer], 0)


@pytest.mark.parametrize("place", ["value", "form", "bias", "output", "embedding", "query", "key"])
def test_weights_lie_between_two_to_the_minus_40_and_two_to_the_40(place: str) -> None:
    most = 2**40
    for inside in (Fraction(most), Fraction(1, most), Fraction(-most), Fraction(-1, most)):
        if inside > 0 or place not in {"query", "key"}:
            Rounding(analyse(weighing(inside, place)), FLOAT64)
    for outside in (Fraction(2 * most), Fraction(1, 2 * most), most + Fraction(1, 2**12)):
        analysis = analyse(weighing(outside, place))
        with pytest.raises(UnprovenError, match="the weights"):
            Rounding(analysis, FLOAT64)
        horizon, blame = horizon_of(analysis, FLOAT64, NUMERATOR)
        assert horizon == 0
        assert "the weights" in blame
        assert failure_at(analysis, FLOAT64, NUMERATOR, 1) is not None


def test_a_network_without_weights_is_covered() -> None:
    analysis = analyse(network_of(1, [[], []], {0: FIRST}, [], 0))
    assert horizon_of(analysis, FLOAT64, NUMERATOR) == (2**40, "")


def test_weights_of_the_embedding_are_numbers_of_the_format() -> None:
    for weight, format_, is_held in [
        (1 + Fraction(1, 2**7), BFLOAT16, True),
        (1 + Fraction(1, 2**8), BFLOAT16, False),
        (1 + Fraction(1, 2**23), FLOAT32, True),
        (1 + Fraction(1, 2**24), FLOAT32, False),
        (1 + Fraction(1, 2**24), FLOAT64, True),
        (Fraction(1, 3), FLOAT64, False),
    ]:
        analysis = analyse(network_of(2, [[(0, 1)], [(1, weight)]], {}, [], 0))
        assert (horizon_of(analysis, format_, NUMERATOR)[0] > 0) is is_held


@pytest.mark.parametrize("place", ["position", "head", "feed-forward"])
def test_a_coordinate_that_holds_something_is_not_written_to(place: str) -> None:
    for target, is_covered in ((2, True), (1, False), (0, False)):
        positions: dict[int, ClosedForm] = {target: FIRST} if place == "position" else {1: ONE}
        if place == "position" and target == 1:
            continue
        average = head(Uniform(), ONE, [], [(form((0, 1)), target)])
        unit = hidden([(0, 1)], 0, target)
        layer = {
            "position": Layer((), (), ()),
            "head": Layer((average,), (), ()),
            "feed-forward": Layer((), (unit,), ()),
        }[place]
        analysis = analyse(network_of(4, [[(0, 1), (3, 1)], []], positions, [layer], 3))
        horizon, blame = horizon_of(analysis, FLOAT64, NUMERATOR)
        assert (horizon > 0) is is_covered
        assert is_covered or "it adds to something that stands there" in blame


def blamed(sizes: tuple[int, int], has_letters: bool, bias: int = 0) -> str:
    """Two heads average; what a hidden unit makes of that, or of its bias, is wrong at some length."""
    heads = [head(Uniform(), ONE, [], [(form((2, size)), at)]) for at, size in enumerate(sizes)]
    read: list[Part] = [] if bias else [(0, 1), (1, 1)]
    layer = Layer(tuple(heads), (hidden(read, bias, 3),), ())
    letters: list[list[Part]] = [[(2, 1)], [] if has_letters else [(2, 1)]]
    return horizon_of(analyse(network_of(4, letters, {}, [layer], 3)), BFLOAT16, NUMERATOR)[1]


def test_the_input_with_the_largest_error_is_blamed() -> None:
    """The average of a constant is off by 4 u of it."""
    assert blamed((1, 2**10), has_letters=False) == "layer 0, head 1"
    assert blamed((2**10, 1), has_letters=False) == "layer 0, head 0"


def test_the_first_input_is_blamed_where_no_error_is_larger() -> None:
    """Averages of letters are exact over one position, and off by a part of themselves elsewhere."""
    assert blamed((2**10, 2**10), has_letters=True) == "layer 0, head 0"


def test_where_nothing_is_read_the_embedding_is_blamed() -> None:
    assert blamed((1, 1), has_letters=True, bias=2**16 + 1) == "the embedding"


@pytest.mark.parametrize("exponent", [96, 97, 98])
@pytest.mark.parametrize("has_others", [False, True])
def test_sums_of_values_stay_in_range(exponent: int, has_others: bool) -> None:
    """2 N times the largest value is less than 2^100."""
    values = [(form((1, 2**40)), 2)]
    if has_others:
        values = [(form((0, 1)), 3), *values, (form((0, 2)), 4)]
    average = head(Uniform(), ONE, [], values)
    places: dict[int, ClosedForm] = {1: number(2 ** (exponent - 40))}
    analysis = analyse(network_of(5, [[(0, 1)], []], places, [Layer((average,), (), ())], 0))
    expected = max(n for n in range(1, 99) if 2 * n * 2**exponent < 2**100)
    horizon, blame = horizon_of(analysis, FLOAT32, NUMERATOR)
    assert horizon == expected
    assert blame == "layer 0, head 0 (its values leave the range of the format)"


def test_errors_of_values_count_to_their_range() -> None:
    """The value is a bit less than 2^98, and can be computed as a bit more."""
    slightly_less = 2**58 * (1 - Fraction(1, 2**9))
    average = head(Uniform(), ONE, [], [(form((1, 2**40)), 2)])
    network = network_of(3, [[(0, 1)], []], {1: number(slightly_less)}, [Layer((average,), (), ())], 0)
    largest = slightly_less * 2**40
    assert 4 * largest < 2**100 <= 4 * largest * (1 + U["bfloat16"])
    assert horizon_of(analyse(network), BFLOAT16, NUMERATOR)[0] == 1
