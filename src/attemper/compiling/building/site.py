"""A network that is being put together, as a construction sees it: what is where, and room for more heads."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from attemper.attention_program.naming import step_names
from attemper.attention_program.ops import Count, Letter, Merge, Place, Program, Ref
from attemper.compiling.building.bits import is_embedded, strip_negations
from attemper.compiling.building.counts import Average, Integer, Mixture
from attemper.compiling.building.plan import CarriedValues, HeadPlan, with_rows
from attemper.compiling.building.weights import Coordinates, LayerDraft, added, form, scaled
from attemper.compiling.cubes import Literal
from attemper.exact.closed_forms import ONE
from attemper.networks.layers import HEAD_WIDTHS, Coordinate, LinearForm

VALUES_PER_HEAD = 4
"""How many values of one place share a head: the width that most heads have anyway."""

MOST_VALUES = max(HEAD_WIDTHS)
"""As many share a head of three rows or more, by cases: what it finds is asked of it case by case."""


class Site:
    """The coordinates of bits and averages, and the layers; layer number l is `layers[l - 1]`."""

    def __init__(self, program: Program, names: Mapping[Ref, str], ready: Sequence[int]) -> None:
        self.program = program
        self.names = names
        self._called = step_names(program, names)
        self.ready = ready
        self.stream = Coordinates()
        self.letters: dict[Letter, Coordinate] = {}
        self.bits: dict[Literal, Coordinate] = {}
        self.averages: dict[Average, Coordinate] = {}
        self.integers: dict[Integer, tuple[Coordinate, ...]] = {}
        self.shares: dict[Integer, Coordinate] = {}
        self.comparisons: dict[tuple[int, Mixture], LinearForm] = {}
        self.retrieved: dict[tuple[int, Count, int | None], LinearForm] = {}
        self.layers: list[LayerDraft] = []
        self._shared: dict[tuple[int, HeadPlan], list[tuple[LinearForm, Coordinate]]] = {}

    # Heads -------------------------------------------------------------------------------------

    def add_head(self, layer: int, plan: HeadPlan, values: CarriedValues) -> None:
        """A head of its own."""
        self.layers[layer - 1].heads.append(with_rows(plan, plan.hard(self.stream), values))

    def share_head(self, layer: int, plan: HeadPlan, value: LinearForm, target: Coordinate) -> None:
        """A value that may share a head with others, as soon as `add_shared_heads` is called."""
        self._shared.setdefault((layer, plan), []).append((value, target))

    def add_shared_heads(self) -> None:
        """The heads for all values since the last call; equal plans in one layer share a head."""
        for (layer, plan), values in self._shared.items():
            most = MOST_VALUES if len(plan.hard(self.stream).query) > 2 else VALUES_PER_HEAD
            for start in range(0, len(values), most):
                self.add_head(layer, plan, tuple(values[start : start + most]))
        self._shared.clear()

    def attended(self, ref: Ref) -> Coordinate:
        """A fresh coordinate for what the head of a step reads."""
        return self.stream.new(f"attended {self.name(ref)}")

    # Forms -------------------------------------------------------------------------------------

    def bit(self, bit: Ref) -> LinearForm:
        """An exact bit of an earlier layer."""
        base, positive = strip_negations(self.program, bit)
        step = self.program.steps[base]
        if isinstance(step, Merge):
            own = added(*(self.bit(part) for part in step.bits))
        elif is_embedded(self.program, base):
            own = self.embedded(base)
        else:
            own = form((self.bits[base, True], 1))
        return own if positive else self.negated(own)

    def negated(self, own: LinearForm) -> LinearForm:
        """1 - own."""
        return added(self.stream.constant(1), scaled(own, -1))

    def embedded(self, ref: Ref) -> LinearForm:
        """A letter or place, as it stands in the embedding."""
        step = self.program.steps[ref]
        if isinstance(step, Place):
            return self.stream.at(step.form)
        assert isinstance(step, Letter)
        if step not in self.letters:
            self.letters[step] = self.stream.new(f"letter {' '.join(step.symbols)}")
        return form((self.letters[step], 1))

    def average(self, average: Average) -> LinearForm:
        """The output of an average's head, or the number that needs no head."""
        if self.is_constant(average):
            return self.stream.constant(sum(factor for factor, _ in average.parts))
        return form((self.averages[average], 1))

    def is_constant(self, average: Average) -> bool:
        """Whether it averages the same number at every position: counts of true are positions."""
        true = Place(ONE)
        return average.mark == 0 and all(self.program.steps[bit] == true for _, bit in average.parts)

    def name(self, ref: Ref) -> str:
        """What the step is called: the subformula that it computes, or what it does to the steps it reads."""
        return self._called[ref]
