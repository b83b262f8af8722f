"""A bound on what one symbol can change in an encoder: searched, with what follows, and checked."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from math import ceil
from pathlib import Path
from typing import final

import numpy as np

from attemper.certificates.limits import (
    Consequence,
    FrequencyBound,
    Functional,
    NoMargin,
    OneSymbolBound,
    RecogniserFloor,
    SourceFloor,
    TableBound,
)
from attemper.certificates.limits import save as save_bound
from attemper.checker.limit_claims import check_limit
from attemper.checker.verdict import Verdict
from attemper.encoders.weights import Encoder, Mask, NoPositions
from attemper.errors import OptionError, UnsupportedError
from attemper.languages.sources.values import Parity

DIGITS = 6
"""How many significant digits a constant keeps, rounded up, so that it is said as it is proved."""


@final
@dataclass(frozen=True)
class Typical:
    """Words whose frequency of 1s is within `tau` of the source's."""

    source: Parity
    tau: Fraction

    @property
    def side(self) -> tuple[Fraction, Fraction]:
        """From which to which share of the n positions has a 1."""
        a = self.source.accepting_share
        middle = 2 * a * (1 - a)
        return max(Fraction(0), middle - self.tau), min(Fraction(1), middle + self.tau)


@final
@dataclass(frozen=True, repr=False)
class Limit:
    """What a search for a bound found, and what the independent checker says to that.

    `bound` and `verdict` are None where nothing finite was found, for the `reason` that is named. `measured`
    is n times the greatest change that was found, over all words, at a few lengths: no constant is below it.
    """

    bound: OneSymbolBound | None
    verdict: Verdict | None
    reason: str
    measured: tuple[tuple[int, float], ...]
    leaves: int
    seconds: float
    interrupted: bool = False

    def __repr__(self) -> str:
        if self.bound is None or self.verdict is None:
            return f"<Limit: no bound after {self.seconds:.1f} s>"
        return f"<Limit: {self.verdict.status}, {self.verdict.claims[0].text}>"

    def save(self, path: str | Path) -> None:
        """Write the bound to a file for `attemper check`.

        Raises `OptionError` if there is none, and `MalformedFileError` if writing fails.
        """
        if self.bound is None:
            raise OptionError(f"there is no bound to save: {self.reason}")
        save_bound(self.bound, Path(path))


def rounded_up(value: float) -> Fraction:
    """The least decimal with `DIGITS` significant digits that is not below a positive number.

    >>> rounded_up(366.1234567), rounded_up(0.02137)
    (Fraction(91531, 250), Fraction(2137, 100000))
    """
    exact = Fraction(value)
    if not exact:
        return exact
    places = DIGITS - 1 - np.floor(np.log10(value)).astype(int).item()
    scale = Fraction(10) ** places
    return ceil(exact * scale) / scale


def functionals_of(encoder: Encoder) -> tuple[Functional, ...]:
    """The differences of END and every other output, where one is named END; else each output alone."""
    count = len(encoder.outputs)
    if "END" not in encoder.outputs:
        return tuple(tuple(int(k == row) for k in range(count)) for row in range(count))
    ending = encoder.outputs.index("END")
    others = (row for row in range(count) if row != ending)
    return tuple(tuple((k == ending) - (k == other) for k in range(count)) for other in others)
