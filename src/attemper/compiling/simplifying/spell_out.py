"""Selections by cases, and shifts over several positions, as steps that the passes behind this one know.

    attend, cases q_c : k_c     the union of selections with as many cases as one head can have; of a single
                                case: q_c, and what a head that looks for k_c alone finds
    previous d b                previous previous ... b
    default 1                   the negation of the step about the negated value, with default 0
    no default                  in several heads: where no case is in force, a head that looks for nothing

A head has a row for each case and one for its tie-break. Not every head can have several: at temperature 1
the row of a case must grow with i or n where the case is in force. A position embedding does that where a
test of places says where, but no feed-forward can multiply a number that grows by a bit: a case that depends
on symbols at i needs a head of its own, and the bit at i chooses what is read.
"""

from __future__ import annotations

from dataclasses import replace
from enum import StrEnum
from typing import assert_never

from attemper.attention_program import ops
from attemper.attention_program.builder import prune, rebuilt, replace_inputs
from attemper.compiling.simplifying.simplify_program import Simplifier
from attemper.networks.layers import HEAD_WIDTHS


class Shared(StrEnum):
    """Which cases of a selection may share a head."""

    ALL = "all cases"
    PLACES = "cases by places"
    NONE = "no cases"


MAX_CASES = max(HEAD_WIDTHS) - 1
"""As many cases have room in one head, beside the tie-break."""


def spell_out(program: ops.Program, shared: Shared) -> tuple[ops.Program, list[ops.Ref]]:
    """The program spelled out, and for each old step the new step with the same value (-1: dropped)."""
    simple = Simplifier(program.alphabet)
    to: list[ops.Ref] = []
    for step in program.steps:
        to.append(_spelled_out(simple, replace_inputs(step, to), shared))
    whole = rebuilt(program, simple.builder.steps, lambda ref: to[ref])
    pruned, kept = prune(whole)
    return pruned, [kept[ref] for ref in to]


def _spelled_out(simple: Simplifier, step: ops.Step, shared: Shared) -> ops.Ref:
    match step:
        case ops.Attend() if step.where is None:
            return _by_case(simple, step, shared)
        case ops.Shift(default=bool()):
            return _neighbour_by_neighbour(simple, step)
        case _:
            return simple.add(step)


def _by_case(simple: Simplifier, step: ops.Attend, shared: Shared) -> ops.Ref:
    if step.default:
        opposite = replace(step, value=simple.negate(step.value), default=False)
        return simple.negate(_by_case(simple, opposite, shared))
    heads = _heads(simple, step.cases, shared)
    if step.default is None and (len(heads) > 1 or len(heads[0]) == 1):
        heads = [*((case,) for case in step.cases), (_unsought(simple, step.cases),)]
    parts = [_one_head(simple, replace(step, cases=cases)) for cases in heads]
    return parts[0] if len(parts) == 1 else simple.add(ops.Gate(ops.Connective.UNION, tuple(parts)))


def _unsought(simple: Simplifier, cases: ops.Cases) -> tuple[ops.Ref, ops.Ref]:
    """Where none of the cases is in force, and what a head looks for there, which is nothing."""
    heres = (here for here, _ in cases if here is not None)
    return simple.negate(simple.add(ops.Gate(ops.Connective.OR, tuple(heres)))), simple.constant(True)


def _heads(simple: Simplifier, cases: ops.Cases, shared: Shared) -> list[ops.Cases]:
    """The cases, head by head."""
    steps = simple.builder.steps
    match shared:
        case Shared.ALL:
            return _batches(cases)
        case Shared.PLACES:
            by_place = [case for case in cases if case[0] is None or isinstance(steps[case[0]], ops.Place)]
            return [*_batches(tuple(by_place)), *((case,) for case in cases if case not in by_place)]
        case Shared.NONE:
            return [(case,) for case in cases]
        case _:
            assert_never(shared)


def _batches(cases: ops.Cases) -> list[ops.Cases]:
    return [cases[start : start + MAX_CASES] for start in range(0, len(cases), MAX_CASES)]


def _one_head(simple: Simplifier, step: ops.Attend) -> ops.Ref:
    match step.cases:
        case ((int(here), there),):
            found = simple.add(replace(step, cases=ops.everywhere(there)))
            return simple.add(ops.Gate(ops.Connective.AND, (here, found)))
        case _:
            return simple.add(step)


def _neighbour_by_neighbour(simple: Simplifier, step: ops.Shift) -> ops.Ref:
    if step.default:
        opposite = replace(step, bit=simple.negate(step.bit), default=False)
        return simple.negate(_neighbour_by_neighbour(simple, opposite))
    found = step.bit
    for _ in range(step.distance):
        found = simple.add(replace(step, bit=found, distance=1))
    return found
