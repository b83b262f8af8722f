"""A past formula's automaton accepts the words at whose last position it holds, by the definition."""

from __future__ import annotations

import random
from itertools import product

import pytest

from attemper.languages.regular.minimal import minimal
from attemper.languages.temporal import past_automaton as module
from attemper.languages.temporal.meaning import truth
from attemper.languages.temporal.parse import parse
from attemper.languages.temporal.past_automaton import past_automaton
from attemper.languages.temporal.syntax import Comparison, Numerical, subformulas
from attemper.languages.words import Alphabet
from tests.support.judges.past_automata import drawn

AB = Alphabet(("a", "b"))


@pytest.mark.sweep(60)
@pytest.mark.parametrize("seed", range(600))
def test_it_is_the_formula_on_all_short_words(seed: int) -> None:
    draw = random.Random(seed)
    formula = drawn(draw, draw.randint(0, 7), "ab")
    found = past_automaton(formula, AB, accepts_empty=seed % 2 == 0)
    if any(isinstance(part, Comparison | Numerical) for part in subformulas(formula)):
        assert found is None
        return
    assert found is not None
    assert found == minimal(found)
    assert found.accepts(()) is (seed % 2 == 0)
    for n in range(1, 7):
        for word in product("ab", repeat=n):
            assert found.accepts(word) is truth(formula, word)[-1], word


@pytest.mark.parametrize(
    "text", ["X a", "a U b", "pos = 3", "#<[a] > 1", "O (a & F b)", "!X true", "len > 2"]
)
def test_there_is_none_of_what_looks_ahead_or_at_numbers(text: str) -> None:
    assert past_automaton(parse(text, AB), AB, accepts_empty=False) is None


def test_a_large_one_is_not_made(monkeypatch: pytest.MonkeyPatch) -> None:
    formula = parse("Y Y Y a", AB)
    assert past_automaton(formula, AB, accepts_empty=False) is not None
    monkeypatch.setattr(module, "MOST_STATES", 5)
    assert past_automaton(formula, AB, accepts_empty=False) is None
