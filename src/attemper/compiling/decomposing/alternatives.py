"""The ways to take an automaton apart that were tried: what each costs, as people are told."""

from __future__ import annotations

from dataclasses import dataclass
from typing import final

WALK = "a walk between two walls"


@final
@dataclass(frozen=True)
class Alternative:
    """A way to build a cascade, what it costs, and why it was given up if it was.

    For one that was not built, since it is not better, `sublayers` is an estimate or a lower bound, and
    `rows` and `labels` are None.
    """

    name: str
    sublayers: int | None = None
    rows: int | None = None
    labels: int | None = None
    refusal: str | None = None
