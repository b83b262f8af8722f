"""How large the numbers of a stream can be: what cancels in clamps counts once, and nothing else cancels."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction

import pytest

from attemper.exports.gpt2.sizes import alone_of, pairs_of, sizes_of
from attemper.networks.layers import Hidden, Layer
from tests.support.drawn.clamped_networks import BIG, HALF, letters_network

UP = Fraction(2)


def unit(amount: Fraction, bias: Fraction, written: Fraction, *, read: int = 0, to: int = 1) -> Hidden:
    return Hidden(((read, amount),), bias, ((to, written),))


def test_a_unit_counts_in_one_clamp_only() -> None:
    low, high = unit(BIG, HALF, Fraction(1)), unit(BIG, Fraction(0), Fraction(-1))
    layer = Layer((), (low, high, low), ((0, 1), (2, 1)))
    assert pairs_of(layer) == ((0, 1),)
    assert alone_of(layer) == (low,)
    network = replace(letters_network({}, {"a": 1}), layers=(layer,))
    assert sizes_of(network, [Fraction(0)] * 2) == [1, HALF + BIG + HALF]
    for units, clamps in (((low, high, high), ((0, 1), (0, 2))), ((high, low, low), ((1, 0), (2, 0)))):
        assert pairs_of(Layer((), units, clamps)) == (clamps[0],)
        assert alone_of(Layer((), units, clamps)) == (units[2],)
    twice = Layer((), (low, high), ((0, 1), (0, 1)))
    assert pairs_of(twice) == ((0, 1),)
    assert sizes_of(replace(network, layers=(twice,)), [Fraction(0)] * 2) == [1, HALF]


@pytest.mark.parametrize(
    "second",
    [
        unit(BIG / 2, Fraction(0), Fraction(-1)),
        unit(BIG, Fraction(0), Fraction(1)),
        unit(BIG, Fraction(0), Fraction(-2)),
        unit(BIG, Fraction(0), Fraction(-1), to=0),
        Hidden(((0, BIG),), Fraction(0), ()),
    ],
    ids=["another form", "the same sign", "another factor", "another target", "nothing"],
)
def test_units_that_do_not_cancel_are_no_pair(second: Hidden) -> None:
    first = unit(BIG, HALF, Fraction(1))
    layer = Layer((), (first, second), ((0, 1),))
    assert pairs_of(layer) == ()
    assert alone_of(layer) == (first, second)
    network = replace(letters_network({}, {"a": 1}), layers=(layer,))
    assert sizes_of(network, [Fraction(0)] * 2)[1] >= BIG


def test_pairs_of_any_order_and_number_of_outputs_count_once() -> None:
    first = Hidden(((0, BIG),), HALF, ((0, UP), (1, -UP)))
    second = Hidden(((0, BIG),), Fraction(0), ((0, -UP), (1, UP)))
    for units, pair in (((first, second), (0, 1)), ((second, first), (1, 0)), ((second, first), (0, 1))):
        network = replace(letters_network({}, {"a": 1}), layers=(Layer((), units, (pair,)),))
        assert sizes_of(network, [Fraction(0)] * 2) == [2, 1]


def test_an_embedding_is_as_large_as_its_largest_symbol_whatever_the_sign() -> None:
    for embedding in (({"a": -5}, {"a": 2}), ({"a": 2}, {"a": -5}), ({"a": 5}, {"a": -5})):
        assert sizes_of(letters_network({}, {"a": 1}, embedding=embedding), [Fraction(0)] * 2)[0] == 5
