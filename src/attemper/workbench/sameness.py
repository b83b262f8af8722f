"""What is asked of two sides, and what is answered."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from enum import StrEnum
from typing import NoReturn, final

from attemper.checker.check import assuming
from attemper.errors import ExitCode
from attemper.languages.words import Alphabet, Word
from attemper.workbench.sides import ComparedSide, Sides, assumed_of


class Answer(StrEnum):
    """What is found; the last two words of a pair are about containment."""

    SAME = "SAME"
    CONTAINED = "CONTAINED"
    DIFFERENT = "DIFFERENT"
    NOT_CONTAINED = "NOT CONTAINED"
    UNKNOWN = "UNKNOWN"


EXIT_CODES = {
    Answer.SAME: ExitCode.OK,
    Answer.CONTAINED: ExitCode.OK,
    Answer.DIFFERENT: ExitCode.DISAGREEMENT,
    Answer.NOT_CONTAINED: ExitCode.DISAGREEMENT,
    Answer.UNKNOWN: ExitCode.UNKNOWN,
}


@final
@dataclass(frozen=True)
class Sameness:
    """The answer, for the words over `alphabet`; it is no truth value, as it can be UNKNOWN.

    `word` is a word on which the sides differ, with the verdicts of A and B, and `is_shortest` says that no
    shorter word tells them apart. `states` are those of the sides' minimal automata. `reason` says how the
    answer is shown, or why there is none; then all words up to `longest` symbols were tried, `words` in all.
    A proof takes the `assumptions` for granted, which are about predicates that a user registered.
    """

    answer: Answer
    reason: str
    alphabet: Alphabet
    word: Word | None = None
    verdicts: tuple[bool, bool] | None = None
    is_shortest: bool = False
    states: tuple[int, int] | None = None
    longest: int = 0
    words: int = 0
    assumptions: tuple[str, ...] = ()

    def __bool__(self) -> NoReturn:
        raise TypeError("an answer can be UNKNOWN, so it is neither true nor false: look at its 'answer'")

    @property
    def exit_code(self) -> ExitCode:
        """What the command line returns."""
        if self.assumptions:
            return ExitCode.PROVED_UNDER_ASSUMPTIONS
        return EXIT_CODES[self.answer]


@final
@dataclass(frozen=True)
class SamenessQuestion:
    """What is asked, of which words, and for how long it is looked at."""

    compared: Sides
    contained: bool
    up_to: int
    configurations: int
    seconds: float
    end: float
    report: Callable[[str], None]

    @property
    def sides(self) -> tuple[ComparedSide, ComparedSide]:
        """A and B."""
        return self.compared.left, self.compared.right

    @property
    def alphabet(self) -> Alphabet:
        """The symbols of the words that are looked at."""
        return self.compared.alphabet

    def tells_apart(self, verdicts: tuple[bool, bool]) -> bool:
        """Whether such verdicts on one word answer the question with no."""
        return verdicts == (True, False) or (not self.contained and verdicts == (False, True))

    # The answers.

    def holds(self, reason: str, states: tuple[int, int] | None = None) -> Sameness:
        """Yes."""
        answer = Answer.CONTAINED if self.contained else Answer.SAME
        registered = set().union(*map(assumed_of, self.sides))
        return Sameness(answer, reason, self.alphabet, states=states, assumptions=assuming(registered))

    def fails(
        self,
        word: Word,
        verdicts: tuple[bool, bool],
        reason: str,
        *,
        is_shortest: bool = True,
        states: tuple[int, int] | None = None,
    ) -> Sameness:
        """No: the word has these verdicts."""
        answer = Answer.NOT_CONTAINED if self.contained else Answer.DIFFERENT
        return Sameness(answer, reason, self.alphabet, word, verdicts, is_shortest, states)
