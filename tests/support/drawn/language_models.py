"""Models of the PARITY source p = 1/2: words of bits to log-odds of 0, 1 and END, read after the last bit."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import torch
from torch import nn

from attemper.models.arrays import Floats, Integers
from attemper.models.soft.reading import read_weights
from attemper.models.soft.soft import outputs_of
from attemper.models.soft.weights import Encoder, Mask
from tests.support.drawn.encoders import fixture, stack, trained

LanguageModel = Callable[[Integers], Floats]

MARK = 2
"""The symbol that begins a word."""


def begun(words: Integers) -> Integers:
    return np.concatenate([np.full((len(words), 1), MARK), words], axis=1)


def random_model() -> LanguageModel:
    made, embedding, _ = stack(11, width=16, norm="pre")
    torch.manual_seed(11)
    encoder = read_weights(
        made, embedding, nn.Linear(16, 3).double(), ("0", "1", "^"), None, mask=Mask.FUTURE_MASKED
    )
    return of_encoder(encoder)


def of_encoder(encoder: Encoder) -> LanguageModel:
    return lambda words: outputs_of(encoder, begun(words))


def trained_model() -> LanguageModel:
    return of_encoder(fixture("parity_source_causal"))


def lstm() -> LanguageModel:
    body, embedding, readout, _ = trained("parity_source_lstm")

    def outputs(words: Integers) -> Floats:
        with torch.no_grad():
            found: Floats = readout(body(embedding(torch.from_numpy(begun(words))))[0][:, -1]).numpy()
        return found

    return outputs


def _logits(ends: Floats) -> Floats:
    """The law that ends with these probabilities, and else has 0 and 1 alike; 0 is written e^-800."""
    with np.errstate(divide="ignore"):
        end = np.maximum(np.log(ends), -800.0)
    return np.stack([np.log((1 - ends) / 2), np.log((1 - ends) / 2), end], axis=1)


def table_on_the_last_symbol(words: Integers) -> Floats:
    """The best law for who knows x_n alone: given 0 the last state accepts with 1/3, given 1 with 2/3."""
    return _logits(np.where(words[:, -1] == 0, 1 / 3, 2 / 3) / 2)


def table_on_parity(words: Integers) -> Floats:
    """The source's own law."""
    return _logits(np.where(words.sum(axis=1) % 2 == 0, 1 / 2, 0.0))


def loss(logits: Floats, accepting: bool) -> Floats:
    """Cross-entropy in nats with the source's law after an accepting state, or after another: shape (B,)."""
    log_law = logits - np.logaddexp.reduce(logits, axis=1)[:, None]
    law = np.array([1 / 4, 1 / 4, 1 / 2] if accepting else [1 / 2, 1 / 2, 0.0])
    return np.asarray(-(log_law * law).sum(axis=1))


def log_odds_of_end(logits: Floats) -> Floats:
    return np.asarray(logits[:, 2] - np.logaddexp(logits[:, 0], logits[:, 1]))


MODELS: dict[str, Callable[[], LanguageModel]] = {
    "random": random_model,
    "trained": trained_model,
    "lstm": lstm,
    "table on x_n": lambda: table_on_the_last_symbol,
    "table on parity": lambda: table_on_parity,
}
