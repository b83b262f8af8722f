"""Selections by cases, and shifts over several positions, as steps that have one head each.

    attend, cases q_c : k_c     the union over c of: q_c, and what a head that looks for k_c alone finds
    previous d b                previous previous ... b
    default 1                   the negation of the step about the negated value, with default 0
    no default                  where no case is in force, a head that looks for nothing

Selections that look for one bit stay as they are.
"""

from __future__ import annotations

from dataclasses import replace

from attemper.attention_program.builder import prune, rebuilt, replace_inputs
from attemper.attention_program.ops import Attend, Connective, Gate, Program, Ref, Shift, Step, everywhere
from attemper.compiling.simplifying.simplify_program import Simplifier


def spell_out(program: Program) -> tuple[Program, list[Ref]]:
    """The program spelled out, and for each old step the new step with the same value (-1: dropped)."""
    simple = Simplifier(program.alphabet)
    to: list[Ref] = []
    for step in program.steps:
        to.append(_spelled_out(simple, replace_inputs(step, to)))
    whole = rebuilt(program, simple.builder.steps, lambda ref: to[ref])
    pruned, kept = prune(whole)
    return pruned, [kept[ref] for ref in to]


def _spelled_out(simple: Simplifier, step: Step) -> Ref:
    match step:
        case Attend() if step.where is None:
            return _by_case(simple, step)
        case Shift(default=bool()):
            return _neighbour_by_neighbour(simple, step)
        case _:
            return simple.add(step)


def _by_case(simple: Simplifier, step: Attend) -> Ref:
    if step.default:
        opposite = replace(step, value=simple.negate(step.value), default=False)
        return simple.negate(_by_case(simple, opposite))
    cases = list(step.cases)
    if step.default is None:
        heres = (here for here, _ in cases if here is not None)
        unsought = simple.negate(simple.add(Gate(Connective.OR, tuple(heres))))
        cases.append((unsought, simple.constant(True)))
    parts = [_one_case(simple, step, here, there) for here, there in cases]
    return simple.add(Gate(Connective.UNION, tuple(parts)))


def _one_case(simple: Simplifier, step: Attend, here: Ref | None, there: Ref) -> Ref:
    found = simple.add(replace(step, cases=everywhere(there)))
    return found if here is None else simple.add(Gate(Connective.AND, (here, found)))


def _neighbour_by_neighbour(simple: Simplifier, step: Shift) -> Ref:
    if step.default:
        opposite = replace(step, bit=simple.negate(step.bit), default=False)
        return simple.negate(_neighbour_by_neighbour(simple, opposite))
    found = step.bit
    for _ in range(step.distance):
        found = simple.add(replace(step, bit=found, distance=1))
    return found
