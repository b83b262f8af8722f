"""First, last and parity from the sign embedding (-1)^i, as Proposition 11 of Yang et al. computes them.

    first     the mean of (-1)^j over j <= i is -1 at i = 1, else between -1/3 and 0
    last      the mean over j >= i is 1 or -1 at i = n, else between -1/3 and 1/3

A feed-forward maps -1 (and 1) to 1 and all that is between -1/3 and 1/3 to 0. [i even] is (1 + (-1)^i) / 2.
"""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction

from attemper.compiling.building.weights import Coordinates, LayerDraft, added, scaled
from attemper.compiling.constructions.table import mean_head, plan_of
from attemper.compiling.literal.parity_heads import EVEN, ODD
from attemper.exact.closed_forms import FIRST, LAST, SIGN, ClosedForm
from attemper.networks.layers import Coordinate, Head, Layer, LinearForm, Masking, Network

_HALF = Fraction(1, 2)

_EDGES: dict[ClosedForm, tuple[Masking, tuple[int, ...]]] = {
    FIRST: (Masking.FUTURE, (-1,)),
    LAST: (Masking.PAST, (-1, 1)),
}
"""Over which positions the sign is averaged, and what the mean can be at the edge."""


def from_the_sign(network: Network) -> Network:
    """The hard network with these embeddings computed: of them all only (-1)^i is left."""
    stream = Coordinates(network.coordinates, network.positions)
    parities = {EVEN: _HALF, ODD: -_HALF}
    instead = {
        coordinate: added(stream.constant(_HALF), scaled(stream.at(SIGN), parities[closed]))
        for coordinate, closed in network.positions
        if closed in parities
    }
    edges = [(coordinate, closed) for coordinate, closed in network.positions if closed in _EDGES]
    first = _edge_layer(stream, edges)
    layers = tuple(_substituted(layer, instead) for layer in network.layers)
    kept = tuple(pair for pair in stream.placed() if pair not in edges and pair[0] not in instead)
    return replace(network, coordinates=tuple(stream.labels), positions=kept, layers=(*first, *layers))


def _edge_layer(stream: Coordinates, edges: list[tuple[Coordinate, ClosedForm]]) -> tuple[Layer, ...]:
    draft = LayerDraft()
    for target, closed in edges:
        masking, means = _EDGES[closed]
        mean = stream.new(f"mean sign, {masking}")
        draft.heads.append(mean_head(stream, masking, stream.at(SIGN), mean))
        for at_edge in means:
            draft.add_hidden(((mean, Fraction(at_edge)),), Fraction(-1, 2), target, Fraction(4))
            draft.add_hidden(((mean, Fraction(at_edge)),), Fraction(-3, 4), target, Fraction(-4))
    return (draft.finished(),) if edges else ()


def _substituted(layer: Layer, instead: dict[Coordinate, LinearForm]) -> Layer:
    def rename(form: LinearForm) -> LinearForm:
        return added(*(scaled(instead.get(c, ((c, Fraction(1)),)), factor) for c, factor in form))

    def of_head(head: Head) -> Head:
        query, key, values = (tuple(map(rename, rows)) for rows in (head.query, head.key, head.values))
        construction = plan_of(head).renamed(rename)
        return replace(head, construction=construction, query=query, key=key, values=values)

    hidden = tuple(replace(unit, form=rename(unit.form)) for unit in layer.hidden)
    return replace(layer, heads=tuple(map(of_head, layer.heads)), hidden=hidden)
