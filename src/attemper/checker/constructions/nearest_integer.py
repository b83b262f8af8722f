"""NearestInteger: the rightmost (leftmost) visible position of the least (K - K')^2 + b. (Ours.)

Form: G (2 K K' - K'^2 - b) + T t(j), where K is a whole number at i, K' one at j, K'^2 its square, b a bit at
j or 0, and t(j) is j or its negative; G and T depend on i and n. K, K' and K'^2 may be approximate. K can be
i, n - i + 1 or n, too, and K' can be j: the numbers of all positions on a side.
Side conditions: G > 0, T > 0; what errors can change the difference of two scores by is at most `noise` at
every length; a step costs at least `gap` by T t(j); positions of a larger L = (K - K')^2 + b are behind.
Bound: L is an integer, so a larger one is larger by 1 at least. Nearer positions of the same L, e^noise
e^-gap each step: e^noise r / (1 - r); positions of a larger L: e^noise e^-far.
Output: the value at the winner: there is one wherever i sees anything, whether or not K is some K'. A value
can be a n^b K' itself, with b < 0: then it is off by at most |a| n^b max(1, |K' - K|) of
e^noise (2 r / (1 - r) + e^-beyond), and by what the values are off. For who has the same L as the winner has
K' - K or K - K' in place of it, or 0 for 1 or -1 and back; who has a larger L has a K' less than n away.
Floats: the errors of all rows, as polynomials in n, against the gap.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import final

import flint

from attemper.checker.attention import parabolas
from attemper.checker.attention.bounds import VISIBLE, for_losses, is_positive
from attemper.checker.attention.nearest_keys import multiple_of
from attemper.checker.attention.parabolas import ScoreParts, ScoreShape
from attemper.checker.attention.scores import Output, ReadHead, plain_value
from attemper.checker.attention.tie_breaks import TieBreak, tie_break
from attemper.checker.names import Affine, Names, UnprovenError, scale_affine
from attemper.checker.rounding.arithmetic import Off
from attemper.checker.rounding.attention import RoundedHead, attended
from attemper.checker.rounding.integers import nearest_key_off, scores_off
from attemper.checker.rules import HeadFact, mass, weight
from attemper.checker.values import PerStep
from attemper.exact import laurent
from attemper.exact.balls import ball, upper_bound
from attemper.exact.monomials import Monomial

FURTHER = "positions further from the integer can win"


@final
@dataclass(frozen=True)
class NearestIntegerRule:
    """Nearer positions lead by `gap` per step, those of a larger L are at most e^-far together.

    Errors change no score gap by more than `noise`; n times the latter are at most e^-beyond (0: no integer).
    """

    gap: Fraction
    far: Fraction
    noise: Fraction
    beyond: Fraction

    @property
    def least_gap(self) -> Fraction:
        """One step, or who has a larger L: V - 2 >= 0 more than `far`; less what errors change."""
        return min(self.gap, self.far) - self.noise

    def stray(self, loss: flint.arb, noise: flint.arb) -> flint.arb:
        """W = e^noise (r / (1 - r) + e^-far)."""
        return _mass(self, loss, noise, ball(self.far) * (1 - loss))

    def offs(self, head: RoundedHead) -> list[Off]:
        """Every score gap may be smaller by what all errors together change a difference of scores by."""
        loss = scores_off(head) / ball(self.gap)
        # Half of what is far may be lost, so that its part is no more than twice that of its bound.
        far, beyond = (
            ball(own) * (1 - 2 * head.argument) - loss * ball(self.gap) for own in (self.far, self.beyond)
        )
        found = attended(head, loss, lambda lost, noise: _mass(self, lost, noise, far))
        apart = _apart(self, loss + head.argument, head.noise, beyond)
        return [
            own if output.step is None else nearest_key_off(head, form, output.growth, apart)
            for own, form, (_, output) in zip(found, head.head.values, head.values, strict=True)
        ]


def _apart(rule: NearestIntegerRule, loss: flint.arb, noise: flint.arb, beyond: flint.arb) -> flint.arb:
    """How far the keys that are read are from the winner's in the mean, by max(1, its distance)."""
    near = weight(rule.gap, loss)
    return ball(rule.noise).exp() * (2 * near / (1 - near) + (-beyond).exp()) * noise


def _mass(rule: NearestIntegerRule, loss: flint.arb, noise: flint.arb, far: flint.arb) -> flint.arb:
    near = weight(rule.gap, loss)
    return mass(ball(rule.noise).exp() * (near / (1 - near) + (-far).exp()) * noise)


def nearest_integer(head: ReadHead) -> HeadFact:
    """The rule for a nearest integer. Raises `UnprovenError`, naming what is not shown."""
    noise, parts = parabolas.noise_of(head), parabolas.parts_of(head)
    failure = UnprovenError("its scores are not those of a nearest integer")
    for reading in parabolas.readings_of(head.names, parts):
        try:
            return _fact(head, noise, parts, reading)
        except UnprovenError as error:
            failure = error
    raise failure


def _fact(head: ReadHead, noise: Fraction, parts: ScoreParts, reading: ScoreShape) -> HeadFact:
    names, push = head.names, reading.push
    tie = tie_break(reading.tie, 1, head.masking)
    if not is_positive(push, tie.domain):
        raise UnprovenError("its parabola is upside down")
    where = parabolas.where_of(names, parts, push)
    gap, span = tie.bounds()
    score_gap = laurent.plus(push, laurent.times(span, -1))
    room = laurent.plus(laurent.constant(2), laurent.times(VISIBLE[tie.masking], -1))
    far, _ = for_losses(score_gap, room, tie.domain, FURTHER)
    factors = [multiple_of(names, value, reading.key) for value in head.values]
    rule = NearestIntegerRule(gap, far, noise, _beyond(score_gap, room, tie) if any(factors) else Fraction(0))
    sought = (head.masking, not tie.is_rising, where, reading.query, reading.key)
    outputs, values = list[Output](), zip(head.values, head.value_errors, head.targets, factors, strict=True)
    for value, off, target, multiple in values:
        if multiple is not None:
            outputs.append(_key(names, rule, target, multiple, off, names.nearest_key(*sought)))
            continue
        own = plain_value(names, value, off)
        found = names.constants(own, "a value")
        read = names.nearest(*sought, own)
        outputs.append(Output(target, read, max(found) - min(found), max(map(abs, found))))
    return HeadFact(rule, tuple(outputs))


def _beyond(score_gap: laurent.Laurent, room: laurent.Laurent, tie: TieBreak) -> Fraction:
    """The same as far, with n times as much weight: n is at most e^(n - 1)."""
    longer = laurent.plus(room, laurent.constant(1), laurent.monomial(0, 1, -1))
    return for_losses(score_gap, longer, tie.domain, FURTHER)[0]


def _key(
    names: Names,
    rule: NearestIntegerRule,
    target: int,
    multiple: tuple[Fraction, int],
    off: Monomial,
    read: tuple[int, Affine],
) -> Output:
    """A multiple of the key at the winner, less than n steps away, with its error: as it is, and per step."""
    (factor, growth), (number, found) = multiple, read
    apart = upper_bound(_apart(rule, flint.arb(0), flint.arb(1), ball(rule.beyond)))
    near = Monomial(abs(factor) * apart, growth)
    error, step = near.times(Monomial(Fraction(1), 1)).plus(off), PerStep(number, near.plus(off))
    own = names.affine(scale_affine(found, factor))
    return Output(target, own, Fraction(0), Fraction(0), growth, error, step)
