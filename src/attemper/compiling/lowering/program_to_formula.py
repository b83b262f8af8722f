"""A machine's program that looks to the left, as a past formula: each step as what holds at its position.

A selection by w of v, of j <= i, reads v at the rightmost j with w, or, where w held nowhere so far, at i
itself; leftmost: at the leftmost j with w, or at 1. A shift reads i itself where there is no position before.
"""

from __future__ import annotations

from collections.abc import Collection
from itertools import chain
from typing import assert_never

from attemper.attention_program import ops
from attemper.compiling.lowering.cascade_to_formula import LARGEST, tree_size
from attemper.errors import UnsupportedError
from attemper.exact.closed_forms import ClosedForm, Number, Test
from attemper.exact.predicates import NonNegative, Predicate, Zero
from attemper.languages.temporal.connectives import FALSE, TRUE, all_of, any_of, negation
from attemper.languages.temporal.show import show_within
from attemper.languages.temporal.syntax import (
    Binary,
    BinaryOperator,
    Comparison,
    ComparisonOperator,
    CountAtom,
    First,
    Formula,
    Numerical,
    PositionAtom,
    Side,
    Symbol,
    Term,
    Unary,
    UnaryOperator,
    linear_term,
)

FIRST = First()

MOST_JOINED = 30
"""A gate of more bits than these is written with the gates that it is made of."""

MOST_COMPARED = 200
"""Sides of an equation with longer texts are not put in the order of these."""


def program_to_formula(program: ops.Program, sure: Collection[ops.Ref] = ()) -> Formula:
    """The formula of the output bit. Raises `UnsupportedError` for steps that no past formula says.

    The values of the `sure` selections are 1 only where they look, so that they are 0 where nothing is found.
    """
    writer = _Writer(program, sure)
    for ref, step in enumerate(program.steps):
        if not isinstance(step, ops.Count | ops.Linear):
            writer.formulas[ref] = writer.formula(ref)
    # Equal parts are one object, so that only a formula that is written out can be too large.
    found = writer.formulas[program.output]
    if tree_size(found) > LARGEST:
        raise UnsupportedError(f"its formula has over {LARGEST:,} operators")
    return found


class _Writer:
    """The formulas of the steps so far."""

    def __init__(self, program: ops.Program, sure: Collection[ops.Ref]) -> None:
        self.program, self.sure = program, sure
        self.formulas: dict[ops.Ref, Formula] = {}

    def formula(self, ref: ops.Ref) -> Formula:
        """The formula of one step."""
        known = self.formulas
        match self.program.steps[ref]:
            case ops.Letter(symbols):
                return self._letters(symbols)
            case ops.Place(form):
                return _of_place(ref, form)
            case ops.Not(bit):
                return _opposite(known[bit])
            case ops.Gate(ops.Connective.AND | ops.Connective.OR as connective, bits):
                return self._gate(connective, bits)
            case ops.Gate(ops.Connective.UNION, bits) | ops.Merge(bits):
                return any_of(known[bit] for bit in bits)
            case ops.Attend(ops.Mask.UP_TO | ops.Mask.BEFORE as mask, choice, ((None, where),), value, None):
                selected = _selected(choice, known[where], known[value], is_sure=ref in self.sure)
                return selected if mask is ops.Mask.UP_TO else _before(selected)
            case ops.Shift(ops.Direction.PREVIOUS, bit, 1, None):
                return any_of((_before(known[bit]), all_of((FIRST, known[bit]))))
            case ops.Compare(count, threshold):
                return self._compared(ComparisonOperator.AT_LEAST, count, threshold)
            case ops.Equals(count, value):
                return self._compared(ComparisonOperator.EQUAL, count, value)
            case ops.CountTest(predicate, count, scale, shift):
                return _tested(predicate, self._term(count, scale, shift))
            case ops.Gate() | ops.Table() | ops.Attend() | ops.Shift():
                raise UnsupportedError(f"step {ref} is not written as a formula")
            case _:
                raise UnsupportedError(f"step {ref} looks at something else than what was before")

    def _letters(self, symbols: tuple[str, ...]) -> Formula:
        others = [own for own in self.program.alphabet.symbols if own not in symbols]
        if len(others) < len(symbols):
            return negation(any_of(map(Symbol, others)))
        return any_of(map(Symbol, symbols))

    def _term(self, count: ops.Ref, scale: int, shift: int) -> Term:
        """scale * count + shift."""
        found = ops.counted_in(self.program, count, scale, shift)
        if found is None:
            raise UnsupportedError(f"step {count} counts with factors or constants of 2^62 or more")
        constant, factors = found
        parts: list[tuple[int, CountAtom]] = []
        for own, factor in factors.items():
            step = self.program.steps[own]
            if not isinstance(step, ops.Count) or step.mask not in {ops.Mask.UP_TO, ops.Mask.BEFORE}:
                raise UnsupportedError(f"step {own} counts to the right")
            counted = self.formulas[step.bit]
            parts.append(
                (
                    factor,
                    CountAtom(Side.LEFT, counted if step.mask is ops.Mask.UP_TO else _before(counted)),
                )
            )
        return linear_term(tuple(parts), constant)

    def _gate(self, connective: ops.Connective, bits: tuple[ops.Ref, ...]) -> Formula:
        """A conjunction or disjunction, in which comparisons of one count with t and t + 1 are one.

        At least t and less than t + 1 is t; less than t or at least t + 1 is anything else.
        """
        is_and = connective is ops.Connective.AND
        operator = ComparisonOperator.EQUAL if is_and else ComparisonOperator.DIFFERENT
        bounds = {bit: self._bound(bit) for bit in self._parts(connective, bits)}
        known = [bound for bound in bounds.values() if bound is not None]
        lower = {(count, own) for count, own, is_least in known if is_least is is_and}
        upper = {(count, own - 1) for count, own, is_least in known if is_least is not is_and}
        formulas: list[Formula] = []
        for bit, bound in bounds.items():
            match bound:
                case count, own, is_least if is_least is is_and and (count, own) in upper:
                    formulas.append(self._compared(operator, count, own))
                case count, own, is_least if is_least is not is_and and (count, own - 1) in lower:
                    pass  # said by the other one
                case _:
                    formulas.append(self.formulas[bit])
        return all_of(formulas) if is_and else any_of(formulas)

    def _parts(self, connective: ops.Connective, bits: tuple[ops.Ref, ...]) -> tuple[ops.Ref, ...]:
        """The bits of a gate, and in the place of gates of its own kind theirs, as long as they are few."""
        while len(bits) <= MOST_JOINED:
            steps = [self.program.steps[bit] for bit in bits]
            inner = [
                step.bits if isinstance(step, ops.Gate) and step.connective is connective else (bit,)
                for bit, step in zip(bits, steps, strict=True)
            ]
            found = tuple(dict.fromkeys(chain.from_iterable(inner)))
            if found == bits:
                break
            bits = found
        return bits

    def _bound(self, bit: ops.Ref) -> tuple[ops.Ref, int, bool] | None:
        """Of a comparison the count, the threshold, and whether it is at least that, not less."""
        step, is_least = self.program.steps[bit], True
        if isinstance(step, ops.Not):
            step, is_least = self.program.steps[step.bit], False
        return (step.count, step.threshold, is_least) if isinstance(step, ops.Compare) else None

    def _compared(self, operator: ComparisonOperator, count: ops.Ref, threshold: int) -> Formula:
        """What is added on the left, what is taken away on the right."""
        term = self._term(count, 1, -threshold)
        more = tuple((factor, atom) for factor, atom in term.parts if factor > 0)
        less = tuple((-factor, atom) for factor, atom in term.parts if factor < 0)
        left, right = Term(more, max(term.constant, 0)), Term(less, max(-term.constant, 0))
        if operator is not ComparisonOperator.AT_LEAST:
            left, right = sorted((left, right), key=_simple_first)
        return Comparison(operator, left, right)


def _simple_first(term: Term) -> tuple[bool, int, list[int], str]:
    """An order of the sides of an equation: counts before numbers, small numbers before large ones."""
    text = show_within(Comparison(ComparisonOperator.EQUAL, term, Term((), 0)), MOST_COMPARED) or ""
    return not term.parts, term.constant, [factor for factor, _ in term.parts], text


def _opposite(formula: Formula) -> Formula:
    match formula:
        case Comparison(ComparisonOperator.EQUAL, left, right):
            return Comparison(ComparisonOperator.DIFFERENT, left, right)
        case Comparison(ComparisonOperator.AT_LEAST, left, right):
            return Comparison(ComparisonOperator.LESS, left, right)
        case _:
            return negation(formula)


def _before(formula: Formula) -> Formula:
    """The formula held at the position before; there was one."""
    return formula if formula == FALSE else Unary(UnaryOperator.YESTERDAY, formula)


def _once(formula: Formula) -> Formula:
    return formula if formula in (TRUE, FALSE) else Unary(UnaryOperator.ONCE, formula)


def _selected(choice: ops.Choice, where: Formula, value: Formula, *, is_sure: bool) -> Formula:
    """The value where it is looked for; i or 1 where that is nowhere, unless it is then 0."""
    sought = value if is_sure else all_of((where, value))
    nowhere = FALSE if is_sure else negation(_once(where))
    match choice:
        case ops.Choice.RIGHTMOST:
            since = sought if where == TRUE else Binary(BinaryOperator.SINCE, negation(where), sought)
            return _once(where) if where == value else any_of((since, all_of((nowhere, value))))
        case ops.Choice.LEFTMOST:
            earliest = all_of((sought, negation(_before(_once(where)))))
            at_first = _once(all_of((FIRST, value)))
            return any_of((_once(earliest), all_of((nowhere, at_first))))
        case _:
            assert_never(choice)


def _of_place(ref: ops.Ref, form: ClosedForm) -> Formula:
    match form:
        case Number(value) if value in (0, 1):
            return TRUE if value else FALSE
        case Test(Zero(), 1, 0, -1):
            return FIRST
        case Test(predicate, per_position, 0, shift):
            return _tested(predicate, linear_term(((per_position, PositionAtom()),), shift))
        case _:
            raise UnsupportedError(f"step {ref} tests something else than where it is")


def _tested(predicate: Predicate, term: Term) -> Formula:
    zero = Term((), 0)
    match predicate:
        case Zero():
            return Comparison(ComparisonOperator.EQUAL, term, zero)
        case NonNegative():
            return Comparison(ComparisonOperator.AT_LEAST, term, zero)
        case _:
            return Numerical(predicate, term)
