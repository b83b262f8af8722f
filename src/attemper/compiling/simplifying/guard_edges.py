"""Make every attention step one that a head can compute everywhere, by guarding its edges.

A head always attends somewhere, also where the definition says "there is none". Each step is
rewritten so that the other value never shows:

    previous b          and(previous b, not first)            next: not last
    previous d b        the rightmost j <= i with j = i - d modulo d + 1, which is i - d; and i > d
    attend              value -> and(where, value), so the head falls on 0 where nothing matches
                        default 1: or(..., not(attend where where))
                        for a letter and a place: and(where, value), both of which the head reads
    attend by cases     and(value, union of and(here, there) over the cases), which the head reads, too
    count, strict mask  the count of the shifted bit

The last two hold whatever a head reads of value, and by the other cases of there, where nothing matches: so
no float has to tell blocked positions apart.

Two rewritings, and the third above, save the layer that a gate of letters and places would cost before the
first attention (embeddings only add, so such a gate has to wait for a feed-forward):

    previous g          g of the shifted letters and places
    attend g value g    "some position has g": over the cubes (letter and place) of g, a head that
                        looks for both and reads each of them

Such a head looks for a letter and a place at once: where both hold nowhere together, it prefers one of them.
A guarded value does not show that. Without a default, their conjunction becomes one bit, a union of itself.

The values are unchanged: running the program before and after gives the same bits.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from attemper.attention_program import ops
from attemper.attention_program.builder import prune, rebuilt, replace_inputs
from attemper.compiling.cubes import Literal, disjoint_cubes
from attemper.compiling.simplifying.simplify_program import Simplifier
from attemper.exact.closed_forms import FIRST, LAST, ClosedForm, Test, has_reciprocal, shift_position
from attemper.exact.predicates import NonNegative, Remainder

MAX_MIXED_LEAVES = 6
"""Wider gates of letters and places wait for a feed-forward instead of being taken apart."""

_STRICT = {
    ops.Mask.BEFORE: (ops.Mask.UP_TO, ops.Direction.PREVIOUS),
    ops.Mask.AFTER: (ops.Mask.FROM, ops.Direction.NEXT),
}


def guard_edges(program: ops.Program) -> tuple[ops.Program, list[ops.Ref]]:
    """The guarded program, and for each old step the new step with the same value (-1: dropped)."""
    guard = _Guard(Simplifier(program.alphabet))
    to: list[ops.Ref] = []
    for step in program.steps:
        to.append(guard.add(replace_inputs(step, to)))
    outputs = {ref: guard.output(to[ref]) for ref in program.outputs}
    whole = rebuilt(program, guard.simple.builder.steps, lambda ref: outputs[ref])
    pruned, kept = prune(whole)
    return pruned, [kept[ref] for ref in to]


def _offset(step: ops.Shift) -> int:
    return -step.distance if step.direction is ops.Direction.PREVIOUS else step.distance


def _edge(step: ops.Shift) -> ClosedForm:
    """[There is no position so far away.]"""
    if step.distance == 1:
        return FIRST if step.direction is ops.Direction.PREVIOUS else LAST
    if step.direction is ops.Direction.PREVIOUS:
        return Test(NonNegative(), -1, 0, step.distance)
    return Test(NonNegative(), 1, -1, step.distance - 1)


class _Guard:
    def __init__(self, simple: Simplifier) -> None:
        self.simple = simple

    def add(self, step: ops.Step) -> ops.Ref:
        match step:
            case ops.Shift(default=False):
                return self._shift(step)
            case ops.Attend(default=bool()):
                return self._attend(step)
            case ops.Attend(default=None):
                cases = tuple((here, self._one_bit(there)) for here, there in step.cases)
                return self.simple.add(replace(step, cases=cases))
            case ops.Count(mask, bit) if mask in _STRICT:
                weak, direction = _STRICT[mask]
                return self.simple.add(ops.Count(weak, self._shift(ops.Shift(direction, bit))))
            case _:
                return self.simple.add(step)

    def output(self, bit: ops.Ref) -> ops.Ref:
        """The same bit for the outside: what heads read as a sum of bits is a bit of its own there."""
        match self.simple.builder.steps[bit]:
            case ops.Merge(bits):
                return self._gate(ops.Connective.UNION, *bits)
            case ops.Not(inner) if isinstance(self.simple.builder.steps[inner], ops.Merge):
                return self.simple.negate(self.output(inner))
            case _:
                return bit

    def _shift(self, step: ops.Shift) -> ops.Ref:
        inside = self.simple.negate(self.simple.place(_edge(step)))
        leaves = self._mixed_leaves(step.bit)
        shifted = self._shifted(step) if leaves is None else self._shift_leaves(step, leaves)
        return self._gate(ops.Connective.AND, shifted, inside)

    def _shifted(self, step: ops.Shift) -> ops.Ref:
        """What stands so far away, where there is such a position: by remainders if that is no neighbour.

        At the edge no case is in force. So wherever one is, it has a match: what is blocked is never read,
        and need not be told apart.
        """
        if step.distance == 1:
            return self._head(step)
        modulus, inside = step.distance + 1, self.simple.negate(self.simple.place(_edge(step)))
        places = [self.simple.place(Test(Remainder(modulus, r), 1, 0, 0)) for r in range(modulus)]
        cases = tuple(
            (self._gate(ops.Connective.AND, here, inside), places[(r + _offset(step)) % modulus])
            for r, here in enumerate(places)
        )
        is_past = step.direction is ops.Direction.PREVIOUS
        mask, choice = (
            (ops.Mask.UP_TO, ops.Choice.RIGHTMOST) if is_past else (ops.Mask.FROM, ops.Choice.LEFTMOST)
        )
        return self.simple.add(ops.Attend(mask, choice, cases, step.bit, None))

    def _one_bit(self, where: ops.Ref) -> ops.Ref:
        """What a head looks for as a whole."""
        steps = self.simple.builder.steps
        step = steps[where]
        is_mixed = isinstance(step, ops.Gate) and all(
            isinstance(steps[bit], ops.Letter | ops.Place) for bit in step.bits
        )
        return self._whole(where) if is_mixed else where

    def _whole(self, gate: ops.Ref) -> ops.Ref:
        """The gate as one bit: conjunctions that it stands in do not take it apart.

        So later layers read the bit, and not the parts, which are no bits where nothing matches.
        """
        return self._gate(ops.Connective.UNION, gate)

    def _head(self, step: ops.Attend | ops.Shift) -> ops.Ref:
        """The step without its default 0, which its guard gives; simplified while that is still said."""
        found = self.simple.add(step)
        simplified = self.simple.builder.steps[found]
        if isinstance(simplified, ops.Attend | ops.Shift) and simplified.default is not None:
            return self.simple.builder.add(replace(simplified, default=None))
        return found

    def _shift_leaves(self, step: ops.Shift, leaves: tuple[ops.Ref, ...]) -> ops.Ref:
        """The gate of the shifted letters and places; wrong at the edge, where it is guarded."""
        shifted: dict[ops.Ref, ops.Ref] = {}
        for leaf in leaves:
            own = self.simple.builder.steps[leaf]
            if isinstance(own, ops.Place):
                shifted[leaf] = self.simple.place(shift_position(own.form, _offset(step)))
            else:
                shifted[leaf] = self._shifted(replace(step, bit=leaf))
        cubes = disjoint_cubes(tuple(self.simple.builder.steps), (step.bit, True), leaves)
        return self._disjunction_of_cubes([[(shifted[leaf], sign) for leaf, sign in cube] for cube in cubes])

    def _disjunction_of_cubes(self, cubes: list[list[Literal]]) -> ops.Ref:
        return self._gate(ops.Connective.OR, *(self._conjunction(cube) for cube in cubes))

    def _conjunction(self, cube: Sequence[Literal]) -> ops.Ref:
        parts = (bit if sign else self.simple.negate(bit) for bit, sign in cube)
        return self._gate(ops.Connective.AND, *parts)

    def _mixed_leaves(self, bit: ops.Ref) -> tuple[ops.Ref, ...] | None:
        """The letters and places of a gate that has nothing else below it, and not too many cubes."""
        steps = self.simple.builder.steps
        leaves: set[ops.Ref] = set()
        stack, seen = [bit], {bit}
        while stack:
            ref = stack.pop()
            step = steps[ref]
            if isinstance(step, ops.Place) and has_reciprocal(step.form):
                return None
            if isinstance(step, ops.Letter | ops.Place):
                leaves.add(ref)
            elif isinstance(step, ops.Not | ops.Gate | ops.Table):
                stack.extend(source for source in ops.inputs(step) if source not in seen)
                seen.update(ops.inputs(step))
            else:
                return None
        if len(leaves) < 2 or len(leaves) > MAX_MIXED_LEAVES:
            return None
        return tuple(sorted(leaves))

    def _exists(self, step: ops.Attend, leaves: tuple[ops.Ref, ...]) -> ops.Ref:
        """Whether some visible position has the gate that is read, cube by cube."""
        found: list[ops.Ref] = []
        for cube in disjoint_cubes(tuple(self.simple.builder.steps), (step.value, True), leaves):
            both = self._conjunction(cube)
            parts = self.simple.builder.steps[both]
            read = parts.bits if isinstance(parts, ops.Gate) else (both,)
            heads = (self._head(replace(step, cases=ops.everywhere(both), value=bit)) for bit in read)
            found.append(self._gate(ops.Connective.AND, *heads))
        return self._gate(ops.Connective.OR, *found)

    def _attend(self, step: ops.Attend) -> ops.Ref:
        if step.where is None:
            return self._by_case(step)
        if step.where == step.value and not step.default:
            leaves = self._mixed_leaves(step.where)
            if leaves is not None:
                return self._exists(step, leaves)
        found = self._guarded(replace(step, default=False))
        if not step.default:
            return found
        exists = self._head(replace(step, value=step.where, default=False))
        return self._gate(ops.Connective.OR, found, self.simple.negate(exists))

    def _guarded(self, step: ops.Attend) -> ops.Ref:
        """The selection with default 0, of what is 0 where nothing matches."""
        assert step.where is not None
        if self._implies(step.value, step.where):
            return self._head(step)
        both = self._gate(ops.Connective.AND, step.where, step.value)
        if self._is_embedded(step.where) and self._is_embedded(step.value) and not self._is_embedded(both):
            read = self._head(step)
            found = self._head(replace(step, value=step.where))
            return self._whole(self._gate(ops.Connective.AND, found, read))
        return self._head(replace(step, value=both))

    def _by_case(self, step: ops.Attend) -> ops.Ref:
        """What the head reads, if the position that it reads matches by the case that is in force."""
        if step.default:
            opposite = replace(step, value=self.simple.negate(step.value), default=False)
            return self.simple.negate(self._by_case(opposite))
        value = step.value
        if value != self.simple.constant(True):
            value = self._head(step)
        matches = []
        for here, there in step.cases:
            assert here is not None, "one case that is in force everywhere is no case"
            matches.append(self._gate(ops.Connective.AND, here, self._head(replace(step, value=there))))
        return self._gate(ops.Connective.AND, value, self._gate(ops.Connective.UNION, *matches))

    def _is_embedded(self, bit: ops.Ref) -> bool:
        """Whether no feed-forward has to make the bit before a head can read it."""
        return isinstance(self.simple.builder.steps[bit], ops.Letter | ops.Place)

    def _implies(self, bit: ops.Ref, other: ops.Ref) -> bool:
        """Whether `bit` implies `other`, as far as their shape shows."""
        if bit == other or self._letters_within(bit, other):
            return True
        step = self.simple.builder.steps[other]
        if isinstance(step, ops.Not) and isinstance(inner := self.simple.builder.steps[step.bit], ops.Gate):
            # A disjunction: the negated conjunction of its negated parts.
            parts = [self.simple.negate(part) for part in inner.bits]
            is_or = inner.connective is ops.Connective.AND
            return is_or and any(bit == part or self._letters_within(bit, part) for part in parts)
        return False

    def _letters_within(self, bit: ops.Ref, other: ops.Ref) -> bool:
        inner, outer = self.simple.builder.steps[bit], self.simple.builder.steps[other]
        if isinstance(inner, ops.Letter) and isinstance(outer, ops.Letter):
            return set(inner.symbols) <= set(outer.symbols)
        return False

    def _gate(self, connective: ops.Connective, *bits: ops.Ref) -> ops.Ref:
        return self.simple.add(ops.Gate(connective, bits))
