"""Programs as Python values: operators and functions that build the expressions of a text.

A value stands for what a program computes at every position of every word. Values that are used more than
once become definitions, so that a text is as short as the Python that made it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import fields, replace
from fractions import Fraction
from typing import cast, final

from attemper.attention_program.ops import Choice, Direction, Mask
from attemper.languages.rasp import syntax
from attemper.languages.rasp.program import RaspProgram, parse_rasp
from attemper.languages.rasp.show import show
from attemper.languages.temporal.reading import At
from attemper.languages.words import Alphabet, parse_alphabet

DEEPEST = 40
"""A value nested deeper becomes a definition, like one that is used twice."""


@final
class Value:
    """A Bit, an Integer or a Symbol at every position.

    * Bits: `p & q`, `p | q`, `p ^ q`, `~p`;
    * Integers: `x + y`, `x - y`, `3 * x`, `-x`, `abs(x)`, compared by `<`, `<=`, `==`, `!=`, `>=`, `>`, and
      `x % 3 == 1`;
    * Symbols: `s == t`, `s != t`, where a Python text is the name of a symbol;
    * in conditions: `v(i)` and `v(j)`.

    >>> from attemper import rasp
    >>> left = rasp.is_in("(")
    >>> depth = (rasp.count(left) - rasp.count(~left)).named("depth")
    >>> print(rasp.text((depth == 0) & rasp.every(depth >= 0), alphabet="()", accepts_empty=True))
    alphabet ( )
    empty accept
    depth = count[j <= i] in '(' - count[j <= i] !in '('
    output depth = 0 & every[j <= i] (depth >= 0)
    """

    __slots__ = ("expression",)
    __hash__ = object.__hash__

    def __init__(self, expression: syntax.Expression) -> None:
        self.expression = expression

    def named(self, name: str) -> Value:
        """The same value; the text calls it by this name."""
        return Value(syntax.Name(name, meaning=self.expression))

    def __call__(self, index: syntax.Index) -> Value:
        return Value(syntax.Applied(self.expression, syntax.Index(index)))

    def __bool__(self) -> bool:
        raise TypeError(
            "what a program computes is no Python bool: join Bits by & | ~, not by 'and', 'or', 'not', and "
            "write (a < b) & (b < c), not a < b < c"
        )

    def __and__(self, other: Value | bool) -> Value:
        return _joined(syntax.Join.AND, self, other)

    def __rand__(self, other: bool) -> Value:
        return _joined(syntax.Join.AND, other, self)

    def __or__(self, other: Value | bool) -> Value:
        return _joined(syntax.Join.OR, self, other)

    def __ror__(self, other: bool) -> Value:
        return _joined(syntax.Join.OR, other, self)

    def __xor__(self, other: Value | bool) -> Value:
        return _joined(syntax.Join.XOR, self, other)

    def __rxor__(self, other: bool) -> Value:
        return _joined(syntax.Join.XOR, other, self)

    def __invert__(self) -> Value:
        return Value(syntax.Negation(self.expression))

    def __add__(self, other: Value | int) -> Value:
        return Value(syntax.Sum((self.expression, _expression(other))))

    def __radd__(self, other: int) -> Value:
        return Value(syntax.Sum((_expression(other), self.expression)))

    def __sub__(self, other: Value | int) -> Value:
        return Value(syntax.Sum((self.expression, syntax.Negative(_expression(other)))))

    def __rsub__(self, other: int) -> Value:
        return Value(syntax.Sum((_expression(other), syntax.Negative(self.expression))))

    def __neg__(self) -> Value:
        return Value(syntax.Negative(self.expression))

    def __mul__(self, factor: int) -> Value:
        if type(factor) is not int:
            raise TypeError(f"an Integer is multiplied by a Python int, not by {factor!r}")
        multiple = syntax.Multiple(abs(factor), self.expression)
        return Value(syntax.Negative(multiple) if factor < 0 else multiple)

    __rmul__ = __mul__

    def __mod__(self, modulus: int) -> Remaindering:
        return Remaindering(self, modulus)

    def __abs__(self) -> Value:
        return Value(syntax.Magnitude(self.expression))

    def __eq__(self, other: object) -> Value:  # type: ignore[override]
        return _compared(syntax.Relation.EQUAL, self, other)

    def __ne__(self, other: object) -> Value:  # type: ignore[override]
        return _compared(syntax.Relation.UNEQUAL, self, other)

    def __le__(self, other: Value | int) -> Value:
        return _compared(syntax.Relation.AT_MOST, self, other)

    def __lt__(self, other: Value | int) -> Value:
        return _compared(syntax.Relation.LESS, self, other)

    def __ge__(self, other: Value | int) -> Value:
        return _compared(syntax.Relation.AT_LEAST, self, other)

    def __gt__(self, other: Value | int) -> Value:
        return _compared(syntax.Relation.GREATER, self, other)


@final
class Remaindering:
    """The remainder of an Integer, which can be compared with a Python int."""

    __hash__ = object.__hash__

    def __init__(self, value: Value, modulus: int) -> None:
        self.value = value
        self.modulus = modulus

    def __eq__(self, remainder: object) -> Value:  # type: ignore[override]
        if type(remainder) is not int or type(self.modulus) is not int:
            raise TypeError("a remainder is tested as in x % 3 == 1, with Python ints")
        return Value(syntax.RemainderTest(self.value.expression, self.modulus, remainder))

    def __ne__(self, remainder: object) -> Value:  # type: ignore[override]
        return ~(self == remainder)


i, j = syntax.Index.HERE, syntax.Index.THERE
first, last = Value(syntax.Edge(At.FIRST)), Value(syntax.Edge(At.LAST))
symbol = Value(syntax.WordSymbol())
position, length = Value(syntax.Position()), Value(syntax.Length())


def is_in(*symbols: str) -> Value:
    """Bit: the symbol of the word is one of these."""
    return Value(syntax.In(symbols))


def implies(premise: Value | bool, conclusion: Value | bool) -> Value:
    """Bit: the second holds if the first does."""
    return Value(syntax.Implication(_expression(premise), _expression(conclusion)))


def when(condition: Value, then: Value | bool | int | str, otherwise: Value | bool | int | str) -> Value:
    """`then` where the Bit holds, else `otherwise`; both have one type."""
    return Value(syntax.Conditional(condition.expression, _expression(then), _expression(otherwise)))


def distribution(probabilities: Mapping[str, int | float | str | Fraction]) -> Value:
    """Distribution: a probability for each name; `1/3` and `0.1` are read as they are written.

    >>> from fractions import Fraction
    >>> from attemper import rasp
    >>> after = rasp.when(rasp.is_in("a"), rasp.distribution({"b": 1}), rasp.distribution({"a": .5, "b": .5}))
    >>> print(rasp.text(after, alphabet="ab"))
    alphabet a b
    output in 'a' ? {b: 1} : {a: 1/2, b: 1/2}
    """
    return Value(syntax.Distributed(tuple((name, Fraction(str(own))) for name, own in probabilities.items())))


def minimum(*integers: Value | int) -> Value:
    """The least of several Integers."""
    return Value(syntax.ExtremeOf(syntax.Extreme.LEAST, tuple(map(_expression, integers))))


def maximum(*integers: Value | int) -> Value:
    """The greatest of several Integers."""
    return Value(syntax.ExtremeOf(syntax.Extreme.GREATEST, tuple(map(_expression, integers))))


def some(body: Value | None = None, *, where: Value | None = None, mask: str = "<=") -> Value:
    """Bit: of the visible positions j where the condition holds, some one has the body."""
    return _quantified(syntax.Quantifier.SOME, mask, where, body)


def every(body: Value | None = None, *, where: Value | None = None, mask: str = "<=") -> Value:
    """Bit: of the visible positions j where the condition holds, every one has the body."""
    return _quantified(syntax.Quantifier.EVERY, mask, where, body)


def count(body: Value | None = None, *, where: Value | None = None, mask: str = "<=") -> Value:
    """Integer: how many of the visible positions j where the condition holds have the body."""
    return _quantified(syntax.Quantifier.COUNT, mask, where, body)


def rightmost(
    value: Value | str | bool, *, default: bool | str, where: Value | None = None, mask: str = "<="
) -> Value:
    """The value at the rightmost visible position j where the condition holds, else the default."""
    return _selection(Choice.RIGHTMOST, mask, where, value, default)


def leftmost(
    value: Value | str | bool, *, default: bool | str, where: Value | None = None, mask: str = "<="
) -> Value:
    """The value at the leftmost visible position j where the condition holds, else the default."""
    return _selection(Choice.LEFTMOST, mask, where, value, default)


def nearest(
    value: Value | str | bool,
    *,
    key: Value,
    query: Value | int,
    where: Value | None = None,
    mask: str = "<=",
    choice: str = "rightmost",
    default: bool | str | None = None,
) -> Value:
    """The value at the visible position j where `key` at j is nearest to `query` at i.

    At one distance positions where the condition holds come first; of several the rightmost (leftmost).
    Under the masks "<" and ">" there is none at one end of the word, which has the default.

    >>> from attemper import rasp
    >>> mirrored = rasp.length + 1 - rasp.position
    >>> found = rasp.nearest(rasp.symbol, key=rasp.position, query=mirrored, mask="all")
    >>> print(rasp.text(found, alphabet="ab"))
    alphabet a b
    output nearest rightmost[all : pos(j) ~ (len + 1 - pos)(i)] symbol
    """
    here = (
        syntax.Applied(query.expression, syntax.Index.HERE)
        if isinstance(query, Value)
        else _expression(query)
    )
    integers = syntax.Applied(key.expression, syntax.Index.THERE), here
    otherwise = None if default is None else _expression(default)
    return Value(
        syntax.Nearest(
            Choice(choice), Mask(mask), _condition(where), *integers, _expression(value), otherwise
        )
    )


def previous(value: Value, distance: int = 1, default: bool | str = False) -> Value:
    """The value so many positions before, else the default."""
    return Value(syntax.Shifted(Direction.PREVIOUS, distance, value.expression, _default(default)))


def following(value: Value, distance: int = 1, default: bool | str = False) -> Value:
    """The value so many positions after, else the default; `next` in the text."""
    return Value(syntax.Shifted(Direction.NEXT, distance, value.expression, _default(default)))


def text(
    output: Value,
    *,
    alphabet: str | Sequence[str],
    accepts_empty: bool | None = None,
    at: str = "last",
    per: str | None = None,
) -> str:
    """The program's text, which `parse_rasp` reads.

    `alphabet`: single characters, symbols separated by blanks, or a list. Where the output is a Bit:
    `accepts_empty`, the verdict on the empty word, and `at`, the end of other words where it is read. Where
    it is an Integer: `per`, by what it is divided: "pos", "len" or "visible", as many as it counts over.
    """
    symbols = parse_alphabet(alphabet) if isinstance(alphabet, str) else Alphabet(tuple(alphabet))
    definitions, expression = _written(output.expression)
    divisor = None if per is None else syntax.Divisor(per)
    return show(syntax.ProgramText(symbols, accepts_empty, definitions, expression, At(at), divisor))


def program(
    output: Value,
    *,
    alphabet: str | Sequence[str],
    accepts_empty: bool | None = None,
    at: str = "last",
    per: str | None = None,
) -> RaspProgram:
    """The program itself; its errors point into its text.

    >>> from attemper import rasp
    >>> found = rasp.program(rasp.some(rasp.is_in("a")), alphabet="ab", accepts_empty=False)
    >>> found.program_class, len(found.program.steps)
    (<ProgramClass.B_RASP: 'B-RASP'>, 2)
    """
    return parse_rasp(text(output, alphabet=alphabet, accepts_empty=accepts_empty, at=at, per=per))


def _expression(like: object) -> syntax.Expression:
    """The expression of a value, a Python bool, an int, or a text (the name of a symbol)."""
    match like:
        case Value(expression=expression):
            return expression
        case bool():
            return syntax.Truth(like)
        case int():
            return syntax.Negative(syntax.Number(-like)) if like < 0 else syntax.Number(like)
        case str():
            return syntax.SymbolName(like)
        case _:
            raise TypeError(f"neither a value of a program nor a bool, an int or a text: {like!r}")


def _default(default: bool | str) -> syntax.Expression | None:
    return None if default is False else _expression(default)


def _joined(join: syntax.Join, left: Value | bool, right: Value | bool) -> Value:
    return Value(syntax.Joined(join, (_expression(left), _expression(right))))


def _compared(relation: syntax.Relation, left: Value, right: object) -> Value:
    return Value(syntax.Comparison(relation, left.expression, _expression(right)))


def _quantified(quantifier: syntax.Quantifier, mask: str, where: Value | None, body: Value | None) -> Value:
    there = None if body is None else body.expression
    return Value(syntax.Quantified(quantifier, Mask(mask), _condition(where), there))


def _selection(
    choice: Choice, mask: str, where: Value | None, value: Value | str | bool, default: bool | str
) -> Value:
    fetched, otherwise = _expression(value), _expression(default)
    return Value(syntax.Selection(choice, Mask(mask), _condition(where), fetched, otherwise))


def _condition(where: Value | None) -> syntax.Expression | None:
    """A condition that says nowhere where it is read is read at j."""
    if where is None:
        return None
    nodes = list(_in_order(where.expression))
    return (
        where.expression
        if _open(nodes)[id(nodes[-1])]
        else syntax.Applied(where.expression, syntax.Index.THERE)
    )


def _parts(node: syntax.Expression) -> tuple[syntax.Expression, ...]:
    match node:
        case syntax.Name(meaning=meaning) if meaning is not None:
            return (meaning,)
        case _:
            return syntax.operands(node)


def _in_order(root: syntax.Expression) -> Iterator[syntax.Expression]:
    """Everything that it is made of, each object once, parts first."""
    done: set[int] = set()
    waiting = [(root, False)]
    while waiting:
        node, expanded = waiting.pop()
        if id(node) in done:
            continue
        if expanded:
            done.add(id(node))
            yield node
        else:
            waiting.append((node, True))
            waiting += [(part, False) for part in reversed(_parts(node))]


def _open(nodes: Sequence[syntax.Expression]) -> dict[int, bool]:
    """Of expressions in order: whether they speak of i or j outside brackets of their own."""
    found: dict[int, bool] = {}
    for node in nodes:
        match node:
            case syntax.Applied():
                found[id(node)] = True
            case syntax.Quantified() | syntax.Selection() | syntax.Nearest() | syntax.Shifted():
                found[id(node)] = False
            case _:
                found[id(node)] = any(found[id(part)] for part in _parts(node))
    return found


def _written(root: syntax.Expression) -> tuple[tuple[syntax.Assignment, ...], syntax.Expression]:
    """The definitions, and the output in terms of them."""
    nodes = list(_in_order(root))
    writing = _Writing(nodes)
    for node in nodes:
        writing.add(node)
    return tuple(writing.definitions), writing.written[id(root)]


class _Writing:
    """Gives names to what has one, is used more than once, or nests too deeply."""

    def __init__(self, nodes: Sequence[syntax.Expression]) -> None:
        self.open = _open(nodes)
        self.uses: dict[int, int] = {}
        self.names: dict[int, str] = {}
        for node in nodes:
            for part in _parts(node):
                self.uses[id(part)] = self.uses.get(id(part), 0) + 1
            if isinstance(node, syntax.Name) and node.meaning is not None:
                self.names.setdefault(id(node.meaning), node.name)
        self.taken = set(self.names.values())
        self.written: dict[int, syntax.Expression] = {}
        self.depths: dict[int, int] = {}
        self.definitions: list[syntax.Assignment] = []

    def add(self, node: syntax.Expression) -> None:
        """One more expression; its parts are written."""
        if isinstance(node, syntax.Name) and node.meaning is not None:
            self._define(node.name, self.written[id(node.meaning)])
            self.written[id(node)], self.depths[id(node)] = syntax.Name(node.name), 0
            return
        expression = _rebuilt(node, lambda part: self.written[id(part)])
        depth = 1 + max((self.depths[id(part)] for part in syntax.operands(node)), default=-1)
        name = self._name(node, depth)
        if name is not None:
            self._define(name, expression)
            expression, depth = syntax.Name(name), 0
        self.written[id(node)], self.depths[id(node)] = expression, depth

    def _define(self, name: str, expression: syntax.Expression) -> None:
        """A definition; nothing, if the expression has become that name already."""
        if expression != syntax.Name(name) and syntax.Assignment(name, expression) not in self.definitions:
            self.definitions.append(syntax.Assignment(name, expression))

    def _name(self, node: syntax.Expression, depth: int) -> str | None:
        if id(node) in self.names:
            return self.names[id(node)]
        if self.open[id(node)] or not syntax.operands(node):
            return None
        if self.uses.get(id(node), 0) < 2 and depth < DEEPEST:
            return None
        number = 1 + len(self.definitions)
        while f"v{number}" in self.taken:
            number += 1
        self.taken.add(f"v{number}")
        return f"v{number}"


def _rebuilt(
    node: syntax.Expression, to: Callable[[syntax.Expression], syntax.Expression]
) -> syntax.Expression:
    """The same expression of other parts; sums of sums are one sum, and so on."""
    match node:
        case syntax.Joined(join, parts):
            written = [to(part) for part in parts]
            return syntax.Joined(
                join, _spliced(written, lambda part: isinstance(part, syntax.Joined) and part.join is join)
            )
        case syntax.Sum(parts):
            return syntax.Sum(
                _spliced([to(part) for part in parts], lambda part: isinstance(part, syntax.Sum))
            )
        case _:
            return _replaced(node, to)


def _spliced(
    parts: list[syntax.Expression], same: Callable[[syntax.Expression], bool]
) -> tuple[syntax.Expression, ...]:
    return tuple(inner for part in parts for inner in (syntax.operands(part) if same(part) else (part,)))


def _replaced(
    node: syntax.Expression, to: Callable[[syntax.Expression], syntax.Expression]
) -> syntax.Expression:
    changes: dict[str, object] = {}
    for one in fields(node):
        own = getattr(node, one.name)
        if isinstance(own, syntax.Node):
            changes[one.name] = to(cast("syntax.Expression", own))
        elif isinstance(own, tuple) and any(isinstance(part, syntax.Node) for part in own):
            changes[one.name] = tuple(map(to, own))
    return replace(node, **changes)  # type: ignore[arg-type]
