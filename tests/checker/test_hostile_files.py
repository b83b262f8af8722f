"""Files that are built to hurt whoever reads them: each gets an answer, and none is PROVED."""

from __future__ import annotations

import json
import os
import shutil
import socket
import subprocess
import sys
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

import attemper
from attemper.attention_program.ops import PROGRAM
from attemper.attention_program.show import show_program
from attemper.certificates.files import load as load_certificate
from attemper.certificates.files import save as save_certificate
from attemper.checker import counterexample, diagrams, limits
from attemper.checker.child import Failure
from attemper.checker.folders import check_folder
from attemper.checker.limits import ProcessLimits, Request, check_within
from attemper.checker.verdict import Status
from attemper.errors import ExitCode, MalformedFileError
from attemper.exact import closed_forms
from attemper.exact.closed_forms import FORM, MAX_TOTAL_DEGREE
from attemper.exact.codec import DEEPEST
from attemper.files import CERTIFICATE, MOST_TEXT, read_bytes
from attemper.languages.regular.dfa import Dfa
from attemper.languages.regular.files import dfa_to_json
from attemper.languages.temporal.show import show
from attemper.languages.temporal.syntax import (
    FORMULA,
    Binary,
    BinaryOperator,
    Comparison,
    ComparisonOperator,
    CountAtom,
    Formula,
    Side,
    Symbol,
    Term,
    Unary,
    UnaryOperator,
)
from attemper.languages.words import Alphabet
from attemper.networks import files as network_files
from attemper.networks.announced import announced_bytes
from attemper.networks.files import STRUCTURE, WEIGHTS
from attemper.workbench.folder import load
from tests.support.cli.command_line import Outcome
from tests.support.cli.command_line import attemper as run_command_line
from tests.support.mutants.saved import change_structure, change_weights, read_structure
from tests.support.slowly import every_nth

LIMITS = ("--seconds", "10", "--memory", "1000")
GIGABYTES = 5 * 10**9
FILES = (STRUCTURE, WEIGHTS, CERTIFICATE)

MAJORITY = "#<['0'] <= #<['1']"


@pytest.fixture(scope="module")
def certified(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("certified") / "majority"
    model = attemper.compile(MAJORITY, "01")
    model.save(folder)
    save_certificate(model.certify(), folder)
    return folder


@pytest.fixture
def folder(certified: Path, tmp_path: Path) -> Path:
    """A copy of a network that is PROVED, to be changed."""
    return Path(shutil.copytree(certified, tmp_path / "net"))


def check(path: Path | str, *options: object) -> Outcome:
    return run_command_line("check", path, *LIMITS, *options)


def assert_answer(outcome: Outcome, status: Status, fragment: str) -> None:
    codes = {Status.MALFORMED: ExitCode.FILE, Status.UNKNOWN: ExitCode.UNKNOWN}
    assert outcome.code == codes[status], outcome
    assert outcome.out.splitlines()[0].partition(": ")[0] == status
    assert fragment in outcome.out
    assert outcome.err == ""


def certify_again(folder: Path, nodes: list[object] | None = None) -> None:
    """Make the certificate be about the network as it is now and, if given, about a formula's nodes."""
    certificate = json.loads((folder / CERTIFICATE).read_text(encoding="utf-8"))
    certificate["network"] = read_structure(folder)["digest"]
    if nodes is not None:
        certificate["language"][1] = nodes
    (folder / CERTIFICATE).write_text(json.dumps(certificate), encoding="utf-8")


# What is no file, or too large a one ---------------------------------------------------------------


@pytest.mark.sweep(1)
@pytest.mark.parametrize("device", ["/dev/zero", "/dev/full", "/dev/null"])
def test_a_device_is_not_read(device: str) -> None:
    assert_answer(check(device), Status.MALFORMED, f"'{device}': it is a device, no file")


def test_neither_pipes_nor_sockets_nor_folders_are_read(tmp_path: Path) -> None:
    pipe, address, link = tmp_path / "pipe", tmp_path / "socket", tmp_path / "link"
    os.mkfifo(pipe)
    link.symlink_to(pipe)
    with socket.socket(socket.AF_UNIX) as listening:
        listening.bind(str(address))
        for path, reason in (
            (pipe, "a pipe"),
            (link, "a pipe"),
            (address, "cannot read"),
            (tmp_path, "a folder"),
        ):
            with pytest.raises(MalformedFileError, match=reason):
                read_bytes(path, "")
    assert_answer(check(pipe), Status.MALFORMED, "it is a pipe, no file")


@pytest.mark.sweep(1)
@pytest.mark.parametrize("name", FILES)
def test_a_folder_of_pipes_and_devices_is_malformed(name: str, folder: Path) -> None:
    (folder / name).unlink()
    os.mkfifo(folder / name)
    assert_answer(check(folder), Status.MALFORMED, "it is a pipe, no file")
    (folder / name).unlink()
    (folder / name).symlink_to("/dev/zero")
    assert_answer(check(folder), Status.MALFORMED, "it is a device, no file")


@pytest.mark.sweep(1)
@pytest.mark.parametrize("name", FILES)
def test_a_sparse_file_is_refused_by_its_size(name: str, folder: Path) -> None:
    os.truncate(folder / name, GIGABYTES)
    assert_answer(check(folder), Status.MALFORMED, "has 5,000,000,000 bytes, more than the")


def test_a_sparse_refutation_is_refused_by_its_size(tmp_path: Path) -> None:
    (tmp_path / "file.json").touch()
    os.truncate(tmp_path / "file.json", GIGABYTES)
    assert_answer(check(tmp_path / "file.json"), Status.MALFORMED, f"more than the {MOST_TEXT:,}")


def test_files_of_just_the_greatest_size_are_read(tmp_path: Path) -> None:
    (tmp_path / "file").write_bytes(b"12345")
    assert read_bytes(tmp_path / "file", "", 5) == b"12345"
    with pytest.raises(MalformedFileError, match="has 5 bytes, more than the 4"):
        read_bytes(tmp_path / "file", "", 4)


def test_a_structure_that_announces_too_many_weights_is_refused(folder: Path) -> None:
    change_structure(folder, lambda s: s["layers"][0].update(hidden=10**10))
    os.truncate(folder / WEIGHTS, GIGABYTES)
    assert_answer(check(folder), Status.MALFORMED, "weights, more than 250,000,000")


def announced(data: dict[str, Any]) -> int:
    return announced_bytes(network_files.read_structure(data))


def test_every_network_fits_what_its_structure_announces(folder: Path) -> None:
    data = (folder / WEIGHTS).read_bytes()
    most = announced(read_structure(folder))
    assert len(data) <= most < len(data) + 300_000
    header = int.from_bytes(data[:8], "little")
    numbers = read_structure(folder)
    for layer in numbers["layers"]:
        layer.update(heads=[], hidden=0)
    assert most - announced(numbers) + 8 * 2 * len(numbers["coordinates"]) == len(data) - 8 - header


# JSON ----------------------------------------------------------------------------------------------

DEEP = "[" * 10**6


@pytest.mark.sweep(1)
@pytest.mark.parametrize("name", [STRUCTURE, CERTIFICATE])
@pytest.mark.parametrize("text", [DEEP, "9" * 10**6, "[1e999]", '"\\ud800"', "\0", "[NaN"])
def test_odd_json_is_malformed(name: str, text: str, folder: Path) -> None:
    (folder / name).write_text(text, encoding="utf-8")
    assert_answer(check(folder), Status.MALFORMED, name)


def test_a_large_number_is_malformed(folder: Path) -> None:
    change_structure(folder, lambda s: s.update(output=int("9" * 4000)))
    assert_answer(check(folder), Status.MALFORMED, "output: expected an integer from 0, not 99")


# Closed forms --------------------------------------------------------------------------------------

LEAVES: list[Any] = [
    ["position"],
    ["length"],
    ["alternating"],
    ["number", "2"],
    ["test", ["zero"], 1, 0, -1],
    ["power", ["length"], -1],
    ["power", ["alternating"], 0],
]


def nested(leaf: object, power: int, times: int) -> object:
    tree = leaf
    for _ in range(times):
        tree = ["power", tree, power]
    return tree


@pytest.mark.parametrize("leaf", LEAVES, ids=str)
def test_nested_powers_are_refused_whatever_they_are_powers_of(leaf: object) -> None:
    for power, times in ((16, 7), (2, 7), (4, 4)):
        (complaint,) = complaints(nested(leaf, power, times))
        assert complaint.endswith(f"to the degree {power**times}, and no construction needs more than 64")
    assert MAX_TOTAL_DEGREE == 64
    assert complaints(nested(leaf, 4, 3)) == []


def complaints(tree: object) -> list[str]:
    """What is wrong with a form that is written so."""
    return list(closed_forms.complaints(FORM.read(tree)))


def test_products_add_up_and_sums_do_not() -> None:
    eight = ["power", ["position"], 8]
    assert complaints(["product", [eight] * 8]) == []
    assert complaints(["sum", [eight] * 1000]) == []
    for tree, degree in (
        (["product", [eight] * 9], 72),
        (["power", ["product", [["position"]] * 5], 16], 80),
        (["power", ["sum", [["number", "1"], ["product", [["length"]] * 5]]], 16], 80),
    ):
        (complaint,) = complaints(tree)
        assert f"to the degree {degree}, " in complaint


@pytest.mark.sweep(1)
@pytest.mark.parametrize("leaf", LEAVES, ids=str)
def test_a_network_with_nested_powers_is_malformed(leaf: object, folder: Path) -> None:
    change_structure(folder, lambda s: s["positions"][0].__setitem__(1, nested(leaf, 16, 7)))
    certify_again(folder)
    assert_answer(check(folder), Status.MALFORMED, f"powers and products nest to the degree {16**7}, ")


def test_a_network_with_forms_that_nest_without_end_is_malformed(folder: Path) -> None:
    """Powers to the first add nothing to the degree."""
    change_structure(folder, lambda s: s["positions"][0].__setitem__(1, nested(["position"], 1, DEEPEST)))
    certify_again(folder)
    assert_answer(check(folder), Status.MALFORMED, "does not hold a network: positions[0][1].base.base.base")


# Formulas ------------------------------------------------------------------------------------------


def shared(times: int) -> list[object]:
    """A formula that doubles its text with every node."""
    return [["symbol", "0"], *(["binary", "&", k, k] for k in range(times))]


def twins(times: int) -> list[object]:
    """Two equal formulas that share nothing with each other: comparing them could take 2^times steps."""
    nodes: list[object] = [["symbol", "0"], ["symbol", "0"]]
    for k in range(times):
        nodes += [["binary", "&", 2 * k, 2 * k], ["binary", "&", 2 * k + 1, 2 * k + 1]]
    return [*nodes, ["binary", "|", 2 * times, 2 * times + 1]]


def exploding(pairs: int) -> list[object]:
    """Majority, or pairs of a symbol k and one k + pairs back: in this order the diagram is exponential."""
    earlier: list[Formula] = [Symbol("0")]
    for _ in range(2 * pairs):
        earlier.append(Unary(UnaryOperator.YESTERDAY, earlier[-1]))
    together: list[Formula] = [
        Binary(BinaryOperator.AND, earlier[k], earlier[k + pairs]) for k in range(1, pairs + 1)
    ]
    while len(together) > 1:
        together.append(Binary(BinaryOperator.XOR, together.pop(), together.pop()))
    zeros, ones = (Term(((1, CountAtom(Side.LEFT, Symbol(name))),), 0) for name in "01")
    counts = Comparison(ComparisonOperator.AT_MOST, zeros, ones)
    nodes: list[object] = FORMULA.encode(Binary(BinaryOperator.OR, counts, together[0]))
    return nodes


def with_formula(folder: Path, nodes: list[object]) -> Path:
    """The folder, whose source and certificate both say that the network is for this formula."""
    text = show(FORMULA.read(nodes))
    change_structure(folder, lambda s: s["source"].update(text=text))
    certify_again(folder, nodes)
    return folder


def test_a_formula_whose_text_is_exponential_is_no_source(folder: Path) -> None:
    certify_again(folder, shared(60))
    assert_answer(check(folder), Status.MALFORMED, "another language than this network's source")


def test_a_formula_with_the_same_part_twice_is_malformed_at_once(folder: Path) -> None:
    certify_again(folder, twins(60))
    assert_answer(check(folder), Status.MALFORMED, "is not a certificate: language.formula")


@pytest.mark.sweep(0)
def test_a_formula_whose_diagram_explodes_is_unknown(folder: Path) -> None:
    with_formula(folder, exploding(30))
    outcome = check(folder, "--seconds", "4")
    assert_answer(outcome, Status.UNKNOWN, "no answer within 4 seconds; allow more seconds")


def test_the_nodes_of_diagrams_have_a_cap(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(diagrams, "MAX_NODES", 3_000)
    monkeypatch.setattr(counterexample, "wrong_word", lambda network, language, longest: None)
    model, certificate = load(with_formula(folder, exploding(12))), load_certificate(folder)
    verdict = model.check(certificate)
    assert verdict.status is Status.UNKNOWN
    assert "too large to be compared" in verdict.claims[0].text


@pytest.mark.sweep(0)
def test_what_nests_too_deeply_is_unknown(folder: Path) -> None:
    nodes: list[object] = [["symbol", "0"], *(["unary", "Y", k] for k in range(5_000))]
    verdict = check(with_formula(folder, nodes), "--json").record
    assert verdict["verdict"] in {Status.UNKNOWN, Status.REFUTED}


# Programs -------------------------------------------------------------------------------------------


def with_program(folder: Path, steps: list[list[object]], *, claimed: bool) -> Path:
    """Certify a program, or an automaton by way of it; the network's source says the same."""
    alphabet = ["0", "1"]
    tree = {
        "alphabet": alphabet,
        "steps": steps,
        "output": len(steps) - 1,
        "symbols": [],
        "numbers": None,
    }
    certificate = json.loads((folder / CERTIFICATE).read_text(encoding="utf-8"))
    if claimed:
        kind, text = "program", show_program(PROGRAM.read(tree))
        certificate.update(language=["program language", tree, "last", False])
    else:
        kind, text = "automaton", dfa_to_json(Dfa(Alphabet(("0", "1")), ((0, 0),), 0, frozenset()))
        certificate.update(language=["dfa", alphabet, [[0, 0]], 0, []], program=tree)
    source = {"kind": kind, "text": text, "at": "last", "regime": "unbounded"}
    change_structure(folder, lambda s: s.update(source=source))
    certificate["network"] = read_structure(folder)["digest"]
    (folder / CERTIFICATE).write_text(json.dumps(certificate), encoding="utf-8")
    return folder


LETTER: list[list[object]] = [["letter", ["0"]]]

HOSTILE: dict[str, list[list[object]]] = {
    "sums that double": [
        *LETTER,
        ["count", "<=", 0],
        *(["linear", [[1, k], [1, k]], 0] for k in range(1, 100)),
        ["compare", 100, 1],
    ],
    "chains of selections": [
        *LETTER,
        *(["attend", "<=", "rightmost", [[None, k // 2]], k, None] for k in range(400)),
    ],
    "a tower of negations": [*LETTER, *(["not", k] for k in range(30_000))],
    "a tower of shifts": [*LETTER, *(["shift", "previous", k, 1, None] for k in range(3_000))],
    "a parity of many": [
        *LETTER,
        *(["shift", "previous", k, 1, None] for k in range(60)),
        ["gate", "xor", [k for k in range(61)]],
        *(["count", "<=", k] for k in range(61)),
        *(["compare", k, 7] for k in range(62, 123)),
        ["gate", "xor", [61, *range(123, 184)]],
    ],
    "many moduli": [
        *LETTER,
        ["count", "<=", 0],
        *(["count test", ["remainder", p, 0], 1, 1, 0] for p in (7, 11, 13, 17, 19, 23, 29, 31)),
        ["gate", "xor", list(range(2, 10))],
    ],
    "late places": [["place", ["test", ["zero"], 1, 0, -(10**6)]]],
}


@pytest.mark.sweep(1)
@pytest.mark.parametrize("claimed", every_nth([True, False], 2), ids=["claimed", "of an automaton"])
@pytest.mark.parametrize("name", HOSTILE)
def test_programs_that_are_built_to_hurt_have_an_answer(name: str, claimed: bool, folder: Path) -> None:
    outcome = check(with_program(folder, HOSTILE[name], claimed=claimed), "--seconds", "5", "--json")
    assert outcome.record["verdict"] in {Status.UNKNOWN, Status.REFUTED}, outcome
    assert outcome.err == ""


# Refutations ---------------------------------------------------------------------------------------


def refutation_of(folder: Path, length: int, path: Path) -> Path:
    """A refutation of a network for words of some length that leaves everything free."""
    entries: dict[str, object] = {
        "format": "attemper-refutation/2",
        "digest": read_structure(folder)["digest"],
        "source": str(folder),
        "semantics": "rational numbers, exactly",
        "symbols": ["0", "1"],
        "ending": None,
        "restriction": [[0, 1]] * length,
        "decided_by": [],
        "language": ["dfa", ["0", "1"], [[0, 1], [1, 0]], 0, [0]],
        "member": ["0"] * length,
        "stranger": ["1", *["0"] * (length - 1)],
        "answer": False,
    }
    path.write_text(json.dumps(entries), encoding="utf-8")
    return path


@pytest.fixture
def once(tmp_path: Path) -> Path:
    attemper.compile("O ('1' & Y '0')", "01").save(tmp_path / "once")
    return tmp_path / "once"


def test_a_refutation_about_very_long_words_is_unknown(once: Path, tmp_path: Path) -> None:
    file = refutation_of(once, 30_000, tmp_path / "out.json")
    assert_answer(
        check(file), Status.UNKNOWN, "about words of 30,000 symbols, and at most 10,000 are checked"
    )
    refused = run_command_line("show", file)
    assert refused.code == ExitCode.UNSUPPORTED
    assert "at most 10,000 are checked" in refused.err


@pytest.mark.sweep(0)
def test_a_long_refutation_takes_no_more_memory_than_is_allowed(once: Path, tmp_path: Path) -> None:
    outcome = check(refutation_of(once, 9_999, tmp_path / "out.json"), "--seconds", "5")
    assert_answer(outcome, Status.UNKNOWN, "no answer within 5 seconds")


def test_longer_words_than_are_checked_are_not_refuted(once: Path) -> None:
    outcome = run_command_line("refute", once, "zoo:parity", "--length", 10_001)
    assert outcome.code == ExitCode.UNSUPPORTED
    assert "no words of more than 10,000 symbols are checked" in outcome.err


# The process that checks ---------------------------------------------------------------------------


@pytest.mark.sweep(0)
def test_more_memory_than_is_allowed_is_unknown(folder: Path) -> None:
    (folder / CERTIFICATE).write_text("[" + "[]," * 6_000_000 + "0]", encoding="utf-8")
    outcome = check(folder, "--memory", "400", "--seconds", "100")
    assert_answer(outcome, Status.UNKNOWN, "more than 400 MB are needed; allow more memory")


@pytest.mark.sweep(1)
@pytest.mark.parametrize("end", ["os._exit(0)", "os._exit(3)", "os.kill(os.getpid(), 9)"])
def test_a_process_that_ends_without_an_answer_proves_nothing(
    end: str, once: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    said = json.dumps({"verdict": "PROVED", "claims": []})
    (tmp_path / "mortal.py").write_text(f"import os\nprint({said!r}, flush=True)\n{end}\n", encoding="utf-8")
    file = refutation_of(once, 8, tmp_path / "out.json")
    outcome = check(file, "--model", "mortal:model")
    assert_answer(outcome, Status.UNKNOWN, "the check ended without an answer")


def test_an_interrupt_ends_both_processes(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with_formula(folder, exploding(30))
    children: list[subprocess.Popen[bytes]] = []
    original = subprocess.Popen.communicate

    def interrupted(process: subprocess.Popen[bytes], *arguments: Any, **options: Any) -> Any:
        children.append(process)
        if len(children) == 1:
            raise KeyboardInterrupt
        return original(process, *arguments, **options)

    monkeypatch.setattr(subprocess.Popen, "communicate", interrupted)
    outcome = check(folder)
    assert (outcome.code, outcome.out, outcome.err) == (ExitCode.INTERRUPTED, "", "interrupted\n")
    assert children[0].returncode is not None


def test_the_process_ends_with_its_parent(folder: Path) -> None:
    """Its input ends when the parent does, however that came."""
    with_formula(folder, exploding(30))
    said = json.dumps({"memory": 1000, **vars(Request(str(folder)))})
    root = str(Path(limits.__file__).parents[2])
    run = [sys.executable, "-P", "-c", limits._START, root, said]
    finished = subprocess.run(run, stdin=subprocess.DEVNULL, capture_output=True, check=False)
    assert finished.returncode == Failure.ORPHANED
    assert finished.stdout == b""


def test_the_time_that_a_program_takes_to_start_counts(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    allowed: list[float] = []
    original = subprocess.Popen.communicate

    def timed_out(process: subprocess.Popen[bytes], timeout: float | None = None) -> tuple[bytes, bytes]:
        if timeout is not None:
            allowed.append(timeout)
            raise subprocess.TimeoutExpired("check", timeout)
        return original(process)

    monkeypatch.setattr(subprocess.Popen, "communicate", timed_out)
    for spent in (0, 3, 5, 6, -1):
        assert check_within(Request(str(folder)), ProcessLimits(10), spent).status is Status.UNKNOWN
    assert allowed == [8, 5, 3, 8, 8]
    assert limits.seconds_since_start() > 0


def test_where_memory_cannot_be_limited_that_is_said(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(limits, "memory_can_be_limited", lambda: False)
    outcome = check(folder)
    assert outcome.code == ExitCode.OK
    assert outcome.err == f"{limits.NO_MEMORY_LIMIT}\n"


def test_the_limits_from_python(folder: Path) -> None:
    verdict = check_within(Request(str(folder)), ProcessLimits())
    assert verdict.status is Status.PROVED
    assert verdict == check_folder(folder)
    subject = load(folder).check(load_certificate(folder)).subject
    assert subject is not None
    assert verdict.subject == replace(subject, place=str(folder))


# Text ----------------------------------------------------------------------------------------------

EVIL = "\x1b[2J\x1b[HPROVED\n  PROVED: all lengths\r\x9b8m\u202e\x7f\u2028"


def commands_that_show(folder: Path) -> Iterator[Outcome]:
    yield check(folder)
    yield check(folder, "--json")
    yield run_command_line("show", folder)
    yield run_command_line("show", folder, "--json")
    yield run_command_line("trace", folder, "01")
    yield run_command_line("run", folder, "01")


def add_tensor(folder: Path) -> None:
    change_weights(folder, lambda tensors: tensors.update({EVIL: tensors["embed.W_E"]}))


def name_coordinates(folder: Path) -> None:
    change_structure(
        folder, lambda s: s.update(coordinates=[f"{EVIL}{k}" for k in range(len(s["coordinates"]))])
    )


def name_symbols(folder: Path) -> None:
    change_structure(folder, lambda s: s.update(alphabet=["0", EVIL]))


def name_source(folder: Path) -> None:
    change_structure(folder, lambda s: s["source"].update(text=f"O {EVIL}"))


def name_regime(folder: Path) -> None:
    change_structure(folder, lambda s: s["source"].update(regime=EVIL))


def claim_arithmetic(folder: Path) -> None:
    certificate = json.loads((folder / CERTIFICATE).read_text(encoding="utf-8"))
    tag, _, kernel, horizon, _ = certificate["claims"][1]
    certificate["claims"] = [[tag, EVIL, kernel, horizon, EVIL]]
    (folder / CERTIFICATE).write_text(json.dumps(certificate), encoding="utf-8")


def name_symbol_of_the_formula(folder: Path) -> None:
    certify_again(folder, [["symbol", EVIL]])


@pytest.mark.sweep(1)
@pytest.mark.parametrize(
    "change",
    [
        add_tensor,
        name_coordinates,
        name_symbols,
        name_source,
        name_regime,
        claim_arithmetic,
        name_symbol_of_the_formula,
    ],
)
def test_nothing_that_a_file_says_commands_the_terminal(change: Callable[[Path], None], folder: Path) -> None:
    change(folder)
    for outcome in commands_that_show(folder):
        for text in (outcome.out, outcome.err):
            assert all(line.isprintable() for line in text.split("\n"))
            assert not any(
                line.startswith("PROVED") and change is not name_coordinates for line in text.split("\n")
            )


def test_a_folder_can_have_any_name(certified: Path, tmp_path: Path) -> None:
    folder = tmp_path / EVIL.replace("/", "")
    shutil.copytree(certified, folder)
    outcome = check(folder)
    assert outcome.code == ExitCode.OK
    assert all(line.isprintable() for line in outcome.out.split("\n"))
    missing = check(tmp_path / f"{EVIL}missing")
    assert missing.code == ExitCode.FILE
    assert all(line.isprintable() for line in missing.out.split("\n"))


def test_the_message_of_a_damaged_file_stands_on_one_line(folder: Path) -> None:
    add_tensor(folder)
    with pytest.raises(MalformedFileError) as caught:
        load(folder)
    assert str(caught.value).isprintable()


def test_words_of_a_refutation_are_escaped(once: Path, tmp_path: Path) -> None:
    file = refutation_of(once, 8, tmp_path / "out.json")
    entries = json.loads(file.read_text(encoding="utf-8"))
    entries.update(symbols=["0", EVIL], stranger=[EVIL] * 8, semantics=EVIL)
    file.write_text(json.dumps(entries), encoding="utf-8")
    for outcome in (check(file), check(file, "--json"), run_command_line("show", file)):
        assert outcome.code == ExitCode.FILE
        assert all(line.isprintable() for line in (outcome.out + outcome.err).split("\n"))
