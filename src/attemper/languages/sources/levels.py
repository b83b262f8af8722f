"""Cross-entropies of the next symbol after PARITY's prefixes, by what is known of the prefix; in balls, nats.

Given |w| >= n the state after n symbols accepts with probability 1/2, and those after 1, ..., n-1 symbols do
independently with a = (1-p)/(2-p), whatever the polarity is: a prefix's weight is 2^-n times 1-p for each
accepting state before the last (supplementing Hahn 2020, section 6). What follows is END with p times the
probability that the last state accepts, else each of 0 and 1 as likely. So all levels are those of both
polarities, where the prefix is longer than what is known of it.
"""

from __future__ import annotations

from math import comb
from typing import assert_never

import flint

from attemper.errors import OptionError
from attemper.exact.balls import ball, precision
from attemper.languages.sources.entropies import PRECISION, entropy, inner_entropy
from attemper.languages.sources.values import Brackets, Parity, Source

LONGEST_WINDOW = 1000
"""No levels of more than so many last symbols."""


def optimum(source: Source) -> flint.arb:
    """H_opt, in nats: the loss of whoever knows the whole prefix, given |w| >= n, for every n >= 1.

    PARITY: h(p)/2 + (1 - p/2) ln 2. 2DYCK: h(p) + p ln 2, after every prefix.

    >>> from fractions import Fraction
    >>> optimum(Parity(Fraction(1, 2), odd=True)).str(6, radius=False)
    '0.866434'
    """
    with precision(PRECISION):
        match source:
            case Parity(p):
                return entropy(p) / 2 + _bits_left(source)
            case Brackets(p):
                return entropy(p) + ball(p) * flint.arb.const_log2()
            case _:
                assert_never(source)


def last_symbols(source: Parity, k: int) -> flint.arb:
    """The loss of whoever knows the last k symbols, in nats: for every n > k, and for k = 0 from n = 1 on.

    With j of the k states before the last symbols equal to the last state, which accepts with

        alpha_j = a^j (1-a)^(k-j) / (a^j (1-a)^(k-j) + a^(k-j) (1-a)^j),

    the level is (1 - p/2) ln 2 + sum_j P(j) h(alpha_j p). H_uni = h(p/2) + (1 - p/2) ln 2 is that of k = 0
    (Hahn's unigram level: a query symbol), H_bi that of k = 1 (a table on x_n). Windows, and convolutions
    without pooling, reach it. Raises `OptionError` if k is negative or beyond `LONGEST_WINDOW`.

    >>> from fractions import Fraction
    >>> source = Parity(Fraction(1, 2), odd=False)
    >>> [last_symbols(source, k).str(4, radius=False) for k in (0, 1, 10)]
    ['1.082', '1.063', '0.9625']
    """
    if type(k) is not int or not 0 <= k <= LONGEST_WINDOW:
        raise OptionError(
            f"k={k!r} is no number of last symbols from 0 to {LONGEST_WINDOW:,}", options=("k",)
        )
    with precision(PRECISION):
        p, a, rest = (ball(share) for share in (source.p, source.accepting_share, 1 - source.accepting_share))
        level = _bits_left(source)
        for j in range(k + 1):
            accepts, rejects = a**j * rest ** (k - j), a ** (k - j) * rest**j
            both = accepts + rejects
            level += comb(k, j) * both / 2 * inner_entropy(p * accepts / both)
        return level


def _bits_left(source: Parity) -> flint.arb:
    """(1 - p/2) ln 2: the loss on which of 0 and 1 comes, if END does not."""
    return ball(1 - source.p / 2) * flint.arb.const_log2()
