"""The three stages: what each leaves behind, and that the record tells the truth."""

from __future__ import annotations

import math
from fractions import Fraction
from itertools import product

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from attemper.models.hard.examples import RandomTables
from attemper.models.hard.protocol import HardModel
from attemper.theories.refutation.certificate.restrictions import Restriction, fixed
from attemper.theories.refutation.lemma.faithful import (
    faithful,
    first_new,
    greedily_fixed,
    much_read_fixed,
    random_bits,
    reduced,
    without_own,
)
from attemper.theories.refutation.lemma.inputs import FREE, bits_of, two_symbols
from attemper.theories.refutation.lemma.satisfied import Bottom, Keys, attended_inputs, bottom_of
from attemper.theories.refutation.lemma.transformers import own_layer
from tests.support.drawn.hard_examples import NearestOneChain, RandomWeights, ScatteredPositions
from tests.support.suites import Few
from tests.theories.refutation.test_satisfied import random_bits_of, random_bottom

MODELS = (
    RandomTables(40, (1,)),
    RandomTables(40, (2,), seed=1),
    RandomTables(40, (2,), levels=4),
    RandomWeights(40, (1,)),
    ScatteredPositions(40, 1),
    NearestOneChain(40, 1),
)


@pytest.mark.parametrize("model", MODELS, ids=lambda model: type(model).__name__)
def test_all_tuples_are_satisfied_by_the_definition(model: HardModel) -> None:
    base = two_symbols(model)
    found = faithful(model, base, 8, Fraction(1, 4))
    assert found.holds
    bottom, bits = bottom_of(own_layer(model, base)), bits_of(base)
    bits[[i for i, symbols in enumerate(found.restriction.allowed) if symbols == (0,)]] = 0
    bits[[i for i, symbols in enumerate(found.restriction.allowed) if symbols == (1,)]] = 1
    rows = np.flatnonzero(bottom.possible(bits))
    for head, row in product(range(bottom.heads), rows):
        assert len(attended_inputs(bottom, bits, head, int(row))) <= 8


def test_the_record_adds_up() -> None:
    model = RandomTables(64, (1,))
    found = faithful(model, two_symbols(model), 8, Fraction(1, 10), threshold=4)
    assert found.start == 63
    left = found.start
    for stage in found.stages:
        left -= stage.fixed
        assert stage.free == left
    assert found.free == left == len(found.restriction.free)
    assert [stage.unsatisfied for stage in found.stages] == sorted(
        (stage.unsatisfied for stage in found.stages), reverse=True
    )
    assert found.stages[-1].unsatisfied == 0
    assert found.stages[1].steps == found.stages[1].fixed


def test_the_result_is_within_the_base_restriction() -> None:
    model = RandomTables(30, (1,))
    base = fixed(two_symbols(model), {3: 1, 4: 0, 17: 1})
    found = faithful(model, base, 4, Fraction(1, 3))
    assert all(
        set(left) <= set(was) for left, was in zip(found.restriction.allowed, base.allowed, strict=True)
    )
    assert found.restriction.allowed[-1] == (2,)


def test_the_same_seed_gives_the_same_restriction() -> None:
    model = RandomTables(50, (1,))
    runs = [faithful(model, two_symbols(model), 6, Fraction(1, 4), seed=seed) for seed in (5, 5, 6)]
    assert runs[0] == runs[1] != runs[2]


def test_giving_up_is_reported() -> None:
    model = RandomTables(50, (1,))
    keys = Keys(bottom_of(own_layer(model, two_symbols(model))))
    bits, stages = reduced(
        keys, bits_of(two_symbols(model)), 1, Fraction(1, 100), threshold=100, most_resampled=3
    )
    assert stages[-1].unsatisfied == len(keys.unsatisfied(bits, 1)) > 0


@given(st.integers(3, 9), st.integers(1, 3), st.integers(1, 4), st.integers(0, 10**6))
def test_activations_with_new_inputs_are_found_rank_by_rank(n: int, c: int, k: int, seed: int) -> None:
    bottom = random_bottom(n, min(c, n), levels=5, seed=seed)
    bits = random_bits_of(n, seed)
    keys = Keys(bottom)
    tuples = keys.unsatisfied(bits, bottom.most_inputs * k)
    if not len(tuples):
        return
    high = without_own(keys, tuples, keys.ranges(bits, tuples)[1])
    found = keys.position(first_new(keys, bits, high, k))
    for number, positions in zip(tuples, found, strict=True):
        head, row = map(int, divmod(number, len(bottom.owner)))
        assert positions.tolist() == new_by_rank(bottom, bits, head, row, k)


def new_by_rank(bottom: Bottom, bits: np.ndarray, head: int, row: int, k: int) -> list[int]:
    """The first k activations with a free input that none above them has; by the supplement's (9)."""
    possible = bottom.possible(bits)
    scores = bottom.scores[head, row]
    others = [j for j in range(bottom.size) if j != bottom.owner[row]]
    best = {j: max(int(scores[r]) for r in np.flatnonzero((bottom.owner == j) & possible)) for j in others}
    seen: set[int] = set()
    new = []
    for j in sorted(others, key=lambda j: (-best[j], j)):
        inputs = {int(x) for x in bottom.inputs[j] if x >= 0 and bits[x] == FREE}
        if inputs - seen:
            new.append(j)
        seen |= inputs
    return new[:k]


@given(st.integers(4, 16), st.integers(1, 2), st.integers(1, 2), st.integers(0, 12), st.integers(0, 10**6))
def test_stage_2_ends_when_no_activation_has_many_dependents(
    n: int, c: int, k: int, threshold: int, seed: int
) -> None:
    bottom = random_bottom(n, c, heads=2, levels=9, seed=seed)
    keys = Keys(bottom)
    bits = np.full(n, FREE, dtype=np.int8)
    before = len(keys.unsatisfied(bits, c * k))
    found, rounds = greedily_fixed(keys, bits, k, threshold)
    assert (found == FREE).sum() >= n - c * rounds
    # Each round satisfies (or makes impossible) one in 2^c of the dependent tuples, of which there were many.
    after = keys.unsatisfied(found, c * k)
    assert rounds * (threshold + 1) <= 2**c * (before - len(after))
    if len(after):
        high = without_own(keys, after, keys.ranges(found, after)[1])
        loads = (high >= first_new(keys, found, high, k)[:, -1:]).sum(axis=0)
        assert loads.max() <= threshold


def test_inputs_that_feed_many_activations_are_fixed_first() -> None:
    n = 20
    inputs = np.stack([np.arange(n), np.zeros(n, dtype=int)], axis=1)
    inputs[0, 1] = -1
    owner = np.array([0, 0, *np.repeat(np.arange(1, n), 4)])
    bits = np.array(
        [[0, -1], [1, -1], *[[a, b] for _ in range(1, n) for a in (0, 1) for b in (0, 1)]], np.int8
    )
    bottom = Bottom(np.zeros((1, len(owner), len(owner)), dtype=int), owner, inputs, bits)
    found = much_read_fixed(bottom, np.full(n, FREE, dtype=np.int8), Fraction(1, 4))
    # Input 0 feeds 20 > c / (eta C) = 8 activations, all others feed one.
    assert np.flatnonzero(found != FREE).tolist() == [0]


@pytest.mark.sweep(0)
@pytest.mark.parametrize("seed", range(3))
def test_activations_of_two_inputs_each(seed: int) -> None:
    bottom = random_bottom(60, 2, levels=1000, seed=seed)
    keys = Keys(bottom)
    bits, stages = reduced(keys, np.full(60, FREE, dtype=np.int8), 6, Fraction(3, 5), seed=seed)
    assert not len(keys.unsatisfied(bits, 12))
    assert stages[0].unsatisfied > 0


def test_bits_are_drawn_at_the_rate() -> None:
    bits = np.full(30_000, FREE, dtype=np.int8)
    random_bits(bits, Fraction(1, 3), np.random.default_rng(0), bits == FREE)
    shares = [int((bits == bit).sum()) for bit in (0, 1, FREE)]
    assert [
        abs(share - wanted) < 300 for share, wanted in zip(shares, (5000, 5000, 20_000), strict=True)
    ] == [True] * 3


@pytest.mark.parametrize(("c", "k"), [(1, 6), (2, 8)])
def test_bad_events_are_as_unlikely_as_the_supplement_says(c: int, k: int, few: Few) -> None:
    """Lemmas 21, 22: P(X_0) <= exp(-delta^2 q F / 3) and P(X) <= (1 - (q/2)^c)^(k eta C / c^2), sampled."""
    n, q, eta, delta, draws = 60, Fraction(1, 3), Fraction(1, 4), 0.3, 4000
    bottom = random_bottom(n, c, levels=1000, seed=c)
    keys = Keys(bottom)
    bits = much_read_fixed(bottom, np.full(n, FREE, dtype=np.int8), eta)
    free = int((bits == FREE).sum())
    words = np.tile(bits, (draws, 1))
    random_bits(words, q, np.random.default_rng(0), words == FREE)
    fixed_inputs = (words != FREE).sum(axis=1) - (n - free)
    bound = math.exp(-(delta**2) * float(q) * free / 3)
    share = float((fixed_inputs > (1 + delta) * float(q) * free).mean())
    assert 0.01 < share <= bound + 3 * math.sqrt(bound * (1 - bound) / draws)
    # Independent activations can be chosen among the k: fewer if inputs feed several (Stage 1 saw to that).
    bound = float(1 - (q / 2) ** c) ** float(k * eta * Fraction(free, n) / c**2)
    tuples = keys.unsatisfied(bits, c * k)
    assert len(tuples) > 20
    seen = []
    for number in few(tuples[:40].tolist(), 6):
        head, row = divmod(number, len(bottom.owner))
        missed = np.ones(draws, dtype=bool)
        for j in new_by_rank(bottom, bits, head, row, k):
            rows = np.flatnonzero((bottom.owner == j) & bottom.possible(bits))
            scores = bottom.scores[head, row, rows]
            inputs = bottom.inputs[j][bottom.inputs[j] >= 0]
            best = bottom.bits[rows[scores.argmax()]][: len(inputs)]
            missed &= (words[:, inputs] != best).any(axis=1)
        seen.append(float(missed.mean()))
        assert seen[-1] <= bound + 3 * math.sqrt(bound * (1 - bound) / draws)
    if c == 1:
        # Here all k are independent: the probability is known, and far below the bound.
        exact = float(1 - q / 2) ** k
        assert all(abs(share - exact) <= 4 * math.sqrt(exact * (1 - exact) / draws) for share in seen)


@pytest.mark.parametrize(("k", "rate"), [(0, Fraction(1, 2)), (1, Fraction(0)), (1, Fraction(1))])
def test_senseless_parameters_are_refused(k: int, rate: Fraction) -> None:
    model = RandomTables(4, (1,))
    with pytest.raises(ValueError, match="at least 1"):
        faithful(model, Restriction(((0, 1),) * 3 + ((2,),)), k, rate)


@pytest.mark.slow
def test_a_long_layer() -> None:
    model = RandomTables(1000, (1,))
    found = faithful(model, two_symbols(model), 16, Fraction(1, 20), threshold=8)
    assert found.holds
    assert found.free > 650
