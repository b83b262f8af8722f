"""Programs, made and changed step by step."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import replace
from typing import assert_never

from attemper.attention_program import ops


class Builder:
    """Collects steps; an equal step is kept once (hash-consing)."""

    def __init__(self) -> None:
        self.steps: list[ops.Step] = []
        self._index: dict[ops.Step, ops.Ref] = {}

    def add(self, step: ops.Step) -> ops.Ref:
        """The index of the step, new or already there."""
        if step not in self._index:
            self._index[step] = len(self.steps)
            self.steps.append(step)
        return self._index[step]

    def find(self, step: ops.Step) -> ops.Ref | None:
        """The index of the step, if it is there."""
        return self._index.get(step)


def replace_inputs(step: ops.Step, to: list[ops.Ref]) -> ops.Step:
    """The same step with every reference r replaced by to[r]."""
    match step:
        case ops.Letter() | ops.Place():
            return step
        case ops.Not(bit) | ops.Shift(_, bit, _, _) | ops.Count(_, bit):
            return replace(step, bit=to[bit])
        case ops.Gate(_, bits) | ops.Table(bits, _) | ops.Merge(bits):
            return replace(step, bits=tuple(to[bit] for bit in bits))
        case ops.Attend(_, _, cases, value, _):
            moved = tuple((None if here is None else to[here], to[there]) for here, there in cases)
            return replace(step, cases=moved, value=to[value])
        case ops.Nearest(_, _, where, query, key, value):
            return replace(step, where=to[where], query=to[query], key=to[key], value=to[value])
        case ops.Matched(_, _, where, query, key):
            return replace(step, where=to[where], query=to[query], key=to[key])
        case ops.Linear(parts, constant):
            return ops.Linear(tuple((factor, to[count]) for factor, count in parts), constant)
        case ops.Compare(count, _) | ops.Equals(count, _) | ops.CountTest(_, count, _, _):
            return replace(step, count=to[count])
        case _:
            assert_never(step)


def prune(program: ops.Program) -> tuple[ops.Program, list[ops.Ref]]:
    """The program without the steps that its output does not need.

    Also gives, for each old step, its new index (-1 if it was dropped). Steps that are kept apart stay apart.
    """
    needed = [ref in program.outputs for ref in range(len(program.steps))]
    for index in range(len(program.steps) - 1, -1, -1):
        if needed[index]:
            for source in ops.inputs(program.steps[index]):
                needed[source] = True
    kept: list[ops.Step] = []
    to = [-1] * len(program.steps)
    for index, step in enumerate(program.steps):
        if needed[index]:
            to[index] = len(kept)
            kept.append(replace_inputs(step, to))
    return rebuilt(program, kept, lambda ref: to[ref]), to


def rebuilt(program: ops.Program, steps: Iterable[ops.Step], to: Callable[[ops.Ref], ops.Ref]) -> ops.Program:
    """A program of other steps with the same results; `to` says what each old result is now."""
    symbols = tuple((name, to(bit)) for name, bit in program.symbols)
    numbers = None if program.numbers is None else _moved(program.numbers, to)
    return ops.Program(program.alphabet, tuple(steps), to(program.output), symbols, numbers)


def _moved(numbers: ops.Numbers, to: Callable[[ops.Ref], ops.Ref]) -> ops.Numbers:
    """Numbers that are made of other steps."""

    def moved(part: ops.Part) -> ops.Part:
        bit, count = (None if ref is None else to(ref) for ref in (part.bit, part.count))
        return ops.Part(part.factor, bit, count)

    return replace(numbers, rows=tuple(tuple(map(moved, row)) for row in numbers.rows))
