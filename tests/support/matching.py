"""Attention programs that ask whether two counts are equal, and what they mean by definitions of their own."""

from __future__ import annotations

from attemper.attention_program.builder import Builder
from attemper.attention_program.ops import (
    Choice,
    Compare,
    Connective,
    Count,
    Gate,
    Letter,
    Linear,
    Mask,
    Matched,
    Nearest,
    Not,
    Place,
    Program,
    Ref,
)
from attemper.exact.closed_forms import N, ONE, I, Test, plus, times
from attemper.exact.predicates import NonNegative, Remainder
from attemper.languages.words import Alphabet, Word

AB = Alphabet(("a", "b"))
EVEN = Test(Remainder(2, 0), 1, 0, 0)


def selected(
    build: Builder, mask: Mask, choice: Choice, where: Ref, query: Ref, key: Ref, value: Ref, default: bool
) -> Ref:
    """The value at the rightmost (leftmost) visible j with `where` and key(j) = query(i), else the default.

    Counts of 1 to n alone are equal to any.
    """
    sought = build.add(Gate(Connective.AND, (where, build.add(Compare(key, 1)))))
    length = build.add(Count(Mask.ALL, build.add(Place(ONE))))
    beyond = build.add(Linear(((1, query), (-1, length)), 0))
    inside = (build.add(Compare(query, 1)), build.add(Not(build.add(Compare(beyond, 1)))))
    equal = build.add(Matched(mask, choice, sought, query, key))
    held = build.add(Nearest(mask, choice, sought, query, key, sought))
    found = build.add(Gate(Connective.AND, (equal, held, *inside)))
    read = build.add(Nearest(mask, choice, sought, query, key, value))
    if default:
        return build.add(Gate(Connective.OR, (read, build.add(Not(found)))))
    return build.add(Gate(Connective.AND, (read, found)))


def kth_b(value: Test = EVEN, default: bool = False) -> Program:
    """Whether the K-th b stands at an even position, K the number of all a; the default if there is none."""
    build = Builder()
    a, b = (build.add(Letter((symbol,))) for symbol in AB.symbols)
    query, key = build.add(Count(Mask.ALL, a)), build.add(Count(Mask.UP_TO, b))
    read = selected(build, Mask.ALL, Choice.LEFTMOST, b, query, key, build.add(Place(value)), default)
    return Program(AB, tuple(build.steps), read)


def place_of_kth_b(word: Word) -> int | None:
    """Where the K-th b stands, counted from 1."""
    places = [j for j, symbol in enumerate(word, start=1) if symbol == "b"]
    count = word.count("a")
    return places[count - 1] if 1 <= count <= len(places) else None
