"""What a network must compute for a program's output: bits, heads, averages. Nothing else is built."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import final

from attemper.attention_program.ops import Numbers, Ref
from attemper.compiling.assembling.blocks import GateBlock
from attemper.compiling.assembling.schedule import Schedule
from attemper.compiling.building.bits import is_embedded, read, strip_negations
from attemper.compiling.building.counts import Average, Integer, Need, Share, shares_of
from attemper.compiling.constructions.table import needs
from attemper.compiling.cubes import Literal


@final
@dataclass
class Demand:
    """Filled by `collect`; every set is what some later step reads.

    `blocks` has, for each bit, the block that computes it and the layer whose feed-forward does.
    """

    bits: set[Literal] = field(default_factory=set)
    heads: set[Ref] = field(default_factory=set)
    averages: set[Average] = field(default_factory=set)
    integers: set[Integer] = field(default_factory=set)
    shares: set[Integer] = field(default_factory=set)
    blocks: dict[Literal, tuple[GateBlock, int]] = field(default_factory=dict)


def collect(schedule: Schedule) -> Demand:
    """Everything that the output needs, from the last step to the first.

    Raises `UnsupportedError` for a step that no construction covers.
    """
    program, demand = schedule.program, Demand()
    for output in program.outputs if program.numbers is None else ():
        base, positive = strip_negations(program, output)
        if not is_embedded(program, base):
            demand.bits.add((base, positive))
    if program.numbers is not None:
        _demand_numbers(schedule, demand, program.numbers)
    for ref in range(len(program.steps) - 1, -1, -1):
        for positive in (True, False):
            if (ref, positive) in demand.bits:
                _demand_leaves(schedule, demand, ref, positive)
        if ref in demand.heads:
            _demand(schedule, demand, needs(program, ref, is_literal=schedule.is_literal))
    return demand


def _demand_numbers(schedule: Schedule, demand: Demand, numbers: Numbers) -> None:
    """What the feed-forwards that write the numbers read."""
    program = schedule.program
    for row in numbers.rows:
        layer = schedule.number_layer(row)
        for part in row:
            if part.count is not None:
                shares = shares_of(program, part.count, numbers.mask)
                _demand(schedule, demand, (average for _, average in shares))
            if part.bit is not None:
                base, positive = strip_negations(program, part.bit)
                if schedule.ready[base] == layer:
                    _demand_leaves(schedule, demand, base, positive)
                else:
                    _demand(schedule, demand, read(program, part.bit))


def _demand_leaves(schedule: Schedule, demand: Demand, ref: Ref, positive: bool) -> None:
    block, layer = demand.blocks[ref, positive] = schedule.block(ref, positive)
    for leaf in {leaf for clamp in block.clamps for leaf, _ in (*clamp.literals, *clamp.gates)}:
        if schedule.is_fresh(leaf, layer):
            demand.heads.add(leaf)
        else:
            _demand(schedule, demand, read(schedule.program, leaf))


def _demand(schedule: Schedule, demand: Demand, found: Iterable[Need]) -> None:
    for need in found:
        match need:
            case Average():
                demand.averages.add(need)
                for _, bit in need.parts:
                    demand.bits.update(read(schedule.program, bit))
            case Integer():
                demand.integers.add(need)
                _demand(schedule, demand, (need.average, need.unit))
            case Share(integer):
                demand.shares.add(integer)
                _demand(schedule, demand, (integer,))
            case _:
                demand.bits.add(need)
