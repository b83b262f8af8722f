"""Floors on cross-entropies, from below, where one exchange of symbols changes log-odds by at most eps.

(Hahn 2020, Theorem 6, per pair of prefixes and without sampling error: `languages.sources.pairs` has the
least loss g(alpha, eps) of a pair. Its printed limit, the unigram level, is that of a query symbol; read at
x_n the limit is that of a table on x_n.) A source gives out prefixes, each given |w| >= its length, and the
model puts out the law of what follows. In this module n counts the model's positions: n symbols where it is
read at x_n, n - 1 symbols and the query symbol (or end marker) where it is read there. All floors are in
nats, as exact numbers that are not above them: `Fraction` or ball in, `flint.arb` out. A ball eps stands for
its greatest number.
"""

from __future__ import annotations

from enum import StrEnum
from fractions import Fraction
from typing import assert_never

import flint

from attemper.errors import OptionError
from attemper.exact.balls import ball, precision
from attemper.languages.sources import pairs
from attemper.languages.sources.bracket_levels import query_excess, type_excess
from attemper.languages.sources.entropies import PRECISION, softplus
from attemper.languages.sources.levels import optimum
from attemper.languages.sources.values import Brackets, Parity, Source, require_length

UpperBound = Fraction | flint.arb
"""A number from 0 on that a change is at most."""


class Readout(StrEnum):
    """Where a model says what follows: at the last symbol, or at a symbol of its own behind the prefix."""

    LAST = "x_n"
    QUERY = "query symbol"


def cross_entropy_floor(source: Source, n: int, eps: UpperBound, readout: Readout) -> flint.arb:
    """CE_n >= this for every model that one exchange changes by at most eps, for ALL prefixes; n >= 2.

    PARITY, both polarities: eps bounds the change of END's log-odds against 0 and 1 together when the symbol
    before the one that is read is exchanged; then G(eps) (`mean_least_loss`) at x_n and g(1/2, eps) +
    (1-p/2) ln 2 at a query symbol, for this n and, as g decreases, for every n where eps is a bound.
    2DYCK: eps bounds the change of logit(")") - logit("]") when one bracket is retyped; H_opt + q P_0 ln(1 +
    e^(-eps/2)) at x_n, H_opt + q (1-b) ln(1 + e^(-eps/2)) at a query symbol, for this n alone
    (`bracket_levels`). Proof: the pairs are a partition of the prefixes, so their floors' mean is one for
    CE_n. Raises `OptionError` for n below 2, an eps that is no bound or, for 2DYCK, an n too large.

    >>> half = Parity(Fraction(1, 2), odd=False)
    >>> cross_entropy_floor(half, 64, Fraction(1, 10), Readout.LAST).str(5, radius=False)
    '1.0525'
    """
    require_length(n, 2)
    is_query = readout is Readout.QUERY
    with precision(PRECISION):
        most = _greatest(eps)
        match source:
            case Parity(p):
                return (
                    pairs.query_least_loss(p, most) if is_query else pairs.mean_least_loss(p, most)
                ).lower()
            case Brackets():
                excess = query_excess(source, n - 1, most) if is_query else type_excess(source, n, most)
                return (optimum(source) + excess).lower()
            case _:
                assert_never(source)


def atypical(source: Parity, n: int, low: Fraction, high: Fraction, readout: Readout) -> flint.arb:
    """delta >= P(not T), from above, as an exact number; for this n >= 5 and for every greater one.

    T are the prefixes whose number of 1s is from low n to high n, and stays so when the symbol before the one
    that is read is exchanged: T is closed under that exchange. Statement: with theta = 2a(1-a),

        delta = e^(-2 r^2/(4n-9)) + e^(-2 s^2/(4n-9)),
        r = (theta-low) n - max(0, 3 theta - first - last),
        s = (high-theta) n - max(0, 1 + first + last - 3 theta),

    first = P(x_1 = 1) (1-a for parity-even, a for parity-odd), last = 1/2 at x_n and 0 at a query symbol; a
    summand is 1 where r or s is not positive. Proof: T holds if the count Y of 1s among the *other* symbols
    has low n <= Y <= high n - 1. Given |w| >= n, Y is a function of independent states s_1, ..., and x_t = 1
    where s_t differs from s_(t-1): each state is in two symbols of Y, those next to the exchanged symbol and
    the last state in one, so the squares of what they change sum to at most 4 (n-3) + 3 = 4n - 9. E Y = (n-3)
    theta + first + last. McDiarmid's inequality for each side is delta. As r = c n - d with d >= 0,
    r^2/(4n-9) increases from n = 5 on. (limits: around theta, low = theta - tau and high = theta + tau give
    about 2 e^(-n tau^2/2).)

    Raises `OptionError` if n is below 5, or theta is not between low and high.

    >>> half, theta = Parity(Fraction(1, 2), odd=False), Fraction(4, 9)
    >>> tau = Fraction(1, 10)
    >>> atypical(half, 4096, theta - tau, theta + tau, Readout.QUERY).str(2, radius=False)
    '2.7e-9'
    """
    require_length(n, 5)
    a = source.accepting_share
    theta, first = 2 * a * (1 - a), a if source.odd else 1 - a
    if not low < theta < high:
        raise OptionError(f"2a(1-a) = {theta} is not between {low} and {high}: choose a box around it")
    inner = first + (Fraction(1, 2) if readout is Readout.LAST else 0) - 3 * theta
    below = (theta - low) * n - max(Fraction(0), -inner)
    above = (high - theta) * n - max(Fraction(0), 1 + inner)
    with precision(PRECISION):
        return (_tail(below, n) + _tail(above, n)).min(flint.arb(1)).upper()


def typical_floor(source: Parity, eps: UpperBound, delta: UpperBound, readout: Readout) -> flint.arb:
    """CE_n >= G(eps) - delta max(e(a), e(1-a)), read at x_n, n >= 2.

    At a query symbol, n >= 2, CE_n >= g(1/2, eps) + (1-p/2) ln 2 - delta e(1/2). Both for a set T of prefixes
    with P(T) >= 1 - delta that is closed under exchanging the symbol before the one that is read (`atypical`
    has one), and a bound eps on the change of END's log-odds for all pairs in T; for every n where both hold.
    Never below H_opt. Proof: pairs outside T cost at least g(alpha, oo) instead of g(alpha, eps), which is no
    greater than g(alpha, 0), and e(alpha) = g(alpha, 0) - g(alpha, oo). With G(0) - H_opt in place of the e's
    it is false: at p = 1/2, a model that is exact after x_n = 0 (not T) and a table after x_n = 1 has the
    cross-entropy .953642, and that would say .964916. Raises `OptionError` for an eps or delta that is no
    bound.
    """
    p, a = source.p, source.accepting_share
    with precision(PRECISION):
        most, outside = _greatest(eps), _greatest(delta, "delta")
        match readout:
            case Readout.LAST:
                lost = outside * pairs.gain(p, a).max(pairs.gain(p, 1 - a))
                floor = pairs.mean_least_loss(p, most) - lost
            case Readout.QUERY:
                floor = pairs.query_least_loss(p, most) - outside * pairs.gain(p, Fraction(1, 2))
            case _:
                assert_never(readout)
        return floor.max(optimum(source)).lower()


def recogniser_floor(eps: UpperBound) -> flint.arb:
    """CE_n >= ln(1 + e^(-eps/2)) for a binary recogniser on PARITY, per word, words of one length uniform.

    eps bounds the change of the answer's log-odds when one symbol, the same for all words, is exchanged: C/n
    for every n >= n0, so that the floor tends to ln 2. For every n where eps is a bound. Proof: one of two
    such words is in the language and one is not, both as likely, so their mean loss is [sp(-y) + sp(y')]/2 >=
    sp((y'-y)/2) >= sp(-eps/2), sp(t) = ln(1 + e^t). (Hahn 2020, Lemma 5's consequence; the constant is ours.)
    Raises `OptionError` for what is no bound.

    >>> recogniser_floor(Fraction(0)).str(4, radius=False)
    '0.6931'
    """
    with precision(PRECISION):
        return softplus(-_greatest(eps) / 2).lower().max(flint.arb(0))


def margin_impossible_from(constant: Fraction, margin: Fraction, n0: int, *, enumerated: bool = False) -> int:
    """n* = max(n0, floor(C/(2m)) + 1, 2): at no n >= n* a language like PARITY is decided with margin m.

    If one exchange changes the score by at most C/n for ALL words of ALL n >= n0, and each n has two words,
    one exchange apart, of which one is in the language, then scores of at least m and at most -m need C/n >=
    2m. n counts the end marker, so that n = 1 has the empty word only, and nothing to exchange. With
    `enumerated` (all lengths below n0 were found to change by at most C/n, too) n0 does not matter. Raises
    `OptionError` unless C >= 0, m > 0 and n0 >= 1.

    >>> margin_impossible_from(Fraction(366), Fraction(1), 4096)
    4096
    >>> margin_impossible_from(Fraction(366), Fraction(1), 4096, enumerated=True)
    184
    """
    require_length(n0)
    if constant < 0 or margin <= 0:
        raise OptionError(f"C={constant}, m={margin}: C must be at least 0, and the margin above 0")
    needed = max(2, int(constant / (2 * margin)) + 1)
    return needed if enumerated else max(n0, needed)


def _greatest(value: UpperBound, name: str = "eps") -> flint.arb:
    """The greatest number in the ball, exactly. Raises `OptionError` for what bounds nothing."""
    return pairs.bound(name, value).upper()


def _tail(distance: Fraction, n: int) -> flint.arb:
    """e^(-2 distance^2/(4n-9)); 1 if the distance is not positive."""
    return (-ball(2 * max(Fraction(0), distance) ** 2 / (4 * n - 9))).exp()
