"""Numerical predicates of a sum of counts, in a normal form."""

from __future__ import annotations

from collections.abc import Sequence
from functools import reduce

from attemper.checker.diagrams import Diagram
from attemper.checker.names import UnprovenError
from attemper.checker.sums import Sums
from attemper.exact.predicates import Predicate, Remainder, periodic
from attemper.networks.layers import Masking

Counted = tuple[int, Masking, Diagram]
"""A factor, what is visible, and the bit that is counted there."""

MAX_CASES = 10_000
"""The remainders that several counts can leave together: where there are more, nothing is shown."""


def test_of_sum(sums: Sums, predicate: Predicate, parts: Sequence[Counted], constant: int) -> Diagram:
    """[the predicate holds of the sum of the parts and the constant].

    Raises `UnprovenError` where several counts are left that no remainder is asked of.
    """
    counts = _merged(sums, parts)
    if len(counts) == 1:
        factor, masking, bit = counts[0]
        return sums.counted_test(masking, bit, predicate, factor, constant)
    if all(bit == sums.names.true for _, _, bit in counts):
        places = [[factor * own for own in masking.number_visible_form] for factor, masking, _ in counts]
        a, b, c = map(sum, zip((0, 0, constant), *places, strict=True))
        return sums.names.place(predicate, a, b, c)
    asked = periodic(predicate)
    if not isinstance(asked, Remainder) or asked.modulus ** len(counts) > MAX_CASES:
        raise UnprovenError("no rule covers a numerical predicate of several counts at once")
    return _remainder(sums, asked.modulus, asked.remainder - constant, counts)


def _merged(sums: Sums, counts: Sequence[Counted]) -> list[Counted]:
    """The same sum without empty counts, each of the others once."""
    factors: dict[tuple[Masking, Diagram], int] = {}
    for factor, masking, bit in counts:
        factors[masking, bit] = factors.get((masking, bit), 0) + factor
    return [(factor, *key) for key, factor in factors.items() if factor and key[1] != sums.names.false]


def _remainder(sums: Sums, modulus: int, target: int, counts: Sequence[Counted]) -> Diagram:
    """[the sum leaves the same remainder as `target`], by cases: what the first part leaves."""
    (factor, masking, bit), *others = counts
    leaves = [sums.counted_test(masking, bit, Remainder(modulus, r), factor, 0) for r in range(modulus)]
    if not others:
        return leaves[target % modulus]
    rest = (_remainder(sums, modulus, target - r, others) for r in range(modulus))
    return reduce(sums.names.either, map(sums.names.both, leaves, rest), sums.names.false)
