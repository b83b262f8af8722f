"""Counts as heads can have them: averages over the visible positions, and comparisons as sums of those."""

from __future__ import annotations

from dataclasses import dataclass
from typing import assert_never, final

from attemper.attention_program import ops
from attemper.compiling.building.bits import merged
from attemper.compiling.cubes import Literal
from attemper.errors import UnsupportedError
from attemper.exact.closed_forms import ONE, I, N, plus, times
from attemper.exact.predicates import holds

NUMBERS = {ops.Mask.UP_TO: I, ops.Mask.FROM: plus(N, 1, times(-1, I)), ops.Mask.ALL: N}
"""How many positions there are on a side."""


@final
@dataclass(frozen=True)
class Mixture:
    """A comparison as sums over left, right and total counts: (factor, counted bit)."""

    left: tuple[tuple[int, ops.Ref], ...]
    right: tuple[tuple[int, ops.Ref], ...]
    total: tuple[tuple[int, ops.Ref], ...]
    threshold: int

    @property
    def one_sided(self) -> ops.Mask | None:
        """The mask of all its counts, if they have the same."""
        sides = {ops.Mask.UP_TO: self.left, ops.Mask.FROM: self.right, ops.Mask.ALL: self.total}
        used = [mask for mask, parts in sides.items() if parts]
        return used[0] if len(used) == 1 else None


@final
@dataclass(frozen=True, order=True)
class Average:
    """The average over the visible positions of: sum of factor * bit over `parts`, plus mark * [the edge].

    As one value of one head its numerator is an integer, summed exactly before it is divided.
    """

    mask: ops.Mask
    parts: tuple[tuple[int, ops.Ref], ...]
    mark: int


@final
@dataclass(frozen=True, order=True)
class Integer:
    """An integer from 1 to n, read where the average says: as a query, or as a key with its square."""

    average: Average
    is_key: bool

    @property
    def unit(self) -> Average:
        """1 / (number visible)."""
        return Average(self.average.mask, (), 1)


@final
@dataclass(frozen=True, order=True)
class Share:
    """An integer divided by n, as integers are compared."""

    integer: Integer


Need = Literal | Average | Integer | Share
"""What a step reads: a bit that a feed-forward has written, an average or an integer that a head has made."""


def is_position(program: ops.Program, integer: Integer) -> bool:
    """Whether it is the number of all positions on a side, which no head needs to look up.

    For a key only that of the positions up to j, which is j itself.
    """
    average, true = integer.average, ops.Place(ONE)
    counts_all = all(program.steps[bit] == true for _, bit in average.parts)
    is_one = counts_all and average.mark == 0 and sum(factor for factor, _ in average.parts) == 1
    return is_one and (average.mask is ops.Mask.UP_TO or not integer.is_key)


def integer_of(program: ops.Program, count: ops.Ref, is_key: bool) -> Integer:
    """A count as an integer; raises `UnsupportedError` for one over several sides."""
    mixture = _mixture(program, count, 0)
    parts = (*mixture.left, *mixture.right, *mixture.total)
    mask = mixture.one_sided if parts else ops.Mask.UP_TO
    if mask is None:
        raise UnsupportedError(
            f"the integer s{count} counts on more than one side; give all its counts one mask"
        )
    return Integer(Average(mask, tuple(sorted(parts)), -mixture.threshold), is_key)


def integers_of(program: ops.Program, step: ops.Nearest | ops.Matched) -> tuple[Integer, Integer]:
    """The query and the key."""
    query = integer_of(program, step.query, is_key=False)
    return query, integer_of(program, step.key, is_key=True)


def comparisons_of(
    program: ops.Program, step: ops.Compare | ops.Equals | ops.CountTest
) -> tuple[Mixture, ...]:
    """The comparisons `sum >= threshold` from which the step's bit is made.

    An equality is the difference of two. A test of a count needs [count >= 1] where the head that
    looks for position 0, and falls on position 1, would read another answer there.
    """
    match step:
        case ops.Compare(count, threshold):
            return (_mixture(program, count, threshold),)
        case ops.Equals(count, value):
            return (_mixture(program, count, value), _mixture(program, count, value + 1))
        case ops.CountTest(predicate, count, scale, shift):
            same = holds(predicate, shift) == holds(predicate, scale + shift)
            return () if same else (_mixture(program, count, 1),)
        case _:
            assert_never(step)


def shares_of(program: ops.Program, count: ops.Ref, mask: ops.Mask) -> tuple[tuple[int, Average], ...]:
    """A count over the number of positions that a mask shows, as averages: each of one bit, or the mark.

    Raises `UnsupportedError` for one over other positions.
    """
    mixture = _mixture(program, count, 0)
    sides = {ops.Mask.UP_TO: mixture.left, ops.Mask.FROM: mixture.right, ops.Mask.ALL: mixture.total}
    if any(parts for side, parts in sides.items() if side is not mask):
        raise UnsupportedError(
            f"a number is a share of the positions that '{mask}' shows, but counts others; give all its "
            "counts one mask"
        )
    shares = [(factor, Average(mask, ((1, bit),), 0)) for factor, bit in sides[mask]]
    if mixture.threshold:
        shares.append((-mixture.threshold, Average(mask, (), 1)))
    return tuple(shares)


def _mixture(program: ops.Program, count: ops.Ref, threshold: int) -> Mixture:
    linear = program.steps[count]
    parts = linear.parts if isinstance(linear, ops.Linear) else ((1, count),)
    constant = linear.constant if isinstance(linear, ops.Linear) else 0
    sides: dict[ops.Mask, list[tuple[int, ops.Ref]]] = {
        ops.Mask.UP_TO: [],
        ops.Mask.FROM: [],
        ops.Mask.ALL: [],
    }
    for factor, ref in parts:
        counted = program.steps[ref]
        assert isinstance(counted, ops.Count), "the simplifier multiplies combinations out"
        sides[counted.mask] += [(factor, bit) for bit in merged(program, counted.bit)]
    left, right, total = (tuple(sides[mask]) for mask in (ops.Mask.UP_TO, ops.Mask.FROM, ops.Mask.ALL))
    return Mixture(left, right, total, threshold - constant)


def difference_of(mixture: Mixture) -> Average | None:
    """(2 (sum - threshold) + 1) / (number visible), if all counts have one mask: odd, so never 0."""
    if mixture.one_sided is None:
        return None
    parts = (*mixture.left, *mixture.right, *mixture.total)
    return _average(mixture.one_sided, parts, 1 - 2 * mixture.threshold)


def sides_of(mixture: Mixture) -> tuple[Average, Average]:
    """Twice the left and the right sum, each per visible position; a total is left + right - the bit."""
    left = _average(ops.Mask.UP_TO, (*mixture.left, *mixture.total), 0)
    return left, _average(ops.Mask.FROM, (*mixture.right, *mixture.total), 0)


def _average(mask: ops.Mask, parts: tuple[tuple[int, ops.Ref], ...], mark: int) -> Average:
    doubled = tuple(sorted((2 * factor, bit) for factor, bit in parts))
    return Average(mask, doubled, mark)
