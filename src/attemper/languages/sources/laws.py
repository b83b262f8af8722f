"""What a source gives out, exactly: next symbols, how long words are. In rationals."""

from __future__ import annotations

from fractions import Fraction
from typing import assert_never

from attemper.errors import OptionError, WordError
from attemper.languages.sources.brackets import height_masses
from attemper.languages.sources.values import CLOSING, END, Brackets, Parity, Source, require_length
from attemper.languages.words import Word


def next_symbols(source: Source, prefix: Word) -> dict[str, Fraction]:
    """The law of what follows a prefix: the probability of each symbol, or of END, that can come.

    Raises `WordError` for what is a prefix of no word.

    >>> print(*next_symbols(Brackets(Fraction(1, 3)), ("(", "[")).items())
    ('(', Fraction(1, 6)) ('[', Fraction(1, 6)) (']', Fraction(2, 3))
    """
    match source:
        case Parity(p):
            _require_bits(prefix)
            if (prefix.count("1") % 2 == 1) is source.odd:
                return {"0": (1 - p) / 2, "1": (1 - p) / 2, END: p}
            return {"0": Fraction(1, 2), "1": Fraction(1, 2)}
        case Brackets(p):
            still_open = _still_open(prefix)
            forced = CLOSING[still_open[-1]] if still_open else END
            return {"(": p / 2, "[": p / 2, forced: 1 - p}
        case _:
            assert_never(source)


def survival(source: Source, n: int) -> Fraction:
    """P(|w| >= n), for n >= 0.

    PARITY, n >= 1: (1 - p/2)^(n-1), times 1 - p if the empty word is in the language (parity-even): the
    prefixes of length n are the sequences of states after 1, ..., n symbols, and the last one is free.
    2DYCK: the sum of the weights of all heights.

    Raises `OptionError` if n is negative or, for 2DYCK, beyond `brackets.LONGEST`.

    >>> print(survival(Parity(Fraction(1, 2), odd=False), 3), survival(Parity(Fraction(1, 2), odd=True), 3))
    9/32 9/16
    """
    require_length(n, 0)
    if n == 0:
        return Fraction(1)
    match source:
        case Parity(p):
            first = Fraction(1) if source.odd else 1 - p
            return first * (1 - p / 2) ** (n - 1)
        case Brackets():
            total = sum(mass for _, mass in height_masses(source, n))
            return Fraction(total, source.p.denominator**n)
        case _:
            assert_never(source)


def mean_length(source: Source) -> Fraction:
    """E|w|, the sum of P(|w| >= n) over n >= 1.

    2(1-p)/p for parity-even, 2/p for parity-odd, 2p/(1-2p) for 2DYCK: its word is empty or, with probability
    p, two brackets with a word of the same law inside and one behind them, so E|w| = p (2 + 2 E|w|). Raises
    `OptionError` for 2DYCK and p >= 1/2, where it is infinite.

    >>> print(*(mean_length(Parity(Fraction(1, 3), odd)) for odd in (False, True)))
    4 6
    """
    match source:
        case Parity(p):
            return 2 / p if source.odd else 2 * (1 - p) / p
        case Brackets(p):
            if 2 * p >= 1:
                raise OptionError(
                    f"p={p}: the mean length of dyck2 is infinite; choose p below 1/2", options=("p",)
                )
            return 2 * p / (1 - 2 * p)
        case _:
            assert_never(source)


def _require_bits(prefix: Word) -> None:
    for position, symbol in enumerate(prefix, 1):
        if symbol not in {"0", "1"}:
            raise WordError(f"'{symbol}' at position {position} is neither 0 nor 1", position=position)


def _still_open(prefix: Word) -> list[str]:
    """The open brackets that nothing closes, the last one at the end. Raises `WordError`."""
    still_open: list[str] = []
    for position, symbol in enumerate(prefix, 1):
        if symbol in CLOSING:
            still_open.append(symbol)
        elif not still_open or CLOSING[still_open.pop()] != symbol:
            raise WordError(f"'{symbol}' at position {position} closes nothing", position=position)
    return still_open
