"""Cross-entropies of what follows 2DYCK's prefixes: how far above the optimum, in balls and nats.

The optimum is h(p) + p ln 2 after every prefix, for whether an opening bracket comes, and which; all excess
is about the *forced* symbol, which comes with q = 1-p: END or one of two closing brackets. Each function
gives the excess over the optimum after n symbols, given |w| >= n, or its limit over even or odd n (where n is
`LengthParity.EVEN` or `LengthParity.ODD`). rho = p/q; b is the probability of height 0, P_0 that of a height
above 0 after an x_n that closes. (Hahn 2020, section 6, has the type floor; the others are ours.)
"""

from __future__ import annotations

from enum import StrEnum
from fractions import Fraction

import flint

from attemper.exact.balls import ball, precision
from attemper.languages.sources import brackets
from attemper.languages.sources.entropies import PRECISION, entropy, softplus
from attemper.languages.sources.pairs import bound, least_loss
from attemper.languages.sources.values import Brackets


class LengthParity(StrEnum):
    """The limit over all even, or over all odd lengths."""

    EVEN = "even"
    ODD = "odd"


BLOCKS = 300
"""So many terms of a series over blocks are added up; the rest is bounded."""


def type_excess(
    source: Brackets, n: int | LengthParity, eps: Fraction | flint.arb = Fraction(0)
) -> flint.arb:
    """q P_0 ln(1 + e^(-eps/2)), in nats, n >= 1: for eps = 0, q P_0 ln 2. (Hahn 2020, section 6.)

    Retyping the open bracket that comes next to be closed is one exchange between prefixes of the same
    weight. If it changes logit(")") - logit("]") by at most eps, the two losses on which of them comes have a
    mean of at least [sp(-d) + sp(d - eps)]/2 >= sp(-eps/2) = ln(1 + e^(-eps/2)), by Jensen's inequality.

    Raises `OptionError` for an n that `brackets.closing` refuses.

    >>> type_excess(Brackets(Fraction(2, 5)), LengthParity.EVEN).str(5, radius=False)
    '0.22181'
    """
    with precision(PRECISION):
        return ball(source.q * _closing(source, n)) * softplus(-bound("eps", eps) / 2)


def star_excess(
    source: Brackets,
    n: int | LengthParity,
    retyped: Fraction | flint.arb = Fraction(0),
    ended: Fraction | flint.arb = Fraction(0),
) -> flint.arb:
    """What type and END cost together, if one exchange changes little; in nats, n >= 1.

        q [P_0 ln(1 + e^(-retyped/2)) + sum_N P(height 0, N blocks) W_N g_1(1/W_N, ended)],
        W_N = 1 + (N-1) rho,

    g_1 being `pairs.least_loss` for p = 1, so that without changes (both 0) the sum is of P(...) W_N
    h(1/W_N). For n even, take x = A ( B ) C balanced with C not empty: turning this ")" into an open bracket
    of either kind gives a prefix of height 2 with the same x_n. Every prefix of height 2 that ends with a
    closing bracket arises exactly once, so x, of N blocks and mass w, and its 2(N-1) partners form a star of
    mass w W_N; in 1/W_N of it END is forced. `retyped` bounds the change of logit(")") - logit("]") when a
    bracket is retyped, `ended` that of END's log-odds against both when a bracket is exchanged so. For n odd
    the sum is empty.

    Raises `OptionError` for an n that `brackets.closing` refuses.

    >>> star_excess(Brackets(Fraction(2, 5)), LengthParity.EVEN).str(5, radius=False)
    '0.27226'
    """
    with precision(PRECISION):
        stars = ball(_balanced(source, n)) * _star_sum(source, n, bound("ended", ended))
        return type_excess(source, n, retyped) + ball(source.q) * stars


def last_symbol_excess(source: Brackets, n: int | LengthParity) -> flint.arb:
    """q [P_0 ln 2 + (P_0 + b) h(b/(P_0 + b))], in nats, n >= 1: what a table on (x_n, n) leaves.

    P_0 + b is the probability that x_n closes, and after an opening bracket the forced symbol is known. In
    the limit over even n, p < 1/2, it is q [P_0 ln 2 + q h(b/q)], and no soft-attention transformer with
    bounded position embeddings is below that limit. (Ours: heights read backwards converge to a walk of which
    two from other heights meet almost surely.)

    Raises `OptionError` for an n that `brackets.closing` refuses.

    >>> last_symbol_excess(Brackets(Fraction(2, 5)), LengthParity.EVEN).str(5, radius=False)
    '0.34739'
    """
    known, none = _closing(source, n), _balanced(source, n)
    with precision(PRECISION):
        which = ball(known) * flint.arb.const_log2()
        if none:
            which += ball(known + none) * entropy(none / (known + none))
        return ball(source.q) * which


def query_excess(
    source: Brackets, n: int | LengthParity, eps: Fraction | flint.arb = Fraction(0)
) -> flint.arb:
    """q (1-b) ln(1 + e^(-eps/2)), in nats, n >= 1: as `type_excess`, read at a query symbol.

    There x_n itself can be the bracket that is retyped. Raises `OptionError` as `brackets.balanced` does.
    """
    with precision(PRECISION):
        return ball(source.q * (1 - _balanced(source, n))) * softplus(-bound("eps", eps) / 2)


def length_excess(source: Brackets, n: int | LengthParity) -> flint.arb:
    """q [(1-b) ln 2 + h(b)], in nats, n >= 1: what is left if n alone is known (a query symbol).

    Raises `OptionError` for an n that `brackets.balanced` refuses.

    >>> length_excess(Brackets(Fraction(2, 5)), LengthParity.EVEN).str(5, radius=False)
    '0.53512'
    """
    with precision(PRECISION):
        return query_excess(source, n) + ball(source.q) * entropy(_balanced(source, n))


def _closing(source: Brackets, n: int | LengthParity) -> Fraction:
    return (
        brackets.closing_limit(source, odd=n is LengthParity.ODD)
        if isinstance(n, LengthParity)
        else brackets.closing(source, n)
    )


def _balanced(source: Brackets, n: int | LengthParity) -> Fraction:
    return (
        brackets.balanced_limit(source, odd=n is LengthParity.ODD)
        if isinstance(n, LengthParity)
        else brackets.balanced(source, n)
    )


def _star_sum(source: Brackets, n: int | LengthParity, ended: flint.arb) -> flint.arb:
    """The sum over N of P(N blocks, given height 0) W_N g_1(1/W_N, ended); 0 where height 0 cannot be."""
    if not _balanced(source, n):
        return flint.arb(0)
    rest = flint.arb(0)
    if isinstance(n, LengthParity):
        law = {blocks: Fraction(blocks, 2 ** (blocks + 1)) for blocks in range(1, BLOCKS + 1)}
        # Height 0 stays possible for rho < 1 only: W_N <= N, and W_N g_1 <= W_N h(1/W_N) <= 1 + ln W_N <= N.
        rest = rest.union(flint.arb(BLOCKS**2 + 4 * BLOCKS + 6) / flint.arb(2) ** (BLOCKS + 1))
    else:
        law = brackets.block_law(n)
    rho = source.p / source.q
    stars = ((share, 1 + (blocks - 1) * rho) for blocks, share in law.items() if blocks > 1)
    return sum((ball(share * size) * least_loss(Fraction(1), 1 / size, ended) for share, size in stars), rest)
