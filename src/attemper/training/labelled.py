"""Words with a verdict: of the zoo's languages, of formulas and of regular expressions, from a seed.

The k-th word of a set depends on the task, the lengths, the seed and k alone; every verdict is the oracle's.
The words of an expression, and of a past formula without numbers that is read at the last position, are
counted in the automaton: all of one length and verdict are drawn with the same probability. Others are tried
at random, or come from the zoo's entry.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from random import Random
from typing import final

from attemper.errors import OptionError
from attemper.languages.definition import Definition
from attemper.languages.named.drawing import changed, random_word
from attemper.languages.named.zoo import language_named
from attemper.languages.regular.dfa import Dfa
from attemper.languages.regular.numbering import Numbering, numbering_of, verdicts
from attemper.languages.regular.regex import parse_regex
from attemper.languages.temporal.parse import parse
from attemper.languages.temporal.past_automaton import past_automaton
from attemper.languages.temporal.reading import At
from attemper.languages.temporal.sides import read_language
from attemper.languages.words import Word, parse_alphabet

ATTEMPTS = 200
"""So many words are drawn for one with the verdict that is wanted; then one with the other is taken."""

RARE = 10
"""A verdict that fewer than one in so many words have is said to be rare."""

LengthRange = tuple[int, int]
"""The least and the greatest length of words."""


@final
@dataclass(frozen=True)
class Labelled:
    """A word, and whether it is in the language."""

    word: Word
    label: bool


@final
@dataclass(frozen=True)
class Task:
    """A language to be recognised, by the text that names it.

    `polarity` says which language this is where there are two of one name. `member` draws a word of the
    language of about so many symbols; None where nothing is known that does. `automaton` is one of the
    language, where one is made.
    """

    name: str
    polarity: str
    alphabet: tuple[str, ...]
    accepts: Callable[[Word], bool]
    member: Callable[[Random, int], Word] | None = None
    automaton: Dfa | None = None


def task_named(name: str, alphabet: str = "", at: str = "last") -> Task:
    """The task that a name of the zoo says, or `regex:TEXT` or `formula:TEXT` with an alphabet.

    Raises `OptionError` for an alphabet that is missing or given twice, and what reading a text raises.

    >>> task_named("parity").polarity
    "even, as in Hahn 2020; 'parity-odd' has the other words"
    >>> task_named("regex:(ab)*", "ab").accepts(("a", "b"))
    True
    """
    kind, separator, text = name.partition(":")
    if not separator:
        if alphabet:
            raise OptionError(f"'{name}' of the zoo has its own alphabet: leave the alphabet out")
        entry = language_named(name)
        return Task(name, entry.polarity, entry.alphabet, entry.accepts, entry.member)
    if not alphabet:
        raise OptionError(f"'{name}' needs an alphabet, as in ab")
    symbols = parse_alphabet(alphabet)
    match kind:
        case "regex":
            dfa = parse_regex(text, symbols)
            return Task(name, "", symbols.symbols, dfa.accepts, automaton=dfa)
        case "formula":
            formula = parse(text, symbols)
            language = read_language(formula, At(at), accepts_empty=False)
            reads_last = language.at is At.LAST
            return Task(
                name,
                f"read at the {at} position, the empty word rejected",
                symbols.symbols,
                _verdict(language),
                automaton=past_automaton(formula, symbols, accepts_empty=False) if reads_last else None,
            )
        case _:
            raise OptionError(f"'{kind}:' is neither regex: nor formula:, and the zoo's names have no colon")


def drawn(task: Task, lengths: LengthRange, count: int, seed: int) -> Iterator[Labelled]:
    """Words of these lengths, by turns in the language and not, as far as there are such.

    With an automaton a word's length is one of those that have words of its verdict, all with the same
    probability, and so is the word among those of its length and verdict. Without one, and for words too long
    to be counted (`numbering_of`), `ATTEMPTS` words are tried for each.

    >>> [(len(one.word), one.label) for one in drawn(task_named("parity"), (0, 4), 4, seed=0)]
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

    >>> unbalanced(task_named("regex:(aa)*", "ab"), (0, 4), ())
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


def _verdict(language: Definition) -> Callable[[Word], bool]:
    def accepts(word: Word) -> bool:
        if not word:
            return language.accepts_empty
        return language.bits(word)[0 if language.reads_first else -1]

    return accepts
