"""Rounding where a scan runs the heads: in float64, from a stream in a format that may be narrower.

A scan does not add up scores position by position. It splits keys into classes of positions whose scores are
alpha + b g + a g^2, g = j or 1/j, finds the peak of each class, and forms differences to that in factored
form. A head's values are rounded to the format once. (certificates/FORMAT.md, section 6, "Scans".)
"""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from functools import cached_property
from typing import assert_never, final

import flint

from attemper.checker.attention.scores import Output
from attemper.checker.rounding import arithmetic
from attemper.checker.rounding.embedding import rounded_form
from attemper.checker.rounding.growth import of_integer, scaled, size_of, total
from attemper.exact import closed_forms
from attemper.networks.layers import Coordinate, Head, LinearForm, Network

ARGUMENT = 16
"""What a difference to the peak, and that of two peaks, lose of a score gap, in u, where exp meets them."""

DROPPED = Fraction(1, 2**52)
"""What is left out weighs less than this part of what is not."""

MOST_TERMS, LARGEST_POWER = 16, 8
"""A closed form with more is not taken apart: positions are then told apart by the number that it is."""

TermsAndPower = tuple[int, int]
"""How many terms, and the greatest power of i."""

EXPS = 4
"""A weight is a product of so many exponentials and one more for each doubling of the positions summed."""


@final
class Scan:
    """What heads that are scanned read and write, at one length; `wide` is float64."""

    def __init__(self, network: Network, narrow: arithmetic.Lengths, wide: arithmetic.Lengths) -> None:
        self.network = network
        self.narrow = narrow
        self.wide = wide

    @cached_property
    def places(self) -> dict[Coordinate, arithmetic.OfNumber]:
        """The errors in float64 of position embeddings that are taken apart into powers of j and (-1)^j."""
        found = {}
        for coordinate, form in self.network.positions:
            if is_taken_apart(form):
                own = rounded_form(self.wide, form)
                found[coordinate] = arithmetic.OfNumber(
                    own.at_zero, own.absolute, arithmetic.ZERO, own.relative
                )
        return found

    def of_keys(self, offs: list[arithmetic.Off]) -> list[arithmetic.Off]:
        """How far off what keys are made of is: such position embeddings are not read from the stream."""
        return [self.places.get(coordinate, off) for coordinate, off in enumerate(offs)]

    def is_whole(self, key: LinearForm) -> bool:
        """Whether a key is not split into parts that can cancel: one coordinate, or no content."""
        return len(key) == 1 or self.is_placed(key)

    def is_placed(self, key: LinearForm) -> bool:
        """Whether a key has no content."""
        return all(coordinate in self.places for coordinate, _ in key)

    def require_held(self, name: str, head: Head) -> None:
        """Raise `BeyondError` if a weight is no number of the stream's format, which might round it."""
        if self.narrow.form == self.wide.form:
            return
        for form in (*head.query, *head.key, *head.values):
            if not all(self.narrow.arithmetic.holds(factor) for _, factor in form):
                raise arithmetic.BeyondError(f"{name} (a weight is not a number of the format)")

    def written(
        self, name: str, values: tuple[tuple[arithmetic.Rounded, Output], ...], offs: list[arithmetic.Off]
    ) -> list[arithmetic.Off]:
        """The errors of a head's values, rounded to the format."""
        if self.narrow.form == self.wide.form:
            return offs
        return [self._written(name, *pair, off) for pair, off in zip(values, offs, strict=True)]

    def _written(
        self, name: str, value: arithmetic.Rounded, output: Output, off: arithmetic.Off
    ) -> arithmetic.Off:
        lengths, exact = self.narrow, {(0, output.growth): output.diagram}
        size = lengths.size(exact)
        if not (2 * (size + lengths.of_mean(exact, off)) < lengths.form.range):
            raise arithmetic.BeyondError(f"{name} (its values leave the range of the format)")
        match off:
            case arithmetic.OfInteger(growth=growth, per_step=per_step):
                sizes = size_of(lengths, exact)
                return of_integer(
                    lengths, *(self._of_integer(errors, sizes) for errors in (growth, per_step))
                )
            case arithmetic.OfNumber() | arithmetic.Normalised():
                return self._of_number(value, size, arithmetic.as_number(off))
            case _:
                assert_never(off)

    def _of_number(
        self, value: arithmetic.Rounded, size: flint.arb, off: arithmetic.OfNumber
    ) -> arithmetic.OfNumber:
        lengths = self.narrow
        is_exact = isinstance(value, arithmetic.OnGrid) and lengths.arithmetic.fits(size, value.grid)
        return arithmetic.OfNumber(
            self._once(off.at_zero, arithmetic.ZERO),
            arithmetic.ZERO
            if is_exact and off.elsewhere == 0
            else off.elsewhere + lengths.u * (size + off.elsewhere) + lengths.tiny,
            self._once(off.average, arithmetic.ZERO),
            arithmetic.ZERO if off.relative == 0 else off.relative + lengths.u * (1 + off.relative),
        )

    def _once(self, error: flint.arb, size: flint.arb) -> flint.arb:
        """An error with one rounding more; what is computed as exactly 0 stays that."""
        return arithmetic.ZERO if error == 0 else error + self.narrow.u * (size + error) + self.narrow.tiny

    def _of_integer(self, errors: arithmetic.PowersOfN, size: arithmetic.PowersOfN) -> arithmetic.PowersOfN:
        u = self.narrow.u
        return total([scaled(errors, 1 + u), scaled(size, u), {0: self.narrow.tiny}])


def is_taken_apart(form: closed_forms.ClosedForm) -> bool:
    """Whether every scan takes a closed form for a sum of powers of i times (-1)^i, and reads nothing.

    Forms with tests and digits are read from the stream, and so are those that, multiplied out, may have more
    than 16 terms or powers of i beyond 8.
    """
    return _terms(form) is not None


def _terms(form: closed_forms.ClosedForm) -> TermsAndPower | None:
    """At most how many terms the form has, and up to which power of i; None where that is too much."""
    match form:
        case closed_forms.Number(value):
            return (1 if value else 0), 0
        case closed_forms.Length() | closed_forms.Alternating():
            return 1, 0
        case closed_forms.Position():
            return 1, 1
        case closed_forms.Test() | closed_forms.Digits():
            return None
        case closed_forms.Sum(parts):
            found = [_terms(part) for part in parts]
            known = [own for own in found if own is not None]
            if len(known) < len(found):
                return None
            return sum(terms for terms, _ in known), max((power for _, power in known), default=0)
        case closed_forms.Product(parts):
            return _multiplied([_terms(part) for part in parts])
        case closed_forms.Power(base, exponent):
            own = _terms(base)
            if own is None or abs(exponent) > LARGEST_POWER or (exponent < 0 and own[0] != 1):
                return None
            return _multiplied([own] * abs(exponent))
        case _:
            assert_never(form)


def _multiplied(parts: Sequence[TermsAndPower | None]) -> TermsAndPower | None:
    terms, power = 1, 0
    for part in parts:
        if part is None:
            return None
        terms, power = terms * part[0], power + part[1]
        if terms > MOST_TERMS or power > LARGEST_POWER:  # also where a later part is 0: engines give up here
            return None
    return terms, power
