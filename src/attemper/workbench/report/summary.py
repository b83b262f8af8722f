"""A compiled model in numbers: what `attemper show` and the demo print."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import asdict, dataclass
from fractions import Fraction
from typing import final

from attemper.exact.closed_forms import ClosedForm, Number, Product, growth, show_form, times
from attemper.languages.words import parse_alphabet, show_alphabet
from attemper.networks import layers
from attemper.networks.layers import Normalisation
from attemper.workbench.model import Model
from attemper.workbench.report.assumptions import OneSymbol, one_symbol
from attemper.workbench.report.heads import labels_written
from attemper.workbench.report.theorems import attention_of, satisfied
from attemper.workbench.streaming import Streaming, streaming_of


@final
@dataclass(frozen=True)
class HeadSummary:
    """One head: what it is for, and how its logits grow: |logit| = O(n^logit_growth).

    `one_symbol` is how much of what it attends to one symbol can change, or why more (`report.assumptions`).
    """

    layer: int
    head: int
    construction: str
    masking: str
    temperature: str
    logit_growth: int
    one_symbol: str
    writes: tuple[str, ...]


@final
@dataclass(frozen=True)
class Summary:
    """The shape of a model; nothing here depends on a word."""

    kind: str
    source: str
    alphabet: str
    at: str
    empty: str
    puts_out: tuple[str, ...]
    """The symbols of which one stands at every position, or a distribution's names; none if that is a bit."""
    measure: str | None
    """What the numbers at every position are; None if no numbers stand there."""
    regime: str
    normalisation: str | None
    """What each sublayer reads through; None if that is nothing."""
    layers: int
    heads: int
    d_model: int
    d_head: int
    d_mlp: int
    parameters: int
    position_embeddings: tuple[str, ...]
    """Of a normalised network divided by the unit of the residual stream, and without those of partners."""
    attention: str
    """The class of Definition 4 of Yang et al."""
    satisfies: tuple[str, ...]
    """Their theorems whose hypotheses on a transformer hold."""
    head_list: tuple[HeadSummary, ...]
    stream: Streaming
    """What a stream of it keeps, or why there is none."""

    def as_record(self) -> dict[str, object]:
        """The summary as JSON data; the source under the name of its kind."""
        record = asdict(self)
        alphabet = list(parse_alphabet(self.alphabet).symbols)
        return {record.pop("kind"): record.pop("source"), **record, "alphabet": alphabet}


def summary_of(model: Model) -> Summary:
    """The shape of a model."""
    network = model.network
    answers = one_symbol(network)
    heads = tuple(
        _head(network, number, index, head, answers[number][index])
        for number, layer in enumerate(network.layers)
        for index, head in enumerate(layer.heads)
    )
    return Summary(
        kind=model.source.kind,
        source=model.title,
        alphabet=show_alphabet(network.alphabet),
        at=model.source.at,
        empty="accept" if network.accepts_empty else "reject",
        puts_out=tuple(name for name, _ in network.symbols),
        measure=None if network.measure is None else str(network.measure),
        regime=str(model.regime),
        normalisation=None if network.normalisation is None else normalisation_of(network.normalisation),
        layers=len(network.layers),
        heads=len(heads),
        d_model=len(network.coordinates),
        d_head=network.head_width,
        d_mlp=layers.hidden_width(network),
        parameters=layers.parameter_count(network),
        position_embeddings=tuple(dict.fromkeys(map(show_form, _embedded(network)))),
        attention=attention_of(network),
        satisfies=satisfied(network),
        head_list=heads,
        stream=streaming_of(model),
    )


def logit_growth(network: layers.Network, head: layers.Head) -> int:
    """An e with |logit| = O(n^e) for every word of length n: an upper bound from the closed forms.

    Coordinates that are neither position embeddings nor integers hold bits and averages, which are bounded.
    """
    # What is normalised is bounded, whatever the residual stream holds.
    positions = network.positions if network.normalisation is None else ()
    grows = {coordinate: growth(form) for coordinate, form in positions}

    def of_form(form: layers.LinearForm) -> int:
        return max((grows.get(coordinate, 0) for coordinate, _ in form), default=0)

    for own in (own for layer in network.layers for own in layer.heads):
        grows |= {target: of_form(value) for value, target in zip(own.values, own.targets, strict=True)}
    rows = (of_form(q) + of_form(k) for q, k in zip(head.query, head.key, strict=True))
    coldness = growth(head.weighting.inverse_temperature) if isinstance(head.weighting, layers.Softmax) else 0
    return max(rows, default=0) + coldness


def normalisation_of(how: Normalisation) -> str:
    """How sublayers' inputs are normalised, as text.

    >>> from attemper.compiling.softening.normalise import LayerNorm
    >>> normalisation_of(Normalisation(LayerNorm().eps, LayerNorm().unit, True, (), ()))
    'layer norm, eps 1e-05; the residual stream holds numbers times 2^-40'
    """
    kind = "layer norm" if how.is_centred else "RMS norm"
    power = how.unit.numerator.bit_length() - how.unit.denominator.bit_length()
    return f"{kind}, eps {float(how.eps):.6g}; the residual stream holds numbers times 2^{power}"


def _embedded(network: layers.Network) -> Iterator[ClosedForm]:
    """The position embeddings, in the unit of the residual stream."""
    how = network.normalisation
    for coordinate, form in network.positions:
        if how is None:
            yield form
        elif not network.coordinates[coordinate].startswith(layers.OPPOSITE):
            yield _divided(form, how.unit)


def _divided(form: ClosedForm, unit: Fraction) -> ClosedForm:
    match form:
        case Number(value):
            return Number(value / unit)
        case Product((Number(value), *parts)) if value == unit and len(parts) == 1:
            return parts[0]
        case _:
            return times(1 / unit, form)


def temperature_of(weighting: layers.Softmax) -> str:
    """The temperature, as text."""
    coldness = show_form(weighting.inverse_temperature)
    return "1" if coldness == "1" else f"1/({coldness})"


def _head(
    network: layers.Network, number: int, index: int, head: layers.Head, answer: OneSymbol
) -> HeadSummary:
    return HeadSummary(
        layer=number,
        head=index,
        construction=type(head.construction).__name__,
        masking=str(head.masking),
        temperature=temperature_of(head.weighting) if isinstance(head.weighting, layers.Softmax) else "hard",
        logit_growth=logit_growth(network, head),
        one_symbol=str(answer),
        writes=labels_written(network, head),
    )
