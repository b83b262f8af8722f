"""A network as a Hugging Face folder: configuration, weights, tokenizer and model card."""

from __future__ import annotations

import hashlib
from pathlib import Path
from tempfile import TemporaryDirectory

import torch

from attemper.certificates.files import encode
from attemper.errors import UnsupportedError
from attemper.exports.extras import library
from attemper.exports.hugging_face.card import model_card
from attemper.exports.hugging_face.configuration import AttemperConfig
from attemper.exports.hugging_face.tokenizing import tokenizer_of
from attemper.exports.restoring import CONFIG, PREFIX, WEIGHTS
from attemper.exports.subject import Subject
from attemper.files import write_together
from attemper.languages.measures import describe
from attemper.networks.files import contents_of

CARD = "README.md"


def write_hugging_face(subject: Subject, folder: Path, dtype: str) -> None:
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
    files = {
        CONFIG: _config(subject, dtype).encode(),
        WEIGHTS: save(weights, metadata={"format": "pt"}),
        CARD: model_card(subject, dtype, is_exact=is_exact).encode(),
        **_tokenizer_files(subject),
    }
    write_together({folder / name: data for name, data in files.items()})


def _config(subject: Subject, dtype: str) -> str:
    """What `config.json` holds."""
    _, weights = contents_of(subject.network, subject.source)
    config = AttemperConfig(
        network=subject.structure,
        certificate=None if subject.certificate is None else encode(subject.certificate),
        weights_sha256=hashlib.sha256(weights).hexdigest(),
        dtype=dtype,
    )
    task = "TokenClassification" if subject.network.symbols else "SequenceClassification"
    config.architectures = [f"AttemperFor{task}"]
    return str(config.to_json_string())


def _tokenizer_files(subject: Subject) -> dict[str, bytes]:
    """The files of the tokenizer, by their names."""
    with TemporaryDirectory() as scratch:
        tokenizer_of(subject.network.alphabet).save_pretrained(scratch)
        return {path.name: path.read_bytes() for path in Path(scratch).iterdir()}
