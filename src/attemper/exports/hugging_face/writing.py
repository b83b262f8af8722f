"""A network as a Hugging Face folder: configuration, weights, tokenizer and model card."""

from __future__ import annotations

from pathlib import Path

import torch

from attemper.errors import UnsupportedError
from attemper.exports.extras import library
from attemper.exports.hugging_face.card import model_card
from attemper.exports.hugging_face_files import (
    CARD,
    CONFIG,
    PREFIX,
    TOKENIZER,
    TOKENIZER_SETTINGS,
    VERSION,
    WEIGHTS,
    as_text,
    config_of,
    tokenizer_of,
    tokenizer_settings,
)
from attemper.exports.subject import Exported
from attemper.languages.measures import describe
from attemper.writing import write_together


def write_hugging_face(subject: Exported, folder: Path, dtype: str) -> None:
    """Write `config.json`, `model.safetensors`, the tokenizer's files and `README.md`: all of them, or none.

    Weights that `dtype` does not hold are rounded to it: the folder then runs, and the card says so, but
    `attemper import` cannot restore the network. Raises `UnsupportedError` for a network that puts out
    numbers, and what `architecture_of` raises; `MalformedFileError` if the folder cannot be written.
    """
    measure = subject.network.measure
    if measure is not None:
        raise UnsupportedError(
            f"{describe(measure)} is put out at every position, and no class of Hugging Face answers with "
            "numbers: export as onnx or torch"
        )
    module = subject.traceable(getattr(torch, dtype))
    weights = {f"{PREFIX}{name}": tensor for name, tensor in module.state_dict().items()}
    wide = subject.traceable(torch.float64).state_dict()
    is_exact = all(torch.equal(weights[f"{PREFIX}{name}"].double(), own) for name, own in wide.items())
    save = library("safetensors.torch", "hugging-face").save
    version, alphabet = library("transformers", "hugging-face").__version__, subject.network.alphabet
    files = {
        CONFIG: as_text({**config_of(subject, dtype), VERSION: version}),
        WEIGHTS: save(weights, metadata={"format": "pt"}),
        CARD: model_card(subject, dtype, is_exact=is_exact).encode(),
        TOKENIZER: as_text(tokenizer_of(alphabet)),
        TOKENIZER_SETTINGS: as_text(tokenizer_settings(alphabet)),
    }
    write_together({folder / name: data for name, data in files.items()})
