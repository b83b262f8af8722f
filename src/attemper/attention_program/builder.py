"""Programs, made and changed step by step."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import replace
from typing import assert_never

from attemper.attention_program.ops import (
    Attend,
    Compare,
    Count,
    CountTest,
    Equals,
    Gate,
    Letter,
    Linear,
    Matched,
    Merge,
    Nearest,
    Not,
    Numbers,
    Part,
    Place,
    Program,
    Ref,
    Shift,
    Step,
    Table,
    inputs,
)


class Builder:
    """Collects steps; an equal step is kept once (hash-consing)."""

    def __init__(self) -> None:
        self.steps: list[Step] = []
        self._index: dict[Step, Ref] = {}

    def add(self, step: Step) -> Ref:
        """The index of the step, new or already there."""
        if step not in self._index:
            self._index[step] = len(self.steps)
            self.steps.append(step)
        return self._index[step]

    def find(self, step: Step) -> Ref | None:
        """The index of the step, if it is there."""
        return self._index.get(step)


def replace_inputs(step: Step, to: list[Ref]) -> Step:
    """The same step with every reference r replaced by to[r]."""
    match step:
        case Letter() | Place():
            return step
        case Not(bit) | Shift(_, bit, _, _) | Count(_, bit):
            return replace(step, bit=to[bit])
        case Gate(_, bits) | Table(bits, _) | Merge(bits):
            return replace(step, bits=tuple(to[bit] for bit in bits))
        case Attend(_, _, cases, value, _):
            moved = tuple((None if here is None else to[here], to[there]) for here, there in cases)
            return replace(step, cases=moved, value=to[value])
        case Nearest(_, _, where, query, key, value):
            return replace(step, where=to[where], query=to[query], key=to[key], value=to[value])
        case Matched(_, _, where, query, key):
            return replace(step, where=to[where], query=to[query], key=to[key])
        case Linear(parts, constant):
            return Linear(tuple((factor, to[count]) for factor, count in parts), constant)
        case Compare(count, _) | Equals(count, _) | CountTest(_, count, _, _):
            return replace(step, count=to[count])
        case _:
            assert_never(step)


def prune(program: Program) -> tuple[Program, list[Ref]]:
    """The program without the steps that its output does not need.

    Also gives, for each old step, its new index (-1 if it was dropped). Steps that are kept apart stay apart.
    """
    needed = [ref in program.outputs for ref in range(len(program.steps))]
    for index in range(len(program.steps) - 1, -1, -1):
        if needed[index]:
            for source in inputs(program.steps[index]):
                needed[source] = True
    kept: list[Step] = []
    to = [-1] * len(program.steps)
    for index, step in enumerate(program.steps):
        if needed[index]:
            to[index] = len(kept)
            kept.append(replace_inputs(step, to))
    return rebuilt(program, kept, lambda ref: to[ref]), to


def rebuilt(program: Program, steps: Iterable[Step], to: Callable[[Ref], Ref]) -> Program:
    """A program of other steps with the same results; `to` says what each old result is now."""
    symbols = tuple((name, to(bit)) for name, bit in program.symbols)
    numbers = None if program.numbers is None else _moved(program.numbers, to)
    return Program(program.alphabet, tuple(steps), to(program.output), symbols, numbers)


def _moved(numbers: Numbers, to: Callable[[Ref], Ref]) -> Numbers:
    """Numbers that are made of other steps."""

    def moved(part: Part) -> Part:
        bit, count = (None if ref is None else to(ref) for ref in (part.bit, part.count))
        return Part(part.factor, bit, count)

    return replace(numbers, rows=tuple(tuple(map(moved, row)) for row in numbers.rows))
