"""The error budget of a softened network at one length: never below what balls show, and not far above."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from fractions import Fraction
from itertools import islice
from random import Random

import flint
import numpy as np
import pytest

import attemper
from attemper.errors import UnsupportedError
from attemper.exact.balls import precision
from attemper.exact.closed_forms import (
    FIRST,
    ONE,
    SIGN,
    ClosedForm,
    Digits,
    I,
    N,
    Power,
    number,
    over,
    plus,
    times,
)
from attemper.languages.words import Alphabet
from attemper.networks.layers import Head, Hidden, Layer, LinearForm, Masking, Network, Softmax, Uniform
from attemper.theories.softening.check import elementwise, rounded, streams
from attemper.theories.softening.check.elementwise import ErrorBudget, error_bound, inverse_temperatures
from attemper.theories.softening.check.enumeration import examine
from attemper.theories.softening.check.rounded import LEAST, up
from attemper.theories.softening.check.streams import TieError
from tests.support.drawn.soft_networks import drawn, softened, tieless, violations
from tests.support.judges.soft_budget import budget

MASKINGS = tuple(Masking)
FORMS: tuple[ClosedForm | int | Fraction, ...] = (
    1,
    Fraction(1, 10**9),
    10,
    times(30, Power(N, 2)),
    300,
    times(5, I),
    10**4,
    over(I),
    plus(Digits(N), Fraction(1, 7)),
    10**9,
    0,
    -1,
    times(20, SIGN),
)


def require_sound(soft: Network, length: int) -> None:
    bound = error_bound(soft, length)
    assert violations(soft, length, bound.coordinates) == 0
    assert bound.outputs == max(bound.coordinates[output] for output in soft.outputs)


@pytest.mark.sweep(1)
@pytest.mark.parametrize("masking", MASKINGS)
def test_a_bound_is_never_below_the_error(masking: Masking) -> None:
    random = Random(f"bounded {masking}")
    forms = iter(FORMS * 9)
    for count in range(3):
        network = drawn(random, 1 + count % 3, maskings=(masking,))
        for length in (1, 2, 3):
            if examine(network, length).tie is None:
                require_sound(softened(network, next(forms)), length)


def require_by_the_book(soft: Network, length: int) -> None:
    """The bounds are what FORMAT.md says, no less, and more by roundings only."""
    found = error_bound(soft, length).coordinates
    with precision(200):
        for bound, exact in zip(found, budget(soft, length), strict=True):
            assert not flint.arb(bound) < exact
            assert not flint.arb(bound) > exact * (1 + flint.arb(2) ** -36) + flint.arb(2) ** -280


@pytest.mark.sweep(1, also=["strictly future-masked"])
@pytest.mark.parametrize("masking", MASKINGS)
def test_a_bound_is_what_is_written(masking: Masking) -> None:
    random = Random(f"by the book {masking}")
    colds = iter((30, 300, times(40, I), 3000, 5, times(200, Power(N, 2))) * 9)
    for layers in (1, 2, 3):
        network = drawn(random, layers, maskings=(masking,))
        if examine(network, 3).tie is None:
            require_by_the_book(softened(network, next(colds)), 3)
            require_by_the_book(softened(network, next(colds)), 2)


@pytest.mark.slow
@pytest.mark.parametrize("masking", MASKINGS)
def test_many_bounds_are_never_below_the_error(masking: Masking) -> None:
    random = Random(f"bounded at length {masking}")
    forms = iter(FORMS * 99)
    for count in range(60):
        network = drawn(random, 1 + count % 3, maskings=(masking, random.choice(MASKINGS)))
        for length in (1, 2, 3, 4):
            if examine(network, length).tie is None:
                require_sound(softened(network, next(forms)), length)


@pytest.mark.parametrize(
    ("source", "regime"),
    [("'a' S 'b'", "temperature"), ("#<['a'] = #<['b']", "unbounded"), ("Y 'a'", "decoder")],
)
def test_a_compiled_network_is_as_near_as_it_is_made(source: str, regime: str) -> None:
    """Its bits are exact behind their rounding: the error put out is 0, not small."""
    network = attemper.compile(source, "ab", regime=regime).network
    for length in (1, 2, 4):
        require_sound(network, length)
        bound = error_bound(network, length)
        assert bound.outputs == 0
        assert length == 1 or max(bound.coordinates) > 0
    hot = softened(network, Fraction(1, 1000))
    require_sound(hot, 4)
    assert error_bound(hot, 4).outputs > Fraction(1, 4)
    assert error_bound(network, 4, [tuple("aaaa")]).outputs == 0


# By hand --------------------------------------------------------------------------------------------


def row(*parts: tuple[int, Fraction | int]) -> LinearForm:
    return tuple((c, Fraction(value)) for c, value in parts)


QUERY, KEY = row((2, 1)), row((1, 1), (3, Fraction(1, 4)))


def head(
    value: LinearForm,
    *,
    query: LinearForm = QUERY,
    key: LinearForm = KEY,
    masking: Masking = Masking.NONE,
    coldness: ClosedForm = ONE,
    target: int = 0,
) -> Head:
    return Head(Uniform(), masking, Softmax(coldness), (query,), (key,), (value,), (target,))


def network(*layers: Layer, more: Sequence[tuple[int, ClosedForm]] = (), output: int = 0) -> Network:
    """Coordinates: 0 written, 1 [a], 2 one, 3 position, 4 written, 5."""
    return Network(
        alphabet=Alphabet(("a", "b")),
        coordinates=tuple(f"x{c}" for c in range(6)),
        embedding=(row((1, 1)), ()),
        positions=((2, ONE), (3, I), *more),
        layers=layers,
        head_width=1,
        output=output,
        reads_first=False,
        accepts_empty=False,
    )


def layer(*heads: Head, hidden: Sequence[Hidden] = ()) -> Layer:
    return Layer(heads, tuple(hidden), ())


def weight(gap: Fraction | float) -> flint.arb:
    """1 / (1 + e^gap)."""
    exponent = flint.arb(flint.fmpq(Fraction(gap).numerator, Fraction(gap).denominator))
    return 1 / (1 + exponent.exp())


@pytest.mark.parametrize(
    "cold", [Fraction(1, 10**9), Fraction(1, 3), 1, 7, 600, 689, 691, 10**9, Fraction(10**30, 7)]
)
def test_of_two_positions_the_bound_is_the_error(cold: int | Fraction) -> None:
    """Positions 1 and 2 with the scores 1/4 and 1/2, and the values 3 and 6: up to roundings and 2^-300."""
    made = network(layer(head(row((3, 3)), key=row((3, Fraction(1, 4))), coldness=number(Fraction(cold)))))
    found = error_bound(made, 2)
    assert violations(made, 2, found.coordinates) == 0
    with precision(2000):
        exact = 3 * weight(Fraction(cold) / 4)
        assert flint.arb(found.outputs) >= exact
        assert flint.arb(found.outputs) <= exact * (1 + flint.arb(2) ** -38) + 9 * flint.arb(LEAST)


def test_heads_that_write_to_one_coordinate_add_their_errors() -> None:
    one, other = head(row((3, 1))), head(row((3, 1)), target=4)
    single = error_bound(network(layer(one)), 3).outputs
    twice = error_bound(network(layer(one, one)), 3)
    apart = error_bound(network(layer(one, other)), 3)
    assert twice.outputs == pytest.approx(2 * single, rel=1e-12)
    assert twice.outputs >= 2 * single
    assert (apart.outputs, apart.coordinates[4]) == (single, single)
    require_sound(network(layer(one, one)), 3)
    both = replace(one, values=(row((3, 1)), row((3, 1))), targets=(0, 0))
    require_sound(replace(network(layer(both)), head_width=4), 3)


def test_what_is_not_read_has_an_error_and_does_no_harm() -> None:
    """The error of coordinate 4 is its own, until a later layer reads it."""
    first = layer(head(row((3, 1)), target=4))
    quiet = network(first, layer(head(row((3, 1)), coldness=number(100))))
    found = error_bound(quiet, 3)
    assert found.coordinates[4] > Fraction(1, 10)
    assert 0 < found.outputs < Fraction(1, 10**8)
    loud = network(first, layer(head(row((4, 1)), coldness=number(100))))
    assert error_bound(loud, 3).outputs > Fraction(1, 10)
    for made in (quiet, loud):
        require_sound(made, 3)


@pytest.mark.parametrize("masking", [Masking.STRICT_FUTURE, Masking.STRICT_PAST])
def test_a_head_that_sees_nothing_or_one_position_makes_no_error(masking: Masking) -> None:
    made = network(layer(head(row((3, 1)), masking=masking, coldness=number(Fraction(1, 2)))))
    assert error_bound(made, 1).outputs == error_bound(made, 2).outputs == 0
    assert error_bound(made, 3).outputs > 0
    require_sound(made, 3)
    # Its error is then that of the value.
    behind = network(layer(head(row((3, 1)), target=4)), layer(head(row((4, 2)), masking=masking)))
    require_sound(behind, 2)
    first = error_bound(behind, 2)
    assert first.outputs == pytest.approx(2 * first.coordinates[4], rel=1e-12)


def test_a_uniform_head_averages_the_errors() -> None:
    """Behind the first layer the error of coordinate 4 depends on the position: masks show some of them."""
    first = layer(head(row((3, 1)), masking=Masking.FUTURE, target=4))
    average = Head(Uniform(), Masking.NONE, Softmax(ONE), (), (), (row((4, 1)),), (0,))
    found = error_bound(network(first, layer(average)), 3)
    assert 0 < found.outputs < found.coordinates[4]
    for masking in MASKINGS:
        require_sound(network(first, layer(replace(average, masking=masking))), 3)


def relu(form: LinearForm, bias: Fraction | int, *outputs: tuple[int, Fraction | int]) -> Hidden:
    return Hidden(form, Fraction(bias), row(*outputs))


def test_units_at_zero_and_on_both_sides() -> None:
    """The head reads 1 at most positions: x0 - 1 is 0 in the hard network, and below in the soft one."""
    first = head(row((1, 1)), coldness=number(3))
    for bias in (0, -1, 1, Fraction(-1, 2), Fraction(-999, 1000), -2):
        unit = relu(row((0, 1)), bias, (4, 3))
        require_sound(network(layer(first, hidden=[unit])), 3)
    silent = error_bound(network(layer(first, hidden=[relu(row((0, 1)), -2, (4, 3))])), 3)
    assert silent.coordinates[4] == 0
    active = error_bound(network(layer(first, hidden=[relu(row((0, 1)), 1, (4, 3))])), 3)
    assert active.coordinates[4] == pytest.approx(3 * active.outputs, rel=1e-12)
    away = error_bound(network(layer(first, hidden=[relu(row((0, 1)), 1, (0, -1))])), 3)
    assert away.outputs == 0, "x + relu(...) - relu(...): what is added is taken away again"


def test_a_layer_without_heads_rounds_errors_away() -> None:
    rounding = [relu(row((0, 1)), Fraction(-1, 4), (4, 2)), relu(row((0, 1)), Fraction(-3, 4), (4, -2))]
    made = network(layer(head(row((1, 1)), coldness=number(9))), layer(hidden=rounding), output=4)
    found = error_bound(made, 3)
    assert found.outputs == 0 < found.coordinates[0]
    require_sound(made, 3)
    near = network(layer(head(row((1, 1)), coldness=number(2))), layer(hidden=rounding), output=4)
    assert error_bound(near, 3).outputs > 0
    require_sound(near, 3)
    plain = network(layer(hidden=rounding))
    assert error_bound(plain, 3).outputs == 0
    assert error_bound(network(), 3).coordinates == (0.0,) * 6


@pytest.mark.parametrize("scale", [2**40, 2**39 + 1, Fraction(1, 2**40)])
@pytest.mark.parametrize("cold", [Fraction(1, 10**9), 1, 10**9])
def test_weights_of_every_size(scale: int | Fraction, cold: int) -> None:
    """Scores and values of size 2^80 that differ by little, and what reads them again."""
    coldness = number(Fraction(cold))
    large = head(row((2, 2**40), (3, scale)), key=row((2, 2**40), (3, 1)), coldness=coldness, target=4)
    again = head(row((4, scale), (3, 1)), key=row((4, Fraction(1, 2**40)), (3, 1)), coldness=coldness)
    unit = relu(row((0, 1), (4, -1)), -(2**40), (5, scale))
    made = network(layer(large), layer(again, hidden=[unit]))
    require_sound(made, 1)
    require_sound(made, 3)


def test_equal_greatest_scores_with_one_value() -> None:
    """Two positions of three are [a] = 1 and read; errors of the first layer are theirs alone."""
    first = layer(head(row((3, 1)), masking=Masking.FUTURE, coldness=number(4), target=4))
    made = network(first, layer(head(row((1, 1)), key=row((1, 1)), coldness=number(4))))
    assert examine(made, 3).tie is None
    require_sound(made, 3)
    found = error_bound(network(layer(head(row((1, 1)), key=row((1, 1)), coldness=number(4)))), 3)
    with precision(100):
        rest = 2 * (-flint.arb(4)).exp() / (1 + 2 * (-flint.arb(4)).exp())
        assert flint.arb(found.outputs) >= rest
    tied = network(first, layer(head(row((4, 1)), key=row((1, 1)), coldness=number(4))))
    with pytest.raises(TieError, match="head 0 of layer 1"):
        error_bound(tied, 3)


# Temperatures ---------------------------------------------------------------------------------------


def test_each_head_has_its_own_temperature_at_each_position() -> None:
    hard = next(tieless(2, 2, 3))[0]
    forms = iter((times(40, I), plus(9, FIRST), Power(N, 3), number(5)))
    own = replace(
        hard,
        layers=tuple(
            replace(one, heads=tuple(replace(h, weighting=Softmax(next(forms))) for h in one.heads))
            for one in hard.layers
        ),
    )
    require_sound(own, 3)
    assert inverse_temperatures(own)[0] == (times(40, I), plus(9, FIRST))
    assert ErrorBudget(hard, 3).error_bound(inverse_temperatures(own)) == error_bound(own, 3)


def test_what_is_kept_is_followed_once(monkeypatch: pytest.MonkeyPatch) -> None:
    hard = next(tieless(3, 2, 4))[0]
    calls = []
    follow = streams.follow
    monkeypatch.setattr(elementwise, "follow", lambda *given: calls.append(1) or follow(*given))
    monkeypatch.setattr(streams, "AT_ONCE", 4 * 16)
    colds = [inverse_temperatures(softened(hard, cold)) for cold in (10, 1000)]
    kept = ErrorBudget(hard, 4)
    found = [kept.error_bound(cold) for cold in colds]
    assert len(calls) == 4, "four batches of four words, for two temperatures"
    monkeypatch.setattr(elementwise, "MOST_KEPT", 1)
    streamed = ErrorBudget(hard, 4)
    assert [streamed.error_bound(cold) for cold in colds] == found
    assert len(calls) == 12
    assert [
        streamed.is_within(cold, Fraction(value.outputs)) for cold, value in zip(colds, found, strict=True)
    ]
    words = [tuple("abab"), tuple("bbba")]
    assert ErrorBudget(hard, 4, words).error_bound(colds[0]).outputs <= found[0].outputs


def test_what_is_within_is_found_with_few_words(monkeypatch: pytest.MonkeyPatch) -> None:
    """A word that was too far off is looked at first the next time, and alone if that settles it."""
    hard = next(tieless(3, 2, 4))[0]
    seen: list[int] = []
    follow = streams.follow
    monkeypatch.setattr(elementwise, "MOST_KEPT", 1)
    monkeypatch.setattr(streams, "AT_ONCE", 16 * 4)
    monkeypatch.setattr(elementwise, "follow", lambda *given: seen.append(len(given[1])) or follow(*given))
    kept = ErrorBudget(hard, 4)
    known = [inverse_temperatures(softened(hard, 2**k)) for k in range(4, 12)]
    bounds = [kept.error_bound(cold).outputs for cold in known]
    assert sum(seen) == 16 * len(known)
    epsilon = Fraction((bounds[3] + bounds[4]) / 2)
    seen.clear()
    assert [kept.is_within(cold, epsilon) for cold in known] == [bound <= epsilon for bound in bounds]
    is_settled = sum(bound > epsilon for bound in bounds[1:])
    assert sum(count == 1 for count in seen) >= is_settled > 2
    assert sum(seen) < 16 * len(known)
    assert kept.is_within(known[4], Fraction(bounds[4]))


def test_the_worst_word_settles_it_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    """An epsilon just below the bound fails for one word of a batch; the next time no other is looked at."""
    soft = softened(next(tieless(5, 2, 4))[0], 40)
    own, tried = inverse_temperatures(soft), ErrorBudget(soft, 4)
    bound = tried.error_bound(own).outputs
    below = Fraction(bound) * Fraction(10**9 - 1, 10**9)
    assert tried.is_within(own, Fraction(bound))
    assert not tried.is_within(own, below)
    monkeypatch.setattr(ErrorBudget, "_facts", lambda _: iter(()))
    assert not tried.is_within(own, below)
    assert tried.is_within(own, 2 * below), "nothing but the one word is left"


def test_colder_is_never_further() -> None:
    hard = next(tieless(4, 2, 4))[0]
    known = ErrorBudget(hard, 4)
    found = [known.error_bound(inverse_temperatures(softened(hard, 2**k))).outputs for k in range(0, 20)]
    assert found == sorted(found, reverse=True)


def test_what_has_no_bound_is_refused_or_infinite() -> None:
    hard = next(tieless(1, 1, 3))[0]
    with pytest.raises(UnsupportedError, match="head 0 of layer 0 is average-hard, and has no temperature"):
        error_bound(hard, 3)
    with pytest.raises(UnsupportedError, match="an inverse temperature is beyond"):
        error_bound(softened(hard, 2**901), 3)
    with pytest.raises(UnsupportedError, match="an inverse temperature is beyond"):
        error_bound(softened(hard, Fraction(1, 2**901)), 3)
    far = network(layer(head(row((3, 2**1000)))))
    with pytest.raises(UnsupportedError, match="float64 cannot follow"):
        error_bound(far, 3)
    first = head(row((3, 1)), target=4)
    grown = layer(first, hidden=[relu(row((4, 2**800)), -(2**801), (5, 1))])
    more = layer(hidden=[relu(row((5, 2**800)), 0, (0, 1))])
    found = error_bound(network(grown, more), 2)
    assert found.outputs == float("inf"), "0 in the hard network, and 2^1600 does not fit"


def test_below_zero_nothing_is_known_of_weights() -> None:
    """Soft attention then prefers what is less: a weight is at most 1. At 0 it is at most 1/2."""
    assert np.isnan(elementwise._cold(times(Fraction(-1, 2), I), 3)).all()
    assert elementwise._cold(times(2, plus(I, -1)), 3).tolist() == [0, 2, 4]
    first = layer(head(row((3, 1)), target=4))
    for cold in (Fraction(-1, 2), Fraction(-3), Fraction(0)):
        again = head(row((3, 1)), key=row((4, 1), (3, 1)), coldness=number(cold))
        require_sound(network(first, layer(again)), 3)
    two = error_bound(network(layer(head(row((3, 3)), coldness=number(Fraction(0))))), 2, [tuple("aa")])
    assert two.outputs == pytest.approx(1.5, rel=1e-12)


# Arithmetic -----------------------------------------------------------------------------------------


def test_a_bound_is_zero_or_large_enough() -> None:
    values = np.array([0.0, 2.0**-1060, 1.0, np.inf, np.nan])
    found = up(values, 5)
    assert found[0] == 0
    assert found[1] == LEAST
    assert found[2] > 1
    assert found[3] == np.inf
    assert np.isnan(found[4])


def test_weights_are_bounds_on_what_balls_say() -> None:
    random = np.random.default_rng(1)
    shape = (40, 3, 3)
    below = 2.0 ** random.uniform(-30, 12, shape)
    moved = below * random.choice([0, 1e-9, 0.5, 1, 1.5], shape)
    cold = 2.0 ** random.uniform(-10, 10, 3)
    everywhere = np.ones(shape, dtype=np.bool_)
    winner = np.zeros(shape[:2], dtype=np.int64)
    none = np.zeros((*shape, 0))
    score_gaps = rounded.GapFacts(winner, ~everywhere, everywhere, below, none, none, none[:, :, 0])
    with np.errstate(all="ignore"):
        found = elementwise._weights(score_gaps, moved, cold)
    with precision(200):
        for place in np.ndindex(shape):
            away = flint.arb(moved[place]) - flint.arb(below[place])
            exact = 1 / (1 + (-away * flint.arb(cold[place[1]])).exp())
            assert not flint.arb(found[place]) < exact
            assert found[place] <= 1
            assert flint.arb(found[place]) <= exact * (1 + flint.arb(2) ** -40) + flint.arb(2 * LEAST)


def test_patterns_of_many_units() -> None:
    random = np.random.default_rng(2)
    distinct = random.random((9, 70)) < 0.5
    distinct[1] = distinct[0]
    distinct[1, 69] ^= True
    distinct[2] = distinct[0]
    distinct[2, 0] ^= True
    chosen = random.integers(0, 9, 200)
    first, which = elementwise._patterns(distinct[chosen])
    assert len(first) == 9
    assert (distinct[chosen][first][which] == distinct[chosen]).all()
    assert [len(part) for part in elementwise._patterns(np.zeros((5, 0), dtype=np.bool_))] == [1, 5]


def test_few_draws_are_needed() -> None:
    assert len(list(islice(tieless(0, 1, 3), 2))) == 2


@pytest.mark.slow
@pytest.mark.parametrize("masking", MASKINGS)
def test_many_bounds_are_what_is_written(masking: Masking) -> None:
    random = Random(f"by the book at length {masking}")
    for count in range(40):
        network = drawn(random, 1 + count % 3, maskings=(masking, random.choice(MASKINGS)))
        for length in (1, 3, 4):
            if examine(network, length).tie is None:
                cold = Fraction(2) ** random.randint(-3, 14)
                require_by_the_book(softened(network, times(cold, Power(I, random.randint(-1, 2)))), length)
