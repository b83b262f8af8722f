"""Saved models for tests, and ways to damage them so that the digest still fits."""

from __future__ import annotations

import json
from array import array
from collections.abc import Callable
from pathlib import Path
from typing import Any

from attemper.networks.files import STRUCTURE, WEIGHTS, _digest
from attemper.networks.safetensors import Tensor, decode_tensors, encode_tensors

Structure = dict[str, Any]
"""The parsed network.json."""


def read_structure(folder: Path) -> Structure:
    """The parsed network.json of a saved model."""
    structure: Structure = json.loads((folder / STRUCTURE).read_text(encoding="utf-8"))
    return structure


def write_structure(folder: Path, structure: Structure) -> None:
    """Write network.json as `save` does, with the digest of what it says and of the weights beside it."""
    structure["digest"] = _digest(structure, (folder / WEIGHTS).read_bytes())
    text = json.dumps(structure, ensure_ascii=False) + "\n"
    (folder / STRUCTURE).write_bytes(text.encode("utf-8", "surrogatepass"))


def change_structure(folder: Path, change: Callable[[Structure], object]) -> None:
    """Change the parsed network.json; the digest fits again afterwards."""
    structure = read_structure(folder)
    change(structure)
    write_structure(folder, structure)


def change_weights(folder: Path, change: Callable[[dict[str, Tensor]], object]) -> None:
    """Change the tensors; the digest fits again afterwards."""
    tensors = decode_tensors((folder / WEIGHTS).read_bytes())
    change(tensors)
    (folder / WEIGHTS).write_bytes(encode_tensors(tensors))
    write_structure(folder, read_structure(folder))


def with_number(tensor: Tensor, place: int, number: float) -> Tensor:
    """The tensor with one number replaced."""
    numbers = array("d", tensor.numbers)
    numbers[place] = number
    return Tensor(tensor.shape, numbers)
