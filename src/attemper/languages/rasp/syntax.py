"""The syntax of attention programs as people write them: expressions, definitions, a whole source. Data only.

An expression has a value at every position i: a Bit, an Integer or a Symbol. What stands in brackets `[ : ]`,
a *condition*, speaks of two positions, i and j: `Applied` says at which of them an expression is read.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import StrEnum
from fractions import Fraction
from typing import final

from attemper.attention_program.ops import Choice, Direction, Mask
from attemper.languages.temporal.reading import At
from attemper.languages.words import Alphabet


class Index(StrEnum):
    """The position that is looked from (i) and the one that is looked at (j)."""

    HERE = "i"
    THERE = "j"


class Join(StrEnum):
    """Connectives of two Bits or more."""

    AND = "&"
    OR = "|"
    XOR = "xor"


class Relation(StrEnum):
    """Comparisons: all of them of Integers, equality and its negation also of Symbols."""

    EQUAL = "="
    UNEQUAL = "!="
    AT_MOST = "<="
    LESS = "<"
    AT_LEAST = ">="
    GREATER = ">"


class Quantifier(StrEnum):
    """What is asked of all the positions that fit together."""

    SOME = "some"
    EVERY = "every"
    COUNT = "count"


class Extreme(StrEnum):
    """The least or the greatest of several Integers."""

    LEAST = "min"
    GREATEST = "max"


@final
@dataclass(frozen=True)
class Location:
    """Where something stands in a text: line and column, from 1."""

    line: int
    column: int


NOWHERE = Location(1, 1)


class Divisor(StrEnum):
    """By what an Integer is divided that is put out as a fraction: all are numbers of visible positions."""

    POSITION = "pos"
    LENGTH = "len"
    VISIBLE = "visible"


@dataclass(frozen=True)
class Node:
    """What all expressions have: a place, which is no part of what they are."""

    place: Location = field(default=NOWHERE, compare=False, repr=False, kw_only=True)


@final
@dataclass(frozen=True)
class Truth(Node):
    """Bit: true or false."""

    value: bool


@final
@dataclass(frozen=True)
class Edge(Node):
    """Bit: this is the first (last) position."""

    at: At


@final
@dataclass(frozen=True)
class In(Node):
    """Bit: the symbol of the word at this position is one of these."""

    symbols: tuple[str, ...]


@final
@dataclass(frozen=True)
class WordSymbol(Node):
    """Symbol: the one of the word at this position."""


@final
@dataclass(frozen=True)
class Name(Node):
    """What an earlier definition says. `meaning`: that, where a program is still being built in Python."""

    name: str
    meaning: Expression | None = field(default=None, compare=False, repr=False, kw_only=True)


@final
@dataclass(frozen=True)
class SymbolName(Node):
    """Symbol: always this one. `bare`: written without quotes, so that it may be a misspelt name."""

    name: str
    bare: bool = field(default=False, compare=False, repr=False, kw_only=True)


@final
@dataclass(frozen=True)
class Negation(Node):
    """Bit: not the operand."""

    operand: Expression


@final
@dataclass(frozen=True)
class Joined(Node):
    """Bit: two Bits or more, joined by one connective."""

    join: Join
    parts: tuple[Expression, ...]


@final
@dataclass(frozen=True)
class Implication(Node):
    """Bit: the second holds if the first does."""

    premise: Expression
    conclusion: Expression


@final
@dataclass(frozen=True)
class Comparison(Node):
    """Bit: two Integers or two Symbols, compared."""

    relation: Relation
    left: Expression
    right: Expression


@final
@dataclass(frozen=True)
class RemainderTest(Node):
    """Bit: the Integer leaves this remainder, from 0 to modulus - 1, also where it is negative."""

    operand: Expression
    modulus: int
    remainder: int


@final
@dataclass(frozen=True)
class Number(Node):
    """Integer: always this one, at least 0."""

    value: int


@final
@dataclass(frozen=True)
class Position(Node):
    """Integer: the position, from 1."""


@final
@dataclass(frozen=True)
class Length(Node):
    """Integer: the length of the word."""


@final
@dataclass(frozen=True)
class Sum(Node):
    """Integer: the sum of two Integers or more; a difference has a `Negative` part."""

    parts: tuple[Expression, ...]


@final
@dataclass(frozen=True)
class Negative(Node):
    """Integer: minus the operand."""

    operand: Expression


@final
@dataclass(frozen=True)
class Multiple(Node):
    """Integer: a number, at least 0, times the operand."""

    factor: int
    operand: Expression


@final
@dataclass(frozen=True)
class ExtremeOf(Node):
    """Integer: the least or greatest of two Integers or more."""

    extreme: Extreme
    parts: tuple[Expression, ...]


@final
@dataclass(frozen=True)
class Magnitude(Node):
    """Integer: the operand without its sign."""

    operand: Expression


@final
@dataclass(frozen=True)
class Distributed(Node):
    """Distribution: a probability for each of these names, which are not negative and have the sum 1."""

    probabilities: tuple[tuple[str, Fraction], ...]


@final
@dataclass(frozen=True)
class Conditional(Node):
    """Any type: `then` where the Bit `condition` holds, else `otherwise`."""

    condition: Expression
    then: Expression
    otherwise: Expression


@final
@dataclass(frozen=True)
class Quantified(Node):
    """Of the visible j where the condition holds: some (every) one has the Bit; count: how many have."""

    quantifier: Quantifier
    mask: Mask
    condition: Expression | None
    body: Expression | None


@final
@dataclass(frozen=True)
class Selection(Node):
    """Bit or Symbol: the value at the rightmost (leftmost) visible j with the condition, else the default.

    `default` is None only in a text that lacks one, which is an error.
    """

    choice: Choice
    mask: Mask
    condition: Expression | None
    value: Expression
    default: Expression | None


@final
@dataclass(frozen=True)
class Nearest(Node):
    """Bit or Symbol: the value at the visible j where one Integer is nearest to another one at i.

    `left` and `right` are the Integers, one read at j (the key), the other at i (the query). Positions with
    the condition come first at the same distance, then those that are one further off; of several the
    rightmost (leftmost) is read. Only a strict mask may show none: `default` is for that, and None elsewhere.
    """

    choice: Choice
    mask: Mask
    condition: Expression | None
    left: Expression
    right: Expression
    value: Expression
    default: Expression | None

    @property
    def key(self) -> Expression:
        """The Integer that is read at j."""
        return self.left if Index.THERE in indices(self.left) else self.right

    @property
    def query(self) -> Expression:
        """The Integer that is read at i."""
        return self.right if self.key is self.left else self.left


@final
@dataclass(frozen=True)
class Shifted(Node):
    """Bit or Symbol: the value `distance` positions before (after), or the default where there is none.

    Without a default that is false; a Symbol needs one.
    """

    direction: Direction
    distance: int
    value: Expression
    default: Expression | None


@final
@dataclass(frozen=True)
class Applied(Node):
    """Any type: the operand at i or at j; stands only in conditions, and in what is read at j."""

    operand: Expression
    index: Index


Expression = (
    Truth
    | Edge
    | In
    | WordSymbol
    | Name
    | SymbolName
    | Negation
    | Joined
    | Implication
    | Comparison
    | RemainderTest
    | Number
    | Position
    | Length
    | Sum
    | Negative
    | Multiple
    | ExtremeOf
    | Magnitude
    | Distributed
    | Conditional
    | Quantified
    | Selection
    | Nearest
    | Shifted
    | Applied
)


@final
@dataclass(frozen=True)
class Assignment(Node):
    """A name for an expression."""

    name: str
    expression: Expression


@final
@dataclass(frozen=True)
class ProgramText:
    """A whole text. The output is a Bit, whose value at one end of a word is the verdict, or of another type.

    An Integer is put out as it is, or as the fraction of it and the `divisor`.
    The empty word has a verdict of its own: None where the text says nothing of one.
    """

    alphabet: Alphabet
    accepts_empty: bool | None
    definitions: tuple[Assignment, ...]
    output: Expression
    at: At = At.LAST
    divisor: Divisor | None = None


RESERVED = frozenset(
    {
        *("alphabet", "empty", "accept", "reject", "output", "at", "first", "last", "true", "false"),
        *("xor", "in", "symbol", "pos", "len", "abs", "min", "max", "some", "every", "count"),
        *("rightmost", "leftmost", "nearest", "previous", "next", "else", "all", "i", "j"),
    }
)
"""Words of the language, which name no definition."""


def operands(expression: Expression) -> tuple[Expression, ...]:
    """The expressions that this one is made of, in the order of the text."""
    match expression:
        case (
            Truth() | Edge() | In() | WordSymbol() | Name() | SymbolName() | Number() | Position() | Length()
        ) | Distributed():
            return ()
        case (
            Negation(one)
            | RemainderTest(one)
            | Negative(one)
            | Multiple(_, one)
            | Magnitude(one)
            | Applied(one)
        ):
            return (one,)
        case Joined(_, parts) | Sum(parts) | ExtremeOf(_, parts):
            return parts
        case Implication(left, right) | Comparison(_, left, right):
            return left, right
        case Conditional(condition, then, otherwise):
            return condition, then, otherwise
        case Quantified(_, _, condition, body):
            return _present(condition, body)
        case Selection(_, _, condition, value, default):
            return _present(condition, value, default)
        case Nearest(_, _, condition, left, right, value, default):
            return _present(condition, left, right, value, default)
        case Shifted(_, _, value, default):
            return _present(value, default)


def _present(*expressions: Expression | None) -> tuple[Expression, ...]:
    return tuple(one for one in expressions if one is not None)


def indices(expression: Expression) -> frozenset[Index]:
    """At which of i and j a condition, or what is read at j, reads anything."""
    match expression:
        case Applied(_, index):
            return frozenset({index})
        case Quantified() | Selection() | Nearest() | Shifted():
            return frozenset()
        case _:
            return frozenset().union(*map(indices, operands(expression)))
