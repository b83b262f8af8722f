"""How much one token moves an averaged convolution: never more than its bound, and as 1/n."""

from __future__ import annotations

import pytest
import torch
from torch import Tensor

from attemper.models.slopes import slope
from attemper.training.models import Convolution
from attemper.training.settings import ModelSettings

TOKENS, OUTPUTS = 3, 4
ODDS = [(3, (0, 1, 2)), (1, (3,)), (0, (2,))]


def convolution(window: int, seed: int = 0) -> Convolution:
    torch.manual_seed(seed)
    return Convolution(ModelSettings(kind="convolution", width=6, window=window), TOKENS, OUTPUTS).double()


def odds(model: Convolution, words: Tensor, output: int, others: tuple[int, ...]) -> Tensor:
    said = model(words)[:, -1]
    return said[:, output] - said[:, list(others)].logsumexp(dim=-1)


def largest(model: Convolution, n: int, output: int, others: tuple[int, ...]) -> float:
    """The largest change under one exchange, over all words of n tokens."""
    words = torch.cartesian_prod(*[torch.arange(TOKENS)] * n).reshape(-1, n)
    found = odds(model, words, output, others).reshape([TOKENS] * n)
    return max(float((found.amax(dim=place) - found.amin(dim=place)).max()) for place in range(n))


@pytest.mark.parametrize("window", [1, 2, 3, 5])
@torch.no_grad()
def test_no_exchange_moves_more_than_the_bound(window: int) -> None:
    for seed in range(2):
        model = convolution(window, seed)
        for n in range(1, 8):
            for output, others in ODDS:
                bound = model.influence(n, output, others)
                assert largest(model, n, output, others) <= bound * (1 + 1e-12)
                if n < window:
                    assert bound == 0


@torch.no_grad()
def test_with_a_window_of_one_token_the_bound_is_met() -> None:
    model = convolution(1)
    for n in (1, 2, 5):
        assert largest(model, n, 1, (3,)) == pytest.approx(model.influence(n, 1, (3,)), rel=1e-12)


@torch.no_grad()
def test_the_mean_is_that_of_the_windows_up_to_each_position() -> None:
    for window in (1, 3):
        model = convolution(window)
        tokens = torch.randint(TOKENS, (2, 7), generator=torch.Generator().manual_seed(0))
        pooled = model.pooled(tokens)
        assert pooled.shape == (2, 7, 6)
        for row, last in ((row, last) for row in range(2) for last in range(7)):
            windows = [tokens[row, at : at + window] for at in range(last + 2 - window)]
            expected = torch.zeros(6, dtype=torch.float64)
            for own in windows:
                x = model.embedding(own)
                expected += (
                    torch.einsum("ock,kc->o", model.convolution.weight, x) + model.convolution.bias
                ).clamp(min=0) / len(windows)
            assert torch.allclose(pooled[row, last], expected, rtol=0, atol=1e-12)


@pytest.mark.parametrize("window", [2, 3])
@torch.no_grad()
def test_at_fixed_frequencies_the_change_falls_as_one_over_n(window: int) -> None:
    model, points = convolution(window), []
    for n in (64, 128, 256, 512, 1024, 2048, 4096):
        word = torch.tensor([0, 1, 1, 2]).repeat(n // 4)[None]
        other = word.clone()
        other[0, n // 2] = 2
        change = odds(model, word, *ODDS[0]) - odds(model, other, *ODDS[0])
        assert 0 < abs(float(change)) <= model.influence(n, *ODDS[0])
        points.append((n, abs(float(change))))
    found = slope(points)
    assert found is not None
    assert abs(found + 1) < 0.02
    scaled = [n * change for n, change in points]
    assert max(scaled) / min(scaled) < 1.1
