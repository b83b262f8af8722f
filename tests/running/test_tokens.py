"""What a module is handed: tokens and lengths that mean nothing are refused, and named."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
import torch

import attemper
from attemper.errors import WordError
from attemper.running.dense import DenseTransformer

INTEGERS = (torch.int64, torch.int32, torch.int16, torch.int8, torch.uint8)


@pytest.fixture(scope="module")
def module() -> DenseTransformer:
    return attemper.compile("#[a] <= #[b]", "abc", at="last").dense()


def ways(module: DenseTransformer) -> list[Callable[..., Any]]:
    """Everything that takes tokens and lengths."""
    return [
        module,
        module.run_with_cache,
        module.run_with_margin,
        lambda *given: module.run_with_hooks(*given, on={}),
    ]


TOKENS: list[tuple[Any, str]] = [
    (torch.tensor([[0, -1]]), "the token -1 of word 0, position 2 does not exist: .* the tokens 0 to 2"),
    (torch.tensor([[0, 1], [3, 0]]), "the token 3 of word 1, position 1 does not exist"),
    (torch.tensor([[0, 255]], dtype=torch.uint8), "the token 255 of word 0, position 2"),
    (torch.tensor([0, 1]), r"tokens must be \[batch, position\], but have the shape \[2\]"),
    (torch.tensor(0), r"the shape \[\]"),
    (torch.tensor([[[0]]]), r"the shape \[1, 1, 1\]"),
    (torch.tensor([[0.0, 1.0]]), "tokens must be integers, not torch.float32"),
    (torch.tensor([[True, False]]), "tokens must be integers, not torch.bool"),
    (torch.tensor([[1j]]), "tokens must be integers, not torch.complex64"),
    (torch.zeros((2, 0), dtype=torch.int64), "tokens have no positions"),
    ([[0, 1]], r"tokens must be a tensor, not a list: for example torch.tensor\(\[\[0, 1, 1\]\]\)"),
    (np.array([[0, 1]]), "tokens must be a tensor, not a ndarray"),
    ("ab", "tokens must be a tensor, not a str"),
]

LENGTHS: list[tuple[Any, str]] = [
    (torch.tensor([0, 1]), "the length 0 of word 0 does not exist: words in tokens of width 2 have lengths"),
    (torch.tensor([2, -1]), "the length -1 of word 1 does not exist"),
    (torch.tensor([2, 3]), "the length 3 of word 1 does not exist: .* lengths from 1 to 2"),
    (torch.tensor([2]), "there are 1 lengths for 2 words: give one for each word"),
    (torch.tensor([[2, 2]]), r"lengths must be \[batch\], but have the shape \[1, 2\]"),
    (torch.tensor([2.0, 2.0]), "lengths must be integers, not torch.float32"),
    ([2, 2], "lengths must be a tensor, not a list"),
    (2, "lengths must be a tensor, not a int"),
]


@pytest.mark.parametrize(("tokens", "said"), TOKENS)
def test_bad_tokens_are_refused(tokens: Any, said: str, module: DenseTransformer) -> None:
    for run in ways(module):
        with pytest.raises(WordError, match=said):
            run(tokens)


@pytest.mark.parametrize(("lengths", "said"), LENGTHS)
def test_bad_lengths_are_refused(lengths: Any, said: str, module: DenseTransformer) -> None:
    for run in ways(module):
        with pytest.raises(WordError, match=said):
            run(torch.tensor([[0, 1], [2, 0]]), lengths)


@pytest.mark.parametrize("dtype", INTEGERS)
def test_every_kind_of_integer_is_a_token(dtype: torch.dtype, module: DenseTransformer) -> None:
    """An index of uint8 would be taken for a mask, were it not made int64."""
    tokens, lengths = torch.tensor([[1, 0, 0], [1, 2, 0]]), torch.tensor([3, 2])
    expected = module(tokens, lengths)
    assert torch.equal(module(tokens.to(dtype), lengths.to(dtype)), expected)
    assert expected.round()[0].tolist() == [0, 0, 0]
    assert expected.round()[1, :2].tolist() == [1, 1]


def test_no_words_at_all_give_no_outputs(module: DenseTransformer) -> None:
    none = torch.zeros((0, 4), dtype=torch.int64)
    assert module(none).shape == (0, 4)
    assert module(torch.tensor([[1, 0, 0, 0]])).round().tolist() == [[0, 0, 0, 0]]


def test_an_unknown_hook_point_is_named(module: DenseTransformer) -> None:
    tokens = torch.tensor([[0]])
    for name in ("blocks.9.hook_resid_post", "blocks.0.attn", "hook_nothing", ""):
        with pytest.raises(KeyError, match="no hook point is called"):
            module.run_with_cache(tokens, names=[name])
        with pytest.raises(KeyError, match="no hook point is called"):
            module.run_with_hooks(tokens, on={name: torch.zeros_like})
