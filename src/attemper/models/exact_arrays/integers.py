"""Arrays of fractions, exactly: integers over one denominator for each entry of the last axis.

Integers are kept in 64 bits where a bound on every sum and product shows that these hold them, else as
Python's own, in arrays of objects. Products of matrices are taken in float64 where that bound is below 2^53:
then every integer that occurs, in whatever order, is exact there.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from math import gcd, lcm
from typing import Any, final

import numpy as np
from numpy.typing import NDArray

from attemper.errors import UnsupportedError
from attemper.networks.layers import LinearForm

ExactIntegers = NDArray[Any]
"""An array of int64, or of Python's integers."""

MOST_FLOAT, MOST_INT = 2**53, 2**62
"""Integers of smaller size are exact in float64, and in int64 with room for one addition."""

MOST_SCALE = 2**900
"""Denominators below it are float64 numbers, up to rounding; so is an integer of 64 bits over one."""


@final
@dataclass(frozen=True, eq=False)
class ExactArray:
    """The fractions `numbers[..., c] / scales[c]`, of the shape (..., C); scales are positive."""

    numbers: ExactIntegers
    scales: tuple[int, ...]


def exactly(values: Sequence[Sequence[Fraction]], width: int) -> ExactArray:
    """The matrix with these rows, of `width` entries each."""
    scales = tuple(lcm(1, *(row[c].denominator for row in values)) for c in range(width))
    numbers = np.zeros((len(values), width), dtype=object)
    for place, row in enumerate(values):
        numbers[place] = [int(value * scale) for value, scale in zip(row, scales, strict=True)]
    return ExactArray(narrow(numbers), scales)


def product(left: ExactIntegers, right: ExactIntegers) -> ExactIntegers:
    """The matrix product over the last two axes, exactly."""
    lefts, rights = _sizes(left, -1), _sizes(right, -2)
    sums = sum(a * b for a, b in zip(lefts, rights, strict=True))
    most = max([sums, *lefts, *rights])
    kind = np.float64 if most < MOST_FLOAT else np.int64 if most < MOST_INT else object
    found = left.astype(kind) @ right.astype(kind)
    return np.asarray(found.astype(np.int64) if kind is np.float64 else found)


def times(numbers: ExactIntegers, factors: Sequence[int]) -> ExactIntegers:
    """Each entry of the last axis times its factor, exactly."""
    if all(factor == 1 for factor in factors):
        return numbers
    sizes = zip(_sizes(numbers, -1), factors, strict=True)
    fits = max(max(size * abs(factor), abs(factor)) for size, factor in sizes) < MOST_INT
    kind = np.int64 if fits else object
    return np.asarray(numbers.astype(kind) * np.array(factors, dtype=kind))


def plus(left: ExactIntegers, right: ExactIntegers) -> ExactIntegers:
    """The sum, exactly."""
    if size_of(left) + size_of(right) < MOST_INT:
        return np.asarray(left.astype(np.int64) + right.astype(np.int64))
    return np.asarray(left.astype(object) + right)


def size_of(numbers: ExactIntegers) -> int:
    """The greatest absolute value; 0 where there are none."""
    return int(np.abs(numbers).max(initial=0))


def _sizes(numbers: ExactIntegers, axis: int) -> list[int]:
    """The greatest absolute values along all axes but one."""
    others = tuple(place for place in range(numbers.ndim) if place != axis % numbers.ndim)
    return [int(value) for value in np.abs(numbers).max(axis=others, initial=0)]


def narrow(numbers: ExactIntegers) -> ExactIntegers:
    """The same integers, in 64 bits where they fit."""
    fits = numbers.dtype == object and size_of(numbers) < MOST_INT
    return numbers.astype(np.int64) if fits else numbers


def mapped(
    rows: ExactArray, forms: Sequence[LinearForm], biases: Sequence[Fraction] = (), *, alike: bool = False
) -> ExactArray:
    """The values of linear forms, plus `biases` if there are any; all over one denominator if `alike`."""
    added = tuple(biases) or (Fraction(0),) * len(forms)
    pairs = list(zip(forms, added, strict=True))
    scales = [lcm(b.denominator, *((f / rows.scales[c]).denominator for c, f in form)) for form, b in pairs]
    if alike:
        scales = [lcm(1, *scales)] * len(scales)
    columns = np.zeros((len(rows.scales), len(scales)), dtype=object)
    for place, (form, scale) in enumerate(zip(forms, scales, strict=True)):
        for coordinate, factor in form:
            columns[coordinate, place] = int(factor * scale / rows.scales[coordinate])
    found = product(rows.numbers, narrow(columns))
    shift = np.array([int(bias * scale) for bias, scale in zip(added, scales, strict=True)], dtype=object)
    return ExactArray(plus(found, narrow(shift)) if biases else found, tuple(scales))


def written(rows: ExactArray, parts: Sequence[tuple[ExactArray, Sequence[int]]]) -> ExactArray:
    """The rows with parts added: entry m of a part to the coordinate that is m-th in its list."""
    scales = list(rows.scales)
    for part, targets in parts:
        for scale, target in zip(part.scales, targets, strict=True):
            scales[target] = lcm(scales[target], scale)
    found = times(rows.numbers, [new // old for new, old in zip(scales, rows.scales, strict=True)])
    for part, targets in parts:
        factors = [scales[target] // scale for scale, target in zip(part.scales, targets, strict=True)]
        places = np.zeros((len(targets), len(scales)), dtype=np.int64)
        places[np.arange(len(targets)), list(targets)] = 1
        found = plus(found, product(times(part.numbers, factors), places))
    return ExactArray(found, tuple(scales))


def reduced(rows: ExactArray) -> ExactArray:
    """The same fractions, each entry's denominator divided by what divides all its numerators as well."""
    flat = rows.numbers.reshape(-1, len(rows.scales))
    divisors, scales = [], []
    for scale, divisor in zip(rows.scales, np.gcd.reduce(flat, axis=0).tolist(), strict=True):
        common = gcd(scale, divisor) if divisor else 1
        divisors.append(common)
        scales.append(scale // common if divisor else 1)
    return ExactArray(narrow(rows.numbers // np.array(divisors, dtype=rows.numbers.dtype)), tuple(scales))


def nearest(rows: ExactArray) -> NDArray[np.float64]:
    """The fractions in float64: 0 where they are 0, else off by at most 3 units of round-off of themselves.

    Raises `UnsupportedError` for numbers so large or so small that float64 has none near them.
    """
    if rows.numbers.dtype != object and max(rows.scales, default=1) < MOST_SCALE:
        return np.asarray(rows.numbers.astype(np.float64) / np.array(rows.scales, dtype=np.float64))
    found = np.zeros(rows.numbers.shape)
    for place, scale in enumerate(rows.scales):
        column = rows.numbers[..., place]
        flat = [_quotient(int(number), scale) for number in column.reshape(-1)]
        found[..., place] = np.array(flat, dtype=np.float64).reshape(column.shape)
    return found


def _quotient(number: int, scale: int) -> float:
    """The quotient, rounded once: Python divides integers of any size correctly."""
    try:
        found = number / scale
    except OverflowError:
        found = float("inf")
    if number and not 2.0**-900 < abs(found) < 2.0**900:
        raise UnsupportedError(
            "a number of the network is not 0 and beyond 2^-900 .. 2^900, where float64 cannot follow it; "
            "scale the weights"
        )
    return found
