"""Formulas as coq/Logic.v has them, and where they hold."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import final

from attemper.errors import UnsupportedError
from attemper.languages.temporal import syntax
from attemper.languages.temporal.syntax import BinaryOperator, ComparisonOperator, UnaryOperator
from attemper.languages.words import Alphabet


@final
@dataclass(frozen=True)
class Logical:
    """A formula: the name of its constructor, its operands, and of a symbol its number."""

    name: str
    parts: tuple[Logical, ...] = ()
    letter: int = 0
    _hash: int = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        # Kept: hashing a deep formula again and again is most of the work.
        object.__setattr__(self, "_hash", hash((self.name, self.parts, self.letter)))

    def __hash__(self) -> int:
        return self._hash


TRUE, FIRST = Logical("True_"), Logical("First")


def negation(formula: Logical) -> Logical:
    """Not the formula; without two negations in a row."""
    return formula.parts[0] if formula.name == "Not" else Logical("Not", (formula,))


def conjunction(left: Logical, right: Logical) -> Logical:
    return Logical("And", (left, right))


def disjunction(left: Logical, right: Logical) -> Logical:
    return Logical("Or", (left, right))


def yesterday(formula: Logical) -> Logical:
    return Logical("Yesterday", (formula,))


def since(left: Logical, right: Logical) -> Logical:
    return Logical("Since", (left, right))


def symbols(letters: Sequence[int]) -> Logical:
    """One of these letters is there."""
    found = [Logical("Symbol", (), letter) for letter in letters]
    made = found[0] if found else negation(TRUE)
    for own in found[1:]:
        made = disjunction(made, own)
    return made


def logical(formula: syntax.Formula, alphabet: Alphabet) -> Logical:
    """The formula in Coq's words.

    Raises `UnsupportedError` for operators that look to the right, and for counts but a comparison of two.
    """
    done: dict[syntax.Formula, Logical] = {}
    for own in syntax.subformulas(formula):
        done[own] = _of(own, done, alphabet)
    return done[formula]


def _of(formula: syntax.Formula, done: dict[syntax.Formula, Logical], alphabet: Alphabet) -> Logical:
    match formula:
        case syntax.Symbol(name):
            return Logical("Symbol", (), alphabet.symbols.index(name))
        case syntax.Constant(value):
            return TRUE if value else negation(TRUE)
        case syntax.First():
            return FIRST
        case syntax.Unary(operator, operand):
            return _unary(operator, done[operand])
        case syntax.Binary(operator, left, right):
            return _binary(operator, done[left], done[right])
        case syntax.Comparison(operator, left, right):
            return _compared(operator, _counted(left, done), _counted(right, done))
        case _:
            raise UnsupportedError(
                f"coq: a formula has a {type(formula).__name__}, of which nothing is proved"
            )


def _unary(operator: UnaryOperator, inner: Logical) -> Logical:
    match operator:
        case UnaryOperator.NOT:
            return negation(inner)
        case UnaryOperator.YESTERDAY:
            return yesterday(inner)
        case UnaryOperator.WEAK_YESTERDAY:
            return negation(yesterday(negation(inner)))
        case UnaryOperator.ONCE:
            return since(TRUE, inner)
        case UnaryOperator.HISTORICALLY:
            return negation(since(TRUE, negation(inner)))
        case _:
            raise UnsupportedError(f"coq: the operator {operator} looks to the right")


def _binary(operator: BinaryOperator, left: Logical, right: Logical) -> Logical:
    match operator:
        case BinaryOperator.SINCE:
            return since(left, right)
        case BinaryOperator.PAST_RELEASE:
            return negation(since(negation(left), negation(right)))
        case BinaryOperator.AND:
            return conjunction(left, right)
        case BinaryOperator.OR:
            return disjunction(left, right)
        case BinaryOperator.IMPLIES:
            return disjunction(negation(left), right)
        case BinaryOperator.IFF:
            return disjunction(conjunction(left, right), conjunction(negation(left), negation(right)))
        case BinaryOperator.XOR:
            return disjunction(conjunction(left, negation(right)), conjunction(negation(left), right))
        case _:
            raise UnsupportedError(f"coq: the operator {operator} looks to the right")


def _counted(term: syntax.Term, done: dict[syntax.Formula, Logical]) -> Logical:
    match term:
        case syntax.Term(((1, syntax.CountAtom(syntax.Side.LEFT, formula)),), 0):
            return done[formula]
        case _:
            raise UnsupportedError("coq: only comparisons of two left counts are proved, as #<[a] <= #<[b]")


def _compared(operator: ComparisonOperator, left: Logical, right: Logical) -> Logical:
    at_most, at_least = Logical("AtMost", (left, right)), Logical("AtMost", (right, left))
    match operator:
        case ComparisonOperator.AT_MOST:
            return at_most
        case ComparisonOperator.AT_LEAST:
            return at_least
        case ComparisonOperator.LESS:
            return negation(at_least)
        case ComparisonOperator.GREATER:
            return negation(at_most)
        case ComparisonOperator.EQUAL:
            return conjunction(at_most, at_least)
        case _:
            return negation(conjunction(at_most, at_least))


def inside(formula: Logical) -> Iterator[Logical]:
    """The formula's subformulas, each once, operands first."""
    seen: dict[Logical, None] = {}

    def visit(own: Logical) -> None:
        if own not in seen:
            for part in own.parts:
                visit(part)
            seen[own] = None

    visit(formula)
    yield from seen


def truths(formula: Logical, word: Sequence[int], known: dict[Logical, list[bool]]) -> list[bool]:
    """Where the formula holds in a word; what is found is kept in `known`.

    >>> truths(since(TRUE, symbols([1])), [0, 1, 0], {})
    [False, True, True]
    """
    for own in inside(formula):
        if own not in known:
            known[own] = _truths(own, word, known)
    return known[formula]


def _truths(formula: Logical, word: Sequence[int], known: dict[Logical, list[bool]]) -> list[bool]:
    parts = [known[part] for part in formula.parts]
    places = range(len(word))
    match formula.name:
        case "True_":
            return [True for _ in places]
        case "First":
            return [i == 0 for i in places]
        case "Symbol":
            return [letter == formula.letter for letter in word]
        case "Not":
            return [not x for x in parts[0]]
        case "And":
            return [x and y for x, y in zip(*parts, strict=True)]
        case "Or":
            return [x or y for x, y in zip(*parts, strict=True)]
        case "Yesterday":
            return [False, *parts[0][:-1]] if word else []
        case "Since":
            found: list[bool] = []
            for x, y in zip(*parts, strict=True):
                found.append(y or (x and bool(found) and found[-1]))
            return found
        case _:
            left, right, found = 0, 0, []
            for x, y in zip(*parts, strict=True):
                left, right = left + x, right + y
                found.append(left <= right)
            return found
