"""Reading what a network puts out at every position: bits, integers, fractions, distributions."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from math import isfinite
from typing import assert_never

from attemper.languages.measures import NEAR, Measure
from attemper.networks.layers import Network

OutputNumber = int | float | dict[str, float]
"""An integer, a fraction, or a probability for each name."""


def read_bit(value: float) -> bool | None:
    """The bit that an output shows: 1 from 3/4 on, 0 up to 1/4; None between, and of what is not finite.

    >>> read_bit(0.75), read_bit(0.25), read_bit(0.5)
    (True, False, None)
    """
    if not isfinite(value) or 0.25 < value < 0.75:
        return None
    return value >= 0.75


def read_numbers(network: Network, rows: Sequence[Sequence[float]]) -> tuple[OutputNumber | None, ...]:
    """The number at each position, from what each output is there; None where it is no integer, or is none.

    An integer is put out as its share: times the number of positions that are seen from i it is the integer,
    and is read where it is within 1/4 of one.
    """
    names, n = [name for name, _ in network.symbols], len(rows[0])
    match network.measure:
        case Measure.INTEGER if network.over is not None:
            shown = (network.over.number_visible(i, n) for i in range(1, n + 1))
            return tuple(integer_of(share, count) for share, count in zip(rows[0], shown, strict=True))
        case Measure.FRACTION:
            return tuple(value if isfinite(value) else None for value in rows[0])
        case _:
            columns = zip(*rows, strict=True)
            return tuple(
                dict(zip(names, column, strict=True)) if all(map(isfinite, column)) else None
                for column in columns
            )


def show_number(number: OutputNumber | None) -> str:
    """A number as text; a distribution's as `a 0.25 b 0.75`."""
    match number:
        case None:
            return "?"
        case dict():
            return " ".join(f"{name} {value:.6g}" for name, value in number.items())
        case float():
            return f"{number:.6g}"
        case int():
            return str(number)
        case _:
            assert_never(number)


def integer_of(share: float, visible: int) -> int | None:
    """The integer whose share of that many visible positions it is, to within 1/4; None if there is none."""
    if not isfinite(share):
        return None
    whole = Fraction(share) * visible  # no product of floats: where that rounds, it is another integer
    return round(whole) if abs(whole - round(whole)) <= NEAR else None
