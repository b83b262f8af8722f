"""Coordinates for the states of the sets of a stage that the letters carry along.

Along a step that is no reset, the letter maps the set of the source onto the set of the target. In a strongly
connected component of such steps all sets have the same size, so that these maps are bijections. A *frame*
numbers the states of each set of a component: that of the component's first node in increasing order, and the
others as a tree of shortest paths carries these numbers along.
"""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass
from functools import cached_property
from typing import final

from attemper.compiling.decomposing.stages import Images, Stage, Transition
from attemper.languages.regular.groups import Permutation
from attemper.languages.regular.image_sets import members, strong_components


@final
@dataclass(frozen=True)
class Frames:
    """The components of a stage under the steps that are no resets, and their frames.

    `component[v]` is the number of the component of node v; a step that is no reset never leads to a lower
    one. `frame[v][k]` is the state with number k at node v, and `depth[v]` the length of the path to v in the
    tree. `resets` has the numbers of the steps that are resets.
    """

    stage: Stage
    component: tuple[int, ...]
    frame: tuple[tuple[int, ...], ...]
    depth: tuple[int, ...]
    resets: frozenset[int]

    @cached_property
    def inner(self) -> tuple[Transition, ...]:
        """The steps inside a component that are no resets."""
        return tuple(
            step
            for number, step in enumerate(self.stage.steps)
            if number not in self.resets and self.component[step.source] == self.component[step.target]
        )

    def coordinates(self, node: int, mask: int) -> int:
        """The numbers, as a bit mask, of the states of a subset of the node's set."""
        return sum(1 << k for k, state in enumerate(self.frame[node]) if mask >> state & 1)

    def states(self, node: int, numbers: int) -> int:
        """The subset of the node's set, as a bit mask, with these numbers."""
        frame = self.frame[node]
        return sum(1 << frame[k] for k in members(numbers))

    def is_straight(self, step: Transition, images: Images) -> bool:
        """Whether a step inside a component keeps all numbers."""
        moves, letter = images.dfa.moves, step.letter
        return tuple(moves[state][letter] for state in self.frame[step.source]) == self.frame[step.target]

    def twist(self, step: Transition, images: Images) -> Permutation:
        """What a step inside a component does to the numbers: k becomes the entry number k."""
        number = {state: k for k, state in enumerate(self.frame[step.target])}
        moves = images.dfa.moves
        return tuple(number[moves[state][step.letter]] for state in self.frame[step.source])


def frames(stage: Stage, images: Images) -> Frames:
    """The components and frames of a stage."""
    resets = frozenset(n for n, step in enumerate(stage.steps) if images.is_reset(stage, step))
    outgoing: list[dict[int, int]] = [{} for _ in stage.sets]
    for number, step in enumerate(stage.steps):
        if number not in resets:
            outgoing[step.source].setdefault(step.target, step.letter)
    component = strong_components([tuple(targets) for targets in outgoing])
    moves = images.dfa.moves
    frame: list[tuple[int, ...]] = [()] * len(stage.sets)
    depth = [-1] * len(stage.sets)
    for root in range(len(stage.sets)):
        if depth[root] >= 0:
            continue
        frame[root], depth[root] = members(stage.sets[root]), 0
        queue = deque([root])
        while queue:
            node = queue.popleft()
            for target, letter in outgoing[node].items():
                if depth[target] < 0 and component[target] == component[root]:
                    frame[target] = tuple(moves[state][letter] for state in frame[node])
                    depth[target] = depth[node] + 1
                    queue.append(target)
    return Frames(stage, component, tuple(frame), tuple(depth), resets)
