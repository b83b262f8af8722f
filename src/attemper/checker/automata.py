"""That a network computes an automaton's language: a finite condition on consecutive positions.

The bits that a layer of the network calls a *symbol* are taken as one variable with finitely many values.
What a symbol is at a position depends on the letter and the place there, on earlier symbols there, and
on *memories*: what the network's attention has kept of the positions before. All memories are followed
together with the automaton's state, from the first position on; the output must be right in everything that
can happen.

Where that is too much, each symbol is followed in turn with its own memories, along all consecutive pairs of
earlier symbols. That gives the pairs of consecutive values that the symbol itself can take: more than it does
take, perhaps, but never fewer.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import partial
from itertools import product
from math import lcm, prod
from typing import assert_never, final

from attemper.checker.analysis import ROUNDED, Analysis, SymbolFact
from attemper.checker.diagrams import Diagram, Tie, Variable
from attemper.checker.names import (
    Affine,
    At,
    CountRemainder,
    Exists,
    LetterBit,
    Names,
    PlaceAtLeast,
    PlaceRemainder,
    Shifted,
    SumAtLeast,
    SymbolCode,
    UnprovenError,
)
from attemper.checker.values import plain
from attemper.languages.regular.dfa import Dfa
from attemper.networks.layers import Masking

MAX_PLACES = 5_000
"""More positions than these are not told apart."""

MAX_CONFIGURATIONS = 400_000
"""More combinations than these are not followed."""

MAX_EXPLORED = 200_000
"""If all memories together take more values than this, symbols are followed one by one."""

Key = tuple[int, int]
"""A symbol of the network: (layer, group)."""

Code = int
"""Which of its bits is 1; `NOTHING` if none is, `CONFLICT` if two are."""

NOTHING, CONFLICT = -1, -2

Scene = tuple[int, int, int, tuple[Code, ...]]
"""A position: (number of the letter, place, the automaton's state before it, codes of some symbols)."""

Memory = frozenset[int] | int
"""What is kept of the positions before: the bits of a family that were 1, or a count."""

Present = LetterBit | SymbolCode | PlaceAtLeast | PlaceRemainder
"""What a position itself decides."""

Past = Exists | At | Shifted | CountRemainder | SumAtLeast
"""What depends on the positions before, too."""

Support = Callable[[Diagram], Iterable[Variable]]
"""The variables that a diagram depends on."""

Node = tuple[Scene, tuple[Memory, ...]]
"""A position with what is kept of those before."""

ONE = Affine(Fraction(1))

THE_DIAGRAM = -1
"""The reader of a family that is no family itself."""


@final
@dataclass(frozen=True)
class Track:
    """The scenes with one symbol that the first position can have, and those that can follow each scene."""

    first: frozenset[Scene]
    after: Mapping[Scene, frozenset[Scene]]


def computes(analysis: Analysis, dfa: Dfa) -> bool:
    """Whether the output is shown to say at every position whether the word so far is accepted.

    Raises `UnprovenError` where the network is not of the kind that this rule covers.
    """
    output = analysis.network.output
    if analysis.end.errors[output] > ROUNDED:
        return False
    bit = plain(analysis.end.values[output], analysis.names, "the output")
    if not analysis.names.is_bit(bit):
        raise UnprovenError("its output is not a bit")
    subjects = {
        (fact.layer, fact.group): _Subject(analysis.names, _code(analysis.names, fact), len(dfa.moves))
        for fact in analysis.symbols
    }
    last = _Subject(analysis.names, bit, len(dfa.moves))
    places = _Places.of((*subjects.values(), last))
    answer = _explored(places, dfa, subjects, last)
    if answer is not None:
        return answer
    followed = _Followed(places, dfa)
    for key, subject in subjects.items():
        followed.follow(key, subject)
    return followed.agrees(last)


def _code(names: Names, fact: SymbolFact) -> Diagram:
    """Which bit of a symbol is 1."""

    def merged(before: int, bit: Affine, code: int) -> int:
        if bit.constant == 0:
            return before
        return code if before == NOTHING else CONFLICT

    diagram = names.diagrams.constant(NOTHING)
    for code, bit in enumerate(fact.definitions):
        merge = partial(merged, code=code)
        diagram = names.diagrams.combine(("code", fact.layer, fact.group, code), merge, diagram, bit)
    return diagram


# Scenes ----------------------------------------------------------------------------------------------


@final
@dataclass(frozen=True)
class _Places:
    """Positions as the tests of positions see them: from `prefix` on they repeat with `period`."""

    prefix: int
    period: int

    @staticmethod
    def of(subjects: Iterable[_Subject]) -> _Places:
        prefix, period = 1, 1
        for subject in subjects:
            for family, atom in subject.present.items():
                if isinstance(atom, PlaceAtLeast):
                    prefix = max(prefix, *subject.families[family])
                if isinstance(atom, PlaceRemainder):
                    period = lcm(period, atom.modulus)
        if prefix + period > MAX_PLACES:
            raise UnprovenError(f"its position embeddings tell more than {MAX_PLACES} positions apart")
        return _Places(prefix, period)

    def next(self, place: int) -> int:
        return place + 1 if place + 1 < self.prefix + self.period else self.prefix


def _explored(places: _Places, dfa: Dfa, subjects: Mapping[Key, _Subject], output: _Subject) -> bool | None:
    """Whether the output is right in everything that can happen; None if that is too much to follow.

    Here all memories are followed together, so nothing is overestimated.
    """
    order = [*subjects.items()]
    stack = [(1, dfa.start, tuple(subject.start for subject in (*subjects.values(), output)))]
    seen = set(stack)
    while stack:
        place, state, memories = stack.pop()
        for letter in range(len(dfa.alphabet.symbols)):
            codes: dict[Key, Code] = {}
            kept: list[tuple[Memory, ...]] = []
            for (key, subject), memory in zip(order, memories, strict=False):
                scene = (letter, place, state, tuple(codes[parent] for parent in subject.parents))
                code, after = subject.step(scene, memory)
                codes[key] = _single(code, key)
                kept.append(after)
            scene = (letter, place, state, tuple(codes[parent] for parent in output.parents))
            bit, after = output.step(scene, memories[-1])
            moved = dfa.moves[state][letter]
            if (bit == ONE) != (moved in dfa.accepting):
                return False
            reached = (places.next(place), moved, (*kept, after))
            if reached not in seen:
                if len(seen) >= MAX_EXPLORED:
                    return None
                seen.add(reached)
                stack.append(reached)
    return True


def _single(code: Hashable, key: Key) -> Code:
    if code == CONFLICT:
        raise UnprovenError(f"layer {key[0]}: two bits of one symbol can be 1")
    assert isinstance(code, int)
    return code


@final
class _Followed:
    """The tracks of all symbols that have been followed so far."""

    def __init__(self, places: _Places, dfa: Dfa) -> None:
        self.places = places
        self.dfa = dfa
        self.tracks: dict[Key, Track] = {}

    def follow(self, key: Key, subject: _Subject) -> None:
        """Add the track of a symbol. Raises `UnprovenError` if two of its bits can be 1."""
        paths = self._paths(subject)
        own: dict[Node, Scene] = {}

        def scene_of(node: Node) -> Scene:
            scene, memories = node
            return (*scene[:3], (_single(subject.step(scene, memories)[0], key),))

        first = [(scene, subject.start) for scene in paths.first()]
        after: dict[Scene, set[Scene]] = {}
        stack = list(first)
        own.update((node, scene_of(node)) for node in first)
        while stack:
            node = stack.pop()
            scene, memories = node
            _, kept = subject.step(scene, memories)
            for following in paths.after(scene):
                reached = (following, kept)
                if reached not in own:
                    if len(own) >= MAX_CONFIGURATIONS:
                        raise UnprovenError(
                            f"layer {key[0]}: a symbol has over {MAX_CONFIGURATIONS:,} configurations"
                        )
                    own[reached] = scene_of(reached)
                    stack.append(reached)
                after.setdefault(own[node], set()).add(own[reached])
        self.tracks[key] = Track(
            frozenset(own[node] for node in first),
            {scene: frozenset(found) for scene, found in after.items()},
        )

    def agrees(self, output: _Subject) -> bool:
        """Whether the output is [the word so far is accepted] in every combination."""
        paths = self._paths(output)
        stack = [(scene, output.start) for scene in paths.first()]
        seen = set(stack)
        while stack:
            scene, memories = stack.pop()
            letter, _, state, _ = scene
            bit, kept = output.step(scene, memories)
            if (bit == ONE) != (self.dfa.moves[state][letter] in self.dfa.accepting):
                return False
            for following in paths.after(scene):
                reached = (following, kept)
                if reached not in seen:
                    if len(seen) >= MAX_CONFIGURATIONS:
                        raise UnprovenError(f"its output has over {MAX_CONFIGURATIONS:,} configurations")
                    seen.add(reached)
                    stack.append(reached)
        return True

    def _paths(self, subject: _Subject) -> _Paths:
        return _Paths(self.places, self.dfa, [self.tracks[key] for key in subject.parents])


@final
class _Paths:
    """The scenes of several symbols together: combinations of their tracks that agree on everything else."""

    def __init__(self, places: _Places, dfa: Dfa, tracks: Sequence[Track]) -> None:
        self.places = places
        self.dfa = dfa
        self.tracks = tracks
        self._after: dict[Scene, tuple[Scene, ...]] = {}

    def first(self) -> tuple[Scene, ...]:
        """Those of the first position."""
        return self._together(1, self.dfa.start, [track.first for track in self.tracks])

    def after(self, scene: Scene) -> tuple[Scene, ...]:
        """Those that can follow."""
        if scene not in self._after:
            letter, place, state, codes = scene
            following = [
                track.after.get((letter, place, state, (code,)), frozenset())
                for track, code in zip(self.tracks, codes, strict=True)
            ]
            moved = self.dfa.moves[state][letter]
            self._after[scene] = self._together(self.places.next(place), moved, following)
        return self._after[scene]

    def _together(self, place: int, state: int, parts: list[frozenset[Scene]]) -> tuple[Scene, ...]:
        found: list[Scene] = []
        for letter in range(len(self.dfa.alphabet.symbols)):
            codes = [[own[0] for at, _, _, own in part if at == letter] for part in parts]
            if prod(map(len, codes)) > MAX_CONFIGURATIONS:
                raise UnprovenError("too many symbols are read together")
            found += [(letter, place, state, combined) for combined in product(*codes)]
        return tuple(found)


# What is followed -------------------------------------------------------------------------------------


@final
class _Subject:
    """Something that is followed, a symbol or the output, and everything that it is made of."""

    def __init__(self, names: Names, diagram: Diagram, states: int) -> None:
        self.states = states
        self.names = names
        self.diagram = diagram
        self.families, self.readers = self._reached(names.diagrams.support)
        atoms = [(family, names.atoms[family]) for family in sorted(self.families)]
        self.present = {family: atom for family, atom in atoms if isinstance(atom, Present)}
        self.past = {family: atom for family, atom in atoms if isinstance(atom, Past)}
        self.parents = tuple(
            sorted((atom.layer, atom.group) for _, atom in atoms if isinstance(atom, SymbolCode))
        )
        self.memories = {f: atom for f, atom in self.past.items() if self._is_memory(atom)}
        self.start: tuple[Memory, ...] = tuple(
            0 if isinstance(atom, SumAtLeast | CountRemainder) else frozenset()
            for atom in self.memories.values()
        )
        self.kept = {f: self._representatives(f) for f, atom in self.past.items() if isinstance(atom, At)}
        self.changes = {
            f: self._least_and_greatest(atom.summand)
            for f, atom in self.past.items()
            if isinstance(atom, SumAtLeast)
        }
        self._needed: dict[frozenset[int], set[int]] = {}
        self._decided: dict[Hashable, dict[Diagram, Diagram]] = {}
        self._steps: dict[Hashable, tuple[Hashable, tuple[Memory, ...]]] = {}

    def _reached(self, support: Support) -> tuple[dict[int, set[int]], dict[int, set[int]]]:
        """All families that the diagram is made of, with their thresholds, and what reads each."""
        families: dict[int, set[int]] = {}
        readers: dict[int, set[int]] = {}
        stack = [(variable, THE_DIAGRAM) for variable in support(self.diagram)]
        while stack:
            (family, threshold), reader = stack.pop()
            readers.setdefault(family, set()).add(reader)
            if threshold not in families.setdefault(family, set()):
                families[family].add(threshold)
                stack += [(variable, family) for variable in self._parts(family, threshold, support)]
        return families, readers

    def _parts(self, family: int, threshold: int, support: Support) -> Iterable[Variable]:
        """The variables that a variable is made of. Raises `UnprovenError` for what has no finite memory."""
        match self.names.atoms[family]:
            case LetterBit() | SymbolCode() | PlaceAtLeast(1, 0) | PlaceRemainder(_, _, 0):
                return ()
            case Exists(Masking.FUTURE, where):
                return support(where)
            case At(Masking.FUTURE, False, where, inner):
                return (*support(where), (inner, threshold))
            case Shifted(-1, inner):
                return ((inner, threshold),)
            case CountRemainder(Masking.FUTURE, bit):
                return support(bit)
            case SumAtLeast(Masking.FUTURE, summand):
                return support(summand)
            case _:
                raise UnprovenError(
                    "it reads more than letters, remainders and what attention keeps from the left"
                )

    def _least_and_greatest(self, summand: Diagram) -> tuple[Fraction, Fraction]:
        """By how much a sum can change after the first position."""
        later = self.names.negation(self.names.first)
        changes = self.names.constants(
            self.names.diagrams.constrain(summand, later, self.names.false), "a count"
        )
        return min(changes), max(changes)

    def _is_memory(self, atom: Past) -> bool:
        """Whether it is kept itself; a shifted memory is that memory, one position late."""
        return not (isinstance(atom, Shifted) and isinstance(self.past.get(atom.inner), Exists | At))

    def _representatives(self, family: int) -> dict[int, int]:
        """For each bit that attention keeps, the first one that the diagram treats alike.

        Other memories may be made of the family: then every bit stands for itself.
        """
        copies = {f for f, a in self.past.items() if isinstance(a, Shifted) and a.inner == family}
        readers = set().union(*(self.readers[f] for f in (family, *copies)))
        if not readers <= {THE_DIAGRAM, *copies} or self.names.diagrams.ties[family] is not Tie.EXCLUSIVE:
            return {threshold: threshold for threshold in self.families[family]}
        alike: dict[tuple[Diagram, ...], int] = {}
        return {
            threshold: alike.setdefault(self._with_only((family, *sorted(copies)), threshold), threshold)
            for threshold in sorted(self.families[family])
        }

    def _with_only(self, families: tuple[int, ...], threshold: int) -> tuple[Diagram, ...]:
        """The diagram where one bit of a family is 1 and the others are 0, for each of some families."""

        def cofactor(chosen: int) -> Diagram:
            return self.names.diagrams.decide(
                self.diagram, lambda v: v[1] == threshold if v[0] == chosen else None, {}
            )

        return tuple(cofactor(family) for family in families)

    # Evaluation --------------------------------------------------------------------------------

    def step(self, scene: Scene, memories: tuple[Memory, ...]) -> tuple[Hashable, tuple[Memory, ...]]:
        """What the diagram is at one position, and the memories after it."""
        letter, place, _, codes = scene
        seen = (letter, place, codes, memories)
        if seen not in self._steps:
            decided = self._decided.setdefault((letter, place, codes), {})
            kept = dict(zip(self.memories, memories, strict=True))
            moment = _Moment(self, letter, place, codes, kept, decided)
            self._steps[seen] = moment.value(self.diagram), self._still_read(moment.after())
        return self._steps[seen]

    def _still_read(self, memories: tuple[Memory, ...]) -> tuple[Memory, ...]:
        """The memories, without those that nothing reads any more now that some bits are 1 for ever."""
        settled = frozenset(
            f
            for f, memory in zip(self.memories, memories, strict=True)
            if isinstance(self.memories[f], Exists) and memory
        )
        if settled not in self._needed:
            self._needed[settled] = {*self._reached(partial(self._support_after, settled))[0], *settled}
        needed = self._needed[settled]
        return tuple(
            memory if f in needed else first
            for f, memory, first in zip(self.memories, memories, self.start, strict=True)
        )

    def _support_after(self, settled: frozenset[int], diagram: Diagram) -> Iterable[Variable]:
        """What a diagram depends on where some families have been 1 at the position before."""

        def known(variable: Variable) -> bool | None:
            family, _ = variable
            atom = self.past.get(family)
            is_settled = family in settled or (isinstance(atom, Shifted) and atom.inner in settled)
            return True if is_settled else None

        diagrams = self.names.diagrams
        return diagrams.support(diagrams.decide(diagram, known, {}))


@final
class _Moment:
    """The values of all variables at one position: scene and memories decide them."""

    def __init__(
        self,
        subject: _Subject,
        letter: int,
        place: int,
        codes: tuple[Code, ...],
        memory: dict[int, Memory],
        decided: dict[Diagram, Diagram],
    ) -> None:
        self.subject = subject
        self.diagrams = subject.names.diagrams
        self.letter = letter
        self.place = place
        self.codes = dict(zip(subject.parents, codes, strict=True))
        self.memory = memory
        self.decided = decided
        self.known: dict[Variable, bool] = {}

    def value(self, diagram: Diagram) -> Hashable:
        """What a diagram is here."""
        node = self.diagrams.decide(diagram, self._at_sight, self.decided)
        while not self.diagrams.is_constant(node):
            variable, low, high = self.diagrams.top(node)
            node = high if self.bit(variable) else low
        return self.diagrams.value(node)

    def after(self) -> tuple[Memory, ...]:
        """The memories after this position."""
        return tuple(self._after(family, atom) for family, atom in self.subject.memories.items())

    def bit(self, variable: Variable) -> bool:
        """A variable here."""
        if variable not in self.known:
            seen = self._at_sight(variable)
            self.known[variable] = self._remembered(*variable) if seen is None else seen
        return self.known[variable]

    def _at_sight(self, variable: Variable) -> bool | None:
        """A variable, if the scene alone decides it."""
        family, threshold = variable
        atom = self.subject.present.get(family)
        match atom:
            case None:
                return None
            case LetterBit(bit):
                return bool(self.letter >> bit & 1)
            case SymbolCode(layer, group):
                return self.codes[layer, group] == threshold
            case PlaceAtLeast():
                return self.place >= threshold
            case PlaceRemainder(modulus, factor):
                return (factor * self.place - threshold) % modulus == 0
            case _:
                assert_never(atom)

    def _remembered(self, family: int, threshold: int) -> bool:
        atom = self.subject.past[family]
        match atom:
            case Exists(_, where):
                return bool(self.memory[family]) or self._holds(where)
            case At(_, _, where, inner):
                return self.bit((inner, threshold)) if self._holds(where) else self._kept(family, threshold)
            case Shifted(_, inner):
                if family in self.memory:
                    return self._kept(family, threshold)
                is_whether = isinstance(self.subject.past[inner], Exists)
                return bool(self.memory[inner]) if is_whether else self._kept(inner, threshold)
            case CountRemainder(_, bit, modulus, factor):
                return (factor * self._number(family, bit) - threshold) % modulus == 0
            case SumAtLeast(_, summand):
                return self._number(family, summand) >= threshold
            case _:
                assert_never(atom)

    def _kept(self, family: int, threshold: int) -> bool:
        """A bit of a family as it was kept: in the name of the bit that stands for it."""
        kept = self.memory[family]
        assert isinstance(kept, frozenset)
        return threshold in kept

    def _holds(self, bit: Diagram) -> bool:
        return self.value(bit) == ONE

    def _number(self, family: int, counted: Diagram) -> int:
        """A count up to and with this position."""
        before, here = self.memory[family], self.value(counted)
        assert isinstance(before, int)
        assert isinstance(here, Affine)
        return before + int(here.constant)

    def _after(self, family: int, atom: Past) -> Memory:
        thresholds = self.subject.families[family]
        match atom:
            case Exists():
                return frozenset({0} if self.bit((family, 0)) else ())
            case At(_, _, where, _):
                if not self._holds(where):
                    return self.memory[family]
                own = self.subject.kept[family]
                return frozenset(own[threshold] for threshold in thresholds if self.bit((family, threshold)))
            case Shifted(_, inner):
                return frozenset(threshold for threshold in thresholds if self.bit((inner, threshold)))
            case CountRemainder(_, bit, modulus):
                return self._number(family, bit) % modulus
            case SumAtLeast(_, summand):
                return self._cut_off(self._number(family, summand), family)
            case _:
                assert_never(atom)

    def _cut_off(self, number: int, family: int) -> int:
        """A sum, as far as its size can matter."""
        thresholds = self.subject.families[family]
        # Beyond the thresholds on the side where it goes, its size does not matter any more.
        least, greatest = self.subject.changes[family]
        if least >= 0:
            return min(number, max(thresholds))
        if greatest <= 0:
            return max(number, min(thresholds) - 1)
        # As far as different states can be apart, and a threshold from there, but no further.
        furthest = self.subject.states * max(-least, greatest) + max(map(abs, thresholds))
        if abs(number) > furthest:
            raise UnprovenError("a count that rises and falls is looked at wherever it goes")
        return number
