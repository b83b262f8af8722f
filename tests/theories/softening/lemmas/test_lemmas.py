"""The lemmas of Yang et al. hold on every word, in balls, and what is measured is measured rightly."""

from __future__ import annotations

import pytest

from attemper.exact.balls import precision
from attemper.theories.softening.lemmas.norms import PRECISION
from tests.support.drawn.tieless_networks import tieless
from tests.support.judges.lemmas import LENGTHS, NETWORKS, Held, hold_at
from tests.support.slowly import every_nth


@pytest.mark.parametrize("seed", every_nth(range(NETWORKS), 25))
def test_every_lemma_holds_on_every_word(seed: int, few) -> None:
    held = Held()
    with precision(PRECISION):
        network = tieless(seed, LENGTHS[-1]).network
        for length in few(LENGTHS, 1):
            hold_at(network, length, held)
    assert {"25", "26", "28", "29", "30", "33", "34"} <= set(held.loose)
