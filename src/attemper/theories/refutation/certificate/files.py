"""A refutation as data, and its file: two words that a hard-attention transformer cannot tell apart."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import final

from attemper.documents import Document
from attemper.exact.codec import Codec, Positive
from attemper.languages.words import Word
from attemper.theories.refutation.certificate.restrictions import Restriction
from attemper.theories.refutation.certificate.targets import Target


@final
@dataclass(frozen=True)
class Refutation:
    """The model gives one answer to all words of a restriction, to one in the language and one outside.

    `digest` and `semantics` are the model's, `source` says where it was found (a folder or MODULE:OBJECT; a
    remark). The restriction is over the numbers of the model's `symbols`, for all positions 1..n, that of the
    end marker included. The answer is the same for all words that agree at the positions `decided_by`: none,
    if it is constant. `member` is in the language, `stranger` is not; both without the end marker.
    """

    digest: str
    source: str
    semantics: str
    symbols: tuple[str, ...]
    ending: str | None
    restriction: Restriction
    decided_by: tuple[Positive, ...]
    language: Target
    member: Word
    stranger: Word
    answer: bool


def complaints(found: Refutation) -> Iterator[str]:
    """What is wrong with a refutation as a whole."""
    names, allowed = found.symbols, found.restriction.allowed
    if len(set(names)) < len(names) or (found.ending is not None and found.ending not in names):
        yield "its symbols are not distinct, or lack the end marker"
    if any(number >= len(names) for numbers in allowed for number in numbers):
        yield f"its restriction has a number that is none of its {len(names)} symbols"
    length = len(allowed) - (found.ending is not None)
    if not allowed or len(found.member) != length or len(found.stranger) != length:
        yield f"its restriction has {len(allowed)} positions, and its words do not fit"
    if len(set(found.decided_by)) < len(found.decided_by) or max(found.decided_by, default=0) > len(allowed):
        yield "'decided_by' must list positions from 1, each once"


REFUTATION: Document[Refutation] = Document(
    "attemper-refutation/2",
    "refutation",
    Codec(Refutation),
    "make one with 'attemper refute ... -o FILE'",
    complaints,
)
