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

from attemper.attention_program import ops
from attemper.attention_program.builder import Builder, prune, rebuilt, replace_inputs
from attemper.exact import closed_forms
from attemper.exact.predicates import NonNegative, Remainder, Zero, holds, periodic
from attemper.languages.words import Alphabet


def simplify_program(program: ops.Program) -> tuple[ops.Program, list[ops.Ref]]:
    """The simplified program, and for each old step the new step with the same value (-1: dropped)."""
    simplifier = Simplifier(program.alphabet)
    to: list[ops.Ref] = []
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

    def add(self, step: ops.Step) -> ops.Ref:
        """The simplest step with the same value."""
        match step:
            case ops.Letter() | ops.Place() | ops.Not() | ops.Gate() | ops.Table() | ops.Merge():
                return self._local(step)
            case ops.Attend():
                return self._attend(step)
            case ops.Shift():
                return self._shift(step)
            case ops.Count() | ops.Nearest() | ops.Matched():
                return self.builder.add(step)
            case ops.Linear():
                return self._linear(step)
            case ops.Compare():
                return self._compare(step)
            case ops.Equals():
                return self._equals(step)
            case ops.CountTest():
                return self._count_test(step)
            case _:
                assert_never(step)

    def _local(self, step: ops.LocalStep) -> ops.Ref:
        match step:
            case ops.Letter(symbols):
                return self.letter(frozenset(symbols))
            case ops.Place(form):
                return self.place(form)
            case ops.Not(bit):
                return self.negate(bit)
            case ops.Gate(ops.Connective.XOR, bits):
                return self._parity(bits)
            case ops.Gate(ops.Connective.UNION, _) | ops.Merge():
                return self.builder.add(step)
            case ops.Gate(ops.Connective.AND, bits):
                return self._conjunction(bits)
            case ops.Gate(_, bits):
                return self.negate(self._conjunction([self.negate(bit) for bit in bits]))
            case ops.Table():
                return self._table(step)
            case _:
                assert_never(step)

    def constant(self, value: bool) -> ops.Ref:
        """The bit that is the same everywhere."""
        return self.builder.add(ops.Place(closed_forms.number(int(value))))

    def letter(self, symbols: frozenset[str]) -> ops.Ref:
        """The bit of a set of symbols, in the alphabet's order."""
        if not symbols or symbols >= set(self.alphabet.symbols):
            return self.constant(bool(symbols))
        return self.builder.add(ops.Letter(tuple(s for s in self.alphabet.symbols if s in symbols)))

    def place(self, form: closed_forms.ClosedForm) -> ops.Ref:
        """The bit of a closed form; forms that do not look at i and n become constants."""
        if isinstance(form, closed_forms.Test) and form.per_position == form.per_length == 0:
            return self.constant(holds(form.predicate, form.shift))
        return self.builder.add(ops.Place(form))

    def negate(self, bit: ops.Ref) -> ops.Ref:
        """The negation, pushed into letters and places, never doubled."""
        step = self.builder.steps[bit]
        match step:
            case ops.Not(inner):
                return inner
            case ops.Letter(symbols):
                return self.letter(frozenset(self.alphabet.symbols) - frozenset(symbols))
            case ops.Place(closed_forms.Number(value)):
                return self.constant(not value)
            case ops.Place(form):
                return self.builder.add(ops.Place(_negated_form(form)))
            case _:
                return self.builder.add(ops.Not(bit))

    def _conjunction(self, bits: tuple[ops.Ref, ...] | list[ops.Ref]) -> ops.Ref:
        """The conjunction, flattened. Disjunctions live as negated conjunctions of negations."""
        letters: frozenset[str] | None = None
        forms: list[closed_forms.ClosedForm] = []
        others: dict[ops.Ref, None] = {}
        for bit in self._flattened(bits):
            step = self.builder.steps[bit]
            if isinstance(step, ops.Letter):
                mine = frozenset(step.symbols)
                letters = mine if letters is None else letters & mine
            elif isinstance(step, ops.Place):
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
        return self.builder.add(ops.Gate(ops.Connective.AND, tuple(sorted(parts))))

    def _flattened(self, bits: tuple[ops.Ref, ...] | list[ops.Ref]) -> list[ops.Ref]:
        flat: list[ops.Ref] = []
        for bit in bits:
            step = self.builder.steps[bit]
            if isinstance(step, ops.Gate) and step.connective is ops.Connective.AND:
                flat.extend(step.bits)
            else:
                flat.append(bit)
        return flat

    def _merged_absences(self, bits: Iterable[ops.Ref]) -> Iterator[ops.Ref]:
        """No visible position has this letter, and none has that one: none has either, which is one head.

        So O f | O g is O (f | g) for sets of letters f and g. Of other bits the checker knows no such thing.
        """
        absences: dict[ops.Mask, list[ops.Attend]] = {}
        for bit in bits:
            step = self._absence(bit)
            if step is None:
                yield bit
            else:
                absences.setdefault(step.mask, []).append(step)
        for one, *others in absences.values():
            either = self.negate(self._conjunction([self.negate(step.value) for step in (one, *others)]))
            yield self.negate(self._attend(replace(one, cases=ops.everywhere(either), value=either)))

    def _absence(self, bit: ops.Ref) -> ops.Attend | None:
        """The step "some visible position has this letter" whose negation the bit is, if so."""
        inner = self.builder.steps[bit]
        step = self.builder.steps[inner.bit] if isinstance(inner, ops.Not) else None
        if not isinstance(step, ops.Attend) or step.where != step.value or step.default is not False:
            return None
        return step if isinstance(self.builder.steps[step.value], ops.Letter) else None

    def _merged_places(self, forms: list[closed_forms.ClosedForm]) -> list[ops.Ref]:
        """One place for the conjunction of several forms."""
        distinct = list(dict.fromkeys(forms))
        numbers = [form.value for form in distinct if isinstance(form, closed_forms.Number)]
        varying = [form for form in distinct if not isinstance(form, closed_forms.Number)]
        if 0 in numbers or any(_negated_form(form) in distinct for form in varying):
            return [self.constant(False)]
        if len(varying) < 2 or max(map(closed_forms.nesting, varying)) > MAX_FORM_NESTING:
            return [self.place(form) for form in varying]
        return [self.place(closed_forms.times(*varying))]

    def _parity(self, bits: tuple[ops.Ref, ...]) -> ops.Ref:
        odd: dict[ops.Ref, bool] = {}
        flipped = False
        stack = list(reversed(bits))
        while stack:
            bit = stack.pop()
            step = self.builder.steps[bit]
            match step:
                case ops.Place(closed_forms.Number(value)):
                    flipped ^= bool(value)
                case ops.Not(inner):
                    flipped = not flipped
                    stack.append(inner)
                case ops.Gate(ops.Connective.XOR, inner_bits):
                    stack.extend(reversed(inner_bits))
                case _:
                    odd[bit] = not odd.get(bit, False)
        parts = tuple(sorted(bit for bit, counts in odd.items() if counts))
        if not parts:
            return self.constant(flipped)
        parity = parts[0] if len(parts) == 1 else self.builder.add(ops.Gate(ops.Connective.XOR, parts))
        return self.negate(parity) if flipped else parity

    def _table(self, step: ops.Table) -> ops.Ref:
        if len(set(step.rows)) in {0, 2 ** len(step.bits)}:
            return self.constant(bool(step.rows))
        return self.builder.add(step)

    def _attend(self, step: ops.Attend) -> ops.Ref:
        """A selection with a default: without the cases that are never in force, or match nothing."""
        default = step.default
        if default is None:
            return self.builder.add(step)
        step = replace(step, cases=self._cases(step.cases))
        if not step.cases or step.value == self.constant(default):
            return self.constant(default)
        reads_itself = (step.mask, step.choice) in {
            (ops.Mask.UP_TO, ops.Choice.RIGHTMOST),
            (ops.Mask.FROM, ops.Choice.LEFTMOST),
        }
        if reads_itself and step.where == self.constant(True):
            return step.value
        return self.builder.add(step)

    def _cases(self, cases: ops.Cases) -> ops.Cases:
        kept = tuple(case for case in cases if self.constant(False) not in case)
        match kept:
            case ((here, there),) if here == self.constant(True):
                return ops.everywhere(there)
            case _:
                return kept

    def _shift(self, step: ops.Shift) -> ops.Ref:
        if step.default is None:
            return self.builder.add(step)
        if step.bit == self.constant(step.default):
            return step.bit
        if step.bit == self.constant(not step.default) and step.distance == 1:
            edge = self.place(
                closed_forms.FIRST if step.direction is ops.Direction.PREVIOUS else closed_forms.LAST
            )
            return edge if step.default else self.negate(edge)
        return self.builder.add(step)

    def _linear(self, step: ops.Linear) -> ops.Ref:
        """Nested combinations are multiplied out and empty counts dropped."""
        factors: dict[ops.Ref, int] = {}
        constant = step.constant
        for factor, count in step.parts:
            inner = self.builder.steps[count]
            parts = inner.parts if isinstance(inner, ops.Linear) else ((1, count),)
            constant += factor * inner.constant if isinstance(inner, ops.Linear) else 0
            for own, ref in parts:
                factors[ref] = factors.get(ref, 0) + factor * own
        false = self.constant(False)
        kept = tuple((f, ref) for ref, f in factors.items() if f and not self._counts(ref, false))
        return self.builder.add(ops.Linear(kept, constant))

    def _counts(self, ref: ops.Ref, bit: ops.Ref) -> bool:
        step = self.builder.steps[ref]
        return isinstance(step, ops.Count) and step.bit == bit

    def _compare(self, step: ops.Compare) -> ops.Ref:
        """Constants go into the threshold; comparisons that every count meets or misses are constants."""
        parts, threshold = self._combination(step.count, step.threshold)
        place = self._place_argument(parts)
        if place is not None:
            per_position, per_length, shift = place
            return self.place(closed_forms.Test(NonNegative(), per_position, per_length, shift - threshold))
        if threshold <= 0 and all(factor > 0 for factor, _ in parts):
            return self.constant(True)
        if threshold > 0 and all(factor < 0 for factor, _ in parts):
            return self.constant(False)
        common = gcd(*(factor for factor, _ in parts))
        divided = tuple((factor // common, ref) for factor, ref in parts)
        return self.builder.add(
            ops.Compare(self.builder.add(ops.Linear(divided, 0)), -(-threshold // common))
        )

    def _equals(self, step: ops.Equals) -> ops.Ref:
        """As `_compare`; an equality that divisibility or the signs rule out is false."""
        parts, value = self._combination(step.count, step.value)
        place = self._place_argument(parts)
        if place is not None:
            per_position, per_length, shift = place
            return self.place(closed_forms.Test(Zero(), per_position, per_length, shift - value))
        common = gcd(*(factor for factor, _ in parts))
        wrong_sign = any(
            all(sign * factor > 0 for factor, _ in parts) and sign * value < 0 for sign in (1, -1)
        )
        if value % common or wrong_sign:
            return self.constant(False)
        divided = tuple((factor // common, ref) for factor, ref in parts)
        return self.builder.add(ops.Equals(self.builder.add(ops.Linear(divided, 0)), value // common))

    def _combination(self, count: ops.Ref, constant: int) -> tuple[tuple[tuple[int, ops.Ref], ...], int]:
        """The count multiplied out, and the constant that it is compared with then."""
        linear = self.builder.steps[self._linear(ops.Linear(((1, count),), 0))]
        assert isinstance(linear, ops.Linear)
        return linear.parts, constant - linear.constant

    def _count_test(self, step: ops.CountTest) -> ops.Ref:
        combined = self.builder.steps[self._linear(ops.Linear(((step.scale, step.count),), step.shift))]
        assert isinstance(combined, ops.Linear)
        place = self._place_argument(combined.parts)
        if place is not None:
            per_position, per_length, shift = place
            form = closed_forms.Test(step.predicate, per_position, per_length, shift + combined.constant)
            return self.place(form)
        if len(combined.parts) == 1:
            ((scale, count),) = combined.parts
            return self.builder.add(ops.CountTest(step.predicate, count, scale, combined.constant))
        match periodic(step.predicate):
            case Remainder(modulus, remainder):
                parts = tuple(part for part in combined.parts if part[0] % modulus)
                return self._remainder(modulus, remainder - combined.constant, parts)
            case _:
                return self.builder.add(step)

    def _remainder(self, modulus: int, target: int, parts: tuple[tuple[int, ops.Ref], ...]) -> ops.Ref:
        """[the sum leaves the same remainder as `target`], by cases: what each part but the last leaves."""
        if not parts:
            return self.constant(target % modulus == 0)
        leaves = [
            [self._count_test(ops.CountTest(Remainder(modulus, r), count, factor, 0)) for r in range(modulus)]
            for factor, count in parts
        ]
        cases: list[ops.Ref] = []
        for case in product(range(modulus), repeat=len(parts) - 1):
            whole = (*case, (target - sum(case)) % modulus)
            cases.append(self._conjunction([own[r] for own, r in zip(leaves, whole, strict=True)]))
        possible = tuple(case for case in cases if case != self.constant(False))
        return (
            possible[0] if len(possible) == 1 else self.builder.add(ops.Gate(ops.Connective.UNION, possible))
        )

    def _place_argument(self, parts: tuple[tuple[int, ops.Ref], ...]) -> tuple[int, int, int] | None:
        """(a, b, c) if the combination is a*i + b*n + c because only counts of true occur."""
        true = self.constant(True)
        total = (0, 0, 0)
        for factor, ref in parts:
            step = self.builder.steps[ref]
            if not isinstance(step, ops.Count) or step.bit != true:
                return None
            per_position, per_length, shift = step.mask.number_visible_form
            a, b, c = total
            total = (a + factor * per_position, b + factor * per_length, c + factor * shift)
        return total


MAX_FORM_NESTING = 20
"""Forms nested deeper are not merged further: gates do the rest."""


def _negated_form(form: closed_forms.ClosedForm) -> closed_forms.ClosedForm:
    """1 - form; the negation of a negation is the form itself."""
    match form:
        case closed_forms.Sum(
            (
                closed_forms.Number(Fraction(numerator=1, denominator=1)),
                closed_forms.Product((closed_forms.Number(Fraction(numerator=-1, denominator=1)), inner)),
            )
        ):
            return inner
        case _:
            return closed_forms.complement(form)
