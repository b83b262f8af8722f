"""Where the proof of a network will fail, guessed from how errors have grown so far.

Two things fail. A lead is lost: the part that is lost grows as a power of the length N. Or a bit is not
rounded any more: a bit is exact as long as what its hidden units read is off by less than a quarter, and then
what stands behind it soon fails. What they read is off by the attention that goes astray, the logarithm of
whose odds grows as a power of N, too. Two lengths tell which. Guesses only: floats will do.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from math import exp, log
from typing import final

import flint

from attemper.checker.analysis import ROUNDED, Analysis
from attemper.checker.rounding.network import Bounds
from attemper.networks.layers import Coordinate

QUARTER = float(ROUNDED)

OUTPUT = 1.5 * QUARTER
"""What the units that write the output may read: beyond a quarter the output is off by twice as much more."""

SHOWN = QUARTER / 16
"""From here on the output itself tells."""

EXPONENT = 2.0
"""Most leads are lost with the square of the length: what is taken as long as one length is known only."""

STEEP = 64.0
"""No larger exponents are believed: where something begins to go wrong it does not grow as it will."""

FLAT = 0.005
"""Nor are smaller ones: these are single roundings."""


@final
@dataclass
class Growth:
    """Something that grows with the length, nearly as a power of it, and must not grow beyond `aim`."""

    aim: float
    seen: dict[int, float] = field(default_factory=dict)

    def end(self) -> float | None:
        """The length at which it will be at its aim; None if it is not known to grow."""
        if not self.seen or not self.aim > 0:
            return None
        near = sorted((abs(log(size / self.aim)), length) for length, size in self.seen.items())[:2]
        length, exponent = near[0][1], EXPONENT
        if len(near) == 2:
            exponent = log(self.seen[near[1][1]] / self.seen[length]) / log(near[1][1] / length)
        if not exponent > FLAT:
            return None
        return length * exp(min(log(self.aim / self.seen[length]) / min(exponent, STEEP), 99))


@final
@dataclass(frozen=True)
class Reading:
    """What hidden units of a layer read: coordinates with the sizes of their factors.

    `real` is its error in real arithmetic, and `whole` that of attention which is astray altogether.
    """

    layer: int
    parts: tuple[tuple[Coordinate, float], ...]
    real: float
    whole: float
    is_last: bool

    @property
    def limit(self) -> float:
        """From what error on something fails behind it."""
        return OUTPUT if self.is_last else QUARTER

    def error(self, bounds: Bounds) -> float:
        """How far it is off."""
        return sum(factor * _most(bounds.offs[c].constant) for c, factor in self.parts)

    def log_odds(self, error: float) -> float:
        """How much larger the odds are than in real arithmetic, as a logarithm; 0 if they cannot be."""
        if not self.real < error < self.whole:
            return 0
        return log(error / (self.whole - error)) - log(self.real / (self.whole - self.real))


def readings_of(analysis: Analysis) -> list[Reading]:
    """Everything that is rounded: those of the last coordinate behind all others."""
    found: list[Reading] = []
    for number, fact in enumerate(analysis.layers):
        errors = [float(error) for error in fact.middle.errors]
        spreads = {output.target: float(output.spread) for head in fact.heads for output in head.outputs}
        for group in fact.groups:
            parts = tuple((c, float(abs(factor))) for c, factor in group.form)
            real = sum(factor * errors[c] for c, factor in parts)
            whole = sum(factor * spreads.get(c, 0) for c, factor in parts)
            is_last = any(output in group.outputs for output in analysis.network.outputs)
            if 0 < real < whole:
                found.append(Reading(number, parts, real, whole, is_last))
    return sorted(found, key=lambda reading: reading.is_last)


@final
class Strains:
    """What must not grow in a network, and how large it was at the lengths looked at."""

    def __init__(self, readings: list[Reading], outputs: Sequence[Coordinate]) -> None:
        self.outputs = outputs
        self.leads: dict[object, Growth] = {}
        self.readings = [(reading, Growth(reading.log_odds(reading.limit))) for reading in readings]
        self.output = Growth(OUTPUT)

    def learn(self, length: int, bounds: Bounds) -> None:
        """Take in a length. What stands behind a bit that is not rounded says nothing."""
        for place, strain in bounds.strains.items():
            size = _most(strain)
            if 0 < size < 2:
                self.leads.setdefault(place, Growth(1)).seen[length] = size
        if not bounds.offs:
            return
        end = len(bounds.offs)
        for reading, growth in self.readings:
            if reading.layer <= end:
                error = reading.error(bounds)
                if (size := reading.log_odds(error)) > 0:
                    growth.seen[length] = size
                if error > reading.limit and bounds.failure is not None and not reading.is_last:
                    end = reading.layer
        off = max(_most(bounds.offs[output].constant) for output in self.outputs)
        if SHOWN < off < 1 and end == len(bounds.offs):
            self.output.seen[length] = QUARTER + off / 2

    def first(self, good: int) -> tuple[float, Growth] | None:
        """Where something will fail first, and what; None if nothing tells.

        What has grown too large at a length that is proved, `good`, does no harm.
        """
        is_shown = len(self.output.seen) > 1
        growths = [growth for reading, growth in self.readings if not (is_shown and reading.is_last)]
        growths += [*self.leads.values(), *([self.output] if is_shown else [])]
        harmful = [growth for growth in growths if not growth.seen.get(good, 0) > growth.aim]
        found = [(end, growth) for growth in harmful if (end := growth.end()) is not None]
        return min(found, key=lambda pair: pair[0], default=None)


def _most(size: flint.arb) -> float:
    return float(size.upper())
