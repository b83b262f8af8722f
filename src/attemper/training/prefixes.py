"""Prefixes of sources as tokens, with the law of what follows each symbol, and partners at one exchange.

The tokens are the source's symbols in the order of `symbols_of`, then the start, which stands before every
prefix; outputs are the symbols, then END.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import assert_never, final

import torch
from torch import Tensor

from attemper.languages.sources.laws import next_symbols
from attemper.languages.sources.sampling import sample
from attemper.languages.sources.values import CLOSING, END, Brackets, Parity, Source
from attemper.languages.words import Word


def symbols_of(source: Source) -> tuple[str, ...]:
    """The source's symbols, in the order of tokens."""
    match source:
        case Parity():
            return ("0", "1")
        case Brackets():
            return ("(", ")", "[", "]")
        case _:
            assert_never(source)


def states(source: Source, prefix: Word) -> list[int]:
    """Of each prefix of this one, from the empty one on, the row of `laws` that says what follows.

    PARITY: 1 where the word may end, else 0. 2DYCK: 1 or 2 for the bracket that is to be closed next, else 0.

    >>> from fractions import Fraction
    >>> states(Parity(Fraction(1, 2), odd=False), ("0", "1"))
    [1, 1, 0]
    """
    match source:
        case Parity(odd=odd):
            ones, found = 0, [int(not odd)]
            for symbol in prefix:
                ones += symbol == "1"
                found.append(int((ones % 2 == 1) is odd))
            return found
        case Brackets():
            number = {symbol: state for state, symbol in enumerate(CLOSING, 1)}
            stack, found = [0], [0]
            for symbol in prefix:
                if symbol in number:
                    stack.append(number[symbol])
                else:
                    stack.pop()
                found.append(stack[-1])
            return found
        case _:
            assert_never(source)


def laws(source: Source) -> Tensor:
    """The probabilities of the outputs [state, output], in float64, by the states of `states`."""
    match source:
        case Parity(odd=odd):
            accepted, rejected = (("1",), ()) if odd else ((), ("1",))
            examples: list[Word] = [rejected, accepted]
        case Brackets():
            examples = [(), *((symbol,) for symbol in CLOSING)]
        case _:
            assert_never(source)
    outputs = (*symbols_of(source), END)
    rows = [next_symbols(source, prefix) for prefix in examples]
    return torch.tensor([[float(row.get(name, 0)) for name in outputs] for row in rows], dtype=torch.float64)


def odds_of(source: Source) -> tuple[int, tuple[int, ...]]:
    """The output, and those it is held against, whose log-odds tell a prefix from its partner.

    PARITY: END against both symbols. 2DYCK: one closing bracket against the other.

    >>> from fractions import Fraction
    >>> odds_of(Parity(Fraction(1, 2), odd=False)), odds_of(Brackets(Fraction(2, 5)))
    ((2, (0, 1)), (1, (3,)))
    """
    match source:
        case Parity():
            return len(symbols_of(source)), (0, 1)
        case Brackets():
            first, second = (symbols_of(source).index(symbol) for symbol in CLOSING.values())
            return first, (second,)
        case _:
            assert_never(source)


def tokens_of(source: Source, prefixes: Sequence[Word]) -> Tensor:
    """Prefixes of one length as tokens [batch, position], the start before each."""
    number = {symbol: k for k, symbol in enumerate(symbols_of(source))}
    start = len(number)
    return torch.tensor([[start, *(number[symbol] for symbol in word)] for word in prefixes])


@final
@dataclass(frozen=True)
class Prefixes:
    """Prefixes of n symbols: `tokens` [batch, n + 1] and the `law` of what follows [batch, n + 1, output]."""

    words: tuple[Word, ...]
    tokens: Tensor
    law: Tensor


def drawn_prefixes(source: Source, n: int, count: int, seed: int) -> Prefixes:
    """Prefixes of n symbols, by their law given |w| >= n. Raises what `sample` raises."""
    return with_laws(source, sample(source, n, count, seed))


def with_laws(source: Source, words: Sequence[Word]) -> Prefixes:
    """Prefixes of one length, as they are learned and judged."""
    rows = torch.tensor([states(source, word) for word in words])
    return Prefixes(tuple(words), tokens_of(source, words), laws(source)[rows])


def partner(source: Source, prefix: Word) -> Word | None:
    """The prefix of the same length at one exchange, from which a model that reads x_n has to tell this one.

    PARITY, n >= 2: x_(n-1) is exchanged, which turns what is accepted and leaves x_n. 2DYCK: the open bracket
    that is to be closed next becomes one of the other kind. None where there is no such symbol.

    >>> from fractions import Fraction
    >>> "".join(partner(Brackets(Fraction(1, 3)), tuple("[]([")))
    '[](('
    """
    match source:
        case Parity():
            if len(prefix) < 2:
                return None
            other = "0" if prefix[-2] == "1" else "1"
            return (*prefix[:-2], other, prefix[-1])
        case Brackets():
            still_open: list[int] = []
            for place, symbol in enumerate(prefix):
                if symbol in CLOSING:
                    still_open.append(place)
                else:
                    still_open.pop()
            if not still_open:
                return None
            place = still_open[-1]
            return (*prefix[:place], "[" if prefix[place] == "(" else "(", *prefix[place + 1 :])
        case _:
            assert_never(source)
