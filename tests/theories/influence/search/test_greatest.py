"""The greatest change that is found among words of many symbols: of words that there are, and nearly all."""

from __future__ import annotations

from itertools import combinations

import numpy as np
import pytest
import torch
from numpy.typing import NDArray
from torch import nn

from attemper.models.soft.reading import read_weights
from attemper.models.soft.soft import outputs_of
from attemper.models.soft.weights import Encoder
from attemper.theories.influence.ask.bounding import BoundRequest, bound_and_check, greatest_change
from attemper.theories.influence.certificate import FrequencyBound
from attemper.theories.influence.search.enumeration import compositions
from attemper.theories.influence.search.greatest import greatest_found
from tests.support.drawn.encoders import stack

LETTERS = ("a", "b", "c", "$")


def random_of_three(seed: int, norm: str = "none") -> Encoder:
    made, _, readout = stack(seed, layers=1, width=4, heads=1, norm=norm)
    torch.manual_seed(seed + 1)
    return read_weights(made, nn.Embedding(4, 4).double(), readout, LETTERS, "$")


def by_words(encoder: Encoder, length: int) -> float:
    """Over all histograms, each by one word of it, with every exchange."""
    rest = np.concatenate(list(compositions(length - 2, 3)))
    outputs = [_outputs(encoder, rest + np.eye(3, dtype=np.int64)[a]) for a in range(3)]
    return max(float(np.abs(one - other).max()) for one, other in combinations(outputs, 2))


def _outputs(encoder: Encoder, counts: NDArray[np.int64]) -> NDArray[np.float64]:
    words = np.array([[*np.repeat(np.arange(3), row), 3] for row in counts])
    return outputs_of(encoder, words)


@pytest.mark.parametrize("length", [2, 3, 12])
def test_what_is_found_is_the_greatest_where_all_can_be_looked_at(length: int) -> None:
    for seed in range(3):
        encoder = random_of_three(seed)
        found, most = greatest_change(encoder, length, None), by_words(encoder, length)
        assert found <= most * (1 + 1e-9)
        assert found >= 0.999 * most


def test_a_peak_between_the_places_of_the_grid_is_climbed_to() -> None:
    """Of 20,000 symbols, which have 2 * 10^8 histograms."""

    def peak(counts: NDArray[np.int64]) -> NDArray[np.float64]:
        return np.asarray(np.exp(-np.abs(counts - [1234, 17000, 1766]).sum(axis=1, keepdims=True) / 1000))

    assert greatest_found(peak, 3, 20_000) == pytest.approx(1 - np.exp(-0.002))


def test_the_search_ends_near_what_was_found() -> None:
    found = bound_and_check(random_of_three(3), BoundRequest(seconds=60))
    assert found.bound is not None
    assert not found.is_of_all_words
    measured = max(change for _, change in found.measured)
    assert isinstance(found.bound.bound, FrequencyBound)
    constant = float(found.bound.bound.constant)
    assert 0 < measured <= constant <= 1.051 * measured


def test_a_single_symbol_has_nothing_beside_it() -> None:
    assert greatest_found(lambda counts: counts.astype(float), 3, 1) == 1
