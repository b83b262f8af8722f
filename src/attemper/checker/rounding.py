"""How far a run in floating point can be from the real numbers, for all words up to a length N.

Every bound grows with N, so what holds at N holds for all shorter words. Nothing is assumed about the
order of summation. The arithmetic (roundings, exp, kernel classes) is specified in
certificates/FORMAT.md, section "Arithmetic"; each bound below is one of its rules.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from enum import StrEnum
from fractions import Fraction
from typing import final

import flint

from attemper.checker.analysis import ROUNDED, Analysis
from attemper.checker.diagrams import Diagram, TooLargeError
from attemper.checker.heads import HeadFact, Output
from attemper.checker.rounded_embedding import rounded_form
from attemper.checker.rounded_forms import (
    EXACT,
    UNKNOWN,
    WEIGHTS,
    ZERO,
    Arithmetic,
    BeyondError,
    Lengths,
    Off,
    Rounded,
    common_grid,
)
from attemper.checker.rounded_units import Gates, Writing, written
from attemper.checker.rules import LocalSignRule, LookupRule, ShiftRule, SignRule, TieBreakRule
from attemper.checker.terms import Affine, UnprovenError
from attemper.checker.values import Stream, Value, of_form
from attemper.exact.balls import ball, precision
from attemper.exact.formats import FloatFormat
from attemper.networks.layers import Head, LinearForm, Network, Softmax

PRECISION = 64

LONGEST = 2**40
"""Lengths beyond it are not looked at."""

LARGEST_LOSS = Fraction(15, 16)
"""Leads may be smaller by this part; more is not looked at."""

FAR_LOSS = Fraction(1, 2)
"""The loss up to which a tie-break's bound on blocked positions holds."""


class Kernel(StrEnum):
    """How a kernel divides: once, after summing e_j v_j, or each weight before it meets its value."""

    NUMERATOR_FIRST = "numerator-first"
    NORMALISE_FIRST = "normalise-first"


def horizon_of(analysis: Analysis, form: FloatFormat, kernel: Kernel) -> tuple[int, str]:
    """The greatest N up to which every answer is proved right, and the place that has no proof beyond.

    0 if some step has no rule for rounding; the place says which.
    """
    try:
        return Rounding(analysis, form, kernel).horizon()
    except (UnprovenError, TooLargeError, RecursionError) as error:
        return 0, str(error) or "a feed-forward (its cases are too many)"


def holds_up_to(analysis: Analysis, form: FloatFormat, kernel: Kernel, length: int) -> bool:
    """Whether every answer is proved right for all words of up to `length` symbols."""
    if length == 0:
        return True
    try:
        return length <= LONGEST and Rounding(analysis, form, kernel).holds(length)
    except (UnprovenError, TooLargeError, RecursionError):
        return False


@final
class Rounding:
    """One network in one format, for one class of attention kernels."""

    def __init__(self, analysis: Analysis, form: FloatFormat, kernel: Kernel) -> None:
        self.analysis = analysis
        self.form = form
        self.kernel = kernel
        with precision(PRECISION):
            self.arithmetic = Arithmetic(analysis.terms, form)
            gates = Gates(self.arithmetic)
            self.writings = [
                gates.writings_of(fact.groups, fact.before, fact.middle, fact.after)
                for fact in analysis.layers
            ]
        sizes = {abs(number) for number in _weights(analysis.network)}
        if sizes and (max(sizes) > WEIGHTS or min(sizes) < Fraction(1, WEIGHTS)):
            raise UnprovenError("the weights (some are too large or too small)")

    def horizon(self) -> tuple[int, str]:
        """The greatest N that is proved, and the place that has no proof beyond: what fails at N + 1.

        What fails at a length fails at every longer one, so two searches by halves find it: for the power
        of two below, then for the exact place. Most float64 claims hold at once at the longest length.
        """
        with precision(PRECISION):
            if blame := self._failure(1):
                return 0, blame
            if not (blame := self._failure(LONGEST)):
                return LONGEST, ""
            low, high = 0, LONGEST.bit_length() - 1
            while high - low > 1:
                power = (low + high) // 2
                failure = self._failure(2**power)
                low, high, blame = (low, power, failure) if failure else (power, high, blame)
            good, bad = 2**low, 2**high
            while bad - good > 1:
                middle = (good + bad) // 2
                failure = self._failure(middle)
                good, bad, blame = (good, middle, failure) if failure else (middle, bad, blame)
            return good, blame

    def holds(self, length: int) -> bool:
        """Whether every answer is proved right for all words of 1 to `length` symbols."""
        with precision(PRECISION):
            return not self._failure(length)

    def _failure(self, length: int) -> str:
        """What the proof fails at for this length; empty if it holds."""
        try:
            _Run(self, Lengths(self.arithmetic, length)).require()
        except BeyondError as error:
            return str(error)
        return ""


def _weights(network: Network) -> Iterator[Fraction]:
    """Every weight and bias that is not 0."""
    forms = [*network.embedding]
    for layer in network.layers:
        for head in layer.heads:
            forms += [*head.query, *head.key, *head.values]
        for unit in layer.hidden:
            forms += [unit.form, unit.outputs]
            if unit.bias:
                yield unit.bias
    yield from (factor for form in forms for _, factor in form)


@final
class _Run:
    """The bounds at one length, layer by layer."""

    def __init__(self, rounding: Rounding, lengths: Lengths) -> None:
        self.rounding = rounding
        self.lengths = lengths
        self.offs: list[Off] = []

    def require(self) -> None:
        """Raise `BeyondError` with the place unless the output is right."""
        analysis = self.rounding.analysis
        if not (4 * self.lengths.long < 1):
            raise BeyondError("sums over so many positions")
        self.offs = [EXACT for _ in analysis.network.coordinates]
        taken = self._embed()
        blame = dict.fromkeys(range(len(self.offs)), "the embedding")
        for number, (layer, fact) in enumerate(zip(analysis.network.layers, analysis.layers, strict=True)):
            after = list(self.offs)
            for index, (head, head_fact) in enumerate(zip(layer.heads, fact.heads, strict=True)):
                name = f"layer {number}, head {index}"
                for target, off in self._head(head, head_fact, fact.before, name):
                    self._take(taken, target, name)
                    after[target], blame[target] = off, name
            self.offs = after
            after = list(after)
            for writing in self.rounding.writings[number]:
                self._take(taken, writing.target, f"layer {number}'s feed-forward")
                blame[writing.target] = blame.get(self._worst_input(writing), "the embedding")
                after[writing.target] = written(self.lengths, writing, fact.middle, self.offs)
            self.offs = after
        output = analysis.network.output
        off = self.offs[output]
        if not (off.constant.max(off.mean + off.relative) <= ball(ROUNDED)):
            raise BeyondError(blame[output])

    def _embed(self) -> set[int]:
        """Fill in the embeddings; the coordinates that hold something."""
        network = self.rounding.analysis.network
        taken: set[int] = set()
        for coordinate, factor in {part for form in network.embedding for part in form}:
            if not self.lengths.arithmetic.fits(ball(abs(factor)), common_grid([Affine(factor)])):
                raise BeyondError("the embedding (a weight is not a number of the format)")
            taken.add(coordinate)
        for coordinate, form in network.positions:
            self._take(taken, coordinate, "the embedding")
            rounded = rounded_form(self.lengths, form)
            self.offs[coordinate] = Off(rounded.zero, rounded.absolute, ZERO, rounded.relative)
        return taken

    def _take(self, taken: set[int], coordinate: int, name: str) -> None:
        """Each coordinate is written once: sums in the residual stream have no rule."""
        if coordinate in taken:
            raise BeyondError(f"{name} (it adds to something that stands there)")
        taken.add(coordinate)

    def _worst_input(self, writing: Writing) -> int:
        """The coordinate that contributes the largest error."""
        inputs = [factor.coordinate for form, _ in writing.parts for factor in form]
        return max(inputs, key=lambda c: float(self.offs[c].constant.mid()), default=-1)

    # Heads ---------------------------------------------------------------------------------------

    def _head(self, head: Head, fact: HeadFact, before: Stream, name: str) -> list[tuple[int, Off]]:
        forms = [self.lengths.linear(form, before.values, self.offs) for form in head.values]
        pairs = list(zip(forms, fact.outputs, strict=True))
        if not head.query:
            return [(output.target, self._average(form, output)) for form, output in pairs]
        loss, slack = self._scores(head, fact, before, name)
        if not (loss <= ball(LARGEST_LOSS)) or not (slack <= 4):
            raise BeyondError(name)
        # exp is off by 4 u, its argument by one more rounding; the weights are compared with each other.
        u = self.lengths.u
        mass = fact.rule.stray(loss + 2 * u, slack + 8 * u)
        found = []
        for form, output in pairs:
            off = mass * ball(output.spread) + form.absolute + ball(output.size) * self._sums(8)
            found.append((output.target, Off(off, off)))
        return found

    def _sums(self, roundings: int) -> flint.arb:
        """The error of a quotient of two sums over the positions, relative to the largest value."""
        long = self.lengths.long
        return 2 * long / (1 - long) + roundings * self.lengths.u

    def _average(self, form: Rounded, output: Output) -> Off:
        """A uniform head: an exact sum divided once, or a sum of quotients; exact over one position."""
        whole = self.lengths.long * ball(output.size)
        numerators = self.rounding.kernel is Kernel.NUMERATOR_FIRST
        if numerators and form.grid is not None and whole <= ball(form.grid):
            return Off(ZERO, ZERO, ZERO, 2 * self.lengths.u)
        mean = form.absolute + ball(output.size) * self._sums(4)
        # The average of a constant is a constant, but not computed as one.
        alone = form.absolute if self.lengths.arithmetic.has_means({(0, 0): output.diagram}) else mean
        return Off(alone, alone, mean, 2 * self.lengths.u)

    def _scores(self, head: Head, fact: HeadFact, before: Stream, name: str) -> tuple[flint.arb, flint.arb]:
        """(loss, slack): by how much the leads of the head's rule can be smaller than in real arithmetic."""
        assert isinstance(head.weighting, Softmax)
        lengths, u, n = self.lengths, self.lengths.u, self.lengths.length
        cold = rounded_form(lengths, head.weighting.inverse_temperature)
        rows = [self._row(*pair, cold, before) for pair in zip(head.query, head.key, strict=True)]
        sizes = sum((row.product.size for row in rows), ZERO)
        if not (sizes < self.rounding.form.range):
            raise BeyondError(f"{name} (its scores leave the range of the format)")
        worst = max((row.product.relative for row in rows), key=lambda error: float(error.mid()))
        ties = [row for row in rows if any(power for power, _ in row.key)]
        pure = all(len(row.key) == 1 for row in rows)
        match fact.rule:
            case LocalSignRule():
                off = sum((row.product.absolute for row in rows), ZERO)
                return ZERO, off + lengths.arithmetic.summed(len(rows), sizes + off, sizes + off)
            case SignRule() if len(rows) == 1 and pure and self._alternates(rows[0]):
                return worst + self._mean_off(rows[0]) * n / ball(fact.unit), ZERO
            case LookupRule(_, zero) if len(rows) == len(ties) <= 2 and pure and self._constant_keys(rows):
                of_means = sum((self._mean_off(row) for row in rows), ZERO)
                loss = 6 * n**2 * (worst + u) + (4 * n**2 + 6 * n**3) * of_means
                if zero is not None and not (loss <= ball(FAR_LOSS)):
                    raise BeyondError(name)
                return loss, ZERO
            case TieBreakRule(_, _, far_loss) if sides := self._level_and_uneven(rows):
                level, uneven = sides
                worst = max((row.product.relative for row in uneven), key=lambda error: float(error.mid()))
                if not (ball(far_loss) * (worst + 2 * u) <= ball(FAR_LOSS)):
                    raise BeyondError(name)
                crossing = sum((row.product.zero for row in uneven), ZERO)
                crossing += sum((row.product.absolute for row in level), ZERO)
                still = fact.firm and crossing == 0 and not any(row.key for row in level)
                slack = crossing if still else crossing + self._sum_loss(rows, sizes)
                return 2 * n * uneven[0].product.relative, slack
            case ShiftRule(gap, own, _) if len(ties) == 1 and pure and own > 0:
                share = ball(max(Fraction(1), gap / own))
                slack = ZERO if self._parities_apart(rows) else self._sum_loss(rows, sizes)
                return (2 * n * ties[0].product.relative * share).max(4 * worst) + 4 * u, slack
            case _:
                raise BeyondError(f"{name} (no rule for rounding covers its rows)")

    def _row(self, query: LinearForm, key: LinearForm, cold: Rounded, before: Stream) -> _Row:
        lengths, terms = self.lengths, self.rounding.analysis.terms
        q, k = (lengths.linear(form, before.values, self.offs) for form in (query, key))
        colder = lengths.product(q, cold)
        if not (colder.size < self.rounding.form.range):
            raise BeyondError("scores (they leave the range of the format)")
        values = of_form(terms, query, before), of_form(terms, key, before)
        exact = q.grid is not None and k.grid is not None
        return _Row(query, values[0], values[1], lengths.product(colder, k), exact)

    def _mean_off(self, row: _Row) -> flint.arb:
        """The absolute error of an average that the query carries as it is; `UNKNOWN` for multiples."""
        value = row.query.get((0, 0), self.rounding.analysis.terms.false)
        found = self.rounding.analysis.terms.values(value)
        if len(row.form) != 1 or set(row.query) != {(0, 0)} or len(found) != 1:
            return UNKNOWN
        coordinate, factor = row.form[0]
        if factor != 1:
            return UNKNOWN
        if not found[0].parts:
            return self.offs[coordinate].constant
        if found[0].constant or [own for _, own in found[0].parts] != [1]:
            return UNKNOWN
        return self.offs[coordinate].mean

    def _alternates(self, row: _Row) -> bool:
        """Whether the key is a multiple of (-1)^j times a power of j, with nothing constant in it."""
        terms = self.rounding.analysis.terms
        (diagram,) = row.key.values()
        return terms.is_multiple(diagram, terms.sign)

    def _constant_keys(self, rows: list[_Row]) -> bool:
        """Whether every key is a multiple of a power of j."""
        constant = self.rounding.analysis.terms.diagrams.is_constant
        return all(constant(diagram) for row in rows for diagram in row.key.values())

    def _level_and_uneven(self, rows: list[_Row]) -> tuple[list[_Row], list[_Row]] | None:
        """The rows of a selection whose keys are the same at all positions, and the others; None: no rule.

        Of the others one is the tie-break, and at most one blocks: its key is 0 exactly at the positions
        that are not blocked, else negative, and its query is positive.
        """
        terms = self.rounding.analysis.terms
        level: list[_Row] = []
        ties: list[_Row] = []
        blocking: list[_Row] = []
        for row in rows:
            if len(row.key) > 1:
                return None
            power, diagram = next(((p, d) for (p, _), d in row.key.items()), (0, terms.false))
            constant = terms.diagrams.is_constant(diagram)
            (blocking if not constant else ties if power else level).append(row)
            if not constant and (power or not self._blocks(row, diagram)):
                return None
        return (level, ties + blocking) if len(ties) == 1 and len(blocking) <= 1 else None

    def _blocks(self, row: _Row, key: Diagram) -> bool:
        terms = self.rounding.analysis.terms
        reach = [v for query in row.query.values() for v in terms.values(query)]
        positive = len(row.query) == 1 and all(not v.parts and v.constant > 0 for v in reach)
        return positive and max(v.constant for v in terms.values(key)) == 0

    def _parities_apart(self, rows: list[_Row]) -> bool:
        """Whether every row but the tie-break's is exactly 0 between positions of different parity."""
        terms = self.rounding.analysis.terms
        for row in rows:
            if any(power for power, _ in row.key):
                continue
            if not row.exact or set(row.query) != {(0, 0)} or set(row.key) != {(0, 0)}:
                return False
            pair = row.query[0, 0], row.key[0, 0]
            if not all(terms.is_of_parity(diagram) for diagram in pair):
                return False
            even, odd = ([terms.at_fixed(diagram, j) for diagram in pair] for j in (2, 1))
            if {terms.product(even[0], odd[1]), terms.product(odd[0], even[1])} != {terms.false}:
                return False
        return True

    def _sum_loss(self, rows: list[_Row], sizes: flint.arb) -> flint.arb:
        """What adding the rows can lose: nothing if all partial sums are exact."""
        grids = [row.product.grid for row in rows if row.product.grid is not None]
        exact = len(grids) == len(rows) and self.lengths.arithmetic.fits(sizes, min(grids))
        return ZERO if exact else 2 * len(rows) * self.lengths.u * sizes


@final
@dataclass(frozen=True)
class _Row:
    """One product of a query and a key row: the query's form, both values, and what is computed.

    `exact` says that the query and the key are computed without error.
    """

    form: LinearForm
    query: Value
    key: Value
    product: Rounded
    exact: bool
