"""Coordinates that hold one number at every position of every word, seen from the weights alone."""

from __future__ import annotations

from collections.abc import Iterable
from fractions import Fraction

from attemper.exact.closed_forms import ClosedForm, Number
from attemper.networks.layers import Coordinate, Layer, LinearForm


def written_by(layers: Iterable[Layer]) -> set[Coordinate]:
    """The coordinates that heads or hidden units of the layers add something to."""
    heads = {target for layer in layers for head in layer.heads for target in head.targets}
    return heads | {target for layer in layers for unit in layer.hidden for target, _ in unit.outputs}


def constants_of(
    embedding: Iterable[LinearForm],
    positions: Iterable[tuple[Coordinate, ClosedForm]],
    unwritten: Iterable[Coordinate],
) -> dict[Coordinate, Fraction]:
    """The numbers of `unwritten` coordinates that all symbols share and no position changes, but by a number.

    >>> from attemper.exact.closed_forms import I, number
    >>> one = ((0, Fraction(1)),)
    >>> constants_of((one, one), ((0, number(2)), (1, I)), range(3))
    {0: Fraction(3, 1), 2: Fraction(0, 1)}
    """
    rows, places = [dict(form) for form in embedding], dict(positions)
    found: dict[Coordinate, Fraction] = {}
    for coordinate in sorted(unwritten):
        place = places.get(coordinate, Number(Fraction(0)))
        shared = {row.get(coordinate, Fraction(0)) for row in rows}
        if isinstance(place, Number) and len(shared) == 1:
            found[coordinate] = place.value + shared.pop()
    return found
