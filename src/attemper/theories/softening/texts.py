"""What users write about a hard network: gaps and magnitudes, and of which head or layer."""

from __future__ import annotations

import re
from fractions import Fraction

from attemper.errors import OptionError
from attemper.exact.monomials import Monomial

_MONOMIAL = re.compile(r"(?P<factor>\d{1,400}(?:/\d{1,400})?)?\s*\*?\s*(?P<n>n(?:\^(?P<power>-?\d{1,2}))?)?")
_HEAD = re.compile(r"(\d+)\.(\d+)")

EXAMPLES = "write it as a number times a power of n: '1/2', 'n^-1' or '3 n^2'"


def monomial(text: str, argument: str) -> Monomial:
    """A number times a power of n, read exactly. Raises `OptionError`.

    >>> monomial("1/2 n^-1", "gaps")
    Monomial(factor=Fraction(1, 2), power=-1)
    >>> monomial("3n", "magnitudes"), monomial("2", "gaps").power
    (Monomial(factor=Fraction(3, 1), power=1), 0)
    """
    match = _MONOMIAL.fullmatch(text.strip())
    if match is None or not match[0]:
        raise OptionError(f"'{argument}': '{text[:80]}' is no monomial; {EXAMPLES}", options=(argument,))
    try:
        factor = Fraction(match["factor"] or 1)
    except ZeroDivisionError:
        factor = Fraction(0)
    if not factor:
        raise OptionError(f"'{argument}': '{text}' is not more than 0; {EXAMPLES}", options=(argument,))
    power = 0 if match["n"] is None else int(match["power"] or 1)
    return Monomial(factor, power)


def gap_of(name: str, text: str) -> tuple[tuple[int, int], Monomial]:
    """A head, as "0.1" (layer 0, head 1), and its gap. Raises `OptionError`.

    >>> gap_of("0.1", "1/2 n^-1")[0]
    (0, 1)
    """
    match = _HEAD.fullmatch(name.strip())
    if match is None:
        raise OptionError(
            f"'gaps': '{name}' names no head; write 0.1 for head 1 of layer 0", options=("gaps",)
        )
    gap = monomial(text, "gaps")
    if gap.power > 0:
        raise OptionError(
            f"'gaps': '{text}' grows with n; a smaller gap that does not is as good for n >= 1",
            options=("gaps",),
        )
    return (int(match[1]), int(match[2])), gap


def magnitude_of(name: str, text: str) -> tuple[int, Monomial]:
    """A layer, and a bound on what it reads. Raises `OptionError`."""
    if not name.strip().isdecimal():
        raise OptionError(
            f"'magnitudes': '{name}' names no layer; write 0 for the first", options=("magnitudes",)
        )
    return int(name), monomial(text, "magnitudes")


def said_in(texts: list[str] | None, argument: str) -> dict[str, str]:
    """NAME=TEXT for each. Raises `OptionError`.

    >>> said_in(["0.1=1/2 n^-1"], "gaps")
    {'0.1': '1/2 n^-1'}
    """
    found = {}
    for text in texts or []:
        name, equals, value = text.partition("=")
        if not equals:
            raise OptionError(
                f"'{argument}': '{text}' has no '='; write NAME=MONOMIAL, and {EXAMPLES}", options=(argument,)
            )
        found[name] = value
    return found
