"""Make a program smaller without changing what it computes.

Constants are folded, double negations cancelled, nested gates flattened, functions of the letter
alone become one letter step and functions of the position alone one place step. Afterwards no gate
has a constant, a repeated or a contradictory input.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import replace
from fractions import Fraction
from itertools import product
from math import gcd
from typing import assert_never

from attemper.attention_program.builder import Builder, prune, rebuilt, replace_inputs
from attemper.attention_program.ops import (
    Attend,
    Cases,
    Choice,
    Compare,
    Connective,
    Count,
    CountTest,
    Direction,
    Equals,
    Gate,
    Letter,
    Linear,
    LocalStep,
    Mask,
    Matched,
    Merge,
    Nearest,
    Not,
    Place,
    Program,
    Ref,
    Shift,
    Step,
    Table,
    everywhere,
)
from attemper.exact.closed_forms import (
    FIRST,
    LAST,
    ClosedForm,
    Number,
    Product,
    Sum,
    Test,
    complement,
    nesting,
    number,
    times,
)
from attemper.exact.predicates import NonNegative, Remainder, Zero, holds, periodic
from attemper.languages.words import Alphabet


def simplify_program(program: Program) -> tuple[Program, list[Ref]]:
    """The simplified program, and for each old step the new step with the same value (-1: dropped)."""
    simplifier = Simplifier(program.alphabet)
    to: list[Ref] = []
    for step in program.steps:
        to.append(simplifier.add(replace_inputs(step, to)))
    whole = rebuilt(program, simplifier.builder.steps, lambda ref: to[ref])
    pruned, kept = prune(whole)
    return pruned, [kept[ref] for ref in to]


class Simplifier:
    """Adds steps to a growing program, each in its simplest form."""

    def __init__(self, alphabet: Alphabet) -> None:
        self.alphabet = alphabet
        self.builder = Builder()

    def add(self, step: Step) -> Ref:
        """The simplest step with the same value."""
        match step:
            case Letter() | Place() | Not() | Gate() | Table() | Merge():
                return self._local(step)
            case Attend():
                return self._attend(step)
            case Shift():
                return self._shift(step)
            case Count() | Nearest() | Matched():
                return self.builder.add(step)
            case Linear():
                return self._linear(step)
            case Compare():
                return self._compare(step)
            case Equals():
                return self._equals(step)
            case CountTest():
                return self._count_test(step)
            case _:
                assert_never(step)

    def _local(self, step: LocalStep) -> Ref:
        match step:
            case Letter(symbols):
                return self.letter(frozenset(symbols))
            case Place(form):
                return self.place(form)
            case Not(bit):
                return self.negate(bit)
            case Gate(Connective.XOR, bits):
                return self._parity(bits)
            case Gate(Connective.UNION, _) | Merge():
                return self.builder.add(step)
            case Gate(Connective.AND, bits):
                return self._conjunction(bits)
            case Gate(_, bits):
                return self.negate(self._conjunction([self.negate(bit) for bit in bits]))
            case Table():
                return self._table(step)
            case _:
                assert_never(step)

    def constant(self, value: bool) -> Ref:
        """The bit that is the same everywhere."""
        return self.builder.add(Place(number(int(value))))

    def letter(self, symbols: frozenset[str]) -> Ref:
        """The bit of a set of symbols, in the alphabet's order."""
        if not symbols or symbols >= set(self.alphabet.symbols):
            return self.constant(bool(symbols))
        return self.builder.add(Letter(tuple(s for s in self.alphabet.symbols if s in symbols)))

    def place(self, form: ClosedForm) -> Ref:
        """The bit of a closed form; forms that do not look at i and n become constants."""
        if isinstance(form, Test) and form.per_position == form.per_length == 0:
            return self.constant(holds(form.predicate, form.shift))
        return self.builder.add(Place(form))

    def negate(self, bit: Ref) -> Ref:
        """The negation, pushed into letters and places, never doubled."""
        step = self.builder.steps[bit]
        match step:
            case Not(inner):
                return inner
            case Letter(symbols):
                return self.letter(frozenset(self.alphabet.symbols) - frozenset(symbols))
            case Place(Number(value)):
                return self.constant(not value)
            case Place(form):
                return self.builder.add(Place(_negated_form(form)))
            case _:
                return self.builder.add(Not(bit))

    def _conjunction(self, bits: tuple[Ref, ...] | list[Ref]) -> Ref:
        """The conjunction, flattened. Disjunctions live as negated conjunctions of negations."""
        letters: frozenset[str] | None = None
        forms: list[ClosedForm] = []
        others: dict[Ref, None] = {}
        for bit in self._flattened(bits):
            step = self.builder.steps[bit]
            if isinstance(step, Letter):
                mine = frozenset(step.symbols)
                letters = mine if letters is None else letters & mine
            elif isinstance(step, Place):
                forms.append(step.form)
            else:
                others.setdefault(bit)
        merged = self._merged_places(forms)
        if letters is not None:
            merged.append(self.letter(letters))
        joined = dict.fromkeys(self._merged_absences(others))
        false, true = self.constant(False), self.constant(True)
        parts = [bit for bit in dict.fromkeys([*merged, *joined]) if bit != true]
        contradicts = any(self.negate(bit) in known for known in (others, joined) for bit in known)
        if false in parts or contradicts:
            return false
        if len(parts) < 2:
            return parts[0] if parts else true
        return self.builder.add(Gate(Connective.AND, tuple(sorted(parts))))

    def _flattened(self, bits: tuple[Ref, ...] | list[Ref]) -> list[Ref]:
        flat: list[Ref] = []
        for bit in bits:
            step = self.builder.steps[bit]
            if isinstance(step, Gate) and step.connective is Connective.AND:
                flat.extend(step.bits)
            else:
                flat.append(bit)
        return flat

    def _merged_absences(self, bits: Iterable[Ref]) -> Iterator[Ref]:
        """No visible position has this letter, and none has that one: none has either, which is one head.

        So O f | O g is O (f | g) for sets of letters f and g. Of other bits the checker knows no such thing.
        """
        absences: dict[Mask, list[Attend]] = {}
        for bit in bits:
            step = self._absence(bit)
            if step is None:
                yield bit
            else:
                absences.setdefault(step.mask, []).append(step)
        for one, *others in absences.values():
            either = self.negate(self._conjunction([self.negate(step.value) for step in (one, *others)]))
            yield self.negate(self._attend(replace(one, cases=everywhere(either), value=either)))

    def _absence(self, bit: Ref) -> Attend | None:
        """The step "some visible position has this letter" whose negation the bit is, if so."""
        inner = self.builder.steps[bit]
        step = self.builder.steps[inner.bit] if isinstance(inner, Not) else None
        if not isinstance(step, Attend) or step.where != step.value or step.default is not False:
            return None
        return step if isinstance(self.builder.steps[step.value], Letter) else None

    def _merged_places(self, forms: list[ClosedForm]) -> list[Ref]:
        """One place for the conjunction of several forms."""
        distinct = list(dict.fromkeys(forms))
        numbers = [form.value for form in distinct if isinstance(form, Number)]
        varying = [form for form in distinct if not isinstance(form, Number)]
        if 0 in numbers or any(_negated_form(form) in distinct for form in varying):
            return [self.constant(False)]
        if len(varying) < 2 or max(map(nesting, varying)) > MAX_FORM_NESTING:
            return [self.place(form) for form in varying]
        return [self.place(times(*varying))]

    def _parity(self, bits: tuple[Ref, ...]) -> Ref:
        odd: dict[Ref, bool] = {}
        flipped = False
        stack = list(reversed(bits))
        while stack:
            bit = stack.pop()
            step = self.builder.steps[bit]
            match step:
                case Place(Number(value)):
                    flipped ^= bool(value)
                case Not(inner):
                    flipped = not flipped
                    stack.append(inner)
                case Gate(Connective.XOR, inner_bits):
                    stack.extend(reversed(inner_bits))
                case _:
                    odd[bit] = not odd.get(bit, False)
        parts = tuple(sorted(bit for bit, counts in odd.items() if counts))
        if not parts:
            return self.constant(flipped)
        parity = parts[0] if len(parts) == 1 else self.builder.add(Gate(Connective.XOR, parts))
        return self.negate(parity) if flipped else parity

    def _table(self, step: Table) -> Ref:
        if len(set(step.rows)) in {0, 2 ** len(step.bits)}:
            return self.constant(bool(step.rows))
        return self.builder.add(step)

    def _attend(self, step: Attend) -> Ref:
        """A selection with a default: without the cases that are never in force, or match nothing."""
        default = step.default
        if default is None:
            return self.builder.add(step)
        step = replace(step, cases=self._cases(step.cases))
        if not step.cases or step.value == self.constant(default):
            return self.constant(default)
        reads_itself = (step.mask, step.choice) in {
            (Mask.UP_TO, Choice.RIGHTMOST),
            (Mask.FROM, Choice.LEFTMOST),
        }
        if reads_itself and step.where == self.constant(True):
            return step.value
        return self.builder.add(step)

    def _cases(self, cases: Cases) -> Cases:
        kept = tuple(case for case in cases if self.constant(False) not in case)
        match kept:
            case ((here, there),) if here == self.constant(True):
                return everywhere(there)
            case _:
                return kept

    def _shift(self, step: Shift) -> Ref:
        if step.default is None:
            return self.builder.add(step)
        if step.bit == self.constant(step.default):
            return step.bit
        if step.bit == self.constant(not step.default) and step.distance == 1:
            edge = self.place(FIRST if step.direction is Direction.PREVIOUS else LAST)
            return edge if step.default else self.negate(edge)
        return self.builder.add(step)

    def _linear(self, step: Linear) -> Ref:
        """Nested combinations are multiplied out and empty counts dropped."""
        factors: dict[Ref, int] = {}
        constant = step.constant
        for factor, count in step.parts:
            inner = self.builder.steps[count]
            parts = inner.parts if isinstance(inner, Linear) else ((1, count),)
            constant += factor * inner.constant if isinstance(inner, Linear) else 0
            for own, ref in parts:
                factors[ref] = factors.get(ref, 0) + factor * own
        false = self.constant(False)
        kept = tuple((f, ref) for ref, f in factors.items() if f and not self._counts(ref, false))
        return self.builder.add(Linear(kept, constant))

    def _counts(self, ref: Ref, bit: Ref) -> bool:
        step = self.builder.steps[ref]
        return isinstance(step, Count) and step.bit == bit

    def _compare(self, step: Compare) -> Ref:
        """Constants go into the threshold; comparisons that every count meets or misses are constants."""
        parts, threshold = self._combination(step.count, step.threshold)
        place = self._place_argument(parts)
        if place is not None:
            per_position, per_length, shift = place
            return self.place(Test(NonNegative(), per_position, per_length, shift - threshold))
        if threshold <= 0 and all(factor > 0 for factor, _ in parts):
            return self.constant(True)
        if threshold > 0 and all(factor < 0 for factor, _ in parts):
            return self.constant(False)
        common = gcd(*(factor for factor, _ in parts))
        divided = tuple((factor // common, ref) for factor, ref in parts)
        return self.builder.add(Compare(self.builder.add(Linear(divided, 0)), -(-threshold // common)))

    def _equals(self, step: Equals) -> Ref:
        """As `_compare`; an equality that divisibility or the signs rule out is false."""
        parts, value = self._combination(step.count, step.value)
        place = self._place_argument(parts)
        if place is not None:
            per_position, per_length, shift = place
            return self.place(Test(Zero(), per_position, per_length, shift - value))
        common = gcd(*(factor for factor, _ in parts))
        wrong_sign = any(
            all(sign * factor > 0 for factor, _ in parts) and sign * value < 0 for sign in (1, -1)
        )
        if value % common or wrong_sign:
            return self.constant(False)
        divided = tuple((factor // common, ref) for factor, ref in parts)
        return self.builder.add(Equals(self.builder.add(Linear(divided, 0)), value // common))

    def _combination(self, count: Ref, constant: int) -> tuple[tuple[tuple[int, Ref], ...], int]:
        """The count multiplied out, and the constant that it is compared with then."""
        linear = self.builder.steps[self._linear(Linear(((1, count),), 0))]
        assert isinstance(linear, Linear)
        return linear.parts, constant - linear.constant

    def _count_test(self, step: CountTest) -> Ref:
        combined = self.builder.steps[self._linear(Linear(((step.scale, step.count),), step.shift))]
        assert isinstance(combined, Linear)
        place = self._place_argument(combined.parts)
        if place is not None:
            per_position, per_length, shift = place
            form = Test(step.predicate, per_position, per_length, shift + combined.constant)
            return self.place(form)
        if len(combined.parts) == 1:
            ((scale, count),) = combined.parts
            return self.builder.add(CountTest(step.predicate, count, scale, combined.constant))
        match periodic(step.predicate):
            case Remainder(modulus, remainder):
                parts = tuple(part for part in combined.parts if part[0] % modulus)
                return self._remainder(modulus, remainder - combined.constant, parts)
            case _:
                return self.builder.add(step)

    def _remainder(self, modulus: int, target: int, parts: tuple[tuple[int, Ref], ...]) -> Ref:
        """[the sum leaves the same remainder as `target`], by cases: what each part but the last leaves."""
        if not parts:
            return self.constant(target % modulus == 0)
        leaves = [
            [self._count_test(CountTest(Remainder(modulus, r), count, factor, 0)) for r in range(modulus)]
            for factor, count in parts
        ]
        cases: list[Ref] = []
        for case in product(range(modulus), repeat=len(parts) - 1):
            whole = (*case, (target - sum(case)) % modulus)
            cases.append(self._conjunction([own[r] for own, r in zip(leaves, whole, strict=True)]))
        possible = tuple(case for case in cases if case != self.constant(False))
        return possible[0] if len(possible) == 1 else self.builder.add(Gate(Connective.UNION, possible))

    def _place_argument(self, parts: tuple[tuple[int, Ref], ...]) -> tuple[int, int, int] | None:
        """(a, b, c) if the combination is a*i + b*n + c because only counts of true occur."""
        true = self.constant(True)
        total = (0, 0, 0)
        for factor, ref in parts:
            step = self.builder.steps[ref]
            if not isinstance(step, Count) or step.bit != true:
                return None
            per_position, per_length, shift = _COUNTS_OF_TRUE[step.mask]
            a, b, c = total
            total = (a + factor * per_position, b + factor * per_length, c + factor * shift)
        return total


MAX_FORM_NESTING = 20
"""Forms nested deeper are not merged further: gates do the rest."""

_COUNTS_OF_TRUE = {
    Mask.UP_TO: (1, 0, 0),
    Mask.BEFORE: (1, 0, -1),
    Mask.FROM: (-1, 1, 1),
    Mask.AFTER: (-1, 1, 0),
    Mask.ALL: (0, 1, 0),
}


def _negated_form(form: ClosedForm) -> ClosedForm:
    """1 - form; the negation of a negation is the form itself."""
    match form:
        case Sum(
            (
                Number(Fraction(numerator=1, denominator=1)),
                Product((Number(Fraction(numerator=-1, denominator=1)), inner)),
            )
        ):
            return inner
        case _:
            return complement(form)
