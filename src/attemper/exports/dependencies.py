"""Which component of a network writes a coordinate, and which later one reads it."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass
from enum import StrEnum
from typing import final

from attemper.networks.layers import Coordinate, Head, Hidden, LinearForm, Network


class Role(StrEnum):
    """As what a coordinate is read."""

    QUERY = "query"
    KEY = "key"
    VALUE = "value"
    HIDDEN = "hidden"
    """By a hidden unit."""
    OUTPUT = "output"
    """As what is put out."""


RoleReads = tuple[tuple[Role, Coordinate], ...]
"""Roles and coordinates, sorted, none twice."""


@final
@dataclass(frozen=True)
class Component:
    """A source of the residual stream, a head, a hidden unit, or the output.

    Components of one stage do not see what the others write there; those of later stages do.
    """

    name: str
    stage: int
    reads: RoleReads
    writes: tuple[Coordinate, ...]


@final
@dataclass(frozen=True)
class Dependency:
    """`target` reads a coordinate, in a role, to which `source` has written."""

    source: str
    target: str
    role: Role
    coordinate: Coordinate


def head_name(layer: int, index: int) -> str:
    """What a head is called."""
    return f"head {layer}.{index}"


def hidden_name(layer: int, index: int) -> str:
    """What a hidden unit is called."""
    return f"hidden {layer}.{index}"


def components_of(network: Network) -> tuple[Component, ...]:
    """All components, in the order of a run.

    What is multiplied by 0 is neither read nor written: a query of which the key is 0, or a value that is 0.

    >>> import attemper
    >>> [one.name for one in components_of(attemper.compile("O a", "ab").network)]
    ['embed', 'pos_embed', 'head 0.0', 'hidden 0.0', 'hidden 0.1', 'output']
    """
    return tuple(_components(network))


def edges_of(components: tuple[Component, ...]) -> tuple[Dependency, ...]:
    """All edges from a component to one of a later stage, in the order of readers, roles and coordinates.

    >>> import attemper
    >>> components = components_of(attemper.compile("O a", "ab").network)
    >>> [edge.source for edge in edges_of(components) if edge.target == "output"]
    ['hidden 0.0', 'hidden 0.1']
    """
    writers: dict[Coordinate, list[Component]] = defaultdict(list)
    for component in components:
        for coordinate in component.writes:
            writers[coordinate].append(component)
    return tuple(
        Dependency(source.name, target.name, role, coordinate)
        for target in components
        for role, coordinate in target.reads
        for source in writers[coordinate]
        if source.stage < target.stage
    )


def _components(network: Network) -> Iterator[Component]:
    embedded = {coordinate for form in network.embedding for coordinate, _ in form}
    yield Component("embed", 0, (), tuple(sorted(embedded)))
    yield Component("pos_embed", 0, (), tuple(sorted({coordinate for coordinate, _ in network.positions})))
    for number, layer in enumerate(network.layers):
        for index, head in enumerate(layer.heads):
            yield _of_head(head_name(number, index), 2 * number + 1, head)
        for index, unit in enumerate(layer.hidden):
            yield _of_unit(hidden_name(number, index), 2 * number + 2, unit)
    outputs = tuple((Role.OUTPUT, coordinate) for coordinate in sorted(set(network.outputs)))
    yield Component("output", 2 * len(network.layers) + 1, outputs, ())


def _of_head(name: str, stage: int, head: Head) -> Component:
    reads: set[tuple[Role, Coordinate]] = set()
    for query, key in zip(head.query, head.key, strict=True):
        if query and key:
            reads |= _read(Role.QUERY, query) | _read(Role.KEY, key)
    for value in head.values:
        reads |= _read(Role.VALUE, value)
    pairs = zip(head.values, head.targets, strict=True)
    return Component(name, stage, _sorted(reads), tuple(sorted({target for value, target in pairs if value})))


def _of_unit(name: str, stage: int, unit: Hidden) -> Component:
    written = tuple(sorted({coordinate for coordinate, _ in unit.outputs}))
    return Component(name, stage, _sorted(_read(Role.HIDDEN, unit.form)), written)


def _read(role: Role, form: LinearForm) -> set[tuple[Role, Coordinate]]:
    return {(role, coordinate) for coordinate, _ in form}


def _sorted(reads: set[tuple[Role, Coordinate]]) -> RoleReads:
    roles = list(Role)
    return tuple(sorted(reads, key=lambda read: (roles.index(read[0]), read[1])))
