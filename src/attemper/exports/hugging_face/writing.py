"""A network as a Hugging Face folder: configuration, weights, tokenizer and model card."""

from __future__ import annotations

from pathlib import Path

import torch

from attemper.errors import UnsupportedError
from attemper.exports import hugging_face_files
from attemper.exports.extras import library
from attemper.exports.hugging_face.card import model_card
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
    weights = {f"{hugging_face_files.PREFIX}{name}": tensor for name, tensor in module.state_dict().items()}
    wide = subject.traceable(torch.float64).state_dict()
    is_exact = all(
        torch.equal(weights[f"{hugging_face_files.PREFIX}{name}"].double(), own) for name, own in wide.items()
    )
    save = library("safetensors.torch", "hugging-face").save
    version, alphabet = library("transformers", "hugging-face").__version__, subject.network.alphabet
    files = {
        hugging_face_files.CONFIG: hugging_face_files.as_text(
            {**hugging_face_files.config_of(subject, dtype), hugging_face_files.VERSION: version}
        ),
        hugging_face_files.WEIGHTS: save(weights, metadata={"format": "pt"}),
        hugging_face_files.CARD: model_card(subject, dtype, is_exact=is_exact).encode(),
        hugging_face_files.TOKENIZER: hugging_face_files.as_text(hugging_face_files.tokenizer_of(alphabet)),
        hugging_face_files.TOKENIZER_SETTINGS: hugging_face_files.as_text(
            hugging_face_files.tokenizer_settings(alphabet)
        ),
    }
    write_together({folder / name: data for name, data in files.items()})
