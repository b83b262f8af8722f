"""A head in floats: rows, temperatures, what its values are off by, against FORMAT.md, section 6."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction

import flint
import numpy as np
import pytest

from attemper.checker.attention.leads import Trail
from attemper.checker.rounding import heads as rounded_heads
from attemper.checker.rounding.arithmetic import UNKNOWN, ZERO, BeyondError, Kernel, as_number
from attemper.checker.rounding.attention import RoundedHead, attended
from attemper.checker.rounding.rules import offs_of
from attemper.checker.rules import Rule
from attemper.checker.values import Value, of_form
from attemper.exact.balls import ball
from attemper.exact.closed_forms import ONE, ClosedForm, I, number, over, times
from attemper.exact.formats import BFLOAT16, FLOAT32, REAL, FloatFormat
from attemper.networks.layers import (
    Layer,
    LinearForm,
    Select,
    Uniform,
)
from tests.support.judges.rounding import (
    ERRORS,
    NUMERATOR,
    U,
    cold_of,
    each_format,
    finely,
    fraction,
    is_same,
    looking_up,
    loss_of,
    noise_at,
    off_of,
    one_by_one,
    rounded_at,
    rounded_row,
    row_of,
    run_at,
    selecting,
    sums_at,
)
from tests.support.mutants.attacks import form, head, network_of

TEMPERATURES: list[tuple[ClosedForm, bool]] = [
    (ONE, True),
    (number(4), True),
    (number(Fraction(1, 2)), True),
    (number(3), False),
    (times(2, I), False),
    (times(I, over(I)), False),
]
"""Inverse temperatures, and whether they are one power of two and computed as that."""


def weight_of(tail: Trail, loss: flint.arb) -> flint.arb:
    """Of all positions that are behind by start + step t, t = 0, 1, 2 ..., less that part of it."""
    assert tail.step is not None
    return (-ball(tail.start) * (1 - loss)).exp() / (1 - (-ball(tail.step) * (1 - loss)).exp())


@finely
@each_format
@pytest.mark.parametrize(("coldness", "is_exact"), TEMPERATURES)
@pytest.mark.parametrize("is_odd", [False, True])
def test_what_the_value_of_a_selection_is_off_by(
    format_: FloatFormat, coldness: ClosedForm, is_exact: bool, is_odd: bool
) -> None:
    """Also where its value is rounded, and the weights are such that all products are."""
    network, name = selecting(coldness, is_odd, 1 + (2 * U[format_.name] if is_odd else 0)), format_.name
    for length in (1, 2, 3, 17):
        run, analysis = run_at(network, format_, length)
        [own], [fact] = network.layers[0].heads, analysis.layers[0].heads
        before, exact = analysis.layers[0].before, 3 + (Fraction(1, 3) if is_odd else 0)
        computed = rounded_at(run, analysis)
        assert computed.cold.is_exact is is_exact
        [rule] = fact.rules
        [behind], [ahead] = rule.behind, rule.ahead
        stray = ZERO
        if length > 1:
            near, far = (loss + 2 * ball(U[name]) for loss in computed.losses(rule.said))
            weight = (weight_of(behind, near) + weight_of(ahead, far)) * ball(noise_at(name))
            stray = weight / (1 + weight)
        error = fraction(run.lengths.linear(own.values[0], before.values, run.offs).absolute)
        assert (error > 0) is is_odd
        lost = Fraction(2 * (length - 1), format_.range)
        rest = error + (exact + error) * (noise_at(name) * (1 + sums_at(name, length)) - 1 + lost)
        [off] = map(as_number, offs_of(fact, computed))
        assert is_same(off.at_zero, 3 * stray + ball(rest))
        assert is_same(off.elsewhere, 3 * stray + ball(rest))
        assert is_same(off.average, 3 * stray + ball(rest))
        assert off.relative == 0


@finely
def test_in_real_arithmetic_a_mean_loses_nothing() -> None:
    """No weight underflows there; in a format each but the greatest may."""
    for length in (1, 2, 17):
        assert rounded_at(*run_at(selecting(), REAL, length)).quotient == 0
        lost = rounded_at(*run_at(selecting(), FLOAT32, length)).vanished
        assert is_same(lost, Fraction(2 * (length - 1), FLOAT32.range))


@finely
def test_a_temperature_that_rounds_costs_more() -> None:
    """So the case before tells the two apart."""
    run, analysis = run_at(selecting(step=1 + Fraction(1, 2**7)), BFLOAT16, 3)
    [fact] = analysis.layers[0].heads
    exact, rounds = (loss_of(run, analysis, fact, cold_of(run, ONE, is_exact)) for is_exact in (True, False))
    assert exact < rounds


@finely
@pytest.mark.parametrize("length", [1, 2, 3])
@pytest.mark.parametrize("losses", [(1, 0), (0, 1), (1, 1)], ids=["behind", "ahead", "both"])
def test_leads_are_smaller_by_the_loss_and_two_roundings(length: int, losses: tuple[int, int]) -> None:
    """Those of who is behind and those of who is ahead, each by what is lost of it."""
    u, most = U["bfloat16"], Fraction(15, 16)
    rule = Rule(
        Select, (Trail(Fraction(4), Fraction(2)), Trail(Fraction(5))), (Trail(Fraction(6), Fraction(3)),)
    )
    for loss in (Fraction(0), Fraction(1, 8), most, most + Fraction(1, 2**60), Fraction(1), Fraction(2)):
        computed = rounded_at(*run_at(selecting(), BFLOAT16, length))
        own = [loss * factor for factor in losses]

        def others(computed: RoundedHead = computed, own: list[Fraction] = own) -> flint.arb:
            return rule.others(*(computed.bear(ball(part)) for part in own))

        if length == 1:
            [off] = map(as_number, attended(computed, others))
            assert is_same(off.at_zero, 3 * computed.quotient)
            assert is_same(computed.bear(ball(loss)), 2 * u)
            assert computed.lost_shares == {}
        elif loss > most:
            with pytest.raises(BeyondError, match=r"^the head$"):
                attended(computed, others)
            assert is_same(computed.lost_shares["the head"], loss / most)
        else:
            behind, ahead = (1 - part - 2 * u for part in own)
            step, single, nearer, apart = (
                ball(-lead).exp() for lead in (4 * behind, 5 * behind, 6 * ahead, 3 * ahead)
            )
            weight = step / (1 - ball(-2 * behind).exp()) + single + nearer / (1 - apart)
            weight *= ball(noise_at("bfloat16"))
            [off] = map(as_number, attended(computed, others))
            assert is_same(computed.lost_shares["the head"], loss / most)
            assert is_same(off.at_zero, 3 * weight / (1 + weight) + 3 * computed.quotient)


@finely
@each_format
def test_a_sixteenth_of_each_lead_must_be_left(format_: FloatFormat) -> None:
    """Before the argument of exp is rounded; the greatest part that is lost anywhere is taken note of."""
    most, u = Fraction(15, 16), U[format_.name]
    for loss in (Fraction(0), Fraction(1, 8), Fraction(3, 4), most):
        computed = rounded_at(*run_at(selecting(), format_, 3))
        assert is_same(computed.bear(ball(loss)), loss + 2 * u)
        assert is_same(computed.lost_shares["the head"], loss / most)
        computed.bear(ball(loss / 2))
        assert is_same(computed.lost_shares["the head"], loss / most)
    for loss in (most + Fraction(1, 2**80), Fraction(1), Fraction(3)):
        with pytest.raises(BeyondError, match=r"^the head$"):
            rounded_at(*run_at(selecting(), format_, 3)).bear(ball(loss))
    with pytest.raises(BeyondError, match=r"^the head$"):
        rounded_at(*run_at(selecting(), format_, 3)).bear(UNKNOWN)


@finely
@pytest.mark.parametrize("place", [0, 1])
def test_a_selection_bears_what_is_lost_of_either_side(place: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """Of who is behind and of who is ahead: 15/16 is proved, and what is more is not."""
    run, analysis = run_at(selecting(), FLOAT32, 3)
    [fact], most = analysis.layers[0].heads, Fraction(15, 16)
    for loss in (most, most + Fraction(1, 2**60)):
        both = tuple(ball(loss) if k == place else ZERO for k in range(2))
        monkeypatch.setattr(RoundedHead, "losses", lambda *_, both=both: both)
        if loss == most:
            [off] = map(as_number, offs_of(fact, rounded_at(run, analysis)))
            assert off.at_zero < UNKNOWN
        else:
            with pytest.raises(BeyondError, match=r"^the head$"):
                offs_of(fact, rounded_at(run, analysis))


def test_a_row_holds_the_values_of_its_query_and_key() -> None:
    run, analysis = run_at(selecting(), FLOAT32, 3)
    before, terms = analysis.layers[0].before, analysis.names
    query, key = form((3, 2)), form((0, 3), (2, 5))
    row = rounded_row(run.lengths, query, key, cold_of(run, ONE, is_exact=True), before, run.offs)
    assert row.form == query
    assert row.query == of_form(terms, query, before) == {(0, 0): terms.number(2)}
    assert row.key == of_form(terms, key, before)
    assert set(row.key) == {(0, 0), (1, 0)}


def test_the_error_of_an_average_is_known_for_the_average_itself_only() -> None:
    run, analysis = run_at(looking_up(), FLOAT32, 3)
    terms = analysis.names
    mean = analysis.layers[0].middle.values[5][0, 0]
    run.offs[5] = replace(ERRORS, at_zero=flint.arb(2) ** -3)
    mean_off = rounded_at(run, analysis).mean_off
    whole = form((5, 1))
    assert mean_off(row_of(whole, {(0, 0): mean})) == ERRORS.average
    assert mean_off(row_of(whole, {(0, 0): terms.true})) == flint.arb(2) ** -3
    one = terms.number(1)
    others: list[tuple[LinearForm, Value]] = [
        (form((5, 2)), {(0, 0): mean}),  # the coordinate holds half the average
        (form((5, -1)), {(0, 0): mean}),
        (form((5, 1), (6, 1)), {(0, 0): mean}),
        ((), {(0, 0): mean}),
        (whole, {(0, 0): terms.scaled(mean, 2)}),
        (whole, {(0, 0): terms.scaled(mean, Fraction(1, 2))}),
        (whole, {(0, 0): terms.plus(mean, one)}),
        (whole, {(0, 0): terms.plus(mean, analysis.layers[0].middle.values[6][0, 0])}),
        (whole, {(0, 0): terms.first}),
        (whole, {(0, 0): terms.choose(terms.first, one, mean)}),
        (whole, {(1, 0): mean}),
        (whole, {(0, 1): one}),
        (whole, {(0, 0): mean, (1, 0): one}),
        (whole, {}),
    ]
    for form_, query in others:
        assert mean_off(row_of(form_, query)) == UNKNOWN


def test_one_power_of_two_everywhere() -> None:
    _, analysis = run_at(looking_up(), FLOAT32, 3)
    terms = analysis.names
    mean = analysis.layers[0].middle.values[5][0, 0]
    for power in (Fraction(1), Fraction(2), Fraction(-4), Fraction(1, 8)):
        assert rounded_heads._is_one_power(terms, terms.number(power))
    for other in (Fraction(3), Fraction(3, 2), Fraction(1, 3), Fraction(6)):
        assert not rounded_heads._is_one_power(terms, terms.number(other))
    for diagram in (mean, terms.plus(mean, terms.true), terms.plus(terms.first, terms.true), terms.sign):
        assert not rounded_heads._is_one_power(terms, diagram)


@pytest.mark.parametrize("kernel", Kernel)
@pytest.mark.parametrize("seed", range(3))
def test_selections_in_float32_are_off_by_no_more_than_the_bound(kernel: Kernel, seed: int) -> None:
    """exp is wrong by all that is allowed, sums are formed in random orders."""
    rng = np.random.default_rng(seed)
    length = 12
    network = selecting(number(Fraction(1, 2)))
    run, analysis = run_at(network, FLOAT32, length, kernel)
    [fact] = analysis.layers[0].heads
    [off] = map(as_number, offs_of(fact, rounded_at(run, analysis)))
    for _ in range(20):
        word = rng.integers(0, 2, size=length)  # 1 for a, which is blocked
        i = int(rng.integers(1, length + 1))
        seen = word[:i]
        scores = np.array([2 * (j + 1) - 4 * i * int(a) for j, a in enumerate(seen)], dtype=np.float64)
        best = int(scores.argmax())
        wrong = 1 + 8 * 2.0**-24 * 0.99 * rng.choice([-1, 1], size=i)
        wrong[best] = 1
        weights = (np.exp(scores - scores[best]) * wrong).astype(np.float32)
        order = rng.permutation(i)
        values = 3 * seen.astype(np.float32)
        total = one_by_one(weights[order])
        if kernel is NUMERATOR:
            found = one_by_one((weights * values)[order]) / total
        else:
            found = one_by_one(((weights / total) * values)[order])
        right = 0 if 0 in seen else 3
        assert abs(Fraction(float(found)) - right) <= fraction(off.constant)


def test_a_row_is_the_same_in_two_layers_only_if_nothing_is_added_to_what_it_reads() -> None:
    """A row of a position embedding is looked up; one of an average is not: that is written in between."""
    average = head(Uniform(), ONE, [], [(form((0, 1)), 3)])
    network = network_of(4, [[(0, 1)], []], {1: I, 2: ONE}, [Layer((average,), (), ())], 3)
    run, analysis = run_at(network, FLOAT32, 100)
    fact, heads = analysis.layers[0], run.heads
    cold, other = heads._cold(ONE), heads._cold(times(Fraction(1, 2), I))
    placed = form((1, 1)), form((2, 1))
    first = heads._row(*placed, cold, fact.before, run.offs, run.offs).scored
    assert heads._row(*placed, cold, fact.after, run.offs, run.offs).scored is first
    assert heads._row(*placed, other, fact.before, run.offs, run.offs).scored is not first
    read = form((3, 1)), form((1, 1))
    before = heads._row(*read, cold, fact.before, run.offs, run.offs)
    run.offs[3] = off_of(average=flint.arb(1))
    after = heads._row(*read, cold, fact.after, run.offs, run.offs)
    assert before.query != after.query
    assert before.scored.query.absolute < after.scored.query.absolute
