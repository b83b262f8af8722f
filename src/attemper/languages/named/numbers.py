"""What is put out at every position and is a number: how often, what part, how likely."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from fractions import Fraction
from random import Random

from attemper.languages.named.entry import WITH_LENGTH, LanguageClass, NumberOutput, Rasp, Transduction
from attemper.languages.named.references import LINDNER_2023, SVETE_COTTERELL_2024, WEISS_2021
from attemper.languages.named.retrieval import SYMBOLS
from attemper.languages.words import Word


def _mixtures(draw: Random, length: int) -> Iterator[Word]:
    """All the same; one that differs, at either end; by turns; in blocks; a symbol that is rare."""
    for symbol in SYMBOLS:
        yield (symbol,) * length
    yield (*"a" * (length - 1), "c")
    yield ("b", *"c" * (length - 1))
    yield tuple("abc" * length)[:length]
    yield tuple(sorted(draw.choices(SYMBOLS, k=length)))
    yield tuple(draw.choices(SYMBOLS, (60, 60, 1), k=length))


# Counting --------------------------------------------------------------------------------------------------


def _how_often(word: Word) -> tuple[int, ...]:
    count = Counter(word)
    return tuple(count[symbol] for symbol in word)


HISTOGRAM = Transduction(
    "histogram",
    "how often the symbol here occurs in the word",
    LanguageClass.COUNTER,
    SYMBOLS,
    (),
    Rasp("alphabet a b c\noutput count[all : symbol(j) = symbol(i)]\n"),
    _how_often,
    _mixtures,
    1,
    (WEISS_2021, LINDNER_2023),
    regimes=WITH_LENGTH,
    measured=NumberOutput.INTEGER,
)

HISTOGRAM_SO_FAR = Transduction(
    "histogram-so-far",
    "how often the symbol here occurs up to here",
    LanguageClass.COUNTER,
    SYMBOLS,
    (),
    Rasp("alphabet a b c\noutput count[j <= i : symbol(j) = symbol(i)]\n"),
    lambda word: tuple(word[: i + 1].count(symbol) for i, symbol in enumerate(word)),
    _mixtures,
    1,
    (WEISS_2021, LINDNER_2023),
    measured=NumberOutput.INTEGER,
)

FRACTION_SEEN = Transduction(
    "fraction-seen",
    "what part of the symbols up to here, with the one here, are a",
    LanguageClass.COUNTER,
    SYMBOLS,
    (),
    Rasp("alphabet a b c\noutput count[j <= i] in 'a' / pos\n"),
    lambda word: tuple(Fraction(word[:size].count("a"), size) for size in range(1, len(word) + 1)),
    _mixtures,
    1,
    (LINDNER_2023,),
    measured=NumberOutput.FRACTION,
)

# Predicting ------------------------------------------------------------------------------------------------

TRIGRAM_LM_PROGRAM = """\
alphabet a b
before  = previous symbol else start
after_a = before = start ? {a: 1/2, b: 1/2} : before = a ? {b: 3/4, end: 1/4} : {a: 1/3, b: 1/3, end: 1/3}
after_b = before = start ? {a: 1} : before = a ? {a: 2/5, end: 3/5} : {b: 9/10, end: 1/10}
output in 'a' ? after_a : after_b
"""

_LIKELY = {
    " a": "1/2 1/2 0",
    " b": "1 0 0",
    "aa": "0 3/4 1/4",
    "ba": "1/3 1/3 1/3",
    "ab": "2/5 0 3/5",
    "bb": "0 9/10 1/10",
}
"""How likely a, b and the end are after two symbols, the first of which may be the padding at the start."""


def _next(word: Word) -> tuple[dict[str, Fraction], ...]:
    padded = "".join((" ", *word))
    rows = (_LIKELY[padded[i : i + 2]].split() for i in range(len(word)))
    return tuple(dict(zip(("a", "b", "end"), map(Fraction, row), strict=True)) for row in rows)


def _pairs(draw: Random, length: int) -> Iterator[Word]:
    """All the same, by turns, and one that differs, at either end: contexts that a padding could hide."""
    for one, other in ("ab", "ba"):
        yield (one,)
        yield (one,) * length
        yield (one, *(other,) * (length - 1))
        yield (*(one,) * (length - 1), other)
        yield tuple((one + other) * length)[:length]
    yield tuple(draw.choices("ab", (30, 1), k=length))


TRIGRAM_LM = Transduction(
    "trigram-lm",
    "how likely each symbol, or the end, is to follow the last two symbols",
    LanguageClass.STAR_FREE,
    ("a", "b"),
    ("a", "b", "end"),
    Rasp(TRIGRAM_LM_PROGRAM),
    _next,
    _pairs,
    1,
    (SVETE_COTTERELL_2024,),
    measured=NumberOutput.DISTRIBUTION,
)
