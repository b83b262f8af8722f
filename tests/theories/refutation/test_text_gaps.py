"""The notes on the text of Hahn's proof, docs/depth-reduction.md: a counterexample or a number each."""

from __future__ import annotations

import math
from fractions import Fraction
from itertools import combinations, pairwise, product

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from attemper.models.hard.examples import RandomTables
from attemper.models.hard.protocol import answer
from attemper.theories.refutation.certificate.restrictions import fixed
from attemper.theories.refutation.lemma.alteration import altered
from attemper.theories.refutation.lemma.constants import RemovedLayer, Variant, parameters
from attemper.theories.refutation.lemma.faithful import first_new, greedily_fixed, without_own
from attemper.theories.refutation.lemma.inputs import FREE, bits_of, two_symbols
from attemper.theories.refutation.lemma.satisfied import Bottom, Keys, attended_inputs, bottom_of
from attemper.theories.refutation.lemma.transformers import own_layer
from tests.theories.refutation.test_satisfied import attended_row, completions, random_bits_of, random_bottom

Sets = list[set[int]]


def privately(sets: Sets, k: int) -> tuple[int, ...] | None:
    """The paper's selection: k ranks, each with an input that no other has; the last one least."""
    for last in range(len(sets)):
        for before in combinations(range(last), k - 1):
            chosen = (*before, last)
            if all(sets[i] - set().union(*(sets[j] for j in chosen if j != i)) for i in chosen):
                return chosen
    return None


def one_input_each(scores: list[list[int]]) -> Bottom:
    """Activations with the same scores for every query: two if they depend on an input, else one."""
    owner = [j for j, values in enumerate(scores) for _ in values]
    bits = [bit if len(values) > 1 else FREE for values in scores for bit in range(len(values))]
    inputs = [j if len(values) > 1 else -1 for j, values in enumerate(scores)]
    row = np.array([score for values in scores for score in values])
    table = np.tile(row, (1, len(row), 1))
    return Bottom(table, np.array(owner), np.array(inputs)[:, None], np.array(bits, dtype=np.int8)[:, None])


def test_note_1_stage_2_loses_more_than_is_allowed_unless_c_counts() -> None:
    c, eta, free = 2, Fraction(1, 10), Fraction(1, 2)
    kept = {
        name: (1 - eta) * free - Fraction(2**c * c) / k
        for name, k in (
            ("2^c c/k <= eta", 2**c * c / eta),
            ("2^c c/k <= eta C", 2**c * c / (eta * free)),
        )
    }
    needed = (1 - 2 * eta) * free
    assert [share >= needed for share in kept.values()] == [False, True]
    assert kept["2^c c/k <= eta C"] == needed


def test_note_2_the_possible_choice_is_for_losing_more_than_half() -> None:
    eta = {kept: (1 - 2 * kept) / 2 for kept in (Fraction(2, 5), Fraction(1, 2), Fraction(9, 10))}
    assert [value > 0 for value in eta.values()] == [True, False, False]
    for kept in (Fraction(1, 2), Fraction(9, 10)):
        found = parameters(Variant.PUBLISHED, RemovedLayer(1, 1, kept))
        assert 0 < found.eta < Fraction(1, 2)
        assert found.delta <= 1


def test_note_3_an_activation_with_a_private_free_input_is_not_fixed() -> None:
    # Activation 0 has been fixed, and blocks all others; but only free inputs count, and it is not selected.
    assert privately([set(), {1}, {2}], 1) == (1,)
    # If fixed inputs count in the selection, it is.
    assert privately([{0}, {1}, {2}], 1) == (0,)


def test_note_3_the_inputs_that_a_partial_function_depends_on_are_not_unique() -> None:
    # y_i = x_0 xor x_1 has the value 0. On these words, x_0 and x_1 are two names of one function.
    domain = [(0, 0), (1, 1)]
    value = {word: word[0] for word in domain}
    for chosen in ((0,), (1,)):
        assert len({(tuple(w[x] for x in chosen), value[w]) for w in domain}) == 2


def test_note_4_equal_scores_block_later_positions_only() -> None:
    # Position 1 is fixed and scores 5. Positions 0 and 2 score 5 at best; the query is position 3.
    bottom = one_input_each([[3, 5], [5], [1, 5], [0]])
    bits = np.array([FREE, 0, FREE, 0], dtype=np.int8)
    query = len(bottom.owner) - 1
    attended = {int(bottom.owner[attended_row(bottom, word, 0, query)]) for word in completions(bits)}
    assert attended == {0, 1}
    assert attended_inputs(bottom, bits, 0, query) == {0}
    # With random ties, position 2 would be attended to as well: it has the greatest score on some word.
    of_position_2 = np.flatnonzero(bottom.owner == 2)
    tied = [
        scores[of_position_2].max() == scores.max()
        for word in completions(bits)
        for scores in [np.where(bottom.possible(word), bottom.scores[0, query], -1)]
        if word[0] == 1 and word[2] == 1
    ]
    assert tied == [True]


def test_note_5_the_two_maxima_differ_where_activations_share_inputs() -> None:
    # Activation 0 reads the inputs 0 and 1, activation 1 reads the input 0; bit 1 of it would score 9.
    owner = np.array([0, 0, 0, 0, 1, 1])
    bits = np.array([[0, 0], [0, 1], [1, 0], [1, 1], [0, -1], [1, -1]], dtype=np.int8)
    bottom = Bottom(np.tile([0, 0, 0, 0, 1, 9], (1, 6, 1)), owner, np.array([[0, 1], [0, -1]]), bits)
    free = np.full(2, FREE, dtype=np.int8)
    row = 0
    with_the_value = [w for w in completions(free) if bottom.possible(w)[row]]
    scores = [max(bottom.scores[0, row, 4:][bottom.possible(w)[4:]]) for w in with_the_value]
    assert max(scores) == 1
    assert max(bottom.scores[0, row, 4:]) == 9
    # Fixing activation 1 to the unconditional best leaves no word with that value: the tuple is gone.
    assert not bottom.possible(np.array([1, FREE], dtype=np.int8))[row]


def test_note_6_a_head_may_depend_on_inputs_of_activations_that_are_not_selected() -> None:
    a, b, x, y = range(4)
    sets = [{a}, {b}, {a, b, x}, {y}]
    chosen = privately(sets, 3)
    assert chosen == (0, 1, 3)
    up_to_the_last = set().union(*sets[: chosen[-1] + 1])
    assert x in up_to_the_last
    assert x not in set().union(*(sets[i] for i in chosen))
    # Four activations may be attended to, more than k = 3.
    assert chosen[-1] + 1 > 3


@given(st.lists(st.sets(st.integers(0, 7), max_size=3), max_size=9), st.integers(1, 4))
def test_note_6_but_not_on_more_than_c_k(sets: Sets, k: int) -> None:
    chosen = privately(sets, k)
    if chosen is not None:
        assert len(set().union(*sets[: chosen[-1] + 1])) <= 3 * k


def test_note_7_a_long_input_does_not_make_a_selection_exist() -> None:
    n, k = 50, 2
    assert n > k
    assert privately([{0}] * n, k) is None


@given(st.lists(st.sets(st.integers(0, 7), max_size=3), max_size=9), st.integers(1, 4))
def test_note_7_without_k_new_inputs_few_inputs_matter(sets: Sets, k: int) -> None:
    seen: set[int] = set()
    new = 0
    for inputs in sets:
        new += bool(inputs - seen)
        seen |= inputs
    assert new >= k or len(seen) <= 3 * (k - 1)


def test_note_8_fewer_neighbours_need_a_smaller_k() -> None:
    sizes = {
        (variant, c): parameters(variant, RemovedLayer(c, 1, Fraction(9, 10))).k
        for variant in (Variant.PUBLISHED, Variant.PROVED)
        for c in (1, 4)
    }
    assert sizes[Variant.PUBLISHED, 1] == pytest.approx(2.4e5, rel=0.03)
    assert sizes[Variant.PROVED, 1] == pytest.approx(1.4e5, rel=0.03)
    assert sizes[Variant.PUBLISHED, 4] == pytest.approx(1.7e14, rel=0.03)
    assert sizes[Variant.PROVED, 4] == pytest.approx(1.0e13, rel=0.05)


@pytest.mark.parametrize("k", [2, 5])
def test_note_8_neighbours_are_as_few_as_the_corollary_proves(k: int) -> None:
    # c = 1, and an input feeds one activation: each of k inputs has at most 2 k H dependent tuples.
    model = RandomTables(80, (1,))
    keys = Keys(bottom_of(own_layer(model, two_symbols(model))))
    bits, _ = greedily_fixed(keys, bits_of(two_symbols(model)), k, 2 * k)
    tuples = keys.unsatisfied(bits, k)
    goals = first_new(keys, bits, without_own(keys, tuples, keys.ranges(bits, tuples)[1]), k)
    inputs = [set(row) for row in keys.position(goals).tolist()]
    assert max(sum(bool(one & other) for other in inputs) for one in inputs) <= 2 * k**2


def test_note_9_the_limit_is_right_and_the_identity_is_not() -> None:
    def sides(k: int, e: int) -> tuple[float, float]:
        return (1 - 1 / k**2) ** (e * k), (1 - e**2 / k**2) ** k

    left, right = sides(100, 16)
    assert left == pytest.approx(0.852, abs=1e-3)
    assert right == pytest.approx(0.0748, abs=1e-3)
    assert sides(10**6, 16) == (pytest.approx(1, abs=1e-3), pytest.approx(1, abs=1e-3))


@given(st.integers(3, 14), st.integers(1, 3), st.integers(0, 10**6))
def test_note_10_the_activation_itself_is_counted(n: int, c: int, seed: int) -> None:
    c = min(c, n)
    inputs = [{int(x) for x in row if x >= 0} for row in random_bottom(n, c, seed=seed).inputs]
    d = max(sum(x in one for one in inputs) for x in range(n))
    assert all(sum(bool(one & other) for other in inputs) - 1 <= c * (d - 1) for one in inputs)
    independent: Sets = []
    for one in inputs:
        if all(not one & other for other in independent):
            independent.append(one)
    assert len(independent) >= math.ceil(n / (c * d))
    assert all(not one & other for one, other in pairwise(independent))


@given(st.integers(3, 10), st.integers(1, 2), st.integers(1, 2), st.integers(0, 10**6))
def test_note_11_an_unsatisfied_tuple_depends_on_no_fixed_activation(
    n: int, c: int, k: int, seed: int
) -> None:
    bottom = random_bottom(n, c, levels=9, seed=seed)
    bits = random_bits_of(n, seed)
    keys = Keys(bottom)
    tuples = keys.unsatisfied(bits, c * k)
    if not len(tuples):
        return
    high = without_own(keys, tuples, keys.ranges(bits, tuples)[1])
    depends = high >= first_new(keys, bits, high, k)[:, -1:]
    constant = np.array([all(x < 0 or bits[x] != FREE for x in row) for row in bottom.inputs])
    assert not (depends & constant).any()


def completable(brackets: str) -> bool:
    """Whether a balanced word results from some brackets in the place of the question marks."""
    heights = {0}
    for bracket in brackets:
        steps = {"(": (1,), ")": (-1,), "?": (1, -1)}[bracket]
        heights = {h + step for h in heights for step in steps if h + step >= 0}
    return 0 in heights


def test_note_12_after_fixing_two_fifths_nine_tenths_cannot_be_free() -> None:
    symbols = 100
    free = symbols - 2 * symbols // 5
    assert free < Fraction(9, 10) * symbols
    # Nine tenths of what is free: six more are fixed, wherever and however, and it can be completed.
    for more in (6, 41):
        for bracket in "()":
            for place in (0, free - more, (free - more) // 2):
                middle = "?" * place + bracket * more + "?" * (free - more - place)
                assert completable("(" * 20 + middle + ")" * 20) == (more == 6)
    assert not completable("(" * 20 + "?" * 59 + ")" * 20)


def test_note_13_one_k_is_for_all_lengths_and_leaves_a_share_free() -> None:
    k = 4
    for n in range(20, 60, 7):
        model = RandomTables(n, (1,))
        found = altered(model, two_symbols(model), k, derandomised=True)
        assert found.most_attended <= k
        # The restriction is one that repairs cannot make trivially right: C' n inputs stay free.
        assert found.free >= n / 2


def test_note_14_with_the_bounded_set_fixed_too_the_answer_is_constant() -> None:
    model = RandomTables(14, (1,), seed=4)
    base = two_symbols(model)
    found = altered(model, base, 3, derandomised=True).restriction
    bottom, bits = bottom_of(own_layer(model, base)), bits_of(base)
    for i, symbols in enumerate(found.allowed):
        bits[i] = FREE if len(symbols) > 1 else base.allowed[i].index(symbols[0])
    last = int(np.flatnonzero(bottom.owner == model.length - 1)[0])
    bounded = attended_inputs(bottom, bits, 0, last)
    assert 0 < len(bounded) <= 3
    subcube = fixed(found, {i + 1: 0 for i in bounded})
    assert len(subcube.free) > 3
    assert len({answer(model, np.array(word)) for word in product(*subcube.allowed)}) == 1
