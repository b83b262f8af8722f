"""What a network must compute for a program's output: bits, heads, averages. Nothing else is built."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import assert_never, final

from attemper.attention_program.ops import (
    Attend,
    Compare,
    Count,
    CountTest,
    Equals,
    Letter,
    Linear,
    Mask,
    Merge,
    Place,
    Program,
    Ref,
    Shift,
)
from attemper.compiling.assembling.blocks import Block
from attemper.compiling.assembling.schedule import Schedule, letter_and_place, strip_negations
from attemper.compiling.cubes import Literal
from attemper.errors import UnsupportedError
from attemper.exact.predicates import holds


@final
@dataclass(frozen=True)
class Mixture:
    """A comparison as sums over left, right and total counts: (factor, counted bit)."""

    left: tuple[tuple[int, Ref], ...]
    right: tuple[tuple[int, Ref], ...]
    total: tuple[tuple[int, Ref], ...]
    threshold: int

    @property
    def one_sided(self) -> Mask | None:
        """The mask of all its counts, if they have the same."""
        sides = {Mask.UP_TO: self.left, Mask.FROM: self.right, Mask.ALL: self.total}
        used = [mask for mask, parts in sides.items() if parts]
        return used[0] if len(used) == 1 else None


@final
@dataclass(frozen=True, order=True)
class Average:
    """The average over the visible positions of: sum of factor * bit over `parts`, plus mark * [the edge].

    As one value of one head its numerator is an integer, summed exactly before it is divided.
    """

    mask: Mask
    parts: tuple[tuple[int, Ref], ...]
    mark: int


@final
@dataclass
class Demand:
    """Filled by `collect`; every set is what some later step reads.

    `blocks` has, for each bit, the block that computes it and the layer whose feed-forward does.
    """

    bits: set[Literal] = field(default_factory=set)
    heads: set[Ref] = field(default_factory=set)
    averages: set[Average] = field(default_factory=set)
    blocks: dict[Literal, tuple[Block, int]] = field(default_factory=dict)


def merged(program: Program, bit: Ref) -> tuple[Ref, ...]:
    """The bits whose sum a bit is: those of a merge, or the bit itself."""
    step = program.steps[bit]
    if not isinstance(step, Merge):
        return (bit,)
    return tuple(inner for part in step.bits for inner in merged(program, part))


def is_embedded(program: Program, bit: Ref) -> bool:
    """Whether the bit stands in the embedding already."""
    return isinstance(program.steps[bit], Letter | Place)


def comparisons_of(program: Program, step: Compare | Equals | CountTest) -> tuple[Mixture, ...]:
    """The comparisons `sum >= threshold` from which the step's bit is made.

    An equality is the difference of two. A test of a count needs [count >= 1] where the head that
    looks for position 0, and falls on position 1, would read another answer there.
    """
    match step:
        case Compare(count, threshold):
            return (_mixture(program, count, threshold),)
        case Equals(count, value):
            return (_mixture(program, count, value), _mixture(program, count, value + 1))
        case CountTest(predicate, count, scale, shift):
            same = holds(predicate, shift) == holds(predicate, scale + shift)
            return () if same else (_mixture(program, count, 1),)
        case _:
            assert_never(step)


def _mixture(program: Program, count: Ref, threshold: int) -> Mixture:
    linear = program.steps[count]
    parts = linear.parts if isinstance(linear, Linear) else ((1, count),)
    constant = linear.constant if isinstance(linear, Linear) else 0
    sides: dict[Mask, list[tuple[int, Ref]]] = {Mask.UP_TO: [], Mask.FROM: [], Mask.ALL: []}
    for factor, ref in parts:
        counted = program.steps[ref]
        assert isinstance(counted, Count), "the simplifier multiplies combinations out"
        sides[counted.mask] += [(factor, bit) for bit in merged(program, counted.bit)]
    left, right, total = (tuple(sides[mask]) for mask in (Mask.UP_TO, Mask.FROM, Mask.ALL))
    return Mixture(left, right, total, threshold - constant)


def collect(schedule: Schedule) -> Demand:
    """Everything that the output needs, from the last step to the first."""
    program, demand = schedule.program, Demand()
    base, positive = strip_negations(program, program.output)
    if not is_embedded(program, base):
        demand.bits.add((base, positive))
    for ref in range(len(program.steps) - 1, -1, -1):
        for positive in (True, False):
            if (ref, positive) in demand.bits:
                _demand_leaves(schedule, demand, ref, positive)
        if ref in demand.heads:
            _demand_inputs(program, demand, ref)
    return demand


def _demand_bit(program: Program, demand: Demand, bit: Ref) -> None:
    base, _ = strip_negations(program, bit)
    for part in merged(program, base):
        own, _ = strip_negations(program, part)
        if not is_embedded(program, own):
            demand.bits.add((own, True))


def _demand_leaves(schedule: Schedule, demand: Demand, ref: Ref, positive: bool) -> None:
    block, layer = demand.blocks[ref, positive] = schedule.block(ref, positive)
    for leaf in {leaf for clamp in block.clamps for leaf, _ in (*clamp.literals, *clamp.gates)}:
        if schedule.is_fresh(leaf, layer):
            demand.heads.add(leaf)
        else:
            _demand_bit(schedule.program, demand, leaf)


def _demand_inputs(program: Program, demand: Demand, ref: Ref) -> None:
    step = program.steps[ref]
    match step:
        case Attend(_, _, where, value, _, match):
            if match is not None:
                raise UnsupportedError(
                    "attention to equal counts (attend ... match) is not compiled yet; "
                    "write it with comparisons or predicates of counts"
                )
            base, positive = strip_negations(program, where)
            if isinstance(program.steps[base], Merge):
                _demand_bit(program, demand, base)
            elif letter_and_place(program, where) is None and not is_embedded(program, base):
                # The head's key is "blocked", the negation, as a coordinate that is exactly 0
                # where the head may look: in floats 1 - g would carry the rounding of g.
                demand.bits.add((base, not positive))
            _demand_bit(program, demand, value)
        case Shift(_, bit):
            _demand_bit(program, demand, bit)
        case Compare() | Equals():
            for mixture in comparisons_of(program, step):
                _demand_comparison(program, demand, mixture)
        case CountTest(_, ref_of_count, _, _):
            count = program.steps[ref_of_count]
            if not isinstance(count, Count):
                raise UnsupportedError("a numerical predicate of several counts at once is not compiled")
            for average in lookup_averages(program, count):
                _demand_average(program, demand, average)
            for mixture in comparisons_of(program, step):
                _demand_comparison(program, demand, mixture)
        case _:
            raise AssertionError(f"step s{ref} has no head")


def _demand_comparison(program: Program, demand: Demand, mixture: Mixture) -> None:
    difference = difference_of(mixture)
    for average in (difference,) if difference is not None else sides_of(mixture):
        _demand_average(program, demand, average)
    for _, bit in mixture.total:
        _demand_bit(program, demand, bit)


def _demand_average(program: Program, demand: Demand, average: Average) -> None:
    demand.averages.add(average)
    for _, bit in average.parts:
        _demand_bit(program, demand, bit)


def difference_of(mixture: Mixture) -> Average | None:
    """(2 (sum - threshold) + 1) / (number visible), if all counts have one mask: odd, so never 0."""
    if mixture.one_sided is None:
        return None
    parts = (*mixture.left, *mixture.right, *mixture.total)
    return _average(mixture.one_sided, parts, 1 - 2 * mixture.threshold)


def sides_of(mixture: Mixture) -> tuple[Average, Average]:
    """Twice the left and the right sum, each per visible position; a total is left + right - the bit."""
    left = _average(Mask.UP_TO, (*mixture.left, *mixture.total), 0)
    return left, _average(Mask.FROM, (*mixture.right, *mixture.total), 0)


def lookup_averages(program: Program, count: Count) -> tuple[Average, Average]:
    """The count, and 1, each per visible position."""
    parts = tuple(sorted((1, bit) for bit in merged(program, count.bit)))
    return Average(count.mask, parts, 0), Average(count.mask, (), 1)


def _average(mask: Mask, parts: tuple[tuple[int, Ref], ...], mark: int) -> Average:
    doubled = tuple(sorted((2 * factor, bit) for factor, bit in parts))
    return Average(mask, doubled, mark)
