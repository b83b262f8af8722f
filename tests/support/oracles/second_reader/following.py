"""FORMAT.md section 7 again: whether a program computes an automaton's language and keeps its promises.

Slow and plain: nodes are searched breadth first, with all registers at once or group by group.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from tests.support.oracles.second_reader.forms import NothingShownError
from tests.support.oracles.second_reader.places import Places, places_of
from tests.support.oracles.second_reader.program_shape import read_bits, read_counts
from tests.support.oracles.second_reader.registers import Bit, Machine, Registers

Group = Sequence[int]
Automaton = list[Any] | None
"""A "dfa" as FORMAT.md section 1 writes it: the tag, its alphabet, moves, start and accepting states."""

_MOST_NODES = 60_000


@dataclass(frozen=True)
class Label:
    """What a node is known by: letter, place, the automaton's state before the letter, codes by step."""

    letter: str
    place: int
    state: int
    codes: tuple[tuple[int, Bit], ...] = ()


@dataclass(frozen=True)
class Graph:
    """Nodes by number: their labels, what can follow them, and where a word can start."""

    labels: list[Label]
    after: list[list[int]]
    starts: list[int]


def follow(
    program: Any, automaton: Automaton, groups: Sequence[Group] = (), *, by_group: bool = False
) -> bool | str:
    """True, False where an output is wrong, or a reason why nothing is shown.

    `groups` lists the steps of each group's bits.
    """
    try:
        return _Follower(program, automaton, groups).follow(by_group=by_group)
    except NothingShownError as reason:
        return str(reason)


def automaton_of(program: Any) -> list[Any]:
    """The automaton of a program's output at the last position; raises `NothingShownError`.

    Its states are a place, the registers before the place, and the output before; a promise may be broken.
    """
    follower = _Follower(program, None, ())
    machine = follower.machine([program["output"]], ())
    found = _Found([(1, machine.initial(), 0)])
    moves = []
    for place, registers, _ in found:
        row = []
        for letter in program["alphabet"]:
            values = machine.values(letter, place, registers, {})
            output = values[program["output"]]
            if output is None:
                raise NothingShownError("the output is unknown")
            row.append(
                found.number((follower.places.after(place), machine.kept(values, place, registers), output))
            )
        moves.append(row)
    accepting = [number for number, (_, _, output) in enumerate(found) if output]
    return ["dfa", program["alphabet"], moves, 0, accepting]


class _Found:
    """Keys numbered as they are found; iteration goes on while more are."""

    def __init__(self, keys: Iterable[Any]) -> None:
        self._keys: list[Any] = []
        self._numbers: dict[Any, int] = {}
        for key in keys:
            self.number(key)

    def __iter__(self) -> Iterator[Any]:
        return iter(self._keys)

    def number(self, key: Hashable) -> int:
        if key not in self._numbers:
            if len(self._keys) == _MOST_NODES:
                raise NothingShownError("too many nodes")
            self._numbers[key] = len(self._keys)
            self._keys.append(key)
        return self._numbers[key]


@dataclass(frozen=True)
class _Nodes:
    """The nodes of a phase, each with the values of its steps."""

    labels: list[tuple[Label, dict[int, Bit]]]
    after: list[list[int]]
    starts: list[int]


class _Follower:
    def __init__(self, program: Any, automaton: Automaton, groups: Sequence[Group]) -> None:
        self.moves: list[list[int]] = []
        self.start, self.accepting = 0, list[int]()
        if automaton is not None:
            _, alphabet, self.moves, self.start, self.accepting = automaton
            if alphabet != program["alphabet"]:
                raise NothingShownError("another alphabet")
        self.program, self.steps = program, program["steps"]
        self.automaton, self.groups = automaton, groups
        self.output: int = program["output"]
        self.all_roots = [self.output, *(k for group in groups for k in group)]
        followed = [self.steps[k] for k in self._closure(self.all_roots, ())]
        for step in followed:
            _require_registers(step)
        places = [step[1] for step in self.steps if step[0] == "place"]
        self.places: Places = places_of(places, [step[1] for step in followed if step[0] == "place"])

    def follow(self, *, by_group: bool) -> bool:
        graph = self._letters_and_states()
        if not by_group:
            return self._nodes(graph, self.all_roots, self.groups) is not None
        codes: set[int] = set()
        for number, group in enumerate(self.groups):
            nodes = self._nodes(graph, list(group), [group])
            if nodes is None:
                return False
            codes |= set(group)
            later = [self.output, *(k for group in self.groups[number + 1 :] for k in group)]
            codes &= set(self._closure(later, codes))
            graph = _quotient(nodes, sorted(codes))
        return self._nodes(graph, [self.output], ()) is not None

    def machine(self, roots: Iterable[int], given: Iterable[int]) -> Machine:
        followed = self._closure(roots, given)
        states = 1 if self.automaton is None else len(self.moves)
        return Machine(self.steps, followed, frozenset(given), self.places, states)

    def _closure(self, roots: Iterable[int], given: Iterable[int]) -> list[int]:
        """The steps that the roots are made of, ascending, down to those that are given."""
        seen: set[int] = set()
        waiting = list(roots)
        while waiting:
            k = waiting.pop()
            if k not in seen:
                seen.add(k)
                if k not in given:
                    waiting += [*read_bits(self.steps[k]), *read_counts(self.steps[k])]
        return sorted(seen)

    def _letters_and_states(self) -> Graph:
        alphabet = self.program["alphabet"]
        found = _Found(Label(letter, 1, self.start) for letter in alphabet)
        after = []
        for label in found:
            place, state = self.places.after(label.place), self._moved(label)
            after.append([found.number(Label(letter, place, state)) for letter in alphabet])
        return Graph(list(found), after, list(range(len(alphabet))))

    def _moved(self, label: Label) -> int:
        """The automaton's state after the letter."""
        if self.automaton is None:
            return 0
        state: int = self.moves[label.state][self.program["alphabet"].index(label.letter)]
        return state

    def _nodes(self, graph: Graph, roots: list[int], groups: Sequence[Group]) -> _Nodes | None:
        """All nodes that are reached, or None where the output is wrong."""
        machine = self.machine(roots, {k for k, _ in graph.labels[0].codes})
        found = _Found((number, machine.initial()) for number in graph.starts)
        labels, after = [], []
        for number, registers in found:
            label = graph.labels[number]
            values = machine.values(label.letter, label.place, registers, dict(label.codes))
            if not machine.promises_kept(values, groups):
                raise NothingShownError("a promise may be broken")
            if self.output in roots and not self._is_right(label, values[self.output]):
                return None
            kept: Registers = machine.kept(values, label.place, registers)
            labels.append((label, values))
            after.append([found.number((follower, kept)) for follower in graph.after[number]])
        return _Nodes(labels, after, list(range(len(graph.starts))))

    def _is_right(self, label: Label, output: Bit) -> bool:
        if output is None:
            raise NothingShownError("the output is unknown")
        return self.automaton is None or bool(output) == (self._moved(label) in self.accepting)


def _require_registers(step: list[Any]) -> None:
    match step:
        case ["shift", "next", *_] | ["attend" | "count", ">=" | ">" | "all", *_]:
            raise NothingShownError("the program looks to the right")
        case ["attend", _, _, [[None, _]], _, None] | ["shift", _, _, _, None]:
            return
        case ["attend" | "shift" | "nearest" | "matched", *_]:
            raise NothingShownError("cases, a default, or the nearest count")
        case ["count test", ["named", *_], *_]:
            raise NothingShownError("a named predicate of a count")
        case _:
            return


def _quotient(nodes: _Nodes, codes: Sequence[int]) -> Graph:
    """Nodes are one if they agree, and so do the classes of what can follow them."""
    known = [{**dict(label.codes), **values} for label, values in nodes.labels]
    labels = [
        Label(label.letter, label.place, label.state, tuple((k, values[k]) for k in codes))
        for (label, _), values in zip(nodes.labels, known, strict=True)
    ]
    classes = _numbered(labels)
    while True:
        finer = _numbered(
            [(classes[k], frozenset(classes[m] for m in after)) for k, after in enumerate(nodes.after)]
        )
        if max(finer) == max(classes):
            break
        classes = finer
    members = {class_: node for node, class_ in enumerate(classes)}
    return Graph(
        [labels[members[class_]] for class_ in range(len(members))],
        [sorted({classes[m] for m in nodes.after[members[class_]]}) for class_ in range(len(members))],
        sorted({classes[start] for start in nodes.starts}),
    )


def _numbered(keys: Sequence[Hashable]) -> list[int]:
    """Equal keys get equal numbers, from 0 on."""
    numbers: dict[Hashable, int] = {}
    return [numbers.setdefault(key, len(numbers)) for key in keys]
