"""The models that are trained: tokens [batch, position] to what is said at each position, [.., output].

All of them are read after each symbol: what stands at a position depends on the symbols up to there alone,
but for a transformer that is not causal. `mask` [batch, position] says which positions are no padding, which
stands behind the words.
"""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from typing import assert_never

import torch
from torch import Tensor, nn

from attemper.errors import OptionError
from attemper.training.settings import ModelSettings, Settings, SourceTask
from attemper.training.transformer import Transformer


class Lstm(nn.Module):
    """One layer of an LSTM."""

    def __init__(self, settings: ModelSettings, tokens: int, outputs: int) -> None:
        super().__init__()
        self.embedding = nn.Embedding(tokens, settings.width)
        self.recurrent = nn.LSTM(settings.width, settings.width, batch_first=True)
        self.readout = nn.Linear(settings.width, outputs)

    def forward(self, tokens: Tensor, mask: Tensor | None = None) -> Tensor:
        found: Tensor = self.readout(self.recurrent(self.embedding(tokens))[0])
        return found


class Convolution(nn.Module):
    """A convolution over `window` symbols, and the mean of what it found up to each position.

    With f = ReLU(convolution), the last symbol moves the mean of n-k+1 windows by at most k diam/(n-k+1), as
    does every other; before the first symbol stand no windows but for zeros, which are left out of the mean.
    """

    def __init__(self, settings: ModelSettings, tokens: int, outputs: int) -> None:
        super().__init__()
        self.window = settings.window
        _require_few(tokens**settings.window, settings)
        self.embedding = nn.Embedding(tokens, settings.width)
        self.convolution = nn.Conv1d(settings.width, settings.width, settings.window)
        self.readout = nn.Linear(settings.width, outputs)

    def forward(self, tokens: Tensor, mask: Tensor | None = None) -> Tensor:
        found: Tensor = self.readout(self.pooled(tokens))
        return found

    def pooled(self, tokens: Tensor) -> Tensor:
        """The mean [batch, position, width] of the windows up to each position; 0 where there is none yet."""
        x = self.embedding(tokens).transpose(1, 2)
        if x.shape[-1] < self.window:
            return torch.zeros_like(x).transpose(1, 2)
        found = self.convolution(x).relu().transpose(1, 2)
        sums = nn.functional.pad(found.cumsum(dim=1), (0, 0, self.window - 1, 0))
        counts = (torch.arange(1, sums.shape[1] + 1) - self.window + 1).clamp(min=1)
        pooled: Tensor = sums / counts[:, None].to(sums.dtype)
        return pooled

    @torch.no_grad()
    def influence(self, n: int, output: int, others: Sequence[int]) -> float:
        """The most that one of n tokens can change ln(P(output) / P(one of the others)).

        min(k, n-k+1) / (n-k+1) times the greatest difference of two windows: no more windows see one token,
        of n-k+1 whose mean is read. The log-odds z - ln sum_j e^(z_j) move by at most the greatest move of a
        z - z_j. All windows are tried, tokens^k of them. With fewer tokens than k nothing is read: 0.
        """
        k, tokens = self.window, self.embedding.num_embeddings
        windows = torch.cartesian_prod(*[torch.arange(tokens)] * k).reshape(-1, k)
        found = self.convolution(self.embedding(windows).transpose(1, 2)).relu()[..., 0]
        read = found @ self.readout.weight.T
        against = read[:, [output]] - read[:, list(others)]
        diameter = float((against.amax(dim=0) - against.amin(dim=0)).max())
        count = n - k + 1
        return min(k, count) / count * diameter if count > 0 else 0.0


class LastSymbols(nn.Module):
    """A table on the last `window` symbols: the k-gram levels of docs/sources.md are its best losses."""

    def __init__(self, settings: ModelSettings, tokens: int, outputs: int) -> None:
        super().__init__()
        self.window, self.base = settings.window, tokens + 1
        _require_few(self.base**settings.window, settings)
        self.table = nn.Embedding(self.base**settings.window, outputs)
        # Nothing is known before the first step: all outputs are as likely.
        nn.init.zeros_(self.table.weight)

    def forward(self, tokens: Tensor, mask: Tensor | None = None) -> Tensor:
        # The number 0 stands for what is before the word.
        padded = nn.functional.pad(tokens + 1, (self.window - 1, 0))
        powers = self.base ** torch.arange(self.window)
        found: Tensor = self.table((padded.unfold(1, self.window, 1) * powers).sum(dim=-1))
        return found


MOST_WINDOWS = 10**6
"""A window has so many contents at most."""


def _require_few(windows: int, settings: ModelSettings) -> None:
    if windows > MOST_WINDOWS:
        raise OptionError(
            f"model.window = {settings.window}: a window has more than {MOST_WINDOWS:,} contents; "
            "choose a smaller one"
        )


class ParityRnn(nn.Module):
    """h <- |h - x| = ReLU(h - x) + ReLU(x - h): the parity of the 1s, exactly, at every length.

    Two ReLU units of PyTorch's own RNN, with nothing to train; tokens are 0, 1 and the start, which counts as
    0. The read-out has the logarithms of the source's law in either state; where END cannot come its
    log-odds are -`IMPOSSIBLE`, which softmax makes 0.
    """

    IMPOSSIBLE = 1024

    def __init__(self, p: float, *, odd: bool) -> None:
        super().__init__()
        self.embedding = nn.Embedding(3, 1)
        self.recurrent = nn.RNN(1, 2, nonlinearity="relu", batch_first=True, bias=False)
        self.readout = nn.Linear(2, 3)
        self.double()
        accepting = torch.tensor([(1 - p) / 2, (1 - p) / 2, p], dtype=torch.float64).log()
        other = torch.tensor([0.5, 0.5, 1.0], dtype=torch.float64).log()
        other[2] -= self.IMPOSSIBLE
        even, uneven = (other, accepting) if odd else (accepting, other)
        with torch.no_grad():
            self.embedding.weight.copy_(torch.tensor([[0.0], [1.0], [0.0]]))
            weights = {"weight_ih_l0": [[-1.0], [1.0]], "weight_hh_l0": [[1.0, 1.0], [-1.0, -1.0]]}
            self.recurrent.load_state_dict({name: torch.tensor(rows) for name, rows in weights.items()})
            self.readout.bias.copy_(even)
            self.readout.weight.copy_((uneven - even)[:, None].expand(3, 2))
        self.requires_grad_(requires_grad=False)

    def forward(self, tokens: Tensor, mask: Tensor | None = None) -> Tensor:
        found: Tensor = self.readout(self.recurrent(self.embedding(tokens))[0])
        return found

    def parity(self, tokens: Tensor) -> Tensor:
        """h after each token, [batch, position]."""
        found: Tensor = self.recurrent(self.embedding(tokens))[0].sum(dim=-1)
        return found


def model_of(settings: Settings, tokens: int, outputs: int) -> nn.Module:
    """The model before any step, its weights drawn by `seeds.init`."""
    asked = settings.model
    with torch.random.fork_rng(devices=()):
        torch.manual_seed(settings.seeds.init)
        match asked.kind:
            case "transformer":
                return Transformer(asked, tokens, outputs)
            case "lstm":
                return Lstm(asked, tokens, outputs)
            case "convolution":
                return Convolution(asked, tokens, outputs)
            case "table":
                return LastSymbols(asked, tokens, outputs)
            case "parity-rnn":
                assert isinstance(settings.task, SourceTask)
                return ParityRnn(float(Fraction(settings.task.p)), odd=settings.task.name == "parity-odd")
            case _:
                assert_never(asked.kind)


def parameter_count(model: nn.Module) -> int:
    """How many numbers are trained.

    >>> parameter_count(Transformer(ModelSettings(), tokens=3, outputs=3))
    17283
    """
    return sum(own.numel() for own in model.parameters() if own.requires_grad)
