"""Formulas as plain JSON data, for certificates: no parser for people's syntax is needed to read them.

A formula is the list of its distinct subformulas, each after its operands, the formula itself last:

    ["symbol", "a"]  ["constant", true]  ["first"]  ["last"]
    ["unary", "Y", k]  ["binary", "S", k, m]           operators by their canonical spelling
    ["compare", "<=", t, t]  ["predicate", ["mod", 2, 1], t]

where k and m number earlier entries from 0, and t = [constant, [factor, "pos"], [factor, "len"],
[factor, "#<", k], ...] is a term.
"""

from __future__ import annotations

from typing import assert_never

from attemper.exact.closed_forms import plain_integer, predicate_from_tree, predicate_to_tree
from attemper.exact.predicates import Named, Remainder
from attemper.languages.temporal.syntax import (
    Binary,
    BinaryOperator,
    Comparison,
    ComparisonOperator,
    Constant,
    CountAtom,
    First,
    Formula,
    Last,
    LengthAtom,
    Numerical,
    PositionAtom,
    Side,
    Symbol,
    Term,
    TermAtom,
    Unary,
    UnaryOperator,
    linear_term,
    subformulas,
)


def formula_to_nodes(formula: Formula) -> list[object]:
    """The distinct subformulas, each after its operands, which it names by number; the last is the root."""
    numbers: dict[Formula, int] = {}
    nodes: list[object] = []
    for part in subformulas(formula):
        nodes.append(_node(part, numbers))
        numbers[part] = len(numbers)
    return nodes


def formula_from_nodes(nodes: object) -> Formula:
    """Read a formula back; raises ValueError on anything that `formula_to_nodes` does not write."""
    if not isinstance(nodes, list) or not nodes:
        raise ValueError("a formula is a list of nodes")
    known: list[Formula] = []
    for node in nodes:
        known.append(_formula(node, known))
    return known[-1]


def _node(formula: Formula, numbers: dict[Formula, int]) -> object:
    match formula:
        case Symbol(name):
            return ["symbol", name]
        case Constant(value):
            return ["constant", value]
        case First():
            return ["first"]
        case Last():
            return ["last"]
        case Unary(operator, operand):
            return ["unary", str(operator), numbers[operand]]
        case Binary(operator, left, right):
            return ["binary", str(operator), numbers[left], numbers[right]]
        case Comparison(operator, left_term, right_term):
            return ["compare", str(operator), _term_node(left_term, numbers), _term_node(right_term, numbers)]
        case Numerical(predicate, term):
            return ["predicate", predicate_to_tree(predicate), _term_node(term, numbers)]
        case _:
            assert_never(formula)


def _term_node(term: Term, numbers: dict[Formula, int]) -> list[object]:
    return [term.constant, *([factor, *_atom_node(atom, numbers)] for factor, atom in term.parts)]


def _atom_node(atom: TermAtom, numbers: dict[Formula, int]) -> list[object]:
    match atom:
        case PositionAtom():
            return ["pos"]
        case LengthAtom():
            return ["len"]
        case CountAtom(side, formula):
            return [str(side), numbers[formula]]
        case _:
            assert_never(atom)


def _formula(node: object, known: list[Formula]) -> Formula:
    match node:
        case ["symbol", str(name)]:
            return Symbol(name)
        case ["constant", bool(value)]:
            return Constant(value)
        case ["first"]:
            return First()
        case ["last"]:
            return Last()
        case ["unary", str(operator), operand]:
            return Unary(UnaryOperator(operator), _earlier(operand, known))
        case ["binary", str(operator), left, right]:
            return Binary(BinaryOperator(operator), _earlier(left, known), _earlier(right, known))
        case ["compare", str(operator), left, right]:
            return Comparison(ComparisonOperator(operator), _term(left, known), _term(right, known))
        case ["predicate", tree, term]:
            predicate = predicate_from_tree(tree)
            if isinstance(predicate, Remainder | Named):
                return Numerical(predicate, _term(term, known))
    raise ValueError(f"not a formula: {str(node)[:80]}")


def _term(node: object, known: list[Formula]) -> Term:
    if not isinstance(node, list) or not node:
        raise ValueError(f"not a term: {str(node)[:80]}")
    constant, *parts = node
    return linear_term(tuple(_part(part, known) for part in parts), plain_integer(constant))


def _part(node: object, known: list[Formula]) -> tuple[int, TermAtom]:
    match node:
        case [factor, "pos"]:
            return plain_integer(factor), PositionAtom()
        case [factor, "len"]:
            return plain_integer(factor), LengthAtom()
        case [factor, str(side), formula]:
            return plain_integer(factor), CountAtom(Side(side), _earlier(formula, known))
        case _:
            raise ValueError(f"not a part of a term: {str(node)[:80]}")


def _earlier(number: object, known: list[Formula]) -> Formula:
    index = plain_integer(number)
    if not 0 <= index < len(known):
        raise ValueError(f"subformula {index} does not stand earlier")
    return known[index]
