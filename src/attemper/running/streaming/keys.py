"""What the scores of a head that streams are made of: kinds of keys, and the score of each kind.

Positions whose keys have the same content (and, where a key reads (-1)^j, the same parity) are of one kind.
In a kind the score of j at the query i is, for a g that is j in some heads and 1/j in others,

    level + slope g + bend g^2

where the three numbers are linear forms of the queries at i.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from math import isfinite
from typing import final

from attemper.errors import UndecidedError, UnsupportedError
from attemper.exact.closed_forms import ClosedForm
from attemper.running.engines.scan.shapes import Combination, KeyRow
from attemper.running.streaming.forms import LinearFunction, OfPosition, linear_function, position_function

Key = tuple[float, ...]
"""A kind: the parity (1 where j is odd) if keys have one, and the content of each row that has one."""

MOST_KINDS = 64
"""A head with more kinds of keys, not counting parity, is refused: what it reads are no bits."""


@final
@dataclass(frozen=True)
class HeadScores:
    """The scores of one head; `name` is how errors call the head.

    `cold` is the inverse temperature; queries and keys are those of the rows, the keys' `waves` without n.
    """

    name: str
    is_strict: bool
    cold: ClosedForm
    queries: tuple[Combination, ...]
    keys: tuple[KeyRow, ...]
    has_parity: bool
    is_inverse: bool

    def __post_init__(self) -> None:
        """Raises OverflowError for a temperature that is too large for float64."""
        position_function(self.cold)

    @property
    def contents(self) -> tuple[int, ...]:
        """Which rows have keys with content."""
        return tuple(row for row, key in enumerate(self.keys) if key.content)

    @property
    def stride(self) -> int:
        """How far apart positions of one kind are at least."""
        return 2 if self.has_parity else 1

    @cached_property
    def _asked(self) -> tuple[OfPosition, tuple[LinearFunction, ...]]:
        return position_function(self.cold), tuple(map(linear_function, self.queries))

    def queries_at(self, i: int, x: Sequence[float]) -> list[float]:
        """The queries at i, divided by the temperature."""
        of_position, queries = self._asked
        cold = of_position(i)
        return [cold * query(x) for query in queries]

    def key_function(self) -> Callable[[int, Sequence[float]], Key]:
        """The kind of the key at j."""
        contents = tuple(linear_function(self.keys[row].content) for row in self.contents)
        if not contents:
            return (lambda j, _: (j & 1,)) if self.has_parity else (lambda _, __: ())
        if self.has_parity:
            return lambda j, x: (j & 1, *[content(x) for content in contents])
        if len(contents) == 1:
            content = contents[0]
            return lambda _, x: (content(x),)
        return lambda _, x: tuple([content(x) for content in contents])

    def level(self, key: Key) -> Combination:
        """What of the score is the same at all positions of the kind: so much of each query."""
        own = dict(zip(self.contents, key[self.has_parity :], strict=True))
        constants = self._coefficients(0, key)
        rows = [(row, constant + own.get(row, 0.0)) for row, constant in constants]
        return tuple((row, factor) for row, factor in rows if factor)

    def slope(self, key: Key) -> Combination:
        """What g is multiplied with."""
        return tuple((row, factor) for row, factor in self._coefficients(1, key) if factor)

    def bend(self, key: Key) -> Combination:
        """What g^2 is multiplied with."""
        return tuple((row, factor) for row, factor in self._coefficients(2, key) if factor)

    def _coefficients(self, degree: int, key: Key) -> list[tuple[int, float]]:
        """The factor of g^degree in each row's keys: an exact sum, rounded once."""
        power, sign = (-degree if self.is_inverse else degree), (-1 if self.has_parity and key[0] else 1)
        return [(row, float(wave_sum(own, power, sign))) for row, own in enumerate(self.keys)]

    def require_room(self, kinds: int, key: Key, i: int) -> None:
        """Raises `UnsupportedError` for one kind too many, `UndecidedError` for no kind at all."""
        if not all(map(isfinite, key)):
            raise UndecidedError(f"{self.name} reads a number at position {i:,} that is not finite")
        if kinds >= MOST_KINDS * self.stride:
            raise UnsupportedError(
                f"{self.name} cannot be streamed beyond position {i - 1:,}: it reads more than {MOST_KINDS} "
                "different numbers there, and its state would grow; run the whole word instead"
            )


def wave_sum(key: KeyRow, power: int, sign: int) -> Fraction:
    """The factor of j^power at positions j with (-1)^j = sign."""
    waves = key.waves
    return waves.get((power, False), Fraction(0)) + sign * waves.get((power, True), Fraction(0))
