"""The benchmark of horizons: which words it tries, and what it calls a failure."""

from __future__ import annotations

import random
from dataclasses import replace
from typing import Any

import pytest
from benchmarks.horizons import Gap, agrees, lengths, measured, of_entry, of_formula, worst

import attemper
from attemper.certificates.claims import FloatClaim

CLAIM = FloatClaim("float32", "numerator-first", 5, "")
WRONG: dict[str, dict[str, Any]] = {
    "majority": {"accepts": lambda word: len(word) != 8},
    "reverse": {"outputs": lambda word: word},
    "histogram": {"outputs": lambda word: (len(word),) * len(word)},
    "trigram-lm": {"outputs": lambda word: ({"a": 1.0, "b": 0.0, "end": 0.0},) * len(word)},
}


@pytest.mark.parametrize("name", WRONG)
def test_an_entry_fails_where_its_oracle_says_something_else(name: str) -> None:
    entry = attemper.named(name)
    model = attemper.compile_named(name, regime="unbounded")
    own = of_entry(entry, model, "unbounded")
    assert measured(own, CLAIM, 24).failure is None
    other = of_entry(replace(entry, **WRONG[name]), model, "unbounded")
    assert measured(other, CLAIM, 24).failure is not None


def test_a_formula_is_compared_at_every_position() -> None:
    subject = of_formula("Y a", "unbounded")
    (run,) = subject.model.run(["abca"])
    assert subject.is_right(run)
    assert not subject.is_right(replace(run, rows=((True, *run.bits[1:]),)))


def test_lengths_go_to_the_longest_by_way_of_the_horizon() -> None:
    found = lengths(101, 1000)
    assert (found[0], found[-1]) == (1, 1000)
    assert {101, 102} <= set(found)
    assert lengths(0, 10) == list(range(1, 11))


@pytest.mark.parametrize("alphabet", ["ab", "abc", "()[]"])
def test_the_worst_words_have_the_length_and_are_over_the_alphabet(alphabet: str) -> None:
    for length in (1, 2, 3, 17):
        words = worst(alphabet, random.Random(0), length)
        assert all(len(word) == length and set(word) <= set(alphabet) for word in words)
        assert len(words) == len(set(words))


def test_the_worst_words_of_brackets_wrap_one_kind_in_another() -> None:
    assert tuple("[[()()]]") in worst("()[]", random.Random(0), 8)


def test_probabilities_are_right_within_the_claim_and_integers_exactly() -> None:
    assert agrees({"a": 0.5}, {"a": 0.5 + 2**-17})
    assert not agrees({"a": 0.5}, {"a": 0.5 + 2**-15})
    assert agrees(3, 3)
    assert not agrees(3, 4)


def test_a_failure_within_the_horizon_is_called_a_false_claim() -> None:
    assert Gap(10, 10, 99).cells()[2] == "A FALSE CLAIM"
    assert Gap(10, 20, 99).cells() == ("10", "20", "2.0")
    assert Gap(10, None, 99).cells() == ("10", "none to 99", ">= 9.9")
    assert Gap(100, None, 99).cells() == ("100", "none to 99", "-")
