"""Deterministic finite automata: complete, over integers. Data and meaning only."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import final

from attemper.errors import AutomatonError
from attemper.exact.codec import Codec, Natural
from attemper.exact.predicates import Predicate
from attemper.languages.words import MOST_SHOWN, Alphabet, Word, listed


@final
@dataclass(frozen=True)
class Dfa:
    """A complete deterministic finite automaton with the states 0, 1, ..., m-1.

    `moves[q][s]` is the state after state q has read the symbol number s of the alphabet.
    Raises `AutomatonError` unless every state has one move for each symbol.

    >>> parity = Dfa(Alphabet(("0", "1")), ((0, 1), (1, 0)), 0, frozenset({0}))
    >>> parity.accepts(("1", "0", "1")), parity.accepts(()), parity.prefixes(("1", "1"))
    (True, True, (False, True))
    """

    alphabet: Alphabet
    moves: tuple[tuple[Natural, ...], ...]
    start: Natural
    accepting: frozenset[Natural]

    def __post_init__(self) -> None:
        count, width = len(self.moves), len(self.alphabet.symbols)
        states = range(count)
        if self.start not in states or not self.accepting <= set(states):
            raise AutomatonError(f"the start or an accepting state is none of the states 0 to {count - 1}")
        for state, row in enumerate(self.moves):
            if len(row) != width or any(target not in states for target in row):
                raise AutomatonError(
                    f"state {state} must have one move to a state for each of {width} symbols"
                )

    @cached_property
    def _index(self) -> dict[str, int]:
        return {symbol: number for number, symbol in enumerate(self.alphabet.symbols)}

    def state_after(self, word: Word) -> int:
        """The state after the whole word."""
        state = self.start
        for symbol in word:
            state = self.moves[state][self._index[symbol]]
        return state

    def accepts(self, word: Word) -> bool:
        """Whether the word is in the language; any length, the empty word included."""
        return self.state_after(word) in self.accepting

    def prefixes(self, word: Word) -> tuple[bool, ...]:
        """Whether each of the prefixes of length 1..n is in the language."""
        found, state = [], self.start
        for symbol in word:
            state = self.moves[state][self._index[symbol]]
            found.append(state in self.accepting)
        return tuple(found)

    # As a language (`languages.language`): the verdict on a word stands at its last position.

    @property
    def reads_first(self) -> bool:
        """No: the last position says whether the whole word is accepted."""
        return False

    @property
    def accepts_empty(self) -> bool:
        """The verdict on the empty word."""
        return self.start in self.accepting

    def bits(self, word: Word) -> tuple[bool, ...]:
        """Whether each of the prefixes of length 1..n is in the language."""
        return self.prefixes(word)

    def rows(self, word: Word) -> tuple[tuple[bool, ...], ...]:
        """The bits, which are all that is put out."""
        return (self.bits(word),)

    def fits(self, alphabet: Alphabet) -> bool:
        """Whether this is the automaton's alphabet, in the same order."""
        return alphabet == self.alphabet

    def predicates(self) -> Iterator[Predicate]:
        """None: an automaton tests no numbers."""
        return iter(())

    def text(self, _: Alphabet | None = None) -> str:
        """States, start, accepting states and, if they are few, all moves, in the alphabet's order.

        >>> Dfa(Alphabet(("0", "1")), ((0, 1), (1, 0)), 0, frozenset({0})).text()
        'an automaton over 0 1 with 2 states: start 0; accepting 0; moves 0: 0 1, 1: 1 0'
        """
        symbols = self.alphabet.symbols
        accepting = listed(list(map(str, sorted(self.accepting))), "states") if self.accepting else "none"
        text = (
            f"an automaton over {listed(symbols, 'symbols')} with {len(self.moves):,} states: "
            f"start {self.start}; accepting {accepting}"
        )
        if len(self.moves) * len(symbols) > MOST_SHOWN:
            return f"{text}; its moves are too many to be shown"
        rows = ", ".join(f"{state}: {' '.join(map(str, row))}" for state, row in enumerate(self.moves))
        return f"{text}; moves {rows}"


AUTOMATON: Codec[Dfa] = Codec(Dfa)
"""Automata as JSON data."""
