"""attemper run DIR --stream: each symbol answered before the next; the state is kept, whatever happens."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

import attemper
from attemper.attention_program.parse import parse_program
from attemper.errors import ExitCode
from attemper.running.streaming.stream import Stream
from tests.support.cli.command_line import attemper as command
from tests.support.oracles.numbers import BIGRAMS, HISTOGRAM

RUN = "from attemper.workbench.cli.app import main; main()"


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with networks that stream, and one that does not."""
    found = tmp_path_factory.mktemp("networks")
    attemper.compile("#<['0'] <= #<['1']", "01", regime="decoder").save(found / "majority")
    attemper.compile("O push", "push pop", regime="decoder").save(found / "stack")
    attemper.compile("O 'ä'", "äb", regime="decoder").save(found / "umlaut")
    attemper.compile("X a", "ab", at="first").save(found / "next")
    attemper.compile(attemper.program(parse_program(HISTOGRAM)), regime="decoder").save(found / "histogram")
    attemper.compile(attemper.program(parse_program(BIGRAMS)), regime="decoder").save(found / "bigrams")
    attemper.compile(
        attemper.program("alphabet a b\noutput first ? 'a' : previous symbol else 'a'"), regime="decoder"
    ).save(found / "shifted")
    return found


def streaming(network: Path, *options: object) -> subprocess.Popen[bytes]:
    """The command in a process of its own, to which symbols can be sent one by one."""
    arguments = ["run", str(network), "--stream", *map(str, options)]
    return subprocess.Popen(
        [sys.executable, "-c", RUN, *arguments],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        bufsize=0,
        # Whoever runs the tests in the background may ignore the signal.
        preexec_fn=default_interrupts if sys.platform != "win32" else None,
    )


def default_interrupts() -> None:
    signal.signal(signal.SIGINT, signal.SIG_DFL)


def answer_to(process: subprocess.Popen[bytes], symbols: bytes, length: int) -> bytes:
    """What comes back to some symbols before any other is sent."""
    assert process.stdin is not None
    assert process.stdout is not None
    process.stdin.write(symbols)
    found = b""
    while len(found) < length:
        found += os.read(process.stdout.fileno(), length - len(found))
    return found


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("0110", "0111\n"),
        ("0 1\t1 0\n", "0111\n"),
        ("01\n\n10\n", "01\n11\n"),
        ("", ""),
        ("\n \n", ""),
        ("\ufeff011", "011\n"),
    ],
)
def test_symbols_run_together_or_apart(folder: Path, text: str, shown: str) -> None:
    outcome = command("run", folder / "majority", "--stream", stdin=text)
    assert (outcome.code, outcome.out, outcome.err) == (0, shown, "")


def test_names_stand_apart(folder: Path) -> None:
    outcome = command("run", folder / "stack", "--stream", stdin="pop push\npop  pop")
    assert (outcome.code, outcome.out) == (0, "01\n11\n")


def test_numbers_and_symbols_stand_apart(folder: Path) -> None:
    assert command("run", folder / "histogram", "--stream", stdin="aab\na").out == "1 2 1\n3\n"
    assert command("run", folder / "shifted", "--stream", stdin="bba").out == "a b b\n"
    shares = command("run", folder / "bigrams", "--stream", stdin="aa").out.splitlines()
    assert len(shares) == 2
    assert shares[0] == "a 0.5 b 0.5"


def test_json_has_a_line_for_each_symbol(folder: Path) -> None:
    assert command("run", folder / "majority", "--stream", "--json", stdin="0 1").records == [
        {"position": 1, "symbol": "0", "output": 0},
        {"position": 2, "symbol": "1", "output": 1},
    ]
    assert command("run", folder / "histogram", "--stream", "--json", stdin="cc").records[1] == {
        "position": 2,
        "symbol": "c",
        "output": 2,
    }


@pytest.mark.parametrize("options", [[], ["--json"]])
def test_an_unknown_symbol_is_exit_5_and_the_state_is_kept(
    folder: Path, tmp_path: Path, options: list[str]
) -> None:
    state = tmp_path / "state.json"
    outcome = command("run", folder / "majority", "--stream", "--save-state", state, *options, stdin="0x11")
    assert outcome.code == ExitCode.WORD
    assert "symbol 'x' at position 2" in outcome.err
    assert len(outcome.out.splitlines()) == 1
    if options:
        assert json.loads(outcome.err)["error"]["position"] == 2
    model = attemper.load(folder / "majority")
    assert model.stream(state=state).position == 1
    more = command("run", folder / "majority", "--stream", "--load-state", state, stdin="11")
    assert more.out == "11\n"


def test_a_state_goes_on_in_another_process(folder: Path, tmp_path: Path) -> None:
    state, word = tmp_path / "state.json", "0110100110"
    whole = command("run", folder / "majority", "--stream", stdin=word).out.strip()
    found = ""
    for symbol in word:
        options = ["--load-state", state] if state.exists() else []
        outcome = command(
            "run", folder / "majority", "--stream", *options, "--save-state", state, stdin=symbol
        )
        assert outcome.code == 0
        found += outcome.out.strip()
    assert found == whole


def test_states_of_other_networks_and_damaged_ones_are_exit_6(folder: Path, tmp_path: Path) -> None:
    state = tmp_path / "state.json"
    command("run", folder / "majority", "--stream", "--save-state", state, stdin="01")
    other = command("run", folder / "stack", "--stream", "--load-state", state, stdin="pop")
    assert other.code == ExitCode.FILE
    assert all(attemper.load(folder / name).digest in other.err for name in ("majority", "stack"))
    state.write_text(state.read_text(encoding="utf-8")[:-40], encoding="utf-8")
    damaged = command("run", folder / "majority", "--stream", "--load-state", state, stdin="0")
    assert (damaged.code, damaged.out) == (ExitCode.FILE, "")
    missing = command("run", folder / "majority", "--stream", "--load-state", tmp_path / "none", stdin="0")
    assert missing.code == ExitCode.FILE
    unwritable = command("run", folder / "majority", "--stream", "--save-state", state / "below", stdin="0")
    assert unwritable.code == ExitCode.FILE


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (["--stream", "01"], "leave words out"),
        (["--stream", "--words", "-"], "leave words out"),
        (["--stream", "--weights", "hard"], "leave --weights hard out"),
        (["--stream", "--dtype", "float32"], "leave --dtype float32 out"),
        (["--stream", "--engine", "scan"], "leave --engine scan out"),
        (["01", "--save-state", "x"], "are of --stream"),
        (["--load-state", "x"], "are of --stream"),
    ],
)
def test_options_that_do_not_go_together_are_refused(folder: Path, options: list[str], said: str) -> None:
    outcome = command("run", folder / "majority", *options, stdin="01")
    assert (outcome.code, outcome.out) == (ExitCode.USAGE, "")
    assert said in outcome.err


def test_a_network_that_cannot_stream_is_refused(folder: Path) -> None:
    outcome = command("run", folder / "next", "--stream", stdin="ab")
    assert outcome.code == ExitCode.UNSUPPORTED
    assert "layer 0, head 0 looks at positions after it" in outcome.err


def test_an_undecided_output_is_exit_7(folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """What cannot be read is a question mark, and the state is written all the same."""
    monkeypatch.setattr(Stream, "output", property(lambda stream: None if stream.position == 2 else True))
    state = tmp_path / "state.json"
    outcome = command("run", folder / "majority", "--stream", "--save-state", state, stdin="010")
    assert (outcome.code, outcome.out) == (ExitCode.UNDECIDED, "1?1\n")
    assert "position 2" in outcome.err
    assert state.exists()


def test_show_says_how_large_the_state_is_or_what_forbids_it(folder: Path) -> None:
    assert "stream               its state has at most 15 numbers" in command("show", folder / "majority").out
    assert "none: layer 0, head 0 looks at positions after it\n" in command("show", folder / "next").out
    assert command("show", folder / "majority", "--json").record["stream"] == {"most": 15, "refused": None}
    refused = command("show", folder / "next", "--json").record["stream"]
    assert refused == {"most": None, "refused": "layer 0, head 0 looks at positions after it"}


# In a process of its own --------------------------------------------------------------------------------


def test_each_symbol_is_answered_before_the_next_comes(folder: Path) -> None:
    with streaming(folder / "majority") as process:
        assert [answer_to(process, symbol, 1) for symbol in (b"0", b"1", b"1")] == [b"0", b"1", b"1"]
        assert answer_to(process, b"\n0", 2) == b"\n1"
        assert process.stdin is not None
        process.stdin.close()
        assert process.wait() == 0


def test_a_symbol_of_several_bytes_may_come_in_parts(folder: Path, tmp_path: Path) -> None:
    first, second = "ä".encode()
    with streaming(folder / "umlaut", "--save-state", tmp_path / "state.json") as process:
        assert answer_to(process, b"b", 1) == b"0"
        assert process.stdin is not None
        process.stdin.write(bytes([first]))
        assert answer_to(process, bytes([second]), 1) == b"1"
        out, err = process.communicate(b"b" + bytes([first]))
        assert (process.returncode, out) == (ExitCode.FILE, b"1\n")
        assert b"not UTF-8" in err
    assert attemper.load(folder / "umlaut").stream(state=tmp_path / "state.json").position == 3


@pytest.mark.skipif(sys.platform == "win32", reason="signals are sent as POSIX has them")
def test_ctrl_c_writes_the_state(folder: Path, tmp_path: Path) -> None:
    state = tmp_path / "state.json"
    with streaming(folder / "majority", "--save-state", state) as process:
        assert answer_to(process, b"011", 3) == b"011"
        process.send_signal(signal.SIGINT)
        out, err = process.communicate()
    assert (process.returncode, out, err) == (ExitCode.INTERRUPTED, b"\n", b"interrupted\n")
    assert attemper.load(folder / "majority").stream(state=state).position == 3


@pytest.mark.skipif(sys.platform == "win32", reason="pipes are closed as POSIX does it")
def test_a_reader_who_leaves_ends_it_quietly_and_the_state_is_written(folder: Path, tmp_path: Path) -> None:
    state = tmp_path / "state.json"
    with streaming(folder / "majority", "--save-state", state) as process:
        assert answer_to(process, b"01", 2) == b"01"
        assert process.stdout is not None
        assert process.stdin is not None
        process.stdout.close()
        process.stdin.write(b"1")
        process.stdin.close()
        assert process.stderr is not None
        assert process.stderr.read() == b""
        assert process.wait() == 0
    assert attemper.load(folder / "majority").stream(state=state).position == 3


def test_streaming_never_loads_torch(folder: Path) -> None:
    seen = "; import sys; print(sorted({'torch', 'numpy'} & set(sys.modules)))"
    code = f"import attemper\nprint(attemper.load(r'{folder / 'majority'}').stream().push('1')){seen}"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert done.stdout.splitlines() == ["True", "[]"], done.stderr
