"""The benchmark of horizons: which words it tries, and what it calls a failure."""

from __future__ import annotations

import random
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from benchmarks import judged, one_network, scan, tracr
from benchmarks.horizons import Gap, agrees, lengths, measured, of_entry, of_formula, worst
from benchmarks.subjects import AS_FORMULAS, meaning_of, model_of, sees, subjects

import attemper
from attemper.certificates.claims import FloatClaim
from attemper.languages.words import words_of_length


@pytest.mark.parametrize("name", ["(aa)*", "D2"])
def test_a_twin_is_trained_and_judged(name: str, tmp_path: Path) -> None:
    small = replace(judged.TWINS[name], steps=3, length=20)
    right, outcome, _, cells, _ = judged.row_of(small, tmp_path / "run")
    assert right == "0", "nothing is learned in three steps"
    assert outcome.startswith("REFUTED by a prefix of ")
    assert "REFUTED" in cells


@pytest.mark.slow
@pytest.mark.parametrize("name", judged.TWINS)
def test_twins_are_settled_but_for_some_cells(name: str, tmp_path: Path) -> None:
    """What is proved or refuted of a network that is trained here may be others on another machine."""
    twin = judged.TWINS[name]
    right, outcome, proved_to, _, seconds = judged.row_of(twin, tmp_path / "run")
    assert float(seconds) < 120
    if name in {"(aa)*", "(abab)*", "tomita1", "tomita2"}:
        assert (right, outcome, proved_to) == ("2,000", "PROVED", str(twin.length))
    found = attemper.judge(tmp_path / "run", up_to=12)
    assert found.wrong is None or found.wrong.runtime == "confirmed in PyTorch, float32"


CLAIM = FloatClaim("float32", "numerator-first", 5, "")
WRONG: dict[str, dict[str, Any]] = {
    "majority": {"accepts": lambda word: len(word) != 8},
    "reverse": {"outputs": lambda word: word},
    "histogram": {"outputs": lambda word: (len(word),) * len(word)},
    "trigram-lm": {"outputs": lambda word: ({"a": 1.0, "b": 0.0, "end": 0.0},) * len(word)},
}


@pytest.mark.parametrize("name", WRONG)
def test_an_entry_fails_where_its_oracle_says_something_else(name: str) -> None:
    entry = attemper.zoo[name]
    model = attemper.compile(f"zoo:{name}", regime="unbounded")
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


# The scan ------------------------------------------------------------------------------------------


def test_a_name_stands_for_one_network_and_what_it_sees_follows_from_its_weights() -> None:
    found = {subject.name: subject for subject in subjects()}
    assert len(found) == len(subjects())
    assert model_of(found["parity-odd as O (odd(pos) & pos = #['1']), decoder"]) is None
    expected = {
        "majority, unbounded": "the past",
        "majority, temperature": "the past and n",
        "(a U b) & #<[a] <= #>[b], unbounded": "both sides",
    }
    for name, sight in expected.items():
        model = model_of(found[name])
        assert model is not None
        assert sees(model.network) == sight


def test_what_is_said_of_programs_is_what_they_mean() -> None:
    for subject in subjects():
        model = model_of(subject) if subject.title in AS_FORMULAS else None
        if model is not None:
            said = meaning_of(subject, model)
            for n in range(1, 8):
                for word in words_of_length(model.alphabet, n):
                    assert said.bits(word) == model.language.definition.bits(word)


def test_a_network_is_measured_on_the_words_that_are_named() -> None:
    kinds = ["random", "one far event"]
    found = one_network.measured("majority, unbounded", 300, kinds)
    assert (found.length, found.sees) == (300, "the past")
    assert list(found.seconds) == list(found.wrong) == kinds
    assert sum(found.wrong.values()) == 0
    assert 0 < found.before_mib <= found.peak_mib


def test_wrong_positions_are_counted(monkeypatch: pytest.MonkeyPatch) -> None:
    """Where the exact meaning were another one, the table would say so."""
    other = attemper.compile("#<['0'] < #<['1']", "01").language.definition
    monkeypatch.setattr(one_network, "meaning_of", lambda subject, model: other)
    assert one_network.measured("majority, unbounded", 300, ["exact balance"]).wrong == {"exact balance": 1}


def test_growth_is_a_slope() -> None:
    assert scan.exponent([(10, 3.0), (100, 30.0), (1000, 300.0)]) == pytest.approx(1)
    assert scan.exponent([(10, 3.0), (100, 300.0)]) == pytest.approx(2)


def test_our_half_of_the_comparison_with_tracr() -> None:
    for task in tracr.TASKS:
        own = tracr.ours(task, 16, "scan")
        assert own.parameters > 0
        assert own.words_a_second > 0
