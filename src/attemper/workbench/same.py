"""Whether two things are one language: proved for words of every length, or refuted by a word."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from enum import StrEnum
from time import monotonic
from typing import Literal, NoReturn, final

from attemper.checker.names import UnprovenError
from attemper.errors import ExitCode, InternalError, OptionError
from attemper.languages.regular.dfa import Dfa
from attemper.languages.regular.minimal import difference
from attemper.languages.regular.regex import letters_of
from attemper.languages.regular.relating import beyond, restricted
from attemper.languages.temporal.reading import At
from attemper.languages.words import Alphabet, Word, show_word
from attemper.reading.machines import CONFIGURATIONS, SECONDS
from attemper.workbench.automata import Caps
from attemper.workbench.options import choice
from attemper.workbench.sides import Given, Reading, Side, Spoken, sides_of
from attemper.workbench.standing import automaton_of_side, is_contained_formula, is_one_formula
from attemper.workbench.verdicts import longer_words, short_words, verdict

UP_TO = 8
"""All words of up to so many symbols are tried where nothing is proved."""

CONFIRMED = 200
"""The verdicts on a word of at most so many symbols are taken from the definitions once more."""


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

    def __bool__(self) -> NoReturn:
        raise TypeError("an answer can be UNKNOWN, so it is neither true nor false: look at its 'answer'")

    @property
    def exit_code(self) -> ExitCode:
        """What the command line returns."""
        return EXIT_CODES[self.answer]


@final
@dataclass(frozen=True)
class _Question:
    """What is asked, of which words, and for how long it is looked at."""

    sides: tuple[Side, Side]
    alphabet: Alphabet
    contained: bool
    up_to: int
    configurations: int
    seconds: float
    end: float
    report: Callable[[str], None]

    def tells_apart(self, verdicts: tuple[bool | None, bool | None]) -> bool:
        """Whether such verdicts on one word answer the question with no."""
        return verdicts in ([(True, False)] if self.contained else [(True, False), (False, True)])

    def holds(self, reason: str, states: tuple[int, int] | None = None) -> Sameness:
        answer = Answer.CONTAINED if self.contained else Answer.SAME
        return Sameness(answer, reason, self.alphabet, states=states)

    def fails(
        self,
        word: Word,
        verdicts: tuple[bool, bool],
        reason: str,
        *,
        is_shortest: bool = True,
        states: tuple[int, int] | None = None,
    ) -> Sameness:
        answer = Answer.NOT_CONTAINED if self.contained else Answer.DIFFERENT
        return Sameness(answer, reason, self.alphabet, word, verdicts, is_shortest, states)


def same(
    a: Given,
    b: Given,
    *,
    alphabet: str | Sequence[str] | Alphabet | None = None,
    contained: bool = False,
    at: Literal["first", "last"] | None = None,
    empty: Literal["accept", "reject"] = "reject",
    up_to: int = UP_TO,
    seconds: float = SECONDS,
    configurations: int = CONFIGURATIONS,
    report: Callable[[str], None] = lambda _: None,
) -> Sameness:
    """Whether a and b accept the same words w, of all lengths n >= 0, networks in real arithmetic.

    SAME: both are proved by the checker to be one automaton (L(a) = L(b) if and only if their minimal
    automata are equal), or to be one formula. DIFFERENT: a word, a shortest one where `is_shortest` says so,
    with both verdicts. UNKNOWN: the reason; two formulas that count without end need not have an answer.

    * `a`, `b`: what the command line takes (`"DIR"`, `"formula:TEXT"`, `"formula@first:TEXT"`,
      `"regex:TEXT"`, `"dfa:FILE"`, `"program:FILE"`), or a `Model`, a `Network`, a `Dfa`, a program.
    * `alphabet`: of a formula and an expression; without it that of the other side. Words over it are
      compared where a side has more symbols.
    * `contained`: whether every word of a is in b: CONTAINED, NOT_CONTAINED or UNKNOWN.
    * `at`, `empty`: where a formula and a program's steps are read, and their verdict on the empty word.
    * `up_to`: where nothing is proved, all words of so many symbols are tried, then longer ones until the
      `seconds` are over. `configurations`: so many are followed to an automaton.

    Raises `OptionError` (a side that is nothing or of another kind, no alphabet), `AlphabetError` (different
    alphabets), `MalformedFileError` (no such folder or file), `SourceError` (a text), `UnsupportedError`.

    >>> found = same("formula:a S b", "regex:(a|b)*b a*", alphabet="ab")
    >>> found.answer, found.states
    (<Answer.SAME: 'SAME'>, (2, 2))
    >>> found = same("regex:(ab)*", "regex:(ab)(ab)*", alphabet="ab")
    >>> found.answer, found.word, found.verdicts
    (<Answer.DIFFERENT: 'DIFFERENT'>, (), (True, False))
    """
    if type(up_to) is not int or up_to < 0 or type(configurations) is not int or configurations < 1:
        raise OptionError("up_to is a whole number from 0 on, configurations one from 1 on")
    if not seconds > 0:
        raise OptionError(f"seconds={seconds!r} is no time: give a number above 0")
    reading = Reading(
        None if at is None else choice("at", at, tuple(At)), choice("empty", empty, ("accept", "reject"))
    )
    letters = None if alphabet is None else letters_of(alphabet)
    left, right, common = sides_of(a, b, letters, reading)
    end = monotonic() + seconds
    question = _Question((left, right), common, contained, up_to, configurations, seconds, end, report)
    for find in (_by_empty_word, _by_formulas):
        found = find(question)
        if found is not None:
            return found
    return _by_automata(question)


def _by_empty_word(question: _Question) -> Sameness | None:
    """No word is shorter, and every side says aloud whether it accepts it."""
    verdicts = _verdicts(question, ())
    if None in verdicts or not question.tells_apart(verdicts):
        return None
    return question.fails((), (bool(verdicts[0]), bool(verdicts[1])), "the empty word, by definition")


def _by_formulas(question: _Question) -> Sameness | None:
    """One normal form, for all positions of all words."""
    question.report("comparing as formulas")
    if is_one_formula(*question.sides, question.alphabet):
        return question.holds("both are proved to be one formula")
    if question.contained and is_contained_formula(*question.sides, question.alphabet):
        return question.holds("'A and B' and A are proved to be one formula")
    return None


def _by_automata(question: _Question) -> Sameness:
    """Minimal automata; words where there are none."""
    made: list[Dfa] = []
    for name, side in zip("AB", question.sides, strict=True):
        question.report(f"following side {name} to an automaton")
        caps = Caps(question.configurations, max(0.0, question.end - monotonic()))
        try:
            made.append(restricted(automaton_of_side(side, caps), question.alphabet))
        except UnprovenError as error:
            return _by_words(question, f"side {name} has no automaton: {error}")
    left, right = made
    states = len(left.moves), len(right.moves)
    word = beyond(left, right) if question.contained else difference(left, right)
    if word is None:
        return question.holds("both sides are proved to be these automata", states)
    verdicts = left.accepts(word), right.accepts(word)
    if len(word) <= CONFIRMED and any(
        isinstance(side, Spoken) and verdict(side, word) is not own
        for side, own in zip(question.sides, verdicts, strict=True)
    ):
        raise InternalError(f"an automaton is wrong on {show_word(word)} (please report)")
    return question.fails(word, verdicts, "both sides are proved to be automata", states=states)


def _by_words(question: _Question, why: str) -> Sameness:
    """All short words, then longer ones until the time is over."""
    question.report(f"{why}; trying words")
    words = longest = 0
    try:
        for word in short_words(question.alphabet, question.up_to):
            longest = len(word) - 1
            if monotonic() > question.end:
                break
            found = _told_apart(question, word, is_shortest=True)
            if found is not None:
                return found
            words += 1
        else:
            longest = question.up_to
            drawn = longer_words(question.sides, question.alphabet, question.up_to + 1, seed=0)
            while monotonic() <= question.end:
                found = _told_apart(question, next(drawn), is_shortest=False)
                if found is not None:
                    return found
                words += 1
    except KeyboardInterrupt:
        why = f"interrupted; {why}"
    reason = f"{why}; no word of up to {longest} symbols tells them apart, and none of {words:,} words tried"
    return Sameness(Answer.UNKNOWN, reason, question.alphabet, longest=longest, words=words)


def _told_apart(question: _Question, word: Word, *, is_shortest: bool) -> Sameness | None:
    verdicts = _verdicts(question, word)
    if None in verdicts or not question.tells_apart(verdicts):
        return None
    own = bool(verdicts[0]), bool(verdicts[1])
    return question.fails(word, own, "by the definitions", is_shortest=is_shortest)


def _verdicts(question: _Question, word: Word) -> tuple[bool | None, bool | None]:
    left, right = question.sides
    return verdict(left, word), verdict(right, word)
