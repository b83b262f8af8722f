"""LocalSign: the sign of T = sum over j <= i + sum over j >= i + bits at i, at two neighbours. (Ours.)

Form: C (2 centre j - j^2) + sigma_j (A1 j + A0), where sigma_j is (-1)^j, centre = i - 1/2 + [i = 1], with no
mask; A1 and A0 are affine in averages over j <= i and over j >= i, A0 also in n.
Side conditions: what the signs of the two middle positions differ by is the sum u T, with T odd; the parabola
is steep enough, C >= max |A1| + u/2; the value depends on j's parity alone.
Bound: with gap = u/2 the pair in the middle differs by 2 gap |T|, and t positions further on scores are at
least gap t (1 + t) lower: 3 r^2 + 2 r^6 / (1 - r^6).
Output: the value at even j if T > 0, at odd j if T < 0; at i where only i is visible.
"""

from __future__ import annotations

from fractions import Fraction

from attemper.checker.attention.averages import TwoSided, common_divisor, two_sided
from attemper.checker.attention.bounds import positive, scalar
from attemper.checker.attention.leads import Trail
from attemper.checker.attention.parities import HALF, Waves, by_parity, waves_of
from attemper.checker.attention.scores import ReadHead
from attemper.checker.diagrams import Diagram
from attemper.checker.names import Names, UnprovenError
from attemper.checker.rules import HeadFact, Rule
from attemper.checker.values import plain
from attemper.networks.layers import LocalSign, Masking


def local_sign(head: ReadHead) -> HeadFact:
    """The rule for a local sign. Raises `UnprovenError`, naming the side condition that is not shown."""
    names, waves = head.names, waves_of(head)
    if set(waves) - {(1, False), (2, False), (1, True), (0, True)} or head.masking is not Masking.NONE:
        raise UnprovenError("its scores are not those of a local sign head")
    tightness = _tightness(names, waves)
    slope = plain(waves.get((1, True), {}), names, "the slope of a local sign head")
    offset = waves.get((0, True), {})
    if set(offset) - {(0, 0), (0, 1)}:
        raise UnprovenError("its scores grow in an unknown way")
    fixed, by_length = (offset.get(powers, names.false) for powers in ((0, 0), (0, 1)))
    unit, total = _odd_multiple(names, two_sided(names, slope, fixed, by_length))
    gap = unit / 2
    steepest = max(abs(end) for value in names.values(slope) for end in names.bounds(value))
    if tightness < steepest + gap:
        raise UnprovenError("its parabola is too flat for its slope")
    is_positive = _is_positive(names, total)
    outputs = head.outputs(lambda value: by_parity(head, is_positive, value))
    behind = (Trail(2 * gap),) * 3 + (Trail(6 * gap, 6 * gap),) * 2
    return HeadFact((Rule(LocalSign, behind, said=positive(gap)),), outputs)


def _tightness(names: Names, waves: Waves) -> Fraction:
    """C, if the parabola has its top where it must."""
    bowl = scalar(names, waves.get((2, False), {}))
    tightness = -bowl.get((0, 0), Fraction(0))
    middle = {
        (1, 0): names.number(2 * tightness),
        (0, 0): names.plus(names.number(-tightness), names.scaled(names.first, 2 * tightness)),
    }
    if set(bowl) != {(0, 0)} or tightness <= 0 or waves.get((1, False)) != middle:
        raise UnprovenError("its parabola is not centred on i - 1/2")
    return tightness


def _odd_multiple(names: Names, total: TwoSided) -> tuple[Fraction, TwoSided]:
    """u, and T, which is never 0: both sums are even, and the number at i is odd."""
    parts = total.left, total.right, total.own
    unit = common_divisor(names, parts)
    left, right, own = (names.scaled(part, 1 / unit) for part in parts)
    if any(v % 2 for part in (left, right) for v in names.constants(part, "a count")):
        raise UnprovenError("T may be 0")
    if any(v % 2 != 1 for v in names.constants(own, "a count")):
        raise UnprovenError("T may be 0")
    return unit, TwoSided(left, right, own)


def _is_positive(names: Names, total: TwoSided) -> Diagram:
    """Whether T > 0: whether (T - 1) / 2 >= 0."""
    left, right = (names.scaled(part, HALF) for part in (total.left, total.right))
    own = names.scaled(names.plus(total.own, names.number(-1)), HALF)
    return names.positions.mixed_at_least(left, right, own, 0)
