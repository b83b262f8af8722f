"""One automaton after the other: first which class of a congruence the state is in, then which state of it.

That takes more levels than everything at once, but its groups are smaller: each acts within one class.
"""

from __future__ import annotations

from collections.abc import Sequence

from attemper.compiling.cascade import Chain, RegisterLevel
from attemper.compiling.decomposing.congruences import Congruence, UnionBudget, descending, quotient
from attemper.compiling.decomposing.flag import flag_chain, height
from attemper.compiling.decomposing.limits import CascadeCaps
from attemper.compiling.decomposing.merging import merge
from attemper.compiling.decomposing.stages import CascadeQuestion, Images, Stage, Transition
from attemper.errors import UnsupportedError
from attemper.languages.regular.dfa import Dfa


def in_series(dfa: Dfa, question: CascadeQuestion, limits: CascadeCaps) -> tuple[Chain, int] | None:
    """The chain with the fewest sublayers that goes through some of ever finer congruences, and their number.

    None if none is found that keeps to the limits.
    """
    ladder = descending(dfa, UnionBudget(limits.congruence_steps))
    return _Ladder(dfa, question, limits, ladder).climb()


class _Ladder:
    """Ways from the first congruence, all states alike, to the last, all different."""

    def __init__(
        self, dfa: Dfa, question: CascadeQuestion, limits: CascadeCaps, congruences: Sequence[Congruence]
    ) -> None:
        self.limits = limits
        self.congruences = congruences
        self.small = [quotient(dfa, congruence) for congruence in congruences[:-1]] + [dfa]
        self.questions = [
            CascadeQuestion(tuple(range(len(s.moves))), with_letter=True) for s in self.small[:-1]
        ]
        self.questions.append(question)
        self._sublayers: dict[tuple[int, int], int | None] = {}
        self._built: dict[tuple[int, int], Chain] = {}

    def climb(self) -> tuple[Chain, int] | None:
        """Tries the ways in the order of their sublayers, each step of a way only once."""
        while True:
            way = self._shortest()
            if way is None:
                return None
            if all(self._build(*step) for step in way):
                chain = self._built[way[0]]
                for step in way[1:]:
                    upper = self._built[step]
                    chain = Chain((*chain.levels, _names(chain.codes), *upper.levels), upper.codes)
                return merge(chain), len(way)

    def _shortest(self) -> list[tuple[int, int]] | None:
        best: list[tuple[int, list[tuple[int, int]]] | None] = [(0, [])]
        for target in range(1, len(self.congruences)):
            ways = []
            for source in range(target):
                before, sublayers = best[source], self._estimate(source, target)
                if before is not None and sublayers is not None:
                    ways.append((before[0] + sublayers, [*before[1], (source, target)]))
            best.append(min(ways, default=None))
        last = best[-1]
        return None if last is None else last[1]

    def _estimate(self, source: int, target: int) -> int | None:
        """The sublayers from one congruence to another; None if it cannot be."""
        if (source, target) not in self._sublayers:
            images = Images(self.small[target], self.limits)
            try:
                stage, question = self._stage(source, target), self.questions[target]
                found = height(stage, images, question, 4 * self.limits.levels, may_place=False)
            except UnsupportedError:
                self._sublayers[source, target] = None
            else:
                self._sublayers[source, target] = found
        return self._sublayers[source, target]

    def _stage(self, source: int, target: int) -> Stage:
        """Known: the class in the congruence `source`. Steps are numbered like the codes below."""
        lower, upper = self.congruences[source], self.congruences[target]
        sets = [0] * (max(lower) + 1)
        for coarse, fine in zip(lower, upper, strict=True):
            sets[coarse] |= 1 << fine
        small = self.small[source]
        steps = [
            Transition(number, letter, after)
            for number, row in enumerate(small.moves)
            for letter, after in enumerate(row)
        ]
        return Stage(tuple(sets), (0,) * len(sets), small.start, tuple(steps))

    def _build(self, source: int, target: int) -> bool:
        """Whether the step of a way keeps to the limits."""
        if (source, target) not in self._built:
            images = Images(self.small[target], self.limits)
            stage, question = self._stage(source, target), self.questions[target]
            remembering = self.limits.rows_remembering
            try:
                raw = flag_chain(stage, images, question, (), remembering, may_place=False)
            except UnsupportedError:
                self._sublayers[source, target] = None
                return False
            self._built[source, target] = merge(raw)
        return True


def _names(codes: Sequence[int]) -> RegisterLevel:
    """A level without registers, whose symbols are the codes."""
    return RegisterLevel((), tuple(((symbol, ()), code) for symbol, code in enumerate(codes)))
