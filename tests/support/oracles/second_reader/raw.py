"""A network's files as FORMAT.md section 0 writes them: exact numbers, and what is wrong with the files."""

from __future__ import annotations

import hashlib
import json
import struct
from dataclasses import dataclass
from fractions import Fraction
from math import prod
from pathlib import Path
from typing import Any

from tests.support.oracles.second_reader.forms import is_sound
from tests.support.oracles.shapes import MisshapenError, read_json, require

Matrix = list[list[Fraction]]


class MalformedError(Exception):
    """These are not the files of a network, or not of the one that the certificate names."""


@dataclass(frozen=True)
class RawHead:
    """A head's matrices, [coordinate, row or value]; w_o is [value, coordinate]."""

    construction: str
    masking: str
    temperature: Any
    w_q: Matrix
    w_k: Matrix
    w_v: Matrix
    w_o: Matrix


@dataclass(frozen=True)
class RawLayer:
    """Heads and hidden units; w_in is [coordinate, unit]."""

    heads: list[RawHead]
    w_in: Matrix
    b_in: list[Fraction]
    w_out: Matrix


@dataclass(frozen=True)
class RawNetwork:
    """What network.json and weights.safetensors say."""

    alphabet: list[str]
    embedding: Matrix
    positions: list[tuple[int, Any]]
    head_width: int
    outputs: list[tuple[str | None, int]]
    layers: list[RawLayer]


def read_network(folder: Path) -> RawNetwork:
    """The network in a folder; raises `MalformedError`."""
    structure = _file(folder / "network.json", "attemper-network/4")
    weights = (folder / "weights.safetensors").read_bytes()
    if structure["head_width"] not in (1, 4, 16):
        raise MalformedError("another head width")
    if digest(structure, weights) != structure["digest"]:
        raise MalformedError("another digest")
    tensors = _tensors(weights)
    layers = [_layer(number, layer, tensors) for number, layer in enumerate(structure["layers"])]
    positions = [(coordinate, form) for coordinate, form in structure["positions"]]
    temperatures = [head.temperature for layer in layers for head in layer.heads]
    if not all(map(is_sound, [*(form for _, form in positions), *temperatures])):
        raise MalformedError("no closed form")
    return RawNetwork(
        structure["alphabet"],
        tensors["embed.W_E"],
        positions,
        structure["head_width"],
        _outputs(structure),
        layers,
    )


def _outputs(structure: dict[str, Any]) -> list[tuple[str | None, int]]:
    """The coordinates that are read: one without a name, or one for each symbol or probability's name."""
    output, measure = structure["output"], structure["measure"]
    named = [(symbol, coordinate) for symbol, coordinate in structure["symbols"]]
    if len({symbol for symbol, _ in named}) < len(named):
        raise MalformedError("a name twice")
    if named and named[0][1] != output:
        raise MalformedError("the output is not that of the first symbol")
    if measure is not None and bool(named) != (measure == "distribution"):
        raise MalformedError("names are those of a distribution")
    if (structure["over"] is None) == (measure == "integer") or "strict" in (structure["over"] or ""):
        raise MalformedError("an integer's share is of what a weak mask shows, and nothing else is")
    return named or [(None, output)]


def read_certificate(folder: Path) -> Any:
    """The certificate in a folder, if it names the network beside it; raises `MalformedError`."""
    certificate = _file(folder / "certificate.json", "attemper-certificate/3")
    if certificate["network"] != _file(folder / "network.json", "attemper-network/4")["digest"]:
        raise MalformedError("a certificate of another network")
    return certificate


def digest(structure: dict[str, Any], weights: bytes) -> str:
    """SHA-256 of the hashes of the structure without its digest and of the weights."""
    rest = {key: value for key, value in structure.items() if key != "digest"}
    text = json.dumps(rest, sort_keys=True, separators=(",", ":"), ensure_ascii=True).encode()
    return hashlib.sha256(hashlib.sha256(text).digest() + hashlib.sha256(weights).digest()).hexdigest()


def _file(path: Path, name: str) -> Any:
    """The JSON of a file of that format."""
    try:
        value = read_json(path.read_bytes())
        require(name, value)
    except MisshapenError as wrong:
        raise MalformedError(str(wrong)) from wrong
    return value


def _tensors(data: bytes) -> dict[str, Any]:
    (length,) = struct.unpack("<Q", data[:8])
    try:
        header, body = read_json(data[8 : 8 + length]), data[8 + length :]
    except MisshapenError as wrong:
        raise MalformedError(str(wrong)) from wrong
    tensors, end = {}, 0
    for name, entry in header.items():
        begin, after = entry["data_offsets"]
        if entry["dtype"] != "F64" or begin != end or after - begin != 8 * prod(entry["shape"]):
            raise MalformedError(f"the tensor {name}")
        numbers = [Fraction(number) for (number,) in struct.iter_unpack("<d", body[begin:after])]
        tensors[name], end = _nested(numbers, entry["shape"]), after
    if end != len(body):
        raise MalformedError("more bytes than tensors")
    return tensors


def _nested(numbers: list[Fraction], shape: list[int]) -> Any:
    if len(shape) == 1:
        return numbers
    step = prod(shape[1:])
    return [_nested(numbers[k * step : (k + 1) * step], shape[1:]) for k in range(shape[0])]


def _layer(number: int, layer: Any, tensors: dict[str, Any]) -> RawLayer:
    at = f"blocks.{number}"
    attention = (
        {name: tensors[f"{at}.attn.{name}"] for name in ("W_Q", "W_K", "W_V", "W_O")}
        if layer["heads"]
        else {}
    )
    heads = [_head(k, head, attention) for k, head in enumerate(layer["heads"])]
    return RawLayer(heads, tensors[f"{at}.mlp.W_in"], tensors[f"{at}.mlp.b_in"], tensors[f"{at}.mlp.W_out"])


def _head(number: int, head: Any, tensors: dict[str, Any]) -> RawHead:
    w_q, w_k, w_v, w_o = (tensors[name][number] for name in ("W_Q", "W_K", "W_V", "W_O"))
    rows, values = head["rows"], head["values"]
    unused = [row[rows:] for row in (*w_q, *w_k)] + [row[values:] for row in w_v] + w_o[values:]
    if any(any(row) for row in unused):
        raise MalformedError("numbers that no head uses")
    if any(sorted(filter(None, row)) != [1] for row in w_o[:values]):
        raise MalformedError("a value that is not written once")
    match head["weighting"]:
        case ["softmax", temperature]:
            return RawHead(head["construction"][0], head["masking"], temperature, w_q, w_k, w_v, w_o)
        case _:
            raise MalformedError("a hard head, which no certificate is about")
