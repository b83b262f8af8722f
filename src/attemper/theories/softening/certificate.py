"""What is claimed of a softened network: how far it is from its hard network, as data, and its file."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from enum import StrEnum
from typing import Annotated, final

from attemper.documents import Document
from attemper.exact.codec import LONGEST, Codec, NotNegative, Within, WordLength
from attemper.exact.monomials import Monomial


class GapBy(StrEnum):
    """What a number about the hard network rests on."""

    RULE = "rule"
    """On the rules of heads: proved for all lengths."""
    GIVEN = "given"
    """On somebody's word: checked word by word up to some length, and an assumption beyond."""


@final
@dataclass(frozen=True)
class HeadGap:
    """In words of n symbols every visible score that is not the greatest is at least `gap` below that, and at
    all visible positions of the greatest the head's values are the same.

    By rule a score may also be as great, or nearer, where the head's values are those at the greatest.
    """

    by: GapBy
    gap: Monomial


@final
@dataclass(frozen=True)
class LayerError:
    """One layer: of the hard network, bounds on what it reads and on gaps; of the soft one, its error.

    `magnitude` bounds the size of every coordinate before the layer. `gaps` has one entry for each head, None
    for uniform ones. `error` bounds how far any coordinate of the soft network is from the hard one's after
    the layer; behind the last layer, any that is put out.
    """

    magnitude: Monomial
    magnitude_by: GapBy
    gaps: tuple[HeadGap | None, ...]
    error: Monomial


@final
@dataclass(frozen=True)
class Enumerated:
    """At each of finitely many lengths all words are tried."""


@final
@dataclass(frozen=True)
class ClosedFormErrors:
    """A chain of errors, layer by layer, for all lengths at once.

    What is given is checked for all words of up to `checked_to` symbols.
    """

    layers: tuple[LayerError, ...]
    checked_to: Annotated[int, Within(0, LONGEST)]


Evidence = Enumerated | ClosedFormErrors


@final
@dataclass(frozen=True)
class Approximation:
    """For all words of `first` to `last` symbols (None: from `first` on) and at every position, each
    coordinate that the soft network puts out is within `epsilon` of the hard network's, in real arithmetic.

    `network` is the digest of the soft network, `hard` that of the hard one, without a source.
    """

    network: str
    hard: str
    epsilon: NotNegative
    first: WordLength
    last: WordLength | None
    evidence: Evidence


def complaints(found: Approximation) -> Iterator[str]:
    """What is wrong with the lengths."""
    if found.last is not None and found.last < found.first:
        yield "the last length is less than the first"


APPROXIMATION: Document[Approximation] = Document(
    "attemper-approximation/2",
    "certificate of an approximation",
    Codec(Approximation),
    "make one with 'attemper soften'",
    complaints,
)
"""What certificate.json holds beside a softened network."""
