"""Rounding in a feed-forward layer: what hidden units can be off by, case by case.

For each group of units with one linear form, every combination that its diagram distinguishes is a case:
the exact value, how many terms are not 0, and how large they are together. A sum of at most two terms
is the same number in every order, and the pair of units that rounds a bit is then exactly 0 or 1
(Lemma 9); from three terms on the two units may see sums that differ in their last bits.

All units that write a coordinate are one sum, formed in any order. What each gate contributes is an `Effect`;
whether the sum is exact is decided for all effects together.
"""

from __future__ import annotations

from collections.abc import Hashable
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cache, partial
from typing import final

import flint

from attemper.checker.diagrams import Diagram
from attemper.checker.feed_forward import Unit, UnitGroup, added_by, flat_ends
from attemper.checker.names import Affine, Names, UnprovenError, add_affine, scale_affine
from attemper.checker.rounding.arithmetic import (
    COARSEST,
    ZERO,
    Arithmetic,
    BeyondError,
    Lengths,
    Off,
    OfNumber,
    as_number,
    common_grid,
    greatest,
    is_exact,
    is_power_of_two,
    key_of,
)
from attemper.checker.rounding.stepped import StepUnits, stepped_off
from attemper.checker.steps import is_whole
from attemper.checker.values import ResidualValues, Value, plain
from attemper.exact.balls import ball
from attemper.networks.layers import Coordinate, LinearForm


@final
@dataclass(frozen=True)
class Case:
    """A linear form in one case: its value, how many terms are not 0, their sizes, any averages.

    All terms are multiples of `grid`, a power of two; 0 if there is none.
    """

    value: Affine
    terms: int
    size: Fraction
    averages: bool
    grid: Fraction

    def with_terms(self, other: Case) -> Case:
        """The case of both forms' terms together."""
        return Case(
            add_affine(self.value, other.value),
            self.terms + other.terms,
            self.size + other.size,
            self.averages or other.averages,
            min(self.grid, other.grid),
        )

    def __hash__(self) -> int:
        """Of the same numbers for equal cases, but none of them a fraction: those are slow to hash."""
        value = self.value.constant
        return hash((value.numerator, value.denominator, self.terms, self.size.numerator, self.averages))


NO_TERMS = Case(Affine(Fraction(0)), 0, Fraction(0), averages=False, grid=COARSEST)


@final
@dataclass(frozen=True)
class Loud:
    """The units of a gate that are not surely 0 in one case, and what follows from that.

    `inner` is their largest input, `factor` the sum of their factors' sizes, `unfit` what is lost where
    the format does not hold a bias; `is_even` says that all factors are powers of two. `threshold` is there
    if the units can be a pair of Lemma 9.
    """

    inner: flint.arb
    factor: flint.arb
    unfit: flint.arb
    is_even: bool
    threshold: Threshold | None


@final
@dataclass(frozen=True)
class Threshold:
    """A pair of Lemma 9: thresholds up to `high`, all multiples of `grid`.

    Both units' products are multiples of `products`, a power of two, if the sum they read is at least `high`.
    """

    high: flint.arb
    grid: Fraction
    products: Fraction


@final
@dataclass(frozen=True)
class Effect:
    """What units add to a coordinate: so many products that are not surely computed as 0.

    Their exact sum is off by up to `off`; `size` bounds the sum of their sizes, `result` that of their sum.
    All are multiples of `grid`, where that is known. `is_alone_exact`: adding just them never rounds.
    """

    off: flint.arb
    terms: int
    size: flint.arb
    result: flint.arb
    grid: Fraction | None
    is_alone_exact: bool


NOTHING = Effect(ZERO, 0, ZERO, ZERO, COARSEST, is_alone_exact=True)


def whole(arithmetic: Arithmetic, effects: list[Effect]) -> flint.arb:
    """How far the sum of all that is written to one coordinate can be off, in any order."""
    off = sum((effect.off for effect in effects), ZERO)
    present = [effect for effect in effects if effect.terms]
    size = sum((effect.size for effect in present), ZERO)
    if not (2 * size < arithmetic.form.range):
        raise BeyondError("a feed-forward (it leaves the range of the format)")
    if not present or (len(present) == 1 and present[0].is_alone_exact):
        return off
    grids = [effect.grid for effect in present if effect.grid is not None]
    if len(grids) == len(present) and arithmetic.fits(size, min(grids)):
        return off
    result = sum((effect.result for effect in present), ZERO)
    return off + arithmetic.summed(sum(effect.terms for effect in present), size, result)


def _worst(effects: list[Effect]) -> Effect:
    """One effect that stands for any of several."""
    present = [effect for effect in effects if effect.terms]
    if not present:
        return NOTHING
    grids = [effect.grid for effect in present if effect.grid is not None]
    return Effect(
        greatest(effect.off for effect in effects),
        max(effect.terms for effect in present),
        greatest(effect.size for effect in present),
        greatest(effect.result for effect in present),
        min(grids) if len(grids) == len(present) else None,
        all(effect.is_alone_exact for effect in present),
    )


@final
@dataclass(frozen=True)
class Written:
    """What a gate writes: how far it is off alone where it is exactly 0 (`quiet`), and elsewhere (`active`).

    `is_silent` says that no unit is ever active where their sum is exactly 0; `effect` stands for all cases.
    """

    quiet: flint.arb
    active: flint.arb
    is_silent: bool
    effect: Effect


@final
class Gate:
    """Units that read one form and write to one coordinate, with all cases, in one format.

    Gates of one shape are one object, and what each is off by for an error of its input is kept.
    """

    def __init__(self, arithmetic: Arithmetic, units: tuple[Unit, ...], cases: frozenset[Case]) -> None:
        self.arithmetic = arithmetic
        self.units = units
        self.bias_grid = common_grid([Affine(bias) for bias, _ in units])
        self.factor_grid = common_grid([Affine(factor) for _, factor in units])
        self.fits = all(arithmetic.holds(number) for unit in units for number in unit)
        self.largest_bias = ball(max(abs(bias) for bias, _ in units))
        self.balls = [(ball(bias), ball(factor)) for bias, factor in units]
        self.cases = [
            GateCase(self, own) for case in cases for own in _at_ends(arithmetic.names, units, case)
        ]
        self.averages = any(case.averages for case in cases)
        self._known: dict[Hashable, Written] = {}

    def written(self, read: Read) -> Written:
        """What the gate writes, with its errors."""
        errors = (key_of(own) for own in (read.constant, read.average, read.common_mode, read.shared))
        key = (*errors, read.terms, read.murky, read.weights)
        found = self._known.get(key)
        if found is None:
            effects = [(case.is_active, case.effect(read)) for case in self.cases]
            quiet, active = ([e for is_active, e in effects if is_active is which] for which in (False, True))
            found = self._known[key] = Written(
                greatest(whole(self.arithmetic, [effect]) for effect in quiet),
                greatest(whole(self.arithmetic, [effect]) for effect in active),
                all(not effect.terms for effect in quiet),
                _worst([*quiet, *active]),
            )
        return found

    def shared_deviation(self, case: GateCase, error: flint.arb) -> flint.arb:
        """How far the units' sum can be off if all of them read the case's value with the same error."""
        if error == 0:
            return ZERO
        if case.slope == 0 and error <= case.room:
            return ZERO
        points = [case.value - error, case.value + error]
        corners = [-bias for (bias, _), gap in zip(self.balls, case.gaps, strict=True) if not (gap >= error)]
        return greatest(abs(self._at(point) - case.exact) for point in points + corners)

    def _at(self, point: flint.arb) -> flint.arb:
        return sum((factor * (point + bias).max(ZERO) for bias, factor in self.balls), ZERO)


def _at_ends(names: Names, units: tuple[Unit, ...], case: Case) -> list[Case]:
    """For an average the cases of its ends, if the units' sum is the same for all numbers between."""
    if not case.value.parts:
        return [case]
    ends = flat_ends(names, units, case.value)
    return [replace(case, value=Affine(end)) for end in sorted(ends)] or [case]


@final
class GateCase:
    """One case of a gate: what no error and no length changes is worked out once.

    `is_active` says that the exact sum of the units is not 0, or not known; `is_step` that it is 0 or 1.
    """

    def __init__(self, gate: Gate, case: Case) -> None:
        self.gate = gate
        self.terms = case.terms
        self.averages = case.averages
        self.size = ball(case.size)
        self.ends = gate.arithmetic.names.bounds(case.value)
        low, high = self.ends
        self.most = ball(max(abs(low), abs(high)))
        self.tops = [ball(high + bias) for bias, _ in gate.units]
        grids = case.grid or None, gate.bias_grid
        self.grid = min(grids[0], grids[1]) if grids[0] and grids[1] and gate.fits else None
        self.is_constant = not case.value.parts
        constant = case.value.constant
        inner = [(constant + bias, factor) for bias, factor in gate.units]
        parts = [(number, factor) for number, factor in inner if number > 0]
        exact = sum((number * factor for number, factor in parts), Fraction(0))
        self.is_active = not self.is_constant or bool(exact)
        self.is_step = self.is_constant and exact in (0, 1)
        self.value, self.exact = ball(constant), ball(exact)
        self.products = len(parts), ball(sum((number * abs(factor) for number, factor in parts), Fraction(0)))
        gaps = [abs(number) for number, _ in inner]
        self.gaps = [ball(gap) for gap in gaps]
        self.room = ball(min(gaps))
        self.slope = sum((factor for _, factor in parts), Fraction(0))
        self._louds: dict[tuple[int, ...], Loud] = {}

    def effect(self, read: Read) -> Effect:
        """What the units with factor * ReLU(S + bias) add, and how far it can be off."""
        gate, arithmetic = self.gate, self.gate.arithmetic
        error = (read.average if self.averages else read.constant) + read.shared * self.most
        if error == 0 and not self.averages and read.weights and (exact := self._exact()):
            return exact
        size = self.size + read.shared * self.size + error + read.common_mode
        if not (2 * (size + gate.largest_bias) < arithmetic.form.range):
            raise BeyondError("a feed-forward (it leaves the range of the format)")
        most = self.most + error
        terms = arithmetic.halves * min(self.terms + read.murky, read.terms)
        summed = arithmetic.summed(terms, size, most)
        if not read.weights:
            # The format may not hold a weight, and rounds its product.
            summed += 3 * arithmetic.u * size
        is_shared = terms <= 2 and read.weights
        numbers = tuple(k for k, top in enumerate(self.tops) if not (top + error + summed <= 0))
        if not numbers:
            return NOTHING
        loud = self._loud(numbers)
        shared = error + (summed if is_shared else ZERO)
        reach = loud.inner + error + summed
        outside = loud.factor * reach
        if self.is_constant and is_shared and loud.threshold and self._rounds_exactly(loud.threshold, shared):
            # Above both thresholds the units' sum is the same, whatever the error.
            return Effect(ZERO, 2, outside, abs(self.exact), loud.threshold.products, is_alone_exact=True)
        own = (ZERO if is_shared else summed) + 2 * arithmetic.u * reach + loud.unfit + arithmetic.tiny
        size = loud.factor * (reach + own)
        off = gate.shared_deviation(self, shared) if self.is_constant else loud.factor * shared
        # Products underflow where factors are small, though no input does: as much once more for all.
        off += loud.factor * own + (ZERO if loud.is_even else 3 * arithmetic.u * size) + arithmetic.tiny
        result = abs(self.exact) + off if self.is_constant else size + off
        return Effect(off, len(numbers), size, result, None, is_alone_exact=len(numbers) == 1)

    def _exact(self) -> Effect | None:
        """The effect if every step is exact: sums, products, and adding all products; else None."""
        gate, arithmetic = self.gate, self.gate.arithmetic
        if gate.factor_grid is None or not arithmetic.fits(self.size + gate.largest_bias, self.grid):
            return None
        assert self.grid is not None
        (terms, size), grid = self.products, self.grid * gate.factor_grid
        if not arithmetic.fits(size, grid):
            return None
        return Effect(ZERO, terms, size, size, grid, is_alone_exact=True)

    def _loud(self, numbers: tuple[int, ...]) -> Loud:
        """What follows if just the units of these numbers may not be 0."""
        found = self._louds.get(numbers)
        if found is None:
            arithmetic = self.gate.arithmetic
            units = [self.gate.units[number] for number in numbers]
            inner = max(abs(end + bias) for bias, _ in units for end in self.ends)
            unfit = (arithmetic.u * ball(abs(b)) for b, _ in units if not arithmetic.holds(b))
            found = self._louds[numbers] = Loud(
                ball(inner),
                ball(sum((abs(factor) for _, factor in units), Fraction(0))),
                sum(unfit, ZERO),
                all(is_power_of_two(factor) for _, factor in units),
                _threshold_of(arithmetic, units),
            )
        return found

    def _rounds_exactly(self, threshold: Threshold, error: flint.arb) -> bool:
        """Lemma 9: S - low, S - high and their difference are exact for thresholds 0 < low < high <= S."""
        above = bool(self.value - error >= threshold.high)
        return above and self.gate.arithmetic.fits(4 * (self.value + error), threshold.grid)


@final
@dataclass(frozen=True)
class Read:
    """What a gate reads: a form of so many terms, and its error in cases without and with averages.

    `murky` of its terms are not exactly 0 where they should be; `weights` says that the products are exact.
    So much as `common_mode` cancels within its terms, and `shared` is the relative error of their sum.
    """

    terms: int
    constant: flint.arb
    average: flint.arb
    murky: int
    weights: bool
    common_mode: flint.arb
    shared: flint.arb


@final
@dataclass(frozen=True)
class Factor:
    """A term of a linear form: its factor and its size; `fits` if the format holds it, `is_power` of two."""

    coordinate: Coordinate
    factor: Fraction
    size: flint.arb
    fits: bool
    is_power: bool


@final
@dataclass(frozen=True)
class Writing:
    """All gates that write to one coordinate, and what they read; `disjoint` if at most one is not 0."""

    target: Coordinate
    parts: tuple[tuple[tuple[Factor, ...], Gate], ...]
    disjoint: bool
    inputs: tuple[Coordinate, ...]
    """All that they read."""
    steps: StepUnits | None = None
    """What writes it, if that reads whole numbers: then no gate does."""


@final
class Gates:
    """All gates of a network in one format."""

    def __init__(self, arithmetic: Arithmetic) -> None:
        self.arithmetic = arithmetic
        # Gates of one shape are one object.
        self._gate = cache(partial(Gate, arithmetic))
        self._cases_of: dict[Diagram, frozenset[Case]] = {}

    def writings_of(
        self,
        groups: tuple[UnitGroup, ...],
        before: ResidualValues,
        middle: ResidualValues,
        after: ResidualValues,
    ) -> list[Writing]:
        """The writings of a layer, for any length."""
        names = self.arithmetic.names
        pairs = enumerate(zip(before.values, middle.values, strict=True))
        fresh = {coordinate for coordinate, (old, new) in pairs if old != new}
        steps = {g.form for g in groups if any(is_whole(names, value) for value in names.values(g.diagram))}
        read = {c: self._read(middle.values[c]) for c in {c for group in groups for c, _ in group.form}}
        cases = {
            group.form: self._cases(group.form, read, fresh) for group in groups if group.form not in steps
        }
        factors = {group.form: tuple(self._factor(*pair) for pair in group.form) for group in groups}
        by_target: dict[Coordinate, list[UnitGroup]] = {}
        for group in groups:
            for target in group.outputs:
                by_target.setdefault(target, []).append(group)
        writings = []
        for target, own in by_target.items():
            inputs = tuple(coordinate for group in own for coordinate, _ in group.form)
            if any(group.form in steps for group in own):
                if len(own) > 1 or middle.values[target]:
                    raise UnprovenError("what a step of integers is written to is written by others, too")
                writings.append(Writing(target, (), False, inputs, (own[0], own[0].outputs[target])))
                continue
            parts = tuple(
                (factors[group.form], self._gate(group.outputs[target], cases[group.form])) for group in own
            )
            is_step = all(case.is_step for _, gate in parts for case in gate.cases)
            is_bit = names.is_bit(plain(after.values[target], names, "a feed-forward"))
            if not is_bit and not any(gate.averages for _, gate in parts):
                is_step = is_bit = self._exclude(own, target)
            disjoint = is_step and is_bit and not middle.values[target]
            writings.append(Writing(target, parts, disjoint, inputs))
        return writings

    def _exclude(self, groups: list[UnitGroup], target: Coordinate) -> bool:
        """Whether no two of the groups add anything to a coordinate at the same position."""
        names = self.arithmetic.names
        added = (added_by(names, group, target) for group in groups)
        present = (names.where("not 0", lambda value: value != Affine(Fraction(0)), own) for own in added)
        return names.is_bit(names.canonical(names.total(present)))

    def _read(self, value: Value) -> Diagram:
        names = self.arithmetic.names
        return names.with_edges(plain(value, names, "a hidden unit"))

    def _cases(
        self, form: LinearForm, read: dict[Coordinate, Diagram], fresh: set[Coordinate]
    ) -> frozenset[Case]:
        """Every combination of the terms of a linear form; what a head just wrote is never exactly 0."""
        diagrams = self.arithmetic.names.diagrams
        parts = [diagrams.constant(NO_TERMS)]
        for coordinate, factor in form:
            is_fresh = coordinate in fresh
            name = "case", factor.numerator, factor.denominator, is_fresh
            case = partial(self._case, factor=factor, is_fresh=is_fresh)
            parts.append(diagrams.map(name, case, read[coordinate]))
        found = diagrams.combine_all("cases", Case.with_terms, parts)
        if found not in self._cases_of:
            values = diagrams.values(found)
            self._cases_of[found] = frozenset(case for case in values if isinstance(case, Case))
        return self._cases_of[found]

    def _case(self, value: Affine, factor: Fraction, is_fresh: bool) -> Case:
        """One term in one case."""
        size = max(abs(end) for end in self.arithmetic.names.bounds(value))
        scaled = scale_affine(value, factor)
        grid = common_grid([scaled]) or Fraction(0)
        return Case(scaled, int(is_fresh or size != 0), abs(factor) * size, bool(value.parts), grid)

    def _factor(self, coordinate: Coordinate, factor: Fraction) -> Factor:
        fits = self.arithmetic.holds(factor)
        return Factor(coordinate, factor, ball(abs(factor)), fits, is_power_of_two(factor))


def written(lengths: Lengths, writing: Writing, middle: ResidualValues, offs: list[Off]) -> OfNumber:
    """How far the target can be off after the feed-forward layer, which is the first to write to it."""
    if writing.steps is not None:
        return stepped_off(lengths, writing.steps, middle, offs)
    parts = [gate.written(_read(lengths, form, gate, middle, offs)) for form, gate in writing.parts]
    if writing.disjoint and (len(parts) == 1 or all(part.is_silent for part in parts)):
        # At most one gate is not 0, and all others add nothing at all: its units alone are the sum.
        return lengths.off_by(greatest(part.quiet for part in parts), greatest(part.active for part in parts))
    if len(parts) == 1:
        total = parts[0].quiet.max(parts[0].active)
    else:
        total = whole(lengths.arithmetic, [part.effect for part in parts])
    return OfNumber(total, total, total, ZERO)


def _read(
    lengths: Lengths, form: tuple[Factor, ...], gate: Gate, middle: ResidualValues, offs: list[Off]
) -> Read:
    """What a gate reads at this length."""
    numbers = [as_number(offs[part.coordinate]) for part in form]
    constant = sum((part.size * own.constant for part, own in zip(form, numbers, strict=True)), ZERO)
    average = ZERO
    if gate.averages:
        for part in form:
            average += part.size * lengths.of_mean(middle.values[part.coordinate], offs[part.coordinate])
    weights = lengths.arithmetic.halves == 1 and all(
        part.fits and (part.is_power or _is_exactly_read(lengths, middle.values, offs, part)) for part in form
    )
    # A coordinate that is 0 only up to an error is a term like the others.
    murky = sum(not bool(own.at_zero == 0) for own in numbers)
    terms = tuple((part.coordinate, part.factor) for part in form)
    in_common = lengths.common_mode(terms, offs), lengths.shared(terms, offs)
    return Read(len(form), constant, average, murky, weights, *in_common)


def _is_exactly_read(lengths: Lengths, values: list[Value], offs: list[Off], part: Factor) -> bool:
    """Whether a term is computed as it is."""
    coordinate = part.coordinate
    return is_exact(offs[coordinate]) and _exact_product(lengths, values[coordinate], part.factor)


def _exact_product(lengths: Lengths, value: Value, factor: Fraction) -> bool:
    """Whether factor * value is always a number of the format."""
    grids = lengths.arithmetic.grid(value), common_grid([Affine(factor)])
    if grids[0] is None or grids[1] is None:
        return False
    return lengths.arithmetic.fits(lengths.size(value) * ball(abs(factor)), grids[0] * grids[1])


def _threshold_of(arithmetic: Arithmetic, loud: list[Unit]) -> Threshold | None:
    """What two units with positive thresholds make."""
    if len(loud) != 2 or loud[0][1] != -loud[1][1] or not is_power_of_two(loud[0][1]):
        return None
    thresholds = [-bias for bias, _ in loud]
    grid = common_grid([Affine(threshold) for threshold in thresholds])
    if min(thresholds) <= 0 or grid is None:
        return None
    high = max(thresholds)
    products = abs(loud[0][1]) * min(grid, arithmetic.spacing(high))
    return Threshold(ball(high), grid, products)
