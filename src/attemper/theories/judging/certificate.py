"""How an encoder answers the words of a language up to a length, as data: FORMAT.md, section 18."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from enum import StrEnum
from math import isfinite
from typing import Annotated, final

from attemper.documents import Document
from attemper.exact.codec import Codec, Within
from attemper.languages.regular.dfa import Dfa
from attemper.languages.words import Word
from attemper.models.soft.vocabulary import ModelTokens

MOST_LENGTH = 10**6
"""No longer words are judged."""

MOST_WORD = 5_000
"""No longer word is run in exact arithmetic."""

Length = Annotated[int, Within(0, MOST_LENGTH)]

FloatRow = tuple[float, ...]


class Reading(StrEnum):
    """What an encoder is asked.

    `VERDICT`: it reads a word and an end marker, and says there whether the word is in the language: by the
    sign of its output, or of the second less the first. `NEXT`: it reads a start symbol and a prefix that
    some word of the language has, and says at the last symbol what may come next: it has an output for each
    symbol, positive where a word of the language goes on so, and a last one, positive where the prefix is in
    the language.
    """

    VERDICT = "verdict"
    NEXT = "next"


MOST_PARTS = 4096
"""What heads read together is cut into so many boxes at most."""

StripCount = Annotated[int, Within(0, MOST_PARTS)]


@final
@dataclass(frozen=True)
class CellExtremes:
    """How far what heads read at the last symbol can be, over all words of a cell.

    `highest` has for each head at least the greatest u o, then at least the greatest -u o, where o is what
    the head reads, and u the rows b_1 to b_r; and where `parts` is more than 1, then b_k - slope b_1 for each
    row of slopes and each k from 2 on. What each head reads is cut into so many strips along b_1. With
    `parts` 0 there are no numbers: the cell has few words, and each is looked at.
    """

    parts: StripCount
    highest: tuple[FloatRow, ...]


@final
@dataclass(frozen=True)
class ExactExtremes:
    """Evidence that all is answered right up to `up_to` symbols.

    With `Reading.NEXT` that is so after the prefixes of words of at most so many symbols. `offsets` are the
    first and the last of how many positions stand before the input: with o of them words have at most
    `up_to` - o symbols.
    `axes` has for each head the rows b_1 to b_r of a matrix, r vectors in the space of its values, and
    `slopes` rows of r - 1 numbers. `cells` has what is said of each cell (FORMAT.md), in their order.
    """

    up_to: Length
    offsets: tuple[Length, Length]
    axes: tuple[tuple[FloatRow, ...], ...]
    slopes: tuple[tuple[FloatRow, ...], ...]
    cells: tuple[CellExtremes, ...]


@final
@dataclass(frozen=True)
class WrongWord:
    """A word, or a prefix, that is answered wrong, with so many positions before the input."""

    word: Word
    offset: Length


JudgementEvidence = ExactExtremes | WrongWord


@final
@dataclass(frozen=True)
class Judgement:
    """How an encoder answers as it is asked about a language.

    `digest` is the encoder's, `source` where it stands (a remark), and `automaton` the language. The encoder
    has the automaton's symbols and one more, the marker or the start. `vocabulary` says of a GPT-2 folder
    which tokens it has.
    """

    digest: str
    source: str
    automaton: Dfa
    reading: Reading
    vocabulary: ModelTokens | None
    evidence: JudgementEvidence


def complaints(found: Judgement) -> Iterator[str]:
    """Why there is no claim."""
    if found.vocabulary is not None:
        yield from found.vocabulary.complaints(found.automaton.alphabet.symbols)
        if (found.reading is Reading.NEXT) != (found.vocabulary.asked is None):
            yield "the vocabulary is for another question"
    match found.evidence:
        case WrongWord(word, _):
            symbols = set(found.automaton.alphabet.symbols)
            yield from (
                f"{letter[:40]!r} in its word is no symbol" for letter in word if letter not in symbols
            )
            if len(word) > MOST_WORD:
                yield f"its word has more than {MOST_WORD:,} symbols"
        case ExactExtremes(up_to, (first, last), axes, slopes, cells):
            if not first <= last <= up_to:
                yield f"offsets from {first:,} to {last:,} are none up to {up_to:,}"
            rows = [row for head in (*axes, *slopes) for row in head]
            rows += [numbers for cell in cells for numbers in cell.highest]
            if any(cell.parts ** len(axes) > MOST_PARTS for cell in cells):
                yield f"a cell is cut into more than {MOST_PARTS:,} boxes"
            yield from _misshapen(found.evidence)
            if not all(isfinite(number) for row in rows for number in row):
                yield "it has a number that is not finite"


def _misshapen(evidence: ExactExtremes) -> Iterator[str]:
    """What is wrong with how many numbers there are."""
    axes, slopes = evidence.axes, evidence.slopes
    cells = [cell for cell in evidence.cells if cell.parts]
    if any(cell.highest for cell in evidence.cells if not cell.parts):
        yield "a cell that is not cut at all has numbers"
    if len(slopes) != len(axes) or any(len(cell.highest) != len(axes) for cell in cells):
        yield f"there are axes for {len(axes)} heads, and slopes or numbers of a cell for others"
        return
    for head, (rows, turned) in enumerate(zip(axes, slopes, strict=True)):
        rank = len(rows)
        if not rank or len(set(map(len, rows))) > 1 or any(len(row) != rank - 1 for row in turned):
            yield f"head {head} has no axes, or rows of different lengths"
        for cell in cells:
            directions = rank if cell.parts == 1 else rank + len(turned) * (rank - 1)
            if len(cell.highest[head]) != 2 * directions:
                yield f"a cell has not {2 * directions} numbers for head {head}"
                return


JUDGEMENT: Document[Judgement] = Document(
    "attemper-judgement/2",
    "judgement",
    Codec(Judgement),
    "make one with 'attemper judge MODEL LANGUAGE -o FILE'",
    complaints,
)
