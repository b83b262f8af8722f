"""Whether two things are one language: proved for words of every length, or refuted by a word."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from itertools import islice
from time import monotonic
from typing import TYPE_CHECKING, final

from attemper.checker.names import UnprovenError
from attemper.errors import InternalError, OptionError
from attemper.languages.regular.dfa import Dfa
from attemper.languages.regular.minimal import difference
from attemper.languages.regular.relating import beyond, restricted
from attemper.languages.temporal.reading import TemporalLanguage
from attemper.languages.words import Word, show_word
from attemper.reading.machines import CONFIGURATIONS, SECONDS
from attemper.workbench.automata import Caps
from attemper.workbench.language import Language
from attemper.workbench.limits import limits_among
from attemper.workbench.naming import HowRead
from attemper.workbench.sameness import Answer, Sameness, SamenessQuestion
from attemper.workbench.sides import sides_of
from attemper.workbench.standing import automaton_of_side, is_contained_formula, is_one_formula
from attemper.workbench.verdicts import longer_words, short_words, verdict

if TYPE_CHECKING:
    from attemper.workbench.naming import AlphabetLike, AtName, EmptyName
    from attemper.workbench.sides import Comparable

LIMITS = {"configurations": CONFIGURATIONS}
"""How many configurations of a side are followed to an automaton."""

UP_TO = 8
"""All words of up to so many symbols are tried where nothing is proved."""

FEW = 60
"""So many of the shortest words are tried before anything is followed."""

CONFIRMED = 200
"""The verdicts on a word of at most so many symbols are taken from the definitions once more."""


def same(
    a: Comparable,
    b: Comparable,
    *,
    alphabet: AlphabetLike | None = None,
    contained: bool = False,
    at: AtName | None = None,
    empty: EmptyName | None = None,
    up_to: int = UP_TO,
    seconds: float = SECONDS,
    limits: Mapping[str, int] | None = None,
    report: Callable[[str], None] = lambda _: None,
) -> Sameness:
    """Whether a and b accept the same words w, of all lengths n >= 0, networks in real arithmetic.

    SAME: both are proved by the checker to be one automaton (L(a) = L(b) if and only if their minimal
    automata are equal: Nerode, 1958), or to be one formula. DIFFERENT: a word, a shortest one where
    `is_shortest` says so, with both verdicts. UNKNOWN: the reason; two formulas that count without end need
    not have an answer.

    * `a`, `b`: whatever `attemper.language` takes; of `net:DIR`, a `Model` or a `Network` the weights count.
    * `alphabet`: of a formula and an expression; without it that of the other side, or else the symbols that
      the texts name. Words over it are compared where a side has more symbols.
    * `contained`: whether every word of a is in b: CONTAINED, NOT_CONTAINED or UNKNOWN.
    * `at`, `empty`: where a formula and a program's steps are read, and their verdict on the empty word.
    * `up_to`: where nothing is proved, all words of so many symbols are tried, then longer ones until the
      `seconds` are over.
    * `limits`: `configurations`, so many of which are followed to an automaton. `report` hears what is done.

    Raises `OptionError` (a side that is nothing or of another kind, no alphabet), `AlphabetError` (different
    alphabets), `MalformedFileError` (no such folder or file), `SourceError` (a text), `UnsupportedError`.

    >>> found = same("formula:a S b", "regex:(a|b)*b a*")
    >>> found.answer, found.states
    (<Answer.SAME: 'SAME'>, (2, 2))
    >>> same("regex:(ab)*", "regex:(ab)(ab)*")
    <Sameness: DIFFERENT, the empty word>
    """
    if type(up_to) is not int or up_to < 0:
        raise OptionError(f"up_to={up_to!r} is not a whole number from 0 on")
    configurations = limits_among(limits, LIMITS)["configurations"]
    if not seconds > 0:
        raise OptionError(f"seconds={seconds!r} is no time: give a number above 0")
    compared = sides_of(a, b, HowRead.given(alphabet, at, empty))
    end = monotonic() + seconds
    question = SamenessQuestion(compared, contained, up_to, configurations, seconds, end, report)
    try:
        for find in (_by_empty_word, _by_few_words, _by_formulas):
            found = find(question)
            if found is not None:
                return found
    except KeyboardInterrupt as end:
        why = f"{str(end) or 'interrupted'}, while short words and formulas were compared"
        return Sameness(Answer.UNKNOWN, why, compared)
    return _by_automata(question)


def _by_empty_word(question: SamenessQuestion) -> Sameness | None:
    """No word is shorter, and every side says aloud whether it accepts it."""
    left, right = _verdicts(question, ())
    if left is None or right is None or not question.tells_apart((left, right)):
        return None
    reason = "by definition"
    if any(
        isinstance(side, Language) and isinstance(side.definition, TemporalLanguage)
        for side in question.sides
    ):
        reason += "; what is said of it beside a formula is the option 'empty'"
    return question.fails((), (left, right), reason)


def _by_formulas(question: SamenessQuestion) -> Sameness | None:
    """One normal form, for all positions of all words."""
    question.report("comparing as formulas")
    if is_one_formula(*question.sides, question.alphabet):
        return question.holds("both are proved to be one formula")
    if question.contained and is_contained_formula(*question.sides, question.alphabet):
        return question.holds("'A and B' and A are proved to be one formula")
    return None


def _by_few_words(question: SamenessQuestion) -> Sameness | None:
    """The shortest words, which are quickly tried."""
    trial = _Trial(question)
    tried = (
        trial.told_apart(word, is_short=True) for word in islice(short_words(question.alphabet, FEW), FEW)
    )
    return next((found for found in tried if found is not None), None)


def _by_automata(question: SamenessQuestion) -> Sameness:
    """Minimal automata; words where there are none."""
    made: list[Dfa] = []
    for name, side in zip("AB", question.sides, strict=True):
        question.report(f"following side {name} to an automaton")
        # Half of the time that is left, so that there is some for words.
        caps = Caps(question.configurations, max(0.0, question.end - monotonic()) / 2)
        try:
            made.append(restricted(automaton_of_side(side, caps), question.alphabet))
        except UnprovenError as error:
            return _by_words(question, f"side {name} has no automaton: {error}")
        except KeyboardInterrupt as end:
            why = f"{str(end) or 'interrupted'}, while side {name} was followed"
            return Sameness(Answer.UNKNOWN, why, question.compared)
    left, right = made
    states = len(left.moves), len(right.moves)
    word = beyond(left, right) if question.contained else difference(left, right)
    if word is None:
        return question.holds("both sides are proved to be these automata", states)
    verdicts = left.accepts(word), right.accepts(word)
    if len(word) <= CONFIRMED and any(
        isinstance(side, Language) and verdict(side, word) is not own
        for side, own in zip(question.sides, verdicts, strict=True)
    ):
        raise InternalError(f"an automaton is wrong on {show_word(word)} (please report)")
    return question.fails(word, verdicts, "both sides are proved to be automata", states=states)


def _by_words(question: SamenessQuestion, why: str) -> Sameness:
    """All short words, then longer ones until the time is over."""
    question.report(f"{why}; trying words")
    trial, longest = _Trial(question), 0
    try:
        for word in short_words(question.alphabet, question.up_to):
            longest = len(word) - 1
            if monotonic() > question.end:
                break
            found = trial.told_apart(word, is_short=True)
            if found is not None:
                return found
        else:
            longest = question.up_to
            drawn = longer_words(question.sides, question.alphabet, question.up_to + 1, seed=0)
            while monotonic() <= question.end:
                found = trial.told_apart(next(drawn), is_short=False)
                if found is not None:
                    return found
    except KeyboardInterrupt as end:
        why = f"{why}; {str(end) or 'interrupted'}"
    reason = (
        f"{why}; no word of up to {longest} symbols tells them apart, and none of {trial.words:,} words tried"
    )
    if trial.undecided:
        reason += f", of which {trial.undecided:,} have no verdict: a network's output is no bit there"
    return Sameness(Answer.UNKNOWN, reason, question.compared, longest=longest, words=trial.words)


@final
class _Trial:
    """Words that are tried, the shortest first; how many, and how many of them a side says nothing of."""

    def __init__(self, question: SamenessQuestion) -> None:
        self.question, self.words, self.undecided = question, 0, 0

    def told_apart(self, word: Word, *, is_short: bool) -> Sameness | None:
        """The answer if the word gives one: a shortest word if all shorter ones had verdicts, too."""
        left, right = _verdicts(self.question, word)
        self.words += 1
        if left is None or right is None:
            self.undecided += 1
            return None
        if not self.question.tells_apart((left, right)):
            return None
        is_shortest = is_short and not self.undecided
        return self.question.fails(word, (left, right), "by the definitions", is_shortest=is_shortest)


def _verdicts(question: SamenessQuestion, word: Word) -> tuple[bool | None, bool | None]:
    left, right = question.sides
    return verdict(left, word), verdict(right, word)
