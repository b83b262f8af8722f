"""No layer of unique hard attention knows more than F_k, and one may know all of it: by other code."""

from __future__ import annotations

import random
from itertools import chain, combinations, product

import numpy as np
import numpy.typing as npt
import pytest

from tests.support.oracles.layered import Hashed, named_pairs, places, value_at_end
from tests.support.slowly import mostly_slow

Matrix = npt.NDArray[np.int64]

CASES = ((1, 1), (2, 1), (1, 2), (2, 2))
"""k and the period."""


def alike(layers: int, period: int, longest: int, wanted: int, seed: int) -> list[tuple[str, str]]:
    """Pairs of different words with equal F_k, drawn from all words."""
    classes: dict[object, list[str]] = {}
    for word in chain.from_iterable(product("ab", repeat=n) for n in range(1, longest + 1)):
        classes.setdefault(value_at_end(word, layers, places(1, period)), []).append("".join(word))
    several = [own for own in classes.values() if len(own) > 1]
    rng = random.Random(seed)
    found = []
    for _ in range(wanted):
        first, second = rng.sample(rng.choice(several), 2)
        found.append((first, second))
    return found


def require_one_answer(layers: int, period: int, longest: int, wanted: int) -> None:
    for number, (first, second) in enumerate(alike(layers, period, longest, wanted, seed=layers + period)):
        network = Hashed(number, layers, own_if_blind=number % 2 == 1)
        place = places(1, period)
        if number % 3 == 2:  # read at an end marker, after a first one: it helps no network
            first, second = f"^{first}$", f"^{second}$"
            assert value_at_end(first, layers) == value_at_end(second, layers) or period > 1
        assert network.answer(first, place) == network.answer(second, place), (number, first, second)


@pytest.mark.parametrize(("layers", "period"), CASES)
def test_networks_answer_alike_where_f_k_is_equal(layers: int, period: int) -> None:
    require_one_answer(layers, period, longest=7, wanted=60)


@pytest.mark.slow
@pytest.mark.parametrize(("layers", "period"), [*CASES, (3, 1)])
def test_ten_thousand_networks_answer_alike_where_f_k_is_equal(layers: int, period: int) -> None:
    require_one_answer(layers, period, longest=9, wanted=2_000)


@pytest.mark.parametrize(("layers", "first", "second"), mostly_slow(named_pairs(), named_pairs()[:1]))
def test_named_pairs_get_one_answer(layers: int, first: str, second: str) -> None:
    assert value_at_end(first, layers) == value_at_end(second, layers)
    for seed in range(600):
        network = Hashed(seed, layers, own_if_blind=seed % 2 == 1)
        assert network.answer(first) == network.answer(second)


@pytest.mark.parametrize(
    ("layers", "first", "second", "least"), [(1, "ab", "aab", 60), (2, "aabb", "aaabb", 60)]
)
def test_averages_over_several_maxima_are_outside(layers: int, first: str, second: str, least: int) -> None:
    apart = sum(
        network.answer(first) != network.answer(second)
        for network in (Hashed(seed, layers, averaging=True) for seed in range(300))
    )
    assert apart >= least
    assert apart < 300


def test_more_layers_tell_named_pairs_apart() -> None:
    for layers, first, second in named_pairs()[:2]:
        apart = [
            Hashed(seed, layers + 1).answer(first) != Hashed(seed, layers + 1).answer(second)
            for seed in range(80)
        ]
        assert any(apart)


# The converse, with matrices ------------------------------------------------------------------------


def heads(activations: Matrix, sets: list[tuple[int, ...]]) -> Matrix:
    """Own value, and per set of values and side what a head that sees j < i picks: zeros at the first."""
    count, width = activations.shape
    parts = [activations]
    for own in sets:
        key = np.zeros(width, dtype=np.int64)
        key[list(own)] = 1
        scores = activations @ key
        for side in (0, -1):
            picked = np.zeros((count, width), dtype=np.int64)
            for i in range(1, count):
                best = np.flatnonzero(scores[:i] == scores[:i].max())
                picked[i] = activations[best[side]]
            parts.append(picked)
    return np.concatenate(parts, axis=1)


def singles_and_pairs(width: int) -> list[tuple[int, ...]]:
    return [own for size in (1, 2) for own in combinations(range(width), size)]


@pytest.mark.parametrize(("longest", "classes"), mostly_slow([(6, 78), (8, 194)], [(6, 78)]))
def test_bilinear_heads_and_relu_know_all_of_f_1_and_f_2(longest: int, classes: int) -> None:
    words = ["".join(word) for n in range(1, longest + 1) for word in product("ab", repeat=n)]
    letters = {word: np.array([[c == "a", c == "b"] for c in word], dtype=np.int64) for word in words}
    first = {word: heads(letters[word], singles_and_pairs(2)) for word in words}
    rows = sorted({tuple(row) for own in first.values() for row in own.tolist()})
    tuples = np.array(rows)
    weights, bias = 2 * tuples - 1, 1 - tuples.sum(axis=1)
    sets = singles_and_pairs(len(rows))
    one: dict[object, object] = {}
    two: dict[object, object] = {}
    for word in words:
        units = np.maximum(first[word] @ weights.T + bias, 0)
        assert (units.sum(axis=1) == 1).all()
        value = value_at_end(word, 1)
        assert one.setdefault(value, int(units[-1].argmax())) == int(units[-1].argmax())
        last = heads(units, sets)[-1].tobytes()
        assert two.setdefault(value_at_end(word, 2), last) == last
    assert len(one) == len(set(one.values())) == 14
    assert len(two) == len(set(two.values())) == classes
    assert len(words) == 2 ** (longest + 1) - 2
