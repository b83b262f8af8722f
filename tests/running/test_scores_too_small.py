"""Heads whose visible scores are less than any number of the format see something: no number."""

from __future__ import annotations

from dataclasses import replace

import pytest
import torch

from attemper.exact.closed_forms import ONE
from attemper.languages.words import Alphabet
from attemper.networks.layers import (
    Foreign,
    HardWeighting,
    Layer,
    Masking,
    Network,
    Softmax,
    Weighting,
)
from attemper.running.dense import DenseTransformer
from tests.support.mutants.attacks import form, head, network_of

WORD = torch.tensor([[0, 0, 0]])
BLIND = {Masking.STRICT_FUTURE: 0, Masking.STRICT_PAST: 2}
"""The position of WORD to which a strict mask shows nothing."""
WEIGHTINGS: tuple[Weighting, ...] = (Softmax(ONE), *HardWeighting)


def _mean_of_ones(masking: Masking, weighting: Weighting, size: int) -> Network:
    """One head, whose scores are all -size^2 and whose values are all 1, so that its mean is 1."""
    one = head(Foreign(), ONE, [(form((0, size)), form((0, -size)))], [(form((0, 1)), 1)])
    layer = Layer((replace(one, masking=masking, weighting=weighting),), (), ())
    return network_of(2, [[]], {0: ONE}, [layer], 1)


@pytest.mark.parametrize("engine", ["matrix", "fused"])
@pytest.mark.parametrize("weighting", WEIGHTINGS, ids=str)
@pytest.mark.parametrize("masking", Masking)
def test_what_sees_no_number_is_not_taken_for_what_sees_nothing(
    masking: Masking, weighting: Weighting, engine: str
) -> None:
    for size, is_number in ((2**60, True), (2**70, False)):
        model = DenseTransformer(_mean_of_ones(masking, weighting, size), torch.float32)
        means = model(WORD, engine=engine)[0]
        sees = torch.tensor([place != BLIND.get(masking) for place in range(3)])
        assert (means[~sees] == 0).all() or not is_number
        assert (means[sees] == 1).all() if is_number else means[sees].isnan().all()


@pytest.mark.parametrize("masking", [Masking.FUTURE, Masking.NONE])
def test_one_word_without_numbers_leaves_the_others_of_its_batch(masking: Masking) -> None:
    network = _mean_of_ones(masking, Softmax(ONE), 2**70)
    # The symbol b makes the coordinate 0 everywhere: scores and values are 0.
    both = replace(network, alphabet=Alphabet(("a", "b")), embedding=((), form((0, -1))))
    means = DenseTransformer(both, torch.float32)(torch.tensor([[1, 1], [0, 0]]), engine="fused")
    assert (means[0] == 0).all()
    assert means[1].isnan().all()
