"""An encoder as data means what PyTorch's modules compute, and what the definition says in balls."""

from __future__ import annotations

import tracemalloc
from dataclasses import replace

import numpy as np
import pytest
import torch

from attemper.errors import UnsupportedError
from attemper.models.soft import soft
from attemper.models.soft.meaning import outputs_in_balls
from attemper.models.soft.reading import read_weights
from attemper.models.soft.soft import outputs_of, outputs_of_histograms
from attemper.models.soft.weights import Bounded, Encoder, Mask, Periodic, Table, position_rows
from tests.support.drawn.encoders import BITS, NORMS, random_encoder, stack, words_of

TABLE = np.linspace(-1, 1, 48).reshape(3, 16)


@pytest.mark.parametrize("norm", NORMS)
@pytest.mark.parametrize("mask", Mask)
def test_an_encoder_as_data_computes_what_torch_does(norm: str, mask: Mask) -> None:
    made, embedding, readout = stack(7, norm=norm)
    encoder = read_weights(made, embedding, readout, BITS, "$", mask=mask, positions=Periodic(TABLE))
    words = words_of(7)
    rows = torch.tensor(position_rows(encoder, 7))
    causal = torch.triu(torch.ones(7, 7, dtype=torch.bool), 1) if mask is Mask.FUTURE_MASKED else None
    with torch.no_grad():
        stream = embedding(torch.tensor(words)) + rows
        for layer in made.layers:
            stream = layer(stream, src_mask=causal)
        wanted = readout(stream[:, -1]).numpy()
    np.testing.assert_allclose(outputs_of(encoder, words), wanted, rtol=0, atol=1e-12)


@pytest.mark.parametrize("norm", NORMS)
@pytest.mark.parametrize("mask", Mask)
def test_the_balls_are_narrow_and_around_what_floats_give(norm: str, mask: Mask) -> None:
    encoder = random_encoder(3, norm=norm, mask=mask, positions=Periodic(TABLE))
    words = words_of(4)
    for word, (output,) in zip(words, outputs_of(encoder, words), strict=True):
        (ball,) = outputs_in_balls(encoder, word.tolist())
        assert ball.rad() < 2.0**-90
        assert abs(float(ball.mid()) - output) < 1e-12


@pytest.mark.parametrize("norm", NORMS)
def test_a_histogram_stands_for_all_its_words(norm: str) -> None:
    encoder = random_encoder(5, norm=norm, layers=3)
    words = words_of(8)
    ones = words[:, :-1].sum(axis=1)
    counts = np.stack([7 - ones, ones, np.ones_like(ones)], axis=1).astype(np.float64)
    found = outputs_of_histograms(encoder, counts, 2)
    np.testing.assert_allclose(found, outputs_of(encoder, words), rtol=0, atol=1e-12)


def test_histograms_are_taken_in_blocks_which_change_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    """And exist in the memory of one block, however wide a layer is and however many there are."""
    encoder = read_weights(*stack(4, layers=1, width=8, hidden=4096), BITS, "$")
    ones = np.arange(1200.0)
    counts = np.stack([1200 - ones, ones, np.ones_like(ones)], axis=1)
    whole = outputs_of_histograms(encoder, counts, 2)
    monkeypatch.setattr(soft, "MOST_ACTIVATIONS", 2**20)
    tracemalloc.start()
    found = outputs_of_histograms(encoder, counts, 2)
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    np.testing.assert_allclose(found, whole, rtol=0, atol=1e-12)
    assert peak < 4 * 8 * 2**20


def test_a_symbol_that_does_not_occur_gets_no_attention() -> None:
    """Also where its score leads by more than the exponential of float64 can hold."""
    encoder = random_encoder(5, layers=1, width=4)
    (layer,) = encoder.layers
    sharp = replace(
        encoder, layers=(replace(layer, in_weight=layer.in_weight * np.repeat([900, 900, 1], 4)[:, None]),)
    )
    for word in ([1] * 5 + [2], [0] * 5 + [2]):
        counts = np.bincount(word, minlength=3)[None].astype(np.float64)
        found = outputs_of_histograms(sharp, counts, 2)
        np.testing.assert_allclose(found, outputs_of(sharp, np.array([word])), rtol=0, atol=1e-12)


def test_order_is_seen_with_a_mask_or_positions() -> None:
    counts = np.ones((1, 3))
    for encoder in (random_encoder(1, mask=Mask.FUTURE_MASKED), random_encoder(1, positions=Table(TABLE))):
        with pytest.raises(UnsupportedError, match="cannot see order"):
            outputs_of_histograms(encoder, counts, 2)


def test_every_number_is_in_the_digest() -> None:
    digests = {random_encoder(seed, norm=norm).digest for seed in range(3) for norm in NORMS}
    assert len(digests) == 9
    encoder = random_encoder(1)
    for layer in encoder.layers:
        for array in list(layer.arrays)[:-1]:
            before = encoder_digest(encoder)
            array.flat[0] += 1
            if array.size > 1:  # the epsilon of a norm is a number, and its array made for the digest
                assert encoder_digest(encoder) != before


def encoder_digest(encoder: Encoder) -> str:
    """The digest, computed now."""
    encoder.__dict__.pop("digest", None)
    return encoder.digest


def test_positions_by_a_function_have_a_box_and_a_length() -> None:
    def share(positions: np.ndarray, length: int) -> np.ndarray:
        return np.repeat(positions[:, None] / length, 16, axis=1)

    encoder = random_encoder(1, positions=Bounded(share, 0.0, 1.0))
    elsewhere = random_encoder(1, positions=Bounded(lambda i, n: np.zeros((n, 16)), 0.0, 1.0))
    wider = random_encoder(1, positions=Bounded(share, 0.0, 2.0))
    assert encoder.digest == elsewhere.digest != wider.digest  # what is said of all lengths is of the box
    assert len({encoder.digest, encoder.at(4).digest, encoder.at(5).digest}) == 3
    with pytest.raises(UnsupportedError, match="n = 4 only"):
        encoder.at(4).at(5)
    with pytest.raises(UnsupportedError, match="leave their box"):
        random_encoder(1, positions=Bounded(share, 0.0, 0.5)).at(4)


def test_norms_without_epsilon_and_weights_that_are_not_finite_are_refused() -> None:
    made, embedding, readout = stack(1)
    with torch.no_grad():
        embedding.weight[0, 0] = float("nan")
    with pytest.raises(UnsupportedError, match="not finite"):
        read_weights(made, embedding, readout, BITS, "$")
    made, embedding, readout = stack(1)
    made.layers[0].norm1.eps = 0.0
    with pytest.raises(UnsupportedError, match="eps is not positive"):
        read_weights(made, embedding, readout, BITS, "$")
