"""A GPT-2 folder as `transformers` runs it."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from attemper.models.arrays import Floats


def logits_in_transformers(folder: str, tokens: Sequence[int], offset: int) -> tuple[Floats, str]:
    """The logits of all tokens (V,) after these, behind so many positions, in float32, and by what.

    Raises `ImportError` where `transformers` is not installed.
    """
    import torch
    import transformers

    model = transformers.GPT2LMHeadModel.from_pretrained(folder, dtype=torch.float32).eval()
    places = torch.arange(offset, offset + len(tokens))[None]
    with torch.inference_mode():
        logits = model(input_ids=torch.tensor([list(tokens)]), position_ids=places).logits[0, -1]
    return np.asarray(logits.double().numpy()), f"transformers {transformers.__version__}, float32"
