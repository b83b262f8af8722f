"""Alteration: it always succeeds, and the bound on what it costs is a bound."""

from __future__ import annotations

from fractions import Fraction
from itertools import product

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from attemper.models.hard.examples import RandomTables
from attemper.theories.refutation.certificate.restrictions import fixed
from attemper.theories.refutation.lemma.alteration import alter, altered, best_rate, chosen_bits
from attemper.theories.refutation.lemma.inputs import FREE, PartialAssignment, bits_of, two_symbols
from attemper.theories.refutation.lemma.satisfied import Bottom, Keys, attended_inputs, bottom_of
from attemper.theories.refutation.lemma.transformers import own_layer
from tests.support.drawn.hard_examples import NearestOneChain, RandomWeights, ScatteredPositions
from tests.support.suites import Few
from tests.theories.refutation.test_faithful import new_by_rank
from tests.theories.refutation.test_satisfied import random_bottom


@given(
    st.integers(2, 24),
    st.integers(1, 2),
    st.integers(1, 6),
    st.sampled_from([None, 1, 3]),
    st.integers(0, 10**6),
    st.booleans(),
)
def test_it_succeeds_at_every_length(
    n: int, heads: int, k: int, levels: int | None, seed: int, derandomised: bool
) -> None:
    model = RandomTables(n, (heads,), seed, levels)
    base = two_symbols(model)
    found = altered(model, base, k, seed=seed, derandomised=derandomised)
    assert found.holds
    assert found.most_attended <= k
    assert all(
        set(left) <= set(was) for left, was in zip(found.restriction.allowed, base.allowed, strict=True)
    )
    assert len(found.restriction.free) == found.free
    if derandomised:
        keys = Keys(bottom_of(own_layer(model, base)))
        assert found.start - found.free <= promised(keys, bits_of(base), k, best_rate(k, heads))


def promised(keys: Keys, bits: PartialAssignment, k: int, rate: Fraction) -> Fraction:
    """q F + U (1 - q/2)^k: how many inputs are fixed on average, or at most if derandomised (c = 1)."""
    return rate * int((bits == FREE).sum()) + len(keys.unsatisfied(bits, k)) * (1 - rate / 2) ** k


@pytest.mark.parametrize("rate", [Fraction(1, 50), Fraction(1, 4), Fraction(9, 10)])
@pytest.mark.parametrize(
    "model",
    [RandomTables(120, (1,)), RandomTables(120, (3,)), RandomWeights(120, (2,)), ScatteredPositions(120, 1)],
    ids=lambda model: type(model).__name__,
)
def test_without_randomness_the_bound_holds_at_every_rate(model: object, rate: Fraction) -> None:
    base = two_symbols(model)
    keys = Keys(bottom_of(own_layer(model, base)))
    found = altered(model, base, 6, rate, derandomised=True)
    assert found.holds
    assert found.start - found.free <= promised(keys, bits_of(base), 6, rate)


def test_random_bits_cost_no_more_than_promised_on_average(few: Few) -> None:
    model = RandomTables(100, (1,))
    base = two_symbols(model)
    bound = promised(Keys(bottom_of(own_layer(model, base))), bits_of(base), 8, best_rate(8, 1))
    costs = [99 - altered(model, base, 8, seed=seed).free for seed in few(range(40), 20)]
    assert sum(costs) / len(costs) < bound


@pytest.mark.parametrize("k", [1, 2])
def test_the_probability_to_miss_a_tuple(k: int) -> None:
    # All 3^5 restrictions of five inputs, each with its probability; for each tuple, exactly.
    model = RandomTables(6, (1,), seed=2)
    base = two_symbols(model)
    bottom, start = bottom_of(own_layer(model, base)), bits_of(base)
    rate = Fraction(1, 3)
    missed = dict.fromkeys(map(int, Keys(bottom).unsatisfied(start, k)), Fraction(0))
    assert missed
    for drawn in product((FREE, 0, 1), repeat=5):
        bits = np.array([*drawn, 0], dtype=np.int8)
        weight = Fraction(1)
        for bit in drawn:
            weight *= 1 - rate if bit == FREE else rate / 2
        for row in missed:
            if bottom.possible(bits)[row] and len(attended_inputs(bottom, bits, 0, row)) > k:
                missed[row] += weight
    assert all(probability <= (1 - rate / 2) ** k for probability in missed.values())


@pytest.mark.parametrize("seed", range(6))
def test_activations_of_two_inputs_each_are_repaired(seed: int) -> None:
    bottom = random_bottom(40, 2, heads=2, levels=500, seed=seed)
    keys = Keys(bottom)
    bits, stages = alter(keys, np.full(40, FREE, dtype=np.int8), 4, Fraction(1, 5), seed=seed)
    assert not len(keys.unsatisfied(bits, 8))
    assert stages[2].steps > 0
    assert stages[2].fixed <= 2 * stages[2].steps


@pytest.mark.parametrize(("rate", "k"), [(Fraction(1, 2), 1), (Fraction(4, 5), 2), (Fraction(1, 5), 3)])
def test_each_bit_is_the_best_given_those_before(rate: Fraction, k: int) -> None:
    model = RandomTables(20, (2,), seed=7)
    bottom, start = bottom_of(own_layer(model, two_symbols(model))), bits_of(two_symbols(model))
    keys = Keys(bottom)
    wishes = [wishes_of(bottom, start, int(number), k) for number in keys.unsatisfied(start, k)]
    assert wishes

    def expected(decided: dict[int, int]) -> Fraction:
        """The fixed inputs and the missed tuples, where all other inputs are random."""
        total = Fraction(sum(bit != FREE for bit in decided.values())) + rate * (19 - len(decided))
        for wish in wishes:
            chance = Fraction(1)
            for x, bit in wish.items():
                chance *= int(decided[x] != bit) if x in decided else 1 - rate / 2
            total += chance
        return total

    found = chosen_bits(keys, start, k, rate)
    decided: dict[int, int] = {}
    for x in sorted(np.flatnonzero(start == FREE).tolist(), key=lambda x: -sum(x in wish for wish in wishes)):
        costs = {bit: expected({**decided, x: bit}) for bit in (FREE, 0, 1)}
        decided[x] = int(found[x])
        assert costs[decided[x]] == min(costs.values())
    assert any(bit == FREE for bit in decided.values())
    assert any(bit != FREE for bit in decided.values())


def wishes_of(bottom: Bottom, bits: PartialAssignment, number: int, k: int) -> dict[int, int]:
    """For each of a tuple's first k activations with new inputs (c = 1): the input and its best bit."""
    head, row = divmod(number, len(bottom.owner))
    found = {}
    for j in new_by_rank(bottom, bits, head, row, k):
        rows = np.flatnonzero(bottom.owner == j)
        best = rows[np.argmax(bottom.scores[head, row, rows])]
        found[int(bottom.inputs[j, 0])] = int(bottom.bits[best, 0])
    return found


def test_conditional_expectations_are_for_one_input_each() -> None:
    bottom = random_bottom(6, 2)
    with pytest.raises(ValueError, match="one input"):
        chosen_bits(Keys(bottom), np.full(6, FREE, dtype=np.int8), 1, Fraction(1, 2))


def test_the_base_may_fix_positions() -> None:
    model = NearestOneChain(60, 1)
    base = fixed(two_symbols(model), {1: 1, 30: 1, 31: 0})
    found = altered(model, base, 4, derandomised=True)
    assert found.holds
    assert found.restriction.allowed[29] == (1,)


@pytest.mark.parametrize(("k", "heads"), [(2, 1), (4, 1), (14, 1), (17, 2), (113, 1)])
def test_the_best_rate_is_best(k: int, heads: int) -> None:
    def cost(rate: Fraction) -> Fraction:
        return rate + 2 * heads * (1 - rate / 2) ** k

    best = best_rate(k, heads)
    assert all(cost(best) <= cost(Fraction(m, 100)) + Fraction(1, 10**4) for m in range(1, 100))


def test_the_lengths_of_the_table_are_long_enough() -> None:
    # (C'/C, H, K, n) of docs/depth-reduction.md, with c = 1: n - 1 inputs are free.
    for kept, heads, k, n in ((Fraction(1, 2), 1, 14, 59), (Fraction(9, 10), 1, 113, 253)):
        model = RandomTables(n, (heads,), seed=4)
        found = altered(model, two_symbols(model), k, derandomised=True)
        assert found.holds
        assert found.free >= kept * (n - 1)
        assert 2 * k * heads + 1 < kept * n


@pytest.mark.parametrize(("k", "rate"), [(0, Fraction(1, 2)), (1, Fraction(0)), (1, Fraction(2))])
def test_senseless_parameters_are_refused(k: int, rate: Fraction) -> None:
    model = RandomTables(4, (1,))
    with pytest.raises(ValueError, match="at least 1"):
        altered(model, two_symbols(model), k, rate)


@pytest.mark.slow
def test_a_long_layer() -> None:
    model = RandomTables(1000, (1,))
    found = altered(model, two_symbols(model), 64, derandomised=True)
    assert found.holds
    assert found.free > 920
