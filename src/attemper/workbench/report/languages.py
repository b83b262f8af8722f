"""What is said of a language beside an answer about it: lines for people, data for programs."""

from __future__ import annotations

from collections.abc import Iterator

from attemper.languages.words import Alphabet, show_alphabet
from attemper.workbench.language import Language


def lines_on(found: Language) -> Iterator[str]:
    """What people are told of a language beside the answer: an alphabet that nobody said."""
    if found.is_alphabet_read:
        yield alphabet_line(found.alphabet)


def alphabet_line(alphabet: Alphabet) -> str:
    """What people are told of an alphabet that nobody said."""
    return f"alphabet {show_alphabet(alphabet).strip()} (from the text)"


def record_of_language(found: Language) -> dict[str, object]:
    """A language as JSON data, for records."""
    symbols = list(found.alphabet.symbols)
    return {"language": str(found), "alphabet": symbols, "alphabet_from_text": found.is_alphabet_read}
