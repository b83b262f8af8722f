"""Boolean blocks: any function of bits as a sum of clamps, one hidden layer wide.

A clamp is 1 if at least m of its k literals are true, else 0; on literals that are off by delta in
total at most 1/4 it is still exactly 0 or 1 (in real numbers):

    2 ReLU(S - (m - 3/4)) - 2 ReLU(S - (m - 1/4)),   S = sum of the literals

A conjunction is one clamp (m = k), a disjunction one (m = 1), a parity k of them with alternating
sign; any other function is the sum of the conjunctions of its disjoint cubes (theory.md, Lemma 9
and its folding). A clamp can be gated by exact bits: k times a gate that is off is taken from S.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import product
from typing import final

from attemper.attention_program.ops import Attend, Connective, Gate, Not, Place, Ref, Step, inputs
from attemper.compiling.cubes import Literal, disjoint_cubes, reached_leaves
from attemper.exact.closed_forms import FIRST, LAST, ClosedForm, complement

MAX_IRREGULAR_LITERALS = 12
"""Wider blocks that are neither conjunction, disjunction nor parity take a layer of their own."""


SMALL_PARITY = 3
"""Up to so many literals a parity takes no more clamps as a sum of cubes."""


@final
@dataclass(frozen=True)
class ClampTerm:
    """sign * [all gates hold, and at least `at_least` of the literals]; gates are exact bits."""

    literals: tuple[Literal, ...]
    at_least: int
    sign: int
    gates: tuple[Literal, ...] = ()


@final
@dataclass(frozen=True)
class GateBlock:
    """A Boolean function: constant + the sum of its clamps. Exactly 0 on false if constant is 0
    and no clamp is negative, also in floats.
    """

    constant: int
    clamps: tuple[ClampTerm, ...]


@final
@dataclass(frozen=True)
class GateExpression:
    """The gates above a set of leaves, of which some have a fixed value: what a block computes."""

    steps: tuple[Step, ...]
    leaves: frozenset[Ref]
    root: Literal
    fixed: Mapping[Ref, bool] = field(default_factory=dict)


def block_of(expression: GateExpression) -> GateBlock | None:
    """The block of an expression, or None if it is irregular and too wide for one hidden layer."""
    regular = _regular(expression)
    if regular is not None:
        return regular
    cases = _edge_cases(expression)
    parts = [(gates, _regular(case)) for gates, case in cases]
    if len(cases) > 1 and all(part is not None for _, part in parts):
        return _gated(parts)
    if len(_free_leaves(expression)) <= MAX_IRREGULAR_LITERALS:
        return _by_cubes(expression)
    if len(cases) > 1 and all(len(_free_leaves(case)) <= MAX_IRREGULAR_LITERALS for _, case in cases):
        return _gated([(gates, _regular(case) or _by_cubes(case)) for gates, case in cases])
    return None


def _regular(expression: GateExpression) -> GateBlock | None:
    """The block of a conjunction, disjunction, parity or union, which have no width limit."""
    root, positive = expression.root
    union = _union(expression)
    if union is not None:
        return union
    conjunction = _conjunction(expression, expression.root)
    match conjunction:
        case bool(value):
            return GateBlock(int(value), ())
        case tuple(literals):
            return GateBlock(0, (ClampTerm(literals, len(literals), 1),))
        case None:
            pass
    negation = _conjunction(expression, (root, not positive))
    if isinstance(negation, tuple):
        return GateBlock(0, (ClampTerm(tuple((leaf, not sign) for leaf, sign in negation), 1, 1),))
    # A small parity is better made of cubes: they are exactly 0 on false, also in floats.
    return _parity(expression) if len(_free_leaves(expression)) > SMALL_PARITY else None


def _by_cubes(expression: GateExpression) -> GateBlock:
    """The block of any function of few literals: one conjunction for each disjoint cube.

    What heads by cases read is asked last, after the bits that say which case is in force: what they read by
    the other cases then stands in no cube that holds.
    """
    leaves = tuple(sorted(_free_leaves(expression), key=lambda leaf: not _is_by_cases(expression, leaf)))
    cubes = disjoint_cubes(expression.steps, expression.root, leaves, expression.fixed)
    if cubes == [()]:
        return GateBlock(1, ())
    return GateBlock(0, tuple(ClampTerm(cube, len(cube), 1) for cube in cubes))


def _is_by_cases(expression: GateExpression, leaf: Ref) -> bool:
    step = expression.steps[leaf]
    return isinstance(step, Attend) and step.where is None


def _free_leaves(expression: GateExpression) -> tuple[Ref, ...]:
    reached = reached_leaves(expression.steps, expression.root[0], expression.leaves)
    return tuple(sorted(reached - set(expression.fixed)))


# Edges ---------------------------------------------------------------------------------------------


def _edge_cases(expression: GateExpression) -> list[tuple[tuple[Literal, ...], GateExpression]]:
    """The expression with first and last fixed in each way that occurs, and the bits that say so.

    Every shift is guarded by an edge; with the edges fixed, parities of shifts are parities again.
    """
    edges: dict[Ref, tuple[ClosedForm, bool]] = {}
    for leaf in _free_leaves(expression):
        step = expression.steps[leaf]
        for edge in (FIRST, LAST):
            if isinstance(step, Place) and step.form in (edge, complement(edge)):
                edges[leaf] = (edge, step.form == edge)
    kinds = list(dict.fromkeys(edge for edge, _ in edges.values()))
    cases: list[tuple[tuple[Literal, ...], GateExpression]] = []
    for values in product((False, True), repeat=len(kinds)):
        holding = dict(zip(kinds, values, strict=True))
        fixed = {leaf: holding[edge] == same for leaf, (edge, same) in edges.items()}
        # One leaf of each kind is enough to say which case it is.
        spoken_for = {edge: leaf for leaf, (edge, _) in edges.items()}
        gates = tuple((leaf, fixed[leaf]) for leaf in spoken_for.values())
        cases.append((gates, replace(expression, fixed={**expression.fixed, **fixed})))
    return cases


def _gated(parts: Sequence[tuple[tuple[Literal, ...], GateBlock | None]]) -> GateBlock:
    """The block that is each part where its gates hold; exactly one case's gates hold everywhere."""
    clamps: list[ClampTerm] = []
    for gates, part in parts:
        assert part is not None
        clamps += [replace(clamp, gates=gates) for clamp in part.clamps]
        if part.constant:
            clamps.append(ClampTerm(gates, len(gates), 1))
    return GateBlock(0, tuple(clamps))


# Regular shapes ------------------------------------------------------------------------------------


def _conjunction(expression: GateExpression, *literals: Literal) -> tuple[Literal, ...] | bool | None:
    """The distinct leaves whose conjunction that of some literals is, or its constant value if it has one.

    None if it is no conjunction.
    """
    found: dict[Literal, None] = {}
    stack = list(reversed(literals))
    while stack:
        bit, positive = stack.pop()
        if bit in expression.fixed:
            if expression.fixed[bit] != positive:
                return False
            continue
        if bit in expression.leaves:
            found.setdefault((bit, positive))
            continue
        match expression.steps[bit], positive:
            case Not(inner), _:
                stack.append((inner, not positive))
            case (Gate(Connective.AND, bits), True) | (Gate(Connective.OR, bits), False):
                stack.extend((b, positive) for b in reversed(bits))
            case _:
                return None
    if any((leaf, not sign) in found for leaf, sign in found):
        return False
    return tuple(found) or True


def _union(expression: GateExpression) -> GateBlock | None:
    """The clamps of a union of conjunctions: one for each, since no two of them hold together.

    So of a conjunction with a union in it.
    """
    root, positive = _without_negations(expression)
    conjunctions = _disjoint(expression, root)
    if conjunctions is None:
        return None
    clamps: list[ClampTerm] = []
    for found in conjunctions:
        match found:
            case bool(value):
                if value:
                    return GateBlock(int(positive), ())
            case tuple(literals):
                clamps.append(ClampTerm(literals, len(literals), 1 if positive else -1))
    return GateBlock(int(not positive), tuple(clamps))


def _disjoint(expression: GateExpression, root: Ref) -> list[tuple[Literal, ...] | bool] | None:
    """The conjunctions whose union a bit is, also of a conjunction with one union in it; None: of none."""
    step = None if root in expression.leaves else expression.steps[root]
    match step:
        case Gate(Connective.UNION, bits):
            union, beside = bits, list[Ref]()
        case Gate(Connective.AND, bits):
            unions = [bit for bit in bits if _is_union(expression, bit)]
            if len(unions) != 1:
                return None
            union = inputs(expression.steps[unions[0]])
            beside = [bit for bit in bits if bit not in unions]
        case _:
            return None
    found = [_conjunction(expression, *((part, True) for part in (bit, *beside))) for bit in union]
    return None if None in found else [own for own in found if own is not None]


def _is_union(expression: GateExpression, bit: Ref) -> bool:
    step = expression.steps[bit]
    return bit not in expression.leaves and isinstance(step, Gate) and step.connective is Connective.UNION


def _without_negations(expression: GateExpression) -> Literal:
    """The bit below the negations of the root, and whether it is that bit."""
    root, positive = expression.root
    while isinstance(step := expression.steps[root], Not) and root not in expression.leaves:
        root, positive = step.bit, not positive
    return root, positive


def _parity(expression: GateExpression) -> GateBlock | None:
    """The clamps of a parity of literals: atleast_1 - atleast_2 + atleast_3 ..."""
    root, positive = _without_negations(expression)
    step = expression.steps[root]
    if not (isinstance(step, Gate) and step.connective is Connective.XOR):
        return None
    leaves: list[Ref] = []
    for bit in step.bits:
        match _conjunction(expression, (bit, True)):
            case bool(value):
                positive ^= value
            case ((leaf, sign),):
                leaves.append(leaf)
                positive ^= not sign
            case _:
                return None
    if len(set(leaves)) != len(leaves):
        return None
    if not leaves:
        return GateBlock(int(not positive), ())
    literals = tuple((leaf, True) for leaf in leaves)
    if not positive:
        literals = ((leaves[0], False), *literals[1:])
    terms = tuple(ClampTerm(literals, m, 1 if m % 2 else -1) for m in range(1, len(literals) + 1))
    return GateBlock(0, terms)
