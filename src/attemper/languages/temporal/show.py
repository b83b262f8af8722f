"""From formula to text: canonical spelling, fewest brackets; `parse(show(f)) == f`."""

from __future__ import annotations

import re
from typing import assert_never

from attemper.exact.predicates import BUILT_IN, RESERVED_WORDS, Named, Remainder
from attemper.languages.temporal import syntax

_CONNECTIVES = {
    syntax.BinaryOperator.IFF: 1,
    syntax.BinaryOperator.IMPLIES: 2,
    syntax.BinaryOperator.XOR: 3,
    syntax.BinaryOperator.OR: 4,
    syntax.BinaryOperator.AND: 5,
}
"""How tightly they bind; all others bind more tightly than these."""

Shown = dict[syntax.Formula, tuple[str, int]]
"""The texts of subformulas, each with how tightly its outermost operator binds."""

_TEMPORAL, _UNARY, _PRIMARY = 6, 7, 8


def show(formula: syntax.Formula) -> str:
    """The formula's text.

    >>> from attemper.languages.temporal.parse import parse
    >>> show(parse("((a) && (not b)) => Z(c)"))
    'a & !b -> WY c'
    """
    shown: Shown = {}
    for part in syntax.subformulas(formula):
        shown[part] = show_by_operands(part, shown)
    return shown[formula][0]


def show_within(formula: syntax.Formula, most: int) -> str | None:
    """The formula's text, if it has at most `most` characters.

    A formula can share its parts, so that its text is exponentially longer than the formula is large.

    >>> from attemper.languages.temporal.parse import parse
    >>> show_within(parse("O a"), 3), show_within(parse("O a"), 2)
    ('O a', None)
    """
    shown: Shown = {}
    for part in syntax.subformulas(formula):
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


def show_by_operands(formula: syntax.Formula, shown: Shown) -> tuple[str, int]:
    """The text, and how tightly its outermost operator binds, given those of its operands."""
    match formula:
        case syntax.Symbol(name):
            return show_symbol(name), _PRIMARY
        case syntax.Constant(value):
            return ("true" if value else "false"), _PRIMARY
        case syntax.First():
            return "first", _PRIMARY
        case syntax.Last():
            return "last", _PRIMARY
        case syntax.Unary(operator, operand):
            gap = "" if operator is syntax.UnaryOperator.NOT else " "
            return f"{operator}{gap}{_bracket(shown[operand], _UNARY)}", _UNARY
        case syntax.Binary(operator, left, right):
            own = _CONNECTIVES.get(operator, _TEMPORAL)
            to_the_right = own == _TEMPORAL or operator is syntax.BinaryOperator.IMPLIES
            shown_left = _bracket(shown[left], own + 1 if to_the_right else own)
            shown_right = _bracket(shown[right], own if to_the_right else own + 1)
            return f"{shown_left} {operator} {shown_right}", own
        case syntax.Comparison(operator, left_term, right_term):
            return f"{_show_term(left_term, shown)} {operator} {_show_term(right_term, shown)}", _PRIMARY
        case syntax.Numerical(predicate, term):
            return _show_numerical(predicate, term, shown), _PRIMARY
        case _:
            assert_never(formula)


def _show_numerical(predicate: Remainder | Named, term: syntax.Term, shown: Shown) -> str:
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


def _show_term(term: syntax.Term, shown: Shown) -> str:
    pieces = [_show_product(factor, _show_atom(atom, shown)) for factor, atom in term.parts]
    if term.constant or not pieces:
        pieces.append(("-" if term.constant < 0 else "+", str(abs(term.constant))))
    (sign, first), *rest = pieces
    text = f"-{first}" if sign == "-" else first
    return text + "".join(f" {sign} {piece}" for sign, piece in rest)


def _show_product(factor: int, atom: str) -> tuple[str, str]:
    sign = "-" if factor < 0 else "+"
    return sign, atom if abs(factor) == 1 else f"{abs(factor)}*{atom}"


def _show_atom(atom: syntax.TermAtom, shown: Shown) -> str:
    match atom:
        case syntax.PositionAtom():
            return "pos"
        case syntax.LengthAtom():
            return "len"
        case syntax.CountAtom(side, formula):
            return f"{side}[{shown[formula][0]}]"
        case _:
            assert_never(atom)
