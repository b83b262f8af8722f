"""Running a network on many words of any lengths, in batches that fit in memory."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import torch
from torch import Tensor

from attemper.languages.words import Alphabet, Word
from attemper.networks.layers import hidden_width
from attemper.running.dense import DenseTransformer
from attemper.running.engines.names import Engine
from attemper.running.runs import Run, empty_run, run_of

NUMBERS_PER_BATCH = 1 << 23
"""How many activations of the widest layer a batch may have (64 MiB in float64)."""


def runs_of(model: DenseTransformer, words: Sequence[Word], engine: Engine | None = None) -> Iterator[Run]:
    """Run words, in their order; lengths may differ, and the empty word has no positions.

    `engine`: None is the module's own.
    """
    runs = run_words(model, [word for word in words if word], engine)
    for word in words:
        yield next(runs) if word else empty_run(model.network)


def run_words(model: DenseTransformer, words: Sequence[Word], engine: Engine | None = None) -> Iterator[Run]:
    """Run non-empty words, in their order; lengths may differ."""
    widest = max(len(model.network.coordinates), hidden_width(model.network), 64)
    start = 0
    while start < len(words):
        end = _batch_end(words, start, NUMBERS_PER_BATCH // widest)
        batch = words[start:end]
        with torch.no_grad():
            values, margins = model.run_with_margin(*tokens_of(model.network.alphabet, batch), engine)
        outputs = values.reshape(*values.shape[:2], -1).transpose(1, 2).tolist()
        for word, rows, margin in zip(batch, outputs, margins.tolist(), strict=True):
            yield run_of(model.network, word, [row[: len(word)] for row in rows], margin)
        start = end


def tokens_of(alphabet: Alphabet, words: Sequence[Word]) -> tuple[Tensor, Tensor]:
    """Non-empty words as tokens [word, position], padded on the right, and lengths [word]."""
    number_of = {symbol: number for number, symbol in enumerate(alphabet.symbols)}
    return pad([[number_of[symbol] for symbol in word] for word in words])


def pad(rows: Sequence[Sequence[int]]) -> tuple[Tensor, Tensor]:
    """Token numbers [batch, position], padded on the right with 0, and the lengths [batch]."""
    width = max(len(row) for row in rows)
    tokens = torch.tensor([[*row, *[0] * (width - len(row))] for row in rows])
    return tokens, torch.tensor([len(row) for row in rows])


def _batch_end(words: Sequence[Word], start: int, tokens: int) -> int:
    """As many words from `start` on as fit, padded, into one batch; at least one."""
    width = end = 0
    for end in range(start, len(words)):
        width = max(width, len(words[end]))
        if end > start and width * (end - start + 1) > tokens:
            return end
    return end + 1
