"""Satisfied tuples: what the definition promises, on all words; and the fast version against it."""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from attemper.errors import OptionError, UnsupportedError
from attemper.models.hard.examples import RandomTables
from attemper.models.hard.protocol import activations
from attemper.theories.refutation.certificate.restrictions import Restriction, fixed
from attemper.theories.refutation.lemma.inputs import (
    FREE,
    PartialAssignment,
    bits_of,
    restriction_of,
    two_symbols,
)
from attemper.theories.refutation.lemma.satisfied import Bottom, Keys, attended_inputs, bottom_of
from attemper.theories.refutation.lemma.transformers import own_layer
from tests.support.drawn.hard_examples import FirstMismatch, PrefixXor


def random_bottom(n: int, c: int, heads: int = 1, levels: int = 4, seed: int = 0) -> Bottom:
    """Layer 0 of a c-transformer whose activations read 1 to c random inputs; random scores."""
    draw = np.random.default_rng(seed)
    inputs = np.full((n, c), -1)
    owner, bits = [], []
    for j in range(n):
        own = np.sort(draw.choice(n, size=int(draw.integers(1, c + 1)), replace=False))
        inputs[j, : len(own)] = own
        for assignment in product((0, 1), repeat=len(own)):
            owner.append(j)
            bits.append([*assignment, *[-1] * (c - len(own))])
    scores = draw.integers(0, levels, (heads, len(owner), len(owner)))
    return Bottom(scores, np.array(owner), inputs, np.array(bits, dtype=np.int8))


def random_bits_of(n: int, seed: int) -> PartialAssignment:
    return np.random.default_rng(seed).choice(np.array([FREE, FREE, 0, 1], dtype=np.int8), n)


def completions(bits: PartialAssignment) -> list[PartialAssignment]:
    free = np.flatnonzero(bits == FREE)
    found = []
    for assignment in product((0, 1), repeat=len(free)):
        word = bits.copy()
        word[free] = assignment
        found.append(word)
    return found


def attended_row(bottom: Bottom, word: PartialAssignment, head: int, row: int) -> int:
    """What the head attends to on a word without free inputs, by the definition: the leftmost maximum."""
    values = np.flatnonzero(bottom.possible(word))
    return int(values[np.argmax(bottom.scores[head, row, values])])


@given(st.integers(2, 6), st.integers(1, 2), st.integers(1, 5), st.integers(0, 10**6))
def test_what_is_attended_to_depends_on_the_inputs_named_only(n: int, c: int, levels: int, seed: int) -> None:
    bottom = random_bottom(n, c, levels=levels, seed=seed)
    bits = random_bits_of(n, seed)
    possible = bottom.possible(bits)
    for row in np.flatnonzero(possible):
        named = sorted(attended_inputs(bottom, bits, 0, int(row)))
        seen: dict[tuple[int, ...], int] = {}
        for word in completions(bits):
            if bottom.possible(word)[row]:
                found = attended_row(bottom, word, 0, int(row))
                assert seen.setdefault(tuple(word[named].tolist()), found) == found


@given(st.integers(2, 8), st.integers(1, 3), st.integers(1, 2), st.integers(1, 5), st.integers(0, 10**6))
def test_the_fast_version_counts_what_the_definition_counts(
    n: int, c: int, heads: int, levels: int, seed: int
) -> None:
    c = min(c, n)
    bottom = random_bottom(n, c, heads, levels, seed)
    bits = random_bits_of(n, seed)
    keys = Keys(bottom)
    tuples = keys.tuples(bits)
    wanted = [
        len(attended_inputs(bottom, bits, *map(int, divmod(number, len(bottom.owner))))) for number in tuples
    ]
    assert keys.counts(bits, tuples).tolist() == wanted


@given(st.integers(2, 7), st.integers(1, 2), st.integers(0, 10**6))
def test_fixing_more_never_undoes_satisfaction(n: int, c: int, seed: int) -> None:
    bottom = random_bottom(n, c, seed=seed)
    bits = random_bits_of(n, seed)
    more = bits.copy()
    free = np.flatnonzero(bits == FREE)
    more[free[: len(free) // 2]] = seed % 2
    for row in np.flatnonzero(bottom.possible(more)):
        assert attended_inputs(bottom, more, 0, int(row)) <= attended_inputs(bottom, bits, 0, int(row))


@pytest.mark.parametrize("levels", [None, 2])
def test_a_models_next_activations_depend_on_the_inputs_named_only(levels: int | None) -> None:
    model = RandomTables(7, (2,), seed=3, levels=levels)
    base = fixed(two_symbols(model), {2: 1})
    bottom, bits = bottom_of(own_layer(model, base)), bits_of(base)
    possible = bottom.possible(bits)
    runs = {word: activations(model, np.array(word))[1] for word in product(*base.allowed)}
    for i in range(model.length):
        for row in np.flatnonzero((bottom.owner == i) & possible):
            named = sorted(frozenset().union(*(attended_inputs(bottom, bits, h, int(row)) for h in range(2))))
            seen: dict[tuple[int, ...], bytes] = {}
            for word, found in runs.items():
                if bottom.bits[row, 0] in (FREE, word[i]):
                    key = tuple(word[j] for j in named)
                    assert seen.setdefault(key, found[i].tobytes()) == found[i].tobytes()


def test_symbols_with_the_same_embedding_are_one_row_without_inputs() -> None:
    model = FirstMismatch(4, ())
    bottom = bottom_of(own_layer(model, two_symbols(model)))
    assert bottom.owner.tolist() == [0, 1, 2, 3]
    assert (bottom.inputs == -1).all()
    # Nothing depends on any input, though three positions are free.
    assert Keys(bottom).counts(bits_of(two_symbols(model)), np.arange(4)).tolist() == [0] * 4


def test_bits_stand_for_a_positions_two_symbols() -> None:
    base = Restriction(((0, 1), (0, 2), (1,)))
    bits = bits_of(base)
    assert bits.tolist() == [FREE, FREE, 0]
    assert restriction_of(base, bits) == base
    bits[1] = 1
    assert restriction_of(base, bits) == Restriction(((0, 1), (2,), (1,)))


def test_a_guaranteed_score_blocks_without_being_the_greatest() -> None:
    # The scores of activation 1 are 5 and 9, and of activation 2 at most 4: whatever input 1 is, it blocks.
    scores = np.array([[[0, 5, 9, 1, 4]] * 5])
    bottom = Bottom(
        scores,
        np.array([0, 1, 1, 2, 2]),
        np.array([[-1], [1], [2]]),
        np.array([[-1], [0], [1], [0], [1]], dtype=np.int8),
    )
    bits = np.array([0, FREE, FREE], dtype=np.int8)
    assert attended_inputs(bottom, bits, 0, 0) == {1}


def test_the_layer_of_a_model_has_one_activation_for_each_position() -> None:
    model = PrefixXor(5, 1)
    bottom = bottom_of(own_layer(model, two_symbols(model)))
    assert (bottom.size, bottom.heads, bottom.most_inputs) == (5, 1, 1)
    # Position 3 looks at position 1 + 1, whatever its own symbol is.
    rows = np.flatnonzero(bottom.owner == 2)
    bits = bits_of(two_symbols(model))
    assert [attended_inputs(bottom, bits, 0, int(row)) for row in rows] == [frozenset({1})] * 2


def test_restrictions_that_do_not_fit_are_refused() -> None:
    model = RandomTables(3, (1,))
    with pytest.raises(OptionError, match="length"):
        own_layer(model, Restriction(((0, 1),)))
    with pytest.raises(UnsupportedError, match="position 1 has 3 symbols"):
        own_layer(model, Restriction(((0, 1, 2), (0,), (2,))))
    base = two_symbols(model)
    with pytest.raises(OptionError, match="length 2, not 3"):
        bits_of(base, Restriction(((0,), (0,))))
    with pytest.raises(OptionError, match="the symbol 2 at position 2"):
        bits_of(base, Restriction(((0,), (2,), (2,))))
