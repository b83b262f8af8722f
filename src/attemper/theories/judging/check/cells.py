"""What is judged: words of one length that lead to one state, with one last symbol where that is read."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import final

from attemper.languages.regular.completing import completions
from attemper.languages.regular.dfa import Dfa
from attemper.theories.judging.certificate import Reading


@final
@dataclass(frozen=True)
class WordCell:
    """The words of `length` symbols after which the automaton is in the state; all, or those that end with
    the symbol of this number.
    """

    length: int
    state: int
    last: int | None = None


@final
@dataclass(frozen=True)
class JudgedTask:
    """What an encoder is asked about a language: which words it reads, and what is right."""

    automaton: Dfa
    reading: Reading

    @cached_property
    def left(self) -> tuple[int | None, ...]:
        """How many symbols lead from each state into the language; None where none do."""
        return completions(self.automaton)

    @cached_property
    def moves(self) -> tuple[tuple[int, ...], ...]:
        """The automaton's moves, with -1 for those after which a prefix is none of a word that is read."""
        if self.reading is Reading.VERDICT:
            return self.automaton.moves
        return tuple(
            tuple(-1 if self.left[target] is None else target for target in row)
            for row in self.automaton.moves
        )

    def answers(self, state: int) -> tuple[bool, ...]:
        """Which outputs are to be positive after a word that leads to the state; the others negative.

        >>> from attemper.languages.words import Alphabet
        >>> even = Dfa(Alphabet(("a",)), ((1,), (0,)), 0, frozenset({0}))
        >>> JudgedTask(even, Reading.VERDICT).answers(1), JudgedTask(even, Reading.NEXT).answers(1)
        ((False,), (True, False))
        """
        accepted = state in self.automaton.accepting
        if self.reading is Reading.VERDICT:
            return (accepted,)
        return (*(target >= 0 for target in self.moves[state]), accepted)

    def cells_to(self, up_to: int) -> Iterator[WordCell]:
        """All cells that have a word, by lengths, states and last symbols.

        With `Reading.NEXT` these are prefixes of words of the language of at most so many symbols.

        >>> from attemper.languages.words import Alphabet
        >>> even = Dfa(Alphabet(("a",)), ((1,), (0,)), 0, frozenset({0}))
        >>> [(own.length, own.state) for own in JudgedTask(even, Reading.VERDICT).cells_to(2)]
        [(0, 0), (1, 1), (2, 0)]
        >>> [(own.length, own.last) for own in JudgedTask(even, Reading.NEXT).cells_to(3)]
        [(0, None), (1, 0), (2, 0)]
        """
        reached = {WordCell(0, self.automaton.start)}
        for length in range(up_to + 1):
            reached = {own for own in reached if self._is_read(own, up_to)}
            yield from sorted(reached, key=lambda own: (own.state, -1 if own.last is None else own.last))
            reached = {
                WordCell(length + 1, target, None if self.reading is Reading.VERDICT else symbol)
                for own in reached
                for symbol, target in enumerate(self.moves[own.state])
                if target >= 0
            }

    def _is_read(self, cell: WordCell, up_to: int) -> bool:
        left = self.left[cell.state]
        return self.reading is Reading.VERDICT or (left is not None and cell.length + left <= up_to)
