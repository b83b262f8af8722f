"""Rounding where hidden units read whole numbers: a step of a sum that grows with the word.

All units read the same computed coordinates, whose errors are shared: nothing changes as long as no value that the
sum can have comes as near to a corner as that, and what each unit loses of its own. Below all corners every unit is
exactly 0; above, the units' products no longer cancel to the last bit.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import final

from attemper.checker.feed_forward import Unit, UnitGroup, piecewise
from attemper.checker.names import Names
from attemper.checker.rounding.arithmetic import ZERO, BeyondError, Lengths, Off, OfNumber
from attemper.checker.steps import points
from attemper.checker.values import ResidualValues
from attemper.exact.balls import ball
from attemper.networks.layers import LinearForm


@final
@dataclass(frozen=True)
class StepGate:
    """Units that read whole numbers: how near to a corner their sum can be, and whether it falls back to 0."""

    form: LinearForm
    units: tuple[Unit, ...]
    room: Fraction
    returns: bool


def step_gate(names: Names, group: UnitGroup, units: tuple[Unit, ...]) -> StepGate:
    """What holds at every length."""
    corners = [-bias for bias, _ in units]
    values = {value.constant for value in names.values(group.diagram)}
    near = [point for value in values for point in points(value, corners, Fraction(0))]
    room = min(abs(point - corner) for point in near for corner in corners)
    returns = any(not piecewise(units, point) for point in near if point > min(corners))
    return StepGate(group.form, units, room, returns)


def stepped_off(lengths: Lengths, gate: StepGate, middle: ResidualValues, offs: list[Off]) -> OfNumber:
    """How far the units' sum can be off, if they alone write it. Raises `BeyondError`."""
    arithmetic, u = lengths.arithmetic, lengths.u
    size = shared = ZERO
    for coordinate, factor in gate.form:
        weight = ball(abs(factor))
        size += weight * lengths.size(middle.values[coordinate])
        shared += weight * lengths.of_mean(middle.values[coordinate], offs[coordinate])
    most = size + shared
    factors = sum((ball(abs(factor)) for _, factor in gate.units), ZERO)
    bias = ball(max(abs(bias) for bias, _ in gate.units))
    if arithmetic.halves != 1:
        raise BeyondError("a feed-forward (integers that grow, behind a normalisation)")
    summed = 3 * u * most + arithmetic.summed(len(gate.form), most, most)
    # Then comes the bias, which the format may not hold, and one more rounding.
    own = summed + 2 * u * (most + bias + summed) + u * bias + lengths.tiny
    reach = most + bias + own
    if not (shared + own < ball(gate.room)) or not (2 * factors * reach < lengths.form.range):
        raise BeyondError("a feed-forward (integers that grow)")
    written = factors * (own + 3 * u * reach) + lengths.tiny
    off = written + arithmetic.summed(len(gate.units), factors * reach, factors * reach)
    return OfNumber(off if gate.returns else ZERO, off, off, ZERO)
