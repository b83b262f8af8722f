"""Where the proof of a network will fail, guessed from how errors have grown so far.

Two things fail. A score gap is lost: the part that is lost grows as a power of the length N. Or a bit is not
rounded any more: a bit is exact as long as what its hidden units read is off by less than a quarter, and then
what stands behind it may fail. What they read is off by the attention that goes astray, the logarithm of
whose odds grows as a power of N, too. Two lengths tell which, or one and the power that another format or
kernel has told. Guesses only: floats will do.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from math import exp, log
from typing import assert_never, final

import flint

from attemper.certifying.parts import NetworkPart, Parts
from attemper.checker.analysis import ROUNDED, Analysis
from attemper.checker.rounding.arithmetic import as_number
from attemper.checker.rounding.network import Bounds
from attemper.languages.measures import FLOAT_ACCURACY, NEAR, REAL_ACCURACY, Measure
from attemper.networks.layers import Coordinate

QUARTER = float(ROUNDED)

OUTPUT = 1.5 * QUARTER
"""What the units that write the output may read: beyond a quarter the output is off by twice as much more."""

SHOWN = QUARTER / 16
"""From here on the output itself tells."""

EXPONENT = 2.0
"""Most score gaps are lost with the square of the length: what is taken as long as nothing is known."""

STEEP = 64.0
"""No larger exponents are believed: where something begins to go wrong it does not grow as it will."""

FLAT = 0.005
"""Nor are smaller ones: these are single roundings."""


HARMLESS = 1.001
"""What has grown so much beyond its aim has: the aims are not exact, as sums are rounded, too."""


@final
@dataclass
class Extrapolation:
    """Something that grows with the length, nearly as a power of it, and must not grow beyond `aim`."""

    aim: float
    exponent: float = EXPONENT
    seen: dict[int, float] = field(default_factory=dict)

    def end(self) -> float | None:
        """The length at which it will be at its aim; None if it is not known to grow.

        Two lengths say with which power it grows, `exponent` from then on.
        """
        if not self.seen or not self.aim > 0:
            return None
        near = sorted((abs(log(size / self.aim)), length) for length, size in self.seen.items())[:2]
        length = near[0][1]
        if len(near) == 2:
            self.exponent = log(self.seen[near[1][1]] / self.seen[length]) / log(near[1][1] / length)
        if not self.exponent > FLAT:
            return None
        return length * exp(min(log(self.aim / self.seen[length]) / min(self.exponent, STEEP), 99))


@final
@dataclass(frozen=True)
class UnitInputs:
    """What hidden units of a layer read: coordinates with the sizes of their factors; what they write to.

    `real` is its error in real arithmetic, and `whole` that of attention which is astray altogether.
    """

    layer: int
    parts: tuple[tuple[Coordinate, float], ...]
    targets: frozenset[Coordinate]
    real: float
    whole: float
    is_last: bool

    @property
    def limit(self) -> float:
        """From what error on something fails behind it."""
        return OUTPUT if self.is_last else QUARTER

    def error(self, bounds: Bounds) -> float:
        """How far it is off."""
        return sum(factor * _most(as_number(bounds.offs[c]).constant) for c, factor in self.parts)

    def log_odds(self, error: float) -> float:
        """How much larger the odds are than in real arithmetic, as a logarithm; 0 if they cannot be."""
        if not self.real < error < self.whole:
            return 0
        return log(error / (self.whole - error)) - log(self.real / (self.whole - self.real))


def readings_of(analysis: Analysis) -> list[UnitInputs]:
    """Everything that is rounded: those of the last coordinate behind all others."""
    found: list[UnitInputs] = []
    for number, fact in enumerate(analysis.layers):
        errors = [float(error) for error in fact.middle.errors]
        spreads = {output.target: float(output.spread) for head in fact.heads for output in head.outputs}
        for group in fact.groups:
            parts = tuple((c, float(abs(factor))) for c, factor in group.form)
            real = sum(factor * errors[c] for c, factor in parts)
            whole = sum(factor * spreads.get(c, 0) for c, factor in parts)
            is_last = any(output in group.outputs for output in analysis.network.outputs)
            if 0 < real < whole:
                found.append(UnitInputs(number, parts, frozenset(group.outputs), real, whole, is_last))
    return sorted(found, key=lambda reading: reading.is_last)


@final
class GrowingErrors:
    """What must not grow in a network, and how large it was at the lengths looked at."""

    def __init__(self, readings: list[UnitInputs], parts: Parts, before: GrowingErrors | None = None) -> None:
        self.parts = parts
        self.score_gaps: dict[str, Extrapolation] = {}
        self.readings = [(reading, Extrapolation(reading.log_odds(reading.limit))) for reading in readings]
        self.output = Extrapolation(_allowed(parts.measure))
        if before is not None:
            self._follow(before)

    def _follow(self, before: GrowingErrors) -> None:
        """Take over the powers that another format or kernel has told."""
        for (_, own), (_, known) in zip(self.readings, before.readings, strict=True):
            own.exponent = known.exponent
        self.score_gaps = {
            place: Extrapolation(1, growth.exponent) for place, growth in before.score_gaps.items()
        }

    def learn(self, length: int, bounds: Bounds, part: NetworkPart) -> None:
        """Take in a length."""
        for place, lost_share in bounds.lost_shares.items():
            size = _most(lost_share)
            if 0 < size < 2:
                self.score_gaps.setdefault(place, Extrapolation(1)).seen[length] = size
        if not bounds.offs:
            return
        for reading, growth in self.readings:
            if reading.targets & part.written and (size := reading.log_odds(reading.error(bounds))) > 0:
                growth.seen[length] = size
        if (size := self._size_of_output(length, bounds)) > 0:
            self.output.seen[length] = size

    def _size_of_output(self, length: int, bounds: Bounds) -> float:
        """What is off in the output, as its growth counts it; 0 if that says nothing."""
        offs = [as_number(bounds.offs[output]) for output in self.parts.outputs]
        if self.parts.measure is None:
            off = max(_most(off.constant) for off in offs)
            return QUARTER + off / 2 if SHOWN < off < 1 else 0
        share = max(_most(off.constant.max(off.average + off.relative)) for off in offs)
        return share * length if self.parts.measure is Measure.INTEGER else share

    def ends(self, good: int, part: NetworkPart) -> list[tuple[float, Extrapolation]]:
        """Where something in a part will fail, and what, in their order.

        What has grown too large at a length that is proved, `good`, does no harm.
        """
        is_shown = len(self.output.seen) > (self.parts.measure is None)
        growths = [
            growth
            for reading, growth in self.readings
            if reading.targets & part.written and not (is_shown and reading.is_last)
        ]
        growths += [growth for name, growth in self.score_gaps.items() if self.parts.has(part, name)]
        growths += [self.output] if is_shown else []
        harmful = [growth for growth in growths if not growth.seen.get(good, 0) > HARMLESS * growth.aim]
        found = [(end, growth) for growth in harmful if (end := growth.end()) is not None]
        return sorted(found, key=lambda pair: pair[0])


def _allowed(measure: Measure | None) -> float:
    """What an output may be off by: integers in words of one symbol."""
    match measure:
        case None:
            return OUTPUT
        case Measure.INTEGER:
            return float(NEAR)
        case Measure.FRACTION | Measure.DISTRIBUTION:
            return float(FLOAT_ACCURACY - REAL_ACCURACY)
        case _:
            assert_never(measure)


def _most(size: flint.arb) -> float:
    return float(size.upper())
