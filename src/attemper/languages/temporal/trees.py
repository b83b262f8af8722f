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
from attemper.languages.temporal import syntax


def formula_to_nodes(formula: syntax.Formula) -> list[object]:
    """The distinct subformulas, each after its operands, which it names by number; the last is the root."""
    numbers: dict[syntax.Formula, int] = {}
    nodes: list[object] = []
    for part in syntax.subformulas(formula):
        nodes.append(_node(part, numbers))
        numbers[part] = len(numbers)
    return nodes


def formula_from_nodes(nodes: object) -> syntax.Formula:
    """Read a formula back; raises ValueError on anything that `formula_to_nodes` does not write."""
    if not isinstance(nodes, list) or not nodes:
        raise ValueError("a formula is a list of nodes")
    known: list[syntax.Formula] = []
    for node in nodes:
        known.append(_formula(node, known))
    return known[-1]


def _node(formula: syntax.Formula, numbers: dict[syntax.Formula, int]) -> object:
    match formula:
        case syntax.Symbol(name):
            return ["symbol", name]
        case syntax.Constant(value):
            return ["constant", value]
        case syntax.First():
            return ["first"]
        case syntax.Last():
            return ["last"]
        case syntax.Unary(operator, operand):
            return ["unary", str(operator), numbers[operand]]
        case syntax.Binary(operator, left, right):
            return ["binary", str(operator), numbers[left], numbers[right]]
        case syntax.Comparison(operator, left_term, right_term):
            return ["compare", str(operator), _term_node(left_term, numbers), _term_node(right_term, numbers)]
        case syntax.Numerical(predicate, term):
            return ["predicate", predicate_to_tree(predicate), _term_node(term, numbers)]
        case _:
            assert_never(formula)


def _term_node(term: syntax.Term, numbers: dict[syntax.Formula, int]) -> list[object]:
    return [term.constant, *([factor, *_atom_node(atom, numbers)] for factor, atom in term.parts)]


def _atom_node(atom: syntax.TermAtom, numbers: dict[syntax.Formula, int]) -> list[object]:
    match atom:
        case syntax.PositionAtom():
            return ["pos"]
        case syntax.LengthAtom():
            return ["len"]
        case syntax.CountAtom(side, formula):
            return [str(side), numbers[formula]]
        case _:
            assert_never(atom)


def _formula(node: object, known: list[syntax.Formula]) -> syntax.Formula:
    match node:
        case ["symbol", str(name)]:
            return syntax.Symbol(name)
        case ["constant", bool(value)]:
            return syntax.Constant(value)
        case ["first"]:
            return syntax.First()
        case ["last"]:
            return syntax.Last()
        case ["unary", str(operator), operand]:
            return syntax.Unary(syntax.UnaryOperator(operator), _earlier(operand, known))
        case ["binary", str(operator), left, right]:
            return syntax.Binary(
                syntax.BinaryOperator(operator), _earlier(left, known), _earlier(right, known)
            )
        case ["compare", str(operator), left, right]:
            return syntax.Comparison(
                syntax.ComparisonOperator(operator), _term(left, known), _term(right, known)
            )
        case ["predicate", tree, term]:
            predicate = predicate_from_tree(tree)
            if isinstance(predicate, Remainder | Named):
                return syntax.Numerical(predicate, _term(term, known))
    raise ValueError(f"not a formula: {str(node)[:80]}")


def _term(node: object, known: list[syntax.Formula]) -> syntax.Term:
    if not isinstance(node, list) or not node:
        raise ValueError(f"not a term: {str(node)[:80]}")
    constant, *parts = node
    return syntax.linear_term(tuple(_part(part, known) for part in parts), plain_integer(constant))


def _part(node: object, known: list[syntax.Formula]) -> tuple[int, syntax.TermAtom]:
    match node:
        case [factor, "pos"]:
            return plain_integer(factor), syntax.PositionAtom()
        case [factor, "len"]:
            return plain_integer(factor), syntax.LengthAtom()
        case [factor, str(side), formula]:
            return plain_integer(factor), syntax.CountAtom(syntax.Side(side), _earlier(formula, known))
        case _:
            raise ValueError(f"not a part of a term: {str(node)[:80]}")


def _earlier(number: object, known: list[syntax.Formula]) -> syntax.Formula:
    index = plain_integer(number)
    if not 0 <= index < len(known):
        raise ValueError(f"subformula {index} does not stand earlier")
    return known[index]
