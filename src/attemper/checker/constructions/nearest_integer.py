"""NearestInteger: the rightmost (leftmost) visible position of the least (K - K')^2 + b. (Ours.)

Form: G (2 K K' - K'^2 - b) + T t(j), where K is a whole number at i, K' one at j, K'^2 its square, b a bit at
j or 0, and t(j) is j or its negative; G and T depend on i and n. K, K' and K'^2 may be approximate. K can be
i, n - i + 1 or n, too, and K' can be j: the numbers of all positions on a side.
Side conditions: G > 0, T > 0; what errors can change the difference of two scores by is at most `noise` at
every length; a step costs at least `gap` by T t(j); a position of a larger L = (K - K')^2 + b, however
near, is behind.
Bound: L is an integer, so a larger one is larger by 1 at least. Nearer positions of the same L, e^noise
e^-gap each step: e^noise r / (1 - r); positions of a larger L: e^noise e^-far.
Output: the value at the winner: there is one wherever i sees anything, whether or not K is some K'.
Floats: the errors of all rows, as polynomials in n, against the gap.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import final

import flint

from attemper.checker.attention.bounds import VISIBLE, for_losses, is_positive
from attemper.checker.attention.parabolas import Parts, Reading, parts_of, readings_of, where_of
from attemper.checker.attention.scores import Output, ReadHead, plain_values
from attemper.checker.attention.tie_breaks import tie_break
from attemper.checker.diagrams import Diagram
from attemper.checker.names import Names, UnprovenError
from attemper.checker.rounding.arithmetic import Off
from attemper.checker.rounding.attention import RoundedHead, attended
from attemper.checker.rounding.integers import scores_off
from attemper.checker.rules import HeadFact, mass, weight
from attemper.checker.values import Bound, peak_of
from attemper.exact import laurent
from attemper.exact.balls import ball

BOTH = Bound(Fraction(2))
"""Two positions are compared, and each has the error."""


@final
@dataclass(frozen=True)
class NearestIntegerRule:
    """Nearer positions lead by `gap` per step, those of a larger L are at most e^-far together.

    Errors change no lead by more than `noise`.
    """

    gap: Fraction
    far: Fraction
    noise: Fraction

    def stray(self, loss: flint.arb, noise: flint.arb) -> flint.arb:
        """W = e^noise (r / (1 - r) + e^-far)."""
        return _mass(self, loss, noise, ball(self.far) * (1 - loss))

    def offs(self, head: RoundedHead) -> list[Off]:
        """Every lead may be smaller by what all errors together change a difference of scores by."""
        loss = scores_off(head) / ball(self.gap)
        # Half of what is far may be lost, so that 2 u of its lead are no more than 4 u of its bound.
        far = ball(self.far) * (1 - 4 * head.lengths.u) - loss * ball(self.gap)
        return attended(head, loss, lambda lost, noise: _mass(self, lost, noise, far))


def _mass(rule: NearestIntegerRule, loss: flint.arb, noise: flint.arb, far: flint.arb) -> flint.arb:
    near = weight(rule.gap, loss)
    return mass(ball(rule.noise).exp() * (near / (1 - near) + (-far).exp()) * noise)


def nearest_integer(head: ReadHead) -> HeadFact:
    """The rule for a nearest integer. Raises `UnprovenError`, naming what is not shown."""
    values, noise = plain_values(head), _noise(head)
    parts = parts_of(head)
    failure = UnprovenError("its scores are not those of a nearest integer")
    for reading in readings_of(head.names, parts):
        try:
            return _fact(head, values, noise, parts, reading)
        except UnprovenError as error:
            failure = error
    raise failure


def _fact(
    head: ReadHead, values: tuple[Diagram, ...], noise: Fraction, parts: Parts, reading: Reading
) -> HeadFact:
    names, push = head.names, reading.push
    tie = tie_break(reading.tie, 1, head.masking)
    if not is_positive(push, tie.domain):
        raise UnprovenError("its parabola is upside down")
    where = where_of(names, parts, push)
    gap, span = tie.bounds()
    lead = laurent.plus(push, laurent.times(span, -1))
    others = laurent.plus(VISIBLE[tie.masking], laurent.constant(-1))
    room = laurent.plus(laurent.constant(1), laurent.times(others, -1))
    far, _ = for_losses(lead, room, tie.domain, "positions further from the integer can win")

    def read(value: Diagram) -> Diagram:
        return names.nearest(head.masking, not tie.is_rising, where, reading.query, reading.key, value)

    outputs = tuple(
        _output(names, value, target, read(value)) for value, target in zip(values, head.targets, strict=True)
    )
    return HeadFact(NearestIntegerRule(gap, far, noise), outputs)


def _output(names: Names, value: Diagram, target: int, read: Diagram) -> Output:
    found = names.constants(value, "a value")
    return Output(target, read, max(found) - min(found), max(map(abs, found)))


def _noise(head: ReadHead) -> Fraction:
    """What errors of rows can change the difference of two scores by, at every length."""
    total, cold = Bound(Fraction(0)), peak_of(head.names, head.coldness)
    for (row, key), (of_query, of_key) in zip(head.rows, head.errors, strict=True):
        query, keys = peak_of(head.names, row).times(cold), peak_of(head.names, key)
        off = of_query.times(cold)
        total = total.plus(BOTH.times(off.times(keys)))
        total = total.plus(BOTH.times(query.plus(off).times(of_key)))
    if total.power > 0:
        raise UnprovenError("its integers are off by too much in longer words")
    return total.factor
