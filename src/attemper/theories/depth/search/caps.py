"""When a search ends though it has not come to its end."""

from __future__ import annotations

import time
from dataclasses import dataclass
from typing import final

CLASSES, SECONDS = 200_000, 60.0
"""How many classes are listed for each k, and how long all of a search may take, unless it is said."""


@final
@dataclass(frozen=True)
class ClassCaps:
    """At most so many classes for each k; nothing is begun once the clock has passed `deadline`."""

    classes: int = CLASSES
    deadline: float | None = None

    def reached(self, classes: int) -> str | None:
        """Which cap is reached with so many classes; None for neither."""
        if classes > self.classes:
            return f"more than {self.classes:,} classes"
        if self.deadline is not None and time.monotonic() > self.deadline:
            return "the time is over"
        return None
