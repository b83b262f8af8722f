"""The language that a command is about, from its argument and the options beside it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from attemper.languages.words import Alphabet
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
