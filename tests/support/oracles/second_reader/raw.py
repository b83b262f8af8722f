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
    structure = _strict_json((folder / "network.json").read_bytes())
    weights = (folder / "weights.safetensors").read_bytes()
    if structure.get("format") != "attemper-network/3":
        raise MalformedError("another format")
    if digest(structure, weights) != structure["digest"]:
        raise MalformedError("another digest")
    tensors = _tensors(weights)
    layers = [_layer(number, layer, tensors) for number, layer in enumerate(structure["layers"])]
    positions = [(coordinate, form) for coordinate, form in structure["positions"]]
    return RawNetwork(
        structure["alphabet"],
        tensors["embed.W_E"],
        positions,
        structure["head_width"],
        _outputs(structure["output"]),
        layers,
    )


def _outputs(entry: Any) -> list[tuple[str | None, int]]:
    """The coordinates that are read: one without a name, or one for each symbol or probability's name."""
    if isinstance(entry, dict):
        (kind,) = entry.keys() - {"over"}
        return _outputs(entry[kind])
    if not isinstance(entry, list):
        return [(None, entry)]
    if len({symbol for symbol, _ in entry}) < len(entry):
        raise MalformedError("a name twice")
    return [(symbol, coordinate) for symbol, coordinate in entry]


def read_certificate(folder: Path) -> Any:
    """The certificate in a folder, if it names the network beside it; raises `MalformedError`."""
    certificate = _strict_json((folder / "certificate.json").read_bytes())
    structure = _strict_json((folder / "network.json").read_bytes())
    if certificate.get("format") != "attemper-certificate/2" or certificate["network"] != structure["digest"]:
        raise MalformedError("a certificate of another network")
    return certificate


def digest(structure: dict[str, Any], weights: bytes) -> str:
    """SHA-256 of the hashes of the structure without its digest and of the weights."""
    rest = {key: value for key, value in structure.items() if key != "digest"}
    text = json.dumps(rest, sort_keys=True, separators=(",", ":"), ensure_ascii=True).encode()
    return hashlib.sha256(hashlib.sha256(text).digest() + hashlib.sha256(weights).digest()).hexdigest()


def _strict_json(data: bytes) -> Any:
    def once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
        if len(dict(pairs)) < len(pairs):
            raise MalformedError("a key twice")
        return dict(pairs)

    try:
        return json.loads(data, object_pairs_hook=once)
    except (ValueError, RecursionError) as wrong:
        raise MalformedError("no JSON") from wrong


def _tensors(data: bytes) -> dict[str, Any]:
    (length,) = struct.unpack("<Q", data[:8])
    header, body = _strict_json(data[8 : 8 + length]), data[8 + length :]
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
    return RawHead(
        head["construction"][0], head["masking"], head["weighting"]["inverse_temperature"], w_q, w_k, w_v, w_o
    )
