"""How far every word of a cell is from a wrong answer, by what follows the heads."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from itertools import product

import numpy as np

from attemper.models.arrays import Booleans, Floats, Integers
from attemper.models.enclosures import forms
from attemper.models.enclosures.tails import followed, normed
from attemper.theories.judging.certificate import Reading
from attemper.theories.judging.check.cells import WordCell
from attemper.theories.judging.check.heads import JudgedHead, ReadEncoder, shown
from attemper.theories.judging.check.words import read_on_words, words_of

MOST_CURVED = 16
"""How many axes of a box are followed to second order."""

AT_ONCE = 128
"""So many boxes are followed at a time."""

MOST_CELLS = 1024
"""So many cells' words are looked through at a time."""


def margins(
    read: ReadEncoder,
    heads: Sequence[JudgedHead],
    cells: Sequence[WordCell],
    parts: Sequence[int],
    highest: Sequence[Floats],
) -> Floats:
    """At most the margin of every word of each cell, (C,); above 0 all of its words are answered right.

    The margin is the least, over the outputs that are asked, of the output where it is to be positive, and
    of its negative where not. `highest` has for each head the numbers (C, 2 D) that `shown` looks at, and
    `parts` says for each cell into how many strips what a head reads is cut; the margin is -infinity where
    one of the numbers is not shown, or nothing is known.
    """
    known = np.ones(len(cells), dtype=np.bool_)
    for head, numbers in zip(heads, highest, strict=True):
        for top in range(0, len(cells), MOST_CELLS):
            some = slice(top, top + MOST_CELLS)
            known[some] &= shown(read, head, cells[some], numbers[some])
    left_out = np.concatenate([head.left_out for head in heads])
    low, high, owner = _boxes(heads, parts, highest)
    least = np.full(len(cells), np.inf)
    for top in range(0, len(owner), AT_ONCE):
        some = slice(top, top + AT_ONCE)
        boxes = what_is_read(heads, low[:, some], high[:, some], left_out)
        np.minimum.at(least, owner[some], _in_boxes(read, boxes, [cells[own] for own in owner[some]]))
    return np.where(known & np.isfinite(least), least, -np.inf)


def margin_of_words(read: ReadEncoder, heads: Sequence[JudgedHead], cell: WordCell) -> float:
    """At most the margin of every word of a cell that has few, each looked at by itself.

    Raises `UnsupportedError` where they are many.
    """
    words, least = words_of(read.task, cell), np.array(np.inf)
    for top in range(0, len(words), AT_ONCE):
        some = words[top : top + AT_ONCE]
        cells = [cell] * len(some)
        # numpy's minimum keeps what is no number, Python's does not.
        least = np.minimum(least, _in_boxes(read, read_on_words(read, heads, cells, some), cells).min())
    return float(least) if np.isfinite(least) else -np.inf


def strips(head: JudgedHead, highest: Floats, parts: int) -> tuple[Floats, Floats]:
    """The sides (r, parts) of boxes that have everything that the head reads, along its axes.

    b_1 o is between its own numbers, and so in one of so many equal parts. If it is between s and t there,
    b_k o = (b_k - slope b_1) o + slope b_1 o is at most the number of that direction and the greater of
    slope s and slope t; that is rounded twice. Of all slopes the least says most.
    """
    rank, (count, _) = len(head.axes), head.slopes.shape
    upper, lower = np.split(highest, 2)
    cuts = -lower[0] + (upper[0] + lower[0]) * (np.arange(parts + 1) / parts)
    cuts[0], cuts[-1] = -lower[0], upper[0]
    cuts = np.maximum.accumulate(cuts)
    slopes = np.concatenate([np.zeros((1, rank - 1)), head.slopes])[:, :, None]
    sides = []
    for sign, numbers in ((1, upper), (-1, lower)):
        own = numbers[1:].reshape(count + 1, rank - 1, 1)
        along = np.maximum(sign * slopes * cuts[:-1], sign * slopes * cuts[1:])
        found = own + along
        found = found + forms.upward(2 * forms.GAMMA * (np.abs(along) + np.abs(found)), 3)
        sides.append(found.min(axis=0))
    low = np.concatenate([cuts[None, :-1], -sides[1]])
    return low, np.concatenate([cuts[None, 1:], sides[0]])


def _boxes(
    heads: Sequence[JudgedHead], parts: Sequence[int], highest: Sequence[Floats]
) -> tuple[Floats, Floats, Integers]:
    """The sides (R, B) of boxes that have all that the heads read together, and whose each is, (B,).

    Nothing is read in a box with a side below the other, which is left out.
    """
    lows, highs, owners = [], [], []
    for number, count in enumerate(parts):
        sides = [strips(head, own[number], count) for head, own in zip(heads, highest, strict=True)]
        chosen = np.array(list(product(range(count), repeat=len(heads)))).T
        low, high = (
            np.concatenate([own[side][:, at] for own, at in zip(sides, chosen, strict=True)])
            for side in (0, 1)
        )
        kept = ~(low > high).any(axis=0)  # what is no number is kept, and not shown
        lows.append(low[:, kept])
        highs.append(high[:, kept])
        owners += [number] * int(kept.sum())
    return np.concatenate(lows, axis=1), np.concatenate(highs, axis=1), np.array(owners, dtype=np.int64)


def _in_boxes(read: ReadEncoder, boxes: forms.Form, cells: Sequence[WordCell]) -> Floats:
    """The margins (B,) where the heads read something in the boxes (d, 1, B), each of a cell's words."""
    found, right = answers_in(read, boxes, cells)
    return np.asarray(np.where(right, found.least, -found.greatest).min(axis=0))


def answers_in(
    read: ReadEncoder, boxes: forms.Form, cells: Sequence[WordCell]
) -> tuple[forms.Form, Booleans]:
    """The answers (J, B) where the heads read something in the boxes, and which are to be positive."""
    (layer,) = read.encoder.layers
    entering = read.stream[:, *read.places_of(cells)]
    residual = forms.Form(entering.parts[:, :, None], entering.rest[:, None], boxes.frame)
    last, _ = normed(read.encoder.last_norm, followed(layer, boxes, residual).last)
    outputs = last.mapped(read.encoder.readout).plus(read.encoder.bias[:, None, None])
    right = np.array([read.task.answers(own.state) for own in cells]).T
    return outputs.mapped(asked_of(read))[:, 0], right


def asked_of(read: ReadEncoder) -> Floats:
    """Which sums of outputs are to be positive or negative, (J, K), in the order of `JudgedTask.answers`."""
    if read.task.reading is Reading.NEXT:
        return np.eye(len(read.encoder.outputs))
    return np.array([[1.0]]) if len(read.encoder.outputs) == 1 else np.array([[-1.0, 1.0]])


@cache
def _frame_of(axes: int) -> forms.Frame:
    """The products of the first axes, listed once for all boxes."""
    return forms.Frame(min(axes, MOST_CURVED), 2)


def what_is_read(heads: Sequence[JudgedHead], low: Floats, high: Floats, left_out: Floats) -> forms.Form:
    """What all heads read, (d, 1, B): B^T y, y in boxes with these sides, and what the axes leave out."""
    frame = _frame_of(len(low))
    sides = forms.of_axes(low, high, frame)
    parts = np.stack([form.parts for form in sides], axis=1)[:, :, None]
    box = forms.Form(parts, np.stack([form.rest for form in sides])[:, None], frame)
    size = heads[0].axes.shape[1]
    matrix = np.zeros((size * len(heads), len(low)))
    tops = np.cumsum([0, *(len(head.axes) for head in heads)])
    for number, head in enumerate(heads):
        matrix[number * size : (number + 1) * size, tops[number] : tops[number + 1]] = head.axes.T
    read = box.mapped(matrix)
    return forms.Form(read.parts, forms.upward(read.rest + left_out[:, None, None], 2), frame)
