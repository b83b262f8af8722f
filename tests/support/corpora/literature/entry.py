"""A language of the literature: how it is written for the compiler, and a plain function that decides it.

Nothing here or in the tables imports more of attemper than the zoo, which imports nothing of the rest: what
decides a word shares nothing with what is tested.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from itertools import accumulate
from random import Random
from typing import Any, final

from attemper.languages.named import zoo
from attemper.languages.named.entry import SourceText


@final
@dataclass(frozen=True)
class Oracle:
    """Decides words. `prefixes` has the verdicts on the prefixes of lengths 0..n.

    It is None where the language's source says nothing about prefixes: where it looks at what comes later.
    """

    accepts: Callable[[str], bool]
    prefixes: Callable[[str], list[bool]] | None


Member = Callable[[Random, int], str]
"""Draws a word of the language with about so many symbols, and not more, where there is room for one."""


@final
@dataclass(frozen=True)
class Entry:
    """A language. `before` is the number of layers that attemper 0.1.0 took for the source; None: refused.

    Where `member` is None, random words are members often enough, or an automaton's own walks are taken.
    """

    name: str
    alphabet: str
    source: SourceText
    oracle: Oracle
    member: Member | None = None
    before: int | None = field(default=None, kw_only=True)


def named(title: str, name: str, *, before: int | None = None, other: int | None = None) -> Entry:
    """A language of the zoo, whose symbols are single characters; `other` picks another of its sources."""
    entry = zoo.language_named(name)
    return Entry(
        title,
        "".join(entry.alphabet),
        entry.sources[0 if other is None else other],
        by(lambda word: entry.accepts(tuple(word))),
        lambda draw, length: "".join(entry.member(draw, length)),
        before=before,
    )


@final
@dataclass(frozen=True)
class Family:
    """Languages of one paper or benchmark, in the order of the page."""

    title: str
    papers: str
    entries: tuple[Entry, ...]


# Oracles ---------------------------------------------------------------------------------------------


def by(accepts: Callable[[str], bool]) -> Oracle:
    """A function of words, asked of every prefix as well."""
    return Oracle(accepts, lambda word: [accepts(word[:end]) for end in range(len(word) + 1)])


def only_whole(accepts: Callable[[str], bool]) -> Oracle:
    """A function of whole words."""
    return Oracle(accepts, None)


def running(start: Any, step: Callable[[Any, str], Any], accepts: Callable[[Any], bool]) -> Oracle:
    """A memory of any kind (a stack, counters, a permutation) that is brought along symbol by symbol."""

    def prefixes(word: str) -> list[bool]:
        return [accepts(memory) for memory in accumulate(word, step, initial=start)]

    return Oracle(lambda word: prefixes(word)[-1], prefixes)


# Members ----------------------------------------------------------------------------------------------


def avoiding(alphabet: str, *factors: str) -> Member:
    """Words in which none of the factors stands; none of these is longer than 9 symbols."""

    def member(draw: Random, length: int) -> str:
        word = ""
        while len(word) < length:
            ends = [word[-8:] + symbol for symbol in alphabet]
            word += draw.choice([end for end in ends if not end.endswith(factors)])[-1]
        return word

    return member
