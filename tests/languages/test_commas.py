"""Symbols of an alphabet are not separated by commas."""

from __future__ import annotations

import re

import pytest

from attemper.errors import AlphabetError
from attemper.languages.words import parse_alphabet


@pytest.mark.parametrize(
    ("text", "meant"),
    [
        ("a,b", "'a b'"),
        ("a, b", "'a b'"),
        ("push,pop", "'push pop'"),
        ("push, pop", "'push pop'"),
        ("a,b,", "'a b'"),
    ],
)
def test_commas_between_symbols_are_refused_with_what_to_write(text: str, meant: str) -> None:
    with pytest.raises(AlphabetError, match=f"not separated by commas: write {re.escape(meant)};.*blanks"):
        parse_alphabet(text)


@pytest.mark.parametrize(
    ("text", "symbols"),
    [(",", (",",)), (", a", (",", "a")), ("a , b", ("a", ",", "b")), ("a b,c", ("a", "b,c"))],
)
def test_a_comma_may_be_a_symbol(text: str, symbols: tuple[str, ...]) -> None:
    assert parse_alphabet(text).symbols == symbols
