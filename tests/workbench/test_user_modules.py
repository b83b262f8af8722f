"""Errors of a user's own module: its own message and place, exit code 8, no traceback, before any search."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import pytest

from attemper.errors import ExitCode
from attemper.workbench.cli.app import main
from tests.support.cli.command_line import attemper

MODULE = '''
import numpy as np


class Typed:
    symbols, ending, heads = ("0", "1", "$"), "$", (1, 1)
    digest, semantics = "typed", "float64"

    def __init__(self, n):
        draw = np.random.default_rng(0)
        self.length = n
        self.embedding, self.weights = draw.standard_normal((3, 16)), draw.standard_normal((16, 16))

    def embed(self, positions, symbols):
        return self.embedding[symbols]

    def scores(self, layer, head, queries, keys):
        return queries @ self.weights @ keys.T

    def combine(self, layer, own, attended):
        return np.maximum(own + attended[0], 0)

    def labels(self, rows):
        return rows[:, 0] > 1


class Misshapen(Typed):
    def scores(self, layer, head, queries, keys):
        return queries @ keys


class Listing(Typed):
    def combine(self, layer, own, attended):
        return list(own)


class Logits(Typed):
    def labels(self, rows):
        return rows[:, 0]


class Endless(Typed):
    def embed(self, positions, symbols):
        return self.embedding[symbols] * np.nan


class Symbols(Typed):
    symbols = ["0", "1", "$"]


class Heads(Typed):
    heads = [1, 1]


class Unnamed(Typed):
    digest = None


class Later(Typed):
    """Fails in a batch that only the search has."""

    def scores(self, layer, head, queries, keys):
        if len(keys) > self.length:
            raise ZeroDivisionError("only now")
        return np.zeros((len(queries), len(keys)))


def drawn(n):
    found = Typed(n)
    found.weights = np.random.standard_normal((16, 16))
    return found


def scaled(n):
    found = Typed(n)
    found.weights *= 1 + np.random.random()  # the best keys stay the best
    return found


def numbered(n):
    found = drawn(n)
    found.digest = str(found.weights)
    return found


def nothing(n):
    Typed(n)


def failing(n):
    raise ValueError("no weights for n = %d" % n)


for kind in (Typed, Misshapen, Listing, Logits, Endless, Symbols, Heads, Unnamed, Later):
    globals()[kind.__name__.lower()] = lambda n, kind=kind: kind(n)
'''

LOGITS = "def labels(self, rows):\n        return rows[:, 0]\n"
NOT_A_NUMBER = "def embed(self, positions, symbols):\n        return self.embedding[symbols] * np.nan"

ENCODER = """
import torch
from attemper.models.hard.encoders import read_encoder


def swapped(n):
    layer = torch.nn.TransformerEncoderLayer(8, 2, 16, batch_first=True)
    encoder, embedding = torch.nn.TransformerEncoder(layer, 1), torch.nn.Embedding(3, 8)
    return read_encoder(embedding, encoder, torch.randn(n, 8), torch.nn.Linear(8, 1), ("0", "1", "$"), "$")
"""


BARE = """
import torch

layer = torch.nn.TransformerEncoderLayer(8, 2, 16, batch_first=True)
bare = torch.nn.TransformerEncoder(layer, 1, enable_nested_tensor=False)


def made(n=None):
    return bare
"""


@pytest.mark.parametrize("name", ["bare", "made"])
@pytest.mark.parametrize("command", [("refute", "zoo:parity", "--length", "9"), ("bound",), ("decompile",)])
def test_an_encoder_of_torch_is_to_be_wrapped(
    command: tuple[str, ...], name: str, here: str, tmp_path: Path
) -> None:
    (tmp_path / f"bare_{here}.py").write_text(BARE)
    result = attemper(command[0], f"bare_{here}:{name}", *command[1:])
    assert result.code == ExitCode.MODULE, result
    for part in ("wrap it", "read_encoder", "docs/refutation.md", "read_weights", "docs/limits.md"):
        assert part in result.err


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    """The name of a module in the folder where commands are run."""
    name = f"theirs_{abs(hash(tmp_path))}"
    (tmp_path / f"{name}.py").write_text(MODULE)
    monkeypatch.chdir(tmp_path)
    monkeypatch.syspath_prepend(str(tmp_path))
    return name


def line_of(text: str) -> int:
    """The line of the module where a text stands first."""
    return MODULE[: MODULE.index(text)].count("\n") + 1


@pytest.mark.parametrize(
    ("model", "message", "place"),
    [
        ("typed", "depend on what else is in the batch", "def scores(self, layer, head, queries, keys)"),
        ("misshapen", "raised ValueError: matmul:", "return queries @ keys\n"),
        ("listing", "'combine' of '{}:listing': it must return an array of numbers with 12 rows, not", ""),
        ("logits", "it must return an array of 12 truth values", LOGITS),
        ("endless", "an activation is not a number", NOT_A_NUMBER),
        ("symbols", "must have symbols that are a tuple of texts", None),
        ("heads", "must have heads that are a tuple of integers", None),
        ("unnamed", "must have a digest and semantics that are texts", None),
        ("later", "raised ZeroDivisionError: only now", 'raise ZeroDivisionError("only now")'),
        ("drawn", "its digest must differ where the weights do", None),
        ("scaled", "its digest must differ where the weights do", None),
        ("numbered", "random weights need a seed inside the function", None),
        ("nothing", "returned None: does it end with a return?", "def nothing"),
        ("failing", "raised ValueError: no weights for n = 12", 'raise ValueError("no weights'),
    ],
)
def test_an_error_of_a_module_has_its_message_and_place(
    here: str, model: str, message: str, place: str | None
) -> None:
    result = attemper("refute", f"{here}:{model}", "zoo:parity", "--length", "12", "--seconds", "5")
    assert result.code == ExitCode.MODULE == 8, result
    assert message.format(here) in result.err
    assert len(result.err.splitlines()) == 1
    assert "ClaimVerdict" not in result.err
    if place:
        assert result.err.endswith(f"({here}.py:{line_of(place)})\n")


@pytest.mark.parametrize(
    ("text", "message", "line"),
    [
        ("import no_such_package\n", "raised ModuleNotFoundError: No module named 'no_such", 1),
        ("a = 1\ndef f(:\n", "raised SyntaxError", 2),
        ("import sys\nsys.exit(3)\n", "raised SystemExit: 3", 2),
        ("{}['a']\n", "raised KeyError: 'a'", 1),
        (ENCODER, "must be of the class torch.nn.TransformerEncoder, not Embedding", 9),
    ],
)
def test_what_happens_while_a_module_is_loaded_has_its_place(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, text: str, message: str, line: int
) -> None:
    name = f"loaded_{abs(hash(tmp_path))}"
    (tmp_path / f"{name}.py").write_text(text)
    monkeypatch.chdir(tmp_path)
    result = attemper("refute", f"{name}:swapped", "zoo:parity", "--length", "12")
    assert result.code == ExitCode.MODULE, result
    assert message in result.err
    assert result.err.endswith(f"({name}.py:{line})\n")


def test_a_model_is_looked_at_before_the_search(here: str, monkeypatch: pytest.MonkeyPatch) -> None:
    def searched(*_: object, **__: object) -> None:
        raise AssertionError("the search has begun")

    monkeypatch.setattr("attemper.theories.refutation.finding.refute", searched)
    result = attemper("refute", f"{here}:typed", "zoo:parity", "--length", "12")
    assert result.code == ExitCode.MODULE


def test_check_names_the_place_too(here: str) -> None:
    assert attemper("refute", "tests.support.drawn.hard_examples:ones", "zoo:parity", "--length", "9",
                    "-o", "out.json").code in {0, 11}  # fmt: skip
    result = attemper("check", "out.json", "--model", f"{here}:failing")
    assert result.code == ExitCode.MODULE
    assert f"raised ValueError: no weights for n = 9 ({here}.py:{line_of('raise ValueError')})" in result.err
    asked = attemper("check", "out.json", "--model", f"{here}:failing", "--json")
    error = json.loads(asked.err)["error"]
    assert (error["code"], error["file"], error["line"]) == (8, f"{here}.py", line_of("raise ValueError"))


def test_a_fault_of_ours_is_not_blamed_on_anybody(
    here: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(
        "attemper.theories.refutation.search.named.start", len
    )  # a TypeError in a line of attemper's
    for option, shown in (
        ("--seed=0", "error: a fault of attemper itself; please report it"),
        ("--json", "{"),
    ):
        monkeypatch.setattr(
            sys, "argv", ["attemper", "refute", f"{here}:later", "zoo:parity", "--length", "9", option]
        )
        with pytest.raises(SystemExit) as stop:
            main()
        assert stop.value.code == ExitCode.INTERNAL == 70
        err = capsys.readouterr().err
        assert err.startswith(shown)
        assert "TypeError" in err
        assert "Traceback" in err, "what a report needs"
