"""A language without words, or with all of them, is pointed at when it is compiled."""

from __future__ import annotations

from pathlib import Path

import pytest

from attemper.workbench.naming import formula as formula_named
from attemper.workbench.trivial import notes_on_words
from tests.support.cli.command_line import attemper


@pytest.mark.parametrize(
    ("formula", "said"),
    [
        ("a & b", "no word is accepted"),
        ("O (b & Y a & a)", "no word is accepted"),
        ("Y a & Y b", "no word is accepted"),
        ("H (a | b)", "every word of one symbol or more is accepted"),
        ("pos >= 5 & square(#[a]) & square(#[b])", "no word of 1 to 4 symbols is accepted; longer ones"),
    ],
)
def test_what_has_no_word_or_every_word_is_said(formula: str, said: str, tmp_path: Path) -> None:
    outcome = attemper("compile", formula, "--alphabet", "ab", "-o", tmp_path / "x")
    assert outcome.code == 0
    assert f"note: {said}" in outcome.out


@pytest.mark.parametrize(
    "formula", ["O a", "Y Y Y Y Y a", "a & Y b", "a & !b", "#<[a] >= 6", "a xor b -> Y a"]
)
def test_a_language_with_some_words_is_not_pointed_at(formula: str) -> None:
    assert list(notes_on_words(formula_named(formula, "ab"))) == []


@pytest.mark.parametrize(
    ("formula", "both"),
    [("a & b", "a & b"), ("(b & Y a & 'A') | c", "b & 'A'"), ("G !(a & (b & c))", "b & c")],
)
def test_two_symbols_at_once_are_named(formula: str, both: str) -> None:
    said = list(notes_on_words(formula_named(formula, "abcA", at="last")))
    assert said[0].startswith(f"{both} holds nowhere: letters are symbols")


def test_automata_and_programs_are_looked_at_too(tmp_path: Path) -> None:
    everything = attemper("compile", "regex:(a|b)*", "--alphabet", "ab", "-o", tmp_path / "x", "--json")
    assert everything.record["notes"] == ["every word is accepted"]
    file = tmp_path / "never.rasp"
    file.write_text("alphabet a b\nempty reject\noutput in 'a' & in 'b'\n", encoding="utf-8")
    never = attemper("compile", f"program:{file}", "-o", tmp_path / "y", "--json")
    assert never.record["notes"] == ["no word is accepted"]
    long = attemper("compile", "regex:a{5}b*", "--alphabet", "ab", "-o", tmp_path / "z", "--json")
    assert long.record["notes"] == []
