"""Rounding where hidden units read whole numbers: a step of a sum that grows with the word.

All units read the same computed coordinates, whose errors are shared: nothing changes if the units' sum is
flat around each value that S can have, and none comes as near to a corner as that error and what each unit
loses of its own. Below all corners every unit is exactly 0; above, the units' products no longer cancel to
the last bit.
"""

from __future__ import annotations

from fractions import Fraction

from attemper.checker.feed_forward import Unit, UnitGroup, piecewise
from attemper.checker.rounding.arithmetic import ZERO, BeyondError, Lengths, Off, OfNumber
from attemper.checker.steps import points
from attemper.checker.values import ResidualValues
from attemper.exact.balls import ball

StepUnits = tuple[UnitGroup, tuple[Unit, ...]]
"""Units that read whole numbers, and alone write a coordinate."""


def stepped_off(lengths: Lengths, steps: StepUnits, middle: ResidualValues, offs: list[Off]) -> OfNumber:
    """How far the units' sum can be off. Raises `BeyondError`."""
    (group, units), u, summed = steps, lengths.u, lengths.arithmetic.summed
    if lengths.arithmetic.halves != 1:
        raise BeyondError("a feed-forward (integers that grow, behind a normalisation)")
    weights = [(c, ball(abs(factor))) for c, factor in group.form]
    shared = sum((weight * lengths.of_mean(middle.values[c], offs[c]) for c, weight in weights), ZERO)
    most = sum((weight * lengths.size(middle.values[c]) for c, weight in weights), shared)
    factors, bias = (
        ball(sum((abs(f) for _, f in units), Fraction(0))),
        ball(max(abs(bias) for bias, _ in units)),
    )
    # Of the products 3 u, of the bias u, and 2 u of twice the whole, for the sum may be rounded twice.
    own = summed(len(weights) + 1, most + bias, most + bias) + 8 * u * (most + bias) + lengths.tiny
    reach = most + bias + own
    corners = [-bias for bias, _ in units]
    values = {value.constant for value in lengths.names.values(group.diagram)}
    near = {point for value in values for point in points(value, corners, Fraction(0))}
    room = min(abs(point - corner) for point in near for corner in corners)
    rises = any(sum(factor for bias, factor in units if point + bias > 0) for point in near)
    if rises or not (shared + own < ball(room)) or not (2 * factors * reach < lengths.form.range):
        raise BeyondError("a feed-forward (integers that grow)")
    lost = own + 3 * u * reach + summed(len(units), reach, reach)
    off = factors * lost + lengths.tiny
    # Above a corner their sum may be 0 again.
    is_quiet = all(piecewise(units, point) for point in near if point > min(corners))
    return OfNumber(ZERO if is_quiet else off, off, off, ZERO)
