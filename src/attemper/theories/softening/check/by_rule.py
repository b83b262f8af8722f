"""What the rules of heads say of a hard network, for all lengths: gaps, magnitudes, and what units round.

The network is followed symbolically, as in a proof that it computes something, but without errors: a hard
network makes none. A head that attends to the greatest score attends in the same way whatever its scores are
multiplied with. So each rule (FORMAT.md, section 5) is tried of the head with the inverse temperature K n^b,
K = `COLDNESS` and b = 0, 1, ..., whatever the head says that it is for; a rule that holds says by how much
the greatest score then leads over every visible position of another value, and the gap itself is K n^b times
less. One rule more, in `levels`, is about heads whose best positions tie. Where a rule holds, positions of
the greatest score have equal values, and the average of these is what the rule says that the head puts out.

Where no rule holds nothing is known of what the head writes, nor of anything that is made of that, but its
size: it is at most what the weights make of the sizes before.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import partial
from typing import final

from attemper.checker.attention.scores import Output
from attemper.checker.diagrams import TooLargeError
from attemper.checker.feed_forward import UnitGroup, added_by, deviation, groups_of
from attemper.checker.heads import RULES, fact_by
from attemper.checker.identities import Formulas
from attemper.checker.names import Names, UnprovenError
from attemper.checker.proof import deep
from attemper.checker.values import ResidualValues, Value, add, embedded, magnitude_of, of_form, plain
from attemper.exact import monomials
from attemper.exact.balls import precision
from attemper.exact.closed_forms import ONE, Length, Power, times
from attemper.exact.monomials import Monomial
from attemper.networks import layers
from attemper.theories.softening.check.hard import uniform_heads
from attemper.theories.softening.check.levels import Led, levels

COLDNESS = 2**40
"""K: so large that nothing is lost where a rule compares gaps with numbers of positions."""

MOST_FADING = 8
"""Gaps that vanish faster than n^-8 are those of no construction."""

PRECISION = 64
"""Bits of the balls in which rules bound attention, which nothing here rests on."""

UNFOLLOWED = (UnprovenError, TooLargeError, RecursionError, OverflowError)
"""What a rule raises that does not hold, or whose diagrams are too large."""

_Gaps = Callable[[Names, layers.Head, ResidualValues], Led]


@final
@dataclass(frozen=True)
class HeadByRule:
    """A head that a rule covers: its gap, and for each value how far apart it is at two positions."""

    gap: Monomial
    spreads: tuple[Monomial, ...]


@final
@dataclass(frozen=True)
class LayerByRule:
    """What is known of one layer of the hard network.

    `magnitude` bounds every coordinate before it, None if nothing does. `heads` has None for uniform heads
    and where no rule holds. `groups` has the hidden units of one linear form that reads known coordinates
    only.
    """

    magnitude: Monomial | None
    heads: tuple[HeadByRule | None, ...]
    groups: dict[layers.LinearForm, UnitGroup]
    names: Names

    def is_unmoved(self, form: layers.LinearForm, target: layers.Coordinate, error: Fraction) -> bool:
        """Whether what the units of a form add to a coordinate is exact wherever the form is off by so much.

        False where that is not known.
        """
        group = self.groups.get(form)
        if group is None:
            return False
        units, values = group.outputs[target], self.names.values(group.diagram)
        try:
            return not any(deviation(self.names, units, value, error) for value in values)
        except UnprovenError:
            return False


@final
@dataclass
class _Known:
    """The stream of the hard network: values, None where nothing is known, and sizes."""

    names: Names
    values: list[Value | None]
    sizes: list[Monomial]

    def knows(self, *forms: layers.LinearForm) -> bool:
        """Whether the forms read known coordinates only."""
        return all(self.values[coordinate] is not None for form in forms for coordinate, _ in form)

    def stream(self) -> ResidualValues:
        """All coordinates as rules meet them, without errors. Those that are not known must not be read."""
        return ResidualValues([value or {} for value in self.values], [Fraction(0)] * len(self.values))

    def size(self, form: layers.LinearForm) -> Monomial:
        """How large a form can be, by the sizes of coordinates."""
        return monomials.total(
            self.sizes[coordinate].times(Monomial(abs(factor))) for coordinate, factor in form
        )

    def after(self, written: dict[layers.Coordinate, list[tuple[Value | None, Monomial]]]) -> _Known:
        """The stream after something was added to it: values, or None and their sizes."""
        found = _Known(self.names, list(self.values), list(self.sizes))
        for coordinate, parts in written.items():
            found.sizes[coordinate] = monomials.total([self.sizes[coordinate], *(size for _, size in parts)])
            try:
                value = self._total(coordinate, [part for part, _ in parts])
                found.sizes[coordinate] = magnitude_of(self.names, value)
                found.values[coordinate] = value
            except UNFOLLOWED:
                found.values[coordinate] = None
        return found

    def _total(self, coordinate: layers.Coordinate, parts: list[Value | None]) -> Value:
        """A coordinate and what is added to it. Raises `UnprovenError` if something of that is not known."""
        total: Value = {}
        for part in (self.values[coordinate], *parts):
            if part is None:
                raise UnprovenError("nothing is known of what is added to it")
            total = add(self.names, total, part)
        return total


def by_rule(hard: layers.Network) -> tuple[LayerByRule, ...]:
    """What is known of each layer of a network that is read as average-hard.

    Where an embedding cannot be followed, that is nothing.
    """
    names = Formulas(hard.alphabet.symbols).names
    found = []
    with precision(PRECISION), deep():
        try:
            start = embedded(names, hard)
            sizes = [magnitude_of(names, value) for value in start.values]
        except UNFOLLOWED:
            return tuple(LayerByRule(None, (None,) * len(layer.heads), {}, names) for layer in hard.layers)
        known = _Known(names, list(start.values), sizes)
        for layer, uniform in zip(hard.layers, uniform_heads(hard), strict=True):
            fact, known = _followed(layer, uniform, known)
            found.append(fact)
    return tuple(found)


def _followed(layer: layers.Layer, uniform: tuple[bool, ...], known: _Known) -> tuple[LayerByRule, _Known]:
    """One layer, and the stream after it."""
    heads: list[HeadByRule | None] = []
    written: dict[layers.Coordinate, list[tuple[Value | None, Monomial]]] = {}
    for head, is_uniform in zip(layer.heads, uniform, strict=True):
        own, outputs = (None, _averaged(head, known)) if is_uniform else _ruled(head, known)
        heads.append(own)
        for index, (form, target) in enumerate(zip(head.values, head.targets, strict=True)):
            output = None if outputs is None else outputs[index]
            value: Value | None = None if output is None else {(0, output.growth): output.diagram}
            written.setdefault(target, []).append((value, known.size(form)))
    middle = known.after(written)
    groups = {form: _group(layer, form, middle) for form in {unit.form for unit in layer.hidden}}
    found = {form: group for form, group in groups.items() if group is not None}
    magnitude = monomials.greatest(known.sizes)
    return LayerByRule(magnitude, tuple(heads), found, known.names), middle.after(
        _added(layer, found, middle)
    )


def _averaged(head: layers.Head, known: _Known) -> tuple[Output, ...] | None:
    """What a uniform head puts out, whatever its rows are."""
    if not known.knows(*head.values):
        return None
    try:
        alike = replace(head, query=(), key=(), weighting=layers.Softmax(ONE))
        (uniform,) = (kind for kind, rule in RULES.items() if not rule.has_gap)
        return fact_by(uniform, known.names, alike, known.stream()).outputs
    except UNFOLLOWED:
        return None


def _ruled(head: layers.Head, known: _Known) -> tuple[HeadByRule | None, tuple[Output, ...] | None]:
    """The first rule that holds of the head; or of its scores, if by that one position is the best."""
    if not known.knows(*head.query, *head.key):
        return None, None
    alone = replace(head, values=(), targets=())
    rules: list[tuple[_Gaps, layers.Head]] = [
        (partial(_led_by, kind), alone) for kind, rule in RULES.items() if rule.is_unique
    ]
    if known.knows(*head.values):
        led = ((partial(_led_by, kind), head) for kind, rule in RULES.items() if rule.has_gap)
        rules = [*led, (levels, head), *rules]
    for fading in range(MOST_FADING + 1):
        coldness = layers.Softmax(times(COLDNESS, Power(Length(), fading)))
        for rule, own in rules:
            try:
                found = rule(known.names, replace(own, weighting=coldness), known.stream())
                spreads = tuple(_spread(known, form) for form in head.values)
            except UNFOLLOWED:
                continue
            if found.least_gap > 0:
                gap = Monomial(found.least_gap / COLDNESS, -fading)
                return HeadByRule(gap, spreads), found.outputs if own is head else None
    return None, None


def _led_by(kind: type[layers.Construction], names: Names, head: layers.Head, stream: ResidualValues) -> Led:
    """What the rule of a construction says."""
    fact = fact_by(kind, names, head, stream)
    return Led(fact.least_gap, fact.outputs)


def _spread(known: _Known, form: layers.LinearForm) -> Monomial:
    """How far apart a value can be at two positions: by its least and its greatest number, or by its size."""
    if not known.knows(form):
        return known.size(form).times(Monomial(Fraction(2)))
    names, value = known.names, of_form(known.names, form, known.stream())
    try:
        ends = [names.bounds(own) for own in names.values(plain(value, names, "a value"))]
    except UnprovenError:
        return magnitude_of(names, value).times(Monomial(Fraction(2)))
    return Monomial(max(high for _, high in ends) - min(low for low, _ in ends))


def _group(layer: layers.Layer, form: layers.LinearForm, middle: _Known) -> UnitGroup | None:
    """The hidden units of one form, if what they read is known."""
    units = tuple(unit for unit in layer.hidden if unit.form == form)
    if not middle.knows(form) or not any(unit.outputs for unit in units):
        return None
    alone = replace(layer, hidden=units, clamps=())
    try:
        (group,) = groups_of(middle.names, alone, 0, middle.stream())
    except UNFOLLOWED:
        return None
    return group


def _added(
    layer: layers.Layer, groups: dict[layers.LinearForm, UnitGroup], middle: _Known
) -> dict[layers.Coordinate, list[tuple[Value | None, Monomial]]]:
    """What the hidden units add to each coordinate."""
    written: dict[layers.Coordinate, list[tuple[Value | None, Monomial]]] = {}
    for form in dict.fromkeys(unit.form for unit in layer.hidden):
        units = [unit for unit in layer.hidden if unit.form == form]
        for target in dict.fromkeys(target for unit in units for target, _ in unit.outputs):
            sizes = (_size(middle, unit, target) for unit in units)
            written.setdefault(target, []).append(
                (_value(middle, groups.get(form), target), monomials.total(sizes))
            )
    return written


def _value(middle: _Known, group: UnitGroup | None, target: layers.Coordinate) -> Value | None:
    if group is None:
        return None
    try:
        return {(0, 0): added_by(middle.names, group, target)}
    except UNFOLLOWED:
        return None


def _size(middle: _Known, unit: layers.Hidden, target: layers.Coordinate) -> Monomial:
    """How much a hidden unit can add to a coordinate."""
    factor = sum((abs(own) for coordinate, own in unit.outputs if coordinate == target), Fraction(0))
    return middle.size(unit.form).plus(Monomial(max(unit.bias, Fraction(0)))).times(Monomial(factor))
