"""Temporal and counting formulas, as data only.

The nodes keep what the user wrote (`H f` is not expanded), so printing gives it back. Terms are
kept in a normal form: integer multiples of distinct atoms plus a constant.
"""

from __future__ import annotations

from collections.abc import Container, Iterator
from dataclasses import dataclass
from enum import StrEnum
from typing import Annotated, assert_never, final

from attemper.exact.codec import SHARED, Codec, Ordinary
from attemper.exact.predicates import Named, Remainder


class UnaryOperator(StrEnum):
    """Operators with one operand; the value is the canonical spelling."""

    NOT = "!"
    YESTERDAY = "Y"
    WEAK_YESTERDAY = "WY"
    ONCE = "O"
    HISTORICALLY = "H"
    NEXT = "X"
    WEAK_NEXT = "WX"
    EVENTUALLY = "F"
    ALWAYS = "G"


class BinaryOperator(StrEnum):
    """Operators with two operands; the value is the canonical spelling."""

    SINCE = "S"
    PAST_RELEASE = "T"
    UNTIL = "U"
    RELEASE = "R"
    WEAK_UNTIL = "W"
    STRONG_RELEASE = "M"
    AND = "&"
    OR = "|"
    XOR = "xor"
    IMPLIES = "->"
    IFF = "<->"


class ComparisonOperator(StrEnum):
    """Comparisons of two terms."""

    AT_MOST = "<="
    LESS = "<"
    AT_LEAST = ">="
    GREATER = ">"
    EQUAL = "=="
    DIFFERENT = "!="


class Side(StrEnum):
    """Which positions j a count at i ranges over; the value is the spelling of the bracket."""

    LEFT = "#<"
    RIGHT = "#>"
    TOTAL = "#"


class _Nested:
    """Hash and equality without recursion, so that deeply nested formulas can be used as keys."""

    _hash: int
    __match_args__: tuple[str, ...]

    def __post_init__(self) -> None:
        object.__setattr__(self, "_hash", hash((type(self).__name__, *self._own(), *self._signs())))

    def __hash__(self) -> int:
        return self._hash

    def __eq__(self, other: object) -> bool:
        pairs: list[tuple[object, object]] = [(self, other)]
        while pairs:
            mine, theirs = pairs.pop()
            if mine is theirs:
                continue
            if isinstance(mine, _Nested) and isinstance(theirs, _Nested):
                if type(mine) is not type(theirs) or mine._hash != theirs._hash:
                    return False
                mine, theirs = mine._own(), theirs._own()
            if isinstance(mine, tuple) and isinstance(theirs, tuple) and len(mine) == len(theirs):
                pairs.extend(zip(mine, theirs, strict=True))
            elif isinstance(mine, _Nested) or isinstance(theirs, _Nested) or mine != theirs:
                return False
        return True

    def _signs(self) -> tuple[bool, ...]:
        """What a hash needs beside the fields: those of -1 and -2 are the same."""
        return ()

    def _own(self) -> tuple[object, ...]:
        return tuple(getattr(self, name) for name in self.__match_args__)


@final
@dataclass(frozen=True)
class Symbol:
    """The symbol at this position is `name`."""

    name: str


@final
@dataclass(frozen=True)
class Constant:
    """true or false."""

    value: bool


@final
@dataclass(frozen=True)
class First:
    """The position is 1."""


@final
@dataclass(frozen=True)
class Last:
    """The position is n."""


@final
@dataclass(frozen=True, eq=False)
class Unary(_Nested):
    """A one-operand formula."""

    operator: UnaryOperator
    operand: Formula


@final
@dataclass(frozen=True, eq=False)
class Binary(_Nested):
    """A two-operand formula."""

    operator: BinaryOperator
    left: Formula
    right: Formula


@final
@dataclass(frozen=True, eq=False)
class Comparison(_Nested):
    """left `operator` right, for two terms."""

    operator: ComparisonOperator
    left: Term
    right: Term


@final
@dataclass(frozen=True, eq=False)
class Numerical(_Nested):
    """A numerical predicate of one term."""

    predicate: Remainder | Named
    term: Term


Formula = Symbol | Constant | First | Last | Unary | Binary | Comparison | Numerical

SharedFormula = Annotated[Formula, SHARED]
"""A formula that files have as the list of its distinct subformulas, each after its operands."""

FORMULA: Codec[Formula] = Codec(SharedFormula)
"""Formulas as JSON data."""


@final
@dataclass(frozen=True)
class PositionAtom:
    """The position i, from 1 to n."""


@final
@dataclass(frozen=True)
class LengthAtom:
    """The length n of the word."""


@final
@dataclass(frozen=True, eq=False)
class CountAtom(_Nested):
    """The number of positions on one side where the formula holds."""

    side: Side
    formula: Formula


TermAtom = PositionAtom | LengthAtom | CountAtom


@final
@dataclass(frozen=True, eq=False)
class Term(_Nested):
    """sum of factor * atom over `parts`, plus `constant`; atoms are distinct, factors not 0.

    Raises ValueError for others: `linear_term` adds them up.
    """

    parts: tuple[tuple[Ordinary, TermAtom], ...]
    constant: Ordinary

    def _signs(self) -> tuple[bool, ...]:
        return tuple(number == -1 for number in (self.constant, *(factor for factor, _ in self.parts)))

    def __post_init__(self) -> None:
        super().__post_init__()
        atoms = [atom for _, atom in self.parts]
        if len(set(atoms)) < len(atoms) or not all(factor for factor, _ in self.parts):
            raise ValueError("a term has an atom twice, or with the factor 0")


def linear_term(
    parts: Iterator[tuple[int, TermAtom]] | tuple[tuple[int, TermAtom], ...], constant: int
) -> Term:
    """The term in normal form: equal atoms merged in order of first appearance, zeros dropped."""
    factors: dict[TermAtom, int] = {}
    for factor, atom in parts:
        factors[atom] = factors.get(atom, 0) + factor
    return Term(tuple((factor, atom) for atom, factor in factors.items() if factor), constant)


def subtract(left: Term, right: Term) -> Term:
    """left - right."""
    negated = tuple((-factor, atom) for factor, atom in right.parts)
    return linear_term(left.parts + negated, left.constant - right.constant)


def operands(formula: Formula) -> tuple[Formula, ...]:
    """The direct subformulas, including those counted inside terms."""
    match formula:
        case Symbol() | Constant() | First() | Last():
            return ()
        case Unary(_, operand):
            return (operand,)
        case Binary(_, left, right):
            return (left, right)
        case Comparison(_, left, right):
            return _counted(left) + _counted(right)
        case Numerical(_, term):
            return _counted(term)
        case _:
            assert_never(formula)


def subformulas(formula: Formula, known: Container[Formula] = ()) -> tuple[Formula, ...]:
    """All distinct subformulas, each after its operands; the last is the formula itself.

    What is known, and what only that contains, is left out.
    """
    seen: dict[Formula, None] = {}
    stack: list[tuple[Formula, bool]] = [(formula, False)]
    while stack:
        node, operands_done = stack.pop()
        if operands_done:
            seen.setdefault(node)
        elif node not in seen and node not in known:
            stack.append((node, True))
            stack.extend((operand, False) for operand in reversed(operands(node)))
    return tuple(seen)


def _counted(term: Term) -> tuple[Formula, ...]:
    return tuple(atom.formula for _, atom in term.parts if isinstance(atom, CountAtom))
