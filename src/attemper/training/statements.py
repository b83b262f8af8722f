"""Hahn, section 6: recurrent networks beside transformers, and what training finds."""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction
from pathlib import Path
from tempfile import TemporaryDirectory

from attemper.languages.sources.levels import last_symbols, optimum
from attemper.languages.sources.values import Parity
from attemper.missing import torch_needed
from attemper.workbench.papers.statements import Observed, Paper, Statement, at_least, at_most

HALF = Parity(Fraction(1, 2), odd=False)


def recurrent() -> Iterator[Observed]:
    """Two ReLU units of an RNN predict PARITY's source as well as is possible, at every length."""
    with torch_needed("a recurrent network"):
        from attemper.training.measuring import measured
        from attemper.training.models import ParityRnn

    rnn = ParityRnn(0.5, odd=False)
    for n in (8, 64, 512):
        found = measured(lambda tokens: rnn(tokens)[:, -1], HALF, n, 16, seed=0)
        yield at_most(f"n = {n}: loss above H_opt", found.loss - float(optimum(HALF)), 1e-9)
        yield at_least(f"n = {n}: what one symbol changes, on average", found.change, 1.0)


def trained() -> Iterator[Observed]:
    """A small transformer after 20 steps: its loss is never below its own floor, nor below H_opt."""
    with torch_needed("a network to train"):
        from attemper.training.entries import settings_from
        from attemper.training.runs import train

    settings = settings_from(
        {
            "task": {"name": "parity-even", "p": "1/2"},
            "model": {"width": 8, "layers": 1, "heads": 1, "hidden": 8},
            "training": {"steps": 20, "batch": 16, "length": 8, "warmup": 4},
            "evaluation": {"lengths": [8, 32, 128], "words": 24},
        }
    )
    with TemporaryDirectory() as folder:
        rows = train(settings, Path(folder) / "run").measured
    for row in rows:
        n, excess, floor = row["n"], float(str(row["excess"])), float(str(row["floor"]))
        yield at_least(f"n = {n}: loss above H_opt, and its own floor", excess, floor)
    changes = [float(str(row["change"])) for row in rows]
    yield at_most("change at n = 128 over that at n = 8", changes[-1] / changes[0], 0.2)
    level = float(last_symbols(HALF, 1)) - float(optimum(HALF))
    yield at_least("floor at n = 128 over that of a table on x_n", float(str(rows[-1]["floor"])) / level, 0.9)


STATEMENTS = (
    Statement(
        *(
            77,
            Paper.HAHN,
            ("section-6-rnn", "rnn"),
            "Recurrent networks do what soft attention cannot (section 6)",
        ),
        "`parity-rnn`: the parity in two ReLU units, with nothing to train.",
        "",
        "attemper train",
        recurrent,
    ),
    Statement(
        *(
            85,
            Paper.HAHN,
            ("section-7-stacks", "stacks"),
            "Recurrent networks with a stack for 2DYCK (section 7)",
        ),
        "`attemper train` trains an LSTM on 2DYCK.",
        "there is no recurrent network with a stack: the paper cites others for it",
        "attemper train",
        None,
    ),
    Statement(
        *(86, Paper.HAHN, ("theorem-6-trained", "theorem-6"), "Theorem 6, as training shows it"),
        "`study` trains transformers, LSTMs and convolutions, and measures loss, change and floor at many "
        "lengths.",
        "Here a small one for 20 steps.",
        "attemper study --quick",
        trained,
    ),
)
