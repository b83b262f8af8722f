"""Where a formula's verdict on a word is read: at the last position or at the first."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from enum import StrEnum
from typing import final

from attemper.exact.predicates import Predicate
from attemper.languages.temporal.show import show_within
from attemper.languages.temporal.syntax import Numerical, SharedFormula, Symbol, subformulas
from attemper.languages.words import Alphabet, Word, listed

LONGEST_FORMULA = 2_000
"""The text of a longer formula is not shown."""


class At(StrEnum):
    """The position whose truth is the verdict."""

    FIRST = "first"
    LAST = "last"


@final
@dataclass(frozen=True)
class TemporalLanguage:
    """A language of words: a formula, where it is read, and the verdict on the empty word."""

    formula: SharedFormula
    at: At
    accepts_empty: bool

    @property
    def reads_first(self) -> bool:
        """Whether the verdict on a word stands at its first position, not at its last."""
        return self.at is At.FIRST

    def bits(self, word: Word) -> tuple[bool, ...]:
        """The truth of the formula at each position, straight from the definition, slow."""
        from attemper.languages.temporal.meaning import truth  # a proof needs no meaning; a wrong word does

        return truth(self.formula, word)

    def rows(self, word: Word) -> tuple[tuple[bool, ...], ...]:
        """The bits, which are all that is put out."""
        return (self.bits(word),)

    def fits(self, alphabet: Alphabet) -> bool:
        """Whether the alphabet has all symbols of the formula."""
        parts = subformulas(self.formula)
        return {part.name for part in parts if isinstance(part, Symbol)} <= set(alphabet.symbols)

    def predicates(self) -> Iterator[Predicate]:
        """Those that the formula's tests of numbers name."""
        return (part.predicate for part in subformulas(self.formula) if isinstance(part, Numerical))

    def text(self, alphabet: Alphabet) -> str:
        """The language over the alphabet, in one line.

        >>> TemporalLanguage(Symbol("a"), At.LAST, False).text(Alphabet(("a", "b")))
        'a (read at the last position of words over a b; the empty word is rejected)'
        """
        shown = show_within(self.formula, LONGEST_FORMULA)
        if shown is None:
            shown = f"a formula with {len(subformulas(self.formula)):,} subformulas, too long to be shown"
        return f"{shown} ({how_read(self.at, self.accepts_empty, alphabet)})"


def how_read(at: At, accepts_empty: bool, alphabet: Alphabet) -> str:
    """Where the verdict on a word over the alphabet stands, in words."""
    empty = "accepted" if accepts_empty else "rejected"
    return (
        f"read at the {at} position of words over {listed(alphabet.symbols, 'symbols')}; "
        f"the empty word is {empty}"
    )
