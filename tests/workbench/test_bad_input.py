"""Bad formulas, alphabets, words and files: each has its exit code and a short message that names it."""

from __future__ import annotations

import io
import json
import math
import os
import shutil
import struct
import sys
import threading
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from unittest import mock

import pytest

from attemper.errors import ExitCode, MalformedFileError
from attemper.networks.files import STRUCTURE, WEIGHTS
from attemper.workbench.cli.lines import LONGEST_LINE, lines_in
from attemper.workbench.compiling import compile as compile_formula
from attemper.workbench.folder import load
from tests.support.cli.command_line import Outcome, attemper
from tests.support.mutants.saved import (
    Structure,
    change_structure,
    change_weights,
    read_structure,
    with_number,
    write_structure,
)

LONGEST_MESSAGE = 12


def assert_refused(outcome: Outcome, code: ExitCode, fragment: str) -> None:
    assert outcome.code == code, outcome
    assert fragment in outcome.err
    assert outcome.out == ""
    assert outcome.err.startswith("error: ")
    assert len(outcome.err.splitlines()) <= LONGEST_MESSAGE
    assert len(outcome.err) < 2000


# Formulas, alphabets, options ----------------------------------------------------------------------


@dataclass(frozen=True)
class BadFormula:
    formula: str
    code: ExitCode
    fragment: str
    alphabet: str = "ab"
    options: tuple[str, ...] = ()


DECODER = ("--regime", "decoder")

BAD_FORMULAS = {
    "empty": BadFormula("", ExitCode.USAGE, "'' names no language: write formula:TEXT"),
    "blank": BadFormula(" \t ", ExitCode.USAGE, "names no language"),
    "breaks off": BadFormula("a &", ExitCode.SOURCE, "ends too early"),
    "open bracket": BadFormula("(a", ExitCode.SOURCE, "ends too early"),
    "open count": BadFormula("#<[a", ExitCode.SOURCE, "ends too early"),
    "bracket too many": BadFormula("a)", ExitCode.SOURCE, "')' closes nothing"),
    "operand missing": BadFormula("a & | b", ExitCode.SOURCE, "breaks off before '|'"),
    "no operator": BadFormula("a b", ExitCode.SOURCE, "column 3"),
    "open quote": BadFormula("a & 'b", ExitCode.SOURCE, "a quotation mark is not closed"),
    "unknown character": BadFormula("a $ b", ExitCode.SOURCE, "unexpected '$'"),
    "unprintable character": BadFormula("a \x1b[31m b", ExitCode.SOURCE, r"unexpected '\x1b'"),
    "run-together operators": BadFormula("YY a", ExitCode.SOURCE, "unknown operator 'YY'"),
    "unknown operator": BadFormula("Quux a", ExitCode.SOURCE, "unknown operator 'Quux'"),
    "unknown symbol": BadFormula("a & O c", ExitCode.SOURCE, "symbol 'c' is not in the alphabet"),
    "second line": BadFormula("a &\n  c", ExitCode.SOURCE, "(line 2, column 3)"),
    "wrong bracket of a count": BadFormula("#(a) > 1", ExitCode.SOURCE, "a count is written #<[f]"),
    "a number alone": BadFormula("3", ExitCode.SOURCE, "expected: a comparison"),
    "comparison of formulas": BadFormula("a <= b", ExitCode.SOURCE, "'<='"),
    "unknown predicate": BadFormula("lucas(pos)", ExitCode.SOURCE, "is called 'lucas'; known: "),
    "predicate of a formula": BadFormula("prime(a)", ExitCode.SOURCE, "column 7"),
    "modulus zero": BadFormula("pos % 0 = 0", ExitCode.SOURCE, "a modulus is at least 1"),
    "remainder too large": BadFormula("pos % 3 = 3", ExitCode.SOURCE, "a remainder mod 3 lies in 0..2"),
    "integer too large": BadFormula(
        "#<[a] < 10000000000", ExitCode.SOURCE, "the integer is larger than 1000000000"
    ),
    "very long integer": BadFormula(f"#<[a] < {'9' * 10_000}", ExitCode.SOURCE, "the integer is larger"),
    "factor too large": BadFormula("1000000000*(2*pos) > 1", ExitCode.SOURCE, "column"),
    "nests too deeply": BadFormula("! " * 1200 + "a", ExitCode.SOURCE, "nests deeper than 1000 levels"),
    "conjunction too long": BadFormula(
        " & ".join("a" * 2400), ExitCode.SOURCE, "more than 2,000 parts are joined in a row"
    ),
    "very long nonsense": BadFormula("a " * 20_000, ExitCode.SOURCE, "column 3"),
    "future without a place": BadFormula("G (a -> F b)", ExitCode.SOURCE, "--at first"),
    "future in the decoder": BadFormula(
        "Y a | F b", ExitCode.UNSUPPORTED, "cannot compute 'F b'", options=DECODER
    ),
    "last in the decoder": BadFormula("last | Y a", ExitCode.UNSUPPORTED, "'last'", options=DECODER),
    "right count in the decoder": BadFormula(
        "#>[a] > 1", ExitCode.UNSUPPORTED, "'#>[a] > 1'", options=DECODER
    ),
    "length in the decoder": BadFormula("prime(len)", ExitCode.UNSUPPORTED, "'prime(len)'", options=DECODER),
    "predicate of two counts": BadFormula(
        "prime(#<[a] + #<[b & Y a])", ExitCode.UNSUPPORTED, "several counts at once"
    ),
    "no symbols": BadFormula("true", ExitCode.WORD, "at least one symbol", alphabet=""),
    "blank alphabet": BadFormula("true", ExitCode.WORD, "at least one symbol", alphabet="   "),
    "symbol twice": BadFormula("a", ExitCode.WORD, "symbol 'a' occurs twice", alphabet="aba"),
    "long symbol twice": BadFormula("push", ExitCode.WORD, "'push' occurs twice", alphabet="push pop push"),
    "unprintable symbol": BadFormula("true", ExitCode.WORD, "unprintable", alphabet="a\x07"),
    "both quotation marks": BadFormula("true", ExitCode.WORD, "both kinds of quotation", alphabet="a 'b\""),
}


@pytest.mark.parametrize("name", BAD_FORMULAS)
def test_a_bad_formula_or_alphabet_is_refused(name: str, tmp_path: Path) -> None:
    bad = BAD_FORMULAS[name]
    folder = tmp_path / "model"
    outcome = attemper("compile", bad.formula, "--alphabet", bad.alphabet, "-o", folder, *bad.options)
    assert_refused(outcome, bad.code, bad.fragment)
    assert not folder.exists()


def test_a_folder_that_cannot_be_written_is_refused(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("mine")
    for folder in (tmp_path / "file", tmp_path / "file" / "model"):
        outcome = attemper("compile", "a", "--alphabet", "ab", "-o", folder)
        assert_refused(outcome, ExitCode.FILE, "cannot write to")
    assert (tmp_path / "file").read_text() == "mine"


# Words ---------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def letters(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("letters")
    compile_formula("O a", "ab").save(folder)
    return folder


@pytest.fixture(scope="module")
def stack(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("stack")
    compile_formula("O push", "push pop").save(folder)
    return folder


BAD_WORDS = {
    "unknown symbol": ("abc", "symbol 'c' at position 3 is not in the alphabet {a b}"),
    "capital": ("A", "symbol 'A' at position 1"),
    "unknown after a blank": ("a b x", "symbol 'x' at position 3"),
    "markup": ("[red]a", "symbol '[' at position 1"),
    "quoted": ("'a'", "symbol ''' at position 1"),
    "long": ("a" * 5000 + "?", "symbol '?' at position 5001"),
}


@pytest.mark.parametrize("name", BAD_WORDS)
def test_a_bad_word_is_refused(name: str, letters: Path) -> None:
    word, fragment = BAD_WORDS[name]
    assert_refused(attemper("run", letters, word), ExitCode.WORD, fragment)
    assert_refused(attemper("trace", letters, word), ExitCode.WORD, fragment)
    assert_refused(attemper("run", letters, "--words", "-", stdin=word), ExitCode.WORD, fragment)


def test_symbols_that_run_together_are_told_apart_by_blanks(stack: Path) -> None:
    outcome = attemper("run", stack, "pushpop")
    assert_refused(outcome, ExitCode.WORD, "'pushpop' at position 1")
    assert "separate symbols by blanks" in outcome.err


def test_a_very_long_symbol_is_cut(stack: Path) -> None:
    assert_refused(attemper("run", stack, "push" * 10_000), ExitCode.WORD, "position 1")


def test_the_line_of_a_bad_word_is_named(letters: Path, tmp_path: Path) -> None:
    (tmp_path / "words").write_text("ab\n\nb\nac\n")
    outcome = attemper("run", letters, "--words", tmp_path / "words")
    assert outcome.code == ExitCode.WORD
    assert f"line 4 of '{tmp_path / 'words'}': symbol 'c' at position 2" in outcome.err
    assert len(outcome.out.splitlines()) == 3, "the words before it were run and shown"


def test_the_line_of_a_bad_word_is_counted_over_the_whole_file(letters: Path, tmp_path: Path) -> None:
    (tmp_path / "words").write_text("ab\n" * 5000 + "ac\n")
    outcome = attemper("run", letters, "--words", tmp_path / "words", "--json")
    assert "line 5001 of" in outcome.err
    assert "symbol 'c' at position 2" in outcome.err
    assert len(outcome.out.splitlines()) == 5000


def test_files_of_words_that_cannot_be_read_are_refused(letters: Path, tmp_path: Path) -> None:
    missing = attemper("run", letters, "--words", tmp_path / "no-such-file")
    assert_refused(missing, ExitCode.FILE, "cannot read the words in")
    assert_refused(attemper("run", letters, "--words", tmp_path), ExitCode.FILE, "cannot read the words in")
    (tmp_path / "binary").write_bytes(b"ab\n\xff\xfe\n")
    binary = attemper("run", letters, "--words", tmp_path / "binary")
    assert_refused(binary, ExitCode.FILE, "not UTF-8")


def test_the_place_of_a_bad_word_on_stdin_is_named(letters: Path) -> None:
    bad = attemper("run", letters, "--words", "-", stdin="ac\n")
    assert_refused(bad, ExitCode.WORD, "line 1 of the standard input: symbol 'c'")


@pytest.mark.skipif(not Path("/dev/zero").is_char_device(), reason="a system without this device")
def test_a_device_without_an_end_is_no_file_of_words(letters: Path) -> None:
    endless = attemper("run", letters, "--words", "/dev/zero")
    assert_refused(endless, ExitCode.FILE, "it is a device, no file and no pipe")


def test_a_line_without_an_end_is_refused_before_it_is_read(monkeypatch: pytest.MonkeyPatch) -> None:
    class Endless(io.StringIO):
        def readline(self, size: int | None = -1, /) -> str:
            assert size is not None
            assert 0 < size <= LONGEST_LINE + 1, "a line is read up to a bound"
            return "\0" * size

    monkeypatch.setattr(sys, "stdin", Endless())
    with pytest.raises(MalformedFileError, match="line 1 of the standard input has more than 10,000,000"):
        next(lines_in("-"))


def test_a_pipe_of_words_is_read(letters: Path, tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    writer = threading.Thread(target=lambda: (tmp_path / "pipe").write_text("ab\nb\n"))
    writer.start()
    outcome = attemper("run", letters, "--words", tmp_path / "pipe")
    writer.join()
    assert outcome.out.split()[::3] == ["accepted", "rejected"]


def test_too_little_memory_is_no_fault_of_ours(letters: Path) -> None:
    with mock.patch("attemper.workbench.cli.running.load", side_effect=MemoryError):
        assert_refused(attemper("run", letters, "ab"), ExitCode.UNKNOWN, "more memory is needed")


# Files ---------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def original(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A saved model with heads of several constructions, temperatures, clamps and predicates."""
    folder = tmp_path_factory.mktemp("original")
    formula = "(#<[a] <= #<[b] | prime(#<[a])) & O (Y a)"
    compile_formula(formula, "ab", regime="temperature").save(folder)
    return folder


@pytest.fixture
def folder(original: Path, tmp_path: Path) -> Path:
    """A copy of the saved model, to be damaged."""
    return Path(shutil.copytree(original, tmp_path / "model"))


def first_head(structure: Structure) -> dict[str, Any]:
    head: dict[str, Any] = structure["layers"][0]["heads"][0]
    return head


def truncate(folder: Path, name: str, kept: float) -> None:
    data = (folder / name).read_bytes()
    (folder / name).write_bytes(data[: int(len(data) * kept)])


def replace_text(folder: Path, old: str, new: str) -> None:
    text = (folder / STRUCTURE).read_text()
    assert old in text
    (folder / STRUCTURE).write_text(text.replace(old, new, 1))


def remove_digest(folder: Path) -> None:
    structure = read_structure(folder)
    del structure["digest"]
    (folder / STRUCTURE).write_text(json.dumps(structure))


def flip_weight_byte(folder: Path) -> None:
    data = bytearray((folder / WEIGHTS).read_bytes())
    data[-5] ^= 0x40
    (folder / WEIGHTS).write_bytes(data)


def make_file_a_folder(folder: Path, name: str) -> None:
    (folder / name).unlink()
    (folder / name).mkdir()


DAMAGED: dict[str, tuple[Callable[[Path], object], str]] = {
    "no folder": (shutil.rmtree, "there is no '"),
    "no network.json": (lambda f: (f / STRUCTURE).unlink(), "network.json'; a network is a folder made by"),
    "no weights": (lambda f: (f / WEIGHTS).unlink(), "weights.safetensors'; a network is a folder made by"),
    "network.json is a folder": (lambda f: make_file_a_folder(f, STRUCTURE), "cannot read '"),
    "weights are a folder": (lambda f: make_file_a_folder(f, WEIGHTS), "cannot read '"),
    "empty network.json": (lambda f: truncate(f, STRUCTURE, 0), "not complete JSON"),
    "truncated network.json": (lambda f: truncate(f, STRUCTURE, 0.6), "not complete JSON"),
    "empty weights": (lambda f: truncate(f, WEIGHTS, 0), "the digest does not fit"),
    "truncated weights": (lambda f: truncate(f, WEIGHTS, 0.9), "the digest does not fit"),
    "binary network.json": (lambda f: (f / STRUCTURE).write_bytes(b"\xff\x00\xfe"), "not complete JSON"),
    "JSON of a list": (lambda f: (f / STRUCTURE).write_text("[1, 2]"), "it is no object"),
    "JSON of another kind": (
        lambda f: (f / STRUCTURE).write_text("{}"),
        "not of the format attemper-network/4",
    ),
    "JSON nested too deeply": (lambda f: (f / STRUCTURE).write_text("[" * 10**5), "not complete JSON"),
    "another format": (lambda f: replace_text(f, "network/4", "network/9"), "attemper-network/4"),
    "an older format": (
        lambda f: replace_text(f, "network/4", "network/3"),
        "it was made by an older attemper, as attemper-network/3: compile it again",
    ),
    "one value changed": (
        lambda f: replace_text(f, '"accepts_empty": false', '"accepts_empty": true'),
        "the digest does not fit",
    ),
    "formula changed": (lambda f: replace_text(f, "<= #<", "< #<"), "the digest does not fit"),
    "digest renamed": (
        lambda f: replace_text(f, '"digest"', '"indigest"'),
        "the entry 'indigest' is unknown",
    ),
    "digest removed": (remove_digest, "the digest does not fit"),
    "one weight changed": (flip_weight_byte, "the digest does not fit"),
}


@pytest.mark.parametrize("name", DAMAGED)
def test_a_damaged_folder_is_refused(name: str, folder: Path) -> None:
    damage, fragment = DAMAGED[name]
    damage(folder)
    assert_refused(attemper("show", folder), ExitCode.FILE, fragment)


@pytest.mark.parametrize("command", ["run", "trace", "verify", "show"])
def test_every_command_refuses_a_damaged_folder(command: str, folder: Path) -> None:
    flip_weight_byte(folder)
    word = ("ab",) if command in {"run", "trace"} else ()
    assert_refused(attemper(command, folder, *word), ExitCode.FILE, "the digest does not fit")


def test_a_file_is_not_a_model(folder: Path) -> None:
    assert_refused(attemper("show", folder / STRUCTURE), ExitCode.FILE, "is of no kind that is shown: give")


def set_source(key: str, value: str) -> Callable[[Structure], None]:
    return lambda s: s["source"].__setitem__(key, value)


def set_head(key: str, value: object) -> Callable[[Structure], None]:
    return lambda s: first_head(s).__setitem__(key, value)


def set_form(tree: object) -> Callable[[Structure], None]:
    return lambda s: s["positions"][0].__setitem__(1, tree)


def set_construction(*entries: object) -> Callable[[Structure], None]:
    return set_head("construction", list(entries))


def set_power(*entries: object) -> Callable[[Structure], None]:
    return set_form(["power", *entries])


def set_test(*predicate: object) -> Callable[[Structure], None]:
    return set_form(["test", list(predicate), 1, 0, 0])


HEAD = "layers[0].heads[0]"
FORM = "positions[0][1]"

TAMPERED: dict[str, tuple[Callable[[Structure], object], str]] = {
    "head width": (lambda s: s.update(head_width=5), "head width 5 is not 1, 4 or 16"),
    "other head width": (lambda s: s.update(head_width=16), "has shape"),
    "output too large": (lambda s: s.update(output=999), "output coordinate 999 does not exist"),
    "output negative": (lambda s: s.update(output=-1), "output: expected an integer from 0, not -1"),
    "symbol removed": (lambda s: s["alphabet"].pop(), "tensor 'embed.W_E' has shape"),
    "symbol repeated": (lambda s: s.update(alphabet=["a", "a"]), "alphabet: symbol 'a' occurs twice"),
    "symbol with a blank": (lambda s: s.update(alphabet=["a", "b "]), "blank or unprintable"),
    "coordinate added": (lambda s: s["coordinates"].append("more"), "has shape"),
    "position of nothing": (lambda s: s["positions"].append([999, ["position"]]), "does not exist"),
    "two positions": (
        lambda s: s["positions"].append([s["positions"][0][0], ["position"]]),
        "two position embeddings",
    ),
    "layer removed": (lambda s: s["layers"].pop(), "missing or unexpected tensors"),
    "layer repeated": (lambda s: s["layers"].append(s["layers"][0]), "missing or unexpected tensors"),
    "head removed": (lambda s: s["layers"][0]["heads"].pop(), "has shape"),
    "hidden unit added": (lambda s: s["layers"][0].update(hidden=99), "has shape"),
    "negative hidden units": (
        lambda s: s["layers"][0].update(hidden=-1),
        "layers[0].hidden: expected an integer from 0, not -1",
    ),
    "clamp of nothing": (lambda s: s["layers"][0]["clamps"].append([0, 999]), "a clamp names a hidden unit"),
    "clamp of one unit": (lambda s: s["layers"][0]["clamps"].append([0, 0]), "are not a clamp"),
    "clamp of three units": (
        lambda s: s["layers"][0]["clamps"].append([0, 1, 2]),
        "expected a list of 2 entries, not [0, 1, 2]",
    ),
    "rows too many": (set_head("rows", 99), "impossible number of rows"),
    "rows negative": (set_head("rows", -1), f"{HEAD}.rows: expected an integer from 0, not -1"),
    "values too many": (set_head("values", 4), "must write each value to one coordinate"),
    "unknown masking": (set_head("masking", "sideways"), f'{HEAD}.masking: expected one of "future-masked"'),
    "unknown weighting": (set_head("weighting", "soft"), f"{HEAD}.weighting: expected one of"),
    "weighting without a temperature": (
        set_head("weighting", ["softmax"]),
        f'{HEAD}.weighting: after "softmax" stands inverse_temperature, not []',
    ),
    "unknown construction": (set_construction("guess"), f"{HEAD}.construction: expected one of"),
    "construction cut short": (
        set_construction("sign"),
        f'{HEAD}.construction: after "sign" stands difference, not []',
    ),
    "construction of a form of texts": (
        set_construction("sign", ["x"]),
        f"{HEAD}.construction.difference[0]: expected a list of 2 entries, not 'x'",
    ),
    "factor that is no number": (
        set_construction("sign", [[0, "x"]]),
        f"{HEAD}.construction.difference[0][1]: expected a fraction such as",
    ),
    "factor divided by zero": (
        set_construction("sign", [[0, "1/0"]]),
        f"{HEAD}.construction.difference[0][1]: expected a fraction such as",
    ),
    "factor not in lowest terms": (
        set_construction("sign", [[0, "2/4"]]),
        f"{HEAD}.construction.difference[0][1]: expected a fraction such as",
    ),
    "closed form that is a text": (set_form("i"), f'{FORM}: expected one of ["number", ...]'),
    "number that is none": (set_form(["number", "k"]), f"{FORM}.value: expected a fraction such as"),
    "unknown operation": (
        set_form(["difference", [["position"], ["length"]]]),
        f'{FORM}: expected one of ["number", ...]',
    ),
    "negative power of a sign": (set_power(["alternating"], -1), "only i and n have negative powers"),
    "negative power of zero": (set_power(["number", "0"], -1), "only i and n have negative powers"),
    "power too large": (
        set_power(["length"], 17),
        f"{FORM}.exponent: expected an integer from -16 to 16, not 17",
    ),
    "degree too large": (
        set_form(["product", [["power", ["length"], 16]] * 5]),
        "nest to the degree 80, and no construction needs more than 64",
    ),
    "unknown predicate": (
        set_test("named", "no_such"),
        f"{FORM}.predicate: no numerical predicate is called 'no_such'",
    ),
    "predicate of another shape": (
        set_test("named"),
        f'{FORM}.predicate: after "named" stands name, not []',
    ),
    "remainder out of range": (set_test("remainder", 2, 2), "a remainder mod 2 lies in 0..1"),
    "source of an unknown kind": (
        set_source("kind", "song"),
        'source.kind: expected one of "formula", "regex"',
    ),
    "formula that is none": (set_source("text", "(("), "the formula ends too early"),
    "formula of another alphabet": (set_source("text", "O c"), "symbol 'c' is not in the alphabet"),
    "formula of an unknown predicate": (set_source("text", "no_such(pos)"), "is called 'no_such'"),
    "unknown place": (set_source("at", "middle"), "'middle' is not a valid At"),
    "another place": (set_source("at", "first"), "both that it is read first and last"),
    "unknown regime": (set_source("regime", "encoder"), "'encoder' is not a valid Regime"),
}


@pytest.mark.sweep(11)
@pytest.mark.parametrize("name", TAMPERED)
def test_a_tampered_network_is_refused_although_its_digest_fits(name: str, folder: Path) -> None:
    change, fragment = TAMPERED[name]
    change_structure(folder, change)
    assert_refused(attemper("show", folder), ExitCode.FILE, fragment)


def places(value: object, place: tuple[str | int, ...] = ()) -> Iterator[tuple[str | int, ...]]:
    """The place of every value in a JSON structure, from the outside in."""
    if isinstance(value, dict):
        children: list[tuple[str | int, object]] = list(value.items())
    elif isinstance(value, list):
        children = list(enumerate(value))
    else:
        return
    for key, child in children:
        yield (*place, key)
        yield from places(child, (*place, key))


def value_at(structure: Structure, place: tuple[str | int, ...]) -> object:
    inner: Any = structure
    for key in place:
        inner = inner[key]
    return inner


def set_at(structure: Structure, place: tuple[str | int, ...], value: object) -> None:
    inner: Any = structure
    for key in place[:-1]:
        inner = inner[key]
    inner[place[-1]] = value


@pytest.mark.sweep(1)
@pytest.mark.parametrize("wrong", [None, 1.5, math.nan, {"odd": 0}], ids=["null", "float", "nan", "object"])
def test_a_value_of_the_wrong_type_is_refused_wherever_it_stands(wrong: object, folder: Path) -> None:
    text = json.dumps(read_structure(folder))
    data = json.loads(text)
    others = (place for place in places(data) if place != ("digest",))
    everywhere = [place for place in others if value_at(data, place) is not wrong]
    assert len(everywhere) > 150
    for place in everywhere:
        structure = json.loads(text)
        set_at(structure, place, wrong)
        write_structure(folder, structure)
        with pytest.raises(MalformedFileError) as caught:
            load(folder)
        assert len(str(caught.value).splitlines()) <= LONGEST_MESSAGE, place


def test_a_missing_key_is_refused_wherever_it_stood(folder: Path) -> None:
    text = json.dumps(read_structure(folder))
    keys = [place for place in places(json.loads(text)) if isinstance(place[-1], str)]
    for place in keys:
        structure = json.loads(text)
        inner = structure
        for key in place[:-1]:
            inner = inner[key]
        del inner[place[-1]]
        if place == ("digest",):
            (folder / STRUCTURE).write_text(json.dumps(structure))
        else:
            write_structure(folder, structure)
        with pytest.raises(MalformedFileError):
            load(folder)


def put(name: str, place: int, number: float) -> Callable[[dict[str, Any]], None]:
    return lambda tensors: tensors.update({name: with_number(tensors[name], place, number)})


BAD_WEIGHTS: dict[str, tuple[Callable[[dict[str, Any]], object], str]] = {
    "not a number": (put("blocks.0.attn.W_V", 0, math.nan), "has a number that is not finite"),
    "infinity": (put("embed.W_E", 0, math.inf), "'embed.W_E' has a number that is not finite"),
    "missing tensor": (lambda t: t.pop("blocks.0.mlp.b_in"), "blocks.0.mlp.b_in"),
    "extra tensor": (lambda t: t.update(extra=t["embed.W_E"]), "missing or unexpected tensors: extra"),
    "tensors exchanged": (
        lambda t: t.update({"blocks.0.mlp.W_in": t["blocks.0.mlp.W_out"]}),
        "tensor 'blocks.0.mlp.W_in' has shape",
    ),
    "no tensors": (lambda t: t.clear(), "missing or unexpected tensors"),
    "a clamp's bias moved": (put("blocks.1.mlp.b_in", 0, 7.25), "are not a clamp"),
    "an output scaled": (put("blocks.0.attn.W_O", 0, 2.0), "must write each value to one coordinate"),
}


@pytest.mark.parametrize("name", BAD_WEIGHTS)
def test_bad_weights_are_refused_although_the_digest_fits(name: str, folder: Path) -> None:
    change, fragment = BAD_WEIGHTS[name]
    change_weights(folder, change)
    assert_refused(attemper("show", folder), ExitCode.FILE, fragment)


def container(header: object, body: bytes = b"") -> bytes:
    text = header if isinstance(header, bytes) else json.dumps(header).encode()
    return struct.pack("<Q", len(text)) + text + body


def entry(dtype: object = "F64", shape: object = (1,), offsets: object = (0, 8)) -> dict[str, object]:
    return {"x": {"dtype": dtype, "shape": shape, "data_offsets": offsets}}


BAD_CONTAINERS: dict[str, tuple[bytes, str]] = {
    "nothing": (b"", "shorter than its header"),
    "seven bytes": (b"\0" * 7, "shorter than its header"),
    "header too long": (struct.pack("<Q", 2**63) + b"{}", "longer than the file"),
    "header not JSON": (container(b"{"), "Expecting property name"),
    "header not UTF-8": (container(b"\xff"), "utf-8"),
    "header is a list": (container([]), "the header is not an object"),
    "header nested too deeply": (container(b"[" * 10**5), "nests too deeply"),
    "float32": (container(entry(dtype="F32", offsets=(0, 4)), bytes(4)), "'x' is not a float64 tensor"),
    "past the end": (container(entry()), "impossible shape or place"),
    "backwards": (container(entry(offsets=(8, 0)), bytes(8)), "impossible shape or place"),
    "negative shape": (container(entry(shape=(-1,)), bytes(8)), "impossible shape or place"),
    "shape of floats": (container(entry(shape=(1.0,)), bytes(8)), "impossible shape or place"),
    "shape too small": (container(entry(shape=(2,)), bytes(8)), "has 8 bytes for shape"),
    "entry is a list": (container({"x": []}), "'x' is not a float64 tensor"),
    "no offsets": (container({"x": {"dtype": "F64", "shape": []}}), "'x' is not a float64 tensor"),
}


@pytest.mark.parametrize("name", BAD_CONTAINERS)
def test_a_bad_weights_file_is_refused_although_the_digest_fits(name: str, folder: Path) -> None:
    data, fragment = BAD_CONTAINERS[name]
    (folder / WEIGHTS).write_bytes(data)
    write_structure(folder, read_structure(folder))
    outcome = attemper("show", folder)
    assert_refused(outcome, ExitCode.FILE, "is not a weights file")
    assert fragment in outcome.err
