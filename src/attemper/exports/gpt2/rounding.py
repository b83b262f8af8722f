"""How far a GPT-2 reads its stream off, in a format: every bound is a rational number.

Let u be the roundoff of the format, L its least normal number, D the width of the stream and g = 2^50 the
gain of its norms. Write S_c for a bound on coordinate c as it stands in the stream, with what rounding has
done to it, and A = 2 sum_c S_c + 2 for the sum of the absolute values of all columns. |theta_k| stands for
any product of k roundings less 1; it is at most G(k) = k u / (1 - k u).

Mean. Twins add up to 0 but for what each of them is off, so that a norm takes off rounding and noise alone:
the mean of the columns as they stand is at most 2 sum_c noise_c / D. Summed in any order, by blocks or by
Welford's updates, a mean of D numbers whose absolute values add up to A is off by (D + 8) u A / D in the
first order (Welford: at step k the difference to the mean so far is rounded, times 1/k, which is rounded,
and added; that is 3 u |difference| / k + u |mean|, of which k/D is left in the end, and k |mean| <= A).
Twice that covers the higher orders while (D + 8) u <= 1/8: |m| <= M = 2 (D + 8) u A / D + 2 sum noise / D.

Norm. A number y of column x is (x - m)(1 + theta_4) - the class of FORMAT.md, section 11, scale included -
and below the normal range it loses up to L in x/g, in m/g and in their difference: 3 g L in y.

Read. A form sum_c w_c x_c + b with K terms is a sum of 2 K products w_c/2 y and -w_c/2 y' and of b, added up
in any order: m falls out, and what is left is at most

    G(2 K + 6) (sum_c |w_c| (S_c + M) + |b|) + 2 sum_c (3 g L |w_c| + 2 L (1 + S_c + M)).

The last sum is what is lost below the normal range: in the norm, in w_c/2 and in the products; the 2 before
it covers how the lost parts are rounded themselves.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import final

from attemper.errors import UnsupportedError
from attemper.exact.formats import FloatFormat
from attemper.exports.gpt2.layout import GAIN
from attemper.exports.gpt2.sizes import size_of
from attemper.networks.layers import LinearForm


@final
@dataclass(frozen=True)
class ReadBounds:
    """What stands in the stream before a sublayer, and what reading does to it.

    `sizes` bound each coordinate in real arithmetic, `noise` what it is off in a GPT-2 of `width` columns.
    """

    form: FloatFormat
    width: int
    real: Sequence[Fraction]
    noise: Sequence[Fraction]

    @cached_property
    def sizes(self) -> list[Fraction]:
        """S: bounds on the coordinates as they stand in the stream."""
        return [real + noise for real, noise in zip(self.real, self.noise, strict=True)]

    @cached_property
    def mean(self) -> Fraction:
        """M: how much a norm may take off."""
        total = 2 * sum(self.sizes, Fraction(1))
        off = sum(self.noise, Fraction(0))
        return 2 * ((self.width + 8) * self.form.roundoff * total + off) / self.width

    def size(self, form: LinearForm, bias: Fraction) -> Fraction:
        """A bound on what is formed when a form is read: sum |w| (S + M) + |b|."""
        return abs(bias) + sum(
            (abs(factor) * (self.sizes[coordinate] + self.mean) for coordinate, factor in form), Fraction(0)
        )

    def read(self, form: LinearForm, bias: Fraction = Fraction(0)) -> Fraction:
        """How far a form is read off the stream that stands there."""
        lost = sum(
            (
                3 * GAIN * abs(factor) + 2 * (1 + self.sizes[coordinate] + self.mean)
                for coordinate, factor in form
            ),
            Fraction(0),
        )
        rounded = relative(2 * len(form) + 6, self.form) * self.size(form, bias) if form else Fraction(0)
        return rounded + 2 * self.form.least_normal * lost

    def off(self, form: LinearForm, bias: Fraction = Fraction(0)) -> Fraction:
        """How far a form is read off what it is in real arithmetic."""
        return self.read(form, bias) + size_of(form, self.noise)


def relative(count: int, form: FloatFormat) -> Fraction:
    """G: what so many roundings make of a number, in proportion to the number.

    Raises `UnsupportedError` for more of them than 1/8 of the inverse roundoff.

    >>> from attemper.exact.formats import FLOAT32
    >>> relative(4, FLOAT32) == Fraction(4, 2**24 - 4)
    True
    """
    if count * form.roundoff > Fraction(1, 8):
        raise UnsupportedError(
            f"{count:,} roundings in {form.name} leave no digit of a number: give fewer positions, "
            "or export in a wider format"
        )
    return count * form.roundoff / (1 - count * form.roundoff)
