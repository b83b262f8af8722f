"""From formula to text: canonical spelling, fewest brackets; `parse(show(f)) == f`."""

from __future__ import annotations

import re
from typing import assert_never

from attemper.exact.predicates import BUILT_IN, RESERVED_WORDS, Named, Remainder
from attemper.languages.temporal.syntax import (
    Binary,
    BinaryOperator,
    Comparison,
    Constant,
    CountAtom,
    First,
    Formula,
    Last,
    LengthAtom,
    Numerical,
    PositionAtom,
    Symbol,
    Term,
    TermAtom,
    Unary,
    UnaryOperator,
    subformulas,
)

_CONNECTIVES = {
    BinaryOperator.IFF: 1,
    BinaryOperator.IMPLIES: 2,
    BinaryOperator.XOR: 3,
    BinaryOperator.OR: 4,
    BinaryOperator.AND: 5,
}
"""How tightly they bind; all others bind more tightly than these."""

Shown = dict[Formula, tuple[str, int]]
"""The texts of subformulas, each with how tightly its outermost operator binds."""

_TEMPORAL, _UNARY, _PRIMARY = 6, 7, 8


def show(formula: Formula) -> str:
    """The formula's text.

    >>> from attemper.languages.temporal.parse import parse
    >>> show(parse("((a) && (not b)) => Z(c)"))
    'a & !b -> WY c'
    """
    shown: Shown = {}
    for part in subformulas(formula):
        shown[part] = show_by_operands(part, shown)
    return shown[formula][0]


def show_within(formula: Formula, most: int) -> str | None:
    """The formula's text, if it has at most `most` characters.

    A formula can share its parts, so that its text is exponentially longer than the formula is large.

    >>> from attemper.languages.temporal.parse import parse
    >>> show_within(parse("O a"), 3), show_within(parse("O a"), 2)
    ('O a', None)
    """
    shown: Shown = {}
    for part in subformulas(formula):
        shown[part] = show_by_operands(part, shown)
        if len(shown[part][0]) > most:
            return None
    return shown[formula][0]


def show_symbol(name: str) -> str:
    """A symbol as it stands in a formula: bare if it can be, else quoted.

    What a process has registered is not asked: the text of a saved formula is the same in every other one.
    """
    bare = re.fullmatch(r"[a-z][a-z0-9_]*", name) and name not in RESERVED_WORDS | BUILT_IN
    if bare:
        return name
    return f'"{name}"' if "'" in name else f"'{name}'"


def show_by_operands(formula: Formula, shown: Shown) -> tuple[str, int]:
    """The text, and how tightly its outermost operator binds, given those of its operands."""
    match formula:
        case Symbol(name):
            return show_symbol(name), _PRIMARY
        case Constant(value):
            return ("true" if value else "false"), _PRIMARY
        case First():
            return "first", _PRIMARY
        case Last():
            return "last", _PRIMARY
        case Unary(operator, operand):
            gap = "" if operator is UnaryOperator.NOT else " "
            return f"{operator}{gap}{_bracket(shown[operand], _UNARY)}", _UNARY
        case Binary(operator, left, right):
            own = _CONNECTIVES.get(operator, _TEMPORAL)
            to_the_right = own == _TEMPORAL or operator is BinaryOperator.IMPLIES
            shown_left = _bracket(shown[left], own + 1 if to_the_right else own)
            shown_right = _bracket(shown[right], own if to_the_right else own + 1)
            return f"{shown_left} {operator} {shown_right}", own
        case Comparison(operator, left_term, right_term):
            return f"{_show_term(left_term, shown)} {operator} {_show_term(right_term, shown)}", _PRIMARY
        case Numerical(predicate, term):
            return _show_numerical(predicate, term, shown), _PRIMARY
        case _:
            assert_never(formula)


def _show_numerical(predicate: Remainder | Named, term: Term, shown: Shown) -> str:
    argument = _show_term(term, shown)
    match predicate:
        case Remainder(modulus, remainder):
            is_sum = len(term.parts) + (term.constant != 0) > 1
            return f"{f'({argument})' if is_sum else argument} % {modulus} = {remainder}"
        case Named(name):
            return f"{name}({argument})"
        case _:
            assert_never(predicate)


def _bracket(operand: tuple[str, int], at_least: int) -> str:
    text, tightness = operand
    return text if tightness >= at_least else f"({text})"


def _show_term(term: Term, shown: Shown) -> str:
    pieces = [_show_product(factor, _show_atom(atom, shown)) for factor, atom in term.parts]
    if term.constant or not pieces:
        pieces.append(("-" if term.constant < 0 else "+", str(abs(term.constant))))
    (sign, first), *rest = pieces
    text = f"-{first}" if sign == "-" else first
    return text + "".join(f" {sign} {piece}" for sign, piece in rest)


def _show_product(factor: int, atom: str) -> tuple[str, str]:
    sign = "-" if factor < 0 else "+"
    return sign, atom if abs(factor) == 1 else f"{abs(factor)}*{atom}"


def _show_atom(atom: TermAtom, shown: Shown) -> str:
    match atom:
        case PositionAtom():
            return "pos"
        case LengthAtom():
            return "len"
        case CountAtom(side, formula):
            return f"{side}[{shown[formula][0]}]"
        case _:
            assert_never(atom)
