"""Sources: words drawn at random, symbol by symbol, until END. Data, and their names."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import assert_never, final

from attemper.errors import OptionError

END = "END"
"""What a source gives out after the last symbol of a word."""


@final
@dataclass(frozen=True)
class Parity:
    """The words over 0 1 with evenly many 1s or, where `odd`, with oddly many, from a source of two states.

    A state is *accepting* if the word may end there. In it comes END with probability `p`, and each of 0 and
    1 with (1-p)/2; in the other state each of 0 and 1 with 1/2. (Hahn 2020, section 6, has the even words.)

    Raises `OptionError` if p is not between 0 and 1.
    """

    p: Fraction
    odd: bool

    def __post_init__(self) -> None:
        _require_probability(self.p)

    @property
    def accepting_share(self) -> Fraction:
        """a = (1-p)/(2-p): given |w| >= n, each of the states after 1, ..., n-1 symbols accepts with it."""
        return (1 - self.p) / (2 - self.p)


@final
@dataclass(frozen=True)
class Brackets:
    """2DYCK: well-nested words over ( ) and [ ].

    An opening bracket comes with probability `p`, p/2 for each kind; else, with q = 1 - p, the one symbol
    that can: the bracket that closes the last open one, or END where none is open. (Hahn 2020, section 6.)

    Raises `OptionError` if p is not between 0 and 1.
    """

    p: Fraction

    def __post_init__(self) -> None:
        _require_probability(self.p)

    @property
    def q(self) -> Fraction:
        """The probability of the forced symbol, 1 - p."""
        return 1 - self.p


Source = Parity | Brackets

NAMES = ("parity-even", "parity-odd", "dyck2")
"""What sources are called; that of PARITY says which words."""

CLOSING = {"(": ")", "[": "]"}
"""Each opening bracket with the one that closes it."""


def source_named(name: str, p: Fraction) -> Source:
    """The source of this name. Raises `OptionError` for any other name, and for p not between 0 and 1.

    >>> source_named("parity-odd", Fraction(1, 2))
    Parity(p=Fraction(1, 2), odd=True)
    """
    match name:
        case "parity-even" | "parity-odd":
            return Parity(p, odd=name == "parity-odd")
        case "dyck2":
            return Brackets(p)
        case _:
            raise OptionError(f"there is no source '{name}': choose one of {', '.join(NAMES)}")


def name_of(source: Source) -> str:
    """The source's name, which says the polarity.

    >>> name_of(Parity(Fraction(1, 2), odd=False))
    'parity-even'
    """
    match source:
        case Parity(odd=odd):
            return "parity-odd" if odd else "parity-even"
        case Brackets():
            return "dyck2"
        case _:
            assert_never(source)


def require_length(n: int, least: int = 1) -> None:
    """Raises `OptionError` if n is no number of symbols from `least` on."""
    if type(n) is not int or n < least:
        raise OptionError(
            f"n={n!r} is no length here: give a number of symbols from {least} on", options=("n",)
        )


def _require_probability(p: Fraction) -> None:
    if not isinstance(p, Fraction) or not 0 < p < 1:
        raise OptionError(
            f"p={p} is not a fraction between 0 and 1 (and neither of them), such as 1/2", options=("p",)
        )
