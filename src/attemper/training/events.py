"""What was measured in a run, as TensorBoard shows it: a file of events."""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING

from attemper.missing import library_needed

if TYPE_CHECKING:
    from attemper.training.runs import TrainingRun

EVENTS = "tensorboard"
"""The folder of the file, within that of the run."""

_PLACES = {"step": "step", "measured": "n"}
"""What each kind of record is a function of."""


def require_tensorboard() -> None:
    """Raises `OptionError` if tensorboard is not installed."""
    with library_needed("tensorboard", "tensorboard", "a file of events"):
        importlib.import_module("tensorboard")


def write_events(run: TrainingRun) -> None:
    """Write every number of metrics.jsonl to the folder `tensorboard` of the run, in place of older ones.

    `step/loss` and the others of that group go by steps, `measured/loss` and the others by lengths of words.
    Raises `OptionError` if tensorboard is not installed.
    """
    require_tensorboard()
    from torch.utils.tensorboard import SummaryWriter

    folder = run.folder / EVENTS
    for older in folder.glob("events.out.tfevents.*"):
        older.unlink()
    with SummaryWriter(str(folder)) as events:
        for row in run.rows:
            kind = str(row["kind"])
            place = _PLACES[kind]
            for name, value in row.items():
                if name != place and isinstance(value, int | float):
                    events.add_scalar(f"{kind}/{name}", value, row[place])
