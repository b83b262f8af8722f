"""Where the proof of a network will fail, guessed from how errors have grown so far.

Two things fail. A lead is lost: the part that is lost grows as a power of the length N. Or a bit is not
rounded any more: a bit is exact as long as what its hidden units read is off by less than a quarter, and then
what stands behind it soon fails. What they read is off by the attention that goes astray, whose odds grow as
e^(c u N^p) with the format's round-off u. Two lengths tell c and p. Guesses only: floats will do.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from math import exp, log
from typing import final

import flint

from attemper.checker.analysis import ROUNDED, Analysis, LayerFact
from attemper.checker.rounding import Bounds
from attemper.networks.layers import LinearForm

QUARTER = float(ROUNDED)

OUTPUT = 1.5 * QUARTER
"""What the units that write the output may read: beyond a quarter the output is off by twice as much more."""

STEEP = 64.0
"""No larger exponents are believed: where something begins to go wrong it does not grow as it will."""

FLAT = 0.005
"""Nor are smaller ones: these are single roundings."""

SHOWN = QUARTER / 16
"""From here on the output itself tells."""


@final
@dataclass
class Growth:
    """Something that grows with the length, and must not grow beyond `aim`: in all, nearly a power of it."""

    aim: float
    seen: dict[int, float] = field(default_factory=dict)

    def end(self, exponent: float) -> tuple[float, float] | None:
        """The length at which it will be at its aim, and its exponent; None if it is not known to grow.

        The exponent is told by two lengths; if there is only one, the given one is taken.
        """
        if not self.seen or not self.aim > 0:
            return None
        near = sorted((abs(log(size / self.aim)), length) for length, size in self.seen.items())[:2]
        length = near[0][1]
        if len(near) == 2:
            exponent = log(self.seen[near[1][1]] / self.seen[length]) / log(near[1][1] / length)
        if not exponent > FLAT:
            return None
        exponent = min(exponent, STEEP)
        return length * exp(min(log(self.aim / self.seen[length]) / exponent, 99)), exponent


@final
@dataclass
class _Reading:
    """What hidden units of a layer read: a form, its error in real arithmetic, and if attention were all astray."""

    layer: int
    form: LinearForm
    real: float
    whole: float
    limit: float

    def __post_init__(self) -> None:
        self.growth = Growth(self.log_odds(self.limit))

    def learn(self, length: int, bounds: Bounds) -> bool:
        """Take in the error at a length; whether it is beyond the limit."""
        error = sum(float(abs(f)) * _most(bounds.offs[c].constant) for c, f in self.form)
        if (size := self.log_odds(error)) > 0:
            self.growth.seen[length] = size
        return error > self.limit

    def log_odds(self, error: float) -> float:
        """How much larger the odds are than in real arithmetic, as a logarithm; 0 if they cannot be."""
        if not 0 < self.real < error < self.whole:
            return 0
        return log(error / (self.whole - error)) - log(self.real / (self.whole - self.real))


@final
@dataclass(frozen=True)
class Guess:
    """The length at which something will fail first, how errors grow there, and the lengths it was seen at."""

    length: float
    exponent: float
    seen: dict[int, float]


@final
class Strains:
    """What must not grow in a network, and how large it was at the lengths looked at."""

    def __init__(self, analysis: Analysis, exponent: float) -> None:
        self.coordinate = analysis.network.output
        self.exponent = exponent
        self.leads: dict[object, Growth] = {}
        self.inner: list[_Reading] = []
        self.last: list[_Reading] = []
        self.output = Growth(OUTPUT)
        for number, fact in enumerate(analysis.layers):
            for group, is_last, *sizes in _forms(fact, self.coordinate):
                (self.last if is_last else self.inner).append(
                    _Reading(number, group, *sizes, OUTPUT if is_last else QUARTER)
                )

    def learn(self, length: int, bounds: Bounds) -> None:
        """Take in a length. What stands behind a bit that is not rounded says nothing."""
        for place, strain in bounds.strains.items():
            size = _most(strain)
            if 0 < size < 2:
                self.leads.setdefault(place, Growth(1)).seen[length] = size
        if not bounds.offs:
            return
        end = len(bounds.offs)
        for reading in self.inner:
            if reading.layer <= end and reading.learn(length, bounds) and bounds.failure is not None:
                end = reading.layer
        for reading in self.last:
            if reading.layer <= end:
                reading.learn(length, bounds)
        off = _most(bounds.offs[self.coordinate].constant)
        if SHOWN < off < 1 and end == len(bounds.offs):
            self.output.seen[length] = QUARTER + off / 2

    def first(self, good: int) -> Guess | None:
        """What will fail first; None if nothing tells.

        What has grown too large at a length that is proved, `good`, does no harm.
        """
        outer = [self.output] if len(self.output.seen) > 1 else [reading.growth for reading in self.last]
        growths = [*self.leads.values(), *(reading.growth for reading in self.inner), *outer]
        harmful = [growth for growth in growths if not growth.seen.get(good, 0) > growth.aim]
        found = [Guess(*end, g.seen) for g in harmful if (end := g.end(self.exponent)) is not None]
        return min(found, key=lambda guess: guess.length, default=None)


def _forms(fact: LayerFact, output: int) -> Iterator[tuple[LinearForm, bool, float, float]]:
    spreads = {output.target: output.spread for head in fact.heads for output in head.outputs}
    for group in fact.groups:
        real = float(sum(abs(f) * fact.middle.errors[c] for c, f in group.form))
        whole = float(sum(abs(f) * spreads.get(c, 0) for c, f in group.form))
        yield group.form, output in group.outputs, real, whole


def _most(size: flint.arb) -> float:
    return float(size.upper())
