"""Where a formula's verdict on a word is read: at the last position or at the first."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import final

from attemper.languages.temporal.syntax import Formula
from attemper.languages.words import Word


class At(StrEnum):
    """The position whose truth is the verdict."""

    FIRST = "first"
    LAST = "last"


@final
@dataclass(frozen=True)
class TemporalLanguage:
    """A language of words: a formula, where it is read, and the verdict on the empty word."""

    formula: Formula
    at: At
    accepts_empty: bool


def accepts(language: TemporalLanguage, word: Word) -> bool:
    """Whether the word is in the language, by definition."""
    if not word:
        return language.accepts_empty
    from attemper.languages.temporal.meaning import truth  # what is read only, needs no meaning

    values = truth(language.formula, word)
    return values[0] if language.at is At.FIRST else values[-1]
