"""What a mask shows, and small proofs there: numbers that are the same for all words, positive score gaps."""

from __future__ import annotations

from fractions import Fraction

from attemper.checker.diagrams import Diagram
from attemper.checker.names import Names, UnprovenError
from attemper.checker.values import Value
from attemper.exact import laurent
from attemper.networks.layers import Masking

DOMAINS = {
    Masking.FUTURE: laurent.AFTER_FIRST,
    Masking.PAST: laurent.BEFORE_LAST,
    Masking.NONE: laurent.LONGER_THAN_ONE,
}
"""Where a head sees more than one position."""

VISIBLE = {
    masking: laurent.plus(laurent.monomial(1, 0, a), laurent.monomial(0, 1, b), laurent.constant(c))
    for masking in DOMAINS
    for a, b, c in [masking.number_visible_form]
}
"""How many positions are visible from i."""


def scalar(names: Names, value: Value) -> laurent.Laurent:
    """A value that is the same for all words, as a polynomial in i and n."""
    return {powers: constant(names, diagram) for powers, diagram in value.items()}


def constant(names: Names, diagram: Diagram) -> Fraction:
    """The one value of a diagram. Raises `UnprovenError` if there are several, or averages."""
    values = names.values(diagram)
    if len(values) != 1 or values[0].parts:
        raise UnprovenError("a factor of its scores depends on the word")
    return values[0].constant


def at_corner(form: laurent.Laurent, masking: Masking) -> Fraction:
    """What a form is in the shortest word in which a head sees two positions: a guess at its sign."""
    (first, second), *_ = DOMAINS[masking.weak]
    return laurent.at(form, first.gap, first.gap + second.gap)


def proved(value: Fraction | None, what: str) -> Fraction:
    """A number that was found. Raises `UnprovenError`, saying what else can happen, if there is none."""
    if value is None:
        raise UnprovenError(f"not proved for all lengths: {what}")
    return value


def positive(gap: Fraction) -> Fraction:
    """A score gap that is more than 0. Raises `UnprovenError` for others."""
    if gap <= 0:
        raise UnprovenError("its lead is not positive")
    return gap
