"""What a stream puts out at a position, read from the output coordinates there."""

from __future__ import annotations

from collections.abc import Sequence
from math import isfinite

from attemper.errors import UnsupportedError
from attemper.languages.measures import Measure
from attemper.networks.layers import Masking, Network
from attemper.running.numbers import OutputNumber, integer_of, read_bit

PutOut = bool | str | OutputNumber
"""A bit, the name of a symbol, or a number."""


def require_readable(network: Network) -> None:
    """Raises `UnsupportedError` for integers that are shares of positions that are not there yet."""
    over = network.over
    if network.measure is Measure.INTEGER and (over is None or over.weak is not Masking.FUTURE):
        raise UnsupportedError(
            "what is put out is an integer's share of positions that come later, so that only whole words "
            "have it: run whole words instead"
        )


def read_output(network: Network, values: Sequence[float], i: int) -> PutOut | None:
    """What is put out at position i; None where it cannot be read."""
    if network.measure is None and network.symbols:
        return _only(network.symbols, values)
    match network.measure:
        case Measure.INTEGER:
            return integer_of(values[0], i - (network.over is Masking.STRICT_FUTURE))
        case Measure.FRACTION:
            return values[0] if isfinite(values[0]) else None
        case Measure.DISTRIBUTION:
            names = (name for name, _ in network.symbols)
            return dict(zip(names, values, strict=True)) if all(map(isfinite, values)) else None
        case None:
            return read_bit(values[0])


def _only(symbols: Sequence[tuple[str, int]], values: Sequence[float]) -> str | None:
    """The name whose bit alone is 1; None if there is none, or a bit cannot be read."""
    if values.count(1.0) == 1 and values.count(0.0) == len(values) - 1:  # as nearly always
        return symbols[values.index(1.0)][0]
    bits = [read_bit(value) for value in values]
    held = [name for (name, _), bit in zip(symbols, bits, strict=True) if bit]
    return held[0] if len(held) == 1 and None not in bits else None
