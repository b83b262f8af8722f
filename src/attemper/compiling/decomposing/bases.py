"""First stages: what is known about the state from the letter, the place and the last few letters."""

from __future__ import annotations

from dataclasses import dataclass
from typing import final

from attemper.compiling.cascade import Content, Delay, RegisterLevel
from attemper.compiling.decomposing.limits import check
from attemper.compiling.decomposing.stages import Images, Stage, Transition


@final
@dataclass(frozen=True)
class PositionCycle:
    """0, 1, ..., prefix + period - 1; after the last comes the one with number `prefix`."""

    prefix: int
    period: int

    @property
    def count(self) -> int:
        return self.prefix + self.period

    def after(self, place: int) -> int:
        """The place of the next position."""
        return place + 1 if place + 1 < self.count else self.prefix

    def symbols(self, letters: int) -> tuple[tuple[int, tuple[int, ...]], ...]:
        """For each place the next one, and the symbols below the first levels there."""
        return tuple(
            (self.after(place), tuple(range(place * letters, (place + 1) * letters)))
            for place in range(self.count)
        )


def exact_places(images: Images) -> tuple[PositionCycle, tuple[int, ...]]:
    """The places at which exactly the same states can be reached, and these states, as bit masks."""
    number: dict[int, int] = {}
    mask = 1 << images.dfa.start
    while mask not in number:
        check(len(number) + 1, images.limits, "places", "places")
        number[mask] = len(number)
        mask = _step(mask, images)
    prefix = number[mask]
    return PositionCycle(prefix, len(number) - prefix), tuple(number)


def reachable_at(places: PositionCycle, images: Images) -> tuple[int, ...]:
    """For each place the states that can be reached before a position there, as bit masks."""
    found = [0] * places.count
    found[0] = 1 << images.dfa.start
    waiting = [0]
    while waiting:
        place = waiting.pop()
        following = places.after(place)
        larger = found[following] | _step(found[place], images)
        if larger != found[following]:
            found[following] = larger
            waiting.append(following)
    return tuple(found)


def _step(mask: int, images: Images) -> int:
    result = 0
    for letter in range(len(images.dfa.alphabet.symbols)):
        result |= images.under(mask, letter)
    return result


def by_place(places: PositionCycle, images: Images, *, carried: bool) -> Stage:
    """Known: which states can be reached at the place. If it is `carried`, later stages know it, too."""
    letters = range(len(images.dfa.alphabet.symbols))
    numbers = range(places.count)
    check(len(numbers) * len(letters), images.limits, "symbols", "places and letters")
    steps = tuple(Transition(place, letter, places.after(place)) for place in numbers for letter in letters)
    return Stage(reachable_at(places, images), tuple(p if carried else 0 for p in numbers), 0, steps)


def by_last_letters(
    places: PositionCycle, images: Images, count: int, *, carried: bool
) -> tuple[RegisterLevel, Stage]:
    """A level of delays that knows the last letters; the stage has the states that they can lead to.

    Before position count + 1 this is the one state that is there.
    """
    letters = len(images.dfa.alphabet.symbols)
    reachable = reachable_at(places, images)
    nodes: dict[tuple[int, int], int] = {}
    steps: dict[Transition, int] = {}
    rows: list[tuple[tuple[int, tuple[Content, ...]], int]] = []
    seen: set[tuple[int, tuple[int, ...]]] = {(0, ())}
    waiting: list[tuple[int, tuple[int, ...]]] = [(0, ())]

    def node(place: int, window: tuple[int, ...]) -> int:
        mask = reachable[window[0] // letters] if len(window) == count else 1 << images.dfa.start
        for symbol in window:
            mask = images.under(mask, symbol % letters)
        return nodes.setdefault((place if carried else 0, mask), len(nodes))

    start = node(0, ())
    while waiting:
        place, window = waiting.pop()
        source = node(place, window)
        contents = (*reversed(window), *[None] * (count - len(window)))
        for letter in range(letters):
            symbol = place * letters + letter
            reached = places.after(place), (*window, symbol)[-count:]
            step = Transition(source, letter, node(*reached))
            rows.append(((symbol, contents), steps.setdefault(step, len(steps))))
            if reached not in seen:
                seen.add(reached)
                waiting.append(reached)
        check(len(rows), images.limits, "rows_before_merging", "rows of a table")
    level = RegisterLevel(tuple(Delay(distance) for distance in range(1, count + 1)), tuple(rows))
    carried_places, sets = zip(*nodes, strict=True)
    return level, Stage(sets, carried_places, start, tuple(steps))
