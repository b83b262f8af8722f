"""Integers as limbs, against Python's own."""

from __future__ import annotations

from fractions import Fraction
from random import Random

import numpy as np
import pytest

from attemper.errors import UnsupportedError
from attemper.models.exact_arrays import limbs
from attemper.models.exact_arrays.integers import ExactIntegers

SIZES = [(1, 3), (20, 40), (30, 31), (61, 61), (62, 5), (70, 300), (400, 2)]
SHAPE = (3, 5, 6)
"""Matrices, rows, columns; products are over TERMS."""
TERMS = 4


def drawn(random: Random, bits: int, shape: tuple[int, ...]) -> ExactIntegers:
    """Integers of up to so many bits, some of them small, equal or extreme; as small arrays as hold them."""
    most = 2**bits - 1
    chosen = [
        random.choice((random.randint(-most, most), most, -most, 0, 1, -1)) for _ in range(np.prod(shape))
    ]
    numbers = np.array(chosen, dtype=object).reshape(shape)
    return numbers.astype(np.int64) if bits < 62 else numbers


def whole(numbers: limbs.Limbs) -> ExactIntegers:
    return sum((part.astype(object) << limbs.BITS * place) for place, part in enumerate(numbers))  # type: ignore[return-value]


@pytest.mark.parametrize("sizes", SIZES)
def test_limbs_are_the_integers_that_they_stand_for(sizes: tuple[int, int]) -> None:
    random = Random(str(sizes))
    for _ in range(20):
        left = drawn(random, sizes[0], (SHAPE[0], SHAPE[1], TERMS))
        right = drawn(random, sizes[1], (SHAPE[0], TERMS, SHAPE[2]))
        exact = left.astype(object) @ right.astype(object)
        found = limbs.long_product(left, right)
        assert (whole(found) == exact).all()
        assert all((part >= 0).all() and (part < 2**22).all() for part in found[:-1])
        among = np.array([random.random() < 0.7 for _ in range(exact.size)]).reshape(SHAPE)
        among[:, :, 0] |= ~among.any(axis=2)
        best = limbs.greatest(found, among)
        most = np.where(among, exact, -(2**2000)).max(axis=2, keepdims=True)
        assert (best == (among & (exact == most))).all()
        winner = best.argmax(axis=2)
        below = limbs.less_than(found, winner)
        assert (whole(below) == most - exact).all()
        positive = among & ~best
        if positive.any():
            size, place = limbs.least(below, positive)
            assert size == min((most - exact)[positive])
            assert positive[place]
            assert (most - exact)[place] == size


@pytest.mark.parametrize("sizes", SIZES)
@pytest.mark.parametrize("scale", [1, 3**40, 7**300, 2**1050 + 1])
def test_lower_bounds_are_not_above_and_near(sizes: tuple[int, int], scale: int) -> None:
    random = Random(str(sizes))
    numbers = limbs.long_product(abs(drawn(random, sizes[0], (9, 1))), abs(drawn(random, sizes[1], (1, 9))))
    for exact, found in zip(
        whole(numbers).reshape(-1), limbs.lower_bounds(numbers, scale).reshape(-1), strict=True
    ):
        value = Fraction(exact, scale)
        assert Fraction(found) <= value
        assert Fraction(found) >= value * (1 - Fraction(1, 2**48)) - Fraction(1, 2**900)


def test_what_is_too_long_is_refused() -> None:
    long = np.array([[2**3000] * 4], dtype=object)
    with pytest.raises(UnsupportedError, match="too long"):
        limbs.long_product(long, long.T)
    with pytest.raises(UnsupportedError, match="more than 2\\^900"):
        limbs.lower_bounds(limbs.long_product(np.array([[2**950]], dtype=object), np.array([[1]])), 2)
