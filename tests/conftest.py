"""Settings for all tests (Hypothesis profiles, one torch thread per worker, no COLUMNS), and which are taken.

`--suite quick` is what `make test` runs: a few cases of every sweep, and nothing slow. `--suite all` has
every case of the sweeps; `--suite slow` has what is slow, and nothing else. Without it nothing is left out.

A *sweep* is a test with the mark `sweep(k)`: the quick suite takes k of its cases, spread evenly, the first
among them, and those that are named, `sweep(k, also=["two levels"])`: each kills a mutant that no other quick
test does. A test with a loop over its cases asks the fixture `few` which of them this run takes.
"""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings

from tests.support.collecting import Collecting
from tests.support.cost import Cost
from tests.support.suites import Few, every, spread

settings.register_profile(
    "fast", max_examples=60, deadline=None, derandomize=True, suppress_health_check=[HealthCheck.too_slow]
)
settings.register_profile("few", settings.get_profile("fast"), max_examples=25)
settings.register_profile(
    "deep", max_examples=2000, deadline=None, suppress_health_check=[HealthCheck.too_slow]
)
settings.load_profile(os.environ.get("ATTEMPER_HYPOTHESIS", "fast"))
# What the documents show is as wide as it is in a pipe, wherever the tests are run. (The readline module,
# which pytest loads, sets the variable for child processes behind Python's back.)
os.environ.pop("COLUMNS", None)
os.unsetenv("COLUMNS")


def pytest_addoption(parser: pytest.Parser) -> None:
    """Which tests are taken."""
    parser.addoption("--suite", choices=("quick", "all", "slow"), help="quick: a few cases of every sweep")
    parser.addoption("--cost", type=Path, metavar="FILE", help="write what each item costs, in CPU seconds")


def pytest_configure(config: pytest.Config) -> None:
    """Count what tests cost, and collect them at less cost; the quick suite tries fewer examples."""
    if config.getoption("--suite") == "quick" and "ATTEMPER_HYPOTHESIS" not in os.environ:
        settings.load_profile("few")
    config.pluginmanager.register(Cost(config))
    config.pluginmanager.register(Collecting())


@pytest.hookimpl(tryfirst=True)
def pytest_pycollect_makeitem(
    collector: pytest.Module | pytest.Class, name: str, obj: object
) -> list[pytest.Item] | None:
    """No case is even made of a slow test that is left out: there are thousands."""
    del name
    marks = getattr(obj, "pytestmark", ())
    left_out = _suite(collector) in {"quick", "all"} and any(mark.name == "slow" for mark in marks)
    return [] if left_out else None


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Take the cases of the suite, in their order."""
    # Here, as whoever only hands out tests to workers collects none, and needs no torch.
    import torch

    torch.set_num_threads(1)
    suite = config.getoption("--suite")
    if suite is None:
        return
    taken = [item for item in items if (item.get_closest_marker("slow") is None) == (suite != "slow")]
    if suite == "quick":
        taken = _thinned(taken)
    kept = set(map(id, taken))
    config.hook.pytest_deselected(items=[item for item in items if id(item) not in kept])
    items[:] = taken


@pytest.fixture
def few(request: pytest.FixtureRequest) -> Few:
    """Which cases a test takes that has a loop over them: `for seed in few(range(60), 3):`."""
    return spread if _suite(request) == "quick" else every


def _thinned(items: list[pytest.Item]) -> list[pytest.Item]:
    cases: dict[str, list[pytest.Item]] = {}
    for item in items:
        cases.setdefault(item.nodeid.split("[", 1)[0], []).append(item)
    return [case for every in cases.values() for case in _few_of(every)]


def _few_of(cases: list[pytest.Item]) -> list[pytest.Item]:
    mark = cases[0].get_closest_marker("sweep")
    if mark is None:
        return cases
    few, also = spread(cases, mark.args[0]), mark.kwargs.get("also", ())
    return [case for case in cases if case in few or case.name.partition("[")[2].removesuffix("]") in also]


def _suite(of: pytest.Collector | pytest.FixtureRequest) -> str | None:
    suite: str | None = of.config.getoption("--suite")
    return suite
