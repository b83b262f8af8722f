"""Groups in a stage: components that can be walked round with the states permuted on the way."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import final

from attemper.compiling.decomposing.frames import Frames
from attemper.compiling.decomposing.refining import Refinement
from attemper.compiling.decomposing.stages import Images, Transition
from attemper.errors import UnsupportedError
from attemper.languages.regular import groups
from attemper.languages.regular.classes import shown_states
from attemper.languages.regular.image_sets import members
from attemper.languages.regular.visits import shortest_words


@final
@dataclass(frozen=True)
class Twist:
    """A component whose inner steps permute the numbers of its frame and so change subsets that occur."""

    component: int
    group: groups.Group
    increments: dict[Transition, groups.Permutation]


def twists(refinement: Refinement, frames: Frames, images: Images) -> tuple[Twist, ...]:
    """The components of a stage where some step inside moves the numbers of a subset that occurs."""
    twisted = {frames.component[step.source] for step in frames.inner if not frames.is_straight(step, images)}
    found: dict[int, dict[Transition, groups.Permutation]] = defaultdict(dict)
    for step in frames.inner:
        if frames.component[step.source] in twisted:
            found[frames.component[step.source]][step] = frames.twist(step, images)
    return tuple(
        Twist(component, _generated(increments.values()), increments)
        for component, increments in sorted(found.items())
        if _matters(refinement, frames, increments)
    )


def _generated(permutations: Iterable[groups.Permutation]) -> groups.Group:
    distinct = tuple(dict.fromkeys(permutations))
    return groups.Group(len(distinct[0]), distinct)


def _matters(
    refinement: Refinement, frames: Frames, increments: dict[Transition, groups.Permutation]
) -> bool:
    moved = [
        (step.source, g) for step, g in increments.items() if any(k != image for k, image in enumerate(g))
    ]
    return any(
        sum(1 << g[k] for k in members(numbers)) != numbers
        for node, g in moved
        for numbers in (frames.coordinates(node, states) for states in refinement.subsets[node])
    )


def period(twist: Twist, frames: Frames) -> int | None:
    """The period of the position that settles the permutation since any earlier position; None if none does.

    Each step has a length: 1, and what its source is deeper in the tree than its target. If there is one
    permutation h with the increment h^(length / d) on each step, d the greatest common divisor of the
    lengths, then it is d times the order of h. (Extended Euclid on the pairs of lengths and increments.)
    """
    d, h = 0, groups.identity(twist.group.degree)
    lengths = {step: 1 + frames.depth[step.source] - frames.depth[step.target] for step in twist.increments}
    for step, g in twist.increments.items():
        length = lengths[step]
        while length:
            quotient = d // length
            d, h, length, g = length, g, d - quotient * length, groups.compose(h, groups.power(g, -quotient))
    if d == 0 or any(groups.power(h, lengths[step] // d) != g for step, g in twist.increments.items()):
        return None
    return abs(d) * groups.order_of(h)


def check_solvable(twist: Twist, frames: Frames, images: Images) -> None:
    """Raises `UnsupportedError` naming a factor, the states and words if the group is not solvable."""
    factor = groups.nonabelian_factor(twist.group)
    if factor is None:
        return
    node = frames.component.index(twist.component)
    letters = images.dfa.alphabet.symbols
    words = ", ".join(" ".join(letters[a] for a in word) for word in _loops(twist, frames, node))
    states = shown_states(members(frames.stage.sets[node]))
    raise UnsupportedError(
        f"words such as {words} permute the states {states} in a group that is not solvable: it has the "
        f"factor {factor}; no cascade of latches and counters computes it, so the language cannot be compiled"
    )


def _loops(twist: Twist, frames: Frames, node: int) -> Iterator[tuple[int, ...]]:
    """A few words that lead from a node of the component back to it and permute its states."""
    inner = [step for step in frames.inner if frames.component[step.source] == twist.component]
    there = _paths(node, [(step.source, step.letter, step.target) for step in inner])
    back = _paths(node, [(step.target, step.letter, step.source) for step in inner])
    seen: set[groups.Permutation] = {groups.identity(twist.group.degree)}
    for step, increment in twist.increments.items():
        if increment not in seen and len(seen) <= 4:
            seen.add(increment)
            yield (*there[step.source], step.letter, *reversed(back[step.target]))


def _paths(root: int, edges: list[tuple[int, int, int]]) -> dict[int, tuple[int, ...]]:
    """The letters of a shortest path from the root to each node."""
    outgoing: dict[int, list[tuple[int, int]]] = defaultdict(list)
    for source, letter, target in edges:
        outgoing[source].append((letter, target))
    return dict(shortest_words(root, outgoing.__getitem__))
