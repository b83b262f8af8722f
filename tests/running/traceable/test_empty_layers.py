"""Layers without hidden units, or without heads, run and are traced as `DenseTransformer` runs them."""

from __future__ import annotations

from math import inf

import pytest
import torch

from tests.support.drawn.empty_layers import BUILDS, subject_of
from tests.support.drawn.exported import difference, padded, rounding_of_means, words_for

WORDS = (4, (7, 60))


@pytest.mark.parametrize("dtype", [torch.float64, torch.float32], ids=str)
@pytest.mark.parametrize("name", BUILDS)
def test_outputs_and_margins_are_those_of_the_dense_module(name: str, dtype: torch.dtype) -> None:
    subject = subject_of(name)
    found = difference(subject.network, subject.traceable(dtype), dtype, words_for(subject.network, *WORDS))
    assert found.outputs <= rounding_of_means(60, torch.finfo(dtype).eps / 2)
    assert found.margins == 0


def test_a_share_is_the_share() -> None:
    """1, 1/2, 2/3, and b's added by a layer's hidden unit; without heads nothing is put out."""
    tokens, mask = torch.tensor([[0, 1, 0]]), torch.tensor([[1, 1, 1]])
    expected = {
        "no units": [1, 1 / 2, 2 / 3],
        "no heads in the second layer": [1, 3 / 2, 2 / 3],
        "nothing between": [1, 3 / 2, 2 / 3],
        "nothing at all": [0, 0, 0],
    }
    for name, shares in expected.items():
        outputs, margins = subject_of(name).traceable(torch.float64)(tokens, mask)
        assert outputs.tolist() == [pytest.approx(shares, abs=1e-15)]
        assert margins.tolist() == [inf]


@pytest.mark.sweep(0)
@pytest.mark.parametrize("name", BUILDS)
def test_one_program_is_traced_for_all_batches_and_lengths(name: str) -> None:
    subject = subject_of(name)
    module, network = subject.traceable(torch.float64), subject.network
    batch, position = torch.export.Dim("batch"), torch.export.Dim("position")
    example = padded(network, [("a", "b", "a")] * 2, left=False)
    shapes = ({0: batch, 1: position},) * 2
    traced = torch.export.export(module, example, dynamic_shapes=shapes, strict=False).module()
    for words in ([("a",)], [("b", "a") * 9, ("a",), ("b",)]):
        for ours, again in zip(
            module(*padded(network, words, left=True)),
            traced(*padded(network, words, left=True)),
            strict=True,
        ):
            assert torch.equal(ours, again)
