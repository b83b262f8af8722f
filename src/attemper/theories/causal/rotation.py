"""A network in another basis of its residual stream, and the file that says which: FORMAT.md, section 17."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from fractions import Fraction
from functools import reduce
from typing import final

from attemper.documents import Document
from attemper.exact.codec import Codec, Natural
from attemper.networks.layers import Coordinate, LinearForm

FOLDER = "rotated"
"""Beside the file, the network in the other basis."""

MOST = 64
"""So many reflections at most: each may double the denominators of weights."""


@final
@dataclass(frozen=True)
class Reflection:
    """x -> x - (v . x) v / 2, where v is 1 at some coordinates and -1 at others, four in all, and else 0.

    As v . v = 4 it is orthogonal, and its own inverse.
    """

    plus: tuple[Natural, ...]
    minus: tuple[Natural, ...]

    @property
    def coordinates(self) -> tuple[Coordinate, ...]:
        """All that it changes."""
        return (*self.plus, *self.minus)

    def of(self, vector: Mapping[Coordinate, Fraction]) -> dict[Coordinate, Fraction]:
        """The vector after it; what does not stand there is 0.

        >>> Reflection((0, 1, 2), (3,)).of({0: Fraction(1)})[3]
        Fraction(1, 2)
        """
        signs = {**dict.fromkeys(self.plus, 1), **dict.fromkeys(self.minus, -1)}
        along = sum((sign * vector.get(own, Fraction(0)) for own, sign in signs.items()), Fraction(0))
        changed = {own: vector.get(own, Fraction(0)) - sign * along / 2 for own, sign in signs.items()}
        return {**vector, **changed}


@final
@dataclass(frozen=True)
class Rotation:
    """How the network with this digest is turned: it gets idle coordinates, then one reflection at a time."""

    network: str
    idle: Natural
    reflections: tuple[Reflection, ...]

    def of(self, vector: LinearForm) -> LinearForm:
        """A vector of the stream after all reflections, or a form on it that has the same values then."""
        turned = reduce(lambda so_far, own: own.of(so_far), self.reflections, dict(vector))
        return tuple(sorted((own, value) for own, value in turned.items() if value))


def complaints(said: Rotation) -> Iterator[str]:
    """Why it is none, whatever the network is."""
    if len(said.reflections) > MOST:
        yield f"it has more than {MOST} reflections"
    if any(len(own.coordinates) != 4 or len(set(own.coordinates)) != 4 for own in said.reflections):
        yield "a reflection has four different coordinates"


ROTATION: Document[Rotation] = Document(
    "attemper-rotation/1",
    "file about a network in another basis",
    Codec(Rotation),
    "make one with 'attemper bench DIR'",
    complaints,
)
