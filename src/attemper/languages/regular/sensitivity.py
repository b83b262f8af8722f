"""Average sensitivity: at how many positions of a word an exchange of the symbol turns membership.

For a word x of n symbols over s letters, s(x) is the sum over its positions of the share, among the s - 1
other letters, of those that turn membership if they are put there. With two letters that is the number of
positions that matter. The average sensitivity is the mean of s(x) over all s^n words: n for PARITY, and at
most O((log n)^(d-1)) for what circuits of constant depth d and polynomial size compute (Boppana 1997), to
which languages of hard attention belong. (Hahn 2020, section 5, names it beside his own notion, which
`forcing` has.)

Words and their exchanges are counted together, one symbol after the other: before the exchange by the state
that the word leads to, and behind it by the pair of states of both words. All numbers are integers.
"""

from __future__ import annotations

from collections import Counter
from fractions import Fraction
from itertools import permutations

from attemper.errors import UnsupportedError
from attemper.languages.regular.dfa import Dfa
from attemper.languages.regular.minimal import minimal

MOVES = 20_000
"""How many moves of pairs of states are followed with each symbol before the automaton is refused."""


def average_sensitivity(dfa: Dfa, length: int, most: int = MOVES) -> Fraction:
    """The mean of s(x) over all words of n = `length` >= 0 symbols, exactly; 0 with one letter only.

    Raises `UnsupportedError` if pairs of states have more than `most` moves.

    >>> from attemper.languages.regular.regex import parse_regex
    >>> parity, some = parse_regex("(b*ab*a)*b*", "ab"), parse_regex("(a|b)*a(a|b)*", "ab")
    >>> print(average_sensitivity(parity, 100), average_sensitivity(some, 4))
    100 1/2
    """
    automaton = minimal(dfa)
    moves, letters = automaton.moves, len(automaton.alphabet.symbols)
    ways = [Counter(row) for row in moves]
    words: Counter[int] = Counter({automaton.start: 1})
    pairs: Counter[tuple[int, int]] = Counter()
    for _ in range(length):
        later: Counter[tuple[int, int]] = Counter()
        for (one, other), count in pairs.items():
            for both in zip(moves[one], moves[other], strict=True):
                later[both] += count
        after: Counter[int] = Counter()
        for state, count in words.items():
            for target, number in ways[state].items():
                after[target] += count * number
            for (target, number), (another, more) in permutations(ways[state].items(), 2):
                later[target, another] += count * number * more
        words = after
        pairs = Counter({both: count for both, count in later.items() if both[0] != both[1]})
        if letters * len(pairs) > most:
            raise UnsupportedError(
                f"pairs of states have more than {most:,} moves, the cap on what is followed"
            )
    accepting = automaton.accepting
    turned = sum(count for (one, other), count in pairs.items() if (one in accepting) != (other in accepting))
    return Fraction(turned, max(1, letters - 1) * letters**length)
