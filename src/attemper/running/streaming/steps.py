"""A network as a function of one symbol: embedding, heads and hidden units, on plain floats.

What can be computed before the first symbol is: constant position embeddings are added to the word
embeddings, and hidden units that read the same share its sum.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import final

from attemper.errors import UnsupportedError
from attemper.exact.closed_forms import ClosedForm, Number
from attemper.networks.layers import Coordinate, Hidden, Layer, LinearForm, Network
from attemper.running.engines.scan.shapes import Combination
from attemper.running.streaming import planning
from attemper.running.streaming.forms import LinearFunction, OfPosition, linear_function, position_function
from attemper.running.streaming.heads import limit_at

Units = tuple[tuple[int, float, tuple[tuple[Coordinate, float], ...]], ...]
"""Of each hidden unit of a layer that reads a sum: its number, its bias, and what it adds to."""


@final
@dataclass(frozen=True)
class StreamingLayer:
    """Heads with the coordinates that they add to, then hidden units by the sums that they read."""

    heads: tuple[tuple[planning.AnyHead, tuple[Coordinate, ...]], ...]
    sums: tuple[tuple[Combination, Units], ...]
    reads: tuple[LinearFunction, ...]
    width: int
    clamps: tuple[tuple[int, int], ...]

    def step(self, i: int, x: list[float], limit: float) -> float:
        """Add to the residual stream x at i what the layer adds; the smallest margin of its clamps."""
        found = [(head.step(i, x, limit), targets) for head, targets in self.heads]
        for values, targets in found:
            for value, target in zip(values, targets, strict=True):
                x[target] += value
        pre = [0.0] * self.width
        active: list[tuple[float, tuple[tuple[Coordinate, float], ...]]] = []
        for read, (_, units) in zip(self.reads, self.sums, strict=True):
            total = read(x)
            for unit, bias, outputs in units:
                pre[unit] = seen = total + bias
                if not seen <= 0.0:
                    active.append((seen, outputs))
        for seen, outputs in active:
            for target, factor in outputs:
                x[target] += factor * seen
        return min([max(-pre[low], pre[high]) for low, high in self.clamps], default=float("inf"))


@final
@dataclass(frozen=True)
class StreamingNetwork:
    """A network that reads one symbol at a time; the heads hold the state, and nothing else does."""

    rows: tuple[tuple[float, ...], ...]
    positions: tuple[tuple[Coordinate, ClosedForm], ...]
    moving: tuple[OfPosition, ...]
    layers: tuple[StreamingLayer, ...]
    outputs: tuple[Coordinate, ...]

    @property
    def heads(self) -> tuple[planning.AnyHead, ...]:
        """All heads, layer by layer."""
        return tuple(head for layer in self.layers for head, _ in layer.heads)

    def step(self, token: int, i: int) -> tuple[list[float], float]:
        """The outputs at position i, where that symbol stands, and the smallest margin there."""
        x, limit, margin = list(self.rows[token]), limit_at(i), float("inf")
        for (coordinate, _), function in zip(self.positions, self.moving, strict=True):
            x[coordinate] += function(i)
        for layer in self.layers:
            margin = min(margin, layer.step(i, x, limit))
        return [x[coordinate] for coordinate in self.outputs], margin


def steps_of(network: Network) -> StreamingNetwork:
    """The network, before the first symbol.

    Raises `UnsupportedError`, naming the head or layer that forbids it.
    """
    if network.normalisation is not None:
        raise UnsupportedError(
            "the network reads its residual stream through a normalisation, which is not streamed: "
            f"{planning.REMEDY}"
        )
    try:
        return _steps(planning.stage_of(network))
    except OverflowError:
        raise UnsupportedError(
            f"a number of the network is too large for float64: {planning.REMEDY}"
        ) from None


def _steps(stage: planning.KnownStream) -> StreamingNetwork:
    network = stage.network
    layers = tuple(_layer(stage, number, layer) for number, layer in enumerate(network.layers))
    planning.require_known(stage, "the output", (((c, Fraction(1)),) for c in network.outputs))
    known = [(c, form) for c, form in dict(network.positions).items() if c not in stage.unknown]
    constants = {c: float(form.value) for c, form in known if isinstance(form, Number)}
    positions = tuple((c, form) for c, form in known if c not in constants)
    return StreamingNetwork(
        tuple(_row(form, constants, len(network.coordinates)) for form in network.embedding),
        positions,
        tuple(position_function(form) for _, form in positions),
        layers,
        network.outputs,
    )


def _layer(stage: planning.KnownStream, number: int, layer: Layer) -> StreamingLayer:
    heads = tuple(
        (planning.streaming_head(stage, f"layer {number}, head {place}", head), head.targets)
        for place, head in enumerate(layer.heads)
    )
    planning.require_known(stage, f"layer {number}, feed-forward", (unit.form for unit in layer.hidden))
    sums = _by_sum(layer.hidden)
    reads = tuple(linear_function(form) for form, _ in sums)
    return StreamingLayer(heads, sums, reads, len(layer.hidden), layer.clamps)


def _by_sum(hidden: Sequence[Hidden]) -> tuple[tuple[Combination, Units], ...]:
    """The hidden units, those that read the same linear form together."""
    found: dict[LinearForm, list[tuple[int, float, tuple[tuple[Coordinate, float], ...]]]] = {}
    for number, unit in enumerate(hidden):
        own = number, float(unit.bias), _floats(unit.outputs)
        found.setdefault(unit.form, []).append(own)
    return tuple((_floats(form), tuple(units)) for form, units in found.items())


def _row(form: LinearForm, constants: dict[Coordinate, float], width: int) -> tuple[float, ...]:
    """A word embedding, with the position embeddings that are the same everywhere."""
    own = dict(_floats(form))
    return tuple(own.get(c, 0.0) + constants.get(c, 0.0) for c in range(width))


def _floats(form: Iterable[tuple[Coordinate, Fraction]]) -> tuple[tuple[Coordinate, float], ...]:
    return tuple((coordinate, float(factor)) for coordinate, factor in form)
