"""States in columns, by how many symbols they are from the start, and their order in each column.

A move leads at most one column further, as columns are distances. Arrows that go back over several columns
have a bend in each of those between, which takes part in the order like a state. (This is the layered drawing
of Sugiyama, Tagawa and Toda 1981: orders by the mean of neighbours, swept to and fro.)
"""

from __future__ import annotations

from collections import deque
from collections.abc import Sequence
from fractions import Fraction
from itertools import pairwise
from typing import NamedTuple, final

from attemper.exports.pictures.graph import Arrow, Graph

SWEEPS = 12
"""How often all columns are put in order again; the order with the fewest crossings is taken."""


@final
class DrawnNode(NamedTuple):
    """A state, or the bend of an arrow in a column; `arrow` counts the arrows, and is -1 for a state."""

    state: int
    arrow: int = -1
    column: int = 0

    @property
    def is_bend(self) -> bool:
        """Whether an arrow passes here."""
        return self.arrow >= 0


Columns = list[list[DrawnNode]]


@final
class Layered(NamedTuple):
    """Nodes by columns, from the top down, and the nodes that each arrow passes, from its source on."""

    columns: Columns
    paths: dict[Arrow, tuple[DrawnNode, ...]]


def layered(graph: Graph) -> Layered:
    """The states and bends of a graph in ordered columns."""
    column = _distances(graph)
    columns: Columns = [[] for _ in range(max(column.values()) + 1)]
    for state in sorted(graph.states, key=lambda one: (column[one], list(column).index(one))):
        columns[column[state]].append(DrawnNode(state))
    paths = {}
    for number, arrow in enumerate(graph.links):
        first, last = column[arrow.source], column[arrow.target]
        step = 1 if last > first else -1
        bends = tuple(DrawnNode(arrow.source, number, between) for between in range(first + step, last, step))
        for bend in bends:
            columns[bend.column].append(bend)
        paths[arrow] = (DrawnNode(arrow.source), *bends, DrawnNode(arrow.target))
    return Layered(_ordered(columns, _neighbours(paths)), paths)


def _distances(graph: Graph) -> dict[int, int]:
    """How many symbols each state is from the start; what cannot be reached stands in a column of its own."""
    after: dict[int, list[int]] = {state: [] for state in graph.states}
    for arrow in graph.links:
        after[arrow.source].append(arrow.target)
    found, queue = {graph.start: 0}, deque([graph.start])
    while queue:
        state = queue.popleft()
        for target in after[state]:
            if target not in found:
                found[target] = found[state] + 1
                queue.append(target)
    beyond = max(found.values()) + 1
    return {**found, **{state: beyond for state in graph.states if state not in found}}


def _neighbours(paths: dict[Arrow, tuple[DrawnNode, ...]]) -> dict[DrawnNode, list[DrawnNode]]:
    """The nodes that are joined with each node."""
    found: dict[DrawnNode, list[DrawnNode]] = {}
    for path in paths.values():
        for one, other in pairwise(path):
            found.setdefault(one, []).append(other)
            found.setdefault(other, []).append(one)
    return found


def _ordered(columns: Columns, neighbours: dict[DrawnNode, list[DrawnNode]]) -> Columns:
    """The columns in the order with the fewest crossings that the sweeps find."""
    best, fewest = columns, crossings(columns, neighbours)
    for sweep in range(SWEEPS):
        places = range(1, len(columns)) if sweep % 2 == 0 else range(len(columns) - 2, -1, -1)
        columns = [list(column) for column in columns]
        for place in places:
            towards = place - 1 if sweep % 2 == 0 else place + 1
            columns[place] = _by_means(columns[place], columns[towards], neighbours)
        count = crossings(columns, neighbours)
        if count < fewest:
            best, fewest = columns, count
    return best


def _by_means(
    column: list[DrawnNode], fixed: list[DrawnNode], neighbours: dict[DrawnNode, list[DrawnNode]]
) -> list[DrawnNode]:
    """A column by the mean place of each node's neighbours in the other; nodes without any keep theirs."""
    place = {node: number for number, node in enumerate(fixed)}

    def mean(pair: tuple[int, DrawnNode]) -> Fraction:
        own, node = pair
        found = [place[other] for other in neighbours.get(node, ()) if other in place]
        return Fraction(sum(found), len(found)) if found else Fraction(own)

    return [node for _, node in sorted(enumerate(column), key=mean)]


def crossings(columns: Sequence[Sequence[DrawnNode]], neighbours: dict[DrawnNode, list[DrawnNode]]) -> int:
    """How many pairs of arrows cross between two columns."""
    count = 0
    for left, right in pairwise(columns):
        place = {node: number for number, node in enumerate(right)}
        ends = [sorted(place[other] for other in neighbours.get(node, ()) if other in place) for node in left]
        count += sum(
            low > high
            for number, upper in enumerate(ends)
            for below in ends[number + 1 :]
            for low in upper
            for high in below
        )
    return count
