"""What a language means, to everybody who need not know how it was written: a verdict on every word."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Protocol

from attemper.exact.predicates import Predicate
from attemper.languages.words import Alphabet, Word


class Definition(Protocol):
    """A formula, an automaton or an attention program, and how it is read.

    At every position of every word stands a bit; the verdict on a word is the one at its first or last
    position.
    """

    @property
    def reads_first(self) -> bool:
        """Whether the verdict on a word stands at its first position, not at its last."""

    @property
    def accepts_empty(self) -> bool:
        """The verdict on the empty word."""

    def bits(self, word: Word) -> tuple[bool, ...]:
        """What a network's output should be at each position: straight from the definition, slow."""

    def rows(self, word: Word) -> tuple[tuple[bool, ...], ...]:
        """What each output of a network should be: its bits alone, or one row for each symbol it puts out."""

    def fits(self, alphabet: Alphabet) -> bool:
        """Whether it speaks of words over this alphabet."""

    def predicates(self) -> Iterable[Predicate]:
        """Those that it asks of numbers."""

    def text(self, alphabet: Alphabet) -> str:
        """It over the alphabet, in one line, as the checker has read it."""
