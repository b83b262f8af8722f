"""Who reads a variable's coordinates, and edges as people write them."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace

from attemper.errors import OptionError
from attemper.networks.layers import LinearForm, Network
from attemper.theories.causal.certificate import (
    CausalClaim,
    CausalEdge,
    CausalVariable,
    EdgeSet,
    FeedForwardEdge,
    HeadEdge,
    HeadPart,
    OutputEdge,
    complaints,
)
from attemper.theories.causal.check.cutting import lost_edges

ALL = "all"

EDGE = re.compile(
    r"(?:head (\d{1,9})\.(\d{1,9}) (query|key|values)|feed-forward (\d{1,9})|output) <- s(\d{1,9})"
)


def edges_in(network: Network, variables: Sequence[CausalVariable]) -> Iterator[CausalEdge]:
    """Everybody who reads a variable's coordinates with a weight: in later layers, and what is put out."""
    for number, variable in enumerate(variables):
        for late, layer in enumerate(network.layers[variable.layer + 1 :], start=variable.layer + 1):
            for own, head in enumerate(layer.heads):
                parts = zip(HeadPart, (head.query, head.key, head.values), strict=True)
                yield from (
                    HeadEdge(number, late, own, part) for part, forms in parts if _read(forms, variable)
                )
            if _read((unit.form for unit in layer.hidden), variable):
                yield FeedForwardEdge(number, late)
        if not set(variable.coordinates).isdisjoint(network.outputs):
            yield OutputEdge(number)


def _read(forms: Iterable[LinearForm], variable: CausalVariable) -> bool:
    return any(coordinate in variable.coordinates for form in forms for coordinate, _ in form)


def edge_sets(network: Network, claim: CausalClaim, asked: Sequence[str]) -> list[EdgeSet]:
    """The sets that are asked for, each once, and each in one text: "all", or edges with commas between them.

    Of a variable over which a later layer writes there are none. Raises `OptionError` for what is no edge of
    the claim's variables.
    """
    found = list[EdgeSet]()
    for text in asked:
        if text == ALL:
            single = (EdgeSet((edge,), None) for edge in edges_in(network, claim.variables))
            found += (own for own in single if not any(lost_edges(network, claim.variables, own.edges)))
            continue
        own = EdgeSet(tuple(_edge(part.strip(), claim.variables) for part in text.split(",")), None)
        said = replace(claim, edge_sets=(own,))
        for complaint in (*complaints(said), *lost_edges(network, claim.variables, own.edges)):
            raise OptionError(f"'{text}': {complaint}", options=("edges",))
        found.append(own)
    return list(dict.fromkeys(found))


def _edge(text: str, variables: Sequence[CausalVariable]) -> CausalEdge:
    """One edge; its variable is named by one of its steps."""
    said = EDGE.fullmatch(text)
    if said is None:
        raise OptionError(
            f"'{text}' is no edge: write 'all', 'head 1.0 query <- s8' (or key, or values), "
            "'feed-forward 1 <- s8' or 'output <- s8'",
            options=("edges",),
        )
    layer, head, part, late, step = said.groups()
    named = [number for number, own in enumerate(variables) if int(step) in own.steps]
    if not named:
        raise OptionError(f"'{text}': no variable that is proved has step {step}", options=("edges",))
    if layer is not None:
        return HeadEdge(named[0], int(layer), int(head), HeadPart(part))
    return OutputEdge(named[0]) if late is None else FeedForwardEdge(named[0], int(late))
