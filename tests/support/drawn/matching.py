"""Attention programs that ask whether two counts are equal, and what they mean by definition."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

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
from attemper.exact.closed_forms import ONE, ClosedForm
from attemper.languages.words import Word
from tests.support.drawn.nearest import AB, EVEN, Weights, clamped, nearest_by_definition, one_nearest


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


def kth_b(value: ClosedForm = EVEN, default: bool = False) -> Program:
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


def one_matched(
    mask: Mask,
    choice: Choice,
    query: tuple[Weights, int],
    key: tuple[Weights, int],
    where: Sequence[str] | None = ("a", "b"),
    side: Mask = Mask.UP_TO,
) -> Program:
    """Whether the nearest count over a and b is equal: weights and a constant for the query and the key."""
    program = one_nearest(mask, choice, query, key, where, side=side)
    *before, last = program.steps
    assert isinstance(last, Nearest)
    matched = Matched(last.mask, last.choice, last.where, last.query, last.key)
    return replace(program, steps=(*before, matched))


def matched_by_definition(
    mask: Mask,
    choice: Choice,
    query: tuple[Weights, int],
    key: tuple[Weights, int],
    where: Sequence[str] | None,
    side: Mask,
    word: Word,
) -> tuple[bool, ...]:
    """What `one_matched` says at every position, from its definition."""
    found = nearest_by_definition(mask, choice, query, key, where, side, word)
    keys, queries = (clamped(count, side, word) for count in (key, query))
    return tuple(keys[j - 1] == own for j, own in zip(found, queries, strict=True))
