"""Ways to make the first layer simple, side by side, and how the cost of a refutation grows with n."""

from __future__ import annotations

import math
import time
from collections.abc import Callable
from fractions import Fraction
from functools import partial

from rich.console import Console
from rich.table import Table

from attemper.models.hard.examples import RandomTables
from attemper.models.hard.protocol import HardModel
from attemper.theories.refutation.certificate.restrictions import Restriction
from attemper.theories.refutation.check.subcubes import possible_answers
from attemper.theories.refutation.lemma.alteration import altered
from attemper.theories.refutation.lemma.faithful import faithful
from attemper.theories.refutation.search.hitting import hit, ranking

LENGTHS = (250, 500, 1_000, 2_000)
REPEATED = 3
LEFT = 16
"""How many free symbols a head of the first layer may depend on."""


def print_refutations() -> None:
    """Prints both tables."""
    console = Console(width=140)
    console.print(_hitting())
    console.print(_growth())


def _base(length: int) -> Restriction:
    return Restriction((*[(0, 1)] * (length - 1), (2,)))


def _hitting() -> Table:
    table = Table("random tables, 1 head", "n", f"free after each head depends on {LEFT} symbols at most")
    for length in (128, 256):
        model, base = RandomTables(length, (1, 1)), _base(length)
        ways: dict[str, Callable[[], Restriction]] = {
            "greedy hitting": partial(_hit, model, base, LEFT),
            "alteration, not random": lambda m=model, b=base: (  # type: ignore[misc]
                altered(m, b, LEFT, derandomised=True).restriction
            ),
            "alteration": lambda m=model, b=base: altered(m, b, LEFT).restriction,  # type: ignore[misc]
            "three stages, Local Lemma": lambda m=model, b=base: (  # type: ignore[misc]
                faithful(m, b, LEFT, Fraction(1, 20), threshold=8).restriction
            ),
        }
        for name, way in ways.items():
            table.add_row(name, str(length), f"{len(way().free) / length:.2f}")
    return table


def _growth() -> Table:
    table = Table("work, 2 layers", "heads", *(f"n = {length}: s" for length in LENGTHS), "grows like n^")
    for heads in (1, 2):
        hitting, checking = [], []
        for length in LENGTHS:
            model, base = RandomTables(length, (heads, heads), values=4), _base(length)
            hitting.append(_seconds(partial(_hit, model, base, 4)))
            checking.append(_seconds(partial(possible_answers, model, _hit(model, base, 4))))
        for name, times in (("ranking and hitting", hitting), ("the checker's pass", checking)):
            table.add_row(name, str(heads), *(f"{spent:.3f}" for spent in times), f"{_slope(times):.2f}")
    return table


def _hit(model: HardModel, base: Restriction, most: int) -> Restriction:
    return hit(model, base, ranking(model, base), most)


def _seconds(work: Callable[[], object]) -> float:
    """The shortest time of a few."""
    times = []
    for _ in range(REPEATED):
        start = time.perf_counter()
        work()
        times.append(time.perf_counter() - start)
    return min(times)


def _slope(times: list[float]) -> float:
    """The slope of the logarithms, by least squares."""
    xs, ys = [math.log(n) for n in LENGTHS], [math.log(spent) for spent in times]
    x, y = sum(xs) / len(xs), sum(ys) / len(ys)
    return sum((a - x) * (b - y) for a, b in zip(xs, ys, strict=True)) / sum((a - x) ** 2 for a in xs)
