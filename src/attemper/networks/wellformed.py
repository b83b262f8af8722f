"""When a network is well formed.

* every coordinate that a form, embedding, target or output names exists;
* linear forms have ascending coordinates and no zero factors;
* a head has as many key rows as query rows, one target per value, and no more rows than its width;
* the head width is 1, 4 or 16;
* a clamp is a pair of hidden units with the same form whose biases differ by one half;
* one embedding per symbol; a coordinate has at most one position embedding;
* a normalisation has two norms for each layer, each with as many gains and biases as there are coordinates;
  no bias if it is not centred; eps is not negative, and the unit is a power of two.
"""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction
from typing import assert_never

from attemper.errors import OptionError
from attemper.languages.measures import Measure
from attemper.networks import layers, structure


def complaints(network: layers.Network) -> tuple[str, ...]:
    """Everything that is wrong with the network, each with its place."""
    return tuple(_complaints(network))


def require_wellformed(network: layers.Network) -> layers.Network:
    """The network itself, made by code. Raises `OptionError` with what is wrong."""
    for complaint in complaints(network):
        raise OptionError(f"the network is not well formed: {complaint}")
    return network


def _complaints(network: layers.Network) -> Iterator[str]:
    width = len(network.coordinates)
    if network.head_width not in layers.HEAD_WIDTHS:
        yield f"head width {network.head_width} is not 1, 4 or 16"
    if len(network.embedding) != len(network.alphabet.symbols):
        yield f"{len(network.embedding)} embeddings for {len(network.alphabet.symbols)} symbols"
    yield from _of_outputs(network)
    placed = [coordinate for coordinate, _ in network.positions]
    if len(set(placed)) != len(placed):
        yield "a coordinate has two position embeddings"
    if any(not 0 <= coordinate < width for coordinate in placed):
        yield "a position embedding names a coordinate that does not exist"
    yield from structure.complaints(network)
    for symbol, form in zip(network.alphabet.symbols, network.embedding, strict=False):
        yield from _of_form(form, width, f"the embedding of '{symbol}'")
    for number, layer in enumerate(network.layers):
        yield from _of_layer(layer, network, f"layer {number}")
    if network.normalisation is not None:
        yield from _of_normalisation(network.normalisation, len(network.layers), width)


def _of_normalisation(normalisation: layers.Normalisation, depth: int, width: int) -> Iterator[str]:
    if normalisation.eps < 0:
        yield f"eps is {normalisation.eps}, less than 0"
    if not is_power_of_two(normalisation.unit):
        yield f"the unit {normalisation.unit} is no power of two"
    for place, norms in (
        ("attention", normalisation.before_attention),
        ("the feed-forward layer", normalisation.before_feed_forward),
    ):
        if len(norms) != depth:
            yield f"{len(norms)} norms before {place} for {depth} layers"
        for number, norm in enumerate(norms):
            if len(norm.gain) != width or len(norm.bias) != width:
                yield f"layer {number}: the norm before {place} is not one of {width} coordinates"
            if any(norm.bias) and not normalisation.is_centred:
                yield f"layer {number}: the norm before {place} has a bias, which RMSNorm has not"


def is_power_of_two(value: Fraction) -> bool:
    """Whether the number is 2^k for an integer k.

    >>> is_power_of_two(Fraction(1, 8)), is_power_of_two(Fraction(6))
    (True, False)
    """
    p, q = value.numerator, value.denominator
    return p > 0 and p & (p - 1) == 0 and q & (q - 1) == 0


def _of_outputs(network: layers.Network) -> Iterator[str]:
    for output in {network.output, *network.outputs}:
        if not 0 <= output < len(network.coordinates):
            yield f"output coordinate {output} does not exist"
    names = [name for name, _ in network.symbols]
    if len(set(names)) != len(names):
        yield "an output symbol has two coordinates"
    if network.output != network.outputs[0]:
        yield "the output is not the bit of the first symbol"
    if bool(network.symbols) != (network.measure is Measure.DISTRIBUTION) and network.measure is not None:
        yield "a distribution has names, and other numbers have none"
    if (network.over is None) != (network.measure is not Measure.INTEGER):
        yield "an integer is a share of some positions, and nothing else is"
    if network.over is not None and network.over.is_strict:
        yield "an integer is a share of positions among which is its own"


def _of_layer(layer: layers.Layer, network: layers.Network, where: str) -> Iterator[str]:
    width = len(network.coordinates)
    for number, head in enumerate(layer.heads):
        yield from _of_head(head, network, f"{where}, head {number}")
    for number, unit in enumerate(layer.hidden):
        yield from _of_form(unit.form, width, f"{where}, hidden unit {number}")
        yield from _of_form(unit.outputs, width, f"{where}, output of hidden unit {number}")
    for low, high in layer.clamps:
        if not (0 <= low < len(layer.hidden) and 0 <= high < len(layer.hidden)):
            yield f"{where}: a clamp names a hidden unit that does not exist"
        elif not is_clamp(layer.hidden[low], layer.hidden[high]):
            yield f"{where}: hidden units {low} and {high} are not a clamp"


def is_clamp(low: layers.Hidden, high: layers.Hidden) -> bool:
    """Whether the difference of the two hidden units rounds their common form to a bit."""
    return low.form == high.form and low.bias - high.bias == Fraction(1, 2)


def _of_head(head: layers.Head, network: layers.Network, where: str) -> Iterator[str]:
    width = len(network.coordinates)
    if len(head.query) != len(head.key):
        yield f"{where}: {len(head.query)} query rows and {len(head.key)} key rows"
    if len(head.values) != len(head.targets):
        yield f"{where}: {len(head.values)} values and {len(head.targets)} targets"
    if max(len(head.query), len(head.values)) > network.head_width:
        yield f"{where}: more rows than the head width {network.head_width}"
    if any(not 0 <= target < width for target in head.targets):
        yield f"{where}: a target coordinate does not exist"
    for form in (*head.query, *head.key, *head.values, *_forms_of(head.construction)):
        yield from _of_form(form, width, where)


def _forms_of(construction: layers.Construction | layers.Foreign) -> tuple[layers.LinearForm, ...]:
    match construction:
        case layers.Uniform() | layers.Neighbour() | layers.Foreign():
            return ()
        case layers.Select(_, cases):
            return tuple(form for case in cases for form in case if form is not None)
        case layers.Sign(difference) | layers.IntegerSign(difference):
            return (difference,)
        case layers.LocalSign(left, right, gate, _):
            return (left, right, gate)
        case layers.Lookup(ratio, unit) | layers.IntegerValue(ratio, unit):
            return (ratio, unit)
        case layers.NearestInteger(_, blocked, query, key, square):
            return (blocked, query, key, square)
        case _:
            assert_never(construction)


def _of_form(form: layers.LinearForm, width: int, where: str) -> Iterator[str]:
    named = [coordinate for coordinate, _ in form]
    if any(not 0 <= coordinate < width for coordinate in named):
        yield f"{where}: a coordinate does not exist"
    if named != sorted(set(named)) or any(factor == 0 for _, factor in form):
        yield f"{where}: a linear form is not in normal form"
