"""A network whose coordinates stand in another order."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import fields, replace

from attemper.networks.layers import Construction, Foreign, Head, Hidden, LinearForm, Network, Select


def permuted(network: Network, order: Sequence[int]) -> Network:
    """Coordinate c stands at order[c]; nothing else changes."""

    def form(own: LinearForm) -> LinearForm:
        return tuple(sorted((order[coordinate], factor) for coordinate, factor in own))

    def head(own: Head) -> Head:
        return replace(
            own,
            query=tuple(map(form, own.query)),
            key=tuple(map(form, own.key)),
            values=tuple(map(form, own.values)),
            targets=tuple(order[target] for target in own.targets),
            construction=_moved(own.construction, form),
        )

    def unit(own: Hidden) -> Hidden:
        return Hidden(form(own.form), own.bias, form(own.outputs))

    names = dict(zip(order, network.coordinates, strict=True))
    return replace(
        network,
        coordinates=tuple(names[place] for place in range(len(order))),
        embedding=tuple(map(form, network.embedding)),
        positions=tuple(
            sorted(((order[c], place) for c, place in network.positions), key=lambda own: own[0])
        ),
        layers=tuple(
            replace(layer, heads=tuple(map(head, layer.heads)), hidden=tuple(map(unit, layer.hidden)))
            for layer in network.layers
        ),
        output=order[network.output],
    )


def _moved(
    construction: Construction | Foreign, form: Callable[[LinearForm], LinearForm]
) -> Construction | Foreign:
    """The same label about the same coordinates."""
    if isinstance(construction, Select):
        cases = tuple(
            (None if here is None else form(here), form(blocked)) for here, blocked in construction.cases
        )
        return replace(construction, cases=cases)
    forms = {
        own.name: form(getattr(construction, own.name))
        for own in fields(construction)
        if isinstance(getattr(construction, own.name), tuple)
    }
    return replace(construction, **forms)
