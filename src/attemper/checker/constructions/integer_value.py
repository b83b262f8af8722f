"""IntegerValue: the integer c itself, or its square, read at position c: clamp(c, 1, n). (SHASA Lemma 7.)

Form: kappa (2 c j - j^2) / V, where kappa > 0 depends on i and n, c / V is the average of an integer over the
V positions that some mask shows at i, and 1 / V that of its mark. Values are multiples of n^b j or n^b j^2.
Side conditions: the head sees all positions, or, as the count, those j <= i, and reads no squares;
kappa >= (base + digits D) V, with D binary digits of n.
Bound: the right position is w = clamp(c, 1, n), or clamp(c, 1, i). One at distance t is behind by at least g
t^2, where g = base + digits D: by g t^2 where w = c, and elsewhere by g (t^2 + 2 t |c - w|). So j is off
from w by 2 (r + 2 r^4 + 3 r^9 + ...) <= 2 r / (1 - r^3)^2 in the mean, r = e^-g, and j^2 by 2 n times that.
Output: n^b w or n^b w^2.
Floats: score gaps as a lookup's; one large number and many small ones are added, which loses at most the
small ones once more.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import final

import flint

from attemper.checker.attention.averages import single_mean
from attemper.checker.attention.bounds import DOMAINS, VISIBLE
from attemper.checker.attention.margins import Growing, Margin, growing, margin_of
from attemper.checker.attention.scores import Output, ReadHead, require_exact
from attemper.checker.constructions.lookup import lost
from attemper.checker.diagrams import Diagram
from attemper.checker.names import Mean, UnprovenError, scale_affine
from attemper.checker.rounding.arithmetic import Off
from attemper.checker.rounding.attention import LARGEST_LOSS, RoundedHead
from attemper.checker.rounding.integers import distances, integer_off
from attemper.checker.rules import HeadFact, mass
from attemper.checker.values import Value
from attemper.exact import laurent
from attemper.exact.balls import ball, upper_bound
from attemper.exact.monomials import Monomial
from attemper.networks.layers import Masking


@final
@dataclass(frozen=True)
class IntegerValueRule:
    """Position j is behind the right one by at least the margin times the square of their distance."""

    margin: Margin

    @property
    def gap(self) -> Fraction:
        """What position next to the right one is behind by, without the digits."""
        return self.margin.base

    @property
    def least_gap(self) -> Fraction:
        """One step off, without the digits."""
        return self.margin.base

    def stray(self, loss: flint.arb, noise: flint.arb) -> flint.arb:
        """W = 2 (r + r^4 / (1 - r^5)), with what the margin is at n = 1 at least."""
        r = (-ball(self.margin.base) * (1 - loss)).exp()
        return mass(2 * (r + r**4 / (1 - r**5)) * noise)

    def offs(self, head: RoundedHead) -> list[Off]:
        """Score gaps may be smaller by the same part as a lookup's."""
        loss = lost(head)
        head.bear(loss, LARGEST_LOSS)
        kept = 1 - loss - head.argument
        near = distances(head, self.margin, kept)
        return [integer_off(head, output, rounded, near) for rounded, output in head.values]


def integer_value(head: ReadHead) -> HeadFact:
    """The rule for an integer. Raises `UnprovenError`, naming the side condition that is not shown."""
    require_exact(head)
    side, counted, kappa = _looked_for(head)
    if head.masking is not Masking.NONE and (side is not Masking.FUTURE or head.masking is not side):
        raise UnprovenError("it may not see the position that it looks for")
    margin = margin_of(kappa, VISIBLE[side], DOMAINS[head.masking], "other positions can win")
    pairs = zip(head.values, head.targets, strict=True)
    outputs = tuple(_output(head, side, counted, margin, value, target) for value, target in pairs)
    return HeadFact(IntegerValueRule(margin), outputs)


def _looked_for(head: ReadHead) -> tuple[Masking, Diagram, Growing]:
    """The side over which the query averages, the integer that is averaged, and kappa."""
    names = head.names
    (unit, bowl), (count, slope) = _term(head, 2), _term(head, 1)
    if unit is None or unit.summand != names.mark(unit.masking):
        raise UnprovenError("its query does not carry 1 / (number visible)")
    side = unit.masking
    if count is not None and count.masking is not side:
        raise UnprovenError("its query is not a count over the visible positions")
    kappa = bowl.times(Growing(laurent.constant(-1), {}))
    each = Fraction(1) if count is not None else _each(slope, kappa)
    if slope != kappa.times(Growing(laurent.constant(2 * each), {})):
        raise UnprovenError("its parabola does not have its top at the count")
    counted = names.number(each) if count is None else count.summand
    return side, counted, kappa


def _each(slope: Growing, kappa: Growing) -> Fraction:
    """What each position counts, where that is the same number."""
    powers = next(iter(kappa.fixed), (0, 0))
    return slope.fixed.get(powers, Fraction(0)) / (2 * kappa.fixed.get(powers, Fraction(1)))


def _term(head: ReadHead, power: int) -> tuple[Mean | None, Growing]:
    """What stands at i before j^power: a multiple of which average (None: of 1, or 0)."""
    names, coldness = head.names, growing(head.names, head.coldness)
    means: set[Mean | None] = set()
    total = Growing({}, {})
    for query, key in head.rows:
        for (p, b), diagram in key.items():
            if p not in {1, 2}:
                raise UnprovenError("its scores are not those of a lookup")
            if p == power:
                mean, factor = single_mean(names, query, head.masking) if query else (None, {})
                at_j = growing(names, {(0, b): diagram})
                means.add(mean)
                total = total.plus(at_j.times(coldness).times(Growing(factor, {})))
    if len(means) != 1:
        raise UnprovenError("its scores are not those of a lookup")
    return means.pop(), total


def _output(
    head: ReadHead, side: Masking, counted: Diagram, margin: Margin, value: Value, target: int
) -> Output:
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
    read = names.affine(scale_affine(names.clamped(side, counted, power, head.masking), factor))
    off = upper_bound(_distance(margin) * ball(abs(factor) * (1 if power == 1 else 2)))
    error = Monomial(off, growth + power - 1 - margin.digits)
    return Output(target, read, Fraction(0), Fraction(0), growth, error)


def _distance(margin: Margin) -> flint.arb:
    """How far j is off from the right position in the mean, times n^digits."""
    rest = (-3 * ball(margin.base)).exp()
    return 2 * margin.weight() / (1 - rest) ** 2
