"""Whatever the checker derives of a network, right or mutated, is what the network computes on short words.

This is more than that no wrong certificate is accepted: every coordinate of every layer is compared, also
in networks that compute no formula at all.
"""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Iterator

import pytest

from attemper.checker.analysis import analyse
from attemper.checker.names import UnprovenError
from attemper.compiling.pipeline import compile_language
from attemper.networks.layers import Network
from attemper.networks.regime import Regime
from attemper.networks.wellformed import complaints
from tests.checker.test_mutations import FEW, MANY, Case, proved
from tests.support.drawn.nearest import language_of, random_nearest
from tests.support.judges.brute_force import words_up_to
from tests.support.judges.derived import derived_wrongly
from tests.support.mutants.one_change import network_mutants

SAMPLE = 16
"""How many mutants of each model the fast test looks at."""


def judged(networks: list[tuple[str, Network | None]], length: int) -> Counter[str]:
    """Count what is malformed, what no rule covers, and what was derived rightly; the rest is an error."""
    counts: Counter[str] = Counter()
    for name, network in networks:
        if network is None or complaints(network):
            counts["malformed"] += 1
            continue
        try:
            analysis = analyse(network)
        except UnprovenError:
            counts["not derived"] += 1
            continue
        for word in words_up_to(network.alphabet, length):
            wrong = next(derived_wrongly(analysis, word), None)
            assert wrong is None, f"{name}: {wrong}"
        counts["derived rightly"] += 1
    return counts


def twice_mutated(network: Network, rng: random.Random, count: int) -> Iterator[tuple[str, Network | None]]:
    """Mutants of mutants that the checker can still follow."""
    for _ in range(count):
        first, once = rng.choice(list(network_mutants(network, rng)))
        if once is not None and not complaints(once):
            second, twice = rng.choice(list(network_mutants(once, rng)))
            yield f"{first}; {second}", twice


@pytest.mark.sweep(1)
@pytest.mark.parametrize("case", FEW, ids=str)
def test_what_is_derived_of_sampled_mutants_is_so(case: Case) -> None:
    network = proved(case)[0].network
    rng = random.Random(f"derived {case}")
    every = list(network_mutants(network, rng))
    counts = judged([("as compiled", network), *rng.sample(every, SAMPLE)], 3)
    assert counts["derived rightly"] > 0


def nearest_network(rng: random.Random) -> Network:
    program = random_nearest(rng)
    regime = rng.choice((Regime.UNBOUNDED, Regime.TEMPERATURE))
    return compile_language(language_of(program), program.alphabet, regime).soft


@pytest.mark.sweep(1)
@pytest.mark.parametrize("seed", range(2))
def test_what_is_derived_of_whole_numbers_is_so(seed: int) -> None:
    rng = random.Random(seed)
    network = nearest_network(rng)
    counts = judged([("as compiled", network), *rng.sample(list(network_mutants(network, rng)), 3)], 3)
    assert counts["derived rightly"] > 0


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(40))
def test_what_is_derived_of_mutated_whole_numbers_is_so(seed: int) -> None:
    rng = random.Random(seed)
    network = nearest_network(rng)
    counts = judged([*rng.sample(list(network_mutants(network, rng)), 30)], 4)
    assert counts["derived rightly"] > 0


@pytest.mark.slow
@pytest.mark.parametrize("case", MANY, ids=str)
def test_what_is_derived_of_all_mutants_is_so(case: Case, capsys: pytest.CaptureFixture[str]) -> None:
    network = proved(case)[0].network
    rng = random.Random(f"derived {case}")
    counts = judged([*network_mutants(network, rng), *twice_mutated(network, rng, 60)], 4)
    with capsys.disabled():
        shown = ", ".join(f"{number} {name}" for name, number in sorted(counts.items()))
        print(f"\n{' '.join(case)}: {counts.total()} networks: {shown}")  # noqa: T201 - the sweep's result
    assert counts["derived rightly"] > counts.total() / 4
