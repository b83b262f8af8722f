"""A network on disk: a folder with `network.json` (structure) and `weights.safetensors` (numbers).

`network.json` holds the source, labels, closed forms, masks, temperatures and constructions, and a
SHA-256 digest over itself and the weights, so that damage is seen on loading. Both files are written
beside their place and moved there when complete.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path
from typing import assert_never, final

from attemper.errors import AlphabetError, MalformedFileError
from attemper.exact.closed_forms import (
    ClosedForm,
    form_from_tree,
    form_to_tree,
    parse_rational,
    plain_integer,
)
from attemper.exact.predicates import PredicateError
from attemper.files import read_bytes, write_together
from attemper.languages.words import Alphabet
from attemper.networks.announced import announced_bytes
from attemper.networks.layers import (
    HEAD_WIDTHS,
    Construction,
    HardWeighting,
    Head,
    Layer,
    LinearForm,
    LocalSign,
    Lookup,
    Masking,
    Neighbour,
    Network,
    Select,
    Sign,
    Softmax,
    Uniform,
    Weighting,
)
from attemper.networks.safetensors import Tensor, decode_tensors, encode_tensors
from attemper.networks.weights import (
    embedding_from,
    heads_from,
    hidden_from,
    tensor_names,
    tensors_of,
)
from attemper.networks.wellformed import complaints

FORMAT = "attemper-network/2"
STRUCTURE = "network.json"
WEIGHTS = "weights.safetensors"
KINDS = ("formula", "regex", "automaton")


@final
@dataclass(frozen=True)
class Source:
    """Where a network comes from: a text of one of the `KINDS`, and how it is read."""

    kind: str
    text: str
    at: str
    regime: str


def save(network: Network, source: Source, folder: Path) -> None:
    """Write the network into the folder, which is made if needed. Raises `MalformedFileError`
    if the folder cannot be written.
    """
    weights = encode_tensors(tensors_of(network))
    structure = _encode(network, source)
    structure["digest"] = _digest(structure, weights)
    text = json.dumps(structure, ensure_ascii=False, indent=1) + "\n"
    write_together({folder / WEIGHTS: weights, folder / STRUCTURE: text.encode()})


def digest_of(network: Network, source: Source) -> str:
    """What names the network in a certificate: the digest that `save` writes."""
    return _digest(_encode(network, source), encode_tensors(tensors_of(network)))


def load(folder: Path) -> tuple[Network, Source]:
    """Read a network back. Raises `MalformedFileError`, naming the file and what is wrong."""
    structure_file, weights_file = folder / STRUCTURE, folder / WEIGHTS
    remedy = "a network is a folder made by 'attemper compile FORMULA -o DIR'"
    text = read_bytes(structure_file, remedy)
    try:
        structure = json.loads(text.decode("utf-8"))
    except (ValueError, RecursionError) as error:
        raise MalformedFileError(f"'{structure_file}' is not complete JSON: {str(error)[:200]}") from None
    if not isinstance(structure, dict) or structure.get("format") != FORMAT:
        raise MalformedFileError(f"'{structure_file}' is not a network of the format {FORMAT}")
    try:
        most = announced_bytes(structure)
    except ValueError as error:
        raise MalformedFileError(f"'{structure_file}' does not describe a network: {error}") from None
    weights = read_bytes(weights_file, remedy, most)
    try:
        digest = _digest(structure, weights)
    except RecursionError:
        raise MalformedFileError(f"'{structure_file}' nests too deeply to be a network") from None
    if structure.get("digest") != digest:
        raise MalformedFileError(
            f"'{folder}' was changed after it was written: the digest does not fit. "
            "Compile the formula again, or restore both files."
        )
    try:
        tensors = decode_tensors(weights)
    except (ValueError, TypeError, RecursionError) as error:
        raise MalformedFileError(f"'{weights_file}' is not a weights file: {str(error)[:200]}") from None
    try:
        return _decode(structure, tensors)
    except (ValueError, AlphabetError, RecursionError, OverflowError) as error:
        raise MalformedFileError(f"'{folder}' does not hold a network: {str(error)[:300]}") from None
    except PredicateError as error:
        raise MalformedFileError(f"'{folder}' cannot be read here: {str(error)[:300]}") from None


def _digest(structure: Mapping[str, object], weights: bytes) -> str:
    """SHA-256 of the structure (without its digest, keys sorted) and the weights."""
    undigested = {name: value for name, value in structure.items() if name != "digest"}
    canonical = json.dumps(undigested, sort_keys=True, separators=(",", ":")).encode()
    return hashlib.sha256(hashlib.sha256(canonical).digest() + hashlib.sha256(weights).digest()).hexdigest()


# Encoding ------------------------------------------------------------------------------------------


def _encode(network: Network, source: Source) -> dict[str, object]:
    return {
        "format": FORMAT,
        "source": {source.kind: source.text, "at": source.at, "regime": source.regime},
        "alphabet": list(network.alphabet.symbols),
        "coordinates": list(network.coordinates),
        "positions": [[c, form_to_tree(form)] for c, form in network.positions],
        "head_width": network.head_width,
        "output": network.output,
        "reads_first": network.reads_first,
        "accepts_empty": network.accepts_empty,
        "layers": [
            {
                "heads": [_encode_head(head) for head in layer.heads],
                "hidden": len(layer.hidden),
                "clamps": [list(clamp) for clamp in layer.clamps],
                "symbols": [list(group) for group in layer.symbols],
            }
            for layer in network.layers
        ],
    }


def _encode_head(head: Head) -> dict[str, object]:
    return {
        "construction": _encode_construction(head.construction),
        "masking": str(head.masking),
        "weighting": _encode_weighting(head.weighting),
        "rows": len(head.query),
        "values": len(head.values),
    }


def _encode_weighting(weighting: Weighting) -> object:
    match weighting:
        case HardWeighting():
            return str(weighting)
        case Softmax(coldness):
            return {"inverse_temperature": form_to_tree(coldness)}
        case _:
            assert_never(weighting)


def _encode_construction(construction: Construction) -> list[object]:
    match construction:
        case Uniform():
            return ["uniform"]
        case Select(leftmost, blocked):
            return ["select", leftmost, _encode_form(blocked)]
        case Neighbour(following):
            return ["neighbour", following]
        case Sign(difference):
            return ["sign", _encode_form(difference)]
        case LocalSign(left, right, gate, slope):
            return ["local sign", *map(_encode_form, (left, right, gate)), slope]
        case Lookup(ratio, unit):
            return ["lookup", _encode_form(ratio), _encode_form(unit)]
        case _:
            assert_never(construction)


def _encode_form(form: LinearForm) -> list[object]:
    return [[coordinate, str(factor)] for coordinate, factor in form]


# Decoding ------------------------------------------------------------------------------------------


def _decode(structure: Mapping[str, object], tensors: Mapping[str, Tensor]) -> tuple[Network, Source]:
    """Raises ValueError, naming the entry, for every other shape."""
    coordinates = _texts(structure, "coordinates")
    alphabet = Alphabet(_texts(structure, "alphabet"))
    layers = _list(structure, "layers")
    head_width = _integer(structure, "head_width")
    if head_width not in HEAD_WIDTHS:
        raise ValueError(f"head width {head_width} is not 1, 4 or 16")
    if set(tensors) != tensor_names(len(layers)):
        odd = sorted(set(tensors) ^ tensor_names(len(layers)))
        raise ValueError(f"missing or unexpected tensors: {', '.join(odd[:5])}")
    network = Network(
        alphabet=alphabet,
        coordinates=coordinates,
        embedding=embedding_from(tensors, len(alphabet.symbols), len(coordinates)),
        positions=tuple(_position(entry) for entry in _list(structure, "positions")),
        layers=tuple(
            _layer(number, entry, tensors, len(coordinates), head_width)
            for number, entry in enumerate(layers)
        ),
        head_width=head_width,
        output=_integer(structure, "output"),
        reads_first=_boolean(structure, "reads_first"),
        accepts_empty=_boolean(structure, "accepts_empty"),
    )
    found = complaints(network)
    if found:
        raise ValueError("; ".join(found[:3]))
    source = _mapping(structure.get("source"), "source")
    kinds = [kind for kind in KINDS if kind in source]
    if len(kinds) != 1:
        raise ValueError(f"its source is not one of {', '.join(KINDS)}")
    return network, Source(kinds[0], _text(source, kinds[0]), _text(source, "at"), _text(source, "regime"))


def _position(entry: object) -> tuple[int, ClosedForm]:
    match entry:
        case [coordinate, tree]:
            return plain_integer(coordinate), form_from_tree(tree)
        case _:
            raise ValueError(f"not a position embedding: {str(entry)[:80]}")


def _layer(number: int, entry: object, tensors: Mapping[str, Tensor], width: int, head_width: int) -> Layer:
    layer = _mapping(entry, f"layer {number}")
    heads = [_mapping(head, f"a head of layer {number}") for head in _list(layer, "heads")]
    rows = tuple((_integer(head, "rows"), _integer(head, "values")) for head in heads)
    if any(not 0 <= count <= head_width for pair in rows for count in pair):
        raise ValueError(f"layer {number}: a head has an impossible number of rows")
    units = _integer(layer, "hidden")
    weights = heads_from(tensors, number, rows, width, head_width)
    return Layer(
        heads=tuple(
            Head(
                construction=_construction(head.get("construction")),
                masking=Masking(_text(head, "masking")),
                weighting=_weighting(head.get("weighting")),
                query=own.query,
                key=own.key,
                values=own.values,
                targets=own.targets,
            )
            for head, own in zip(heads, weights, strict=True)
        ),
        hidden=hidden_from(tensors, number, units, width),
        clamps=tuple(_clamp(pair) for pair in _list(layer, "clamps")),
        symbols=tuple(_group(entry) for entry in _list(layer, "symbols")),
    )


def _clamp(entry: object) -> tuple[int, int]:
    match entry:
        case [low, high]:
            return plain_integer(low), plain_integer(high)
        case _:
            raise ValueError(f"not a clamp: {str(entry)[:80]}")


def _group(entry: object) -> tuple[int, ...]:
    if not isinstance(entry, list):
        raise ValueError(f"not a group of coordinates: {str(entry)[:80]}")
    return tuple(plain_integer(coordinate) for coordinate in entry)


def _weighting(entry: object) -> Weighting:
    match entry:
        case str(name):
            return HardWeighting(name)
        case {"inverse_temperature": tree}:
            return Softmax(form_from_tree(tree))
        case _:
            raise ValueError(f"not a weighting: {str(entry)[:80]}")


def _construction(entry: object) -> Construction:
    match entry:
        case ["uniform"]:
            return Uniform()
        case ["select", bool(leftmost), blocked]:
            return Select(leftmost, _form(blocked))
        case ["neighbour", bool(following)]:
            return Neighbour(following)
        case ["sign", difference]:
            return Sign(_form(difference))
        case ["local sign", left, right, gate, slope]:
            return LocalSign(_form(left), _form(right), _form(gate), plain_integer(slope))
        case ["lookup", ratio, unit]:
            return Lookup(_form(ratio), _form(unit))
        case _:
            raise ValueError(f"not a construction: {str(entry)[:80]}")


def _form(entry: object) -> LinearForm:
    if not isinstance(entry, list):
        raise ValueError(f"not a linear form: {str(entry)[:80]}")
    parts: list[tuple[int, Fraction]] = []
    for part in entry:
        match part:
            case [coordinate, str(factor)]:
                parts.append((plain_integer(coordinate), parse_rational(factor)))
            case _:
                raise ValueError(f"not a linear form: {str(entry)[:80]}")
    return tuple(parts)


def _mapping(entry: object, name: str) -> Mapping[str, object]:
    if not isinstance(entry, dict):
        raise ValueError(f"{name} is not an object")
    return entry


def _list(parent: Mapping[str, object], name: str) -> list[object]:
    entry = parent.get(name)
    if not isinstance(entry, list):
        raise ValueError(f"'{name}' is not a list")
    return entry


def _texts(parent: Mapping[str, object], name: str) -> tuple[str, ...]:
    entries = _list(parent, name)
    texts = tuple(entry for entry in entries if isinstance(entry, str))
    if len(texts) != len(entries):
        raise ValueError(f"'{name}' is not a list of texts")
    return texts


def _text(parent: Mapping[str, object], name: str) -> str:
    entry = parent.get(name)
    if not isinstance(entry, str):
        raise ValueError(f"'{name}' is not a text")
    return entry


def _integer(parent: Mapping[str, object], name: str) -> int:
    try:
        return plain_integer(parent.get(name))
    except ValueError as error:
        raise ValueError(f"'{name}' is {error}") from None


def _boolean(parent: Mapping[str, object], name: str) -> bool:
    entry = parent.get(name)
    if not isinstance(entry, bool):
        raise ValueError(f"'{name}' is not true or false")
    return entry
