"""Forcing numbers: how many symbols must be fixed until membership of the words of a length is decided.

A restriction fixes some of n positions, each to one symbol. It decides the language L at length n if all
words of length n that agree with it are in L, or none is. The forcing number is

    f(n) = min { fixed positions of rho : rho decides L at length n }.

For a transformer with hard attention and any C < 1 there is, for all large n, a restriction that leaves at
least C n positions free and after which the output depends on at most c symbols, c independent of n; fixing
these c as well decides what it recognises (Hahn 2020, Theorem 1). So f(n) <= (1 - C) n + c for all large n,
and a language with f(n) > eps n for one eps > 0 and infinitely many n is recognised by no such transformer
(Corollary 2 is this for PARITY, f(n) = n. The paper has two symbols; with s of them, 2^c becomes s^c in its
proof.) A small f proves nothing: one symbol decides "a first, then evenly many b", which takes counting.

For an automaton, f(n) is the least cost of n moves over sets of states: a free position moves a set to the
union of its images and costs 0, a fixed one moves it to its image under one letter and costs 1. They begin
at the set of the start state and end in a set all of whose states accept, or none of them.

(Hahn 2020, Theoretical Limitations of Self-Attention in Neural Sequence Models.)
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import reduce
from math import gcd, lcm
from operator import or_
from typing import final

from attemper.errors import UnsupportedError
from attemper.languages.regular.dfa import Dfa
from attemper.languages.regular.image_sets import members, strong_components
from attemper.languages.regular.minimal import minimal

SETS = 20_000
"""How many sets of states are examined before the automaton is refused."""

VISITS = 600_000
"""How many sets are met in all, at one length after the other, before the automaton is refused."""

PERIOD = 10_000
"""How many classes of lengths may behave differently."""

PRUNERS = 16
"""With how many of the cheapest sets of a length all others are compared, to drop their supersets."""


@final
@dataclass(frozen=True)
class ForcingNumber:
    """The least number of `fixed` positions that decide membership, and a `restriction` that attains it.

    The restriction has a symbol at each fixed position and None at each free one; every word that agrees
    with it is in the language if `member`, and none is otherwise.
    """

    fixed: int
    restriction: tuple[str | None, ...]
    member: bool


@final
@dataclass(frozen=True)
class ForcingGrowth:
    """How forcing numbers grow: f(n) = slopes[n mod p] n + O(1) for all n, with p the number of slopes.

    `bounded` is the greatest of all f(n), and None if there is none. It is None exactly if a slope is not 0.
    """

    slopes: tuple[Fraction, ...]
    bounded: int | None

    @property
    def slope(self) -> Fraction:
        """The limit superior of f(n) / n."""
        return max(self.slopes)

    @property
    def sensitive(self) -> bool:
        """Whether f(n) > eps n for some eps > 0 and infinitely many n: out of reach of hard attention."""
        return self.slope > 0


class _Sets:
    """The sets of states met so far, as bit masks, with their images under each letter and, last, all."""

    def __init__(self, dfa: Dfa, limit: int) -> None:
        self.dfa = minimal(dfa)
        self.start = 1 << self.dfa.start
        self._limit, self._visits = limit, 0
        self._accepting = sum(1 << state for state in self.dfa.accepting)
        self._images: dict[int, tuple[int, ...]] = {}

    def images(self, mask: int) -> tuple[int, ...]:
        if mask not in self._images:
            if len(self._images) >= self._limit:
                raise UnsupportedError(
                    f"forcing numbers need more than {self._limit} sets of states, the cap on what is "
                    f"examined; raise the limit 'sets' to {4 * self._limit}, or split the language into "
                    "simpler ones"
                )
            columns = zip(*(self.dfa.moves[state] for state in members(mask)), strict=True)
            fixed = [reduce(or_, (1 << target for target in column)) for column in columns]
            self._images[mask] = (*fixed, reduce(or_, fixed))
        return self._images[mask]

    def member(self, mask: int) -> bool | None:
        """Whether all states accept, or none does; None if some do."""
        if mask & self._accepting in (0, mask):
            return bool(mask & self._accepting)
        return None

    def after(self, layer: Iterable[tuple[int, int]], most: int) -> dict[int, tuple[int, int, int]]:
        """The sets one symbol later, each with its least cost up to `most`, where from, and its letter.

        No set is kept that has one of the first few, at no more cost, for a part: what decides the whole
        decides the part. The result depends on the sets and costs before and on nothing else.
        """
        reached: dict[int, tuple[int, int, int]] = {}
        free = len(self.dfa.alphabet.symbols)
        for source, cost in layer:
            self._visits += 1
            if self._visits > VISITS:
                raise UnsupportedError(
                    f"forcing numbers need more than {VISITS} sets of states at one length after the other, "
                    f"the cap on what is examined; ask for shorter words, or for a simpler language"
                )
            for letter, target in enumerate(self.images(source)):
                total = cost + (letter < free)
                if total <= most and (target not in reached or total < reached[target][0]):
                    reached[target] = total, source, letter
        kept: list[int] = []
        for target in sorted(reached, key=lambda mask: (reached[mask][0], mask.bit_count(), mask)):
            if not any(part & target == part for part in kept[:PRUNERS]):
                kept.append(target)
        return {target: reached[target] for target in kept}


def forcing_number(dfa: Dfa, n: int, limit: int = SETS) -> ForcingNumber:
    """The forcing number f(n) of the language of an automaton, by a shortest path over n moves of sets.

    All costs up to 1, 2, 4, ... are tried in turn, and of two sets at one position, one within the other, the
    larger one is dropped unless it costs less. That f(n) = o(n) is necessary for hard attention is Theorem 1
    of Hahn 2020.

    Raises `UnsupportedError` when more than `limit` sets are met, and beyond the cap `VISITS`.

    >>> from attemper.languages.words import Alphabet
    >>> parity = Dfa(Alphabet(("0", "1")), ((0, 1), (1, 0)), 0, frozenset({0}))
    >>> forcing_number(parity, 3)
    ForcingNumber(fixed=3, restriction=('0', '0', '0'), member=True)
    >>> all_ones = Dfa(Alphabet(("0", "1")), ((1, 0), (1, 1)), 0, frozenset({0}))
    >>> forcing_number(all_ones, 3)
    ForcingNumber(fixed=1, restriction=(None, None, '0'), member=False)
    """
    if n < 0:
        raise ValueError(f"there are no words of length {n}")
    sets = _Sets(dfa, limit)
    most, found = 1, False
    while not found:
        layers = [{sets.start: (0, 0, 0)}]
        for _ in range(n):
            layers.append(sets.after(((mask, cost) for mask, (cost, _, _) in layers[-1].items()), most))
        found, most = any(sets.member(mask) is not None for mask in layers[-1]), 2 * most
    end = next(mask for mask in layers[-1] if sets.member(mask) is not None)
    symbols = (*sets.dfa.alphabet.symbols, None)
    restriction: list[str | None] = []
    mask = end
    for layer in reversed(layers[1:]):
        _, mask, letter = layer[mask]
        restriction.append(symbols[letter])
    return ForcingNumber(layers[-1][end][0], tuple(reversed(restriction)), bool(sets.member(end)))


@final
@dataclass(frozen=True)
class _Graph:
    """All sets from which a decided one can be reached; the start is number 0.

    `edges[s]` has the cost of a move from set s to each next set; at most one costs 0.
    """

    edges: tuple[Mapping[int, int], ...]
    decided: frozenset[int]


def growth(dfa: Dfa, limit: int = SETS) -> ForcingGrowth:
    """How the forcing numbers of the language of an automaton behave for all lengths, exactly.

    Take the finite graph of all sets of states that are reached from the start and reach a decided one, with
    the costs above. For a strongly connected part K let l(K) be the least mean cost of its cycles, d(K) the
    greatest common divisor of their lengths, and R(K) the lengths modulo d(K) of the paths from the start
    through K to a decided set. Then, for all n,

        f(n) = l n + O(1)   with   l = min { l(K) : n mod d(K) in R(K) }.

    Not less: a path of n moves is a simple path and cycles, each within a part K that it meets, so n mod d(K)
    is in R(K), and each costs at least l(K) times its length. Not more: choose K; for n in the right class
    there is a path through K to which cycles of K, each round of one with the least mean but for a bounded
    number of moves, can be added until it has n moves. So f is bounded, or at least linear on a class of
    lengths: nothing lies between. (Least means of cycles: Karp 1978; here by cycles of negative cost, the
    last run without one being the proof. The meaning of slopes: Hahn 2020, Theorem 1.)

    Where the graph is too large, a bound is looked for at one length after the other, without all sets.

    Raises `UnsupportedError` beyond `limit` sets, and beyond the caps `PERIOD` and `VISITS`.

    >>> from attemper.languages.words import Alphabet
    >>> growth(Dfa(Alphabet(("0", "1")), ((0, 1), (1, 0)), 0, frozenset({0})))
    ForcingGrowth(slopes=(Fraction(1, 1),), bounded=None)
    >>> growth(Dfa(Alphabet(("0", "1")), ((1, 0), (1, 1)), 0, frozenset({0})))
    ForcingGrowth(slopes=(Fraction(0, 1),), bounded=1)
    """
    sets = _Sets(dfa, limit)
    try:
        graph = _graph(sets)
    except UnsupportedError as refusal:
        try:
            return ForcingGrowth((Fraction(0),), _greatest(_Sets(dfa, limit)))
        except UnsupportedError:
            raise refusal from None
    parts = _parts(graph)
    still = [part for part in parts if not _has_free_cycle(part)]
    slopes = _covered(graph, (None,), [(Fraction(0), part) for part in parts if _has_free_cycle(part)])
    if None in slopes:
        slopes = _covered(graph, slopes, [(_least_mean(part), part) for part in still])
    found = tuple(slope for slope in slopes if slope is not None)
    period = next(p for p in range(1, len(found) + 1) if found == found[:p] * (len(found) // p))
    return ForcingGrowth(found[:period], None if any(found) else _greatest(sets))


def _graph(sets: _Sets) -> _Graph:
    number = {sets.start: 0}
    masks = [sets.start]
    rows: list[dict[int, int]] = []
    while len(rows) < len(masks):
        row: dict[int, int] = {}
        *fixed, free = sets.images(masks[len(rows)])
        for target, cost in ((free, 0), *((image, 1) for image in fixed)):
            if target not in number:
                number[target] = len(masks)
                masks.append(target)
            row.setdefault(number[target], cost)
        rows.append(row)
    decided = {s for s, mask in enumerate(masks) if sets.member(mask) is not None}
    before: list[list[int]] = [[] for _ in rows]
    for s, row in enumerate(rows):
        for target in row:
            before[target].append(s)
    queue, alive = deque(decided), set(decided)
    while queue:
        for s in before[queue.popleft()]:
            if s not in alive:
                alive.add(s)
                queue.append(s)
    new = {s: k for k, s in enumerate(s for s in range(len(rows)) if s in alive)}
    edges = tuple({new[t]: cost for t, cost in rows[s].items() if t in new} for s in new)
    return _Graph(edges, frozenset(new[s] for s in decided))


_Part = Mapping[int, Mapping[int, int]]
"""A strongly connected part: the moves that stay in it, with their costs, from each of its sets."""


def _parts(graph: _Graph) -> list[_Part]:
    """The strongly connected parts that have a cycle."""
    component = strong_components([tuple(row) for row in graph.edges])
    parts: dict[int, dict[int, dict[int, int]]] = {}
    for s, row in enumerate(graph.edges):
        inside = {t: cost for t, cost in row.items() if component[t] == component[s]}
        if inside:
            parts.setdefault(component[s], {})[s] = inside
    return list(parts.values())


def _has_free_cycle(part: _Part) -> bool:
    """Whether some cycle costs nothing: each set has at most one move that is free."""
    free = {s: t for s, row in part.items() for t, cost in row.items() if cost == 0}
    return bool(_cycles(free))


def _cycles(following: Mapping[int, int]) -> list[list[int]]:
    """The cycles of a partial function."""
    cycles, seen = [], set[int]()
    for root in following:
        path: dict[int, int] = {}
        s = root
        while s in following and s not in seen:
            seen.add(s)
            path[s] = len(path)
            s = following[s]
        if s in path:
            cycles.append(list(path)[path[s] :])
    return cycles


def _least_mean(part: _Part) -> Fraction:
    """The least mean cost of a cycle. Costs are at most 1, and so is it.

    Moves that cost the excess over a guess p/q, times q: shortest paths are found if and only if no cycle has
    a mean below the guess. A cycle of next moves on the way to them has one, and is the next guess.
    """
    guess = Fraction(1)
    while True:
        p, q = guess.numerator, guess.denominator
        distance = dict.fromkeys(part, 0)
        following: dict[int, int] = {}
        better: list[Fraction] = []
        changed = True
        while changed and not better:
            changed = False
            for s, row in part.items():
                for target, cost in row.items():
                    through = q * cost - p + distance[target]
                    if through < distance[s]:
                        distance[s], following[s], changed = through, target, True
            better = [
                Fraction(sum(part[s][following[s]] for s in cycle), len(cycle))
                for cycle in _cycles(following)
            ]
        if not better:
            return guess
        guess = min(better)


def _covered(
    graph: _Graph, slopes: Sequence[Fraction | None], parts: Iterable[tuple[Fraction, _Part]]
) -> tuple[Fraction | None, ...]:
    """The slopes by classes of lengths, with those that are not yet known (None) taken from the parts."""
    grouped: dict[tuple[Fraction, int], list[_Part]] = {}
    for mean, part in parts:
        grouped.setdefault((mean, _gcd_of_cycles(part)), []).append(part)
    for (mean, modulus), alike in sorted(grouped.items(), key=lambda item: item[0]):
        if None not in slopes:
            break
        begin = _lengths(graph, {0: 1}, modulus)
        through = _lengths(graph, {s: begin[s] for part in alike for s in part}, modulus)
        lengths = reduce(or_, (through[s] for s in graph.decided))
        if lengths == (1 << modulus) - 1:
            lengths, modulus = 1, 1
        period = lcm(len(slopes), modulus)
        if period > PERIOD:
            raise UnsupportedError(
                f"forcing numbers behave differently on more than {PERIOD} classes of lengths, the cap on "
                f"what is examined; split the language into simpler ones"
            )
        known = [slopes[r % len(slopes)] for r in range(period)]
        slopes = [
            mean if slope is None and lengths >> r % modulus & 1 else slope for r, slope in enumerate(known)
        ]
    return tuple(slopes)


def _gcd_of_cycles(part: _Part) -> int:
    """The greatest common divisor of the lengths of all cycles, from the depths of a breadth-first visit."""
    root = next(iter(part))
    depth, queue = {root: 0}, deque([root])
    divisor = 0
    while queue:
        s = queue.popleft()
        for target in part[s]:
            if target not in depth:
                depth[target] = depth[s] + 1
                queue.append(target)
            divisor = gcd(divisor, depth[s] + 1 - depth[target])
    return divisor


def _lengths(graph: _Graph, begin: Mapping[int, int], modulus: int) -> list[int]:
    """The lengths of paths to each set, modulo a number, as bit masks; `begin` has those to begin with."""
    found = [0] * len(graph.edges)
    for s, lengths in begin.items():
        found[s] = lengths
    queue, waiting = deque(begin), set(begin)
    while queue:
        s = queue.popleft()
        waiting.discard(s)
        longer = (found[s] << 1 | found[s] >> modulus - 1) & (1 << modulus) - 1
        for target in graph.edges[s]:
            if longer & ~found[target]:
                found[target] |= longer
                if target not in waiting:
                    waiting.add(target)
                    queue.append(target)
    return found


def _greatest(sets: _Sets) -> int:
    """The greatest forcing number of all lengths, if they are bounded.

    The sets of cost at most k at each length depend on those at the length before, so they repeat (found as
    by Brent 1980): k is enough if, until they do, some set of each length is decided.
    """
    most = 0
    here = {sets.start: 0}
    there, wait, left = here, 1, 1
    while True:
        if all(sets.member(mask) is None for mask in here):
            most += 1
            here = {sets.start: 0}
            there, wait, left = here, 1, 1
            continue
        here = {mask: cost for mask, (cost, _, _) in sets.after(here.items(), most).items()}
        if here == there:
            return most
        left -= 1
        if not left:
            wait *= 2
            there, left = here, wait
