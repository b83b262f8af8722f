"""The safetensors container, float64 only: small enough to trust, readable by everyone's tools.

8 bytes little-endian header length, a JSON header {name: {dtype, shape, data_offsets}}, then the
numbers. (The format is safetensors', version 0.3 and later; a test reads our files with that
library and the library's files with this module.)
"""

from __future__ import annotations

import json
import struct
import sys
from array import array
from collections.abc import Mapping
from dataclasses import dataclass
from math import prod
from typing import final

MAX_HEADER = 100_000_000


@final
@dataclass(frozen=True)
class Tensor:
    """Row-major float64 numbers of a shape."""

    shape: tuple[int, ...]
    numbers: array[float]


def encode_tensors(tensors: Mapping[str, Tensor]) -> bytes:
    """The container's bytes."""
    header: dict[str, object] = {}
    chunks: list[bytes] = []
    offset = 0
    for name, tensor in tensors.items():
        data = _little_endian(tensor.numbers).tobytes()
        header[name] = {
            "dtype": "F64",
            "shape": list(tensor.shape),
            "data_offsets": [offset, offset + len(data)],
        }
        chunks.append(data)
        offset += len(data)
    text = json.dumps(header, separators=(",", ":")).encode()
    text += b" " * (-len(text) % 8)
    return b"".join([struct.pack("<Q", len(text)), text, *chunks])


def decode_tensors(data: bytes) -> dict[str, Tensor]:
    """The tensors of a container; raises ValueError on anything malformed."""
    if len(data) < 8:
        raise ValueError("the file is shorter than its header")
    (length,) = struct.unpack("<Q", data[:8])
    if length > min(MAX_HEADER, len(data) - 8):
        raise ValueError("the header is longer than the file")
    try:
        header = json.loads(data[8 : 8 + length].decode("utf-8"))
    except RecursionError:
        raise ValueError("the header nests too deeply") from None
    if not isinstance(header, dict):
        raise ValueError("the header is not an object")
    body = data[8 + length :]
    header.pop("__metadata__", None)
    return {name: _decode_tensor(name, entry, body) for name, entry in header.items()}


def _decode_tensor(name: str, entry: object, body: bytes) -> Tensor:
    match entry:
        case {"dtype": "F64", "shape": [*shape], "data_offsets": [int(start), int(end)]}:
            sizes = tuple(size for size in shape if type(size) is int and size >= 0)
            if len(sizes) != len(shape) or not 0 <= start <= end <= len(body):
                raise ValueError(f"tensor '{name}' has an impossible shape or place")
            if end - start != 8 * prod(sizes):
                raise ValueError(f"tensor '{name}' has {end - start} bytes for shape {sizes}")
            numbers: array[float] = array("d")
            numbers.frombytes(body[start:end])
            return Tensor(sizes, _little_endian(numbers))
        case _:
            raise ValueError(f"tensor '{name}' is not a float64 tensor")


def _little_endian(numbers: array[float]) -> array[float]:
    if sys.byteorder == "little":
        return numbers
    swapped = array("d", numbers)
    swapped.byteswap()
    return swapped
