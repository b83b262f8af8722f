"""Words with a verdict: of any language, from a seed.

The k-th word of a set depends on the language, the lengths, the seed and k alone; every verdict is the
definition's, or the oracle's of the zoo. Where a language has an automaton that is found soon, its words are
counted in it: all of one length and verdict are drawn with the same probability. Others are tried at random;
those of the zoo come from their entry.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from random import Random
from typing import final

from attemper.checker.names import UnprovenError
from attemper.languages.named.drawing import changed, random_word
from attemper.languages.named.zoo import language_named
from attemper.languages.regular.dfa import Dfa
from attemper.languages.regular.numbering import Numbering, numbering_of, verdicts
from attemper.languages.temporal.reading import TemporalLanguage
from attemper.languages.words import Word
from attemper.workbench.automata import Caps, automaton_of_language
from attemper.workbench.language import Language
from attemper.workbench.lengths import LengthRange
from attemper.workbench.spelling import Kind

ATTEMPTS = 200
"""So many words are drawn for one with the verdict that is wanted; then one with the other is taken."""

FOLLOWED = Caps(configurations=2_000, seconds=10)
"""No larger automaton is looked for: what takes longer counts without end, more often than not."""

RARE = 10
"""A verdict that fewer than one in so many words have is said to be rare."""


@final
@dataclass(frozen=True)
class Labelled:
    """A word, and whether it is in the language."""

    word: Word
    label: bool


@final
@dataclass(frozen=True)
class Task:
    """A language to be recognised, and how words of it are drawn.

    `name` is what chance depends on: what the language is, not where its file stands. `polarity` says which
    language this is where there are two of one name. `member` draws a word of the language of about so many
    symbols; None where nothing is known that does. `automaton` is one of the language, where one is made.
    """

    language: Language
    name: str
    polarity: str
    accepts: Callable[[Word], bool]
    member: Callable[[Random, int], Word] | None = None
    automaton: Dfa | None = None

    @property
    def alphabet(self) -> tuple[str, ...]:
        """The symbols of its words."""
        return self.language.alphabet.symbols


def task_of(language: Language) -> Task:
    """How words of a language are drawn. Raises `UnsupportedError` for what has no verdicts.

    >>> from attemper.workbench.naming import language
    >>> task_of(language("zoo:parity")).polarity
    "even, as in Hahn 2020; 'parity-odd' has the other words"
    >>> task_of(language("regex:(ab)*")).accepts(("a", "b"))
    True
    """
    if language.zoo_name:
        return _of_the_zoo(language, language.zoo_name)
    language.require_verdicts()
    try:
        automaton = automaton_of_language(language.definition, language.alphabet, FOLLOWED)
    except UnprovenError:
        automaton = None
    return Task(language, _name_of(language), _how_read(language), language.accepts, automaton=automaton)


def _of_the_zoo(language: Language, name: str) -> Task:
    """By the entry's oracle and its own members; other symbols stand for the entry's, in their order."""
    entry, symbols = language_named(name), language.alphabet.symbols
    if symbols == entry.alphabet:
        return Task(language, name, entry.polarity, entry.accepts, entry.member)
    there = dict(zip(entry.alphabet, symbols, strict=True))
    back = dict(zip(symbols, entry.alphabet, strict=True))
    return Task(
        language,
        name,
        entry.polarity,
        lambda word: entry.accepts(tuple(back[symbol] for symbol in word)),
        lambda draw, size: tuple(there[symbol] for symbol in entry.member(draw, size)),
    )


def _name_of(language: Language) -> str:
    """What is written, or, of a file, a folder and what was made in memory, what that means."""
    spelling = language.spelling
    if spelling is not None and spelling.kind in {Kind.FORMULA, Kind.REGEX}:
        return f"{spelling.kind}:{spelling.text}"
    return language.definition.text(language.alphabet)


def _how_read(language: Language) -> str:
    """Of a formula, where it is read, and what it says of the empty word."""
    meant, spelling = language.definition, language.spelling
    if not isinstance(meant, TemporalLanguage) or spelling is None or spelling.kind is not Kind.FORMULA:
        return ""
    verdict = "accepted" if meant.accepts_empty else "rejected"
    return f"read at the {meant.at} position, the empty word {verdict}"


def drawn(task: Task, lengths: LengthRange, count: int, seed: int) -> Iterator[Labelled]:
    """Words of these lengths, by turns in the language and not, as far as there are such.

    With an automaton a word's length is one of those that have words of its verdict, all with the same
    probability, and so is the word among those of its length and verdict. Without one, and for words too long
    to be counted (`numbering_of`), `ATTEMPTS` words are tried for each.

    >>> from attemper.workbench.naming import language
    >>> parity = task_of(language("zoo:parity"))
    >>> [(len(one.word), one.label) for one in drawn(parity, (0, 4), 4, seed=0)]
    [(3, True), (4, False), (4, True), (2, False)]
    """
    numbering = None if task.automaton is None else numbering_of(task.automaton, lengths[1])
    counted = None if numbering is None else _Counted(numbering, lengths)
    for number in range(count):
        draw, wanted = Random(f"{task.name} {lengths} {seed} {number}"), number % 2 == 0
        word = _tried(task, lengths, draw, wanted=wanted) if counted is None else counted.drawn(draw, wanted)
        yield Labelled(word, task.accepts(word))


@final
class _Counted:
    """Words of some lengths, drawn by their numbers."""

    def __init__(self, numbering: Numbering, lengths: LengthRange) -> None:
        self.numbering = numbering
        every = range(lengths[0], lengths[1] + 1)
        self.lengths = {
            member: [n for n in every if numbering.count(n, member=member)] for member in (True, False)
        }

    def drawn(self, draw: Random, wanted: bool) -> Word:
        """A word with this verdict if any length has one, else with the other."""
        member = wanted if self.lengths[wanted] else not wanted
        n = draw.choice(self.lengths[member])
        return self.numbering.word(n, draw.randrange(self.numbering.count(n, member=member)), member=member)


def _tried(task: Task, lengths: LengthRange, draw: Random, *, wanted: bool) -> Word:
    found = None
    for _ in range(ATTEMPTS):
        word = _attempt(task, draw.randint(*lengths), draw)
        if lengths[0] <= len(word) <= lengths[1]:
            if task.accepts(word) == wanted:
                return word
            found = word
    # Some lengths have words of one verdict alone.
    word = random_word(task.alphabet, draw, draw.randint(*lengths))
    return word if found is None else found


def unbalanced(task: Task, lengths: LengthRange, words: Sequence[Labelled]) -> str:
    """What is to be said of words that `drawn` gave where a length, or nearly every word, has one verdict.

    With an automaton that is known of each length; the one word of length 0 is left out of a longer range.

    >>> from attemper.workbench.naming import language
    >>> unbalanced(task_of(language("regex:(aa)*", "ab")), (0, 4), ())
    '2 of these 4 lengths, such as 1, have no word in the language'
    """
    if task.automaton is None:
        return _rare(words)
    every = list(enumerate(verdicts(task.automaton, lengths[1])))[max(lengths[0], min(1, lengths[1])) :]
    said = []
    for member, place in ((True, "in"), (False, "outside")):
        lacking = [n for n, found in every if member not in found]
        if len(every) == len(lacking) == 1:
            said.append(f"length {lacking[0]:,} has no word {place} the language")
        elif lacking:
            some = f"{len(lacking):,} of these {len(every):,} lengths, such as {lacking[0]:,},"
            named = "these lengths" if len(lacking) == len(every) else some
            said.append(f"{named} have no word {place} the language")
    return "; ".join(said) or _rare(words)


def _rare(words: Sequence[Labelled]) -> str:
    for member, place in ((True, "in"), (False, "outside")):
        found = sum(one.label == member for one in words)
        if RARE * found < len(words) > 1:
            return f"{found:,} of {len(words):,} words are {place} the language: no more were found at random"
    return ""


def _attempt(task: Task, size: int, draw: Random) -> Word:
    """A random word, a member, or a member with a change."""
    kind = draw.randrange(3)
    if task.member is None or kind == 0:
        return random_word(task.alphabet, draw, size)
    word = task.member(draw, size)
    return word if kind == 1 else changed(word, task.alphabet, draw)
