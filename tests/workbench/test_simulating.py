"""Somebody's masked hard-attention model as a softmax network: proved for the automaton that was measured."""

from __future__ import annotations

import json
import sys
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

import attemper
from attemper.checker.folders import check_path
from attemper.errors import ExitCode, OptionError, UnprovedError, UnsupportedError
from attemper.languages.regular.classes import RegularClass, classify
from attemper.languages.regular.dfa import AUTOMATON
from attemper.languages.regular.minimal import minimal
from attemper.languages.regular.regex import parse_regex
from attemper.models.hard.masked_examples import Surrounded
from attemper.networks.files import load as load_network
from attemper.networks.meaning_hard import output_bits
from attemper.workbench.simulating import Simulated, simulate
from tests.support.cli.command_line import attemper as command
from tests.support.drawn.by_rows import ByRows, Ended, looking_both_ways
from tests.support.oracles.raw_forward import all_words
from tests.workbench.test_reading_models import Tiring

SMALL = "attemper.models.hard.masked_examples:Alternating"
BETWEEN = minimal(parse_regex("b+|b*a+b*", "ab"))


def require_simulated(model: ByRows, longest: int, **options: Any) -> Simulated:
    """The checker accepts the network for the measured automaton, and soft runs say what plain runs do."""
    found = simulate(model, count=50, **options)
    assert found.reading.status == "MEASURED"
    assert found.model.language.definition == found.reading.dfa
    assert str(found.checked.status) == "PROVED"
    assert str(attemper.check(found.model.network, found.reading.dfa).status) == "PROVED"
    letters = len(found.model.alphabet.symbols)
    behind = (letters,) if isinstance(model, Ended) else ()
    words = list(all_words(letters, longest))
    runs = found.model.run([tuple(model.symbols[k] for k in word) for word in words])
    for word, run in zip(words, runs, strict=True):
        assert run.accepted is model.verdict((*word, *behind)), word
    return found


def test_drawn_models_look_both_ways() -> None:
    models = [looking_both_ways(seed) for seed in range(30)]
    assert {len(model.heads) for model in models} == {1, 2, 3}
    assert {model.at for model in models} == {"first", "last"}
    for model in models:
        masks = {mask for heads in model.heads for mask, _ in heads}
        assert masks & {"<=", "<"}, masks
        assert masks & {">=", ">"}, masks


@pytest.mark.sweep(1)
@pytest.mark.parametrize("seed", range(30))
def test_models_that_look_both_ways_become_softmax_networks(seed: int) -> None:
    found = require_simulated(looking_both_ways(seed), 8)
    assert classify(found.reading.dfa).kind is RegularClass.APERIODIC


@pytest.mark.sweep(1)
@pytest.mark.parametrize("kind", ["places", "ending", "empty", "decoder"])
def test_places_end_markers_and_empty_words(kind: str) -> None:
    """Some a is the first: with places only at odd positions; read first, last, or at an end marker."""
    plain = ByRows(
        lambda position, letter: (1, letter, 0),
        label=lambda row: row[2] == 1,
        heads=((("<", "rightmost"), (">=", "leftmost")), (("all", "leftmost"),)),
        score=lambda layer, head, query, key: key[2] if layer else key[1] == 0,
        join=lambda layer, own, read: (
            (1, own[1], read[0][2])
            if layer
            else (1, own[1], int(read[0][:2] != (1, 0) and read[1][:2] == (1, 0)))
        ),
    )
    match kind:
        case "places":
            odd = replace(
                plain,
                embedded=lambda position, letter: (1, letter or 2 * (position % 2 == 0), 0),
                places=(0, 2),
            )
            found = require_simulated(odd, 8)
            assert found.reading.dfa == minimal(parse_regex("((a|b)(a|b))*a(a|b)*", "ab"))
            assert classify(found.reading.dfa).kind is RegularClass.QUASI_APERIODIC
        case "ending":
            model = Ended(**{**vars(plain), "symbols": ("a", "b", "$")})
            found = require_simulated(model, 8)
            assert found.model.accepts("") is model.verdict((2,)) is False
        case "empty":

            class Says(ByRows):
                accepts_empty = True

            found = require_simulated(Says(**vars(plain)), 6)
            assert found.model.accepts("")
        case _:
            found = require_simulated(replace(plain, at="first"), 8, regime="decoder")
            assert found.reading.dfa == minimal(parse_regex("(a|b)*a(a|b)*", "ab"))
            assert found.model.regime == "decoder"


def test_what_is_said(tmp_path: Path) -> None:
    said: list[str] = []
    found = attemper.simulate(Surrounded(), count=40, progress=said.append)
    assert said == [
        "following the tables",
        "running the definition",
        "compiling the automaton",
        "looking for horizons",
        "checking",
    ]
    assert found.reading.dfa == BETWEEN
    assert (repr(found)[:12], found.exit_code) == ("<Simulated: ", 0)
    lines = found.lines()
    assert str(found) == "\n".join(lines)
    assert lines[0].startswith("MEASURED: the automaton is the model's at every length, if its functions")
    assert lines[len(found.reading.lines())] == (
        "a network is made of the automaton (unbounded): 3 layers, 3 heads, 2230 parameters"
    )
    assert lines[len(found.reading.lines()) + 1] == "PROVED: all lengths, in real arithmetic"
    record = json.loads(json.dumps(found.record))
    assert (record["measured"]["status"], record["proved"]["verdict"]) == ("MEASURED", "PROVED")
    assert record["measured"]["automaton"] == AUTOMATON.encode(BETWEEN)
    assert record["network"]["digest"] == found.model.digest
    with pytest.raises(TypeError, match="not true or false"):
        bool(found)
    found.save(tmp_path / "net")
    verdict = check_path(tmp_path / "net")
    assert str(verdict.status) == "PROVED"
    network, source = load_network(tmp_path / "net")
    assert source.kind == "automaton"
    for word in all_words(2, 6):
        letters = tuple("ab"[k] for k in word)
        assert (output_bits(network, letters)[-1] == 1) == BETWEEN.accepts(letters)


def test_a_model_whose_runs_differ_from_its_tables_has_no_network() -> None:
    found = simulate(Tiring(100), count=200)
    assert (repr(found), found.exit_code) == ("<Simulated: DISAGREEMENT>", ExitCode.DISAGREEMENT)
    assert found.lines() == found.reading.lines()
    record = found.record
    assert (record["network"], record["proved"]) == (None, None)
    for ask in (lambda: found.model, lambda: found.checked, lambda: found.save("nowhere")):
        with pytest.raises(UnsupportedError, match="own runs differ"):
            ask()


def test_options_and_limits() -> None:
    with pytest.raises(OptionError, match="regime='bounded' is none of"):
        simulate(Surrounded(), regime="bounded")  # type: ignore[arg-type]
    with pytest.raises(OptionError, match="there is no limit 'states'; the limits are: configurations, "):
        simulate(Surrounded(), limits={"states": 7})
    with pytest.raises(UnprovedError, match="more than 5 configurations"):
        simulate(Surrounded(), limits={"configurations": 5})
    with pytest.raises(UnsupportedError, match="beyond the cap of 1"):
        simulate(looking_both_ways(11), count=0, limits={"levels": 1})
    with pytest.raises(UnsupportedError, match="beyond the cap of 0"):
        simulate(Surrounded(), count=0, limits={"levels": 0})
    with pytest.raises(OptionError, match="'configurations' is a whole number from 1 on"):
        simulate(Surrounded(), limits={"configurations": 0})
    with pytest.raises(OptionError, match="count=-1"):
        simulate(Surrounded(), count=-1)


# The command --------------------------------------------------------------------------------------------


def test_the_command_writes_a_network_that_check_accepts(tmp_path: Path) -> None:
    outcome = command("simulate", SMALL, "-o", tmp_path / "net", "--count", 30)
    assert (outcome.code, outcome.err) == (0, "")
    assert outcome.out.startswith("MEASURED: ")
    assert "PROVED: all lengths, in real arithmetic" in outcome.out
    assert f"wrote {tmp_path / 'net'}" in outcome.out.replace("\n  ", " ")
    assert str(check_path(tmp_path / "net").status) == "PROVED"
    again = command(
        "simulate", SMALL, "-o", tmp_path / "net", "--count", 30, "--regime", "temperature", "--json"
    )
    assert (again.code, again.record["network"]["regime"]) == (0, "temperature")
    assert again.record["directory"] == str(tmp_path / "net")
    (tmp_path / "mine.txt").write_text("mine")
    refused = command("simulate", SMALL, "-o", tmp_path, "--count", 30)
    assert refused.code == ExitCode.FILE
    assert command("simulate", SMALL, "-o", tmp_path / "x", "--limit", "levels=many").code == ExitCode.USAGE


def test_the_command_writes_nothing_where_runs_differ(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "tiring_here.py").write_text(
        "from tests.workbench.test_reading_models import Tiring\ndef made():\n    return Tiring(100)\n"
    )
    monkeypatch.chdir(tmp_path)
    monkeypatch.syspath_prepend(str(tmp_path))
    monkeypatch.delitem(sys.modules, "tiring_here", raising=False)
    outcome = command("simulate", "tiring_here:made", "-o", tmp_path / "net", "--count", 200)
    assert outcome.code == ExitCode.DISAGREEMENT
    assert outcome.out.startswith("DISAGREEMENT at ")
    assert not (tmp_path / "net").exists()
    assert command("simulate", "tiring_here:absent", "-o", tmp_path / "net").code == ExitCode.USAGE
