"""Scores that are a parabola in j whose top is at a count c: kappa (2 c j - j^2) / V; or in 1/j.

Bounded, in 1/j, it is kappa (2 / j - c / j^2) / V. kappa depends on i and n, and perhaps on D, the number of
binary digits of n. c / V is the average over the V positions that some mask shows at i, and 1 / V that of its
mark. Position j is behind the right one w, which is c or the end that is next to it, by kappa (j - w)^2 / V
or more; bounded, by kappa (j - w)^2 / (V w j^2), and V is i; where c is 0 by more than where it is 1.

With D digits, 2^(D-1) <= n < 2^D, so that n e^-D <= (2^D - 1) e^-D, which is greatest at D = 2: 3 e^-2. So
e^-(base + digits D) <= e^-base (3 e^-2)^digits n^-digits at every n.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from math import floor
from typing import final

import flint

from attemper.checker.attention.averages import single_mean
from attemper.checker.attention.bounds import DOMAINS, VISIBLE, positive, proved
from attemper.checker.attention.leads import Trail
from attemper.checker.attention.scores import ReadHead, require_exact
from attemper.checker.diagrams import Diagram
from attemper.checker.names import LengthDigits, Mean, Names, UnprovenError
from attemper.checker.values import Value
from attemper.exact import laurent
from attemper.exact.balls import ball
from attemper.exact.laurent import Laurent
from attemper.networks.layers import Masking

SHAPES = {2: (1, Fraction(-1), 2), -1: (-2, Fraction(1, 2), -1)}
"""By the power of j that 1 / V multiplies: that which c / V does, and what kappa and c's factor are of it."""


@final
@dataclass(frozen=True)
class Margin:
    """base + digits * (the number of binary digits of n): the base is positive, the digits not negative."""

    base: Fraction
    digits: int

    def weight(self) -> flint.arb:
        """w such that e^-margin <= w n^-digits at every n."""
        return (-ball(self.base)).exp() * (3 * flint.arb(-2).exp()) ** self.digits

    def trails(self) -> tuple[Trail, ...]:
        """Who is t off is behind by base t^2 at least, on either side: t^2 >= 4 + 5 (t - 2) for t >= 2."""
        return (Trail(self.base), Trail(4 * self.base, 5 * self.base)) * 2


@final
@dataclass(frozen=True)
class AtCount:
    """The side over which the query averages, what c adds up there, and by how much its position leads.

    Position j is behind by the margin times (j - w)^2.
    """

    side: Masking
    counted: Diagram
    margin: Margin
    is_bounded: bool


def at_count(head: ReadHead) -> AtCount:
    """What a head looks for. Raises `UnprovenError`, naming the side condition that is not shown."""
    require_exact(head)
    names, terms = head.names, _terms(head)
    top = -1 if -1 in terms else 2
    other, of_bowl, of_slope = SHAPES[top]
    if not {top} <= terms.keys() <= {top, other}:
        raise UnprovenError("its scores are not those of a lookup")
    (unit, bowl), (count, slope) = terms[top], terms.get(other, (None, {}))
    if unit is None or unit.summand != names.mark(unit.masking):
        raise UnprovenError("its query does not carry 1 / (number visible)")
    kappa, side = laurent.times(bowl, of_bowl), unit.masking
    if count is not None and count.masking is not side:
        raise UnprovenError("its query is not a count over the visible positions")
    # Where no average stands for c, each position counts as much.
    powers, factor = next(iter(kappa.items()), ((0, 0, 0), Fraction(1)))
    each = Fraction(1) if count is not None else slope.get(powers, Fraction(0)) / (of_slope * factor)
    if slope != laurent.times(kappa, of_slope * each):
        raise UnprovenError("its parabola does not have its top at the count")
    needs_future = top < 0 or head.masking is not Masking.NONE
    if needs_future and not (side is head.masking is Masking.FUTURE):
        raise UnprovenError("it may not see the position that it looks for")
    under = laurent.monomial(4, 0) if top < 0 else VISIBLE[side]
    counted = names.number(each) if count is None else count.summand
    return AtCount(side, counted, _margin(kappa, under, DOMAINS[head.masking]), top < 0)


def _margin(kappa: Laurent, under: Laurent, domain: laurent.Domain) -> Margin:
    """The greatest margin found such that kappa >= margin * under on the whole domain."""
    parts = (laurent.most(own, under, domain) for own in by_digits(kappa))
    base, digits = (proved(own, "other positions can win") for own in parts)
    if digits < 0:
        raise UnprovenError("not proved for all lengths: other positions can win")
    return Margin(positive(base), floor(digits))


def _terms(head: ReadHead) -> dict[int, tuple[Mean | None, Laurent]]:
    """What stands at i before each power of j: a multiple of which average (None: of 1), and the factor."""
    names, cold = head.names, growing(head.names, head.coldness)
    found: dict[int, tuple[Mean | None, Laurent]] = {}
    for query, key in head.rows:
        for (power, growth), diagram in key.items() if query else ():
            own = laurent.times(cold, growing(names, {(0, growth): diagram}))
            if not power:
                continue  # it is the same for all j: softmax does not see it
            mean, factor = single_mean(names, query, head.masking)
            own = laurent.times(own, {(a, b, 0): x for (a, b), x in factor.items()})
            before, total = found.setdefault(power, (mean, {}))
            if before != mean:
                raise UnprovenError("its query is not a multiple of an average")
            found[power] = mean, laurent.plus(total, own)
    return found


def growing(names: Names, value: Value) -> Laurent:
    """A value that is the same for all words, in i, n and D. Raises `UnprovenError` for one that is not."""
    found: list[Laurent] = []
    for (a, b), diagram in value.items():
        values = names.values(diagram)
        if len(values) != 1 or any(names.quantities[own] != LengthDigits() for own, _ in values[0].parts):
            raise UnprovenError("a factor of its scores depends on the word")
        found.append({(a, b, 0): values[0].constant})
        found += [{(a, b, 1): factor} for _, factor in values[0].parts]
    return laurent.plus(*found)


def by_digits(form: Laurent) -> tuple[Laurent, Laurent]:
    """What is without D, and what D multiplies. Raises `UnprovenError` if D is multiplied with itself."""
    if any(digits > 1 for _, _, digits in form):
        raise UnprovenError("digits are multiplied with digits")
    fixed: Laurent = {(a, b): x for (a, b, digits), x in form.items() if not digits}
    return fixed, {(a, b): x for (a, b, digits), x in form.items() if digits}
