"""Past formulas and regular expressions rewritten by laws, or with one operator changed."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator, Sequence
from functools import cache

from attemper.languages.temporal.parse import parse
from attemper.languages.temporal.show import show
from attemper.languages.temporal.syntax import (
    Binary,
    BinaryOperator,
    Constant,
    First,
    Formula,
    Symbol,
    Unary,
    UnaryOperator,
)
from attemper.languages.words import Alphabet, words_of_length
from attemper.running.truth import truth_of_words

LAWS = (
    ("f", "!!f"),
    ("f & g", "!(!f | !g)"),
    ("f | g", "!(!f & !g)"),
    ("f -> g", "!f | g"),
    ("f xor g", "(f & !g) | (!f & g)"),
    ("f <-> g", "!(f xor g)"),
    ("f & (g | h)", "(f & g) | (f & h)"),
    ("f | (g & h)", "(f | g) & (f | h)"),
    ("O f", "true S f"),
    ("O f", "f | Y O f"),
    ("O f", "O O f"),
    ("O f", "#<[f] >= 1"),
    ("O (f | g)", "O f | O g"),
    ("H f", "!O !f"),
    ("H f", "f & WY H f"),
    ("H f", "#<[!f] = 0"),
    ("H (f & g)", "H f & H g"),
    ("H (f & g)", "H f & H g"),
    ("f S g", "g | (f & Y (f S g))"),
    ("f S (g | h)", "(f S g) | (f S h)"),
    ("(f & g) S h", "(f S h) & (g S h)"),
    ("f T g", "!(!f S !g)"),
    ("f T g", "g & (f | WY (f T g))"),
    ("Y (f & g)", "Y f & Y g"),
    ("Y (f | g)", "Y f | Y g"),
    ("Y (f S g)", "Y g | (Y f & Y Y (f S g))"),
    ("WY f", "!Y !f"),
    ("WY f", "Y f | first"),
    ("first", "!Y true"),
    ("first", "pos = 1"),
    ("O (f & Y O f)", "#<[f] >= 2"),
)
"""Past formulas that are equivalent at every position, whatever f, g and h are."""

HOLES = ("f", "g", "h")

UNARY = (UnaryOperator.NOT, UnaryOperator.YESTERDAY, UnaryOperator.WEAK_YESTERDAY, UnaryOperator.ONCE)
PAST_UNARY = (*UNARY, UnaryOperator.HISTORICALLY)
PAST_BINARY = (
    BinaryOperator.AND,
    BinaryOperator.OR,
    BinaryOperator.XOR,
    BinaryOperator.SINCE,
    BinaryOperator.PAST_RELEASE,
    BinaryOperator.IMPLIES,
)


@cache
def laws() -> tuple[tuple[Formula, Formula], ...]:
    """The laws in both directions, as formulas over f, g and h."""
    letters = Alphabet(HOLES)
    pairs = [(parse(left, letters), parse(right, letters)) for left, right in LAWS]
    return (*pairs, *((right, left) for left, right in pairs))


def laws_hold(longest: int) -> Iterator[bool]:
    """Whether each law holds on all words, f, g and h being any Boolean functions of the letters."""
    letters = Alphabet(tuple("abcdefgh"))
    names = {
        Symbol(hole): show_any(letters.symbols[number] for number in range(8) if number >> k & 1)
        for k, hole in enumerate(HOLES)
    }
    for left, right in laws():
        one, other = (replaced(side, names) for side in (left, right))
        words = [list(words_of_length(letters, length)) for length in range(1, longest + 1)]
        yield all((truth_of_words(one, some) == truth_of_words(other, some)).all() for some in words)


def show_any(symbols: Iterator[str]) -> Formula:
    """The formula 'one of these symbols'."""
    return parse(" | ".join(symbols))


def replaced(formula: Formula, holes: dict[Symbol, Formula]) -> Formula:
    """The law with formulas for f, g and h. By text, as counts have formulas inside, too."""
    text = "".join(
        f"({show(holes[Symbol(piece)])})" if Symbol(piece) in holes else piece
        for piece in pieces(show(formula))
    )
    return parse(text)


def pieces(text: str) -> Iterator[str]:
    """The words of a text, and what stands between them."""
    word = ""
    for character in text:
        if character.isalnum():
            word += character
            continue
        yield word
        yield character
        word = ""
    yield word


class Drawn:
    """Past formulas over some letters."""

    def __init__(self, seed: int, letters: Sequence[str]) -> None:
        self.rng = random.Random(seed)
        self.letters = letters

    def formula(self, operators: int) -> Formula:
        """A formula with so many operators."""
        if operators == 0:
            return self.rng.choice([*map(Symbol, self.letters), *map(Symbol, self.letters), First()])
        if self.rng.random() < 0.45:
            return Unary(self.rng.choice(PAST_UNARY), self.formula(operators - 1))
        left = self.rng.randint(0, operators - 1)
        operator = self.rng.choice(PAST_BINARY)
        return Binary(operator, self.formula(left), self.formula(operators - 1 - left))

    def rewritten(self, formula: Formula, times: int) -> Formula:
        """The formula after so many laws, each at some place where it applies."""
        for _ in range(times):
            formula = self._somewhere(formula, self._by_law)
        return formula

    def changed(self, formula: Formula) -> Formula:
        """The formula with another operator in one place."""
        return self._somewhere(formula, self._with_another)

    def _somewhere(self, formula: Formula, change: Callable[[Formula], Formula]) -> Formula:
        children = [path for path in _paths(formula)]
        return _at(formula, self.rng.choice(children), change)

    def _by_law(self, formula: Formula) -> Formula:
        found = [
            (right, bound) for left, right in laws() if (bound := _matched(left, formula, {})) is not None
        ]
        right, bound = self.rng.choice(found)
        free = {Symbol(hole): Symbol(self.rng.choice(self.letters)) for hole in HOLES}
        return replaced(right, {**free, **bound})

    def _with_another(self, formula: Formula) -> Formula:
        match formula:
            case Unary(operator, operand):
                return Unary(self.rng.choice([one for one in PAST_UNARY if one is not operator]), operand)
            case Binary(operator, left, right):
                others = [one for one in PAST_BINARY if one is not operator]
                return Binary(self.rng.choice(others), left, right)
            case Symbol(name):
                return Symbol(self.rng.choice([one for one in self.letters if one != name]))
            case _:
                return Constant(value=self.rng.random() < 0.5)


def _paths(formula: Formula) -> Iterator[tuple[int, ...]]:
    """The places of the subformulas that are not inside terms."""
    yield ()
    for number, child in enumerate(_children(formula)):
        yield from ((number, *path) for path in _paths(child))


def _children(formula: Formula) -> tuple[Formula, ...]:
    match formula:
        case Unary(_, operand):
            return (operand,)
        case Binary(_, left, right):
            return left, right
        case _:
            return ()


def _at(formula: Formula, path: tuple[int, ...], change: Callable[[Formula], Formula]) -> Formula:
    if not path:
        return change(formula)
    match formula:
        case Unary(operator, operand):
            return Unary(operator, _at(operand, path[1:], change))
        case Binary(operator, left, right):
            if path[0] == 0:
                return Binary(operator, _at(left, path[1:], change), right)
            return Binary(operator, left, _at(right, path[1:], change))
        case _:
            raise AssertionError(path)


def _matched(law: Formula, formula: Formula, bound: dict[Symbol, Formula]) -> dict[Symbol, Formula] | None:
    """What f, g and h are where the law's side is the formula; None if it is not."""
    match law, formula:
        case Symbol(), _:
            if law in bound and bound[law] != formula:
                return None
            return {**bound, law: formula}
        case Unary(operator, inner), Unary(own, operand) if operator is own:
            return _matched(inner, operand, bound)
        case Binary(operator, one, other), Binary(own, left, right) if operator is own:
            first = _matched(one, left, bound)
            return None if first is None else _matched(other, right, first)
        case _:
            return bound if law == formula else None


# Expressions ------------------------------------------------------------------------------------------

Expression = tuple[object, ...]
"""("a",), ("cat", r, s), ("or", r, s), ("star", r), ("maybe", r)"""


def text_of(expression: Expression) -> str:
    """In the syntax that Python's `re` has, too."""
    match expression:
        case ("cat", (*r,), (*s,)):
            return f"{text_of(tuple(r))}{text_of(tuple(s))}"
        case ("or", (*r,), (*s,)):
            return f"({text_of(tuple(r))}|{text_of(tuple(s))})"
        case ("star", (*r,)):
            return f"({text_of(tuple(r))})*"
        case ("maybe", (*r,)):
            return f"({text_of(tuple(r))})?"
        case (str(letter),):
            return letter
        case _:
            raise AssertionError(expression)


class DrawnExpression:
    """Expressions over a and b."""

    def __init__(self, seed: int) -> None:
        self.rng = random.Random(seed)

    def expression(self, operators: int) -> Expression:
        """An expression with so many operators."""
        if operators == 0:
            return (self.rng.choice("ab"),)
        kind = self.rng.choice(("cat", "cat", "or", "or", "star", "maybe"))
        if kind in {"star", "maybe"}:
            return kind, self.expression(operators - 1)
        left = self.rng.randint(0, operators - 1)
        return kind, self.expression(left), self.expression(operators - 1 - left)

    def rewritten(self, expression: Expression) -> Expression:
        """The same language, a law at every place where one applies and is drawn."""
        inside = tuple(self.rewritten(part) if isinstance(part, tuple) else part for part in expression)
        if self.rng.random() < 0.4:
            return inside
        match inside:
            case ("or", r, s):
                return "or", s, r
            case ("star", ("or", r, s)):
                return "star", ("cat", ("star", r), ("star", s))
            case ("star", ("cat", r, s)):
                return "maybe", ("cat", r, ("cat", ("star", ("cat", s, r)), s))
            case ("star", r):
                return "maybe", ("cat", r, ("star", r))
            case ("cat", r, ("or", s, t)):
                return "or", ("cat", r, s), ("cat", r, t)
            case ("maybe", ("star", r)):
                return "star", r
            case _:
                return inside

    def changed(self, expression: Expression) -> Expression:
        """One operator or letter is another."""
        parts = [number for number, part in enumerate(expression) if isinstance(part, tuple)]
        if parts and self.rng.random() < 0.6:
            at = self.rng.choice(parts)
            part = expression[at]
            assert isinstance(part, tuple)
            return (*expression[:at], self.changed(part), *expression[at + 1 :])
        other = {"cat": "or", "or": "cat", "star": "maybe", "maybe": "star", "a": "b", "b": "a"}
        return (other[str(expression[0])], *expression[1:])
