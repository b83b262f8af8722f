"""That an attention program computes an automaton's language: all that it keeps of the past is followed.

A *configuration* is a position of some word: its letter and place, the state that the automaton has reached
before it, and the registers of the program there. Every configuration that can be reached from a first
position is looked at; if the output is right each time, it is right at every position of every word.

All registers together can have too many values. So the groups of bits of which at most one is 1 are followed
one after the other, each with its own registers. Which bit of a group is 1 is its *code*; once a group has
been followed, only its codes are kept: the *abstraction* is a graph whose ways from the first positions on
are the ways in which letters, places, states and codes can follow each other. The next group is followed
along the abstraction.

All configurations that are first reached after the same number of positions are looked at together: a *case*
is one binary digit of an integer, and a gate is one operation on integers.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import final

from attemper.attention_program.ops import Program, Ref
from attemper.checker.bisimulation import classes
from attemper.checker.cases import KnownBit, digits, from_digits, values_of
from attemper.checker.names import UnprovenError
from attemper.checker.registers import Moment, PeriodicPositions, Registers, StepCone
from attemper.languages.regular.dfa import Dfa

MAX_CONFIGURATIONS = 400_000
"""More configurations than these are not followed."""

BLOCK = 4_096
"""So many configurations are looked at together."""

RefGroup = tuple[Ref, ...]

Code = int
"""Which bit of a group is 1; the number of its bits if none is."""

Scene = tuple[int, int, int, tuple[Code, ...]]
"""(number of the letter, place, the automaton's state before it, codes of the groups that are still read)."""


def follows(program: Program, dfa: Dfa | None, groups: Sequence[RefGroup] = ()) -> bool:
    """Whether the program's output says at every position of every word whether the word so far is accepted.

    Without an automaton nothing is asked of the output but that it is known. The program has the meaning of
    `attention_program.machine`. With `groups`, also that at no position of any word two bits of a group
    are 1. Raises `UnprovenError` where the program looks to the right, or keeps too much.
    """
    if dfa is not None and program.alphabet != dfa.alphabet:
        raise UnprovenError("the program has another alphabet than the automaton")
    follower = Follower(program, dfa, groups, 1 if dfa is None else len(dfa.moves))
    for group in follower.groups:
        follower.follow(group)
    return follower.agrees()


def require_few(configurations: int) -> None:
    """Raise `UnprovenError` if there are more configurations than are followed."""
    if configurations > MAX_CONFIGURATIONS:
        raise UnprovenError(f"what the program keeps has over {MAX_CONFIGURATIONS:,} combinations")


@final
@dataclass(frozen=True)
class Abstraction:
    """The scenes that positions can have; which can be the first, and which can follow each, by number."""

    scenes: Sequence[Scene]
    first: Sequence[int]
    after: Sequence[Sequence[int]]


def _start(dfa: Dfa, places: PeriodicPositions) -> Abstraction:
    """All letters in any order, without codes."""
    letters = range(len(dfa.alphabet.symbols))
    known = {(1, dfa.start): 0}
    stops = list(known)
    after: list[Sequence[int]] = []
    for place, state in stops:
        for letter in letters:
            reached = places.next(place), dfa.moves[state][letter]
            if reached not in known:
                known[reached] = len(stops)
                stops.append(reached)
            after.append([known[reached] * len(letters) + other for other in letters])
        if len(after) > MAX_CONFIGURATIONS:
            raise UnprovenError(f"states and places have over {MAX_CONFIGURATIONS:,} combinations")
    scenes = [(letter, place, state, ()) for place, state in stops for letter in letters]
    return Abstraction(scenes, letters, after)


@final
class Follower:
    """The program beside the automaton, with the abstraction by the groups that were followed so far.

    A total that rises and falls is followed as far as `states` states of an automaton can be apart. A walk
    tells `watch` time and again how many configurations it has met; what `watch` raises ends the walk.
    """

    def __init__(
        self,
        program: Program,
        dfa: Dfa | None,
        groups: Sequence[RefGroup],
        states: int,
        watch: Callable[[int], None] = require_few,
    ) -> None:
        self.program, self.states, self.watch = program, states, watch
        self.is_asked = dfa is not None
        letters = len(program.alphabet.symbols)
        self.dfa = Dfa(program.alphabet, ((0,) * letters,), 0, frozenset()) if dfa is None else dfa
        self.groups = sorted(groups, key=max)
        self.abstraction = _start(self.dfa, PeriodicPositions.of(program))
        self.codes: dict[Ref, tuple[RefGroup, Code]] = {}
        """For each bit that is no longer followed: its group, and its own code."""
        self.read: tuple[RefGroup, ...] = ()
        """The groups whose codes the abstraction has, in the order of the codes."""

    def follow(self, group: RefGroup) -> None:
        """Add a group to the abstraction. Raises `UnprovenError` if two of its bits can be 1."""
        walk = Walk(self, group)
        codes: list[Code] = []
        for moment in walk.moments():
            moment.require_alone(group)
            codes += _codes(moment, group)
        for code, ref in enumerate(group):
            self.codes.setdefault(ref, (group, code))
        read = self._still_read(group)
        kept = [number for number, own in enumerate(self.read) if own in read]
        scenes = [self.abstraction.scenes[scene] for scene, _ in walk.configurations]
        seen = [
            (*scene[:3], (*(scene[3][number] for number in kept), *([code] if group in read else [])))
            for scene, code in zip(scenes, codes, strict=True)
        ]
        self.abstraction = _merged(seen, len(walk.abstraction.first), walk.after)
        self.read = tuple(own for own in (*self.read, group) if own in read)

    def _still_read(self, group: RefGroup) -> set[RefGroup]:
        """The groups that are read by what is still to be followed."""
        left = self.groups[self.groups.index(group) + 1 :]
        parts = [self.part(own) for own in (*left, (self.program.output,))]
        return {self.codes[ref][0] for part in parts for ref in part.given}

    def part(self, wanted: RefGroup) -> StepCone:
        """What these bits are made of, as far as it must still be followed."""
        return StepCone(self.program, wanted, self.codes, self.states)

    def agrees(self) -> bool:
        """Whether the output is right at every configuration. Raises `UnprovenError` where it is not
        known.
        """
        walk = Walk(self, (self.program.output,))
        for configuration, is_one in enumerate(self.said(walk)):
            letter, _, state, _ = self.abstraction.scenes[walk.configurations[configuration][0]]
            if self.is_asked and is_one != (self.dfa.moves[state][letter] in self.dfa.accepting):
                return False
        return True

    def said(self, walk: Walk) -> Iterator[bool]:
        """The output at each configuration of its walk. Raises `UnprovenError` where it is not known."""
        for moment in walk.moments():
            moment.require_known(self.program.output)
            yield from (bit == "1" for bit in digits(moment.bits[self.program.output].yes, moment.count))


def _codes(moment: Moment, group: RefGroup) -> list[Code]:
    """Which bit of the group is 1, configuration by configuration."""
    for ref in group:
        moment.require_known(ref)
    ones = {code: moment.bits[ref].yes for code, ref in enumerate(group)}
    return [len(group) if code is None else code for code in values_of(ones, moment.count)]


def _merged(seen: Sequence[Scene], first: int, after: Sequence[Sequence[int]]) -> Abstraction:
    """The abstraction of configurations that are seen like this: those that no way onwards tells apart are
    one.
    """
    numbers = classes(seen, after)
    scenes: dict[int, Scene] = {}
    following: dict[int, list[int]] = {}
    for configuration, number in enumerate(numbers):
        if number not in scenes:
            scenes[number] = seen[configuration]
            following[number] = sorted({numbers[other] for other in after[configuration]})
    count = range(len(scenes))
    begin = sorted(set(numbers[:first]))
    return Abstraction([scenes[number] for number in count], begin, [following[number] for number in count])


@final
class Walk:
    """All configurations of the part of the program that some bits are made of, along an abstraction.

    A configuration is a scene of the abstraction, and registers, both by number; the first come first.
    """

    def __init__(self, follower: Follower, wanted: RefGroup) -> None:
        self.codes, self.read, self.watch = follower.codes, follower.read, follower.watch
        self.abstraction = follower.abstraction
        self.part = follower.part(wanted)
        self.letters = range(len(follower.dfa.alphabet.symbols))
        self.rows: list[Registers] = [self.part.start()]
        self._row_numbers = {self.rows[0]: 0}
        self.configurations = [(scene, 0) for scene in self.abstraction.first]
        # A later position is another configuration than the first, even with the same registers.
        self._numbers: dict[tuple[int, int], int] = {}
        self.after: list[list[int]] = []

    def moments(self) -> Iterator[Moment]:
        """All configurations in their order, in blocks that are equally far from the first position."""
        begin, is_first = 0, True
        while begin < len(self.configurations):
            end = len(self.configurations)
            for start in range(begin, end, BLOCK):
                block = self.configurations[start : min(start + BLOCK, end)]
                moment = self._moment(block, is_first)
                yield moment
                self._move(block, moment)
            begin, is_first = end, False

    def _move(self, block: Sequence[tuple[int, int]], moment: Moment) -> None:
        """Add what can follow each configuration of the block."""
        for (scene, _), registers in zip(block, moment.registers(), strict=True):
            row = self._row_numbers.setdefault(registers, len(self.rows))
            if row == len(self.rows):
                self.rows.append(registers)
            reached = []
            for following in self.abstraction.after[scene]:
                configuration = following, row
                number = self._numbers.setdefault(configuration, len(self.configurations))
                if number == len(self.configurations):
                    self.configurations.append(configuration)
                reached.append(number)
            self.after.append(reached)
        self.watch(len(self.configurations))

    def _moment(self, block: Sequence[tuple[int, int]], is_first: bool) -> Moment:
        scenes = [self.abstraction.scenes[scene] for scene, _ in block]
        letters = [from_digits("1" if scene[0] == own else "0" for scene in scenes) for own in self.letters]
        every = (1 << len(block)) - 1
        given: dict[Ref, KnownBit] = {}
        for ref in self.part.given:
            group, code = self.codes[ref]
            number = self.read.index(group)
            yes = from_digits("1" if scene[3][number] == code else "0" for scene in scenes)
            given[ref] = KnownBit(yes, every & ~yes)
        rows = [self.rows[row] for _, row in block]
        moment = Moment(self.part, scenes[0][1], is_first, rows, letters, given)
        moment.run()
        return moment
