"""g(alpha, eps): against its definition minimised by force, never above it, tight, decreasing and convex."""

from __future__ import annotations

from fractions import Fraction

import flint
import pytest
from hypothesis import given
from hypothesis import strategies as st

from attemper.errors import OptionError
from attemper.exact.balls import ball, precision
from attemper.languages.sources.entropies import entropy, log_odds, sigmoid, softplus
from attemper.languages.sources.pairs import (
    gain,
    least_loss,
    least_loss_from_below,
    mean_least_loss,
    query_least_loss,
)
from tests.support.oracles.sources import shows

TIGHT = Fraction(1, 10**12)

probabilities = st.fractions(Fraction(1, 500), Fraction(499, 500), max_denominator=500)
changes = st.one_of(st.fractions(0, 12, max_denominator=64), st.integers(0, 200).map(Fraction))


def loss(p: Fraction, alpha: Fraction, eps: Fraction, t: flint.arb) -> flint.arb:
    """F(t), from its formula."""

    def sp(x: flint.arb) -> flint.arb:
        return (1 + x.exp()).log()

    ended = ball(p) * sp(-t - ball(eps)) + ball(1 - p) * sp(t + ball(eps))
    return ball(alpha) * ended + ball(1 - alpha) * sp(t)


def by_force(p: Fraction, alpha: Fraction, eps: Fraction) -> flint.arb:
    """The least of F that a ternary search finds at 400 bits: not below the minimum, and not far above."""
    with precision(400):
        low, high = flint.arb(-250), flint.arb(20)
        for _ in range(150):
            third = (high - low) / 3
            left, right = (low + third).mid(), (high - third).mid()
            if loss(p, alpha, eps, left) < loss(p, alpha, eps, right):
                high = right
            else:
                low = left
        return loss(p, alpha, eps, low)


@given(probabilities, probabilities, changes)
def test_g_is_never_above_the_minimum_and_close_to_it(p: Fraction, alpha: Fraction, eps: Fraction) -> None:
    found, wanted = least_loss(p, alpha, eps), by_force(p, alpha, eps)
    assert found.lower() <= wanted.upper()
    assert found.upper() >= wanted.lower() - ball(TIGHT)
    assert found.upper() - found.lower() < ball(TIGHT)
    assert abs(found - wanted) < ball(TIGHT)


@given(probabilities, probabilities, changes, st.fractions(-30, 30, max_denominator=50))
def test_g_is_right_wherever_it_is_looked_for(
    p: Fraction, alpha: Fraction, eps: Fraction, at: Fraction
) -> None:
    """The tangent at any point is below the minimum, so nothing rests on how a point was found."""
    assert least_loss_from_below(p, alpha, eps, at) <= least_loss(p, alpha, eps).upper()


@pytest.mark.sweep(0)
@given(probabilities, probabilities, changes, st.fractions(-2, 1, max_denominator=40))
def test_g_is_right_near_the_ends_between_which_the_minimiser_is(
    p: Fraction, alpha: Fraction, eps: Fraction, part: Fraction
) -> None:
    """By the tangent alone: a bound on the distance that is too small would show here."""
    for end in (alpha * p, p):
        at = Fraction(float(log_odds(end))) + part * min(eps, Fraction(4))
        for place in (at, at - eps):
            assert least_loss_from_below(p, alpha, eps, place) <= by_force(p, alpha, eps).upper()


def test_of_a_ball_around_nothing_the_changes_from_nothing_on_count() -> None:
    third = Fraction(1, 3)
    found = least_loss(third, third, flint.arb(0, 0.5))
    assert abs(found.upper() - entropy(third * third)) < ball(Fraction(1, 10**8))


@given(probabilities, probabilities, changes, changes)
def test_g_decreases_and_is_convex(p: Fraction, alpha: Fraction, one: Fraction, other: Fraction) -> None:
    low, high = sorted((one, other))
    assert not least_loss(p, alpha, high) > least_loss(p, alpha, low)
    ends = (least_loss(p, alpha, low) + least_loss(p, alpha, high)) / 2
    assert not least_loss(p, alpha, (low + high) / 2) > ends


@given(probabilities, probabilities)
def test_the_ends_of_g(p: Fraction, alpha: Fraction) -> None:
    """h(alpha p) without a change; alpha h(p) for any change, however great, and nothing overflows."""
    assert least_loss(p, alpha, Fraction(0)).overlaps(entropy(alpha * p))
    with precision(128):
        end = ball(alpha) * entropy(p)
        for eps in (Fraction(400), Fraction(10**9)):
            assert abs(least_loss(p, alpha, eps) - end) < ball(TIGHT)
        assert least_loss(p, alpha, Fraction(10**40)).overlaps(end)
        assert gain(p, alpha).overlaps(entropy(alpha * p) - ball(alpha) * entropy(p))


@given(probabilities, changes, changes)
def test_a_ball_of_changes_has_all_of_their_values(p: Fraction, one: Fraction, other: Fraction) -> None:
    alpha = Fraction(1, 3)
    whole = least_loss(p, alpha, ball(one).union(ball(other)))
    for eps in (one, other, (one + other) / 2):
        assert whole.overlaps(least_loss(p, alpha, eps))
        assert whole.lower() <= least_loss(p, alpha, eps).upper()


@given(probabilities, changes)
def test_with_p_one_it_is_about_which_of_two_comes(u: Fraction, eps: Fraction) -> None:
    found = least_loss(Fraction(1), u, eps)
    assert abs(found - by_force(Fraction(1), u, eps)) < ball(TIGHT)


@pytest.mark.parametrize(
    ("eps", "text"), [(".1", "1.0525"), (".5", "1.0129"), ("1", ".9721"), ("2", ".9169"), ("4", ".8751")]
)
def test_the_means_of_g_to_the_digits_printed(eps: str, text: str) -> None:
    assert shows(mean_least_loss(Fraction(1, 2), Fraction(eps)), text)


def test_at_a_query_symbol_to_the_digits_printed() -> None:
    assert shows(query_least_loss(Fraction(1, 2), Fraction(1, 10)), "1.0699")


def test_softplus_and_sigmoid_far_out() -> None:
    for t in (-(10**6), -3, 0, 3, 10**6):
        x = flint.arb(t)
        assert (sigmoid(x) + sigmoid(-x)).overlaps(flint.arb(1))
        assert softplus(-abs(x)) > 0
        assert (softplus(x) - softplus(-x)).overlaps(x)


@pytest.mark.parametrize(
    "eps", [Fraction(-1), flint.arb("nan"), flint.arb("inf"), flint.arb("-1 +/- 0.1"), 1, 0.5]
)
def test_what_bounds_no_change_is_refused(eps: Fraction) -> None:
    with pytest.raises(OptionError, match="bounds nothing: give a finite number from 0 on"):
        least_loss(Fraction(1, 2), Fraction(1, 3), eps)


@pytest.mark.parametrize(("p", "alpha"), [(0, "1/2"), ("3/2", "1/2"), ("1/2", 0), ("1/2", 1)])
def test_what_is_no_probability_is_refused(p: str, alpha: str) -> None:
    with pytest.raises(OptionError, match="is not a fraction between 0 and 1"):
        least_loss(Fraction(p), Fraction(alpha), Fraction(1))
