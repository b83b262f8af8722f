"""How far a run in floating point can be from the real numbers, for all words up to a length N.

Every bound grows with N, so what holds at N holds for all shorter words. Nothing is assumed about the
order of summation. The arithmetic (roundings, exp, kernel classes) is specified in
certificates/FORMAT.md, section "Arithmetic"; each bound below is one of its rules.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction
from typing import assert_never, final

from attemper.checker.analysis import ROUNDED, Analysis, LayerFact
from attemper.checker.diagrams import TooLargeError
from attemper.checker.names import Affine, UnprovenError
from attemper.checker.rounding import arithmetic
from attemper.checker.rounding.attention import Competitions, LostShares
from attemper.checker.rounding.embedding import rounded_form
from attemper.checker.rounding.feed_forward import Gates, Writing, written
from attemper.checker.rounding.heads import RoundedHeads
from attemper.checker.rounding.normalised import read_offs, scaled_format
from attemper.checker.rounding.rules import offs_of
from attemper.checker.rounding.scan import Scan
from attemper.exact.balls import ball, precision
from attemper.exact.formats import FLOAT64, FloatFormat
from attemper.languages.measures import FLOAT_ACCURACY, NEAR, REAL_ACCURACY, Measure
from attemper.networks.layers import Coordinate, Network

PRECISION = 64

LONGEST = 2**40
"""Lengths beyond it are not looked at."""


def failure_at(analysis: Analysis, form: FloatFormat, kernel: arithmetic.Kernel, length: int) -> str | None:
    """The place that has no proof for all words of up to `length` symbols; None if every answer is proved."""
    return Roundings(analysis).failure_at(form, kernel, length)


@final
@dataclass(frozen=True)
class Bounds:
    """How far coordinates can be off, as far as the proof goes, and the place where it fails if it does.

    `lost_shares` says which part of what it may lose each place's score gap loses: no proof rests on it.
    """

    offs: list[arithmetic.Off]
    lost_shares: LostShares
    failure: str | None


@final
class Rounding:
    """One network in one format."""

    def __init__(self, analysis: Analysis, form: FloatFormat) -> None:
        reads = analysis.reads
        self.analysis = analysis
        self.competitions: Competitions = {}
        self.form = form if reads is None else scaled_format(form, reads)
        with precision(PRECISION):
            self.arithmetic = arithmetic.Arithmetic(analysis.names, self.form, 1 if reads is None else 2)
            is_wide = self.form == FLOAT64
            self.wide = self.arithmetic if is_wide else arithmetic.Arithmetic(analysis.names, FLOAT64)
            gates = Gates(self.arithmetic)
            self.writings = [
                gates.writings_of(fact.groups, fact.before, fact.middle, fact.after)
                for fact in analysis.layers
            ]
        sizes = {abs(number) for number in _weights(analysis.network)}
        if sizes and (max(sizes) > arithmetic.WEIGHTS or min(sizes) < Fraction(1, arithmetic.WEIGHTS)):
            raise UnprovenError("the weights (some are too large or too small)")
        for number, layer in enumerate(analysis.network.layers):
            # Not even 0 times what leaves the range is 0.
            if not all(unit.outputs for unit in layer.hidden):
                raise UnprovenError(f"layer {number}'s feed-forward (a hidden unit is written nowhere)")

    def bounds_at(self, kernel: arithmetic.Kernel, length: int) -> Bounds:
        """The bounds for all words of 1 to `length` symbols, for one class of attention kernels."""
        with precision(PRECISION):
            run = _Run(self, kernel, arithmetic.Lengths(self.arithmetic, length))
            try:
                run.require()
            except arithmetic.BeyondError as error:
                return Bounds(run.offs, run.heads.lost_shares, str(error))
            return Bounds(run.offs, run.heads.lost_shares, None)


@final
class Roundings:
    """One network in every format that is asked for, each worked out once.

    The format is the whole key: a `Rounding` is made of that and of the network's analysis, one for all. What
    it keeps depends on no length and no kernel, or is kept by all of the errors that it follows from.
    """

    def __init__(self, analysis: Analysis) -> None:
        self.analysis = analysis
        self._made: dict[FloatFormat, Rounding] = {}

    def of(self, form: FloatFormat) -> Rounding:
        """The network in a format. Raises what `Rounding` raises where that has no rule."""
        if form not in self._made:
            self._made[form] = Rounding(self.analysis, form)
        return self._made[form]

    def failure_at(self, form: FloatFormat, kernel: arithmetic.Kernel, length: int) -> str | None:
        """The place that has no proof for all words of up to `length` symbols; None if all is proved."""
        if length == 0:
            return None
        if length > LONGEST:
            return f"words of more than {LONGEST:,} symbols"
        try:
            return self.of(form).bounds_at(kernel, length).failure
        except (UnprovenError, TooLargeError, RecursionError) as error:
            return str(error) or "a feed-forward (its cases are too many)"


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

    def __init__(self, rounding: Rounding, kernel: arithmetic.Kernel, lengths: arithmetic.Lengths) -> None:
        self.rounding = rounding
        self.lengths = lengths
        scan, wide = None, lengths
        if kernel is arithmetic.Kernel.SCAN:
            wide = arithmetic.Lengths(rounding.wide, lengths.length)
            scan = Scan(rounding.analysis.network, lengths, wide)
        self.heads = RoundedHeads(wide, kernel, scan, rounding.competitions)
        self.offs: list[arithmetic.Off] = []

    def require(self) -> None:
        """Raise `BeyondError` with the place unless the output is right."""
        analysis = self.rounding.analysis
        if analysis.reads is not None and self.heads.scan is not None:
            raise arithmetic.BeyondError("normalisations (no rule for scans covers what they change)")
        if not (4 * self.heads.lengths.long < 1):
            raise arithmetic.BeyondError("sums over so many positions")
        self.offs = [arithmetic.EXACT for _ in analysis.network.coordinates]
        taken = self._embed()
        blame = dict.fromkeys(range(len(self.offs)), "the embedding")
        for number, (layer, fact) in enumerate(zip(analysis.network.layers, analysis.layers, strict=True)):
            after, read = list(self.offs), self._read_by_heads(number, fact)
            for index, (head, head_fact) in enumerate(zip(layer.heads, fact.heads, strict=True)):
                name = f"layer {number}, head {index}"
                rounded = self.heads.head(name, head, head_fact.outputs, fact.before, read)
                offs = self.heads.written(rounded, offs_of(head_fact, rounded))
                for target, off in zip(head.targets, offs, strict=True):
                    self._take(taken, target, name)
                    after[target], blame[target] = off, name
            self.offs = after
            after, read = list(after), self._read_by_units(number, fact)
            for writing in self.rounding.writings[number]:
                self._take(taken, writing.target, f"layer {number}'s feed-forward")
                blame[writing.target] = blame.get(self._worst_input(writing), "the embedding")
                after[writing.target] = written(self.lengths, writing, fact.middle, read)
            self.offs = after
        for output in analysis.network.outputs:
            if not self._is_near_enough(output):
                raise arithmetic.BeyondError(blame[output])

    def _read_by_heads(self, number: int, fact: LayerFact) -> list[arithmetic.Off]:
        """How far off what the heads of a layer read is."""
        reads = self.rounding.analysis.reads
        if reads is None:
            return self.offs
        return read_offs(self.lengths, reads, reads.attention[number], fact.before.values, self.offs)

    def _read_by_units(self, number: int, fact: LayerFact) -> list[arithmetic.Off]:
        """How far off what the hidden units of a layer read is."""
        reads = self.rounding.analysis.reads
        if reads is None:
            return self.offs
        return read_offs(self.lengths, reads, reads.feed_forward[number], fact.middle.values, self.offs)

    def _is_near_enough(self, output: Coordinate) -> bool:
        """Whether an output is off by no more than is claimed: fractions are off in real arithmetic, too."""
        off, end = self.offs[output], self.rounding.analysis.end
        match self.rounding.analysis.network.measure:
            case None:
                found = arithmetic.as_number(off)
                return bool(found.constant.max(found.average + found.relative) <= ball(ROUNDED))
            case Measure.INTEGER:
                allowed = ball(NEAR) / self.lengths.length
            case Measure.FRACTION | Measure.DISTRIBUTION:
                allowed = ball(FLOAT_ACCURACY - REAL_ACCURACY)
            case other:
                assert_never(other)
        return bool(self.lengths.of_mean(end.values[output], off) <= allowed)

    def _embed(self) -> set[int]:
        """Fill in the embeddings; the coordinates that hold something."""
        network = self.rounding.analysis.network
        taken: set[int] = set()
        for coordinate, factor in {part for form in network.embedding for part in form}:
            if not self.lengths.arithmetic.fits(ball(abs(factor)), arithmetic.common_grid([Affine(factor)])):
                raise arithmetic.BeyondError("the embedding (a weight is not a number of the format)")
            taken.add(coordinate)
        for coordinate, form in network.positions:
            self._take(taken, coordinate, "the embedding")
            rounded = rounded_form(self.lengths, form)
            # Partners are evaluated alike, but for their signs.
            known = rounded.at_zero, rounded.absolute, arithmetic.ZERO, rounded.relative
            self.offs[coordinate] = arithmetic.OfNumber(*known, apart=arithmetic.ZERO)
        return taken

    def _take(self, taken: set[int], coordinate: int, name: str) -> None:
        """Each coordinate is written once: sums in the residual stream have no rule."""
        if coordinate in taken:
            raise arithmetic.BeyondError(f"{name} (it adds to something that stands there)")
        taken.add(coordinate)

    def _worst_input(self, writing: Writing) -> int:
        """The coordinate that contributes the largest error."""
        worst = arithmetic.greatest(arithmetic.as_number(self.offs[c]).constant for c in writing.inputs)
        return next(
            (c for c in writing.inputs if not (arithmetic.as_number(self.offs[c]).constant < worst)),
            -1,
        )
