"""Expressions of definite languages as formulas: the same language, with as few heads as shifts have."""

from __future__ import annotations

from pathlib import Path
from random import Random

import pytest

import attemper
from attemper.languages.temporal import definite as written
from attemper.languages.temporal.definite import definite_to_formula
from attemper.languages.temporal.meaning import truth
from attemper.languages.temporal.show import show
from attemper.languages.words import Alphabet, Word, words_of_length
from attemper.workbench.cli.compiling import ON_LAST_SYMBOLS
from attemper.workbench.folder import load
from attemper.workbench.model import Model
from tests.support.cli.command_line import attemper as run

AB, ABC = Alphabet(("a", "b")), Alphabet(("a", "b", "c"))


def size(model: Model) -> tuple[int, ...]:
    return tuple(len(layer.heads) for layer in model.network.layers)


@pytest.mark.parametrize("place", [10, 13, 30])
def test_a_symbol_from_the_end_has_the_heads_of_its_formula(place: int) -> None:
    model = attemper.compile(attemper.regex(f"(a|b)*a(a|b){{{place - 1}}}", "ab"))
    formula = attemper.compile("Y " * (place - 1) + "a", "ab")
    assert model.language.definition == formula.language.definition
    assert size(model) == size(formula)
    assert place == 30 or size(model) == (1,)


@pytest.mark.sweep(5)
@pytest.mark.parametrize("seed", range(60))
def test_random_definite_languages_are_what_their_definition_says(
    seed: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(written, "SMALL", 0)
    random = Random(seed)
    alphabet, symbols = ((Alphabet(("a",)), 4), (AB, 4), (AB, 3), (ABC, 2))[seed % 4]
    ends = {word for word in words_of_length(alphabet, symbols) if random.random() < 0.5}
    short = {w for n in range(symbols) for w in words_of_length(alphabet, n) if random.random() < 0.5}
    text = "|".join([f".* {' '.join(w)}" for w in ends] + [" ".join(w) or "()" for w in short] + ["[]"])

    def is_accepted(word: Word) -> bool:
        return word in short if len(word) < symbols else word[-symbols:] in ends

    found = definite_to_formula(text, alphabet)
    words = [word for n in range(symbols + 3) for word in words_of_length(alphabet, n)]
    if found is None:
        assert len({is_accepted(word) for word in words}) == 1, text
        return
    assert found.symbols <= symbols
    assert found.accepts_empty == is_accepted(())
    for word in words[1:]:
        expected = tuple(is_accepted(word[: i + 1]) for i in range(len(word)))
        assert truth(found.formula, word) == expected, (text, show(found.formula), word)


@pytest.mark.parametrize("regex", ["(a|b){12}a.*", ".*a.{12}(bb)*", "(.{211})*", "(a.{9}b)*"])
def test_other_languages_are_not_taken(regex: str) -> None:
    assert definite_to_formula(regex, AB) is None


def test_neither_is_what_has_a_small_automaton_or_a_long_formula(monkeypatch: pytest.MonkeyPatch) -> None:
    assert definite_to_formula(".*a..", AB) is None
    far = ".*a.{12}"
    assert definite_to_formula(far, AB) is not None
    monkeypatch.setattr(written, "MOST_WRITTEN", 24)
    assert definite_to_formula(far, AB) is None


def test_it_is_said_that_the_formula_is_claimed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(written, "SMALL", 7)
    folder = tmp_path / "third"
    outcome = run("compile", "regex:.*a..", "--alphabet", "ab", "-o", folder, "--json")
    assert outcome.code == 0, outcome
    assert ON_LAST_SYMBOLS in outcome.out
    assert load(folder).source.kind == "formula"
    assert load(folder).source.text == "Y Y a"
