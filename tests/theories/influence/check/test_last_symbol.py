"""Encoders without an end marker, read at x_n: bounds are over every x_n, the same in both words."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction
from itertools import product

import numpy as np
import pytest

from attemper.checker.verdict import Status
from attemper.models.arrays import Integers
from attemper.models.soft.soft import outputs_of
from attemper.models.soft.weights import Bounded, Encoder, NoPositions, by_last_symbol
from attemper.models.soft.wellformed import complaints
from attemper.theories.influence.ask.bounding import BoundRequest, bound_and_check
from attemper.theories.influence.certificate import (
    EveryLengthBound,
    FrequencyBound,
    NoMargin,
    OneSymbolBound,
    RecogniserFloor,
    SourceFloor,
)
from attemper.theories.influence.check.claims import check_limit
from attemper.theories.influence.check.floors import Readout, cross_entropy_floor
from tests.support.drawn.encoders import bounded_encoder

BOTH = ("0", "1")
NEXT = ("0", "1", "END")


def unmarked(seed: int, outputs: tuple[str, ...] = ("o",), *, blind: bool = True) -> Encoder:
    encoder = bounded_encoder(seed, width=4, gain=1.0, symbols=BOTH, ending=None, outputs=outputs)
    return replace(encoder, positions=NoPositions()) if blind else encoder


def words(length: int) -> Integers:
    return np.array(list(product((0, 1), repeat=length)), dtype=np.int64)


def greatest_change(encoder: Encoder, length: int) -> float:
    """Of all words that one exchange before x_n parts."""
    found = outputs_of(encoder, words(length))[:, 0]
    numbers = np.arange(2**length)
    return max(float(np.abs(found - found[numbers ^ (1 << place)]).max()) for place in range(1, length))


def proved(encoder: Encoder, **asked: object) -> OneSymbolBound:
    found = bound_and_check(encoder, BoundRequest(**asked))  # type: ignore[arg-type]
    assert found.status is Status.PROVED
    assert found.bound is not None
    return found.bound


def test_an_encoder_is_one_with_a_marker_for_each_last_symbol() -> None:
    encoder = unmarked(3)
    read = by_last_symbol(encoder)
    assert [each.symbols for each in read] == [("0", "1", "01$")] * 2
    for last, each in enumerate(read):
        assert by_last_symbol(each) == (each,)
        bodies = words(4)
        marked = np.concatenate([bodies, np.full((16, 1), 2)], axis=1)
        plain = np.concatenate([bodies, np.full((16, 1), last)], axis=1)
        assert np.array_equal(outputs_of(each, marked), outputs_of(encoder, plain))


@pytest.mark.parametrize("seed", [0, 1])
@pytest.mark.parametrize("blind", [True, False])
def test_a_bound_is_over_every_last_symbol(seed: int, blind: bool) -> None:
    encoder = unmarked(seed, blind=blind)
    found = proved(encoder, start=8, seconds=4)
    assert isinstance(found.bound, FrequencyBound if blind else EveryLengthBound)
    assert found.ending is None
    constant = found.bound.constant
    for length in (8, 9):
        assert length * greatest_change(encoder, length) <= constant
    less = replace(found, bound=replace(found.bound, constant=constant / 2), consequences=())
    assert check_limit(less, encoder).status is Status.UNKNOWN
    marked = replace(encoder, symbols=("0", "1"), ending="1")
    assert check_limit(replace(found, digest=marked.digest), marked).status is Status.MALFORMED


def test_what_follows_for_recognisers_needs_no_marker_but_pairs_at_single_lengths_do() -> None:
    encoder = unmarked(0)
    found = proved(encoder, start=8, seconds=4)
    kinds = [type(each) for each in found.consequences]
    assert kinds == [NoMargin, *[RecogniserFloor] * 3]
    first = found.consequences[0]
    assert isinstance(first, NoMargin)
    assert not first.counts
    earlier = replace(first, start=first.start - 1, counts=(0,))
    assert check_limit(replace(found, consequences=(earlier,)), encoder).status is Status.MALFORMED


def test_a_floor_on_parity_is_that_of_a_model_read_at_the_last_symbol() -> None:
    encoder = unmarked(1, NEXT, blind=False)
    found = proved(encoder, start=64)
    first = next(each for each in found.consequences if isinstance(each, SourceFloor))
    assert isinstance(found.bound, EveryLengthBound)
    assert isinstance(encoder.positions, Bounded)
    source = BoundRequest().source
    exact = cross_entropy_floor(source, 64, found.bound.constant / 64, Readout.LAST)
    higher = cross_entropy_floor(source, 64, found.bound.constant / 64, Readout.QUERY)
    assert 0 <= float(exact) - float(first.nats) <= 2e-6
    assert float(higher) > float(exact)
    more = replace(first, nats=first.nats + Fraction(1, 10**5))
    assert check_limit(replace(found, consequences=(more,)), encoder).status is Status.UNKNOWN
    claim = check_limit(found, encoder).claims[1]
    assert "prefixes of 64 symbols: at least" in claim.text


def test_what_is_read_is_no_symbol_that_is_exchanged() -> None:
    """A reader's: no layer, and what is put out is x_n, which changes it by 1; no other symbol does."""
    encoder = replace(
        unmarked(3, blind=False),
        layers=(),
        embedding=np.array([[0.0], [1.0]]),
        readout=np.array([[1.0]]),
        bias=np.array([0.0]),
        positions=Bounded(lambda places, n: np.zeros((n, 1)), 0.0, 0.0),
    )
    (claim, *_) = check_limit(
        OneSymbolBound(encoder.digest, "", BOTH, None, ((1,),), EveryLengthBound(Fraction(0)), ()), encoder
    ).claims
    assert claim.status is Status.PROVED
    assert claim.text.startswith(
        "one symbol before the last of any word of n symbols changes the output by at"
    )
    assert claim.text.endswith("with any positions from 0.0 to 0.0")


def test_positions_outside_their_box_are_seen_where_a_length_is_named() -> None:
    encoder = replace(
        unmarked(3, blind=False), positions=Bounded(lambda places, n: np.full((n, 4), float(n)), -0.1, 0.1)
    )
    bound = OneSymbolBound(encoder.digest, "", BOTH, None, ((1,),), EveryLengthBound(Fraction(100)), ())
    assert check_limit(bound, encoder).status is Status.MALFORMED


def test_a_box_of_other_numbers_is_refused() -> None:
    low = np.float32(-0.1)
    encoder = replace(unmarked(3, blind=False), positions=Bounded(lambda _, n: np.zeros((n, 4)), low, 0.1))
    assert "write float" in next(complaints(encoder))
