"""From an exported Hugging Face folder back to the network, with neither torch nor transformers."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from pathlib import Path

from attemper.certificates.claims import Certificate
from attemper.certificates.files import UNREADABLE, decode
from attemper.errors import MalformedFileError
from attemper.exports.subject import Subject
from attemper.files import parse_json, read_bytes
from attemper.networks.announced import announced_bytes
from attemper.networks.differences import structure_difference, weights_difference
from attemper.networks.files import contents_of, restored
from attemper.networks.safetensors import Tensor, decode_any_tensors, encode_tensors
from attemper.networks.weights import tensors_of

CONFIG, WEIGHTS = "config.json", "model.safetensors"
"""The files of the folder that are read: everything of the network is in them."""

PREFIX = "network."
"""How the names of weights begin there."""

REMEDY = "give a folder that 'attemper export hugging-face' wrote"


def read_hugging_face(folder: Path) -> Subject:
    """The network, source and certificate that were exported to the folder, exactly, and nothing else.

    Everything is made anew of `config.json` and `model.safetensors` and must be, bit for bit, what is in
    them, under the digest that is in them. What is restored is not believed: `attemper check` judges it.

    Raises `MalformedFileError`, naming what is missing, damaged, changed, or rounded to another format.
    """
    config = _config(folder / CONFIG)
    structure = config.get("network")
    if not isinstance(structure, dict):
        raise MalformedFileError(f"'{folder / CONFIG}' has no entry 'network': {REMEDY}")
    tensors = _tensors(folder / WEIGHTS, structure)
    network, source = restored(structure, tensors, folder)
    expected, weights = contents_of(network, source)
    in_order = {name: tensors[name] for name in tensors_of(network)}
    if encode_tensors(in_order) != weights:
        difference = weights_difference(encode_tensors(in_order), weights)
        raise MalformedFileError(f"'{folder / WEIGHTS}' was changed: {difference}. {_again(config)}")
    if hashlib.sha256(weights).hexdigest() != config.get("weights_sha256"):
        raise MalformedFileError(
            f"'{folder / WEIGHTS}' has other weights than were exported. {_again(config)}"
        )
    difference = structure_difference(structure, expected)
    if difference:
        raise MalformedFileError(
            f"'{folder / CONFIG}' was changed: in 'network' {difference}. {_again(config)}"
        )
    return Subject(network, source, _certificate(folder / CONFIG, config, str(expected["digest"])))


def _again(config: Mapping[str, object]) -> str:
    """What to do about weights or a structure that are not those that were exported."""
    if config.get("dtype") == "float64":
        return "Export the network again"
    return (
        f"Weights are in {str(config.get('dtype'))[:20]} there, which rounds those that it does not hold: "
        "export the network in float64"
    )


def _config(path: Path) -> Mapping[str, object]:
    try:
        config = parse_json(read_bytes(path, REMEDY))
    except (ValueError, RecursionError) as error:
        raise MalformedFileError(f"'{path}' is not complete JSON: {str(error)[:300]}") from None
    if not isinstance(config, dict) or config.get("model_type") != "attemper":
        raise MalformedFileError(f"'{path}' is of another model: {REMEDY}")
    return config


def _tensors(path: Path, structure: Mapping[str, object]) -> dict[str, Tensor]:
    """The weights under the names of a network's own file; no more bytes are read than it can need."""
    try:
        found = decode_any_tensors(read_bytes(path, REMEDY, announced_bytes(structure)))
    except ValueError as error:
        raise MalformedFileError(f"'{path}' is not a weights file: {str(error)[:300]}") from None
    return {name.removeprefix(PREFIX): tensor for name, tensor in found.items()}


def _certificate(path: Path, config: Mapping[str, object], digest: str) -> Certificate | None:
    """The certificate of the network; None if there was none."""
    data = config.get("certificate")
    if data is None:
        return None
    try:
        found = decode(data)
    except UNREADABLE as error:
        raise MalformedFileError(f"'{path}' has no readable certificate: {str(error)[:300]}") from None
    if found.network != digest:
        raise MalformedFileError(f"'{path}' has the certificate of another network: export again")
    return found
