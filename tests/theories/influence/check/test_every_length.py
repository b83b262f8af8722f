"""Lemma 5 for every n: no exchange changes more than C/n, and C is what FORMAT.md says it is."""

from __future__ import annotations

from dataclasses import fields, replace
from fractions import Fraction

import numpy as np
import pytest

from attemper.checker.verdict import Status
from attemper.errors import UnsupportedError
from attemper.models.arrays import Integers
from attemper.models.soft.soft import outputs_of
from attemper.models.soft.weights import Bounded, Encoder, EncoderLayer, Mask, NoPositions, position_rows
from attemper.theories.influence.ask.bounding import BoundRequest, bound_and_check
from attemper.theories.influence.certificate import (
    LIMIT,
    EveryLengthBound,
    NoMargin,
    OneSymbolBound,
    RecogniserFloor,
)
from attemper.theories.influence.check.claims import check_limit
from attemper.theories.influence.check.every_length import every_length_bound
from tests.support.drawn.encoders import bounded_encoder, learned, random_encoder, words_of
from tests.support.oracles import lemma_five
from tests.support.suites import Few

LENGTHS = (2, 4, 16, 64, 256, 1024)


def constant(encoder: Encoder) -> float:
    found, _ = every_length_bound(encoder, [[1]])
    return float(found)


def as_read(encoder: Encoder) -> list[tuple[lemma_five.Layer, int]]:
    """The layers for the oracle, which knows no class of ours."""
    return [
        (
            {each.name: getattr(layer, each.name) for each in fields(EncoderLayer)[:8]},
            layer.heads,
        )
        for layer in encoder.layers
    ]


def drawn(seed: int, **options: object) -> Encoder:
    """One of the encoders of the sweep: sinusoidal or with a learned table, of up to three layers."""
    rng = np.random.default_rng(seed)
    layers, width = 1 + seed % 3, int(rng.choice([2, 4, 8]))
    scale = float(rng.choice([0.05, 0.2, 0.5, 1.0]))
    gain = float(rng.choice([0.2, 0.4, 0.8, 1.6])) / layers
    positions = learned(seed, width, scale) if seed % 2 else None
    heads = 2 if seed % 5 == 0 else 1
    return bounded_encoder(seed, layers, heads, width=width, gain=gain, scale=scale, positions=positions)


def greatest_found(encoder: Encoder, length: int, rng: np.random.Generator) -> float:
    """The greatest change of a few words with a few exchanges each."""
    count = 8 if length <= 64 else 2
    bodies = (rng.random((count, length - 1)) < rng.random((count, 1))).astype(np.int64)
    bodies[0] = 0
    words = np.concatenate([bodies, np.full((count, 1), 2)], axis=1)
    greatest = 0.0
    for place in {0, length // 2 % (length - 1), length - 2}:
        others = words.copy()
        others[:, place] = 1 - others[:, place]
        moved = outputs_of(encoder, words)[:, 0] - outputs_of(encoder, others)[:, 0]
        greatest = max(greatest, float(np.abs(moved).max()))
    return greatest


@pytest.mark.sweep(3)
@pytest.mark.parametrize("seed", range(200))
def test_no_exchange_changes_more_at_any_length(seed: int, request: pytest.FixtureRequest) -> None:
    encoder, rng = drawn(seed), np.random.default_rng(seed)
    bound = constant(encoder)
    lengths = LENGTHS[:4] if request.config.getoption("--suite") == "quick" else LENGTHS
    for length in lengths:
        assert length * greatest_found(encoder, length, rng) <= bound


def narrow(seed: int) -> Encoder:
    """An encoder of width 1 over two symbols and a marker, with positions at the ends of their box."""
    rng = np.random.default_rng([seed, 7])
    layers, scale = int(rng.integers(1, 4)), float(rng.choice([0.0, 0.3, 1.0]))
    table = scale * rng.choice([-1.0, 1.0, rng.uniform(-1, 1)], size=(5, 1))
    encoder = bounded_encoder(
        seed,
        layers,
        width=1,
        gain=float(rng.choice([0.3, 1.0, 2.0])),
        positions=Bounded(lambda places, _: table[places - 1], -scale, scale),
    )
    return replace(encoder, embedding=encoder.embedding * rng.choice([0.2, 1.0, 3.0]))


def exchanges(length: int) -> tuple[Integers, Integers]:
    """The rows of all words that one exchange parts."""
    words = words_of(length)
    near = (words[:, None] != words[None]).sum(axis=2) == 1
    first, second = np.nonzero(np.triu(near))
    return first, second


@pytest.mark.parametrize("part", range(20))
@pytest.mark.sweep(1)
def test_no_exchange_of_all_short_words_changes_more(part: int, few: Few) -> None:
    """2,000 encoders of width 1, all words to length 5, by arithmetic that shares nothing."""
    greatest = 0.0
    for seed in few(range(100 * part, 100 * part + 100), 12):
        encoder = narrow(seed)
        bound = constant(encoder)
        for length in range(2, 6):
            found = lemma_five.outputs(
                words_of(length),
                encoder.embedding,
                position_rows(encoder, length),
                as_read(encoder),
                encoder.readout[0],
            )
            first, second = exchanges(length)
            change = length * float(np.abs(found[first] - found[second]).max())
            assert change <= bound * (1 + 2.0**-40)
            greatest = max(greatest, change / bound)
    assert greatest > 0.1  # a bound that is a tenth of it would be seen to be false


@pytest.mark.parametrize("seed", range(60))
@pytest.mark.sweep(6)
def test_the_constant_is_that_of_a_second_reading(seed: int) -> None:
    """Norms of the checker may be too great by d^(1/128) each; of the width 1 it has no choice."""
    marked = seed % 4 > 0
    for encoder in (drawn(seed), narrow(seed)):
        read = encoder if marked else replace(encoder, ending=None)
        positions = encoder.positions
        assert isinstance(positions, Bounded)
        box = (positions.least, positions.greatest)
        wanted, ranges = lemma_five.constant(
            encoder.embedding, box, as_read(encoder), encoder.readout[0], 2 if marked else None
        )
        found, ranged = every_length_bound(read, [[1]])
        assert [float(each) for each in ranged] == pytest.approx(ranges, rel=1e-6)
        if wanted == np.inf:
            assert found > 10**200
            continue
        more = 3 * len(encoder.layers) / 64 * np.log(encoder.width) + 1e-6 * (1 + sum(ranges))
        assert -1e-9 * (1 + sum(ranges)) <= float((found / wanted).log()) <= more


@pytest.mark.parametrize(("layers", "gain"), [(1, 0.5), (2, 0.3), (3, 0.3)])
def test_where_positions_are_small_the_constant_is(layers: int, gain: float) -> None:
    found = [constant(bounded_encoder(seed, layers, gain=gain, scale=0.1)) for seed in range(12)]
    assert max(found) <= 10


# As a claim -----------------------------------------------------------------------------------------


def bounded(encoder: Encoder) -> OneSymbolBound:
    found = bound_and_check(encoder, BoundRequest(seconds=0))
    assert found.bound is not None
    assert found.status is Status.PROVED
    return found.bound


def test_what_is_claimed_is_checked_from_the_weights() -> None:
    encoder = bounded_encoder(3)
    found = bounded(encoder)
    assert isinstance(found.bound, EveryLengthBound)
    assert LIMIT.decode(LIMIT.encode(found)) == found
    assert [type(each) for each in found.consequences] == [NoMargin, *[RecogniserFloor] * 3]
    less = replace(found, bound=EveryLengthBound(found.bound.constant * Fraction(99, 100)), consequences=())
    assert check_limit(less, encoder).status is Status.UNKNOWN
    assert isinstance(encoder.positions, Bounded)
    wider = replace(encoder, positions=replace(encoder.positions, greatest=0.2))
    assert check_limit(found, wider).status is Status.MALFORMED
    assert check_limit(replace(less, digest=wider.digest), wider).status is Status.UNKNOWN
    elsewhere = replace(encoder, positions=replace(encoder.positions, function=lambda i, n: np.zeros((n, 8))))
    assert check_limit(found, elsewhere).status is Status.PROVED  # whatever rows there are in the box


def test_from_its_start_on_a_margin_leaves_no_room_and_before_it_may() -> None:
    encoder = bounded_encoder(3)
    found = bounded(encoder)
    assert isinstance(found.bound, EveryLengthBound)
    tight = found.bound.constant / 100
    start = next(each.start for each in bounded_at(encoder, tight) if isinstance(each, NoMargin))
    assert found.bound.constant / start < 2 * tight <= found.bound.constant / (start - 1)
    for changed, status in (
        (NoMargin(tight, start - 1, ()), Status.MALFORMED),
        (NoMargin(tight, start - 1, (0,)), Status.MALFORMED),  # pairs at single lengths are of frequencies
        (NoMargin(tight, start, ()), Status.PROVED),
        (NoMargin(tight, 1, ()), Status.MALFORMED),
    ):
        assert check_limit(replace(found, consequences=(changed,)), encoder).status is status


def bounded_at(encoder: Encoder, margin: Fraction) -> tuple[object, ...]:
    found = bound_and_check(encoder, BoundRequest(seconds=0, margin=margin)).bound
    assert found is not None
    return found.consequences


@pytest.mark.parametrize(
    ("encoder", "said"),
    [
        (bounded_encoder(0, 2, mask=Mask.FUTURE_MASKED), "the first symbol may change more"),
        (replace(bounded_encoder(0), positions=NoPositions()), "for positions that a function gives"),
        (random_encoder(0, positions=Bounded(lambda i, n: np.zeros((n, 16)), 0.0, 0.0)), "without LayerNorm"),
    ],
    ids=["a mask", "no positions", "norms"],
)
def test_other_encoders_are_refused(encoder: Encoder, said: str) -> None:
    with pytest.raises(UnsupportedError, match=said):
        every_length_bound(encoder, [[1]])
    claim = OneSymbolBound(
        encoder.digest, "", encoder.symbols, "$", ((1,),), EveryLengthBound(Fraction(10**9))
    )
    assert check_limit(claim, encoder).status is Status.MALFORMED


def averaging() -> Encoder:
    """Each of its two layers adds the mean of what is seen."""
    layer = EncoderLayer(
        *(np.array([[0.0], [0.0], [1.0]]), np.zeros(3), np.ones((1, 1)), np.zeros(1)),
        *(np.zeros((1, 1)), np.zeros(1), np.zeros((1, 1)), np.zeros(1)),
        norms=None,
        heads=1,
        norm_first=False,
    )
    rows = np.array([[0.0], [1.0], [0.0]])
    return replace(
        bounded_encoder(0, width=1, scale=0.0), layers=(layer, layer), embedding=rows, readout=np.ones((1, 1))
    )


def test_with_a_mask_and_two_layers_it_would_be_false() -> None:
    """n times what x_1 changes is 2 + 1/2 + ... + 1/n: it grows beyond every C."""
    encoder, places = averaging(), np.arange(1, 2**20)
    masked = replace(encoder, mask=Mask.FUTURE_MASKED)
    words = np.array([[0] * 31 + [2], [1] + [0] * 30 + [2]])
    zero, one = outputs_of(masked, words)[:, 0]
    assert 32 * (one - zero) == pytest.approx(2 + (1 / places[:32]).sum(), abs=1e-9)
    assert constant(encoder) == pytest.approx(8, abs=1e-6)
    assert constant(encoder) < 2 + (1 / places).sum()
    zero, one = outputs_of(encoder, words)[:, 0]
    assert 32 * (one - zero) == pytest.approx(3)


def test_one_layer_may_be_masked_and_may_stand_twice() -> None:
    encoder = bounded_encoder(1)
    assert constant(replace(encoder, mask=Mask.FUTURE_MASKED)) == constant(encoder)
    twice = replace(encoder, layers=encoder.layers * 2)
    copied = replace(encoder, layers=(encoder.layers[0], replace(encoder.layers[0])))
    assert constant(twice) == constant(copied) > constant(encoder)


def test_what_is_beyond_all_numbers_is_unknown() -> None:
    encoder = bounded_encoder(2, gain=1e80)
    found = bound_and_check(encoder, BoundRequest(seconds=0))
    assert (found.status, found.bound) == (Status.UNKNOWN, None)
    assert "beyond 2^1000" in str(found)
    claim = OneSymbolBound(
        encoder.digest, "", encoder.symbols, "$", ((1,),), EveryLengthBound(Fraction(10**300))
    )
    assert check_limit(claim, encoder).status is Status.UNKNOWN
    still = replace(encoder, readout=np.zeros((1, 8)))
    assert check_limit(replace(claim, digest=still.digest), still).status is not Status.MALFORMED
