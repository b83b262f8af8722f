"""A restriction: which symbols each position of a word may have. Data only.

Hahn's rho: {1..n} -> {*, 0, 1} with symbols in the place of bits: a position is *fixed* if it may have one
symbol only, and *free* if it may have several.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from math import prod
from typing import final

from attemper.exact.codec import Natural

SymbolIndex = Natural
"""The number of a symbol of the model's alphabet."""


@final
@dataclass(frozen=True)
class Restriction:
    """The words w with w_i in allowed[i - 1] for all i; the numbers of symbols ascend, and are not empty.

    >>> Restriction(((0, 1), (1,))).free
    (1,)
    """

    allowed: tuple[tuple[SymbolIndex, ...], ...]

    def __post_init__(self) -> None:
        for position, symbols in enumerate(self.allowed, start=1):
            if not symbols or list(symbols) != sorted(set(symbols)) or symbols[0] < 0:
                raise ValueError(f"position {position} must have some symbols, each once, in ascending order")

    @property
    def free(self) -> tuple[int, ...]:
        """The free positions, from 1."""
        return tuple(i for i, symbols in enumerate(self.allowed, start=1) if len(symbols) > 1)

    @property
    def size(self) -> int:
        """How many words there are."""
        return prod(map(len, self.allowed))


def fixed(restriction: Restriction, symbols: Mapping[int, SymbolIndex]) -> Restriction:
    """The restriction with some positions fixed, too. Raises ValueError if a symbol is not allowed there.

    Hahn's Lemma 10: what a restriction forces, one that fixes more does as well.

    >>> fixed(Restriction(((0, 1), (0, 1))), {2: 1})
    Restriction(allowed=((0, 1), (1,)))
    """
    allowed = list(restriction.allowed)
    for position, symbol in symbols.items():
        if not 1 <= position <= len(allowed) or symbol not in allowed[position - 1]:
            raise ValueError(f"position {position} may not have the symbol {symbol}")
        allowed[position - 1] = (symbol,)
    return Restriction(tuple(allowed))
