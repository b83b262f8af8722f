"""One level of latches: from a stage to the next, where each node's set is included in the old one.

The new set at a position i is a subset T of the old set S. While the steps are no resets, the letters carry
both along. A reset from S with letter a to a larger S' starts anew with T' = S.a, a true subset of S'. So T
is known at i from the node at i and

    what it was when the last reset (or the beginning) set it, as numbers in the frame of the component there;
    which way the walk has gone since, where two ways lead to the same node but carry T to different sets.

The first is the latch 0. For the second, the components are visited in an order in which steps that are no
resets lead upwards. Two groups of steps that enter a component and disagree are told apart by a label that
one of them stores in a latch 1, 2, ...: one more than the latches that are in use where it comes from. A
reset empties these. A group that carries all possible T to the same set is as good as a reset.

If that takes too many rows, such groups *forget* instead of storing labels: behind them T is all of S. A
later level takes up from there, since for it, that is a reset.
"""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass, field

from attemper.compiling.cascade import Content, Contents, Latch, RegisterLevel
from attemper.compiling.decomposing.frames import Frames
from attemper.compiling.decomposing.limits import check
from attemper.compiling.decomposing.refining import Refinement, refine
from attemper.compiling.decomposing.stages import Images, Stage, Transition


@dataclass
class _CrossingSteps:
    """Steps from one component into another that carry all possible sets alike."""

    source: int
    carried: dict[Contents, int]
    steps: list[int] = field(default_factory=list)


class _Latches:
    """The latches of one level while they are planned.

    `held[c]` has, for each possible contents inside component c, the numbers of the states of T.
    `stored[x][r]` is what the symbol x stores in latch r; `forgotten` has the symbols that forget.
    """

    def __init__(self, frames: Frames, images: Images, most: int, *, may_forget: bool) -> None:
        self.frames = frames
        self.images = images
        self.most = most
        self.may_forget = may_forget
        self.forgotten: set[int] = set()
        self.rows = 0
        self.held: list[dict[Contents, int]] = [{} for _ in range(max(frames.component) + 1)]
        self.stored: dict[int, dict[int, Content]] = defaultdict(dict)
        self._labels: dict[tuple[int, int], Content] = {}
        self._marks: dict[int, int] = defaultdict(int)
        self._plan()

    @property
    def is_crowded(self) -> bool:
        """Whether there are too many rows."""
        return self.rows > self.most

    def _plan(self) -> None:
        stage, frames, images = self.frames.stage, self.frames, self.images
        first = images.dfa.start
        self._begin(frames.component[stage.start], frames.coordinates(stage.start, 1 << first), is_start=True)
        leaving: dict[int, list[int]] = defaultdict(list)
        degree = [0] * len(self.held)
        for step in stage.steps:
            degree[frames.component[step.source]] += 1
        for number, step in enumerate(stage.steps):
            if number in frames.resets:
                image = images.under(stage.sets[step.source], step.letter)
                self._reset(number, frames.coordinates(step.target, image))
            elif frames.component[step.source] != frames.component[step.target]:
                leaving[frames.component[step.target]].append(number)
        for component in range(len(self.held)):
            for entry in self._entries(leaving[component]):
                self._enter(component, entry)
            rows = len(self.held[component]) * degree[component]
            images.spend(rows)
            self.rows += rows
            if self.is_crowded:
                return

    def _begin(self, component: int, numbers: int, *, is_start: bool = False) -> Content:
        """The label for a set in a component; None is that of the beginning."""
        if (component, numbers) not in self._labels:
            self._labels[component, numbers] = None if is_start else len(self._labels) - 1
        label = self._labels[component, numbers]
        self.held[component][() if label is None else (label,)] = numbers
        return label

    def _reset(self, symbol: int, numbers: int) -> None:
        target = self.frames.stage.steps[symbol].target
        self.stored[symbol][0] = self._begin(self.frames.component[target], numbers)

    def _entries(self, symbols: list[int]) -> list[_CrossingSteps]:
        """The steps into one component in groups, those that leave many latches in use first."""
        found: dict[tuple[int, tuple[int, ...]], _CrossingSteps] = {}
        for symbol in symbols:
            step = self.frames.stage.steps[symbol]
            source = self.frames.component[step.source]
            carried = {
                contents: self._carried(step, numbers) for contents, numbers in self.held[source].items()
            }
            if carried:
                key = source, tuple(carried.values())
                found.setdefault(key, _CrossingSteps(source, carried)).steps.append(symbol)
        return sorted(found.values(), key=lambda entry: (-_used(entry.carried), -len(entry.steps)))

    def _carried(self, step: Transition, numbers: int) -> int:
        states = self.frames.states(step.source, numbers)
        return self.frames.coordinates(step.target, self.images.under(states, step.letter))

    def _enter(self, component: int, entry: _CrossingSteps) -> None:
        held = self.held[component]
        values = set(entry.carried.values())
        agrees = all(held.get(contents, numbers) == numbers for contents, numbers in entry.carried.items())
        if len(values) == 1 and (len(entry.carried) > 1 or not agrees):
            for symbol in entry.steps:
                self._reset(symbol, next(iter(values)))
        elif agrees:
            held.update(entry.carried)
        elif self.may_forget:
            self.forgotten.update(entry.steps)
            for symbol in entry.steps:
                frame = self.frames.frame[self.frames.stage.steps[symbol].target]
                self._reset(symbol, (1 << len(frame)) - 1)
        else:
            latch = _used(entry.carried) + 1
            label = self._marks[latch]
            self._marks[latch] += 1
            for contents, numbers in entry.carried.items():
                padded = contents + (None,) * (latch - len(contents))
                held[(*padded, label)] = numbers
            for symbol in entry.steps:
                self.stored[symbol][latch] = label

    def latches(self) -> list[Latch]:
        """All latches, number 0 first; those other than 0 are emptied wherever 0 is set."""
        count = 1 + max(_used(held) for held in self.held)
        component, steps = self.frames.component, self.frames.stage.steps
        stores: list[list[tuple[int, Content]]] = [[] for _ in range(count)]
        for symbol, stored in sorted(self.stored.items()):
            if 0 in stored:
                used = _used(self.held[component[steps[symbol].source]])
                stored = stored | dict.fromkeys(range(1, used + 1))
            for latch, label in stored.items():
                stores[latch].append((symbol, label))
        return [Latch(tuple(store)) for store in stores]


def _used(held: dict[Contents, int]) -> int:
    """The greatest number of a latch, besides 0, that is in use."""
    return max((len(contents) - 1 for contents in held if contents), default=0)


def latch_level(
    refinement: Refinement, frames: Frames, images: Images, remembering: int
) -> tuple[RegisterLevel, Stage]:
    """The level above a stage whose frames have no twists, and the stage whose steps are its symbols.

    It forgets rather than have more than `remembering` rows.
    """
    stage = frames.stage
    plan = _Latches(frames, images, remembering, may_forget=False)
    if plan.is_crowded:
        plan = _Latches(frames, images, images.limits.rows_before_merging, may_forget=True)
        refinement = refine(stage, images, plan.forgotten)
    check(plan.rows, images.limits, "rows_before_merging", "rows of a table")
    latches = plan.latches()
    kept = [number for number, latch in enumerate(latches) if latch.store]
    check(len(kept), images.limits, "registers", "registers on a level")
    for latch in latches:
        check(len({label for _, label in latch.store}), images.limits, "labels", "labels of a register")
    outgoing: dict[int, list[int]] = defaultdict(list)
    for number, step in enumerate(stage.steps):
        outgoing[step.source].append(number)
    rows: list[tuple[tuple[int, Contents], int]] = []
    for node in range(len(stage.sets)):
        for contents, numbers in plan.held[frames.component[node]].items():
            shown = tuple(contents[n] if n < len(contents) else None for n in kept)
            states = frames.states(node, numbers)
            rows += [((symbol, shown), refinement.symbol[symbol, states]) for symbol in outgoing[node]]
    return RegisterLevel(tuple(latches[n] for n in kept), tuple(rows)), refinement.above
