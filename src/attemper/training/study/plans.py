"""Which models the study trains on which source, and for how long: its settings, and nothing that runs."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import final

from attemper.training.entries import settings_from
from attemper.training.settings import Settings

SOURCES: Mapping[str, str] = {"parity-even": "1/2", "dyck2": "2/5"}
"""The sources of Hahn (2020), section 6, with their probabilities."""

WINDOW = 3
"""What a convolution and a table see at a time."""

MODELS: Mapping[str, Mapping[str, object]] = {
    "transformer": {"kind": "transformer"},
    "transformer, temperature 1/ln n": {"kind": "transformer", "temperature": "log-n"},
    "LSTM": {"kind": "lstm"},
    f"convolution of width {WINDOW}, averaged": {"kind": "convolution", "window": WINDOW},
    f"table on the last {WINDOW} symbols": {"kind": "table", "window": WINDOW},
    "RNN built by hand": {"kind": "parity-rnn"},
}
"""What is trained, by the name that the study gives it."""


@final
@dataclass(frozen=True)
class StudyPlan:
    """A model on a source."""

    source: str
    model: str
    settings: Settings


def plans(*, quick: bool) -> list[StudyPlan]:
    """Every model on each source, but for the RNN, which is parity; `quick`: few steps, short words."""
    found = []
    for source, p in SOURCES.items():
        for model, entries in MODELS.items():
            is_built = entries["kind"] == "parity-rnn"
            if is_built and not source.startswith("parity"):
                continue
            steps = 0 if is_built else 150 if quick else 1350
            lengths = [8, 16, 32, 64, 128] if quick else [8, 16, 32, 64, 128, 256, 512]
            asked = {
                "task": {"name": source, "p": p},
                "model": dict(entries),
                "training": {"steps": steps, "length": 16 if quick else 32},
                "evaluation": {"lengths": lengths, "words": 128 if quick else 1024},
            }
            found.append(StudyPlan(source, model, settings_from(asked)))
    return found
