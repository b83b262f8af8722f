"""Temperatures for any average-hard network, with a certificate: by rules, as given, or word by word.

Nothing here is believed by anybody: the checker derives every error from the weights again.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from fractions import Fraction
from typing import final

from attemper.certificates.approximations import (
    Approximation,
    ClosedForm,
    Enumerated,
    Evidence,
    GapBy,
    HeadGap,
    LayerError,
    Monomial,
)
from attemper.certifying.softening.rounding_layer import ROOM, with_rounding
from attemper.certifying.softening.temperatures import (
    Temperatures,
    colder_than_a_gap,
    least_coldness,
    least_integer,
    softened,
)
from attemper.checker.names import UnprovenError
from attemper.checker.softening.closed_form import errors_of
from attemper.checker.softening.by_rule import known_by_rule
from attemper.checker.softening.elementwise import Budget
from attemper.checker.softening.enumeration import MOST_WORDS, Examined, examine, reach
from attemper.checker.softening.hard import hardened, uniform_heads
from attemper.errors import OptionError, UnprovedError, UnsupportedError
from attemper.exact.closed_forms import ONE, ClosedForm as Form
from attemper.exact.closed_forms import number
from attemper.networks.layers import HardWeighting, Network

COLDEST = Fraction(2**100)
"""Temperatures are not looked for below the reciprocal."""

MOST_C, MOST_K = 2**40, 64
"""Nor are larger c and k."""


@final
@dataclass(frozen=True)
class Asked:
    """What is asked: lengths, what somebody says of the network, and how many words may be tried.

    `gaps` are by layer and head, `magnitudes` by layer.
    """

    epsilon: Fraction
    first: int = 1
    up_to: int | None = None
    gaps: Mapping[tuple[int, int], Monomial] = field(default_factory=dict)
    magnitudes: Mapping[int, Monomial] = field(default_factory=dict)
    words: int = MOST_WORDS
    rounded: bool = False
    report: Callable[[str], None] = lambda _: None


@final
@dataclass(frozen=True)
class Softening:
    """A softmax network, the hard one that it is close to, and why.

    `examined` has what was seen of all words of some lengths; `unruled` the first head that fits no rule.
    """

    soft: Network
    hard: Network
    evidence: Evidence
    first: int
    last: int | None
    epsilon: Fraction
    examined: tuple[Examined, ...]
    unruled: str
