"""Networks with other closed forms: what they compute of i and n is changed, no weight is."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from attemper.exact.closed_forms import ClosedForm
from attemper.networks.layers import Layer, Network, Softmax


def edited(network: Network, change: Mapping[ClosedForm, ClosedForm]) -> Network:
    """The network with other position embeddings and temperatures."""
    positions = tuple((c, change.get(form, form)) for c, form in network.positions)
    return replace(network, positions=positions, layers=tuple(_edited(own, change) for own in network.layers))


def _edited(layer: Layer, change: Mapping[ClosedForm, ClosedForm]) -> Layer:
    heads = []
    for head in layer.heads:
        assert isinstance(head.weighting, Softmax)
        cold = head.weighting.inverse_temperature
        heads.append(replace(head, weighting=Softmax(change.get(cold, cold))))
    return replace(layer, heads=tuple(heads))
