"""The keys that nearest integers have: how a head carries them on, and how a query compares them."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction
from typing import final

from attemper.checker import whole_numbers
from attemper.checker.attention.parabolas import integers_of
from attemper.checker.diagrams import Diagram
from attemper.checker.names import Affine, Clamped, Names, NearestKey, UnprovenError
from attemper.checker.values import Value, add

OTHER = "its query does not compare an integer with the one that is nearest to it"


def multiple_of(names: Names, value: Value, key: int) -> tuple[Fraction, int] | None:
    """(a, b) if a value is a n^b K', where K' has that number."""
    if len(value) != 1:
        return None
    (((power, growth), diagram),) = value.items()
    if power not in {0, 1} or not names.diagrams.is_constant(diagram):
        return None
    found = integers_of(names, power, diagram)
    if set(found) != {key} or (not power and names.constant_part(diagram) != names.false):
        return None
    return found[key], growth


@final
@dataclass(frozen=True)
class Compared:
    """A query unit n^growth (2 (K' - K) + c): the number of K', and [2 (K' - K) + c > 0]."""

    found: int
    unit: Fraction
    growth: int
    is_more: Diagram


def compared_in(names: Names, query: Value) -> Compared:
    """What a query compares: unit n^growth (2 (K' - K) + c)."""
    for found, unit, growth in _found_in(names, query):
        for sign, threshold in ((1, 0), (-1, 1)):
            own = names.affine(Affine(sign * unit, ((found, 2 * unit),)))
            for asked in _asked(names, found):
                rest = {(a, b + growth): names.scaled(part, -2 * unit) for (a, b), part in asked.items()}
                if add(names, {(0, growth): own}, rest) == query:
                    return Compared(found, unit, growth, whole_numbers.beyond(names, found, threshold))
    raise UnprovenError(OTHER)


def _found_in(names: Names, query: Value) -> Iterator[tuple[int, Fraction, int]]:
    """The nearest keys in a query: the number, half of the factor, and the power of n."""
    for (power, growth), diagram in query.items():
        if not power and names.diagrams.is_constant(diagram):
            for number, factor in names.values(diagram)[0].parts:
                if isinstance(names.quantities[number], NearestKey):
                    yield number, factor / 2, growth


def _asked(names: Names, found: int) -> Iterator[Value]:
    """What the number stands as that the key is nearest to: as it is, or as a number of positions."""
    nearest = names.quantities[found]
    assert isinstance(nearest, NearestKey)
    yield {(0, 0): names.affine(Affine(Fraction(0), ((nearest.query, Fraction(1)),)))}
    match names.quantities[nearest.query]:
        case Clamped(masking, names.true, 1):
            a, b, c = masking.number_visible_form
            forms = {(1, 0): names.number(a), (0, 1): names.number(b), (0, 0): names.number(c)}
            yield add(names, {}, forms)
        case _:
            return
