"""A layer taken away: on every word, activations of T' are those of T one layer up, as an oracle runs T."""

from __future__ import annotations

from itertools import islice, product
from random import Random

import numpy as np
import pytest

import attemper
from attemper.models.hard.examples import RandomTables
from attemper.theories.refutation.certificate.restrictions import Restriction, fixed
from attemper.theories.refutation.lemma.inputs import FREE, bits_of
from attemper.theories.refutation.lemma.reducing import (
    WIDEST,
    OneLayerLess,
    agreement,
    all_removed,
    collapsed,
)
from attemper.theories.refutation.lemma.satisfied import Keys, attended_inputs, bottom_of
from attemper.theories.refutation.lemma.transformers import CTransformer, own_layer
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
    tables = [table[:, 0, 0].tolist() for table in transformer.tables]
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
        assert last.tables[-1][number, 0, 0] == top
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
        return np.asarray((high // n > best // n) | (keys.position(best) == np.arange(n)))

    monkeypatch.setattr(Keys, "attended", attended)
    wrong = tried = 0
    for seed in few(range(200), 24):
        case = listed, transformer, _, _ = drawn_case(seed)
        if max(map(max, listed.score[0][0])) > 3:
            continue
        tried += 1
        for one in islice(reductions(case), 1):
            words = list(product(*one.restriction.allowed))
            by_oracle = first_difference(listed, one.transformer, words) is not None
            assert by_oracle == (agreement(transformer, one.transformer).differs is not None)
            wrong += by_oracle
    assert wrong > tried / 5 > 1


# Any of the best: Hahn's footnote 1 -------------------------------------------------------------------------


def broken_at_random(seed: int, *, leftmost: bool = False) -> tuple[int, int]:
    """How many activations of reduced transformers are not what is said of ties broken at random.

    First those whose distribution, as the oracle has it, depends on more inputs than are read; then those
    that can have a value which is not listed.
    """
    draw = Random(seed)
    n, layers, heads, c = draw.randint(2, 4), draw.randint(1, 3), draw.randint(1, 2), draw.randint(1, 2)
    listed, transformer = listed_transformer(
        seed, n, layers, heads, c, 2, draw.choice((1, 2, 2, 3)), leftmost=leftmost
    )
    told = unlisted = 0
    for one in all_removed(transformer, 1):
        after = one.transformer
        seen: dict[tuple[int, int], object] = {}
        for word in product(*after.inputs.allowed):
            bits = bits_in(dict(enumerate(word)), after.inputs)
            for i, found in enumerate(c_transformers.distributions(listed, word)[after.gone]):
                number = int("0" + "".join(str(bits[q]) for q in after.reads[i]), 2)
                told += seen.setdefault((i, number), found) != found
                unlisted += not set(found) <= set(after.tables[i][number, :, 0].tolist())
        assert after.most_inputs <= one.bound
    return told, unlisted


@pytest.mark.sweep(12)
@pytest.mark.parametrize("seed", range(120))
def test_distributions_depend_on_what_is_read_where_ties_are_broken_at_random(seed: int) -> None:
    assert broken_at_random(seed) == (0, 0)


def test_what_is_read_for_the_leftmost_is_not_enough_for_random_ties(few: Few) -> None:
    found = [broken_at_random(seed, leftmost=True) for seed in few(range(120), 8)]
    assert sum(told > 0 for told, _ in found) > len(found) / 10
    assert sum(unlisted > 0 for _, unlisted in found) > len(found) / 4


def test_equal_scores_attract_nobody() -> None:
    """Where all scores are equal, any position can be attended to, until c k inputs are free."""
    _, transformer = listed_transformer(0, 6, 1, 1, 1, 3, 1, leftmost=False)
    found = attemper.reduce(transformer, k=2)
    assert len(found.restriction.free) == 2
    assert attemper.reduce(listed_transformer(0, 6, 1, 1, 1, 3, 1)[1], k=2).steps == 0


# Sizes of the documents, and what is refused ----------------------------------------------------------------

SIZES = [
    # n, L, H, c, k, values, levels: the six of docs/depth-reduction.md
    (12, 1, 1, 1, 2, 4, None),
    (24, 3, 1, 1, 1, 2, None),
    (40, 3, 1, 1, 1, 2, 4),
    (64, 2, 1, 1, 1, 3, None),
    (48, 2, 2, 1, 1, 2, None),
    (24, 2, 1, 2, 1, 2, None),
]


@pytest.mark.sweep(1)
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


@pytest.mark.sweep(0)
def test_a_compiled_network_and_a_restriction_that_a_search_found() -> None:
    model = attemper.compile("O (b & Y a)", "ab")
    refutation = attemper.refute(model, "zoo:parity-even", length=12, free=0.5).refutation
    assert refutation is not None
    found = attemper.reduce(model, refutation.restriction, length=12)
    first = found.given
    last = list(all_removed(found.transformer, 1))[-1].transformer
    assert agreement(first, last).differs is None
    # The search made the answer constant.
    assert set(last.outputs().tolist()) == {refutation.answer}


def test_what_cannot_be_reduced_is_refused() -> None:
    model = RandomTables(6, (1,))
    for options, message in (
        ({"k": 0}, "k=0 is not a whole number"),
        ({"length": 5}, "length=6, not for length=5"),
        ({"restriction": Restriction(((0,),))}, "words of length 1, and the model is for 6"),
        ({"ties": "rightmost"}, "neither 'leftmost' nor 'any'"),
    ):
        with pytest.raises(attemper.OptionError, match=message):
            attemper.reduce(model, **options)
    last = attemper.reduce(model).transformer
    with pytest.raises(attemper.OptionError, match="no layer that could be taken away"):
        attemper.reduce(last)
    with pytest.raises(attemper.OptionError, match="not one with ties='any'"):
        attemper.reduce(own_layer(model), ties="any")
    with pytest.raises(attemper.OptionError, match="one for length=6, not for length=7"):
        attemper.reduce(own_layer(model), length=7)
    with pytest.raises(attemper.UnsupportedError, match="more than one run"):
        attemper.reduce(model, ties="any").transformer.run(np.zeros((1, 6), np.int8))
    everywhere = own_layer(RandomTables(WIDEST + 2, (1,), levels=1), leftmost=False)
    with pytest.raises(attemper.UnsupportedError, match="comes to depend on 15 inputs"):
        collapsed(everywhere)


def test_fixing_no_input_again_changes_nothing() -> None:
    model = RandomTables(10, (1, 1), 5)
    base = fixed(own_layer(model).inputs, {2: 1, 7: 0})
    once = attemper.reduce(model, base)
    again = attemper.reduce(model, once.restriction)
    assert again.steps == 0
    assert again.restriction == once.restriction
    assert [bit for bit in bits_of(once.restriction).tolist() if bit == FREE] == [FREE] * len(
        once.restriction.free
    )
