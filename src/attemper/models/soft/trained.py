"""The encoder that a run of `attemper train` has trained, from its folder, without PyTorch.

settings.toml        what it was asked for: what the model computes with is read, and no entry is new
manifest.json        the symbols, in the order of their tokens
model.safetensors    the weights, by the names that PyTorch gives them
"""

from __future__ import annotations

import json
import tomllib
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from attemper.errors import MalformedFileError, UnsupportedError
from attemper.files import parse_json, read_bytes, read_utf8
from attemper.models.arrays import Floats
from attemper.models.soft.weights import (
    Encoder,
    EncoderLayer,
    EncoderNorm,
    Mask,
    NoPositions,
    Periodic,
    PositionEncoding,
)
from attemper.models.soft.wellformed import complaints
from attemper.networks.safetensors import decode_any_tensors

SETTINGS, MANIFEST, WEIGHTS = "settings.toml", "manifest.json", "model.safetensors"

REMEDY = "give the folder of a finished run of 'attemper train'"

MOST_BYTES = 2**30
"""The most bytes of weights that are read."""

EPSILON = 1e-5
"""That of PyTorch's LayerNorm, which no run changes."""

VERDICTS = ("not in the language", "in the language")
"""What a recogniser's two logits are for."""

END = "END"
"""What the last output of a run is for that says what comes next."""

MODEL = {
    *("kind", "width", "layers", "heads", "hidden", "positions", "longest", "norm", "temperature"),
    *("causal", "window"),
}
"""The entries of [model]."""


def is_folder(name: str) -> bool:
    """Whether there is such a folder, which is to be a run's; else it may be MODULE:OBJECT, of any length."""
    try:
        return Path(name).is_dir()
    except (OSError, ValueError):
        return False


def settings_in(folder: Path) -> dict[str, Any]:
    """What a run was asked for. Raises `MalformedFileError`."""
    try:
        return tomllib.loads(read_utf8(folder / SETTINGS, REMEDY))
    except (tomllib.TOMLDecodeError, RecursionError) as error:
        raise MalformedFileError(f"'{folder / SETTINGS}' is not TOML: {error}") from None


def read_run(folder: Path, letters: Sequence[str], places: int) -> Encoder:
    """The encoder for words over these letters, in the order of their tokens, after which comes one more: of
    a recogniser the end marker, of a run that says what comes next the start.

    Words have at most `places` symbols, that one among them: positions are `Periodic` with at least so many
    rows, and further on are not those of the run. Weights are the file's numbers, exactly; sines are rounded
    to float32, as PyTorch adds them. Raises `MalformedFileError` for what is no such folder, and
    `UnsupportedError` for a model that is no encoder of a language's words.
    """
    _require_symbols(folder, letters)
    asked = settings_in(folder)
    task, model = asked.get("task"), asked.get("model")
    if not isinstance(task, dict) or not isinstance(model, dict) or set(model) != MODEL:
        raise MalformedFileError(f"'{folder / SETTINGS}' has other entries than a run's; {REMEDY}")
    if task.get("kind") not in ("recognition", "next"):
        raise UnsupportedError(f"task.kind = {task.get('kind')!r}: only 'recognition' and 'next' are read")
    if model["kind"] != "transformer" or model["temperature"] != "none":
        raise UnsupportedError(
            "only transformers without a temperature of their own are read: model.kind = "
            f"{model['kind']!r}, model.temperature = {model['temperature']!r}"
        )
    data = read_bytes(folder / WEIGHTS, REMEDY, MOST_BYTES)
    try:
        arrays = {
            name: np.array(tensor.numbers, dtype=np.float64).reshape(tensor.shape)
            for name, tensor in decode_any_tensors(data).items()
        }
        encoder = _encoder(arrays, model, tuple(letters), places, recognises=task["kind"] == "recognition")
    except (ValueError, KeyError, TypeError) as error:
        raise MalformedFileError(f"'{folder / WEIGHTS}' is not of these settings: {error}") from None
    if arrays:
        raise MalformedFileError(f"'{folder / WEIGHTS}' has a tensor '{min(arrays)}' that no run has")
    for complaint in complaints(encoder):
        raise MalformedFileError(f"'{folder}' is no encoder to say anything about: {complaint}")
    return encoder


def _require_symbols(folder: Path, letters: Sequence[str]) -> None:
    """Raises `MalformedFileError` unless the run's tokens are these letters, in this order."""
    try:
        said = parse_json(read_bytes(folder / MANIFEST, REMEDY))
    except (ValueError, RecursionError) as error:
        raise MalformedFileError(f"'{folder / MANIFEST}' is not JSON: {error}") from None
    symbols = said.get("symbols") if isinstance(said, dict) else None
    if symbols is None:
        raise MalformedFileError(f"'{folder / MANIFEST}' does not say what the tokens are: train it again")
    if symbols != list(letters):
        raise MalformedFileError(
            f"the tokens of '{folder}' are {json.dumps(symbols, ensure_ascii=False)[:200]}, not "
            f"{json.dumps(list(letters), ensure_ascii=False)[:200]}"
        )


def _encoder(
    arrays: dict[str, Floats],
    model: Mapping[str, Any],
    letters: tuple[str, ...],
    places: int,
    *,
    recognises: bool,
) -> Encoder:
    """The encoder of these tensors, each of which is taken once. Raises ValueError, KeyError or TypeError."""
    width, layers = model["width"], model["layers"]
    if type(width) is not int or type(layers) is not int or type(model["causal"]) is not bool:
        raise ValueError("a number of [model] is none")
    always = "".join(letters) + "$"
    embedding = arrays.pop("embedding.weight")
    if len(embedding) != len(letters) + 1:
        raise ValueError(f"it reads {len(embedding) - 1} symbols and one more, not {len(letters)}")
    return Encoder(
        (*letters, always),
        always if recognises else None,
        embedding,
        _positions(arrays, model, places),
        Mask.FUTURE_MASKED if model["causal"] else Mask.UNMASKED,
        tuple(_layer(arrays, f"encoder.layers.{number}.", model) for number in range(layers)),
        arrays.pop("readout.weight"),
        arrays.pop("readout.bias"),
        VERDICTS if recognises else (*letters, END),
    )


def _positions(arrays: dict[str, Floats], model: Mapping[str, Any], places: int) -> PositionEncoding:
    match model["positions"]:
        case "none":
            return NoPositions()
        case "sinusoidal":
            return Periodic(sinusoids(places, model["width"]))
        case "learned":
            table = arrays.pop("places.weight")
            if len(table) < places:
                raise UnsupportedError(
                    f"the run has learned {len(table):,} positions: judge words of at most "
                    f"{len(table) - 1:,} symbols"
                )
            return Periodic(table)
        case other:
            raise ValueError(f"positions {other!r} are none that exist")


def sinusoids(places: int, width: int) -> Floats:
    """Vaswani's position embeddings (places, width), rounded to float32.

    Coordinates 2k and 2k+1 are the sine and the cosine of (i - 1) / 10000^(2k/width) at position i.

    >>> sinusoids(2, 2).tolist()[0]
    [0.0, 1.0]
    """
    angles = np.arange(places)[:, None] / 10000.0 ** (np.arange(0, width, 2) / width)
    both = np.stack([np.sin(angles), np.cos(angles)], axis=-1).reshape(places, -1)[:, :width]
    return np.asarray(both.astype(np.float32), dtype=np.float64)


def _layer(arrays: dict[str, Floats], prefix: str, model: Mapping[str, Any]) -> EncoderLayer:
    def taken(name: str) -> Floats:
        return arrays.pop(prefix + name)

    def norm(name: str) -> EncoderNorm:
        return EncoderNorm(taken(f"{name}.weight"), taken(f"{name}.bias"), EPSILON)

    if model["norm"] not in ("none", "pre", "post"):
        raise ValueError(f"norm {model['norm']!r} is none that exists")
    return EncoderLayer(
        taken("self_attn.in_proj_weight"),
        taken("self_attn.in_proj_bias"),
        taken("self_attn.out_proj.weight"),
        taken("self_attn.out_proj.bias"),
        taken("linear1.weight"),
        taken("linear1.bias"),
        taken("linear2.weight"),
        taken("linear2.bias"),
        None if model["norm"] == "none" else (norm("norm1"), norm("norm2")),
        model["heads"],
        model["norm"] == "pre",
    )
