"""What a feed-forward layer computes: every hidden unit is followed through every case.

Units with the same linear form S are one piecewise linear function of S, so a pair of units that
rounds an approximate bit is exact as long as S stays on a flat piece. (Lemma 9 of the paper; nothing is
assumed about which units belong together.)
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache
from typing import final

from attemper.checker.diagrams import Diagram
from attemper.checker.names import Affine, Names, UnprovenError, add_affine, scale_affine
from attemper.checker.steps import is_whole, points, stepped
from attemper.checker.values import ResidualValues, add, error_of, of_form, plain
from attemper.exact.monomials import Monomial
from attemper.networks.layers import Coordinate, Layer, LinearForm

Unit = tuple[Fraction, Fraction]
"""(bias, factor): factor * ReLU(S + bias) is added to a target."""


@final
@dataclass(frozen=True)
class UnitGroup:
    """All hidden units of a layer that read one linear form, by the coordinate they write to."""

    form: LinearForm
    diagram: Diagram
    outputs: dict[Coordinate, tuple[Unit, ...]]


def groups_of(names: Names, layer: Layer, number: int, stream: ResidualValues) -> list[UnitGroup]:
    """The groups of a layer, with what they read after its attention."""
    found: dict[LinearForm, dict[Coordinate, list[Unit]]] = {}
    for unit in layer.hidden:
        for target, factor in unit.outputs:
            found.setdefault(unit.form, {}).setdefault(target, []).append((unit.bias, factor))
    groups = []
    for form, outputs in found.items():
        what = f"layer {number}: a hidden unit"
        diagram = names.canonical(names.with_edges(plain(of_form(names, form, stream), names, what)))
        groups.append(UnitGroup(form, diagram, {target: tuple(units) for target, units in outputs.items()}))
    return groups


def apply_groups(names: Names, groups: list[UnitGroup], stream: ResidualValues) -> ResidualValues:
    """The stream after the feed-forward layer."""
    after = stream.copy()
    added: dict[Coordinate, list[Diagram]] = {}
    for group in groups:
        error = error_of(group.form, stream)
        values = names.values(group.diagram)
        moved = _stepped_deviation if any(is_whole(names, value) for value in values) else deviation
        for target, units in group.outputs.items():
            added.setdefault(target, []).append(added_by(names, group, target))
            after.worsen(target, Monomial(max(moved(names, units, value, error) for value in values)))
    for target, diagrams in added.items():
        after.values[target] = add(names, after.values[target], {(0, 0): names.total(diagrams)})
    return after


def added_by(names: Names, group: UnitGroup, target: Coordinate) -> Diagram:
    """What the units of a group add to a coordinate."""
    units = group.outputs[target]
    if any(is_whole(names, value) for value in names.values(group.diagram)):
        corners = [-bias for bias, _ in units]
        if sum(factor for _, factor in units):
            raise UnprovenError("an integer that grows with the word stands where a bounded number is needed")
        return stepped(names, lambda point: piecewise(units, point), corners, group.diagram)
    return names.diagrams.map(("units", units), lambda value: _output(names, units, value), group.diagram)


def _output(names: Names, units: tuple[Unit, ...], value: Affine) -> Affine:
    """The sum of factor * ReLU(value + bias)."""
    total = Affine(Fraction(0))
    for bias, factor in units:
        inner = Affine(value.constant + bias, value.parts)
        low, high = names.bounds(inner)
        if high <= 0:
            continue
        active = inner if low >= 0 else names.positive_part(inner)
        total = add_affine(total, scale_affine(active, factor))
    return total


def deviation(names: Names, units: tuple[Unit, ...], value: Affine, error: Fraction) -> Fraction:
    """How far the output can be off if the units read the value with an error."""
    if not error:
        return Fraction(0)
    if value.parts:
        if ends := flat_ends(names, units, value):
            return max(_change(units, end, error) for end in ends)
        _, high = names.bounds(value)
        active = (factor for bias, factor in units if high + bias + error > 0)
        return sum((abs(factor) * error for factor in active), Fraction(0))
    return _change(units, value.constant, error)


def _stepped_deviation(names: Names, units: tuple[Unit, ...], value: Affine, error: Fraction) -> Fraction:
    """The same of whole numbers, once `stepped` has said what the units add: only then this is all they
    do.
    """
    near = points(value.constant, [-bias for bias, _ in units], error)
    return max(_change(units, point, error) for point in near)


def flat_ends(names: Names, units: tuple[Unit, ...], value: Affine) -> set[Fraction]:
    """The least and the greatest number that a value can be, if the units' sum is one number there.

    An error then counts at these ends alone. Empty if the sum is not one number.
    """
    low, high = names.bounds(value)
    has_corner = any(low < -bias < high for bias, _ in units)
    return set() if has_corner or piecewise(units, low) != piecewise(units, high) else {low, high}


@lru_cache(maxsize=1 << 16)
def _change(units: tuple[Unit, ...], value: Fraction, error: Fraction) -> Fraction:
    """The largest change of the output between value - error and value + error: at an end or a corner."""
    exact = piecewise(units, value)
    ends = {value - error, value + error}
    corners = {-bias for bias, _ in units if abs(value + bias) < error}
    return max(abs(piecewise(units, point) - exact) for point in ends | corners)


def piecewise(units: tuple[Unit, ...], value: Fraction) -> Fraction:
    """The sum of factor * ReLU(value + bias) at a number."""
    return sum((factor * max(Fraction(0), value + bias) for bias, factor in units), Fraction(0))
