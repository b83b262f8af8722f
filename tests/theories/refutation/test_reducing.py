"""A layer taken away: on every word, activations of T' are those of T one layer up, as an oracle runs T."""

from __future__ import annotations

from itertools import islice, product
from random import Random

import numpy as np
import pytest

import attemper
from attemper.theories.refutation.certificate.restrictions import Restriction
from attemper.theories.refutation.lemma.inputs import bits_of
from attemper.theories.refutation.lemma.reducing import (
    WIDEST,
    OneLayerLess,
    agreement,
    all_removed,
)
from attemper.theories.refutation.lemma.satisfied import Keys, attended_inputs, bottom_of
from attemper.theories.refutation.lemma.transformers import CTransformer
from tests.support.drawn.listed_models import listed_transformer
from tests.support.oracles import c_transformers
from tests.support.oracles.c_transformers import Listed
from tests.support.suites import Few

Case = tuple[Listed, CTransformer, Restriction, int]


def drawn_case(seed: int) -> Case:
    """n <= 9, L <= 3, H <= 2, c <= 2; some inputs are fixed, and two of three have tied scores."""
    draw = Random(seed)
    n, layers, heads, c = draw.randint(2, 9), draw.randint(1, 3), draw.randint(1, 2), draw.randint(1, 2)
    listed, transformer = listed_transformer(
        seed, n, layers, heads, c, draw.choice((2, 3)), draw.choice((None, 2, 3))
    )
    inputs = Restriction(tuple(draw.choice(((0, 1), (0, 1), (0, 1), (0,), (1,))) for _ in range(n)))
    return listed, transformer, inputs, draw.choice((1, 1, 2))


def bits_in(word: dict[int, int], inputs: Restriction) -> list[int]:
    """The word as a transformer of these inputs has it: 0 where they are fixed."""
    return [word[q] if len(some) > 1 else 0 for q, some in enumerate(inputs.allowed)]


def as_lists(transformer: CTransformer, listed: Listed) -> Listed:
    """T' for the oracle to run: its own reads and tables, and the scores of the first transformer."""
    tables = [table[:, 0].tolist() for table in transformer.tables]
    return Listed(listed.values, transformer.reads, tables, listed.score, listed.seed)


def first_difference(
    listed: Listed, transformer: CTransformer, words: list[tuple[int, ...]]
) -> tuple[int, ...] | None:
    """A word on which T' has other activations than T has `gone` layers up; both as the oracle runs them."""
    reduced = as_lists(transformer, listed)
    for symbols in words:
        word = dict(enumerate(symbols))
        upper = c_transformers.run(listed, symbols)[transformer.gone :]
        bits = bits_in(word, transformer.inputs)
        own = transformer.run(np.array([bits], dtype=np.int8))
        if (
            c_transformers.run(reduced, bits, transformer.gone) != upper
            or [rows[0, :, 0].tolist() for rows in own] != upper
        ):
            return symbols
    return None


def reductions(case: Case) -> list[OneLayerLess]:
    _, transformer, inputs, k = case
    first = attemper.reduce(transformer, inputs, k=k)
    return [first, *all_removed(first.transformer, k)]


@pytest.mark.sweep(24)
@pytest.mark.parametrize("seed", range(200))
def test_the_activations_of_a_transformer_are_those_of_the_reduced_one_on_every_word(seed: int) -> None:
    case = listed, transformer, inputs, _ = drawn_case(seed)
    found = reductions(case)
    assert [len(one.transformer.heads) for one in found] == list(range(len(transformer.heads)))[::-1]
    before = inputs
    for one in found:
        after = one.transformer
        assert all(
            set(some) <= set(was) for some, was in zip(after.inputs.allowed, before.allowed, strict=True)
        )
        assert after.most_inputs <= one.bound
        assert all(set(own) <= set(after.free) for own in after.reads)
        words = list(product(*after.inputs.allowed))
        assert first_difference(listed, after, words) is None
        checked = agreement(transformer, after)
        assert (checked.words, checked.all_words, checked.differs) == (len(words), True, None)
        before = after.inputs
    # Hahn's Theorem 1: what is left is a table, of the last position's inputs alone.
    last = found[-1].transformer
    answers = last.outputs()
    for symbols in product(*last.inputs.allowed):
        number = int("0" + "".join(str(symbols[q]) for q in last.reads[-1]), 2)
        top = c_transformers.run(listed, symbols)[-1][-1]
        assert last.tables[-1][number, 0] == top
        assert answers[number] == (top % 2 == 1)


@pytest.mark.sweep(6)
@pytest.mark.parametrize("seed", range(60))
def test_every_tuple_is_satisfied_by_the_definition(seed: int) -> None:
    _, transformer, inputs, k = drawn_case(seed)
    found = attemper.reduce(transformer, inputs, k=k)
    bottom, bits = bottom_of(found.given), bits_of(found.given.inputs, found.restriction)
    for row in np.flatnonzero(bottom.possible(bits)):
        for head in range(bottom.heads):
            assert len(attended_inputs(bottom, bits, head, int(row))) <= bottom.most_inputs * k


def test_a_reduction_that_forgets_ties_is_caught(monkeypatch: pytest.MonkeyPatch, few: Few) -> None:
    """As if nobody that scores as much as the one that is sure to be there were attended to."""

    def attended(keys: Keys, low: np.ndarray, high: np.ndarray) -> np.ndarray:
        n = keys.bottom.size
        best = low.max(axis=1, keepdims=True)
        return (high // n > best // n) | (keys.position(best) == np.arange(n))

    monkeypatch.setattr(Keys, "attended", attended)
    wrong = tried = 0
    for seed in few(range(200), 40):
        case = listed, transformer, _, _ = drawn_case(seed)
        if max(map(max, listed.score[0][0])) > 3:
            continue
        tried += 1
        for one in islice(reductions(case), 1):
            words = list(product(*one.restriction.allowed))
            by_oracle = first_difference(listed, one.transformer, words) is not None
            assert by_oracle == (agreement(transformer, one.transformer).differs is not None)
            wrong += by_oracle
    assert wrong > tried / 5 > 2


SIZES = [
    # n, L, H, c, k, values, levels: the six of docs/depth-reduction.md
    (12, 1, 1, 1, 2, 4, None),
    (24, 3, 1, 1, 1, 2, None),
    (40, 3, 1, 1, 1, 2, 4),
    (64, 2, 1, 1, 1, 3, None),
    (48, 2, 2, 1, 1, 2, None),
    (24, 2, 1, 2, 1, 2, None),
]


@pytest.mark.sweep(2)
@pytest.mark.parametrize("size", SIZES, ids=str)
def test_theorem_1_as_it_is_proved_at_sizes_that_cannot_be_enumerated(
    size: tuple[int, int, int, int, int, int, int | None], few: Few
) -> None:
    n, layers, heads, c, k, values, levels = size
    listed, transformer = listed_transformer(0, n, layers, heads, c, values, levels)
    for one in all_removed(transformer, k):
        after = one.transformer
        assert len(after.free) >= 1
        assert after.most_inputs <= min(one.bound, WIDEST)
        draw = Random(n)
        drawn = [tuple(draw.choice(some) for some in after.inputs.allowed) for _ in range(20)]
        assert first_difference(listed, after, drawn) is None
        # In the whole suite: all words where at most 16 inputs are free.
        most = few([2**9, 2**16], 1)[-1] if len(after.free) <= 16 else 2**9
        checked = agreement(transformer, after, most)
        assert checked.differs is None
        assert checked.words == min(2 ** len(after.free), most)
    assert len(after.reads[-1]) <= after.most_inputs
