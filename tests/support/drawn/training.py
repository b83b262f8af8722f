"""Training runs so small that a test has many of them, and models that are tables of words."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import torch
from torch import Tensor

from attemper.languages.sources.values import Source
from attemper.languages.words import Word
from attemper.training.entries import as_toml, settings_from
from attemper.training.prefixes import symbols_of
from attemper.training.settings import Settings

PARITY = {"name": "parity-even", "p": "1/2"}
RECOGNITION = {"kind": "recognition", "language": "zoo:parity-odd", "words": 12}


def tiny(**tables: Mapping[str, object]) -> Settings:
    """Seven steps of a model of eight coordinates, with other entries where they are given."""
    entries: dict[str, Mapping[str, object]] = {
        "task": PARITY,
        "model": {"width": 8, "layers": 1, "hidden": 8},
        "training": {"steps": 7, "batch": 4, "length": 4, "log_every": 3, "save_every": 2, "warmup": 2},
        "evaluation": {"lengths": [2, 5], "words": 4},
    }
    for name, own in tables.items():
        # A task is another one as a whole; all else is changed entry by entry.
        entries[name] = own if name == "task" else {**entries.get(name, {}), **own}
    return settings_from(entries)


def written(settings: Settings, folder: Path) -> Path:
    """The settings as a file."""
    path = folder / "config.toml"
    path.write_text(as_toml(settings), encoding="utf-8")
    return path


class ByWord:
    """Logits that a table has for each prefix."""

    def __init__(self, source: Source, table: Mapping[Word, Tensor]) -> None:
        self.symbols, self.table = symbols_of(source), table

    def __call__(self, tokens: Tensor) -> Tensor:
        words = [tuple(self.symbols[token] for token in row[1:]) for row in tokens.tolist()]
        return torch.stack([self.table[word] for word in words])
