"""Where a formula's verdict on a word is read: at the last position or at the first.

The papers read at the last position, the LTLf tools at the first. A formula with future operators
and neither past operators nor counts must say which: `G (a -> F b)` at the last position only
looks at the last symbol.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import final

from attemper.errors import AmbiguousReadingError
from attemper.languages.temporal.show import show
from attemper.languages.temporal.syntax import (
    Binary,
    BinaryOperator,
    Comparison,
    Formula,
    Numerical,
    Unary,
    UnaryOperator,
    operands,
    subformulas,
)
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


FUTURE = frozenset(
    {
        UnaryOperator.NEXT,
        UnaryOperator.WEAK_NEXT,
        UnaryOperator.EVENTUALLY,
        UnaryOperator.ALWAYS,
        BinaryOperator.UNTIL,
        BinaryOperator.RELEASE,
        BinaryOperator.WEAK_UNTIL,
        BinaryOperator.STRONG_RELEASE,
    }
)
PAST = frozenset(
    {
        UnaryOperator.YESTERDAY,
        UnaryOperator.WEAK_YESTERDAY,
        UnaryOperator.ONCE,
        UnaryOperator.HISTORICALLY,
        BinaryOperator.SINCE,
        BinaryOperator.PAST_RELEASE,
    }
)


def read_language(formula: Formula, at: At | None, accepts_empty: bool) -> TemporalLanguage:
    """The language of a formula; without `at`, the last position if that is not silently degenerate.

    Raises `AmbiguousReadingError` if `at` is None and the formula has future operators but neither
    past operators nor counts.
    """
    if at is None and _must_say(formula):
        text = show(formula)
        raise AmbiguousReadingError(
            f"'{text}' speaks of the future only, so say where it is read:\n"
            f"  --at first   accepts w iff it holds at position 1: it sees the whole word (LTLf tools)\n"
            f"  --at last    accepts w iff it holds at position n: nothing lies after the last symbol\n"
            f'From Python: attemper.compile(..., at="first") or at="last".'
        )
    return TemporalLanguage(formula, at or At.LAST, accepts_empty)


def accepts(language: TemporalLanguage, word: Word) -> bool:
    """Whether the word is in the language, by definition."""
    if not word:
        return language.accepts_empty
    from attemper.languages.temporal.meaning import truth  # what is read only, needs no meaning

    values = truth(language.formula, word)
    return values[0] if language.at is At.FIRST else values[-1]


def _must_say(formula: Formula) -> bool:
    operators = {part.operator for part in subformulas(formula) if isinstance(part, Unary | Binary)}
    counts = any(isinstance(part, Comparison | Numerical) and operands(part) for part in subformulas(formula))
    return bool(operators & FUTURE) and not operators & PAST and not counts
