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
from typing import final

from attemper.checker.analysis import ROUNDED, Analysis, SymbolFact
from attemper.checker.diagrams import Diagram, Tie, Variable
from attemper.checker.terms import Affine, Name, Terms, UnprovenError
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
    bit = plain(analysis.end.values[output], analysis.terms, "the output")
    if not analysis.terms.is_bit(bit):
        raise UnprovenError("its output is not a bit")
    subjects = {
        (fact.layer, fact.group): _Subject(analysis.terms, _code(analysis.terms, fact), len(dfa.moves))
        for fact in analysis.symbols
    }
    last = _Subject(analysis.terms, bit, len(dfa.moves))
    places = _Places.of((*subjects.values(), last))
    answer = _explored(places, dfa, subjects, last)
    if answer is not None:
        return answer
    followed = _Followed(places, dfa)
    for key, subject in subjects.items():
        followed.follow(key, subject)
    return followed.agrees(last)


def _code(terms: Terms, fact: SymbolFact) -> Diagram:
    """Which bit of a symbol is 1."""

    def merged(before: int, bit: Affine, code: int) -> int:
        if bit.constant == 0:
            return before
        return code if before == NOTHING else CONFLICT

    diagram = terms.diagrams.constant(NOTHING)
    for code, bit in enumerate(fact.definitions):
        merge = partial(merged, code=code)
        diagram = terms.diagrams.combine(("code", fact.layer, fact.group, code), merge, diagram, bit)
    return diagram


def _key(name: Name) -> Key:
    _, layer, group = name
    assert isinstance(layer, int)
    assert isinstance(group, int)
    return layer, group


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
            for family, thresholds in subject.families.items():
                match subject.names[family]:
                    case ("line", _, _):
                        prefix = max(prefix, *thresholds)
                    case ("mod", "place", int(modulus), *_):
                        period = lcm(period, modulus)
                    case _:
                        pass
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
    stack = [(1, dfa.start, tuple(subject.start() for subject in (*subjects.values(), output)))]
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

        first = [(scene, subject.start()) for scene in paths.first()]
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
        stack = [(scene, output.start()) for scene in paths.first()]
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

    def __init__(self, terms: Terms, diagram: Diagram, states: int) -> None:
        self.states = states
        self.terms = terms
        self.diagram = diagram
        self.families, self.readers = self._reached(terms.diagrams.support)
        self.names = {family: terms.name_of(family) for family in self.families}
        self.parents = tuple(sorted(_key(name) for name in self.names.values() if name[0] == "symbol"))
        self.memories = tuple(sorted(f for f in self.families if self._is_memory(f)))
        self.kept = {f: self._representatives(f) for f in self.memories if self.names[f][0] == "at"}
        self.changes = {f: self._least_and_greatest(f) for f in self.memories if self.names[f][0] == "sum"}
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
        match self.terms.name_of(family):
            case ("letter", _) | ("symbol", _, _) | ("line", 1, 0) | ("mod", "place", _, _, 0):
                return ()
            case ("exists", Masking.FUTURE, int(where)):
                return support(where)
            case ("at", Masking.FUTURE, False, int(where), int(inner)):
                return (*support(where), (inner, threshold))
            case ("shifted", -1, int(inner)):
                return ((inner, threshold),)
            case ("mod", "count", Masking.FUTURE, int(bit), _, _, 0):
                return support(bit)
            case ("sum", Masking.FUTURE, int(summand)):
                return support(summand)
            case _:
                raise UnprovenError(
                    "it reads more than letters, remainders and what attention keeps from the left"
                )

    def _least_and_greatest(self, family: int) -> tuple[Fraction, Fraction]:
        """By how much a sum can change after the first position."""
        summand = self.names[family][2]
        assert isinstance(summand, int)
        later = self.terms.negation(self.terms.first)
        changes = self.terms.constants(
            self.terms.diagrams.constrain(summand, later, self.terms.false), "a count"
        )
        return min(changes), max(changes)

    def _is_memory(self, family: int) -> bool:
        """Whether it depends on what was before; a shifted memory is that memory, one position late."""
        match self.names[family]:
            case ("shifted", _, int(inner)):
                return self.terms.name_of(inner)[0] not in {"exists", "at"}
            case (("exists" | "at" | "sum"), *_) | ("mod", "count", *_):
                return True
            case _:
                return False

    def _representatives(self, family: int) -> dict[int, int]:
        """For each bit that attention keeps, the first one that the diagram treats alike.

        Other memories may be made of the family: then every bit stands for itself.
        """
        copies = {f for f, name in self.names.items() if name[0] == "shifted" and name[2] == family}
        readers = set().union(*(self.readers[f] for f in (family, *copies)))
        if not readers <= {THE_DIAGRAM, *copies} or self.terms.diagrams.ties[family] is not Tie.EXCLUSIVE:
            return {threshold: threshold for threshold in self.families[family]}
        alike: dict[tuple[Diagram, ...], int] = {}
        return {
            threshold: alike.setdefault(self._with_only((family, *sorted(copies)), threshold), threshold)
            for threshold in sorted(self.families[family])
        }

    def _with_only(self, families: tuple[int, ...], threshold: int) -> tuple[Diagram, ...]:
        """The diagram where one bit of a family is 1 and the others are 0, for each of some families."""

        def cofactor(chosen: int) -> Diagram:
            return self.terms.diagrams.decide(
                self.diagram, lambda v: v[1] == threshold if v[0] == chosen else None, {}
            )

        return tuple(cofactor(family) for family in families)

    # Evaluation --------------------------------------------------------------------------------

    def start(self) -> tuple[Memory, ...]:
        """The memories before the first position."""
        return tuple(0 if self.names[f][0] in {"sum", "mod"} else frozenset() for f in self.memories)

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
            if self.names[f][0] == "exists" and memory
        )
        if settled not in self._needed:
            self._needed[settled] = {*self._reached(partial(self._support_after, settled))[0], *settled}
        needed = self._needed[settled]
        return tuple(
            memory if f in needed else first
            for f, memory, first in zip(self.memories, memories, self.start(), strict=True)
        )

    def _support_after(self, settled: frozenset[int], diagram: Diagram) -> Iterable[Variable]:
        """What a diagram depends on where some families have been 1 at the position before."""

        def known(variable: Variable) -> bool | None:
            name = self.names[variable[0]]
            is_settled = variable[0] in settled or (name[0] == "shifted" and name[2] in settled)
            return True if is_settled else None

        diagrams = self.terms.diagrams
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
        self.diagrams = subject.terms.diagrams
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
        return tuple(self._after(family) for family in self.subject.memories)

    def bit(self, variable: Variable) -> bool:
        """A variable here."""
        if variable not in self.known:
            seen = self._at_sight(variable)
            self.known[variable] = self._remembered(*variable) if seen is None else seen
        return self.known[variable]

    def _at_sight(self, variable: Variable) -> bool | None:
        """A variable that the scene alone decides."""
        family, threshold = variable
        match self.subject.names[family]:
            case ("letter", int(bit)):
                return bool(self.letter >> bit & 1)
            case ("line", _, _):
                return self.place >= threshold
            case ("mod", "place", int(modulus), int(factor), _):
                return (factor * self.place - threshold) % modulus == 0
            case ("symbol", int(layer), int(group)):
                return self.codes[layer, group] == threshold
            case _:
                return None

    def _remembered(self, family: int, threshold: int) -> bool:
        match self.subject.names[family]:
            case ("exists", _, int(where)):
                return bool(self.memory[family]) or self._holds(where)
            case ("at", _, _, int(where), int(inner)):
                if self._holds(where):
                    return self.bit((inner, threshold))
                return self._kept(family, threshold)
            case ("shifted", _, int(inner)):
                if family in self.memory:
                    return self._kept(family, threshold)
                return bool(self.memory[inner]) if self._is_exists(inner) else self._kept(inner, threshold)
            case ("mod", _, _, _, int(modulus), int(factor), _):
                return (factor * self._number(family) - threshold) % modulus == 0
            case _:
                return self._number(family) >= threshold

    def _is_exists(self, family: int) -> bool:
        return self.subject.names[family][0] == "exists"

    def _kept(self, family: int, threshold: int) -> bool:
        """A bit of a family as it was kept: in the name of the bit that stands for it."""
        kept = self.memory[family]
        assert isinstance(kept, frozenset)
        return threshold in kept

    def _holds(self, bit: Diagram) -> bool:
        return self.value(bit) == ONE

    def _number(self, family: int) -> int:
        """A count up to and with this position."""
        before = self.memory[family]
        match self.subject.names[family]:
            case ("mod", _, _, int(counted), *_) | ("sum", _, int(counted)):
                here = self.value(counted)
            case _:
                raise AssertionError("not a count")
        assert isinstance(before, int)
        assert isinstance(here, Affine)
        return before + int(here.constant)

    def _after(self, family: int) -> Memory:
        thresholds = self.subject.families[family]
        match self.subject.names[family]:
            case ("exists", *_):
                return frozenset({0} if self.bit((family, 0)) else ())
            case ("at", _, _, int(where), _):
                if not self._holds(where):
                    return self.memory[family]
                own = self.subject.kept[family]
                return frozenset(own[threshold] for threshold in thresholds if self.bit((family, threshold)))
            case ("mod", _, _, _, int(modulus), *_):
                return self._number(family) % modulus
            case ("sum", *_):
                # Beyond the thresholds on the side where it goes, its size does not matter any more.
                least, greatest = self.subject.changes[family]
                if least >= 0:
                    return min(self._number(family), max(thresholds))
                if greatest <= 0:
                    return max(self._number(family), min(thresholds) - 1)
                # As far as different states can be apart, and a threshold from there, but no further.
                furthest = self.subject.states * max(-least, greatest) + max(map(abs, thresholds))
                if abs(self._number(family)) > furthest:
                    raise UnprovenError("a count that rises and falls is looked at wherever it goes")
                return self._number(family)
            case ("shifted", _, int(inner)):
                return frozenset(threshold for threshold in thresholds if self.bit((inner, threshold)))
            case _:
                raise AssertionError("not a memory")
