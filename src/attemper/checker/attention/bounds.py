"""What a mask shows, and small proofs there: numbers that are the same for all words, positive score gaps."""

from __future__ import annotations

from fractions import Fraction

from attemper.checker.diagrams import Diagram
from attemper.checker.names import Names, UnprovenError
from attemper.checker.values import Value
from attemper.exact import laurent
from attemper.networks.layers import Masking

HALF = Fraction(1, 2)

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

REACH = {
    Masking.FUTURE: laurent.monomial(1, 0),
    Masking.PAST: laurent.monomial(0, 1),
    Masking.NONE: laurent.monomial(0, 1),
}
"""The greatest visible position."""


def scalar(names: Names, value: Value) -> laurent.Laurent:
    """A value that is the same for all words, as a polynomial in i and n."""
    return {powers: constant(names, diagram) for powers, diagram in value.items()}


def constant(names: Names, diagram: Diagram) -> Fraction:
    """The one value of a diagram. Raises `UnprovenError` if there are several, or averages."""
    values = names.values(diagram)
    if len(values) != 1 or values[0].parts:
        raise UnprovenError("a factor of its scores depends on the word")
    return values[0].constant


def is_positive(form: laurent.Laurent, domain: laurent.Domain) -> bool:
    """Whether a form is positive at a corner of the domain: a guess, confirmed by what is proved of it."""
    i0, d = domain[0]
    return laurent.at(form, i0, i0 + d) > 0


def for_losses(
    score_gap: laurent.Laurent, rest: laurent.Laurent, domain: laurent.Domain, what: str
) -> tuple[Fraction, Fraction]:
    """The least score gap + rest, and the least score gap/2 + rest; both positive."""
    whole, half = (
        proved(laurent.least(laurent.plus(laurent.times(score_gap, part), rest), domain), what)
        for part in (1, HALF)
    )
    return positive(whole), positive(half)


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
