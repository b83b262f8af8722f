"""What `depth` says of a language is never more than the layers of a model that has the language."""

from __future__ import annotations

import pytest

from attemper.errors import UnprovedError
from attemper.reading.models.tables import automaton_of_masked
from attemper.theories.depth.ask import depth
from tests.reading.test_tables import random_model
from tests.support.drawn.masked_models import ArrayModel


def lower_bounds(seeds: range) -> int:
    """How many models were compared."""
    compared = 0
    for seed in seeds:
        plain = random_model(seed)
        try:
            read = automaton_of_masked(ArrayModel(plain), 20_000)
        except UnprovedError:
            continue
        prefix, period = max(1, plain.prefix + 1), plain.period
        found = depth(
            read.dfa,
            layers=len(plain.layers),
            period=period,
            prefix=prefix,
            limits={"classes": 2_000},
            seconds=2,
        )
        assert found.lower <= len(plain.layers), seed
        compared += 1
    return compared


@pytest.mark.sweep(0)
def test_no_lower_bound_is_above_the_layers_of_a_model() -> None:
    assert lower_bounds(range(12)) > 8


@pytest.mark.slow
def test_no_lower_bound_is_above_the_layers_of_many_models() -> None:
    assert lower_bounds(range(12, 300)) > 250
