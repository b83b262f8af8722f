"""How large a cascade may become before its construction is given up."""

from __future__ import annotations

from dataclasses import dataclass
from typing import final

from attemper.errors import UnsupportedError


@final
@dataclass(frozen=True)
class Limits:
    """Caps on one chain of a cascade. All but `rows` hold while it is built, before equal symbols are merged.

    With more than `rows_remembering` rows of a table, a level gives up knowledge that a later level recovers.
    `search_steps`, `congruence_steps` and `configurations` bound the search for something better than the
    plain way. Without `bases`, ways that first look at the last letters or at positions are not tried.
    Without `merging` tables stay as they are built: larger, and easier to prove. Without `counter` an
    automaton that is a counter between two bounds gets a cascade all the same.
    """

    image_sets: int = 20_000
    symbols: int = 4_000
    labels: int = 4_000
    registers: int = 64
    rows: int = 40_000
    rows_before_merging: int = 100_000
    rows_remembering: int = 2_000
    levels: int = 64
    places: int = 400
    search_steps: int = 600_000
    congruence_steps: int = 400_000
    configurations: int = 1_500
    bases: bool = True
    merging: bool = True
    counter: bool = True


def check(value: int, limits: Limits, cap: str, what: str) -> None:
    """Raises `UnsupportedError` naming the cap if the value is beyond it.

    >>> check(2, Limits(levels=2), "levels", "levels")
    """
    allowed: int = getattr(limits, cap)
    if value > allowed:
        raise UnsupportedError(
            f"the automaton needs at least {value} {what}, beyond the cap of {allowed}; "
            f"raise the cap {cap} in Limits, or split the language into simpler ones"
        )
