"""From hard attention to softmax: every head gets scores and a temperature that imitate its choice.

Each layer takes the smallest margin B for which all its clamps still round exactly: the errors of
the approximate bits that a clamp adds up must not exceed 1/4 (Lemma 9).
"""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction

from attemper.compiling.building.plan import with_rows
from attemper.compiling.building.weights import Coordinates
from attemper.compiling.constructions.table import plan_of, soft_plan_of, soft_values
from attemper.errors import InternalError, UnsupportedError
from attemper.networks.layers import Coordinate, Head, Layer, Masking, Network
from attemper.networks.regime import Regime

MARGINS = (4, 8, 16, 32, 64)
"""The margins B to choose from: powers of two, so that integer scores stay exact in floats."""

ROUNDING_ROOM = Fraction(1, 4)


def hard_to_soft(
    network: Network, regime: Regime, least_margin: int = MARGINS[0], *, is_literal: bool = False
) -> Network:
    """The softmax network of a hard one; no head has a margin below `least_margin`.

    If it `is_literal`, integers are retrieved as the papers do: off by a number, not by less and less.

    Raises `UnsupportedError` if a Boolean block adds up so many approximate bits that no margin
    suffices.
    """
    stream = Coordinates(network.coordinates, network.positions)
    layers: list[Layer] = []
    for layer in network.layers:
        margin = margin_of(layer, regime, least_margin, is_literal=is_literal)
        heads = tuple(_softened(head, regime, margin, stream, is_literal) for head in layer.heads)
        layers.append(replace(layer, heads=heads))
    return replace(
        network,
        coordinates=tuple(stream.labels),
        positions=stream.placed(),
        layers=tuple(layers),
    )


def _softened(head: Head, regime: Regime, margin: int, stream: Coordinates, is_literal: bool) -> Head:
    if regime is Regime.DECODER and head.masking.weak is not Masking.FUTURE:
        raise InternalError(f"a {head.masking} head in the decoder regime (please report)")
    plan = soft_plan_of(head, regime, stream, is_literal=is_literal)
    forms = soft_values(head, regime, stream, is_literal=is_literal)
    return with_rows(plan, plan.soft(regime, margin, stream), tuple(zip(forms, head.targets, strict=True)))


def margin_of(
    layer: Layer, regime: Regime, least_margin: int = MARGINS[0], *, is_literal: bool = False
) -> int:
    """The smallest margin that is sufficient for a hard layer."""
    for margin in (margin for margin in MARGINS if margin >= least_margin):
        if largest_clamp_error(layer, regime, margin, is_literal=is_literal) <= ROUNDING_ROOM:
            return margin
    raise UnsupportedError(
        f"a Boolean block adds up too many approximate bits for every margin up to {MARGINS[-1]}; "
        "split the formula"
    )


def largest_clamp_error(layer: Layer, regime: Regime, margin: int, *, is_literal: bool = False) -> Fraction:
    """By how much the sum that a clamp of the layer reads can be off."""
    errors: dict[Coordinate, Fraction] = {}
    for head in layer.heads:
        # An output moves by at most the mass times the range of the values.
        plan = plan_of(head, is_literal=is_literal)
        errors.update(dict.fromkeys(head.targets, plan.value_range * plan.stray_mass(regime, margin)))
    sums = (
        sum((abs(factor) * errors.get(c, Fraction(0)) for c, factor in layer.hidden[low].form), Fraction(0))
        for low, _ in layer.clamps
    )
    return max(sums, default=Fraction(0))
