"""GELU on forms: Taylor's polynomial where a form is narrow, ReLU's line where it is wide.

**Tables.** [-REACH, REACH] is cut into cells with middles m = k / CELLS, |x - m| <= w = 1 / (2 CELLS). For
each, Arb encloses the Taylor coefficients a_j of f at m, and those A_j at all points of the cell. By Taylor's
theorem for f^(i) / i! there is, for each x in the cell, a number A in A_n with

    f^(i)(x) / i! = sum_(j = i)^(n - 1) C(j, i) a_j (x - m)^(j - i) + C(n, i) A (x - m)^(n - i).

**Narrow forms.** If |x - c| <= t there is a number B, f^(3) / 3! at a point between x and c, with

    f(x) = f(c) + f'(c) (x - c) + f^(2)(c) / 2! (x - c)^2 + B (x - c)^3.

f(c), f'(c) and f^(2)(c) / 2! are the polynomials' values, and |B| is at most the greatest of all cells that
[c - t, c + t] meets.

**Wide forms.** relu(x) - f(x) = h(|x|) with h(x) = x tail(x), where the tail is 1 - Phi(x) for GELU, and for
the other form 1 / (1 + e^u(x)), u(x) = 2 sqrt(2 / pi) (x + 0.044715 x^3): both are even, as f(x) - f(-x) = x.
So f is within h / 2 of relu(x) - h / 2, h at least all h(|x|), and `forms.lines_at_relu` has ReLU. From x = 2
on h falls, as its derivative is negative: 1 - Phi(x) - x phi(x) by 1 - Phi(x) < phi(x) / x; and
(1 + e^u (1 - x u')) / (1 + e^u)^2, where x u' > 3. So beyond REACH it is at most what it is there.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from math import comb
from typing import final

import flint
import numpy as np

from attemper.exact.balls import precision
from attemper.models.arrays import Floats, Integers
from attemper.models.enclosures import forms
from attemper.models.soft.activations import Activation, series_of

REACH, CELLS = 8, 32

TERMS = 14
"""n, how many coefficients make a polynomial."""

ORDERS = 4
"""What is known of f and its first three derivatives, each divided by its factorial."""


@final
@dataclass(frozen=True, eq=False)
class SmoothTable:
    """What is known of an activation f in each of K cells.

    `polynomials` (3, K, n) are the coefficients for f, f' and f^(2) / 2!, and `errors` (3, K) how far these
    functions are from what `at` computes. `bent` (K, K) is at least |f^(3) / 3!| from one cell to another
    one, and `gaps` at least relu - f so many cells away from 0, and further.
    """

    polynomials: Floats
    errors: Floats
    bent: Floats
    gaps: Floats

    def at(self, order: int, places: Floats, cells: Integers) -> Floats:
        """The function of this order at places in cells, about.

        The distance from a cell's middle is exact: both are within a factor 2, or the middle is 0.
        """
        away = places - (cells - REACH * CELLS) / CELLS
        found = np.zeros_like(away)
        for coefficients in self.polynomials[order].T[::-1]:
            found = found * away + coefficients[cells]
        return found


def smoothed(form: forms.Form, activation: Activation, most: int) -> forms.Form:
    """f(x), for units x of shape (d, P, B); the `most` with the greatest rests in a box get noise symbols.

    Their numbers come after those of the form's symbols.
    """
    table, low, high = table_of(activation), form.least, form.greatest
    is_known = (low >= -REACH) & (high <= REACH)
    centre, reach = (np.where(is_known, own, 0.0) for own in (form.centre, form.radius))
    cells = cells_of(centre)
    value, slope, curve = (table.at(order, centre, cells) for order in range(ORDERS - 1))
    away = forms.uncentred(form)
    narrow = (away * away.scaled(curve).plus(slope)).plus(value)
    errors, bent = table.errors[:, cells], table.bent[cells_of(low), cells_of(high)]
    off = forms.upward(errors[0] + reach * (errors[1] + reach * (errors[2] + reach * bent)), 8)
    line, bend = forms.lines_at_relu(form, forms.Signs(low >= 0, high <= 0))
    gap = table.gaps[cells_of(np.maximum(np.maximum(low, -high), 0)) - REACH * CELLS] * 0.5
    wide = form.scaled(line).plus(bend - gap)
    rest = forms.upward(bend + gap + forms.GAMMA * np.abs(bend - gap), 4)
    is_narrow = is_known & (off < rest)
    weight = np.where(is_narrow, off, rest)
    units = forms.widest(weight, np.ones_like(is_narrow), most)
    first = max(len(form.parts), 1 + sum(form.frame.sizes))
    return forms.with_symbols(wide.chosen(is_narrow, narrow), weight, units, first)


def cells_of(places: Floats) -> Integers:
    """The cells in which places are; of those beyond all cells the last ones, and of no number any."""
    known = np.nan_to_num(np.clip(places, -REACH, REACH))
    return np.asarray(np.rint(known * CELLS).astype(np.int64) + REACH * CELLS)


@cache
def table_of(activation: Activation) -> SmoothTable:
    """The table of GELU or its other form. Raises ValueError for ReLU."""
    count = 2 * REACH * CELLS + 1
    polynomials = np.zeros((ORDERS, count, TERMS))
    errors, most = np.zeros((2, ORDERS, count))
    with precision(128):
        half = flint.arb(1) / (2 * CELLS)
        for cell in range(count):
            middle = (flint.arb(cell) - REACH * CELLS) / CELLS
            at, around = (series_of(activation, own, TERMS + 1) for own in (middle, flint.arb(middle, half)))
            for order in range(ORDERS):
                size = off = comb(TERMS, order) * abs(around[TERMS]) * half ** (TERMS - order)
                for power in range(TERMS - order):
                    exact = at[order + power] * comb(order + power, order)
                    rounded = polynomials[order, cell, power] = float(exact.mid())
                    off += abs(exact - rounded) * half**power
                    size += abs(exact) * half**power
                # Horner's rule makes less than 2 TERMS roundings.
                errors[order, cell] = _above(off + 2 * TERMS * forms.GAMMA * (size + off))
                most[order, cell] = _above(size)
    bent = np.zeros((count, count))
    for cell in range(count):
        bent[cell, cell:] = np.maximum.accumulate(most[-1, cell:])
    gaps = np.maximum.accumulate(most[0, : REACH * CELLS + 1])[::-1]
    return SmoothTable(polynomials[:-1], errors[:-1], bent, gaps)


def _above(value: flint.arb) -> float:
    """A float64 number that is at least the ball's numbers."""
    return float(np.nextafter(float(value.upper()), np.inf))
