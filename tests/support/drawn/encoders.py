"""Random PyTorch encoders, and the same encoders as data."""

from __future__ import annotations

from functools import partial
from itertools import product

import numpy as np
import torch
from safetensors import safe_open
from torch import nn

from attemper.models.arrays import Floats, Integers
from attemper.models.soft.reading import read_weights
from attemper.models.soft.weights import Bounded, Encoder, EncoderLayer, Mask, PositionEncoding
from tests import ROOT

BITS = ("0", "1", "$")

NORMS = ("none", "post", "pre")
"""Where LayerNorm is: nowhere, after the residual sums, before the sublayers."""

FIXTURES = ROOT / "tests" / "theories" / "influence" / "fixtures"
"""Where the trained models are, and what trained them."""


def stack(
    seed: int, layers: int = 2, width: int = 16, heads: int = 2, norm: str = "post", hidden: int | None = None
) -> tuple[nn.TransformerEncoder, nn.Embedding, nn.Linear]:
    """A random encoder in float64, its embedding of three symbols, and its readout.

    The encoder stays in the mode for training: PyTorch's fast path for evaluation asks for LayerNorm.
    """
    torch.manual_seed(seed)
    layer = nn.TransformerEncoderLayer(
        width, heads, hidden or 2 * width, dropout=0.0, batch_first=True, norm_first=norm == "pre"
    )
    made = nn.TransformerEncoder(layer, layers, enable_nested_tensor=False).double()
    for each in made.layers:
        for name, parameter in each.named_parameters():
            if parameter.dim() > 1:
                nn.init.xavier_uniform_(parameter)
            elif "norm" not in name:
                nn.init.normal_(parameter, std=0.1)
        if norm == "none":
            each.norm1, each.norm2 = nn.Identity(), nn.Identity()
    return made, nn.Embedding(3, width).double(), nn.Linear(width, 1).double()


def random_encoder(
    seed: int,
    layers: int = 2,
    width: int = 16,
    heads: int = 2,
    norm: str = "post",
    *,
    positions: PositionEncoding | None = None,
    mask: Mask = Mask.UNMASKED,
) -> Encoder:
    """A random encoder over 0, 1 and the end marker, as data."""
    made, embedding, readout = stack(seed, layers, width, heads, norm)
    return read_weights(made, embedding, readout, BITS, "$", positions=positions, mask=mask)


def bounded_encoder(
    seed: int,
    layers: int = 1,
    heads: int = 1,
    *,
    width: int = 8,
    gain: float = 0.5,
    scale: float = 0.1,
    positions: PositionEncoding | None = None,
    symbols: tuple[str, ...] = BITS,
    ending: str | None = "$",
    outputs: tuple[str, ...] = ("output",),
    mask: Mask = Mask.UNMASKED,
) -> Encoder:
    """A random encoder without LayerNorm whose weights are of the size of `gain`, with sinusoidal positions.

    Positions are from -`scale` to `scale`; others may be given.
    """
    rng = np.random.default_rng(seed)

    def matrix(rows: int, columns: int) -> Floats:
        return np.asarray(rng.normal(size=(rows, columns)) * gain / np.sqrt(columns))

    stacked = tuple(
        EncoderLayer(
            *(matrix(3 * width, width), rng.normal(size=3 * width) / 10),
            *(matrix(width, width), rng.normal(size=width) / 10),
            *(matrix(width, width), rng.normal(size=width) / 10),
            *(matrix(width, width), rng.normal(size=width) / 10),
            norms=None,
            heads=heads,
            norm_first=False,
        )
        for _ in range(layers)
    )
    return Encoder(
        symbols,
        ending,
        rng.normal(size=(len(symbols), width)) / 2,
        positions or Bounded(partial(sinusoids, width, scale), -scale, scale),
        mask,
        stacked,
        rng.uniform(-1, 1, size=(len(outputs), width)) / np.sqrt(width),
        np.zeros(len(outputs)),
        outputs,
    )


def sinusoids(width: int, scale: float, places: Integers, length: int) -> Floats:
    """Sines and then cosines of positions, at most `scale`; of the width 1 the sine alone."""
    del length
    angles = places[:, None] / 10000.0 ** (np.arange((width + 1) // 2) / max(width // 2, 1))
    found: Floats = scale * np.concatenate([np.sin(angles), np.cos(angles)], axis=1)
    return np.asarray(found[:, :width])


def learned(seed: int, width: int, scale: float, longest: int = 1024) -> Bounded:
    """A table of positions as training leaves it, read as bounded."""
    table = np.random.default_rng(seed).uniform(-scale, scale, size=(longest, width))
    return Bounded(lambda places, _: table[places - 1], float(table.min()), float(table.max()))


def untrained() -> Encoder:
    """The smallest random encoder that has everything: for commands that name it."""
    return random_encoder(1, layers=1, width=4)


def words_of(length: int) -> Integers:
    """All words of n - 1 bits with the end marker, numbered, of shape (2^(n-1), n)."""
    return np.array([(*bits, 2) for bits in product((0, 1), repeat=length - 1)], dtype=np.int64)


def trained(name: str) -> tuple[nn.Module, nn.Embedding, nn.Linear, dict[str, str]]:
    """A trained model in float64: body, embedding and readout, and what its file says of them."""
    with safe_open(FIXTURES / f"{name}.safetensors", framework="pt") as file:
        about = file.metadata()
        tensors = {key: file.get_tensor(key) for key in file.keys()}  # noqa: SIM118 - the file is no dict
    width, outputs = tensors["embedding.weight"].shape[1], len(tensors["readout.bias"])
    if about["norm"] == "lstm":
        body: nn.Module = nn.LSTM(width, width, batch_first=True).double()
    else:
        layers = 1 + max(int(key.split(".")[2]) for key in tensors if key.startswith("body.layers."))
        body = stack(0, layers, width, int(about["heads"]), about["norm"])[0]
    embedding, readout = nn.Embedding(3, width).double(), nn.Linear(width, outputs).double()
    for prefix, module in (("body", body), ("embedding", embedding), ("readout", readout)):
        own = {
            key.removeprefix(f"{prefix}."): value for key, value in tensors.items() if key.startswith(prefix)
        }
        module.load_state_dict(own)
    return body, embedding, readout, about


def fixture(name: str) -> Encoder:
    """A trained encoder: a recogniser with the end marker $, or a language model whose words begin with ^."""
    body, embedding, readout, about = trained(name)
    assert isinstance(body, nn.TransformerEncoder)
    ends = about["symbols"].endswith("$")
    return read_weights(
        body,
        embedding,
        readout,
        tuple(about["symbols"]),
        "$" if ends else None,
        mask=Mask(about["mask"]),
        outputs=None if ends else ("0", "1", "END"),
    )
