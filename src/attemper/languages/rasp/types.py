"""The types of expressions: Bit, Integer, Symbol. Every name has one, inferred from its definition."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import assert_never, final

from attemper.errors import SourceError
from attemper.languages.rasp import syntax
from attemper.languages.rasp.equality import conjuncts, may_match
from attemper.languages.rasp.located import mistake, nearest_name, unsupported
from attemper.languages.rasp.show import show_expression, show_mask
from attemper.languages.temporal.reading import At


@final
@dataclass(frozen=True)
class BitType:
    """True or false at every position."""

    def __str__(self) -> str:
        return "Bit"


@final
@dataclass(frozen=True)
class IntegerType:
    """An integer at every position."""

    def __str__(self) -> str:
        return "Integer"


@final
@dataclass(frozen=True)
class SymbolType:
    """One of these names at every position; the names in the order in which the text has them."""

    names: tuple[str, ...]

    def __str__(self) -> str:
        return f"Symbol{{{', '.join(self.names)}}}"


@final
@dataclass(frozen=True)
class DistributionType:
    """A probability for each of these names at every position; names as in a Symbol."""

    names: tuple[str, ...]

    def __str__(self) -> str:
        return f"Distribution{{{', '.join(self.names)}}}"


Type = BitType | IntegerType | SymbolType | DistributionType

BIT, INTEGER = BitType(), IntegerType()

MAX_NAMES = 1_000
"""A Symbol that has more names, and is not the word's own, is refused."""


def types_of(source: syntax.ProgramText, text: str) -> Mapping[str, Type]:
    r"""The type of every definition, in their order.

    Raises `SourceError` where types do not fit, `UnsupportedError` for what is not built yet: Integers that
    attention fetches.

    >>> from attemper.languages.rasp.parse import parse_source
    >>> text = "alphabet a b\nempty reject\nmore = len > 2\nkind = more ? many : few\noutput more"
    >>> {name: str(type) for name, type in types_of(parse_source(text), text).items()}
    {'more': 'Bit', 'kind': 'Symbol{many, few}'}
    """
    checker = _Checker(source, text)
    for definition in source.definitions:
        checker.define(definition.name, definition.expression)
    output = checker.type_of(source.output)
    checker.refuse_undefined(source.output, output, BIT)
    _check_output(source, output, text)
    return checker.types


def _check_output(source: syntax.ProgramText, output: Type, text: str) -> None:
    """A Bit has a verdict on the empty word; all else is put out at every position, and has no verdict."""
    place, said = source.output.place, source.accepts_empty is not None
    if source.divisor is not None and output != INTEGER:
        message = f"an Integer is divided by the number of visible positions, and this is {_a(output)}"
        raise mistake(message, text, place)
    match output:
        case BitType() if not said:
            raise mistake(
                "what the empty word gives is not said", text, place, "empty accept", "empty reject"
            )
        case IntegerType() | SymbolType() | DistributionType() if said or source.at is At.FIRST:
            message = (
                f"the output is {_a(output)}, put out at every position: there is no verdict that 'empty' or "
                "'at' could speak of, leave them out"
            )
            raise mistake(message, text, place)
        case _:
            pass


def _a(found: Type) -> str:
    return f"an {found}" if found == INTEGER else f"a {found}"


class _Checker:
    """The types so far."""

    def __init__(self, source: syntax.ProgramText, text: str) -> None:
        self.source = source
        self.text = text
        self.types: dict[str, Type] = {}
        self.defined_symbols: list[str] = []
        self.symbols = {"none", *source.alphabet.symbols}
        """Names that symbols have."""

    def define(self, name: str, expression: syntax.Expression) -> None:
        """One more definition."""
        found = self.types[name] = self.type_of(expression)
        if isinstance(found, SymbolType):
            self.defined_symbols.append(name)
            self.symbols.update(found.names)

    def type_of(self, expression: syntax.Expression) -> Type:
        """The type of what stands alone, outside the brackets of attention."""
        return self._type(expression, inside=False)

    def _type(self, expression: syntax.Expression, inside: bool) -> Type:
        """The type; `inside` conditions everything is read at i or at j."""
        match expression:
            case syntax.Truth():
                return BIT
            case syntax.Number() | syntax.Length():
                return INTEGER
            case syntax.SymbolName(name):
                self._refuse_misspelt(expression)
                return SymbolType((name,))
            case syntax.Distributed(probabilities):
                return DistributionType(tuple(name for name, _ in probabilities))
            case (
                syntax.Edge()
                | syntax.In()
                | syntax.WordSymbol()
                | syntax.Position()
                | syntax.Name()
                | syntax.Quantified()
                | syntax.Selection()
                | syntax.Nearest()
                | syntax.Shifted()
            ):
                if inside:
                    raise self._mistake(_SAY_WHERE, expression.place)
                return self._read(expression)
            case syntax.Applied(operand, index):
                if not inside:
                    raise self._mistake(
                        f"({index}) stands only inside [ : ] and behind it, where there are i and j",
                        expression.place,
                    )
                return self._type(operand, inside=False)
            case syntax.Conditional(condition, then, otherwise):
                self._require(BIT, condition, inside, "what stands before '?'")
                return self._united(then, otherwise, inside)
            case syntax.Comparison():
                return self._comparison(expression, inside)
            case syntax.Negation() | syntax.Joined() | syntax.Implication():
                return self._connective(expression, inside)
            case _:
                return self._integer(expression, inside)

    def _read(
        self,
        expression: syntax.Edge
        | syntax.In
        | syntax.WordSymbol
        | syntax.Position
        | syntax.Name
        | syntax.Quantified
        | syntax.Selection
        | syntax.Nearest
        | syntax.Shifted,
    ) -> Type:
        match expression:
            case syntax.Edge() | syntax.In():
                return BIT
            case syntax.WordSymbol():
                return SymbolType(self.source.alphabet.symbols)
            case syntax.Position():
                return INTEGER
            case syntax.Name(name):
                return self.types[name]
            case syntax.Quantified():
                return self._quantified(expression)
            case syntax.Selection(choice, _, condition, value, default):
                self._condition(condition, may_equal=True)
                return self._fetched(choice, self._there(value), value, default, needs_default=True)
            case syntax.Nearest():
                return self._nearest(expression)
            case syntax.Shifted(direction, _, value, default):
                found = self._type(value, inside=False)
                needs_default = isinstance(found, SymbolType)
                return self._fetched(direction, found, value, default, needs_default)
            case _:
                assert_never(expression)

    def _connective(
        self, expression: syntax.Negation | syntax.Joined | syntax.Implication, inside: bool
    ) -> Type:
        match expression:
            case syntax.Negation(operand):
                self._require(BIT, operand, inside, "what '!' negates")
            case syntax.Joined(join, parts):
                for part in parts:
                    self._require(BIT, part, inside, f"what '{join}' joins")
            case syntax.Implication(premise, conclusion):
                self._require(BIT, premise, inside, "what stands before '->'")
                self._require(BIT, conclusion, inside, "what stands behind '->'")
            case _:
                assert_never(expression)
        return BIT

    def _integer(
        self,
        expression: syntax.Sum
        | syntax.Negative
        | syntax.Multiple
        | syntax.ExtremeOf
        | syntax.Magnitude
        | syntax.RemainderTest,
        inside: bool,
    ) -> Type:
        match expression:
            case syntax.Sum(parts):
                self._integers(parts, inside, "a part of a sum")
            case syntax.Negative(operand):
                self._integers((operand,), inside, "what '-' stands before")
            case syntax.Multiple(_, operand):
                self._integers((operand,), inside, "what '*' multiplies")
            case syntax.ExtremeOf(extreme, parts):
                self._integers(parts, inside, f"what '{extreme}' compares")
            case syntax.Magnitude(operand):
                self._integers((operand,), inside, "the operand of 'abs'")
            case syntax.RemainderTest(operand):
                self._integers((operand,), inside, "what stands before '%'")
                self._one_side(expression)
                return BIT
            case _:
                assert_never(expression)
        return INTEGER

    def _integers(self, parts: tuple[syntax.Expression, ...], inside: bool, what: str) -> None:
        for part in parts:
            self._require(INTEGER, part, inside, what)

    def _comparison(self, expression: syntax.Comparison, inside: bool) -> Type:
        relation = expression.relation
        self._refuse_loose(expression)
        left, right = (self._type(side, inside) for side in (expression.left, expression.right))
        match left, right:
            case IntegerType(), IntegerType():
                self._one_side(expression)
            case SymbolType(), SymbolType() if relation not in {
                syntax.Relation.EQUAL,
                syntax.Relation.UNEQUAL,
            }:
                raise self._mistake(
                    f"Symbols have no order: '{relation}' compares Integers", expression.place
                )
            case SymbolType(some), SymbolType(others):
                if not set(some) & set(others):
                    message = f"these are never equal: {_a(left)} and {_a(right)}"
                    raise self._mistake(message, expression.place)
            case BitType(), BitType():
                raise self._mistake(
                    f"'{relation}' compares Integers or Symbols, and these are Bits: p xor q, or !(p xor q)",
                    expression.place,
                )
            case _:
                for side, found, other in ((expression.left, left, right), (expression.right, right, left)):
                    self.refuse_undefined(side, found, other)
                message = f"'{relation}' compares two Integers or two Symbols, not {_a(left)} and {_a(right)}"
                raise self._mistake(message, expression.place)
        return BIT

    def _refuse_loose(self, expression: syntax.Comparison) -> None:
        """What `every[...]` speaks of ends before a comparison, unless that stands in brackets."""
        if not isinstance(head := expression.left, syntax.Quantified) or head.body is None:
            return
        found = self._there(head.body)
        self.refuse_undefined(head.body, found, BIT)
        if found != BIT:
            meant = show_expression(replace(head, body=replace(expression, left=head.body)))
            message = f"'{head.quantifier}' speaks of a Bit, and this is {_a(found)}; brackets: {meant}"
            raise self._mistake(message, head.body.place)

    def _one_side(self, expression: syntax.Expression) -> None:
        if len(syntax.indices(expression)) > 1:
            message = (
                "an Integer at i is not compared with one at j here: x(j) = y(i) stands alone or joined by & "
                "in the brackets of rightmost, leftmost, some and every, not under ! or |, and no other "
                "comparison of the two is built (the nearest is found by x(j) ~ y(i))"
            )
            raise unsupported(message, self.text, expression.place)

    def _quantified(self, expression: syntax.Quantified) -> Type:
        quantifier, condition, body = expression.quantifier, expression.condition, expression.body
        if condition is None and body is None:
            like = f"{quantifier}[j <= i] f, or {quantifier}[j <= i : f(j)]"
            message = f"what does '{quantifier}' speak of? Write {like}"
            raise self._mistake(message, expression.place)
        # What every position is asked stands under a negation, where there is nothing else.
        is_sought = quantifier is syntax.Quantifier.SOME or (
            quantifier is syntax.Quantifier.EVERY and body is not None
        )
        self._condition(condition, may_equal=is_sought)
        if body is not None:
            found = self._there(body)
            self.refuse_undefined(body, found, BIT)
            if found != BIT:
                raise self._mistake(f"'{quantifier}' speaks of a Bit, and this is {_a(found)}", body.place)
        if quantifier is not syntax.Quantifier.COUNT:
            return BIT
        return INTEGER

    def _nearest(self, expression: syntax.Nearest) -> Type:
        mask, default = expression.mask, expression.default
        self._condition(expression.condition)
        for side in (expression.left, expression.right):
            self._require(INTEGER, side, inside=True, what="what '~' compares")
        read_at = syntax.indices(expression.key), syntax.indices(expression.query)
        if read_at[0] != {syntax.Index.THERE} or syntax.Index.THERE in read_at[1]:
            message = "'~' compares an Integer at j with one at i: x(j) ~ y(i)"
            raise self._mistake(message, expression.left.place)
        if default is not None and not mask.is_strict:
            message = (
                f"'nearest' always finds a position under '{show_mask(mask)}', and takes no 'else' there "
                "(brackets, if that is another attention's)"
            )
            raise self._mistake(message, default.place)
        found = self._there(expression.value)
        return self._fetched("nearest", found, expression.value, default, needs_default=mask.is_strict)

    def _condition(self, condition: syntax.Expression | None, may_equal: bool = False) -> None:
        """Integers at j may be asked for that equal one at i: one of the things joined by &."""
        if condition is None:
            return
        parts = list(conjuncts(condition)) if may_equal else [condition]
        equalities = [part for part in parts if may_equal and self._is_match(part)]
        for part in parts:
            if part not in equalities:
                self._require(BIT, part, inside=True, what="a condition")
        if len(equalities) > 1:
            message = (
                "one Integer at j is compared with one at i: '=' between the two stands once in brackets"
            )
            raise unsupported(message, self.text, equalities[1].place)

    def _is_match(self, part: syntax.Expression) -> bool:
        """Whether it says that an Integer at i equals one at j."""
        if not (isinstance(part, syntax.Comparison) and may_match(part)):
            return False
        sides = (part.left, part.right)
        if any(self._type(side, inside=True) != INTEGER for side in sides):
            return False
        if any(len(syntax.indices(side)) > 1 for side in sides):
            message = (
                "what is read at j stands on one side of '=', what is read at i on the other: x(j) = y(i)"
            )
            raise unsupported(message, self.text, part.place)
        return True

    def _there(self, body: syntax.Expression) -> Type:
        """The type of what is read at j: f, f(j), or several such things."""
        read_at = syntax.indices(body)
        if syntax.Index.HERE in read_at:
            message = "what stands behind [ ] is read at j; what is read at i is joined afterwards"
            raise self._mistake(message, body.place)
        return self._type(body, inside=bool(read_at))

    def _fetched(
        self,
        head: str,
        found: Type,
        value: syntax.Expression,
        default: syntax.Expression | None,
        needs_default: bool,
    ) -> Type:
        """The type of what attention reads, given that of the value and how the text says `else`."""
        if found == INTEGER:
            raise unsupported(_NOT_FETCHED.format(head), self.text, value.place)
        if isinstance(found, DistributionType):
            message = f"'{head}' fetches no Distribution: fetch a Symbol or a Bit, and choose by ? :"
            raise unsupported(message, self.text, value.place)
        like = "else false" if found == BIT else "else none"
        if default is None:
            if needs_default:
                message = (
                    "a head attends somewhere, also where there is nothing to read: "
                    f"say what '{head}' gives there ({like}, for example)"
                )
                raise self._mistake(message, value.place)
            return found
        other = self._type(default, inside=False)
        self.refuse_undefined(default, other, found)
        if type(other) is not type(found):
            message = f"the value is {_a(found)} and what stands behind 'else' {_a(other)}"
            raise self._mistake(message, default.place)
        if not isinstance(default, syntax.Truth | syntax.SymbolName):
            kind = "true or false" if found == BIT else "the name of a symbol"
            message = f"behind 'else' stands {kind}; anything else is chosen by some[...] f ? ... : ..."
            raise unsupported(message, self.text, default.place)
        return self._union(found, other, value.place)

    def _union(self, first: Type, second: Type, place: syntax.Location) -> Type:
        match first, second:
            case SymbolType(some), SymbolType(others):
                names = tuple(dict.fromkeys((*some, *others)))
                if len(names) > MAX_NAMES:
                    message = f"a Symbol with more than {MAX_NAMES:,} names, and each of them is a step"
                    raise unsupported(message, self.text, place)
                return SymbolType(names)
            case DistributionType(some), DistributionType(others):
                return DistributionType(tuple(dict.fromkeys((*some, *others))))
            case _:
                return first

    def _united(self, then: syntax.Expression, otherwise: syntax.Expression, inside: bool) -> Type:
        first, second = self._type(then, inside), self._type(otherwise, inside)
        if type(first) is not type(second):
            self.refuse_undefined(then, first, second)
            self.refuse_undefined(otherwise, second, first)
            message = f"both branches of '? :' have one type, and these are {_a(first)} and {_a(second)}"
            raise self._mistake(message, then.place)
        return self._union(first, second, then.place)

    def _require(self, wanted: Type, expression: syntax.Expression, inside: bool, what: str) -> None:
        found = self._type(expression, inside)
        if found == wanted:
            return
        self.refuse_undefined(expression, found, wanted)
        raise self._mistake(f"{what} is {_a(wanted)}, and this is {_a(found)}", expression.place)

    def refuse_undefined(self, expression: syntax.Expression, found: Type, other: Type) -> None:
        """A bare word where no Symbol can stand is no name of a symbol, but a name that has no definition."""
        if isinstance(expression, syntax.SymbolName) and expression.bare and type(other) is not type(found):
            raise self._undefined(expression)

    def _refuse_misspelt(self, expression: syntax.SymbolName) -> None:
        """A bare word that is spelt almost as the name of a Symbol's definition is taken for a mistake.

        Not so `none`, and what is a symbol elsewhere. (Where no Symbol can stand, the type is wrong anyway.)
        """
        if not expression.bare or expression.name in self.symbols:
            return
        if nearest_name(expression.name, self.defined_symbols):
            raise self._undefined(expression)

    def _undefined(self, expression: syntax.SymbolName) -> SourceError:
        name = expression.name
        if name in self.source.alphabet.symbols:
            message = f"'{name}' is a symbol: that it stands here is written in '{name}'"
            return self._mistake(message, expression.place)
        meant = nearest_name(name, [*self.types, *syntax.RESERVED])
        hint = f": did you mean '{meant}'?" if meant else ""
        message = f"'{name}' is not defined{hint} (the name of a symbol can be put in quotes)"
        return self._mistake(message, expression.place)

    def _mistake(self, message: str, place: syntax.Location) -> SourceError:
        return mistake(message, self.text, place)


_NOT_FETCHED = "Integers that '{}' fetches are not built yet: Bits and Symbols are fetched"

_SAY_WHERE = (
    "a condition says where everything is read: f(i) or f(j), with brackets where f is no name: (f & g)(j)"
)
