"""Hard-attention transformers of many kinds, by name, for any length and any two symbols."""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import cache

import torch

import attemper
from attemper.models.hard.encoders import EncoderModel, read_encoder
from attemper.models.hard.examples import RandomTables
from attemper.models.hard.networks import NetworkModel
from attemper.models.hard.protocol import HardModel
from tests.support.drawn.hard_examples import NearestOneChain, PrefixXor, RandomWeights, ScatteredPositions

Maker = Callable[[int, tuple[str, str]], HardModel]
"""From the length, an end marker included if there is one, and two symbols."""

FORMULAS = {
    "formula, 1 layer": "O ({1} & Y {0})",
    "formula, 2 layers": "O ({1} & Y {0}) & H ({0} -> Y {1})",
    "formula, 3 layers": "({0} S ({1} & Y ({0} S {1}))) & O ({0} & O ({1} & Y {1}))",
    "formula, 4 heads": "O ({0} & Y O ({1} & Y {0})) | ({1} S ({0} & Y ({1} S {0}))) | H ({0} | Y {1})",
}


def network(length: int, symbols: tuple[str, str], formula: str) -> NetworkModel:
    """A compiled formula; {0} and {1} stand for the symbols."""
    quoted = (f"'{symbol}'" for symbol in symbols)
    model = attemper.compile(formula.format(*quoted), symbols, at="last")
    return NetworkModel(model.network, length, model.digest)


def sinusoids(length: int, width: int) -> torch.Tensor:
    """The position embeddings of the first transformers, for any length."""
    positions = torch.arange(length, dtype=torch.float64)[:, None]
    rates = torch.exp(torch.arange(0, width, 2, dtype=torch.float64) * (-math.log(10_000.0) / width))
    return torch.stack([torch.sin(positions * rates), torch.cos(positions * rates)], dim=2).reshape(
        length, width
    )


@cache
def _trained() -> tuple[torch.nn.TransformerEncoder, torch.nn.Embedding, torch.nn.Linear]:
    """An encoder of two layers and two heads, trained a little on the parity of short words."""
    torch.manual_seed(0)
    width = 16
    layer = torch.nn.TransformerEncoderLayer(width, 2, 32, dropout=0.0, batch_first=True, dtype=torch.float64)
    encoder = torch.nn.TransformerEncoder(layer, 2, enable_nested_tensor=False)
    embedding = torch.nn.Embedding(3, width, dtype=torch.float64)
    readout = torch.nn.Linear(width, 1, dtype=torch.float64)
    modules = torch.nn.ModuleList([encoder, embedding, readout])
    optimiser = torch.optim.Adam(modules.parameters(), lr=3e-3)
    for _ in range(60):
        words = torch.randint(0, 2, (64, 9))
        words[:, -1] = 2
        even = (words[:, :-1].sum(dim=1) % 2 == 0).double()
        logits = readout(encoder(embedding(words) + sinusoids(9, width))[:, -1])[:, 0]
        loss = torch.nn.functional.binary_cross_entropy_with_logits(logits, even)
        optimiser.zero_grad()
        loss.backward()  # type: ignore[no-untyped-call]
        optimiser.step()
    return encoder, embedding, readout


def trained(length: int, symbols: tuple[str, str]) -> EncoderModel:
    """The trained encoder with hard attention."""
    encoder, embedding, readout = _trained()
    return read_encoder(encoder, embedding, sinusoids(length, 16), readout, (*symbols, "$"), "$")


MAKERS: dict[str, Maker] = {
    "random tables, 1 layer": lambda n, s: RandomTables(n, (1,), symbols=(*s, "$")),
    "random tables, 2 layers": lambda n, s: RandomTables(n, (1, 1), symbols=(*s, "$")),
    "random tables, 2 heads": lambda n, s: RandomTables(n, (2, 2), values=4, symbols=(*s, "$")),
    "random tables, 3 layers": lambda n, s: RandomTables(n, (1, 1, 1), values=3, symbols=(*s, "$")),
    "heavy ties": lambda n, s: RandomTables(n, (2, 2), levels=4, symbols=(*s, "$")),
    "random weights, 2 layers": lambda n, s: RandomWeights(n, (1, 1), symbols=(*s, "$")),
    "random weights, 2 heads": lambda n, s: RandomWeights(n, (2, 2), symbols=(*s, "$")),
    "prefix sums modulo 2": lambda n, s: PrefixXor(n, 2, symbols=(*s, "$")),
    "nearest 1": lambda n, s: NearestOneChain(n, 2, symbols=(*s, "$")),
    "scattered positions": lambda n, s: ScatteredPositions(n, 2, symbols=(*s, "$")),
    "trained": trained,
    "formula, 1 layer": lambda n, s: network(n, s, FORMULAS["formula, 1 layer"]),
    "formula, 2 layers": lambda n, s: network(n, s, FORMULAS["formula, 2 layers"]),
    "formula, 3 layers": lambda n, s: network(n, s, FORMULAS["formula, 3 layers"]),
    "formula, 4 heads": lambda n, s: network(n, s, FORMULAS["formula, 4 heads"]),
}
