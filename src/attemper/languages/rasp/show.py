"""From source to text: canonical spelling, fewest brackets; `parse_source(show(source)) == source`."""

from __future__ import annotations

from typing import assert_never

from attemper.attention_program.ops import Mask
from attemper.languages.rasp.syntax import (
    Applied,
    Comparison,
    Conditional,
    Distributed,
    Edge,
    Expression,
    ExtremeOf,
    Implication,
    In,
    Join,
    Joined,
    Length,
    Magnitude,
    Multiple,
    Name,
    Nearest,
    Negation,
    Negative,
    Number,
    Position,
    ProgramText,
    Quantified,
    RemainderTest,
    Selection,
    Shifted,
    Sum,
    SymbolName,
    Truth,
    WordSymbol,
)
from attemper.languages.temporal.reading import At

_CONDITIONAL, _IMPLICATION, _XOR, _OR, _AND, _COMPARISON, _SUM, _PRODUCT = range(8)
_DANGLING, _PREFIX, _PRIMARY = range(8, 11)
"""How tightly operators bind. What may be followed by `else` is dangling: as an operand it is bracketed."""

_JOINS = {Join.XOR: _XOR, Join.OR: _OR, Join.AND: _AND}

Rendered = tuple[str, int]
"""A text, and how tightly its outermost operator binds."""


def show(source: ProgramText) -> str:
    r"""The text of the source, one definition a line.

    >>> from attemper.languages.rasp.parse import parse_source
    >>> print(show(parse_source("alphabet  a b\nempty accept\nd = (count[j<=i] (in 'a')) - 1\noutput (d)=0")))
    alphabet a b
    empty accept
    d = count[j <= i] in 'a' - 1
    output d = 0
    """
    symbols = " ".join(_as_it_stands(symbol) for symbol in source.alphabet.symbols)
    lines = [f"alphabet {symbols}"]
    if source.accepts_empty is not None:
        lines.append(f"empty {'accept' if source.accepts_empty else 'reject'}")
    lines += [f"{one.name} = {show_expression(one.expression)}" for one in source.definitions]
    at = "at first " if source.at is At.FIRST else ""
    output = show_expression(source.output)
    if source.divisor is not None:
        output = f"{_within(source.output, _PRODUCT)} / {source.divisor}"
    return "\n".join([*lines, f"output {at}{output}"])


def _as_it_stands(symbol: str) -> str:
    """A symbol in the line of the alphabet: in quotes only if it would be taken for a quoted one."""
    quoted = len(symbol) > 1 and symbol[0] == symbol[-1] and symbol[0] in "'\""
    return _quoted(symbol) if quoted else symbol


def _quoted(symbol: str) -> str:
    return f'"{symbol}"' if "'" in symbol else f"'{symbol}'"


def _name(name: str) -> str:
    """A name of a distribution: in quotes only where it must be."""
    return name if name.isascii() and name.isidentifier() else _quoted(name)


def show_expression(expression: Expression) -> str:
    """The text of an expression.

    >>> show_expression(Negation(In(("a", "b"))))
    "!in 'a' 'b'"
    """
    return _shown(expression)[0]


def _within(expression: Expression, at_least: int) -> str:
    text, tightness = _shown(expression)
    return text if tightness >= at_least else f"({text})"


def _shown(expression: Expression) -> Rendered:
    match expression:
        case Negation(operand):
            return _before("!", operand)
        case Joined(join, parts):
            own = _JOINS[join]
            return f" {join} ".join(_within(part, own + 1) for part in parts), own
        case Implication(premise, conclusion):
            return f"{_within(premise, _XOR)} -> {_within(conclusion, _IMPLICATION)}", _IMPLICATION
        case Comparison(relation, left, right):
            return f"{_within(left, _SUM)} {relation} {_within(right, _SUM)}", _COMPARISON
        case RemainderTest(operand, modulus, remainder):
            return f"{_within(operand, _DANGLING)} % {modulus} = {remainder}", _COMPARISON
        case Conditional(condition, then, otherwise):
            shown = (
                f"{_within(condition, _IMPLICATION)} ? {show_expression(then)} : {show_expression(otherwise)}"
            )
            return shown, _CONDITIONAL
        case Quantified() | Selection() | Nearest() | Shifted():
            return _attention(expression)
        case Sum() | Negative() | Multiple() | ExtremeOf() | Magnitude():
            return _integer(expression)
        case _:
            return _leaf(expression), _PRIMARY


def _before(head: str, operand: Expression) -> Rendered:
    """What stands before its operand; it is dangling if the operand is."""
    text, tightness = _shown(operand)
    return (
        (f"{head}({text})", _PREFIX) if tightness < _DANGLING else (f"{head}{text}", min(tightness, _PREFIX))
    )


def _attention(expression: Quantified | Selection | Nearest | Shifted) -> Rendered:
    match expression:
        case Quantified(quantifier, mask, condition, body):
            head = f"{quantifier}{_bracket(mask, condition)}"
            if body is None:
                return head, _PREFIX
            return _before(f"{head} ", body)
        case Nearest(choice, mask, condition, left, right, value):
            sought = "" if condition is None else f"{show_expression(condition)}, "
            nearness = f"{_within(left, _SUM)} ~ {_within(right, _SUM)}"
            return _before(f"nearest {choice}[{_seen(mask)} : {sought}{nearness}] ", value)
        case Selection(choice, mask, condition, value, default):
            head = f"{choice}{_bracket(mask, condition)}"
        case Shifted(direction, distance, value, default):
            head = f"{direction}({distance})" if distance > 1 else str(direction)
        case _:
            assert_never(expression)
    if default is None:
        return f"{head} {_within(value, _DANGLING)}", _DANGLING
    return f"{head} {_within(value, _PREFIX)} else {_within(default, _PREFIX)}", _PREFIX


def _bracket(mask: Mask, condition: Expression | None) -> str:
    return f"[{_seen(mask)}]" if condition is None else f"[{_seen(mask)} : {show_expression(condition)}]"


def _seen(mask: Mask) -> str:
    return "all" if mask is Mask.ALL else f"j {mask} i"


def _integer(expression: Sum | Negative | Multiple | ExtremeOf | Magnitude) -> Rendered:
    match expression:
        case Sum(parts):
            first, *rest = parts
            shown = [_within(first, _PRODUCT) if not isinstance(first, Negative) else _minus(first)]
            for part in rest:
                negative = isinstance(part, Negative)
                operand = part.operand if isinstance(part, Negative) else part
                shown.append(f"{'-' if negative else '+'} {_within(operand, _PRODUCT)}")
            return " ".join(shown), _SUM
        case Negative():
            return _minus(expression), _SUM
        case Multiple(factor, operand):
            return f"{factor} * {_within(operand, _PRODUCT)}", _PRODUCT
        case ExtremeOf(extreme, parts):
            return f"{extreme}({', '.join(map(show_expression, parts))})", _PRIMARY
        case Magnitude(operand):
            return f"abs({show_expression(operand)})", _PRIMARY
        case _:
            assert_never(expression)


def _minus(expression: Negative) -> str:
    return f"-{_within(expression.operand, _PRODUCT)}"


def _leaf(
    expression: Truth
    | Edge
    | In
    | WordSymbol
    | Name
    | SymbolName
    | Number
    | Position
    | Length
    | Distributed
    | Applied,
) -> str:
    match expression:
        case Truth(value):
            return "true" if value else "false"
        case Edge(at):
            return str(at)
        case In(symbols):
            return " ".join(["in", *map(_quoted, symbols)])
        case WordSymbol():
            return "symbol"
        case Name(name):
            return name
        case SymbolName(name):
            return _quoted(name)
        case Number(value):
            return str(value)
        case Position():
            return "pos"
        case Length():
            return "len"
        case Distributed(probabilities):
            return f"{{{', '.join(f'{_name(name)}: {number}' for name, number in probabilities)}}}"
        case Applied(operand, index):
            return f"{_within(operand, _PRIMARY)}({index})"
        case _:
            assert_never(expression)
