"""Networks too large to be run are refused, with how large they are, before they are finished."""

from __future__ import annotations

import random
from pathlib import Path

import pytest

import attemper
from attemper.compiling.building import sizes
from attemper.compiling.lowering import cascade_to_program
from attemper.compiling.pipeline import PassResult, compile_language
from attemper.errors import ExitCode, UnsupportedError
from attemper.languages.regular.dfa import Dfa
from attemper.languages.regular.regex import parse_regex
from attemper.languages.words import Alphabet
from attemper.networks.layers import parameter_count
from attemper.networks.regime import Regime
from tests.support.cli.command_line import attemper as run_command_line
from tests.support.drawn.automata import dyck

LANGUAGES = {
    "last letters": parse_regex("[^]*a[^]{5}", "ab"),
    "contains a word": parse_regex("(a|b)*abbab(a|b)*", "ab"),
    "brackets": dyck(2, 3),
    "groups": parse_regex("((a|b){3}|ab)*", "ab"),
}


def forward(states: int, letters: int, seed: int) -> Dfa:
    """An automaton that never goes back, and at most six states ahead."""
    rng = random.Random(seed)
    moves = tuple(
        tuple(rng.randint(state, min(states - 1, state + 6)) for _ in range(letters))
        for state in range(states)
    )
    accepting = frozenset(state for state in range(states) if rng.random() < 0.5)
    return Dfa(Alphabet(tuple(f"s{letter}" for letter in range(letters))), moves, 0, accepting)


@pytest.mark.sweep(0)
@pytest.mark.parametrize("name", LANGUAGES)
def test_what_has_one_weight_more_than_the_cap_is_refused(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    dfa = LANGUAGES[name]
    weights = parameter_count(attemper.compile(dfa).network)
    monkeypatch.setattr(sizes, "MOST_PARAMETERS", weights)
    assert parameter_count(attemper.compile(dfa).network) == weights
    monkeypatch.setattr(sizes, "MOST_PARAMETERS", weights - 1)
    with pytest.raises(
        UnsupportedError, match=f"beyond the cap of {weights - 1:,} .*simpler ones"
    ) as refused:
        attemper.compile(dfa)
    assert refused.value.exit_code == ExitCode.UNSUPPORTED


@pytest.mark.parametrize("name", ["contains a word", "brackets", "groups"])
def test_what_is_far_too_large_is_never_assembled(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sizes, "MOST_PARAMETERS", 50)
    stages: list[PassResult] = []
    with pytest.raises(UnsupportedError, match=r"at least [\d,]+ weights, beyond the cap of 50"):
        compile_language(LANGUAGES[name], LANGUAGES[name].alphabet, Regime.UNBOUNDED, watch=stages.append)
    assert "assemble" not in [stage.by.name for stage in stages]


def test_a_formula_too_large_to_be_run_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sizes, "MOST_PARAMETERS", 100)
    with pytest.raises(UnsupportedError, match="needs at least 112 weights, beyond the cap of 100"):
        attemper.compile("O a", "ab")


def test_the_command_refuses_and_writes_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sizes, "MOST_PARAMETERS", 300)
    refused = run_command_line("compile", "regex:(a|b)*abba", "--alphabet", "ab", "-o", tmp_path / "net")
    assert refused.code == ExitCode.UNSUPPORTED
    assert "weights, beyond the cap of 300 on what is saved, read and run" in refused.err
    assert not (tmp_path / "net").exists()


@pytest.mark.sweep(0)
def test_what_a_latch_holds_is_asked_once(monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[object] = []
    latched = cascade_to_program._Questions._latched

    def watched(self: cascade_to_program._Questions, *question: object) -> int:
        asked.append((id(self), *question))
        return latched(self, *question)  # type: ignore[arg-type]

    monkeypatch.setattr(cascade_to_program._Questions, "_latched", watched)
    compiled = attemper.compile(forward(20, 3, 20))
    assert len(asked) == len(set(asked)) < sum(len(layer.hidden) for layer in compiled.network.layers) / 10


@pytest.mark.slow
def test_hundreds_of_millions_of_weights_are_refused() -> None:
    """One with 486,756,556 weights: with greater caps its cascade can be made."""
    caps = {
        "symbols": 16_000,
        "labels": 16_000,
        "rows": 200_000,
        "rows_before_merging": 400_000,
        "levels": 256,
    }
    with pytest.raises(
        UnsupportedError, match=r"at least 2\d\d,\d{3},\d{3} weights, beyond the cap of 250,000,000"
    ):
        attemper.compile(forward(40, 4, 3), limits=caps)
