"""A short past formula of an automaton: listed, or split into parts that are listed.

What is sought is true on some words and false on others, and the rest does not matter. If no listed formula
is that, it is `f & g`, `f | g` or `f <-> g` with a listed f, or `H g`, `O g`, `Y g` or `WY g`, where less is
asked of g; of `H g` it is asked that g fails where a word first leaves all prefixes of the words it holds on.
A formula that is right on all these words is followed beside the automaton, which decides.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import final

from attemper.compiling.lowering.shorten_formula import Library, Set, Words, says
from attemper.languages.regular.dfa import Dfa
from attemper.languages.temporal.syntax import Binary, BinaryOperator, Formula, Unary, UnaryOperator

MORE_WORDS = 6_000
"""So many words are looked at where too few were, and what was right on them was wrong."""

GOALS = 300
"""So many times it is looked for a formula, at most."""

DEPTH = 6
"""So often a goal is split, one within the other."""

MOST = 24
"""Formulas of more operators and symbols are not sought."""

PARTS = 500
"""Of so many of the shortest listed formulas one can be f."""

SizedFormula = tuple[int, Formula]
"""A formula and its size."""

Separation = tuple[Set, Set]
"""Where it must hold, and where it must not."""

Split = tuple[Separation, int, Callable[[Formula], Formula]]
"""What is left to be found, by how much the whole is larger, and the whole of what is found."""


def shortest(dfa: Dfa, period: int = 1) -> Formula | None:
    """A short formula that holds at i exactly where the prefix of length i is accepted, if one is found.

    It may test positions modulo what divides the period.

    >>> from attemper.languages.regular.regex import parse_regex
    >>> from attemper.languages.temporal.show import show
    >>> from attemper.languages.words import Alphabet
    >>> show(shortest(parse_regex("a*b", Alphabet(("a", "b")))))
    'b & WY H a'
    >>> show(shortest(parse_regex("(ab|ba)*", Alphabet(("a", "b"))), period=2))
    'pos % 2 = 0 & H ((a <-> Y b) | pos % 2 = 1)'
    """
    for most in (None, MORE_WORDS):
        words = Words(dfa.alphabet, most)
        wanted = words.accepted(dfa)
        library = Library(words, period, wanted)
        found = library.found.get(wanted)
        if found is None:
            split = _Splits(library).found((wanted, words.all ^ wanted), DEPTH, MOST)
            if split is None:
                return None
            found = split[1]
        if says(found, dfa):
            return found
    return None


@final
class _Splits:
    """What was found for each goal so far, and how much is left to be tried."""

    def __init__(self, library: Library) -> None:
        self.words = library.words
        self.listed = [(own, f, size) for size, each in enumerate(library.by_size) for own, f in each]
        self.parts = [entry for entry in self.listed if entry[0] not in (0, self.words.all)][:PARTS]
        self.left = GOALS
        self.known: dict[Separation, SizedFormula] = {}
        self.failed: dict[Separation, tuple[int, int]] = {}

    def found(self, goal: Separation, depth: int, most: int) -> SizedFormula | None:
        """One of the shortest that come of so many splits, if it has no more than so many operators."""
        if goal in self.known:
            return self.known[goal] if self.known[goal][0] <= most else None
        failed = self.failed.get(goal, (-1, 0))
        if (depth <= failed[0] and most <= failed[1]) or goal[0] & goal[1] or self.left <= 0:
            return None
        self.left -= 1
        listed = self._listed(goal, most)
        if listed is not None:
            self.known[goal] = listed
            return listed
        best, allowed = None, most
        for rest, cost, whole in self._splits(goal, depth, most) if depth else ():
            part = self.found(rest, depth - 1, allowed - cost)
            if part is not None:
                best = part[0] + cost, whole(part[1])
                allowed = best[0] - 1
        if best is None:
            self.failed[goal] = depth, most
        return best

    def _listed(self, goal: Separation, most: int) -> SizedFormula | None:
        holds, fails = goal
        for own, formula, size in self.listed:
            if size > most:
                return None
            if not holds & ~own and not own & fails:
                return size, formula
        return None

    def _splits(self, goal: Separation, depth: int, most: int) -> Iterator[Split]:
        yield from self._under_one_operator(goal)
        yield from self._joined(goal, max(1, depth - 1), most)
        yield from self._compared(goal, most)

    def _under_one_operator(self, goal: Separation) -> Iterator[Split]:
        holds, fails = goal
        always = self._always(holds, fails)
        if always is not None:
            yield always, 1, lambda g: Unary(UnaryOperator.HISTORICALLY, g)
        never = self._always(fails, holds)
        if never is not None:
            yield (never[1], never[0]), 1, lambda g: Unary(UnaryOperator.ONCE, g)
        before = self.words.shorter(holds), self.words.shorter(fails)
        if not holds & self.words.first():
            yield before, 1, lambda g: Unary(UnaryOperator.YESTERDAY, g)
        if not fails & self.words.first():
            yield before, 1, lambda g: Unary(UnaryOperator.WEAK_YESTERDAY, g)

    def _always(self, holds: Set, fails: Set) -> Separation | None:
        """What is asked of g by `H g`."""
        inside = self.words.prefixes(holds)
        outside = self.words.all ^ inside
        left = self.words.since(self.words.all, outside)
        if fails & ~left:
            return None
        return inside, outside & ~self.words.yesterday(left) & self.words.prefixes(fails)

    def _joined(self, goal: Separation, width: int, most: int) -> list[Split]:
        """Conjunctions and disjunctions; of those with an f of one size the few that leave the least to g."""
        holds, fails = goal
        by_kind: dict[tuple[bool, int], list[tuple[float, Set, Formula]]] = {}
        for own, f, size in self.parts:
            if size > most - 2:
                break
            is_and = not holds & ~own
            if not is_and and own & fails:
                continue
            gain, whole = (fails & ~own, fails) if is_and else (holds & own, holds)
            if gain:
                share = gain.bit_count() / whole.bit_count()
                by_kind.setdefault((is_and, size), []).append((share, own, f))
        found: list[tuple[float, Split]] = []
        for (is_and, size), each in by_kind.items():
            for share, own, f in sorted(each, key=lambda entry: -entry[0])[:width]:
                rest = (holds, fails & own) if is_and else (holds & ~own, fails)
                operator = BinaryOperator.AND if is_and else BinaryOperator.OR
                found.append((0.08 * size - share, (rest, size + 1, _joining(operator, f))))
        return [split for _, split in sorted(found, key=lambda entry: entry[0])[: 3 * width]]

    def _compared(self, goal: Separation, most: int) -> Iterator[Split]:
        """`f <-> g`, where g could be `H` or `O` of something."""
        holds, fails = goal
        if holds | fails != self.words.all:
            return
        for own, f, size in self.parts:
            if size > most - 2:
                break
            yes = self.words.all ^ holds ^ own
            no = self.words.all ^ yes
            if any(self.words.since(self.words.all, each) == each for each in (yes, no)):
                yield (yes, no), size + 1, _joining(BinaryOperator.IFF, f)


def _joining(operator: BinaryOperator, f: Formula) -> Callable[[Formula], Formula]:
    def joined(g: Formula) -> Formula:
        if isinstance(g, Binary) and g.operator is operator:
            return Binary(operator, joined(g.left), g.right)  # it is shown without brackets
        return Binary(operator, f, g)

    return joined
