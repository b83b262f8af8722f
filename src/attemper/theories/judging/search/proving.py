"""Evidence that cells are answered right: boxes, and for those that these are too large for, strips."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import final

import numpy as np

from attemper.errors import UnsupportedError
from attemper.models.arrays import Floats
from attemper.theories.judging.certificate import CellExtremes
from attemper.theories.judging.check.cells import WordCell
from attemper.theories.judging.check.heads import JudgedHead, ReadEncoder, heads_of
from attemper.theories.judging.check.margins import margin_of_words, margins
from attemper.theories.judging.search.extremes import axes_of, highest

PARTS = (4, 16, 64)
"""Into so many strips what is read is cut, as long as that helps."""

MOST_BOXES = 256
"""Into no more boxes what all heads read is cut."""

SLOPES = (-2.0, -1.0, -0.5, 0.5, 1.0, 2.0)
"""The slopes of directions, in comparison to how far values reach along their axes."""


@final
@dataclass(frozen=True)
class FoundCell:
    """A cell, the numbers for it, and at most the margin of its words."""

    cell: WordCell
    extremes: CellExtremes
    margin: float


def heads_to_judge(read: ReadEncoder) -> tuple[JudgedHead, ...]:
    """The heads with axes and slopes that are about right for them."""
    (layer,) = read.encoder.layers
    own = np.eye(read.encoder.width // layer.heads)
    chosen = [axes_of(head) for head in heads_of(read, [own.tolist()] * layer.heads)]
    return tuple(
        replace(head, slopes=_slopes(head)) for head in heads_of(read, [rows.tolist() for rows in chosen])
    )


def _slopes(head: JudgedHead) -> Floats:
    along = np.tensordot(head.axes, head.value.centre, axes=1).reshape(len(head.axes), -1)
    reach = np.ptp(along, axis=1)
    relative = reach[1:] / reach[0] if reach[0] > 0 else np.zeros(len(reach) - 1)
    return np.asarray(np.outer(SLOPES, relative))


def boxed(read: ReadEncoder, heads: Sequence[JudgedHead], cells: Sequence[WordCell]) -> list[FoundCell]:
    """What one box says of each cell."""
    return _tried(read, [replace(head, slopes=head.slopes[:0]) for head in heads], cells, 1)


def cut(read: ReadEncoder, heads: Sequence[JudgedHead], found: Sequence[FoundCell]) -> list[FoundCell]:
    """What its words say of each cell, where they are few, or else more and more strips."""
    best = [_one_by_one(read, heads, own) or own for own in found]
    for parts in PARTS:
        left = [number for number, own in enumerate(best) if own.extremes.parts and not own.margin > 0]
        if not left or parts ** len(heads) > MOST_BOXES:
            break
        again = _tried(read, heads, [best[number].cell for number in left], parts)
        for number, own in zip(left, again, strict=True):
            if own.margin > best[number].margin:
                best[number] = own
    return best


def _one_by_one(read: ReadEncoder, heads: Sequence[JudgedHead], found: FoundCell) -> FoundCell | None:
    """What its words say of a cell, where they are few."""
    try:
        margin = margin_of_words(read, heads, found.cell)
    except UnsupportedError:
        return None
    return FoundCell(found.cell, CellExtremes(0, ()), margin)


def _tried(
    read: ReadEncoder, heads: Sequence[JudgedHead], cells: Sequence[WordCell], parts: int
) -> list[FoundCell]:
    numbers = [highest(read, head, cells) for head in heads]
    found = margins(read, heads, cells, [parts] * len(cells), numbers)
    return [
        FoundCell(
            cell, CellExtremes(parts, tuple(tuple(own[number].tolist()) for own in numbers)), float(margin)
        )
        for number, (cell, margin) in enumerate(zip(cells, found, strict=True))
    ]
