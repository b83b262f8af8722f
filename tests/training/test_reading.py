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
