"""The least loss of a model on two prefixes that it hardly tells apart: g(alpha, eps), and its means.

Two prefixes x (where the word may end) and x' (where it may not) have weights alpha : 1-alpha. A model gives
END the log-odds y after x and y' after x', and |y - y'| <= eps. Its expected loss on "END or not" is

    alpha [p sp(-y) + (1-p) sp(y)] + (1-alpha) sp(y'),        sp(t) = ln(1 + e^t),

convex in (y, y') and without a constraint least for y = ln(p/(1-p)), y' -> -oo; so under the constraint it is
least where y - y' = eps:

    g(alpha, eps) = min_t F(t),   F(t) = alpha [p sp(-t-eps) + (1-p) sp(t+eps)] + (1-alpha) sp(t).

g is convex and decreasing in eps, from g(alpha, 0) = h(alpha p) to g(alpha, oo) = alpha h(p). All in nats.
"""

from __future__ import annotations

from fractions import Fraction

import flint

from attemper.errors import OptionError
from attemper.exact.balls import ball, precision
from attemper.languages.sources.entropies import PRECISION, entropy, log_odds, sigmoid, softplus


def least_loss(
    p: Fraction, alpha: Fraction, eps: Fraction | flint.arb, at: Fraction | None = None
) -> flint.arb:
    """A ball that contains g(alpha, eps), for 0 < p <= 1, 0 < alpha < 1 and every eps >= 0 in the ball.

    Its upper end is F at one t0, for the least eps. Its lower end is F(t0) - |F'(t0)| d for the greatest eps,
    or alpha h(p) if that is greater: F is convex, so F(t) >= F(t0) + F'(t0)(t - t0), and d bounds how far t0
    is from the minimiser, which lies between L - eps and min(L, ln(p/(1-p)) - eps), L = ln(alpha p / (1 -
    alpha p)): with s the sigmoid, F'(t) = alpha s(t+eps) + (1-alpha) s(t) - alpha p is at most 0 at L - eps
    and at least 0 at L, and positive at ln(p/(1-p)) - eps. So the ball is right for every t0, which is `at`
    or, by default, near the minimiser: there the ball is as narrow as its eps allows.

    Raises `OptionError` if p, alpha or eps is none of these, and for an eps without a finite bound.

    >>> least_loss(Fraction(1, 2), Fraction(1, 3), Fraction(0)).overlaps(entropy(Fraction(1, 6)))
    True
    """
    _require(p, alpha)
    with precision(PRECISION):
        inside = bound("eps", eps)
        least, greatest = inside.lower().max(flint.arb(0)), inside.upper()
        offered = ball(at).mid() if at is not None else _minimiser(p, alpha, greatest)
        low = _tangent(p, alpha, greatest, offered).max(ball(alpha) * entropy(p))
        high = _loss(p, alpha, least, offered if at is not None else _minimiser(p, alpha, least))
        return low.lower().union(high.upper())


def bound(name: str, value: Fraction | flint.arb) -> flint.arb:
    """The value as a ball. Raises `OptionError`, with its name, if it is not finite, or below 0."""
    with precision(PRECISION):
        inside = ball(value) if isinstance(value, Fraction) else value
    if not isinstance(inside, flint.arb) or not inside.is_finite() or inside < 0:
        raise OptionError(f"{name}={value} bounds nothing: give a finite number from 0 on, as a fraction")
    return inside


def mean_least_loss(p: Fraction, eps: Fraction | flint.arb) -> flint.arb:
    """G(eps) = [g(a, eps) + g(1-a, eps)]/2 + (1 - p/2) ln 2, a = (1-p)/(2-p), in nats.

    PARITY (either polarity), read at x_n, n >= 2: a bound on the cross-entropy if eps bounds the change of
    END's log-odds for ALL exchanges of x_(n-1). Where eps depends on x_n the mean of G(eps) is no bound.
    G(0) is the level of a table on x_n, G(oo) the optimum.

    >>> mean_least_loss(Fraction(1, 2), Fraction(1)).str(4, radius=False)
    '0.9721'
    """
    with precision(PRECISION):
        a = (1 - p) / (2 - p)
        either = least_loss(p, a, eps) + least_loss(p, 1 - a, eps)
        return either / 2 + (1 - ball(p) / 2) * flint.arb.const_log2()


def query_least_loss(p: Fraction, eps: Fraction | flint.arb) -> flint.arb:
    """g(1/2, eps) + (1 - p/2) ln 2, in nats: PARITY read at a query symbol, n >= 1, x_n exchanged.

    >>> query_least_loss(Fraction(1, 2), Fraction(1, 10)).str(5, radius=False)
    '1.0699'
    """
    with precision(PRECISION):
        return least_loss(p, Fraction(1, 2), eps) + (1 - ball(p) / 2) * flint.arb.const_log2()


def gain(p: Fraction, alpha: Fraction) -> flint.arb:
    """e(alpha) = h(alpha p) - alpha h(p) = g(alpha, 0) - g(alpha, oo), in nats: all that a pair can save.

    >>> gain(Fraction(1, 2), Fraction(1, 3)).str(6, radius=False)
    '0.219512'
    """
    _require(p, alpha)
    with precision(PRECISION):
        return entropy(alpha * p) - ball(alpha) * entropy(p)


def _loss(p: Fraction, alpha: Fraction, eps: flint.arb, t: flint.arb) -> flint.arb:
    """F(t)."""
    after = ball(p) * softplus(-t - eps) + ball(1 - p) * softplus(t + eps)
    return ball(alpha) * after + ball(1 - alpha) * softplus(t)


def _tangent(p: Fraction, alpha: Fraction, eps: flint.arb, t: flint.arb) -> flint.arb:
    """F(t) - |F'(t)| d, at most the least value of F."""
    least, greatest = _bracket(p, alpha, eps)
    distance = abs(greatest - t).max(abs(t - least))
    slope = ball(alpha) * sigmoid(t + eps) + ball(1 - alpha) * sigmoid(t) - ball(alpha * p)
    return _loss(p, alpha, eps, t) - abs(slope) * distance


def _bracket(p: Fraction, alpha: Fraction, eps: flint.arb) -> tuple[flint.arb, flint.arb]:
    """Two numbers with the minimiser between them."""
    greatest = log_odds(alpha * p)
    return greatest - eps, greatest.min(log_odds(p) - eps) if p < 1 else greatest


def _minimiser(p: Fraction, alpha: Fraction, eps: flint.arb) -> flint.arb:
    """A number near the minimiser, whatever eps is: z = e^t solves A z^2 + B z = C, by F'(t) = 0."""
    shrunk = (-eps).exp()
    a, c = ball(1 - alpha * p), ball(alpha * p) * shrunk
    b = ball(alpha - alpha * p) + ball(1 - alpha - alpha * p) * shrunk
    root = (b * b + 4 * a * c).sqrt()
    z = 2 * c / (b + root) if b >= 0 else (root - b) / (2 * a)
    found = z.log().mid()
    # e^-eps can be too small for any exponent.
    return found if found.is_finite() else _bracket(p, alpha, eps)[1].mid()


def _require(p: Fraction, alpha: Fraction) -> None:
    if not (isinstance(p, Fraction) and 0 < p <= 1):
        raise OptionError(f"p={p} is not a fraction between 0 and 1, such as 1/2")
    if not (isinstance(alpha, Fraction) and 0 < alpha < 1):
        raise OptionError(f"alpha={alpha} is not a fraction between 0 and 1, such as 1/3")
