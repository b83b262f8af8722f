"""What stands beside a bound for every n: changes that were found, bounds for one length, Hahn's constant."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from math import isfinite, log
from time import monotonic
from typing import final

import numpy as np

from attemper.errors import UnsupportedError
from attemper.models.arrays import Floats
from attemper.models.soft.soft import outputs_of
from attemper.models.soft.weights import Bounded, Encoder, EncoderLayer
from attemper.theories.influence.check.tables import change_bound
from attemper.theories.influence.search.measuring import MeasuringPlan, measure
from attemper.theories.influence.search.results import Mode
from attemper.theories.influence.search.subjects import of_encoder

LENGTHS = (4, 16, 64)
"""Where changes are looked for, and tables are asked."""

SLOWER = 6
"""A length takes less than so many times as long as the one before."""

TRIED = 1024
"""How many words are run at each of them."""


@final
@dataclass(frozen=True)
class Beside:
    """At one n: n times the greatest change of words that were tried, and n times the bound by the table.

    `tried` is measured in float64; `table` is proved, and None where it is vacuous.
    """

    length: int
    tried: float
    table: float | None


def beside(
    encoder: Encoder, functionals: Sequence[Sequence[int]], seconds: float, report: Callable[[str], None]
) -> tuple[Beside, ...]:
    """What was found at a few lengths: at each that there is time for, by what the one before took.

    No further than its function says positions that are in their box.
    """
    rows, deadline = np.array(functionals, dtype=np.float64).T, monotonic() + seconds
    subject = replace(
        of_encoder(encoder),
        names=tuple(map(str, range(len(functionals)))),
        outputs=lambda words: outputs_of(encoder, words) @ rows,
        histograms=None,
    )
    lines: list[Beside] = []
    took = 0.0
    for length in LENGTHS:
        began = monotonic()
        left = deadline - began
        if left < SLOWER * took:
            break
        try:
            encoder.at(length)
        except (UnsupportedError, LookupError, ValueError):
            break
        report(f"looking for words of {length} symbols that one symbol changes much")
        plan = MeasuringPlan(Mode.SEARCH, (length,), TRIED, 0, left / 2)
        found = max((row.scaled for row in measure(subject, plan, lambda _: None).rows), default=0.0)
        bounds = [change_bound(encoder, length, each) for each in functionals]
        is_vacuous = any(each.vacuous for each in bounds)
        lines.append(
            Beside(length, found, None if is_vacuous else length * max(each.change for each in bounds))
        )
        took = monotonic() - began
    return tuple(lines)


def hahns_constant(encoder: Encoder, functionals: Sequence[Sequence[int]]) -> float | None:
    """log10 of H^L C^(2L) D as the proof of Lemma 5 has it, times the norm of a functional's read-out.

    C = 2 (1 + e^(2A) + L_act), A = F^2 C_att, F = 2 L_act^L (|p| + |v|). (Hahn 2020, section 6; supplement S2
    adds a term to its proof, so that this constant is compared with and not believed.) L_act is the Lipschitz
    constant of what comes after the attention averages of activations: (1 + |W2||W1|) max(1, |U_h|), where
    U_h is all that a head does to a value; C_att the norm of Q^T K / sqrt(d_h). Measured in float64, of
    an encoder whose positions are in a box; None where it is 0, or beyond float64.
    """
    assert isinstance(encoder.positions, Bounded)
    widest = max(abs(encoder.positions.least), abs(encoder.positions.greatest))
    layers, rows = encoder.layers, encoder.embedding
    if not layers:
        return None
    heads = [head for layer in layers for head in _heads(layer)]
    lipschitz = max(1 + _norm(layer.back_weight) * _norm(layer.hidden_weight) for layer in layers)
    lipschitz *= max(1.0, *(written for _, written in heads))
    activation = (
        2 * lipschitz ** len(layers) * (np.sqrt(encoder.width) * widest + np.linalg.norm(rows, axis=1).max())
    )
    logits = activation**2 * max(score for score, _ in heads)
    constant = log(2) + np.logaddexp(2 * logits, np.log1p(lipschitz))
    letters = [row for row, symbol in zip(rows, encoder.symbols, strict=True) if symbol != encoder.ending]
    apart = max(float(np.linalg.norm(one - other)) for one in letters for other in letters)
    read = float(np.linalg.norm(np.array(functionals) @ encoder.readout, axis=1).max())
    if not apart * read:
        return None
    count = max(layer.heads for layer in layers)
    found = float((len(layers) * (log(count) + 2 * constant) + log(apart) + log(read)) / log(10))
    return found if isfinite(found) else None


def _heads(layer: EncoderLayer) -> Iterator[tuple[float, float]]:
    """For each head the norms of Q^T K / sqrt(d_h) and of what it does to a value."""
    width = len(layer.out_bias)
    size = width // layer.heads
    for first in range(0, width, size):
        query, key, value = (layer.in_weight[top : top + size] for top in range(first, 3 * width, width))
        yield _norm(query.T @ key) / np.sqrt(size), _norm(layer.out_weight[:, first : first + size] @ value)


def _norm(matrix: Floats) -> float:
    return float(np.linalg.norm(matrix, 2))
