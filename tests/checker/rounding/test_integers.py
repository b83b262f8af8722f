"""What is lost where integers are read and compared: FORMAT.md's formulas, with errors that can be seen."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from fractions import Fraction
from types import SimpleNamespace
from typing import Any, cast

import flint
import pytest

from attemper.checker import whole_numbers
from attemper.checker.attention.counts import Margin
from attemper.checker.attention.leads import Trail
from attemper.checker.attention.scores import Output
from attemper.checker.identities import Formulas
from attemper.checker.rounding import integers
from attemper.checker.rounding.arithmetic import EXACT, Arithmetic, Inexact, Lengths, OfNumber, Rounded
from attemper.checker.rounding.attention import RoundedHead
from attemper.checker.rounding.growth import Forms
from attemper.checker.rounding.heads import RoundedHeads
from attemper.checker.rounding.score_gaps import lost_below, sum_rate
from attemper.checker.rules import Rule
from attemper.checker.values import ResidualValues
from attemper.exact.balls import ball, precision
from attemper.exact.closed_forms import ONE
from attemper.exact.formats import FLOAT32
from attemper.networks.layers import Head, IntegerSign, LinearForm, Masking, Softmax, Uniform
from tests.checker.rounding.test_growth import part

NAMES = Formulas(("a", "b")).names
WHOLE = NAMES.affine(whole_numbers.clamped(NAMES, Masking.FUTURE, NAMES.letter("a"), 1))
SQUARE = NAMES.affine(whole_numbers.clamped(NAMES, Masking.FUTURE, NAMES.letter("a"), 2))
STEP = NAMES.plus(NAMES.letter("a"), NAMES.scaled(NAMES.letter("b"), -1))


class UncoveredError(Exception):
    """What a head raises where nothing is said of it."""


def is_about(one: flint.arb, other: flint.arb) -> bool:
    return bool(abs(one - other) <= abs(other) * ball(Fraction(1, 2**200)))


def one(number: Fraction | int) -> flint.arb:
    return ball(Fraction(number))


# Reading ---------------------------------------------------------------------------------------------


def reading(
    length: int = 2**20,
    noise: Fraction = Fraction(3, 2),
    *,
    dropped: Fraction | int = 0,
    quotient: Fraction | int = 2**30,
) -> RoundedHead:
    """As much of a head as reading takes."""
    lengths = Lengths(Arithmetic(NAMES, FLOAT32), length)
    known = {"names": NAMES, "lengths": lengths, "uncovered": UncoveredError}
    rest = {"noise": one(noise), "dropped": one(dropped), "quotient": one(quotient)}
    return cast(RoundedHead, SimpleNamespace(**known, **rest))


def rounded(absolute: Fraction | int, relative: Fraction) -> Rounded:
    return Inexact(one(9), one(9), one(absolute), one(absolute), one(relative))


def test_the_other_weights_times_their_distances() -> None:
    """s n^-p, with m of a margin without digits: noise e^-(b kept)."""
    with precision(300):
        noise, kept = Fraction(9, 8), Fraction(1, 2)
        found = integers.distances(reading(noise=noise), Margin(Fraction(3, 2), 0), one(kept))
        r = one(-Fraction(3, 4)).exp() * one(noise)
        assert found.keys() == {0}
        assert is_about(found[0], 2 * r / (1 - r**3) ** 2)


@pytest.mark.parametrize(("power", "growth"), [(1, 0), (2, -2), (1, 3)])
@pytest.mark.parametrize(
    ("absolute", "relative"), [(0, Fraction(1, 4)), (1, Fraction(1, 4)), (7, Fraction(1, 2))]
)
def test_an_integer_is_off_by_what_is_said(
    power: int, growth: int, absolute: int, relative: Fraction
) -> None:
    head, tiny, e = reading(), FLOAT32.range, Fraction(8, 2**24)
    output = Output(0, NAMES.scaled(WHOLE if power == 1 else SQUARE, 3), Fraction(1), Fraction(1), growth)
    with precision(300):
        near = {-2: one(Fraction(1, 5)), -1: one(Fraction(1, 7))}
        off = integers.integer_off(head, output, rounded(absolute, relative), near)
        rho = relative if absolute else Fraction(0)
        above = Fraction(1, 8) / (1 - Fraction(1, 8))  # 2 N U / (1 - 2 N U)
        top, s = growth + power, Fraction(12, 35)
        small = 2 * (1 + 2 * above) + Fraction(1, 2) + Fraction(4, 2**24)
        own = rho + e + Fraction(4, 2**24) + Fraction(2**20, tiny)
        factor = (1 + rho) / (1 - e - 2 * above * s)
        expected = {
            top: 3 * own * factor,
            top - 1: 3 * small * Fraction(1, 7) * factor,
            top - 2: 3 * (small * Fraction(1, 5) + power * Fraction(3, 2) * Fraction(1, 7)) * factor,
            top - 3: 3 * power * Fraction(3, 2) * Fraction(1, 5) * factor,
        }
        assert off.growth.keys() == expected.keys()
        assert all(is_about(off.growth[p], one(expected[p])) for p in expected)
        assert off.per_step == off.growth
        most = sum((expected[p] * 2 ** (20 * max(p, 0)) for p in expected), Fraction(0))
        numbers = off.as_number.at_zero, off.as_number.elsewhere, off.as_number.average
        assert all(is_about(own, one(most)) for own in numbers)


def test_what_a_scan_drops_is_one_more_error_of_what_is_large() -> None:
    output = Output(0, WHOLE, Fraction(1), Fraction(1))
    with precision(300):
        near = {-1: one(Fraction(1, 7))}
        exact, dropped = (
            integers.integer_off(reading(dropped=own), output, rounded(0, Fraction(0)), near).growth[1]
            for own in (0, Fraction(1, 32))
        )
        lost = Fraction(8, 2**24) + Fraction(4, 2**24) + Fraction(2**20, FLOAT32.range)
        assert is_about(dropped / exact, one((lost + Fraction(1, 32)) / lost))


@pytest.mark.parametrize(("weight", "is_mean"), [(Fraction(1, 2), True), (Fraction(1, 2**20), False)])
def test_weights_that_are_not_small_lose_what_any_mean_does(weight: Fraction, is_mean: bool) -> None:
    """Whichever of both bounds is less."""
    quotient, relative = Fraction(1, 64), Fraction(1, 4)
    output = Output(0, NAMES.scaled(SQUARE, 3), Fraction(1), Fraction(1))
    with precision(300):
        found, sums = (
            integers.integer_off(reading(quotient=own), output, rounded(1, relative), {0: one(weight)}).growth
            for own in (quotient if is_mean else 2**10, 2**30)
        )
        assert found.keys() == sums.keys() == {2, 1}
        mean = 3 * (relative + (1 + relative) * quotient)
        expected = {2: one(mean), 1: one(3 * 2 * weight * Fraction(3, 2))} if is_mean else sums
        assert all(is_about(found[power], expected[power]) for power in found)


@pytest.mark.parametrize("growth", [-1, 0, 2])
def test_a_nearest_key_is_off_by_its_distance_and_what_is_read(growth: int) -> None:
    """apart times the multiple for each step of less than n, and all else beside it."""
    apart, quotient = Fraction(1, 7), Fraction(1, 64)
    with precision(300):
        lengths = Lengths(Arithmetic(NAMES, FLOAT32), 50)
        said = {"lengths": lengths, "quotient": one(quotient), "before": UNITS, "offs": [OFF, EXACT, EXACT]}
        head = cast(RoundedHead, SimpleNamespace(**said))
        off = integers.nearest_key_off(head, part(0, 4), growth, one(apart))
        error = Fraction(4, 8)
        rest = {
            0: one(error + error * quotient + FLOAT32_TINY * (2 + quotient)),
            1: one(4 * quotient),
        }
        for found, power in ((off.growth, growth + 1), (off.per_step, growth)):
            expected = dict(rest)
            expected[power] = expected.get(power, one(0)) + one(4 * apart)
            assert found.keys() == expected.keys()
            assert all(is_about(found[own], expected[own]) for own in expected)


@pytest.mark.parametrize(
    ("relative", "near"), [(Fraction(3, 4), Fraction(1, 8)), (Fraction(0), Fraction(7, 2)), (Fraction(0), 4)]
)
def test_nothing_is_said_of_values_or_sums_that_are_off_by_too_much(
    relative: Fraction, near: Fraction
) -> None:
    """Below the fraction line may then be 0, or less."""
    output = Output(0, WHOLE, Fraction(1), Fraction(1))
    with precision(300), pytest.raises(UncoveredError):
        integers.integer_off(reading(), output, rounded(1, relative), {0: one(near)})


# Comparing -------------------------------------------------------------------------------------------

FLOAT32_TINY = Fraction(1, FLOAT32.range)
UNITS = ResidualValues([{(0, 0): WHOLE}, {(0, 0): NAMES.number(1)}, {(0, 1): NAMES.letter("a")}])
OFF = OfNumber(*[one(Fraction(1, 8))] * 3, one(0))


COUNTED = (((*part(0, 1), *part(1, 1)), part(1, 1)), (part(0, 1), part(2, -1)))
"""K + 1 at i times 1, and K at i times -n where an a stands at j."""

PLAIN = ((part(1, 1), part(1, 1)), (part(1, 1), part(2, -1)))
"""1 times 1, and 1 times -n where an a stands at j."""


def compared(
    rows: Sequence[tuple[LinearForm, LinearForm]], *, off: bool = False, length: int = 50
) -> RoundedHead:
    query, key = zip(*rows, strict=True)
    head = Head(Uniform(), Masking.FUTURE, Softmax(ONE), query, key, (), ())
    lengths = Lengths(Arithmetic(NAMES, FLOAT32), length)
    offs = [OFF if off else EXACT, EXACT, OFF if off else EXACT]
    return RoundedHeads(lengths, cast(Any, None)).head("head", head, (), UNITS, offs)


def with_cold(head: RoundedHead, relative: Fraction) -> RoundedHead:
    number = Inexact(one(1), one(1), one(0), one(0), one(relative))
    return replace(head, cold=replace(head.cold, number=number))


def without_grids(head: RoundedHead) -> RoundedHead:
    """Its products are known to be no multiples of anything."""
    rows = (replace(row, scored=replace(row.scored, grid=None)) for row in head.rows)
    return replace(head, rows=tuple(rows))


def test_exact_scores_lose_only_what_is_too_small() -> None:
    with precision(300):
        head = compared(PLAIN)
        # The query with its temperature may underflow, too, and then meet keys of 1 and of 50.
        below = lost_below(head.lengths, 2, head.cold) + 51 * head.lengths.tiny
        assert is_about(integers.scores_off(head), below)
        assert integers.scores_off(without_grids(head)) > ball(Fraction(1, 10**6))


def test_rows_whose_grids_are_far_apart_are_not_exact() -> None:
    """The finest of the grids is that of the sum."""
    head = compared(PLAIN)
    size = ball(Fraction(2**13))

    def scored(*grids: Fraction | None) -> RoundedHead:
        rows = (SimpleNamespace(grid=grid, product=SimpleNamespace(size=size)) for grid in grids)
        return replace(head, rows=tuple(cast(Any, SimpleNamespace(scored=row)) for row in rows))

    with precision(64):
        for small, large in ((Fraction(1, 2**12), Fraction(1)), (Fraction(1), Fraction(1, 2**12))):
            assert integers._rate(scored(small, large)) > 0
        assert integers._rate(scored(Fraction(1), Fraction(1, 2**10))) == 0
        assert integers._rate(scored(Fraction(1), None)) > 0


@pytest.mark.parametrize("relative", [Fraction(0), Fraction(1, 16)])
@pytest.mark.parametrize("signs", [1, 2])
def test_scores_are_off_by_what_is_said(relative: Fraction, signs: int) -> None:
    """2 |q| lost + dq |k| in each row, twice the second where a key has both signs."""
    with precision(300):
        head = without_grids(with_cold(compared(COUNTED, off=True), relative))
        if signs == 2:
            wrong = {(0, 0): NAMES.plus(NAMES.scaled(WHOLE, -1), NAMES.number(1))}
            head = replace(head, rows=tuple(replace(row, key=wrong) for row in head.rows))
        lengths, n = head.lengths, 50
        rate = (1 + lengths.u) * (1 + sum_rate(lengths, 2, head.cold)) - 1
        forms, cold = Forms(lengths, UNITS, head.offs), 1 + one(relative)
        expected = lost_below(lengths, 2, head.cold)
        for query, key, (q, k) in zip(head.head.query, head.head.key, ((n + 1, 1), (n, n)), strict=True):
            dq, dk = (
                sum((x * n ** max(p, 0) for p, x in forms.error(form).items()), flint.arb(0))
                for form in (query, key)
            )
            expected += signs * (cold * (dq + one(relative) * q) + lengths.tiny) * k
            expected += 2 * (cold * (q + dq) + lengths.tiny) * (dk + (k + dk) * rate)
        assert is_about(integers.scores_off(head), expected)


@pytest.mark.parametrize("growth", [-1, 0, 1])
@pytest.mark.parametrize("is_exact", [True, False])
def test_compared_scores_are_off_by_what_is_said(growth: int, is_exact: bool) -> None:
    """The query's error in its own unit, each factor's, and what underflows, in parts of the score gap."""
    unit, score_gap, relative = Fraction(-1, 3), Fraction(1, 5), Fraction(1, 16)
    with precision(300):
        head = with_cold(compared([COUNTED[0]], off=True), relative)
        head = replace(head, cold=replace(head.cold, is_exact=is_exact))
        key = Inexact(one(7), one(1), one(3), one(3), one(Fraction(1, 32)))
        head = replace(head, rows=(replace(head.rows[0], scored=replace(head.rows[0].scored, key=key)),))
        lengths, n = head.lengths, 50
        error = Forms(lengths, UNITS, head.offs).error(head.rows[0].form, 0)
        assert error.keys() == {0, 1}
        query = sum((3 * x * n ** max(power - growth, 0) for power, x in error.items()), flint.arb(0))
        others = one((1 + Fraction(1, 32)) * (1 + relative)) * (1 + lengths.u) ** (1 if is_exact else 2)
        below = lost_below(lengths, 1, head.cold) + 10 * lengths.tiny
        found = integers.compared_off(head, 0, unit, growth, score_gap)
        assert is_about(found, (1 + query) * others - 1 + 5 * below)


@pytest.mark.parametrize(
    ("whole", "lost"),
    [
        (Fraction(1, 8), 0),
        (Fraction(1, 4), 0),
        (Fraction(5, 8), Fraction(1, 2)),
        (Fraction(7, 8), Fraction(5, 6)),
    ],
)
def test_signs_lose_what_exact_ones_have_not_lost(
    whole: Fraction, lost: Fraction, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A quarter of the score gap is taken away already where nothing is rounded."""
    asked: list[tuple[object, ...]] = []
    monkeypatch.setattr(integers, "compared_off", lambda _, *said: asked.append(said) or one(whole))
    monkeypatch.setattr(integers, "attended", lambda _, others: [others()])
    own = SimpleNamespace(found=3, unit=Fraction(1, 2), growth=-1)
    said = SimpleNamespace(compared=own, off=Fraction(1, 4), smallest=Fraction(9))
    rule = Rule(IntegerSign, (Trail(Fraction(2)),) * 2, said=said)
    head = cast(RoundedHead, SimpleNamespace(bear=lambda loss: loss))
    with precision(300):
        [found] = integers.integer_sign(rule, head)
        assert is_about(cast(flint.arb, found), 2 * one(-2 * (1 - Fraction(lost))).exp())
        assert asked == [(3, Fraction(1, 2), -1, Fraction(9))]


@pytest.mark.parametrize(
    ("key", "is_one"),
    [
        (lambda: NAMES.mean(Masking.FUTURE, NAMES.letter("a")), True),
        (lambda: NAMES.mean(Masking.FUTURE, STEP), False),
        (lambda: NAMES.plus(WHOLE, NAMES.mean(Masking.FUTURE, STEP)), False),
    ],
)
def test_the_sign_of_what_is_never_less_than_0(key: Callable[[], Any], is_one: bool) -> None:
    """One average that can be negative is enough."""
    assert integers.has_one_sign(NAMES, {(0, 0): key()}) is is_one
