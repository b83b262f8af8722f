"""From an exported Hugging Face folder back to the network, with neither torch nor transformers."""

from __future__ import annotations

import hashlib
from array import array
from collections.abc import Mapping
from pathlib import Path

from attemper.certificates.claims import Certificate
from attemper.certificates.files import CERTIFIED
from attemper.documents import brief
from attemper.errors import MalformedFileError, UnsupportedError
from attemper.exact.codec import CodecError
from attemper.exports.hugging_face_files import (
    CARD,
    CONFIG,
    MODEL_TYPE,
    PREFIX,
    SEQUENCE,
    TOKEN,
    TOKENIZER,
    TOKENIZER_SETTINGS,
    VERSION,
    WEIGHTS,
    config_of,
    tokenizer_of,
    tokenizer_settings,
)
from attemper.exports.kinds import NETWORK, ExportTarget
from attemper.exports.subject import Exported
from attemper.files import parse_json, read_bytes
from attemper.languages.words import Alphabet
from attemper.networks.announced import announced_bytes
from attemper.networks.differences import structure_difference, weights_difference
from attemper.networks.files import STRUCTURE, read_structure, restored
from attemper.networks.layers import Network
from attemper.networks.safetensors import Tensor, decode_any_tensors, encode_tensors
from attemper.networks.structure import Structure
from attemper.networks.weights import tensors_of

REMEDY = "give a folder that 'attemper export DIR hugging-face' wrote"

FORMATS = ("float64", "float32", "bfloat16")
"""The formats that weights may be in, if they are exact in them."""

HARMLESS = {"is_local": (True, False), "local_files_only": (True, False), "padding_side": ("left", "right")}
"""Entries that transformers adds when it saves a tokenizer again, and what they may be."""

FILES = {
    ".onnx": ExportTarget.ONNX,
    ".pt2": ExportTarget.TORCH,
    ".json": ExportTarget.CIRCUIT,
}
"""What a file of an export ends in."""

READ = {CONFIG, WEIGHTS, TOKENIZER, TOKENIZER_SETTINGS}
UNREAD = {CARD, "LICENSE"}
"""Files of the folder that transformers loads, and such as it does not."""


def restored_from(path: Path) -> tuple[ExportTarget, Exported]:
    """What was exported to the path, and as which kind, seen from the files that stand there.

    Only what holds the whole network is restored: that is the folder for Hugging Face. Raises
    `UnsupportedError` for other kinds, with what helps, and `MalformedFileError` for what is none of them.
    """
    if (path / NETWORK / STRUCTURE).exists():
        raise UnsupportedError(
            f"'{path}' was exported as gpt2, from which nothing is restored: the network itself stands in "
            f"'{path / NETWORK}'"
        )
    if path.is_file() and path.suffix in FILES:
        raise UnsupportedError(
            f"'{path}' was exported as {FILES[path.suffix]}, which has no whole network: {REMEDY}"
        )
    return ExportTarget.HUGGING_FACE, read_hugging_face(path)


def read_hugging_face(folder: Path) -> Exported:
    """The network, source and certificate that were exported to the folder, exactly, and nothing else.

    The network is made anew of `config.json` and `model.safetensors`. Every entry and weight that the folder
    has, those of the tokenizer, too, must be what an export of that network writes, but for the version of
    transformers, the format of weights that it holds exactly, and the model's class; and there is no other
    file that transformers might load instead. What is restored is not believed: `attemper check` judges it.

    Raises `MalformedFileError`, naming what is missing, damaged, changed, added, or rounded.
    """
    _require_no_more(folder)
    config = _json(folder / CONFIG)
    if config.get("model_type") != MODEL_TYPE:
        raise MalformedFileError(f"'{folder / CONFIG}' is of another model: {REMEDY}")
    structure = _structure(folder, config)
    tensors = _tensors(folder / WEIGHTS, structure)
    network = restored(structure, tensors, folder)
    _require_weights(folder / WEIGHTS, config, network, tensors)
    subject = Exported(network, structure.source, _certificate(folder / CONFIG, config))
    _require_config(folder / CONFIG, config, subject)
    _require_tokenizer(folder, network.alphabet)
    return subject


def _require_no_more(folder: Path) -> None:
    """Raise for a file that transformers may read, and no export writes: weights, adapters, vocabularies."""
    found = sorted(path.name for path in folder.iterdir()) if folder.is_dir() else []
    if STRUCTURE in found:
        raise MalformedFileError(f"'{folder}' is a network of attemper already: nothing is to be restored")
    more = [name for name in found if name not in READ | UNREAD and not name.startswith(".")]
    if more:
        raise MalformedFileError(
            f"'{folder / more[0]}' is no file of an export, and might be loaded instead of one: remove it"
        )


def _json(path: Path) -> Mapping[str, object]:
    try:
        found = parse_json(read_bytes(path, REMEDY))
    except (ValueError, RecursionError) as error:
        raise MalformedFileError(f"'{path}' is not complete JSON: {str(error)[:300]}") from None
    if not isinstance(found, dict):
        raise MalformedFileError(f"'{path}' holds no JSON object: {REMEDY}")
    return found


def _structure(folder: Path, config: Mapping[str, object]) -> Structure:
    """All but the weights, as the configuration has it."""
    data = config.get("network")
    if not isinstance(data, dict):
        raise MalformedFileError(f"'{folder / CONFIG}' has no entry 'network': {REMEDY}")
    try:
        return read_structure(data)
    except CodecError as error:
        raise MalformedFileError(f"'{folder}' does not hold a network: {brief(error)}") from None


def _tensors(path: Path, structure: Structure) -> dict[str, Tensor]:
    """The weights under the names of a network's own file; no more bytes are read than it can need."""
    try:
        found = decode_any_tensors(read_bytes(path, REMEDY, announced_bytes(structure)))
    except ValueError as error:
        raise MalformedFileError(f"'{path}' is not a weights file: {str(error)[:300]}") from None
    odd = next((name for name in found if not name.startswith(PREFIX)), None)
    if odd is not None:
        raise MalformedFileError(f"'{path}' has a tensor '{odd[:80]}', which no export writes: remove it")
    return {name.removeprefix(PREFIX): tensor for name, tensor in found.items()}


def _require_weights(
    path: Path, config: Mapping[str, object], network: Network, tensors: Mapping[str, Tensor]
) -> None:
    """Raise unless the tensors are, bit for bit, those of the network that was exported."""
    own = encode_tensors(tensors_of(network))
    found = encode_tensors({name: tensors[name] for name in tensors_of(network)})
    if found != own:
        raise MalformedFileError(f"'{path}' was changed: {weights_difference(found, own)}. {_again(config)}")
    dtype = config.get("dtype")
    if dtype != FORMATS[0] and not all(_holds(str(dtype), tensor) for tensor in tensors.values()):
        raise MalformedFileError(
            f"'{path}' has weights that {str(dtype)[:20]}, the format that '{CONFIG}' names, does not hold: "
            "what is loaded from there has others. Export the network in float64"
        )
    if hashlib.sha256(own).hexdigest() != config.get("weights_sha256"):
        raise MalformedFileError(f"'{path}' has other weights than were exported. {_again(config)}")


def _holds(dtype: str, tensor: Tensor) -> bool:
    """Whether float32, or bfloat16, which is its upper half, holds every number."""
    narrow = array("f", tensor.numbers)
    is_half = not any(bits & 0xFFFF for bits in array("I", narrow.tobytes()))
    return array("d", narrow) == tensor.numbers and (is_half or dtype == "float32")


def _again(config: Mapping[str, object]) -> str:
    """What to do about weights that are not those that were exported."""
    if config.get("dtype") == "float64":
        return "Export the network again"
    return (
        f"Weights are in {str(config.get('dtype'))[:20]} there, which rounds those that it does not hold: "
        "export the network in float64"
    )


def _certificate(path: Path, config: Mapping[str, object]) -> Certificate | None:
    """The certificate in the configuration; None if there is none."""
    if config.get("certificate") is None:
        return None
    try:
        return CERTIFIED.decode(config["certificate"])
    except ValueError as error:
        raise MalformedFileError(f"'{path}' has no readable certificate: {str(error)[:300]}") from None


def _require_config(path: Path, config: Mapping[str, object], subject: Exported) -> None:
    """Raise unless the configuration is what an export of the network writes."""
    dtype, classes = config.get("dtype"), config.get("architectures")
    expected = config_of(subject, dtype if dtype in FORMATS and isinstance(dtype, str) else FORMATS[0])
    if classes in ([SEQUENCE], [TOKEN]):
        expected["architectures"] = classes  # whichever of the two saved it last
    found = {name: value for name, value in config.items() if name != VERSION}
    difference = structure_difference(found, expected)
    if difference:
        raise MalformedFileError(f"'{path}' was changed: {difference}. Export the network again")
    if subject.certificate is not None and subject.certificate.network != subject.digest:
        raise MalformedFileError(f"'{path}' has the certificate of another network: export again")


def _require_tokenizer(folder: Path, alphabet: Alphabet) -> None:
    """Raise unless the tokenizer's files are what an export of a network with that alphabet writes."""
    settings = {
        name: value
        for name, value in _json(folder / TOKENIZER_SETTINGS).items()
        if value not in HARMLESS.get(name, ())
    }
    for path, found, expected in (
        (folder / TOKENIZER, _json(folder / TOKENIZER), tokenizer_of(alphabet)),
        (folder / TOKENIZER_SETTINGS, settings, tokenizer_settings(alphabet)),
    ):
        difference = structure_difference(found, expected)
        if difference:
            raise MalformedFileError(f"'{path}' was changed: {difference}. Export the network again")
