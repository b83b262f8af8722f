"""How far a run in floats can be off, against the rules of FORMAT.md, section 6, written here once more.

The bounds that other modules derive (errors of linear forms, of rows, of tie-breaks) are taken as they are:
they have tests of their own. What is made of them is computed here in rational numbers.
"""

from __future__ import annotations

import random
from collections.abc import Iterator, Sequence
from dataclasses import replace
from fractions import Fraction
from math import ceil

import flint
import numpy as np
import pytest
from numpy.typing import NDArray

from attemper.certifying.horizons import horizon_of
from attemper.checker import rounding
from attemper.checker.analysis import Analysis, analyse
from attemper.checker.heads import HeadFact
from attemper.checker.names import UnprovenError
from attemper.checker.rounded_embedding import rounded_form
from attemper.checker.rounded_forms import EXACT, UNKNOWN, ZERO, BeyondError, Lengths, Off, Rounded
from attemper.checker.rounded_scores import Cold, ScoredRow
from attemper.checker.rounding import Kernel, Rounding, failure_at
from attemper.checker.rules import LocalSignRule, LookupRule, ShiftRule, SignRule, TieBreakRule, UniformRule
from attemper.checker.values import Value, of_form
from attemper.exact.balls import ball, precision
from attemper.exact.closed_forms import FIRST, ONE, SIGN, ClosedForm, I, number, over, plus, times
from attemper.exact.formats import BFLOAT16, FLOAT32, FLOAT64, FORMATS, FloatFormat
from attemper.networks.layers import (
    Layer,
    LinearForm,
    Lookup,
    Neighbour,
    Network,
    Select,
    Sign,
    Uniform,
)
from tests.support.attacks import EVEN, Part, form, head, hidden, network_of

BITS = 300
"""Precision at which nothing but the formula itself shows."""

U = {"float64": Fraction(1, 2**53), "float32": Fraction(1, 2**24), "bfloat16": Fraction(1, 2**8)}
SUMS = {"float64": Fraction(1, 2**53), "float32": Fraction(1, 2**24), "bfloat16": Fraction(1, 2**24)}
EXP = {"float64": 8, "float32": 8, "bfloat16": 2}
RANGE = {"float64": 2**900, "float32": 2**100, "bfloat16": 2**100}
LEAST = {"float64": Fraction(1, 2**1022), "float32": Fraction(1, 2**126), "bfloat16": Fraction(1, 2**126)}

NUMERATOR, NORMALISE = Kernel.NUMERATOR_FIRST, Kernel.NORMALISE_FIRST
each_format = pytest.mark.parametrize("format_", FORMATS.values(), ids=FORMATS)
each_kernel = pytest.mark.parametrize("kernel", Kernel)


@pytest.fixture
def fine_balls(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Let the checker compute with so many bits that every term of a formula can be seen."""
    monkeypatch.setattr(rounding, "PRECISION", BITS)
    with precision(BITS):
        yield


finely = pytest.mark.usefixtures("fine_balls")


def is_same(found: flint.arb, expected: flint.arb | Fraction) -> bool:
    """Whether two numbers agree to 200 digits in binary."""
    other = ball(expected) if isinstance(expected, Fraction) else expected
    return bool(abs(found - other) <= abs(other) / 2**200)


def run_at(
    network: Network, format_: FloatFormat, length: int, kernel: Kernel = NUMERATOR
) -> tuple[rounding._Run, Analysis]:
    """The bounds at one length, after the embeddings."""
    analysis = analyse(network)
    rounded = Rounding(analysis, format_)
    run = rounding._Run(rounded, kernel, Lengths(rounded.arithmetic, length))
    run.offs = [EXACT for _ in network.coordinates]
    run._embed()
    return run, analysis


def sums_at(name: str, length: int) -> Fraction:
    """What a quotient of two sums over the positions is off by, relatively."""
    long = 2 * length * SUMS[name]
    return 2 * long / (1 - long) + 4 * U[name]


def noise_at(name: str) -> Fraction:
    """By which factor two weights can be off against each other."""
    exp = EXP[name] * U[name]
    return (1 + exp) * (1 + 4 * U[name]) / (1 - exp)


# Horizons --------------------------------------------------------------------------------------------


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
    """8 N U < 1 is asked of all networks."""
    analysis = analyse(network_of(1, [[(0, 1)], []], {}, [], 0))
    expected = min(2**40, ceil(1 / (8 * SUMS[format_.name])) - 1)
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


# Weights ---------------------------------------------------------------------------------------------


def weighing(weight: Fraction, place: str) -> Network:
    """A network whose output is [a], and which has a weight somewhere."""
    one = form((0, 1))
    layer = {
        "query": Layer(
            (head(Select(False, ()), ONE, [(form((1, weight)), form((2, 1)))], [(one, 3)]),), (), ()
        ),
        "key": Layer(
            (head(Select(False, ()), ONE, [(form((1, 1)), form((2, weight)))], [(one, 3)]),), (), ()
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


# Each coordinate is written once -----------------------------------------------------------------------


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


# Whom to blame -----------------------------------------------------------------------------------------


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


# Uniform heads -----------------------------------------------------------------------------------------

THIRD = number(Fraction(1, 3))


def mean_of(letters: Sequence[int], has_third: bool = False) -> Network:
    """The output is the average of a number for each letter, and of 1/3 if asked for."""
    value = form((0, 1), (1, 1)) if has_third else form((0, 1))
    average = head(Uniform(), ONE, [], [(value, 2)])
    embedding: list[list[Part]] = [[(0, size)] for size in letters]
    return network_of(3, embedding, {1: THIRD}, [Layer((average,), (), ())], 2)


@finely
@each_format
@each_kernel
@pytest.mark.parametrize(
    ("letters", "has_third"), [((8, 1), False), ((8, 8), False), ((8, 2), True), ((8, 8), True)]
)
def test_what_an_average_is_off_by(
    format_: FloatFormat, kernel: Kernel, letters: tuple[int, int], has_third: bool
) -> None:
    network, u, name = mean_of(letters, has_third), U[format_.name], format_.name
    largest = max(letters) + (Fraction(1, 3) if has_third else 0)
    is_constant = letters[0] == letters[1]
    for length in (1, 2, 1000, 2**20, 2**20 + 1):
        run, analysis = run_at(network, format_, length, kernel)
        [own], [fact] = network.layers[0].heads, analysis.layers[0].heads
        [(target, off)] = run._head(own, fact, analysis.layers[0].before, "the head")
        assert target == 2
        computed = run.lengths.linear(own.values[0], analysis.layers[0].before.values, run.offs)
        error = fraction(computed.absolute)
        assert (error > 0) is has_third
        assert is_same(off.relative, 4 * u)
        is_exact = 2 * length * SUMS[name] * largest <= (8 if is_constant else 1) and not has_third
        if kernel is NUMERATOR and is_exact:
            assert off.mean == off.zero == 0
            assert is_same(off.other, 4 * u * largest if is_constant else Fraction(0))
        else:
            mean = error + (largest + error) * sums_at(name, length)
            assert is_same(off.mean, mean)
            assert is_same(off.zero, mean if is_constant else error)
            assert is_same(off.other, mean if is_constant else error)


def fraction(value: flint.arb) -> Fraction:
    """The middle of a ball."""
    middle = value.mid().fmpq()
    return Fraction(int(middle.p), int(middle.q))


@each_kernel
def test_averages_in_float32_are_off_by_no_more_than_the_bound(kernel: Kernel) -> None:
    """All orders of summation, with a division or a rounded reciprocal."""
    rng = np.random.default_rng(1)
    network, length = mean_of((7, 3)), 300
    run, analysis = run_at(network, FLOAT32, length, kernel)
    [own], [fact] = network.layers[0].heads, analysis.layers[0].heads
    [(_, off)] = run._head(own, fact, analysis.layers[0].before, "the head")
    for n in (1, 2, 3, 7, 41, 49, 299, 300):
        values = rng.choice([np.float32(7), np.float32(3)], size=n)
        exact = Fraction(int(values.sum()), n)
        allowed = fraction(off.mean) + fraction(off.relative) * exact
        ones = np.ones(n, np.float32)
        total = one_by_one(ones)
        if kernel is NUMERATOR:
            found = [one_by_one(values) / total, one_by_one(values) * (np.float32(1) / total)]
        else:
            found = [one_by_one(values * (ones / total)), one_by_one(values * (np.float32(1) / total))]
        assert all(abs(Fraction(float(one)) - exact) <= allowed for one in found)
        if n == 1:
            assert fraction(off.constant) == 0
            assert all(one == values[0] for one in found)


def one_by_one(numbers: NDArray[np.float32]) -> np.float32:
    """The sum in float32, every addition rounded."""
    total: np.float32 = np.add.accumulate(numbers, dtype=np.float32)[-1]
    return total


# The range of values -----------------------------------------------------------------------------------


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


# Heads that look for a position --------------------------------------------------------------------------


def selecting(coldness: ClosedForm = ONE, has_third: bool = False, step: int | Fraction = 1) -> Network:
    """Looks for the rightmost position without a; the head reads 3 [a], and 1/3 if asked for."""
    value = form((0, 3), (5, 1)) if has_third else form((0, 3))
    rows = [(form((3, step)), form((2, 4))), (form((2, step)), form((0, -8)))]
    own = head(Select(False, ()), coldness, rows, [(value, 4)])
    letters: list[list[Part]] = [[(0, 1)], [(1, 1)]]
    return network_of(6, letters, {2: I, 3: ONE, 5: THIRD}, [Layer((own,), (), ())], 4)


def shifting() -> Network:
    """The value at i - 1."""
    rows = [(form((2, -1)), form((2, 8))), (form((1, 1)), form((3, 4)))]
    own = head(Neighbour(False), ONE, rows, [(form((0, 1)), 4)])
    return network_of(5, [[(0, 1)], []], {1: ONE, 2: SIGN, 3: I}, [Layer((own,), (), ())], 4)


MEAN = head(Uniform(), ONE, [], [(form((0, 4), (1, -2), (2, 1)), 5)])


def signed(rows: Sequence[tuple[LinearForm, LinearForm]] = ((form((5, 1)), form((3, 1))),)) -> Network:
    """Reads [j is even] at positions j whose parity is the sign of an average."""
    own = head(Sign(()), times(8, I), rows, [(form((4, 1)), 6)])
    places = {1: ONE, 2: FIRST, 3: SIGN, 4: EVEN}
    return network_of(7, [[(0, 1)], []], places, [Layer((MEAN,), (), ()), Layer((own,), (), ())], 6)


def looking_up() -> Network:
    """Reads [j is even] at the position that is the number of a's so far."""
    averages = head(Uniform(), ONE, [], [(form((0, 1)), 5), (form((1, 1)), 6)])
    rows = [(form((5, 1)), form((2, 1))), (form((6, 1)), form((3, 1)))]
    own = head(Lookup((), ()), times(8, I), rows, [(form((4, 1)), 7)])
    places = {1: FIRST, 2: times(2, I), 3: times(-1, I, I), 4: EVEN}
    return network_of(8, [[(0, 1)], []], places, [Layer((averages,), (), ()), Layer((own,), (), ())], 7)


def cold_of(run: rounding._Run, form_: ClosedForm, is_exact: bool) -> Cold:
    """An inverse temperature; whether multiplying by it rounds is said, not found out."""
    return Cold(rounded_form(run.lengths, form_), is_exact)


TEMPERATURES: list[tuple[ClosedForm, bool]] = [
    (ONE, True),
    (number(4), True),
    (number(Fraction(1, 2)), True),
    (number(3), False),
    (times(2, I), False),
    (times(I, over(I)), False),
]
"""Inverse temperatures, and whether they are one power of two and computed as that."""


@finely
@each_format
@pytest.mark.parametrize(("coldness", "is_exact"), TEMPERATURES)
@pytest.mark.parametrize("is_odd", [False, True])
def test_what_the_value_of_a_selection_is_off_by(
    format_: FloatFormat, coldness: ClosedForm, is_exact: bool, is_odd: bool
) -> None:
    """Also where its value is rounded, and the weights are such that all products are."""
    network, name = selecting(coldness, is_odd, 1 + (2 * U[format_.name] if is_odd else 0)), format_.name
    for length in (1, 2, 3, 17):
        run, analysis = run_at(network, format_, length)
        [own], [fact] = network.layers[0].heads, analysis.layers[0].heads
        before, exact = analysis.layers[0].before, 3 + (Fraction(1, 3) if is_odd else 0)
        loss = run._loss(own, fact, before, cold_of(run, coldness, is_exact), "the head")
        assert isinstance(fact.rule, TieBreakRule)
        assert fact.rule.far is not None
        stray = ZERO
        if length > 1:
            near = (-ball(fact.rule.gap) * (1 - loss - 2 * ball(U[name]))).exp()
            weight = (near / (1 - near) + (-ball(fact.rule.far[1])).exp()) * ball(noise_at(name))
            stray = weight / (1 + weight)
        error = fraction(run.lengths.linear(own.values[0], before.values, run.offs).absolute)
        assert (error > 0) is is_odd
        rest = error + (exact + error) * (noise_at(name) * (1 + sums_at(name, length)) - 1)
        [(target, off)] = run._head(own, fact, before, "the head")
        assert target == 4
        assert is_same(off.zero, 3 * stray + ball(rest))
        assert is_same(off.other, 3 * stray + ball(rest))
        assert off.mean == off.relative == 0


@finely
def test_a_temperature_that_rounds_costs_more() -> None:
    """So the case before tells the two apart."""
    run, analysis = run_at(selecting(step=1 + Fraction(1, 2**7)), BFLOAT16, 3)
    [own], [fact] = analysis.network.layers[0].heads, analysis.layers[0].heads
    exact, rounds = (
        run._loss(own, fact, analysis.layers[0].before, cold_of(run, ONE, is_exact), "")
        for is_exact in (True, False)
    )
    assert exact < rounds


@finely
@pytest.mark.parametrize("length", [1, 2, 3])
@pytest.mark.parametrize("rule", [SignRule(Fraction(2), level=True), ShiftRule(*map(Fraction, (4, 5, 6)))])
def test_leads_are_smaller_by_the_loss_and_two_roundings(
    monkeypatch: pytest.MonkeyPatch, length: int, rule: SignRule | ShiftRule
) -> None:
    run, analysis = run_at(selecting(), BFLOAT16, length)
    [own], before = analysis.network.layers[0].heads, analysis.layers[0].before
    fact, cold = HeadFact(rule, ()), cold_of(run, ONE, is_exact=True)
    u, noise = U["bfloat16"], Fraction(5, 4)
    most = Fraction(15, 16)
    for loss in (Fraction(0), Fraction(1, 8), most, most + Fraction(1, 2**60), Fraction(1), Fraction(2)):
        monkeypatch.setattr(rounding._Run, "_loss", lambda *_, loss=loss: ball(loss))
        if length == 1:
            assert run._stray(own, fact, before, cold, "the head", ball(noise)) == 0
        elif loss > most:
            with pytest.raises(BeyondError, match=r"^the head$"):
                run._stray(own, fact, before, cold, "the head", ball(noise))
        else:
            step, own_lead, parity = (
                ball(-lead * (1 - loss - 2 * u)).exp() for lead in map(Fraction, (4, 5, 6))
            )
            weight = own_lead + (step**2 + parity * step) / (1 - step**2)
            if isinstance(rule, SignRule):
                weight = 2 * step
            weight *= ball(noise)
            found = run._stray(own, fact, before, cold, "the head", ball(noise))
            assert is_same(found, weight / (1 + weight))


# Losses ------------------------------------------------------------------------------------------------


def loss_of(run: rounding._Run, analysis: Analysis, fact: HeadFact, cold: Cold | None = None) -> flint.arb:
    """The loss of the head in the last layer."""
    [own], before = analysis.network.layers[-1].heads, analysis.layers[-1].before
    return run._loss(own, fact, before, cold or cold_of(run, ONE, is_exact=True), "the head")


@finely
def test_blocked_positions_may_lose_half_of_their_lead(monkeypatch: pytest.MonkeyPatch) -> None:
    """The argument of exp loses 2 u of it."""
    run, analysis = run_at(selecting(), BFLOAT16, 3)
    [fact] = analysis.layers[0].heads
    near, most, slight = Fraction(3, 4), Fraction(1, 2) - 2 * U["bfloat16"], Fraction(1, 2**60)
    for far, is_covered in [(Fraction(0), True), (most, True), (most + slight, False), (Fraction(1), False)]:
        monkeypatch.setattr(rounding, "losses", lambda *_, far=far: (ball(near), ball(far)))
        if is_covered:
            assert loss_of(run, analysis, fact) == ball(near)
        else:
            with pytest.raises(BeyondError, match=r"^the head$"):
                loss_of(run, analysis, fact)


@finely
def test_a_shift_loses_as_much_as_its_worst_pair(monkeypatch: pytest.MonkeyPatch) -> None:
    run, analysis = run_at(shifting(), BFLOAT16, 3)
    [fact] = analysis.layers[0].heads
    assert isinstance(fact.rule, ShiftRule)
    for pair in ((Fraction(3, 4), Fraction(1, 8)), (Fraction(1, 8), Fraction(3, 4))):
        monkeypatch.setattr(rounding, "losses", lambda *_, pair=pair: tuple(map(ball, pair)))
        assert loss_of(run, analysis, fact) == ball(Fraction(3, 4))


@pytest.mark.parametrize("network", [selecting(), shifting()])
def test_a_tie_break_whose_rows_are_too_mixed_has_no_bound(network: Network) -> None:
    run, analysis = run_at(network, FLOAT64, 3)
    [fact] = analysis.layers[0].heads
    assert loss_of(run, analysis, fact) < 1
    with pytest.raises(BeyondError, match="no rule for rounding covers its rows"):
        loss_of(run, analysis, replace(fact, contest=None))


def test_an_average_whose_scores_cancel_has_no_bound() -> None:
    run, analysis = run_at(selecting(), FLOAT64, 3)
    with pytest.raises(BeyondError, match="no rule for rounding covers its rows"):
        loss_of(run, analysis, HeadFact(UniformRule(), ()))


ERRORS = Off(ZERO, flint.arb(2) ** -9, flint.arb(2) ** -13, flint.arb(2) ** -11)
"""Errors of an average, all different."""


@finely
@pytest.mark.parametrize("unit", [Fraction(1), Fraction(2, 3)])
@pytest.mark.parametrize("length", [2, 5])
def test_what_a_sign_head_loses(unit: Fraction, length: int) -> None:
    """D is an odd multiple of unit / V; its relative error stands in the row's product."""
    run, analysis = run_at(signed(), BFLOAT16, length)
    [fact] = analysis.layers[-1].heads
    assert isinstance(fact.rule, SignRule)
    run.offs[5] = ERRORS
    own, before, cold = analysis.network.layers[-1].heads[0], analysis.layers[-1].before, None
    cold = cold_of(run, times(8, I), is_exact=False)
    rho = fraction(run._row(own.query[0], own.key[0], cold, before).scored.product.relative)
    assert rho > U["bfloat16"]
    expected = (1 + rho) * (1 + Fraction(1, 2**13) * length / unit) - 1
    assert is_same(loss_of(run, analysis, replace(fact, unit=unit), cold), expected)


@pytest.mark.parametrize("beside", [0, 2**30])
def test_a_constant_beside_the_sign_has_no_rule(beside: int) -> None:
    network = signed()
    places = tuple((c, plus(SIGN, beside) if c == 3 else closed) for c, closed in network.positions)
    analysis = analyse(replace(network, positions=places))
    assert isinstance(analysis.layers[-1].heads[0].rule, SignRule)
    assert (horizon_of(analysis, FLOAT64, NUMERATOR)[0] > 0) is (beside == 0)


def test_a_sign_head_has_one_row() -> None:
    """The sign twice, or beside it what does not depend on j."""
    for row in ((form((5, 1)), form((3, 1))), (form((1, 1)), form((1, 1)))):
        analysis = analyse(signed([(form((5, 1)), form((3, 1))), row]))
        assert isinstance(analysis.layers[-1].heads[0].rule, SignRule)
        horizon, blame = horizon_of(analysis, FLOAT64, NUMERATOR)
        assert horizon == 0
        assert blame == "layer 1, head 0 (no rule for rounding covers its rows)"


@finely
@each_format
@pytest.mark.parametrize("is_exact", [True, False])
@pytest.mark.parametrize("count", [1, 2])
@pytest.mark.parametrize("length", [3, 300])
def test_what_a_local_sign_head_loses(format_: FloatFormat, is_exact: bool, count: int, length: int) -> None:
    """Twice the absolute errors of a score, against twice the gap."""
    network = selecting(step=3)
    own = network.layers[0].heads[0]
    network = replace(
        network, layers=(Layer((replace(own, query=own.query[:count], key=own.key[:count]),), (), ()),)
    )
    run, analysis = run_at(network, format_, length)
    gap = Fraction(3, 2)
    before, cold = analysis.layers[0].before, cold_of(run, number(3), is_exact)
    own = network.layers[0].heads[0]
    rows = [run._row(*pair, cold, before).scored for pair in zip(own.query, own.key, strict=True)]
    u, name = U[format_.name], format_.name
    absolute = sum(fraction(row.product.absolute) for row in rows)
    sizes = sum(fraction(row.product.size) for row in rows)
    rate = Fraction(8, 7) * (count - 1) * SUMS[name]
    if name == "bfloat16" and count > 1:
        rate += 2 * u * (1 + rate)
    if not is_exact:
        # The temperature may meet the sum of the rows, and a score of one row, too.
        rate = (1 + rate) * (1 + u) - 1 + u if count > 1 else u
    underflow = 4 * count * (Fraction(1, RANGE[name]) + LEAST[name] * (1 + 3))
    expected = (absolute + rate * (sizes + absolute) + underflow) / gap
    assert is_same(loss_of(run, analysis, HeadFact(LocalSignRule(gap), ()), cold), expected)


@finely
@each_format
@pytest.mark.parametrize("is_exact", [True, False])
@pytest.mark.parametrize("length", [2, 7])
@pytest.mark.parametrize("count", [1, 2])
def test_what_a_lookup_loses(format_: FloatFormat, is_exact: bool, length: int, count: int) -> None:
    """4 N rho + 6 N^2 theta (1 + rho) + (2 N^2 + 4 N^3 theta) delta."""
    run, analysis = run_at(looking_up(), format_, length)
    terms, n, name = analysis.names, length, format_.name
    ratio, unit = (analysis.layers[0].middle.values[coordinate] for coordinate in (5, 6))
    run.offs[5], run.offs[6] = ERRORS, replace(ERRORS, mean=flint.arb(2) ** -15)
    queries, keys = (Fraction(1, 2**12), Fraction(1, 2**10)), (Fraction(1, 2**7), Fraction(1, 2**14))
    rows = [
        rounding._Row(form((5, 1)), ratio, {(1, 0): terms.number(2)}, scored(queries[0], keys[0])),
        rounding._Row(form((6, 1)), unit, {(2, 0): terms.number(-1)}, scored(queries[1], keys[1])),
    ][:count]
    cold = cold_of(run, number(8), is_exact)
    u, p, rho, kappa = U[name], 1 if is_exact else 2, max(queries[:count]), max(keys[:count])
    sigma = Fraction(8, 7) * (count - 1) * SUMS[name]
    if name == "bfloat16" and count > 1:
        sigma += 2 * u * (1 + sigma)
    if p == 2 and count > 1:
        sigma = (1 + sigma) * (1 + u) - 1
    theta = (1 + kappa) * (1 + u) ** p * (1 + sigma) - 1
    delta = (Fraction(1, 2**13) + (Fraction(1, 2**15) if count == 2 else 0)) * (1 + rho)
    expected = 4 * n * rho + 6 * n**2 * theta * (1 + rho) + (2 * n**2 + 4 * n**3 * theta) * delta
    assert is_same(run._lookup_loss(rows, cold), expected)


def scored(query: Fraction, key: Fraction) -> ScoredRow:
    """A row of which only relative errors are known."""

    def known(relative: Fraction) -> Rounded:
        return Rounded(flint.arb(1), flint.arb(1), None, UNKNOWN, UNKNOWN, ball(relative))

    return ScoredRow(known(query), known(key), known(query + key), None)


@pytest.mark.parametrize("seed", range(4))
def test_no_error_takes_more_from_a_lookup_than_its_loss(seed: int) -> None:
    """Scores kappa (2 c j - j^2) / V with errors at the ends of what is allowed, for all c, j and V."""
    rng = random.Random(seed)
    longest = 6
    run, analysis = run_at(looking_up(), BFLOAT16, longest)
    ratio, unit = (analysis.layers[0].middle.values[coordinate] for coordinate in (5, 6))
    terms = analysis.names
    rho, kappa, means, u = Fraction(1, 2**13), Fraction(1, 2**14), Fraction(1, 2**14), U["bfloat16"]
    run.offs[5] = run.offs[6] = replace(EXACT, mean=ball(means))
    rows = [
        rounding._Row(form((5, 1)), ratio, {(1, 0): terms.number(2)}, scored(rho, kappa)),
        rounding._Row(form((6, 1)), unit, {(2, 0): terms.number(-1)}, scored(rho, kappa)),
    ]
    with precision(64):
        loss = fraction(run._lookup_loss(rows, cold_of(run, number(8), is_exact=True)).upper())
    sigma = Fraction(8, 7) * SUMS["bfloat16"] * 99 / 100

    def ends(error: Fraction) -> Fraction:
        return error * rng.choice([-1, 1])

    for visible in range(2, longest + 1):
        for c in range(visible + 1):
            queries = [
                (exact + ends(means)) * (1 + ends(rho))
                for exact in (Fraction(c, visible), Fraction(1, visible))
            ]
            best = max(c, 1)

            def score(j: int, queries: list[Fraction] = queries) -> Fraction:
                keys = [2 * j * (1 + ends(kappa)), -j * j * (1 + ends(kappa))]
                products = [q * k * (1 + ends(u)) for q, k in zip(queries, keys, strict=True)]
                return sum(products) + ends(sigma) * sum(map(abs, products))

            for j in {*range(1, visible + 1)} - {best}:
                lead = Fraction((j - c) ** 2 - (best - c) ** 2, visible)
                assert score(best) - score(j) >= (1 - loss) * lead


@finely
def test_a_bounded_lookup_may_lose_half_of_its_lead_at_count_0(monkeypatch: pytest.MonkeyPatch) -> None:
    run, analysis = run_at(looking_up(), BFLOAT16, 3)
    most, slight = Fraction(1, 2) - 2 * U["bfloat16"], Fraction(1, 2**60)
    for zero in (None, (Fraction(9), Fraction(4))):
        fact = HeadFact(LookupRule(Fraction(1), zero), ())
        for loss in (Fraction(0), most, most + slight, Fraction(3, 4)):
            monkeypatch.setattr(rounding._Run, "_lookup_loss", lambda *_, loss=loss: ball(loss))
            if zero is None or loss <= most:
                assert loss_of(run, analysis, fact) == ball(loss)
            else:
                with pytest.raises(BeyondError, match=r"^the head$"):
                    loss_of(run, analysis, fact)


# Rows --------------------------------------------------------------------------------------------------


def test_a_row_holds_the_values_of_its_query_and_key() -> None:
    run, analysis = run_at(selecting(), FLOAT32, 3)
    before, terms = analysis.layers[0].before, analysis.names
    query, key = form((3, 2)), form((0, 3), (2, 5))
    row = run._row(query, key, cold_of(run, ONE, is_exact=True), before)
    assert row.form == query
    assert row.query == of_form(terms, query, before) == {(0, 0): terms.number(2)}
    assert row.key == of_form(terms, key, before)
    assert set(row.key) == {(0, 0), (1, 0)}


def row_of(form_: LinearForm, query: Value, key: Value | None = None) -> rounding._Row:
    """A row of which nothing is known but what it is in real numbers."""
    return rounding._Row(form_, query, key or {}, scored(Fraction(0), Fraction(0)))


def test_the_error_of_an_average_is_known_for_the_average_itself_only() -> None:
    run, analysis = run_at(looking_up(), FLOAT32, 3)
    terms = analysis.names
    mean = analysis.layers[0].middle.values[5][0, 0]
    run.offs[5] = replace(ERRORS, zero=flint.arb(2) ** -3)
    whole = form((5, 1))
    assert run._mean_off(row_of(whole, {(0, 0): mean})) == ERRORS.mean
    assert run._mean_off(row_of(whole, {(0, 0): terms.true})) == flint.arb(2) ** -3
    one = terms.number(1)
    others: list[tuple[LinearForm, Value]] = [
        (form((5, 2)), {(0, 0): mean}),  # the coordinate holds half the average
        (form((5, -1)), {(0, 0): mean}),
        (form((5, 1), (6, 1)), {(0, 0): mean}),
        ((), {(0, 0): mean}),
        (whole, {(0, 0): terms.scaled(mean, 2)}),
        (whole, {(0, 0): terms.scaled(mean, Fraction(1, 2))}),
        (whole, {(0, 0): terms.plus(mean, one)}),
        (whole, {(0, 0): terms.plus(mean, analysis.layers[0].middle.values[6][0, 0])}),
        (whole, {(0, 0): terms.first}),
        (whole, {(0, 0): terms.choose(terms.first, one, mean)}),
        (whole, {(1, 0): mean}),
        (whole, {(0, 1): one}),
        (whole, {(0, 0): mean, (1, 0): one}),
        (whole, {}),
    ]
    for form_, query in others:
        assert run._mean_off(row_of(form_, query)) == UNKNOWN


def test_one_power_of_two_everywhere() -> None:
    run, analysis = run_at(looking_up(), FLOAT32, 3)
    terms = analysis.names
    mean = analysis.layers[0].middle.values[5][0, 0]
    for power in (Fraction(1), Fraction(2), Fraction(-4), Fraction(1, 8)):
        assert run._is_power(terms.number(power))
    for other in (Fraction(3), Fraction(3, 2), Fraction(1, 3), Fraction(6)):
        assert not run._is_power(terms.number(other))
    for diagram in (mean, terms.plus(mean, terms.true), terms.plus(terms.first, terms.true), terms.sign):
        assert not run._is_power(diagram)


def test_keys_that_alternate() -> None:
    run, analysis = run_at(signed(), FLOAT32, 3)
    terms = analysis.names
    sign, twice = terms.sign, terms.scaled(terms.sign, -2)
    key: Value
    for key in ({(0, 0): sign}, {(1, 0): sign}, {(0, 0): twice}, {(2, 1): twice}):
        assert run._alternates(row_of(form((5, 1)), {}, key))
    others: list[Value] = [
        {(0, 0): sign, (1, 0): sign},
        {(0, 0): terms.plus(sign, terms.number(2**30))},
        {(0, 0): terms.true},
        {(0, 0): terms.first},
        {(1, 0): terms.true, (0, 0): sign},
    ]
    for key in others:
        assert not run._alternates(row_of(form((5, 1)), {}, key))


def test_keys_of_one_power_each() -> None:
    run, analysis = run_at(looking_up(), FLOAT32, 3)
    terms = analysis.names

    def are_covered(*keys: Value) -> bool:
        return run._one_of_each_power([row_of(form((5, 1)), {}, key) for key in keys])

    def multiple(power: int, factor: int = 1, growth: int = 0) -> Value:
        return {(power, growth): terms.number(factor)}

    assert are_covered(multiple(1, 2), multiple(2, -1))
    assert are_covered(multiple(2, -1), multiple(1, 2))
    assert all(are_covered(multiple(power)) for power in (1, 2, -1, -2))
    assert are_covered(multiple(1, 2, 1))
    assert are_covered(multiple(-1), multiple(-2))
    for powers in (
        (0,),
        (3,),
        (-3,),
        (1, -2),
        (-1, 2),
        (1, 1),
        (2, 2),
        (-1, -1),
        (-2, -2),
        (1, 3),
        (0, 2),
        (1, -1),
    ):
        assert not are_covered(*map(multiple, powers)), powers
    for wild in ({(1, 0): terms.sign}, {(1, 0): terms.true, (2, 0): terms.true}, {}):
        assert not are_covered(wild)
        assert not are_covered(wild, multiple(2))
        assert not are_covered(multiple(2), wild)
    assert not are_covered(multiple(1), multiple(2), multiple(1, -2))
    assert not are_covered({(1, 0): terms.first}, multiple(2))


# A head in float32's own arithmetic ------------------------------------------------------------------------


@pytest.mark.parametrize("kernel", Kernel)
@pytest.mark.parametrize("seed", range(3))
def test_selections_in_float32_are_off_by_no_more_than_the_bound(kernel: Kernel, seed: int) -> None:
    """exp is wrong by all that is allowed, sums are formed in random orders."""
    rng = np.random.default_rng(seed)
    length = 12
    network = selecting(number(Fraction(1, 2)))
    run, analysis = run_at(network, FLOAT32, length, kernel)
    [own], [fact] = network.layers[0].heads, analysis.layers[0].heads
    [(_, off)] = run._head(own, fact, analysis.layers[0].before, "the head")
    for _ in range(20):
        word = rng.integers(0, 2, size=length)  # 1 for a, which is blocked
        i = int(rng.integers(1, length + 1))
        seen = word[:i]
        scores = np.array([2 * (j + 1) - 4 * i * int(a) for j, a in enumerate(seen)], dtype=np.float64)
        best = int(scores.argmax())
        wrong = 1 + 8 * 2.0**-24 * 0.99 * rng.choice([-1, 1], size=i)
        wrong[best] = 1
        weights = (np.exp(scores - scores[best]) * wrong).astype(np.float32)
        order = rng.permutation(i)
        values = 3 * seen.astype(np.float32)
        total = one_by_one(weights[order])
        if kernel is NUMERATOR:
            found = one_by_one((weights * values)[order]) / total
        else:
            found = one_by_one(((weights / total) * values)[order])
        right = 0 if 0 in seen else 3
        assert abs(Fraction(float(found)) - right) <= fraction(off.constant)


def test_a_row_is_the_same_in_two_layers_only_if_nothing_is_added_to_what_it_reads() -> None:
    """A row of a position embedding is looked up; one of an average is not: that is written in between."""
    average = head(Uniform(), ONE, [], [(form((0, 1)), 3)])
    network = network_of(4, [[(0, 1)], []], {1: I, 2: ONE}, [Layer((average,), (), ())], 3)
    run, analysis = run_at(network, FLOAT32, 100)
    fact, cold = analysis.layers[0], run._cold(ONE)
    placed = form((1, 1)), form((2, 1))
    assert run._row(*placed, cold, fact.before) is run._row(*placed, cold, fact.after)
    read = form((3, 1)), form((1, 1))
    before = run._row(*read, cold, fact.before)
    run.offs[3] = Off(mean=flint.arb(1))
    after = run._row(*read, cold, fact.after)
    assert before.query != after.query
    assert before.scored.query.absolute < after.scored.query.absolute
    other = run._cold(times(Fraction(1, 2), I))
    assert run._row(*placed, other, fact.before) is not run._row(*placed, cold, fact.before)
