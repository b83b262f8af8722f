"""Somebody's model read back: what is compared, what is said, and who is to blame."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from attemper.errors import ExitCode, OptionError, UnprovedError
from attemper.languages.regular.dfa import AUTOMATON
from attemper.languages.regular.minimal import minimal
from attemper.languages.regular.regex import parse_regex
from attemper.languages.words import Word
from attemper.models.arrays import Array
from attemper.models.hard.masked import MaskedModel
from attemper.models.hard.masked_examples import Alternating
from attemper.modules import ModuleError
from attemper.workbench import reading_models
from attemper.workbench.reading_models import ModelReading, read_model
from tests.support.drawn.by_rows import ByRows, Ended, by_tables
from tests.support.drawn.hard_examples import LastIs

NAME = "attemper.models.hard.masked_examples:Alternating"


def test_a_model_by_its_name() -> None:
    found = read_model(NAME, count=300)
    assert found.dfa == minimal(parse_regex("ab(ab)*", "ab"))
    assert found.source == NAME
    assert (found.words, found.disagreement) == (300, None)
    # All prefixes of a word are compared with it.
    assert found.verdicts > 300
    assert found.lines() == (
        "MEASURED: the automaton is the model's at every length, if its functions give equal rows "
        "equal results in every batch, and the embedding has the places that it declares (both probed)",
        "4 states of 11 configurations; 2, 4, 4 different activations in the layers 0 to 2",
        f"300 words run by the definition, {found.verdicts:,} verdicts compared, all equal",
        "the empty word: rejected, as the model says nothing of it",
        "arithmetic: integers, exactly",
        "class: star-free",
        "shortest accepted word: ab",
        "shortest rejected word: (empty)",
    )
    assert str(found) == "\n".join(found.lines())
    assert (found.status, found.exit_code) == ("MEASURED", 0)
    record = json.loads(json.dumps(found.record))
    assert record["status"] == "MEASURED"
    assert record["automaton"] == AUTOMATON.encode(found.dfa)
    assert (record["states"], record["configurations"], record["activations"]) == (4, 11, [2, 4, 4])
    assert (record["words"], record["verdicts"], record["disagreement"]) == (300, found.verdicts, None)


def test_progress_is_told_and_words_may_be_none() -> None:
    said: list[str] = []
    found = read_model(LastIs("a"), count=0, progress=said.append)
    assert said == ["following the tables", "running the definition"]
    assert (found.words, found.verdicts, found.source) == (0, 0, "LastIs")
    with pytest.raises(OptionError, match="count=-1"):
        read_model(LastIs("a"), count=-1)


def test_words_of_a_model_with_an_end_marker_have_one_verdict_each_and_may_be_empty(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    asked: list[Word] = []
    verdicts = reading_models.verdicts

    def recorded(model: MaskedModel, word: Word) -> tuple[tuple[int, bool], ...]:
        asked.append(word)
        return verdicts(model, word)

    monkeypatch.setattr(reading_models, "verdicts", recorded)
    found = read_model(by_tables(3), count=50)
    assert isinstance(by_tables(3), Ended)
    assert (found.words, found.verdicts, len(asked), asked[0]) == (50, 50, 50, ())
    assert "the empty word: the model's, at its end marker" in found.lines()


def test_the_time_that_is_over_ends_the_words(monkeypatch: pytest.MonkeyPatch) -> None:
    clock = iter(range(1_000))
    monkeypatch.setattr(reading_models, "monotonic", lambda: next(clock))
    # The clock is asked once before, and then at every word but the first.
    assert read_model(Alternating(), count=500, seconds=9).words == 9


class Tiring:
    """A model whose labels are others once they have been asked for often enough."""

    symbols, places, layers, semantics = LastIs("a").symbols, (0, 1), (), "integers"
    embed, scores, combine = LastIs("a").embed, LastIs("a").scores, LastIs("a").combine

    def __init__(self, calls: int) -> None:
        self.left = calls

    def labels(self, activations: Array) -> Any:
        self.left -= 1
        return (activations[:, 0] == 1) == (self.left >= 0)


def test_a_disagreement_is_found_and_nothing_is_said_of_the_model() -> None:
    found = read_model(Tiring(100), count=200)
    wrong = found.disagreement
    assert wrong is not None
    assert wrong.model != wrong.automaton == (wrong.word[-1] == "a")
    assert found.words < 200
    assert found.lines()[0].startswith("DISAGREEMENT at ")
    assert len(found.lines()) == 1
    record = found.record
    assert (record["status"], record["automaton"]) == ("DISAGREEMENT", None)
    assert record["disagreement"] == {
        "word": list(wrong.word),
        "model": wrong.model,
        "automaton": wrong.automaton,
    }
    assert read_model(Tiring(10_000), count=200).disagreement is None


MODULE = """\
import numpy as np
from attemper.models.hard.masked import MaskedHead


class Base:
    symbols, places, semantics = ("a", "b"), (0, 1), "float64"
    layers = ((MaskedHead(),),)

    def embed(self, positions, symbols):
        return np.stack([np.ones(len(symbols)), symbols], axis=1)

    def scores(self, layer, head, queries, keys):
        return queries[:, :1] * keys[None, :, 1]

    def combine(self, layer, own, attended):
        return own + attended[0]

    def labels(self, rows):
        return rows[:, 1] > 1


class Nan(Base):
    def combine(self, layer, own, attended):
        return own * np.nan


class Batch(Base):
    def scores(self, layer, head, queries, keys):
        return super().scores(layer, head, queries, keys) * (-1) ** len(keys)


class Harmonic(Base):
    def embed(self, positions, symbols):
        return np.stack([1 / positions, symbols], axis=1)


class Raises(Base):
    def labels(self, rows):
        return rows[:, 7] > 0


class Right:
    length, symbols, ending, heads, digest, semantics = 4, ("a", "b"), None, (1,), "", "float64"
    embed, scores, combine, labels = Base.embed, Base.scores, Base.combine, Base.labels


class Masked(Right):
    mask = "<="

    def labels(self, rows):
        return rows
"""


@pytest.fixture
def module(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    (tmp_path / "read_back_here.py").write_text(MODULE)
    monkeypatch.chdir(tmp_path)
    monkeypatch.syspath_prepend(str(tmp_path))
    monkeypatch.delitem(sys.modules, "read_back_here", raising=False)
    return "read_back_here"


def line_of(text: str, after: str) -> int:
    """The line of a text behind another."""
    start = MODULE.index(after)
    return MODULE[: MODULE.index(text, start)].count("\n") + 1


@pytest.mark.parametrize(
    ("name", "function", "said"),
    [
        ("Nan", "combine", "'combine' of '{0}': an activation is not a number"),
        ("Batch", "scores", "'scores' of '{0}': the scores of the model depend on what else is in the batch"),
        ("Harmonic", "embed", "'embed' of '{0}': the embedding at position 2 is another than at 1"),
        ("Masked", "labels", "'labels' of '{0}': it must return an array of"),
    ],
)
def test_the_function_that_is_to_blame_is_named(module: str, name: str, function: str, said: str) -> None:
    source = f"{module}:{name}"
    with pytest.raises(ModuleError) as caught:
        read_model(source)
    assert str(caught.value).startswith(said.format(source))
    line = line_of(f"def {function}", f"class {name}")
    assert str(caught.value).endswith(f"(read_back_here.py:{line})")
    assert caught.value.exit_code == ExitCode.MODULE


def test_other_refusals(module: str) -> None:
    with pytest.raises(ModuleError, match=r"raised IndexError: .*\(read_back_here.py:"):
        read_model(f"{module}:Raises")
    assert read_model(f"{module}:Right", count=100).words == 100
    with pytest.raises(OptionError, match="has no 'Absent'"):
        read_model(f"{module}:Absent")
    found = read_model(f"{module}:Base", count=100)
    assert isinstance(found, ModelReading)
    assert found.dfa == minimal(parse_regex("(a|b)*b", "ab"))


def test_caps_are_handed_on() -> None:
    with pytest.raises(UnprovedError, match="more than 5 configurations"):
        read_model(NAME, limits={"configurations": 5})
    with pytest.raises(UnprovedError, match="0 seconds"):
        read_model(NAME, seconds=0)
    with pytest.raises(OptionError, match="seconds='long'"):
        read_model(NAME, seconds="long")  # type: ignore[arg-type]


def test_a_model_of_two_states_is_said_in_the_singular_where_there_is_one() -> None:
    always = ByRows(lambda position, letter: (1,), label=lambda row: False, symbols=("a",))
    lines = read_model(always, count=1).lines()
    assert lines[1] == "1 state of 1 configuration; 1 different activations in the layers 0 to 0"
    assert lines[2] == "1 word run by the definition, 1 verdict compared, all equal"
    assert np.array_equal(always.embed(np.array([1]), np.array([0])), [[1]])
