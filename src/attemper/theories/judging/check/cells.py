"""What is judged: words of one length that lead to one state, with one last symbol where that is read."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import cached_property
from typing import final

from attemper.languages.regular.completing import completions
from attemper.languages.regular.dfa import Dfa
from attemper.models.soft.vocabulary import ModelTokens
from attemper.theories.judging.certificate import Reading


@final
@dataclass(frozen=True)
class WordCell:
    """The words of `length` symbols after which the automaton is in the state; all, or those that end with
    the symbol of this number. The input stands behind `offset` positions that are not read.
    """

    length: int
    state: int
    last: int | None = None
    offset: int = 0


@final
@dataclass(frozen=True)
class JudgedTask:
    """What an encoder is asked about a language: which words it reads, and what is right.

    `vocabulary` has the tokens of a model that has others beside letters, start and end: these never come.
    """

    automaton: Dfa
    reading: Reading
    vocabulary: ModelTokens | None = None

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

    @property
    def has_start(self) -> bool:
        """Whether a symbol stands before every word."""
        return self.reading is Reading.NEXT or self.vocabulary is not None

    @property
    def beside(self) -> int:
        """How many symbols stand in every input beside the word: a start, a marker, or both."""
        return self.has_start + (self.reading is Reading.VERDICT)

    @cached_property
    def never(self) -> tuple[str, ...]:
        """The tokens that may come nowhere."""
        if self.vocabulary is None or self.vocabulary.asked is not None:
            return ()
        letters = self.automaton.alphabet.symbols
        return self.vocabulary.outputs_for(letters)[len(letters) + 1 :]

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
        return (*(target >= 0 for target in self.moves[state]), accepted, *(False for _ in self.never))

    def cells_to(self, up_to: int, offsets: tuple[int, int] = (0, 0)) -> Iterator[WordCell]:
        """All cells that have a word, by lengths, offsets, states and last symbols.

        With `Reading.NEXT` these are prefixes of words of the language. At an offset o, from the first to the
        last, words have at most `up_to` - o symbols.

        >>> from attemper.languages.words import Alphabet
        >>> even = Dfa(Alphabet(("a",)), ((1,), (0,)), 0, frozenset({0}))
        >>> [(own.length, own.state) for own in JudgedTask(even, Reading.VERDICT).cells_to(2)]
        [(0, 0), (1, 1), (2, 0)]
        >>> [(own.length, own.last) for own in JudgedTask(even, Reading.NEXT).cells_to(3)]
        [(0, None), (1, 0), (2, 0)]
        """
        first, end = offsets
        reached = {WordCell(0, self.automaton.start)}
        for length in range(up_to + 1):
            reached = {own for own in reached if self._is_read(own, up_to - first)}
            if not reached:
                return
            own_order = sorted(reached, key=lambda own: (own.state, -1 if own.last is None else own.last))
            for offset in range(first, end + 1):
                here = [own for own in own_order if self._is_read(own, up_to - offset)]
                if not here:
                    break  # with more positions before it there is less place for a word
                yield from (replace(own, offset=offset) for own in here)
            reached = {
                WordCell(length + 1, target, None if self.reading is Reading.VERDICT else symbol)
                for own in reached
                for symbol, target in enumerate(self.moves[own.state])
                if target >= 0
            }

    def _is_read(self, cell: WordCell, up_to: int) -> bool:
        left = 0 if self.reading is Reading.VERDICT else self.left[cell.state]
        return left is not None and cell.length + left <= up_to
