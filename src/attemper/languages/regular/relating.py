"""Automata beside each other: over other symbols, read from the other end, and whether one has all words."""

from __future__ import annotations

from collections.abc import Iterator

from attemper.errors import AutomatonError, UnsupportedError
from attemper.languages.regular.dfa import Dfa
from attemper.languages.regular.minimal import minimal
from attemper.languages.regular.visits import first_told_apart, numbered, shortest_words
from attemper.languages.words import Alphabet, Word

REVERSED_STATES = 50_000
"""An automaton that has more states when it is read from the other end is refused."""


def restricted(dfa: Dfa, alphabet: Alphabet) -> Dfa:
    """The minimal automaton of the words of any length n >= 0 that have no other symbols than these.

    Raises `AutomatonError` for a symbol that the automaton does not have.

    >>> has_c = Dfa(Alphabet(("a", "b", "c")), ((0, 0, 1), (1, 1, 1)), 0, frozenset({1}))
    >>> restricted(has_c, Alphabet(("b", "a"))).moves
    ((0, 0),)
    """
    if alphabet == dfa.alphabet:
        return minimal(dfa)
    numbers = {symbol: number for number, symbol in enumerate(dfa.alphabet.symbols)}
    missing = [symbol for symbol in alphabet.symbols if symbol not in numbers]
    if missing:
        raise AutomatonError(f"the automaton has no symbol '{missing[0]}'")
    moves = tuple(tuple(row[numbers[symbol]] for symbol in alphabet.symbols) for row in dfa.moves)
    return minimal(Dfa(alphabet, moves, dfa.start, dfa.accepting))


def from_the_end(dfa: Dfa, most: int = REVERSED_STATES) -> Dfa:
    """The minimal automaton that accepts a word of any length n >= 0 if `dfa` accepts the reversed word.

    A state is the set of those from where the word read so far, backwards, is accepted. Raises
    `UnsupportedError` if there are more than `most` such sets.

    >>> ends_in_a = Dfa(Alphabet(("a", "b")), ((1, 0), (1, 0)), 0, frozenset({1}))
    >>> from_the_end(ends_in_a).accepts(("a", "b")), from_the_end(ends_in_a).accepts(("b", "a"))
    (True, False)
    """
    before: list[dict[int, list[int]]] = [{} for _ in dfa.alphabet.symbols]
    for state, row in enumerate(dfa.moves):
        for letter, target in enumerate(row):
            before[letter].setdefault(target, []).append(state)

    def after(states: frozenset[int]) -> Iterator[frozenset[int]]:
        for sources in before:
            yield frozenset(own for state in states for own in sources.get(state, ()))

    def admit(count: int) -> None:
        if count > most:
            raise UnsupportedError(f"read from the other end the automaton has over {most:,} states")

    numbers, moves = numbered(frozenset(dfa.accepting), after, admit)
    accepting = frozenset(number for states, number in numbers.items() if dfa.start in states)
    return minimal(Dfa(dfa.alphabet, moves, 0, accepting))


def beyond(left: Dfa, right: Dfa) -> Word | None:
    """A shortest word, of any length n >= 0, that `left` accepts and `right` does not; None if there is none.

    Raises `AutomatonError` for automata over different alphabets.

    >>> some_a = Dfa(Alphabet(("a",)), ((1,), (1,)), 0, frozenset({1}))
    >>> two_a = Dfa(Alphabet(("a",)), ((1,), (2,), (2,)), 0, frozenset({2}))
    >>> beyond(some_a, two_a), beyond(two_a, some_a)
    (('a',), None)
    """
    return first_told_apart(left, right, lambda one, other: one and not other)


def shortest_word(dfa: Dfa, accepted: bool) -> Word | None:
    """A shortest word that is accepted, or one that is rejected; None if there is none.

    >>> ends_in_a = Dfa(Alphabet(("a", "b")), ((1, 0), (1, 0)), 0, frozenset({1}))
    >>> shortest_word(ends_in_a, True), shortest_word(ends_in_a, False)
    (('a',), ())
    """
    visits = shortest_words(dfa.start, lambda state: zip(dfa.alphabet.symbols, dfa.moves[state], strict=True))
    return next((word for state, word in visits if (state in dfa.accepting) is accepted), None)
