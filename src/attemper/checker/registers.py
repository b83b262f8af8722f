"""What an attention program that looks to the left keeps of the past, and one position of it in many cases.

A program that looks to the left keeps finitely much of what was before in *registers*: a selection what it
chose last, a shift the bit of the position before, a total a number modulo what it is tested by, or up to
where its tests do not change any more.

A total that rises and falls without end is *forgotten* once it is further from 0 than an automaton of so many
states needs: in that case it is not known from then on, nor is any bit that it decides.
"""

from __future__ import annotations

from collections.abc import Collection, Hashable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import reduce
from math import lcm
from typing import assert_never, final

from attemper.attention_program import ops
from attemper.attention_program.ops import counted_in
from attemper.checker import cases
from attemper.checker.names import UnprovenError
from attemper.exact import closed_forms, predicates

MAX_PLACES = 5_000
"""More positions than these are not told apart."""

Registers = tuple[Hashable, ...]
"""What a part of a program keeps of the positions before."""

UNKNOWN = "?"
"""How a bit that has been forgotten is kept; others as "0" and "1"."""

AT_FIRST = ops.Place(closed_forms.FIRST)


# Positions --------------------------------------------------------------------------------------------


@final
@dataclass(frozen=True)
class PeriodicPositions:
    """Positions as the program's tests see them: from `prefix` on they repeat with `period`."""

    prefix: int
    period: int

    @staticmethod
    def of(program: ops.Program) -> PeriodicPositions:
        prefix, period = 1, 1
        for step in program.steps:
            for test in _tests(step.form) if isinstance(step, ops.Place) else ():
                match test:
                    case predicates.Remainder(modulus, _):
                        period = lcm(period, modulus)
                    case int(last):
                        prefix = max(prefix, last + 1)
                if prefix + period > MAX_PLACES:
                    raise UnprovenError(f"its tests of positions tell more than {MAX_PLACES} of them apart")
        return PeriodicPositions(prefix, period)

    def next(self, place: int) -> int:
        return place + 1 if place + 1 < self.prefix + self.period else self.prefix


def _tests(form: closed_forms.ClosedForm) -> Iterator[predicates.Remainder | int]:
    """What a form of places repeats with: a modulus, or the last position that can be an exception."""
    match form:
        case closed_forms.Number():
            return
        case closed_forms.Alternating():
            yield predicates.Remainder(2, 0)
        case closed_forms.Sum(parts) | closed_forms.Product(parts):
            for part in parts:
                yield from _tests(part)
        case closed_forms.Power(base, exponent) if exponent >= 0:
            yield from _tests(base)
        case closed_forms.Digits(inner):
            yield from _tests(inner)
        case closed_forms.Test(predicate, _, 0, shift):
            match predicates.periodic(predicate):
                case predicates.Remainder() as remainder:
                    yield remainder
                case predicates.Zero() | predicates.NonNegative():
                    yield abs(shift)
                case predicates.Named(name):
                    raise UnprovenError(f"no automaton follows the positions with '{name}'")
                case other:
                    assert_never(other)
        case _:
            raise UnprovenError("it reads more of positions than where they are")


# Totals --------------------------------------------------------------------------------------------


@final
@dataclass(frozen=True)
class PrefixSum:
    """constant + the sum of factor * bit over the positions so far; at i without i itself where strict.

    It is kept modulo `modulus`; if that is 0, between `least` and `most`, at which it stops if `stops`, and
    beyond which it is forgotten if not.
    """

    constant: int
    parts: tuple[tuple[int, bool, ops.Ref], ...]
    modulus: int
    least: int
    most: int
    stops: bool

    def kept(self, value: int) -> int | None:
        if self.modulus:
            return value % self.modulus
        if self.stops:
            return max(self.least, min(self.most, value))
        return value if self.least <= value <= self.most else None


def _tallies(
    program: ops.Program, steps: Iterable[ops.Ref], states: int
) -> dict[tuple[ops.Ref, bool], PrefixSum]:
    """What is kept of each count that is tested: for its remainders (True), and for its size (False)."""
    moduli: dict[ops.Ref, int] = {}
    edges: dict[ops.Ref, list[int]] = {}
    for ref in steps:
        match program.steps[ref]:
            case ops.Compare(count, threshold):
                edges.setdefault(count, []).append(threshold)
            case ops.Equals(count, value):
                edges.setdefault(count, []).extend((value, value + 1))
            case ops.CountTest(predicate, count, scale, shift):
                match predicates.periodic(predicate):
                    case predicates.Remainder(modulus, _):
                        moduli[count] = lcm(moduli.get(count, 1), modulus)
                    case predicates.Zero() | predicates.NonNegative():
                        # scale * x + shift changes its sign, or is 0, near x = -shift / scale only.
                        near = -shift // scale if scale else 0
                        edges.setdefault(count, []).extend((near, near + 1))
                    case predicates.Named(name):
                        raise UnprovenError(f"no automaton follows the counts with '{name}'")
                    case other:
                        assert_never(other)
            case _:
                pass
    found = {(ref, True): PrefixSum(*_counted(program, ref), m, 0, 0, False) for ref, m in moduli.items()}
    for ref, thresholds in edges.items():
        constant, parts = _counted(program, ref)
        factors = [factor for factor, _, bit in parts if not _is_once(program, bit)]
        # What is added at the first position only is no rising or falling for ever.
        once = sum(abs(factor) for factor, _, bit in parts if _is_once(program, bit))
        rise, fall = (sum(max(0, sign * factor) for factor in factors) for sign in (1, -1))
        # As far as different states can be apart, and a threshold from there.
        reach = states * max(rise, fall) + max(map(abs, (constant, *thresholds)))
        low = (min(thresholds) - 1 if not rise else -reach) - once
        high = (max(thresholds) if not fall else reach) + once
        found[ref, False] = PrefixSum(constant, parts, 0, low, high, not (rise and fall))
    return found


def _is_once(program: ops.Program, bit: ops.Ref) -> bool:
    """Whether a bit is seen to be 1 at the first position at most: that test, or a conjunction with it."""
    match program.steps[bit]:
        case ops.Gate(ops.Connective.AND, bits):
            return any(program.steps[own] == AT_FIRST for own in bits)
        case step:
            return step == AT_FIRST


def _counted(program: ops.Program, ref: ops.Ref) -> tuple[int, tuple[tuple[int, bool, ops.Ref], ...]]:
    """A count as a constant and (factor, whether i itself is left out, bit)."""
    found = counted_in(program, ref)
    if found is None:
        raise UnprovenError(f"step {ref} counts with factors or constants of 2^62 or more")
    constant, factors = found
    parts: list[tuple[int, bool, ops.Ref]] = []
    for count, factor in factors.items():
        match program.steps[count]:
            case ops.Count(ops.Mask.UP_TO | ops.Mask.BEFORE as mask, bit):
                if factor:
                    parts.append((factor, mask is ops.Mask.BEFORE, bit))
            case _:
                raise UnprovenError(f"step {count} counts to the right")
    return constant, tuple(parts)


# Parts ------------------------------------------------------------------------------------------------


@final
class StepCone:
    """The steps that some bits are made of, as far as other bits are not given, and what these steps keep."""

    def __init__(
        self, program: ops.Program, wanted: Iterable[ops.Ref], given: Collection[ops.Ref], states: int
    ) -> None:
        self.program = program
        self.steps = tuple(sorted(made_of(program, wanted, given)))
        self.given = tuple(ref for ref in self.steps if ref in given)
        self.tallies = _tallies(program, (ref for ref in self.steps if ref not in given), states)
        own = [(ref, program.steps[ref]) for ref in self.steps if ref not in given]
        self.selections = tuple(ref for ref, step in own if isinstance(step, ops.Attend))
        self.shifts = tuple(ref for ref, step in own if isinstance(step, ops.Shift))

    def start(self) -> Registers:
        """The registers before the first position."""
        bits = 2 * len(self.selections) + len(self.shifts)
        totals = (tally.kept(tally.constant) for tally in self.tallies.values())
        return (*"0" * bits, *totals)


def made_of(program: ops.Program, wanted: Iterable[ops.Ref], given: Collection[ops.Ref]) -> set[ops.Ref]:
    """The steps in question, the given bits among them."""
    found: set[ops.Ref] = set()
    left = list(wanted)
    while left:
        ref = left.pop()
        if ref not in found:
            found.add(ref)
            left += () if ref in given else ops.inputs(program.steps[ref])
    return found


@final
class Moment:
    """One position in many cases at once.

    `rows` has the registers of each case. `letters` says for each symbol of the alphabet in which cases it is
    read, `given` what the bits are that are not followed.
    """

    def __init__(
        self,
        part: StepCone,
        place: int,
        is_first: bool,
        rows: Sequence[Registers],
        letters: Sequence[int],
        given: Mapping[ops.Ref, cases.KnownBit],
    ) -> None:
        self.part = part
        self.place = place
        self.is_first = is_first
        self.letters = letters
        self.count = len(rows)
        self.all = (1 << self.count) - 1
        self.bits: dict[ops.Ref, cases.KnownBit] = dict(given)
        held = iter(list(zip(*rows, strict=True)))
        self.selected = {ref: (self._held(next(held)), self._held(next(held))) for ref in part.selections}
        self.before = {ref: self._held(next(held)) for ref in part.shifts}
        self.totals = {key: cases.from_values(next(held)) for key in part.tallies}

    def registers(self) -> list[Registers]:
        """What is kept after this position, case by case."""
        kept = [bit for pair in self.selected.values() for bit in pair] + list(self.before.values())
        columns: list[Sequence[Hashable]] = [self._column(bit) for bit in kept]
        for key, tally in self.part.tallies.items():
            columns.append(
                cases.values_of(cases.mapped(tally.kept, self._increased(key, is_own=None)), self.count)
            )
        return list(zip(*columns, strict=True)) if columns else [()] * self.count

    def _held(self, column: Sequence[Hashable]) -> cases.KnownBit:
        """What `_column` wrote."""
        text = "".join(map(str, column))
        yes, not_no = (
            cases.from_digits(text.replace(UNKNOWN, "0")),
            cases.from_digits(text.replace(UNKNOWN, "1")),
        )
        return cases.KnownBit(yes, self.all & ~not_no)

    def _column(self, bit: cases.KnownBit) -> str:
        yes = cases.digits(bit.yes, self.count)
        if bit.yes | bit.no == self.all:
            return yes
        no = cases.digits(bit.no, self.count)
        return "".join(one if one != other else UNKNOWN for one, other in zip(yes, no, strict=True))

    # Steps ----------------------------------------------------------------------------------------

    def run(self) -> None:
        """Every step, and the registers after it."""
        for ref in self.part.steps:
            step = self.part.program.steps[ref]
            if ref not in self.bits and not isinstance(step, ops.Count | ops.Linear):
                self.bits[ref] = self._bit(ref, step)

    def require_alone(self, bits: Iterable[ops.Ref]) -> None:
        """Raise `UnprovenError` where two of these bits can hold."""
        self._alone([self.bits[ref] for ref in bits], "a symbol")

    def require_known(self, ref: ops.Ref) -> None:
        """Raise `UnprovenError` where the bit has been forgotten."""
        if self.bits[ref].yes | self.bits[ref].no != self.all:
            raise UnprovenError(f"step {ref} depends on a total that rises and falls wherever it goes")

    def _bit(self, ref: ops.Ref, step: ops.Step) -> cases.KnownBit:
        match step:
            case ops.Letter(symbols):
                return self._known(self._letters(symbols))
            case ops.Place(form):
                return self._known(self.all * self._place(form))
            case ops.Not(bit):
                return cases.inverted(self.bits[bit])
            case ops.Gate(connective, bits):
                return self._gate(connective, [self.bits[bit] for bit in bits])
            case ops.Merge(bits):
                return self._gate(ops.Connective.UNION, [self.bits[bit] for bit in bits])
            case ops.Table(bits, rows):
                return self._table([self.bits[bit] for bit in bits], rows)
            case ops.Attend():
                return self._attend(ref, step)
            case ops.Shift(ops.Direction.PREVIOUS, bit, 1, None):
                found = self.bits[bit] if self.is_first else self.before[ref]
                self.before[ref] = self.bits[bit]
                return found
            case ops.Shift() | ops.Nearest() | ops.Matched():
                raise UnprovenError(f"step {ref} looks to the right, at counts, or is no step of a machine")
            case ops.Compare() | ops.Equals() | ops.CountTest():
                return self._compared(step)
            case ops.Count() | ops.Linear():
                raise AssertionError("not a bit")
            case _:
                assert_never(step)

    def _compared(self, step: ops.Comparing) -> cases.KnownBit:
        match step:
            case ops.Compare(count, threshold):
                return cases.holds(
                    lambda total: total >= threshold, self._increased((count, False), is_own=True)
                )
            case ops.Equals(count, value):
                return cases.holds(lambda total: total == value, self._increased((count, False), is_own=True))
            case ops.CountTest(predicate, count, scale, shift):
                by_remainder = isinstance(predicates.periodic(predicate), predicates.Remainder)
                total = self._increased((count, by_remainder), is_own=True)
                return cases.holds(lambda value: predicates.holds(predicate, scale * value + shift), total)
            case _:
                assert_never(step)

    def _known(self, yes: int) -> cases.KnownBit:
        return cases.KnownBit(yes, self.all & ~yes)

    def _letters(self, symbols: tuple[str, ...]) -> int:
        alphabet = self.part.program.alphabet.symbols
        return sum(these for symbol, these in zip(alphabet, self.letters, strict=True) if symbol in symbols)

    def _place(self, form: closed_forms.ClosedForm) -> int:
        value = closed_forms.evaluate(form, self.place, self.place)
        if value not in (0, 1):
            raise UnprovenError("a test of positions is neither 0 nor 1")
        return int(value)

    def _gate(self, connective: ops.Connective, bits: list[cases.KnownBit]) -> cases.KnownBit:
        match connective:
            case ops.Connective.AND:
                return reduce(cases.both, bits, self._known(self.all))
            case ops.Connective.OR:
                return reduce(cases.either, bits, self._known(0))
            case ops.Connective.XOR:
                return reduce(cases.different, bits, self._known(0))
            case ops.Connective.UNION:
                self._alone(bits, "a union")
                return reduce(cases.either, bits, self._known(0))
            case _:
                assert_never(connective)

    def _alone(self, bits: Sequence[cases.KnownBit], what: str) -> None:
        if cases.overlap(bits, self.all):
            raise UnprovenError(f"two bits of {what} can be 1")

    def _table(self, bits: list[cases.KnownBit], rows: tuple[tuple[bool, ...], ...]) -> cases.KnownBit:
        cubes = (
            [bit if value else cases.inverted(bit) for bit, value in zip(bits, row, strict=True)]
            for row in rows
        )
        return self._gate(ops.Connective.OR, [self._gate(ops.Connective.AND, cube) for cube in cubes])

    def _attend(self, ref: ops.Ref, step: ops.Attend) -> cases.KnownBit:
        """A selection: what it gives here; it keeps whether it has found anything, and what it gives.

        Where it has found nothing it gives what stands at i (rightmost), or at 1 (leftmost).
        """
        sought = step.where
        if sought is None or step.default is not None or step.mask not in {ops.Mask.UP_TO, ops.Mask.BEFORE}:
            raise UnprovenError(f"step {ref} is no selection to the left of a machine, or has cases")
        where, value = self.bits[sought], self.bits[step.value]
        there = self._known(self.all) if sought == step.value else value
        found, kept = self.selected[ref]
        match step.choice:
            case _ if self.is_first:
                given = value
            case ops.Choice.RIGHTMOST:
                given = cases.chosen(where, there, cases.chosen(found, kept, value))
            case ops.Choice.LEFTMOST:
                given = cases.chosen(found, kept, cases.chosen(where, there, kept))
            case _:
                assert_never(step.choice)
        has_found = where if self.is_first else cases.either(found, where)
        is_needed = step.mask is ops.Mask.BEFORE or step.choice is ops.Choice.LEFTMOST
        self.selected[ref] = has_found, given if is_needed else cases.both(has_found, given)
        if step.mask is ops.Mask.UP_TO:
            return given
        return self._known(0) if self.is_first else kept

    def _increased(self, key: tuple[ops.Ref, bool], *, is_own: bool | None) -> cases.KnownInteger:
        """A total with what i adds to it: for i itself, or (None) for the positions after it."""
        total = self.totals[key]
        for factor, is_strict, bit in self.part.tallies[key].parts:
            if not (is_own and is_strict):
                total = cases.increased(total, factor, self.bits[bit])
        return total
