"""The scan on long words and in batches: `python -m benchmarks.scan [networks|growth|batches|accuracy ...]`.

Every network runs in a process of its own. Seconds are those of the processor, of one thread; memory is the
greatest that the whole process had, torch included. Ratios are taken side by side in one process.
"""

from __future__ import annotations

import json
import statistics
import subprocess
import sys
import time
from collections.abc import Callable
from math import log
from typing import Any

import numpy as np
import torch
from rich.console import Console
from rich.markup import escape
from rich.table import Table
from tests.support.drawn.long_words import random_word
from tests.support.judges.head_outputs import errors_by_construction, module_of

import attemper
from benchmarks.subjects import model_of, subjects

MILLION = 10**6
LONGEST = 10**7
GROWN = ("majority, unbounded", "dyck-1, unbounded", "majority, decoder", "dyck-1, decoder")
BATCHES = ((512, 32), (512, 512), (16, 2048), (512, 2048))
ROUNDS = 5


def main() -> None:
    """Print the tables that the arguments name, or all."""
    tables = {
        "networks": print_networks,
        "growth": print_growth,
        "batches": print_batches,
        "accuracy": print_accuracy,
    }
    for name in sys.argv[1:] or tables:
        tables[name]()


def print_networks() -> None:
    """Every network at n = 10^6, on all words."""
    table = Table("network", "sees", "CPU s, least", "median", "most", "on", "peak MiB", "wrong positions")
    for subject in subjects():
        if model_of(subject) is None:
            continue
        own = in_a_process(subject.name, MILLION)
        seconds = own["seconds"]
        slowest = max(seconds, key=seconds.get)
        shown = (min(seconds.values()), statistics.median(seconds.values()), seconds[slowest])
        cells = (*(f"{value:.2f}" for value in shown), slowest, f"{own['peak_mib']:.0f}")
        table.add_row(escape(own["name"]), own["sees"], *cells, str(sum(own["wrong"].values())))
        print(*table_line(own), flush=True)
    Console(width=150).print(table)


def print_growth() -> None:
    """How time and memory grow from n = 10^4 to 10^7, and the fitted exponent of time."""
    table = Table("network", "n", "CPU s", "ns a symbol", "peak MiB", "wrong positions", "exponent")
    for name in GROWN:
        points = []
        for length in (10**4, 10**5, MILLION, LONGEST):
            own = in_a_process(name, length, "random", "tie at the end")
            seconds = min(own["seconds"].values())
            points.append((length, seconds))
            cells = (f"{seconds:.3f}", f"{seconds / length * 1e9:.0f}", f"{own['peak_mib']:.0f}")
            fitted = f"{exponent(points):.2f}" if length == LONGEST else ""
            table.add_row(name, f"{length:,}", *cells, str(sum(own["wrong"].values())), fitted)
            print(*table_line(own), flush=True)
    Console(width=150).print(table)


def print_batches() -> None:
    """The scan against torch's fused attention on batches of random words, timed alternately."""
    torch.set_num_threads(1)
    table = Table("network", "words", "n", "scan s", "fused s", "fused / scan")
    for name in ("majority, unbounded", "dyck-1, unbounded", "flip-flop, decoder", "parity-odd, unbounded"):
        found = {subject.name: subject for subject in subjects()}
        model = model_of(found[name])
        assert model is not None
        for words, length in BATCHES:
            scan, fused = side_by_side(model, words, length)
            table.add_row(name, str(words), str(length), f"{scan:.4f}", f"{fused:.4f}", f"{fused / scan:.1f}")
            print(name, words, length, round(scan, 4), round(fused, 4), round(fused / scan, 1), flush=True)
    Console(width=150).print(table)


def print_accuracy() -> None:
    """The greatest error of a head's means at n = 1,024, against rows in 64-bit mantissas."""
    table = Table("construction", "regime", "scan", "fused")
    errors: dict[tuple[str, str], dict[str, float]] = {}
    for subject in subjects():
        model = model_of(subject)
        if model is None:
            continue
        tokens = torch.from_numpy(random_word(1024, len(model.alphabet.symbols), 0))[None]
        for engine in ("scan", "fused"):
            for kind, error in errors_by_construction(module_of(model.network, engine), tokens).items():
                own = errors.setdefault((kind, subject.regime), {})
                own[engine] = max(own.get(engine, 0.0), error)
    for (kind, regime), own in sorted(errors.items()):
        table.add_row(kind, regime, f"{own['scan']:.1e}", f"{own['fused']:.1e}")
    Console(width=150).print(table)


def in_a_process(name: str, length: int, *words: str) -> dict[str, Any]:
    """What `benchmarks.one_network` measures. Raises `RuntimeError` with its error."""
    command = [sys.executable, "-m", "benchmarks.one_network", name, str(length), *words]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode:
        raise RuntimeError(f"{name} at n = {length}: {done.stderr[-2000:]}")
    own: dict[str, Any] = json.loads(done.stdout)
    return own


def table_line(own: dict[str, Any]) -> tuple[object, ...]:
    """The same as a plain line, which is there as soon as the process has ended."""
    seconds = {word: round(value, 3) for word, value in own["seconds"].items()}
    return own["name"], own["length"], seconds, round(own["peak_mib"]), own["wrong"]


def exponent(points: list[tuple[int, float]]) -> float:
    """The slope of log seconds over log n, by least squares.

    >>> round(exponent([(10, 3.0), (100, 30.0), (1000, 300.0)]), 6)
    1.0
    """
    lengths, seconds = ([log(point[place]) for point in points] for place in (0, 1))
    return statistics.linear_regression(lengths, seconds).slope


def side_by_side(model: attemper.Model, words: int, length: int) -> tuple[float, float]:
    """The median times of the two engines, run alternately after one run each to warm up.

    Both are sealed, as the modules are that a model runs words with.
    """
    symbols = len(model.alphabet.symbols)
    tokens = torch.from_numpy(np.stack([random_word(length, symbols, seed) for seed in range(words)]))
    modules = {engine: module_of(model.network, engine) for engine in ("scan", "fused")}
    times: dict[str, list[float]] = {engine: [] for engine in modules}
    with torch.no_grad():
        shown = [(module(tokens) >= 0.75) for module in modules.values()]
        assert torch.equal(*shown)
        for _ in range(ROUNDS):
            for engine, module in modules.items():
                times[engine].append(cpu_seconds(lambda module=module: module(tokens)))
    return statistics.median(times["scan"]), statistics.median(times["fused"])


def cpu_seconds(work: Callable[[], object]) -> float:
    """Seconds of the processor for the work, once."""
    start = time.process_time()
    work()
    return time.process_time() - start


if __name__ == "__main__":
    main()
