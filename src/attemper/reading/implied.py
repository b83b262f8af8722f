"""Which selections always find what they read: a bit of a program that is never 1 without another one."""

from __future__ import annotations

from attemper.attention_program.ops import Attend, Program, Ref
from attemper.checker.analysis import PRECISION
from attemper.checker.diagrams import TooLargeError
from attemper.checker.names import UnprovenError
from attemper.checker.program import Programs, Steps
from attemper.checker.proof import deep
from attemper.exact.balls import precision


def sure_selections(program: Program) -> frozenset[Ref]:
    """The selections whose value is 1 only at positions that are looked for, as far as diagrams show it.

    They read 0 where nothing is found, as a machine then reads what stands at i. None is named where the
    diagrams are too large, or a step has none.
    """
    programs = Programs(program.alphabet.symbols)
    names, steps, found = programs.names, Steps(programs, program), set[Ref]()
    try:
        with deep(), precision(PRECISION):
            for ref, step in enumerate(program.steps):
                if isinstance(step, Attend) and step.where is not None:
                    value, where = steps.bit(step.value), steps.bit(step.where)
                    if names.both(value, names.negation(where)) == names.false:
                        found.add(ref)
    except (TooLargeError, UnprovenError, RecursionError):
        return frozenset()
    return frozenset(found)
