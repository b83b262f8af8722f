"""Languages that a refutation can be about, and which words are in them. Data and meaning."""

from __future__ import annotations

from dataclasses import dataclass
from typing import assert_never, final

from attemper.languages.regular.dfa import Dfa
from attemper.languages.words import Word


@final
@dataclass(frozen=True)
class Dyck:
    """Well-nested words over pairs of brackets (opening, closing), all different; Hahn's 1DYCK and 2DYCK."""

    pairs: tuple[tuple[str, str], ...]

    def __post_init__(self) -> None:
        symbols = [symbol for pair in self.pairs for symbol in pair]
        if not symbols or len(set(symbols)) < len(symbols):
            raise ValueError("brackets must be pairs of different symbols")


@final
@dataclass(frozen=True)
class Blocks:
    """The words a^m b^m, m >= 0, of two symbols a and b."""

    first: str
    second: str

    def __post_init__(self) -> None:
        if self.first == self.second:
            raise ValueError("blocks are of two symbols that differ")


Target = Dfa | Dyck | Blocks


def contains(language: Target, word: Word) -> bool:
    """Whether the word is in the language; a word with other symbols is not.

    >>> contains(Dyck((("(", ")"), ("[", "]"))), ("(", "[", "]", ")"))
    True
    """
    match language:
        case Dfa():
            if not set(word) <= set(language.alphabet.symbols):
                return False
            return language.prefixes(word)[-1] if word else language.start in language.accepting
        case Dyck(pairs):
            closing = dict(pairs)
            expected: list[str] = []
            for symbol in word:
                if symbol in closing:
                    expected.append(closing[symbol])
                elif not expected or expected.pop() != symbol:
                    return False
            return not expected
        case Blocks(first, second):
            half, odd = divmod(len(word), 2)
            return not odd and word == (first,) * half + (second,) * half
        case _:
            assert_never(language)


def symbols_of(language: Target) -> tuple[str, ...]:
    """The symbols that occur in its words."""
    match language:
        case Dfa(alphabet):
            return alphabet.symbols
        case Dyck(pairs):
            return tuple(symbol for pair in pairs for symbol in pair)
        case Blocks(first, second):
            return first, second
        case _:
            assert_never(language)
