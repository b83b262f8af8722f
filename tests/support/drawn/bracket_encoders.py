"""Encoders over the brackets of 2DYCK that say what comes next, drawn at random or trained for a moment."""

from __future__ import annotations

import numpy as np
import torch
from torch import nn

from attemper.models.arrays import Floats, Integers
from attemper.models.soft.reading import read_weights
from attemper.models.soft.weights import Bounded, Encoder
from tests.support.drawn.encoders import bounded_encoder
from tests.support.oracles.bracket_prefixes import SYMBOLS, drawn

P = 0.4
"""The source's probability of an opening bracket."""

LONGEST = 32
"""The length that is trained on."""


def nowhere(places: Integers, length: int) -> Floats:
    """Positions of width 8 that say nothing."""
    del length
    return np.zeros((len(places), 8))


BLIND = Bounded(nowhere, 0.0, 0.0)


def random_bracket_encoder(seed: int, ending: str | None) -> Encoder:
    """Read at x_n, or at the marker `ending`; without positions, of one layer or two."""
    symbols = SYMBOLS[:4] if ending is None else (*SYMBOLS[:4], ending)
    layers = 1 + seed % 2
    return bounded_encoder(
        seed, layers, gain=0.8 / layers, positions=BLIND, symbols=symbols, ending=ending, outputs=SYMBOLS
    )


def trained_bracket_encoder(seed: int, ending: str | None, steps: int = 120) -> Encoder:
    """The same, trained on prefixes of 2DYCK, with the law of what follows as its target."""
    torch.manual_seed(seed)
    symbols = SYMBOLS[:4] if ending is None else (*SYMBOLS[:4], ending)
    layer = nn.TransformerEncoderLayer(8, 1, 8, dropout=0.0, batch_first=True)
    body = nn.TransformerEncoder(layer, 1, enable_nested_tensor=False)
    body.layers[0].norm1, body.layers[0].norm2 = nn.Identity(), nn.Identity()
    body.layers[0].activation_relu_or_gelu = 0
    embedding, readout = nn.Embedding(len(symbols), 8), nn.Linear(8, 5)
    parameters = [*body.parameters(), *embedding.parameters(), *readout.parameters()]
    steps_of = torch.optim.AdamW(parameters, lr=0.005, weight_decay=0.2)
    prefixes = drawn(P, LONGEST, 4096, seed)
    for step in range(steps):
        rows = np.arange(64 * step, 64 * step + 64) % 4096
        # Order is nothing to such an encoder: each prefix is written by its counts, its last symbol last.
        others = prefixes.counts[rows] - np.eye(4, dtype=np.int64)[prefixes.last[rows]]
        words = np.stack([np.repeat(np.arange(4), each) for each in others])
        ends = [prefixes.last[rows]] if ending is None else [prefixes.last[rows], np.full(64, 4)]
        tokens = torch.from_numpy(np.concatenate([words, np.stack(ends, axis=1)], axis=1))
        target = torch.zeros(64, 5)
        target[:, :2] = P / 2
        target[torch.arange(64), torch.from_numpy(prefixes.forced[rows])] = 1 - P
        lost = nn.functional.cross_entropy(readout(body(embedding(tokens))[:, -1]), target)
        steps_of.zero_grad()
        lost.backward()
        steps_of.step()
    return read_weights(body, embedding, readout, symbols, ending, positions=BLIND, outputs=SYMBOLS)
