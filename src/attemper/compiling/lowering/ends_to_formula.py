"""From an automaton that looks at the ends of a word only to a past formula of one layer.

Whether such an automaton accepts depends on the first letter and on the last one or two:

    O (first & x) says the first letter,   Y y the letter before the last
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping

from attemper.languages.regular.dfa import Dfa
from attemper.languages.regular.minimal import minimal
from attemper.languages.temporal import syntax
from attemper.languages.temporal.connectives import FALSE, TRUE, all_of, any_of, negation

MOST_ENDS = 20_000
"""More combinations of a state and three letters are not looked at."""

LetterNumber = int
"""The number of a letter, standing for all that act like it."""

UNASKED: LetterNumber = -1
"""Stands where the letter before the last makes no difference."""

PreviousLetter = LetterNumber | None
"""The letter before the last, or None where there is none."""

Ends = tuple[LetterNumber, PreviousLetter, LetterNumber]
"""The first letter, the one before the last, and the last."""


def ends_to_formula(dfa: Dfa) -> syntax.Formula | None:
    """A formula that holds at i exactly where the prefix of length i is accepted; None if ends do not tell.

    >>> from attemper.languages.temporal.show import show
    >>> from attemper.languages.words import Alphabet
    >>> same_ends = Dfa(Alphabet(("a", "b")), ((1, 3), (1, 2), (1, 2), (4, 3), (4, 3)), 0, frozenset({1, 3}))
    >>> show(ends_to_formula(same_ends))
    'O (first & a) & a | !O (first & a) & b'
    """
    least = minimal(dfa)
    alike = _alike(least)
    if len(least.moves) * len(alike) ** 3 > MOST_ENDS:
        return None
    for looks_back in (False, True):
        accepted = _accepted(least, tuple(alike), looks_back)
        if accepted is not None:
            return _EndsWriter(dfa, alike).formula(accepted)
    return None


def _alike(dfa: Dfa) -> dict[LetterNumber, list[LetterNumber]]:
    """The letters that act alike, by the first of them."""
    found: dict[tuple[int, ...], list[LetterNumber]] = {}
    for letter in range(len(dfa.alphabet.symbols)):
        found.setdefault(tuple(row[letter] for row in dfa.moves), []).append(letter)
    return {group[0]: group for group in found.values()}


def _accepted(dfa: Dfa, letters: tuple[LetterNumber, ...], looks_back: bool) -> dict[Ends, bool] | None:
    """Whether words with such ends are accepted; None if some are and some are not."""
    found: dict[Ends, bool] = {}
    for ends, state in _reached(dfa, letters):
        first, before, last = ends
        own = (first, before if looks_back else UNASKED, last)
        if found.setdefault(own, state in dfa.accepting) != (state in dfa.accepting):
            return None
    return found


def _reached(dfa: Dfa, letters: tuple[LetterNumber, ...]) -> Iterator[tuple[Ends, int]]:
    """The ends of all words, each with the states after such words."""
    waiting: list[tuple[Ends, int]] = [((x, None, x), dfa.moves[dfa.start][x]) for x in letters]
    seen = set(waiting)
    for (first, _, last), state in waiting:
        for letter in letters:
            after = (first, last, letter), dfa.moves[state][letter]
            if after not in seen:
                seen.add(after)
                waiting.append(after)
    yield from waiting


class _EndsWriter:
    """Formulas about letters, each of which stands for all that act like it."""

    def __init__(self, dfa: Dfa, alike: Mapping[LetterNumber, list[LetterNumber]]) -> None:
        self.symbols = dfa.alphabet.symbols
        self.alike = alike

    def formula(self, accepted: Mapping[Ends, bool]) -> syntax.Formula:
        """First letters that lead to the same are one case; of two cases one is "else"."""
        cases: dict[syntax.Formula, list[LetterNumber]] = {}
        for first in self.alike:
            own = {(before, last) for (f, before, last), yes in accepted.items() if yes and f == first}
            cases.setdefault(self._rest(own), []).append(first)
        (then, firsts), *others = cases.items()
        if not others:
            return then
        if len(others) > 1:
            return any_of(all_of([self._began(own), rest]) for rest, own in cases.items())
        ((other, _),) = others
        return _chosen(self._began(firsts), then, other)

    def _rest(self, accepted: Iterable[tuple[PreviousLetter, LetterNumber]]) -> syntax.Formula:
        """What is asked of the letter before the last, and of the last."""
        by_last: dict[LetterNumber, list[PreviousLetter]] = {}
        for before, last in accepted:
            by_last.setdefault(last, []).append(before)
        cases: dict[syntax.Formula, list[LetterNumber]] = {}
        for last, befores in by_last.items():
            cases.setdefault(self._preceded(befores), []).append(last)
        return any_of(all_of([self._letters(own), before]) for before, own in cases.items())

    def _preceded(self, befores: list[PreviousLetter]) -> syntax.Formula:
        """That the letter before is one of these; that there is none, too, if None is among them."""
        known = [before for before in befores if before not in (None, UNASKED)]
        if UNASKED in befores or len(befores) == len(self.alike) + 1:
            return TRUE
        there = [syntax.Unary(syntax.UnaryOperator.YESTERDAY, self._letters(known))] if known else []
        return any_of([*there, syntax.First()] if None in befores else there)

    def _began(self, firsts: list[LetterNumber]) -> syntax.Formula:
        return syntax.Unary(syntax.UnaryOperator.ONCE, all_of([syntax.First(), self._letters(firsts)]))

    def _letters(self, letters: Iterable[LetterNumber | None]) -> syntax.Formula:
        """That the letter is one of these, or acts like one; nothing is said by all of them."""
        numbers = sorted(number for letter in letters if letter is not None for number in self.alike[letter])
        if len(numbers) == len(self.symbols):
            return TRUE
        return any_of(syntax.Symbol(self.symbols[number]) for number in numbers)


def _chosen(condition: syntax.Formula, then: syntax.Formula, other: syntax.Formula) -> syntax.Formula:
    """`then` where the condition holds, else `other`."""
    if other == FALSE:
        return all_of([condition, then])
    if then == FALSE:
        return all_of([negation(condition), other])
    return any_of([all_of([condition, then]), all_of([negation(condition), other])])
