"""A network's circuit as JSON: the ground truth of what reads and writes what (docs/circuit.md)."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

from attemper.errors import UnsupportedError
from attemper.exact.closed_forms import FORM, show_form, tests_in
from attemper.exact.codec import Codec
from attemper.exact.predicates import Named, periodic
from attemper.exports.dependencies import Component, components_of, edges_of, head_name, hidden_name
from attemper.exports.subject import Exported
from attemper.networks.form_text import sum_text
from attemper.networks.layers import Construction, Foreign, Head, Layer, LinearForm, Network, Softmax
from attemper.networks.structure import Provenance
from attemper.writing import write_together

FORMAT = "attemper-circuit/2"

_SOURCE: Codec[Provenance] = Codec(Provenance)
_CONSTRUCTION: Codec[Construction | Foreign] = Codec(Construction | Foreign)

JsonObject = dict[str, object]
"""A JSON object."""


def write_circuit(subject: Exported, path: Path) -> None:
    """Write the circuit to a file.

    Raises what `circuit_of` raises, and `MalformedFileError` if writing fails.

    >>> import attemper
    >>> from tempfile import TemporaryDirectory
    >>> model = attemper.compile("O a", "ab")
    >>> with TemporaryDirectory() as folder:
    ...     write_circuit(Exported(model.network, model.source), Path(folder) / "once.json")
    ...     json.loads((Path(folder) / "once.json").read_text())["coordinates"][3]
    {'index': 3, 'label': 'attended O a', 'written_by': ['head 0.0']}
    """
    text = json.dumps(circuit_of(subject), ensure_ascii=False, indent=1) + "\n"
    write_together({path: text.encode()})


def circuit_of(subject: Exported) -> JsonObject:
    """The circuit as JSON data: coordinates, components, clamps and edges, as `docs/circuit.md` says.

    Factors and biases are rational numbers as text, `p` or `p/q`. Raises `UnsupportedError` for a normalised
    network, whose norms read every coordinate, and for a registered predicate.

    >>> import attemper
    >>> model = attemper.compile("O a", "ab")
    >>> circuit = circuit_of(Exported(model.network, model.source))
    >>> circuit["edges"][0]
    {'from': 'pos_embed', 'to': 'head 0.0', 'as': 'query', 'coordinate': 0}
    """
    network = subject.network
    _require_plain(network)
    components = components_of(network)
    return {
        "format": FORMAT,
        "network": subject.digest,
        "source": _SOURCE.encode(subject.source),
        "alphabet": list(network.alphabet.symbols),
        "read_at": "first" if network.reads_first else "last",
        "accepts_empty": network.accepts_empty,
        "coordinates": _coordinates(network, components),
        "components": list(_entries(subject)),
        "clamps": [clamp for number, layer in enumerate(network.layers) for clamp in _clamps(number, layer)],
        "edges": [
            {"from": edge.source, "to": edge.target, "as": str(edge.role), "coordinate": edge.coordinate}
            for edge in edges_of(components)
        ],
    }


def _require_plain(network: Network) -> None:
    if network.normalisation is not None:
        raise UnsupportedError(
            "the network normalises what its sublayers read, so that every component depends on all before: "
            "it has no circuit of single coordinates. Compile without LayerNorm or RMSNorm"
        )
    weightings = [head.weighting for layer in network.layers for head in layer.heads]
    colds = [weighting.inverse_temperature for weighting in weightings if isinstance(weighting, Softmax)]
    for form in (*(form for _, form in network.positions), *colds):
        for test in tests_in(form):
            found = periodic(test.predicate)
            if isinstance(found, Named):
                raise UnsupportedError(
                    f"the predicate '{found.name}' is a Python function, which no file can hold, so the "
                    "network is not exported. Write it with remainders (pos mod 3 = 1), if it is periodic"
                )


def _coordinates(network: Network, components: tuple[Component, ...]) -> list[JsonObject]:
    """Every coordinate with its label, and by which components it is written."""
    writers: list[list[str]] = [[] for _ in network.coordinates]
    for component in components:
        for coordinate in component.writes:
            writers[coordinate].append(component.name)
    labelled = enumerate(zip(network.coordinates, writers, strict=True))
    return [{"index": c, "label": label, "written_by": own} for c, (label, own) in labelled]


def _entries(subject: Exported) -> Iterator[JsonObject]:
    """The components as JSON, in the order of a run."""
    network = subject.network
    yield _word_embedding(network)
    yield {
        **_place("pos_embed", "position embedding", "hook_pos_embed"),
        "writes": [
            {"coordinate": c, "form": FORM.encode(form), "text": show_form(form)}
            for c, form in network.positions
        ],
    }
    for number, layer in enumerate(network.layers):
        for index, head in enumerate(layer.heads):
            yield _head(subject, number, index, head)
        yield from _hidden(number, layer)
    put_out = network.symbols or ((None, network.output),)
    yield {
        **_place("output", "output", None),
        "measure": None if network.measure is None else str(network.measure),
        "reads": [{"coordinate": coordinate, "name": name} for name, coordinate in put_out],
    }


def _place(name: str, kind: str, hook: str | None, **more: object) -> JsonObject:
    return {"component": name, "kind": kind, "hook": hook, **more}


def _word_embedding(network: Network) -> JsonObject:
    rows = zip(network.alphabet.symbols, network.embedding, strict=True)
    return {
        **_place("embed", "word embedding", "hook_embed"),
        "writes": [
            {"coordinate": coordinate, "symbol": symbol, "factor": str(factor)}
            for symbol, form in rows
            for coordinate, factor in form
        ],
    }


def _head(subject: Exported, layer: int, index: int, head: Head) -> JsonObject:
    """A head: where it looks, what it reads there, and where it writes that."""
    network = subject.network
    cold = head.weighting.inverse_temperature if isinstance(head.weighting, Softmax) else None
    return {
        **_place(head_name(layer, index), "head", f"blocks.{layer}.attn.hook_z", layer=layer, index=index),
        "construction": _CONSTRUCTION.encode(head.construction),
        "masking": str(head.masking),
        "attention": str(head.weighting) if cold is None else "softmax",
        "inverse_temperature": None if cold is None else show_form(cold),
        "looks_for": _score_text(network, head),
        "score": [
            {"query": _form(query), "key": _form(key)}
            for query, key in zip(head.query, head.key, strict=True)
        ],
        "values": [
            {"reads": _form(value), "text": _text(network, value), "writes": target}
            for value, target in zip(head.values, head.targets, strict=True)
        ],
        "holds": [network.coordinates[target] for target in head.targets],
    }


def _score_text(network: Network, head: Head) -> str:
    """The score in terms of labels: a sum of products of what stands at i with what stands at j."""
    rows = zip(head.query, head.key, strict=True)
    products = (f"({_text(network, query)})(i) * ({_text(network, key)})(j)" for query, key in rows)
    return " + ".join(products) or "all that it sees, equally"


def _hidden(number: int, layer: Layer) -> Iterator[JsonObject]:
    """The hidden units of a layer, and in which clamp each one is."""
    clamped = {unit: clamp for clamp, pair in enumerate(layer.clamps) for unit in pair}
    hook = f"blocks.{number}.mlp.hook_post"
    for index, unit in enumerate(layer.hidden):
        yield {
            **_place(hidden_name(number, index), "hidden unit", hook, layer=number, index=index),
            "reads": _form(unit.form),
            "bias": str(unit.bias),
            "writes": _form(unit.outputs),
            "clamp": clamped.get(index),
        }


def _clamps(number: int, layer: Layer) -> Iterator[JsonObject]:
    """The pairs of hidden units of a layer that round a bit."""
    for index, (low, high) in enumerate(layer.clamps):
        unit = layer.hidden[low]
        yield {
            "layer": number,
            "index": index,
            "units": [hidden_name(number, low), hidden_name(number, high)],
            "reads": _form(unit.form),
            "writes": [coordinate for coordinate, _ in unit.outputs],
        }


def _form(form: LinearForm) -> list[JsonObject]:
    return [{"coordinate": coordinate, "factor": str(factor)} for coordinate, factor in form]


def _text(network: Network, form: LinearForm) -> str:
    """The form in terms of labels."""
    return sum_text([(f"[{network.coordinates[coordinate]}]", factor) for coordinate, factor in form])
