"""Inverse temperatures for the heads of a hard network, as closed forms in n."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from fractions import Fraction

from attemper.errors import OptionError
from attemper.exact.closed_forms import ONE, ClosedForm, Digits, Length, N, Power, number, plus, times
from attemper.exact.monomials import Monomial
from attemper.networks.layers import Network, Softmax

Temperatures = Sequence[Sequence[ClosedForm]]
"""The inverse temperature of each head of each layer."""

BITS = 6
"""How many binary digits an inverse temperature has that was found by halving."""


def softened(hard: Network, inverse_temperatures: Temperatures) -> Network:
    """The same weights, with softmax heads at these temperatures."""
    layers = tuple(
        replace(
            layer,
            heads=tuple(
                replace(head, weighting=Softmax(cold)) for head, cold in zip(layer.heads, own, strict=True)
            ),
        )
        for layer, own in zip(hard.layers, inverse_temperatures, strict=True)
    )
    return replace(hard, layers=layers)


def colder_than_a_gap(gap: Monomial | None, c: int, k: int) -> ClosedForm:
    """(c + k D(n)) / gap, D the number of binary digits: so gaps of that gap become c + k D(n) or more.

    None, for a uniform head, is 1.

    >>> from attemper.exact.closed_forms import show_form
    >>> show_form(colder_than_a_gap(Monomial(Fraction(1, 2), -1), 4, 3))
    '2*n*(4 + 3*digits(n))'
    """
    if gap is None:
        return ONE
    if gap.power.denominator != 1 or gap.power > 0:
        raise OptionError("a gap shrinks like a whole power of n: write it as 'p/q n^-k'")
    scale: list[ClosedForm] = [] if gap.factor == 1 else [number(1 / gap.factor)]
    power = -int(gap.power)
    scale += [] if not power else [N if power == 1 else Power(N, power)]
    digits = [times(k, Digits(Length()))] if k != 1 else [Digits(Length())]
    sizes = [*([number(c)] if c else []), *(digits if k else [])]
    scale += [plus(*sizes) if len(sizes) > 1 else sizes[0]] if sizes else [number(0)]
    return times(*scale) if len(scale) > 1 else scale[0]


def least_integer(holds: Callable[[int], bool], most: int) -> int | None:
    """The least c from 0 to `most` with `holds(c)`, which holds from some c on; None if it does nowhere.

    >>> least_integer(lambda c: c * c >= 10, 100), least_integer(lambda c: False, 100)
    (4, None)
    """
    if holds(0):
        return 0
    low, high = 0, 1
    while not holds(high):
        low, high = high, 2 * high
        if high > most:
            return None
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if holds(middle) else (middle, high)
    return high


def least_coldness(holds: Callable[[Fraction], bool], start: Fraction, most: Fraction) -> Fraction | None:
    """Nearly the least number, of a few binary digits and up to `most`, with `holds`; None if there is none.

    >>> least_coldness(lambda x: x * x >= 10, Fraction(1), Fraction(1024))
    Fraction(51, 16)
    """
    high = Fraction(2) ** (start.numerator.bit_length() - start.denominator.bit_length() + 1)
    while not holds(high):
        high *= 2
        if high > most:
            return None
    while high > 1 / most and holds(high / 2):
        high /= 2
    low, step = high / 2, high / 2**BITS
    first, last = 0, 2 ** (BITS - 1)
    while last - first > 1:
        middle = (first + last) // 2
        first, last = (first, middle) if holds(low + middle * step) else (middle, last)
    found: Fraction = low + last * step
    return found
