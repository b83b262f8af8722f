"""What the steps of an attention program are, from the definitions, under the names of one check.

A machine's steps (`attention_program.machine`) are what heads do: a selection that finds nothing falls on
what is blocked, a shift at the edge reads i itself. Under the names of `Programs`, which say what makes a
bit, a network that runs a program holds the program's own diagrams, object for object, and nothing needs to
be known of what they mean. Other programs are brought to normal form, under the names of `Formulas`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from functools import reduce
from typing import assert_never, final

from attemper.attention_program import ops
from attemper.attention_program.ops import counted_in
from attemper.checker.diagrams import Diagram, Variable
from attemper.checker.names import AtOffset, Exists, SelectedAt, UnprovenError
from attemper.checker.sums import Sums
from attemper.checker.tested_sums import Counted, test_of_sum
from attemper.checker.values import of_closed_form, plain
from attemper.exact.closed_forms import ClosedForm
from attemper.networks.layers import Masking

MASKINGS = {
    ops.Mask.UP_TO: Masking.FUTURE,
    ops.Mask.BEFORE: Masking.STRICT_FUTURE,
    ops.Mask.FROM: Masking.PAST,
    ops.Mask.AFTER: Masking.STRICT_PAST,
    ops.Mask.ALL: Masking.NONE,
}


class Programs(Sums):
    """What is made in the same way is one diagram."""

    def exists(self, masking: Masking, where: Diagram) -> Diagram:
        """[some visible position j has where(j)]."""
        where = self.names.canonical(where)
        return where if self.names.diagrams.is_constant(where) else self.names.bit(Exists(masking, where))

    def chosen(self, masking: Masking, leftmost: bool, where: Diagram, diagram: Diagram) -> Diagram:
        """The value at the rightmost (leftmost) visible position with `where`, which must exist."""
        where, diagram = self.names.canonical(where), self.names.canonical(diagram)
        if where == self.names.false:
            return self.names.false
        cared = self.names.diagrams.constrain(diagram, where, self.names.false)
        return self._moved(cared, lambda family: SelectedAt(masking, leftmost, where, family))

    def shifted(self, diagram: Diagram, offset: int, at_edge: Diagram) -> Diagram:
        """The value at i + offset (offset 1 or -1), `at_edge` where there is no such position."""
        inside = self._moved(self.names.canonical(diagram), lambda family: AtOffset(offset, family))
        return self.names.choose(self.names.first if offset < 0 else self.names.last, at_edge, inside)

    def _moved(self, diagram: Diagram, name: Callable[[int], SelectedAt | AtOffset]) -> Diagram:
        """The diagram with every variable under another name."""

        def moved(variable: Variable) -> Diagram:
            family, threshold = variable
            return self.names.bit(name(family), threshold)

        return self.names.elsewhere(diagram, moved)


@final
class Steps:
    """The diagrams of a program's steps; those in `named` have names of their own."""

    def __init__(self, positions: Sums, program: ops.Program) -> None:
        self.positions, self.names = positions, positions.names
        self.program = program
        self.named: dict[ops.Ref, Diagram] = {}
        self.promises: list[tuple[ops.Ref, ...]] = []
        """Bits that are added up to a bit, where the diagrams do not show that at most one of them is 1."""
        self._known: dict[ops.Ref, Diagram] = {}

    def name(self, ref: ops.Ref, diagram: Diagram) -> None:
        """Call a step by this name from now on: what has been made of it before keeps its own."""
        self.named[ref] = diagram
        self._known[ref] = diagram

    def bit(self, ref: ops.Ref) -> Diagram:
        """The diagram of a step that is a bit. Raises `UnprovenError` for steps without a machine meaning."""
        if ref not in self._known:
            self._known[ref] = self.names.canonical(self._bit(ref, self.program.steps[ref]))
        return self._known[ref]

    def make_all(self) -> None:
        """Every bit, with its promises, and every count: also those that the output does not need."""
        for ref, step in enumerate(self.program.steps):
            if isinstance(step, ops.Count | ops.Linear):
                self._counts(ref)
            else:
                self.bit(ref)

    def _bit(self, ref: ops.Ref, step: ops.Step) -> Diagram:
        names = self.names
        match step:
            case ops.Letter(symbols):
                return self.names.total(names.letter(symbol) for symbol in symbols)
            case ops.Place(form):
                return self._place(ref, form)
            case ops.Not(bit):
                return names.negation(self.bit(bit))
            case ops.Gate(ops.Connective.UNION, bits) | ops.Merge(bits):
                return self._sum(bits)
            case ops.Gate(connective, bits):
                return self._gate(connective, map(self.bit, bits))
            case ops.Table(bits, rows):
                return self._table([self.bit(bit) for bit in bits], rows)
            case ops.Attend() | ops.Nearest() | ops.Matched() | ops.Shift():
                return self._looked(ref, step)
            case ops.Compare() | ops.Equals() | ops.CountTest():
                return self._compared(ref, step)
            case ops.Count() | ops.Linear():
                raise AssertionError("not a bit")
            case _:
                assert_never(step)

    def _looked(self, ref: ops.Ref, step: ops.Looking) -> Diagram:
        match step:
            case ops.Attend():
                return self._attend(step)
            case ops.Nearest():
                from attemper.checker import whole_numbers

                return whole_numbers.nearest(self.names, *self._sought(ref, step), self.bit(step.value))
            case ops.Matched():
                return self._matched(ref, step)
            case ops.Shift():
                return self._shift(step)
            case _:
                assert_never(step)

    def _place(self, ref: ops.Ref, form: ClosedForm) -> Diagram:
        place = plain(of_closed_form(self.names, form), self.names, "a test of positions")
        if not self.names.is_bit(place):
            raise UnprovenError(f"step {ref} is neither 0 nor 1 everywhere")
        return place

    def _sum(self, bits: tuple[ops.Ref, ...]) -> Diagram:
        """The sum of bits of which at most one is meant to be 1."""
        total = self.names.canonical(self.names.total(map(self.bit, bits)))
        if not self.names.is_bit(total):
            self.promises.append(bits)
        return total

    def _gate(self, connective: ops.Connective, bits: Iterable[Diagram]) -> Diagram:
        names = self.names
        match connective:
            case ops.Connective.AND:
                return reduce(names.both, bits, names.true)
            case ops.Connective.OR:
                return reduce(names.either, bits, names.false)
            case ops.Connective.XOR:
                return reduce(names.different, bits, names.false)
            case ops.Connective.UNION:
                raise AssertionError("a sum, which promises something")
            case _:
                assert_never(connective)

    def _table(self, bits: list[Diagram], rows: tuple[tuple[bool, ...], ...]) -> Diagram:
        cubes = (
            [bit if value else self.names.negation(bit) for bit, value in zip(bits, row, strict=True)]
            for row in rows
        )
        return self._gate(ops.Connective.OR, (self._gate(ops.Connective.AND, cube) for cube in cubes))

    def _shift(self, step: ops.Shift) -> Diagram:
        """As many neighbours' neighbours as the distance; at the edge the default, or what stands there."""
        names, found = self.names, self.bit(step.bit)
        offset = -1 if step.direction is ops.Direction.PREVIOUS else 1
        for _ in range(step.distance):
            at_edge = found if step.default is None else names.number(step.default)
            found = names.canonical(self.positions.shifted(found, offset, at_edge))
        return found

    def _attend(self, step: ops.Attend) -> Diagram:
        """By the case that is in force at i: that there are no two of these is promised."""
        names = self.names
        heres = tuple(here for here, _ in step.cases if here is not None)
        self._sum(heres)
        found = self._unsought(step)
        for here, there in step.cases:
            selected = self._selected(step, self.bit(there))
            found = selected if here is None else names.choose(self.bit(here), selected, found)
        return found

    def _unsought(self, step: ops.Attend) -> Diagram:
        """Where no case is in force: a head, which looks for nothing, reads the outermost position."""
        if step.default is not None:
            return self.names.number(step.default)
        return self._selected(step, self.names.true)

    def _selected(self, step: ops.Attend, where: Diagram) -> Diagram:
        """The value where the bit `where` holds; if it holds nowhere, a head falls on what is blocked."""
        names, masking, leftmost = self.names, MASKINGS[step.mask].weak, step.choice is ops.Choice.LEFTMOST
        value = self.bit(step.value)
        found = self.positions.chosen(masking, leftmost, where, value)
        if step.default is None:
            other = self.positions.chosen(masking, leftmost, names.negation(where), value)
        else:
            other = names.number(step.default)
        weak = names.choose(self.positions.exists(masking, where), found, other)
        return self._beside(MASKINGS[step.mask], weak, names.number(step.default or 0))

    def _beside(self, masking: Masking, weak: Diagram, unseen: Diagram) -> Diagram:
        """What a mask shows, given what the weak one does; `unseen` at the end that sees nothing."""
        if not masking.is_strict:
            return weak
        return self.positions.shifted(weak, -1 if masking is Masking.STRICT_FUTURE else 1, unseen)

    def _compared(self, ref: ops.Ref, step: ops.Comparing) -> Diagram:
        names = self.names
        match step:
            case ops.Compare(count, threshold):
                return self._at_least(count, threshold)
            case ops.Equals(count, value):
                above = self._at_least(count, value + 1)
                return names.both(self._at_least(count, value), names.negation(above))
            case ops.CountTest(predicate, count, scale, shift):
                constant, counts = self._counts(count, scale, shift)
                return test_of_sum(self.positions, predicate, counts, constant)
            case _:
                assert_never(step)

    def _matched(self, ref: ops.Ref, step: ops.Matched) -> Diagram:
        """The key at the nearest position is not less than the query, and not more."""
        names = self.names
        from attemper.checker import whole_numbers

        found, _ = whole_numbers.nearest_key(names, *self._sought(ref, step))
        return names.both(
            whole_numbers.beyond(names, found, 0), names.negation(whole_numbers.beyond(names, found, 1))
        )

    def _sought(
        self, ref: ops.Ref, step: ops.Nearest | ops.Matched
    ) -> tuple[Masking, bool, Diagram, int, int]:
        """Mask, choice, where, query and key, as they name what is nearest."""
        masking = MASKINGS[step.mask]
        if masking.is_strict:
            raise UnprovenError(f"step {ref} looks for the nearest count where i itself is not seen")
        leftmost, where = step.choice is ops.Choice.LEFTMOST, self.bit(step.where)
        return masking, leftmost, where, self._clamped(ref, step.query), self._clamped(ref, step.key)

    def _clamped(self, ref: ops.Ref, count: ops.Ref) -> int:
        """The number of the whole number clamp(count, 1, n), of a count over one side."""
        names = self.names
        constant, sums = self._sums(count)
        sides = [side for side, summand in sums.items() if summand != names.false] or [Masking.FUTURE]
        if len(sides) > 1:
            raise UnprovenError(f"step {ref} reads a count over more than one side")
        (side,) = sides
        summand = names.plus(sums[side], names.scaled(names.mark(side), constant))
        from attemper.checker import whole_numbers

        ((number, _),) = whole_numbers.clamped(names, side, summand, 1).parts
        return number

    def share(self, side: Masking, count: ops.Ref) -> Diagram:
        """A count divided by the number of positions that a weak mask shows, over which all of it must be."""
        names = self.names
        constant, sums = self._sums(count)
        if any(summand != names.false for masking, summand in sums.items() if masking is not side):
            raise UnprovenError(f"a number is a share of other positions than step {count} counts")
        return names.mean(side, names.plus(sums[side], names.scaled(names.mark(side), constant)))

    def _at_least(self, count: ops.Ref, threshold: int) -> Diagram:
        """[count >= threshold]."""
        constant, sums = self._sums(count)
        return self.positions.total_at_least(sums, threshold - constant)

    def _sums(self, count: ops.Ref) -> tuple[int, dict[Masking, Diagram]]:
        """A constant, and the sum of what is added up to it under each weak mask."""
        names = self.names
        sums = dict.fromkeys((Masking.FUTURE, Masking.PAST, Masking.NONE), names.false)
        constant, counts = self._counts(count)
        for factor, masking, bit in counts:
            sums[masking] = names.plus(sums[masking], names.scaled(bit, factor))
        return constant, sums

    def _counts(self, count: ops.Ref, scale: int = 1, shift: int = 0) -> tuple[int, list[Counted]]:
        """scale * count + shift as a constant, and what is added up to it under the weak masks."""
        counted_there = counted_in(self.program, count, scale, shift)
        if counted_there is None:
            raise UnprovenError(f"step {count} counts with factors or constants of 2^62 or more")
        constant, factors = counted_there
        found: list[Counted] = []
        for ref, factor in factors.items():
            counted = self.program.steps[ref]
            assert isinstance(counted, ops.Count)
            masking = MASKINGS[counted.mask]
            found.append(
                (factor, masking.weak, self._beside(masking, self.bit(counted.bit), self.names.false))
            )
        return constant, found


def defined_by(positions: Sums, program: ops.Program) -> tuple[Diagram, ...]:
    """The normal form of each of a program's outputs. Raises `UnprovenError` as `kept_by` does."""
    return results_of(kept_by(positions, program))


def kept_by(positions: Sums, program: ops.Program) -> Steps:
    """The steps of a program that keeps its promises.

    Raises `UnprovenError` where a promise is not seen to be kept, also by a step that the output does not
    need: a program that breaks one means nothing.
    """
    steps = Steps(positions, program)
    steps.make_all()
    if steps.promises:
        raise UnprovenError(
            "two bits of a union, or two cases of a selection, are not seen to exclude each other"
        )
    return steps


def results_of(steps: Steps) -> tuple[Diagram, ...]:
    """What a program puts out. Raises `UnprovenError` unless exactly one bit of a symbol is seen to be 1."""
    program, names = steps.program, steps.names
    if program.numbers is not None:
        raise UnprovenError("the program puts out numbers, not bits")
    found = tuple(steps.bit(ref) for ref in program.outputs)
    if program.symbols and names.canonical(names.total(found)) != names.true:
        raise UnprovenError("its output is not seen to be exactly one symbol")
    return found
