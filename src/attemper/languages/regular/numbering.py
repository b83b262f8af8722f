"""The words of one length, members or strangers, counted and numbered: so one is drawn exactly evenly.

C[k][q] is how many words of k symbols lead from state q to an accepting one:

    C[0][q] = 1 if q accepts, else 0;    C[k][q] = sum over symbols s of C[k-1][moves[q][s]].

All numbers are integers of any size, so nothing is rounded. Of the s^k words of k symbols over s letters,
s^k - C[k][q] do not lead there.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import final

from attemper.languages.regular.dfa import Dfa
from attemper.languages.words import Word

MOST_BITS = 2**31
"""The most bits of a table (a quarter of a gigabyte): longer words of larger automata are not counted."""

OWN_BITS = 256
"""What a number takes beside its own bits."""


@final
class Numbering:
    """The words of each length up to `longest` in the order of the alphabet, by their numbers.

    A number drawn with `randrange(count(n))` gives every member of n symbols with the same probability.

    >>> from attemper.languages.regular.regex import parse_regex
    >>> some = Numbering(parse_regex("(ab|ba)*c?", "abc"), 40)
    >>> some.count(40), some.count(3), ["".join(some.word(3, number)) for number in range(2)]
    (1048576, 2, ['abc', 'bac'])
    >>> some.count(3, member=False), "".join(some.word(3, 0, member=False))
    (25, 'aaa')
    """

    def __init__(self, dfa: Dfa, longest: int) -> None:
        self._dfa, self._all = dfa, [1]
        self._members = [[int(state in dfa.accepting) for state in range(len(dfa.moves))]]
        for _ in range(longest):
            last = self._members[-1]
            self._all.append(self._all[-1] * len(dfa.alphabet.symbols))
            self._members.append([sum(last[target] for target in row) for row in dfa.moves])

    def count(self, n: int, *, member: bool = True) -> int:
        """How many words of n symbols are in the language, or are not."""
        return self._count(n, self._dfa.start, member)

    def word(self, n: int, number: int, *, member: bool = True) -> Word:
        """The word of n symbols before which stand so many others of its verdict, in the alphabet's order.

        Raises `IndexError` unless `number` is at least 0 and below `count`.
        """
        if not 0 <= number < self.count(n, member=member):
            raise IndexError(f"there is no word {number} of {n} symbols")
        word, state = [], self._dfa.start
        for left in reversed(range(n)):
            for symbol, target in zip(self._dfa.alphabet.symbols, self._dfa.moves[state], strict=True):
                here = self._count(left, target, member)
                if number < here:
                    word.append(symbol)
                    state = target
                    break
                number -= here
        return tuple(word)

    def _count(self, k: int, state: int, member: bool) -> int:
        inside = self._members[k][state]
        return inside if member else self._all[k] - inside


def numbering_of(dfa: Dfa, longest: int) -> Numbering | None:
    """The numbering; None where the table of all C[k][q] could have more than `MOST_BITS` bits."""
    bits = longest * len(dfa.alphabet.symbols).bit_length() // 2 + OWN_BITS
    return Numbering(dfa, longest) if len(dfa.moves) * (longest + 1) * bits <= MOST_BITS else None


def verdicts(dfa: Dfa, longest: int) -> Iterator[frozenset[bool]]:
    """For each length from 0 to `longest` the verdicts that some word of it has.

    >>> from attemper.languages.regular.regex import parse_regex
    >>> [sorted(found) for found in verdicts(parse_regex("(aa)*", "ab"), 3)]
    [[True], [False], [False, True], [False]]
    """
    states = {dfa.start}
    for _ in range(longest + 1):
        yield frozenset(state in dfa.accepting for state in states)
        states = {target for state in states for target in dfa.moves[state]}
