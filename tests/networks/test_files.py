"""A network survives its files exactly; the weights are safetensors; writing is all or nothing."""

from __future__ import annotations

import json
import os
import struct
from array import array
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
import safetensors.numpy

from attemper.compiling.pipeline import compile_language
from attemper.errors import MalformedFileError, UnsupportedError
from attemper.exact.predicates import register_predicate
from attemper.languages.temporal.parse import parse
from attemper.languages.temporal.sides import read_language
from attemper.languages.words import Alphabet
from attemper.networks import files
from attemper.networks.files import STRUCTURE, WEIGHTS
from attemper.networks.regime import Regime
from attemper.networks.safetensors import Tensor, decode_any_tensors, decode_tensors, encode_tensors
from attemper.networks.structure import Provenance
from attemper.networks.weights import tensors_of
from attemper.workbench.compiling import compile  # noqa: A004
from attemper.workbench.folder import load
from attemper.workbench.model import Model
from tests.support.mutants.saved import Structure, change_structure

PAST_FORMULAS = [
    "a",
    "pos % 3 = 2",
    "H (b -> Y a)",
    "a S (b T c)",
    "#<[a] <= 2*#<[b] + 1",
    "O (#<[a] = #<[b]) & Y Y c",
    "prime(2*#<[a] + 1) xor square(#<[b & Y a])",
]
FORMULAS = [*PAST_FORMULAS, "O a & X b U c", "#<[a] >= #>[b] - 1", "#[a] % 2 = 1 | last", "prime(len - pos)"]
CASES = [(formula, regime) for formula in FORMULAS for regime in ("unbounded", "temperature")]
CASES += [(formula, "decoder") for formula in PAST_FORMULAS]


@pytest.mark.parametrize(("formula", "regime"), CASES)
def test_a_model_survives_its_folder(formula: str, regime: str, tmp_path: Path) -> None:
    model = compile(formula, "abc", regime=regime)  # type: ignore[arg-type]
    model.save(tmp_path)
    read = load(tmp_path)
    assert read.network == model.network
    assert read == model


@pytest.mark.parametrize("at", ["first", "last"])
@pytest.mark.parametrize("empty", ["accept", "reject"])
def test_how_the_verdict_is_read_survives(at: str, empty: str, tmp_path: Path) -> None:
    model = compile("F a", "ab", at=at, empty=empty)  # type: ignore[arg-type]
    model.save(tmp_path)
    read = load(str(tmp_path))
    assert (read.network.reads_first, read.network.accepts_empty) == (at == "first", empty == "accept")
    assert read == model


@pytest.mark.parametrize("formula", FORMULAS)
def test_a_hard_network_survives_its_folder(formula: str, tmp_path: Path) -> None:
    alphabet = Alphabet(("a", "b", "c"))
    language = read_language(parse(formula, alphabet), None, False)
    hard = compile_language(language, alphabet, Regime.UNBOUNDED).hard
    source = Provenance("formula", formula, "last", "unbounded")
    files.save(hard, source, tmp_path)
    assert files.load(tmp_path) == (hard, source)


CASE = "layers[0].heads[0].construction.cases[3]"

WRONG_CASES: dict[str, tuple[object, str]] = {
    "one form": ([None], f"{CASE}: expected a list of 2 entries, not [None]"),
    "three forms": ([None, [], []], f"{CASE}: expected a list of 2 entries, not [None, [], []]"),
    "no case": (None, f"{CASE}: expected a list of 2 entries, not None"),
    "nothing that blocks": ([None, None], f"{CASE}[1]: expected a list, not None"),
    "a factor alone": ([[["1"]], []], f"{CASE}[0][0]: expected a list of 2 entries, not ['1']"),
    "a factor that is a number": ([[], [[0, 1]]], f"{CASE}[1][0][1]: expected a fraction such as"),
    "a negative coordinate": ([[[-1, "1"]], []], f"{CASE}[0][0][0]: expected an integer from 0, not -1"),
    "another coordinate": ([[[99, "1"]], [[0, "1"]]], "a coordinate does not exist"),
    "coordinates that descend": ([[[1, "1"], [0, "1"]], []], "a linear form is not in normal form"),
    "a factor of 0": ([[[0, "0"]], []], "a linear form is not in normal form"),
}


@pytest.mark.parametrize("name", WRONG_CASES)
def test_cases_that_are_none_are_refused(name: str, tmp_path: Path) -> None:
    model = compile("Y Y a", "ab", regime="decoder")
    model.save(tmp_path)
    case, complaint = WRONG_CASES[name]

    def change(structure: Structure) -> None:
        kind, _, cases = structure["layers"][0]["heads"][0]["construction"]
        assert (kind, len(cases)) == ("select", 3)
        cases.append(case)

    change_structure(tmp_path, change)
    with pytest.raises(MalformedFileError) as caught:
        load(tmp_path)
    assert complaint in str(caught.value)


FORMS: dict[str, tuple[object, str]] = {
    "a text": ("i", "positions[0][1]: expected one of"),
    "a number": (1, "positions[0][1]: expected one of"),
    "a form of an older format": (["^", ["position"], 2], "positions[0][1]: expected one of"),
    "a denominator of 0": (["number", "1/0"], "positions[0][1].value: expected a fraction"),
    "other terms": (["number", "2/4"], "positions[0][1].value: expected a fraction"),
    "a sum of no list": (["sum", ["position"]], "positions[0][1].parts[0]: expected one of"),
    "a power of 17": (
        ["power", ["position"], 17],
        "positions[0][1].exponent: expected an integer from -16 to 16",
    ),
    "a power of a text": (["power", ["position"], "2"], "positions[0][1].exponent: expected an integer"),
    "a degree of 80": (["power", ["power", ["length"], 16], 5], "powers and products nest to the degree 80"),
    "a negative power of a sum": (
        ["power", ["sum", [["position"]]], -1],
        "only i and n have negative powers",
    ),
    "digits of a sign": (
        ["digits", ["alternating"]],
        "positions[0][1]: digits are those of a positive integer",
    ),
    "a remainder out of range": (
        ["test", ["remainder", 2, 2], 1, 0, 0],
        "positions[0][1].predicate: a remainder mod 2 lies in 0..1",
    ),
    "too large a factor": (
        ["test", ["zero"], 10**11 + 1, 0, 0],
        "positions[0][1].per_position: expected an integer from -100000000000 to 100000000000",
    ),
}


@pytest.mark.parametrize("name", FORMS)
@pytest.mark.parametrize("place", ["a position embedding", "a temperature"])
def test_forms_that_are_none_are_refused(place: str, name: str, tmp_path: Path) -> None:
    compile("O a", "ab", regime="temperature").save(tmp_path)
    form, complaint = FORMS[name]

    def change(structure: Structure) -> None:
        if place == "a position embedding":
            structure["positions"][0][1] = form
        else:
            structure["layers"][0]["heads"][0]["weighting"] = ["softmax", form]

    change_structure(tmp_path, change)
    with pytest.raises(MalformedFileError) as caught:
        load(tmp_path)
    temperature = "layers[0].heads[0].weighting.inverse_temperature"
    expected = (
        complaint if place == "a position embedding" else complaint.replace("positions[0][1]", temperature)
    )
    assert expected in str(caught.value)


ENTRIES: dict[str, tuple[Callable[[Structure], object], str]] = {
    "an older format": (
        lambda s: s.update(format="attemper-network/3"),
        "it was made by an older attemper, as attemper-network/3: compile it again",
    ),
    "a later format": (
        lambda s: s.update(format="attemper-network/5"),
        "it is not of the format attemper-network/4",
    ),
    "a format that is a number": (lambda s: s.update(format=4), "it is not of the format attemper-network/4"),
    "no format": (lambda s: s.pop("format"), "it is not of the format attemper-network/4"),
    "a kind of source that is none": (
        lambda s: s["source"].update(kind="words"),
        'source.kind: expected one of "formula", "regex", "automaton", "program", "machine", "hard", not',
    ),
    "a source that is no object": (
        lambda s: s.update(source="O a"),
        "source: expected an object with the entries kind, text, at, regime, not 'O a'",
    ),
    "a head width of true": (
        lambda s: s.update(head_width=True),
        "head_width: expected an integer from 0, not True",
    ),
    "a head width of 2": (lambda s: s.update(head_width=2), "head width 2 is not 1, 4 or 16"),
    "an output that is 0.0": (lambda s: s.update(output=0.0), "output: expected an integer from 0, not 0.0"),
    "an output that is a list": (
        lambda s: s.update(output=[0]),
        "output: expected an integer from 0, not [0]",
    ),
    "an output that does not exist": (lambda s: s.update(output=99), "output coordinate 99 does not exist"),
    "an end that is 1": (lambda s: s.update(reads_first=1), "reads_first: expected true or false, not 1"),
    "an empty word that is null": (
        lambda s: s.update(accepts_empty=None),
        "accepts_empty: expected true or false, not None",
    ),
    "a measure that is none": (lambda s: s.update(measure="real"), "measure: expected "),
    "an integer over nothing": (
        lambda s: s.update(measure="integer"),
        "an integer is a share of some positions, and nothing else is",
    ),
    "a bit over positions": (
        lambda s: s.update(over="future-masked"),
        "an integer is a share of some positions, and nothing else is",
    ),
    "a share of other positions": (
        lambda s: s.update(measure="integer", over="strictly future-masked"),
        "an integer is a share of positions among which is its own",
    ),
    "a distribution without names": (
        lambda s: s.update(measure="distribution"),
        "a distribution has names, and other numbers have none",
    ),
    "a symbol with two coordinates": (
        lambda s: s.update(symbols=[["x", s["output"]], ["x", 0]]),
        "an output symbol has two coordinates",
    ),
    "another symbol first": (
        lambda s: s.update(symbols=[["x", 1 - min(1, s["output"])], ["y", s["output"]]]),
        "the output is not the bit of the first symbol",
    ),
    "a masking by its symbol": (
        lambda s: s["layers"][0]["heads"][0].update(masking="<="),
        'layers[0].heads[0].masking: expected one of "future-masked", "strictly future-masked", ',
    ),
    "a weighting that is none": (
        lambda s: s["layers"][0]["heads"][0].update(weighting="soft"),
        "layers[0].heads[0].weighting: expected one of ",
    ),
    "a construction that is none": (
        lambda s: s["layers"][0]["heads"][0].update(construction=["select by cases", False, []]),
        "layers[0].heads[0].construction: expected one of ",
    ),
    "a construction with an entry too many": (
        lambda s: s["layers"][0]["heads"][0].update(construction=["uniform", 0]),
        'layers[0].heads[0].construction: after "uniform" stands nothing, not [0]',
    ),
    "rows of a text": (
        lambda s: s["layers"][0]["heads"][0].update(rows="1"),
        "layers[0].heads[0].rows: expected an integer from 0, not '1'",
    ),
    "hidden units by name": (
        lambda s: s["layers"][0].update(hidden=[]),
        "layers[0].hidden: expected an integer from 0, not []",
    ),
    "a clamp of three": (
        lambda s: s["layers"][0]["clamps"].append([0, 1, 2]),
        "expected a list of 2 entries, not [0, 1, 2]",
    ),
    "layers as an object": (lambda s: s.update(layers={}), "layers: expected a list, not {}"),
    "an alphabet as a text": (lambda s: s.update(alphabet="ab"), "alphabet: expected a list, not 'ab'"),
    "a symbol twice": (lambda s: s.update(alphabet=["a", "a"]), "alphabet: symbol 'a' occurs twice"),
    "a coordinate that is a number": (
        lambda s: s["coordinates"].__setitem__(0, 0),
        "coordinates[0]: expected a text, not 0",
    ),
}


@pytest.mark.parametrize("name", ENTRIES)
def test_entries_that_are_none_are_refused(name: str, tmp_path: Path) -> None:
    compile("O a", "ab", regime="temperature").save(tmp_path)
    change, complaint = ENTRIES[name]
    change_structure(tmp_path, change)
    with pytest.raises(MalformedFileError) as caught:
        load(tmp_path)
    assert complaint in str(caught.value)
    assert len(str(caught.value)) < 1000


def test_a_structure_nested_too_deeply_is_refused(tmp_path: Path) -> None:
    """Below the depth at which JSON itself is not read, and above it."""
    compile("O a", "ab").save(tmp_path)
    for depth, complaint in (
        (150, r"does not hold a network: positions\[0\]\[1\]\.parts\[0\]"),
        (100_000, "is not complete JSON"),
    ):
        text = (tmp_path / STRUCTURE).read_text(encoding="utf-8")
        data = json.loads(text)
        inner = json.dumps(data["positions"][0][1])
        deep = '["sum", [' * depth + inner + "]]" * depth
        (tmp_path / STRUCTURE).write_text(text.replace(inner, deep, 1), encoding="utf-8")
        with pytest.raises(MalformedFileError, match=complaint):
            load(tmp_path)
        (tmp_path / STRUCTURE).write_text(text, encoding="utf-8")


def test_symbols_of_any_spelling_survive(tmp_path: Path) -> None:
    symbols = ("push", "λ", "'", "[/]", "\\", "💥", "and")
    model = compile("O 'λ' & Y \"'\" | 'and' S push", symbols)
    model.save(tmp_path)
    assert load(tmp_path) == model


def test_saving_twice_writes_the_same_bytes(tmp_path: Path) -> None:
    model = compile("H (b -> Y a)", "ab")
    model.save(tmp_path / "one")
    load(tmp_path / "one").save(tmp_path / "two")
    for name in (STRUCTURE, WEIGHTS):
        assert (tmp_path / "one" / name).read_bytes() == (tmp_path / "two" / name).read_bytes()


# The container -------------------------------------------------------------------------------------


def as_arrays(model: Model) -> dict[str, np.ndarray]:
    return {
        name: np.array(tensor.numbers, dtype=np.float64).reshape(tensor.shape)
        for name, tensor in tensors_of(model.network).items()
    }


@pytest.mark.parametrize("formula", ["a", "prime(#<[a]) & Y b", "#<[a] >= #>[b]"])
def test_the_safetensors_library_reads_our_weights(formula: str, tmp_path: Path) -> None:
    model = compile(formula, "ab")
    model.save(tmp_path)
    found = safetensors.numpy.load_file(tmp_path / WEIGHTS)
    expected = as_arrays(model)
    assert found.keys() == expected.keys()
    for name, numbers in expected.items():
        assert found[name].dtype == np.float64
        assert found[name].shape == numbers.shape
        assert np.array_equal(found[name], numbers)


def test_we_read_what_the_safetensors_library_writes() -> None:
    arrays = {
        "scalar": np.array(2.5),
        "empty": np.zeros((0, 3)),
        "cube": np.arange(24, dtype=np.float64).reshape(2, 3, 4) / 7,
        "extreme": np.array([np.inf, -0.0, 5e-324, 1.7976931348623157e308]),
        "é": np.array([1.0]),
    }
    data = safetensors.numpy.save(arrays, metadata={"format": "pt", "by": "test"})
    read = decode_any_tensors(data)
    assert read.keys() == arrays.keys()
    for name, numbers in arrays.items():
        assert read[name].shape == numbers.shape
        assert read[name].numbers.tobytes() == numbers.tobytes()


def test_a_whole_weights_file_may_pass_through_the_library(tmp_path: Path) -> None:
    model = compile("prime(#<[a]) & Y b", "ab")
    model.save(tmp_path)
    before = (tmp_path / WEIGHTS).read_bytes()
    again = safetensors.numpy.save(safetensors.numpy.load(before))
    assert decode_any_tensors(again) == decode_tensors(before) == tensors_of(model.network)


def test_our_container_is_aligned_and_gapless() -> None:
    tensors = {"x": Tensor((3,), array("d", [1, 2, 3])), "longer name": Tensor((), array("d", [4]))}
    data = encode_tensors(tensors)
    (length,) = struct.unpack("<Q", data[:8])
    header = json.loads(data[8 : 8 + length])
    assert length % 8 == 0
    assert [header[name]["data_offsets"] for name in tensors] == [[0, 24], [24, 32]]
    assert len(data) == 8 + length + 32
    assert decode_tensors(data) == tensors


def test_the_library_refuses_float32_no_more_than_we_do() -> None:
    data = safetensors.numpy.save({"x": np.zeros(2, dtype=np.float32)})
    with pytest.raises(ValueError, match="'x' is not a float64 tensor"):
        decode_tensors(data)


# All or nothing ------------------------------------------------------------------------------------


def contents(folder: Path) -> dict[str, bytes]:
    return {name: (folder / name).read_bytes() for name in (STRUCTURE, WEIGHTS)}


def disk_is_full(*_: object) -> None:
    raise OSError(28, "No space left on device")


@pytest.fixture
def old(tmp_path: Path) -> Path:
    """A folder with a model that a failing write must not damage."""
    compile("O a", "ab").save(tmp_path)
    return tmp_path


def assert_old_model_is_intact(old: Path, before: dict[str, bytes]) -> None:
    with pytest.raises(MalformedFileError, match="No space left on device"):
        compile("Y b", "ab").save(old)
    assert contents(old) == before
    assert load(old).title == "O a"


def test_a_move_that_fails_leaves_the_old_model(old: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    before = contents(old)
    monkeypatch.setattr(Path, "replace", disk_is_full)
    assert_old_model_is_intact(old, before)


def test_a_write_that_fails_leaves_the_old_model(old: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    before = contents(old)
    monkeypatch.setattr(os, "fsync", disk_is_full)
    assert_old_model_is_intact(old, before)


@pytest.mark.parametrize("writes", [0, 1])
def test_no_file_is_ever_written_in_part(old: Path, writes: int, monkeypatch: pytest.MonkeyPatch) -> None:
    before, model = contents(old), compile("Y b", "ab")
    model.save(old / "whole")
    after = contents(old / "whole")
    move, moved = Path.replace, []

    def fail_later(path: Path, target: Path) -> Path:
        if len(moved) == writes:
            disk_is_full()
        moved.append(target)
        return move(path, target)

    monkeypatch.setattr(Path, "replace", fail_later)
    with pytest.raises(MalformedFileError, match="cannot write to"):
        model.save(old)
    for name, data in contents(old).items():
        assert data in (before[name], after[name])


def test_a_model_of_mixed_files_is_refused(old: Path, tmp_path: Path) -> None:
    compile("Y b", "ab").save(tmp_path / "other")
    (old / WEIGHTS).write_bytes((tmp_path / "other" / WEIGHTS).read_bytes())
    with pytest.raises(MalformedFileError, match="digest"):
        load(old)


# Predicates of the user ----------------------------------------------------------------------------


def _is_cube(value: int) -> bool:
    return any(k**3 == value for k in range(value + 1))


def test_a_model_with_a_registered_predicate_survives(tmp_path: Path) -> None:
    register_predicate("cube_for_file_tests", _is_cube)
    model = compile("cube_for_file_tests(#<[a]) & !cube_for_file_tests(pos)", "ab")
    model.save(tmp_path)
    register_predicate("cube_for_file_tests", _is_cube)
    read = load(tmp_path)
    assert read == model
    assert read.positions("a" * 9) == tuple(False for _ in range(9))
    assert read.positions("baaaaaaaa")[-1] is True


def test_a_model_with_an_unregistered_predicate_says_how_to_register_it(tmp_path: Path) -> None:
    compile("prime(pos)", "ab").save(tmp_path)

    def rename(structure: dict) -> None:
        text = json.dumps(structure).replace("prime", "never_registered")
        structure.update(json.loads(text))

    change_structure(tmp_path, rename)
    with pytest.raises(MalformedFileError, match=r"attemper\.register_predicate\('never_registered'"):
        load(tmp_path)


def test_networks_too_large_to_write_are_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    model = compile("O a", "ab")
    monkeypatch.setattr("attemper.networks.weights.MOST_PARAMETERS", 100)
    with pytest.raises(UnsupportedError, match=r"weights, more than 100, the cap on writing them"):
        tensors_of(model.network)
