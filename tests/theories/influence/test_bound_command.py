"""`attemper bound` and `attemper check` of what it writes, as users type them."""

from __future__ import annotations

import json
import time
from pathlib import Path

import pytest

import attemper as library
from attemper.checker.folders import check_path
from attemper.checker.verdict import Status
from attemper.errors import ExitCode, OptionError
from attemper.models.soft.weights import Encoder
from attemper.theories.influence.ask import bounding
from attemper.theories.influence.ask.bounding import BoundRequest, Limit, bound_and_check
from tests.support.cli.command_line import attemper
from tests.support.drawn.encoders import fixture, random_encoder

MODELS = """
import numpy as np
from tests.support.drawn.encoders import fixture, random_encoder
from attemper.models.soft.weights import Bounded, Encoder, Mask, NoPositions, Periodic


def majority():
    return fixture("majority_1_post")


def three_symbols():
    rows, one = np.arange(4.0)[:, None], np.ones((1, 1))
    return Encoder(("a", "b", "c", "$"), "$", rows, NoPositions(), Mask.UNMASKED, (), one, one[0], ("o",))


def ones():
    return fixture("ones_2_none")


def waves(i, n):
    return np.sin(i[:, None] / 10.0 ** np.arange(16))


def sinusoidal():
    return random_encoder(3, layers=1, norm="none", positions=Bounded(waves, -1.0, 1.0))


def deep():
    return random_encoder(3, layers=2, norm="post", positions=Bounded(waves, -1.0, 1.0))


def causal():
    return random_encoder(3, layers=1, width=4, norm="none", mask=Mask.FUTURE_MASKED)


def periodic():
    return random_encoder(3, layers=1, width=4, norm="none", positions=Periodic(np.eye(2, 4)))


def wrong():
    return "an encoder"
"""


@pytest.fixture(autouse=True)
def _models(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "some_encoders.py").write_text(MODELS)
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.chdir(tmp_path)
    # A check is a process of its own, which imports the module, and that one these tests.
    monkeypatch.setenv("PYTHONPATH", str(Path(__file__).parents[3]))


def bound(name: str, *options: object) -> tuple[int, str]:
    outcome = attemper("bound", f"some_encoders:{name}", *options)
    return outcome.code, outcome.out


def test_a_bound_is_written_and_checked() -> None:
    code, said = bound("majority", "--n0", 1000, "-o", "bound.json")
    assert code == ExitCode.OK
    assert "for all n >= 1000" in said
    assert "even or odd, is not decided with a margin of" in said
    checked = attemper("check", "bound.json", "--model", "some_encoders:majority")
    assert checked.code == ExitCode.OK
    assert checked.out.startswith("PROVED: one symbol of any word of n symbols changes the output by at most")
    assert checked.out.endswith("\n  encoder: some_encoders:majority\n")
    unnamed = attemper("check", "bound.json")
    assert (unnamed.code, "--model MODULE:OBJECT" in unnamed.err) == (ExitCode.USAGE, True)
    changed = json.loads(Path("bound.json").read_text())
    changed["bound"][2] = "300"
    Path("bound.json").write_text(json.dumps(changed))
    # In this process: another one would import torch again.
    assert check_path(Path("bound.json"), model="some_encoders:majority").status is Status.UNKNOWN


def test_the_command_prints_what_python_finds() -> None:
    found = library.bound(fixture("majority_1_post"), n0=1000)
    assert (found.status, found.exit_code) == (Status.PROVED, ExitCode.OK)
    assert str(found) == bound("majority", "--n0", 1000)[1].rstrip("\n")
    record = json.loads(bound("majority", "--n0", 1000, "--json")[1])
    subject = {**record["subject"], "place": ""}
    assert {**found.record, "seconds": 0} == {**record, "subject": subject, "seconds": 0}


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({"n0": 1}, "from 2 on"),
        ({"length": 0}, "from 2 on"),
        ({"p": "x"}, "'p' must be a number between 0 and 1"),
        ({"margin": -1}, "'margin' must be a number above 0"),
        ({"typical": "dyck2"}, "parity-even and parity-odd"),
    ],
)
def test_what_means_nothing_to_python_is_said(options: dict[str, object], said: str) -> None:
    with pytest.raises(OptionError, match=said):
        library.bound(fixture("majority_1_post"), **options)  # type: ignore[arg-type]
    with pytest.raises(OptionError, match="encoder=int is no encoder"):
        library.bound(3)  # type: ignore[arg-type]


def test_the_same_as_json() -> None:
    code, said = bound("majority", "--json", "--n0", 1000)
    record = json.loads(said)
    assert (code, record["verdict"]) == (ExitCode.OK, "PROVED")
    assert [each["n"] for each in record["measured"]] == [1000, 20_000]
    assert "for all n >= 1000" in record["claims"][0]["text"]


def test_all_words_of_a_recogniser_of_ones_are_unknown_and_typical_ones_are_not() -> None:
    """The worst word has one 0, which gets nearly all attention: the change grows with e^r."""
    code, said = bound("ones", "--seconds", 4)
    assert (code, "no finite bound" in said) == (ExitCode.UNKNOWN, True)
    code, said = bound("ones", "--typical", "parity-even", "--tau", "0.1")
    assert (code, "typical words" in said, "all words" in said) == (ExitCode.OK, True, True)


def test_one_length_by_its_table_or_by_two_words() -> None:
    code, said = bound("sinusoidal", "--length", 16)
    assert (code, "one symbol of any word of n = 16 symbols" in said) == (ExitCode.OK, True)
    code, said = bound("deep", "--length", 16)
    assert code == ExitCode.OK
    assert "the two words of 15 symbols" in said
    assert "UNKNOWN: the bound for all words of n = 16 is vacuous" in said
    code, said = bound("causal", "--length", 12)
    assert code == ExitCode.OK


def test_positions_with_a_period_have_a_bound_for_their_residue() -> None:
    code, said = bound("periodic", "--n0", 4097, "--seconds", 3)
    assert (code, "for all n >= 4097 with n = 1 mod 2" in said) == (ExitCode.OK, True)


def test_no_change_is_called_measured_that_was_not() -> None:
    code, said = bound("periodic", "--n0", 4097, "--seconds", 3, "--json")
    record = json.loads(said)
    assert (code, record["verdict"], record["measured"]) == (ExitCode.OK, "PROVED", [])


def test_of_three_symbols_it_is_said_that_not_all_words_were_measured() -> None:
    code, said = bound("three_symbols", "--seconds", 4)
    assert (code, "the greatest change of the words that were tried is 0 at" in said) == (ExitCode.OK, True)


@pytest.mark.parametrize(
    ("name", "options", "code", "said"),
    [
        ("majority", ("--length", 64), ExitCode.USAGE, "--length is for encoders with a mask or positions"),
        ("causal", (), ExitCode.USAGE, "say which, as in --length 64"),
        ("deep", (), ExitCode.UNSUPPORTED, "and without LayerNorm"),
        (
            "sinusoidal",
            ("--length", 64, "--typical", "parity-even"),
            ExitCode.USAGE,
            "--typical is for unmasked",
        ),
        (
            "majority",
            ("--typical", "parity-even", "--p", "1"),
            ExitCode.USAGE,
            "--p must be a number between 0 and 1",
        ),
        (
            "majority",
            ("--typical", "parity-even", "--p", "x"),
            ExitCode.USAGE,
            "--p must be a number between 0 and 1",
        ),
        (
            "majority",
            ("--typical", "parity-even", "--tau", "0"),
            ExitCode.USAGE,
            "--tau must be a number between",
        ),
        ("majority", ("--typical", "dyck2"), ExitCode.USAGE, "parity-even and parity-odd"),
        ("majority", ("--margin", "0"), ExitCode.USAGE, "--margin must be a number above 0"),
        ("majority", ("--n0", "0"), ExitCode.USAGE, "--n0"),
        ("deep", ("--length", 100_000), ExitCode.UNSUPPORTED, "too many for a table of several layers"),
        ("wrong", (), ExitCode.MODULE, "of the type str, not an encoder"),
        ("missing", (), ExitCode.USAGE, "has no 'missing'"),
        ("sinusoidal", ("--n", 64), ExitCode.USAGE, "write --length N"),
    ],
)
def test_what_cannot_be_bounded_is_refused(
    name: str, options: tuple[object, ...], code: ExitCode, said: str
) -> None:
    for more in ((), ("--json",)):
        outcome = attemper("bound", f"some_encoders:{name}", *options, *more)
        assert (outcome.code, said in outcome.err) == (code, True), outcome.err


def test_a_compiled_network_is_refused_with_the_reason(tmp_path: Path) -> None:
    assert attemper("compile", "O a", "--alphabet", "ab", "-o", tmp_path / "net").code == ExitCode.OK
    outcome = attemper("bound", tmp_path / "net")
    assert (outcome.code, "attemper influence" in outcome.err) == (ExitCode.UNSUPPORTED, True)


def test_what_the_start_takes_is_not_for_the_search(monkeypatch: pytest.MonkeyPatch) -> None:
    seen: list[float] = []

    def slow(name: str) -> Encoder:
        time.sleep(0.5)
        return fixture("majority_1_post")

    def noted(encoder: Encoder, asked: BoundRequest, source: str = "") -> Limit:
        seen.append(asked.seconds)
        return Limit(None, None, "not looked for", (), 0, 0.0)

    monkeypatch.setattr(bounding, "encoder_named", slow)
    monkeypatch.setattr(bounding, "bound_and_check", noted)
    assert bound("majority", "--seconds", 30)[0] == ExitCode.UNKNOWN
    assert 0 < seen[0] <= 29.5


def test_an_interrupted_search_ends_with_the_best_so_far() -> None:
    def interrupt(said: str) -> None:
        if "n times the change" in said and "inf" not in said:
            raise KeyboardInterrupt

    limit = bound_and_check(fixture("majority_2_post"), BoundRequest(report=interrupt))
    assert limit.interrupted
    assert limit.verdict is not None
    assert limit.verdict.status is Status.PROVED


def test_a_bound_that_was_not_found_cannot_be_saved(tmp_path: Path) -> None:
    limit = bound_and_check(random_encoder(1), BoundRequest(seconds=0))
    assert repr(limit).startswith("<Limit: UNKNOWN, no bound")
    assert (limit.status, limit.exit_code) == (Status.UNKNOWN, ExitCode.UNKNOWN)
    assert str(limit).startswith("UNKNOWN: no finite bound was found")
    with pytest.raises(TypeError, match="look at its status"):
        bool(limit)
    with pytest.raises(OptionError, match="there is no bound to save"):
        limit.save(tmp_path / "bound.json")
