"""How much may be looked at before the answer is UNKNOWN: configurations, seconds, memory."""

from __future__ import annotations

from time import monotonic
from typing import final

from attemper.errors import OptionError, UnprovedError

BLOCK = 1_024
"""So many configurations are followed together."""

MOST_BYTES = 1 << 27
"""No table of ours takes more memory: configurations, activations of a layer, or orders of keys."""


@final
class Budget:
    """What is left; everything that is met is counted in `met`.

    Raises `OptionError` for numbers that are no caps.
    """

    def __init__(self, configurations: int, seconds: float) -> None:
        if type(configurations) is not int or configurations < 1:
            raise OptionError(
                f"the limit 'configurations' is a whole number from 1 on, not {configurations!r}"
            )
        if isinstance(seconds, bool) or not isinstance(seconds, int | float) or not seconds >= 0:
            raise OptionError(
                f"seconds={seconds!r} is not a number of seconds from 0 on", options=("seconds",)
            )
        self.met = 0
        self._most, self._seconds = configurations, seconds
        self._end = monotonic() + seconds

    def meet(self, count: int) -> None:
        """So many configurations more. Raises `UnprovedError` where they are too many."""
        self.met += count
        if self.met > self._most:
            raise UnprovedError(
                f"there are more than {self._most:,} configurations: give a greater number, as in "
                f"limits={ {'configurations': 10 * self._most} }; there are finitely many, but at worst "
                "a tower of exponentials in the number of layers",
                options=("limits",),
                configurations=self.met,
            )

    def look(self) -> None:
        """Raises `UnprovedError` if the time is over."""
        if monotonic() >= self._end:
            raise UnprovedError(
                f"{self._seconds:g} seconds were not enough (configurations met: {self.met:,}): give more, "
                f"as in seconds={max(60, round(10 * self._seconds))}",
                options=("seconds",),
                configurations=self.met,
            )

    def hold(self, size: int, what: str) -> None:
        """Raises `UnprovedError` if so many bytes are too many."""
        if size > MOST_BYTES:
            raise UnprovedError(
                f"the {what} take more than {MOST_BYTES >> 20} megabytes, and no more are kept "
                f"(configurations met: {self.met:,}): the model has too many activations",
                configurations=self.met,
            )
