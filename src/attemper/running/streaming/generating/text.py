"""Lines of Python, and the objects that they name.

Only this room makes text that is run. Numbers stand in it by their `repr`, and all else by names that are
made here, of a letter and a number: no character of a file, a label or a symbol gets into it.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from math import exp, inf, log, nan
from typing import final

from attemper.exact.closed_forms import Alternating, ClosedForm, Number, Position, Power, Product, Sum, Test
from attemper.exact.predicates import Zero
from attemper.running.engines.scan.shapes import Combination
from attemper.running.streaming.forms import position_function

MOST_TERMS = 100
"""Python reads no sum of thousands of terms: longer ones are continued on another line."""

NEAR = 2**26
"""The products of two positions up to here are floats exactly."""

SMALL = 2**53
"""Integers below stand in the text."""

NEVER_INFINITE = 19
"""The highest power of a position, which is 2^53 at most, that float64 surely holds."""


@final
class Text:
    """What a function does for each symbol (`lines`), before the first (`loads`), and to keep its state.

    `objects` are its globals; `is_near` says that it is for positions up to NEAR.
    """

    def __init__(self, *, is_near: bool) -> None:
        self.is_near = is_near
        self.lines: list[str] = []
        self.loads: list[str] = []
        self.stores: list[str] = []
        self.objects: dict[str, object] = {"exp": exp, "log": log, "inf": inf, "nan": nan, "deque": deque}
        self._names = 0
        self._depth = 0
        self._of_position: dict[ClosedForm | str, str] = {}

    def line(self, text: str) -> None:
        """Write a line."""
        self.lines.append(" " * self._depth + text)

    @contextmanager
    def block(self, head: str) -> Iterator[None]:
        """Lines below `head`, which ends with a colon."""
        self.line(head)
        self._depth += 1
        yield
        self._depth -= 1

    def let(self, expression: str) -> str:
        """A new variable with that value."""
        self._names += 1
        self.line(f"t{self._names} = {expression}")
        return f"t{self._names}"

    def bind(self, thing: object) -> str:
        """The name of an object."""
        self._names += 1
        self.objects[f"o{self._names}"] = thing
        return f"o{self._names}"

    def keep(self, place: str, read: str = "{}", write: str = "{}") -> str:
        """A variable for what stands at a place of the state, which is read before the first symbol."""
        self._names += 1
        name = f"s{self._names}"
        self.loads.append(f"{name} = {read.format(place)}")
        self.stores.append(f"{place} = {write.format(name)}")
        return name

    def sum(self, terms: Sequence[str]) -> str:
        """0.0 and the terms, added from left to right."""
        total = "0.0"
        for start in range(0, len(terms), MOST_TERMS):
            total = self.let(" + ".join([total, *terms[start : start + MOST_TERMS]]))
        return total

    def linear(self, factors: Combination, names: Sequence[str]) -> str:
        """A linear form of named numbers: what `linear_function` does, in its order."""
        terms = [names[at] if factor == 1.0 else f"{factor!r} * {names[at]}" for at, factor in factors]
        if len(terms) == 1 and factors[0][1] == 1.0:
            return terms[0]
        # Short sums do not begin with 0.0, which shows in the sign of a zero.
        return self.let(" + ".join(terms)) if 0 < len(terms) <= 3 else self.sum(terms)

    def once(self, expression: str) -> str:
        """A variable with the value of an expression that depends on i alone."""
        if expression not in self._of_position:
            self._of_position[expression] = self.let(expression)
        return self._of_position[expression]

    def form(self, form: ClosedForm) -> str:
        """A closed form of the position: what `position_function` does, in its order."""
        if form not in self._of_position:
            self._of_position[form] = self._written(form)
        return self._of_position[form]

    def _written(self, form: ClosedForm) -> str:
        match form:
            case Number(value):
                return repr(float(value))
            case Position():
                return self.once("1.0 * i")
            case Alternating():
                return self.once("-1.0 if i & 1 else 1.0")
            case Test(Zero(), factor, _, shift) if max(abs(factor), abs(shift)) < SMALL:
                return self.once(f"1.0 if {factor} * i + {shift} == 0 else 0.0")
            case Sum(parts) if len(parts) < MOST_TERMS:
                return self.once(" + ".join(["0.0", *map(self.form, parts)]))
            case Product(parts) if len(parts) < MOST_TERMS:
                return self.once(" * ".join(["1.0", *map(self.form, parts)]))
            case Power(Position(), exponent) if 0 < abs(exponent) <= NEVER_INFINITE:
                power = " * ".join([self.form(Position())] * abs(exponent))
                return self.once(power if exponent > 0 else f"1.0 / ({power})")
            case _:
                return self.let(f"{self.bind(position_function(form))}(i)")
