"""From a stage to the next one: which smaller sets can occur together with each node."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection
from dataclasses import dataclass
from typing import final

from attemper.compiling.decomposing.limits import check
from attemper.compiling.decomposing.stages import Images, Stage, Transition


@final
@dataclass(frozen=True)
class Refinement:
    """The next stage, `above`; its sets are subsets of those of the stage `below`.

    `subsets[v]` has the subsets that occur at the node v below, as bit masks. `symbol[x, T]` is the step
    above for the step x below where the subset at its source is T.
    """

    below: Stage
    above: Stage
    subsets: tuple[tuple[int, ...], ...]
    symbol: dict[tuple[int, int], int]


def refine(stage: Stage, images: Images, forgotten: Collection[int] = ()) -> Refinement:
    """The next stage: a reset carries the whole set along, any other step carries the subset along.

    But the steps with the numbers `forgotten` lead to the whole set of their target. The subset at the start
    has the automaton's first state only.
    """
    outgoing: dict[int, list[tuple[int, bool]]] = defaultdict(list)
    for number, step in enumerate(stage.steps):
        outgoing[step.source].append((number, images.is_reset(stage, step)))
    begin = stage.start, 1 << images.dfa.start
    subsets: list[dict[int, None]] = [{} for _ in stage.sets]
    subsets[stage.start][begin[1]] = None
    nodes = {(stage.places[stage.start], begin[1]): 0}
    steps: dict[Transition, int] = {}
    symbol: dict[tuple[int, int], int] = {}
    waiting = [begin]
    while waiting:
        node, states = waiting.pop()
        source = nodes[stage.places[node], states]
        for number, is_reset in outgoing[node]:
            step = stage.steps[number]
            image = images.under(stage.sets[node] if is_reset else states, step.letter)
            if number in forgotten:
                image = stage.sets[step.target]
            target = nodes.setdefault((stage.places[step.target], image), len(nodes))
            symbol[number, states] = steps.setdefault(Transition(source, step.letter, target), len(steps))
            if image not in subsets[step.target]:
                subsets[step.target][image] = None
                waiting.append((step.target, image))
        check(len(steps), images.limits, "symbols", "symbols of a level")
        images.spend(len(outgoing[node]))
    places, sets = zip(*nodes, strict=True)
    above = Stage(sets, places, 0, tuple(steps))
    return Refinement(stage, above, tuple(map(tuple, subsets)), symbol)
