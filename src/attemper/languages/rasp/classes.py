"""The classes of programs that the literature names, recognised by what a program is made of."""

from __future__ import annotations

from collections.abc import Iterator
from enum import StrEnum

from attemper.attention_program.ops import Mask
from attemper.languages.rasp import syntax
from attemper.languages.temporal.reading import At


class ProgramClass(StrEnum):
    """B-RASP (Yang, Chiang, Angluin 2024) and C-RASP (Yang, Chiang 2024)."""

    B_RASP = "B-RASP"
    C_RASP = "C-RASP"

    @property
    def says(self) -> str:
        """What the class says of the language."""
        return "star-free" if self is ProgramClass.B_RASP else "counting only"


def class_of(source: syntax.ProgramText) -> ProgramClass | None:
    r"""B-RASP: no Integers. C-RASP: no attention but counts of the past. None: neither.

    A program of both classes, which looks at one position only, is called B-RASP. Definitions that the
    output does not need do not count.

    >>> from attemper.languages.rasp.parse import parse_source
    >>> print(class_of(parse_source("alphabet a b\nempty reject\noutput some[j < i] in 'a'")))
    B-RASP
    >>> print(class_of(parse_source("alphabet a b\nempty reject\noutput count[j <= i] in 'a' > 2")))
    C-RASP
    >>> print(class_of(parse_source("alphabet a b\nempty reject\noutput count[j >= i] in 'a' > 2")))
    None
    """
    parts = list(_needed(source))
    if not any(map(_is_integer, parts)):
        return ProgramClass.B_RASP
    return None if any(map(_is_beyond_counting, parts)) else ProgramClass.C_RASP


def _needed(source: syntax.ProgramText) -> Iterator[syntax.Expression]:
    """All expressions that the output is made of."""
    definitions = {definition.name: definition.expression for definition in source.definitions}
    waiting, seen = [source.output], set[str]()
    while waiting:
        expression = waiting.pop()
        yield expression
        waiting += syntax.operands(expression)
        if isinstance(expression, syntax.Name) and expression.name not in seen:
            seen.add(expression.name)
            waiting.append(definitions[expression.name])


def _is_integer(expression: syntax.Expression) -> bool:
    match expression:
        case (
            syntax.Number() | syntax.Position() | syntax.Length() | syntax.Quantified(syntax.Quantifier.COUNT)
        ):
            return True
        case _:
            return False


def _is_beyond_counting(expression: syntax.Expression) -> bool:
    """Whether a program with Integers is no C-RASP program because of this."""
    match expression:
        case syntax.Quantified(syntax.Quantifier.COUNT, mask):
            return mask not in {Mask.UP_TO, Mask.BEFORE}
        case (
            syntax.Quantified()
            | syntax.Selection()
            | syntax.Nearest()
            | syntax.Shifted()
            | syntax.RemainderTest()
            | syntax.Length()
            | syntax.Edge(At.LAST)
        ):
            return True
        case _:
            return False
