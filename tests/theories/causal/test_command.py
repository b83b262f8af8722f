"""`attemper causal`, the file that it writes, and `attemper check` of that."""

from __future__ import annotations

import json
from itertools import islice
from pathlib import Path
from random import Random
from typing import Any

import flint
import numpy as np
import pytest

import attemper
from attemper.checker.verdict import Status
from attemper.errors import ExitCode, OptionError, UnprovedError
from attemper.theories.causal import ask
from attemper.theories.causal.certificate import CAUSAL, CausalClaim
from attemper.theories.causal.check.claims import judge_causal, proof_of
from attemper.theories.causal.check.settings import (
    Interchange,
    Interchanges,
    short_interchanges,
)
from tests.support.cli.command_line import attemper as command
from tests.support.drawn.causal import models
from tests.support.judges.read_back import raw_of
from tests.support.oracles import raw_settings
from tests.support.oracles.raw_files import Floats
from tests.support.oracles.raw_forward import batch_of
from tests.support.suites import Few

INNER = "O (b & Y a) & H ((b & Y a) | !c)"


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    place = tmp_path / "inner"
    assert command("compile", INNER, "--alphabet", "abc", "-o", place).code == 0
    return place


def test_each_variable_is_proved_or_refuted_by_two_words(folder: Path) -> None:
    found = command("causal", folder, "-o", folder / "causal.json")
    assert found.code == ExitCode.OK
    assert "REFUTED: after layer 0: 1 - x1 and x2 is s4 = and s0 s2 s3" in found.out
    assert "on 'ac', with s4 at position 2 as on 'ab', at position 2 0 is put out, not 1" in found.out
    assert "blocks.0.hook_resid_post[:, 1, [1, 2]] = that of 'ab'" in found.out
    assert "PROVED: after layer 0: 1 - x3 and x4 is s8 = and s5 s7" in found.out
    checked = command("check", folder / "causal.json")
    assert checked.code == ExitCode.OK
    assert checked.out.startswith("PROVED\n") or "PROVED: all lengths" in checked.out
    shown = command("show", folder / "causal.json")
    assert "variable 0, after layer 0: 1 - x3 and x4 is s8 = and s5 s7" in shown.out
    record = command("causal", folder, "--json").record
    assert [own["status"] for own in record["variables"]] == ["REFUTED", "PROVED"]
    assert record["variables"][0]["taken"] == [{"variable": 0, "position": 2, "source": ["a", "b"]}]


def test_a_variable_of_ones_own(folder: Path) -> None:
    asked = ("causal", folder, "--layer", 0, "--step", 8, "--coordinates")
    assert command(*asked, "3:-,4:+").code == ExitCode.OK
    assert command(*asked, "3:-").code == ExitCode.REFUTED, "x4 is read, too"
    wrong = command(*asked, "3:+,4:-")
    assert wrong.code == ExitCode.REFUTED
    assert "s8 = and s5 s7" in command("causal", folder, "--program").out
    for text, said in (
        ("3:*", "write 1:-,2:+"),
        ("3:+,3:-", "the second of one"),
        ("99:+", "no coordinate 99"),
    ):
        refused = command(*asked, text)
        assert (refused.code, said in refused.err) == (ExitCode.USAGE, True), refused.err
    assert command("causal", folder, "--step", 8).code == ExitCode.USAGE


def test_a_changed_file_is_refuted_malformed_or_unknown(folder: Path, tmp_path: Path) -> None:
    assert command("causal", folder, "-o", folder / "causal.json").code == 0
    said = json.loads((folder / "causal.json").read_text())

    def judged(change: dict[str, object], **inside: object) -> int:
        changed = {**said, **change}
        if inside:
            (variable,) = said["variables"]
            changed["variables"] = [{**variable, **inside}]
        (tmp_path / "changed.json").write_text(json.dumps(changed))
        return command("check", tmp_path / "changed.json", "--model", folder).code

    (code,) = said["variables"][0]["codes"]
    assert judged({}) == ExitCode.OK
    assert judged({"network": "0" * 64}) == ExitCode.FILE
    assert judged({"variables": []}) == ExitCode.FILE
    assert judged({}, layer=7) == ExitCode.FILE
    assert judged({}, codes=[{**code, "step": 99}]) == ExitCode.FILE
    assert judged({}, codes=[{**code, "step": 4}]) == ExitCode.REFUTED
    assert judged({}, codes=[{**code, "holders": code["holders"][:1]}]) == ExitCode.REFUTED
    assert judged({}, codes=[code, code]) == ExitCode.FILE
    assert judged({}) == ExitCode.OK
    alone = command("check", tmp_path / "changed.json")
    assert alone.code == ExitCode.USAGE
    assert "say with --model which folder the file is about" in alone.err


def test_what_is_found_in_python(tmp_path: Path) -> None:
    found = attemper.causal(attemper.compile(INNER, "abc"))
    assert found.status is Status.PROVED
    assert repr(found) == "<Causal: 1 of 2 variables proved>"
    refuted, proved = found.variables
    assert refuted.wrong is not None
    interchanges = Interchanges(found.network, found.program, (refuted.variable,))
    assert [round(row[0]) for row in found.replay(0)] != [
        interchanges.steps(refuted.wrong.shown_by)[found.program.output][i] for i in range(2)
    ]
    with pytest.raises(OptionError, match="variable 1 is not refuted"):
        found.replay(1)
    found.save(tmp_path / "causal.json")
    assert CAUSAL.load(tmp_path / "causal.json").variables == (proved.variable,)
    with pytest.raises(TypeError):
        bool(found)
    with pytest.raises(UnprovedError):
        attemper.causal(attemper.compile("a", "ab")).save(tmp_path / "none.json")


def test_an_interrupt_ends_it_with_what_is_known(monkeypatch: pytest.MonkeyPatch) -> None:
    known, judged = list[ask.JudgedVariable](), ask._Asked.judged

    def slow(*given: Any) -> ask.JudgedVariable:
        if known:
            raise KeyboardInterrupt
        known.append(judged(*given))
        return known[0]

    monkeypatch.setattr(ask._Asked, "judged", slow)
    found = attemper.causal(attemper.compile(INNER, "abc"))
    assert (found.variables, found.left) == (tuple(known), 1)
    assert found.exit_code is ExitCode.UNKNOWN
    assert "interrupted: 1 more are not looked at" in str(found)


def test_what_nothing_reads_is_said() -> None:
    model = attemper.compile("O a & O (O b & a)", "ab")
    found = attemper.causal(model)
    assert found.claim is not None
    for own in found.claim.variables:
        alone = CausalClaim(model.digest, found.program, (own,))
        (_, claim) = judge_causal(model.network, model.digest, alone).claims
        assert "nothing that is put out is made of it" not in claim.text


def test_settings_mean_what_raw_files_say(few: Few) -> None:
    """Both definitions, in balls and integers, against the oracle that shares nothing with them."""
    for text in few(("O (a & O b)", "even(#<[a & Y b])", "a S (b & Y a)"), 2):
        found = attemper.causal(attemper.compile(text, "ab"))
        assert found.claim is not None
        variables, raw = found.claim.variables, raw_of(found.network)
        data = json.loads(json.dumps(CAUSAL.encode(found.claim)))
        interchanges = Interchanges(found.network, found.program, variables)
        tried = list(islice(short_interchanges(found.network.alphabet, variables), 400))
        for said in Random(text).sample(tried, 40):
            own, steps = interchanges.outputs(said), interchanges.steps(said)
            theirs, bits = _by_files(raw, data, said)
            assert np.abs(_mids(own) - theirs).max() < 1e-9
            assert np.array_equal([steps[ref] for ref in found.program.outputs], bits.T)


def _by_files(
    raw: raw_settings.RawNetwork, data: dict[str, list[object]], said: Interchange
) -> tuple[Floats, Floats]:
    """Outputs of the network [output, position] and bits of the program [position, output]."""
    symbols = list(raw.alphabet)
    base = batch_of([[symbols.index(s) for s in said.base]])
    setting = [np.full(base.tokens.shape, raw_settings.NATURAL) for _ in data["variables"]]
    for taken in said.taken:
        source = batch_of([[symbols.index(s) for s in taken.source]])
        rows = raw_settings.steps_of(data["program"], raw.alphabet, source)
        (code,) = data["variables"][taken.variable]["codes"]
        setting[taken.variable][0, taken.position - 1] = rows[code["step"]][0, taken.position - 1]
    network = raw_settings.network_outputs(raw, data["variables"], base, setting)
    program = raw_settings.program_outputs(data["program"], data["variables"], base, setting)
    return network[0].T, program[0]


def _mids(rows: tuple[tuple[flint.arb, ...], ...]) -> Floats:
    return np.array([[float(ball.mid()) for ball in row] for row in rows])


@pytest.mark.sweep(2)
@pytest.mark.parametrize("seed", range(20))
def test_what_is_proved_at_once_is_proved_alone(seed: int) -> None:
    for model in models(200 + seed, 4):
        found = attemper.causal(model, up_to=1)
        for own in found.variables:
            alone = CausalClaim(model.digest, found.program, (own.variable,))
            (first, *_) = proof_of(model.network, model.digest, alone).claims
            assert (own.status is Status.PROVED) == (first.status is Status.PROVED), own.text
