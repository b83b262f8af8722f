"""How many layers of unique hard attention a language needs, as data, and its file: FORMAT.md, 12 and 13."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path
from typing import assert_never, final

from attemper.attention_program.language import ProgramLanguage
from attemper.certificates.files import count_of, decode_language, read_as, write_as_json
from attemper.exact.predicates import BUILT_IN, Named
from attemper.languages.definition import Definition
from attemper.languages.temporal.reading import At, TemporalLanguage
from attemper.languages.temporal.syntax import Formula
from attemper.languages.temporal.trees import formula_from_nodes, formula_to_nodes
from attemper.languages.words import Alphabet, Word

FORMAT = "attemper-depth/1"


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

    prefix: int = 1
    period: int = 1
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

    layers: int
    words: tuple[Word, Word]


@final
@dataclass(frozen=True)
class EnoughByClasses:
    """So many layers are enough: they part the words into so many classes, each inside or outside."""

    layers: int
    classes: int


@final
@dataclass(frozen=True)
class EnoughByFormula:
    """So many layers are enough: the past formula is the language, and its operators nest no deeper."""

    layers: int
    formula: Formula


DepthClaim = Inseparable | EnoughByClasses | EnoughByFormula


@final
@dataclass(frozen=True)
class DepthClaims:
    """Claims on how many layers networks of a class need for a language of words over the alphabet."""

    language: Definition
    alphabet: Alphabet
    networks: HardNetworks
    claims: tuple[DepthClaim, ...]


def save(found: DepthClaims, path: Path) -> None:
    """Write the file. Raises `MalformedFileError` if that fails."""
    write_as_json(encode(found), path)


def load(path: Path) -> DepthClaims:
    """Read the file. Raises `MalformedFileError` with what is wrong."""
    return read_as("file about depth", path, decode, "make one with 'attemper depth ... -o FILE'")


def encode(found: DepthClaims) -> dict[str, object]:
    """The claims as JSON data."""
    return {
        "format": FORMAT,
        "language": found.language.tree(),
        "symbols": list(found.alphabet.symbols),
        "period": [found.networks.prefix, found.networks.period],
        "choice": str(found.networks.choice),
        "claims": [_encode_claim(claim) for claim in found.claims],
    }


def decode(data: object) -> DepthClaims:
    """Read claims from JSON data; raises one of `files.UNREADABLE` for every other shape."""
    match data:
        case {
            "format": str(version),
            "language": dict(source),
            "symbols": list(symbols),
            "period": [prefix, period],
            "choice": str(choice),
            "claims": list(claims),
            **rest,
        } if version == FORMAT and not rest:
            language, alphabet = decode_language(source), Alphabet(tuple(symbols))
            for complaint in _unfit(language, alphabet):
                raise ValueError(complaint)
            if not claims:
                raise ValueError("it claims nothing")
            networks = HardNetworks(_from_1(prefix), _from_1(period), TieBreaking(choice))
            return DepthClaims(language, alphabet, networks, tuple(_claim(each, alphabet) for each in claims))
        case _:
            raise ValueError(f"it does not have the entries of {FORMAT}")


def _unfit(language: Definition, alphabet: Alphabet) -> Iterator[str]:
    """Why the language is not a set of words over the alphabet that every process knows alike."""
    if not language.fits(alphabet):
        yield "its language is over other symbols, or in another order"
    if isinstance(language, ProgramLanguage) and (language.program.symbols or language.measure is not None):
        yield "its program puts out symbols or numbers, so that it is no language of words"
    for predicate in language.predicates():
        if isinstance(predicate, Named) and predicate.name not in BUILT_IN:
            yield f"its language names the registered predicate '{predicate.name}', which is no data"


def _encode_claim(claim: DepthClaim) -> dict[str, object]:
    match claim:
        case Inseparable(layers, (first, second)):
            return {"layers": layers, "words": [list(first), list(second)]}
        case EnoughByClasses(layers, classes):
            return {"layers": layers, "classes": classes}
        case EnoughByFormula(layers, formula):
            return {"layers": layers, "formula": formula_to_nodes(formula)}
        case _:
            assert_never(claim)


def _claim(entry: object, alphabet: Alphabet) -> DepthClaim:
    match entry:
        case {"layers": layers, "words": [list(first), list(second)], **rest} if not rest:
            return Inseparable(count_of(layers), (_word(first, alphabet), _word(second, alphabet)))
        case {"layers": layers, "classes": classes, **rest} if not rest:
            return EnoughByClasses(count_of(layers), count_of(classes))
        case {"layers": layers, "formula": nodes, **rest} if not rest:
            formula = formula_from_nodes(nodes)
            if not TemporalLanguage(formula, At.LAST, accepts_empty=False).fits(alphabet):
                raise ValueError("a formula of its claims has a symbol that is none of its own")
            return EnoughByFormula(count_of(layers), formula)
        case _:
            raise ValueError(f"not a claim on layers: {str(entry)[:80]}")


def _word(letters: list[object], alphabet: Alphabet) -> Word:
    if not letters:
        raise ValueError("its words must have letters: a network answers at the last of them")
    for place, letter in enumerate(letters, start=1):
        if letter not in alphabet.symbols:
            raise ValueError(f"at position {place} of a word stands {str(letter)[:40]!r}, which is no symbol")
    return tuple(map(str, letters))


def _from_1(entry: object) -> int:
    if count_of(entry) == 0:
        raise ValueError("a period, and the position where it begins, are numbers from 1 on")
    return count_of(entry)
