"""Integers of any size as int64 arrays, their limbs: matrix products and comparisons, exactly and fast.

The limbs p_0, p_1, ... of integers are arrays of one shape, and the integers sum_s p_s 2^(22 s). All but the
last are from 0 to 2^22 - 1; the last one has the sign, and may be larger. So integers compare as their limbs
do, the last one first.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from attemper.errors import UnsupportedError
from attemper.models.enclosures.forms import GAMMA
from attemper.models.exact_arrays.integers import MOST_INT, ExactIntegers, product, size_of

BITS = 22

Limbs = tuple[NDArray[np.int64], ...]

MOST_TERMS = 2**9
"""Fewer products of two limbs, each at most 2^44, add up to less than 2^53: float64 has their sum exactly."""

LEAST = -(2**62)
"""Less than every limb."""


def long_product(left: ExactIntegers, right: ExactIntegers) -> Limbs:
    """The matrix product over the last two axes, exactly: one limb if that holds it.

    Raises `UnsupportedError` for numbers of thousands of bits.
    """
    terms = left.shape[-1]
    if 2 * terms * size_of(left) * size_of(right) < MOST_INT:
        return (product(left, right).astype(np.int64),)
    lefts, rights = _split(left), _split(right)
    if terms * min(len(lefts), len(rights)) >= MOST_TERMS:
        raise UnsupportedError("numbers of the network are too long to be compared; round its weights")
    shape = (*left.shape[:-1], right.shape[-1])
    found = [np.zeros(shape) for _ in range(len(lefts) + len(rights) - 1)]
    for place, one in enumerate(lefts):
        for other_place, other in enumerate(rights):
            found[place + other_place] += one @ other
    return _carried([part.astype(np.int64) for part in found])


def _split(numbers: ExactIntegers) -> list[NDArray[np.float64]]:
    """The limbs of integers, the last one from -2^22 to 2^22."""
    count = size_of(numbers).bit_length() // BITS + 1
    parts = [(numbers >> BITS * place) & (2**BITS - 1) for place in range(count - 1)]
    return [part.astype(np.float64) for part in (*parts, numbers >> BITS * (count - 1))]


def _carried(parts: Sequence[NDArray[np.int64]]) -> Limbs:
    """The limbs of sum_s p_s 2^(22 s), for any p_s of size at most 2^54."""
    found, carry = [], np.zeros_like(parts[0])
    for part in parts[:-1]:
        whole = part + carry
        found.append(whole & (2**BITS - 1))
        carry = whole >> BITS
    return (*found, parts[-1] + carry)


def greatest(numbers: Limbs, among: NDArray[np.bool_]) -> NDArray[np.bool_]:
    """Where the greatest of the chosen integers along the last axis stand, wherever they are several."""
    for part in reversed(numbers):
        most = np.where(among, part, LEAST).max(axis=-1, keepdims=True)
        among = among & (part == most)
    return among


def less_than(numbers: Limbs, places: NDArray[np.int64]) -> Limbs:
    """By how much the integers along the last axis are less than the one at its place."""
    return _carried([np.take_along_axis(part, places[..., None], -1) - part for part in numbers])


def least(numbers: Limbs, among: NDArray[np.bool_]) -> tuple[int, tuple[int, ...]]:
    """The least of the chosen integers, of which there are some, and the first place where it stands."""
    for part in reversed(numbers):
        among = among & (part == part[among].min())
    place = tuple(int(index[0]) for index in np.nonzero(among))
    return sum(int(part[place]) << BITS * number for number, part in enumerate(numbers)), place


def lower_bounds(numbers: Limbs, scale: int) -> NDArray[np.float64]:
    """At most the quotients of integers >= 0 and a positive one.

    A limb, its place value over the scale and their product are rounded, and L - 1 sums. Place values that
    float64 does not have are left out. Raises `UnsupportedError` for quotients beyond 2^900.
    """
    found = np.zeros(numbers[0].shape)
    for number, part in enumerate(numbers):
        power = 2 ** (BITS * number)
        if power * size_of(part) >= scale << 900:
            raise UnsupportedError("scores of the network differ by more than 2^900: scale its weights")
        if part.any() and scale < power << 1000:
            found += part.astype(np.float64) * (power / scale)
    return np.asarray(found * (1 - (len(numbers) + 8) * GAMMA))
