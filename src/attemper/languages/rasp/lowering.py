"""From source to attention program: every definition as the steps that compute it.

    Bit         a step
    Symbol      a bit for each of its names, of which exactly one holds at every position
    Integer     a sum of `Count` steps, in branches (`integers`)
    Distribution    probabilities, in branches (`numbers`)
    [ : ]       the cases of a selection (`cases`)

Comparisons of Symbols are disjunctions of conjunctions; a Symbol that attention fetches is fetched bit by
bit, with the same scores. Types are checked before (`types`).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from functools import cached_property, reduce
from typing import assert_never

from attemper.attention_program import ops
from attemper.attention_program.ops import Nearest as NearestStep
from attemper.errors import AttemperError
from attemper.exact.closed_forms import FIRST, LAST
from attemper.languages.rasp import numbers, syntax
from attemper.languages.rasp.bits import Bits
from attemper.languages.rasp.cases import (
    MAX_CASES,
    SymbolBits,
    TooManyCasesError,
    TooManySplitsError,
    cases_of,
)
from attemper.languages.rasp.equality import Equality, conjuncts, may_match
from attemper.languages.rasp.integers import (
    MAX_INTEGER,
    Branches,
    IntegerSteps,
    IntegerTerm,
    IntegerTooLargeError,
    TooManyBranchesError,
)
from attemper.languages.rasp.located import mistake, unsupported
from attemper.languages.rasp.matching import NotMatchedError, key_of, key_term, queries_of, query_terms
from attemper.languages.rasp.show import show_expression
from attemper.languages.rasp.strict import Restated
from attemper.languages.temporal.reading import At

Value = ops.Ref | SymbolBits | Branches | numbers.Chances
"""A Bit, a Symbol, an Integer or a Distribution."""


class Lowering:
    """The steps so far, and the values of the definitions so far."""

    def __init__(self, source: syntax.ProgramText, text: str) -> None:
        self.source = source
        self.text = text
        self.bits = Bits()
        self.integers = IntegerSteps(self.bits)
        self.values: dict[str, Value] = {}

    @cached_property
    def word_symbol(self) -> SymbolBits:
        """The symbol of the word."""
        return {one: self.bits.add(ops.Letter((one,))) for one in self.source.alphabet.symbols}

    def define(self, name: str, expression: syntax.Expression) -> None:
        """One more definition. Raises `UnsupportedError` where a head cannot tell the cases apart."""
        self.values[name] = self.value(expression)

    def bit(self, expression: syntax.Expression) -> ops.Ref:
        """The step of a Bit."""
        found = self.value(expression)
        assert isinstance(found, int)
        return found

    def symbol(self, expression: syntax.Expression) -> SymbolBits | None:
        """The bits of a Symbol; None for what is none."""
        found = self.value(expression)
        return found if isinstance(found, Mapping) else None

    def integer(self, expression: syntax.Expression) -> Branches:
        """The branches of an Integer."""
        found = self.value(expression)
        assert isinstance(found, tuple)
        return found

    def value(self, expression: syntax.Expression) -> Value:
        """The value of an expression where it is read; a residual is read at j."""
        match expression:
            case syntax.Name(name):
                return self.values[name]
            case syntax.Applied(operand):
                return self.value(operand)
            case syntax.SymbolName(name):
                return {name: self.bits.true}
            case syntax.WordSymbol():
                return self.word_symbol
            case syntax.Distributed(probabilities):
                return numbers.certain(self.bits, probabilities)
            case syntax.Conditional():
                return self._conditional(expression)
            case syntax.Nearest():
                return self._nearest(expression)
            case syntax.Selection() | syntax.Shifted():
                return self._fetched(expression)
            case syntax.Quantified():
                return self._quantified(expression)
            case syntax.Comparison():
                return self._comparison(expression)
            case (
                syntax.Truth()
                | syntax.Edge()
                | syntax.In()
                | syntax.Negation()
                | syntax.Joined()
                | syntax.Implication()
            ):
                return self._connective(expression)
            case _:
                return self._integer(expression)

    def _connective(
        self,
        expression: syntax.Truth
        | syntax.Edge
        | syntax.In
        | syntax.Negation
        | syntax.Joined
        | syntax.Implication,
    ) -> ops.Ref:
        match expression:
            case syntax.Truth(value):
                return self.bits.constant(value)
            case syntax.Edge(at):
                return self.bits.add(ops.Place(FIRST if at is At.FIRST else LAST))
            case syntax.In(symbols):
                return self.bits.add(ops.Letter(symbols))
            case syntax.Negation(operand):
                return self.bits.negation(self.bit(operand))
            case syntax.Joined(join, parts):
                return _JOINS[join](self.bits, map(self.bit, parts))
            case syntax.Implication(premise, conclusion):
                return self.bits.any_of((self.bits.negation(self.bit(premise)), self.bit(conclusion)))
            case _:
                assert_never(expression)

    def _integer(
        self,
        expression: syntax.Number
        | syntax.Position
        | syntax.Length
        | syntax.Sum
        | syntax.Negative
        | syntax.Multiple
        | syntax.ExtremeOf
        | syntax.Magnitude
        | syntax.RemainderTest,
    ) -> Branches | ops.Ref:
        integers = self.integers
        try:
            match expression:
                case syntax.Number(value):
                    return integers.constant(value)
                case syntax.Position():
                    return integers.count(ops.Mask.UP_TO, self.bits.true)
                case syntax.Length():
                    return integers.count(ops.Mask.ALL, self.bits.true)
                case syntax.Sum(parts):
                    return integers.sum((1, self.integer(part)) for part in parts)
                case syntax.Negative(operand):
                    return integers.sum(((-1, self.integer(operand)),))
                case syntax.Multiple(factor, operand):
                    return integers.sum(((factor, self.integer(operand)),))
                case syntax.ExtremeOf(extreme, parts):
                    better = integers.least if extreme is syntax.Extreme.LEAST else integers.greatest
                    return reduce(better, map(self.integer, parts))
                case syntax.Magnitude(operand):
                    return integers.magnitude(self.integer(operand))
                case syntax.RemainderTest(operand, modulus, remainder):
                    return integers.congruent(self.integer(operand), modulus, remainder)
                case _:
                    assert_never(expression)
        except (TooManyBranchesError, IntegerTooLargeError) as error:
            raise self._refused(error, expression) from None

    def _conditional(self, expression: syntax.Conditional) -> Value:
        condition = self.bit(expression.condition)
        then, otherwise = self.value(expression.then), self.value(expression.otherwise)
        if isinstance(then, int):
            assert isinstance(otherwise, int)
            return self.bits.chosen(condition, then, otherwise)
        if isinstance(then, tuple):
            assert isinstance(otherwise, tuple)
            try:
                return self.integers.chosen(condition, then, otherwise)
            except TooManyBranchesError as error:
                raise self._refused(error, expression) from None
        if isinstance(then, numbers.Chances):
            assert isinstance(otherwise, numbers.Chances)
            try:
                return numbers.chosen(self.bits, condition, then, otherwise)
            except numbers.TooManyChancesError:
                message = f"the distribution distinguishes more than {numbers.MAX_CHANCES:,} cases"
                raise unsupported(message, self.text, expression.place) from None
        assert isinstance(otherwise, Mapping)
        no = self.bits.false
        names = dict.fromkeys((*then, *otherwise))
        return {
            name: self.bits.chosen(condition, then.get(name, no), otherwise.get(name, no)) for name in names
        }

    def _comparison(self, expression: syntax.Comparison) -> ops.Ref:
        relation = expression.relation
        left, right = self.value(expression.left), self.value(expression.right)
        if isinstance(left, Mapping):
            assert isinstance(right, Mapping)
            equal = self.bits.any_of(
                self.bits.all_of((left[name], right[name])) for name in left if name in right
            )
        else:
            assert isinstance(left, tuple)
            assert isinstance(right, tuple)
            try:
                return self._compared(relation, left, right)
            except (TooManyBranchesError, IntegerTooLargeError) as error:
                raise self._refused(error, expression) from None
        return equal if relation is syntax.Relation.EQUAL else self.bits.negation(equal)

    def _compared(self, relation: syntax.Relation, left: Branches, right: Branches) -> ops.Ref:
        integers = self.integers
        match relation:
            case syntax.Relation.EQUAL:
                return integers.zero(integers.sum(((1, left), (-1, right))))
            case syntax.Relation.UNEQUAL:
                return self.bits.negation(self._compared(syntax.Relation.EQUAL, left, right))
            case syntax.Relation.AT_LEAST:
                return integers.at_least(integers.sum(((1, left), (-1, right))))
            case syntax.Relation.AT_MOST:
                return self._compared(syntax.Relation.AT_LEAST, right, left)
            case syntax.Relation.GREATER:
                return self.bits.negation(self._compared(syntax.Relation.AT_LEAST, right, left))
            case syntax.Relation.LESS:
                return self.bits.negation(self._compared(syntax.Relation.AT_LEAST, left, right))
            case _:
                assert_never(relation)

    def _quantified(self, expression: syntax.Quantified) -> ops.Ref | Branches:
        """Some: the bit at a position where it holds, if there is one; every: the negation of some not."""
        mask, quantifier = expression.mask, expression.quantifier
        wanted = _conjunction(expression.condition, expression.body)
        match quantifier:
            case syntax.Quantifier.COUNT:
                return self.integers.count_by_case(mask, self._cases(wanted, expression))
            case syntax.Quantifier.SOME:
                return self._some(mask, wanted, expression)
            case syntax.Quantifier.EVERY if expression.condition is None or expression.body is None:
                return self.bits.negation(self._some(mask, syntax.Negation(wanted), expression))
            case syntax.Quantifier.EVERY:
                unwanted = _conjunction(expression.condition, syntax.Negation(expression.body))
                return self.bits.negation(self._some(mask, unwanted, expression))
            case _:
                assert_never(quantifier)

    def numbers(self, output: Branches | numbers.Chances) -> ops.Numbers:
        """The numbers that the output puts out. Raises `UnsupportedError` for counts over several masks."""
        if isinstance(output, numbers.Chances):
            return numbers.distribution(output)
        try:
            return numbers.integer(self.bits, output, self.source.divisor)
        except numbers.SeveralSidesError:
            divisor = self.source.divisor
            where = "" if divisor in {None, syntax.Divisor.VISIBLE} else f", and is divided by {divisor}"
            message = (
                "a number is put out as a share of the visible positions, and this one counts over several "
                f"masks{where}: count all of it over j <= i (as pos does), j >= i, or all (as len does)"
            )
            raise unsupported(message, self.text, self.source.output.place) from None

    def _some(self, mask: ops.Mask, wanted: syntax.Expression, expression: syntax.Quantified) -> ops.Ref:
        choice = ops.Choice.LEFTMOST if mask in {ops.Mask.FROM, ops.Mask.AFTER} else ops.Choice.RIGHTMOST
        equality = self._equality(wanted)
        if equality is not None:
            return self._equal(mask, choice, *equality, expression)(self.bits.true, False)
        cases = self._cases(wanted, expression)
        match cases:
            case ((None, there),):
                return self._attend(mask, choice, cases, there, False)
            case _:
                return self._attend(mask, choice, cases, self.bits.true, False)

    def _fetched(self, expression: syntax.Selection | syntax.Shifted) -> Value:
        fetch = (
            self._selecting(expression)
            if isinstance(expression, syntax.Selection)
            else self._shifting(expression)
        )
        value = self.value(expression.value)
        if isinstance(value, int):
            default = expression.default
            return fetch(value, isinstance(default, syntax.Truth) and default.value)
        assert isinstance(value, Mapping)
        assert isinstance(expression.default, syntax.SymbolName)
        missing = expression.default.name
        names = dict.fromkeys((*value, missing))
        if isinstance(expression, syntax.Selection) and self._equality(
            expression.condition or syntax.Truth(True)
        ):
            # One name holds: that which stands for nothing where no other does.
            found = {name: fetch(bit, False) for name, bit in value.items() if name != missing}
            missed = {missing: self.bits.negation(self.bits.any_of(found.values()))}
            return {name: found.get(name, missed[missing]) for name in names}
        return {name: fetch(value.get(name, self.bits.false), name == missing) for name in names}

    def _selecting(self, expression: syntax.Selection) -> Callable[[ops.Ref, bool], ops.Ref]:
        condition = syntax.Truth(True) if expression.condition is None else expression.condition
        equality = self._equality(condition)
        if equality is not None:
            return self._equal(expression.mask, expression.choice, *equality, expression)
        cases = self._cases(condition, expression)
        return lambda value, default: self._attend(expression.mask, expression.choice, cases, value, default)

    def _shifting(self, expression: syntax.Shifted) -> Callable[[ops.Ref, bool], ops.Ref]:
        def shifted(value: ops.Ref, default: bool) -> ops.Ref:
            if value == self.bits.constant(default):
                return value
            return self.bits.add(ops.Shift(expression.direction, value, expression.distance, default))

        return shifted

    def _attend(
        self, mask: ops.Mask, choice: ops.Choice, cases: ops.Cases, value: ops.Ref, default: bool
    ) -> ops.Ref:
        if value == self.bits.constant(default) or cases == ops.everywhere(self.bits.false):
            return self.bits.constant(default)
        return self.bits.add(ops.Attend(mask, choice, cases, value, default))

    def _nearest(self, expression: syntax.Nearest) -> Value:
        """One head for each case of the condition and of the query, whose bit at i chooses what it finds."""
        seen = Restated(self.bits, expression.mask, copied=True)
        key, queries = self._matched(expression, seen)
        heads = [
            (self.bits.all_of((here, bit)), query, there)
            for here, there in self._every_case(expression)
            for bit, query in queries
        ]
        heads = [head for head in heads if head[0] != self.bits.false]
        if len(heads) > MAX_CASES:
            message = f"this has {len(heads)} cases, and 'nearest' takes a head for each: at most {MAX_CASES}"
            raise unsupported(message, self.text, expression.place)

        def nearest(value: ops.Ref) -> ops.Ref:
            if value in {self.bits.true, self.bits.false}:
                return value
            read = seen.bit(value)
            steps = (
                (here, NearestStep(seen.mask, expression.choice, seen.bit(where), query, key, read))
                for here, query, where in heads
            )
            return self.bits.any_of(self.bits.all_of((here, self.bits.add(step))) for here, step in steps)

        def fetched(value: ops.Ref, default: bool) -> ops.Ref:
            return seen.found(nearest(value), self.bits.constant(default))

        value, default = self.value(expression.value), expression.default
        if isinstance(value, int):
            return fetched(value, isinstance(default, syntax.Truth) and default.value)
        assert isinstance(value, Mapping)
        missing = default.name if isinstance(default, syntax.SymbolName) else None
        names = [name for name in (*value, missing) if name is not None]
        *names, last = dict.fromkeys(names)
        found = {name: fetched(value.get(name, self.bits.false), name == missing) for name in names}
        return {**found, last: self.bits.negation(self.bits.any_of(found.values()))}

    def _matched(
        self, expression: syntax.Nearest, seen: Restated
    ) -> tuple[ops.Ref, tuple[tuple[ops.Ref, ops.Ref], ...]]:
        """The key, and for each case of the query its bit and the step."""
        symbols, side = self.source.alphabet.symbols, expression.key
        try:
            term, taken_off = key_of(self.integer(side), self.integers, symbols)
            key = self.integers.whole(seen.term(term))
            side = expression.query
            return key, queries_of(self.integer(side), taken_off, self.integers, symbols)
        except (NotMatchedError, IntegerTooLargeError) as error:
            raise self._unmatched(error, side, expression) from None

    def _every_case(self, expression: syntax.Nearest) -> tuple[tuple[ops.Ref, ops.Ref], ...]:
        """Pairs (bit at i, bit at j): of the bits at i exactly one holds.

        Where nothing can match all positions are one further off, which is as if all of them matched.
        """
        cases = self._cases(expression.condition or syntax.Truth(True), expression)
        true, false = self.bits.true, self.bits.false
        sought = [
            (true if here is None else here, true if there == false else there) for here, there in cases
        ]
        unsought = self.bits.negation(self.bits.any_of(here for here, _ in sought))
        return ((unsought, true), *sought)

    def _equality(self, condition: syntax.Expression) -> tuple[syntax.Comparison, syntax.Expression] | None:
        """The Integers at i and j that a condition asks to be equal, and what else it asks."""
        parts = list(conjuncts(condition))
        for part in parts:
            if (
                isinstance(part, syntax.Comparison)
                and may_match(part)
                and isinstance(self.value(part.left), tuple)
            ):
                rest = tuple(other for other in parts if other is not part)
                return part, syntax.Joined(syntax.Join.AND, rest) if rest else syntax.Truth(True)
        return None

    def _equal(
        self,
        mask: ops.Mask,
        choice: ops.Choice,
        equality: syntax.Comparison,
        rest: syntax.Expression,
        expression: syntax.Expression,
    ) -> Callable[[ops.Ref, bool], ops.Ref]:
        """Heads for each case of the other conditions and of the Integer at i, and for each sign of these."""
        key, queries = self._matched_terms(equality, expression)
        looking = Equality(self.integers, mask, choice, self.source.alphabet.symbols)
        sought = [
            one
            for here, there in self._cases(rest, expression)
            for bit, query in queries
            for one in looking.sought(
                self.bits.all_of((self.bits.true if here is None else here, bit)), there, query, key
            )
        ]
        if len(sought) > MAX_CASES:
            message = (
                f"this has {len(sought)} cases, and equal Integers take heads for each: at most {MAX_CASES}"
            )
            raise unsupported(message, self.text, expression.place)
        return looking.fetch(sought)

    def _matched_terms(
        self, equality: syntax.Comparison, expression: syntax.Expression
    ) -> tuple[IntegerTerm, tuple[tuple[ops.Ref, IntegerTerm], ...]]:
        """The key without its number, and for each case of the query its bit and what equals the key."""
        symbols, side, query = self.source.alphabet.symbols, equality.left, equality.right
        if syntax.Index.THERE not in syntax.indices(side):
            side, query = query, side
        try:
            key = key_term(self.integer(side), self.integers, symbols)
            side = query
            queries = query_terms(self.integer(query), key.constant, self.integers, symbols)
        except (NotMatchedError, IntegerTooLargeError) as error:
            raise self._unmatched(error, side, expression) from None
        return IntegerTerm(key.parts, 0), queries

    def _cases(self, condition: syntax.Expression, expression: syntax.Expression) -> ops.Cases:
        if syntax.Index.HERE not in syntax.indices(condition):
            return ops.everywhere(self.bit(condition))
        try:
            return cases_of(condition, self, self.bits)
        except TooManyCasesError as error:
            (count,) = error.args
            message = (
                f"the condition has {count} cases, and heads for at most {MAX_CASES} are built: "
                "let it depend on fewer things at i, or join several selections"
            )
        except TooManySplitsError:
            message = "the condition reads too many things at i: give what belongs together one name"
        raise unsupported(message, self.text, expression.place)

    def _unmatched(
        self,
        error: NotMatchedError | IntegerTooLargeError,
        side: syntax.Expression,
        expression: syntax.Expression,
    ) -> AttemperError:
        """The error for the side of an equality of Integers that heads cannot compare."""
        if isinstance(error, IntegerTooLargeError):
            return self._refused(error, expression)
        return unsupported(f"'{show_expression(side)}' {error}", self.text, side.place)

    def _refused(
        self, error: TooManyBranchesError | IntegerTooLargeError, expression: syntax.Expression
    ) -> AttemperError:
        if isinstance(error, IntegerTooLargeError):
            message = f"the integer has a number larger than {MAX_INTEGER}"
            return mistake(message, self.text, expression.place)
        message = (
            "the integer distinguishes too many cases (? :, min, max, abs), or this asks for remainders of "
            "too many counts at once: compare its parts one by one"
        )
        return unsupported(message, self.text, expression.place)


_JOINS: dict[syntax.Join, Callable[[Bits, Iterable[ops.Ref]], ops.Ref]] = {
    syntax.Join.AND: Bits.all_of,
    syntax.Join.OR: Bits.any_of,
    syntax.Join.XOR: Bits.odd_of,
}


def _conjunction(condition: syntax.Expression | None, body: syntax.Expression | None) -> syntax.Expression:
    """What a position must have that is asked for, as one condition."""
    if body is not None and not syntax.indices(body):
        body = syntax.Applied(body, syntax.Index.THERE)
    parts = [part for part in (condition, body) if part is not None]
    return parts[0] if len(parts) == 1 else syntax.Joined(syntax.Join.AND, tuple(parts))
