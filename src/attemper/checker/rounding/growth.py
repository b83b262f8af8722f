"""Sizes and errors as polynomials in n: for integers, whose errors fade where their sizes grow.

A bound that holds at every n up to a length N is what a polynomial is at most: each of its terms is greatest
at N, or at 1 if its power is not positive.
"""

from __future__ import annotations

from collections.abc import Iterable
from fractions import Fraction
from typing import final

import flint

from attemper.checker.attention.margins import Margin
from attemper.checker.rounding.arithmetic import (
    ZERO,
    Growth,
    Lengths,
    Off,
    is_exact,
)
from attemper.checker.values import Stream, Value
from attemper.exact.balls import ball
from attemper.networks.layers import LinearForm

SPARE = 2
"""By so much more than it must weights are said to fade: e^-digits(n) is less than n^-1.44."""


def total(parts: Iterable[Growth]) -> Growth:
    """The sum."""
    found: Growth = {}
    for part in parts:
        for power, size in part.items():
            found[power] = found.get(power, ZERO) + size
    return found


def times(left: Growth, right: Growth) -> Growth:
    """The product."""
    return total({a + b: x * y} for a, x in left.items() for b, y in right.items())


def scaled(growth: Growth, factor: flint.arb) -> Growth:
    """A multiple."""
    return {power: size * factor for power, size in growth.items()}


def at_most(lengths: Lengths, growth: Growth) -> flint.arb:
    """The greatest value for 1 <= n <= N."""
    return sum((size * lengths.length ** max(power, 0) for power, size in growth.items()), ZERO)


def size_of(lengths: Lengths, value: Value) -> Growth:
    """The greatest size of a value at each n; i^a is at most n^a, or 1."""
    return total(
        times(lengths.arithmetic.growth(diagram), {max(a, 0) + b: flint.arb(1)})
        for (a, b), diagram in value.items()
    )


def fading(lengths: Lengths, margin: Margin, kept: flint.arb, noise: flint.arb) -> tuple[flint.arb, int]:
    """(w, q) such that noise e^-(kept margin) <= w n^-q at every n <= N.

    With D binary digits n is less than 2^D, so each D that occurs has a greatest n.
    """
    power = margin.digits + margin.digits // SPARE
    found = ZERO
    for digits in range(1, lengths.length.bit_length() + 1):
        longest = min(2**digits - 1, lengths.length)
        weight = (-(ball(margin.base) + margin.digits * digits) * kept).exp()
        found = found.max(weight * flint.arb(longest) ** power)
    return found * noise, power


@final
class Forms:
    """Sizes and errors of linear forms of one stream, at one length."""

    def __init__(self, lengths: Lengths, stream: Stream, offs: list[Off]) -> None:
        self.lengths = lengths
        self.stream = stream
        self.offs = offs

    def size(self, form: LinearForm) -> Growth:
        """The sum of the terms' sizes."""
        return total(
            scaled(size_of(self.lengths, self.stream.values[c]), ball(abs(factor))) for c, factor in form
        )

    def error(self, form: LinearForm, nearest: int | None = None) -> Growth:
        """How far the form can be off when it is computed; for each step of a nearest key that is named.

        Integers stand in units of any size, so that what underflow loses is no part of them.
        """
        is_held = self.lengths.linear(form, self.stream.values, self.offs).grid is not None
        lost: Growth = {} if is_held else {0: self.lengths.tiny}
        found = total([lost, self._shared(form), *(self._term(part, nearest) for part in form)])
        terms = self.lengths.arithmetic.halves * len(form)
        if terms > 1:
            one = flint.arb(1)
            rate = self.lengths.arithmetic.summed(terms, one, one)
            found = total([found, scaled(total([self.size(form), self._beside(form), found]), rate)])
        return found

    def _shared(self, form: LinearForm) -> Growth:
        """What all terms are off by together, behind a normalisation."""
        if self.lengths.arithmetic.halves == 1:
            return {}
        return scaled(self.size(form), self.lengths.common(form, self.offs))

    def _beside(self, form: LinearForm) -> Growth:
        """What cancels within the terms of a form, behind a normalisation."""
        return {} if self.lengths.arithmetic.halves == 1 else {0: self.lengths.beside(form, self.offs)}

    def _term(self, part: tuple[int, Fraction], nearest: int | None) -> Growth:
        coordinate, factor = part
        off, weight = self.offs[coordinate], ball(abs(factor))
        is_known = self.stream.steps_of(coordinate, nearest)
        own = scaled(off.steps if is_known else self._own(coordinate, off), weight)
        if self.lengths.arithmetic.is_exact_factor(factor):
            return own
        rounding = 3 * self.lengths.u
        sizes = total([self.size((part,)), self._beside((part,))])
        return total([scaled(own, 1 + rounding), scaled(sizes, rounding)])

    def _own(self, coordinate: int, off: Off) -> Growth:
        """How far a coordinate is off."""
        if off.growth:
            return off.growth
        if is_exact(off):
            return {}
        return {0: self.lengths.of_mean(self.stream.values[coordinate], off)}
