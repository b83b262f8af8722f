"""The safetensors container, small enough to trust, readable by everyone's tools.

8 bytes little-endian header length, a JSON header {name: {dtype, shape, data_offsets}}, then the
numbers. (The format is safetensors', version 0.3 and later; a test reads our files with that
library and the library's files with this module.)

A network's own file holds float64 tensors, one after the other as the header lists them, and nothing else.
Other programs write the tensors in another order, in narrower formats and with remarks: `decode_any_tensors`
reads those. Either way every byte after the header belongs to exactly one tensor.
"""

from __future__ import annotations

import json
import struct
import sys
from array import array
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from math import prod
from typing import final

from attemper.files import parse_json

MAX_HEADER = 100_000_000

REMARKS = "__metadata__"
"""The entry of a header that is no tensor."""


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
    """The tensors of a container: float64, one after the other as listed, and nothing else.

    Raises ValueError for anything else.
    """
    header, body = _parts(data)
    if REMARKS in header:
        raise ValueError(f"the header has an entry '{REMARKS}'")
    entries = [_entry(name, value, body) for name, value in header.items()]
    for entry in entries:
        if entry.dtype != "F64":
            raise ValueError(f"'{entry.name}' is not a float64 tensor but {entry.dtype}")
    _require_tiling(entries, len(body))
    return {entry.name: entry.tensor(body) for entry in entries}


def decode_any_tensors(data: bytes) -> dict[str, Tensor]:
    """The tensors of a container from any program, in any order; other floats as the same numbers in float64.

    Raises ValueError on anything malformed: tensors that overlap, bytes that belong to none, another format.
    """
    header, body = _parts(data)
    header.pop(REMARKS, None)
    entries = [_entry(name, value, body) for name, value in header.items()]
    _require_tiling(sorted(entries, key=lambda entry: (entry.start, entry.end)), len(body))
    return {entry.name: entry.tensor(body) for entry in entries}


@final
@dataclass(frozen=True)
class _Entry:
    """A tensor as the header lists it."""

    name: str
    dtype: str
    shape: tuple[int, ...]
    start: int
    end: int

    def tensor(self, body: bytes) -> Tensor:
        _, numbers_of = _FORMATS[self.dtype]
        return Tensor(self.shape, numbers_of(body[self.start : self.end]))


def _parts(data: bytes) -> tuple[dict[str, object], bytes]:
    """The header and the bytes after it."""
    if len(data) < 8:
        raise ValueError("the file is shorter than its header")
    (length,) = struct.unpack("<Q", data[:8])
    if length > min(MAX_HEADER, len(data) - 8):
        raise ValueError("the header is longer than the file")
    try:
        header = parse_json(data[8 : 8 + length])
    except RecursionError:
        raise ValueError("the header nests too deeply") from None
    if not isinstance(header, dict):
        raise ValueError("the header is not an object")
    return header, data[8 + length :]


def _entry(name: str, value: object, body: bytes) -> _Entry:
    match value:
        case {"dtype": str(dtype), "shape": [*shape], "data_offsets": [start, end], **rest} if not rest:
            if dtype not in _FORMATS:
                raise ValueError(f"'{name}' is not a float64 tensor but {dtype[:20]}")
            sizes = tuple(size for size in shape if type(size) is int and size >= 0)
            placed = type(start) is int and type(end) is int and 0 <= start <= end <= len(body)
            if len(sizes) != len(shape) or not placed:
                raise ValueError(f"tensor '{name}' has an impossible shape or place")
            if end - start != _FORMATS[dtype][0] * prod(sizes):
                raise ValueError(f"tensor '{name}' has {end - start} bytes for shape {sizes}")
            return _Entry(name, dtype, sizes, start, end)
        case _:
            raise ValueError(f"'{name}' is not a float64 tensor with a dtype, a shape and data_offsets alone")


def _require_tiling(entries: Iterable[_Entry], length: int) -> None:
    """Raise ValueError unless each tensor begins where the one before ends, the last ending with the file."""
    place = 0
    for entry in entries:
        if entry.start != place:
            what = "begins before" if entry.start < place else f"leaves {entry.start - place} bytes after"
            raise ValueError(f"tensor '{entry.name}' {what} the end of the tensor before it")
        place = entry.end
    if place != length:
        raise ValueError(f"there are {length - place} bytes after the last tensor")


def _little_endian(numbers: array[float]) -> array[float]:
    if sys.byteorder == "little":
        return numbers
    swapped = array(numbers.typecode, numbers)
    swapped.byteswap()
    return swapped


def _from_float64(data: bytes) -> array[float]:
    return _little_endian(array("d", data))


def _from_float32(data: bytes) -> array[float]:
    return array("d", _little_endian(array("f", data)))


def _from_float16(data: bytes) -> array[float]:
    return array("d", struct.unpack(f"<{len(data) // 2}e", data))


def _from_bfloat16(data: bytes) -> array[float]:
    """A bfloat16 is the upper half of a float32."""
    whole = bytearray(2 * len(data))
    whole[2::4], whole[3::4] = data[0::2], data[1::2]
    return _from_float32(bytes(whole))


_FORMATS: dict[str, tuple[int, Callable[[bytes], array[float]]]] = {
    "F64": (8, _from_float64),
    "F32": (4, _from_float32),
    "F16": (2, _from_float16),
    "BF16": (2, _from_bfloat16),
}
"""The formats that are read, with the bytes of a number: all their numbers are float64 numbers."""
