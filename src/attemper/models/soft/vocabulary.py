"""The tokens of a model that has others beside the letters of a language."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import final


@final
@dataclass(frozen=True)
class Vocabulary:
    """The tokens of a model by their numbers; the one before every word, and the one that ends a word."""

    tokens: tuple[str, ...]
    start: str
    end: str

    def outputs_for(self, letters: Sequence[str]) -> tuple[str, ...]:
        """All tokens: the letters, the end, and those that never come."""
        never = [token for token in self.tokens if token not in (*letters, self.end)]
        return (*letters, self.end, *never)

    def numbers_of(self, tokens: Sequence[str]) -> list[int]:
        return [self.tokens.index(token) for token in tokens]

    def complaints(self, letters: Sequence[str]) -> list[str]:
        """Why these are not the tokens of a model that reads and writes words over the letters.

        >>> Vocabulary(("a", "<s>"), "<s>", "<s>").complaints("ab")
        ["'b' is none of the tokens a <s>"]
        """
        shown = " ".join(self.tokens)[:200]
        wanted = (*letters, self.start, self.end)
        found = [
            f"'{token[:40]}' is none of the tokens {shown}" for token in wanted if token not in self.tokens
        ]
        if len(set(self.tokens)) < len(self.tokens):
            found.append(f"of the tokens {shown} two are the same")
        if {self.start, self.end} & set(letters):
            found.append(f"the start '{self.start[:40]}' or the end '{self.end[:40]}' is one of the letters")
        return found
