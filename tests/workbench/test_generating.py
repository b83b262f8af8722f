"""Models that write: `Model.generate` and `attemper generate`."""

from __future__ import annotations

import signal
import subprocess
import sys
from dataclasses import replace
from itertools import islice
from pathlib import Path

import pytest

import attemper
from attemper.certificates.claims import FloatClaim
from attemper.certificates.files import save
from attemper.errors import ExitCode, OptionError, UnprovedError, UnsupportedError, WordError
from attemper.workbench.model import Model
from tests.support.cli.command_line import attemper as command

TEXT = "input x10 n 10; input x1 n; take: sub n -> give else halt; give: add m 2 -> take"
ENDLESS = "input x1 n; up: add n -> down; down: sub n -> up else halt"


@pytest.fixture(scope="module")
def doubling() -> Model:
    return attemper.compile(attemper.machine(TEXT), regime="decoder")


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory, doubling: Model) -> Path:
    found = tmp_path_factory.mktemp("machines")
    (found / "doubling.machine").write_text(TEXT)
    doubling.save(found / "doubling", certificate=doubling.certify())
    endless = attemper.compile(attemper.machine(ENDLESS), regime="decoder")
    endless.save(found / "endless", certificate=endless.certify())
    attemper.compile("O a", "ab").save(found / "once")
    return found


def test_numbers_become_the_fewest_tokens(doubling: Model) -> None:
    run = doubling.generate({"n": 23})
    assert run.length == 2 + 3 + 1
    assert sum(token == "take-" for token in run) == 23
    assert run.registers == {"n": 0, "m": 46}


def test_no_more_is_written_after_none(doubling: Model) -> None:
    run = doubling.generate("x1 start")
    assert (list(run), list(run), run.halted) == (["take-", "give+", "take0"], [], True)


def test_a_prompt_can_be_any_word(doubling: Model) -> None:
    assert list(doubling.generate(("give+", "x1", "take0"))) == []
    assert list(islice(doubling.generate("take- x1"), 3)) == ["take0"]


@pytest.mark.parametrize(
    ("prompt", "error"),
    [
        ((), WordError),
        ("x2", WordError),
        ({"k": 1}, OptionError),
        ({"n": -1}, OptionError),
        ({"m": 3}, OptionError),
    ],
)
def test_a_prompt_that_is_none_is_refused(doubling: Model, prompt: object, error: type[Exception]) -> None:
    with pytest.raises(error):
        doubling.generate(prompt)  # type: ignore[arg-type]


def test_what_puts_out_no_symbols_of_its_own_does_not_write() -> None:
    for model in (attemper.compile("O a", "ab"), attemper.compile("zoo:histogram")):
        with pytest.raises(UnsupportedError, match="does not go on writing"):
            model.generate("a")


def test_a_program_that_puts_out_its_own_symbols_writes() -> None:
    model = attemper.compile("zoo:most-frequent-symbol", regime="decoder")
    run = model.generate("abb")
    assert (list(islice(run, 3)), run.registers, run.halted) == (["b", "b", "b"], None, False)


def test_a_state_goes_on_as_if_nothing_had_happened(doubling: Model, tmp_path: Path) -> None:
    whole = list(doubling.generate({"n": 9}))
    run = doubling.generate({"n": 9})
    begun = list(islice(run, 7))
    state = doubling.stream()
    for token in ("x1",) * 9 + ("start", *begun):
        state.push(token)
    state.save(tmp_path / "state.json")
    again = doubling.generate(state=tmp_path / "state.json")
    assert again.registers is None
    assert begun + list(again) == whole


def test_whole_words_end_at_the_horizon(folder: Path) -> None:
    """Of a network that is no stream: what is claimed is about whole words, up to a horizon."""
    model = attemper.compile(attemper.machine(ENDLESS), regime="temperature")
    certificate = model.certify()
    claims = tuple(
        replace(claim, horizon=5) if isinstance(claim, FloatClaim) else claim for claim in certificate.claims
    )
    model.save(folder / "whole")
    save(replace(certificate, claims=claims), folder / "whole")
    loaded = attemper.load(folder / "whole")
    run = loaded.generate({"n": 1})
    assert not run.is_stream
    assert run.horizon == 5
    assert list(islice(run, 4)) == ["up+", "down-", "up+", "down-"]  # the last one is read from 5 symbols
    with pytest.raises(UnprovedError, match="horizon"):
        next(run)
    assert list(islice(loaded.generate({"n": 1}, beyond=True), 6)) == ["up+", "down-"] * 3
    said = command("generate", folder / "whole", "--input", "n=1")
    assert said.code == ExitCode.UNKNOWN
    assert said.out.split() == ["up+", "down-", "up+", "down-"]
    assert "--beyond" in said.err


def test_the_command_writes_until_the_machine_halts(folder: Path) -> None:
    said = command("generate", folder / "doubling", "--input", "n=2")
    assert said.code == 0
    assert said.out.splitlines() == [
        "take- give+ take- give+ take0",
        "halted after 5 tokens",
        "registers: n 0, m 4",
        "claimed of a stream in float64 (scan): it is right on words of up to 1,099,511,627,776 symbols",
    ]


def test_the_command_in_json(folder: Path) -> None:
    record = command("generate", folder / "doubling", "--prompt", "x1 start", "--json").record
    assert record["tokens"] == ["take-", "give+", "take0"]
    assert (record["halted"], record["registers"], record["length"]) == (True, {"n": 0, "m": 2}, 5)


def test_most_tokens_and_the_state_after_them(folder: Path, tmp_path: Path) -> None:
    state = tmp_path / "state.json"
    begun = command("generate", folder / "doubling", "--input", "n=4", "--most", "3", "--save-state", state)
    assert begun.code == ExitCode.UNKNOWN
    assert "not halted after 3 tokens" in begun.out
    ended = command("generate", folder / "doubling", "--load-state", state)
    assert ended.code == 0
    words = [said.out.splitlines()[0] for said in (begun, ended)]
    assert " ".join(words) == "take- give+ " * 4 + "take0"


@pytest.mark.parametrize(
    "options",
    [
        ("--input", "n"),
        ("--input", "n=1", "--prompt", "start"),
        ("--input", "k=1"),
        ("--prompt", "y"),
        ("--load-state", "nothing.json"),
    ],
)
def test_wrong_options_are_refused(folder: Path, options: tuple[str, ...]) -> None:
    assert command("generate", folder / "doubling", *options).code in {2, 5, 6}
    assert command("generate", folder / "once").code == ExitCode.UNSUPPORTED


def test_seconds_end_a_run_that_does_not_halt(folder: Path, tmp_path: Path) -> None:
    state = tmp_path / "state.json"
    said = command("generate", folder / "endless", "--seconds", "0.2", "--save-state", state)
    assert said.code == ExitCode.UNKNOWN
    assert state.exists()


@pytest.mark.skipif(sys.platform == "win32", reason="signals are sent otherwise there")
def test_ctrl_c_keeps_the_state(folder: Path, tmp_path: Path) -> None:
    state = tmp_path / "state.json"
    code = "from attemper.workbench.cli.app import main; main()"
    arguments = ["generate", str(folder / "endless"), "--most", "999999999", "--save-state", str(state)]
    with subprocess.Popen(
        [sys.executable, "-c", code, *arguments],
        stdout=subprocess.PIPE,
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL),
    ) as process:
        assert process.stdout is not None
        process.stdout.read(10_000)
        process.send_signal(signal.SIGINT)
        process.stdout.read()
    assert process.returncode == ExitCode.INTERRUPTED
    assert (
        command("generate", folder / "endless", "--load-state", state, "--most", "2").code == ExitCode.UNKNOWN
    )
