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
from attemper.checker.names import Affine, UnprovenError
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
    greatest,
    is_power_of_two,
)
from attemper.checker.rounded_scores import Cold, ScoredRow, losses, lost_below, scored_row, sum_rate
from attemper.checker.rounded_units import Gates, Writing, written
from attemper.checker.rules import LocalSignRule, LookupRule, ShiftRule, SignRule, TieBreakRule
from attemper.checker.values import Stream, Value, of_closed_form, of_form
from attemper.exact.balls import ball, precision
from attemper.exact.closed_forms import ClosedForm
from attemper.exact.formats import FloatFormat
from attemper.networks.layers import Head, LinearForm, Network, Softmax

PRECISION = 64

LONGEST = 2**40
"""Lengths beyond it are not looked at."""

LARGEST_LOSS = Fraction(15, 16)
"""Leads may be smaller by this part; more is not looked at."""

FAR_LOSS = Fraction(1, 2)
"""The loss up to which a tie-break's bound on blocked positions holds."""

MEAN = 4
"""A mean of values with exact sums is within so many u: the sum times a rounded reciprocal, rounded."""

QUOTIENT = 4
"""What dividing, rounding each weight and rounding the result lose, in u."""


class Kernel(StrEnum):
    """How a kernel divides: once, after summing e_j v_j, or each weight before it meets its value."""

    NUMERATOR_FIRST = "numerator-first"
    NORMALISE_FIRST = "normalise-first"


def failure_at(analysis: Analysis, form: FloatFormat, kernel: Kernel, length: int) -> str | None:
    """The place that has no proof for all words of up to `length` symbols; None if every answer is proved."""
    if length == 0:
        return None
    if length > LONGEST:
        return f"words of more than {LONGEST:,} symbols"
    try:
        return Rounding(analysis, form).bounds_at(kernel, length).failure
    except (UnprovenError, TooLargeError, RecursionError) as error:
        return str(error) or "a feed-forward (its cases are too many)"


@final
@dataclass(frozen=True)
class Bounds:
    """How far coordinates can be off, as far as the proof goes, and the place where it fails if it does.

    `strains` says which part of what it may lose each place's lead loses: a remark, no proof rests on it.
    """

    offs: list[Off]
    strains: dict[tuple[str, Fraction], flint.arb]
    failure: str | None


@final
class Rounding:
    """One network in one format."""

    def __init__(self, analysis: Analysis, form: FloatFormat) -> None:
        self.analysis = analysis
        self.form = form
        self.placed = {coordinate for coordinate, _ in analysis.network.positions}
        with precision(PRECISION):
            self.arithmetic = Arithmetic(analysis.names, form)
            gates = Gates(self.arithmetic)
            self.writings = [
                gates.writings_of(fact.groups, fact.before, fact.middle, fact.after)
                for fact in analysis.layers
            ]
        sizes = {abs(number) for number in _weights(analysis.network)}
        if sizes and (max(sizes) > WEIGHTS or min(sizes) < Fraction(1, WEIGHTS)):
            raise UnprovenError("the weights (some are too large or too small)")
        for number, layer in enumerate(analysis.network.layers):
            # Not even 0 times what leaves the range is 0.
            if not all(unit.outputs for unit in layer.hidden):
                raise UnprovenError(f"layer {number}'s feed-forward (a hidden unit is written nowhere)")

    def bounds_at(self, kernel: Kernel, length: int) -> Bounds:
        """The bounds for all words of 1 to `length` symbols, for one class of attention kernels."""
        with precision(PRECISION):
            run = _Run(self, kernel, Lengths(self.arithmetic, length))
            try:
                run.require()
            except BeyondError as error:
                return Bounds(run.offs, run.strains, str(error))
            return Bounds(run.offs, run.strains, None)


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

    def __init__(self, rounding: Rounding, kernel: Kernel, lengths: Lengths) -> None:
        self.rounding = rounding
        self.kernel = kernel
        self.lengths = lengths
        self.offs: list[Off] = []
        self.strains: dict[tuple[str, Fraction], flint.arb] = {}
        self._colds: dict[ClosedForm, Cold] = {}
        self._rows: dict[tuple[LinearForm, LinearForm, int], _Row] = {}

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
        worst = greatest(self.offs[c].constant for c in inputs)
        return next((c for c in inputs if not (self.offs[c].constant < worst)), -1)

    # Heads ---------------------------------------------------------------------------------------

    def _head(self, head: Head, fact: HeadFact, before: Stream, name: str) -> list[tuple[int, Off]]:
        assert isinstance(head.weighting, Softmax)
        lengths, u = self.lengths, self.lengths.u
        cold = self._cold(head.weighting.inverse_temperature)
        forms = [lengths.linear(form, before.values, self.offs) for form in head.values]
        pairs = list(zip(forms, fact.outputs, strict=True))
        if not all(2 * lengths.length * (own.size + own.absolute) < lengths.form.range for own in forms):
            raise BeyondError(f"{name} (its values leave the range of the format)")
        if not head.query:
            return [(output.target, self._average(form, output)) for form, output in pairs]
        # Each weight is off by exp's error, its argument by one more rounding.
        exp = lengths.form.exp * u
        # Right positions of less than the largest score have arguments of their own: 4 u more.
        noise = (1 + exp) / (1 - exp) * (1 + 4 * u)
        mass = self._stray(head, fact, before, cold, name, noise)
        found = []
        for value, output in pairs:
            largest = ball(output.size) + value.absolute
            # The weights above and below the fraction line may be rounded differently.
            quotient = noise * (1 + self._sums()) - 1
            off = mass * ball(output.spread) + value.absolute + largest * quotient
            found.append((output.target, Off(off, off)))
        return found

    def _cold(self, form: ClosedForm) -> Cold:
        """The inverse temperature, which many heads share."""
        if form not in self._colds:
            exact = of_closed_form(self.lengths.names, form)
            number = rounded_form(self.lengths, form)
            # What is a power of two in real numbers may be computed as another number.
            is_power = set(exact) == {(0, 0)} and self._is_power(exact[0, 0])
            self._colds[form] = Cold(number, is_power and number.grid is not None)
        return self._colds[form]

    def _stray(
        self, head: Head, fact: HeadFact, before: Stream, cold: Cold, name: str, noise: flint.arb
    ) -> flint.arb:
        """How much attention may lie off the right position."""
        loss = self._loss(head, fact, before, cold, name)
        if self.lengths.length == 1:
            # There is no other position.
            return ZERO
        self._bear(loss, LARGEST_LOSS, name)
        return fact.rule.stray(loss + 2 * self.lengths.u, noise)

    def _bear(self, loss: flint.arb, limit: Fraction, name: str) -> None:
        """Raise `BeyondError` unless so large a part of a lead may be lost."""
        self.strains[name, limit] = loss / ball(limit)
        if not (loss <= ball(limit)):
            raise BeyondError(name)

    def _sums(self) -> flint.arb:
        """The error of a quotient of two sums over the positions, relative to the largest value."""
        long = self.lengths.long
        return 2 * long / (1 - long) + QUOTIENT * self.lengths.u

    def _average(self, form: Rounded, output: Output) -> Off:
        """A uniform head: an exact sum divided once, or a sum of quotients; exact over one position."""
        has_means = self.lengths.arithmetic.has_means({(0, 0): output.diagram})
        whole = self.lengths.long * ball(output.size)
        divided = MEAN * self.lengths.u
        numerators = self.kernel is Kernel.NUMERATOR_FIRST
        if numerators and form.grid is not None and whole <= ball(form.grid):
            # The average of a constant is a constant, but not computed as one.
            return Off(ZERO, ZERO if has_means else divided * ball(output.size), ZERO, divided)
        mean = form.absolute + (ball(output.size) + form.absolute) * self._sums()
        alone = form.absolute if has_means else mean
        return Off(alone, alone, mean, divided)

    def _loss(self, head: Head, fact: HeadFact, before: Stream, cold: Cold, name: str) -> flint.arb:
        """By which part the leads of the head's rule can be smaller than in real arithmetic."""
        lengths, n = self.lengths, self.lengths.length
        rows = [self._row(*pair, cold, before) for pair in zip(head.query, head.key, strict=True)]
        match fact.rule:
            case TieBreakRule() if fact.contest is not None:
                near, far = losses(lengths, fact.contest, [row.scored for row in rows], cold)
                self._bear(far + 2 * lengths.u, FAR_LOSS, name)
                return near
            case ShiftRule() if fact.contest is not None:
                return greatest(losses(lengths, fact.contest, [row.scored for row in rows], cold))
            case SignRule() if len(rows) == 1 and self._alternates(rows[0]):
                (row,) = rows
                of_mean = self._mean_off(row) * n / ball(fact.unit)
                return (1 + row.scored.product.relative) * (1 + of_mean) - 1
            case LocalSignRule(gap):
                sizes = sum((row.scored.product.size for row in rows), ZERO)
                off = greatest([sum((row.scored.product.absolute for row in rows), ZERO)])
                rate = sum_rate(lengths, len(rows), cold) + (ZERO if cold.is_exact else lengths.u)
                off += rate * (sizes + off) + lost_below(lengths, len(rows), cold)
                return off / ball(gap)
            case LookupRule(_, zero) if self._one_of_each_power(rows):
                loss = self._lookup_loss(rows, cold)
                if zero is not None:
                    self._bear(loss + 2 * lengths.u, FAR_LOSS, name)
                return loss
            case _:
                raise BeyondError(f"{name} (no rule for rounding covers its rows)")

    def _lookup_loss(self, rows: list[_Row], cold: Cold) -> flint.arb:
        """What errors of the queries lose grows with (3 c + j) / |j - c| <= 4 N, all others with
        (3 c^2 + 2 c j + j^2) / (j - c)^2 <= 6 N^2.
        """
        lengths, n = self.lengths, self.lengths.length
        query = greatest(row.scored.query.relative for row in rows)
        key = greatest(row.scored.key.relative for row in rows)
        rate = sum_rate(lengths, len(rows), cold)
        each = (1 + key) * (1 + lengths.u) ** cold.roundings * (1 + rate) - 1
        of_means = sum((self._mean_off(row) for row in rows), ZERO) * (1 + query)
        return 4 * n * query + 6 * n**2 * each * (1 + query) + (2 * n**2 + 4 * n**3 * each) * of_means

    def _row(self, query: LinearForm, key: LinearForm, cold: Cold, before: Stream) -> _Row:
        """A row; those of position embeddings, which nothing else is added to, are the same in all layers."""
        name = query, key, id(cold)
        if name not in self._rows:
            row = self._new_row(query, key, cold, before)
            if not self.rounding.placed.issuperset(coordinate for coordinate, _ in query + key):
                return row
            self._rows[name] = row
        return self._rows[name]

    def _new_row(self, query: LinearForm, key: LinearForm, cold: Cold, before: Stream) -> _Row:
        lengths, names = self.lengths, self.rounding.analysis.names
        q, k = (lengths.linear(form, before.values, self.offs) for form in (query, key))
        values = of_form(names, query, before), of_form(names, key, before)
        return _Row(query, values[0], values[1], scored_row(lengths, q, k, cold))

    def _mean_off(self, row: _Row) -> flint.arb:
        """The absolute error of an average that the query carries as it is; `UNKNOWN` for multiples."""
        value = row.query.get((0, 0), self.rounding.analysis.names.false)
        found = self.rounding.analysis.names.values(value)
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

    def _is_power(self, diagram: Diagram) -> bool:
        """Whether a number is one power of two everywhere."""
        values = self.rounding.analysis.names.values(diagram)
        return len(values) == 1 and not values[0].parts and is_power_of_two(values[0].constant)

    def _alternates(self, row: _Row) -> bool:
        """Whether the key is a multiple of (-1)^j times a power of j, with nothing constant in it."""
        names = self.rounding.analysis.names
        return len(row.key) == 1 and all(names.is_multiple(d, names.sign) for d in row.key.values())

    def _one_of_each_power(self, rows: list[_Row]) -> bool:
        """Whether the keys are multiples of j and j^2, or of 1/j and 1/j^2, one each: nothing cancels."""
        constant = self.rounding.analysis.names.diagrams.is_constant
        powers = [power for row in rows for power, _ in row.key]
        alone = all(len(row.key) == 1 and all(map(constant, row.key.values())) for row in rows)
        of_two = set(powers) <= {1, 2} or set(powers) <= {-1, -2}
        return alone and of_two and len(set(powers)) == len(powers)


@final
@dataclass(frozen=True)
class _Row:
    """One product of a query and a key row: the query's form, both values, and what is computed."""

    form: LinearForm
    query: Value
    key: Value
    scored: ScoredRow
