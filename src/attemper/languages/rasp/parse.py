"""From text to source, line by line, with errors that point at the place."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass, field
from fractions import Fraction
from functools import cache
from importlib import resources

from lark import Lark, Token, Tree
from lark.exceptions import UnexpectedInput

from attemper.attention_program.ops import Choice, Direction, Mask
from attemper.attention_program.wellformed import MAX_DISTANCE
from attemper.errors import AlphabetError
from attemper.languages.rasp import syntax
from attemper.languages.rasp.integers import MAX_INTEGER
from attemper.languages.rasp.located import in_our_words, mistake, unsupported
from attemper.languages.temporal.reading import At
from attemper.languages.words import Alphabet

MAX_TEXT = 200_000
"""A text of more characters is refused."""

MAX_NESTING = 100
"""Expressions nested deeper are refused; definitions may build on each other as deeply as one likes."""

MAX_LISTED = 2_000
"""`f & g & h & ...` and sums with more parts are refused."""

MAX_DIGITS = 12
"""A probability is a quotient of numbers with up to so many digits."""

MAX_DEFINITIONS = 2_000
"""A text with more definitions is refused."""


def parse_source(text: str) -> syntax.ProgramText:
    r"""Read a text, one definition a line; types are another question (`types.types_of`).

    Raises `SourceError`, with line, column, caret and what was expected, for anything that is no such text,
    and `UnsupportedError`, with the same, for what belongs to the language and is not built yet.

    >>> source = parse_source("alphabet a b\nempty reject\nseen = some[j < i] in 'a'\noutput !seen")
    >>> [definition.name for definition in source.definitions], source.output
    (['seen'], Negation(operand=Name(name='seen')))
    """
    if len(text) > MAX_TEXT:
        raise mistake(
            f"the text has {len(text):,} characters, more than {MAX_TEXT:,}",
            text[:100],
            syntax.Location(1, 1),
        )
    lines = [(number, line) for number, line in enumerate(text.split("\n"), start=1) if _says_something(line)]
    if not lines or lines[0][1].split()[0] != "alphabet":
        place = syntax.Location(lines[0][0] if lines else 1, 1)
        raise mistake("the first line is the alphabet", text, place, "'alphabet' and symbols: alphabet a b")
    (number, first), *rest = lines
    reading = _TextReader(text, _alphabet(first, number, text))
    for number, line in rest:
        reading.read(number, line)
    return reading.source()


def _says_something(line: str) -> bool:
    return bool(line.strip()) and not line.lstrip().startswith("#")


def _alphabet(line: str, number: int, text: str) -> Alphabet:
    """Everything in the line is a symbol as it stands; one in quotes is what they enclose."""
    symbols = [_unquoted(piece) for piece in line.split()[1:]]
    try:
        return Alphabet(tuple(symbols))
    except AlphabetError as error:
        message = str(error) if symbols else "an alphabet needs at least one symbol"
        place = syntax.Location(number, min(line.index("alphabet") + 10, len(line) + 1))
        raise mistake(message, text, place) from None


def _unquoted(piece: str) -> str:
    return piece[1:-1] if len(piece) > 1 and piece[0] == piece[-1] and piece[0] in "'\"" else piece


@cache
def _parser() -> Lark:
    grammar = resources.files(__package__).joinpath("grammar.lark").read_text(encoding="utf-8")
    return Lark(grammar, parser="lalr", start=["definition", "empty", "output"], propagate_positions=True)


@dataclass
class _TextReader:
    """What the lines so far have said."""

    text: str
    alphabet: Alphabet
    accepts_empty: bool | None = None
    definitions: list[syntax.Assignment] = field(default_factory=list)
    defined: dict[str, int] = field(default_factory=dict)
    bare: dict[str, int] = field(default_factory=dict)
    """Names of symbols that were written without quotes, and the line of the first."""
    output: tuple[At, syntax.Expression, syntax.Divisor | None] | None = None

    def read(self, number: int, line: str) -> None:
        """One more line."""
        place = syntax.Location(number, len(line) - len(line.lstrip()) + 1)
        if self.output is not None:
            raise mistake("nothing may follow the output", self.text, place)
        match line.split(maxsplit=1)[0]:
            case "alphabet":
                raise mistake("there is one alphabet", self.text, place)
            case "empty" if line.split()[1:2] != ["="]:
                self._empty(_tree("empty", number, line, self.text), place)
            case "output" if line.split()[1:2] != ["="]:
                end, expression, *by = self._children("output", number, line)
                at = At(end.value) if isinstance(end, Token) else At.LAST
                divisor = syntax.Divisor(by[0].value) if by and isinstance(by[0], Token) else None
                self.output = at, _expression(expression), divisor
            case _:
                self._define(number, line, place)

    def source(self) -> syntax.ProgramText:
        """All of it; raises `SourceError` for what was not said."""
        lines = self.text.rstrip().split("\n")
        end = syntax.Location(len(lines), len(lines[-1]) + 1)
        if self.output is None:
            raise mistake("there is no output", self.text, end, "output and an expression, as the last line")
        at, expression, divisor = self.output
        return syntax.ProgramText(
            self.alphabet, self.accepts_empty, tuple(self.definitions), expression, at, divisor
        )

    def _empty(self, tree: Tree[Token], place: syntax.Location) -> None:
        if self.accepts_empty is not None:
            raise mistake("what the empty word gives is said twice", self.text, place)
        self.accepts_empty = tree.children == ["accept"]

    def _define(self, number: int, line: str, place: syntax.Location) -> None:
        name, expression = self._children("definition", number, line)
        assert isinstance(name, Token)
        if name.value in syntax.RESERVED:
            raise mistake(f"'{name.value}' is a word of the language: choose another name", self.text, place)
        if name.value in self.defined:
            earlier = f"'{name.value}' is defined already, on line {self.defined[name.value]}"
            raise mistake(f"{earlier}: choose another name", self.text, place)
        if name.value in self.bare:
            earlier = f"'{name.value}' is used on line {self.bare[name.value]} and defined on line {number}"
            hint = "definitions come before their use (the name of a symbol can be put in quotes)"
            raise mistake(f"{earlier}: {hint}", self.text, place)
        if len(self.definitions) == MAX_DEFINITIONS:
            raise mistake(f"there are more than {MAX_DEFINITIONS:,} definitions", self.text, place)
        self.definitions.append(syntax.Assignment(name.value, _expression(expression), place=place))
        self.defined[name.value] = number

    def _children(self, rule: str, number: int, line: str) -> list[_Child]:
        tree = _tree(rule, number, line, self.text)
        build = _Build(self.text, number, self.alphabet, self.defined, self.bare)
        return build.children(tree)


def _tree(rule: str, number: int, line: str, text: str) -> Tree[Token]:
    try:
        return _parser().parse(line, start=rule)
    except UnexpectedInput as error:
        raise in_our_words(error, text, number) from None


_Child = syntax.Expression | Token | None


def _expression(child: _Child) -> syntax.Expression:
    assert child is not None
    assert not isinstance(child, Token)
    return child


@dataclass
class _Build:
    """Makes the expressions of one line, from the leaves up without recursion."""

    text: str
    line: int
    alphabet: Alphabet
    defined: dict[str, int]
    bare: dict[str, int]

    def children(self, tree: Tree[Token]) -> list[_Child]:
        """The children of a line's tree, built."""
        built: dict[int, _Child] = {}
        depths: dict[int, int] = {}
        for subtree in tree.iter_subtrees():
            depths[id(subtree)] = 1 + max((depths.get(id(c), 0) for c in subtree.children), default=0)
            place = syntax.Location(self.line, getattr(subtree.meta, "column", 1))
            if depths[id(subtree)] > MAX_NESTING:
                message = f"the expression nests deeper than {MAX_NESTING} levels: give its parts names"
                raise mistake(message, self.text, place)
            if sum(isinstance(child, Tree) for child in subtree.children) > MAX_LISTED:
                raise mistake(f"more than {MAX_LISTED:,} parts are joined in a row", self.text, place)
            children = [built[id(c)] if isinstance(c, Tree) else c for c in subtree.children]
            if subtree is tree:
                return children
            built[id(subtree)] = self._node(subtree.data, children, place)
        raise AssertionError("a tree is one of its subtrees")

    def _node(self, rule: str, children: list[_Child], place: syntax.Location) -> syntax.Expression:
        if rule in _PLAIN:
            return _PLAIN[rule](place, *children)
        match rule, children:
            case "in_", _:
                return syntax.In(self._symbols(children), place=place)
            case "name", [Token() as token]:
                return self._name(token, place)
            case "quoted", [Token() as token]:
                return self._quoted(token, place)
            case "distributed", tokens:
                return syntax.Distributed(self._probabilities(tokens, place), place=place)
            case "number", [Token() as token]:
                return syntax.Number(self._integer(token), place=place)
            case "multiple", [Token() as token, operand]:
                return syntax.Multiple(self._integer(token), _expression(operand), place=place)
            case "congruence", [operand, Token() as modulus, Token() as relation, Token() as remainder]:
                return self._congruence(_expression(operand), modulus, relation, remainder, place)
            case "shifted", [Token() as token, value, default] if not isinstance(default, Token):
                direction, distance = self._distance(token)
                return syntax.Shifted(direction, distance, _expression(value), default, place=place)
            case _:
                raise AssertionError(f"grammar rule '{rule}' has no meaning")

    def _symbols(self, children: list[_Child]) -> tuple[str, ...]:
        symbols: list[str] = []
        for token in children:
            assert isinstance(token, Token)
            symbol, place = token.value[1:-1], self._at(token)
            if symbol not in self.alphabet.symbols:
                known = tuple(f"'{one}'" for one in self.alphabet.symbols[:20])
                raise mistake(f"symbol '{symbol}' is not in the alphabet", self.text, place, *known)
            if symbol in symbols:
                raise mistake(f"symbol '{symbol}' stands there twice", self.text, place)
            symbols.append(symbol)
        return tuple(symbols)

    def _probabilities(
        self, tokens: list[_Child], place: syntax.Location
    ) -> tuple[tuple[str, Fraction], ...]:
        found: dict[str, Fraction] = {}
        for name, number in zip(tokens[::2], tokens[1::2], strict=True):
            assert isinstance(name, Token)
            assert isinstance(number, Token)
            called = name.value if name.type == "NAME" else name.value[1:-1]
            if called in found:
                raise mistake(f"'{called}' has two probabilities", self.text, self._at(name))
            found[called] = self._probability(number)
        if sum(found.values()) != 1:
            message = f"probabilities have the sum 1, and these have the sum {sum(found.values())}"
            raise mistake(message, self.text, place)
        return tuple(found.items())

    def _probability(self, token: Token) -> Fraction:
        written = "".join(token.value.split())
        if max(map(len, re.findall("[0-9]+", written))) > MAX_DIGITS:
            message = f"a probability is written with up to {MAX_DIGITS} digits above and below the line"
            raise mistake(message, self.text, self._at(token))
        try:
            found = Fraction(written)
        except ZeroDivisionError:
            raise mistake("a probability is divided by 0", self.text, self._at(token)) from None
        if found < 0:
            raise mistake("a probability is not negative", self.text, self._at(token))
        return found

    def _name(self, token: Token, place: syntax.Location) -> syntax.Expression:
        name = token.value
        if name in self.defined:
            return syntax.Name(name, place=place)
        if name in {"i", "j"}:
            message = (
                f"'{name}' is no integer: f({name}) reads f there, inside [ : ], and pos is the position"
            )
            raise mistake(message, self.text, place)
        if name in syntax.RESERVED:
            raise mistake(f"'{name}' is a word of the language and cannot stand here", self.text, place)
        self.bare.setdefault(name, self.line)
        return syntax.SymbolName(name, bare=True, place=place)

    def _quoted(self, token: Token, place: syntax.Location) -> syntax.Expression:
        name = token.value[1:-1]
        try:
            Alphabet((name,))
        except AlphabetError as error:
            raise mistake(str(error), self.text, place) from None
        return syntax.SymbolName(name, place=place)

    def _integer(self, token: Token) -> int:
        digits = token.value.lstrip("0") or "0"
        if len(digits) > len(str(MAX_INTEGER)) or int(digits) > MAX_INTEGER:
            raise mistake(f"the integer is larger than {MAX_INTEGER}", self.text, self._at(token))
        return int(digits)

    def _congruence(
        self,
        operand: syntax.Expression,
        modulus: Token,
        relation: Token,
        remainder: Token,
        place: syntax.Location,
    ) -> syntax.Expression:
        divisor, left = self._integer(modulus), self._integer(remainder)
        if divisor < 1:
            raise mistake("a modulus is at least 1, not 0", self.text, self._at(modulus))
        if left >= divisor:
            message = f"a remainder mod {divisor} lies in 0..{divisor - 1}, not {left}"
            raise mistake(message, self.text, self._at(remainder))
        if relation.value not in {"=", "!="}:
            raise mistake("a remainder is tested by = or !=", self.text, self._at(relation))
        test = syntax.RemainderTest(operand, divisor, left, place=place)
        return syntax.Negation(test, place=place) if relation.value == "!=" else test

    def _distance(self, token: Token) -> tuple[Direction, int]:
        word, _, rest = token.value.partition("(")
        digits = rest.strip(" \t\r)").lstrip("0") if rest else "1"
        if not digits:
            raise mistake("a distance is at least 1", self.text, self._at(token))
        if len(digits) > 3 or int(digits) > MAX_DISTANCE:
            message = f"a distance is at most {MAX_DISTANCE}; go further in steps: previous(64) previous(9) f"
            raise unsupported(message, self.text, self._at(token))
        return Direction(word.strip()), int(digits)

    def _at(self, token: Token) -> syntax.Location:
        return syntax.Location(self.line, token.column or 1)


def _sum(place: syntax.Location, *children: _Child) -> syntax.Expression:
    parts: list[syntax.Expression] = []
    sign = "+"
    for child in children:
        if isinstance(child, Token):
            sign = child.value
            continue
        part = _expression(child)
        parts.append(syntax.Negative(part, place=part.place) if sign == "-" else part)
    return parts[0] if len(parts) == 1 else syntax.Sum(tuple(parts), place=place)


def _joined(join: syntax.Join) -> Callable[..., syntax.Expression]:
    return lambda place, *parts: syntax.Joined(join, parts, place=place)


_PLAIN: dict[str, Callable[..., syntax.Expression]] = {
    "and": _joined(syntax.Join.AND),
    "applied": lambda place, one, at: syntax.Applied(
        one, syntax.Index(at.value.strip("() \t\r")), place=place
    ),
    "compared": lambda place, left, relation, right: syntax.Comparison(
        syntax.Relation(relation), left, right, place=place
    ),
    "conditional": lambda place, *parts: syntax.Conditional(*parts, place=place),
    "edge": lambda place, end: syntax.Edge(At(end.value), place=place),
    "extreme": lambda place, extreme, *parts: syntax.ExtremeOf(syntax.Extreme(extreme), parts, place=place),
    "implies": lambda place, left, right: syntax.Implication(left, right, place=place),
    "length": lambda place: syntax.Length(place=place),
    "magnitude": lambda place, one: syntax.Magnitude(one, place=place),
    "nearest": lambda place, choice, mask, condition, left, right, value, default: syntax.Nearest(
        Choice(choice), _mask(mask), condition, left, right, value, default, place=place
    ),
    "negation": lambda place, one: syntax.Negation(one, place=place),
    "or": _joined(syntax.Join.OR),
    "position": lambda place: syntax.Position(place=place),
    "quantified": lambda place, quantifier, mask, condition, body: syntax.Quantified(
        syntax.Quantifier(quantifier), _mask(mask), condition, body, place=place
    ),
    "selection": lambda place, choice, mask, condition, value, default: syntax.Selection(
        Choice(choice), _mask(mask), condition, value, default, place=place
    ),
    "sum": _sum,
    "truth": lambda place, token: syntax.Truth(token.value == "true", place=place),
    "word_symbol": lambda place: syntax.WordSymbol(place=place),
    "xor": _joined(syntax.Join.XOR),
}
"""Rules whose children only have to be put together."""


def _mask(token: Token) -> Mask:
    return Mask(token.value.strip("ij \t\r"))
