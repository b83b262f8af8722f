"""What one symbol can change in a soft encoder, as data, and its file: bounds, and what follows from them."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction
from typing import Annotated, final

from attemper.documents import Document
from attemper.exact.codec import Codec, Natural, NotNegative, Within, WordLength
from attemper.languages.sources.values import NAMES
from attemper.languages.words import Word

MOST_PERIOD = 64
"""Boxes have so many axes for each symbol at most."""

Portion = Annotated[Fraction, Within(0, 1)]
"""A part of 1."""

Functional = tuple[Annotated[int, Within(-(2**20), 2**20)], ...]
"""An integer combination of an encoder's K outputs: one number for each of them."""


@final
@dataclass(frozen=True)
class FrequencyBound:
    """For all n >= `start`, two words of n symbols that one exchange parts differ by at most `constant` / n.

    With a `residue` (m, r) only lengths n = r mod m are meant: those of an encoder whose positions have the
    period m. With a `box` this is said of words whose symbols have frequencies inside it: of each symbol but
    the first and the marker, in order (with a period, at each residue of the positions from 1 on), from a
    least to a greatest part of the n positions. `splits` cuts the boxes of
    frequencies and u = 1/n into the parts on which the derivative is bounded; FORMAT.md has its letters.
    """

    start: WordLength
    constant: NotNegative
    residue: tuple[Annotated[int, Within(1, MOST_PERIOD)], Natural] | None
    box: tuple[tuple[Portion, Portion], ...] | None
    splits: str


@final
@dataclass(frozen=True)
class EveryLengthBound:
    """For all n >= 2, two words of n symbols that one exchange parts differ by at most `constant` / n.

    Of an encoder whose positions a function gives this is said whatever they are, inside their box.
    """

    constant: NotNegative


@final
@dataclass(frozen=True)
class TableBound:
    """Two words of `length` symbols that one exchange parts differ by at most `change`.

    With `last_only` this is said of exchanges at position n - 1 only.
    """

    length: WordLength
    change: NotNegative
    last_only: bool


@final
@dataclass(frozen=True)
class PairBound:
    """These two words, which one exchange parts, differ by at most `change`; both without the end marker."""

    first: Word
    second: Word
    change: NotNegative

    @property
    def length(self) -> int:
        """n, which counts the end marker."""
        return len(self.first) + 1


ChangeBound = FrequencyBound | EveryLengthBound | TableBound | PairBound


@final
@dataclass(frozen=True)
class NoMargin:
    """From n = `start` on no word's output is at least `margin` or at most -`margin` as PARITY has it.

    At a length that the bound says too little of, words with `counts[n - start]` and one more of the second
    symbol, and the first elsewhere, are a pair that no margin parts.
    """

    margin: NotNegative
    start: WordLength
    counts: tuple[Natural, ...]


@final
@dataclass(frozen=True)
class NoMarginAt:
    """At this n no word's output is at least `margin` or at most -`margin` as PARITY has it."""

    margin: NotNegative
    length: WordLength


@final
@dataclass(frozen=True)
class RecogniserFloor:
    """On uniform words of n symbols a recogniser of PARITY has a cross-entropy of `nats` at least."""

    length: WordLength
    nats: NotNegative


@final
@dataclass(frozen=True)
class SourceFloor:
    """On prefixes of n - 1 symbols and the marker, where a source goes on so far, `nats` at least.

    Without a marker they have n symbols. `source` and p are its name and its probability, as in
    `languages.sources.values`.
    """

    source: str
    p: NotNegative
    length: WordLength
    nats: NotNegative


Consequence = NoMargin | NoMarginAt | RecogniserFloor | SourceFloor


@final
@dataclass(frozen=True)
class OneSymbolBound:
    """What one symbol can change in the outputs of an encoder with soft attention, and what follows.

    `digest` is the encoder's (at the bound's length, for one whose positions a function gives), `source`
    MODULE:OBJECT (a remark). The bound is said of each of the `functionals`. Without an `ending` any symbol
    stands at position n, the same in both words.
    """

    digest: str
    source: str
    symbols: tuple[str, ...]
    ending: str | None
    functionals: tuple[Functional, ...]
    bound: ChangeBound
    consequences: tuple[Consequence, ...] = ()


def complaints(found: OneSymbolBound) -> Iterator[str]:
    """What is wrong with a bound as a whole."""
    names, sizes = found.symbols, {len(functional) for functional in found.functionals}
    letters = [name for name in names if name != found.ending]
    if len(set(names)) < len(names) or found.ending not in (*names, None) or len(letters) < 2:
        yield "its symbols are not texts that differ, or lack the end marker, or two others"
    if len(sizes) != 1 or not all(map(any, found.functionals)):
        yield "its functionals are none, or not of one length, or one of them is 0 everywhere"
    for each in found.consequences:
        if isinstance(each, SourceFloor) and each.source not in NAMES:
            yield f"its source '{each.source[:80]}' is none of {', '.join(NAMES)}"
    if isinstance(found.bound, FrequencyBound):
        yield from _complaints_of(found.bound, len(letters) - 1)
    if found.ending is None and (
        isinstance(found.bound, PairBound)
        or (isinstance(found.bound, FrequencyBound) and found.bound.box is not None)
    ):
        yield "two words, and words with frequencies in a box, are of an encoder with an end marker"


def _complaints_of(bound: FrequencyBound, free: int) -> Iterator[str]:
    """What is wrong with the bound of an encoder with so many free frequencies."""
    period, rest = bound.residue or (1, 0)
    if not rest < period:
        yield f"a residue is a pair [m, r], 0 <= r < m <= {MOST_PERIOD}"
    if bound.box is not None and len(bound.box) != free * period:
        yield f"its box must have {free * period} sides, one for each free frequency"
    if not all(least < greatest for least, greatest in bound.box or ()):
        yield "a side of the box goes from a part of 1 to a greater one"


LIMIT: Document[OneSymbolBound] = Document(
    "attemper-limit/3",
    "bound",
    Codec(OneSymbolBound),
    "make one with 'attemper bound MODEL -o FILE'",
    complaints,
)
