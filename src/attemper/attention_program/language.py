"""A language that is written as an attention program: the program, and where it is read."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from fractions import Fraction
from typing import TypeVar, final

from attemper.attention_program.ops import CountTest, Place, Program
from attemper.errors import InternalError, UnsupportedError
from attemper.exact.closed_forms import tests_in
from attemper.exact.predicates import Predicate
from attemper.languages.definition import Definition
from attemper.languages.machines.reading import MachineLanguage
from attemper.languages.measures import Measure, describe
from attemper.languages.temporal.reading import At, how_read
from attemper.languages.words import Alphabet, Word, listed, show_word

LONGEST_PROGRAM = 2_000
"""The text of a longer program is not shown."""

Found = TypeVar("Found")


def defining_program(language: Definition) -> Program | None:
    """The attention program that defines a language: its own, or that of its counter machine; else None.

    >>> from attemper.languages.machines.parse import parse_machine
    >>> defining_program(MachineLanguage(parse_machine("input x n; sub n else halt"))).symbols[-1]
    ('none', 10)
    """
    if isinstance(language, ProgramLanguage):
        return language.program
    if isinstance(language, MachineLanguage):
        from attemper.attention_program.counter_machine import program_of  # nothing else needs it

        return program_of(language.machine)
    return None


@final
@dataclass(frozen=True)
class ProgramLanguage:
    r"""The words for which a program's output is 1 at one end.

    >>> from attemper.attention_program.parse import parse_program
    >>> program = parse_program('alphabet ["a", "b"]\ns0 = letter ["a"]\ns1 = previous s0\noutput s1')
    >>> ProgramLanguage(program, At.LAST, False).bits(("a", "b", "b"))
    (True, True, False)
    """

    program: Program
    at: At
    accepts_empty: bool

    @property
    def reads_first(self) -> bool:
        """Whether the verdict on a word stands at its first position, not at its last."""
        return self.at is At.FIRST

    def bits(self, word: Word) -> tuple[bool, ...]:
        """The program's output at each position, straight from the definition, slow.

        Raises `UnsupportedError` where a promise is not kept, or a place is neither 0 nor 1.
        """
        return self.rows(word)[0]

    def rows(self, word: Word) -> tuple[tuple[bool, ...], ...]:
        """Each of the program's outputs at each position. Raises as `bits` does, and of numbers."""
        from attemper.attention_program.meaning import outputs  # a proof needs no meaning; a wrong word does

        if self.program.numbers is not None:
            raise UnsupportedError("the program puts out numbers, not bits")
        return self._meant(outputs, word)

    @property
    def measure(self) -> Measure | None:
        """What the numbers are that the program puts out; None if it puts out a bit or a symbol."""
        return None if self.program.numbers is None else self.program.numbers.measure

    def numbers(self, word: Word) -> tuple[tuple[Fraction, ...], ...]:
        """Each of the program's numbers at each position, an integer as its share. Raises as `bits` does."""
        from attemper.attention_program.meaning import numbers

        return self._meant(numbers, word)

    def _meant(self, meaning: Callable[[Program, Word], Found], word: Word) -> Found:
        try:
            return meaning(self.program, word)
        except InternalError as error:
            raise UnsupportedError(f"the program means nothing on {show_word(word)}: {error}") from None

    def fits(self, alphabet: Alphabet) -> bool:
        """Whether this is the program's alphabet, in the same order."""
        return alphabet == self.program.alphabet

    def predicates(self) -> Iterator[Predicate]:
        """Those that the program's tests of places and counts name."""
        for step in self.program.steps:
            if isinstance(step, Place):
                yield from (test.predicate for test in tests_in(step.form))
            elif isinstance(step, CountTest):
                yield step.predicate

    def text(self, alphabet: Alphabet) -> str:
        """The steps, if they are few, and where the program is read."""
        text = f"an attention program of {len(self.program.steps):,} steps"
        from attemper.attention_program.show import show_program

        _, *steps = show_program(self.program).splitlines()
        if sum(map(len, steps)) <= LONGEST_PROGRAM:
            text = f"{text}: {'; '.join(steps)}"
        everywhere = f"at every position of words over {listed(alphabet.symbols, 'symbols')}"
        if self.measure is not None:
            return f"{text} ({describe(self.measure)} {everywhere})"
        if self.program.symbols:
            return f"{text} (a symbol {everywhere})"
        return f"{text} ({how_read(self.at, self.accepts_empty, alphabet)})"
