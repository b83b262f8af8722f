"""A chain of errors for all lengths at once: how far each layer of a soft network is from the hard one's.

For a layer let X(n) bound every coordinate of the hard network before it, and e(n) how far the soft network's
coordinates are from these; some are *exact*, never off: those that nothing inexact has been added to. All
are sums of monomials. For one head and two positions i, j:

* the score is a sum of A_ab x_a(i) x_b(j), so the soft one is off by at most
  delta = (sum of |A_ab| with one of a, b inexact) X e + (with both) (2 X e + e^2);
* where the hard head's greatest score leads by gamma, the soft one's leads by gamma - 2 delta at least. With
  theta >= 2 delta / gamma and 1/tau >= (c + k D) / gamma, D the number of binary digits of n, all visible
  positions that lose have a weight of at most m = (n - 1) e^(-(1 - theta) (c + k D)) together;
* the winners have one value v*, and the soft values are off by at most V e, V the sum of the sizes of the
  value's factors at inexact coordinates: what the head adds is off by at most V e + m |v_j - v*|;
* a uniform head weighs all visible positions alike in both networks: V e.

e^(-x D) is at most f n^-y for D >= 2 if y <= 36/25 x < x / ln 2, where f is the greatest of 3^y e^(-2 x),
7^y e^(-3 x) and (2^y / e^x)^4, since n <= 2^D - 1; D >= 2 wherever a head sees more than one position.
(Theorem 26 of SHASA; ours: exact coordinates, theta, y.)
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from math import ceil, floor
from typing import final

import flint

from attemper.checker.attention.bounds import DOMAINS, proved
from attemper.checker.attention.counts import by_digits, growing
from attemper.checker.feed_forward import piecewise
from attemper.checker.identities import Formulas
from attemper.checker.names import UnprovenError
from attemper.checker.values import of_closed_form
from attemper.exact import laurent
from attemper.exact.balls import ball, precision, upper_bound
from attemper.exact.monomials import ZERO, Monomial
from attemper.networks.layers import Coordinate, Head, Hidden, Layer, LinearForm, Network, Softmax
from attemper.theories.softening.certificate import HeadGap, LayerError
from attemper.theories.softening.check import powers
from attemper.theories.softening.check.by_rule import HeadByRule, LayerByRule
from attemper.theories.softening.check.powers import FractionalPowers

PRECISION = 64
"""Bits of the balls in which exponentials are bounded."""

MOST_FADING = 64
"""A gap that vanishes faster than n^-64 is that of no network."""

PER_DIGIT = Fraction(36, 25)
"""Less than 1/ln 2 = 1.4426..., and e^(-D) < n^-(1/ln 2)."""

GRID = 2**10
"""Exponents of n are rounded down to multiples of 1/1024 where they are not whole."""

MOST_RATE = Fraction(2**8)
"""What vanishes faster is counted as fading so fast."""


CoordinateErrors = dict[Coordinate, FractionalPowers]
"""How far each coordinate can be from the hard network's; those that are not there are exact."""


@final
@dataclass(frozen=True)
class Before:
    """The soft network before a layer: which coordinates are exact, and how far any other can be off."""

    exact: frozenset[Coordinate]
    error: Monomial

    def off(self, form: LinearForm) -> FractionalPowers:
        """How far a linear form can be off."""
        inexact = (abs(factor) for coordinate, factor in form if coordinate not in self.exact)
        return powers.times(powers.of(self.error), sum(inexact, Fraction(0)))


@final
@dataclass(frozen=True)
class AssumedBit:
    """A coordinate of the hard network before a layer that is taken to be 0 or 1 at every position."""

    layer: int
    coordinate: Coordinate


@final
@dataclass
class ErrorChain:
    """A soft network, and what is known by rule of its hard one; `bits` are what else is taken for granted.

    With `takes_bits`, a layer without heads that rounds a coordinate is taken to round a bit, where no rule
    says what it is.
    """

    network: Network
    known: tuple[LayerByRule, ...]
    takes_bits: bool = False

    def __post_init__(self) -> None:
        self.names = Formulas(self.network.alphabet.symbols).names
        self.bits: set[AssumedBit] = set()

    def start(self) -> Before:
        """Before the first layer nothing is off."""
        return Before(frozenset(range(len(self.network.coordinates))), ZERO)

    def errors_after(self, number: int, claimed: LayerError, before: Before) -> CoordinateErrors:
        """How far coordinates can be off after a layer, with the gaps and the magnitude that are claimed.

        Raises `UnprovenError`, naming the head, where gaps are not shown to outweigh errors, or where
        nothing is known of an inverse temperature.
        """
        layer = self.network.layers[number]
        errors: CoordinateErrors = {c: powers.of(before.error) for c in self._inexact(before)}
        with precision(PRECISION):
            for index, head in enumerate(layer.heads):
                try:
                    self._attend(number, index, head, claimed, before, errors)
                except UnprovenError as error:
                    raise UnprovenError(f"layer {number}, head {index}: {error}") from None
        self._feed_forward(number, layer, errors)
        return errors

    def after(self, errors: CoordinateErrors, claimed: Monomial) -> Before:
        """The soft network before the next layer, if no error is more than is claimed."""
        exact = frozenset(range(len(self.network.coordinates))) - {c for c, own in errors.items() if own}
        return Before(exact, claimed)

    def needed(self, number: int, errors: CoordinateErrors) -> Monomial:
        """The least error that can be claimed: of all coordinates, behind the last layer of the outputs."""
        is_last = number == len(self.network.layers) - 1
        return powers.collapsed(own for c, own in errors.items() if not is_last or c in self.network.outputs)

    def _inexact(self, before: Before) -> frozenset[Coordinate]:
        return frozenset(range(len(self.network.coordinates))) - before.exact

    # Attention ---------------------------------------------------------------------------------

    def _attend(
        self,
        number: int,
        index: int,
        head: Head,
        claimed: LayerError,
        before: Before,
        errors: CoordinateErrors,
    ) -> None:
        """Add what a head is off by to the errors of its targets."""
        gap = claimed.gaps[index]
        stray = {} if gap is None else self._stray(head, gap, claimed.magnitude, before)
        known = self.known[number].heads[index]
        for value, target in enumerate(head.targets):
            form = head.values[value]
            off = before.off(form)
            if gap is not None:
                apart = _apart(form, value, claimed.magnitude, known)
                off = powers.plus(off, powers.times(stray, powers.of(apart)))
            _add(errors, target, off)

    def _stray(self, head: Head, gap: HeadGap, magnitude: Monomial, before: Before) -> FractionalPowers:
        """The weight of all visible positions that lose, at most."""
        if not gap.gap.factor:
            raise UnprovenError("no score leads")
        delta = _delta(head, magnitude, before)
        inverse = Monomial(1 / gap.gap.factor, -gap.gap.power)
        theta = powers.ceiling(powers.times(powers.times(delta, Fraction(2)), powers.of(inverse)))
        if theta is None or theta >= 1:
            raise UnprovenError("errors of the scores may outweigh the lead")
        fixed, per_digit = (own * (1 - theta) for own in self._exponent(head, gap.gap))
        power, factor = _fading(min(MOST_RATE, floor(per_digit * GRID) / Fraction(GRID)))
        try:
            return {1 - power: upper_bound((-ball(fixed)).exp() * factor)}
        except OverflowError:
            raise UnprovenError("the weight of what loses has no finite bound") from None

    def _exponent(self, head: Head, gap: Monomial) -> tuple[Fraction, Fraction]:
        """(c, k), not negative, with 1/tau times the gap >= c + k D wherever the head sees two positions."""
        if not isinstance(head.weighting, Softmax):
            raise UnprovenError("it is not a softmax head")
        if not -MOST_FADING <= gap.power <= MOST_FADING:
            raise UnprovenError(f"its lead is given with a power of n beyond {MOST_FADING}")
        coldness = growing(self.names, of_closed_form(self.names, head.weighting.inverse_temperature))
        under = laurent.monomial(0, -floor(gap.power), 1 / gap.factor)
        fixed, per_digit = (
            proved(
                laurent.most(form, under, DOMAINS[head.masking.weak]),
                "its inverse temperature outweighs how its lead fades",
            )
            for form in by_digits(coldness)
        )
        if fixed < 0 or per_digit < 0:
            raise UnprovenError("its inverse temperature is not shown to be positive")
        return fixed, per_digit

    # Hidden units ------------------------------------------------------------------------------

    def _feed_forward(self, number: int, layer: Layer, errors: CoordinateErrors) -> None:
        """Add what hidden units are off by: those of one form are one function of it."""
        middle = {coordinate: own for coordinate, own in errors.items() if own}
        groups: dict[LinearForm, list[Hidden]] = {}
        for unit in layer.hidden:
            groups.setdefault(unit.form, []).append(unit)
        for form, units in groups.items():
            off = powers.plus(*(powers.times(middle[c], abs(f)) for c, f in form if c in middle))
            if off:
                for target in {target for unit in units for target, _ in unit.outputs}:
                    moved = self._moved(number, form, units, target, off)
                    _add(errors, target, moved)

    def _moved(
        self, number: int, form: LinearForm, units: list[Hidden], target: Coordinate, off: FractionalPowers
    ) -> FractionalPowers:
        """How far the sum of the units at a coordinate can be off, if their form is off by so much."""
        most = powers.ceiling(off)
        if most is not None and self._is_unmoved(number, form, units, target, most):
            return {}
        factors = (abs(factor) for unit in units for own, factor in unit.outputs if own == target)
        return powers.times(off, sum(factors, Fraction(0)))

    def _is_unmoved(
        self, number: int, form: LinearForm, units: list[Hidden], target: Coordinate, most: Fraction
    ) -> bool:
        """Whether the units round: their sum is the same around every value that the form takes."""
        if form in self.known[number].groups:
            return self.known[number].is_unmoved(form, target, most)
        if not self.takes_bits or self.network.layers[number].heads or len(form) != 1:
            return False
        ((coordinate, factor),) = form
        own = tuple((unit.bias, f) for unit in units for at, f in unit.outputs if at == target)
        if not all(_is_flat(own, value, most) for value in (Fraction(0), factor)):
            return False
        self.bits.add(AssumedBit(number, coordinate))
        return True


def _is_flat(units: tuple[tuple[Fraction, Fraction], ...], value: Fraction, most: Fraction) -> bool:
    """Whether a piecewise linear function is one number from value - most to value + most."""
    corners = {-bias for bias, _ in units if abs(value + bias) < most}
    at_value = piecewise(units, value)
    return all(piecewise(units, point) == at_value for point in corners | {value - most, value + most})


def _apart(form: LinearForm, value: int, magnitude: Monomial, known: HeadByRule | None) -> Monomial:
    """How far apart a value is at two positions, by rule or by the magnitude."""
    if known is not None:
        return known.spreads[value]
    sizes = sum((abs(factor) for _, factor in form), Fraction(0))
    return Monomial(2 * sizes * magnitude.factor, magnitude.power)


def _delta(head: Head, magnitude: Monomial, before: Before) -> FractionalPowers:
    """How far a score can be off, at most."""
    products: dict[tuple[Coordinate, Coordinate], Fraction] = {}
    for query, key in zip(head.query, head.key, strict=True):
        for a, p in query:
            for b, q in key:
                products[a, b] = products.get((a, b), Fraction(0)) + p * q
    one = two = Fraction(0)
    for (a, b), factor in products.items():
        inexact = (a not in before.exact) + (b not in before.exact)
        one += abs(factor) * inexact
        two += abs(factor) * (inexact == 2)
    error = powers.of(before.error)
    mixed = powers.times(powers.times(error, powers.of(magnitude)), one)
    return powers.plus(mixed, powers.times(powers.times(error, error), two))


def _fading(rate: Fraction) -> tuple[Fraction, flint.arb]:
    """(y, f) with e^(-rate D) <= f n^-y for all n >= 2."""
    whole = Fraction(ceil(rate))
    power = whole if whole <= PER_DIGIT * rate else rate
    found = flint.arb(0)
    for digits, longest, times in ((2, 3, 1), (3, 7, 1), (1, 2, 4)):
        found = found.max((flint.arb(longest).log() * ball(power) - ball(digits * rate)).exp() ** times)
    return power, found


def _add(errors: CoordinateErrors, target: Coordinate, off: FractionalPowers) -> None:
    if off:
        errors[target] = powers.plus(errors.get(target, {}), off)
