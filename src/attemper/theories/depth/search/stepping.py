"""F_k letter by letter: what a position's value is, and what the next position sees, as numbers.

F_0(i) is the letter and the place of i; F_k(i) is F_(k-1)(i) with the values of F_(k-1) before i, in the
order of their last occurrences and in that of their first. (FORMAT.md, section 12, has the theorem: no layer
of unique hard attention knows more.)
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import final

OrderState = tuple[int, ...]
"""The next place, and of each layer below k the numbers of two orders: by last, and by first, occurrence."""

_EMPTY = 0
"""The number of the order of nothing."""


@final
@dataclass(frozen=True)
class Sight:
    """What networks can see: places, and the sides on which ties are broken.

    Positions 1, ..., prefix - 1 have places of their own; from prefix on, positions have one place where they
    are equal modulo `period`.
    """

    prefix: int = 1
    period: int = 1
    leftmost: bool = True
    rightmost: bool = True

    def after(self, place: int) -> int:
        """The place of the position after one with this place.

        >>> sight = Sight(prefix=2, period=2)
        >>> [sight.after(place) for place in (1, 2, 3)]
        [2, 3, 2]
        """
        return self.prefix if place + 1 == self.prefix + self.period else place + 1


@final
class SteppedClasses:
    """The values of F_k, and of all below, numbered as they are met."""

    def __init__(self, layers: int, sight: Sight) -> None:
        self._layers, self._sight = layers, sight
        self._values: dict[tuple[int, ...], int] = {}
        self._orders: list[tuple[int, ...]] = [()]
        self._numbers: dict[tuple[int, ...], int] = {(): _EMPTY}
        self._moved: dict[tuple[int, int], int] = {}
        self._added: dict[tuple[int, int], int] = {}
        self.start: OrderState = (1, *(_EMPTY,) * (2 * layers))

    def step(self, state: OrderState, letter: int) -> tuple[int, OrderState]:
        """The number of F_k at the next position, where this letter stands, and what is seen from then on."""
        place = state[0]
        value = self._value((letter, place))
        after = [self._sight.after(place)]
        for layer in range(self._layers):
            last, first = state[1 + 2 * layer], state[2 + 2 * layer]
            after.append(self._last(last, value) if self._sight.rightmost else _EMPTY)
            after.append(self._first(first, value) if self._sight.leftmost else _EMPTY)
            value = self._value((layer, value, last, first))
        return value, tuple(after)

    def _value(self, key: tuple[int, ...]) -> int:
        return self._values.setdefault(key, len(self._values))

    def _last(self, order: int, value: int) -> int:
        """The order once the value occurs again: it goes to the end."""
        found = self._moved.get((order, value))
        if found is None:
            entries = tuple(entry for entry in self._orders[order] if entry != value)
            found = self._moved[order, value] = self._number((*entries, value))
        return found

    def _first(self, order: int, value: int) -> int:
        """The order once the value occurs: at the end, unless it has occurred."""
        found = self._added.get((order, value))
        if found is None:
            entries = self._orders[order]
            found = order if value in entries else self._number((*entries, value))
            self._added[order, value] = found
        return found

    def _number(self, entries: tuple[int, ...]) -> int:
        if entries not in self._numbers:
            self._numbers[entries] = len(self._orders)
            self._orders.append(entries)
        return self._numbers[entries]
