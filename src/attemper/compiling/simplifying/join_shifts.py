"""Shifts of shifts become shifts over several positions, which are one layer and not several.

    previous (previous 2 b)     previous 3 b        next likewise

What has more positions than one head tells apart stays a shift of a shift. The values are unchanged: running
the program before and after gives the same bits.
"""

from __future__ import annotations

from dataclasses import replace

from attemper.attention_program.builder import prune, rebuilt, replace_inputs
from attemper.attention_program.ops import Program, Ref, Shift, Step
from attemper.compiling.simplifying.simplify_program import Simplifier
from attemper.compiling.simplifying.spell_out import MAX_CASES

LONGEST = MAX_CASES - 1
"""A shift over d positions tells d + 1 remainders apart."""


def join_shifts(program: Program) -> tuple[Program, list[Ref]]:
    """The program with its shifts joined, and for each old step the new one with its value (-1: dropped)."""
    simple = Simplifier(program.alphabet)
    to: list[Ref] = []
    for step in program.steps:
        to.append(simple.add(_joined(simple, replace_inputs(step, to))))
    whole = rebuilt(program, simple.builder.steps, lambda ref: to[ref])
    pruned, kept = prune(whole)
    return pruned, [kept[ref] for ref in to]


def _joined(simple: Simplifier, step: Step) -> Step:
    """What is missing at either shift, and 0 there, is missing at the joined one."""
    if not isinstance(step, Shift) or step.default is not False:
        return step
    match simple.builder.steps[step.bit]:
        case Shift(step.direction, inner, before, False) if step.distance + before <= LONGEST:
            return replace(step, bit=inner, distance=step.distance + before)
        case _:
            return step
