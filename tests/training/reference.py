"""The reference runs of docs/training.md: `python -m tests.training.reference --write` trains them anew.

They take a minute or less each on one core. The prototype's figures stand beside them: its budget was in
seconds, and its seeds were others, so that only the order of things is the same.
"""

from __future__ import annotations

import sys
from collections.abc import Mapping
from pathlib import Path
from tempfile import TemporaryDirectory

import torch

from attemper.training.entries import settings_from
from attemper.training.runs import train
from attemper.training.settings import Settings

PAGE = Path("docs/training.md")
BEGIN, END = "<!-- reference -->", "<!-- the end of the reference -->"

LENGTHS = (8, 16, 32, 64, 128, 256, 512)
LONGEST = {"parity-even": 512, "dyck2": 256}

RUNS: Mapping[str, tuple[str, str, str, int]] = {
    "PARITY, transformer": ("parity-even", "1/2", "transformer", 1350),
    "PARITY, LSTM": ("parity-even", "1/2", "lstm", 787),
    "2DYCK, transformer": ("dyck2", "2/5", "transformer", 1280),
    "2DYCK, LSTM": ("dyck2", "2/5", "lstm", 1236),
}
"""Of each run its source with its probability, the model, and the steps."""

PROTOTYPE: Mapping[str, tuple[str, ...]] = {
    "PARITY, transformer": (".0004", ".046", ".178", ".201", ".237", ".238", ".250"),
    "PARITY, LSTM": (".0002",) * 7,
    "2DYCK, transformer": (".0013", ".0012", ".016", ".29", ".65", ".83"),
    "2DYCK, LSTM": (".018", ".024", ".044", ".135", ".238", ".368"),
}


def settings_of(name: str, words: int = 1024) -> Settings:
    """The settings of a reference run."""
    source, p, model, steps = RUNS[name]
    return settings_from(
        {
            "task": {"name": source, "p": p},
            "model": {"kind": model},
            "training": {"steps": steps, "batch": 128, "length": 32},
            "evaluation": {"lengths": [n for n in LENGTHS if n <= LONGEST[source]], "words": words},
        }
    )


def excess_of(name: str, words: int = 1024) -> dict[int, float]:
    """The run's excess over H_opt, in nats, by length."""
    torch.set_num_threads(1)
    with TemporaryDirectory() as folder:
        rows = train(settings_of(name, words), Path(folder) / "run").rows
    return {int(str(row["n"])): float(str(row["excess"])) for row in rows if row["kind"] == "measured"}


def table() -> str:
    """All runs, each with the prototype's figures below."""
    rows = [f"| run, steps | {' | '.join(map(str, LENGTHS))} |", "|---|" + "---|" * len(LENGTHS)]
    for name, (*_, steps) in RUNS.items():
        found = [f"{value:.4f}" for value in excess_of(name).values()]
        for title, cells in ((f"{name}, {steps}", found), ("*prototype*", [*PROTOTYPE[name]])):
            rows.append(f"| {title} | {' | '.join([*cells, *['–'] * (len(LENGTHS) - len(cells))])} |")
        sys.stderr.write("\n".join(rows[-2:]) + "\n")
    return "\n".join(rows)


def main() -> None:
    """Write the table into the page, or print it."""
    found = table()
    if "--write" not in sys.argv:
        print(found)  # noqa: T201 - what this program is for
        return
    text = PAGE.read_text(encoding="utf-8")
    before, after = text.partition(BEGIN)[0], text.partition(END)[2]
    PAGE.write_text(f"{before}{BEGIN}\n{found}\n{END}{after}", encoding="utf-8")


if __name__ == "__main__":
    main()
