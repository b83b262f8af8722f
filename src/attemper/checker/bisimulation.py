"""Nodes of a graph that no way onwards tells apart."""

from __future__ import annotations

from collections.abc import Hashable, Sequence


def classes(labels: Sequence[Hashable], after: Sequence[Sequence[int]]) -> list[int]:
    """A number for each node, the same for two nodes if and only if the labels along their ways are the same.

    `after` has the nodes that can follow each node. Two nodes get one number if their labels are equal and
    each node that can follow the one has a node with the same number that can follow the other.
    (Partition refinement: a node is looked at again only after a number of what follows it has changed.)

    >>> classes(["a", "b", "a", "b"], [[1], [0], [3], [2]])
    [0, 1, 0, 1]
    >>> len(set(classes(["a", "a", "a"], [[1], [2], []])))
    3
    """
    known: dict[Hashable, int] = {}
    numbers = [known.setdefault(label, len(known)) for label in labels]
    before: list[list[int]] = [[] for _ in labels]
    for node, following in enumerate(after):
        for other in following:
            before[other].append(node)
    sizes = [0] * len(known)
    for number in numbers:
        sizes[number] += 1
    suspects = set(range(len(labels)))
    while suspects:
        changed = _split(numbers, sizes, after, suspects)
        suspects = {node for other in changed for node in before[other]}
    return numbers


def _split(
    numbers: list[int], sizes: list[int], after: Sequence[Sequence[int]], suspects: set[int]
) -> list[int]:
    """Give new numbers to the suspects that differ from others with their number; those that got one.

    All others with a number see the same numbers after them, and none that is newer than their own.
    """
    parts: dict[int, dict[frozenset[int], list[int]]] = {}
    for node in suspects:
        seen = frozenset(numbers[other] for other in after[node])
        parts.setdefault(numbers[node], {}).setdefault(seen, []).append(node)
    changed: list[int] = []
    for number, kinds in parts.items():
        groups = sorted(kinds.values(), key=len)
        if sum(map(len, groups)) == sizes[number]:
            groups.pop()
        for group in groups:
            for node in group:
                numbers[node] = len(sizes)
            sizes[number] -= len(group)
            sizes.append(len(group))
            changed += group
    return changed
