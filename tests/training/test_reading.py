"""A trained transformer is an encoder like any other: its parts are read, and mean the same."""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest
import torch

from attemper.errors import UnsupportedError
from attemper.models.soft.reading import read_weights
from attemper.models.soft.soft import outputs_of
from attemper.models.soft.weights import Mask, Table
from attemper.training.models import model_of
from attemper.training.transformer import Transformer, sinusoids
from tests.support.drawn.training import tiny

SYMBOLS = ("0", "1", "$")
WORDS = np.array(list(product(range(3), repeat=4)))


@pytest.mark.parametrize("norm", ["post", "pre", "none"])
@pytest.mark.parametrize("causal", [True, False])
@pytest.mark.parametrize("positions", ["none", "sinusoidal"])
def test_what_is_read_says_the_same(norm: str, positions: str, *, causal: bool) -> None:
    task = {"kind": "recognition", "language": "zoo:parity-odd"}
    entries = {"norm": norm, "causal": causal, "positions": positions, "layers": 2}
    model = model_of(tiny(task=task, model=entries), 3, 2).double()
    assert isinstance(model, Transformer)
    encoder = read_weights(
        model.encoder,
        model.embedding,
        model.readout,
        SYMBOLS,
        "$",
        positions=Table(sinusoids(4, 8).numpy()) if positions == "sinusoidal" else None,
        mask=Mask.FUTURE_MASKED if causal else Mask.UNMASKED,
    )
    with torch.no_grad():
        expected = model.eval()(torch.tensor(WORDS))[:, -1].numpy()
    assert np.abs(outputs_of(encoder, WORDS) - expected).max() < 1e-12


def test_layers_that_scale_their_scores_are_not_read_as_if_they_did_not() -> None:
    model = model_of(tiny(model={"temperature": "log-n"}), 3, 3)
    assert isinstance(model, Transformer)
    with pytest.raises(UnsupportedError, match="_LogScaled"):
        read_weights(model.encoder, model.embedding, model.readout, SYMBOLS, "$")


def test_additive_attention_is_refused_by_the_class_of_its_module() -> None:
    """Scores v tanh(Q y + K y') are of no module of torch's: somebody's own could compute anything."""

    class Additive(torch.nn.MultiheadAttention):
        pass

    layer = torch.nn.TransformerEncoderLayer(4, 2, 8, batch_first=True)
    stack = torch.nn.TransformerEncoder(layer, 1, enable_nested_tensor=False)
    modules = stack, torch.nn.Embedding(3, 4), torch.nn.Linear(4, 1)
    assert read_weights(*modules, SYMBOLS, "$").width == 4
    stack.layers[0].self_attn = Additive(4, 2, batch_first=True)
    with pytest.raises(UnsupportedError, match=r"'self_attn' in layer 0 .*Additive, whose functions are not"):
        read_weights(*modules, SYMBOLS, "$")
