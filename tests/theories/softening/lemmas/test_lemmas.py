"""The lemmas of Yang et al. hold on every word, in balls, and what is measured is measured rightly."""

from __future__ import annotations

import pytest

from attemper.exact.balls import precision
from attemper.theories.softening.check.hard import uniform_heads
from attemper.theories.softening.lemmas import norms
from attemper.theories.softening.lemmas.norms import PRECISION, Published
from tests.support.drawn.tieless_networks import tieless
from tests.support.judges import lemmas
from tests.support.judges.lemmas import LENGTHS, NETWORKS, Held, hold_at
from tests.support.slowly import every_nth


@pytest.mark.parametrize("seed", every_nth(range(NETWORKS), 25))
def test_every_lemma_holds_on_every_word(seed: int, few) -> None:
    held = Held()
    with precision(PRECISION):
        network = tieless(seed, LENGTHS[-1]).network
        for length in few(LENGTHS, 1):
            hold_at(network, length, held)
    assert {"26", "28", "29"} <= set(held.loose)
    # Where every head is uniform nothing is off.
    assert all(map(all, uniform_heads(network))) or {"25", "30", "33", "34"} <= set(held.loose)


@pytest.mark.parametrize(
    ("lemma", "name", "divisor"),
    [("28", "map", 20), ("30", "growth", 4), ("32", "scores", 40), ("29", "kappa", 100)],
)
def test_a_constant_that_is_too_small_is_noticed(
    lemma: str, name: str, divisor: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    right = getattr(Published, name).fget
    monkeypatch.setattr(Published, name, property(lambda paper: right(paper) / divisor))
    with pytest.raises(AssertionError, match=f"'{lemma}'"):
        hold_of_some()


@pytest.mark.parametrize(("lemma", "name"), [("Edelman et al.", "edelman"), ("26", "coldness")])
def test_half_a_bound_and_a_thousandth_of_a_coldness_are_noticed(
    lemma: str, name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    if name == "edelman":
        monkeypatch.setattr(lemmas, name, lambda lead, visible: norms.edelman(lead, visible) / 2)
    else:
        right = Published.coldness
        monkeypatch.setattr(Published, name, lambda *arguments: right(*arguments) / 1000)
    with pytest.raises(AssertionError, match=f"'{lemma}'"):
        hold_of_some()


def hold_of_some() -> None:
    """A network of each number of layers, on words of two and three symbols."""
    with precision(PRECISION):
        for seed in (1, 3, 6, 11):
            for length in (2, 3):
                hold_at(tieless(seed, 3).network, length, Held())
