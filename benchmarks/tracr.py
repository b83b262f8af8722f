"""Against Tracr on its own tasks: `python -m benchmarks.tracr`, in an environment of its own.

Tracr is no package of the index: install it from its repository, `google-deepmind/tracr`, with `jax`,
`dm-haiku` and `einops`, beside attemper in an environment made for this alone. Without it the words a second
of attemper are printed, and nothing is compared.
"""

from __future__ import annotations

import importlib.util
import statistics
import time
from collections.abc import Callable
from dataclasses import dataclass

import torch
from rich.console import Console
from rich.table import Table
from tests.support.drawn.long_words import exact_bits, random_word, wrong_positions

import attemper
from attemper.networks.layers import parameter_count

BATCH = 8
LENGTHS = (16, 128, 512)
ROUNDS = 7


@dataclass(frozen=True)
class Task:
    """One task: a formula over the alphabet abcd, and the name of Tracr's program for the same numbers."""

    title: str
    formula: str
    program: str


TASKS = (
    Task(
        "histogram = 2",
        "a & #[a] = 2 | b & #[b] = 2 | c & #[c] = 2 | d & #[d] = 2",
        "make_hist",
    ),
    Task("at least half of the previous are a", "2*#<[a] >= pos", "make_frac_prevs"),
)


@dataclass(frozen=True)
class Speed:
    """How large a model is, and how many words of one length it reads in a second, in batches of eight."""

    parameters: int
    words_a_second: float


def main() -> None:
    """Print the table; with Tracr, both and their ratio."""
    torch.set_num_threads(1)
    has_tracr = importlib.util.find_spec("tracr") is not None
    table = Table(
        "task", "n", "parameters", "words/s", "fused words/s", "Tracr parameters", "words/s", "ratio"
    )
    for task in TASKS:
        for length in LENGTHS:
            scan, fused = ours(task, length, "scan"), ours(task, length, "fused")
            cells = [f"{scan.parameters:,}", f"{scan.words_a_second:,.0f}", f"{fused.words_a_second:,.0f}"]
            if has_tracr:
                other = tracrs(task, length)
                ratio = scan.words_a_second / other.words_a_second
                cells += [f"{other.parameters:,}", f"{other.words_a_second:,.1f}", f"{ratio:.1f}"]
            table.add_row(task.title, str(length), *cells)
    Console(width=150).print(table)
    if not has_tracr:
        print("Tracr is not installed here: benchmarks/tracr.py says how to; its columns are empty.")


def ours(task: Task, length: int, engine: str) -> Speed:
    """attemper's model in float32, on random words, all of whose answers are compared with the exact ones."""
    model = attemper.compile(task.formula, "abcd", at="last")
    module = model.dense(dtype="float32", engine=engine)
    words = [random_word(length, 4, seed) for seed in range(BATCH)]
    tokens = torch.stack([torch.from_numpy(word) for word in words])
    with torch.no_grad():
        for word, row in zip(words, module(tokens).numpy(), strict=True):
            assert not wrong_positions(row[None], exact_bits(model.language.definition, model.alphabet, word))
        return Speed(parameter_count(model.network), BATCH / median_seconds(lambda: module(tokens)))


def tracrs(task: Task, length: int) -> Speed:
    """Tracr's model of the same task for words of this length, compiled by jax."""
    import jax
    from tracr.compiler import compiling, lib
    from tracr.rasp import rasp

    programs = {
        "make_hist": lambda: lib.make_hist(),
        "make_frac_prevs": lambda: lib.make_frac_prevs(rasp.tokens == "a"),
    }
    names = "abcd"
    model = compiling.compile_rasp_to_model(programs[task.program](), set(names), length)
    encoder = model.input_encoder
    rows = [
        encoder.encode([compiling.COMPILER_BOS, *(names[symbol] for symbol in random_word(length, 4, seed))])
        for seed in range(BATCH)
    ]
    tokens = jax.numpy.array(rows)
    forward = jax.jit(lambda batch: model.forward(model.params, batch).unembedded_output)
    seconds = median_seconds(lambda: forward(tokens).block_until_ready())
    parameters = sum(leaf.size for leaf in jax.tree_util.tree_leaves(model.params))
    return Speed(parameters, BATCH / seconds)


def median_seconds(work: Callable[[], object]) -> float:
    """The median of some runs by the clock, after one to warm up."""
    work()
    times = []
    for _ in range(ROUNDS):
        start = time.perf_counter()
        work()
        times.append(time.perf_counter() - start)
    return statistics.median(times)


if __name__ == "__main__":
    main()
