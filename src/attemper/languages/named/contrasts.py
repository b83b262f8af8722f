"""Clean and corrupted words of one length, which differ in one place: what activations are patched between.

From a word in a language to one of the same length outside lead changes of single symbols, and one of them
leaves the language. So wherever a length has both kinds of words, one place is enough; the same holds of two
words of which something else is put out.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from itertools import pairwise, product
from random import Random
from typing import Protocol

from attemper.errors import OptionError
from attemper.languages.named.drawing import Drawn, Edged, random_word
from attemper.languages.words import Word

FEW = 4096
"""If a length has at most so many words, all of them are looked at; else words are drawn."""

ROUNDS = 4
"""So often, in another order each time, as there may be many pairs of few words."""

TRIES = 50
"""How often words are drawn for each pair that is wanted, before there are fewer than asked for."""

LEAST = 10
"""As often as for so many pairs they are drawn for fewer, too: some lengths are rarely met."""

LATEST = 16
"""So many words of each kind are remembered, to be paired with the next of the other."""


class Transducing(Edged, Protocol):
    """What is asked of an entry that puts something out."""

    @property
    def outputs(self) -> Callable[[Word], tuple[object, ...]]: ...


def verdict_pairs(language: Drawn, draw: Random, length: int, count: int) -> list[tuple[Word, Word]]:
    """Pairs of a word in the language and one outside. Raises `OptionError` if no pair is found."""
    kinds: dict[bool, list[Word]] = {True: [], False: []}
    found: dict[tuple[Word, Word], None] = {}
    for word in _words(language, draw, length, count, language.member):
        own = kinds[language.accepts(word)]
        own.append(word)
        del own[:-LATEST]
        if kinds[True] and kinds[False]:
            found[_crossing(language, draw.choice(kinds[True]), draw.choice(kinds[False]), draw)] = None
        if len(found) == count:
            break
    if not found:
        missing = "outside" if kinds[True] else "in"
        raise OptionError(
            f"of {length} symbols no word was found {missing} the language, so there are no pairs: "
            "try another length"
        )
    return list(found)


def output_pairs(entry: Transducing, draw: Random, length: int, count: int) -> list[tuple[Word, Word, int]]:
    """Two words and the index of the last symbol at which something else is put out.

    Raises `OptionError` if no pair is found.
    """
    found: dict[tuple[Word, Word], int] = {}
    for word in _words(
        entry, draw, length, count, lambda draw, size: random_word(entry.alphabet, draw, size)
    ):
        for place in draw.sample(range(length), length):
            other = (*word[:place], draw.choice(entry.alphabet), *word[place + 1 :])
            outputs = zip(entry.outputs(word), entry.outputs(other), strict=True)
            different = [index for index, pair in enumerate(outputs) if pair[0] != pair[1]]
            if different:
                found[word, other] = different[-1]
                break
        if len(found) == count:
            break
    if not found:
        raise OptionError(
            f"of {length} symbols no two words were found of which something else is put out, so there are "
            "no pairs: try another length"
        )
    return [(*words, index) for words, index in found.items()]


def _words(
    entry: Edged, draw: Random, length: int, count: int, member: Callable[[Random, int], Word]
) -> Iterator[Word]:
    """Words of that length: all, if they are few; else simple and random ones, members and edge words."""
    if len(entry.alphabet) ** length <= FEW:
        every = list(product(entry.alphabet, repeat=length))
        for _ in range(ROUNDS):
            yield from draw.sample(every, len(every))
        return
    for _ in range(TRIES * max(count, LEAST)):
        # As all others, and another last symbol: a few of it are rare among random words.
        one = (draw.choice(entry.alphabet),) * (length - 1)
        yield from ((*one, draw.choice(entry.alphabet)), random_word(entry.alphabet, draw, length))
        drawn = (member(draw, length), *entry.edges(draw, length))
        yield from (word for word in drawn if len(word) == length)


def _crossing(language: Drawn, inside: Word, outside: Word, draw: Random) -> tuple[Word, Word]:
    """Where the language is left on a way from one word to the other, symbol by symbol in a random order."""
    way = [inside]
    for place in draw.sample(range(len(inside)), len(inside)):
        last = way[-1]
        way.append((*last[:place], outside[place], *last[place + 1 :]))
    steps = pairwise(dict.fromkeys(way))
    return next(
        (word, other) for word, other in steps if language.accepts(word) and not language.accepts(other)
    )
