"""A network's two files, read without the library: what a folder holds, number by number.

Nothing here imports attemper. Every number of every tensor is kept, also in columns that no row or value
uses: whoever runs the network from here runs what the file says.
"""

from __future__ import annotations

import json
import math
import struct
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

Tree = Any
"""A closed form as JSON data."""

Floats = npt.NDArray[Any]
Integers = npt.NDArray[np.int64]


@dataclass(frozen=True)
class RawHead:
    """What network.json says of a head that its tensors do not."""

    masking: str
    coldness: Tree


@dataclass(frozen=True)
class RawNetwork:
    """A network as it stands in its files."""

    alphabet: tuple[str, ...]
    positions: tuple[tuple[int, Tree], ...]
    heads: tuple[tuple[RawHead, ...], ...]
    outputs: tuple[tuple[str | None, int], ...]
    """The coordinates that are read: one without a name, or one for each symbol or probability's name."""
    tensors: dict[str, Floats]
    kind: str | None = None
    """What numbers are put out: integer, fraction or distribution; None if bits are."""
    over: str | None = None
    """The masking that shows the positions that an integer's share is of."""

    @property
    def coordinates(self) -> list[int]:
        """The coordinates of all outputs."""
        return [coordinate for _, coordinate in self.outputs]

    def weight(self, layer: int, name: str) -> Floats:
        """The tensor of a layer, such as attn.W_Q."""
        return self.tensors[f"blocks.{layer}.{name}"]


def read_folder(folder: Path) -> RawNetwork:
    """The network in a folder."""
    return raw_network((folder / "network.json").read_bytes(), (folder / "weights.safetensors").read_bytes())


def raw_network(structure: bytes, weights: bytes) -> RawNetwork:
    """The network in the bytes of its two files."""
    entries = json.loads(structure)
    return RawNetwork(
        alphabet=tuple(entries["alphabet"]),
        positions=tuple((c, tree) for c, tree in entries["positions"]),
        heads=tuple(
            tuple(RawHead(h["masking"], _coldness(h["weighting"])) for h in layer["heads"])
            for layer in entries["layers"]
        ),
        outputs=tuple((symbol, c) for symbol, c in entries["symbols"]) or ((None, entries["output"]),),
        tensors=_tensors(weights),
        kind=kind_of(entries),
        over=entries["over"],
    )


def kind_of(entries: Mapping[str, Any]) -> str | None:
    """What numbers a network or program puts out: integer, fraction or distribution; None for bits."""
    numbers = entries if "measure" in entries else entries["numbers"]
    return None if numbers is None else numbers["measure"]


def _coldness(weighting: Any) -> Tree:
    match weighting:
        case ["softmax", tree]:
            return tree
        case _:
            raise ValueError(f"no softmax: {weighting}")


def _tensors(data: bytes) -> dict[str, Floats]:
    (length,) = struct.unpack("<Q", data[:8])
    header, body = json.loads(data[8 : 8 + length]), data[8 + length :]
    tensors = {}
    for name, entry in header.items():
        if name != "__metadata__":
            start, end = entry["data_offsets"]
            tensors[name] = np.frombuffer(body[start:end], dtype="<f8").reshape(entry["shape"])
    return tensors


# Tests in closed forms and predicates of counts ---------------------------------------------------------


def _is_prime(value: int) -> bool:
    return value > 1 and all(value % k for k in range(2, math.isqrt(value) + 1))


NAMED: dict[str, Callable[[int], bool]] = {
    "even": lambda v: v % 2 == 0,
    "odd": lambda v: v % 2 == 1,
    "prime": _is_prime,
    "square": lambda v: v >= 0 and math.isqrt(v) ** 2 == v,
}


def asked(predicate: Any, value: Integers) -> npt.NDArray[np.bool_]:
    """Whether a predicate, as JSON data, holds of integers."""
    match predicate:
        case ["zero"]:
            return value == 0
        case ["non negative"]:
            return value >= 0
        case ["remainder", modulus, remainder]:
            return value % modulus == remainder
        case ["named", name]:
            return np.vectorize(NAMED[name], otypes=[bool])(value)
        case _:
            raise ValueError(f"no predicate: {predicate}")


# Closed forms -------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Places:
    """The positions of a batch of words, [word, position]: i and n; i stays at n in the padding."""

    i: Integers
    n: Integers

    @property
    def real(self) -> npt.NDArray[np.bool_]:
        """Which positions are no padding."""
        return np.arange(1, self.i.shape[1] + 1)[None, :] <= self.n


def places_of(lengths: Integers) -> Places:
    """The positions of words of these lengths."""
    steps = np.arange(1, int(lengths.max()) + 1)[None, :]
    return Places(
        np.minimum(steps, lengths[:, None]), np.broadcast_to(lengths[:, None], (len(lengths), steps.shape[1]))
    )


def _binary_digits(value: Fraction | float) -> int:
    """The d with 2^(d-1) <= value < 2^d, of a positive integer."""
    assert value == int(value) > 0, f"{value} is no positive integer"
    return len(f"{int(value):b}")


def form_in_floats(tree: Tree, places: Places, narrow: Callable[[Floats], Floats]) -> Floats:
    """A closed form, one rounding per operation, as its tree is written."""

    def evaluate(part: Tree) -> Floats:
        match part:
            case ["position"]:
                return narrow(places.i.astype(np.float64))
            case ["length"]:
                return narrow(places.n.astype(np.float64))
            case ["alternating"]:
                return narrow(np.where(places.i % 2 == 0, 1.0, -1.0))
            case ["number", text]:
                return narrow(np.full(places.i.shape, float(Fraction(text))))
            case ["test", predicate, a, b, c]:
                return narrow(asked(predicate, a * places.i + b * places.n + c).astype(np.float64))
            case ["sum", parts]:
                total = narrow(np.zeros(places.i.shape))
                for own in parts:
                    total = narrow(total + evaluate(own))
                return total
            case ["product", parts]:
                product = narrow(np.ones(places.i.shape))
                for own in parts:
                    product = narrow(product * evaluate(own))
                return product
            case ["power", base, exponent]:
                one, power = evaluate(base), narrow(np.ones(places.i.shape))
                for _ in range(abs(exponent)):
                    power = narrow(power * one)
                return narrow(1 / power) if exponent < 0 else power
            case ["digits", inner]:
                return narrow(np.vectorize(_binary_digits, otypes=[float])(evaluate(inner)))
            case _:
                raise ValueError(f"no closed form: {part}")

    return evaluate(tree)


def exact_form(tree: Tree, i: int, n: int) -> Fraction:
    """A closed form at one position, as a rational number."""
    match tree:
        case ["position"]:
            return Fraction(i)
        case ["length"]:
            return Fraction(n)
        case ["alternating"]:
            return Fraction(1 if i % 2 == 0 else -1)
        case ["number", text]:
            return Fraction(text)
        case ["test", predicate, a, b, c]:
            return Fraction(int(asked(predicate, np.array(a * i + b * n + c)).item()))
        case ["sum", parts]:
            return sum((exact_form(part, i, n) for part in parts), Fraction(0))
        case ["product", parts]:
            return math.prod((exact_form(part, i, n) for part in parts), start=Fraction(1))
        case ["power", base, exponent]:
            return exact_form(base, i, n) ** exponent
        case ["digits", inner]:
            return Fraction(_binary_digits(exact_form(inner, i, n)))
        case _:
            raise ValueError(f"no closed form: {tree}")
