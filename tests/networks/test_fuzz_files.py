"""Whatever stands in the files, loading gives a well-formed network or MalformedFileError."""

from __future__ import annotations

import copy
import json
import random
import struct
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from attemper.compiling.softening.normalise import LayerNorm
from attemper.errors import MalformedFileError, UnsupportedError
from attemper.networks.edited import Edited
from attemper.networks.files import STRUCTURE, WEIGHTS, load_edited
from attemper.networks.files import load as load_network
from attemper.networks.files import save as save_network
from attemper.networks.safetensors import Tensor, decode_any_tensors, decode_tensors
from attemper.networks.wellformed import complaints
from attemper.workbench.compiling import compile as compile_formula
from attemper.workbench.folder import load
from tests.support.mutants.saved import (
    Structure,
    change_weights,
    read_structure,
    with_number,
    write_structure,
)

FORMULAS = {
    "unbounded": "(#<[a] <= #>[b] | prime(#<[a])) & O (Y a)",
    "temperature": "(#<[a] <= #>[b] | prime(#<[a])) & O (Y a)",
    "decoder": "(#<[a] <= #<[b] | prime(#<[a])) & O (Y a)",
    "normalised": "O (b & Y a)",
}


class Saved:
    """A saved model, and a folder for its damaged copies."""

    def __init__(self, folder: Path, regime: str) -> None:
        self.folder = folder
        options = {"regime": regime} if regime != "normalised" else {"layer_norm": LayerNorm()}
        compile_formula(FORMULAS[regime], "ab", **options).save(folder)  # type: ignore[arg-type]
        self.structure = read_structure(folder)
        self.files = {name: (folder / name).read_bytes() for name in (STRUCTURE, WEIGHTS)}

    def restore(self) -> None:
        for name, data in self.files.items():
            (self.folder / name).write_bytes(data)


@pytest.fixture(
    scope="module",
    params=[
        pytest.param(name, marks=[pytest.mark.slow] if name == "normalised" else []) for name in FORMULAS
    ],
)
def saved(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Saved:
    return Saved(tmp_path_factory.mktemp("saved"), request.param)


def load_or_refuse(folder: Path) -> bool:
    """Whether the folder holds a network; every exception but MalformedFileError escapes.

    What is read is all that the files hold; and as an edited network it is the same.
    """
    edited = load_edited_or_refuse(folder)
    try:
        network, source = load_network(folder)
        assert complaints(network) == ()
        load(folder)
    except MalformedFileError:
        return False
    assert edited == Edited(network, "")
    again = folder / "again"
    save_network(network, source, again)
    assert all((again / name).read_bytes() == (folder / name).read_bytes() for name in (STRUCTURE, WEIGHTS))
    return True


def load_edited_or_refuse(folder: Path) -> Edited | None:
    """The network as an edited one; every exception but those that are documented escapes."""
    try:
        edited, _ = load_edited(folder)
    except (MalformedFileError, UnsupportedError):
        return None
    assert complaints(edited.network) == ()
    return edited


# Structure -----------------------------------------------------------------------------------------

WORDS = [
    *("position", "length", "alternating", "sum", "product", "power", "digits", "number", "test", "named"),
    *("remainder", "zero", "non negative", "prime", "1/2", "-3", "1/0", "2/4", "-0", "01", "softmax"),
    *(
        "uniform",
        "select",
        "neighbour",
        "sign",
        "local sign",
        "lookup",
        "foreign",
        "unmasked",
        "average-hard",
    ),
    *("kind", "text", "rows", "decoder", "first", "a", "", "\ud800", "\x00", "9" * 60),
]
LEAVES = (
    st.none()
    | st.booleans()
    | st.integers(-3, 20)
    | st.integers()
    | st.sampled_from([10**30, -(10**30), 2**63])
    | st.floats()
    | st.sampled_from(WORDS)
    | st.text(max_size=4)
)
VALUES = st.recursive(
    LEAVES,
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.sampled_from(WORDS), inner, max_size=3),
    max_leaves=8,
)


def containers(value: object) -> Iterator[Any]:
    """Every non-empty list and object inside a JSON structure, with itself."""
    if isinstance(value, dict | list):
        if value:
            yield value
        for child in value.values() if isinstance(value, dict) else value:
            yield from containers(child)


def mutate(structure: Structure, draw: st.DrawFn) -> None:
    """Replace, delete, duplicate or move one value somewhere in the structure."""
    every = list(containers(structure))
    place = every[draw(st.integers(0, len(every) - 1))]
    keys = list(place) if isinstance(place, dict) else list(range(len(place)))
    key = draw(st.sampled_from(keys))
    match draw(st.sampled_from(["replace", "nudge", "delete", "duplicate", "transplant"])):
        case "replace":
            place[key] = draw(VALUES)
        case "nudge" if isinstance(place[key], int):
            place[key] += draw(st.sampled_from([-1, 1, 2]))
        case "delete":
            del place[key]
        case "duplicate" if isinstance(place, list):
            place.insert(key, copy.deepcopy(place[key]))
        case "transplant":
            other = every[draw(st.integers(0, len(every) - 1))]
            place[key] = copy.deepcopy(other)
        case _:
            place[key] = draw(LEAVES)


@st.composite
def mutated(draw: st.DrawFn, structure: Structure) -> Structure:
    changed = copy.deepcopy(structure)
    for _ in range(draw(st.integers(1, 3))):
        mutate(changed, draw)
    return changed


@pytest.mark.sweep(0)
@settings(max_examples=150)
@given(st.data())
def test_a_mutated_structure_is_a_network_or_refused(saved: Saved, data: st.DataObject) -> None:
    saved.restore()
    structure = data.draw(mutated(saved.structure))
    write_structure(saved.folder, structure)
    load_or_refuse(saved.folder)


@given(VALUES)
def test_any_json_instead_of_the_structure_is_refused(saved: Saved, value: Any) -> None:
    saved.restore()
    structure = value if isinstance(value, dict) else {"value": value}
    write_structure(saved.folder, {**structure, "format": saved.structure["format"]})
    assert not load_or_refuse(saved.folder)


# Numbers -------------------------------------------------------------------------------------------

NUMBERS = st.floats() | st.sampled_from([0.0, -0.0, 1.0, -1.0, 2.0, 0.5, 5e-324, 1e308])


@pytest.mark.sweep(0)
@given(st.data())
def test_mutated_weights_are_a_network_or_refused(saved: Saved, data: st.DataObject) -> None:
    def change(tensors: dict[str, Tensor]) -> None:
        name = data.draw(st.sampled_from(sorted(name for name in tensors if tensors[name].numbers)))
        place = data.draw(st.integers(0, len(tensors[name].numbers) - 1))
        tensors[name] = with_number(tensors[name], place, data.draw(NUMBERS))

    saved.restore()
    for _ in range(data.draw(st.integers(1, 3))):
        change_weights(saved.folder, change)
    load_or_refuse(saved.folder)


# Bytes ---------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", [STRUCTURE, WEIGHTS])
@given(data=st.data())
def test_random_bytes_are_refused(saved: Saved, name: str, data: st.DataObject) -> None:
    saved.restore()
    (saved.folder / name).write_bytes(data.draw(st.binary(max_size=300)))
    assert not load_or_refuse(saved.folder)


@pytest.mark.sweep(3)
@pytest.mark.parametrize("name", [STRUCTURE, WEIGHTS])
@given(data=st.data())
def test_truncated_files_are_refused(saved: Saved, name: str, data: st.DataObject) -> None:
    saved.restore()
    original = saved.files[name]
    kept = data.draw(st.integers(0, len(original) - 1))
    (saved.folder / name).write_bytes(original[:kept])
    assert not load_or_refuse(saved.folder)


@given(st.data())
def test_flipped_bits_of_the_weights_are_refused(saved: Saved, data: st.DataObject) -> None:
    saved.restore()
    changed = bytearray(saved.files[WEIGHTS])
    changed[data.draw(st.integers(0, len(changed) - 1))] ^= 1 << data.draw(st.integers(0, 7))
    (saved.folder / WEIGHTS).write_bytes(changed)
    assert not load_or_refuse(saved.folder)


@given(st.data())
def test_flipped_bits_of_the_structure_are_refused(saved: Saved, data: st.DataObject) -> None:
    saved.restore()
    changed = bytearray(saved.files[STRUCTURE])
    changed[data.draw(st.integers(0, len(changed) - 1))] ^= 1 << data.draw(st.integers(0, 7))
    (saved.folder / STRUCTURE).write_bytes(changed)
    assert not load_or_refuse(saved.folder)


@pytest.mark.sweep(1)
@given(st.data())
def test_flipped_bits_under_a_fitting_digest_are_a_network_or_refused(
    saved: Saved, data: st.DataObject
) -> None:
    saved.restore()
    changed = bytearray(saved.files[WEIGHTS])
    for _ in range(data.draw(st.integers(1, 4))):
        changed[data.draw(st.integers(0, len(changed) - 1))] ^= 1 << data.draw(st.integers(0, 7))
    (saved.folder / WEIGHTS).write_bytes(changed)
    write_structure(saved.folder, copy.deepcopy(saved.structure))
    load_or_refuse(saved.folder)


# The container alone -------------------------------------------------------------------------------


def decode_or_refuse(data: bytes) -> None:
    """Tensors as large as they say, or ValueError; every other exception escapes."""
    for decode in (decode_tensors, decode_any_tensors):
        try:
            tensors = decode(data)
        except ValueError:
            continue
        for tensor in tensors.values():
            size = 1
            for length in tensor.shape:
                size *= length
            assert len(tensor.numbers) == size


@given(st.binary(max_size=200))
def test_random_bytes_are_tensors_or_refused(data: bytes) -> None:
    decode_or_refuse(data)
    decode_or_refuse(struct.pack("<Q", len(data)) + data)


HEADER_WORDS = [
    '{"x":',
    '"dtype":"F64",',
    '"shape":[1],',
    '"shape":[0,-1],',
    '"data_offsets":[0,8]',
    "}",
    "{",
]
HEADER_WORDS += ['"data_offsets":[8,0]', '"y":', "[", "]", ",", "true", "1e400", "NaN", "9" * 30, '"']


@settings(max_examples=300)
@given(st.lists(st.sampled_from(HEADER_WORDS), max_size=12).map("".join), st.binary(max_size=32))
def test_random_headers_are_tensors_or_refused(header: str, body: bytes) -> None:
    decode_or_refuse(struct.pack("<Q", len(header)) + header.encode() + body)


@given(st.dictionaries(st.text(max_size=3), VALUES, max_size=3), st.binary(max_size=32))
def test_any_json_header_is_tensors_or_refused(header: dict[str, Any], body: bytes) -> None:
    text = json.dumps(header).encode()
    decode_or_refuse(struct.pack("<Q", len(text)) + text + body)


@given(st.data())
def test_damaged_containers_are_tensors_or_refused(saved: Saved, data: st.DataObject) -> None:
    changed = bytearray(saved.files[WEIGHTS])
    for _ in range(data.draw(st.integers(1, 5))):
        # The header's length and text are the first bytes; damage there matters most.
        changed[data.draw(st.integers(0, min(len(changed), 600) - 1))] = data.draw(st.integers(0, 255))
    decode_or_refuse(bytes(changed[: data.draw(st.integers(0, len(changed)))]))


# Long sweeps ---------------------------------------------------------------------------------------


@pytest.mark.slow
def test_many_damaged_weights_are_a_network_or_refused(saved: Saved) -> None:
    for seed in range(600):
        rng = random.Random(seed)
        changed = bytearray(saved.files[WEIGHTS])
        for _ in range(rng.randint(1, 6)):
            changed[rng.randrange(len(changed))] = rng.randrange(256)
        saved.restore()
        (saved.folder / WEIGHTS).write_bytes(changed)
        write_structure(saved.folder, copy.deepcopy(saved.structure))
        load_or_refuse(saved.folder)
