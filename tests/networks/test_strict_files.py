"""Every number in a network's files is a number of the network, or 0: whatever else they hold is refused.

The files are changed here byte by byte, with digests made by hand: nothing of the library writes them.
"""

from __future__ import annotations

import hashlib
import json
import shutil
import struct
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

import pytest

from attemper.certificates.files import CERTIFICATE
from attemper.certificates.files import save as save_certificate
from attemper.errors import MalformedFileError
from attemper.networks.files import STRUCTURE, WEIGHTS
from attemper.networks.files import load as load_network
from attemper.workbench.compiling import compile as compile_formula
from attemper.workbench.folder import load
from tests.support.cli.command_line import attemper

Header = dict[str, Any]


@pytest.fixture(scope="module")
def original(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A head with no rows and one value (layer 0, head 0), and a head with two rows and one value."""
    folder = tmp_path_factory.mktemp("strict") / "network"
    model = compile_formula("#<[a] <= #<[b] & (a S b)", "ab")
    model.save(folder)
    heads = [head for layer in model.network.layers for head in layer.heads]
    assert [(len(h.query), len(h.values)) for h in heads] == [(0, 1), (2, 1), (1, 1)]
    assert [len(layer.heads) for layer in model.network.layers] == [2, 1]
    save_certificate(model.certify(), folder)
    return folder


@pytest.fixture
def folder(original: Path, tmp_path: Path) -> Path:
    """A copy of the network, to be changed."""
    return Path(shutil.copytree(original, tmp_path / "network"))


# Bytes by hand ---------------------------------------------------------------------------------------


def parts_of(folder: Path) -> tuple[Header, bytes]:
    """The header of the weights, and the bytes after it."""
    data = (folder / WEIGHTS).read_bytes()
    (length,) = struct.unpack("<Q", data[:8])
    return json.loads(data[8 : 8 + length]), data[8 + length :]


def put_weights(folder: Path, header: Header | str, body: bytes) -> None:
    """Write the weights, and digests that fit into both other files."""
    text = header if isinstance(header, str) else json.dumps(header, separators=(",", ":"))
    text += " " * (-len(text) % 8)
    (folder / WEIGHTS).write_bytes(struct.pack("<Q", len(text)) + text.encode() + body)
    put_structure(folder, (folder / STRUCTURE).read_text(encoding="utf-8"))


def put_structure(folder: Path, text: str) -> None:
    """Write network.json, and digests that fit into it and the certificate."""
    structure = json.loads(text)
    before = structure.pop("digest")
    canonical = json.dumps(structure, sort_keys=True, separators=(",", ":")).encode()
    halves = (hashlib.sha256(data).digest() for data in (canonical, (folder / WEIGHTS).read_bytes()))
    after = hashlib.sha256(b"".join(halves)).hexdigest()
    (folder / STRUCTURE).write_text(text.replace(before, after), encoding="utf-8")
    certificate = json.loads((folder / CERTIFICATE).read_text(encoding="utf-8"))
    (folder / CERTIFICATE).write_text(json.dumps({**certificate, "network": after}), encoding="utf-8")


def with_number(header: Header, body: bytes, name: str, index: Iterable[int], number: float) -> bytes:
    """The bytes with one number of a tensor replaced."""
    place = 0
    for size, own in zip(header[name]["shape"], index, strict=True):
        assert 0 <= own < size
        place = place * size + own
    start = header[name]["data_offsets"][0] + 8 * place
    return body[:start] + struct.pack("<d", number) + body[start + 8 :]


def put_numbers(folder: Path, *numbers: tuple[str, tuple[int, ...], float]) -> None:
    header, body = parts_of(folder)
    for name, index, number in numbers:
        body = with_number(header, body, name, index, number)
    put_weights(folder, header, body)


def assert_malformed(folder: Path, *fragments: str) -> None:
    """Neither the reader, the runner nor the checker takes the folder, and all say why."""
    with pytest.raises(MalformedFileError) as caught:
        load_network(folder)
    for fragment in fragments:
        assert fragment in str(caught.value)
    with pytest.raises(MalformedFileError):
        load(folder)
    for command in (("run", folder, "ab"), ("check", folder)):
        assert attemper(*command).code == 6


def test_what_is_written_by_hand_without_a_change_is_the_same_network(original: Path, folder: Path) -> None:
    put_numbers(folder)
    assert (folder / STRUCTURE).read_bytes() == (original / STRUCTURE).read_bytes()
    assert (folder / WEIGHTS).read_bytes() == (original / WEIGHTS).read_bytes()
    assert attemper("check", folder).code == 0


# Columns that are not used ---------------------------------------------------------------------------

BEYOND: dict[str, tuple[tuple[tuple[str, tuple[int, ...], float], ...], str]] = {
    # The head averages: with a query and a key it would look at the symbols instead.
    "query and key between rows and values": (
        (("blocks.0.attn.W_Q", (0, 0, 0), 48.0), ("blocks.0.attn.W_K", (0, 4, 0), 3.0)),
        "'blocks.0.attn.W_Q': head 0 uses 0 of its rows, but row 0 has a weight, 48.0 for coordinate 0",
    ),
    "key alone": (
        (("blocks.0.attn.W_K", (0, 2, 0), -7.5),),
        "'blocks.0.attn.W_K': head 0 uses 0 of its rows",
    ),
    # The head selects by two rows: its second value would be added to what others read.
    "value and output between values and rows": (
        (("blocks.0.attn.W_V", (1, 3, 1), 5.0), ("blocks.0.attn.W_O", (1, 1, 0), 0.25)),
        "tensor 'blocks.0.attn.W_V': head 1 uses 1 of its rows, but row 1 has a weight, 5.0 for coordinate 3",
    ),
    "output alone": (
        (("blocks.0.attn.W_O", (1, 1, 2), 1.0),),
        "'blocks.0.attn.W_O': head 1 uses 1 of its rows",
    ),
    "beyond both": (
        (("blocks.0.attn.W_V", (0, 1, 3), 2.0),),
        "'blocks.0.attn.W_V': head 0 uses 1 of its rows",
    ),
}


@pytest.mark.sweep(1)
@pytest.mark.parametrize("name", BEYOND)
def test_a_weight_in_a_row_that_is_not_used_is_refused(name: str, folder: Path) -> None:
    numbers, fragment = BEYOND[name]
    put_numbers(folder, *numbers)
    assert_malformed(folder, fragment)
    edited = attemper("check", folder, "--edited")
    assert edited.code == 6
    assert fragment in edited.out


def test_a_negative_zero_is_another_byte(folder: Path) -> None:
    put_numbers(folder, ("blocks.0.attn.W_Q", (1, 0, 2), -0.0))
    place = "tensor 'blocks.0.attn.W_Q' has -0.0 at [1, 0, 2], not 0.0"
    assert_malformed(folder, place, "is not written as attemper writes", "attemper check DIR --edited")
    assert attemper("check", folder, "--edited").code == 0


# The container -----------------------------------------------------------------------------------------


def swapped(header: Header) -> Header:
    """The same tensors, the first two listed in the other order."""
    first, second, *rest = header
    return {name: header[name] for name in (second, first, *rest)}


def sorted_by_name(header: Header, body: bytes) -> tuple[Header, bytes]:
    """The same tensors in another order, one after the other, as the safetensors library might write them."""
    found: Header = {}
    after = b""
    for name in sorted(header):
        start, end = header[name]["data_offsets"]
        found[name] = {**header[name], "data_offsets": [len(after), len(after) + end - start]}
        after += body[start:end]
    return found, after


def moved(header: Header, name: str, by: int) -> Header:
    entry = dict(header[name])
    entry["data_offsets"] = [place + by for place in entry["data_offsets"]]
    return {**header, name: entry}


def twice(header: Header, name: str) -> str:
    """The header's text with one tensor listed twice."""
    text = json.dumps(header, separators=(",", ":"))
    return text[:-1] + f',"{name}":' + json.dumps(header[name]) + "}"


LAST = "blocks.1.mlp.W_out"

CONTAINERS: dict[str, tuple[Callable[[Header, bytes], tuple[Header | str, bytes]], str, bool]] = {
    "listed in another order": (
        lambda h, b: (swapped(h), b),
        "tensor 'blocks.0.attn.W_Q' leaves 224 bytes after the end of the tensor before it",
        True,
    ),
    "sorted by name": (
        sorted_by_name,
        "tensor 'blocks.0.attn.W_K' stands where 'embed.W_E' belongs",
        True,
    ),
    "remarks": (lambda h, b: ({"__metadata__": {"by": "me"}, **h}, b), "has an entry '__metadata__'", True),
    "blanks in the header": (lambda h, b: (json.dumps(h), b), "the header is written in another way", True),
    "an entry's keys in another order": (
        lambda h, b: ({name: dict(reversed(entry.items())) for name, entry in h.items()}, b),
        "the header is written in another way",
        True,
    ),
    "overlapping": (lambda h, b: (moved(h, LAST, -8), b), f"'{LAST}' begins before the end", False),
    "a gap": (lambda h, b: (moved(h, LAST, 8), b + bytes(8)), f"'{LAST}' leaves 8 bytes after", False),
    "bytes at the end": (lambda h, b: (h, b + bytes(8)), "there are 8 bytes after the last tensor", False),
    "a tensor twice": (lambda h, b: (twice(h, LAST), b), f"has the key '{LAST}' twice", False),
    "an unknown key": (
        lambda h, b: ({**h, LAST: {**h[LAST], "scale": 2}}, b),
        f"'{LAST}' is not a float64 tensor with a dtype",
        False,
    ),
}
"""What is done to the container, what is said, and whether an edited network may have it."""


@pytest.mark.sweep(1)
@pytest.mark.parametrize("name", CONTAINERS)
def test_another_container_of_the_same_numbers_is_refused(name: str, folder: Path) -> None:
    change, fragment, edited = CONTAINERS[name]
    put_weights(folder, *change(*parts_of(folder)))
    assert_malformed(folder, fragment)
    assert attemper("check", folder, "--edited").code == (0 if edited else 6)


# The structure -----------------------------------------------------------------------------------------

STRUCTURES: dict[str, tuple[Callable[[str], str], str, bool]] = {
    "other blanks": (
        lambda t: json.dumps(json.loads(t), indent=1) + "\n",
        "blanks, escapes or the order of its entries",
        True,
    ),
    "no newline": (lambda t: t.rstrip("\n"), "blanks, escapes or the order of its entries", True),
    "other order": (
        lambda t: json.dumps(dict(reversed(json.loads(t).items()))) + "\n",
        "blanks, escapes or the order of its entries",
        True,
    ),
    "escapes": (lambda t: t.replace('"alphabet"', '"\\u0061lphabet"'), "blanks, escapes or the order", True),
    "a number in other terms": (
        lambda t: t.replace('["softmax", ["number", "1"]]', '["softmax", ["number", "2/2"]]', 1),
        ".value: expected a fraction such as",
        False,
    ),
    "a key twice": (
        lambda t: t.replace('"output":', '"output": 0, "output":'),
        "has the key 'output' twice",
        False,
    ),
    "an unknown entry": (
        lambda t: t.replace('"output":', '"bias": 1, "output":'),
        "the entry 'bias' is unknown; remove it",
        False,
    ),
    "an unknown entry of a layer": (
        lambda t: t.replace('"hidden":', '"b_out": 1, "hidden":', 1),
        "layers[0]: the entry 'b_out' is unknown; remove it",
        False,
    ),
    "an unknown entry of a head": (
        lambda t: t.replace('"masking":', '"window": 3, "masking":', 1),
        "layers[0].heads[0]: the entry 'window' is unknown; remove it",
        False,
    ),
    "an unknown entry of the source": (
        lambda t: t.replace('"regime":', '"dialect": "", "regime":'),
        "source: the entry 'dialect' is unknown; remove it",
        False,
    ),
    "an unknown entry of a weighting": (
        lambda t: t.replace('["softmax", ["number", "1"]]', '["softmax", ["number", "1"], "9"]', 1),
        'layers[0].heads[0].weighting: after "softmax" stands inverse_temperature, not ',
        False,
    ),
}
"""What is done to network.json, what is said, and whether an edited network may have it."""


@pytest.mark.sweep(1)
@pytest.mark.parametrize("name", STRUCTURES)
def test_another_text_of_the_same_structure_is_refused(name: str, folder: Path) -> None:
    change, fragment, edited = STRUCTURES[name]
    before = (folder / STRUCTURE).read_text(encoding="utf-8")
    after = change(before)
    assert after != before
    put_structure(folder, after)
    assert_malformed(folder, fragment)
    assert attemper("check", folder, "--edited").code == (0 if edited else 6)


# The certificate ---------------------------------------------------------------------------------------


@pytest.mark.sweep(1)
@pytest.mark.parametrize("key", ["network", "claims", "language"])
def test_a_key_twice_in_the_certificate_is_refused(key: str, folder: Path) -> None:
    """Another reader might take the first one: a certificate says one thing."""
    text = (folder / CERTIFICATE).read_text(encoding="utf-8")
    (folder / CERTIFICATE).write_text(text.replace(f'"{key}":', f'"{key}": "real", "{key}":', 1))
    outcome = attemper("check", folder)
    assert outcome.code == 6
    assert f"an object has the key '{key}' twice" in outcome.out
