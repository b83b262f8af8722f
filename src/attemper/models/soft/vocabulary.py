"""The tokens of a model that has others beside the letters of a language."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import final


@final
@dataclass(frozen=True)
class AskedToken:
    """The token behind a word at which it is asked whether the word is in the language: whether the output of
    `yes` is above that of `no`.
    """

    query: str
    yes: str
    no: str


@final
@dataclass(frozen=True)
class ModelTokens:
    """The tokens of a model by their numbers; the one before every word, and the one that ends a word.

    With `asked` the model is asked about whole words, else at every prefix what comes next.
    """

    tokens: tuple[str, ...]
    start: str
    end: str
    asked: AskedToken | None = None

    def symbols_for(self, letters: Sequence[str]) -> tuple[str, ...]:
        """The tokens that are read: the letters, what is asked with, and the start."""
        return (*letters, self.start) if self.asked is None else (*letters, self.asked.query, self.start)

    def outputs_for(self, letters: Sequence[str]) -> tuple[str, ...]:
        """No and yes; or all tokens: the letters, the end, and those that never come."""
        if self.asked is not None:
            return self.asked.no, self.asked.yes
        never = [token for token in self.tokens if token not in (*letters, self.end)]
        return (*letters, self.end, *never)

    def numbers_of(self, tokens: Sequence[str]) -> list[int]:
        return [self.tokens.index(token) for token in tokens]

    def complaints(self, letters: Sequence[str]) -> list[str]:
        """Why these are not the tokens of a model that reads and writes words over the letters.

        >>> ModelTokens(("a", "<s>"), "<s>", "<s>").complaints("ab")
        ["'b' is none of the tokens a <s>"]
        """
        shown = " ".join(self.tokens)[:200]
        asked = () if self.asked is None else (self.asked.query, self.asked.yes, self.asked.no)
        wanted = (*letters, self.start, self.end, *asked)
        found = [
            f"'{token[:40]}' is none of the tokens {shown}" for token in wanted if token not in self.tokens
        ]
        if not all(token and token.isprintable() for token in self.tokens):
            found.append("a token is empty, or cannot be printed")
        if len(set(self.tokens)) < len(self.tokens):
            found.append(f"of the tokens {shown} two are the same")
        if self.asked is not None and (
            self.asked.query in (*letters, self.start) or self.asked.yes == self.asked.no
        ):
            found.append("what is asked with is a letter or the start, or yes and no are the same")
        if {self.start, self.end} & set(letters):
            found.append(f"the start '{self.start[:40]}' or the end '{self.end[:40]}' is one of the letters")
        return found
