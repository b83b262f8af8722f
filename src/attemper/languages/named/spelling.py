"""Oracles and words of languages whose symbols are single characters, written as functions of texts."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from random import Random

from attemper.languages.words import Word

DrawnText = Callable[[Random, int], str]
"""Draws a text of about so many characters, and not more."""


def decides(accepts: Callable[[str], bool]) -> Callable[[Word], bool]:
    """The oracle of words that is this one of texts.

    >>> decides(lambda word: word == "ab")(("a", "b"))
    True
    """
    return lambda word: accepts("".join(word))


def draws(text: DrawnText) -> Callable[[Random, int], Word]:
    """Draws the symbols of such a text."""
    return lambda draw, length: tuple(text(draw, length))


def edges(*texts: DrawnText) -> Callable[[Random, int], Iterator[Word]]:
    """One word of each kind, cut to the length."""

    def drawn(draw: Random, length: int) -> Iterator[Word]:
        for text in texts:
            yield tuple(text(draw, length)[:length])

    return drawn
