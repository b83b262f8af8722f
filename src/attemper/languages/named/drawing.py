"""Words of a language, words that are not, and pairs of both at one change from each other.

Whether a word is in the language is asked of the oracle every time, whatever the entry promises.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from itertools import islice
from random import Random
from typing import Protocol

from attemper.languages.words import Word

ATTEMPTS = 20
"""How many lengths are tried for each word that is wanted, before there are fewer words than asked for."""

CHANGES = 60
"""How many changes of a word are tried for one to the other side."""

NEAR = 8
"""So many places at each end are changed as often as all the others together."""


class Drawn(Protocol):
    """What is asked of a language here."""

    @property
    def alphabet(self) -> tuple[str, ...]: ...
    @property
    def accepts(self) -> Callable[[Word], bool]: ...
    @property
    def member(self) -> Callable[[Random, int], Word]: ...
    @property
    def edges(self) -> Callable[[Random, int], Iterator[Word]]: ...


def members(language: Drawn, draw: Random, count: int, longest: int) -> list[Word]:
    """Words of the language."""
    drawn = (language.member(draw, size) for size in _sizes(draw, count, longest))
    return list(islice((word for word in drawn if _fits(word, longest) and language.accepts(word)), count))


def strangers(language: Drawn, draw: Random, count: int, longest: int) -> list[Word]:
    """Words that are not in the language: half of them random, half of them members with a few changes."""

    def drawn() -> Iterator[Word]:
        for size in _sizes(draw, count, longest):
            yield random_word(language.alphabet, draw, size)
            word = language.member(draw, size)
            for _ in range(draw.randint(1, 3)):
                word = changed(word, language.alphabet, draw)
            yield word

    return list(islice((w for w in drawn() if _fits(w, longest) and not language.accepts(w)), count))


def near_misses(language: Drawn, draw: Random, count: int, longest: int) -> list[tuple[Word, Word]]:
    """Pairs of a word in the language and one outside, from edge words and from members by turns."""

    def drawn() -> Iterator[Word]:
        for size in _sizes(draw, count, longest):
            for word in language.edges(draw, size):
                yield word
                yield language.member(draw, size)

    found: list[tuple[Word, Word]] = []
    for word in drawn():
        if len(found) == count:
            break
        pair = _pair(language, word, draw, longest) if _fits(word, longest) else None
        if pair is not None:
            found.append(pair)
    return found


def _pair(language: Drawn, word: Word, draw: Random, longest: int) -> tuple[Word, Word] | None:
    """The word and a neighbour on the other side, the one that is inside first; None if none was found."""
    is_inside = language.accepts(word)
    for _ in range(CHANGES):
        other = changed(word, language.alphabet, draw)
        if _fits(other, longest) and language.accepts(other) != is_inside:
            return (word, other) if is_inside else (other, word)
    return None


def _fits(word: Word, longest: int) -> bool:
    return len(word) <= longest


def _sizes(draw: Random, count: int, longest: int) -> Iterator[int]:
    """Short ones, any ones, the greatest, and the one before: even and odd."""
    for _ in range(max(1, count) * ATTEMPTS // 4):
        yield draw.randint(1, max(1, min(24, longest)))
        yield draw.randint(1, max(1, longest))
        yield longest
        yield max(0, longest - 1)


def random_word(alphabet: tuple[str, ...], draw: Random, size: int) -> Word:
    """Symbols drawn evenly, or some of them rarely."""
    weights = [draw.random() ** 3 if draw.random() < 0.5 else 1.0 for _ in alphabet]
    return tuple(draw.choices(alphabet, weights, k=size))


def changed(word: Word, alphabet: tuple[str, ...], draw: Random) -> Word:
    """The word with one symbol replaced, left out or put in, or with two neighbours swapped.

    >>> changed(("a",), ("a", "b"), Random(1)), changed((), ("a", "b"), Random(3))
    (('a', 'b'), ('a',))
    """
    if not word:
        return (draw.choice(alphabet),)
    near = min(len(word), NEAR)
    place = draw.choice(
        (draw.randrange(len(word)), draw.randrange(near), len(word) - 1 - draw.randrange(near))
    )
    before, symbol, after = word[:place], draw.choice(alphabet), word[place + 1 :]
    match draw.randrange(5):
        case 0:
            return (*before, *after)
        case 1:
            return (*before, symbol, word[place], *after)
        case 2 if after:
            return (*before, after[0], word[place], *after[1:])
        case 3 if not after:
            return (*word, symbol)
        case _:
            return (*before, symbol, *after)
