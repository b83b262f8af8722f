"""IntegerValue: the integer c itself, or its square, read at position c: clamp(c, 1, n). (SHASA Lemma 7.)

Form: a parabola in j with its top at c, as in `attention.counts`, where c counts integers. Values are
multiples of n^b j or n^b j^2.
Side conditions: the head sees all positions, or, as the count, those j <= i, and reads no squares;
kappa >= (base + digits D) V, with D binary digits of n.
Bound: the right position is w = clamp(c, 1, n), or clamp(c, 1, i). One at distance t is behind by at least g
t^2, where g = base + digits D: by g t^2 where w = c, and elsewhere by g (t^2 + 2 t |c - w|). So j is off
from w by 2 (r + 2 r^4 + 3 r^9 + ...) <= 2 r / (1 - r^3)^2 in the mean, r = e^-g, and j^2 by 2 n times that.
Output: n^b w or n^b w^2.
"""

from __future__ import annotations

from fractions import Fraction

import flint

from attemper.checker import whole_numbers
from attemper.checker.attention.counts import AtCount, Margin, at_count
from attemper.checker.attention.scores import Output, ReadHead
from attemper.checker.names import UnprovenError, scale_affine
from attemper.checker.rules import HeadFact, Rule
from attemper.checker.values import Value
from attemper.exact.balls import ball, upper_bound
from attemper.exact.monomials import Monomial
from attemper.networks.layers import IntegerValue, Masking


def integer_value(head: ReadHead) -> HeadFact:
    """The rule for an integer. Raises `UnprovenError`, naming the side condition that is not shown."""
    found = at_count(head)
    if found.is_bounded:
        raise UnprovenError("only parabolas in j have a rule for integers")
    pairs = zip(head.values, head.targets, strict=True)
    outputs = tuple(_output(head, found, value, target) for value, target in pairs)
    return HeadFact((Rule(IntegerValue, found.margin.trails(), said=found.margin),), outputs)


def _output(head: ReadHead, found: AtCount, value: Value, target: int) -> Output:
    """The integer that is read for a multiple of n^b j, or its square for one of n^b j^2."""
    names = head.names
    if len(value) != 1:
        raise UnprovenError("a value is no multiple of a position or of its square")
    (((power, growth), diagram),) = value.items()
    constants = names.constants(diagram, "a value")
    if power not in {1, 2} or len(constants) != 1:
        raise UnprovenError("a value is no multiple of a position or of its square")
    (factor,) = constants
    if power == 2 and head.masking is not Masking.NONE:
        raise UnprovenError("only a head that sees all positions has a rule for squares")
    read = names.affine(
        scale_affine(whole_numbers.clamped(names, found.side, found.counted, power, head.masking), factor)
    )
    off = upper_bound(_distance(found.margin) * ball(abs(factor) * (1 if power == 1 else 2)))
    error = Monomial(off, growth + power - 1 - found.margin.digits)
    return Output(target, read, Fraction(0), Fraction(0), growth, error)


def _distance(margin: Margin) -> flint.arb:
    """How far j is off from the right position in the mean, times n^digits."""
    rest = (-3 * ball(margin.base)).exp()
    return 2 * margin.weight() / (1 - rest) ** 2
