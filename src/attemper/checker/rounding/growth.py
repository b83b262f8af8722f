"""Sizes and errors as polynomials in n: for integers, whose errors fade where their sizes grow.

A bound that holds at every n up to a length N is what a polynomial is at most: each of its terms is greatest
at N, or at 1 if its power is not positive.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable
from fractions import Fraction
from typing import TypeVar, assert_never, final

import flint

from attemper.checker.rounding.arithmetic import (
    ZERO,
    Lengths,
    Normalised,
    Off,
    OfInteger,
    OfNumber,
    OnGrid,
    PowersOfN,
    is_exact,
)
from attemper.checker.values import ResidualValues, Value
from attemper.exact.balls import ball
from attemper.networks.layers import LinearForm

Powers = TypeVar("Powers", bound=Hashable)


def total(parts: Iterable[dict[Powers, flint.arb]]) -> dict[Powers, flint.arb]:
    """The sum, of whatever powers."""
    found: dict[Powers, flint.arb] = {}
    for part in parts:
        for power, size in part.items():
            found[power] = found.get(power, ZERO) + size
    return found


def times(left: PowersOfN, right: PowersOfN) -> PowersOfN:
    """The product."""
    return total({a + b: x * y} for a, x in left.items() for b, y in right.items())


def scaled(growth: dict[Powers, flint.arb], factor: flint.arb) -> dict[Powers, flint.arb]:
    """A multiple, of whatever powers."""
    return {power: size * factor for power, size in growth.items()}


def at_most(lengths: Lengths, growth: PowersOfN) -> flint.arb:
    """The greatest value for 1 <= n <= N."""
    return sum((size * lengths.length ** max(power, 0) for power, size in growth.items()), ZERO)


def of_integer(lengths: Lengths, growth: PowersOfN, per_step: PowersOfN) -> OfInteger:
    """The error of an integer, at each length and at all of them."""
    most = at_most(lengths, growth)
    return OfInteger(growth, per_step, OfNumber(most, most, most, ZERO))


def size_of(lengths: Lengths, value: Value) -> PowersOfN:
    """The greatest size of a value at each n; i^a is at most n^a, or 1."""
    return total(
        times(lengths.arithmetic.growth(diagram), {max(a, 0) + b: flint.arb(1)})
        for (a, b), diagram in value.items()
    )


@final
class Forms:
    """Sizes and errors of linear forms of one stream, at one length."""

    def __init__(self, lengths: Lengths, stream: ResidualValues, offs: list[Off]) -> None:
        self.lengths = lengths
        self.stream = stream
        self.offs = offs

    def size(self, form: LinearForm) -> PowersOfN:
        """The sum of the terms' sizes."""
        return total(
            scaled(size_of(self.lengths, self.stream.values[c]), ball(abs(factor))) for c, factor in form
        )

    def error(self, form: LinearForm, nearest: int | None = None) -> PowersOfN:
        """How far the form can be off when it is computed; for each step of a nearest key that is named.

        Integers stand in units of any size, so that what underflow loses is no part of them.
        """
        is_held = isinstance(self.lengths.linear(form, self.stream.values, self.offs), OnGrid)
        lost: PowersOfN = {} if is_held else {0: self.lengths.tiny}
        found = total([lost, self._shared(form), *(self._term(part, nearest) for part in form)])
        terms = self.lengths.arithmetic.halves * len(form)
        if terms > 1:
            one = flint.arb(1)
            rate = self.lengths.arithmetic.summed(terms, one, one)
            found = total([found, scaled(total([self.size(form), self._common_mode(form), found]), rate)])
        return found

    def _shared(self, form: LinearForm) -> PowersOfN:
        """What all terms are off by together, behind a normalisation."""
        if self.lengths.arithmetic.halves == 1:
            return {}
        return scaled(self.size(form), self.lengths.shared(form, self.offs))

    def _common_mode(self, form: LinearForm) -> PowersOfN:
        """What cancels within the terms of a form, behind a normalisation."""
        return {} if self.lengths.arithmetic.halves == 1 else {0: self.lengths.common_mode(form, self.offs)}

    def _term(self, part: tuple[int, Fraction], nearest: int | None) -> PowersOfN:
        coordinate, factor = part
        off = scaled(self._off(coordinate, nearest), ball(abs(factor)))
        if self.lengths.arithmetic.is_exact_factor(factor):
            return off
        rounding = 3 * self.lengths.u
        sizes = total([self.size((part,)), self._common_mode((part,))])
        return total([scaled(off, 1 + rounding), scaled(sizes, rounding)])

    def _off(self, coordinate: int, nearest: int | None) -> PowersOfN:
        """How far a coordinate is off."""
        off = self.offs[coordinate]
        match off:
            case (
                OfInteger(growth=growth, per_step=per_step)
                | Normalised(of=OfInteger(growth=growth, per_step=per_step))
            ):
                return per_step if self.stream.steps_of(coordinate, nearest) else growth
            case OfNumber() | Normalised():
                return {} if is_exact(off) else {0: self.lengths.of_mean(self.stream.values[coordinate], off)}
            case _:
                assert_never(off)
