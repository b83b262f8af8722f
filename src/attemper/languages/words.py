"""Alphabets of single- or multi-character symbols, and words over them."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import product
from typing import final

from attemper.errors import AlphabetError, WordError

Word = tuple[str, ...]

MOST_SHOWN = 60
"""How many symbols, states or moves are shown at most."""


@final
@dataclass(frozen=True)
class Alphabet:
    """A finite, ordered set of symbols. A symbol is any printable text without blanks, and
    without both kinds of quotation mark.

    Raises `AlphabetError` for no symbols, a symbol twice, or a symbol that cannot be written.

    >>> Alphabet(("0", "1")).symbols
    ('0', '1')
    """

    symbols: tuple[str, ...]

    def __post_init__(self) -> None:
        if not self.symbols:
            raise AlphabetError("an alphabet needs at least one symbol, for example 01")
        for symbol in self.symbols:
            if not isinstance(symbol, str):
                raise AlphabetError(f"the symbol {symbol!r} is not a text")
            _check_symbol(symbol)
        seen: set[str] = set()
        for symbol in self.symbols:
            if symbol in seen:
                raise AlphabetError(f"symbol '{symbol}' occurs twice in the alphabet; give it once")
            seen.add(symbol)

    @property
    def is_single_character(self) -> bool:
        """Whether words may be written without blanks between their symbols."""
        return all(len(symbol) == 1 for symbol in self.symbols)


def parse_alphabet(text: str) -> Alphabet:
    """Read an alphabet: single characters run together, or symbols separated by blanks.

    >>> parse_alphabet("01").symbols, parse_alphabet("push pop").symbols
    (('0', '1'), ('push', 'pop'))

    Raises `AlphabetError` for commas between symbols, too: `a,b` would have three.
    """
    if re.search(r"\S,\s+\S|^\S+,\S*$", text):
        raise AlphabetError(
            f"symbols are not separated by commas: write '{' '.join(text.replace(',', ' ').split())}'; where "
            "',' is a symbol itself, separate all symbols by blanks, for example ', a b'"
        )
    return Alphabet(tuple(text.split()) if any(c.isspace() for c in text) else tuple(text))


def show_alphabet(alphabet: Alphabet) -> str:
    """A text that `parse_alphabet` reads back."""
    text = " ".join(alphabet.symbols)
    return text if len(alphabet.symbols) > 1 else f"{text} "


def parse_word(text: str, alphabet: Alphabet) -> Word:
    """Read a word: symbols separated by blanks, or run together if all are single characters.

    The empty text is the empty word. Raises `WordError` naming the first unknown symbol.

    >>> parse_word("0 1 1", parse_alphabet("01")), parse_word("011", parse_alphabet("01"))
    (('0', '1', '1'), ('0', '1', '1'))
    """
    pieces = text.split()
    if alphabet.is_single_character:
        pieces = [symbol for piece in pieces for symbol in piece]
    return check_word(tuple(pieces), alphabet)


def check_word(word: Word, alphabet: Alphabet) -> Word:
    """The word itself, if all its symbols are in the alphabet; else `WordError`."""
    known = set(alphabet.symbols)
    for place, symbol in enumerate(word, start=1):
        if not isinstance(symbol, str):
            raise WordError(f"the symbol {symbol!r} at position {place} is not a text", position=place)
        if symbol not in known:
            listed = " ".join(alphabet.symbols[:40])
            hint = "" if alphabet.is_single_character else "; separate symbols by blanks"
            raise WordError(
                f"symbol '{symbol[:40]}' at position {place} is not in the alphabet {{{listed}}}{hint}",
                position=place,
            )
    return word


def show_word(word: Word) -> str:
    """The word as a human reads it; the empty word as (empty)."""
    if not word:
        return "(empty)"
    return ("" if all(len(symbol) == 1 for symbol in word) else " ").join(word)


def words_of_length(alphabet: Alphabet, length: int) -> Iterator[Word]:
    """All words of one length, in the alphabet's order."""
    return product(alphabet.symbols, repeat=length)


def _check_symbol(symbol: str) -> None:
    if not symbol:
        raise AlphabetError("the empty text is not a symbol")
    if any(c.isspace() or not c.isprintable() for c in symbol):
        raise AlphabetError(f"symbol {symbol!r} has a blank or unprintable character: rename it")
    if "'" in symbol and '"' in symbol:
        raise AlphabetError(f"symbol {symbol} has both kinds of quotation mark: rename it")


def listed(names: Sequence[str], what: str) -> str:
    """The names, cut off where they are long or many."""
    shown = " ".join(
        name if len(name) <= MOST_SHOWN else f"{name[:MOST_SHOWN]}..." for name in names[:MOST_SHOWN]
    )
    return shown if len(names) <= MOST_SHOWN else f"{shown} ... ({len(names):,} {what})"
