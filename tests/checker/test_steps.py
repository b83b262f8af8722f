"""Hidden units that read whole numbers: what is said of them is what they do, and what is not sure is
refused.

Two attacks by readers of the rules stand here as they were found.
"""

from __future__ import annotations

import random
from collections.abc import Callable
from dataclasses import replace
from fractions import Fraction
from math import exp

import pytest

import attemper
from attemper import HeadOf, LayerOf, UnitOf
from attemper.certificates.claims import FloatClaim, RealClaim
from attemper.checker import whole_numbers
from attemper.checker.analysis import analyse
from attemper.checker.diagrams import Diagram
from attemper.checker.identities import Formulas
from attemper.checker.names import UnprovenError
from attemper.checker.steps import MAX_STEPS, points, stepped
from attemper.errors import UnsupportedError
from attemper.exact.closed_forms import FIRST, ONE, ClosedForm, I, N, Power, evaluate, number, over, times
from attemper.languages.words import Alphabet
from attemper.networks.layers import Head, Hidden, IntegerValue, Layer, Masking, Network, Softmax, Uniform
from tests.support.drawn.audited import words_of
from tests.support.drawn.hand_built import Draft, linear
from tests.support.drawn.hand_steps import steps_network
from tests.support.judges.audit import Subject, Tally, audit
from tests.support.judges.read_back import raw_of

CLOSED: dict[str, ClosedForm] = {"one": ONE, "i": I, "square": Power(I, 2), "mark": FIRST}
NAMES = ("one", "i", "square", "mark", "a", "ratio", "unit", "whole", "step", "out")
AT = {name: coordinate for coordinate, name in enumerate(NAMES)}


def form(**parts: Fraction | int) -> tuple[tuple[int, Fraction], ...]:
    return linear(*((AT[name], Fraction(factor)) for name, factor in parts.items()))


def unit(reads: str, bias: Fraction, writes: str, factor: Fraction | int) -> Hidden:
    return Hidden(form(**{reads: 1}), bias, form(**{writes: factor}))


def retrieved(cold: ClosedForm, *units: Hidden, last: tuple[Hidden, ...] = ()) -> Network:
    """The number of a's up to i, read by an IntegerValue head under j <= i; then hidden units of two
    layers.
    """
    average = Head(
        Uniform(), Masking.FUTURE, Softmax(ONE), (), (), (form(a=1), form(mark=1)), (AT["ratio"], AT["unit"])
    )
    integer = Head(
        IntegerValue((), (), False),
        Masking.FUTURE,
        Softmax(cold),
        (form(ratio=1), form(unit=1)),
        (form(i=2), form(square=-1)),
        (form(i=1),),
        (AT["whole"],),
    )
    layers = [Layer((average,), (), ()), Layer((integer,), units, ())]
    return Network(
        alphabet=Alphabet(("a", "b")),
        coordinates=NAMES,
        embedding=(form(a=1), ()),
        positions=tuple((AT[name], closed) for name, closed in CLOSED.items()),
        layers=(*layers, Layer((), last, ())) if last else tuple(layers),
        head_width=4,
        output=AT["out"],
        reads_first=False,
        accepts_empty=False,
    )


def at_least(threshold: int, factor: int = 2) -> tuple[Hidden, Hidden]:
    """[the integer >= threshold], flat but for the half between."""
    low = Fraction(4 * threshold - 3, 4)
    return unit("whole", -low, "out", factor), unit("whole", -low - Fraction(1, 2), "out", -factor)


def status(network: Network, language: str) -> str:
    return str(attemper.check(network, language, claims=[RealClaim()]).status)


@pytest.mark.parametrize("threshold", [2, 3, 7])
def test_a_retrieved_count_is_compared(threshold: int) -> None:
    network = retrieved(times(4, I), *at_least(threshold))
    assert status(network, f"#<['a'] >= {threshold}") == "PROVED"
    assert status(network, f"#<['a'] >= {threshold + 1}") == "REFUTED"


def test_the_integer_is_at_least_one() -> None:
    """There is no position 0: [w >= 1] holds everywhere."""
    network = retrieved(times(4, I), *at_least(1))
    assert status(network, "#<['a'] >= 1") == "REFUTED"
    assert status(network, "a | !a") == "PROVED"


@pytest.mark.parametrize("cold", [number(4), times(4, N, over(I)), times(Fraction(1, 4), I)])
def test_a_temperature_that_does_not_suffice(cold: ClosedForm) -> None:
    assert status(retrieved(cold, *at_least(2)), "#<['a'] >= 2") != "PROVED"


def test_units_that_do_not_end_flat_are_refused() -> None:
    low, high = at_least(2)
    assert status(retrieved(times(4, I), low), "#<['a'] >= 2") != "PROVED"
    wide = unit("whole", Fraction(-3 - 2 * MAX_STEPS), "out", -2)
    assert status(retrieved(times(4, I), low, wide), "#<['a'] >= 2") != "PROVED"
    with pytest.raises(UnprovenError, match="too many values"):
        points(Fraction(0), [Fraction(0), Fraction(MAX_STEPS + 1)], Fraction(0))
    assert high.bias == Fraction(-7, 4)


def test_a_step_that_rises_loses_the_integers_own_error() -> None:
    """A reader's: y = clip(w - 569.5, 0, 2) is off by as much as w, and [y > 1.4985] is wrong on a^571 in
    float32.
    """
    margin, threshold, width = Fraction(29513, 4096), Fraction(3, 2) - Fraction(49, 32768), Fraction(1, 65536)
    rising = (
        unit("whole", Fraction(-1139, 2), "step", 1),
        unit("whole", Fraction(-1143, 2), "step", -1),
    )
    last = (
        unit("step", width - threshold, "out", 1 / width),
        unit("step", -threshold, "out", -1 / width),
    )
    network = retrieved(times(margin, I), *rising, last=last)
    claims = [RealClaim(), FloatClaim("float32", "numerator-first", 571, "")]
    verdict = attemper.check(network, "#<['a'] >= 571", claims=claims)
    assert [str(claim.status) for claim in verdict.verdict.claims] == ["PROVED", "UNKNOWN"]


@pytest.mark.parametrize("beside", [{"w": "1/2"}, {"w": 1, "ratio": 1}])
def test_softening_knows_nothing_of_other_forms_of_integers(beside: dict[str, object]) -> None:
    """A reader's: half an integer, or one beside its average, read by a bump 2^22 high between two whole
    numbers.
    """
    bump = [
        UnitOf(beside, {"y": f}, bias=b) for f, b in ((2**22, "-5/4"), (-(2**23), "-3/2"), (2**22, "-7/4"))
    ]
    network = attemper.hard_network(
        "ab",
        embedding={"a": {"a": 1}},
        positions={"i": ["position"], "i2": ["power", ["position"], 2], "mark": ["test", ["zero"], 1, 0, -1]},
        layers=[
            LayerOf([HeadOf("<=", {"ratio": {"a": 1}}), HeadOf("<=", {"unit": {"mark": 1}})]),
            LayerOf(
                [
                    HeadOf(
                        "<=", {"w": {"i": 1}}, query=[{"ratio": 1}, {"unit": 1}], key=[{"i": 2}, {"i2": -1}]
                    )
                ],
                bump,
            ),
        ],
        output="y",
    )
    found = attemper.soften(network, epsilon=Fraction(1, 100))
    assert found.is_proved
    (head,) = found.softening.soft.layers[1].heads
    assert isinstance(head.weighting, Softmax)
    lead = evaluate(head.weighting.inverse_temperature, 3, 3) / 3
    assert 2**22 * exp(-lead) <= 1 / 100, "so much is read of the position beside, on aaa"


def test_what_a_sum_can_be_around_its_thresholds() -> None:
    """From the whole number at or below the least to that at or above the greatest, and so far beyond."""
    half = [Fraction(1, 2), Fraction(9, 4)]
    assert points(Fraction(0), half, Fraction(0)) == [0, 1, 2, 3]
    assert points(Fraction(1, 4), half, Fraction(0)) == [Fraction(4 * k + 1, 4) for k in range(3)]
    assert points(Fraction(-7), half, Fraction(1)) == [-1, 0, 1, 2, 3, 4]
    most = points(Fraction(0), [Fraction(0), Fraction(MAX_STEPS)], Fraction(0))
    assert (most[0], most[-1]) == (0, MAX_STEPS)
    with pytest.raises(UnprovenError, match="too many values"):
        points(Fraction(0), [Fraction(0), Fraction(MAX_STEPS) + Fraction(1, 9)], Fraction(0))


def two_steps(point: Fraction) -> Fraction:
    """0, then 1 from 3/2 on."""
    return Fraction(point >= Fraction(3, 2))


@pytest.mark.parametrize(
    ("named", "said"),
    [
        (lambda names, w, v: names.scaled(w, Fraction(1, 2)), "weighed differently"),
        (lambda names, w, v: names.plus(w, names.scaled(v, Fraction(1, 2))), "weighed differently"),
        (lambda names, w, v: names.choose(names.letter("a"), w, names.scaled(w, 2)), "weighed differently"),
        (lambda names, w, v: names.choose(names.letter("a"), w, names.number(1)), "weighed differently"),
        (
            lambda names, w, v: names.affine(
                whole_numbers.clamped(names, Masking.FUTURE, names.letter("a"), 2)
            ),
            "grows with",
        ),
        (lambda names, w, v: names.plus(w, names.digits()), "grows with"),
        (lambda names, w, v: names.plus(w, names.mean(Masking.FUTURE, names.letter("a"))), "grows with"),
    ],
)
def test_forms_that_are_no_sum_of_counts_are_refused(named: Callable[..., Diagram], said: str) -> None:
    names = Formulas(("a", "b")).names
    w, v = (
        names.affine(whole_numbers.clamped(names, Masking.FUTURE, names.letter(a), 1)) for a in ("a", "b")
    )
    with pytest.raises(UnprovenError, match=said):
        stepped(names, two_steps, [Fraction(3, 2)], named(names, w, v))
    found = stepped(names, two_steps, [Fraction(3, 2)], w)
    assert found == names.positions.sum_at_least(Masking.FUTURE, names.letter("a"), 2)


# The mean of (-1)^j ----------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("mask", "low", "language", "expected"),
    [
        ("<=", "1/2", "first", "PROVED"),
        ("<=", "3/8", "first", "PROVED"),
        ("<=", "1/4", "first", "REFUTED"),
        (">=", "1/2", "last", "PROVED"),
        (">=", "1/4", "last", "REFUTED"),
        (">=", "1/2", "first", "REFUTED"),
        ("all", "1/2", "first & last", "PROVED"),
    ],
)
def test_where_one_position_is_visible(mask: str, low: str, language: str, expected: str) -> None:
    """At thresholds below 1/3 the mean of three signs is above them, too."""
    high = Fraction(low) + Fraction(1, 8)
    units = [
        UnitOf({"mean": side}, {"out": factor}, bias=-bias)
        for side in (1, -1)
        for bias, factor in ((Fraction(low), 8), (high, -8))
    ]
    network = attemper.hard_network(
        "ab",
        embedding={},
        positions={"sign": ["alternating"]},
        layers=[LayerOf([HeadOf(mask, {"mean": {"sign": 1}})], units)],
        output="out",
    )
    (layer,) = network.layers
    heads = tuple(replace(head, weighting=Softmax(ONE)) for head in layer.heads)
    soft = replace(network, layers=(replace(layer, heads=heads),))
    assert status(soft, language) == expected


# Beside the definition -------------------------------------------------------------------------------------


@pytest.mark.sweep(12)
@pytest.mark.parametrize("seed", range(120))
def test_units_that_read_integers_do_what_is_said(seed: int) -> None:
    """Networks by hand: every coordinate after every layer, exactly and in floats, by who imports nothing of
    ours.
    """
    drawn = random.Random(f"read integers {seed}")
    while True:
        network = steps_network(Draft(drawn))
        try:
            raw_of(network)
            analyse(network)
        except (UnprovenError, UnsupportedError):
            continue
        break
    tally = Tally()
    audit(Subject(f"steps {seed}", network, Formulas), words_of(network, drawn, 6), 1, drawn, tally)
    assert not tally.false, tally.false[:3]
    assert tally.counts["whole"] == 1


@pytest.mark.parametrize("threshold", [-3, -2, -1])
def test_an_integer_that_is_taken_away(threshold: int) -> None:
    """[-w >= s] is that w is less than 1 - s; w = clamp(c + 1, 1, n), which is no count of bits."""
    names = Formulas(("a", "b")).names
    summand = names.plus(names.letter("a"), names.first)
    taken = names.scaled(names.affine(whole_numbers.clamped(names, Masking.FUTURE, summand, 1)), -1)
    corner = Fraction(2 * threshold - 1, 2)
    found = stepped(names, lambda point: Fraction(point > corner), [corner], taken)
    reached = names.positions.sum_at_least(Masking.FUTURE, summand, 1 - threshold)
    assert found == names.negation(names.both(names.at_least_place(0, 1, threshold - 1), reached))
