"""Small trained transformers on every word of their languages: `python -m benchmarks.judged [NAME ...]`.

Each is a twin of a public checkpoint's task: one layer, width 16, one head, learned positions, LayerNorm
before each sublayer; it is trained to say what may come next, and judged up to the lengths of its training.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TypeVar

import torch
from rich.console import Console
from rich.table import Table

import attemper
from attemper.theories.judging.search.found import JudgedEncoder
from attemper.training.entries import settings_from
from attemper.training.runs import train
from attemper.training.settings import Settings

T = TypeVar("T")


@dataclass(frozen=True)
class Twin:
    """A language, how long it is trained, and to which length."""

    language: str
    alphabet: str
    steps: int
    length: int = 150
    rate: float = 3e-3

    @property
    def settings(self) -> Settings:
        """What `attemper train` is asked for."""
        return settings_from(
            {
                "task": {
                    "kind": "next",
                    "language": f"regex:{self.language}",
                    "alphabet": self.alphabet,
                    "words": 20_000,
                },
                "model": {
                    "width": 16,
                    "layers": 1,
                    "heads": 1,
                    "hidden": 64,
                    "positions": "learned",
                    "longest": 152,
                    "norm": "pre",
                },
                "training": {
                    "steps": self.steps,
                    "length": self.length,
                    "batch": 64,
                    "rate": self.rate,
                },
                "evaluation": {"lengths": [20, self.length], "words": 2000},
            }
        )


TWINS = {
    "(aa)*": Twin("(aa)*", "a", 800),
    "(abab)*": Twin("(abab)*", "ab", 800, 148),
    "tomita1": Twin("1*", "01", 500),
    "tomita2": Twin("(10)*", "01", 800),
    "a*b*c*": Twin("a*b*c*", "abc", 1500),
    "a+b+c+d+e+": Twin("aa*bb*cc*dd*ee*", "abcde", 1500),
    "{012}*02*": Twin("(0|1|2)*02*", "012", 1500),
    "D2": Twin("(a(ab)*b)*", "ab", 2500),
    "D2, longer": Twin("(a(ab)*b)*", "ab", 7000, rate=2e-3),
    "D3": Twin("(a(a(ab)*b)*b)*", "ab", 2500),
}


def main() -> None:
    """Train and judge them, and print a row for each; none is left out."""
    torch.set_num_threads(1)
    print_rows(TWINS, row_of)


def print_rows(twins: Mapping[str, T], row_of: Callable[[T, Path], tuple[str, ...]]) -> None:
    """A table with a row for each twin that the command line names, or for all."""
    table = Table("language", "right of 2,000", "outcome", "proved to", "cells", "seconds")
    with TemporaryDirectory() as folder:
        for number, name in enumerate(sys.argv[1:] or twins):
            table.add_row(name, *row_of(twins[name], Path(folder, str(number))))
    Console().print(table)


def row_of(twin: Twin, folder: Path) -> tuple[str, ...]:
    """What is measured of a twin, and what is proved."""
    run = train(twin.settings, folder)
    return judged_row(run.measured[-1]["right"], lambda: attemper.judge(folder, up_to=twin.length))


def judged_row(right: int, judge: Callable[[], JudgedEncoder]) -> tuple[str, ...]:
    """The cells of a row behind its name: how many words were right, what is found, and in which time."""
    began = time.process_time()
    found = judge()
    seconds = time.process_time() - began
    counts = ", ".join(f"{count:,} {status}" for status, count in found.cells.items() if count)
    outcome = str(found.status)
    if found.wrong is not None:
        outcome += f" by a prefix of {len(found.wrong.word)}"
    return f"{right:,}", outcome, str(found.proved_to), counts, f"{seconds:.1f}"


if __name__ == "__main__":
    main()
