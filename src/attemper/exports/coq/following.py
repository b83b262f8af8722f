"""What a network's coordinates hold, guessed from what they are on short words: hints, which Coq checks."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from itertools import islice, product
from math import exp
from operator import and_, or_
from typing import final

from attemper.errors import UnsupportedError
from attemper.exact import closed_forms
from attemper.exact.closed_forms import FIRST as FIRST_POSITION
from attemper.exact.closed_forms import ClosedForm, evaluate
from attemper.exports.coq import formulas
from attemper.exports.coq.cases import same
from attemper.exports.coq.formulas import (
    FIRST,
    TRUE,
    Logical,
    conjunction,
    disjunction,
    negation,
    since,
    yesterday,
)
from attemper.networks.layers import Head, Hidden, LinearForm, Masking, Network, Softmax

LONGEST = 6
"""Words of so many symbols are looked at,"""

MOST_WORDS = 400
"""and not more than so many of each length."""

MOST_TRIED = 6
"""So many formulas are tried in the place of one."""

MOST_READ = 8
"""A gate of more bits is not written out case by case."""

StreamRow = list[float]


@final
@dataclass(frozen=True)
class HeldThere:
    """What a coordinate holds: nothing, a closed form, a bit, an average, or a sign."""

    kind: str
    form: ClosedForm | None = None
    formula: Logical | None = None
    is_exact: bool = True
    terms: tuple[tuple[Fraction, Logical], ...] = ()


NOTHING = HeldThere("Zero")


@final
@dataclass(frozen=True)
class LayerHints:
    """What the heads read, by coordinates, and which bits the feed-forward puts out."""

    reads: dict[int, tuple[str, tuple[Logical, ...]]]
    bits: dict[int, Logical]


@final
@dataclass
class ShortWords:
    """A network beside short words: what its coordinates hold, layer by layer."""

    network: Network
    goals: tuple[Logical, ...]
    """The formula, as it was written and tidied."""
    words: list[tuple[int, ...]] = field(init=False)
    streams: list[list[StreamRow]] = field(init=False)
    vectors: dict[Logical, int] = field(default_factory=dict)
    known: list[dict[Logical, list[bool]]] = field(init=False)
    candidates: dict[int, list[Logical]] = field(default_factory=dict)
    counted: list[Logical] = field(init=False)
    """The comparisons of counts inside the goals."""

    def __post_init__(self) -> None:
        letters = range(len(self.network.embedding))
        self.words = [
            word for n in range(1, LONGEST + 1) for word in islice(product(letters, repeat=n), MOST_WORDS)
        ]
        self.words += [word[::-1] for word in self.words if len(word) == LONGEST]
        self.known = [{} for _ in self.words]
        self.streams = [_start(self.network, word) for word in self.words]
        plain = list(dict.fromkeys(own for goal in self.goals for own in formulas.inside(goal)))
        self.counted = [own for own in plain if own.name == "AtMost"]
        for own in [
            *plain,
            *map(negation, plain),
            *(conjunction(FIRST, own) for own in self.counted),
            *(conjunction(FIRST, negation(own)) for own in self.counted),
            *map(yesterday, plain),
        ]:
            self.candidates.setdefault(self.vector_of(own), []).append(own)
        signed = [*plain, *map(negation, plain)]
        for join, of_both in ((conjunction, and_), (disjunction, or_)):
            for left, right in product(signed, repeat=2):
                made = join(left, right)
                self.candidates.setdefault(of_both(self.vector_of(left), self.vector_of(right)), []).append(
                    made
                )

    def vector_of(self, formula: Logical) -> int:
        """Where a formula holds, over all positions of all words, as bits of one number."""
        if formula not in self.vectors:
            found = 0
            for word, known in zip(self.words, self.known, strict=True):
                for holds in formulas.truths(formula, word, known):
                    found = 2 * found + holds
            self.vectors[formula] = found
        return self.vectors[formula]

    def vector_at(self, values: Iterator[float]) -> int | None:
        """The same of numbers that are near 0 or 1; None of others."""
        found = 0
        for value in values:
            if min(abs(value), abs(value - 1)) > 0.25:
                return None
            found = 2 * found + (value > 0.5)
        return found

    def at_start(self) -> list[HeldThere]:
        """What is embedded in each coordinate."""
        placed = dict(self.network.positions)
        found = []
        for place in range(len(self.network.coordinates)):
            rows = [dict(form).get(place, Fraction(0)) for form in self.network.embedding]
            found.append(_embedded(placed.get(place), rows))
        return found

    def layer(self, number: int, before: list[HeldThere]) -> tuple[LayerHints, list[HeldThere]]:
        """The hints for a layer, and what coordinates hold behind it. Raises `UnsupportedError`."""
        layer = self.network.layers[number]
        middle, reads = list(before), {}
        read = [
            _heads_read(layer.heads, word, rows) for word, rows in zip(self.words, self.streams, strict=True)
        ]
        for place, head in enumerate(layer.heads):
            for own, (value, target) in enumerate(zip(head.values, head.targets, strict=True)):
                added = (row[place][own] for rows in read for row in rows)
                name = f"head {number}.{place}"
                reads[target], middle[target] = self._read(name, head, value, before, added)
        for rows, all_read in zip(self.streams, read, strict=True):
            for row, own_read in zip(rows, all_read, strict=True):
                for head, values in zip(layer.heads, own_read, strict=True):
                    for target, seen in zip(head.targets, values, strict=True):
                        row[target] += seen
        bits = {}
        written = sorted({target for unit in layer.hidden for target, _ in unit.outputs})
        added_by_units = [[_units_write(layer.hidden, row) for row in rows] for rows in self.streams]
        after = list(middle)
        for target in written:
            added = (own.get(target, 0.0) for rows in added_by_units for own in rows)
            bits[target] = self._bit(number, target, middle, added)
            after[target] = HeldThere("Bit", formula=bits[target])
        for rows, all_written in zip(self.streams, added_by_units, strict=True):
            for row, added_here in zip(rows, all_written, strict=True):
                for target, more in added_here.items():
                    row[target] += more
        return LayerHints(reads, bits), after

    def _read(
        self, name: str, head: Head, value: LinearForm, before: Sequence[HeldThere], added: Iterator[float]
    ) -> tuple[tuple[str, tuple[Logical, ...]], HeldThere]:
        if not head.query:
            terms = tuple(_terms(name, value, before))
            return ("ReadMean", ()), HeldThere("Mean", terms=terms)
        averaged = next((before[c] for row in head.query for c, _ in row if before[c].kind == "Mean"), None)
        if averaged is not None:
            goal = self._compared(name, added)
            return ("ReadSign", (goal,)), HeldThere("Sign", formula=goal)
        psi = self._value(name, value, before)
        vector = self.vector_at(added)
        if vector is None:
            raise UnsupportedError(f"coq: {name} reads what is no bit")
        goal = self._shorter(vector, self._computed(name, head, psi, before))
        return ("ReadBit", (psi, goal)), HeldThere("Bit", formula=goal, is_exact=False)

    def _compared(self, name: str, added: Iterator[float]) -> Logical:
        """The comparison that a sign head decides, from the second position on."""
        found = mask = 0
        values = iter(added)
        for word in self.words:
            for place in range(len(word)):
                found, mask = 2 * found + (next(values) > 0), 2 * mask + (place > 0)
        swapped = [Logical("AtMost", own.parts[::-1]) for own in self.counted]
        for own in (*self.counted, *swapped):
            for goal in (own, negation(own)):
                if self.vector_of(goal) & mask == found & mask:
                    return goal
        raise UnsupportedError(f"coq: {name} compares other sums than two counts of the formula")

    def _value(self, name: str, value: LinearForm, before: Sequence[HeldThere]) -> Logical:
        match value:
            case ((place, factor),) if before[place].kind == "Bit" and factor == 1:
                formula = before[place].formula
                assert formula is not None
                return formula
        values = (
            sum(float(factor) * row[place] for place, factor in value)
            for rows in self.streams
            for row in rows
        )
        vector = self.vector_at(values)
        if vector is None:
            raise UnsupportedError(f"coq: {name} averages what is no bit")
        if vector == self.vector_of(TRUE):
            return TRUE
        found = next(iter(self.candidates.get(vector, ())), None)
        if len(value) == 2:
            bit = next((before[place].formula for place, factor in value if factor == -1), None)
            found = found if bit is None else negation(bit)
        if found is None:
            raise UnsupportedError(f"coq: it is not seen which bit {name} reads")
        return found

    def _computed(self, name: str, head: Head, psi: Logical, before: Sequence[HeldThere]) -> Logical:
        """What the head reads, written out."""
        keyed = [
            (factor * weight, before[place].formula)
            for query, key in zip(head.query, head.key, strict=True)
            for place, factor in key
            if before[place].kind == "Bit"
            for _, weight in query
        ]
        if not keyed:
            return disjunction(conjunction(FIRST, psi), yesterday(psi))
        ((factor, bit),) = keyed if len(keyed) == 1 else ((Fraction(0), None),)
        if bit is None:
            raise UnsupportedError(f"coq: {name} chooses by several bits")
        where = bit if factor > 0 else negation(bit)
        found = disjunction(
            since(negation(where), conjunction(where, psi)), conjunction(negation(since(TRUE, where)), psi)
        )
        return yesterday(found) if head.masking is Masking.STRICT_FUTURE else found

    def _bit(self, number: int, target: int, middle: Sequence[HeldThere], values: Iterator[float]) -> Logical:
        """The formula of a gate: one of the goal, or its cases."""
        name = f"coordinate {target} behind layer {number}"
        vector = self.vector_at(values)
        if vector is None:
            raise UnsupportedError(f"coq: {name} is no bit")
        units = [own for own in self.network.layers[number].hidden if target in dict(own.outputs)]
        read = sorted({place for own in units for place, _ in own.form if middle[place].formula is not None})
        if len(read) > MOST_READ:
            raise UnsupportedError(f"coq: {name} is a gate of {len(read)} bits that the formula has not")
        averaged = next((middle[p] for own in units for p, _ in own.form if middle[p].kind == "Mean"), None)
        if averaged is not None:
            return self._shorter(vector, conjunction(FIRST, _is_above(averaged.terms)))
        bits = [own for place in read if (own := middle[place].formula) is not None]
        seen: dict[tuple[bool, ...], bool] = {}
        for position in range(sum(map(len, self.words))):
            seen[tuple(bool(self.vector_of(own) >> position & 1) for own in bits)] = bool(
                vector >> position & 1
            )
        # What short words do not show may be possible for all that Coq sees: the weights say what is put out.
        for case in product((False, True), repeat=len(bits)):
            if case not in seen:
                row = {
                    place: 2.0 * holds - 1 if middle[place].kind == "Sign" else float(holds)
                    for place, holds in zip(read, case, strict=True)
                }
                seen[case] = self._put_out(units, target, middle, row) > 0.5
        cases = [case for case, is_on in seen.items() if is_on]
        return self._shorter(vector, _one_of(bits, sorted(cases)))

    def _put_out(
        self, units: Sequence[Hidden], target: int, middle: Sequence[HeldThere], bits: dict[int, float]
    ) -> float:
        """What units write for these bits."""
        found = 0.0
        for unit in units:
            total = float(unit.bias)
            for place, factor in unit.form:
                form = middle[place].form
                constant = float(form.value) if isinstance(form, closed_forms.Number) else 0.0
                total += float(factor) * bits.get(place, constant)
            found += max(0.0, total) * sum(
                float(own) for own_target, own in unit.outputs if own_target == target
            )
        return found

    def _shorter(self, vector: int, made: Logical) -> Logical:
        """A formula near the goal's that is seen to be the same; else the one that was made."""
        letters = len(self.network.embedding)
        near = self.candidates.get(vector, ())[:MOST_TRIED]
        return next((own for own in near if same(letters, own, made)), made)


def _one_of(bits: Sequence[Logical], cases: Sequence[tuple[bool, ...]]) -> Logical:
    """That the bits are as in one of the cases."""
    made = negation(TRUE)
    for case in cases:
        literals = [own if holds else negation(own) for own, holds in zip(bits, case, strict=True)]
        together = literals[0] if literals else TRUE
        for own in literals[1:]:
            together = conjunction(together, own)
        made = together if made == negation(TRUE) else disjunction(made, together)
    return made


def _is_above(terms: Sequence[tuple[Fraction, Logical]]) -> Logical:
    """That a sum, with the first position's own share, is above 0."""
    edge = sum((factor for factor, own in terms if own == FIRST), Fraction(0))
    others = [(factor, own) for factor, own in terms if own != FIRST]
    cases = [
        case
        for case in product((False, True), repeat=len(others))
        if edge + sum(factor for (factor, _), holds in zip(others, case, strict=True) if holds) > 0
    ]
    return _one_of([own for _, own in others], cases)


def _embedded(form: ClosedForm | None, rows: Sequence[Fraction]) -> HeldThere:
    letters = [number for number, factor in enumerate(rows) if factor]
    if form is None:
        if not letters:
            return NOTHING
        return HeldThere("Bit", formula=formulas.symbols(letters))
    if form == FIRST_POSITION:
        return HeldThere("Bit", formula=FIRST)
    if form == closed_forms.plus(1, closed_forms.times(-1, FIRST_POSITION)):
        return HeldThere("Bit", formula=negation(FIRST))
    return HeldThere("Place", form=form)


def _terms(name: str, value: LinearForm, before: Sequence[HeldThere]) -> Iterator[tuple[Fraction, Logical]]:
    for place, factor in value:
        own = before[place]
        if own.kind == "Place" and isinstance(own.form, closed_forms.Number):
            yield factor * own.form.value, TRUE
        elif own.kind == "Bit" and own.is_exact and own.formula is not None:
            yield factor, own.formula
        else:
            raise UnsupportedError(f"coq: {name} averages what is no exact bit")


def _start(network: Network, word: Sequence[int]) -> list[StreamRow]:
    found = []
    for place, letter in enumerate(word, 1):
        row = [0.0] * len(network.coordinates)
        for own, factor in network.embedding[letter]:
            row[own] += float(factor)
        for own, form in network.positions:
            row[own] += float(evaluate(form, place, len(word)))
        found.append(row)
    return found


def _apply(form: LinearForm, row: StreamRow) -> float:
    return sum(float(factor) * row[place] for place, factor in form)


def _heads_read(
    heads: Sequence[Head], word: Sequence[int], rows: Sequence[StreamRow]
) -> list[list[list[float]]]:
    """What each head reads of each value, at each position."""
    found: list[list[list[float]]] = [[] for _ in word]
    for head in heads:
        assert isinstance(head.weighting, Softmax)
        keys = [[_apply(form, row) for form in head.key] for row in rows]
        values = [[_apply(form, row) for form in head.values] for row in rows]
        for i, row in enumerate(rows):
            seen = range(i if head.masking is Masking.STRICT_FUTURE else i + 1)
            scale = float(evaluate(head.weighting.inverse_temperature, i + 1, len(word)))
            query = [_apply(form, row) * scale for form in head.query]
            scores = [sum(q * k for q, k in zip(query, keys[j], strict=True)) for j in seen]
            highest = max(scores, default=0.0)
            powers = [exp(score - highest) for score in scores]
            found[i].append(
                [
                    sum(p * values[j][own] for p, j in zip(powers, seen, strict=True)) / sum(powers)
                    if powers
                    else 0.0
                    for own in range(len(head.values))
                ]
            )
    return found


def _units_write(units: Sequence[Hidden], row: StreamRow) -> dict[int, float]:
    """What the feed-forward adds at a position, by coordinates."""
    found: dict[int, float] = {}
    for unit in units:
        value = max(0.0, _apply(unit.form, row) + float(unit.bias))
        for target, factor in unit.outputs:
            found[target] = found.get(target, 0.0) + float(factor) * value
    return found
