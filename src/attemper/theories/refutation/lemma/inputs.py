"""Symbols as Hahn's bits: at a free position, 0 stands for the first of its two symbols, 1 for the other."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from attemper.errors import OptionError, UnsupportedError
from attemper.models.hard.protocol import HardModel
from attemper.theories.refutation.certificate.restrictions import Restriction, SymbolIndex

PartialAssignment = NDArray[np.int8]
"""Hahn's rho_n: for each input 0, 1 or FREE."""

FREE = -1


def two_symbols(model: HardModel) -> Restriction:
    """All positions free to have one of the alphabet's first two symbols, but for the end marker."""
    numbers = [k for k, symbol in enumerate(model.symbols) if symbol != model.ending][:2]
    ends = () if model.ending is None else ((model.symbols.index(model.ending),),)
    return Restriction((tuple(numbers),) * (model.length - len(ends)) + ends)


def require_bits(base: Restriction, length: int) -> None:
    """Raises `OptionError` for another length, `UnsupportedError` for more than two symbols at a position."""
    if len(base.allowed) != length:
        raise OptionError(
            f"the restriction is for words of length {len(base.allowed)}, and the model is for {length}"
        )
    wide = next((i for i, symbols in enumerate(base.allowed, start=1) if len(symbols) > 2), None)
    if wide is not None:
        raise UnsupportedError(
            f"the lemma is about bits: position {wide} has {len(base.allowed[wide - 1])} symbols; a "
            "restriction must leave one or two to each"
        )


def bits_of(base: Restriction, finer: Restriction | None = None) -> PartialAssignment:
    """A restriction of what `base` allows (None: `base` itself), as bits: FREE where it has two symbols.

    Where `base` has one symbol, its bit is 0. Raises `OptionError` if `finer` has others than `base`.

    >>> base = Restriction(((0, 1), (0, 1), (2,)))
    >>> bits_of(base).tolist(), bits_of(base, Restriction(((1,), (0, 1), (2,)))).tolist()
    ([-1, -1, 0], [1, -1, 0])
    """
    finer = base if finer is None else finer
    if len(finer.allowed) != len(base.allowed):
        raise OptionError(
            f"the restriction is for words of length {len(finer.allowed)}, not {len(base.allowed)}"
        )
    for i, (some, known) in enumerate(zip(finer.allowed, base.allowed, strict=True), start=1):
        if not set(some) <= set(known):
            raise OptionError(
                f"the restriction allows the symbol {max(set(some) - set(known))} at position {i}, which is "
                "fixed to another one already"
            )
    pairs = zip(finer.allowed, base.allowed, strict=True)
    return np.array([FREE if len(some) > 1 else known.index(some[0]) for some, known in pairs], dtype=np.int8)


def restriction_of(base: Restriction, bits: PartialAssignment) -> Restriction:
    """The restriction of `base` to the symbols that the bits stand for."""

    def chosen(symbols: tuple[SymbolIndex, ...], bit: int) -> tuple[SymbolIndex, ...]:
        return symbols if bit == FREE else (symbols[bit],)

    return Restriction(tuple(map(chosen, base.allowed, bits.tolist())))
