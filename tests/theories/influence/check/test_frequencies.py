"""Bounds by frequencies against all histograms: never below, and near."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction
from functools import partial
from itertools import product

import flint
import numpy as np
import pytest

from attemper.errors import MalformedFileError, UnsupportedError
from attemper.exact.balls import precision
from attemper.models.soft import soft
from attemper.models.soft.meaning import outputs_in_balls
from attemper.models.soft.weights import Encoder, EncoderLayer, Mask, NoPositions, Periodic
from attemper.theories.influence.check.frequencies import (
    Region,
    axes_of,
    bounds_on_boxes,
    changes_of_pairs,
    largest_bound,
    leaves_of,
)
from attemper.theories.influence.search.frequencies import SplitTree, search
from tests.support.drawn.encoders import NORMS, random_encoder, words_of

ONE = np.array([[1]])

SIZES = ((16, 2), (32, 4), (16, 4), (32, 2))
"""Widths and heads, by the seed modulo 4."""


def encoder_of(seed: int, layers: int, norm: str) -> Encoder:
    width, heads = SIZES[seed % len(SIZES)]
    return random_encoder(seed, layers, width, heads, norm)


def greatest(encoder: Encoder, length: int, low: float = 0.0, high: float = 1.0) -> float:
    """n times the greatest change of the output by one exchange, over all words of n symbols."""
    ones = np.arange(np.ceil(low * length), min(np.floor(high * length), length - 1) + 1)
    counts = np.stack([length - 1 - ones, ones, np.ones_like(ones)], axis=1)
    outputs = soft.outputs_of_histograms(encoder, counts, 2)[:, 0]
    return float(length * np.abs(np.diff(outputs)).max())


def bounded(encoder: Encoder, region: Region, target: float, evaluations: int = 1000) -> SplitTree:
    found = search(
        partial(bounds_on_boxes, encoder, ONE, region),
        [*[1.0] * (axes_of(encoder) - 1), 1 / region.n0],
        target=target,
        evaluations=evaluations,
    )
    again = largest_bound(encoder, ONE, region, found.splits)
    assert again == pytest.approx(found.constant, rel=2.0**-30)  # other batches: other sums
    assert again == largest_bound(encoder, ONE, region, found.splits)
    return found


LENGTHS = (1024, 1500, 2048, 4096, 10_000, 20_000)


def require_sound(encoder: Encoder, evaluations: int) -> float:
    """The bound for all n from 1024 on is at no length below what one symbol changes; gives their quotient.

    The search aims at a ten-thousandth above the truth, so that a bound too low would be seen.
    """
    truth = [greatest(encoder, length) for length in LENGTHS]
    found = bounded(encoder, Region(LENGTHS[0]), 1.0001 * max(truth), evaluations)
    assert found.constant >= max(truth)
    return found.constant / max(truth)


@pytest.mark.sweep(1)
@pytest.mark.parametrize("norm", NORMS)
@pytest.mark.parametrize(("layers", "most"), [(1, 1.1), (2, 1.35)])
def test_bounds_are_never_below_and_near(layers: int, norm: str, most: float) -> None:
    assert require_sound(encoder_of(12 if layers == 1 else 2, layers, norm), 400) < most


@pytest.mark.slow
@pytest.mark.parametrize("norm", NORMS)
@pytest.mark.parametrize("layers", [1, 2, 3])
def test_bounds_are_never_below(layers: int, norm: str) -> None:
    """Two hundred and sixteen pairs of an encoder and a length."""
    for seed in range(20, 24):
        require_sound(encoder_of(seed, layers, norm), 3000)


@pytest.mark.slow
@pytest.mark.parametrize(("layers", "norm"), [*((k, norm) for k in (1, 2) for norm in NORMS), (3, "none")])
def test_quotients_of_bound_and_truth(layers: int, norm: str) -> None:
    quotients = []
    for seed in range(30, 34):
        encoder = encoder_of(seed, layers, norm)
        truth = max(greatest(encoder, 4096), greatest(encoder, 20_000))
        quotients.append(bounded(encoder, Region(4096), 1.05 * truth, 20_000).constant / truth)
    assert np.median(quotients) < 1.25


@pytest.mark.sweep(1)
@pytest.mark.parametrize("norm", NORMS)
def test_bounds_hold_at_short_lengths_for_every_word(norm: str) -> None:
    """From n0 = 2 on: all words and exchanges, without frequencies being spoken of."""
    encoder = encoder_of(1, 1, norm)
    found = bounded(encoder, Region(2), 0.0, 300)
    for length in (2, 3, 5, 8):
        words = words_of(length)
        outputs = soft.outputs_of(encoder, words)[:, 0]
        apart = np.abs(words[:, None] - words[None]).sum(axis=2) == 1
        changes = np.abs(outputs[:, None] - outputs[None])[apart]
        assert length * changes.max() <= found.constant


def three_symbols(seed: int, layers: int, norm: str) -> Encoder:
    """An encoder with the symbols a, b, c and the marker."""
    encoder = random_encoder(seed, layers, 16, 2, norm)
    rows = np.random.default_rng(seed).normal(size=(1, 16))
    embedding = np.concatenate([encoder.embedding[:2], rows, encoder.embedding[2:]])
    return replace(encoder, symbols=("a", "b", "c", "$"), embedding=embedding)


@pytest.mark.sweep(0)
def test_three_symbols() -> None:
    encoder = three_symbols(3, 1, "post")
    length = 60
    found = bounded(encoder, Region(length), 0.0, 2000)
    counts = np.array([(i, j, length - 1 - i - j, 1) for i in range(length) for j in range(length - i)])
    outputs = {
        tuple(row): out
        for row, out in zip(counts, soft.outputs_of_histograms(encoder, counts, 3)[:, 0], strict=True)
    }
    exchanges = [(1, -1, 0), (1, 0, -1), (0, 1, -1)]
    truth = max(
        abs(outputs[moved] - out)
        for (i, j, k, _), out in outputs.items()
        for a, b, c in exchanges
        if (moved := (i + a, j + b, k + c, 1)) in outputs
    )
    assert length * truth <= found.constant <= 1.1 * length * truth


@pytest.mark.sweep(1)
@pytest.mark.parametrize("length", [10, 11])
def test_positions_with_a_period(length: int) -> None:
    """Against all histograms of symbols with residues, for an encoder that has these as its symbols."""
    table = np.random.default_rng(7).normal(size=(2, 16))
    encoder = random_encoder(5, 1, 16, 2, "post", positions=Periodic(table))
    found = bounded(encoder, Region(length, residue=(2, length % 2)), 0.0, 2000)
    pairs = [encoder.embedding[a] + table[p] for p in (0, 1) for a in (0, 1)]
    rows = np.array([*pairs, encoder.embedding[2] + table[(length - 1) % 2]])
    plain = replace(encoder, symbols=("0", "1", "2", "3", "$"), embedding=rows, positions=NoPositions())
    words = words_of(length)
    counts = np.zeros((len(words), 5))
    for place in range(length - 1):
        counts[np.arange(len(words)), words[:, place] + 2 * (place % 2)] += 1
    counts[:, 4] = 1
    assert np.allclose(soft.outputs_of(encoder, words), soft.outputs_of_histograms(plain, counts, 4))
    truth = 0.0
    for n in (length, length + 2, length + 10, length + 90):
        even, odd = n // 2, (n - 1) // 2
        grid = np.array([(even - i, i, odd - j, j, 1) for i in range(even + 1) for j in range(odd + 1)])
        values = soft.outputs_of_histograms(plain, grid, 4)[:, 0].reshape(even + 1, odd + 1)
        truth = max(truth, n * max(float(np.abs(np.diff(values, axis=axis)).max()) for axis in (0, 1)))
    assert truth <= found.constant <= 2 * truth


def with_axes(axes: int) -> tuple[Encoder, Region]:
    match axes:
        case 2:
            return encoder_of(5, 1, "none"), Region(60)
        case 3:
            return three_symbols(5, 1, "none"), Region(60)
        case _:
            table = np.random.default_rng(5).normal(size=(3, 16))
            encoder = random_encoder(5, 1, 16, 2, "none", positions=Periodic(table))
            return encoder, Region(60, residue=(3, 0))


@pytest.mark.parametrize(("axes", "side"), [(2, 0.125), (3, 0.125), (4, 0.0625)])
def test_polynomials_of_the_degree_follow_a_box(axes: int, side: float) -> None:
    """The bound is near the greatest on parts of a quarter of its sides; of one degree less it is not."""
    encoder, region = with_axes(axes)
    assert axes_of(encoder) == axes
    low = np.array([[0.25] * (axes - 1) + [0.0]])
    parts = low + side / 4 * np.array(list(product(range(4), repeat=axes)))
    (whole,) = bounds_on_boxes(encoder, ONE, region, low, low + side)
    greatest_part = bounds_on_boxes(encoder, ONE, region, parts, parts + side / 4).max()
    assert greatest_part <= whole < 1.7 * greatest_part


def test_a_typical_box() -> None:
    """Frequencies of 1s within a tenth of 4/9: a tighter bound, for words of which both are inside."""
    encoder = encoder_of(4, 2, "post")
    sides = (Fraction(4, 9) - Fraction(1, 10), Fraction(4, 9) + Fraction(1, 10))
    truth = greatest(encoder, 20_000, *map(float, sides))
    found = bounded(encoder, Region(4096, box=(sides,)), 1.05 * truth, 1000)
    assert truth <= found.constant <= 1.3 * truth


def test_several_functionals_have_the_greatest_of_their_bounds() -> None:
    encoder = random_encoder(1, 1)
    twice = replace(
        encoder, readout=np.concatenate([encoder.readout, 2 * encoder.readout]), outputs=("o", "p")
    )
    low, high = leaves_of("000..0..00..0..", 2)
    bounds = [
        bounds_on_boxes(twice, np.array(rows), Region(64), low, high)
        for rows in ([[1, 0]], [[0, 1]], [[-2, 1]])
    ]
    assert np.allclose(2 * bounds[0], bounds[1])
    assert (bounds[2] < bounds[0]).all()
    both = bounds_on_boxes(twice, np.array([[1, 0], [0, 1]]), Region(64), low, high)
    assert np.array_equal(both, np.maximum(bounds[0], bounds[1]))


def test_a_smaller_box_has_no_greater_truth_and_boxes_without_words_count_nothing() -> None:
    encoder = random_encoder(1, 1)
    low, high = np.array([[1.0, 0.5]]), np.array([[1.0, 1.0]])
    assert bounds_on_boxes(encoder, ONE, Region(64), low, high)[0] == 0
    assert bounds_on_boxes(encoder, ONE, Region(64), np.array([[1.0, 0.0]]), high)[0] > 0


def test_changes_of_pairs_contain_the_change() -> None:
    encoder = random_encoder(3, 2, norm="pre")
    words = np.array([[0, 1, 1, 0, 1, 2], [0, 1, 1, 1, 1, 2]])
    counts = np.array([np.bincount(word, minlength=3) for word in words])
    (bound,) = changes_of_pairs(encoder, np.array([1.0]), counts[:1], counts[1:])
    first, second = (outputs_in_balls(encoder, list(word))[0] for word in words)
    with precision(113):
        assert abs(first - second) <= float(bound)
        assert float(bound) <= float(abs(first - second)) + 1e-6


def test_what_is_not_a_number_is_no_bound() -> None:
    encoder = random_encoder(1, 1)
    low, high = leaves_of("0..", 2)
    for value in (np.nan, np.inf):
        broken = replace(encoder, readout=encoder.readout * value)
        assert np.isinf(bounds_on_boxes(broken, ONE, Region(64), low, high)).all()
        layer = replace(encoder.layers[0], hidden_bias=encoder.layers[0].hidden_bias * value)
        broken = replace(encoder, layers=(layer,))
        assert np.isinf(bounds_on_boxes(broken, ONE, Region(64), low, high)).all()


@pytest.mark.parametrize(
    ("splits", "complaint"),
    [
        ("", "end before"),
        ("0.", "end before"),
        ("...", "go on"),
        ("2..", "no axis"),
        ("x..", "no axis"),
        ("0" * 51 + "." * 52, "narrow"),
    ],
)
def test_texts_that_are_no_trees(splits: str, complaint: str) -> None:
    with pytest.raises(MalformedFileError, match=complaint):
        leaves_of(splits, 2)


def test_leaves_cover_the_whole() -> None:
    low, high = leaves_of("01.1..0.1..", 2)
    assert (high - low).prod(axis=1).sum() == 1
    assert low.min() == 0
    assert high.max() == 1


def test_what_is_not_read_is_refused() -> None:
    encoder = random_encoder(1, 1)
    norm = replace(encoder.layers[0].norms[0], epsilon=0.0)
    jumping = replace(encoder.layers[0], norms=(norm, norm))
    for other in (
        replace(encoder, mask=Mask.FUTURE_MASKED),
        replace(encoder, ending=None),
        replace(encoder, layers=(jumping,)),
        replace(encoder, positions=Periodic(np.zeros((40, 16)))),
    ):
        with pytest.raises(UnsupportedError):
            axes_of(other)
    for region in (
        Region(64, residue=(2, 0)),
        Region(0),
        Region(64, box=()),
        Region(64, box=((Fraction(1, 2), Fraction(1, 3)),)),
        Region(64, box=((Fraction(1, 2), Fraction(10) ** 400),)),
    ):
        with pytest.raises(UnsupportedError):
            largest_bound(encoder, ONE, region, ".")
    for functionals in (np.array([[1, 1]]), np.zeros((0, 1), dtype=np.int64), np.array([[2**60]])):
        with pytest.raises(UnsupportedError):
            largest_bound(encoder, functionals, Region(64), ".")


def chain(layers: int, factor: float) -> Encoder:
    """Outputs -1/2 on 0$ and 1/2 on 1$, by units whose inputs are as small as their counted rounding.

    Coordinate 0 is 1, attention averages coordinate 1 into 2: x = 0 or 1. The first unit has factor y_0 -
    factor + y_2 = x, and each further one is 1 less the one before.
    """
    width = layers + 4
    embedding = np.zeros((3, width))
    embedding[:, 0], embedding[1, 1] = 1, 2
    made = []
    for number in range(layers):
        in_weight, out_weight = np.zeros((3 * width, width)), np.zeros((width, width))
        hidden, back, bias = np.zeros((1, width)), np.zeros((width, 1)), np.ones(1)
        if number == 0:
            in_weight[2 * width + 1, 1] = out_weight[2, 1] = hidden[0, 2] = 1
            hidden[0, 0], bias[0] = factor, -factor
        else:
            hidden[0, 2 + number] = -1
        back[3 + number, 0] = 1
        nothing = np.zeros(width)
        made.append(
            EncoderLayer(
                in_weight,
                np.zeros(3 * width),
                out_weight,
                nothing,
                hidden,
                bias,
                back,
                nothing,
                None,
                1,
                False,
            )
        )
    readout = np.zeros((1, width))
    readout[0, 2 + layers] = 1
    rest = (NoPositions(), Mask.UNMASKED, tuple(made), readout, np.array([-0.5]), ("output",))
    return Encoder(("0", "1", "$"), "$", embedding, *rest)


@pytest.mark.sweep(8)
@pytest.mark.parametrize("layers", [1, 4, 7, 11])
@pytest.mark.parametrize("power", range(48, 56))
def test_units_of_two_words_are_not_taken_for_one(layers: int, power: int) -> None:
    """Undecided units have symbols of the same numbers in both passes, which must not cancel."""
    encoder = chain(layers, 2.0**power)
    first, second = (outputs_in_balls(encoder, word)[0] for word in ([0, 2], [1, 2]))
    (bound,) = changes_of_pairs(encoder, np.array([1.0]), np.array([[1, 0, 1]]), np.array([[0, 1, 1]]))
    assert bool(abs(first - second) <= flint.arb(float(bound)))


def test_words_too_long_to_count_are_refused() -> None:
    counts = np.array([[2**53, 0, 1]])
    with pytest.raises(UnsupportedError, match="not counted exactly"):
        changes_of_pairs(chain(1, 1.0), np.array([1.0]), counts, counts)
