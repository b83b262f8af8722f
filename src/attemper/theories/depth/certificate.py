"""How many layers of unique hard attention a language needs, as data, and its file: FORMAT.md, 12 and 13."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from enum import StrEnum
from typing import assert_never, final

from attemper.attention_program.language import ProgramLanguage
from attemper.certificates.claims import SourceMeaning, source_complaints
from attemper.documents import Document
from attemper.exact.codec import Codec, Natural, Positive
from attemper.exact.predicates import BUILT_IN, Named
from attemper.languages.temporal.reading import At, TemporalLanguage
from attemper.languages.temporal.syntax import SharedFormula
from attemper.languages.words import Alphabet, Word


class TieBreaking(StrEnum):
    """Which of several best positions a head takes: each head one side of its own, or all the same."""

    BOTH = "both"
    LEFTMOST = "leftmost"
    RIGHTMOST = "rightmost"


@final
@dataclass(frozen=True)
class HardNetworks:
    """Transformers of unique hard attention, masked to the past, as FORMAT.md says (section 12).

    Position embeddings tell the positions 1, ..., prefix - 1 from all others, and from prefix on positions
    modulo `period`; without any, both are 1.
    """

    prefix: Positive = 1
    period: Positive = 1
    choice: TieBreaking = TieBreaking.BOTH

    def place(self, position: int) -> int:
        """What position embeddings tell of a position: the least position with the same embedding.

        >>> [HardNetworks(prefix=3, period=2).place(i) for i in (1, 2, 3, 4, 5)]
        [1, 2, 3, 4, 3]
        """
        beyond = position - self.prefix
        return position if beyond < 0 else self.prefix + beyond % self.period


@final
@dataclass(frozen=True)
class Inseparable:
    """So many layers are not enough: these two words get one answer, and one of them is in the language."""

    layers: Natural
    words: tuple[Word, Word]


@final
@dataclass(frozen=True)
class EnoughByClasses:
    """So many layers are enough: they part the words into so many classes, each inside or outside."""

    layers: Natural
    classes: Natural


@final
@dataclass(frozen=True)
class EnoughByFormula:
    """So many layers are enough: the past formula is the language, and its operators nest no deeper."""

    layers: Natural
    formula: SharedFormula


DepthClaim = Inseparable | EnoughByClasses | EnoughByFormula


@final
@dataclass(frozen=True)
class DepthClaims:
    """Claims on how many layers networks of a class need for a language of words over the alphabet."""

    language: SourceMeaning
    alphabet: Alphabet
    networks: HardNetworks
    claims: tuple[DepthClaim, ...]


def complaints(found: DepthClaims) -> Iterator[str]:
    """Why there is no claim, or none on a set of words over the alphabet that every process knows alike."""
    language, alphabet = found.language, found.alphabet
    if not found.claims:
        yield "it claims nothing"
    if not language.fits(alphabet):
        yield "its language is over other symbols, or in another order"
    yield from source_complaints(language)
    if isinstance(language, ProgramLanguage) and (language.program.symbols or language.measure is not None):
        yield "its program puts out symbols or numbers, so that it is no language of words"
    for predicate in language.predicates():
        if isinstance(predicate, Named) and predicate.name not in BUILT_IN:
            yield f"its language names the registered predicate '{predicate.name}', which is no data"
    for claim in found.claims:
        yield from _complaints_of(claim, alphabet)


def _complaints_of(claim: DepthClaim, alphabet: Alphabet) -> Iterator[str]:
    match claim:
        case Inseparable(_, words):
            if not all(words):
                yield "its words must have letters: a network answers at the last of them"
            for place, letter in (pair for word in words for pair in enumerate(word, start=1)):
                if letter not in alphabet.symbols:
                    yield f"at position {place} of a word stands {letter[:40]!r}, which is no symbol"
        case EnoughByFormula(_, formula):
            if not TemporalLanguage(formula, At.LAST, accepts_empty=False).fits(alphabet):
                yield "a formula of its claims has a symbol that is none of its own"
        case EnoughByClasses():
            pass
        case _:
            assert_never(claim)


DEPTH: Document[DepthClaims] = Document(
    "attemper-depth/2",
    "file about depth",
    Codec(DepthClaims),
    "make one with 'attemper depth ... -o FILE'",
    complaints,
)
