"""The greatest length up to which the checker proves a network right in a float format.

The checker judges one length at a time. What fails at a length fails at every longer one, so that the
greatest proved one is found by a search; nothing that is found here is believed by anybody.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import isqrt, log
from typing import final

from attemper.certifying.strains import Reading, Strains, readings_of
from attemper.checker.analysis import Analysis
from attemper.checker.diagrams import TooLargeError
from attemper.checker.names import UnprovenError
from attemper.checker.rounding.arithmetic import Kernel
from attemper.checker.rounding.network import LONGEST, Bounds, Rounding, failure_at
from attemper.exact.formats import FLOAT64, REAL, FloatFormat

NEAR = 0.99
"""How well the end is known once it is expected beside a length that was looked at."""

PATIENCE = 16
"""After so many lengths every other one is half way: a search that is led astray ends all the same."""


@final
@dataclass(frozen=True)
class Horizon:
    """The greatest length that is proved, and the place that has no proof at the next one.

    The place is empty if nothing beyond was looked at.
    """

    length: int
    place: str


def horizon_of(analysis: Analysis, form: FloatFormat, kernel: Kernel, most: int = LONGEST) -> tuple[int, str]:
    """The greatest length up to `most` that is proved, and the place that has no proof beyond."""
    found = Horizons(analysis).of(form, kernel, most)
    return found.length, found.place


@final
class Horizons:
    """The horizons of a network: what was found for one format and kernel says where to look for others."""

    def __init__(self, analysis: Analysis) -> None:
        self.analysis = analysis
        self.looks = 0
        """How often a network was evaluated: all bounds at one length, in one format, for one kernel."""
        self._readings = readings_of(analysis)
        self._roundings: dict[FloatFormat, Rounding | str] = {}
        self._known: dict[tuple[FloatFormat, Kernel], Horizon] = {}

    def of(self, form: FloatFormat, kernel: Kernel, most: int = LONGEST) -> Horizon:
        """The greatest length up to `most` that is proved, and the place that has no proof beyond."""
        if form not in self._roundings:
            self._roundings[form] = self._rounding(form)
        rounding = self._roundings[form]
        if isinstance(rounding, str):
            return Horizon(0, rounding)
        search = _Search(rounding, self._readings, kernel, most)
        found = search.run(min(self._guess(form, kernel), most))
        self._known[form, kernel] = found
        self.looks += search.looks
        return found

    def in_real_arithmetic(self, most: int = LONGEST) -> Horizon:
        """The greatest length up to `most` that is proved of a normalised network in real arithmetic."""
        return self.of(REAL, Kernel.NUMERATOR_FIRST, most)

    def _rounding(self, form: FloatFormat) -> Rounding | str:
        """The network in the format, or why that has no rule."""
        try:
            return Rounding(self.analysis, form)
        except (UnprovenError, TooLargeError, RecursionError):
            return failure_at(self.analysis, form, Kernel.NUMERATOR_FIRST, 1) or ""

    def _guess(self, form: FloatFormat, kernel: Kernel) -> int:
        """A length to begin with: what other formats and kernels suggest, or the longest one."""
        if kernel is Kernel.SCAN:
            # What limits the longest words is done in float64, whatever the stream's format.
            scanned = [found.length for (_, other), found in self._known.items() if other is Kernel.SCAN]
            return scanned[-1] if scanned else _longest(FLOAT64)
        # Normalise-first kernels only lose more.
        known = self._known.get((form, Kernel.NUMERATOR_FIRST))
        most = known.length if known is not None else _longest(form)
        others = [other for other, its_kernel in self._known if its_kernel is kernel and other != form]
        others = [other for other in others if REAL not in {other, form}]
        if not others:
            return most
        other = others[-1]
        its_own, its_first = self._known[other, kernel], self._known.get((other, Kernel.NUMERATOR_FIRST))
        # Kernels differ in how averages are rounded, and are the same where averages do no harm.
        is_same = known is not None and its_first is not None and its_own.length == its_first.length
        exponent = _exponent(other, its_own.length)
        if is_same or exponent < 2:
            return most
        return min(most, int(its_own.length * float(other.roundoff / form.roundoff) ** (1 / exponent)))


def _longest(form: FloatFormat) -> int:
    """The longest words of which anything can be proved: longer sums have no bound."""
    return LONGEST if form == REAL else min(LONGEST, int(1 / (8 * form.sum_roundoff)) - 1)


def _exponent(form: FloatFormat, horizon: int) -> int:
    """The p for which the round-off times N^p is about 1 at the horizon."""
    return round(-log(form.roundoff) / log(max(horizon, 2)))


@final
class _Search:
    """The search for one horizon: `good` is proved, `bad` is not, and `place` is where it fails."""

    def __init__(self, rounding: Rounding, readings: list[Reading], kernel: Kernel, most: int) -> None:
        self.rounding = rounding
        self.kernel = kernel
        self.good = 0
        self.bad = most + 1
        self.place = ""
        self.strains = Strains(readings, rounding.analysis.network.outputs)
        self.missed = 0
        self.looks = 0

    def run(self, guess: int) -> Horizon:
        """The horizon; the guess is looked at first, with the length after it."""
        self._look(max(guess, 1))
        if self.good == guess and self.bad > guess + 1:
            self._look(guess + 1)
        first = self.strains.first(self.good)
        if self.bad - self.good > 1 and (first is None or first[0] > self.bad):
            self._look(self._inside(self._start()))
        while self.bad - self.good > 1:
            self._look(self._next())
        return Horizon(self.good, self.place)

    def _look(self, length: int) -> None:
        """Ask the checker about one length."""
        self.looks += 1
        bounds = self._bounds(length)
        self.strains.learn(length, bounds)
        if bounds.failure is None:
            self.good = length
        else:
            self.bad, self.place = length, bounds.failure

    def _bounds(self, length: int) -> Bounds:
        try:
            return self.rounding.bounds_at(self.kernel, length)
        except (UnprovenError, TooLargeError, RecursionError) as error:
            return Bounds([], {}, str(error) or "a feed-forward (its cases are too many)")

    def _start(self) -> int:
        """A length that most networks reach, and where errors are seen."""
        power = 0.43 if self.kernel is Kernel.NUMERATOR_FIRST else 0.28
        # Weights are those of float64 in real arithmetic, too.
        roundoff = self.rounding.form.roundoff or FLOAT64.roundoff
        return int(float(roundoff) ** -power)

    def _next(self) -> int:
        """Where something is expected to fail first; or beside that, if it was looked at; or half way."""
        found = self.strains.first(self.good)
        if found is None or (self.looks > PATIENCE and self.looks % 2):
            return self._between()
        expected, growth = found
        if self.good < int(expected) < self.bad:
            self.missed = 0
            return int(expected)
        self.missed += 1
        if self.missed == 1 and NEAR * self.good < expected <= self.good + 1:
            return self.good + 1
        if self.missed == 1 and self.bad in growth.seen and expected * NEAR < self.bad:
            return self.bad - 1
        if self.missed <= 2 and self.bad not in growth.seen and self.good + 1 < expected < 2 * self.bad:
            # The proof failed at once, and nothing could be seen: what is a little shorter shows more.
            return self._inside(self.bad - (self.bad - self.good >> (7 - 3 * self.missed)))
        return self._between()

    def _inside(self, length: int) -> int:
        return min(max(length, self.good + 1), self.bad - 1)

    def _between(self) -> int:
        """Half way, in powers of two as long as there are any between; at a power of two formats may end."""
        if self.bad > 4 * max(self.good, 1):
            return self._inside(1 << (isqrt(max(self.good, 1) * self.bad).bit_length() - 1))
        power = 1 << ((self.bad - 1).bit_length() - 1)
        if power > self.good:
            return power
        if power == self.good:
            return self.good + 1
        return self.bad - 1 if self.bad == 2 * power else (self.good + self.bad) // 2
