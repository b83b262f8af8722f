"""What the zoo says of a language: data, and the words that it gives out.

Sources are texts and tables, and what decides a word is plain Python: nothing in this folder knows how
sources are read or compiled.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterator
from dataclasses import dataclass
from enum import StrEnum
from fractions import Fraction
from random import Random
from typing import Any, Literal, final

from attemper.languages.named import contrasts, drawing
from attemper.languages.words import Word


class LanguageClass(StrEnum):
    """The class of a language. The first four are those of `attemper classify`, each within the next."""

    STAR_FREE = "star-free"
    QUASI_APERIODIC = "quasi-aperiodic"
    SOLVABLE = "solvable"
    NOT_SOLVABLE = "not solvable"
    COUNTER = "counter"
    CONTEXT_FREE = "context-free"
    CONTEXT_SENSITIVE = "context-sensitive"


RegimeName = Literal["unbounded", "temperature", "decoder"]

EVERY_REGIME: tuple[RegimeName, ...] = ("unbounded", "temperature", "decoder")
WITH_LENGTH: tuple[RegimeName, ...] = ("unbounded", "temperature")
"""The regimes in which something may depend on n."""

# Sources -------------------------------------------------------------------------------------------------


@final
@dataclass(frozen=True)
class FormulaText:
    """A formula's text (`docs/formulas.md`), and the position at which it is read."""

    text: str
    at: Literal["first", "last"] = "last"


@final
@dataclass(frozen=True)
class Regex:
    """A regular expression's text (`docs/automata.md`)."""

    text: str


@final
@dataclass(frozen=True)
class Automaton:
    """For each state its next states, in the alphabet's order; state 0 is the start.

    `symbols` is the cap of this name on its cascade, where the language needs more than is allowed unasked.
    """

    moves: tuple[tuple[int, ...], ...]
    accepting: frozenset[int]
    symbols: int | None = None


@final
@dataclass(frozen=True)
class Rasp:
    """An attention program's text (`docs/programs.md`)."""

    text: str


SourceText = FormulaText | Regex | Automaton | Rasp
"""What can be compiled."""


def explored(
    alphabet: tuple[str, ...],
    start: Hashable,
    step: Callable[[Any, str], Hashable],
    accepts: Callable[[Any], bool],
) -> Automaton:
    """The automaton of a rule that says which state follows which; not minimal.

    >>> explored(("a", "b"), 0, lambda state, symbol: (state + (symbol == "a")) % 2, lambda state: state == 0)
    Automaton(moves=((1, 0), (0, 1)), accepting=frozenset({0}), symbols=None)
    """
    number = {start: 0}
    found = [start]
    moves = []
    for state in found:
        after = [step(state, symbol) for symbol in alphabet]
        for target in after:
            if target not in number:
                number[target] = len(found)
                found.append(target)
        moves.append(tuple(number[target] for target in after))
    return Automaton(tuple(moves), frozenset(number[state] for state in found if accepts(state)))


# Entries -------------------------------------------------------------------------------------------------


@final
@dataclass(frozen=True)
class Reference:
    """A paper in which the language is a test of transformers or recurrent networks, or is defined."""

    authors: str
    year: int
    title: str

    def __str__(self) -> str:
        return f"{self.authors} {self.year}: {self.title}"


@final
@dataclass(frozen=True)
class Entry:
    """A language of the zoo.

    * `name`: what `attemper zoo NAME` takes; `definition`: what its words are, in a sentence; where there are
      two languages of one name in the literature, `polarity` says which this is.
    * `source`: the shortest text that compiles; `also`: other ways to write the same language.
    * `accepts`: the oracle, plain Python that shares nothing with the source. A word is a tuple of symbols.
    * `member` draws a word of the language of at most so many symbols, and about as many (a length below 24
      may be too small for one); `edges` draws words on which models go wrong, in the language or not.
    * `layers`: at most so many layers of attention in each of the `regimes`; for what has no source yet, too,
      as many as are known to be enough.
    """

    name: str
    definition: str
    kind: LanguageClass
    alphabet: tuple[str, ...]
    source: SourceText
    accepts: Callable[[Word], bool]
    member: Callable[[Random, int], Word]
    edges: Callable[[Random, int], Iterator[Word]]
    layers: int
    references: tuple[Reference, ...]
    regimes: tuple[RegimeName, ...] = EVERY_REGIME
    also: tuple[SourceText, ...] = ()
    polarity: str = ""

    @property
    def sources(self) -> tuple[SourceText, ...]:
        """Every way to write the language, the shortest first."""
        return (self.source, *self.also)

    def members(self, *, seed: int = 0, count: int = 10, longest: int = 64) -> list[Word]:
        """Words of the language, of at most `longest` symbols; the same seed gives the same words.

        There may be fewer than `count` if `longest` is below 24.

        >>> from attemper.languages.named.zoo import named
        >>> ["".join(word) for word in named("dyck-1").members(count=3, longest=8)]
        ['(())()', '(())', '()((()))']
        """
        return drawing.members(self, Random(f"{self.name} {seed}"), count, longest)

    def strangers(self, *, seed: int = 0, count: int = 10, longest: int = 64) -> list[Word]:
        """Words over the alphabet that are not in the language: random ones, and members with changes.

        >>> from attemper.languages.named.zoo import named
        >>> any(map(named("dyck-1").accepts, named("dyck-1").strangers()))
        False
        """
        return drawing.strangers(self, Random(f"{self.name} not {seed}"), count, longest)

    def near_misses(self, *, seed: int = 0, count: int = 10, longest: int = 64) -> list[tuple[Word, Word]]:
        """Pairs of a word in the language and one that is not, at one change from each other.

        The change: one symbol is replaced, left out or put in, or two neighbours are swapped. Half of the
        pairs are made from `edges`, words on which models of this language go wrong.

        >>> from attemper.languages.named.zoo import named
        >>> inside, outside = named("dyck-1").near_misses(count=1, longest=8)[0]
        >>> named("dyck-1").accepts(inside), named("dyck-1").accepts(outside)
        (True, False)
        """
        return drawing.near_misses(self, Random(f"{self.name} near {seed}"), count, longest)

    def pairs(self, *, length: int, count: int = 10, seed: int = 0) -> list[tuple[Word, Word]]:
        """Pairs of a word in the language and one outside, of that length, which differ in one place.

        They are what activations are patched between. There may be fewer than `count` at a small length.
        Raises `OptionError` if no word of that length is found in the language, or none outside.

        >>> from attemper.languages.named.zoo import named
        >>> [(clean, corrupted)] = named("dyck-1").pairs(length=6, count=1)
        >>> "".join(clean), "".join(corrupted)
        ('(())()', '(())((')
        >>> named("dyck-1").pairs(length=5)
        Traceback (most recent call last):
        ...
        attemper.errors.OptionError: of 5 symbols no word was found in the language, ...
        """
        return contrasts.verdict_pairs(self, Random(f"{self.name} pairs {seed}"), length, count)


class NumberOutput(StrEnum):
    """What is put out at every position where that are numbers."""

    INTEGER = "an integer"
    FRACTION = "a fraction"
    DISTRIBUTION = "a probability"


StatedOutput = str | int | Fraction | dict[str, Fraction]
"""A name, an integer, a fraction, or how likely each name is."""


@final
@dataclass(frozen=True)
class Transduction:
    """An entry of the zoo that puts something out at every position of a word, and has no verdict.

    * `name`, `layers`, `regimes`, `references`: as in `Entry`; `definition`: what is put out.
    * `kind`: the class of the words, marked at one position, for which a given symbol is put out there.
    * `puts_out`: the names of what may be put out, or of what has a probability; none: numbers.
    * `source`: an attention program.
    * `outputs`: the oracle, plain Python that shares nothing with the source: a name or number everywhere.
    * `measured`: what the numbers are; None if one of the names is put out.
    * `edges` draws words on which models go wrong, of at most so many symbols.
    """

    name: str
    definition: str
    kind: LanguageClass
    alphabet: tuple[str, ...]
    puts_out: tuple[str, ...]
    source: Rasp
    outputs: Callable[[Word], tuple[StatedOutput, ...]]
    edges: Callable[[Random, int], Iterator[Word]]
    layers: int
    references: tuple[Reference, ...]
    regimes: tuple[RegimeName, ...] = EVERY_REGIME
    measured: NumberOutput | None = None

    @property
    def sources(self) -> tuple[Rasp, ...]:
        """The program."""
        return (self.source,)

    def words(self, *, seed: int = 0, count: int = 10, longest: int = 64) -> list[Word]:
        """Words of at most `longest` symbols, random ones and `edges` by turns.

        The same seed gives the same words. There may be fewer than `count` if `longest` is below 24.

        >>> from attemper.languages.named.zoo import named
        >>> copying = named("copy-previous-symbol")
        >>> [("".join(word), copying.outputs(word)) for word in copying.words(count=2, longest=4)]
        [('aa', ('none', 'a')), ('a', ('none',))]
        """
        return drawing.any_words(self, Random(f"{self.name} {seed}"), count, longest)

    def pairs(self, *, length: int, count: int = 10, seed: int = 0) -> list[tuple[Word, Word, int]]:
        """Two words of that length that differ in one place, and an index where something else is put out.

        It is the last such index, and often not that of the place. There may be fewer than `count` at a small
        length. Raises `OptionError` if no two words are found.

        >>> from attemper.languages.named.zoo import named
        >>> clean, corrupted, index = named("k-hop-1-symbol").pairs(length=6, count=1)[0]
        >>> outputs = named("k-hop-1-symbol").outputs
        >>> "".join(clean), "".join(corrupted), outputs(clean)[index], outputs(corrupted)[index]
        ('cbbbac', 'cbabac', 'none', 'b')
        """
        return contrasts.output_pairs(self, Random(f"{self.name} pairs {seed}"), length, count)


ZooEntry = Entry | Transduction
"""What has a name in the zoo."""
