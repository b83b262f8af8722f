"""Caps s(n) on the range of a row of logits, as people write them: 8, 4 log n, n, 4n, n^1.5, n^2/16."""

from __future__ import annotations

import math
import re
from dataclasses import dataclass
from fractions import Fraction
from typing import final

from attemper.errors import OptionError

_NUMBER = r"\d{1,9}(?:\.\d{1,9}|/\d{1,9})?"
_POWER = r"\d{1,9}(?:\.\d{1,9})?"
"""Without a fraction: n^2/16 is a sixteenth of n^2."""

_CAP = re.compile(
    rf"(?P<factor>{_NUMBER})?\s*\*?\s*(?:(?P<log>log\s*n)|(?P<n>n)(?:\s*\^\s*(?P<power>{_POWER}))?)?"
    rf"(?:\s*/\s*(?P<divisor>{_NUMBER}))?"
)


@final
@dataclass(frozen=True)
class LogitRange:
    """s(n) = factor * ln n if `is_log`, else factor * n^power."""

    text: str
    factor: Fraction
    power: Fraction
    is_log: bool

    def at(self, length: int) -> float:
        """s(n), which is positive for n >= 2."""
        grown = math.log(length) if self.is_log else float(length) ** float(self.power)
        return float(self.factor) * grown


def parse_logit_range(text: str) -> LogitRange:
    """Read a cap: a number, `log n` (the natural logarithm), or a power of n; times or divided by a number.

    Raises `OptionError` for anything else, and for a cap that is not positive.

    >>> parse_logit_range("n^2/16").at(8), parse_logit_range("4 n^1.5").at(4)
    (4.0, 32.0)
    >>> round(parse_logit_range("4 log n").at(8), 4)
    8.3178
    """
    found = _CAP.fullmatch(text.strip())
    if found is None or not text.strip() or not any(found.group("factor", "log", "n")):
        raise OptionError(
            f"logit_range='{text}' is no growth in n: write for example 8, 4 log n (natural), n, 4n, n^1.5 "
            "or n^2/16",
            options=("logit_range",),
        )
    try:
        factor = Fraction(found["factor"] or 1) / Fraction(found["divisor"] or 1)
        power = Fraction(found["power"] or 1) if found["n"] else Fraction(0)
    except ZeroDivisionError:
        raise OptionError(f"logit_range='{text}' divides by 0", options=("logit_range",)) from None
    if factor <= 0 or power > MOST_POWER:
        raise OptionError(
            f"logit_range='{text}' must be positive, with a power of n of at most {MOST_POWER}",
            options=("logit_range",),
        )
    return LogitRange(text.strip(), factor, power, found["log"] is not None)


MOST_POWER = 16
"""No logits of compiled networks grow faster."""

TRIED = tuple(
    map(parse_logit_range, ("8", "4 log n", "n", "4n", "n^1.5", "n^2", "4n^2", "n^3", "4n^3", "n^4", "4n^4"))
)
"""The caps that are tried on each head alone, slower growths first."""
