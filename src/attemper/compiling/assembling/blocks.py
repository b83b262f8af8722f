"""Boolean blocks: any function of bits as a sum of clamps, one hidden layer wide.

A clamp is 1 if at least m of its k literals are true, else 0; on literals that are off by delta in
total at most 1/4 it is still exactly 0 or 1 (in real numbers):

    2 ReLU(S - (m - 3/4)) - 2 ReLU(S - (m - 1/4)),   S = sum of the literals

A conjunction is one clamp (m = k), a disjunction one (m = 1), a parity k of them with alternating
sign; any other function is the sum of the conjunctions of its disjoint cubes (theory.md, Lemma 9
and its folding).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import final

from attemper.attention_program.ops import Connective, Gate, Not, Ref, Step, Table

MAX_IRREGULAR_LITERALS = 12
"""Wider blocks that are neither conjunction, disjunction nor parity take a layer of their own."""

Literal = tuple[Ref, bool]
"""A bit, and whether it is taken as it is (True) or negated."""


@final
@dataclass(frozen=True)
class ClampTerm:
    """sign * [at least `at_least` of the literals are true]."""

    literals: tuple[Literal, ...]
    at_least: int
    sign: int


@final
@dataclass(frozen=True)
class Block:
    """A Boolean function: constant + the sum of its clamps. Exactly 0 on false if constant is 0
    and no clamp is negative, also in floats.
    """

    constant: int
    clamps: tuple[ClampTerm, ...]


@final
@dataclass(frozen=True)
class Expression:
    """The gates above a set of leaves: what a block computes."""

    steps: tuple[Step, ...]
    leaves: frozenset[Ref]
    root: Literal


def block_of(expression: Expression) -> Block | None:
    """The block of an expression, or None if it is irregular and too wide for one hidden layer."""
    root, positive = expression.root
    conjunction = _conjunction(expression, expression.root)
    if conjunction is not None:
        literals = _consistent(conjunction)
        return Block(0, (ClampTerm(literals, len(literals), 1),) if literals else ())
    disjunction = _conjunction(expression, (root, not positive))
    if disjunction is not None:
        literals = tuple((leaf, not sign) for leaf, sign in _consistent(disjunction))
        return Block(0, (ClampTerm(literals, 1, 1),)) if literals else Block(1, ())
    leaves = tuple(sorted(_leaves(expression)))
    if len(leaves) > 3:
        parity = _parity(expression)
        if parity is not None:
            return parity
    if len(leaves) > MAX_IRREGULAR_LITERALS:
        return None
    cubes = _cubes(_truth_table(expression, leaves), len(leaves), leaves)
    return Block(0, tuple(ClampTerm(cube, len(cube), 1) for cube in cubes))


def _conjunction(expression: Expression, literal: Literal) -> list[Literal] | None:
    """The literals whose conjunction the expression is, or None if it is no conjunction."""
    found: list[Literal] = []
    stack = [literal]
    while stack:
        bit, positive = stack.pop()
        if bit in expression.leaves:
            found.append((bit, positive))
            continue
        match expression.steps[bit], positive:
            case Not(inner), _:
                stack.append((inner, not positive))
            case (Gate(Connective.AND, bits), True) | (Gate(Connective.OR, bits), False):
                stack.extend((b, positive) for b in reversed(bits))
            case _:
                return None
    return found


def _consistent(literals: list[Literal]) -> tuple[Literal, ...]:
    """The distinct literals; none if one contradicts another (the conjunction is false)."""
    distinct = dict.fromkeys(literals)
    if any((leaf, not sign) in distinct for leaf, sign in distinct):
        return ()
    return tuple(distinct)


def _parity(expression: Expression) -> Block | None:
    """The clamps of a parity of literals: atleast_1 - atleast_2 + atleast_3 ..."""
    root, positive = expression.root
    while isinstance(step := expression.steps[root], Not) and root not in expression.leaves:
        root, positive = step.bit, not positive
    if not (isinstance(step, Gate) and step.connective is Connective.XOR):
        return None
    leaves: list[Ref] = []
    for bit in step.bits:
        found = _conjunction(expression, (bit, True))
        if found is None or len(found) != 1:
            return None
        leaf, sign = found[0]
        leaves.append(leaf)
        positive ^= not sign
    if len(set(leaves)) != len(leaves):
        return None
    literals = tuple((leaf, True) for leaf in leaves)
    if not positive:
        literals = ((leaves[0], False), *literals[1:])
    terms = tuple(ClampTerm(literals, m, 1 if m % 2 else -1) for m in range(1, len(literals) + 1))
    return Block(0, terms)


def _leaves(expression: Expression) -> frozenset[Ref]:
    """The leaves that the root reaches."""
    seen: set[Ref] = set()
    stack = [expression.root[0]]
    while stack:
        bit = stack.pop()
        if bit in seen:
            continue
        seen.add(bit)
        if bit not in expression.leaves:
            stack.extend(_gate_inputs(expression.steps[bit]))
    return frozenset(seen & expression.leaves)


def _gate_inputs(step: Step) -> tuple[Ref, ...]:
    match step:
        case Not(bit):
            return (bit,)
        case Gate(_, bits) | Table(bits, _):
            return bits
        case _:
            raise AssertionError("only gates stand above the leaves of a block")


def _truth_table(expression: Expression, leaves: tuple[Ref, ...]) -> int:
    """Bit number a of the result is the function at the assignment a (leaf k true iff bit k of a)."""
    size = 1 << len(leaves)
    everything = (1 << size) - 1
    tables: dict[Ref, int] = {}
    for k, leaf in enumerate(leaves):
        half = 1 << k
        period = ((1 << half) - 1) << half
        tables[leaf] = period * (everything // ((1 << (2 * half)) - 1))
    pending = [expression.root[0]]
    while pending:
        bit = pending[-1]
        missing = [b for b in _inputs_above(expression, bit) if b not in tables]
        if missing:
            pending.extend(missing)
            continue
        pending.pop()
        if bit not in tables:
            tables[bit] = _gate_table(expression.steps[bit], tables, everything)
    root, positive = expression.root
    return tables[root] if positive else everything ^ tables[root]


def _inputs_above(expression: Expression, bit: Ref) -> tuple[Ref, ...]:
    return () if bit in expression.leaves else _gate_inputs(expression.steps[bit])


def _gate_table(step: Step, tables: dict[Ref, int], everything: int) -> int:
    match step:
        case Not(bit):
            return everything ^ tables[bit]
        case Gate(connective, bits):
            result = everything if connective is Connective.AND else 0
            for bit in bits:
                match connective:
                    case Connective.AND:
                        result &= tables[bit]
                    case Connective.OR:
                        result |= tables[bit]
                    case Connective.XOR:
                        result ^= tables[bit]
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
            raise AssertionError("only gates stand above the leaves of a block")


def _cubes(table: int, width: int, leaves: tuple[Ref, ...]) -> list[tuple[Literal, ...]]:
    """Disjoint cubes whose union is the table's set of true assignments (Shannon expansion)."""
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
