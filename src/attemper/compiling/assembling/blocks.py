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

from attemper.attention_program.ops import Connective, Gate, Not, Ref, Step
from attemper.compiling.cubes import Literal, disjoint_cubes, reached_leaves

MAX_IRREGULAR_LITERALS = 12
"""Wider blocks that are neither conjunction, disjunction nor parity take a layer of their own."""


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
    leaves = tuple(sorted(reached_leaves(expression.steps, expression.root[0], expression.leaves)))
    if len(leaves) > 3:
        parity = _parity(expression)
        if parity is not None:
            return parity
    if len(leaves) > MAX_IRREGULAR_LITERALS:
        return None
    cubes = disjoint_cubes(expression.steps, expression.root, leaves)
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
