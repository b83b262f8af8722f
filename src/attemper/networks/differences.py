"""Where a network's files differ from what is written for the network that was read from them."""

from __future__ import annotations

from collections.abc import Iterator
from math import copysign

from attemper.networks.safetensors import Tensor, decode_tensors


def structure_difference(found: object, expected: object) -> str:
    """The first place at which two JSON values differ; empty if they are the same.

    >>> structure_difference({"layers": [{"hidden": 2}]}, {"layers": [{"hidden": 3}]})
    'layers[0].hidden is 2, not 3'
    """
    return next(_differences(found, expected, ""), "")


def weights_difference(found: bytes, expected: bytes) -> str:
    """The first tensor and entry at which two containers differ, or that their headers do."""
    own, other = decode_tensors(found), decode_tensors(expected)
    if list(own) != list(other):
        name, wanted = next(pair for pair in zip(own, other, strict=True) if pair[0] != pair[1])
        return f"tensor '{name}' stands where '{wanted}' belongs"
    for name, tensor in own.items():
        place = _first_difference(tensor, other[name])
        if place is not None:
            numbers = tensor.numbers[place], other[name].numbers[place]
            return f"tensor '{name}' has {numbers[0]!r} at {_index(tensor.shape, place)}, not {numbers[1]!r}"
    return "the header is written in another way (blanks, or the order of an entry's keys)"


def _differences(found: object, expected: object, place: str) -> Iterator[str]:
    match found, expected:
        case (dict(), dict()):
            for name in [*expected, *(name for name in found if name not in expected)]:
                inner = f"{place}.{name}" if place else str(name)
                if name not in found or name not in expected:
                    yield f"{inner} is {'missing' if name not in found else 'not expected'}"
                else:
                    yield from _differences(found[name], expected[name], inner)
        case (list(), list()) if len(found) == len(expected):
            for number, pair in enumerate(zip(found, expected, strict=True)):
                yield from _differences(*pair, f"{place}[{number}]")
        case _:
            if type(found) is not type(expected) or found != expected:
                yield f"{place} is {str(found)[:80]}, not {str(expected)[:80]}"


def _first_difference(one: Tensor, other: Tensor) -> int | None:
    pairs = enumerate(zip(one.numbers, other.numbers, strict=True))
    return next((place for place, (x, y) in pairs if x != y or copysign(1, x) != copysign(1, y)), None)


def _index(shape: tuple[int, ...], place: int) -> list[int]:
    index: list[int] = []
    for size in reversed(shape):
        place, own = divmod(place, size)
        index.insert(0, own)
    return index
