"""Folders as `attemper export DIR hugging-face` writes them, made without its libraries, to be changed."""

from __future__ import annotations

import json
import struct
from array import array
from pathlib import Path
from typing import Any

from attemper import Model
from attemper.exports.hugging_face_files import (
    CONFIG,
    PREFIX,
    TOKENIZER,
    TOKENIZER_SETTINGS,
    WEIGHTS,
    as_text,
    config_of,
    tokenizer_of,
    tokenizer_settings,
)
from attemper.exports.subject import Exported
from attemper.languages.words import Alphabet
from attemper.networks.safetensors import Tensor
from attemper.networks.weights import tensors_of

Config = dict[str, Any]


Weights = dict[str, Tensor]


def exported_config(subject: Exported, dtype: str = "float64") -> Config:
    """What an exported `config.json` holds, as transformers orders it."""
    data = {**config_of(subject, dtype), "transformers_version": "5.23.0"}
    found: Config = json.loads(json.dumps(data, sort_keys=True))
    return found


def weights_of(subject: Exported) -> Weights:
    """The tensors under their names in an exported file, in an order of its own."""
    return {f"{PREFIX}{name}": tensor for name, tensor in sorted(tensors_of(subject.network).items())}


def write(folder: Path, config: Config, weights: bytes) -> Path:
    folder.mkdir(exist_ok=True)
    alphabet = Alphabet(tuple((config["network"] or {}).get("alphabet", "ab")))
    (folder / TOKENIZER).write_bytes(as_text(tokenizer_of(alphabet)))
    (folder / TOKENIZER_SETTINGS).write_bytes(as_text(tokenizer_settings(alphabet)))
    (folder / CONFIG).write_text(json.dumps(config), encoding="utf-8")
    (folder / WEIGHTS).write_bytes(weights)
    return folder


def in_float32(tensors: Weights) -> bytes:
    """The container with every number rounded to float32."""
    header, body = {}, b""
    for name, tensor in tensors.items():
        data = array("f", tensor.numbers).tobytes()
        place = [len(body), len(body) + len(data)]
        header[name] = {"dtype": "F32", "shape": list(tensor.shape), "data_offsets": place}
        body += data
    text = json.dumps({"__metadata__": {"format": "pt"}, **header}).encode()
    return struct.pack("<Q", len(text)) + text + body


def subject_of(model: Model) -> Exported:
    return Exported(model.network, model.source, model.certify())
