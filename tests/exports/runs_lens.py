"""Networks as exported to TransformerLens, read from the folder again: tokens and mask to outputs."""

from __future__ import annotations

from pathlib import Path

import torch
from torch import Tensor

from attemper.exports.subject import Exported
from attemper.exports.transformer_lens.writing import write_transformer_lens
from tests.support.drawn.exported import RunExport


def run_transformer_lens(subject: Exported, dtype: torch.dtype, folder: Path) -> RunExport:
    """The module that `load` makes of the folder, which reads words that are padded on the right."""
    from attemper.exports.transformer_lens import load

    write_transformer_lens(subject, folder, str(dtype).removeprefix("torch."))
    model = load(folder)
    assert model.cfg.dtype is dtype

    def run(tokens: Tensor, mask: Tensor) -> tuple[Tensor, Tensor]:
        order = _symbols_first(mask)
        outputs, margins = model.run_with_margin(tokens.gather(1, order), mask.sum(dim=1))
        own_places = order.argsort(dim=1)
        return torch.stack([row[places] for row, places in zip(outputs, own_places, strict=True)]), margins

    return run


def _symbols_first(mask: Tensor) -> Tensor:
    """The places of each word [word, position]: those of its symbols in their order, and padding behind."""
    return (mask == 0).long().argsort(dim=1, stable=True)
