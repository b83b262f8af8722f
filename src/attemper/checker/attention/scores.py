"""What a head computes with: its scores, derived from the weights term by term, and its values.

The score of j seen from i is a sum of (value at i) * j^p * (diagram at j).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import final

from attemper.checker.diagrams import Diagram
from attemper.checker.names import Names, UnprovenError
from attemper.checker.values import (
    PerStep,
    ResidualValues,
    Value,
    add,
    bound_of,
    multiply,
    of_closed_form,
    of_form,
    plain,
)
from attemper.exact.monomials import Monomial
from attemper.networks.layers import Coordinate, Head, LinearForm, Masking, Softmax

Scores = dict[tuple[int, Diagram], Value]
"""The sum of value(i) * j^p * diagram(j) by (p, diagram)."""

APPROXIMATE = "it reads a coordinate that is only approximate"

ScoreRows = tuple[tuple[Value, Value], ...]
"""The values of each query row, without temperature, and of its key row."""


@final
@dataclass(frozen=True)
class Output:
    """What a head adds to one coordinate: the value at the right position, of values that far apart.

    It is n^growth times the diagram. `error` says how far it is off, if that is not the stray mass times the
    spread; `step` how far a nearest key is.
    """

    target: Coordinate
    diagram: Diagram
    spread: Fraction
    size: Fraction
    growth: int = 0
    error: Monomial | None = None
    step: PerStep | None = None


@final
@dataclass(frozen=True)
class ReadHead:
    """A head of a network, as every construction meets it: nothing here says what the head is for.

    `coldness` is the inverse temperature. `errors` bounds how far each row's query and key can be from their
    values, `value_errors` the values. `queries` are the rows' forms of the coordinates of `stream`. What is
    said of the head need only hold at positions i with the bit `here`, where its scores are `scores_here`, if
    these are given. If it `is_loose`, no more than a range need be said of what a selection reads where
    nothing matches.
    """

    names: Names
    masking: Masking
    rows: ScoreRows
    coldness: Value
    values: tuple[Value, ...]
    targets: tuple[Coordinate, ...]
    errors: tuple[tuple[Monomial, Monomial], ...]
    value_errors: tuple[Monomial, ...]
    queries: tuple[LinearForm, ...]
    stream: ResidualValues
    is_loose: bool
    here: Diagram
    scores_here: Scores | None = None

    @cached_property
    def scores(self) -> Scores:
        """The scores, without what does not depend on j: softmax does not see it.

        A rule that asks for scores reads numbers. Raises `UnprovenError` where a row or a value is more than
        that, or only approximate.
        """
        if self.scores_here is not None:
            return self.scores_here
        require_exact(self)
        scores = _scores(self.names, self.rows, self.coldness)
        plain_values(self)  # refused before the form of the scores is
        return scores

    def outputs(self, read: Callable[[Diagram], Diagram]) -> tuple[Output, ...]:
        """What the head adds, if at i it reads of each value what `read` says."""
        pairs = zip(plain_values(self), self.targets, strict=True)
        return tuple(self.output(target, value, read(value)) for value, target in pairs)

    def output(self, target: Coordinate, value: Diagram, read: Diagram) -> Output:
        """What the head adds to a coordinate, if it reads that of a value."""
        found = self.names.constants(value, "a value")
        return Output(target, read, max(found) - min(found), max(map(abs, found)))

    def seen(self, found: Diagram, edge: Diagram) -> Diagram:
        """What the head reads at i, if one that sees i as well reads `found`: with a strict mask the
        neighbour's, and `edge` where there is none.
        """
        if not self.masking.is_strict:
            return found
        offset = -1 if self.masking.weak is Masking.FUTURE else 1
        return self.names.positions.shifted(found, offset, edge)


def read_head(names: Names, head: Head, stream: ResidualValues, is_loose: bool = False) -> ReadHead:
    """Read the coordinates. Raises `UnprovenError` for hard heads."""
    if not isinstance(head.weighting, Softmax):
        raise UnprovenError("it is not a softmax head")
    pairs = tuple(zip(head.query, head.key, strict=True))
    return ReadHead(
        names=names,
        here=names.true,
        masking=head.masking,
        coldness=of_closed_form(names, head.weighting.inverse_temperature),
        rows=tuple((of_form(names, query, stream), of_form(names, key, stream)) for query, key in pairs),
        errors=tuple((bound_of(query, stream), bound_of(key, stream)) for query, key in pairs),
        values=tuple(of_form(names, form, stream) for form in head.values),
        value_errors=tuple(bound_of(form, stream) for form in head.values),
        targets=head.targets,
        queries=head.query,
        stream=stream,
        is_loose=is_loose,
    )


def require_exact(head: ReadHead) -> None:
    """Raise `UnprovenError` if a row or a value is only approximate."""
    if any(own.factor for pair in (*head.errors, head.value_errors) for own in pair):
        raise UnprovenError(APPROXIMATE)


def plain_value(names: Names, value: Value, off: Monomial) -> Diagram:
    """A value. Raises `UnprovenError` if it is more than a number, or only approximate."""
    if off.factor:
        raise UnprovenError(APPROXIMATE)
    found = plain(value, names, "a value")
    names.constants(found, "a value")
    return found


def plain_values(head: ReadHead) -> tuple[Diagram, ...]:
    """The values. Raises `UnprovenError` if they are more than numbers, or only approximate."""
    pairs = zip(head.values, head.value_errors, strict=True)
    return tuple(plain_value(head.names, value, off) for value, off in pairs)


def _scores(names: Names, rows: ScoreRows, coldness: Value) -> Scores:
    """The scores, without what does not depend on j: softmax does not see it."""
    scores: Scores = {}
    for row, key in rows:
        query = multiply(names, row, coldness)
        for (power, length), diagram in key.items():
            names.constants(diagram, "a key")
            at_i: Value = {(a, b + length): d for (a, b), d in query.items()}
            scores[power, diagram] = add(names, scores.get((power, diagram), {}), at_i)
    is_constant = names.diagrams.is_constant
    return {k: v for k, v in scores.items() if v and not (k[0] == 0 and is_constant(k[1]))}
