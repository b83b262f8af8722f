"""Words that are answered wrong: short ones all, and in a cell those to which a slope leads."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np

from attemper.languages.words import Word
from attemper.models.arrays import Booleans, Floats
from attemper.models.soft.soft import behind_heads, outputs_of
from attemper.models.soft.weights import shifted
from attemper.theories.judging.certificate import Reading
from attemper.theories.judging.check.cells import WordCell
from attemper.theories.judging.check.claims import tokens_of
from attemper.theories.judging.check.heads import JudgedHead, ReadEncoder
from attemper.theories.judging.check.margins import answers_in, asked_of
from attemper.theories.judging.check.words import WordInNumbers, read_on_words

WordAndState = tuple[Word, int]
"""A word, and the state after it."""

AT_ONCE = 128
"""So many words are looked at together."""

MOST_SHORT = 20_000
"""So many of the shortest words are tried."""

STEP = 2.0**-12
"""How far apart, on both sides, answers are compared for their slope."""

ROUNDS = 4
"""So often a word in a cell is made worse."""


def short_words(read: ReadEncoder, up_to: int) -> Iterator[list[WordAndState]]:
    """Words with the states after them, by lengths: all of a length, as long as there are few."""
    moves, letters = read.task.moves, read.task.automaton.alphabet.symbols
    left = MOST_SHORT
    level: list[WordAndState] = [((), read.task.automaton.start)]
    for length in range(up_to + 1):
        is_read = {cell.state for cell in read.task.cells_to(up_to) if cell.length == length}
        level = [own for own in level if own[1] in is_read]
        if not level or len(level) > left:
            return
        left -= len(level)
        yield level
        level = [
            ((*word, letters[symbol]), target)
            for word, state in level
            for symbol, target in enumerate(moves[state])
            if target >= 0
        ]


def margins_of_words(read: ReadEncoder, words: Sequence[Word], states: Sequence[int], offset: int) -> Floats:
    """The margins (B,) of words of one length in float64; 0 where it puts out no number."""
    tokens = np.array([tokens_of(read.encoder, read.task, word) for word in words])
    found = outputs_of(shifted(read.encoder, offset), tokens) @ asked_of(read).T
    right = np.array([read.task.answers(state) for state in states])
    return np.asarray(np.nan_to_num(np.where(right, found, -found).min(axis=1), nan=0.0))


def surely_wrong(
    read: ReadEncoder, heads: Sequence[JudgedHead], words: Sequence[WordAndState], offset: int
) -> list[bool]:
    """Of words of one length, whether they are answered wrong, and not only by how floats are rounded."""
    found: list[bool] = []
    for top in range(0, len(words), AT_ONCE):
        cells = [cell_of(read, *own, offset) for own in words[top : top + AT_ONCE]]
        box = read_on_words(read, heads, *map(list, zip(*cells, strict=True)))
        answers, right = answers_in(read, box, [cell for cell, _ in cells])
        is_wrong: Booleans = np.where(right, answers.greatest < 0, answers.least > 0)
        found += [bool(own.any()) for own in is_wrong.T]
    return found


def cell_of(read: ReadEncoder, word: Word, state: int, offset: int) -> tuple[WordCell, WordInNumbers]:
    """The cell of a word, and the numbers of its symbols."""
    numbers = tuple(read.task.automaton.alphabet.symbols.index(symbol) for symbol in word)
    last = numbers[-1] if numbers and read.task.reading is Reading.NEXT else None
    return WordCell(len(word), state, last, offset), numbers


def worst_word(read: ReadEncoder, heads: Sequence[JudgedHead], cell: WordCell) -> tuple[Word, float]:
    """A word of the cell whose margin is small, and that margin.

    From some word on, each next one is best for the slope of an answer at what the last one reads.
    """
    letters = read.task.automaton.alphabet.symbols
    best: tuple[Word, float] | None = None
    for number in range(len(asked_of(read))):
        word = _path(read, cell, np.zeros((cell.length, len(letters))))
        for _ in range(ROUNDS):
            own = tuple(letters[symbol] for symbol in word)
            margin = float(margins_of_words(read, [own], [cell.state], cell.offset)[0])
            if best is None or margin < best[1]:
                best = own, margin
            again = _path(read, cell, _gains(read, heads, cell, word, number))
            if again == word:
                break
            word = again
    assert best is not None
    return best


def _gains(
    read: ReadEncoder, heads: Sequence[JudgedHead], cell: WordCell, word: Sequence[int], number: int
) -> Floats:
    """How much each symbol at each position (p, S) makes an answer worse, about, beside this word."""
    at, (last,) = read.places_of([cell])
    fixed, always = read.fixed_in([cell]), read.always
    symbols, first = [symbol for symbol, _ in fixed], [int(there[0]) for _, there in fixed]
    places = [int(read.residues_at(position, [cell])[0]) for position in range(1, cell.length + 1)]
    weights, values, reads, totals = [], [], [], []
    for head in heads:
        power, value = (head.low[last, at[0]] + head.high[last, at[0]]) / 2, head.value.centre
        own = power[[*first, *places], [*symbols, *word]]
        totals.append(float(own.sum()))
        reads.append(value[:, [*first, *places], [*symbols, *word]] @ own / totals[-1])
        weights.append(power[places, :always])
        values.append(value[:, places, :always])
    sign = -1.0 if read.task.answers(cell.state)[number] else 1.0
    slope = sign * _slope(read, cell, np.concatenate(reads), number)
    parts = np.split(slope, len(heads))
    return np.asarray(
        sum(
            weight * np.tensordot(part, value - there[:, None, None], axes=1) / total
            for weight, value, there, total, part in zip(weights, values, reads, totals, parts, strict=True)
        )
    )


def _slope(read: ReadEncoder, cell: WordCell, there: Floats, number: int) -> Floats:
    """The slope of an answer by what the heads read, about: by differences."""
    residual = read.stream.centre[:, *read.places_of([cell])][None, :, 0]
    steps = np.eye(len(there)) * STEP
    found = behind_heads(read.encoder, np.concatenate([there + steps, there - steps]), residual)
    above, below = np.split(found @ asked_of(read)[number], 2)
    return np.asarray(np.nan_to_num((above - below) / (2 * STEP)))


def _path(read: ReadEncoder, cell: WordCell, gains: Floats) -> list[int]:
    """The word of the cell with the greatest sum of gains (p, S)."""
    states = range(len(read.task.moves))
    best = [-np.inf] * len(states)
    best[read.task.automaton.start] = 0.0
    came: list[list[tuple[int, int]]] = []
    for position in range(cell.length):
        after, own = [-np.inf] * len(states), [(-1, -1)] * len(states)
        allowed = None if position < cell.length - 1 else cell.last
        for state in states:
            if best[state] == -np.inf:
                continue
            for symbol, target in enumerate(read.task.moves[state]):
                if target < 0 or (allowed is not None and symbol != allowed):
                    continue
                total = best[state] + float(gains[position, symbol])
                if total > after[target]:
                    after[target], own[target] = total, (state, symbol)
        best = after
        came.append(own)
    word, state = [], cell.state
    for own in reversed(came):
        state, symbol = own[state]
        word.append(symbol)
    return word[::-1]
