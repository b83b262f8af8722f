"""How hard a regular language is to recognise: star-free, quasi-aperiodic, solvable or not solvable.

All is read off the image sets of the minimal automaton; its transition monoid is never listed. Within a
strongly connected component of image sets every letter is a bijection. With a tree of paths tau_P from a
representative to each set P, a move P -a-> R becomes the permutation g = tau_P a tau_R^-1 of the
representative, of length l = 1 + depth(P) - depth(R). Let H be the group of all g of a component. The
language is

- aperiodic (star-free) iff all H are trivial: a group in the monoid acts faithfully on the image of its unit;
- quasi-aperiodic iff in each component g = h^(l/d) for all moves, for some h and d = gcd of all l: then words
  of one length that lead back act alike, and positions modulo d times the order of h tell what they do;
- solvable iff all H are.

(Straubing, Finite Automata, Formal Logic, and Circuit Complexity; Barrington, Compton, Straubing, Therien.)
"""

from __future__ import annotations

from bisect import bisect_left
from collections import deque
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from enum import Enum
from math import lcm
from typing import assert_never, final

from attemper.errors import AutomatonError, UnsupportedError
from attemper.languages.regular.dfa import Dfa
from attemper.languages.regular.groups import (
    Group,
    Permutation,
    compose,
    cycles,
    derived_series,
    identity,
    name_of,
    nonabelian_factor,
    order_of,
    power,
)
from attemper.languages.regular.image_sets import LIMIT, ImageSets, image_sets, members
from attemper.languages.regular.minimal import minimal
from attemper.languages.words import Word, show_word

LISTED_STATES = 12
"""How many states of a witness the text shows."""


class RegularClass(Enum):
    """The classes, each within the next."""

    APERIODIC = "star-free"
    QUASI_APERIODIC = "quasi-aperiodic"
    SOLVABLE = "solvable"
    NON_SOLVABLE = "not solvable"


@final
@dataclass(frozen=True)
class StrongComponent:
    """A strongly connected component of image sets, seen from its representative.

    `points` are the states of the representative; permutations are of their places 0, 1, ... in it.
    `paths[s]` is tau of the set number s, in breadth-first order: the states that the points are taken to;
    `depth[s]` is the length of that path, and `last[s]` its last move as (set, letter); the representative
    has none. `steps[s, a]` is (g, l) of the letter number a at the set s, if it stays within the component.
    `generators` are the g other than the identity, each once. `cycle` is (h, d) with g = h^(l/d) for all
    steps, if there is such a pair (the identity and 1 where no letter stays within), else None.
    """

    number: int
    representative: int
    points: tuple[int, ...]
    paths: Mapping[int, tuple[int, ...]]
    depth: Mapping[int, int]
    last: Mapping[int, tuple[int, int]]
    steps: Mapping[tuple[int, int], tuple[Permutation, int]]
    generators: tuple[Permutation, ...]
    cycle: tuple[Permutation, int] | None

    @property
    def group(self) -> Group:
        """The group H that the generators generate."""
        return Group(len(self.points), self.generators)

    @property
    def modulus(self) -> int | None:
        """Positions modulo this number determine what is done to the points; None: no number is enough."""
        if self.cycle is None:
            return None
        h, d = self.cycle
        return d * order_of(h) if self.generators else 1


@final
@dataclass(frozen=True)
class Cycle:
    """A word that takes each state to the next one, and the last to the first: not star-free."""

    word: Word
    states: tuple[int, ...]


@final
@dataclass(frozen=True)
class EqualLengths:
    """Two words of one length: `idle` keeps each state, `moving` takes it to the next one cyclically.

    So the length does not tell what a word does: not quasi-aperiodic.
    """

    idle: Word
    moving: Word
    states: tuple[int, ...]


@final
@dataclass(frozen=True)
class Permuting:
    """Words that permute the states and generate a group that is not solvable; `factor` is a part of it."""

    words: tuple[Word, ...]
    states: tuple[int, ...]
    factor: str


Witness = Cycle | EqualLengths | Permuting


@final
@dataclass(frozen=True)
class GroupInfo:
    """The non-trivial group of a component; `degree` is the number of states in each of its sets.

    `order` is None if the group is not solvable and too large to be measured; `derived_length` is None if
    it is not solvable.
    """

    component: int
    degree: int
    order: int | None
    name: str
    derived_length: int | None


@final
@dataclass(frozen=True, repr=False)
class Classification:
    """The class of a regular language, with a witness against the class below it.

    `modulus` is 1 for star-free languages; for quasi-aperiodic ones, positions modulo it are enough besides
    order; None otherwise. `derived_length` is the greatest of the groups, 0 if there are none, None if not
    solvable. `groups` are those of all components, but for a language that is not solvable the offending one
    alone. `reason` is a sentence for humans.
    """

    kind: RegularClass
    modulus: int | None
    derived_length: int | None
    groups: tuple[GroupInfo, ...]
    witness: Witness | None
    reason: str

    def __repr__(self) -> str:
        return f"<Classification {self.kind.value}: {self.reason}>"


def components(dfa: Dfa, sets: ImageSets) -> tuple[StrongComponent, ...]:
    """The components of the image sets, by their numbers."""
    grouped: dict[int, list[int]] = {}
    for number, component in enumerate(sets.component):
        grouped.setdefault(component, []).append(number)
    return tuple(_component(dfa, sets, number, grouped[number][0]) for number in range(len(grouped)))


def _component(dfa: Dfa, sets: ImageSets, number: int, representative: int) -> StrongComponent:
    points = members(sets.masks[representative])
    paths, depth = {representative: points}, {representative: 0}
    last: dict[int, tuple[int, int]] = {}
    steps: dict[tuple[int, int], tuple[Permutation, int]] = {}
    place: dict[int, dict[int, int]] = {representative: {q: k for k, q in enumerate(points)}}
    queue = deque([representative])
    while queue:
        here = queue.popleft()
        for letter, there in enumerate(sets.moves[here]):
            if sets.component[there] != number:
                continue
            images = tuple(dfa.moves[q][letter] for q in paths[here])
            if there not in paths:
                paths[there], depth[there], last[there] = images, depth[here] + 1, (here, letter)
                place[there] = {q: k for k, q in enumerate(images)}
                queue.append(there)
            g = tuple(map(place[there].__getitem__, images))
            steps[here, letter] = g, 1 + depth[here] - depth[there]
    unit = identity(len(points))
    generators = tuple(dict.fromkeys(g for g, _ in steps.values() if g != unit))
    cycle = _cycle(unit, dict.fromkeys(steps.values()))
    return StrongComponent(number, representative, points, paths, depth, last, steps, generators, cycle)


def _cycle(unit: Permutation, pairs: Iterable[tuple[Permutation, int]]) -> tuple[Permutation, int] | None:
    """(h, d) with d the gcd of all lengths and g = h^(l/d) for all pairs (g, l), if there is one."""
    h, d = unit, 0
    for pair in pairs:
        joined = _joined((h, d), pair)
        if joined is None:
            return None
        h, d = joined
    return h, d or 1


def _joined(left: tuple[Permutation, int], right: tuple[Permutation, int]) -> tuple[Permutation, int] | None:
    """(h, d) of which both pairs are powers, with d the gcd of the lengths, if there is one."""
    (p, k), (q, m) = left, right
    d, x, y = _bezout(k, m)
    h = compose(power(p, x), power(q, y))
    exact = (power(h, k // d), power(h, m // d)) == (p, q) if d else p == q
    return (h, d) if exact else None


def _bezout(a: int, b: int) -> tuple[int, int, int]:
    """(g, x, y) with g = gcd(a, b) = x a + y b."""
    x, y, u, v = 1, 0, 0, 1
    while b:
        quotient = a // b
        a, b, x, y, u, v = b, a - quotient * b, u, v, x - quotient * u, y - quotient * v
    return (a, x, y) if a >= 0 else (-a, -x, -y)


def classify(dfa: Dfa, limit: int = LIMIT) -> Classification:
    """The class of the language of a minimal automaton.

    `parse_regex` and `read_dfa` give minimal ones. Raises `AutomatonError` for an automaton that is not
    minimal, `UnsupportedError` for one with more than `limit` image sets or too large a permutation group.

    >>> from attemper.languages.regular.regex import parse_regex
    >>> found = classify(parse_regex("a*b(a*ba*b)*a*", "ab"))
    >>> found.kind.value, found.derived_length, found.witness
    ('solvable', 1, EqualLengths(idle=('a',), moving=('b',), states=(0, 1)))
    """
    if not isinstance(dfa, Dfa):
        raise AutomatonError(f"{type(dfa).__name__} is no automaton: give parse_regex(...) or read_dfa(...)")
    if len(minimal(dfa).moves) != len(dfa.moves):
        raise AutomatonError(
            "only minimal automata are classified: make this one minimal first, with "
            "attemper.languages.regular.minimal.minimal(dfa)"
        )
    sets = image_sets(dfa, limit)
    return classified(dfa, sets, components(dfa, sets))


def classified(dfa: Dfa, sets: ImageSets, parts: Sequence[StrongComponent]) -> Classification:
    """The class, given all image sets of a minimal automaton and their components."""
    acting = [part for part in parts if part.generators]
    if not acting:
        reason = "no word permutes states: order alone is enough"
        return Classification(RegularClass.APERIODIC, 1, 0, (), None, reason)
    for part in acting:
        if nonabelian_factor(part.group) is not None:
            return _not_solvable(dfa, sets, part)
    groups = tuple(_group_info(part) for part in acting)
    free = [part for part in acting if part.cycle is None]
    if not free:
        modulus = lcm(*(part.modulus or 1 for part in acting))
        witness = min(
            (_shortest_cycle(_Loops(dfa, sets, part)) for part in acting), key=lambda w: len(w.word)
        )
        reason = f"words of one length permute states alike: order and positions modulo {modulus} are enough"
        return Classification(RegularClass.QUASI_APERIODIC, modulus, 1, groups, witness, reason)
    lengths = [info.derived_length or 0 for info in groups]
    named = ", ".join(dict.fromkeys(info.name for info in groups))
    pair = min((_equal_lengths(_Loops(dfa, sets, part)) for part in free), key=lambda w: len(w.idle))
    reason = (
        f"words of equal length permute states differently, so the language needs counting; "
        f"the groups are solvable ({named}), of derived length {max(lengths)}"
    )
    return Classification(RegularClass.SOLVABLE, None, max(lengths), groups, pair, reason)


def _group_info(part: StrongComponent) -> GroupInfo:
    group = part.group
    length = len(derived_series(group)) - 1
    return GroupInfo(part.number, group.degree, group.order, name_of(group), length)


def _not_solvable(dfa: Dfa, sets: ImageSets, part: StrongComponent) -> Classification:
    """The verdict on a component whose group is not solvable."""
    order: int | None
    try:
        order, name = part.group.order, name_of(part.group)
    except UnsupportedError:
        order, name = None, "a large group"
    witness = _permuting(_Loops(dfa, sets, part))
    info = GroupInfo(part.number, len(part.points), order, name, None)
    reason = (
        f"words permute a set of {len(part.points)} states by a group that is not solvable, with the "
        f"factor {witness.factor}: deciding the language is complete for NC1"
    )
    return Classification(RegularClass.NON_SOLVABLE, None, None, (info,), witness, reason)


Loop = tuple[Word, Permutation]


class _Loops:
    """Words that lead from the representative of a component back to it: a path, a letter, a way back.

    Their permutations generate the group of the component: for a move g that ends in R, the loop is g times
    the loop that comes from R's own path.
    """

    def __init__(self, dfa: Dfa, sets: ImageSets, part: StrongComponent) -> None:
        self.symbols, self.moves, self.part = dfa.alphabet.symbols, sets.moves, part
        sources: dict[int, list[tuple[int, int]]] = {}
        for here, letter in part.steps:
            sources.setdefault(sets.moves[here][letter], []).append((here, letter))
        self.way: dict[int, Word] = {part.representative: ()}
        self.turn = {part.representative: identity(len(part.points))}
        queue = deque([part.representative])
        while queue:
            there = queue.popleft()
            for here, letter in sources.get(there, ()):
                if here not in self.way:
                    self.way[here] = (self.symbols[letter], *self.way[there])
                    self.turn[here] = compose(part.steps[here, letter][0], self.turn[there])
                    queue.append(here)

    def __iter__(self) -> Iterator[Loop]:
        """The loops and their permutations, the shorter words first."""
        ends = ((here, letter, self.moves[here][letter]) for here, letter in self.part.steps)
        lengths = [(self.part.depth[s] + 1 + len(self.way[end]), s, letter, end) for s, letter, end in ends]
        for _, here, letter, end in sorted(lengths):
            word = (*self._path(here), self.symbols[letter], *self.way[end])
            yield word, compose(self.part.steps[here, letter][0], self.turn[end])

    def _path(self, here: int) -> Word:
        reversed_path = []
        while here in self.part.last:
            here, letter = self.part.last[here]
            reversed_path.append(self.symbols[letter])
        return tuple(reversed(reversed_path))

    def states(self, cycle: tuple[int, ...]) -> tuple[int, ...]:
        """The states at the places of the representative."""
        return tuple(self.part.points[place] for place in cycle)


def _shortest_cycle(loops: _Loops) -> Cycle:
    """The first loop that moves something, on its shortest cycle."""
    word, permutation = next((word, moved) for word, moved in loops if cycles(moved))
    return Cycle(word, loops.states(min(cycles(permutation), key=len)))


def _equal_lengths(loops: _Loops) -> EqualLengths:
    """Two words of one length from the first two loops that are not powers of one (h, d).

    Loops are powers of one (h, d) if any two of them commute and agree when repeated to the same length.
    """
    power_of = identity(len(loops.part.points)), 0
    earlier: dict[int, Loop] = {}
    for word, permutation in loops:
        joined = _joined(power_of, (permutation, len(word)))
        if joined is None:
            break
        power_of = joined
        earlier.setdefault(len(word), (word, permutation))
    pairs = [pair for loop in earlier.values() for pair in _unlike(loop, (word, permutation))]
    return min((_idle_and_moving(loops, *pair) for pair in pairs), key=lambda found: len(found.idle))


def _unlike(left: Loop, right: Loop) -> Iterator[tuple[Loop, Loop]]:
    """Products of two loops, equally long, whose permutations differ; either one first."""
    (u, p), (v, q) = left, right
    length = lcm(len(u), len(v))
    k, m = length // len(u), length // len(v)
    swapped = (u + v, compose(p, q)), (v + u, compose(q, p))
    repeated = (u * k, power(p, k)), (v * m, power(q, m))
    for one, other in (swapped, repeated):
        if one[1] != other[1]:
            yield one, other
            yield other, one


def _idle_and_moving(loops: _Loops, one: Loop, other: Loop) -> EqualLengths:
    """one^k and other one^(k-1), for the least k >= 1 such that the first fixes a cycle of the second."""
    (u, p), (v, q) = one, other
    idle, moving, k = p, q, 1
    while True:
        for cycle in cycles(moving):
            if all(idle[place] == place for place in cycle):
                return EqualLengths(u * k, v + u * (k - 1), loops.states(cycle))
        idle, moving, k = compose(idle, p), compose(moving, p), k + 1


def _permuting(loops: _Loops) -> Permuting:
    """Few short loops whose group is not solvable: the first ones, without those not needed."""
    words: dict[Permutation, Word] = {}
    for word, permutation in loops:
        if cycles(permutation):
            words.setdefault(permutation, word)
    first = list(words)
    enough = bisect_left(range(len(first)), True, key=lambda k: _factor(first[: k + 1]) is not None) + 1
    kept = first[:enough]
    for loop in list(kept):
        fewer = [other for other in kept if other != loop]
        if _factor(fewer) is not None:
            kept = fewer
    factor = _factor(kept) or "a non-abelian simple group"
    return Permuting(tuple(words[permutation] for permutation in kept), loops.part.points, factor)


def _factor(permutations: Sequence[Permutation]) -> str | None:
    """A non-abelian factor, if one is found within the caps."""
    if not permutations:
        return None
    try:
        return nonabelian_factor(Group(len(permutations[0]), tuple(permutations)))
    except UnsupportedError:
        return None


def check_witness(dfa: Dfa, classification: Classification) -> bool:
    """Whether the witness shows what it should, by running the automaton alone.

    Star-free languages have none: that no word permutes states is not shown by words.
    """
    witness = classification.witness
    match witness:
        case None:
            return classification.kind is RegularClass.APERIODIC
        case Cycle(word, states):
            return classification.kind is RegularClass.QUASI_APERIODIC and _cycles_through(dfa, word, states)
        case EqualLengths(idle, moving, states):
            return (
                classification.kind is RegularClass.SOLVABLE
                and len(idle) == len(moving)
                and _images(dfa, idle, states) == states
                and _cycles_through(dfa, moving, states)
            )
        case Permuting(words, states, factor):
            images = [_images(dfa, word, states) for word in words]
            if classification.kind is not RegularClass.NON_SOLVABLE or any(
                set(i) != set(states) for i in images
            ):
                return False
            actions = [tuple(states.index(state) for state in image) for image in images]
            return nonabelian_factor(Group(len(states), tuple(actions))) == factor
        case _:
            assert_never(witness)


def _cycles_through(dfa: Dfa, word: Word, states: tuple[int, ...]) -> bool:
    distinct = len(set(states)) == len(states) >= 2
    return distinct and _images(dfa, word, states) == (*states[1:], states[0])


def _images(dfa: Dfa, word: Word, states: Sequence[int]) -> tuple[int, ...]:
    """The states after the word, from each of the states."""
    number = {symbol: k for k, symbol in enumerate(dfa.alphabet.symbols)}
    current = tuple(states)
    for symbol in word:
        current = tuple(dfa.moves[state][number[symbol]] for state in current)
    return current


def show_classification(classification: Classification) -> str:
    """The class, the reason and the witness, one line each.

    >>> from attemper.languages.words import Alphabet
    >>> print(show_classification(classify(Dfa(Alphabet(("a",)), ((1,), (0,)), 0, frozenset({0})))))
    quasi-aperiodic: words of one length permute states alike: order and positions modulo 2 are enough
    a takes each state to the next in the cycle 0, 1
    """
    lines = [f"{classification.kind.value}: {classification.reason}"]
    witness = classification.witness
    match witness:
        case None:
            pass
        case Cycle(word, states):
            lines.append(
                f"{show_word(word)} takes each state to the next in the cycle {shown_states(states)}"
            )
        case EqualLengths(idle, moving, states):
            lines.append(
                f"{show_word(moving)} takes each state to the next in the cycle {shown_states(states)}"
            )
            lines.append(f"{show_word(idle)}, of the same length, keeps these states")
        case Permuting(words, states, _):
            lines.append(f"on the states {shown_states(states)}, the words that permute them:")
            lines.extend(f"  {show_word(word)}" for word in words)
        case _:
            assert_never(witness)
    return "\n".join(lines)


def shown_states(states: Sequence[int]) -> str:
    """The first few states of a set, for people."""
    more = f", ... ({len(states)} in all)" if len(states) > LISTED_STATES else ""
    return ", ".join(map(str, states[:LISTED_STATES])) + more
