"""That an attention program computes an automaton's language: all that it keeps of the past is followed.

A program that looks to the left keeps finitely much of what was before: a selection what it chose last, a
shift the bit of the position before, a total a number modulo what it is tested by, or up to where its tests
do not change any more. A *configuration* is the automaton's state with all of that, after some positions.
Every configuration that can be reached is tried with every symbol; if the output is right each time, it is
right at every position of every word.

All configurations that are first reached after the same number of positions are tried at once, each with each
symbol: a *case* is one binary digit of an integer, and a gate is one operation on integers.

A total that rises and falls without end is *forgotten* once it is further from 0 than an automaton of so many
states needs: in that case it is not known from then on, nor is any bit that it decides.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterator, Sequence
from dataclasses import dataclass
from functools import reduce
from math import lcm
from typing import assert_never, final

from attemper.attention_program.ops import (
    Attend,
    Choice,
    Compare,
    Connective,
    Count,
    CountTest,
    Direction,
    Equals,
    Gate,
    Letter,
    Linear,
    Mask,
    Merge,
    Not,
    Place,
    Program,
    Ref,
    Shift,
    Step,
    Table,
)
from attemper.checker.cases import (
    Bit,
    Number,
    both,
    chosen,
    different,
    digits,
    either,
    from_digits,
    from_values,
    holds,
    increased,
    inverted,
    mapped,
    overlap,
    values_of,
)
from attemper.checker.names import UnprovenError
from attemper.exact import closed_forms, predicates
from attemper.exact.closed_forms import (
    Alternating,
    ClosedForm,
    Power,
    Product,
    Sum,
    Test,
    evaluate,
)
from attemper.exact.predicates import Named, NonNegative, Predicate, Remainder, Zero
from attemper.languages.regular.dfa import Dfa
from attemper.languages.words import Alphabet

MAX_PLACES = 5_000
"""More positions than these are not told apart."""

MAX_CONFIGURATIONS = 400_000
"""More configurations than these are not followed."""

BLOCK = 4_096
"""So many configurations are tried at once."""

_PERIODIC = {"even": Remainder(2, 0), "odd": Remainder(2, 1)}


def follows(program: Program, dfa: Dfa | None, groups: Sequence[tuple[Ref, ...]] = ()) -> bool:
    """Whether the program's output says at every position of every word whether the word so far is accepted.

    Without an automaton nothing is asked of the output but that it is known. The program has the meaning of
    `attention_program.machine`. With `groups`, also that at no position of any word two bits of a group
    are 1. Raises `UnprovenError` where the program looks to the right, or keeps too much.
    """
    if dfa is not None and program.alphabet != dfa.alphabet:
        raise UnprovenError("the program has another alphabet than the automaton")
    follower = _Follower(program, dfa, groups)
    new: list[_Configuration] = [follower.start()]
    place, seen, is_first = 1, dict[int, set[_Configuration]](), True
    while new:
        reached: set[_Configuration] = set()
        for begin in range(0, len(new), BLOCK):
            after = follower.after(new[begin : begin + BLOCK], place, is_first)
            if after is None:
                return False
            reached |= after
        place, is_first = follower.places.next(place), False
        known = seen.setdefault(place, set())
        new = list(reached - known)
        known.update(new)
        if sum(map(len, seen.values())) > MAX_CONFIGURATIONS:
            raise UnprovenError(f"the program has over {MAX_CONFIGURATIONS:,} configurations")
    return True


_Configuration = tuple[Hashable, ...]
"""The state of the automaton, then what the registers hold."""


# Places -----------------------------------------------------------------------------------------------


@final
@dataclass(frozen=True)
class _Places:
    """Positions as the program's tests see them: from `prefix` on they repeat with `period`."""

    prefix: int
    period: int

    @staticmethod
    def of(program: Program) -> _Places:
        prefix, period = 1, 1
        for step in program.steps:
            for test in _tests(step.form) if isinstance(step, Place) else ():
                match test:
                    case Remainder(modulus, _):
                        period = lcm(period, modulus)
                    case int(last):
                        prefix = max(prefix, last + 1)
        if prefix + period > MAX_PLACES:
            raise UnprovenError(f"its tests of positions tell more than {MAX_PLACES} of them apart")
        return _Places(prefix, period)

    def next(self, place: int) -> int:
        return place + 1 if place + 1 < self.prefix + self.period else self.prefix


def _tests(form: ClosedForm) -> Iterator[Remainder | int]:
    """What a form of places repeats with: a modulus, or the last position that can be an exception."""
    match form:
        case closed_forms.Number():
            return
        case Alternating():
            yield Remainder(2, 0)
        case Sum(parts) | Product(parts):
            for part in parts:
                yield from _tests(part)
        case Power(base, exponent) if exponent >= 0:
            yield from _tests(base)
        case Test(predicate, _, 0, shift):
            match _periodic(predicate):
                case Remainder() as remainder:
                    yield remainder
                case Zero() | NonNegative():
                    yield abs(shift)
                case Named(name):
                    raise UnprovenError(f"no automaton follows the positions with '{name}'")
                case other:
                    assert_never(other)
        case _:
            raise UnprovenError("it reads more of positions than where they are")


def _periodic(predicate: Predicate) -> Predicate:
    return _PERIODIC.get(predicate.name, predicate) if isinstance(predicate, Named) else predicate


# Registers --------------------------------------------------------------------------------------------


@final
@dataclass(frozen=True)
class _Tally:
    """constant + the sum of factor * bit over the positions so far; at i without i itself where strict.

    It is kept modulo `modulus`; if that is 0, between `least` and `most`, at which it stops if `stops`, and
    beyond which it is forgotten if not.
    """

    constant: int
    parts: tuple[tuple[int, bool, Ref], ...]
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


def _parts(program: Program, ref: Ref) -> tuple[int, list[tuple[int, bool, Ref]]]:
    """A count as a constant and (factor, whether i itself is left out, bit)."""
    match program.steps[ref]:
        case Count(Mask.UP_TO | Mask.BEFORE as mask, bit):
            return 0, [(1, mask is Mask.BEFORE, bit)]
        case Linear(parts, constant):
            found: list[tuple[int, bool, Ref]] = []
            for factor, count in parts:
                inner, counted = _parts(program, count)
                constant += factor * inner
                found += [(factor * own, strict, bit) for own, strict, bit in counted]
            return constant, found
        case _:
            raise UnprovenError(f"step {ref} counts to the right")


def _tallies(program: Program, states: int) -> dict[tuple[Ref, bool], _Tally]:
    """What is kept of each count that is tested: for its remainders (True), and for its size (False)."""
    moduli: dict[Ref, int] = {}
    edges: dict[Ref, list[int]] = {}
    for step in program.steps:
        match step:
            case Compare(count, threshold):
                edges.setdefault(count, []).append(threshold)
            case Equals(count, value):
                edges.setdefault(count, []).extend((value, value + 1))
            case CountTest(predicate, count, scale, shift):
                match _periodic(predicate):
                    case Remainder(modulus, _):
                        moduli[count] = lcm(moduli.get(count, 1), modulus)
                    case Zero() | NonNegative():
                        # scale * x + shift changes its sign, or is 0, near x = -shift / scale only.
                        near = -shift // scale if scale else 0
                        edges.setdefault(count, []).extend((near, near + 1))
                    case Named(name):
                        raise UnprovenError(f"no automaton follows the counts with '{name}'")
                    case other:
                        assert_never(other)
            case _:
                pass
    found = {
        (ref, True): _Tally(*_counted(program, ref), modulus, 0, 0, False) for ref, modulus in moduli.items()
    }
    for ref, thresholds in edges.items():
        constant, parts = _counted(program, ref)
        factors = [factor for factor, _, _ in parts]
        rise, fall = (sum(max(0, sign * factor) for factor in factors) for sign in (1, -1))
        # As far as different states can be apart, and a threshold from there.
        reach = states * max(rise, fall) + max(map(abs, (constant, *thresholds)))
        low = min(thresholds) - 1 if not rise else -reach
        high = max(thresholds) if not fall else reach
        found[ref, False] = _Tally(constant, parts, 0, low, high, not (rise and fall))
    return found


def _counted(program: Program, ref: Ref) -> tuple[int, tuple[tuple[int, bool, Ref], ...]]:
    constant, parts = _parts(program, ref)
    return constant, tuple(parts)


# Configurations ---------------------------------------------------------------------------------------


@final
class _Follower:
    """The program beside the automaton, and what both keep of the past."""

    def __init__(self, program: Program, dfa: Dfa | None, groups: Sequence[tuple[Ref, ...]]) -> None:
        self.program = program
        self.is_asked = dfa is not None
        self.dfa = _of_one_state(program.alphabet) if dfa is None else dfa
        self.groups = groups
        self.places = _Places.of(program)
        self.tallies = _tallies(program, len(self.dfa.moves))
        steps = enumerate(program.steps)
        self.selections = tuple(ref for ref, step in steps if isinstance(step, Attend))
        self.shifts = tuple(ref for ref, step in enumerate(program.steps) if isinstance(step, Shift))

    def start(self) -> _Configuration:
        """The configuration before the first position."""
        bits = 2 * len(self.selections) + len(self.shifts)
        totals = (tally.kept(tally.constant) for tally in self.tallies.values())
        return (self.dfa.start, *"01" * bits, *totals)

    def after(
        self, configurations: Sequence[_Configuration], place: int, is_first: bool
    ) -> set[_Configuration] | None:
        """All that can follow; None if the output is wrong somewhere. Case by case: symbol by symbol."""
        moment = _Moment(self, configurations, place, is_first)
        moment.run()
        moved = [row[symbol] for symbol in range(moment.symbols) for row in map(self._row, configurations)]
        accepted = from_digits("1" if state in self.dfa.accepting else "0" for state in moved)
        said = moment.bits[self.program.output]
        if self.is_asked and (said.yes & ~accepted or said.no & accepted):
            return None
        if said.yes | said.no != moment.all:
            raise UnprovenError("its output depends on a total that rises and falls wherever it goes")
        return set(zip(moved, *moment.columns(), strict=True))

    def _row(self, configuration: _Configuration) -> tuple[int, ...]:
        state = configuration[0]
        assert isinstance(state, int)
        return self.dfa.moves[state]


def _of_one_state(alphabet: Alphabet) -> Dfa:
    return Dfa(alphabet, ((0,) * len(alphabet.symbols),), 0, frozenset())


@final
class _Moment:
    """One position in many cases: every configuration with the first symbol, with the second, and so on."""

    def __init__(
        self, follower: _Follower, configurations: Sequence[_Configuration], place: int, is_first: bool
    ) -> None:
        self.follower = follower
        self.program = follower.program
        self.place = place
        self.is_first = is_first
        self.width = len(configurations)
        self.symbols = len(follower.dfa.alphabet.symbols)
        self.count = self.width * self.symbols
        self.all = (1 << self.count) - 1
        self.bits: dict[Ref, Bit] = {}
        _, *columns = zip(*configurations, strict=True)
        held = iter(columns)
        self.selected = {ref: (self._held(held), self._held(held)) for ref in follower.selections}
        self.before = {ref: self._held(held) for ref in follower.shifts}
        self.totals = {key: self._number(next(held)) for key in follower.tallies}

    def columns(self) -> Iterator[Sequence[Hashable]]:
        """What is kept after this position, case by case, in the order of the configurations."""
        kept = [bit for pair in self.selected.values() for bit in pair] + list(self.before.values())
        for bit in kept:
            yield digits(bit.yes, self.count)
            yield digits(bit.no, self.count)
        for key, tally in self.follower.tallies.items():
            yield values_of(mapped(tally.kept, self._increased(key, is_own=None)), self.count)

    def _held(self, columns: Iterator[Sequence[Hashable]]) -> Bit:
        yes, no = (from_digits(map(str, next(columns))) for _ in range(2))
        return Bit(self._everywhere(yes), self._everywhere(no))

    def _number(self, column: Sequence[Hashable]) -> Number:
        values = [value if isinstance(value, int) else None for value in column]
        return {value: self._everywhere(cases) for value, cases in from_values(values).items()}

    def _everywhere(self, cases: int) -> int:
        """The same for every symbol."""
        return sum(cases << self.width * symbol for symbol in range(self.symbols))

    # Steps ----------------------------------------------------------------------------------------

    def run(self) -> None:
        """Every step, and the registers after it. Raises `UnprovenError` where two bits of a group hold."""
        for ref, step in enumerate(self.program.steps):
            if not isinstance(step, Count | Linear):
                self.bits[ref] = self._bit(ref, step)
        for group in self.follower.groups:
            self._alone([self.bits[ref] for ref in group], "a symbol")

    def _bit(self, ref: Ref, step: Step) -> Bit:
        match step:
            case Letter(symbols):
                return self._known(self._letters(symbols))
            case Place(form):
                return self._known(self.all * self._place(form))
            case Not(bit):
                return inverted(self.bits[bit])
            case Gate(connective, bits):
                return self._gate(connective, [self.bits[bit] for bit in bits])
            case Merge(bits):
                return self._gate(Connective.UNION, [self.bits[bit] for bit in bits])
            case Table(bits, rows):
                return self._table([self.bits[bit] for bit in bits], rows)
            case Attend():
                return self._attend(ref, step)
            case Shift(Direction.PREVIOUS, bit):
                found = self.bits[bit] if self.is_first else self.before[ref]
                self.before[ref] = self.bits[bit]
                return found
            case Shift():
                raise UnprovenError(f"step {ref} looks to the right")
            case Compare(count, threshold):
                return holds(lambda total: total >= threshold, self._increased((count, False), is_own=True))
            case Equals(count, value):
                return holds(lambda total: total == value, self._increased((count, False), is_own=True))
            case CountTest(predicate, count, scale, shift):
                by_remainder = isinstance(_periodic(predicate), Remainder)
                total = self._increased((count, by_remainder), is_own=True)
                return holds(lambda value: predicates.holds(predicate, scale * value + shift), total)
            case Count() | Linear():
                raise AssertionError("not a bit")
            case _:
                assert_never(step)

    def _known(self, yes: int) -> Bit:
        return Bit(yes, self.all & ~yes)

    def _letters(self, symbols: tuple[str, ...]) -> int:
        alphabet, block = self.program.alphabet.symbols, (1 << self.width) - 1
        first_is_highest = (
            len(alphabet) - 1 - number for number, symbol in enumerate(alphabet) if symbol in symbols
        )
        return sum(block << self.width * number for number in first_is_highest)

    def _place(self, form: ClosedForm) -> int:
        value = evaluate(form, self.place, self.place)
        if value not in (0, 1):
            raise UnprovenError("a test of positions is neither 0 nor 1")
        return int(value)

    def _gate(self, connective: Connective, bits: list[Bit]) -> Bit:
        match connective:
            case Connective.AND:
                return reduce(both, bits, self._known(self.all))
            case Connective.OR:
                return reduce(either, bits, self._known(0))
            case Connective.XOR:
                return reduce(different, bits, self._known(0))
            case Connective.UNION:
                self._alone(bits, "a union")
                return reduce(either, bits, self._known(0))
            case _:
                assert_never(connective)

    def _alone(self, bits: Sequence[Bit], what: str) -> None:
        if overlap(bits, self.all):
            raise UnprovenError(f"two bits of {what} can be 1")

    def _table(self, bits: list[Bit], rows: tuple[tuple[bool, ...], ...]) -> Bit:
        cubes = (
            [bit if value else inverted(bit) for bit, value in zip(bits, row, strict=True)] for row in rows
        )
        return self._gate(Connective.OR, [self._gate(Connective.AND, cube) for cube in cubes])

    def _attend(self, ref: Ref, step: Attend) -> Bit:
        """A selection: what it gives here; it keeps whether it has found anything, and what it gives.

        Where it has found nothing it gives what stands at i (rightmost), or at 1 (leftmost).
        """
        if step.default or step.match is not None or step.mask not in {Mask.UP_TO, Mask.BEFORE}:
            raise UnprovenError(f"step {ref} is no selection to the left")
        where, value = self.bits[step.where], self.bits[step.value]
        there = self._known(self.all) if step.where == step.value else value
        found, kept = self.selected[ref]
        match step.choice:
            case _ if self.is_first:
                given = value
            case Choice.RIGHTMOST:
                given = chosen(where, there, chosen(found, kept, value))
            case Choice.LEFTMOST:
                given = chosen(found, kept, chosen(where, there, kept))
            case _:
                assert_never(step.choice)
        has_found = where if self.is_first else either(found, where)
        is_needed = step.mask is Mask.BEFORE or step.choice is Choice.LEFTMOST
        self.selected[ref] = has_found, given if is_needed else both(has_found, given)
        if step.mask is Mask.UP_TO:
            return given
        return self._known(0) if self.is_first else kept

    def _increased(self, key: tuple[Ref, bool], *, is_own: bool | None) -> Number:
        """A total with what i adds to it: for i itself, or (None) for the positions after it."""
        total = self.totals[key]
        for factor, is_strict, bit in self.follower.tallies[key].parts:
            if not (is_own and is_strict):
                total = increased(total, factor, self.bits[bit])
        return total
