"""From hard attention to softmax: every head gets scores and a temperature that imitate its choice.

Each layer takes the smallest margin B for which all its clamps still round exactly: the errors of
the approximate bits that a clamp adds up must not exceed 1/4 (Lemma 9).
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from fractions import Fraction
from typing import final

from attemper.compiling.assembling.weights import Stream
from attemper.compiling.regimes import Regime
from attemper.compiling.softening.bounds import MARGINS, stray_mass
from attemper.compiling.softening.soft_rows import soft_rows
from attemper.errors import UnsupportedError
from attemper.networks.layers import Coordinate, Layer, LocalSign, Network, Sign, Softmax, Uniform

ROUNDING_ROOM = Fraction(1, 4)


@final
@dataclass(frozen=True)
class SoftenedHead:
    """Softmax stands for hard attention in one head: at most `stray_mass` lies off the right position."""

    layer: int
    head: int
    margin: Fraction
    stray_mass: Fraction


@final
@dataclass(frozen=True)
class RoundedLayer:
    """Every linear form that hidden units read is off by at most `error` <= 1/4."""

    layer: int
    error: Fraction


Evidence = SoftenedHead | RoundedLayer


def hard_to_soft(
    network: Network, regime: Regime, least_margin: int = MARGINS[0]
) -> tuple[Network, tuple[Evidence, ...]]:
    """The softmax network of a hard one, and what is claimed of each head and layer.

    No head has a margin below `least_margin`.

    Raises `UnsupportedError` if a Boolean block adds up so many approximate bits that no margin
    suffices.
    """
    stream = Stream(network.coordinates, network.positions)
    layers: list[Layer] = []
    evidence: list[Evidence] = []
    for number, layer in enumerate(network.layers):
        margin, error = _choose_margin(layer, regime, least_margin)
        heads = []
        for index, head in enumerate(layer.heads):
            query, key, coldness = soft_rows(head.construction, head.masking, regime, margin, stream)
            heads.append(replace(head, query=query, key=key, weighting=Softmax(coldness)))
            mass = stray_mass(head.construction, regime, margin)
            lead = Fraction(0 if isinstance(head.construction, Uniform) else margin)
            evidence.append(SoftenedHead(number, index, lead, mass))
        layers.append(replace(layer, heads=tuple(heads)))
        evidence.append(RoundedLayer(number, error))
    soft = replace(
        network,
        coordinates=tuple(stream.labels),
        positions=stream.placed(),
        layers=tuple(layers),
    )
    return soft, tuple(evidence)


def _choose_margin(layer: Layer, regime: Regime, least_margin: int) -> tuple[int, Fraction]:
    """The smallest sufficient margin, and the largest error that a clamp then sees."""
    for margin in (margin for margin in MARGINS if margin >= least_margin):
        error = _largest_clamp_error(layer, regime, margin)
        if error <= ROUNDING_ROOM:
            return margin, error
    raise UnsupportedError(
        f"a Boolean block adds up too many approximate bits for every margin up to {MARGINS[-1]}; "
        "split the formula"
    )


def _largest_clamp_error(layer: Layer, regime: Regime, margin: int) -> Fraction:
    errors: dict[Coordinate, Fraction] = {}
    for head in layer.heads:
        # Values are bits, or (-1)^j: the output moves by at most the mass times their range.
        value_range = 2 if isinstance(head.construction, Sign | LocalSign) else 1
        bound = value_range * stray_mass(head.construction, regime, margin)
        errors.update(dict.fromkeys(head.targets, bound))
    sums = (
        sum((abs(factor) * errors.get(c, Fraction(0)) for c, factor in layer.hidden[low].form), Fraction(0))
        for low, _ in layer.clamps
    )
    return max(sums, default=Fraction(0))
