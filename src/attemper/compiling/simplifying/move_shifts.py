"""Move shifts inwards, to where they cost no layer.

A shift of a selection is the same selection under a strict mask, which is one layer and not two:

    previous (attend <= where w value v)    attend < where w value v        next: >=, >; not by cases at i
    previous (a gate of bits)               the gate of the shifted bits, and not first

The last is done where no bit is a test of places, and its bits, shifted, are ready a layer before the shifted
gate would be. The values are unchanged: running the program before and after gives the same bits.
"""

from __future__ import annotations

from dataclasses import replace

from attemper.attention_program import ops
from attemper.attention_program.builder import prune, rebuilt, replace_inputs
from attemper.compiling.simplifying.simplify_program import Simplifier
from attemper.exact.closed_forms import FIRST, LAST

_STRICT = {
    (ops.Direction.PREVIOUS, ops.Mask.UP_TO): ops.Mask.BEFORE,
    (ops.Direction.NEXT, ops.Mask.FROM): ops.Mask.AFTER,
}
_EDGES = {ops.Direction.PREVIOUS: FIRST, ops.Direction.NEXT: LAST}


def move_shifts(program: ops.Program) -> tuple[ops.Program, list[ops.Ref]]:
    """The program with its shifts moved, and for each old step the new one with its value (-1: dropped)."""
    mover = _Mover(Simplifier(program.alphabet))
    to: list[ops.Ref] = []
    for step in program.steps:
        to.append(mover.add(replace_inputs(step, to)))
    whole = rebuilt(program, mover.simple.builder.steps, lambda ref: to[ref])
    pruned, kept = prune(whole)
    return pruned, [kept[ref] for ref in to]


class _Mover:
    """The steps so far, with the nesting of attention below each."""

    def __init__(self, simple: Simplifier) -> None:
        self.simple = simple
        self.nesting: list[int] = []
        self.shifted: dict[tuple[ops.Direction, ops.Ref], ops.Ref] = {}

    def add(self, step: ops.Step) -> ops.Ref:
        """The step, or what a shift becomes."""
        match step:
            case ops.Shift(direction, bit, 1, False):
                return self._shift(direction, bit)
            case _:
                return self.simple.add(step)

    def _shift(self, direction: ops.Direction, bit: ops.Ref) -> ops.Ref:
        """The bit at the neighbour, 0 where there is none; bits of gates first, without recursion."""
        waiting = [bit]
        while waiting:
            top = waiting[-1]
            step = self.simple.builder.steps[top]
            below = ops.inputs(step) if isinstance(step, ops.Not | ops.Gate) else ()
            missing = [ref for ref in below if (direction, ref) not in self.shifted]
            waiting += missing
            if not missing:
                self.shifted[direction, waiting.pop()] = self._shifted(direction, top, step)
        return self.shifted[direction, bit]

    def _shifted(self, direction: ops.Direction, bit: ops.Ref, step: ops.Step) -> ops.Ref:
        """The shifted bit, given the shifted bits of a gate."""
        match step:
            case ops.Attend(mask, _, ((None, _),), _, False) if (direction, mask) in _STRICT:
                return self.simple.add(replace(step, mask=_STRICT[direction, mask]))
            case ops.Not() | ops.Gate():
                return self._gate(direction, bit, step)
            case _:
                return self.simple.add(ops.Shift(direction, bit))

    def _gate(self, direction: ops.Direction, bit: ops.Ref, step: ops.Not | ops.Gate) -> ops.Ref:
        """The gate of shifted bits, if that is ready before the shifted gate is.

        Not where tests of places are among the bits: beside strict masks they have no proof.
        """
        if any(isinstance(self.simple.builder.steps[ref], ops.Place) for ref in ops.inputs(step)):
            return self.simple.add(ops.Shift(direction, bit))
        bits = [self.shifted[direction, ref] for ref in ops.inputs(step)]
        if max(map(self._nesting, bits)) > self._nesting(bit):
            return self.simple.add(ops.Shift(direction, bit))
        moved = self.simple.add(
            ops.Not(bits[0]) if isinstance(step, ops.Not) else replace(step, bits=tuple(bits))
        )
        return self._guarded(direction, moved)

    def _guarded(self, direction: ops.Direction, bit: ops.Ref) -> ops.Ref:
        inside = self.simple.negate(self.simple.place(_EDGES[direction]))
        return self.simple.add(ops.Gate(ops.Connective.AND, (bit, inside)))

    def _nesting(self, bit: ops.Ref) -> int:
        """How many attending steps are above each other below a bit, itself included."""
        steps = self.simple.builder.steps
        for step in steps[len(self.nesting) :]:
            below = max((self.nesting[ref] for ref in ops.inputs(step)), default=0)
            attends = isinstance(step, ops.Looking | ops.Count | ops.Comparing)
            self.nesting.append(below + attends)
        return self.nesting[bit]
