"""A network on disk: a folder with `network.json` (structure) and `weights.safetensors` (numbers).

`network.json` holds the source, labels, closed forms, masks, temperatures and constructions, and a
SHA-256 digest over itself and the weights, so that damage is seen on loading. Both files are written
beside their place and moved there when complete. A network has one way to be written: `load` refuses a
folder with other bytes, so that every number in it is a number of the network, or 0. `load_edited` reads
weights that somebody changed.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

from attemper.documents import Document, brief, text_of
from attemper.errors import MalformedFileError
from attemper.exact.codec import Codec, CodecError
from attemper.files import parse_json, read_bytes
from attemper.networks import layers
from attemper.networks.announced import announced_bytes
from attemper.networks.edited import Edited, normal_heads
from attemper.networks.safetensors import Tensor, decode_any_tensors, decode_tensors, encode_tensors
from attemper.networks.structure import Provenance, Structure, structure_of
from attemper.networks.structure import complaints as of_structure
from attemper.networks.weights import (
    embedding_from,
    head_rows,
    heads_from,
    hidden_from,
    norms_from,
    tensor_names,
    tensors_of,
)
from attemper.networks.wellformed import complaints, is_clamp

STRUCTURE = "network.json"
WEIGHTS = "weights.safetensors"
DIGEST = "digest"
"""The entry beside those of the structure that seals both files."""

NOWHERE = Provenance("hard", "", "", "")
"""The source that stands in the digest of a network wherever it comes from."""

REMEDY = "a network is a folder made by 'attemper compile LANGUAGE -o DIR'"
JUDGE_EDITED = "'attemper check DIR --edited' judges the weights as they are."

NETWORK: Document[Structure] = Document(
    "attemper-network/4", "network", Codec(Structure), REMEDY, of_structure
)
"""What network.json holds, without its digest."""


def save(network: layers.Network, source: Provenance, folder: Path) -> None:
    """Write the network into the folder, which is made if needed. Raises `MalformedFileError`
    if the folder cannot be written.
    """
    # Who checks only reads, and rests on nothing that writes.
    from attemper.writing import write_together

    structure, weights = contents_of(network, source)
    write_together({folder / WEIGHTS: weights, folder / STRUCTURE: text_of(structure)})


def contents_of(network: layers.Network, source: Provenance) -> tuple[dict[str, object], bytes]:
    """The object that network.json holds, with its digest, and the bytes of the weights, as `save` writes."""
    weights = encode_tensors(tensors_of(network))
    data = NETWORK.encode(structure_of(network, source))
    return {**data, DIGEST: _digest(data, weights)}, weights


def digest_of(network: layers.Network, source: Provenance) -> str:
    """What names the network in a certificate: the digest that `save` writes."""
    return str(contents_of(network, source)[0][DIGEST])


def bare_digest(network: layers.Network) -> str:
    """What names a network wherever it comes from: its digest with the source `NOWHERE`."""
    return digest_of(network, NOWHERE)


def load(folder: Path) -> tuple[layers.Network, Provenance]:
    """Read a network back. Raises `MalformedFileError`, naming the file and what is wrong.

    The files are, byte for byte, what `save` writes for what is returned: no other reader finds a number in
    them that is not in the network.
    """
    data, structure, text, weights = _contents(folder)
    if data.get(DIGEST) != _digest(data, weights):
        raise MalformedFileError(
            f"'{folder}' was changed after it was written: the digest does not fit. "
            f"Compile the formula again, or restore both files; {JUDGE_EDITED}"
        )
    with _refusing(folder / WEIGHTS, "is not a weights file"):
        tensors = decode_tensors(weights)
    with _refusing(folder, "does not hold a network"):
        network = _network(structure, tensors, edited=False).network
        difference = _difference(data, text, weights, network, structure.source)
    if difference:
        raise MalformedFileError(
            f"'{folder}' is not written as attemper writes the network in it: {difference}. "
            f"Save it with attemper; {JUDGE_EDITED}"
        )
    return network, structure.source


def restored(structure: Structure, tensors: Mapping[str, Tensor], place: Path) -> layers.Network:
    """The network that a structure and tensors describe.

    Whether they are written as `save` writes, or fit a digest, is not asked. Raises `MalformedFileError`,
    with the place where they were found and what is wrong.
    """
    with _refusing(place, "does not hold a network"):
        return _network(structure, tensors, edited=False).network


def load_edited(folder: Path) -> tuple[Edited, str]:
    """Read a network whose weights somebody changed, as they are now, and the digest of its files.

    The digest, the order and format (F64, F32, F16, BF16) of the tensors, remarks in their header and how
    network.json is laid out are free. Names and shapes of the tensors are those that network.json says; what
    it leaves out is 0. A row of W_O may hold anything: see `edited`. Clamps that are none any more are
    dropped.

    Raises `MalformedFileError`, naming the file and what is wrong, and `UnsupportedError` for a head that
    writes more values than its width.
    """
    data, structure, _, weights = _contents(folder)
    with _refusing(folder / WEIGHTS, "is not a weights file"):
        tensors = decode_any_tensors(weights)
    with _refusing(folder, "does not hold a network"):
        return _network(structure, tensors, edited=True), _digest(data, weights)


def with_weights(network: layers.Network, tensors: Mapping[str, Tensor]) -> Edited:
    """The network with other weights: tensors of the same names and shapes, and 0 where it uses none.

    Raises ValueError, naming the tensor, and `UnsupportedError` for a head that writes more values than its
    width.
    """
    return _network(structure_of(network, NOWHERE), tensors, edited=True)


def read_structure(data: Mapping[str, object]) -> Structure:
    """The structure in what a network.json holds, whatever its digest; raises `CodecError`."""
    return NETWORK.decode({name: entry for name, entry in data.items() if name != DIGEST})


def _contents(folder: Path) -> tuple[Mapping[str, object], Structure, bytes, bytes]:
    """What network.json holds, also as data, and the bytes of both files: no more than it announces."""
    text = read_bytes(folder / STRUCTURE, REMEDY)
    with _refusing(folder / STRUCTURE, "is not complete JSON"):
        data = parse_json(text)
    with _refusing(folder / STRUCTURE, "does not hold a network"):
        if not isinstance(data, dict):
            raise CodecError("it is no object")
        structure = read_structure(data)
        most = announced_bytes(structure)
    return data, structure, text, read_bytes(folder / WEIGHTS, REMEDY, most)


@contextmanager
def _refusing(path: Path, complaint: str) -> Iterator[None]:
    """Whatever other data than a network's raises is a `MalformedFileError` with the complaint."""
    try:
        yield
    except (ValueError, TypeError, RecursionError, OverflowError) as error:
        raise MalformedFileError(f"'{path}' {complaint}: {brief(error)}") from None


def _difference(
    data: Mapping[str, object], text: bytes, weights: bytes, network: layers.Network, source: Provenance
) -> str:
    """Where the files differ from what is written for the network; empty if they do not."""
    expected, expected_weights = contents_of(network, source)
    if weights != expected_weights:
        from attemper.networks.differences import weights_difference

        return f"in {WEIGHTS} {weights_difference(weights, expected_weights)}"
    if text == text_of(expected):
        return ""
    from attemper.networks.differences import structure_difference

    difference = structure_difference(data, expected)
    return f"in {STRUCTURE} {difference or 'blanks, escapes or the order of its entries are others'}"


def _digest(data: Mapping[str, object], weights: bytes) -> str:
    """SHA-256 of the structure (without its digest, keys sorted) and the weights."""
    return digest_of_parts(data, hashlib.sha256(weights).digest())


def digest_of_parts(data: Mapping[str, object], of_weights: bytes) -> str:
    """A network's digest, from what `network.json` holds and the SHA-256 digest of its weights."""
    undigested = {name: value for name, value in data.items() if name != DIGEST}
    canonical = json.dumps(undigested, sort_keys=True, separators=(",", ":")).encode()
    return hashlib.sha256(hashlib.sha256(canonical).digest() + of_weights).hexdigest()


# From structure and tensors --------------------------------------------------------------------------


def _network(structure: Structure, tensors: Mapping[str, Tensor], *, edited: bool) -> Edited:
    """Raises ValueError for tensors that are not the structure's, and for what is no network."""
    if structure.head_width not in layers.HEAD_WIDTHS:
        raise ValueError(f"head width {structure.head_width} is not 1, 4 or 16")
    width, norm = len(structure.coordinates), structure.normalisation
    odd = sorted(set(tensors) ^ tensor_names(len(structure.layers), norm and norm.is_centred))
    if odd:
        raise ValueError(f"missing or unexpected tensors: {', '.join(odd[:5])}")
    read = [_layer(number, structure, tensors, edited=edited) for number in range(len(structure.layers))]
    network = layers.Network(
        alphabet=structure.alphabet,
        coordinates=structure.coordinates,
        embedding=embedding_from(tensors, len(structure.alphabet.symbols), width),
        positions=structure.positions,
        layers=tuple(layer for layer, _ in read),
        head_width=structure.head_width,
        output=structure.output,
        reads_first=structure.reads_first,
        accepts_empty=structure.accepts_empty,
        symbols=structure.symbols,
        measure=structure.measure,
        over=structure.over,
        normalisation=_normalisation(structure, tensors),
    )
    found = complaints(network)
    if found:
        raise ValueError("; ".join(found[:3]))
    return Edited(network, next((reason for _, reasons in read for reason in reasons), ""))


def _normalisation(structure: Structure, tensors: Mapping[str, Tensor]) -> layers.Normalisation | None:
    """What every sublayer reads through."""
    norm, depth, width = structure.normalisation, len(structure.layers), len(structure.coordinates)
    if norm is None:
        return None
    norms = norms_from(tensors, depth, width, is_centred=norm.is_centred)
    return layers.Normalisation(norm.eps, norm.unit, norm.is_centred, *norms)


def _layer(
    number: int, structure: Structure, tensors: Mapping[str, Tensor], *, edited: bool
) -> tuple[layers.Layer, tuple[str, ...]]:
    """The layer, and why its heads round otherwise than the tensors."""
    layer, width, head_width = structure.layers[number], len(structure.coordinates), structure.head_width
    rows = tuple((head.rows, head.values) for head in layer.heads)
    if any(count > head_width for pair in rows for count in pair):
        raise ValueError(f"layer {number}: a head has an impossible number of rows")
    reasons: tuple[str, ...] = ()
    if edited:
        weights, reasons = normal_heads(
            head_rows(tensors, number, rows, width, head_width), number, head_width
        )
    else:
        weights = heads_from(tensors, number, rows, width, head_width)
    hidden = hidden_from(tensors, number, layer.hidden, width)
    clamps = tuple(pair for pair in layer.clamps if not (edited and _is_broken(pair, hidden)))
    heads = tuple(
        layers.Head(
            head.construction, head.masking, head.weighting, own.query, own.key, own.values, own.targets
        )
        for head, own in zip(layer.heads, weights, strict=True)
    )
    return layers.Layer(heads, hidden, clamps), reasons


def _is_broken(clamp: tuple[int, int], hidden: tuple[layers.Hidden, ...]) -> bool:
    """Whether both hidden units exist and are no clamp: a remark for running, which an edit can break."""
    low, high = clamp
    return all(unit < len(hidden) for unit in clamp) and not is_clamp(hidden[low], hidden[high])
