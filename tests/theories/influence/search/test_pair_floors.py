"""The floor on two prefixes that differ in x_(n-1) holds for every pair and every model, also an LSTM."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest

from attemper.languages.sources.sampling import sample
from attemper.languages.sources.values import Parity
from attemper.theories.influence.search.floors import pair_floor
from tests.support.drawn.language_models import MODELS, LanguageModel, log_odds_of_end, loss

SOURCE = Parity(Fraction(1, 2), odd=False)

LENGTHS = (2, 3, 4, 8, 16, 32, 64, 128)

ROUNDING = 2.0**-50
"""Four units in the last place of losses between 1 and 2."""


def pairs(model: LanguageModel, n: int, count: int) -> list[tuple[float, float]]:
    """The loss of each drawn pair of prefixes, and its floor."""
    drawn = sample(SOURCE, n, count, seed=n)
    words = np.array([[int(symbol) for symbol in word] for word in drawn])
    words[:, -2] ^= words.sum(axis=1) % 2  # the member whose last state accepts
    other = words.copy()
    other[:, -2] ^= 1
    accepting, rejecting = model(words), model(other)
    losses = loss(accepting, True), loss(rejecting, False)
    changes = np.abs(log_odds_of_end(accepting) - log_odds_of_end(rejecting))
    found = []
    for row, last in enumerate(words[:, -1].tolist()):
        alpha = 2 / 3 if last else 1 / 3
        of_pair = alpha * losses[0][row] + (1 - alpha) * losses[1][row]
        found.append((of_pair, pair_floor(SOURCE, bool(last), Fraction(float(changes[row])))))
    return found


@pytest.mark.parametrize("name", MODELS)
@pytest.mark.parametrize("count", [12, pytest.param(256, marks=pytest.mark.slow)])
def test_no_pair_is_below_its_floor(name: str, count: int) -> None:
    model = MODELS[name]()
    found = [pair for n in LENGTHS for pair in pairs(model, n, count)]
    assert len(found) == len(LENGTHS) * count
    assert min(own - floor for own, floor in found) >= -ROUNDING
    if name.startswith("table"):
        assert max(own - floor for own, floor in found) <= ROUNDING
    else:
        assert max(own - floor for own, floor in found) > ROUNDING


def test_the_floor_of_a_pair_can_fail_where_it_is_raised() -> None:
    """The tables attain it: a floor for half of the change of log-odds would be wrong."""
    model = MODELS["table on parity"]()
    for own, _ in pairs(model, 8, 5):
        assert own < pair_floor(SOURCE, False, Fraction(1, 2))
