"""Rounding in a feed-forward layer: what hidden units can be off by, case by case.

For each group of units with one linear form, every combination that its diagram distinguishes is a case:
the exact value, how many terms are not 0, and how large they are together. A sum of at most two terms
is the same number in every order, and the pair of units that rounds a bit is then exactly 0 or 1
(Lemma 9); from three terms on the two units may see sums that differ in their last bits.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable
from dataclasses import dataclass
from fractions import Fraction
from typing import final

import flint

from attemper.checker.diagrams import Diagram
from attemper.checker.feed_forward import Group, Unit, piecewise
from attemper.checker.rounded_forms import (
    COARSEST,
    ZERO,
    Arithmetic,
    BeyondError,
    Lengths,
    Off,
    common_grid,
    is_exact,
    is_power_of_two,
)
from attemper.checker.terms import Affine, add_affine, scale_affine
from attemper.checker.values import Stream, Value, plain
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
    the format does not hold a bias, `uneven` how many factors are no powers of two. `step` is (high, grid)
    if the units can be a pair of Lemma 9: thresholds up to `high`, all multiples of `grid`.
    """

    inner: flint.arb
    factor: flint.arb
    unfit: flint.arb
    uneven: int
    step: tuple[flint.arb, Fraction | None] | None


@final
class Gate:
    """Units that read one form and write to one coordinate, with all cases, in one format.

    Gates of one shape are one object, and what each is off by for an error of its input is kept.
    """

    def __init__(self, arithmetic: Arithmetic, units: tuple[Unit, ...], cases: frozenset[Case]) -> None:
        self.arithmetic = arithmetic
        self.units = units
        grids = [common_grid([Affine(number)]) for unit in units for number in unit]
        self.grid = min((own or Fraction(0) for own in grids), default=COARSEST)
        self.biases = ball(_sum(abs(bias) for bias, _ in units))
        self.factors = ball(1 + _sum(abs(factor) for _, factor in units))
        self.balls = [(ball(bias), ball(factor)) for bias, factor in units]
        self.cases = [GateCase(self, case) for case in cases]
        self.averages = any(case.averages for case in cases)
        self._known: dict[Hashable, tuple[flint.arb, flint.arb]] = {}

    def off(self, read: Read, width: int) -> tuple[flint.arb, flint.arb]:
        """How far the units' sum can be off where it is exactly 0, and elsewhere.

        `width` is how many units write to the coordinate.
        """
        key = (_key(read.constant), _key(read.average), read.terms, read.murky, read.weights, width)
        found = self._known.get(key)
        if found is None:
            quiet, active = ZERO, ZERO
            for case in self.cases:
                off = case.off(read, width)
                if case.is_active:
                    active = active.max(off)
                else:
                    quiet = quiet.max(off)
            found = self._known[key] = quiet, active
        return found

    def shared_deviation(self, case: GateCase, error: flint.arb) -> flint.arb:
        """How far the units' sum can be off if all of them read the case's value with the same error."""
        if error == 0:
            return ZERO
        if case.slope == 0 and error <= case.room:
            return ZERO
        points = [case.value - error, case.value + error]
        corners = [-bias for (bias, _), gap in zip(self.balls, case.gaps, strict=True) if not (gap >= error)]
        return _greatest([abs(self._at(point) - case.exact) for point in points + corners])

    def _at(self, point: flint.arb) -> flint.arb:
        return sum((factor * (point + bias).max(ZERO) for bias, factor in self.balls), ZERO)


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
        self.ends = gate.arithmetic.terms.bounds(case.value)
        low, high = self.ends
        self.most = ball(max(abs(low), abs(high)))
        self.tops = [ball(high + bias) for bias, _ in gate.units]
        grid = gate.grid
        self.grid = min(case.grid, grid) * min(grid, Fraction(1)) if grid and case.grid else None
        self.is_constant = not (case.value.parts or case.averages)
        constant = case.value.constant
        exact = piecewise(gate.units, constant)
        self.is_active = case.averages or bool(exact)
        self.is_step = not case.averages and exact in (0, 1)
        self.value, self.exact = ball(constant), ball(exact)
        gaps = [abs(constant + bias) for bias, _ in gate.units]
        self.gaps = [ball(gap) for gap in gaps]
        self.room = ball(min(gaps, default=Fraction(1)))
        self.slope = sum(f for b, f in gate.units if constant + b > 0)
        self._louds: dict[tuple[int, ...], Loud] = {}

    def off(self, read: Read, width: int) -> flint.arb:
        """How far the sum of factor * ReLU(S + bias) can be off."""
        gate, arithmetic = self.gate, self.gate.arithmetic
        error = read.average if self.averages else read.constant
        size = self.size + error
        if error == 0 and not self.averages and read.weights and self.grid:
            whole = (size + gate.biases) * gate.factors
            if arithmetic.fits(2 * whole, self.grid):
                return ZERO
        most = self.most + error
        roundings = max(min(self.terms + read.murky, read.terms) - 1, 0) + (0 if read.weights else 2)
        summed = arithmetic.summed(roundings + 1, size, most)
        numbers = tuple(k for k, top in enumerate(self.tops) if not (top + error + summed <= 0))
        if not numbers:
            return ZERO
        loud = self._loud(numbers)
        if not (size + gate.biases < arithmetic.form.range):
            raise BeyondError("a feed-forward (it leaves the range of the format)")
        shared = error + (summed if roundings <= 1 else ZERO)
        reach = loud.inner + error + summed
        own = (ZERO if roundings <= 1 else summed) + 2 * arithmetic.u * reach + loud.unfit + arithmetic.tiny
        terms = width + loud.uneven * 2
        outside = loud.factor * reach
        if not self.is_constant:
            return loud.factor * (shared + own) + arithmetic.summed(terms, outside, outside)
        off = gate.shared_deviation(self, shared)
        if roundings <= 1 and loud.step and self._rounds_exactly(*loud.step, shared):
            return off
        result = abs(self.exact) + off + loud.factor * own
        return off + loud.factor * own + arithmetic.summed(terms, outside, result)

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
                ball(_sum(abs(factor) for _, factor in units)),
                sum(unfit, ZERO),
                sum(not is_power_of_two(factor) for _, factor in units),
                _step_of(units),
            )
        return found

    def _rounds_exactly(self, high: flint.arb, grid: Fraction | None, error: flint.arb) -> bool:
        """Lemma 9: S - low, S - high and their difference are exact for thresholds 0 < low < high <= S."""
        above = bool(self.value - error >= high)
        return above and self.gate.arithmetic.fits(4 * (self.value + error), grid)


@final
@dataclass(frozen=True)
class Read:
    """What a gate reads: a form of so many terms, and its error in cases without and with averages.

    `murky` of its terms are not exactly 0 where they should be; `weights` says that the products are exact.
    """

    terms: int
    constant: flint.arb
    average: flint.arb
    murky: int
    weights: bool


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
    """All gates that write to one coordinate, and what they read; `disjoint` if at most one adds 1."""

    target: Coordinate
    parts: tuple[tuple[tuple[Factor, ...], Gate], ...]
    disjoint: bool


@final
class Gates:
    """All gates of a network in one format."""

    def __init__(self, arithmetic: Arithmetic) -> None:
        self.arithmetic = arithmetic
        self._gates: dict[tuple[tuple[Unit, ...], frozenset[Case]], Gate] = {}
        self._cases_of: dict[Diagram, frozenset[Case]] = {}

    def writings_of(
        self, groups: tuple[Group, ...], before: Stream, middle: Stream, after: Stream
    ) -> list[Writing]:
        """The writings of a layer, for any length."""
        terms = self.arithmetic.terms
        pairs = enumerate(zip(before.values, middle.values, strict=True))
        fresh = {coordinate for coordinate, (old, new) in pairs if old != new}
        read = {c: self._read(middle.values[c]) for c in {c for group in groups for c, _ in group.form}}
        cases = {group.form: self._cases(group.form, read, fresh) for group in groups}
        factors = {group.form: tuple(self._factor(*pair) for pair in group.form) for group in groups}
        by_target: dict[Coordinate, list[Group]] = {}
        for group in groups:
            for target in group.outputs:
                by_target.setdefault(target, []).append(group)
        writings = []
        for target, own in by_target.items():
            parts = tuple(
                (factors[group.form], self._gate(group.outputs[target], cases[group.form])) for group in own
            )
            steps = all(case.is_step for _, gate in parts for case in gate.cases)
            is_bit = terms.is_bit(plain(after.values[target], terms, "a feed-forward"))
            writings.append(Writing(target, parts, steps and is_bit and not middle.values[target]))
        return writings

    def _read(self, value: Value) -> Diagram:
        terms = self.arithmetic.terms
        return terms.with_edges(plain(value, terms, "a hidden unit"))

    def _cases(
        self, form: LinearForm, read: dict[Coordinate, Diagram], fresh: set[Coordinate]
    ) -> frozenset[Case]:
        """Every combination of the terms of a linear form; what a head just wrote is never exactly 0."""
        terms = self.arithmetic.terms
        found = terms.diagrams.constant(NO_TERMS)
        for coordinate, factor in form:
            is_fresh = coordinate in fresh

            def extend(
                case: Case, value: Affine, factor: Fraction = factor, is_fresh: bool = is_fresh
            ) -> Case:
                size = max(abs(end) for end in terms.bounds(value))
                total = add_affine(case.value, scale_affine(value, factor))
                averages = case.averages or bool(value.parts)
                grid = min(case.grid, common_grid([scale_affine(value, factor)]) or Fraction(0))
                terms_now = case.terms + (is_fresh or size != 0)
                return Case(total, terms_now, case.size + abs(factor) * size, averages, grid)

            name = "case", factor.numerator, factor.denominator, is_fresh
            found = terms.diagrams.combine(name, extend, found, read[coordinate])
        if found not in self._cases_of:
            values = terms.diagrams.values(found)
            self._cases_of[found] = frozenset(case for case in values if isinstance(case, Case))
        return self._cases_of[found]

    def _factor(self, coordinate: Coordinate, factor: Fraction) -> Factor:
        fits = self.arithmetic.holds(factor)
        return Factor(coordinate, factor, ball(abs(factor)), fits, is_power_of_two(factor))

    def _gate(self, units: tuple[Unit, ...], cases: frozenset[Case]) -> Gate:
        shape = units, cases
        if shape not in self._gates:
            self._gates[shape] = Gate(self.arithmetic, units, cases)
        return self._gates[shape]


def written(lengths: Lengths, writing: Writing, middle: Stream, offs: list[Off]) -> Off:
    """How far the target can be off after the feed-forward layer, which is the first to write to it."""
    zeros, others = [ZERO], [ZERO]
    units_in_all = sum(len(gate.units) for _, gate in writing.parts)
    for form, gate in writing.parts:
        quiet, active = gate.off(_read(lengths, form, gate, middle, offs), units_in_all)
        zeros.append(quiet)
        others.append(active)
    total = sum(zeros, ZERO)
    if writing.disjoint:
        return Off(total, total + _greatest(others))
    total = sum((z.max(o) for z, o in zip(zeros, others, strict=True)), ZERO)
    return Off(total, total, total)


def _read(lengths: Lengths, form: tuple[Factor, ...], gate: Gate, middle: Stream, offs: list[Off]) -> Read:
    """What a gate reads at this length."""
    constant = sum((part.size * offs[part.coordinate].constant for part in form), ZERO)
    average = ZERO
    if gate.averages:
        for part in form:
            c = part.coordinate
            average += part.size * lengths.of_mean(middle.values[c], offs[c])
    weights = all(part.fits for part in form) and all(
        part.is_power
        or (
            is_exact(offs[part.coordinate])
            and _exact_product(lengths, middle.values[part.coordinate], part.factor)
        )
        for part in form
    )
    # A coordinate that is 0 only up to an error is a term like the others.
    murky = sum(not bool(offs[part.coordinate].zero == 0) for part in form)
    return Read(len(form), constant, average, murky, weights)


def _exact_product(lengths: Lengths, value: Value, factor: Fraction) -> bool:
    """Whether factor * value is always a number of the format."""
    grids = lengths.arithmetic.grid(value), common_grid([Affine(factor)])
    if grids[0] is None or grids[1] is None:
        return False
    return lengths.arithmetic.fits(lengths.size(value) * ball(abs(factor)), grids[0] * grids[1])


def _step_of(loud: list[Unit]) -> tuple[flint.arb, Fraction | None] | None:
    """(high, grid) if two units make a step at positive thresholds up to `high`, multiples of `grid`."""
    if len(loud) != 2 or loud[0][1] != -loud[1][1] or not is_power_of_two(loud[0][1]):
        return None
    thresholds = [-bias for bias, _ in loud]
    if min(thresholds) <= 0:
        return None
    return ball(max(thresholds)), common_grid([Affine(threshold) for threshold in thresholds])


def _key(error: flint.arb) -> Hashable:
    """Equal only for the same ball."""
    if not error.is_finite():
        return object()
    return error.mid().man_exp(), error.rad().man_exp()


def _sum(numbers: Iterable[Fraction]) -> Fraction:
    return sum(numbers, Fraction(0))


def _greatest(errors: list[flint.arb]) -> flint.arb:
    greatest = ZERO
    for error in errors:
        greatest = greatest.max(error)
    return greatest
