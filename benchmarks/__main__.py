"""`make bench`: run every pair alternately and print the medians and their ratio."""

from __future__ import annotations

import statistics
import time
from collections.abc import Callable

import torch
from rich.console import Console
from rich.table import Table

from benchmarks.comparisons import Pair, pairs
from benchmarks.horizons import print_horizons
from benchmarks.refutations import print_refutations


def main() -> None:
    """Print the table of comparisons."""
    table = Table("work", "first", "median s", "second", "median s", "second / first")
    with torch.no_grad():
        for pair in pairs():
            first, second = medians(pair)
            shown = (pair.name, pair.first, f"{first:.4f}", pair.second, f"{second:.4f}")
            table.add_row(*shown, f"{second / first:.1f}")
    Console(width=140).print(table)
    print_horizons()
    print_refutations()


def medians(pair: Pair) -> tuple[float, float]:
    """The median times of both ways, run alternately after one run each to warm up."""
    pair.run_first()
    pair.run_second()
    first, second = [], []
    for _ in range(pair.repeats):
        first.append(seconds(pair.run_first))
        second.append(seconds(pair.run_second))
    return statistics.median(first), statistics.median(second)


def seconds(work: Callable[[], object]) -> float:
    """How long the work takes once."""
    start = time.perf_counter()
    work()
    return time.perf_counter() - start


main()
