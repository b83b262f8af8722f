"""Words with a verdict: of the zoo's languages, of formulas and of regular expressions, from a seed.

The k-th word of a set depends on the task, the lengths, the seed and k alone; every verdict is the oracle's.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from random import Random
from typing import final

from attemper.errors import OptionError
from attemper.languages.language import Language
from attemper.languages.named.drawing import changed, random_word
from attemper.languages.named.zoo import language_named
from attemper.languages.regular.regex import parse_regex
from attemper.languages.temporal.parse import parse
from attemper.languages.temporal.reading import At
from attemper.languages.temporal.sides import read_language
from attemper.languages.words import Word, parse_alphabet

ATTEMPTS = 200
"""So many words are drawn for one with the verdict that is wanted; then one with the other is taken."""

Lengths = tuple[int, int]
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
    language of about so many symbols; None where nothing is known that does.
    """

    name: str
    polarity: str
    alphabet: tuple[str, ...]
    accepts: Callable[[Word], bool]
    member: Callable[[Random, int], Word] | None = None


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
            return Task(name, "", symbols.symbols, _verdict(parse_regex(text, symbols)))
        case "formula":
            formula = parse(text, symbols)
            language = read_language(formula, At(at), accepts_empty=False)
            return Task(
                name,
                f"read at the {at} position, the empty word rejected",
                symbols.symbols,
                _verdict(language),
            )
        case _:
            raise OptionError(f"'{kind}:' is neither regex: nor formula:, and the zoo's names have no colon")


def drawn(task: Task, lengths: Lengths, count: int, seed: int) -> Iterator[Labelled]:
    """Words of these lengths, by turns in the language and not, as far as `ATTEMPTS` find such.

    >>> [(len(one.word), one.label) for one in drawn(task_named("parity"), (0, 4), 4, seed=0)]
    [(3, True), (4, False), (4, True), (2, False)]
    """
    for number in range(count):
        yield _one(task, lengths, Random(f"{task.name} {lengths} {seed} {number}"), wanted=number % 2 == 0)


def _one(task: Task, lengths: Lengths, draw: Random, *, wanted: bool) -> Labelled:
    found = None
    for _ in range(ATTEMPTS):
        word = _attempt(task, draw.randint(*lengths), draw)
        if lengths[0] <= len(word) <= lengths[1]:
            found = Labelled(word, task.accepts(word))
            if found.label == wanted:
                return found
    # Some lengths have words of one verdict alone: the oracle says which this is.
    word = random_word(task.alphabet, draw, draw.randint(*lengths))
    return found or Labelled(word, task.accepts(word))


def _attempt(task: Task, size: int, draw: Random) -> Word:
    """A random word, a member, or a member with a change."""
    kind = draw.randrange(3)
    if task.member is None or kind == 0:
        return random_word(task.alphabet, draw, size)
    word = task.member(draw, size)
    return word if kind == 1 else changed(word, task.alphabet, draw)


def _verdict(language: Language) -> Callable[[Word], bool]:
    def accepts(word: Word) -> bool:
        if not word:
            return language.accepts_empty
        return language.bits(word)[0 if language.reads_first else -1]

    return accepts
