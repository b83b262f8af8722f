"""By cases: a head whose scores depend on bits at i, each combination of their values looked at alone.

Form: the factors at i of the scores are diagrams, which take finitely many joint values. Each is a *cell*:
the positions i at which the factors have these values. There the head's scores are those of the head with
the values put in, so what a rule says of that head, for all words, holds at these i.
Side conditions: those of the rule, in every cell; at most `MAX_CELLS` cells.
Bound: the greatest of the cells.
Output: what the cell's head puts out at i, by the cell at i. So with a strict mask the cell is that of i, and
only what its head reads is the neighbour's.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from fractions import Fraction

from attemper.checker.attention.scores import Output, ReadHead
from attemper.checker.diagrams import Diagram
from attemper.checker.names import Affine, UnprovenError
from attemper.checker.rules import HeadFact
from attemper.checker.values import Value

MAX_CELLS = 16
"""As many as heads need that tell 15 cases apart: one more is where none of them is in force."""

Cell = tuple[Affine, ...]
"""The value of each factor at i, in the order of the scores."""


def by_cases(rule: Callable[[ReadHead], HeadFact], head: ReadHead) -> HeadFact:
    """The rule, applied in every cell. Raises `UnprovenError` if one has none, or if they are too many."""
    cells = cells_of(head)
    facts = [rule(own) for own in cells]
    if len(facts) == 1:
        return facts[0]
    rules = tuple(rule for fact in facts for rule in fact.rules)
    return HeadFact(rules, by_cell(cells, [fact.outputs for fact in facts]))


def cells_of(head: ReadHead) -> list[ReadHead]:
    """The head as it is in each cell: itself, if there is one. Raises `UnprovenError` for too many."""
    joint = _joint(head)
    cells = [cell for cell in head.names.diagrams.values(joint) if isinstance(cell, tuple)]
    return [head] if len(cells) == 1 else [_inside(head, joint, cell) for cell in cells]


def by_cell(cells: list[ReadHead], outputs: list[tuple[Output, ...]]) -> tuple[Output, ...]:
    """What a head puts out whose cells put these out, each where it holds."""
    return tuple(_chosen(cells, own) for own in zip(*outputs, strict=True))


def _joint(head: ReadHead) -> Diagram:
    """The values of all factors at i, as one diagram."""
    diagrams = head.names.diagrams
    joint = diagrams.constant(())
    for value in head.scores.values():
        for factor in value.values():
            joint = diagrams.combine("and at i", _appended, joint, factor)
            if len(diagrams.values(joint)) > MAX_CELLS:
                raise UnprovenError(f"its scores depend on more than {MAX_CELLS} cases at i")
    return joint


def _appended(cell: Cell, value: Affine) -> Cell:
    return (*cell, value)


def _inside(head: ReadHead, joint: Diagram, cell: Cell) -> ReadHead:
    """The head with the values of a cell put in: what is said of that head holds at the cell's positions."""
    names = head.names
    values = iter(cell)
    put_in: dict[tuple[int, Diagram], Value] = {
        key: {powers: names.affine(next(values)) for powers in value} for key, value in head.scores.items()
    }
    scores = {
        key: kept
        for key, value in put_in.items()
        if (kept := {powers: factor for powers, factor in value.items() if factor != names.false})
    }
    here = names.diagrams.map(("cell", cell), lambda own: Affine(Fraction(own == cell)), joint)
    return replace(head, here=here, scores_here=scores)


def _chosen(cells: list[ReadHead], outputs: tuple[Output, ...]) -> Output:
    """One output: at every i that of the cell which holds there."""
    *others, last = outputs
    diagram = last.diagram
    for cell, output in zip(cells, others, strict=False):
        diagram = cell.names.choose(cell.here, output.diagram, diagram)
    return replace(last, diagram=diagram)
