"""One counter between two bounds, as data: Dyck-1 of bounded depth, or at most k of some letter.

Such an automaton needs no cascade: counting does it in three layers of attention at most, however many states
it has.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import final

from attemper.languages.words import Alphabet


@final
@dataclass(frozen=True)
class BoundedCounter:
    """The number before the first letter is 0; `weights` has what each letter adds, None if it leads outside.

    A word is inside if it has no letter that leads outside and all its prefixes' numbers are in low..high.
    It is accepted if it is inside, with a number in one of the ranges `accepting`, or if it is outside and
    `accepts_outside`.
    """

    alphabet: Alphabet
    weights: tuple[int | None, ...]
    low: int
    high: int
    accepting: tuple[tuple[int, int], ...]
    accepts_outside: bool

    @property
    def is_monotone(self) -> bool:
        """Whether numbers that are out of range stay so by themselves."""
        known = [weight for weight in self.weights if weight is not None]
        return min(known) >= 0 or max(known) <= 0

    @property
    def sublayers(self) -> int:
        """Layers of attention: two compare counts, and one more looks at all prefixes."""
        return 2 if self.is_monotone else 3
