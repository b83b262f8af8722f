"""Rounding in a feed-forward layer: what hidden units can be off by, case by case.

For each group of units with one linear form, every combination that its diagram distinguishes is a case:
the exact value, how many terms are not 0, and how large they are together. A sum of at most two terms
is the same number in every order, and the pair of units that rounds a bit is then exactly 0 or 1
(Lemma 9); from three terms on the two units may see sums that differ in their last bits.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import final

import flint

from attemper.checker.feed_forward import Group, Unit, piecewise
from attemper.checker.rounded_forms import (
    COARSEST,
    ZERO,
    BeyondError,
    Lengths,
    Off,
    common_grid,
    is_exact,
    is_power_of_two,
)
from attemper.checker.terms import Affine, Terms, add_affine, scale_affine
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


@final
@dataclass(frozen=True)
class Writing:
    """All groups that write to one coordinate, each with its cases; `disjoint` if at most one adds 1."""

    target: Coordinate
    parts: tuple[tuple[LinearForm, tuple[Unit, ...], tuple[Case, ...]], ...]
    disjoint: bool


def writings_of(
    terms: Terms, groups: tuple[Group, ...], before: Stream, middle: Stream, after: Stream
) -> list[Writing]:
    """The writings of a layer, for any format and length."""
    fresh = {c for c, (old, new) in enumerate(zip(before.values, middle.values, strict=True)) if old != new}
    cases = {group.form: _cases(terms, group.form, middle, fresh) for group in groups}
    targets = dict.fromkeys(target for group in groups for target in group.outputs)
    writings = []
    for target in targets:
        parts = tuple(
            (group.form, group.outputs[target], cases[group.form])
            for group in groups
            if target in group.outputs
        )
        steps = all(
            not case.averages and piecewise(units, case.value.constant) in (0, 1)
            for _, units, own in parts
            for case in own
        )
        is_bit = terms.is_bit(plain(after.values[target], terms, "a feed-forward"))
        writings.append(Writing(target, parts, steps and is_bit and not middle.values[target]))
    return writings


def _cases(terms: Terms, form: LinearForm, stream: Stream, fresh: set[Coordinate]) -> tuple[Case, ...]:
    """Every combination of the terms of a linear form; what a head just wrote is never exactly 0."""
    found = terms.diagrams.constant(Case(Affine(Fraction(0)), 0, Fraction(0), averages=False, grid=COARSEST))
    for coordinate, factor in form:
        term = terms.with_edges(plain(stream.values[coordinate], terms, "a hidden unit"))

        def extend(
            case: Case, value: Affine, factor: Fraction = factor, is_fresh: bool = coordinate in fresh
        ) -> Case:
            size = max(abs(end) for end in terms.bounds(value))
            total = add_affine(case.value, scale_affine(value, factor))
            averages = case.averages or bool(value.parts)
            grid = min(case.grid, common_grid([scale_affine(value, factor)]) or Fraction(0))
            terms_now = case.terms + (is_fresh or size != 0)
            return Case(total, terms_now, case.size + abs(factor) * size, averages, grid)

        found = terms.diagrams.combine(("case", factor, coordinate in fresh), extend, found, term)
    return tuple(case for case in terms.diagrams.values(found) if isinstance(case, Case))


def written(lengths: Lengths, writing: Writing, middle: Stream, offs: list[Off]) -> Off:
    """How far the target can be off after the feed-forward layer, which is the first to write to it."""
    zeros, others = [ZERO], [ZERO]
    units_in_all = sum(len(units) for _, units, _ in writing.parts)
    for form, units, cases in writing.parts:
        quiet, active = ZERO, ZERO
        constant = sum((ball(abs(f)) * offs[c].constant for c, f in form), ZERO)
        average = sum((ball(abs(f)) * lengths.of_mean(middle.values[c], offs[c]) for c, f in form), ZERO)
        fits = all(_fits(lengths, factor) for _, factor in form)
        weights = fits and all(
            is_power_of_two(f) or (is_exact(offs[c]) and _exact_product(lengths, middle.values[c], f))
            for c, f in form
        )
        # A coordinate that is 0 only up to an error is a term like the others.
        murky = sum(not bool(offs[c].zero == 0) for c, _ in form)
        for case in cases:
            error = average if case.averages else constant
            seen = replace(case, terms=min(case.terms + murky, len(form)))
            off = _case_off(lengths, seen, units, error, weights, units_in_all)
            if case.averages or piecewise(units, case.value.constant):
                active = active.max(off)
            else:
                quiet = quiet.max(off)
        zeros.append(quiet)
        others.append(active)
    total = sum(zeros, ZERO)
    if writing.disjoint:
        return Off(total, total + _greatest(others))
    total = sum((z.max(o) for z, o in zip(zeros, others, strict=True)), ZERO)
    return Off(total, total, total)


def _case_off(
    lengths: Lengths, case: Case, units: tuple[Unit, ...], error: flint.arb, weights: bool, width: int
) -> flint.arb:
    """How far the sum of factor * ReLU(S + bias) can be off in one case."""
    u, value = lengths.u, case.value
    grids = [common_grid([Affine(number)]) for unit in units for number in unit]
    grid = min((own or Fraction(0) for own in grids), default=COARSEST)
    biases, factors = _sum(abs(bias) for bias, _ in units), _sum(abs(factor) for _, factor in units)
    size = ball(case.size) + error
    if error == 0 and not case.averages and weights and grid and case.grid:
        whole = (size + ball(biases)) * ball(1 + factors)
        if lengths.fits(2 * whole, min(case.grid, grid) * min(grid, Fraction(1))):
            return ZERO
    low, high = lengths.terms.bounds(value)
    most = ball(max(abs(low), abs(high))) + error
    roundings = max(case.terms - 1, 0) + (0 if weights else 2)
    summed = lengths.summed(roundings + 1, size, most)
    loud = [(b, f) for b, f in units if not (ball(high + b) + error + summed <= 0)]
    if not loud:
        return ZERO
    shared = error + (summed if roundings <= 1 else ZERO)
    inner = max(abs(end + bias) for bias, _ in loud for end in (low, high))
    unfit = sum((u * ball(abs(b)) for b, _ in loud if not _fits(lengths, b)), ZERO)
    own = (ZERO if roundings <= 1 else summed) + 2 * u * (ball(inner) + error + summed) + unfit
    own += lengths.tiny
    if not (size + ball(biases) < lengths.form.range):
        raise BeyondError("a feed-forward (it leaves the range of the format)")
    total_factor = ball(_sum(abs(factor) for _, factor in loud))
    terms = width + sum(not is_power_of_two(factor) for _, factor in loud) * 2
    outside = total_factor * (ball(inner) + error + summed)
    if value.parts or case.averages:
        return total_factor * (shared + own) + lengths.summed(terms, outside, outside)
    off = _shared_deviation(units, value.constant, shared)
    if roundings <= 1 and _rounds_exactly(lengths, loud, value.constant, shared):
        return off
    result = ball(abs(piecewise(units, value.constant))) + off + total_factor * own
    return off + total_factor * own + lengths.summed(terms, outside, result)


def _exact_product(lengths: Lengths, value: Value, factor: Fraction) -> bool:
    """Whether factor * value is always a number of the format."""
    grids = lengths.grid(value), common_grid([Affine(factor)])
    if grids[0] is None or grids[1] is None:
        return False
    return lengths.fits(lengths.size(value) * ball(abs(factor)), grids[0] * grids[1])


def _fits(lengths: Lengths, number: Fraction) -> bool:
    """Whether the format holds a number exactly."""
    return lengths.fits(ball(abs(number)), common_grid([Affine(number)]))


def _rounds_exactly(lengths: Lengths, loud: list[Unit], value: Fraction, error: flint.arb) -> bool:
    """Lemma 9: S - low, S - high and their difference are exact for thresholds 0 < low < high <= S."""
    if len(loud) != 2 or loud[0][1] != -loud[1][1] or not is_power_of_two(loud[0][1]):
        return False
    high = -min(bias for bias, _ in loud)
    grid = common_grid([Affine(bias) for bias, _ in loud])
    above = bool(ball(value) - error >= ball(high))
    return above and min(-bias for bias, _ in loud) > 0 and lengths.fits(4 * (ball(value) + error), grid)


def _shared_deviation(units: tuple[Unit, ...], value: Fraction, error: flint.arb) -> flint.arb:
    """How far the units' sum can be off if all of them read the value with the same error."""
    if error == 0:
        return ZERO
    room = min((abs(value + bias) for bias, _ in units), default=Fraction(1))
    slope = sum(f for b, f in units if value + b > 0)
    if slope == 0 and error <= ball(room):
        return ZERO
    exact = piecewise(units, value)
    points = [ball(value) - error, ball(value) + error]
    corners = [ball(-bias) for bias, _ in units if not (ball(abs(value + bias)) >= error)]
    return _greatest([abs(_at(units, point) - ball(exact)) for point in points + corners])


def _at(units: tuple[Unit, ...], point: flint.arb) -> flint.arb:
    return sum((ball(f) * (point + ball(b)).max(ZERO) for b, f in units), ZERO)


def _sum(numbers: Iterable[Fraction]) -> Fraction:
    return sum(numbers, Fraction(0))


def _greatest(errors: list[flint.arb]) -> flint.arb:
    greatest = ZERO
    for error in errors:
        greatest = greatest.max(error)
    return greatest
