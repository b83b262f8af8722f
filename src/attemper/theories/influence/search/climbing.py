"""Words with a large change, by hill climbing."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from attemper.models.arrays import Floats, Integers
from attemper.theories.influence.search.influence import (
    Changes,
    Outputs,
    Seen,
    WordExchange,
    WordFrame,
    exchanged,
    finite,
    merged,
)

CLIMBERS = 16
"""How many words a search improves at the same time, for each class of positions."""


def climb(outputs: Outputs, frame: WordFrame, length: int, seed: int) -> Iterator[Seen]:
    """Words with a large change, by hill climbing from simple and from random ones; without an end.

    In every round each climber, a word with a position and a symbol to exchange there, tries another: some
    symbols changed, two parts swapped, a stretch made constant, or another position of its class. What is
    found is at most the maximum, which nobody knows. Each part has run 2 `CLIMBERS` words for each class.
    """
    frame.require(length)
    random = np.random.default_rng([seed, length, 2])
    classes = list(dict.fromkeys(frame.place(at, length) for at in frame.positions(length)))
    kinds = [place for place in classes for _ in range(CLIMBERS)]
    bodies = _starts(random, len(kinds), len(frame.free), length - frame.fixed)
    own = {
        place: [at for at in frame.positions(length) if frame.place(at, length) == place] for place in classes
    }
    positions = np.array([random.choice(own[kind]) for kind in kinds])
    best = np.full(len(kinds), -1.0)
    shift = frame.positions(length).start
    while True:
        tried = np.stack([_mutated(random, body, len(frame.free)) for body in bodies])
        moved = random.random(len(kinds)) < 1 / 4
        places = np.array([random.choice(own[kind]) for kind in kinds])
        places = np.where(moved, places, positions)
        here = tried[np.arange(len(kinds)), places - shift]
        there = (here + random.integers(1, len(frame.free), len(kinds))) % len(frame.free)
        words = frame.words(tried)
        changed = exchanged(words, places, np.asarray(frame.free)[there])
        changes = np.abs(finite(outputs(words)) - finite(outputs(changed)))
        yield _climbed(frame, words, changed, places, changes)
        better = changes.max(axis=1) >= best
        best = np.where(better, changes.max(axis=1), best)
        bodies = np.where(better[:, None], tried, bodies)
        positions = np.where(better, places, positions)


def _climbed(frame: WordFrame, words: Integers, changed: Integers, places: Integers, changes: Floats) -> Seen:
    """The changes of a round, in their classes."""
    parts = []
    for row, position in enumerate(places.tolist()):
        after = int(changed[row, position - 1])
        place = frame.place(position, words.shape[1])
        exchange = WordExchange(tuple(words[row].tolist()), position, after)
        parts.append(
            {(place, k): Changes(1, float(change), exchange, None) for k, change in enumerate(changes[row])}
        )
    return merged(parts)


def _starts(random: np.random.Generator, count: int, free: int, size: int) -> Integers:
    """Bodies to begin with: constant, alternating, and random ones in which one symbol is rare or not."""
    bodies = random.integers(0, free, (count, size))
    for row in range(count):
        match row % 4:
            case 0:
                bodies[row] = row // 4 % free
            case 1:
                bodies[row] = (np.arange(size) + row // 4) % free
            case 2:
                rare = random.random(size) < random.random() ** 2
                bodies[row] = np.where(rare, bodies[row], row // 4 % free)
            case _:
                pass
    return bodies


def _mutated(random: np.random.Generator, body: Integers, free: int) -> Integers:
    """The body, changed a little or much."""
    made, size = body.copy(), len(body)
    match random.integers(0, 4):
        case 0:
            some = random.integers(0, size, min(size, random.geometric(1 / 2)))
            made[some] = random.integers(0, free, len(some))
        case 1:
            a, b = random.integers(0, size, 2)
            made[a], made[b] = body[b], body[a]
        case 2:
            a, b = sorted(random.integers(0, size + 1, 2))
            made[a:b] = random.integers(0, free)
        case _:
            made = np.roll(body, random.integers(0, size))
    return made
