"""A network as the JSON that a page holds: sparse rows of float64 numbers, labels, and what is claimed."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from fractions import Fraction
from typing import assert_never

from attemper.attention_program.parse import parse_program
from attemper.certificates.claims import RealClaim
from attemper.errors import UnsupportedError
from attemper.escapes import escaped
from attemper.exact.closed_forms import show_form
from attemper.exports.page.forms import Data, form_data, number_data
from attemper.exports.page.machine import machine_data
from attemper.exports.subject import Exported
from attemper.languages.machines.parse import parse_machine
from attemper.languages.regular.files import dfa_from_json
from attemper.languages.words import check_word
from attemper.networks import layers
from attemper.networks.structure import HARD, Provenance

MOST_COORDINATES = 2_000
"""Networks with more coordinates are not shown on a page."""

MOST_BYTES = 8_000_000
"""Networks whose JSON is larger are not shown on a page."""

LONGEST_TITLE = 200
"""Longer titles are cut off."""


def page_contents(
    subject: Exported, word: Sequence[str] = (), title: str | None = None, picture: str | None = None
) -> dict[str, Data]:
    """The JSON object that a page shows: a network, the word that it opens with, a title, and an SVG picture.

    Raises `UnsupportedError` for a network with too many coordinates, with hard attention or with a
    registered predicate, and `WordError` for a word over another alphabet.

    >>> import attemper
    >>> model = attemper.compile("O a", "ab")
    >>> contents = page_contents(Exported(model.network, model.source), ("b", "a"))
    >>> contents["word"], contents["layers"][0]["heads"][0]["mask"]
    (['b', 'a'], 'future-masked')
    """
    network = subject.network
    _require_few(network)
    check_word(tuple(word), network.alphabet)
    machine = machine_data(subject)
    return {
        "title": _line(_title_of(subject.source) if title is None else title),
        "word": list(word),
        "picture": picture,
        "about": _about(subject),
        "alphabet": list(network.alphabet.symbols),
        "coordinates": list(network.coordinates),
        "embedding": [_row(form) for form in network.embedding],
        "positions": [[coordinate, form_data(form)] for coordinate, form in network.positions],
        "layers": [_layer(number, network) for number in range(len(network.layers))],
        "normalisation": _normalisation(network.normalisation),
        "outputs": _outputs(network),
        "measure": str(network.measure) if network.measure is not None else None,
        "over": str(network.over) if network.over is not None else None,
        "readsFirst": network.reads_first,
        "acceptsEmpty": network.accepts_empty,
        "certificate": _claims(subject),
        **({} if machine is None else {"machine": machine}),
    }


def json_of(contents: Mapping[str, Data]) -> str:
    r"""The contents as JSON that can stand in a script element: nothing in it is markup.

    Raises `UnsupportedError`, with the size, if there is more of it than `MOST_BYTES`.

    >>> json_of({"title": "</script>"})
    '{"title":"\\u003c/script>"}'
    """
    text = json.dumps(contents, separators=(",", ":"), allow_nan=False).replace("<", "\\u003c")
    if len(text) > MOST_BYTES:
        raise UnsupportedError(
            f"the network takes {len(text):,} bytes as JSON, and a page holds at most {MOST_BYTES:,}: "
            "'attemper trace' shows it word by word"
        )
    return text


def _title_of(source: Provenance) -> str:
    """The formula or the expression; of longer texts how much is in them."""
    match source.kind:
        case "automaton":
            return f"an automaton with {len(dfa_from_json(source.text).moves)} states"
        case "program":
            return f"an attention program of {len(parse_program(source.text).steps)} steps"
        case "machine":
            return f"a counter machine of {len(parse_machine(source.text).lines)} lines"
        case kind if kind == HARD:
            return "a softened network"
        case _:
            return source.text


def _line(text: str) -> str:
    """The text on one line, cut off where it is long."""
    line = " ".join(text.split())
    return escaped(line if len(line) <= LONGEST_TITLE else f"{line[:LONGEST_TITLE]}...")


def _require_few(network: layers.Network) -> None:
    count = len(network.coordinates)
    if count > MOST_COORDINATES:
        raise UnsupportedError(
            f"the network has {count:,} coordinates, and a page shows at most {MOST_COORDINATES:,}: "
            "'attemper trace' shows it word by word"
        )


def _about(subject: Exported) -> dict[str, Data]:
    """What stands above the word: where the network comes from, and how large it is."""
    network = subject.network
    return {
        "source": _line(_title_of(subject.source)),
        "regime": subject.source.regime,
        "heads": sum(len(layer.heads) for layer in network.layers),
        "parameters": layers.parameter_count(network),
    }


def _layer(number: int, network: layers.Network) -> dict[str, Data]:
    layer, norm = network.layers[number], network.normalisation
    return {
        "heads": [_head(f"head {number}.{place}", head) for place, head in enumerate(layer.heads)],
        "hidden": _hidden(layer),
        "clamps": [list(clamp) for clamp in layer.clamps],
        "beforeHeads": None if norm is None else _norm(norm.before_attention[number]),
        "beforeHidden": None if norm is None else _norm(norm.before_feed_forward[number]),
    }


def _head(name: str, head: layers.Head) -> dict[str, Data]:
    match head.weighting:
        case layers.Softmax(coldness):
            return {
                "does": type(head.construction).__name__,
                "mask": str(head.masking),
                "coldness": form_data(coldness),
                "coldnessText": show_form(coldness),
                "query": _rows(head.query),
                "key": _rows(head.key),
                "values": _rows(head.values),
                "writes": [_row(((target, Fraction(1)),)) for target in head.targets],
            }
        case layers.HardWeighting():
            raise UnsupportedError(
                f"{name} has {head.weighting} attention, and a page runs softmax: "
                "'attemper soften' makes a softmax network of it"
            )
        case _:
            assert_never(head.weighting)


def _hidden(layer: layers.Layer) -> list[Data]:
    return [
        {"reads": _row(unit.form), "bias": number_data(float(unit.bias)), "writes": _row(unit.outputs)}
        for unit in layer.hidden
    ]


def _norm(norm: layers.Norm) -> dict[str, Data]:
    return {
        "gain": [number_data(float(x)) for x in norm.gain],
        "bias": [number_data(float(x)) for x in norm.bias],
    }


def _normalisation(normalisation: layers.Normalisation | None) -> dict[str, Data] | None:
    if normalisation is None:
        return None
    return {
        "isCentred": normalisation.is_centred,
        "eps": number_data(float(normalisation.eps)),
        "unit": number_data(float(normalisation.unit)),
    }


def _outputs(network: layers.Network) -> list[Data]:
    """Pairs of a name and a coordinate; a network that puts out one thing has the name None."""
    if network.symbols:
        return [[name, coordinate] for name, coordinate in network.symbols]
    return [[None, network.output]]


def _claims(subject: Exported) -> dict[str, Data] | None:
    """How far the certificate claims the network to be right; None where there is none.

    `real` is the greatest length in real arithmetic, None for all lengths; `horizon` that in float64 with
    numerators first, which is how the page computes.
    """
    if subject.certificate is None:
        return None
    real = [claim.horizon for claim in subject.certificate.claims if isinstance(claim, RealClaim)]
    return {
        "isReal": bool(real),
        "real": real[0] if real else None,
        "horizon": subject.horizons().get("float64", {}).get("numerator-first"),
    }


def _rows(forms: Iterable[layers.LinearForm]) -> list[Data]:
    return [_row(form) for form in forms]


def _row(form: layers.LinearForm) -> list[Data]:
    for _, factor in form:
        # A query's weight is that of the file over the square root of the head's width.
        if float(factor) != factor:
            raise UnsupportedError(
                f"a weight near {float(abs(factor)):.3g} is no float64 when it is divided by the square root "
                "of its head's width: a page cannot run the network"
            )
    return [[coordinate, number_data(float(factor))] for coordinate, factor in form]
