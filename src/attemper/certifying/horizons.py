"""The greatest length up to which the checker proves a network right in a float format.

The checker judges one length at a time. What fails at a length fails at every longer one, so that the
greatest proved one is found by a search. Most of it is among parts of the network, see `parts`: the whole is
asked whether the length is proved at which a part ends. Nothing that is found here is believed by anybody.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import exp, isqrt, log
from typing import final

from attemper.certifying.extrapolation import GrowingErrors, readings_of
from attemper.certifying.parts import NetworkPart, PartRounding, Parts
from attemper.checker.analysis import Analysis
from attemper.checker.diagrams import TooLargeError
from attemper.checker.names import UnprovenError
from attemper.checker.rounding.arithmetic import Kernel
from attemper.checker.rounding.network import LONGEST, Bounds, Rounding, failure_at
from attemper.exact.formats import FLOAT64, REAL, FloatFormat

NEAR = 0.99
"""How well the end is known once it is expected beside a length that was looked at."""

CREEP = 4
"""So often the lengths beside one are looked at, twice as far away each time."""

PATIENCE = 16
"""After so many lengths no part is asked any more: a search that is led astray ends all the same."""

LIMITS = 3
"""So many parts that limited other formats and kernels say where to look first."""

HASTE = 12
"""Each of them after so many looks, or not at all."""

SMALL = 0.6
"""A part that is larger costs as much as the whole."""


@final
@dataclass(frozen=True)
class Horizon:
    """The greatest length that is proved, and a place that has no proof at the next one.

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
        """How often the whole network was evaluated: all bounds at one length, in one arithmetic."""
        self.shares = 0.0
        """How often parts were, each counted as its share of all heads and sums of hidden units."""
        self._parts = Parts(analysis)
        self._readings = readings_of(analysis)
        self._roundings: dict[FloatFormat, Rounding | str] = {}
        self._known: dict[tuple[FloatFormat, Kernel], Horizon] = {}
        self._limits: list[NetworkPart] = []
        """What limited some format and kernel, the last one last."""
        self._ended: dict[tuple[FloatFormat, Kernel], NetworkPart] = {}
        """What limited each."""
        self._growing: GrowingErrors | None = None

    def of(self, form: FloatFormat, kernel: Kernel, most: int = LONGEST) -> Horizon:
        """The greatest length up to `most` that is proved, and a place that has no proof beyond."""
        if form not in self._roundings:
            self._roundings[form] = self._rounding(form)
        rounding = self._roundings[form]
        if isinstance(rounding, str):
            return Horizon(0, rounding)
        self._growing = GrowingErrors(self._readings, self._parts, self._growing)
        search = _Search(rounding, kernel, self._parts, self._growing)
        guess, first = min(self._guess(form, kernel), most), (form, Kernel.NUMERATOR_FIRST)
        is_alike = first in self._known and self._known[first].length == guess
        beyond = self._ended.get(first) if is_alike else None
        found = search.run(guess, most, self._limits[-LIMITS:], beyond)
        self._known[form, kernel] = found
        if search.limit is not None:
            self._ended[form, kernel] = search.limit
            self._limits = [part for part in self._limits if part != search.limit] + [search.limit]
        self.looks += search.looks
        self.shares += search.shares
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
        known = self._known.get((form, Kernel.NUMERATOR_FIRST))
        if kernel is Kernel.SCAN:
            return self._scanned(known)
        # Normalise-first kernels only lose more.
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

    def _scanned(self, known: Horizon | None) -> int:
        """A length to begin with if heads are scanned, of what is `known` of numerator-first kernels."""
        found = [found.length for (_, kernel), found in self._known.items() if kernel is Kernel.SCAN]
        wide = self._known.get((FLOAT64, Kernel.NUMERATOR_FIRST))
        if known is not None and wide is not None and wide.length < LONGEST and self._limits:
            if not found:
                return known.length
            if found[0] == wide.length:
                # Errors of the stream and of float64 add up: more is proved than of other kernels.
                return round(exp((2 * log(max(known.length, 1)) + log(max(found[-1], 1))) / 3))
        # What limits the longest words is done in float64, whatever the stream's format.
        return found[-1] if found else _longest(FLOAT64)


def _longest(form: FloatFormat) -> int:
    """The longest words of which anything can be proved: longer sums have no bound."""
    return LONGEST if form == REAL else min(LONGEST, int(1 / (8 * form.sum_roundoff)) - 1)


def _exponent(form: FloatFormat, horizon: int) -> int:
    """The p for which the round-off times N^p is about 1 at the horizon."""
    return round(-log(form.roundoff) / log(max(horizon, 2)))


@final
class _Search:
    """The search for one horizon; `limit` is the part that limits it, if that is smaller than the whole."""

    def __init__(self, rounding: Rounding, kernel: Kernel, parts: Parts, growing: GrowingErrors) -> None:
        self.kernel = kernel
        self.parts = parts
        self.growing = growing
        self.looks = 0
        self.shares = 0.0
        self.limit: NetworkPart | None = None
        self._whole = rounding
        self._roundings: dict[NetworkPart, Rounding | PartRounding] = {parts.whole: rounding}

    def run(
        self, guess: int, most: int, limits: Sequence[NetworkPart] = (), beyond: NetworkPart | None = None
    ) -> Horizon:
        """The horizon; the guess is looked at first, or where one of the parts `limits` ends.

        The part `beyond` is expected to fail right behind the guess, and the whole not before.
        """
        whole = _Level(self, self.parts.whole, 0, most + 1, "")
        if beyond is not None and guess < most and self._fails(beyond, whole, guess + 1):
            whole.run(guess)
        else:
            # Where that part proves more than expected, everything may.
            guess = guess if beyond is None else most
            nearest = self._nearest(limits, 0, guess + 1, max(guess, 1))
            nearest = nearest or self._nearest(limits, guess, most + 1, None)
            if nearest is not None:
                guess, whole.smaller = nearest.good, nearest
            whole.run(guess)
        self.limit = None if whole.smaller is None else whole.smaller.part
        return Horizon(whole.good, whole.place)

    def _fails(self, part: NetworkPart, whole: _Level, length: int) -> bool:
        """Whether the part fails at a length, and the whole with it."""
        failure = self.look(part, length).failure
        if failure is not None:
            whole.bad, whole.place = length, failure
            whole.smaller = _Level(self, part, length - 1, length, failure)
        return failure is not None

    def _nearest(
        self, limits: Sequence[NetworkPart], good: int, bad: int, first: int | None
    ) -> _Level | None:
        """The part that ends first between two lengths."""
        nearest = None
        for part in limits:
            level = _Level(self, part, good, bad, "")
            level.run(first, HASTE)
            if level.good < bad - 1 and level.bad == level.good + 1:
                nearest, bad, first = level, level.bad, level.good
        return nearest

    def look(self, part: NetworkPart, length: int) -> Bounds:
        """Ask the checker about one length."""
        if part == self.parts.whole:
            self.looks += 1
        else:
            self.shares += len(part) / len(self.parts.whole)
        bounds = self._bounds(part, length)
        self.growing.learn(length, bounds, part)
        return bounds

    def _bounds(self, part: NetworkPart, length: int) -> Bounds:
        if part not in self._roundings:
            self._roundings[part] = PartRounding(self._whole, part)
        try:
            return self._roundings[part].bounds_at(self.kernel, length)
        except (UnprovenError, TooLargeError, RecursionError) as error:
            return Bounds([], {}, str(error) or "a feed-forward (its cases are too many)")


@final
class _Level:
    """The search for the end of the whole or a part: `good` is proved, `bad` is not, and `place` fails there.

    `smaller` is the search in the part that the last failure rests on, if that is much smaller.
    """

    def __init__(self, search: _Search, part: NetworkPart, good: int, bad: int, place: str) -> None:
        self.search = search
        self.part = part
        self.good = good
        self.bad = bad
        self.place = place
        self.smaller: _Level | None = None
        self._is_whole = part == search.parts.whole
        self._looks = 0
        self._missed = 0
        self._last = 0
        self._widths: list[int] = []
        self._steps: list[int] = []

    def run(self, first: int | None = None, patience: int = LONGEST) -> None:
        """Look until the end is known, that of a part until it is clear enough; at one length first."""
        length = self._next() if first is None else first
        while self.bad - self.good > 1 and self._looks < patience:
            if self.smaller is not None and length == self.good:
                # What fails in the part fails here, too.
                self.bad, self.place = length + 1, self.smaller.place
                return
            self._look(max(length, 1))
            if self._is_clear():
                self.good = self.bad - 1
            elif length == first == self.good and self._is_whole and self.smaller is None:
                length = self.good + 1
            elif self.bad - self.good > 1:
                length = self._next()

    def _look(self, length: int) -> None:
        self._looks += 1
        bounds = self.search.look(self.part, length)
        if bounds.failure is None:
            self.good = length
            return
        self.bad, self.place, self.smaller = length, bounds.failure, None
        part = self.search.parts.behind_failure(bounds)
        if self._looks <= PATIENCE and part != self.part and len(part) <= SMALL * len(self.part):
            self.smaller = _Level(self.search, part, self.good, self.bad, self.place)

    def _is_clear(self) -> bool:
        """Whether a part that fails at a length is clearly proved at the one before: the whole tells."""
        if self._is_whole or self.smaller is not None:
            return False
        ends = self.search.growing.ends(self.good, self.part)
        inside = [(end, growth) for end, growth in ends if self.good <= int(end) < self.bad]
        if len(inside) != 1:
            return False
        ((end, growth),) = inside
        return int(end) == self.bad - 1 and len(growth.seen) > 1 and self.bad in growth.seen

    def _next(self) -> int:
        """Where the smaller part ends; without one where something is expected to fail."""
        if self.smaller is None or self._looks > PATIENCE:
            return self._guessed()
        self.smaller.good = max(self.smaller.good, self.good)
        self.smaller.run()
        return self.smaller.good

    def _guessed(self) -> int:
        """Where something is expected, as long as that leads somewhere; else half way."""
        length = self._suspected()
        if length is None or self._is_slow(length):
            length = self._between()
        self._last = length
        return length

    def _suspected(self) -> int | None:
        """Behind the middle one of all lengths where something may fail; or beside the last length."""
        found = self.search.growing.ends(self.good, self.part)
        inside = sorted({int(end) for end, _ in found if self.good <= int(end) < self.bad})
        if inside:
            self._missed = 0
            end = inside[(len(inside) - 1) // 2]
            # A whole network is asked about both in the end.
            is_near = self._is_whole and end > NEAR * self.bad
            return self._inside(end if is_near else end + 1)
        self._missed += 1
        step = 1 << self._missed - 1
        if self._missed <= CREEP and any(NEAR * self.good < end < self.good for end, _ in found):
            return self._inside(self.good + step)
        if self._missed <= CREEP and any(self.bad <= end < self.bad / NEAR for end, _ in found):
            return self._inside(self.bad - step)
        return None

    def _is_slow(self, length: int) -> bool:
        """Whether two looks have neither halved what is left nor the steps from look to look."""
        self._widths.append(self.bad - self.good)
        self._steps.append(abs(length - self._last))
        found = len(self._widths) > 2 and all(
            2 * sizes[-1] > sizes[-3] for sizes in (self._widths, self._steps)
        )
        if found:
            self._widths, self._steps = [], []
        return found

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
