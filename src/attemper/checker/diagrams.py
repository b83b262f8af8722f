"""Decision diagrams: functions of finitely many bits in a normal form: equal functions are one object.

A *variable* is (family, threshold). The bits of one family are tied to each other:

    FREE        one bit, or bits without ties
    CHAIN       (f, t) says x >= t, so (f, t) = 0 makes every higher threshold 0
    EXCLUSIVE   (f, r) says x = r, so (f, r) = 1 makes every other one 0

Diagrams are ordered, reduced and shared; ties are used in both, so two diagrams are the same number
if and only if they give the same terminal wherever the ties hold. Terminals are any hashable values.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Iterator
from enum import Enum
from typing import NewType, final

Diagram = NewType("Diagram", int)
"""An index into `Diagrams`."""

Variable = tuple[int, int]
"""(family, threshold)."""

MAX_NODES = 2_000_000
"""A check that needs more gives up, and says so."""


MAX_REMEMBERED = 500_000
"""How many combinations of diagrams are remembered before all of them are forgotten, to save space."""


class Tie(Enum):
    """How the bits of one family constrain each other."""

    FREE = "free"
    CHAIN = "chain"
    EXCLUSIVE = "exclusive"


class TooLargeError(Exception):
    """A diagram outgrew `MAX_NODES`."""


@final
class Diagrams:
    """All diagrams of one check."""

    def __init__(self) -> None:
        self.ties: list[Tie] = []
        self._variable: list[Variable] = []
        self._low: list[Diagram] = []
        self._high: list[Diagram] = []
        self._value: list[Hashable] = []
        self._nodes: dict[tuple[Variable, Diagram, Diagram], Diagram] = {}
        self._terminals: dict[Hashable, Diagram] = {}
        self._memo: dict[tuple[int, Diagram, Diagram], Diagram] = {}
        self._names: dict[Hashable, int] = {}
        """The functions that `combine` knows, by number: names can be long, and each step looks one up."""

    def family(self, tie: Tie) -> int:
        """A new family of variables, after all others in the order."""
        self.ties.append(tie)
        return len(self.ties) - 1

    def constant(self, value: Hashable) -> Diagram:
        """The diagram with one value everywhere."""
        if value not in self._terminals:
            self._terminals[value] = self._new(_NO_VARIABLE, Diagram(-1), Diagram(-1), value)
        return self._terminals[value]

    def bit(self, variable: Variable, low: Diagram, high: Diagram) -> Diagram:
        """`high` where the bit is 1, `low` where it is 0; both may only read later variables."""
        family, _ = variable
        tie = self.ties[family]
        if tie is Tie.CHAIN:
            low = self._canonical(low, family)
            if self._variable[high][0] == family and self._low[high] == low:
                return high
        elif tie is Tie.EXCLUSIVE:
            high = self._canonical(high, family)
            if self._canonical(low, family) == high:
                return low
        if low == high:
            return low
        node = self._nodes.get((variable, low, high))
        if node is None:
            node = self._nodes[variable, low, high] = self._new(variable, low, high, None)
        return node

    def is_constant(self, diagram: Diagram) -> bool:
        """Whether it is a terminal."""
        return self._low[diagram] < 0

    def value(self, diagram: Diagram) -> Hashable:
        """The value of a terminal."""
        return self._value[diagram]

    def top(self, diagram: Diagram) -> tuple[Variable, Diagram, Diagram]:
        """Variable, low and high of a diagram that is no terminal."""
        return self._variable[diagram], self._low[diagram], self._high[diagram]

    def combine(
        self, name: Hashable, function: Callable[..., Hashable], left: Diagram, right: Diagram
    ) -> Diagram:
        """The diagram of function(left, right), value by value. Equal names mean equal functions."""
        memo, variables, lows, values = self._memo, self._variable, self._low, self._value
        number = self._names.setdefault(name, len(self._names))
        if len(memo) > MAX_REMEMBERED:
            memo.clear()

        def go(a: Diagram, b: Diagram) -> Diagram:
            found = memo.get((number, a, b))
            if found is not None:
                return found
            if lows[a] < 0 and lows[b] < 0:
                result = self.constant(function(values[a], values[b]))
            else:
                variable = min(variables[a], variables[b])
                (low_a, high_a), (low_b, high_b) = self.branches(a, variable), self.branches(b, variable)
                result = self.bit(variable, go(low_a, low_b), go(high_a, high_b))
            memo[number, a, b] = result
            return result

        return go(left, right)

    def map(self, name: Hashable, function: Callable[..., Hashable], diagram: Diagram) -> Diagram:
        """The diagram of function(value), value by value."""
        nothing = self.constant(None)
        return self.combine(name, lambda value, _: function(value), diagram, nothing)

    def combine_all(
        self, name: Hashable, function: Callable[..., Hashable], diagrams: Iterable[Diagram]
    ) -> Diagram:
        """The diagram of an associative and commutative function of all, of which there is at least one.

        The smallest first, as each combination goes through what stands already.
        """
        first, *others = sorted(diagrams, key=self.size)
        for other in others:
            first = self.combine(name, function, first, other)
        return first

    def branches(self, diagram: Diagram, variable: Variable) -> tuple[Diagram, Diagram]:
        """The diagram where a variable, not later than its top, is 0, and where the variable is 1."""
        low = high = diagram
        if self._variable[diagram] == variable:
            low, high = self._low[diagram], self._high[diagram]
        family, _ = variable
        tie = self.ties[family]
        if tie is Tie.CHAIN:
            low = self._canonical(low, family)
        elif tie is Tie.EXCLUSIVE:
            high = self._canonical(high, family)
        return low, high

    def constrain(self, diagram: Diagram, care: Diagram, false: Diagram) -> Diagram:
        """A diagram equal to `diagram` wherever `care` is not `false`, the same for all such diagrams.

        (Coudert and Madre's generalised cofactor.) `care` must not be `false` everywhere.
        """
        memo: dict[tuple[Diagram, Diagram], Diagram] = {}

        def go(node: Diagram, where: Diagram) -> Diagram:
            if self._low[where] < 0 or self._low[node] < 0:
                return node
            if (node, where) in memo:
                return memo[node, where]
            variable = min(self._variable[node], self._variable[where])
            off, on = self.branches(where, variable)
            low, high = self.branches(node, variable)
            if off == false:
                result = go(high, on)
            elif on == false:
                result = go(low, off)
            else:
                result = self.bit(variable, go(low, off), go(high, on))
            memo[node, where] = result
            return result

        return go(diagram, care)

    def substitute(
        self, diagram: Diagram, replacement: Callable[[Variable], Diagram], choose: Callable[..., Diagram]
    ) -> Diagram:
        """Every variable replaced by a diagram; `choose(bit, high, low)` is if-then-else."""
        memo: dict[Diagram, Diagram] = {}

        def go(node: Diagram) -> Diagram:
            if self._low[node] < 0:
                return node
            if node not in memo:
                low, high = go(self._low[node]), go(self._high[node])
                memo[node] = choose(replacement(self._variable[node]), high, low)
            return memo[node]

        return go(diagram)

    def decide(
        self,
        diagram: Diagram,
        decision: Callable[[Variable], bool | None],
        memo: dict[Diagram, Diagram],
    ) -> Diagram:
        """The diagram with some variables fixed; `memo` may be kept for the same decisions."""

        def go(node: Diagram) -> Diagram:
            if self._low[node] < 0:
                return node
            if node not in memo:
                variable = self._variable[node]
                value = decision(variable)
                if value is None:
                    memo[node] = self.bit(variable, go(self._low[node]), go(self._high[node]))
                else:
                    memo[node] = go(self._high[node] if value else self._low[node])
            return memo[node]

        return go(diagram)

    def values(self, diagram: Diagram) -> list[Hashable]:
        """All values that the diagram takes, in an order that depends on the function alone."""
        return [self._value[node] for node in self._reached(diagram) if self._low[node] < 0]

    def support(self, diagram: Diagram) -> set[Variable]:
        """The variables that the diagram reads."""
        return {self._variable[node] for node in self._reached(diagram) if self._low[node] >= 0}

    def size(self, diagram: Diagram) -> int:
        """How many nodes the diagram has."""
        return sum(1 for _ in self._reached(diagram))

    def _reached(self, diagram: Diagram) -> Iterator[Diagram]:
        seen, stack = {diagram}, [diagram]
        while stack:
            node = stack.pop()
            yield node
            if self._low[node] >= 0:
                for child in (self._low[node], self._high[node]):
                    if child not in seen:
                        seen.add(child)
                        stack.append(child)

    def _canonical(self, diagram: Diagram, family: int) -> Diagram:
        """The diagram where every bit of the family at its top is 0."""
        while self._variable[diagram][0] == family:
            diagram = self._low[diagram]
        return diagram

    def _new(self, variable: Variable, low: Diagram, high: Diagram, value: Hashable) -> Diagram:
        if len(self._low) >= MAX_NODES:
            raise TooLargeError
        self._variable.append(variable)
        self._low.append(low)
        self._high.append(high)
        self._value.append(value)
        return Diagram(len(self._low) - 1)


_NO_VARIABLE: Variable = (1 << 60, 0)
"""Later than every variable: what terminals read."""
