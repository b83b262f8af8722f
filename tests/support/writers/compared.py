"""Tasks of published compilers, run with ours in float32:
`python -m tests.support.writers.compared` prints a table.

The lengths at which theirs are first wrong were found with the weights that the compilers make, as published;
they are not run here. Tracr's n is the greatest length that a model was compiled for (tried were 8 to 16, 32,
64, 128, 256 and 512, not all for each task); `frac_prevs` is wrong where it is off by more than 2^-16.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cache
from random import Random
from typing import final

import attemper
from attemper.languages.measures import FLOAT_ACCURACY
from attemper.languages.named.entry import Entry, RegimeName, StatedOutput, ZooEntry
from attemper.languages.named.zoo import named
from attemper.languages.words import Word
from attemper.running.runs import Run
from attemper.workbench.model import Model

LENGTHS = (8, 16, 32, 64, 128, 256, 512, 1024)

EACH = 8
"""How many words of a kind there are at each length."""


@final
@dataclass(frozen=True)
class Task:
    """A task of another compiler, where that is first wrong (–: nowhere known), and the same in the zoo."""

    compiler: str
    name: str
    first_wrong: str
    entry: str


TASKS = (
    Task("Tracr", "hist", "n = 10", "histogram"),
    Task("Tracr", "sort", "n = 14", "sort"),
    Task("Tracr", "reverse", "n = 16", "reverse"),
    Task("Tracr", "shuffle-Dyck", "n = 10", "dyck-shuffle-2"),
    Task("Tracr", "detect a pattern", "n = 512", "detect-aab"),
    Task("Tracr", "frac_prevs", "n = 64", "fraction-seen"),
    Task("C-RASP", "majority", "at ties", "majority"),
    Task("C-RASP", "Dyck-1", "–", "dyck-1"),
)


@final
@dataclass(frozen=True)
class Compared:
    """How many words were run, how many came out wrong, and the length of the shortest of these."""

    words: int
    wrong: int
    first_wrong: int | None


def compared(entry: ZooEntry, regime: RegimeName) -> Compared:
    """The entry's network in float32, at all the lengths."""
    model = attemper.compile(f"zoo:{entry.name}", regime=regime)
    words = sorted(compared_words(entry), key=len)
    runs = model.run(words, dtype="float32")
    found = ((len(word), is_right(entry, model, run)) for word, run in zip(words, runs, strict=True))
    wrong = [length for length, right in found if not right]
    return Compared(len(words), len(wrong), min(wrong, default=None))


def is_right(entry: ZooEntry, model: Model, run: Run) -> bool:
    if isinstance(entry, Entry):
        return run.accepted is entry.accepts(run.word)
    return agree(run.outputs, entry.outputs(run.word))


def agree(read: Sequence[object], right: Sequence[StatedOutput]) -> bool:
    """Whether names and integers are the same, and other numbers as near as is claimed of them in floats."""
    return len(read) == len(right) and all(map(_is_near, read, right))


def _is_near(read: object, right: StatedOutput) -> bool:
    if isinstance(right, dict):
        return (
            isinstance(read, dict)
            and read.keys() == right.keys()
            and all(_is_near(read[name], one) for name, one in right.items())
        )
    if isinstance(right, Fraction):
        return isinstance(read, float) and abs(Fraction(read) - right) <= FLOAT_ACCURACY
    return read == right


@cache
def compared_words(entry: ZooEntry) -> set[Word]:
    """Words whose greatest length is each of the lengths: random ones, and those on which models go wrong."""
    return {word for length in LENGTHS for word in _words_to(entry, length) if word}


def _words_to(entry: ZooEntry, length: int) -> Iterator[Word]:
    yield from entry.edges(Random(length), length)
    if not isinstance(entry, Entry):
        yield from entry.words(seed=length, count=4 * EACH, longest=length)
        return
    yield from entry.members(seed=length, count=EACH, longest=length)
    yield from entry.strangers(seed=length, count=EACH, longest=length)
    for pair in entry.near_misses(seed=length, count=EACH, longest=length):
        yield from pair


def main() -> None:
    for task in TASKS:
        entry = named(task.entry)
        for regime in entry.regimes:
            ours = compared(entry, regime)
            sys.stdout.write(f"{task.compiler} {task.name} ({task.first_wrong}): {regime}: {ours}\n")


if __name__ == "__main__":
    main()
