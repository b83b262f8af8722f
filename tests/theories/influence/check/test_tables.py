"""Position tables: never below what words show, and the mistakes that would make them so."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from fractions import Fraction
from itertools import product
from math import exp, inf, nan, sqrt

import numpy as np
import pytest

from attemper.errors import UnsupportedError
from attemper.models.arrays import Floats, Integers
from attemper.models.enclosures import tails
from attemper.models.enclosures.averages import highest_average
from attemper.models.enclosures.forms import Form, Frame, constant, of_axes
from attemper.models.soft.meaning import outputs_in_balls
from attemper.models.soft.soft import outputs_of
from attemper.models.soft.weights import (
    Bounded,
    Encoder,
    EncoderLayer,
    EncoderNorm,
    Mask,
    NoPositions,
    Periodic,
)
from attemper.theories.influence.check import many_layers, one_layer
from attemper.theories.influence.check.one_layer import readout_row
from attemper.theories.influence.check.tables import Exchange, TableRange, change_bound
from tests.support.drawn.encoders import NORMS, random_encoder, words_of


def sinusoidal(places: Integers, length: int, width: int = 16) -> Floats:
    """The sinusoidal embeddings of Vaswani et al. (2017), from position 0 on."""
    angles = (places - 1.0)[:, None] * np.exp(-np.log(10000.0) * np.arange(0, width, 2) / width)
    return np.stack([np.sin(angles), np.cos(angles)], axis=2).reshape(length, width)


FRAME = Frame(4, 2)
SINUSOIDAL = Bounded(sinusoidal, -1.0, 1.0)


def encoder_of(
    seed: int, norm: str, layers: int = 1, mask: Mask = Mask.UNMASKED, scale: float = 1
) -> Encoder:
    made = random_encoder(seed, layers, 16, 2, norm, positions=SINUSOIDAL, mask=mask)
    return replace(made, layers=tuple(scaled(layer, scale) for layer in made.layers))


def scaled(layer: EncoderLayer, scale: float) -> EncoderLayer:
    """The layer with smaller scores, values and hidden units."""
    return replace(
        layer,
        in_weight=layer.in_weight * scale,
        out_weight=layer.out_weight * scale,
        hidden_weight=layer.hidden_weight * scale,
    )


def exhaustive(encoder: Encoder, length: int, exchange: Exchange = Exchange.ANY) -> tuple[float, float]:
    """The greatest change by an exchange, and the range, over all words of bits; measured."""
    words = words_of(length)
    outputs = outputs_of(encoder, words)[:, 0]
    changes = [
        np.abs(outputs[zeros] - outputs[zeros + 2 ** (length - 2 - place)]).max()
        for place in range(length - 1)
        if exchange is Exchange.ANY or place == length - 2
        for zeros in [np.nonzero(words[:, place] == 0)[0]]
    ]
    return float(max(changes)), float(np.ptp(outputs))


@pytest.mark.parametrize("norm", NORMS)
@pytest.mark.parametrize("exchange", Exchange)
def test_one_layer_is_never_below_all_words(norm: str, exchange: Exchange) -> None:
    encoder = encoder_of(1, norm)
    bound = change_bound(encoder, 8, [1], exchange)
    change, width = exhaustive(encoder, 8, exchange)
    assert change <= bound.change
    assert width <= bound.diameter < inf
    assert bound.change < 12 * change
    assert not bound.vacuous


@pytest.mark.sweep(2)
@pytest.mark.parametrize("mask", Mask)
@pytest.mark.parametrize("norm", NORMS)
def test_several_layers_are_never_below_all_words(norm: str, mask: Mask) -> None:
    """With scores of small range the bounds say something; for the last but one position, less."""
    encoder = encoder_of(2, norm, layers=2, mask=mask, scale=1 / 32)
    bounds = {exchange: change_bound(encoder, 7, [1], exchange) for exchange in Exchange}
    for exchange, bound in bounds.items():
        change, width = exhaustive(encoder, 7, exchange)
        assert change <= bound.change < bound.diameter
        assert width <= bound.diameter
    assert bounds[Exchange.LAST_BUT_ONE].change < bounds[Exchange.ANY].change


def test_bounds_of_several_layers_fall_like_one_over_n() -> None:
    for mask in Mask:
        encoder = encoder_of(3, "none", layers=2, mask=mask, scale=1 / 32)
        short, long = (change_bound(encoder, n, [1], Exchange.LAST_BUT_ONE) for n in (16, 48))
        assert 2.5 < short.change / long.change < 3.5


def test_several_layers_of_usual_size_are_vacuous() -> None:
    for norm in NORMS:
        bound = change_bound(encoder_of(1, norm, layers=2), 7, [1])
        assert bound.change > 10 * exhaustive(encoder_of(1, norm, layers=2), 7)[0]
    assert change_bound(encoder_of(1, "none", layers=2), 7, [1]).vacuous
    assert change_bound(encoder_of(1, "post", layers=2), 7, [1]).vacuous


def test_words_in_balls_are_within_the_bound(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(one_layer, "MOST_PARTS", 64)
    encoder = encoder_of(4, "pre").at(6)
    bound = change_bound(encoder, 6, [1])
    for word in words_of(6)[::11]:
        for place in (0, 4):
            other = word.copy()
            other[place] ^= 1
            first, second = (outputs_in_balls(encoder, list(x), 60)[0] for x in (word, other))
            assert not abs(first - second) > bound.change


def test_other_alphabets_positions_and_functionals(monkeypatch: pytest.MonkeyPatch) -> None:
    """Three letters without an end marker, two outputs, no positions or a period: against all words."""
    monkeypatch.setattr(one_layer, "MOST_PARTS", 16)
    made = random_encoder(5, 1, 16, 2, "none")
    readout = np.concatenate([made.readout, made.readout[:, ::-1]])
    table = np.random.default_rng(0).normal(size=(3, 16))
    for positions in (NoPositions(), Periodic(table)):
        encoder = replace(
            made,
            symbols=("a", "b", "c"),
            ending=None,
            positions=positions,
            readout=readout,
            bias=np.zeros(2),
            outputs=("one", "two"),
        )
        words = np.array(list(product(range(3), repeat=4)))
        outputs = outputs_of(encoder, words) @ np.array([2, -1])
        change = max(
            abs(outputs[k] - outputs[j])
            for k, word in enumerate(words)
            for j, other in enumerate(words)
            if (word != other).sum() == 1 and word[-1] == other[-1]
        )
        bound = change_bound(encoder, 4, [2, -1])
        assert change <= bound.change < 12 * change


def test_heads_of_other_numbers(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(one_layer, "MOST_PARTS", 64)
    for heads in (1, 4):
        encoder = random_encoder(6, 1, 16, heads, "none", positions=SINUSOIDAL)
        change, _ = exhaustive(encoder, 7)
        assert change <= change_bound(encoder, 7, [1]).change < 12 * change


def test_what_overflows_is_infinite() -> None:
    """Weights that overflow or are no numbers give no bound; scores of some hundreds a right one."""
    made = encoder_of(1, "none")
    (layer,) = made.layers
    for weight in (1e200, nan):
        wild = replace(layer, in_weight=layer.in_weight * weight)
        for encoder in (replace(made, layers=(wild,)), replace(made, layers=(layer, wild))):
            bound = change_bound(encoder, 5, [1])
            assert bound.change > 1e150
            assert bound.vacuous
    strong = replace(made, layers=(replace(layer, in_weight=layer.in_weight * 30),))
    assert exhaustive(strong, 7)[0] <= change_bound(strong, 7, [1]).change


def test_what_cannot_change_is_not_vacuous() -> None:
    encoder = encoder_of(1, "none")
    assert change_bound(encoder, 1, [1]) == TableRange(0.0, 0.0)
    assert not change_bound(replace(encoder, layers=()), 5, [1]).vacuous


def test_what_is_not_built_is_refused() -> None:
    encoder = encoder_of(1, "post")
    with pytest.raises(UnsupportedError, match="has 1 outputs"):
        change_bound(encoder, 5, [1, 1])
    with pytest.raises(UnsupportedError, match="n = 4 only"):
        change_bound(encoder.at(4), 5, [1])
    with pytest.raises(UnsupportedError, match="at most 1024 pairs"):
        change_bound(encoder_of(1, "none", layers=2), 513, [1])
    (layer,) = encoder.layers
    norm = EncoderNorm(np.ones(16), np.zeros(16), 0.0)
    with pytest.raises(UnsupportedError, match="epsilon of about 0"):
        change_bound(replace(encoder, layers=(replace(layer, norms=(norm, norm)),)), 5, [1])


def test_one_exchange_as_an_identity() -> None:
    """o' - o = (e' v' - e v - (e' - e) y) / (Z_- + max(e, e')), y = o if e' >= e, else o'; in rationals."""
    random = np.random.default_rng(1)
    for _ in range(100):
        numbers = [Fraction(int(k), 7) for k in random.integers(1, 100, 8)]
        e, f, v, w, *others = numbers
        rest, mass = others[0] * others[1] + others[2] * others[3], others[0] + others[2]
        before, after = (rest + e * v) / (mass + e), (rest + f * w) / (mass + f)
        y = before if f >= e else after
        assert after - before == (f * w - e * v - (f - e) * y) / (mass + max(e, f))


def test_the_heads_own_output_in_place_of_the_others_average_is_false() -> None:
    """Scores (3, 0) -> (0, 0), values (1, 0): with its own output the bound is .0904, for a move of .4526."""
    weight, after = exp(3) / (exp(3) + 1), 0.5
    output, value = weight, 1.0
    wrong = weight * (abs(value - output) + abs(value - output))
    assert round(wrong, 4) == 0.0904
    assert round(abs(after - output), 4) == 0.4526
    others = 0.0  # the average of the other position
    assert abs(after - output) <= weight * (abs(value - others) + abs(value - others))
    worse = min(output, after)  # the output that is farther from the value
    assert abs(after - output) <= weight * 2 * abs(value - worse)


def averages(low: Floats, high: Floats, value: Floats, left_out: int | None) -> Iterator[Fraction]:
    """The averages of all words with all ends of the intervals, in rationals."""
    places = [place for place in range(len(value)) if place != left_out]
    for symbols in product(range(value.shape[1]), repeat=len(places)):
        for ends in product((low, high), repeat=len(places)):
            powers = [Fraction(float(e[j, t])) for e, j, t in zip(ends, places, symbols, strict=True)]
            values = [Fraction(float(value[j, t])) for j, t in zip(places, symbols, strict=True)]
            yield sum((e * v for e, v in zip(powers, values, strict=True)), Fraction(0)) / sum(powers)


def test_highest_averages_are_the_best_words() -> None:
    random = np.random.default_rng(2)
    for _ in range(20):
        low = np.exp(random.normal(size=(3, 2)) * 2)
        high = low * (1 + random.integers(0, 2) * random.random((3, 2)))
        value = random.normal(size=(3, 2))
        best = max(averages(low, high, value, None))
        found = Fraction(float(highest_average(low, high, value)))
        assert best <= found <= best + Fraction(1, 2**40)
        without = max(max(averages(low, high, value, place)) for place in (None, 0, 1, 2))
        found = Fraction(float(highest_average(low, high, value, but_one=True)))
        assert without <= found <= Fraction(float(value.max()))


def test_highest_averages_of_nothing_known() -> None:
    value = np.array([[0.0, 1.0], [2.0, nan]])
    assert not highest_average(np.ones((2, 2)), np.ones((2, 2)), value) < inf
    zeros = np.zeros((2, 2))
    with np.errstate(invalid="ignore"):
        assert highest_average(zeros, zeros, np.array([[0.0, 1.0], [2.0, 3.0]])) == 3.0


def steepest(width: int, total: int) -> tuple[Floats, Floats]:
    """A unit vector of sum 0, and signs of that total: the direction in which LayerNorm is steep there."""
    signs = np.ones(width)
    signs[1 : 1 + (width - total) // 2] = -1
    first, second = np.eye(width)[0] - 1 / width, signs - signs.mean()
    vector = first / np.linalg.norm(first) - second / np.linalg.norm(second)
    return vector / np.linalg.norm(vector), signs


def slope_along(unit: Floats, signs: Floats, z: float) -> float:
    """How far coordinate 0 of LayerNorm, with epsilon 1, moves that way where 1/(variance + 1) = z."""
    centre = unit * sqrt(len(unit) * (1 / z - 1))
    ends = []
    for side in (1, -1):
        vector = centre + side * 2.0**-20 * signs
        vector = vector - vector.mean()
        ends.append(vector[0] / sqrt((vector**2).mean() + 1))
    return float(abs(ends[0] - ends[1]) * 2.0**19)


def kappa(width: int) -> float:
    """The proved constant in the maximum norm, for gain 1 and epsilon 1."""
    return tails.layer_norm_slope_by_coordinates(EncoderNorm(np.ones(width), np.zeros(width), 1.0))


def test_the_euclidean_constant_of_layer_norm_is_too_small_by_coordinates() -> None:
    norm = EncoderNorm(np.ones(16), np.zeros(16), 1e-5)
    assert round(1 / np.sqrt(norm.epsilon), 2) == 316.23  # max |gain| / sqrt(eps)
    assert round(tails.layer_norm_slope_by_coordinates(norm), 2) == 592.93
    step = 1e-9 * np.where(np.arange(16) == 0, 1, -1)
    moved = step - step.mean()
    assert 592.92 < np.abs(moved / np.sqrt((moved**2).mean() + 1e-5)).max() / 1e-9 < 592.94


def test_the_constant_by_coordinates_is_attained_and_not_as_at_small_widths() -> None:
    """It is 2 (1 - 1/d) up to d = 57 only; at 256 it is 3.51, by an explicit vector and direction."""
    for width in (2, 3, 16, 57):
        assert 0 <= kappa(width) - 2 * (1 - 1 / width) < 2**-50
    rounded = {58: 1.9657, 64: 2.03, 256: 3.51, 768: 5.74, 1024: 6.56}
    for width, known in rounded.items():
        totals = range(-2 * int(sqrt(width)) - 2 * (width < 100) * 8, 0, 2)
        attained = max(
            slope_along(*steepest(width, total), z) for total in totals for z in np.linspace(0.34, 0.5, 33)
        )
        assert attained <= kappa(width) * (1 + 1e-8)
        assert 0.999 * kappa(width) < attained
        assert kappa(width) > 2 * (1 - 1 / width)
        assert abs(kappa(width) - known) < 0.006, kappa(width)
        published = (
            2 * (2 * (1 - 1 / width) + (1 + sqrt(width)) / 2) ** 1.5 / (3 * sqrt(1.5 * (1 + sqrt(width))))
        )
        assert kappa(width) < min(published, (1 + sqrt(width)) / 2)


def test_the_constant_by_coordinates_holds_at_random_and_sharp_points() -> None:
    random = np.random.default_rng(6)
    for width in (2, 5, 16, 64, 200):
        for case in range(50):
            unit = random.normal(size=width) * (random.random(width) < (1.0, 0.1)[case % 2])
            unit[0] += case % 5
            unit = unit - unit.mean()
            if not unit.any():
                continue
            unit /= np.linalg.norm(unit)
            for z in (0.1, 0.4, 0.7, 1.0):
                matrix = np.eye(width) - 1 / width - (1 - z) * np.outer(unit, unit)
                assert np.abs(matrix).sum(axis=1).max() * sqrt(z) <= kappa(width) * (1 + 1e-12)


def test_layer_norm_changes_by_no_more_than_is_said() -> None:
    """At random boxes, and where one coordinate stands out."""
    random = np.random.default_rng(3)
    for case in range(200):
        norm = EncoderNorm(random.normal(size=8), random.normal(size=8), 10.0 ** -random.integers(0, 6))
        centre = random.normal(size=8) * 10.0 ** random.integers(-3, 1) + 4 * (case % 2) * np.eye(8)[0]
        wide = random.random(8) * 10.0 ** random.integers(-6, 1)
        box = constant(centre[:, None, None], FRAME, wide[:, None, None])
        first, second = centre + wide * random.uniform(-1, 1, (2, 40, 8))
        change = np.abs(first - second).max(axis=0)
        bound = tails.layer_norm_change(norm, box, change[:, None, None])[:, 0, 0]
        ends = [
            x / np.sqrt((x**2).mean(axis=1, keepdims=True) + norm.epsilon) * norm.gain
            for x in (c - c.mean(axis=1, keepdims=True) for c in (first, second))
        ]
        assert (np.abs(ends[0] - ends[1]) <= bound * (1 + 1e-9) + 1e-12).all()


def softmax(scores: Floats) -> Floats:
    powers = np.exp(scores - scores.max())
    return np.asarray(powers / powers.sum())


@pytest.mark.sweep(2)
@pytest.mark.parametrize("moving", [(1, 1, 1), (1, 0, 0), (0, 0, 0), (0, 1, 0), (0, 0, 1)])
def test_what_a_head_reads_moves_no_further(moving: tuple[int, int, int]) -> None:
    """A query, keys and values of three positions, the first exchanged, at corners of what they can be."""
    random = np.random.default_rng(7)
    shapes = [(2, 1), (2, 3, 2), (2, 3, 2)]
    sight = many_layers.VisiblePositions(np.ones((1, 3), dtype=np.bool_), np.array([[True, False, False]]))
    nearest = inf
    for case in range(40):
        wide = 0.2 * (case % 2) * (moving == (1, 1, 1))
        moved = [0.5 * random.random() * each for each in moving]
        centres = [random.normal(size=shape) for shape in shapes]
        known = [constant(c, FRAME, wide + m / 2) for c, m in zip(centres, moved, strict=True)]
        kept = [np.full(shape, m) for shape, m in zip(shapes, moved, strict=True)]
        least, greatest, change = many_layers._read(sight, many_layers.KeyBounds(*known, *kept))
        for _ in range(60):
            corners = [c + wide * random.choice([-1.0, 1.0], c.shape) for c in centres]
            steps = [m / 2 * random.choice([-1.0, 1.0], c.shape) for c, m in zip(centres, moved, strict=True)]
            word = random.integers(0, 2, 3)
            outputs = []
            for side, symbols in ((1, word), (-1, word ^ [1, 0, 0])):
                query, key, value = (c + side * step for c, step in zip(corners, steps, strict=True))
                weights = softmax(query[:, 0] @ key[:, range(3), symbols])
                outputs.append(value[:, range(3), symbols] @ weights)
            assert (least[:, 0] - 1e-12 <= outputs).all()
            assert (outputs <= greatest[:, 0] + 1e-12).all()
            gone = np.abs(outputs[1] - outputs[0])
            assert (gone <= change[:, 0] + 1e-12).all()
            nearest = min(nearest, float((change[:, 0] / gone).min()))
    assert nearest < 4


def test_what_a_feed_forward_makes_moves_no_further() -> None:
    random = np.random.default_rng(8)
    (layer,) = encoder_of(8, "none").layers
    for wide in (0.01, 0.3, 2.0):
        centre = random.normal(size=16)
        box = constant(centre[:, None, None], FRAME, wide)
        units = box.mapped(layer.hidden_weight).plus(layer.hidden_bias[:, None, None])
        kept = random.random(16) * 2 * wide
        bound = many_layers._fed_forward(layer, np.eye(16), units, kept[:, None, None])[:, 0, 0]
        first = centre + wide * random.uniform(-1, 1, (200, 16))
        second = np.clip(first + kept * random.choice([-1, 1], (200, 16)), centre - wide, centre + wide)
        ends = [
            x + np.maximum(x @ layer.hidden_weight.T + layer.hidden_bias, 0) @ layer.back_weight.T
            for x in (first, second)
        ]
        gone = np.abs(ends[1] - ends[0]).max(axis=0)
        assert (gone <= bound + 1e-12).all()
        assert (bound < 10 * gone).all()


@pytest.mark.parametrize("norm", NORMS)
def test_slopes_on_boxes_contain_what_the_functional_does(norm: str) -> None:
    """The mean-value theorem: for places of a box, g(o') - g(o) is in J (o' - o)."""
    random = np.random.default_rng(4)
    encoder = encoder_of(7, norm)
    (layer,) = encoder.layers
    residual = random.normal(size=16)
    tail = tails.Tail(layer, readout_row(encoder, [1], FRAME))
    for wide in (0.01, 0.1, 0.4):
        low = random.normal(size=16) - wide
        axes = of_axes(low[:, None], low[:, None] + 2 * wide, FRAME)
        parts = np.stack([form.parts for form in axes], axis=1)[:, :, None]
        read = Form(parts, np.stack([form.rest for form in axes])[:, None], FRAME)
        with np.errstate(all="ignore"):
            slope = tails.slope_of(tail, read, constant(residual[:, None, None], FRAME))
        places = low + 2 * wide * np.round(random.random((2, 50, 16)), random.integers(0, 3))
        first, second = (after_heads(layer, place, residual) @ encoder.readout[0] for place in places)
        step = places[1] - places[0]
        middle = step @ slope.read.centre[:, 0, 0]
        off = np.abs(step) @ slope.read.radius[:, 0, 0]
        assert (np.abs(second - first - middle) <= off + 1e-12).all()
        assert (slope.value.least - 1e-12 <= first).all()
        assert (first <= slope.value.greatest + 1e-12).all()


def after_heads(layer: EncoderLayer, read: Floats, residual: Floats) -> Floats:
    """What a layer makes of what its heads read, (B, d), in float64."""

    def norm(which: EncoderNorm | None, rows: Floats) -> Floats:
        if which is None:
            return rows
        centred = rows - rows.mean(axis=1, keepdims=True)
        scale = np.sqrt((centred**2).mean(axis=1, keepdims=True) + which.epsilon)
        return np.asarray(centred / scale * which.gain + which.bias)

    (_, between), (after, last) = layer.before, layer.after
    middle = norm(after, residual + read @ layer.out_weight.T + layer.out_bias)
    hidden = np.maximum(norm(between, middle) @ layer.hidden_weight.T + layer.hidden_bias, 0)
    return norm(last, middle + hidden @ layer.back_weight.T + layer.back_bias)


def searched(encoder: Encoder, length: int, seed: int) -> float:
    """The greatest change that hill climbing finds: from words of one symbol and random ones."""
    random = np.random.default_rng(seed)
    best = 0.0
    ones = [np.zeros(length - 1), np.ones(length - 1), random.integers(0, 2, length - 1)]
    for start in ones:
        word, reached = start.astype(np.int64), 0.0
        for _ in range(25):
            places = random.choice(length - 1, 8, replace=False)
            blocks = np.array([word ^ (random.random(length - 1) < 1 / 8) for _ in range(3)] + [word])
            pairs = np.repeat(blocks, 9, axis=0)
            for row, block in product(range(8), range(4)):
                pairs[9 * block + 1 + row, places[row]] ^= 1
            marked = np.concatenate([pairs, np.full((len(pairs), 1), 2)], axis=1)
            outputs = outputs_of(encoder, marked)[:, 0].reshape(4, 9)
            found = np.abs(outputs[:, 1:] - outputs[:, :1]).max(axis=1)
            if found.max() >= reached:
                reached, word = float(found.max()), blocks[found.argmax()]
        best = max(best, reached)
    return best


@pytest.mark.slow
@pytest.mark.parametrize("norm", NORMS)
def test_ratios_to_exhaustive_and_searched_maxima(norm: str) -> None:
    """Never below; measured medians: 1.6 without LayerNorm, 2.4 before and 4 after the sublayers."""
    ratios = []
    for length, seeds in ((8, 8), (10, 8), (64, 8), (256, 4)):
        for seed in range(seeds):
            encoder = encoder_of(seed, norm).at(length)
            change = exhaustive(encoder, length)[0] if length < 12 else searched(encoder, length, seed)
            bound = change_bound(encoder, length, [1])
            assert change <= bound.change
            ratios.append(bound.change / change)
    assert np.median(ratios) <= {"none": 3, "pre": 4, "post": 8}[norm]


def test_axes_are_those_of_differences_of_values() -> None:
    """What all values have in common moves nothing, so it turns no axis."""
    random = np.random.default_rng(2)
    power, value = random.uniform(0.1, 10, (6, 3)), random.normal(size=(4, 6, 3))
    axes = one_layer._axes(power, value)
    assert np.allclose(axes.T @ axes, np.eye(4))
    other = one_layer._axes(power, value + random.normal(size=(4, 1, 1)))
    assert np.allclose(np.abs(axes.T @ other), np.eye(4))
