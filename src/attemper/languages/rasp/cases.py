"""Conditions of attention as cases: which bit j must have, for each of the things that can be the case at i.

A condition is split by what it reads at i, one thing after the other: a Bit holds or does not, a Symbol is
one of its names. What is left speaks of j only: a *residual*. Positions with one residual are one case.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Protocol

from attemper.attention_program.ops import Cases, Ref, everywhere
from attemper.languages.rasp.bits import Bits
from attemper.languages.rasp.syntax import (
    Applied,
    Comparison,
    Conditional,
    Expression,
    Implication,
    Index,
    Join,
    Joined,
    Negation,
    Relation,
    RemainderTest,
    SymbolName,
    Truth,
    indices,
    operands,
)

MAX_CASES = 60
"""A condition with more cases is refused: each takes a head of its own, or room for it in one of four."""

MAX_RESIDUALS = 100
"""A part of a condition that leaves more residuals, most of which will be cases, is not split further."""

MAX_SPLITS = 4_096
"""A condition that is split further is refused."""

MAX_READ = 40
"""A condition that reads more things at i is refused."""

SymbolBits = Mapping[str, Ref]
"""A Symbol: a bit for each of its names, of which exactly one holds."""


class TooManyCasesError(Exception):
    """The condition has more than `MAX_CASES` cases; how many is its argument."""


class TooManySplitsError(Exception):
    """The condition reads too many things at i for its cases to be found."""


class Reader(Protocol):
    """Knows the value of expressions, each at the position where it is read."""

    def bit(self, expression: Expression) -> Ref:
        """A Bit."""

    def symbol(self, expression: Expression) -> SymbolBits | None:
        """A Symbol; None for what is none."""


def cases_of(condition: Expression, reader: Reader, bits: Bits) -> Cases:
    """The cases of a condition; none of them is never in force, or matches nothing, but a single one.

    Raises `TooManyCasesError` and `TooManySplitsError`.
    """
    if len(_all_read_here(condition)) > MAX_READ:
        raise TooManySplitsError
    splitting = _Splitting(reader, bits)
    split = splitting.split(condition)
    found = {there: here for there, here in split.items() if bits.false not in {there, here}}
    if len(found) > MAX_CASES:
        raise TooManyCasesError(len(found))
    match list(found.items()):
        case []:
            return everywhere(bits.false)
        case [(there, here)] if here == bits.true:
            return everywhere(there)
        case cases:
            return tuple((here, there) for there, here in cases)


@dataclass
class _Splitting:
    reader: Reader
    bits: Bits
    splits: int = 0

    def split(self, condition: Expression) -> dict[Ref, Ref]:
        """For each residual, as a bit at j, the bit at i where it is what is left."""
        read = self._read_here(condition)
        if read is None:
            return {self.reader.bit(condition): self.bits.true}
        symbol = self.reader.symbol(read)
        if symbol is None:
            return self._by_bit(condition, read)
        return self._by_symbol(condition, read, symbol)

    def _by_bit(self, condition: Expression, read: Expression) -> dict[Ref, Ref]:
        holds, fails = (self._with(condition, read, Truth(value)) for value in (True, False))
        bit = self.reader.bit(read)
        return {
            there: self.bits.chosen(bit, holds.get(there, self.bits.false), fails.get(there, self.bits.false))
            for there in (holds | fails)
        }

    def _by_symbol(self, condition: Expression, read: Expression, symbol: SymbolBits) -> dict[Ref, Ref]:
        parts = {name: self._with(condition, read, SymbolName(name)) for name in symbol}
        theres = dict.fromkeys(there for part in parts.values() for there in part)
        if len(theres) > MAX_RESIDUALS:
            raise TooManyCasesError(len(theres))
        return {there: self._where(symbol, parts, there) for there in theres}

    def _where(self, symbol: SymbolBits, parts: Mapping[str, dict[Ref, Ref]], there: Ref) -> Ref:
        """Where the residual is what is left: names with the same answer are told apart by nothing."""
        answers: dict[Ref, list[Ref]] = {}
        for name, part in parts.items():
            answers.setdefault(part.get(there, self.bits.false), []).append(symbol[name])
        if len(answers) == 1:
            return next(iter(answers))
        return self.bits.any_of(
            self.bits.all_of((self.bits.any_of(names), answer)) for answer, names in answers.items()
        )

    def _with(self, condition: Expression, read: Expression, value: Truth | SymbolName) -> dict[Ref, Ref]:
        self.splits += 1
        if self.splits > MAX_SPLITS:
            raise TooManySplitsError
        return self.split(substituted(condition, read, value))

    def _read_here(self, condition: Expression) -> Expression | None:
        """The first Bit or Symbol that the condition reads at i; a test of Integers at i is one Bit."""
        match condition:
            case Applied(_, index):
                return condition if index is Index.HERE else None
            case RemainderTest() if indices(condition) == {Index.HERE}:
                return condition
            case Comparison(_, left) if indices(condition) == {Index.HERE} and self._is_integer(left):
                return condition
            case _:
                found = map(self._read_here, operands(condition))
                return next((one for one in found if one is not None), None)

    def _is_integer(self, side: Expression) -> bool:
        return self.reader.symbol(side) is None


def _all_read_here(condition: Expression) -> frozenset[Expression]:
    match condition:
        case Applied(_, index):
            return frozenset({condition}) if index is Index.HERE else frozenset()
        case _:
            return frozenset().union(*map(_all_read_here, operands(condition)))


def substituted(expression: Expression, read: Expression, value: Truth | SymbolName) -> Expression:
    """The expression where what is read has that value, as far as that decides.

    >>> from attemper.languages.rasp.syntax import Name
    >>> p, q = Applied(Name("p"), Index.HERE), Applied(Name("q"), Index.THERE)
    >>> substituted(Joined(Join.AND, (p, q)), p, Truth(True)) == q
    True
    """
    if expression == read:
        return value
    match expression:
        case Negation(operand):
            return _negation(substituted(operand, read, value))
        case Joined(join, parts):
            return _joined(join, [substituted(part, read, value) for part in parts])
        case Implication(premise, conclusion):
            unless = _negation(substituted(premise, read, value))
            return _joined(Join.OR, [unless, substituted(conclusion, read, value)])
        case Comparison(relation, left, right):
            return _comparison(relation, substituted(left, read, value), substituted(right, read, value))
        case Conditional(condition, then, otherwise):
            chosen = substituted(condition, read, value)
            if isinstance(chosen, Truth):
                return substituted(then if chosen.value else otherwise, read, value)
            return Conditional(chosen, substituted(then, read, value), substituted(otherwise, read, value))
        case _:
            return expression


def _negation(operand: Expression) -> Expression:
    return Truth(not operand.value) if isinstance(operand, Truth) else Negation(operand)


def _joined(join: Join, parts: list[Expression]) -> Expression:
    known = [part.value for part in parts if isinstance(part, Truth)]
    rest = tuple(part for part in parts if not isinstance(part, Truth))
    if join is Join.XOR:
        odd = sum(known) % 2 == 1
        if not rest:
            return Truth(odd)
        left = rest[0] if len(rest) == 1 else Joined(join, rest)
        return _negation(left) if odd else left
    zero = join is Join.OR
    if zero in known:
        return Truth(zero)
    if not rest:
        return Truth(not zero)
    return rest[0] if len(rest) == 1 else Joined(join, rest)


def _comparison(relation: Relation, left: Expression, right: Expression) -> Expression:
    if isinstance(left, SymbolName) and isinstance(right, SymbolName):
        return Truth((left.name == right.name) == (relation is Relation.EQUAL))
    return Comparison(relation, left, right)
