"""Where torch is not installed: what compiles, proves or prints works, and the rest says what it needs."""

from __future__ import annotations

import json
from pathlib import Path
from shutil import copytree

import pytest

import attemper as library
from attemper.errors import ExitCode, OptionError
from attemper.missing import has_torch, torch_needed
from attemper.registry import COMMANDS
from tests.support.cli.absent import attemper_without, python_without
from tests.support.cli.command_line import attemper
from tests.support.cli.wheel_tour import ENCODERS
from tests.support.slowly import mostly_slow

LONG = "a word of more than 1,024 symbols"
MAJORITY = "#<['0'] <= #<['1']"


def said(what: str, extra: str = "torch") -> str:
    """What is said where this needs torch."""
    return f"{what} needs torch: pip install 'attemper[{extra}]' (in a clone: '.[{extra}]')"


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with networks: majority, with its certificate, and once, which can be refuted."""
    made = tmp_path_factory.mktemp("without_torch")
    majority = library.compile(MAJORITY, "01", regime="decoder")
    majority.save(made / "majority", certificate=majority.certify())
    counting = library.machine("input x n; sub n -> 1 else halt")
    library.compile(counting, regime="decoder").save(made / "counting")
    once = library.compile("O (b & Y a)", "ab")
    once.save(made / "once")
    named = str(made / "once")
    library.refute(named, "zoo:parity-even", length=16, free=0.8).save(made / "refutation.json")
    once.save(made / "cases" / "0")
    found = library.causal(once, edges=["all"])
    found.save(made / "cases" / "0" / "causal.json")
    numbers = {"0": {own.text: 1 for own in found.edges}}
    (made / "numbers.json").write_text(json.dumps(numbers), encoding="utf-8")
    (made / "encoders.py").write_text(ENCODERS, encoding="utf-8")
    (made / "run.toml").write_text('model.kind = "parity-rnn"\ntraining.steps = 0\n', encoding="utf-8")
    return made


PROVING = {
    "compile": ["compile", "O a", "--alphabet", "ab", "-o", "made"],
    "compile a regex": ["compile", "regex:(b*ab*a)*b*", "--alphabet", "ab", "-o", "parity"],
    "certify": ["certify", "majority"],
    "generate": ["generate", "counting", "--input", "n=3"],
    "check": ["check", "majority"],
    "check --explain": ["check", "majority", "--explain"],
    "check --edited": ["check", "majority", "--edited"],
    "show": ["show", "majority"],
    "show --json": ["show", "majority", "--json"],
    "classify": ["classify", "regex:(0|11)*", "--alphabet", "01"],
    "to-formula": ["to-formula", "regex:a*b", "--alphabet", "ab"],
    "paper": ["paper", "yang", "theorem-16"],
    "simulate": [
        *("simulate", "attemper.models.hard.masked_examples:Surrounded", "-o", "surrounded", "--count", "50")
    ],
    "four-ways": ["four-ways", "--lengths", "8"],
    "zoo": ["zoo"],
    "zoo of one": ["zoo", "k-hop-2"],
    "compile of a zoo entry": ["compile", "zoo:parity-even", "-o", "even"],
    "soften": ["soften", "once", "--epsilon", "1/100", "-o", "soft"],
    "refute": [
        "refute",
        "once",
        "zoo:parity-even",
        "--length",
        "16",
        "--free",
        "0.8",
        "-o",
        "found.json",
    ],
    "show of a refutation": ["show", "refutation.json"],
    "check of a refutation": ["check", "refutation.json"],
    "lemma": ["lemma", "--c", "2", "--heads", "2"],
    "bound": ["bound", "encoders:masked", "--length", "16"],
    "source": ["source", "dyck2", "--p", "1/3", "--length", "8"],
    "export circuit": ["export", "majority", "circuit", "-o", "majority-circuit.json"],
    "export transformer-lens": ["export", "majority", "transformer-lens", "-o", "lens"],
    "page": ["page", "majority", "-o", "majority.html"],
    "data": ["data", "zoo:parity-even", "--lengths", "0-8", "--count", "10", "-o", "words"],
    "trace": ["trace", "majority", "0110"],
    "trace --json": ["trace", "once", "abba", "--json"],
    "decompile": ["decompile", "majority"],
    "same": ["same", "net:majority", "formula:#<['1'] >= #<['0']"],
    "causal": ["causal", "once", "-o", "causal.json"],
    "score": ["score", "cases", "numbers.json"],
    "judge": ["judge", "encoders:shares", "regex:b*a(a|b)*", "--alphabet", "ab", "--up-to", "4"],
    "depth": ["depth", "regex:(ab)*", "--alphabet", "ab", "-o", "depth.json"],
    "schema": ["schema", "network"],
    "help": ["--help"],
    "help of run": ["run", "--help"],
    "version": ["--version"],
}

FAST = ("compile", "check", "export circuit", "page")
"""What is tried in every `make test`."""

BY_NUMPY = {
    "run": ["run", "majority", "0110", "01", ""],
    "run of hard weights": ["run", "majority", "0110", "01", "--weights", "hard", "--json"],
    "verify": ["verify", "majority", "--up-to", "5", "--count", "20", "--longest", "60"],
    "verify --jobs": ["verify", "once", "--up-to", "3", "--count", "8", "--longest", "9", "--jobs", "2"],
}
"""What torch does where it is."""

NEEDING = {
    "run in float32": (["run", "majority", "0110", "--dtype", "float32"], said("the format float32")),
    "run of an engine": (["run", "majority", "0110", "--engine", "scan"], said("the engine 'scan'")),
    "run of a long word": (["run", "majority", "01", "0" * 1025], said(LONG)),
    "verify of long words": (["verify", "majority", "--longest", "1025"], said(LONG)),
    "verify --jobs": (["verify", "majority", "--longest", "1025", "--jobs", "2"], said(LONG)),
    "bench": (["bench", "drawn"], said("a benchmark")),
    "influence": (["influence", "majority", "--lengths", "8"], said("a network as a module")),
    "show --engines": (["show", "majority", "--engines"], said("a table of engines")),
    "export torch": (["export", "majority", "torch", "-o", "out"], said("the export torch")),
    "export onnx": (["export", "majority", "onnx", "-o", "out"], said("the export onnx", "onnx")),
    "export gpt2": (
        ["export", "majority", "gpt2", "-o", "out", "--positions", "9"],
        said("the export gpt2", "hugging-face"),
    ),
    "export hugging-face": (
        ["export", "majority", "hugging-face", "-o", "out"],
        said("the export hugging-face", "hugging-face"),
    ),
    "paper": (["paper", "hahn", "rnn"], said("a recurrent network")),
    "train": (["train", "run.toml", "-o", "out"], said("attemper train")),
    "train --over": (
        ["train", "run.toml", "-o", "out", "--over", "seeds.init=[0, 1]"],
        said("attemper train"),
    ),
    "study": (["study", "-o", "out"], said("attemper study")),
}
"""What needs torch, and what it says."""

ELSEWHERE = {"import", "play"}
"""Commands whose tests have what an extra brings."""


def files_in(folder: Path) -> dict[Path, bytes]:
    return {file.relative_to(folder): file.read_bytes() for file in folder.rglob("*") if file.is_file()}


@pytest.mark.parametrize("name", mostly_slow(PROVING, FAST))
def test_proving_needs_no_torch(name: str, folder: Path, tmp_path: Path) -> None:
    """The command does and says what it does and says with torch."""
    without = attemper_without({"torch"}, Path(copytree(folder, tmp_path / "without")), *PROVING[name])
    with_torch = attemper_without((), Path(copytree(folder, tmp_path / "with")), *PROVING[name])
    assert without == with_torch
    outcome, loaded = without
    assert outcome.code == ExitCode.OK
    assert "torch" not in loaded
    assert files_in(tmp_path / "without") == files_in(tmp_path / "with")


@pytest.mark.sweep(2)
@pytest.mark.parametrize("arguments", BY_NUMPY.values(), ids=BY_NUMPY)
def test_numpy_says_what_torch_says(
    arguments: list[str], folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    without, loaded = attemper_without({"torch"}, folder, *arguments)
    monkeypatch.chdir(folder)
    with_torch = attemper(*arguments, columns=None)
    assert (without.code, without.out) == (with_torch.code, with_torch.out)
    assert without.code == ExitCode.OK
    assert "torch" not in loaded


@pytest.mark.sweep(3)
@pytest.mark.parametrize(("arguments", "line"), NEEDING.values(), ids=NEEDING)
def test_what_needs_torch_says_what_to_install(arguments: list[str], line: str, folder: Path) -> None:
    before = files_in(folder)
    without, _ = attemper_without({"torch"}, folder, *arguments)
    assert (without.code, without.out) == (ExitCode.USAGE, "")
    # Where it does not fit, a line goes on below.
    assert " ".join(without.err.split()) == f"error: {line}"
    assert files_in(folder) == before


def test_every_command_is_tried() -> None:
    working = {arguments[0] for arguments in (PROVING | BY_NUMPY).values()}
    tried = working | {arguments[0] for arguments, _ in NEEDING.values()}
    assert tried - {"--help", "--version"} == {command.name for command in COMMANDS} - ELSEWHERE


def test_programs_are_told_in_json(folder: Path) -> None:
    without, _ = attemper_without({"torch"}, folder, "influence", "majority", "--lengths", "8", "--json")
    assert (without.code, without.out) == (ExitCode.USAGE, "")
    message = said("a network as a module")
    assert json.loads(without.err) == {"error": {"code": 2, "name": "usage", "message": message}}


def test_a_stream_needs_no_torch(folder: Path) -> None:
    without, loaded = attemper_without({"torch"}, folder, "run", "majority", "--stream", stdin="0110\n001\n")
    with_torch = attemper("run", folder / "majority", "--stream", stdin="0110\n001\n")
    assert (without.code, without.out) == (with_torch.code, with_torch.out) == (ExitCode.OK, "0111\n000\n")
    assert "numpy" not in loaded


@pytest.mark.sweep(2)
@pytest.mark.parametrize(
    "words",
    [["0110"], ["0110", "--json"], ["0110", "", "01", "--engine", "numpy"], ["", "--weights", "hard"]],
)
def test_one_short_word_needs_no_torch(words: list[str], folder: Path) -> None:
    without, loaded = attemper_without({"torch"}, folder, "run", "majority", *words)
    with_torch = attemper("run", folder / "majority", *words)
    assert without == with_torch
    assert without.code == ExitCode.OK
    assert "torch" not in loaded


def test_where_torch_is_it_is_not_loaded_for_one_short_word(folder: Path) -> None:
    outcome, loaded = attemper_without((), folder, "run", "majority", "0110")
    assert (outcome.code, outcome.out) == (ExitCode.OK, "accepted  0110  0111\n")
    assert "torch" not in loaded


@pytest.mark.parametrize("name", ["lark", "torchvision", "attemper.torch", None])
def test_other_modules_that_are_missed_are_no_torch(name: str | None) -> None:
    with pytest.raises(ModuleNotFoundError, match="gone"), torch_needed("it"):
        raise ModuleNotFoundError("gone", name=name)


def test_a_part_of_torch_that_is_missed_is_torch() -> None:
    with pytest.raises(OptionError, match="it needs torch: pip install"), torch_needed("it"):
        raise ModuleNotFoundError("gone", name="torch.nn")


def test_whether_torch_is_there_is_known_without_it(folder: Path) -> None:
    script = "import sys; from attemper.missing import has_torch; print(has_torch(), 'torch' in sys.modules)"
    assert has_torch()
    assert [python_without(names, script, folder).out for names in ((), {"torch"})] == [
        "True False\n",
        "False False\n",
    ]


DOORS = {
    "model.accepts('0110', dtype='float32')": said("the format float32"),
    "model.accepts('0110', engine='fused')": said("the engine 'fused'"),
    "model.run(['0' * 1025])": said(LONG),
    "model.dense()": said("a network as a module"),
    "model.cfg": said("a network as a module"),
    "model.scans(9, 'soft', 'float64', 'auto')": said("a network as a module"),
    "model.to_tokens(['0110'])": said("a tensor of tokens"),
    "model.export('torch', 'majority.pt2')": said("the export torch"),
    "model.export('onnx', 'majority.onnx')": said("the export onnx", "onnx"),
    "attemper.verify(model, longest=1025)": said(LONG),
    "attemper.load_softened('majority')": said("a network as a module"),
}


def test_python_is_told_the_same(folder: Path) -> None:
    """Every door to torch is an `OptionError`; proving, loading, streams and short words are not."""
    script = f"""
import attemper
model = attemper.load("majority")
print(model.check(model.certify()).status, model.stream().push("1"))
print(model.accepts("0110"), model.positions("10"), model.output("0"), [*model.run(["1", ""])])
print(model.trace("01").heads[0].hard, attemper.verify(model, up_to=4, count=9, longest=1024).words)
for door in {list(DOORS)!r}:
    try:
        eval(door)
    except attemper.AttemperError as error:
        print(door, type(error).__name__, error)
"""
    found = python_without({"torch"}, script, folder)
    assert (found.code, found.err) == (0, "")
    proved, ran, traced, *doors = found.out.splitlines()
    assert (proved, ran) == (
        "PROVED True",
        "True (True, True) (False,) [<Run 1: accepted, 1, margin 0.25>, <Run (empty): rejected, margin inf>]",
    )
    assert traced == "((1.0, 0.0), (0.5, 0.5)) 39"
    assert doors == [f"{door} OptionError {line}" for door, line in DOORS.items()]
