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
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path
from typing import assert_never, final

from attemper.errors import AlphabetError, MalformedFileError
from attemper.exact import closed_forms
from attemper.exact.predicates import PredicateError
from attemper.files import parse_json, read_bytes
from attemper.languages.measures import Measure
from attemper.languages.words import Alphabet
from attemper.networks import layers
from attemper.networks.announced import announced_bytes
from attemper.networks.edited import Edited, normal_heads
from attemper.networks.safetensors import Tensor, decode_any_tensors, decode_tensors, encode_tensors
from attemper.networks.weights import (
    HeadWeights,
    embedding_from,
    head_rows,
    heads_from,
    hidden_from,
    norms_from,
    tensor_names,
    tensors_of,
)
from attemper.networks.wellformed import complaints, is_clamp

FORMAT = "attemper-network/3"
OLDER = {"attemper-network/1": "0.1", "attemper-network/2": "0.1"}
STRUCTURE = "network.json"
WEIGHTS = "weights.safetensors"
HARD = "hard"
KINDS = ("formula", "regex", "automaton", "program", HARD)
"""What a network comes from: a text of a language, or another network, by its digest."""

ENTRIES = (
    *("format", "source", "alphabet", "coordinates", "positions", "head_width", "output"),
    *("reads_first", "accepts_empty", "normalisation", "layers", "digest"),
)
LAYER_ENTRIES = ("heads", "hidden", "clamps")
NORMALISATION_ENTRIES = ("kind", "eps", "unit")
NORMALISATIONS = {"layer norm": True, "rms norm": False}
"""The kinds of normalisation, and whether they are centred."""
HEAD_ENTRIES = ("construction", "masking", "weighting", "rows", "values")

JUDGE_EDITED = "'attemper check DIR --edited' judges the weights as they are."


@final
@dataclass(frozen=True)
class Provenance:
    """Where a network comes from: a text of one of the `KINDS`, and how it is read."""

    kind: str
    text: str
    at: str
    regime: str


def save(network: layers.Network, source: Provenance, folder: Path) -> None:
    """Write the network into the folder, which is made if needed. Raises `MalformedFileError`
    if the folder cannot be written.
    """
    # Who checks only reads, and rests on nothing that writes.
    from attemper.writing import write_together

    structure, weights = contents_of(network, source)
    write_together({folder / WEIGHTS: weights, folder / STRUCTURE: _text_of(structure)})


def contents_of(network: layers.Network, source: Provenance) -> tuple[dict[str, object], bytes]:
    """The object that network.json holds, with its digest, and the bytes of the weights, as `save` writes."""
    weights = encode_tensors(tensors_of(network))
    structure = _encode(network, source)
    return {**structure, "digest": _digest(structure, weights)}, weights


def digest_of(network: layers.Network, source: Provenance) -> str:
    """What names the network in a certificate: the digest that `save` writes."""
    return str(contents_of(network, source)[0]["digest"])


def bare_digest(network: layers.Network) -> str:
    """What names a network without a source: of the same bytes, but for the entry of the source."""
    return _digest({"format": FORMAT, **_encode_network(network)}, encode_tensors(tensors_of(network)))


def load(folder: Path) -> tuple[layers.Network, Provenance]:
    """Read a network back. Raises `MalformedFileError`, naming the file and what is wrong.

    The files are, byte for byte, what `save` writes for what is returned: no other reader finds a number in
    them that is not in the network.
    """
    structure, text, weights = _contents(folder)
    with _refusing(folder / STRUCTURE, "does not hold a network"):
        digest = _digest(structure, weights)
    if structure.get("digest") != digest:
        raise MalformedFileError(
            f"'{folder}' was changed after it was written: the digest does not fit. "
            f"Compile the formula again, or restore both files; {JUDGE_EDITED}"
        )
    with _refusing(folder / WEIGHTS, "is not a weights file"):
        tensors = decode_tensors(weights)
    network, source = restored(structure, tensors, folder)
    with _refusing(folder, "does not hold a network"):
        difference = _difference(structure, text, weights, network, source)
    if difference:
        raise MalformedFileError(
            f"'{folder}' is not written as attemper writes the network in it: {difference}. "
            f"Save it with attemper; {JUDGE_EDITED}"
        )
    return network, source


def restored(
    structure: Mapping[str, object], tensors: Mapping[str, Tensor], place: Path
) -> tuple[layers.Network, Provenance]:
    """The network that the entries of a `network.json`, in any order, and tensors describe.

    Whether they are written as `save` writes, or fit their digest, is not asked. Raises `MalformedFileError`,
    with the place where they were found and what is wrong.
    """
    with _refusing(place, "does not hold a network"):
        return _network(structure, tensors, edited=False).network, _source(structure)


def load_edited(folder: Path) -> tuple[Edited, str]:
    """Read a network whose weights somebody changed, as they are now, and the digest of its files.

    The digest, the order and format (F64, F32, BF16) of the tensors, remarks in their header and the layout
    of network.json are free. Names and shapes of the tensors are those that network.json says; what it leaves
    out is 0. A row of W_O may hold anything: see `edited`. Clamps that are none any more are dropped.

    Raises `MalformedFileError`, naming the file and what is wrong, and `UnsupportedError` for a head that
    writes more values than its width.
    """
    structure, _, weights = _contents(folder)
    with _refusing(folder / WEIGHTS, "is not a weights file"):
        tensors = decode_any_tensors(weights)
    with _refusing(folder, "does not hold a network"):
        _source(structure)
        return _network(structure, tensors, edited=True), _digest(structure, weights)


def with_weights(network: layers.Network, tensors: Mapping[str, Tensor]) -> Edited:
    """The network with other weights: tensors of the same names and shapes, and 0 where it uses none.

    Raises ValueError, naming the tensor, and `UnsupportedError` for a head that writes more values than its
    width.
    """
    return _network(_encode_network(network), tensors, edited=True)


def _contents(folder: Path) -> tuple[Mapping[str, object], bytes, bytes]:
    """The object that network.json holds, and the bytes of both files: no more weights than it announces."""
    remedy = "a network is a folder made by 'attemper compile LANGUAGE -o DIR'"
    text = read_bytes(folder / STRUCTURE, remedy)
    with _refusing(folder / STRUCTURE, "is not complete JSON"):
        structure = parse_json(text)
    version = structure.get("format") if isinstance(structure, dict) else None
    if isinstance(version, str) and version in OLDER:
        raise MalformedFileError(f"'{folder}' was made by attemper {OLDER[version]}: compile again")
    if not isinstance(structure, dict) or version != FORMAT:
        raise MalformedFileError(f"'{folder / STRUCTURE}' is not a network of the format {FORMAT}")
    with _refusing(folder / STRUCTURE, "does not describe a network"):
        most = announced_bytes(structure)
    return structure, text, read_bytes(folder / WEIGHTS, remedy, most)


@contextmanager
def _refusing(path: Path, complaint: str) -> Iterator[None]:
    """Whatever other data than a network's raises is a `MalformedFileError` with the complaint."""
    try:
        yield
    except (ValueError, TypeError, AlphabetError, RecursionError, OverflowError) as error:
        raise MalformedFileError(f"'{path}' {complaint}: {str(error)[:300]}") from None
    except PredicateError as error:
        raise MalformedFileError(f"'{path}' cannot be read here: {str(error)[:300]}") from None


def _difference(
    structure: Mapping[str, object], text: bytes, weights: bytes, network: layers.Network, source: Provenance
) -> str:
    """Where the files differ from what is written for the network; empty if they do not."""
    expected_weights = encode_tensors(tensors_of(network))
    if weights != expected_weights:
        from attemper.networks.differences import weights_difference

        return f"in {WEIGHTS} {weights_difference(weights, expected_weights)}"
    expected = {**_encode(network, source), "digest": structure["digest"]}
    if text == _text_of(expected):
        return ""
    from attemper.networks.differences import structure_difference

    difference = structure_difference(structure, expected)
    return f"in {STRUCTURE} {difference or 'blanks, escapes or the order of its entries are others'}"


def _text_of(structure: Mapping[str, object]) -> bytes:
    """What network.json holds."""
    return (json.dumps(structure, ensure_ascii=False, indent=1) + "\n").encode()


def _digest(structure: Mapping[str, object], weights: bytes) -> str:
    """SHA-256 of the structure (without its digest, keys sorted) and the weights."""
    return digest_of_parts(structure, hashlib.sha256(weights).digest())


def digest_of_parts(structure: Mapping[str, object], of_weights: bytes) -> str:
    """A network's digest, from what `network.json` holds and the SHA-256 digest of its weights."""
    undigested = {name: value for name, value in structure.items() if name != "digest"}
    canonical = json.dumps(undigested, sort_keys=True, separators=(",", ":")).encode()
    return hashlib.sha256(hashlib.sha256(canonical).digest() + of_weights).hexdigest()


# Encoding ------------------------------------------------------------------------------------------


def _encode(network: layers.Network, source: Provenance) -> dict[str, object]:
    return {
        "format": FORMAT,
        "source": {source.kind: source.text, "at": source.at, "regime": source.regime},
        **_encode_network(network),
    }


def _encode_network(network: layers.Network) -> dict[str, object]:
    return {
        "alphabet": list(network.alphabet.symbols),
        "coordinates": list(network.coordinates),
        "positions": [[c, closed_forms.form_to_tree(form)] for c, form in network.positions],
        "head_width": network.head_width,
        "output": _encode_output(network),
        "reads_first": network.reads_first,
        "accepts_empty": network.accepts_empty,
        **_encode_normalisation(network.normalisation),
        "layers": [
            {
                "heads": [_encode_head(head) for head in layer.heads],
                "hidden": len(layer.hidden),
                "clamps": [list(clamp) for clamp in layer.clamps],
            }
            for layer in network.layers
        ],
    }


def _encode_normalisation(normalisation: layers.Normalisation | None) -> dict[str, object]:
    """The entry of a normalised network; others have none."""
    if normalisation is None:
        return {}
    kind = next(name for name, centred in NORMALISATIONS.items() if centred is normalisation.is_centred)
    return {"normalisation": {"kind": kind, "eps": str(normalisation.eps), "unit": str(normalisation.unit)}}


def _encode_output(network: layers.Network) -> object:
    pairs = [list(pair) for pair in network.symbols]
    match network.measure:
        case None:
            return pairs or network.output
        case Measure.DISTRIBUTION:
            return {"distribution": pairs}
        case Measure.FRACTION:
            return {"fraction": network.output}
        case Measure.INTEGER:
            return {"integer": network.output, "over": str(network.over)}
        case _:
            assert_never(network.measure)


def _encode_head(head: layers.Head) -> dict[str, object]:
    return {
        "construction": _encode_construction(head.construction),
        "masking": str(head.masking),
        "weighting": _encode_weighting(head.weighting),
        "rows": len(head.query),
        "values": len(head.values),
    }


def _encode_weighting(weighting: layers.Weighting) -> object:
    match weighting:
        case layers.HardWeighting():
            return str(weighting)
        case layers.Softmax(coldness):
            return {"inverse_temperature": closed_forms.form_to_tree(coldness)}
        case _:
            assert_never(weighting)


def _encode_construction(construction: layers.Construction | layers.Foreign) -> list[object]:
    match construction:
        case layers.Uniform():
            return ["uniform"]
        case layers.Select(leftmost, ((None, blocked),)):
            return ["select", leftmost, _encode_form(blocked)]
        case layers.Select(leftmost, cases):
            pairs = [[None if here is None else _encode_form(here), _encode_form(b)] for here, b in cases]
            return ["select by cases", leftmost, pairs]
        case layers.Neighbour(following):
            return ["neighbour", following]
        case layers.Sign(difference):
            return ["sign", _encode_form(difference)]
        case layers.LocalSign(left, right, gate, slope):
            return ["local sign", *map(_encode_form, (left, right, gate)), slope]
        case layers.Lookup(ratio, unit):
            return ["lookup", _encode_form(ratio), _encode_form(unit)]
        case layers.IntegerValue(ratio, unit, is_key):
            return ["integer value", _encode_form(ratio), _encode_form(unit), is_key]
        case layers.NearestInteger(leftmost, blocked, query, key, square):
            return ["nearest integer", leftmost, *map(_encode_form, (blocked, query, key, square))]
        case layers.IntegerSign(difference):
            return ["integer sign", _encode_form(difference)]
        case layers.Foreign():
            return ["foreign"]
        case _:
            assert_never(construction)


def _encode_form(form: layers.LinearForm) -> list[object]:
    return [[coordinate, str(factor)] for coordinate, factor in form]


# Decoding ------------------------------------------------------------------------------------------


def _network(structure: Mapping[str, object], tensors: Mapping[str, Tensor], *, edited: bool) -> Edited:
    """Raises ValueError, naming the entry, for every other shape."""
    _require_known(structure, ENTRIES, "the network")
    coordinates = _texts(structure, "coordinates")
    alphabet = Alphabet(_texts(structure, "alphabet"))
    entries = _list(structure, "layers")
    head_width = _integer(structure, "head_width")
    if head_width not in layers.HEAD_WIDTHS:
        raise ValueError(f"head width {head_width} is not 1, 4 or 16")
    normalisation = _normalisation(structure, tensors, len(entries), len(coordinates))
    _require_tensors(tensors, len(entries), None if normalisation is None else normalisation.is_centred)
    read = [
        _layer(number, entry, tensors, len(coordinates), head_width, edited=edited)
        for number, entry in enumerate(entries)
    ]
    output, symbols, measure, over = _outputs(structure)
    network = layers.Network(
        alphabet=alphabet,
        coordinates=coordinates,
        embedding=embedding_from(tensors, len(alphabet.symbols), len(coordinates)),
        positions=tuple(_position(entry) for entry in _list(structure, "positions")),
        layers=tuple(layer for layer, _ in read),
        head_width=head_width,
        output=output,
        reads_first=_boolean(structure, "reads_first"),
        accepts_empty=_boolean(structure, "accepts_empty"),
        symbols=symbols,
        measure=measure,
        over=over,
        normalisation=normalisation,
    )
    found = complaints(network)
    if found:
        raise ValueError("; ".join(found[:3]))
    return Edited(network, next((reason for _, reasons in read for reason in reasons), ""))


def _require_tensors(tensors: Mapping[str, Tensor], depth: int, is_centred: bool | None) -> None:
    odd = sorted(set(tensors) ^ tensor_names(depth, is_centred))
    if odd:
        raise ValueError(f"missing or unexpected tensors: {', '.join(odd[:5])}")


def _normalisation(
    structure: Mapping[str, object], tensors: Mapping[str, Tensor], depth: int, width: int
) -> layers.Normalisation | None:
    """What every sublayer reads through; None if there is no such entry."""
    if "normalisation" not in structure:
        return None
    entry = _mapping(structure["normalisation"], "normalisation")
    _require_known(entry, NORMALISATION_ENTRIES, "the normalisation")
    kind = _text(entry, "kind")
    if kind not in NORMALISATIONS:
        raise ValueError(f"the normalisation '{kind[:80]}' is none of {', '.join(NORMALISATIONS)}")
    is_centred = NORMALISATIONS[kind]
    eps, unit = (
        closed_forms.parse_rational(_text(entry, "eps")),
        closed_forms.parse_rational(_text(entry, "unit")),
    )
    norms = norms_from(tensors, depth, width, is_centred=is_centred)
    return layers.Normalisation(eps, unit, is_centred, *norms)


OutputHeader = tuple[int, tuple[tuple[str, int], ...], Measure | None, layers.Masking | None]
"""`Network.output`, `symbols`, `measure` and `over`."""


def _outputs(structure: Mapping[str, object]) -> OutputHeader:
    """A coordinate; or names, and the coordinate of each; or what numbers they are, too."""
    entry = structure.get("output")
    match entry:
        case {"distribution": list(pairs), **rest} if not rest:
            return *_named(pairs), Measure.DISTRIBUTION, None
        case {"fraction": coordinate, **rest} if not rest:
            return closed_forms.plain_integer(coordinate), (), Measure.FRACTION, None
        case {"integer": coordinate, "over": str(over), **rest} if not rest:
            return closed_forms.plain_integer(coordinate), (), Measure.INTEGER, layers.Masking(over)
        case list():
            return *_named(entry), None, None
        case _:
            return _integer(structure, "output"), (), None, None


def _named(entry: list[object]) -> tuple[int, tuple[tuple[str, int], ...]]:
    symbols: list[tuple[str, int]] = []
    for pair in entry:
        match pair:
            case [str(name), coordinate]:
                symbols.append((name, closed_forms.plain_integer(coordinate)))
            case _:
                raise ValueError("'output' has something that is no symbol with its coordinate")
    if not symbols:
        raise ValueError("'output' has no symbols")
    return symbols[0][1], tuple(symbols)


def _source(structure: Mapping[str, object]) -> Provenance:
    source = _mapping(structure.get("source"), "source")
    kinds = [kind for kind in KINDS if kind in source]
    if len(kinds) != 1:
        raise ValueError(f"its source is not one of {', '.join(KINDS)}")
    _require_known(source, (kinds[0], "at", "regime"), "its source")
    return Provenance(kinds[0], _text(source, kinds[0]), _text(source, "at"), _text(source, "regime"))


def _require_known(entry: Mapping[str, object], names: Sequence[str], what: str) -> None:
    unknown = next((name for name in entry if name not in names), None)
    if unknown is not None:
        raise ValueError(f"{what} has an unknown entry '{unknown[:80]}'; remove it")


def _position(entry: object) -> tuple[int, closed_forms.ClosedForm]:
    match entry:
        case [coordinate, tree]:
            return closed_forms.plain_integer(coordinate), closed_forms.form_from_tree(tree)
        case _:
            raise ValueError(f"not a position embedding: {str(entry)[:80]}")


def _layer(
    number: int, entry: object, tensors: Mapping[str, Tensor], width: int, head_width: int, *, edited: bool
) -> tuple[layers.Layer, tuple[str, ...]]:
    """The layer, and why its heads round otherwise than the tensors."""
    layer = _mapping(entry, f"layer {number}")
    _require_known(layer, LAYER_ENTRIES, f"layer {number}")
    heads = [_mapping(head, f"a head of layer {number}") for head in _list(layer, "heads")]
    for head in heads:
        _require_known(head, HEAD_ENTRIES, f"a head of layer {number}")
    rows = tuple((_integer(head, "rows"), _integer(head, "values")) for head in heads)
    if any(not 0 <= count <= head_width for pair in rows for count in pair):
        raise ValueError(f"layer {number}: a head has an impossible number of rows")
    units = _integer(layer, "hidden")
    weights, reasons = _head_weights(tensors, number, rows, width, head_width, edited=edited)
    hidden = hidden_from(tensors, number, units, width)
    clamps = tuple(_clamp(pair) for pair in _list(layer, "clamps"))
    if edited:
        clamps = tuple(pair for pair in clamps if not _is_broken(pair, hidden))
    found = layers.Layer(
        heads=tuple(
            layers.Head(
                construction=_construction(head.get("construction")),
                masking=layers.Masking(_text(head, "masking")),
                weighting=_weighting(head.get("weighting")),
                query=own.query,
                key=own.key,
                values=own.values,
                targets=own.targets,
            )
            for head, own in zip(heads, weights, strict=True)
        ),
        hidden=hidden,
        clamps=clamps,
    )
    return found, reasons


def _is_broken(clamp: tuple[int, int], hidden: tuple[layers.Hidden, ...]) -> bool:
    """Whether both hidden units exist and are no clamp: a remark for running, which an edit can break."""
    low, high = clamp
    return all(0 <= unit < len(hidden) for unit in clamp) and not is_clamp(hidden[low], hidden[high])


def _head_weights(
    tensors: Mapping[str, Tensor],
    number: int,
    rows: tuple[tuple[int, int], ...],
    width: int,
    head_width: int,
    *,
    edited: bool,
) -> tuple[tuple[HeadWeights, ...], tuple[str, ...]]:
    """The heads of a layer, and why they round otherwise than the tensors."""
    if edited:
        return normal_heads(head_rows(tensors, number, rows, width, head_width), number, head_width)
    return heads_from(tensors, number, rows, width, head_width), ()


def _clamp(entry: object) -> tuple[int, int]:
    match entry:
        case [low, high]:
            return closed_forms.plain_integer(low), closed_forms.plain_integer(high)
        case _:
            raise ValueError(f"not a clamp: {str(entry)[:80]}")


def _weighting(entry: object) -> layers.Weighting:
    match entry:
        case str(name):
            return layers.HardWeighting(name)
        case {"inverse_temperature": tree, **rest} if not rest:
            return layers.Softmax(closed_forms.form_from_tree(tree))
        case _:
            raise ValueError(f"not a weighting: {str(entry)[:80]}")


def _construction(entry: object) -> layers.Construction | layers.Foreign:
    match entry:
        case ["uniform"]:
            return layers.Uniform()
        case ["select", bool(leftmost), blocked]:
            return layers.Select(leftmost, ((None, _form(blocked)),))
        case ["select by cases", bool(leftmost), [*cases]]:
            return layers.Select(leftmost, tuple(map(_case, cases)))
        case ["neighbour", bool(following)]:
            return layers.Neighbour(following)
        case ["sign", difference]:
            return layers.Sign(_form(difference))
        case ["local sign", left, right, gate, slope]:
            return layers.LocalSign(_form(left), _form(right), _form(gate), closed_forms.plain_integer(slope))
        case ["lookup", ratio, unit]:
            return layers.Lookup(_form(ratio), _form(unit))
        case ["integer value", ratio, unit, bool(is_key)]:
            return layers.IntegerValue(_form(ratio), _form(unit), is_key)
        case ["nearest integer", bool(leftmost), blocked, query, key, square]:
            return layers.NearestInteger(leftmost, *map(_form, (blocked, query, key, square)))
        case ["integer sign", difference]:
            return layers.IntegerSign(_form(difference))
        case ["foreign"]:
            return layers.Foreign()
        case _:
            raise ValueError(f"not a construction: {str(entry)[:80]}")


def _case(entry: object) -> tuple[layers.LinearForm | None, layers.LinearForm]:
    match entry:
        case [None, blocked]:
            return None, _form(blocked)
        case [here, blocked]:
            return _form(here), _form(blocked)
        case _:
            raise ValueError(f"not a case of a selection: {str(entry)[:80]}")


def _form(entry: object) -> layers.LinearForm:
    if not isinstance(entry, list):
        raise ValueError(f"not a linear form: {str(entry)[:80]}")
    parts: list[tuple[int, Fraction]] = []
    for part in entry:
        match part:
            case [coordinate, str(factor)]:
                parts.append((closed_forms.plain_integer(coordinate), closed_forms.parse_rational(factor)))
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
        return closed_forms.plain_integer(parent.get(name))
    except ValueError as error:
        raise ValueError(f"'{name}' is {error}") from None


def _boolean(parent: Mapping[str, object], name: str) -> bool:
    entry = parent.get(name)
    if not isinstance(entry, bool):
        raise ValueError(f"'{name}' is not true or false")
    return entry
