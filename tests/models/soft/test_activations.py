"""GELU is refused by both readers of encoders, with the reason, and both pages say so."""

from __future__ import annotations

from pathlib import Path

import pytest
import torch

from attemper.errors import UnsupportedError
from attemper.models.hard.encoders import read_encoder
from attemper.models.soft.reading import read_weights

DOCS = Path(__file__).parents[3] / "docs"
REASON = r"GELU is read from folders of GPT-2s alone, by 'attemper judge'; train it with activation='relu'"


def test_an_encoder_with_gelu_is_refused_with_the_reason() -> None:
    layer = torch.nn.TransformerEncoderLayer(4, 2, 6, activation="gelu", batch_first=True)
    stack = torch.nn.TransformerEncoder(layer, 1, enable_nested_tensor=False)
    embedding, readout = torch.nn.Embedding(3, 4), torch.nn.Linear(4, 1)
    with pytest.raises(UnsupportedError, match=REASON):
        read_weights(stack, embedding, readout, ("0", "1", "$"), "$")
    with pytest.raises(UnsupportedError, match=REASON):
        read_encoder(stack, embedding, torch.zeros(5, 4), readout, ("0", "1", "$"), "$")


@pytest.mark.parametrize("page", ["limits.md", "refutation.md"])
def test_the_pages_say_that_gelu_is_refused(page: str) -> None:
    text = (DOCS / page).read_text(encoding="utf-8")
    assert any("GELU" in line and "refused" in line for line in text.splitlines())
