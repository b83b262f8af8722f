"""Linear forms of coordinates as text, for reading."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from fractions import Fraction

from attemper.networks.layers import LinearForm


def form_text(form: LinearForm, at: str = "") -> str:
    """The form, with each coordinate followed by `at`.

    >>> form_text(((0, Fraction(-8)), (5, Fraction(1))), "(j)")
    '-8 x0(j) + x5(j)'
    """
    return sum_text(parts_of(form, at))


def parts_of(form: LinearForm, at: str = "", name: str = "x") -> list[tuple[str, Fraction]]:
    """The coordinates' names with their factors."""
    return [(f"{name}{coordinate}{at}", factor) for coordinate, factor in form]


def sum_text(parts: Sequence[tuple[str, Fraction]], show: Callable[[Fraction], str] = str) -> str:
    """A sum of factors times things, each factor as `show` has it; the thing without a name is 1."""
    text = ""
    for thing, factor in parts:
        if factor == 0:
            continue
        size = abs(factor)
        shown = " ".join(part for part in (show(size) if size != 1 or not thing else "", thing) if part)
        if text:
            text += f" - {shown}" if factor < 0 else f" + {shown}"
        else:
            text = f"-{shown}" if factor < 0 else shown
    return text or "0"
