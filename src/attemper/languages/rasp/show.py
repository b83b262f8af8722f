"""From source to text: canonical spelling, fewest brackets; `parse_source(show(source)) == source`."""

from __future__ import annotations

from typing import assert_never

from attemper.attention_program.ops import Mask
from attemper.languages.rasp import syntax
from attemper.languages.temporal.reading import At

_CONDITIONAL, _IMPLICATION, _XOR, _OR, _AND, _COMPARISON, _SUM, _PRODUCT = range(8)
_DANGLING, _PREFIX, _PRIMARY = range(8, 11)
"""How tightly operators bind. What may be followed by `else` is dangling: as an operand it is bracketed."""

_JOINS = {syntax.Join.XOR: _XOR, syntax.Join.OR: _OR, syntax.Join.AND: _AND}

Rendered = tuple[str, int]
"""A text, and how tightly its outermost operator binds."""


def show(source: syntax.ProgramText) -> str:
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


def show_expression(expression: syntax.Expression) -> str:
    """The text of an expression.

    >>> show_expression(syntax.Negation(syntax.In(("a", "b"))))
    "!in 'a' 'b'"
    """
    return _shown(expression)[0]


def _within(expression: syntax.Expression, at_least: int) -> str:
    text, tightness = _shown(expression)
    return text if tightness >= at_least else f"({text})"


def _shown(expression: syntax.Expression) -> Rendered:
    match expression:
        case syntax.Negation(operand):
            return _before("!", operand)
        case syntax.Joined(join, parts):
            own = _JOINS[join]
            return f" {join} ".join(_within(part, own + 1) for part in parts), own
        case syntax.Implication(premise, conclusion):
            return f"{_within(premise, _XOR)} -> {_within(conclusion, _IMPLICATION)}", _IMPLICATION
        case syntax.Comparison(relation, left, right):
            return f"{_within(left, _SUM)} {relation} {_within(right, _SUM)}", _COMPARISON
        case syntax.RemainderTest(operand, modulus, remainder):
            return f"{_within(operand, _DANGLING)} % {modulus} = {remainder}", _COMPARISON
        case syntax.Conditional(condition, then, otherwise):
            shown = (
                f"{_within(condition, _IMPLICATION)} ? {show_expression(then)} : {show_expression(otherwise)}"
            )
            return shown, _CONDITIONAL
        case syntax.Quantified() | syntax.Selection() | syntax.Nearest() | syntax.Shifted():
            return _attention(expression)
        case syntax.Sum() | syntax.Negative() | syntax.Multiple() | syntax.ExtremeOf() | syntax.Magnitude():
            return _integer(expression)
        case _:
            return _leaf(expression), _PRIMARY


def _before(head: str, operand: syntax.Expression) -> Rendered:
    """What stands before its operand; it is dangling if the operand is."""
    text, tightness = _shown(operand)
    return (
        (f"{head}({text})", _PREFIX) if tightness < _DANGLING else (f"{head}{text}", min(tightness, _PREFIX))
    )


def _attention(
    expression: syntax.Quantified | syntax.Selection | syntax.Nearest | syntax.Shifted,
) -> Rendered:
    match expression:
        case syntax.Quantified(quantifier, mask, condition, body):
            head = f"{quantifier}{_bracket(mask, condition)}"
            if body is None:
                return head, _PREFIX
            return _before(f"{head} ", body)
        case syntax.Nearest(choice, mask, condition, left, right, value, default):
            sought = "" if condition is None else f"{show_expression(condition)}, "
            nearness = f"{_within(left, _SUM)} ~ {_within(right, _SUM)}"
            head = f"nearest {choice}[{show_mask(mask)} : {sought}{nearness}]"
        case syntax.Selection(choice, mask, condition, value, default):
            head = f"{choice}{_bracket(mask, condition)}"
        case syntax.Shifted(direction, distance, value, default):
            head = f"{direction}({distance})" if distance > 1 else str(direction)
        case _:
            assert_never(expression)
    if default is None:
        return f"{head} {_within(value, _DANGLING)}", _DANGLING
    return f"{head} {_within(value, _PREFIX)} else {_within(default, _PREFIX)}", _PREFIX


def _bracket(mask: Mask, condition: syntax.Expression | None) -> str:
    return (
        f"[{show_mask(mask)}]" if condition is None else f"[{show_mask(mask)} : {show_expression(condition)}]"
    )


def show_mask(mask: Mask) -> str:
    """What is seen, as brackets say it."""
    return "all" if mask is Mask.ALL else f"j {mask} i"


def _integer(
    expression: syntax.Sum | syntax.Negative | syntax.Multiple | syntax.ExtremeOf | syntax.Magnitude,
) -> Rendered:
    match expression:
        case syntax.Sum(parts):
            first, *rest = parts
            shown = [_within(first, _PRODUCT) if not isinstance(first, syntax.Negative) else _minus(first)]
            for part in rest:
                negative = isinstance(part, syntax.Negative)
                operand = part.operand if isinstance(part, syntax.Negative) else part
                shown.append(f"{'-' if negative else '+'} {_within(operand, _PRODUCT)}")
            return " ".join(shown), _SUM
        case syntax.Negative():
            return _minus(expression), _SUM
        case syntax.Multiple(factor, operand):
            return f"{factor} * {_within(operand, _PRODUCT)}", _PRODUCT
        case syntax.ExtremeOf(extreme, parts):
            return f"{extreme}({', '.join(map(show_expression, parts))})", _PRIMARY
        case syntax.Magnitude(operand):
            return f"abs({show_expression(operand)})", _PRIMARY
        case _:
            assert_never(expression)


def _minus(expression: syntax.Negative) -> str:
    return f"-{_within(expression.operand, _PRODUCT)}"


def _leaf(
    expression: syntax.Truth
    | syntax.Edge
    | syntax.In
    | syntax.WordSymbol
    | syntax.Name
    | syntax.SymbolName
    | syntax.Number
    | syntax.Position
    | syntax.Length
    | syntax.Distributed
    | syntax.Applied,
) -> str:
    match expression:
        case syntax.Truth(value):
            return "true" if value else "false"
        case syntax.Edge(at):
            return str(at)
        case syntax.In(symbols):
            return " ".join(["in", *map(_quoted, symbols)])
        case syntax.WordSymbol():
            return "symbol"
        case syntax.Name(name):
            return name
        case syntax.SymbolName(name):
            return _quoted(name)
        case syntax.Number(value):
            return str(value)
        case syntax.Position():
            return "pos"
        case syntax.Length():
            return "len"
        case syntax.Distributed(probabilities):
            return f"{{{', '.join(f'{_name(name)}: {number}' for name, number in probabilities)}}}"
        case syntax.Applied(operand, index):
            return f"{_within(operand, _PRIMARY)}({index})"
        case _:
            assert_never(expression)
