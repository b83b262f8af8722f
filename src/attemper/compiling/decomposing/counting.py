"""Levels of counters: the product of the permutations so far, step by step along the derived series.

Let g_t be the permutation at position t, G(t) the product of the g_s with s < t, and
H = D_0 > D_1 > ... > 1 the derived series of their group H. Height i knows p(t), the least element of the
coset D_i G(t). Then

    u_t = p(t) g_t p(t+1)^-1    is in D_i, and G(t) = u_1 ... u_(t-1) p(t);
    D_(i+1) G(t) = D_(i+1) e(t) p(t)    where e(t) is the product of the u_s with s < t modulo D_(i+1).

That factor is abelian, so that e(t) depends only on how often each value occurs: counters, then a table.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import product
from math import prod

from attemper.compiling.cascade import Counter, RegisterLevel, Sum
from attemper.compiling.decomposing.abelian import Tally, coordinates, residues, tallies, total
from attemper.compiling.decomposing.frames import Frames
from attemper.compiling.decomposing.limits import CascadeCaps, check
from attemper.compiling.decomposing.stages import Stage, Transition
from attemper.compiling.decomposing.twists import Twist
from attemper.languages.regular.groups import Group, Permutation, compose, derived_series, identity, inverse

WIDE = 2_000
"""Counters for several groups share a level as long as its table has no more rows."""

MANY = 500
"""With more combinations of counts than these, their remainders are added up before they are looked at."""


@dataclass
class _Bundle:
    """Components that share their counters: inside one of them, only its own permutations occur.

    `representative[i]` gives the least element of the coset of D_i that an element is in.
    """

    components: list[int]
    group: Group
    increments: dict[Transition, Permutation]
    representative: list[dict[Permutation, Permutation]] = field(default_factory=list)
    series: tuple[Group, ...] = ()
    height: int = 0

    def prepare(self) -> None:
        self.series = derived_series(self.group)
        everything = self.group.elements
        for smaller in self.series:
            least: dict[Permutation, Permutation] = {}
            for element in everything:
                if element not in least:
                    least.update((compose(d, element), element) for d in smaller.elements)
            self.representative.append(least)

    @property
    def is_done(self) -> bool:
        return self.height == len(self.series) - 1

    def following(self, step: Transition, known: Permutation) -> Permutation:
        """p(t+1) for the step at t, from p(t)."""
        increment = self.increments.get(step)
        return known if increment is None else self.representative[self.height][compose(known, increment)]


KnownPermutations = tuple[Permutation | None, ...]
"""For each bundle p(t), where it is of use, else None."""


def counted_stage(
    twisted: Sequence[Twist], frames: Frames, limits: CascadeCaps
) -> tuple[tuple[RegisterLevel, ...], Stage]:
    """Levels above a stage, and the stage whose nodes know the product in the twisted components."""
    return _Counting(twisted, frames, limits).run()


class _Counting:
    def __init__(self, twisted: Sequence[Twist], frames: Frames, limits: CascadeCaps) -> None:
        self.frames = frames
        self.limits = limits
        self.bundles = _bundles(twisted)
        self.of_component = {c: n for n, bundle in enumerate(self.bundles) for c in bundle.components}
        for bundle in self.bundles:
            bundle.prepare()

    def run(self) -> tuple[tuple[RegisterLevel, ...], Stage]:
        symbols: dict[tuple[int, KnownPermutations], int] = {}
        for number, step in enumerate(self.frames.stage.steps):
            concerned = self._concerned(step)
            known = tuple(
                identity(bundle.group.degree) if n in concerned else None
                for n, bundle in enumerate(self.bundles)
            )
            symbols[number, known] = len(symbols)
        levels: list[RegisterLevel] = []
        while not all(bundle.is_done for bundle in self.bundles):
            level, symbols = self._level(symbols)
            levels.append(level)
        steps: dict[Transition, int] = {}
        nodes: dict[tuple[int, Permutation | None], int] = {}
        stage = self.frames.stage
        to_step: dict[int, int] = {}
        for (number, known), symbol in symbols.items():
            step = stage.steps[number]
            source = nodes.setdefault((step.source, self._here(step.source, known)), len(nodes))
            target = nodes.setdefault((step.target, self._there(step, known)), len(nodes))
            to_step[symbol] = steps.setdefault(Transition(source, step.letter, target), len(steps))
        rows = tuple((key, to_step[symbol]) for key, symbol in levels[-1].rows)
        levels[-1] = RegisterLevel(levels[-1].registers, rows)
        first = self.of_component.get(self.frames.component[stage.start])
        unit = None if first is None else identity(self.bundles[first].group.degree)
        start = nodes[stage.start, unit]
        sets = tuple(stage.sets[node] for node, _ in nodes)
        places = tuple(stage.places[node] for node, _ in nodes)
        return tuple(levels), Stage(sets, places, start, tuple(steps))

    def _concerned(self, step: Transition) -> set[int]:
        """The bundles whose products matter before or after a step."""
        ends = self.frames.component[step.source], self.frames.component[step.target]
        return {self.of_component[c] for c in ends if c in self.of_component}

    def _here(self, node: int, known: KnownPermutations) -> Permutation | None:
        bundle = self.of_component.get(self.frames.component[node])
        return None if bundle is None else known[bundle]

    def _there(self, step: Transition, known: KnownPermutations) -> Permutation | None:
        number = self.of_component.get(self.frames.component[step.target])
        if number is None:
            return None
        here = known[number]
        assert here is not None
        return self.bundles[number].following(step, here)

    def _level(
        self, symbols: Mapping[tuple[int, KnownPermutations], int]
    ) -> tuple[RegisterLevel, dict[tuple[int, KnownPermutations], int]]:
        """One step along the series of as many groups as fit; at least of one."""
        plans: dict[int, _Plan] = {}
        for n, bundle in enumerate(self.bundles):
            if not bundle.is_done:
                plan = self._plan(n, symbols)
                width = prod(p.combinations for p in [*plans.values(), plan]) * len(symbols)
                if not plans or width <= WIDE:
                    plans[n] = plan
        own = {n: plan.registers for n, plan in plans.items()}
        registers = tuple(register for each in own.values() for register in each)
        check(len(registers), self.limits, "registers", "registers on a level")
        check(
            prod(r.modulus for r in registers) * len(symbols),
            self.limits,
            "rows_before_merging",
            "rows of a table",
        )
        rows: list[tuple[tuple[int, tuple[int, ...]], int]] = []
        found: dict[tuple[int, KnownPermutations], int] = {}
        for contents in product(*(range(register.modulus) for register in registers)):
            held = iter(contents)
            factor = {n: plan.factor([next(held) for _ in own[n]]) for n, plan in plans.items()}
            for (number, known), symbol in symbols.items():
                better = list(known)
                for n, e in factor.items():
                    p = known[n]
                    if p is not None:
                        bundle = self.bundles[n]
                        better[n] = bundle.representative[bundle.height + 1][compose(e, p)]
                here = number, tuple(better)
                rows.append(((symbol, contents), found.setdefault(here, len(found))))
        check(len(found), self.limits, "symbols", "symbols of a level")
        for n in plans:
            self.bundles[n].height += 1
        return RegisterLevel(registers, tuple(rows)), found

    def _plan(self, n: int, symbols: Mapping[tuple[int, KnownPermutations], int]) -> _Plan:
        bundle = self.bundles[n]
        least = bundle.representative[bundle.height + 1]
        elements = sorted({least[element] for element in bundle.series[bundle.height].elements})
        values: dict[int, Permutation] = {}
        for (number, known), symbol in symbols.items():
            step, p = self.frames.stage.steps[number], known[n]
            if p is not None and step in bundle.increments:
                u = compose(compose(p, bundle.increments[step]), inverse(bundle.following(step, p)))
                values[symbol] = least[u]
        options = []
        for primary in (False, True):
            orders, named = coordinates(elements, lambda a, b: least[compose(a, b)], primary=primary)
            numbers = {element: key for key, element in named.items()}
            increment = {symbol: numbers[value] for symbol, value in values.items()}
            counts = tallies(orders, increment.values())
            options.append(_Plan(orders, named, counts, increment))
        best = min(options, key=lambda plan: residues(plan.counts))
        return replace(best, is_summed=residues(best.counts) > MANY)


@dataclass
class _Plan:
    """How the next factor of a bundle is counted; `increment` has the coordinates that a symbol adds.

    It is `is_summed` where counts would have too many combinations: then registers hold the coordinates.
    """

    orders: tuple[int, ...]
    named: dict[tuple[int, ...], Permutation]
    counts: tuple[Tally, ...]
    increment: dict[int, tuple[int, ...]]
    is_summed: bool = False

    @property
    def combinations(self) -> int:
        """How many contents the registers can have."""
        return prod(register.modulus for register in self.registers)

    @property
    def registers(self) -> tuple[Counter | Sum, ...]:
        if self.is_summed:
            return tuple(
                Sum(tuple((symbol, numbers[j]) for symbol, numbers in self.increment.items()), order)
                for j, order in enumerate(self.orders)
            )
        return tuple(
            Counter(
                frozenset(s for s, numbers in self.increment.items() if numbers[c.coordinate] == c.value),
                c.modulus,
            )
            for c in self.counts
        )

    def factor(self, held: Sequence[int]) -> Permutation:
        if self.is_summed:
            return self.named[tuple(held)]
        return self.named[total(self.orders, dict(zip(self.counts, held, strict=True)))]


def _bundles(twisted: Sequence[Twist]) -> list[_Bundle]:
    """Components share counters where this makes no group larger than the larger one of theirs."""
    degree = max(twist.group.degree for twist in twisted)
    found: list[_Bundle] = []
    for twist in sorted(twisted, key=lambda twist: -twist.group.order):
        increments = {step: g + tuple(range(len(g), degree)) for step, g in twist.increments.items()}
        own = Group(degree, tuple(dict.fromkeys(increments.values())))
        for bundle in found:
            joint = Group(degree, bundle.group.generators + own.generators)
            if joint.order == bundle.group.order:
                bundle.components.append(twist.component)
                bundle.increments |= increments
                break
        else:
            found.append(_Bundle([twist.component], own, increments))
    return found
