"""attemper influence: what is measured, how it is said, and what is refused."""

from __future__ import annotations

import csv
import io
from dataclasses import replace
from fractions import Fraction
from itertools import product
from pathlib import Path

import numpy as np
import pytest

import attemper as library
from attemper.languages.sources.values import Parity
from attemper.models.arrays import Floats, Integers
from attemper.theories.influence.command.influence import MODES
from attemper.theories.influence.search.floors import floors_of
from attemper.theories.influence.search.influence import PositionClass
from attemper.theories.influence.search.measuring import MeasuringPlan, measure
from attemper.theories.influence.search.results import Mode
from attemper.theories.influence.search.subjects import in_log_odds, of_encoder, of_model
from tests.support.cli.command_line import attemper
from tests.support.drawn.encoders import fixture, random_encoder

MODELS = """
from tests.support.drawn.encoders import fixture, random_encoder
from attemper.models.soft.weights import Mask
plain = random_encoder(1)
causal = random_encoder(1, mask=Mask.FUTURE_MASKED)
def language_model():
    return fixture("parity_source_causal")
"""


@pytest.fixture
def models(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    (tmp_path / "measured_models.py").write_text(MODELS)
    monkeypatch.chdir(tmp_path)
    monkeypatch.syspath_prepend(str(tmp_path))
    return "measured_models"


def test_the_command_line_knows_the_modes() -> None:
    assert tuple(Mode) == MODES


def test_exact_is_the_default_where_words_are_few(models: str) -> None:
    said = attemper("influence", f"{models}:plain", "--lengths", "16,8,64")
    assert said.code == 0
    assert "measured in float64, not proved: maximum over all words" in said.out
    assert "slope on log-log axes, all positions: -" in said.out
    found = attemper("influence", f"{models}:plain", "--lengths", "8", "--json").record
    (length,) = found["lengths"]
    assert (length["n"], length["mode"], length["finished"]) == (8, "exact", True)
    assert length["changes"][0]["exchanges"] == 7


def test_a_compiled_network_is_measured_by_its_own_outputs(tmp_path: Path) -> None:
    library.compile("#<['1'] % 2 = 0", "01").save(tmp_path / "parity")
    found = attemper("influence", tmp_path / "parity", "--lengths", "6", "--json").record
    changes = found["lengths"][0]["changes"]
    assert [each["positions"] for each in changes] == ["first", "middle", "last but one"]
    assert all(each["largest"] == pytest.approx(1, abs=1e-9) for each in changes)
    assert [each["exchanges"] for each in changes] == [32, 3 * 32, 32]


def test_a_range_is_all_lengths_between(models: str) -> None:
    found = attemper("influence", f"{models}:plain", "--lengths", "9,5-7", "--json").record
    assert [each["n"] for each in found["lengths"]] == [5, 6, 7, 9]


def test_the_command_prints_what_python_measures(models: str, tmp_path: Path) -> None:
    found = library.influence(random_encoder(1), (8, 16))
    assert attemper("influence", f"{models}:plain", "--lengths", "8,16").out == f"{found}\n"
    said = attemper("influence", f"{models}:plain", "--lengths", "8,16", "--json").record
    assert {**said, "model": ""} == found.record
    assert repr(found).startswith("<Influence: ")
    found.save(tmp_path / "python.csv")
    attemper("influence", f"{models}:plain", "--lengths", "8,16", "--csv", tmp_path / "command.csv")
    assert (tmp_path / "python.csv").read_bytes() == (tmp_path / "command.csv").read_bytes()


def test_words_are_texts_symbols_or_numbers() -> None:
    encoder = random_encoder(1)
    rows = [
        library.influence(encoder, words=words).report.rows[0].changes.largest
        for words in (["0110"], [("0", "1", "1", "0")], [[0, 1, 1, 0]])
    ]
    assert len(set(rows)) == 1
    with pytest.raises(library.AttemperError, match="word 2"):
        library.influence(encoder, words=["01", "0$1"])
    with pytest.raises(library.AttemperError, match="model=int is neither"):
        library.influence(3, (8,))  # type: ignore[arg-type]


def test_given_words_are_those_of_the_file(models: str, tmp_path: Path) -> None:
    (tmp_path / "words").write_text("0110\n11\n0001\n")
    said = attemper(
        "influence",
        f"{models}:causal",
        "--words",
        tmp_path / "words",
        "--json",
        "--csv",
        tmp_path / "out.csv",
    )
    lengths = said.record["lengths"]
    assert [each["n"] for each in lengths] == [3, 5]
    assert [[c["exchanges"] for c in each["changes"]] for each in lengths] == [[1, 1], [2, 4, 2]]
    rows = list(csv.DictReader(io.StringIO((tmp_path / "out.csv").read_text())))
    assert [row["exchanges"] for row in rows] == ["1", "1", "2", "4", "2"]
    changes = [change for each in lengths for change in each["changes"]]
    assert [float(row["largest"]) for row in rows] == [change["largest"] for change in changes]
    assert [row["word"] for row in rows] == [change["exchange"]["word"] for change in changes]


def test_words_come_from_the_standard_input_too(models: str) -> None:
    said = attemper("influence", f"{models}:causal", "--words", "-", "--json", stdin="0110\n")
    assert said.record["lengths"][0]["n"] == 5


def test_sampled_and_searched_numbers_are_those_of_the_seed(models: str) -> None:
    for mode, word in (("sampled", "sampled words"), ("search", "at most the maximum")):
        command = (
            "influence",
            f"{models}:causal",
            "--lengths",
            "24",
            "--mode",
            mode,
            "--count",
            "96",
            "--json",
        )
        first, again, other = attemper(*command), attemper(*command), attemper(*command, "--seed", "1")
        assert first.out == again.out != other.out
        assert word in first.record["lengths"][0]["largest_is"]


def test_log_odds_are_those_of_one_output(models: str) -> None:
    """ln(P/(1-P)) of END under a softmax, on all words of three bits, by the definition."""
    encoder = fixture("parity_source_causal")
    subject = in_log_odds(of_encoder(encoder, start="^"), "END")
    words = np.array([(2, *bits) for bits in product((0, 1), repeat=3)])
    laws = np.exp(of_encoder(encoder, start="^").outputs(words))
    laws /= laws.sum(axis=1, keepdims=True)
    np.testing.assert_allclose(subject.outputs(words)[:, 0], np.log(laws[:, 2] / (1 - laws[:, 2])), atol=1e-9)


def test_two_floors_are_told_apart(models: str) -> None:
    options = ("--start", "^", "--log-odds", "END", "--source", "parity-even", "--count", "16")
    said = attemper("influence", f"{models}:language_model", "--lengths", "33", *options)
    assert said.code == 0
    assert "from all words: at most" in said.out
    assert "typical words:" in said.out
    (floors,) = attemper(
        "influence", f"{models}:language_model", "--lengths", "33", *options, "--json"
    ).record["floors"]
    assert floors["optimum"] == pytest.approx(0.866434, abs=1e-6)
    assert floors["table"] == pytest.approx(1.063398, abs=1e-6)
    assert floors["from_worst"] <= floors["typical"] + 4 * floors["standard_error"]


@pytest.mark.slow
def test_a_floor_from_all_words_says_nothing_where_the_typical_one_is_near_the_table() -> None:
    """The trained causal model at n = 64 and 512: the worst word found, and the mean word."""
    source = Parity(Fraction(1, 2), odd=False)
    subject = in_log_odds(of_encoder(fixture("parity_source_causal"), start="^"), "END")
    report = measure(subject, MeasuringPlan(Mode.SEARCH, (65,), 8192, 0, 600.0), lambda _: None)
    (floors,) = floors_of(report, source, seed=0)
    assert floors.worst_change > 9
    assert floors.mean_change < 0.2
    assert floors.from_worst < floors.optimum + 1e-4
    assert floors.table - 0.02 < floors.typical < floors.table
    report = measure(subject, MeasuringPlan(Mode.SAMPLED, (513,), 4, 0, 600.0), lambda _: None)
    (floors,) = floors_of(report, source, seed=0)
    assert floors.table - 0.005 < floors.typical < floors.table


def test_everything_fits_eighty_columns(models: str) -> None:
    for options in ([], ["--log-odds", "END"], ["--log-odds", "END", "--source", "parity-odd"]):
        command = ("influence", f"{models}:language_model", "--start", "^", "--lengths", "5,9", *options)
        said = attemper(*command, columns=80)
        assert said.code == 0
        assert max(map(len, said.out.splitlines())) <= 80


@pytest.mark.parametrize(
    ("arguments", "code", "said"),
    [
        (["measured_models:plain"], 2, "give the lengths, or words"),
        (["measured_models:plain", "--lengths", "8", "--words", "words"], 2, "give the lengths, or words"),
        (["measured_models:plain", "--lengths", "8,x"], 2, "lists no lengths"),
        (["measured_models:plain", "--lengths", "1"], 2, "are not lengths from 2"),
        (["measured_models:plain", "--lengths", "8", "--mode", "all"], 2, "mode='all' is none of 'exact'"),
        (["measured_models:plain", "--lengths", "8", "--mode", "word"], 2, "go together"),
        (["measured_models:causal", "--lengths", "64", "--mode", "exact"], 4, "mode sampled"),
        (["measured_models:causal", "--lengths", "8193"], 4, "at most 8,192 symbols"),
        (["measured_models:plain", "--lengths", "2000000"], 4, "at most 8,192 symbols"),
        (["measured_models:plain", "--lengths", "8", "--log-odds", "END"], 2, "--log-odds END is none of"),
        (["measured_models:plain", "--lengths", "8", "--start", "?"], 2, "start '?'"),
        (["measured_models:plain", "--lengths", "8", "--start", "$"], 2, "start '$'"),
        (["measured_models:plain", "--lengths", "8", "--source", "dyck2"], 2, "dyck2 gives"),
        (["measured_models:plain", "--lengths", "8", "--source", "parity"], 2, "parity-even"),
        (
            ["measured_models:plain", "--lengths", "8", "--source", "parity-odd", "--p", "2"],
            2,
            "--p 2 is not",
        ),
        (["measured_models:plain", "--lengths", "8", "--source", "parity-odd", "--p", "x"], 2, "no fraction"),
        (["measured_models:plain", "--lengths", "2-99999"], 2, "more than 1,000 lengths"),
        (
            ["measured_models:plain", "--lengths", "8", "--words", "words", "--mode", "exact"],
            2,
            "go together",
        ),
        (["measured_models:plain", "--n", "8"], 2, "write --lengths A,B"),
        (["measured_models:plain", "--samples", "8"], 2, "write --count N"),
        (["measured_models:missing", "--lengths", "8"], 2, "missing"),
        (["nowhere", "--lengths", "8"], 6, "nowhere"),
        (["measured_models:plain", "--words", "nowhere"], 6, "nowhere"),
        (["measured_models:plain", "--words", "words"], 5, "line 2 of 'words'"),
        (["measured_models:plain", "--lengths", "8", "--csv", "no/such/file"], 6, "cannot write"),
        (["measured_models:plain", "--logit-range", "n"], 2, "compiled networks"),
        (["measured_models:plain", "--logit-range", "n", "--csv", "x"], 2, "--logit-range goes with"),
    ],
)
def test_bad_input_is_named(models: str, tmp_path: Path, arguments: list[str], code: int, said: str) -> None:
    (tmp_path / "words").write_text("01\n0$1\n")
    outcome = attemper("influence", *arguments)
    assert (outcome.code, outcome.out) == (code, "")
    assert said in outcome.err


def test_a_network_that_is_read_at_the_first_position_is_refused() -> None:
    with pytest.raises(library.AttemperError, match="first position"):
        of_model(library.compile("F '1'", "01", at="first"))


def test_time_and_interrupts_leave_what_was_seen() -> None:
    subject = of_encoder(random_encoder(1))
    late = measure(subject, MeasuringPlan(Mode.SEARCH, (8, 16), 4096, 0, 0.0), lambda _: None)
    assert [(each.length, each.finished) for each in late.measured] == [(8, False)]
    assert {row.place for row in late.rows} == {
        PositionClass.FIRST,
        PositionClass.MIDDLE,
        PositionClass.LAST_BUT_ONE,
    }
    assert not late.interrupted
    early = measure(subject, MeasuringPlan(Mode.EXACT, (200_000,), 1, 0, 0.0), lambda _: None)
    assert early.measured[0].found_as == "largest in the words that were reached, not the maximum"
    assert 0 < early.rows[0].changes.exchanges < 199_999
    rounds = iter(range(10))

    def outputs(words: Integers) -> Floats:
        if next(rounds) > 5:
            raise KeyboardInterrupt
        return subject.outputs(words)

    stopping = replace(subject, outputs=outputs)
    stopped = measure(stopping, MeasuringPlan(Mode.SEARCH, (8, 16), 4096, 0, 600.0), lambda _: None)
    assert stopped.interrupted
    assert stopped.rows[0].changes.exchanges == 3 * 16


def test_symbols_that_are_put_out_are_outputs_of_their_own(tmp_path: Path) -> None:
    text = "alphabet a b c\noutput rightmost[j < i] symbol(j) else none"
    library.compile(library.program(text)).save(tmp_path / "before")
    found = attemper("influence", tmp_path / "before", "--lengths", "4", "--json").record
    changes = {(c["positions"], c["output"]): c for c in found["lengths"][0]["changes"]}
    assert {output for _, output in changes} == {"a", "b", "c", "none"}
    assert changes["last but one", "a"]["largest"] == pytest.approx(1, abs=1e-9)
    assert changes["last but one", "a"]["mean"] == pytest.approx(2 / 3, abs=1e-9)
    assert changes["first", "a"]["largest"] < 1e-9
    assert changes["last but one", "none"]["largest"] < 1e-9
    assert "output" in attemper("influence", tmp_path / "before", "--lengths", "4").out


def test_a_source_of_bits_fits_a_model_with_more_symbols() -> None:
    encoder = random_encoder(1)
    subject = of_encoder(replace(encoder, ending=None))
    report = measure(subject, MeasuringPlan(Mode.SAMPLED, (6,), 4, 0, 60.0), lambda _: None)
    (floors,) = floors_of(report, Parity(Fraction(1, 2), odd=True), seed=0)
    assert floors.optimum <= floors.typical <= floors.table + 1e-9
