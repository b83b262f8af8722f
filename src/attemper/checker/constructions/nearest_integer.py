"""NearestInteger: the rightmost (leftmost) visible position of the least (K - K')^2 + b. (Ours.)

Form: G (2 K K' - K'^2 - b) + T t(j), where K is a whole number at i, K' one at j, K'^2 its square, b a bit at
j or 0, and t(j) is j or its negative; G and T depend on i and n. K, K' and K'^2 may be approximate. K can be
i, n - i + 1 or n, too, and K' can be j: the numbers of all positions on a side.
Side conditions: what errors can change the difference of two scores by is at most `noise` at every length;
those of the lemma in `attention.leads`: of who is further off, by T t(j), and of who is nearer, but has a
larger L = (K - K')^2 + b. L is an integer, so that a larger one is larger by 1 at least.
Bound: e^noise e^-start / (1 - e^-step) for each of the two sides.
Output: the value at the winner: there is one wherever i sees anything, whether or not K is some K'. A value
can be a n^b K' itself, with b < 0: then it is off by at most |a| n^b max(1, |K' - K|) of
e^noise (twice those further off, and n times those of a larger L), and by what the values are off. For who
has the same L as the winner has K' - K or K - K' in place of it, or 0 for 1 or -1 and back; who has a larger
L has a K' less than n away.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from fractions import Fraction

import flint

from attemper.checker import whole_numbers
from attemper.checker.attention import parabolas
from attemper.checker.attention.bounds import at_corner
from attemper.checker.attention.leads import Trail, apart, scored, trail
from attemper.checker.attention.nearest_keys import multiple_of
from attemper.checker.attention.parabolas import ScoreParts, ScoreShape
from attemper.checker.attention.scores import Output, ReadHead, plain_value
from attemper.checker.names import Affine, Names, UnprovenError, scale_affine
from attemper.checker.rules import HeadFact, Rule
from attemper.checker.values import PerStep
from attemper.exact import laurent
from attemper.exact.balls import upper_bound
from attemper.exact.laurent import J, W
from attemper.exact.monomials import Monomial
from attemper.networks.layers import NearestInteger


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
    names, is_rising = head.names, at_corner(reading.tie, head.masking) > 0
    where = parabolas.where_of(head, parts, reading.push)
    farther, nearer = (J, W) if is_rising else (W, J)
    tie = apart(reading.tie, 1)
    larger = laurent.plus(tie, scored(reading.push, J, 0))
    behind, ahead = trail(tie, head.masking, farther), trail(larger, head.masking, nearer)
    factors = [multiple_of(names, value, reading.key) for value in head.values]
    # n times as much: n is at most e^(n - 1).
    longer = laurent.plus(larger, scored({(0, 0): Fraction(1), (0, 1): Fraction(-1)}, J, 0))
    beyond = [trail(longer, head.masking, low) for low in (farther, nearer)] if any(factors) else []
    behind, ahead, *beyond = (replace(own, start=own.start - noise) for own in (behind, ahead, *beyond))
    if min(own.start for own in (behind, ahead, *beyond)) <= 0:
        raise UnprovenError("not proved for all lengths: positions further from the integer can win")
    sought = (head.masking, not is_rising, where, reading.query, reading.key)
    outputs, values = list[Output](), zip(head.values, head.value_errors, head.targets, factors, strict=True)
    for value, off, target, multiple in values:
        if multiple is None:
            own = plain_value(names, value, off)
            outputs.append(head.output(target, own, whole_numbers.nearest(names, *sought, own)))
            continue
        far = upper_bound(apart_of(behind, beyond, [flint.arb(0)] * (1 + len(beyond))))
        outputs.append(_key(names, far, target, multiple, off, whole_numbers.nearest_key(names, *sought)))
    return HeadFact((Rule(NearestInteger, (behind,), (ahead,), said=tuple(beyond)),), tuple(outputs))


def apart_of(behind: Trail, beyond: Sequence[Trail], losses: Sequence[flint.arb]) -> flint.arb:
    """How far the keys that are read are from the winner's in the mean, by max(1, its distance)."""
    weights = [own.weight(loss) for own, loss in zip((behind, *beyond), losses, strict=True)]
    return weights[0] + sum(weights, flint.arb(0))


def _key(
    names: Names,
    far: Fraction,
    target: int,
    multiple: tuple[Fraction, int],
    off: Monomial,
    read: tuple[int, Affine],
) -> Output:
    """A multiple of the key at the winner, less than n steps away, with its error: as it is, and per step."""
    (factor, growth), (number, found) = multiple, read
    near = Monomial(abs(factor) * far, growth)
    error, step = near.times(Monomial(Fraction(1), 1)).plus(off), PerStep(number, near.plus(off))
    own = names.affine(scale_affine(found, factor))
    return Output(target, own, Fraction(0), Fraction(0), growth, error, step)
