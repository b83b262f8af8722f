"""Boolean functions of a few bits as truth tables, and as disjoint cubes.

A truth table is one integer: its bit number a is the function at the assignment a, in which leaf k
is true iff bit k of a is set. Gates are then single operations on integers.
"""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

from attemper.attention_program.ops import Connective, Gate, Not, Ref, Step, Table

Literal = tuple[Ref, bool]
"""A bit, and whether it is taken as it is (True) or negated."""

Cube = tuple[Literal, ...]
"""A conjunction of literals of distinct bits."""


def disjoint_cubes(
    steps: tuple[Step, ...],
    root: Literal,
    leaves: tuple[Ref, ...],
    fixed: Mapping[Ref, bool] = MappingProxyType({}),
) -> list[Cube]:
    """Disjoint cubes over the leaves whose union is where the literal `root` holds, given the fixed bits."""
    return _cubes(_truth_table(steps, root, leaves, fixed), len(leaves), leaves)


def reached_leaves(steps: tuple[Step, ...], root: Ref, leaves: frozenset[Ref]) -> frozenset[Ref]:
    """The leaves that a bit depends on, as its gates are written."""
    seen: set[Ref] = set()
    stack = [root]
    while stack:
        bit = stack.pop()
        if bit in seen:
            continue
        seen.add(bit)
        if bit not in leaves:
            stack.extend(_gate_inputs(steps[bit]))
    return frozenset(seen & leaves)


def _gate_inputs(step: Step) -> tuple[Ref, ...]:
    match step:
        case Not(bit):
            return (bit,)
        case Gate(_, bits) | Table(bits, _):
            return bits
        case _:
            raise AssertionError("only gates stand above the leaves")


def _truth_table(
    steps: tuple[Step, ...], root: Literal, leaves: tuple[Ref, ...], fixed: Mapping[Ref, bool]
) -> int:
    everything = (1 << (1 << len(leaves))) - 1
    tables: dict[Ref, int] = {bit: everything if value else 0 for bit, value in fixed.items()}
    for k, leaf in enumerate(leaves):
        # 2^k zeros, 2^k ones, and so on: a block of ones times the places where blocks start.
        half = 1 << k
        tables[leaf] = (((1 << half) - 1) << half) * (everything // ((1 << (2 * half)) - 1))
    pending = [root[0]]
    while pending:
        bit = pending[-1]
        if bit in tables:
            pending.pop()
            continue
        missing = [ref for ref in _gate_inputs(steps[bit]) if ref not in tables]
        pending.extend(missing)
        if not missing:
            tables[bit] = _gate_table(steps[bit], tables, everything)
    return tables[root[0]] if root[1] else everything ^ tables[root[0]]


def _gate_table(step: Step, tables: dict[Ref, int], everything: int) -> int:
    match step:
        case Not(bit):
            return everything ^ tables[bit]
        case Gate(Connective.AND, bits):
            result = everything
            for bit in bits:
                result &= tables[bit]
            return result
        case Gate(connective, bits):  # a union, too, is a disjunction
            result = 0
            for bit in bits:
                result = result ^ tables[bit] if connective is Connective.XOR else result | tables[bit]
            return result
        case Table(bits, rows):
            result = 0
            for row in rows:
                cube = everything
                for bit, value in zip(bits, row, strict=True):
                    cube &= tables[bit] if value else everything ^ tables[bit]
                result |= cube
            return result
        case _:
            raise AssertionError("only gates stand above the leaves")


def _cubes(table: int, width: int, leaves: tuple[Ref, ...]) -> list[Cube]:
    """Shannon expansion on the last of the first `width` leaves."""
    if table == 0:
        return []
    if width == 0:
        return [()]
    half = 1 << (width - 1)
    low, high = table & ((1 << half) - 1), table >> half
    if low == high:
        return _cubes(low, width - 1, leaves)
    leaf = leaves[width - 1]
    without = [(*cube, (leaf, False)) for cube in _cubes(low, width - 1, leaves)]
    with_it = [(*cube, (leaf, True)) for cube in _cubes(high, width - 1, leaves)]
    return without + with_it
