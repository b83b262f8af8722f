"""Heads in floats at one length, and the rules of FORMAT.md, section 6, written once more."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from fractions import Fraction

import flint
import numpy as np
import pytest
from numpy.typing import NDArray

from attemper.checker.analysis import Analysis, analyse
from attemper.checker.rounding import network as rounding
from attemper.checker.rounding.arithmetic import (
    EXACT,
    UNKNOWN,
    ZERO,
    Inexact,
    Kernel,
    Lengths,
    Off,
    OfNumber,
    OnGrid,
    Rounded,
    greatest,
)
from attemper.checker.rounding.attention import RoundedHead, RoundedRow
from attemper.checker.rounding.embedding import rounded_form
from attemper.checker.rounding.heads import RoundedHeads
from attemper.checker.rounding.network import Rounding
from attemper.checker.rounding.rules import offs_of
from attemper.checker.rounding.score_gaps import Cold, ScoredRow
from attemper.checker.rules import HeadFact
from attemper.checker.values import ResidualValues, Value
from attemper.exact.balls import ball
from attemper.exact.closed_forms import FIRST, ONE, SIGN, ClosedForm, I, number, times
from attemper.exact.formats import FORMATS, FloatFormat
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
from tests.support.mutants.attacks import EVEN, Part, form, head, network_of

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


def rounded_at(run: rounding._Run, analysis: Analysis, cold: Cold | None = None) -> RoundedHead:
    """What is computed of the head in the last layer; with another temperature if one is given."""
    [own], [fact] = analysis.network.layers[-1].heads, analysis.layers[-1].heads
    before = analysis.layers[-1].before
    found = run.heads.head("the head", own, fact.outputs, before, run.offs)
    if cold is None:
        return found
    pairs = zip(own.query, own.key, strict=True)
    rows = tuple(rounded_row(run.lengths, *pair, cold, before, run.offs) for pair in pairs)
    return replace(found, rows=rows, cold=cold)


def sums_at(name: str, length: int) -> Fraction:
    """What a quotient of two sums over the positions is off by, relatively."""
    long = 2 * length * SUMS[name]
    return 2 * long / (1 - long) + 4 * U[name]


def noise_at(name: str) -> Fraction:
    """By which factor two weights can be off against each other."""
    exp = EXP[name] * U[name]
    return (1 + exp) * (1 + 4 * U[name]) / (1 - exp)


def fraction(value: flint.arb) -> Fraction:
    """The middle of a ball."""
    middle = value.mid().fmpq()
    return Fraction(int(middle.p), int(middle.q))


def one_by_one(numbers: NDArray[np.float32]) -> np.float32:
    """The sum in float32, every addition rounded."""
    total: np.float32 = np.add.accumulate(numbers, dtype=np.float32)[-1]
    return total


THIRD = number(Fraction(1, 3))
MEAN = head(Uniform(), ONE, [], [(form((0, 4), (1, -2), (2, 1)), 5)])


def selecting(coldness: ClosedForm = ONE, has_third: bool = False, step: int | Fraction = 1) -> Network:
    """Looks for the rightmost position without a; the head reads 3 [a], and 1/3 if asked for."""
    value = form((0, 3), (5, 1)) if has_third else form((0, 3))
    rows = [(form((3, step)), form((2, 4))), (form((2, step)), form((0, -8)))]
    own = head(Select(False, ((None, ()),)), coldness, rows, [(value, 4)])
    letters: list[list[Part]] = [[(0, 1)], [(1, 1)]]
    return network_of(6, letters, {2: I, 3: ONE, 5: THIRD}, [Layer((own,), (), ())], 4)


def shifting() -> Network:
    """The value at i - 1."""
    rows = [(form((2, -1)), form((2, 8))), (form((1, 1)), form((3, 4)))]
    own = head(Neighbour(False), ONE, rows, [(form((0, 1)), 4)])
    return network_of(5, [[(0, 1)], []], {1: ONE, 2: SIGN, 3: I}, [Layer((own,), (), ())], 4)


def signed(rows: Sequence[tuple[LinearForm, LinearForm]] = ((form((5, 1)), form((3, 1))),)) -> Network:
    """Reads [j is even] at positions j whose parity is the sign of an average."""
    own = head(Sign(()), times(8, I), rows, [(form((4, 1)), 6)])
    places: dict[int, ClosedForm] = {1: ONE, 2: FIRST, 3: SIGN, 4: EVEN}
    return network_of(7, [[(0, 1)], []], places, [Layer((MEAN,), (), ()), Layer((own,), (), ())], 6)


def looking_up() -> Network:
    """Reads [j is even] at the position that is the number of a's so far."""
    averages = head(Uniform(), ONE, [], [(form((0, 1)), 5), (form((1, 1)), 6)])
    rows = [(form((5, 1)), form((2, 1))), (form((6, 1)), form((3, 1)))]
    own = head(Lookup((), ()), times(8, I), rows, [(form((4, 1)), 7)])
    places: dict[int, ClosedForm] = {1: FIRST, 2: times(2, I), 3: times(-1, I, I), 4: EVEN}
    return network_of(8, [[(0, 1)], []], places, [Layer((averages,), (), ()), Layer((own,), (), ())], 7)


def cold_of(run: rounding._Run, form_: ClosedForm, is_exact: bool) -> Cold:
    """An inverse temperature; whether multiplying by it rounds is said, not found out."""
    return Cold(rounded_form(run.lengths, form_), is_exact)


def loss_of(run: rounding._Run, analysis: Analysis, fact: HeadFact, cold: Cold | None = None) -> flint.arb:
    """The greatest part of leads that the head in the last layer loses, before exp's argument is rounded."""
    return greatest(losses_borne(fact, rounded_at(run, analysis, cold or cold_of(run, ONE, is_exact=True))))


def losses_borne(fact: HeadFact, head: RoundedHead) -> list[flint.arb]:
    """All parts of leads that the rules of a head say it loses: those of who is behind before those ahead."""
    found: list[flint.arb] = []

    def bear(_: RoundedHead, loss: flint.arb) -> flint.arb:
        found.append(loss)
        return loss

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(RoundedHead, "bear", bear)
        offs_of(fact, head)
    return found


def grid_of(found: Rounded) -> Fraction | None:
    """The grid of a quantity that is exact; None of one that is not."""
    return found.grid if isinstance(found, OnGrid) else None


def off_of(
    at_zero: flint.arb = ZERO,
    elsewhere: flint.arb = ZERO,
    average: flint.arb = ZERO,
    relative: flint.arb = ZERO,
) -> OfNumber:
    """An error of a number: what is not said is 0."""
    return OfNumber(at_zero, elsewhere, average, relative)


ERRORS = off_of(ZERO, flint.arb(2) ** -9, flint.arb(2) ** -13, flint.arb(2) ** -11)
"""Errors of an average, all different."""


def scored(query: Fraction, key: Fraction) -> ScoredRow:
    """A row of which only relative errors are known."""

    def known(relative: Fraction) -> Rounded:
        return Inexact(flint.arb(1), flint.arb(1), UNKNOWN, UNKNOWN, ball(relative))

    return ScoredRow(known(query), known(key), known(query + key), None)


def rounded_row(
    lengths: Lengths, query: LinearForm, key: LinearForm, cold: Cold, before: ResidualValues, offs: list[Off]
) -> RoundedRow:
    """A row as it is computed by a head that shares nothing with others."""
    return RoundedHeads(lengths, NUMERATOR)._row(query, key, cold, before, offs, offs)


def row_of(form_: LinearForm, query: Value, key: Value | None = None) -> RoundedRow:
    """A row of which nothing is known but what it is in real numbers."""
    return RoundedRow(form_, query, key or {}, scored(Fraction(0), Fraction(0)))
