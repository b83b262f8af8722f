"""What heads read, and the margins of cells, against all words one by one."""

from __future__ import annotations

from collections import defaultdict
from dataclasses import replace
from itertools import product

import numpy as np
import pytest

from attemper.errors import UnsupportedError
from attemper.models.arrays import Floats
from attemper.models.soft.activations import Activation
from attemper.models.soft.meaning import outputs_in_balls
from attemper.models.soft.soft import outputs_of
from attemper.models.soft.weights import shifted
from attemper.theories.judging.certificate import Reading
from attemper.theories.judging.check.cells import WordCell
from attemper.theories.judging.check.claims import tokens_of
from attemper.theories.judging.check.heads import JudgedHead, ReadEncoder, heads_of, shown
from attemper.theories.judging.check.margins import asked_of, margin_of_words, margins, strips
from attemper.theories.judging.check.words import read_on_words
from attemper.theories.judging.check.words import words_of as numbers_of_words
from attemper.theories.judging.search.extremes import attained, axes_of, highest
from attemper.theories.judging.search.proving import boxed, cut, heads_to_judge
from tests.support.drawn.judged import AUTOMATA, read_of
from tests.support.suites import Few

NETWORKS = tuple(
    (seed, heads, norm, period)
    for seed, (heads, norm, period) in enumerate(
        [*product((1, 2, 4), ("none", "pre", "post"), (0, 3)), (1, "pre", 40), (2, "post", 40)]
    )
)
"""Seeds, heads, where LayerNorm is, and the period of positions: none, short, and longer than the words."""

Words = dict[WordCell, list[tuple[str, ...]]]


def words_of(read: ReadEncoder, up_to: int, offsets: tuple[int, int] = (0, 0)) -> Words:
    """All words of each cell, straight from the definition."""
    dfa, task, found = read.task.automaton, read.task, defaultdict(list)
    letters = dfa.alphabet.symbols
    for length in range(up_to + 1):
        for word in product(letters, repeat=length):
            state, left = dfa.state_after(word), 0
            if task.reading is Reading.NEXT:
                more = (
                    n
                    for n in range(len(dfa.moves))
                    if any(dfa.accepts((*word, *more)) for more in product(letters, repeat=n))
                )
                left = next(more, 10**6)
            last = letters.index(word[-1]) if word and task.reading is Reading.NEXT else None
            for offset in range(offsets[0], offsets[1] + 1):
                if length + left <= up_to - offset:
                    found[WordCell(length, state, last, offset)].append(word)
    return found


def read_by(read: ReadEncoder, word: tuple[str, ...], offset: int = 0) -> list[Floats]:
    """What each head reads at the last position, in float64, from the encoder's weights."""
    encoder = read.encoder
    tokens = tokens_of(encoder, read.task, word)
    (layer,) = encoder.layers
    rows = encoder.embedding[tokens]
    table = getattr(encoder.positions, "table", np.zeros((1, encoder.width)))
    x = rows + table[(offset + np.arange(len(tokens))) % len(table)]
    norm = layer.before[0]
    if norm is not None:
        centred = x - x.mean(axis=1, keepdims=True)
        x = centred / np.sqrt((centred**2).mean(axis=1, keepdims=True) + norm.epsilon) * norm.gain + norm.bias
    mixed = x @ layer.in_weight.T + layer.in_bias
    size, found = encoder.width // layer.heads, []
    for top in range(0, encoder.width, size):
        q, k, v = (mixed[:, part * encoder.width + top :][:, :size] for part in range(3))
        scores = k @ q[-1] / np.sqrt(size)
        weights = np.exp(scores - scores.max())
        found.append(weights @ v / weights.sum())
    return found


@pytest.mark.parametrize("number", range(len(AUTOMATA)))
@pytest.mark.parametrize("reading", list(Reading))
def test_the_greatest_is_that_of_some_word_and_nothing_less_is_shown(
    number: int, reading: Reading, few: Few
) -> None:
    dfa = AUTOMATA[number]
    up_to = few((6, 12 if len(dfa.alphabet.symbols) == 1 else 9 if len(dfa.alphabet.symbols) == 2 else 6), 1)[
        -1
    ]
    for seed, heads, norm, period in few(NETWORKS, 4):
        asked = reading is Reading.VERDICT and seed % 2 == 1
        read = read_of(dfa, reading, up_to, seed, heads=heads, norm=norm, period=period, asked=asked)
        offsets = ((0, 0), (0, 3), (2, 3))[seed % 3]
        words = words_of(read, up_to, offsets)
        cells = list(read.task.cells_to(up_to, offsets))
        assert len(cells) == len(set(cells))
        assert set(cells) == set(words)
        directions = np.random.default_rng(seed).normal(size=(4, read.encoder.width // heads))
        for place, head in enumerate(heads_of(read, [directions.tolist()] * heads)):
            exact = np.array(
                [
                    np.max(
                        [
                            [*(directions @ o), *(-directions @ o)]
                            for o in (read_by(read, w, c.offset)[place] for w in words[c])
                        ],
                        axis=0,
                    )
                    for c in cells
                ]
            )
            assert np.allclose(attained(read, head, cells), exact, rtol=0, atol=1e-12)
            assert shown(read, head, cells, exact + 2.0**-30).all()
            for one in range(exact.shape[1]):
                lowered = exact + 2.0**-30
                lowered[:, one] -= 2.0**-29
                assert not shown(read, head, cells, lowered).any()


@pytest.mark.parametrize("reading", list(Reading))
def test_no_margin_is_above_that_of_a_word(reading: Reading, few: Few) -> None:
    for number, dfa in enumerate(few(AUTOMATA, 3)):
        for seed, heads, norm, period in few(NETWORKS, 4):
            up_to, offsets = 5, ((0, 0), (1, 3))[seed % 2]
            activation, is_last = list(Activation)[(seed + number) % 3], (seed + number) % 4 > 1
            options = {"heads": heads, "norm": norm, "period": period, "activation": activation}
            is_asked = reading is Reading.VERDICT and (seed + number) % 2 == 0
            read = read_of(dfa, reading, up_to, 100 * number + seed, last=is_last, asked=is_asked, **options)
            own, words = heads_to_judge(read), words_of(read, up_to, offsets)
            cells = list(read.task.cells_to(up_to, offsets))
            for found in (boxed(read, own, cells), cut(read, own, boxed(read, own, cells))):
                for each in found:
                    least = min(least_margin(read, words[each.cell], each.cell))
                    assert each.margin <= least + 1e-9
                    if len(words[each.cell]) == 1:
                        assert each.margin == pytest.approx(least, abs=1e-6), "one word's box is a point"


def least_margin(read: ReadEncoder, words: list[tuple[str, ...]], cell: WordCell) -> list[float]:
    tokens = np.array([tokens_of(read.encoder, read.task, word) for word in words])
    found = outputs_of(shifted(read.encoder, cell.offset), tokens) @ asked_of(read).T
    right = np.array(read.task.answers(cell.state))
    return [float(own) for own in np.where(right, found, -found).min(axis=1)]


def test_what_is_read_lies_in_one_of_the_strips(few: Few) -> None:
    for seed, heads, norm, period in few(NETWORKS, 5):
        read = read_of(AUTOMATA[0], Reading.NEXT, 6, seed, heads=heads, norm=norm, period=period)
        words = words_of(read, 6)
        for place, head in enumerate(heads_to_judge(read)):
            for cell, numbers in zip(words, highest(read, head, list(words)), strict=True):
                low, high = strips(head, numbers, 5)
                for word in words[cell]:
                    y = head.axes @ read_by(read, word)[place]
                    inside = (low - 1e-12 <= y[:, None]) & (y[:, None] <= high + 1e-12)
                    assert inside.all(axis=0).any()


def test_words_are_looked_at_one_by_one_where_they_are_few(few: Few) -> None:
    for number, dfa in enumerate(few(AUTOMATA, 3)):
        for seed, heads, norm, period in few(NETWORKS, 4):
            reading = list(Reading)[(seed + number) % 2]
            read = read_of(dfa, reading, 4, 7 * number + seed, heads=heads, norm=norm, period=period)
            own, letters = heads_to_judge(read), dfa.alphabet.symbols
            for cell, words in words_of(read, 4, (0, seed % 3)).items():
                found = numbers_of_words(read.task, cell)
                assert [tuple(letters[k] for k in word) for word in found] == sorted(words)
                least = min(least_margin(read, words, cell))
                assert least - 1e-6 * (1 + abs(least)) <= margin_of_words(read, own, cell) <= least + 1e-9
                boxes = read_on_words(read, own, [cell] * len(found), found)
                for place, word in enumerate(sorted(words)):
                    there = np.concatenate(read_by(read, word, cell.offset))
                    low, high = boxes.least[:, 0, place], boxes.greatest[:, 0, place]
                    assert ((low <= there + 1e-12) & (there - 1e-12 <= high)).all()
                    assert (high - low < 1e-9).all()


def test_many_words_are_not_looked_at_one_by_one() -> None:
    task = read_of(AUTOMATA[2], Reading.VERDICT, 20, 0).task
    assert len(numbers_of_words(task, WordCell(10, 1))) == 1023
    with pytest.raises(UnsupportedError, match="more than 1,024 words"):
        numbers_of_words(task, WordCell(11, 1))


def test_strips_are_narrower_than_boxes() -> None:
    read = read_of(AUTOMATA[0], Reading.NEXT, 12, 3, heads=1, norm="pre", period=40)
    (head,) = heads_to_judge(read)
    cells = list(read.task.cells_to(12))[-3:]
    for numbers in highest(read, head, cells):
        low, high = strips(head, numbers, 8)
        rank = len(head.axes)
        box = numbers[:rank] + numbers[len(numbers) // 2 :][:rank]
        assert ((high - low).max(axis=1)[1:] <= box[1:] + 1e-12).all()
        assert ((high - low).mean(axis=1)[1:] < 0.95 * box[1:]).any()


def test_axes_that_span_too_little_leave_the_rest_out() -> None:
    read = read_of(AUTOMATA[0], Reading.VERDICT, 4, 1, heads=2, norm="post")
    cells, words = list(read.task.cells_to(4)), words_of(read, 4)
    full = heads_to_judge(read)
    for rows in (1, 2):
        heads = [replace(head, axes=head.axes[:rows], slopes=np.zeros((0, rows - 1))) for head in full]
        assert all(float(head.left_out.max()) > 0.01 for head in heads[:1])
        numbers = [highest(read, head, cells) for head in heads]
        for cell, margin in zip(cells, margins(read, heads, cells, [1] * len(cells), numbers), strict=True):
            assert margin <= min(least_margin(read, words[cell], cell)) + 1e-9


@pytest.mark.parametrize("activation", list(Activation))
def test_margins_hold_in_balls_for_longer_words(activation: Activation) -> None:
    asked = {"heads": 2, "norm": "pre", "period": 4, "activation": activation}
    read = read_of(AUTOMATA[2], Reading.VERDICT, 9, 5, last=activation is not Activation.RELU, **asked)
    cells = list(read.task.cells_to(9, (1, 1)))
    found = {own.cell: own.margin for own in boxed(read, heads_to_judge(read), cells)}
    rng = np.random.default_rng(0)
    for _ in range(20):
        word = tuple("ab"[k] for k in rng.integers(0, 2, size=rng.integers(0, 9)))
        outputs = outputs_in_balls(shifted(read.encoder, 1), tokens_of(read.encoder, read.task, word))
        value = outputs[0] if len(outputs) == 1 else outputs[1] - outputs[0]
        state = read.task.automaton.state_after(word)
        margin = value if state in read.task.automaton.accepting else -value
        assert margin > found[WordCell(len(word), state, None, 1)]


def test_heads_are_of_the_layer() -> None:
    read = read_of(AUTOMATA[0], Reading.VERDICT, 3, 1, heads=2)
    own = heads_to_judge(read)
    assert all(isinstance(head, JudgedHead) for head in own)
    axes = [axes_of(head) for head in own]
    assert all(np.allclose(rows @ rows.T, np.eye(len(rows)), atol=1e-12) for rows in axes)
