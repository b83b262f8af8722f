"""Definitions of derived operators: each means what `meaning` says, and nothing else would."""

from __future__ import annotations

import ast
import random
from collections.abc import Iterator, Mapping
from pathlib import Path

import pytest

from attemper.languages.temporal import core
from attemper.languages.temporal.core import definition_of, values_by_core
from attemper.languages.temporal.meaning import truth
from attemper.languages.temporal.show import show
from attemper.languages.temporal.syntax import (
    Binary,
    BinaryOperator,
    Comparison,
    ComparisonOperator,
    CountAtom,
    Formula,
    Numerical,
    Side,
    Symbol,
    Term,
    Unary,
    UnaryOperator,
    linear_term,
    subformulas,
    subtract,
)
from attemper.languages.words import Alphabet, Word, words_of_length
from tests.support.drawn.samples import FormulaSampler
from tests.support.suites import Few

SOURCE = Path(core.__file__).parents[2]
CORE = frozenset(
    {
        *(UnaryOperator.NOT, UnaryOperator.YESTERDAY, UnaryOperator.NEXT),
        *(BinaryOperator.AND, BinaryOperator.OR, BinaryOperator.XOR),
        *(BinaryOperator.SINCE, BinaryOperator.UNTIL),
        *(ComparisonOperator.AT_LEAST, ComparisonOperator.EQUAL),
    }
)
Operator = UnaryOperator | BinaryOperator | ComparisonOperator
OPERATORS: tuple[Operator, ...] = (*UnaryOperator, *BinaryOperator, *ComparisonOperator)
DERIVED = [operator for operator in OPERATORS if operator not in CORE]

F, G = Symbol("f"), Symbol("g")
COUNT_F, COUNT_G = (Term(((1, CountAtom(Side.LEFT, bit)),), 0) for bit in (F, G))
AB = Alphabet(("a", "b"))
SHORT = [word for n in range(1, 6) for word in words_of_length(AB, n)]
PAIRS = [word for n in range(1, 5) for word in words_of_length(Alphabet(("f", "g", "both", "neither")), n)]


def applied(operator: Operator) -> Formula:
    """The operator, applied to f and g or to their counts."""
    match operator:
        case UnaryOperator():
            return Unary(operator, F)
        case BinaryOperator():
            return Binary(operator, F, G)
        case ComparisonOperator():
            return Comparison(operator, COUNT_F, COUNT_G)


def same(left: Formula, right: Formula, words: list[Word]) -> bool:
    return all(truth(left, word) == truth(right, word) for word in words)


def same_of_all(left: Formula, right: Formula) -> bool:
    """Whether they are the same whatever f and g are, at the positions of words of at most four."""
    return same(_of_pairs(left), _of_pairs(right), PAIRS)


def _of_pairs(formula: Formula) -> Formula:
    """The formula, where f and g can hold together."""
    known: dict[Formula, Formula] = {}
    for part in subformulas(formula):
        either = Binary(BinaryOperator.OR, part, Symbol("both"))
        known[part] = either if part in (F, G) else _rewritten(part, known)
    return known[formula]


def in_core(formula: Formula) -> Formula:
    """The formula, written with operators of the core only."""
    return values_by_core(formula, _rewritten)[formula]


def _rewritten(formula: Formula, known: Mapping[Formula, Formula]) -> Formula:
    match formula:
        case Unary(operator, f):
            return Unary(operator, known[f])
        case Binary(operator, f, g):
            return Binary(operator, known[f], known[g])
        case Comparison(operator, left, right):
            return Comparison(operator, _term(left, known), _term(right, known))
        case Numerical(predicate, term):
            return Numerical(predicate, _term(term, known))
        case _:
            return formula


def _term(term: Term, known: Mapping[Formula, Formula]) -> Term:
    """The parts are merged again: formulas that differ can be one when they are rewritten."""
    parts = (
        (factor, CountAtom(atom.side, known[atom.formula]) if isinstance(atom, CountAtom) else atom)
        for factor, atom in term.parts
    )
    return linear_term(tuple(parts), term.constant)


def operators_of(formula: Formula) -> set[Operator]:
    return {part.operator for part in subformulas(formula) if isinstance(part, Unary | Binary | Comparison)}


# What definitions mean


@pytest.mark.parametrize("operator", DERIVED, ids=str)
def test_a_definition_means_what_it_defines(operator: Operator) -> None:
    formula = applied(operator)
    definition = definition_of(formula)
    assert definition is not None
    assert same_of_all(definition, formula)
    assert operator not in operators_of(definition)


@pytest.mark.parametrize("operator", sorted(CORE), ids=str)
def test_the_core_has_no_definitions(operator: Operator) -> None:
    assert definition_of(applied(operator)) is None


@pytest.mark.parametrize("operator", OPERATORS, ids=str)
def test_every_operator_is_written_with_those_of_the_core(operator: Operator) -> None:
    formula = applied(operator)
    assert operators_of(in_core(formula)) <= CORE
    assert same_of_all(in_core(formula), formula)


@pytest.mark.sweep(2)
@pytest.mark.parametrize("seed", range(12))
def test_random_formulas_mean_the_same_in_the_core(seed: int, few: Few) -> None:
    rng = random.Random(seed)
    for _ in few(range(20), 8):
        formula = FormulaSampler(rng, AB.symbols).formula(rng.choice((2, 3, 4)))
        assert operators_of(in_core(formula)) <= CORE
        assert same(in_core(formula), formula, SHORT), show(formula)


@pytest.mark.sweep(1)
@pytest.mark.parametrize("operator", [o for o in DERIVED if isinstance(o, ComparisonOperator)], ids=str)
def test_comparisons_of_terms_with_constants(operator: ComparisonOperator) -> None:
    for number in (-2, -1, 0, 1, 2):
        for left, right in [(COUNT_F, COUNT_G), (COUNT_F, COUNT_F), (COUNT_F, Term((), 0))]:
            formula = Comparison(operator, subtract(left, Term((), number)), right)
            definition = definition_of(formula)
            assert definition is not None
            assert same_of_all(definition, formula)


# Any other definition would be noticed

SYMMETRIC = (
    BinaryOperator.AND,
    BinaryOperator.OR,
    BinaryOperator.XOR,
    BinaryOperator.IFF,
    ComparisonOperator.EQUAL,
)


def changed(formula: Formula) -> Iterator[Formula]:
    """The formula with one change: of an operator, a leaf, a constant, or the order; or an operator less."""
    match formula:
        case Unary(operator, f):
            yield f
            yield from (Unary(other, f) for other in UnaryOperator if other is not operator)
            yield from (Unary(operator, other) for other in changed(f))
        case Binary(operator, f, g):
            yield from (f, g)
            if operator not in SYMMETRIC:
                yield Binary(operator, g, f)
            yield from (Binary(other, f, g) for other in BinaryOperator if other is not operator)
            yield from (Binary(operator, other, g) for other in changed(f))
            yield from (Binary(operator, f, other) for other in changed(g))
        case Comparison(operator, left, right):
            if operator not in SYMMETRIC:
                yield Comparison(operator, right, left)
            yield from (Comparison(other, left, right) for other in ComparisonOperator if other != operator)
            yield from (Comparison(operator, left, subtract(right, Term((), by))) for by in (-1, 1))
        case _:
            yield Unary(UnaryOperator.NOT, formula)


EQUIVALENT = {"WY": {"Y f xor first"}, "WX": {"X f xor last"}}
"""At the edge there is no neighbour: the two never hold together."""


@pytest.mark.parametrize("operator", DERIVED, ids=str)
def test_a_changed_definition_would_be_noticed(operator: Operator) -> None:
    definition = definition_of(applied(operator))
    assert definition is not None
    others = [other for other in changed(definition) if operator not in operators_of(other)]
    unnoticed = {show(other) for other in others if same_of_all(other, applied(operator))}
    assert unnoticed == EQUIVALENT.get(str(operator), set())


# Sharing and depth


def _calls(formula: Formula) -> int:
    """How often a value is asked for."""
    calls = 0

    def value(_: Formula, known: Mapping[Formula, None]) -> None:
        nonlocal calls
        calls += 1

    assert tuple(values_by_core(formula, value)) == subformulas(formula)
    return calls


@pytest.mark.parametrize("operator", BinaryOperator, ids=str)
def test_what_is_shared_stays_shared(operator: BinaryOperator) -> None:
    def grown(levels: int) -> Formula:
        formula: Formula = F
        for _ in range(levels):
            formula = Binary(operator, formula, Unary(UnaryOperator.ALWAYS, formula))
        return formula

    assert _calls(grown(200)) - _calls(grown(100)) == 10 * (_calls(grown(20)) - _calls(grown(10)))


@pytest.mark.sweep(1)
@pytest.mark.parametrize("operator", UnaryOperator, ids=str)
def test_deep_formulas_do_not_recurse(operator: UnaryOperator) -> None:
    formula: Formula = F
    for _ in range(20_000):
        formula = Unary(operator, formula)
    assert _calls(formula) >= 20_000


# Where operators are known: the recipe of CONTRIBUTING.md

WRITERS = {
    "compiling/lowering/cascade_to_formula.py",
    "compiling/lowering/program_to_formula.py",
    "compiling/lowering/counter_to_formula.py",
    "compiling/lowering/ends_to_formula.py",
    "compiling/lowering/shorten_formula.py",
    "compiling/lowering/split_formula.py",
}
"""They write formulas, and use the operators they like."""

PUNCTUATION = {"languages/temporal/show.py", "languages/temporal/parse.py"}
"""They know how tightly connectives bind."""


def mentioned(path: Path) -> set[Operator]:
    """The operators that a module names."""
    kinds = {kind.__name__: kind for kind in (UnaryOperator, BinaryOperator, ComparisonOperator)}
    nodes = ast.walk(ast.parse(path.read_text(encoding="utf-8")))
    members = [(ast.unparse(node.value), node.attr) for node in nodes if isinstance(node, ast.Attribute)]
    own = {(owner.removeprefix("syntax."), name) for owner, name in members}
    return {kinds[owner][name] for owner, name in own if owner in kinds}


@pytest.mark.sweep(0)
def test_derived_operators_are_known_to_their_meaning_and_their_definition_only() -> None:
    known = {path.relative_to(SOURCE).as_posix(): mentioned(path) for path in SOURCE.rglob("*.py")}
    assert known["languages/temporal/meaning.py"] == set(OPERATORS)
    assert set(DERIVED) <= known["languages/temporal/core.py"]
    readers = ("checker/source.py", "compiling/lowering/temporal_to_program.py", "running/truth.py")
    assert all(known[reader] == CORE for reader in readers)
    others = {name for name, operators in known.items() if not operators <= CORE}
    assert others == {"languages/temporal/meaning.py", "languages/temporal/core.py", *WRITERS, *PUNCTUATION}
    assert not {o for name in PUNCTUATION for o in known[name]} - {*BinaryOperator, UnaryOperator.NOT}
