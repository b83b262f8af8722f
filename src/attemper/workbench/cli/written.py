"""The language that a command is about, and what is said of how it was read."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from attemper.languages.words import Alphabet, show_alphabet
from attemper.workbench.cli.progress import activity
from attemper.workbench.language import Language
from attemper.workbench.naming import language

if TYPE_CHECKING:
    from attemper.networks.layers import Network
    from attemper.workbench.naming import AtName, EmptyName


def written_language(
    text: str,
    alphabet: str | None = None,
    at: AtName | None = None,
    empty: EmptyName | None = None,
    like: Alphabet | Network | None = None,
) -> Language:
    """The language of a LANGUAGE argument and the options beside it; raises what `naming.language` raises."""
    with activity("reading the language"):
        return language(text, alphabet, at=at, empty=empty, like=like)


def lines_on(found: Language) -> Iterator[str]:
    """What people are told of a language beside the answer: an alphabet that nobody said."""
    if found.is_alphabet_read:
        yield f"alphabet {show_alphabet(found.alphabet).strip()} (from the text)"


def record_of_language(found: Language) -> dict[str, object]:
    """A language as JSON data, for records."""
    symbols = list(found.alphabet.symbols)
    return {"language": str(found), "alphabet": symbols, "alphabet_from_text": found.is_alphabet_read}
