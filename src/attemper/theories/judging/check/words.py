"""The words of a cell one by one, where they are few: what heads read on each, enclosed."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from attemper.errors import UnsupportedError
from attemper.models.enclosures import forms
from attemper.models.enclosures.averages import highest_average
from attemper.theories.judging.check.cells import JudgedTask, WordCell
from attemper.theories.judging.check.heads import JudgedHead, ReadEncoder

MOST_WORDS = 1024
"""A cell with more words is not looked at word by word."""

WordInNumbers = tuple[int, ...]
"""A word, as the numbers of its symbols."""


def words_of(task: JudgedTask, cell: WordCell) -> list[WordInNumbers]:
    """The words of a cell. Raises `UnsupportedError` where they are more than `MOST_WORDS`.

    >>> from attemper.languages.words import Alphabet
    >>> from attemper.languages.regular.dfa import Dfa
    >>> from attemper.theories.judging.certificate import Reading
    >>> once = Dfa(Alphabet(("a", "b")), ((1, 0), (2, 1), (2, 2)), 0, frozenset({1}))
    >>> words_of(JudgedTask(once, Reading.VERDICT), WordCell(3, 1))
    [(0, 1, 1), (1, 0, 1), (1, 1, 0)]
    """
    # From each state, with so many symbols left, the number of words that end as the cell's do.
    counts = [[int(state == cell.state) for state in range(len(task.moves))]]
    for left in range(cell.length):
        ahead = counts[left]
        steps = (_steps(task, cell, state, left) for state in range(len(task.moves)))
        counts.append([sum(ahead[target] for _, target in own) for own in steps])
    if counts[-1][task.automaton.start] > MOST_WORDS:
        raise UnsupportedError(f"a cell has more than {MOST_WORDS:,} words to be looked at")
    found: list[tuple[WordInNumbers, int]] = [((), task.automaton.start)]
    for left in reversed(range(cell.length)):
        found = [
            ((*word, symbol), target)
            for word, state in found
            for symbol, target in _steps(task, cell, state, left)
            if counts[left][target]
        ]
    return [word for word, _ in found]


def _steps(task: JudgedTask, cell: WordCell, state: int, left: int) -> list[tuple[int, int]]:
    """The symbols that may follow the state, and where they lead, with so many more before the cell's end."""
    return [
        (symbol, target)
        for symbol, target in enumerate(task.moves[state])
        if target >= 0 and (left or cell.last in (None, symbol))
    ]


def read_on_words(
    read: ReadEncoder, heads: Sequence[JudgedHead], cells: Sequence[WordCell], words: Sequence[WordInNumbers]
) -> forms.Form:
    """What all heads read (d, 1, B) on words of one length, each of its cell: between two numbers."""
    at, last = read.places_of(cells)
    fixed = read.fixed_in(cells)
    symbols = np.array([[*(symbol for symbol, _ in fixed), *word] for word in words])
    own = [read.residues_at(place, cells) for place in range(1, len(words[0]) + 1)]
    places = np.stack([*(there for _, there in fixed), *own], axis=1)
    low, high = [], []
    for head in heads:
        weights = [side[last[:, None], at[:, None], places, symbols] for side in (head.low, head.high)]
        least, greatest = (
            np.moveaxis(side[:, places, symbols], 0, 1)[..., None]
            for side in (head.value.least, head.value.greatest)
        )
        below, above = (own[:, None, :, None] for own in weights)
        low.append(-highest_average(below, above, -least))
        high.append(highest_average(below, above, greatest))
    least, most = (np.concatenate(side, axis=1).T for side in (low, high))
    return forms.between(least, most, forms.FLAT).reshaped(len(least), 1, len(words))
