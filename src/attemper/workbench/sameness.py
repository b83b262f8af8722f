"""What is asked of two sides, and what is answered."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from enum import StrEnum
from typing import NoReturn, assert_never, final

from attemper.checker.proof import assuming
from attemper.checker.verdict import Status
from attemper.errors import ExitCode
from attemper.escapes import escaped
from attemper.html_tables import Tabled
from attemper.languages.words import Alphabet, Word, listed, show_word
from attemper.workbench.report.languages import alphabet_line
from attemper.workbench.sides import ComparedSide, Sides, assumed_of, named_side


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


STATUSES = {
    Answer.SAME: Status.PROVED,
    Answer.CONTAINED: Status.PROVED,
    Answer.DIFFERENT: Status.REFUTED,
    Answer.NOT_CONTAINED: Status.REFUTED,
    Answer.UNKNOWN: Status.UNKNOWN,
}


@final
@dataclass(frozen=True, repr=False)
class Sameness(Tabled):
    """The answer about two sides, for words over their alphabet; no truth value, as it can be UNKNOWN.

    `word` is a word on which the sides differ, with the verdicts of A and B, and `is_shortest` says that no
    shorter word tells them apart. `states` are those of the sides' minimal automata. `reason` says how the
    answer is shown, or why there is none; then all words up to `longest` symbols were tried, `words` in all.
    A proof takes the `assumptions` for granted, which are about predicates that a user registered.
    """

    answer: Answer
    reason: str
    compared: Sides
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
    def alphabet(self) -> Alphabet:
        """The symbols of the words that were looked at."""
        return self.compared.alphabet

    @property
    def status(self) -> Status:
        """Whether what was asked is proved, refuted by a word, or UNKNOWN."""
        return Status.PROVED_UNDER_ASSUMPTIONS if self.assumptions else STATUSES[self.answer]

    @property
    def exit_code(self) -> ExitCode:
        """What the command line returns."""
        if self.assumptions:
            return ExitCode.PROVED_UNDER_ASSUMPTIONS
        return EXIT_CODES[self.answer]

    def __repr__(self) -> str:
        word = "" if self.word is None else f", {_shown(self.word)}"
        return f"<Sameness: {self.answer}{word}>"

    def __str__(self) -> str:
        return "\n".join(map(escaped, self._lines()))

    def _lines(self) -> Iterator[str]:
        over = f"words over {listed(self.alphabet.symbols, 'symbols')}"
        match self.answer:
            case Answer.SAME:
                yield f"SAME: A and B have the same {over}, of every length"
            case Answer.CONTAINED:
                yield f"CONTAINED: B has all of A's {over}, of every length"
            case Answer.UNKNOWN:
                yield f"UNKNOWN: {self.reason}"
            case Answer.DIFFERENT | Answer.NOT_CONTAINED:
                yield f"{self.answer}: {self._told()}"
            case _:
                assert_never(self.answer)
        if self.answer is not Answer.UNKNOWN:
            yield f"  {self._shown_by()}"
        yield from (f"  assuming {assumption}" for assumption in self.assumptions)
        if self.compared.is_alphabet_read:
            yield alphabet_line(self.alphabet)

    def _shown_by(self) -> str:
        if self.states is None:
            return self.reason
        left, right = (f"{count:,} state{'' if count == 1 else 's'}" for count in self.states)
        return f"{self.reason}: {left}" if left == right else f"{self.reason}: {left} and {right}"

    def _told(self) -> str:
        """The word, and which side accepts it."""
        has, lacks = ("A", "B") if self.verdicts == (True, False) else ("B", "A")
        rest = "no shorter word tells them apart" if self.is_shortest else "perhaps a shorter word does, too"
        return f"{_shown(self.word or ())} is in {has} and not in {lacks}; {rest}"

    @property
    def record(self) -> dict[str, object]:
        """The answer as JSON data."""
        return {
            "a": named_side(self.compared.left),
            "b": named_side(self.compared.right),
            "alphabet": list(self.alphabet.symbols),
            "alphabet_from_text": self.compared.is_alphabet_read,
            "answer": str(self.answer),
            "word": None if self.word is None else list(self.word),
            "verdicts": self.verdicts and list(self.verdicts),
            "shortest": self.is_shortest,
            "states": self.states and list(self.states),
            "reason": self.reason,
            "longest": self.longest,
            "words": self.words,
            "assumptions": list(self.assumptions),
        }


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
        return Sameness(answer, reason, self.compared, states=states, assumptions=assuming(registered))

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
        return Sameness(answer, reason, self.compared, word, verdicts, is_shortest, states)


def _shown(word: Word) -> str:
    return f"'{show_word(word)}'" if word else "the empty word"
