"""The exact verdict of a side on a word, and words on which two sides might differ."""

from __future__ import annotations

import random
from collections.abc import Iterator, Sequence
from fractions import Fraction
from typing import assert_never

from attemper.exact.balls import ball
from attemper.languages.regular.dfa import Dfa
from attemper.languages.temporal.reading import TemporalLanguage
from attemper.languages.words import Alphabet, Word, words_of_length
from attemper.networks.layers import Network
from attemper.networks.meaning_soft import output_bits
from attemper.workbench.language import Language
from attemper.workbench.sides import ComparedSide, Weighed
from attemper.workbench.verifying.boundaries import boundary_words, random_word, words_at_the_boundary

DEFINITIONAL_LENGTH = 8
"""Up to this length formulas are evaluated straight from the definition."""

LONGEST_DRAWN = 64
"""No word that is drawn is longer."""

QUARTER, THREE_QUARTERS = Fraction(1, 4), Fraction(3, 4)


def verdict(side: ComparedSide, word: Word) -> bool | None:
    """Whether the side accepts the word, by definition; None if a network's output is no bit.

    A network's output at the position where it is read is enclosed: it is 1 if it is proved to be above 3/4,
    and 0 if it is proved to be below 1/4. Raises `UnsupportedError` for a program that means nothing there.
    """
    match side:
        case Language(language):
            if not word:
                return language.accepts_empty
            if isinstance(language, Dfa):
                return language.accepts(word)
            bits: Sequence[bool] = (
                language.bits(word) if len(word) <= DEFINITIONAL_LENGTH else _fast(language, word)
            )
            return bits[0 if language.reads_first else -1]
        case Weighed(_, network):
            return network.accepts_empty if not word else _of_network(network, word)
        case _:
            assert_never(side)


def _fast(language: object, word: Word) -> Sequence[bool]:
    """The bits of a formula in linear time; of another language by its definition."""
    if isinstance(language, TemporalLanguage):
        from attemper.running.truth import truth_of_words  # most answers need no numpy

        (row,) = truth_of_words(language.formula, [word]).tolist()
        return [bool(bit) for bit in row]
    assert hasattr(language, "bits")
    return list(language.bits(word))


def _of_network(network: Network, word: Word) -> bool | None:
    try:
        value = output_bits(network, word)[0 if network.reads_first else -1]
    except ZeroDivisionError:  # 1/x of an embedding that is 0 here: nothing is computed at all
        return None
    if value > ball(THREE_QUARTERS):
        return True
    return False if value < ball(QUARTER) else None


def short_words(alphabet: Alphabet, longest: int) -> Iterator[Word]:
    """All words of 1 to `longest` symbols, the shortest first."""
    for length in range(1, longest + 1):
        yield from words_of_length(alphabet, length)


def longer_words(sides: Sequence[ComparedSide], alphabet: Alphabet, least: int, seed: int) -> Iterator[Word]:
    """Words of at least `least` symbols without end: at the numbers of formulas, at ties, and random ones."""
    rng = random.Random(seed)
    symbols = alphabet.symbols
    for side in sides:
        language = side.definition if isinstance(side, Language) else side.claimed
        if isinstance(language, TemporalLanguage) and len(symbols) > 1:
            words = words_at_the_boundary(language.formula, symbols, LONGEST_DRAWN)
            yield from (word for word in words if len(word) >= least)
    longest = max(least, LONGEST_DRAWN)
    for length in range(least, longest + 1):
        yield from boundary_words(symbols, length)
    while True:
        word = random_word(rng, symbols, rng.randint(least, longest))
        yield word
        yield tuple(sorted(word, key=symbols.index))
