"""Attention programs that ask whether two counts are equal, and what they mean by definition."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from attemper.attention_program import ops
from attemper.attention_program.builder import Builder
from attemper.exact.closed_forms import ONE, ClosedForm
from attemper.languages.words import Word
from tests.support.drawn.nearest import AB, EVEN, Weights, clamped, nearest_by_definition, one_nearest


def selected(
    build: Builder,
    mask: ops.Mask,
    choice: ops.Choice,
    where: ops.Ref,
    query: ops.Ref,
    key: ops.Ref,
    value: ops.Ref,
    default: bool,
) -> ops.Ref:
    """The value at the rightmost (leftmost) visible j with `where` and key(j) = query(i), else the default.

    Counts of 1 to n alone are equal to any.
    """
    sought = build.add(ops.Gate(ops.Connective.AND, (where, build.add(ops.Compare(key, 1)))))
    length = build.add(ops.Count(ops.Mask.ALL, build.add(ops.Place(ONE))))
    beyond = build.add(ops.Linear(((1, query), (-1, length)), 0))
    inside = (build.add(ops.Compare(query, 1)), build.add(ops.Not(build.add(ops.Compare(beyond, 1)))))
    equal = build.add(ops.Matched(mask, choice, sought, query, key))
    held = build.add(ops.Nearest(mask, choice, sought, query, key, sought))
    found = build.add(ops.Gate(ops.Connective.AND, (equal, held, *inside)))
    read = build.add(ops.Nearest(mask, choice, sought, query, key, value))
    if default:
        return build.add(ops.Gate(ops.Connective.OR, (read, build.add(ops.Not(found)))))
    return build.add(ops.Gate(ops.Connective.AND, (read, found)))


def kth_b(value: ClosedForm = EVEN, default: bool = False) -> ops.Program:
    """Whether the K-th b stands at an even position, K the number of all a; the default if there is none."""
    build = Builder()
    a, b = (build.add(ops.Letter((symbol,))) for symbol in AB.symbols)
    query, key = build.add(ops.Count(ops.Mask.ALL, a)), build.add(ops.Count(ops.Mask.UP_TO, b))
    read = selected(
        build, ops.Mask.ALL, ops.Choice.LEFTMOST, b, query, key, build.add(ops.Place(value)), default
    )
    return ops.Program(AB, tuple(build.steps), read)


def place_of_kth_b(word: Word) -> int | None:
    """Where the K-th b stands, counted from 1."""
    places = [j for j, symbol in enumerate(word, start=1) if symbol == "b"]
    count = word.count("a")
    return places[count - 1] if 1 <= count <= len(places) else None


def one_matched(
    mask: ops.Mask,
    choice: ops.Choice,
    query: tuple[Weights, int],
    key: tuple[Weights, int],
    where: Sequence[str] | None = ("a", "b"),
    side: ops.Mask = ops.Mask.UP_TO,
) -> ops.Program:
    """Whether the nearest count over a and b is equal: weights and a constant for the query and the key."""
    program = one_nearest(mask, choice, query, key, where, side=side)
    *before, last = program.steps
    assert isinstance(last, ops.Nearest)
    matched = ops.Matched(last.mask, last.choice, last.where, last.query, last.key)
    return replace(program, steps=(*before, matched))


def matched_by_definition(
    mask: ops.Mask,
    choice: ops.Choice,
    query: tuple[Weights, int],
    key: tuple[Weights, int],
    where: Sequence[str] | None,
    side: ops.Mask,
    word: Word,
) -> tuple[bool, ...]:
    """What `one_matched` says at every position, from its definition."""
    found = nearest_by_definition(mask, choice, query, key, where, side, word)
    keys, queries = (clamped(count, side, word) for count in (key, query))
    return tuple(keys[j - 1] == own for j, own in zip(found, queries, strict=True))
