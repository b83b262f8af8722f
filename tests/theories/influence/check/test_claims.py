"""Claims about soft attention: nothing false is proved, whatever is changed in a bound or an encoder."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction
from functools import cache

import numpy as np
import pytest

from attemper.checker.verdict import Status
from attemper.errors import OptionError
from attemper.models.soft.soft import outputs_of, outputs_of_histograms
from attemper.models.soft.weights import (
    Bounded,
    Encoder,
    EncoderLayer,
    EncoderNorm,
    Mask,
    NoPositions,
    Periodic,
    PositionEncoding,
    Table,
)
from attemper.theories.influence.ask.bounding import (
    BoundRequest,
    Limit,
    Typical,
    bound_and_check,
    greatest_change,
)
from attemper.theories.influence.certificate import (
    LIMIT,
    Consequence,
    FrequencyBound,
    NoMargin,
    OneSymbolBound,
    PairBound,
    RecogniserFloor,
    SourceFloor,
    TableBound,
)
from attemper.theories.influence.check.claims import at_its_length, check_limit
from tests.support.drawn.encoders import BITS, fixture, random_encoder, words_of

MILLION = Fraction(1, 10**6)


@cache
def majority() -> tuple[Encoder, OneSymbolBound]:
    encoder = fixture("majority_1_post")
    return encoder, bound_of(bound_and_check(encoder, BoundRequest(seconds=60)))


def bound_of(limit: Limit) -> OneSymbolBound:
    assert limit.bound is not None
    assert limit.verdict is not None
    assert limit.verdict.status is Status.PROVED
    return limit.bound


def frequencies(found: OneSymbolBound) -> FrequencyBound:
    assert isinstance(found.bound, FrequencyBound)
    return found.bound


def with_bound(found: OneSymbolBound, **changes: object) -> OneSymbolBound:
    return replace(found, bound=replace(frequencies(found), **changes), consequences=())  # type: ignore[arg-type]


def status(found: OneSymbolBound, encoder: Encoder) -> Status:
    return check_limit(found, encoder).status


def test_a_bound_is_above_every_change_of_every_word() -> None:
    encoder, found = majority()
    constant = frequencies(found).constant
    for length in (4096, 5000, 20_000):
        assert length * greatest_change(encoder, length, None) <= constant


def test_a_margin_is_impossible_as_claimed() -> None:
    encoder, found = majority()
    (claim,) = (each for each in found.consequences if isinstance(each, NoMargin))
    for length in range(claim.start, 9):
        outputs = outputs_of(encoder, words_of(length))[:, 0]
        odd = words_of(length)[:, :-1].sum(axis=1) % 2 == 1
        assert max(outputs[odd].min() - outputs[~odd].max(), outputs[~odd].min() - outputs[odd].max()) < 2


@pytest.mark.parametrize("length", [4096, 40_960])
def test_no_recogniser_has_less_cross_entropy_than_claimed(length: int) -> None:
    """Of the encoder itself, over uniform words: by its histograms, exactly but for float64."""
    encoder, found = majority()
    nats = next(each.nats for each in found.consequences if isinstance(each, RecogniserFloor))
    ones = np.arange(length)
    outputs = outputs_of_histograms(encoder, np.stack([length - 1 - ones, ones, np.ones(length)], 1), 2)[:, 0]
    weights = np.exp(_log_choose(length - 1) - (length - 1) * np.log(2))
    for sign in (1, -1):
        losses = np.logaddexp(0, np.where(ones % 2 == 0, -sign, sign) * outputs)
        assert (weights * losses).sum() >= nats


def _log_choose(count: int) -> np.ndarray:
    """ln of the binomial coefficients of `count`."""
    logs = np.concatenate([[0.0], np.cumsum(np.log(np.arange(1, count + 1)))])
    return logs[count] - logs - logs[::-1]


def test_a_smaller_constant_is_not_proved() -> None:
    encoder, found = majority()
    constant = frequencies(found).constant
    assert status(with_bound(found), encoder) is Status.PROVED
    tight = _proved_constant(encoder, found)
    assert status(with_bound(found, constant=tight), encoder) is Status.PROVED
    for less in (tight * (1 - MILLION), constant / 2, Fraction(0)):
        assert status(with_bound(found, constant=less), encoder) is Status.UNKNOWN


def _proved_constant(encoder: Encoder, found: OneSymbolBound) -> Fraction:
    """The greatest bound on a leaf, by halving."""
    from attemper.theories.influence.check.frequencies import Region, largest_bound

    bound = frequencies(found)
    return Fraction(
        largest_bound(encoder, np.array(found.functionals), Region(bound.start, None, None), bound.splits)
    )


def test_splits_that_are_no_tree_prove_nothing() -> None:
    encoder, found = majority()
    splits = frequencies(found).splits
    broken = [
        splits[:-1],
        splits + ".",
        splits.replace(".", "", 1),
        "",
        "x",
        "9..",
        "0.",
        "0" + splits,
        "0.\u0661..",
    ]
    for text in broken:
        assert status(with_bound(found, splits=text), encoder) is Status.MALFORMED
    assert status(with_bound(found, splits="."), encoder) is Status.UNKNOWN


def test_an_earlier_start_is_another_claim() -> None:
    encoder, found = majority()
    earlier = with_bound(found, start=2)
    greatest = max(length * greatest_change(encoder, length, None) for length in range(2, 200))
    if status(earlier, encoder) is Status.PROVED:
        assert greatest <= frequencies(found).constant


def changed_encoders() -> dict[str, Encoder]:
    encoder = fixture("majority_1_post")
    (layer,) = encoder.layers
    nudged = layer.in_weight.copy()
    nudged[0, 0] = np.nextafter(nudged[0, 0], np.inf)
    assert layer.norms is not None
    sharp = tuple(EncoderNorm(norm.gain, norm.bias, 0.0) for norm in layer.norms)
    unknown = layer.in_weight.copy()
    unknown[0, 0] = np.nan
    table = Table(np.zeros((4096, encoder.width)))
    return {
        "one weight": replace(encoder, layers=(replace(layer, in_weight=nudged),)),
        "no epsilon": replace(encoder, layers=(replace(layer, norms=sharp),)),
        "not a number": replace(encoder, layers=(replace(layer, in_weight=unknown),)),
        "a mask": replace(encoder, mask=Mask.FUTURE_MASKED),
        "positions": replace(encoder, positions=table),
        "a function": replace(encoder, positions=Bounded(lambda i, n: np.zeros((n, 16)), 0.0, 0.0)),
        "other symbols": replace(encoder, symbols=("a", "b", "$")),
        "other outputs": replace(encoder, outputs=("END",)),
    }


@pytest.mark.parametrize("name", changed_encoders())
def test_a_bound_of_one_encoder_says_nothing_of_another(name: str) -> None:
    encoder, found = changed_encoders()[name], majority()[1]
    assert status(found, encoder) is Status.MALFORMED
    if name in ("no epsilon", "not a number", "a mask", "positions"):  # also with its digest in the file
        assert status(replace(found, digest=encoder.digest), encoder) is not Status.PROVED


@pytest.mark.parametrize(
    "claim",
    [
        NoMargin(Fraction(1), 1, ()),
        NoMargin(Fraction(1), 2, (0,)),
        NoMargin(Fraction(1, 100), 4096, ()),
        RecogniserFloor(1, Fraction(0)),
        RecogniserFloor(4095, Fraction(0)),
        SourceFloor("parity-even", Fraction(1, 2), 4096, Fraction(0)),
        SourceFloor("parity-even", Fraction(2), 4096, Fraction(0)),
    ],
)
def test_what_cannot_follow_is_malformed(claim: Consequence) -> None:
    encoder, found = majority()
    verdict = check_limit(replace(found, consequences=(claim,)), encoder)
    assert verdict.status is Status.MALFORMED


def test_what_does_not_follow_is_unknown() -> None:
    encoder, found = majority()
    (claim,) = (each for each in found.consequences if isinstance(each, NoMargin))
    far = int(np.argmax(_changes(encoder, claim.start)))
    counts = (far, *claim.counts[1:])
    margin = Fraction(float(_changes(encoder, claim.start).max())) / 2
    tight = replace(claim, counts=counts, margin=min(margin, claim.margin))
    more = RecogniserFloor(4096, Fraction(69314, 100000))
    for each in (more, tight):
        if isinstance(each, NoMargin) and each.margin < claim.margin:
            continue  # another margin needs another list of counts
        assert check_limit(replace(found, consequences=(each,)), encoder).status is not Status.PROVED


def _changes(encoder: Encoder, length: int) -> np.ndarray:
    ones = np.arange(length)
    counts = np.stack([length - 1 - ones, ones, np.ones(length)], 1).astype(float)
    return np.abs(np.diff(outputs_of_histograms(encoder, counts, 2)[:, 0]))


def next_symbols(seed: int = 3) -> Encoder:
    encoder = random_encoder(seed, layers=1, norm="none")
    rows = np.random.default_rng(seed).normal(size=(3, encoder.width)) / 8
    return replace(encoder, readout=rows, bias=np.zeros(3), outputs=("0", "1", "END"))


def test_cross_entropies_on_the_source_follow_for_all_words_and_for_typical_ones() -> None:
    encoder = next_symbols()
    typical = Typical(BoundRequest().source, Fraction(1, 10))
    floors = []
    for asked in (BoundRequest(seconds=30), BoundRequest(seconds=30, typical=typical)):
        found = bound_of(bound_and_check(encoder, asked))
        (first, *_) = (each for each in found.consequences if isinstance(each, SourceFloor))
        floors.append(first.nats)
        more = replace(first, nats=first.nats + Fraction(1, 1000))
        assert check_limit(replace(found, consequences=(more,)), encoder).status is Status.UNKNOWN
        other = replace(first, p=Fraction(1, 3))
        assert check_limit(replace(found, consequences=(other,)), encoder).status is Status.UNKNOWN
        fewer = replace(found, functionals=found.functionals[:1], consequences=(first,))
        assert check_limit(fewer, encoder).status is Status.MALFORMED
    assert 0.87 < floors[0] <= floors[1] + MILLION < 1.0822


def test_a_bound_for_one_length_by_its_table() -> None:
    rows = np.random.default_rng(0).normal(size=(8, 16)) / 2
    encoder = random_encoder(4, layers=1, norm="none", positions=Table(rows))
    found = bound_of(bound_and_check(encoder, BoundRequest(length=8)))
    assert isinstance(found.bound, TableBound)
    outputs = outputs_of(encoder, words_of(8))[:, 0]
    words = words_of(8)[:, :-1]
    near = np.abs(words[:, None] - words[None]).sum(axis=2) == 1
    assert np.abs(outputs[:, None] - outputs[None])[near].max() <= found.bound.change
    less = replace(found, bound=TableBound(8, found.bound.change / 100, last_only=False), consequences=())
    assert check_limit(less, at_its_length(less, encoder)).status is Status.UNKNOWN


def averaging(
    symbols: tuple[str, ...] = BITS,
    outputs: tuple[str, ...] = ("output",),
    positions: PositionEncoding | None = None,
    gain: float = 1.0,
    bias: float = 0.0,
) -> Encoder:
    """Built by hand: output k is (k + 1) gain times the share of 1s, and what positions add."""
    layer = EncoderLayer(*(np.zeros(shape) for shape in SHAPES), norms=None, heads=1, norm_first=False)
    layer.in_weight[4, 0] = layer.out_weight[1, 0] = 1
    embedding = np.array([[float(symbol == "1"), 0] for symbol in symbols])
    readout = np.stack([np.zeros(len(outputs)), gain * np.arange(1, len(outputs) + 1)], axis=1)
    shared = (positions or NoPositions(), Mask.UNMASKED, (layer,), readout)
    return Encoder(symbols, "$", embedding, *shared, np.full(len(outputs), bias), outputs)


SHAPES: tuple[tuple[int, ...], ...] = ((6, 2), (6,), (2, 2), (2,), (1, 2), (1,), (2, 1), (2,))
FOUR = ("0", "1", "2", "$")
HALVES = (Fraction(0), Fraction(1, 2))


def by_hand(encoder: Encoder, constant: Fraction, **changes: object) -> OneSymbolBound:
    """A bound as somebody could write it, with no splits."""
    ending = len(encoder.outputs) - 1
    rows = np.eye(len(encoder.outputs), dtype=int)
    functionals = [rows[ending] - rows[k] for k in range(ending)] or [rows[0]]
    bound = replace(FrequencyBound(2, constant, None, None, "."), **changes)  # type: ignore[arg-type]
    return OneSymbolBound(
        encoder.digest, "", encoder.symbols, "$", tuple(tuple(row.tolist()) for row in functionals), bound
    )


@pytest.mark.parametrize("constant", [Fraction(2**64), Fraction(10**900)])
def test_more_lengths_than_python_counts_are_no_fault(constant: Fraction) -> None:
    encoder = averaging()
    found = replace(by_hand(encoder, constant), consequences=(NoMargin(Fraction(1, 2), 2, ()),))
    assert status(found, encoder) is Status.MALFORMED


def test_a_box_has_sides_for_every_residue() -> None:
    encoder = averaging(positions=Periodic(np.array([[0.0, 0.0], [0.5, 0.0]])))
    found = by_hand(encoder, Fraction(9), residue=(2, 1), box=(HALVES, HALVES))
    (claim,) = check_limit(found, encoder).claims
    assert claim.status is Status.PROVED
    assert "from 0 n to 0.5 n times 1 at positions i = 0 mod 2" in claim.text


def test_no_cross_entropy_follows_from_a_box_of_two_sides() -> None:
    encoder = averaging(FOUR, ("0", "1", "END"))
    said = SourceFloor("parity-even", Fraction(1, 2), 9, Fraction(0))
    found = replace(by_hand(encoder, Fraction(99), box=(HALVES, HALVES)), consequences=(said,))
    first, floor = check_limit(found, encoder).claims
    assert (first.status, floor.status) == (Status.PROVED, Status.MALFORMED)


def test_the_words_of_a_pair_have_one_length() -> None:
    encoder = averaging()
    found = replace(by_hand(encoder, Fraction(9)), bound=PairBound(("0", "1"), ("0",), Fraction(1)))
    assert status(found, encoder) is Status.MALFORMED


@pytest.mark.parametrize(
    "encoder",
    [
        averaging(FOUR),
        averaging(outputs=("END",)),
        averaging(gain=2.0**45),
        averaging(gain=2.0**500),
        averaging(gain=100.0, bias=1e18),
    ],
    ids=["four symbols", "an output END", "steep", "very steep", "biased"],
)
def test_what_is_found_of_encoders_built_by_hand_reads_back_and_is_proved(encoder: Encoder) -> None:
    found = bound_of(bound_and_check(encoder, BoundRequest(start=2, seconds=1)))
    assert LIMIT.decode(LIMIT.encode(found)) == found


def test_a_pair_on_the_margin_is_not_taken() -> None:
    """At n = 500 the outputs of all pairs are 2/1000 apart, which is twice the margin."""
    encoder = averaging()
    found = bound_of(bound_and_check(encoder, BoundRequest(start=2, seconds=1, margin=Fraction(1, 1000))))
    assert [each.start for each in found.consequences if isinstance(each, NoMargin)] == [501]


def test_typical_words_are_words_over_two_symbols() -> None:
    with pytest.raises(OptionError, match="two symbols"):
        bound_and_check(
            averaging(FOUR), BoundRequest(typical=Typical(BoundRequest().source, Fraction(1, 10)))
        )


def test_nothing_is_said_of_layers_that_are_gone_once_they_were_looked_at() -> None:
    """An iterator is used up by the first who reads it: then there is no layer, and nothing to bound."""
    encoder = averaging(gain=100.0)
    found = by_hand(encoder, Fraction(1, 1000))
    passing = replace(encoder, layers=iter(encoder.layers))  # type: ignore[arg-type]
    no_layers = replace(found, digest=replace(encoder, layers=()).digest)
    for each in (found, no_layers):
        assert status(each, passing) is Status.MALFORMED
        table = replace(each, bound=TableBound(2, Fraction(0), last_only=False))
        assert status(table, passing) is Status.MALFORMED


def test_symbols_are_those_of_the_fixtures() -> None:
    assert majority()[0].symbols == BITS
