"""The scan on thousands of networks: the slow twins of `test_scan.py`, and longer words."""

from __future__ import annotations

from collections import defaultdict

import pytest

from attemper.networks.regime import Regime
from tests.support.drawn.scan_networks import FAMILIES, OTHERS
from tests.support.drawn.scan_sweeps import (
    UNIT,
    demo_networks,
    foreign,
    mutants,
    random_cascades,
    random_formulas,
    require_close,
    require_right,
    some_words,
)
from tests.support.judges.extended_rows import HAS_EXTENDED
from tests.support.judges.head_outputs import errors_by_construction, module_of

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(not HAS_EXTENDED, reason="no numbers of a 64-bit mantissa here"),
]

LENGTHS = (1, 2, 3, 9, 60, 333)
LONG = 2048
"""Rows take n^2: so long words are for some of the networks."""


@pytest.mark.parametrize("part", range(20))
@pytest.mark.parametrize("regime", list(Regime))
def test_two_thousand_random_formulas(regime: Regime, part: int) -> None:
    for number, (network, language) in enumerate(
        random_formulas(regime, range(1000 + 34 * part, 1034 + 34 * part))
    ):
        for n in (*LENGTHS, *([LONG] if number == 0 else [])):
            require_right(network, language, some_words(n, 2, 3 if n < LONG else 1, n + number))


@pytest.mark.parametrize("part", range(10))
@pytest.mark.parametrize("regime", list(Regime))
def test_three_hundred_cascades(regime: Regime, part: int) -> None:
    for number, (network, dfa) in enumerate(
        random_cascades(regime, range(1000 + 11 * part, 1011 + 11 * part))
    ):
        for n in LENGTHS:
            require_right(network, dfa, some_words(n, len(dfa.alphabet.symbols), 2, n + number))


def test_every_network_of_the_demo() -> None:
    for _, network, language in demo_networks():
        for n in (*LENGTHS, LONG):
            count = 4 if n < LONG else 1
            require_right(network, language, some_words(n, len(network.alphabet.symbols), count, n))


@pytest.mark.parametrize("part", range(20))
def test_two_thousand_mutants(part: int) -> None:
    for number, network in enumerate(mutants(range(1000 + 110 * part, 1110 + 110 * part))):
        for n in (1, 5, 40, 200):
            require_close(network, some_words(n, 2, 2, number + n))


@pytest.mark.parametrize("family", [*FAMILIES, *OTHERS])
def test_hundreds_of_heads_without_a_construction(family: str) -> None:
    for number, network in enumerate(foreign(family, range(1000, 1200))):
        for n in (1, 2, 3, 9, 60, 200):
            require_close(network, some_words(n, 2, 2, number + n))


def test_no_construction_is_worse_than_dense() -> None:
    """At n = 1,024, against rows in 64-bit mantissas: beyond some roundings of 1, the scan is better."""
    scan, fused = defaultdict[tuple[str, str], float](float), defaultdict[tuple[str, str], float](float)
    for name, network, _ in demo_networks():
        tokens = some_words(1024, len(network.alphabet.symbols), 1, 0)
        for found, engine in ((scan, "scan"), (fused, "fused")):
            for kind, error in errors_by_construction(module_of(network, engine), tokens).items():
                key = kind, name.rpartition(", ")[2]
                found[key] = max(found[key], error)
    assert {kind for kind, _ in scan} == {"Uniform", "Select", "Neighbour", "Sign", "LocalSign", "Lookup"}
    worse = {key: (error, fused[key]) for key, error in scan.items() if error > max(fused[key], 8 * UNIT)}
    assert worse == {}
