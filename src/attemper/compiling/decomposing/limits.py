"""How large a cascade may become before its construction is given up."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, fields
from typing import final

from attemper.errors import UnsupportedError


@final
@dataclass(frozen=True)
class CascadeCaps:
    """Caps on one chain of a cascade. All but `rows` hold while it is built, before equal symbols are merged.

    With more than `rows_remembering` rows of a table, a level gives up knowledge that a later level recovers.
    `search_steps`, `congruence_steps` and `configurations` bound the search for something better than the
    plain way. Without `bases`, ways that first look at the last letters or at positions are not tried.
    Without `counter` an automaton that is a counter between two bounds, or a walk between two walls, gets a
    cascade of ever smaller sets all the same.
    """

    image_sets: int = 20_000
    image_states: int = 5_000_000
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
    counter: bool = True

    def with_caps(self, caps: Mapping[str, int]) -> CascadeCaps:
        """The same but for some caps, by their names."""
        return CascadeCaps(**{**asdict(self), **caps})


CAPS = tuple(field.name for field in fields(CascadeCaps) if not isinstance(field.default, bool))
"""The names of the caps, as `limits={NAME: N}` has them."""


@final
@dataclass(frozen=True)
class Excess:
    """How far a construction had come when it met a cap, and what to raise that cap to."""

    cap: str
    value: int
    allowed: int
    what: str
    more: int


@final
class CapError(UnsupportedError):
    """A cascade that grows beyond caps: which, and what to raise them to.

    `is_enough` says whether it does not grow beyond these, too; None where that was not tried.
    """

    def __init__(self, met: Sequence[Excess], is_enough: bool | None = None) -> None:
        self.met = tuple(met)
        caps = {one.cap: one.more for one in met}
        needed = ", and ".join(
            f"at least {one.value} {one.what}, beyond the cap of {one.allowed}" for one in met
        )
        tried = {None: "", True: ", which is enough", False: ", which may not be enough"}[is_enough]
        super().__init__(
            f"the automaton needs {needed}; raise {'it' if len(met) == 1 else 'them'} with "
            f"limits={caps}{tried}, or split the language into simpler ones",
            limits=caps,
            options=("limits",),
        )


def check(value: int, limits: CascadeCaps, cap: str, what: str) -> None:
    """Raises `CapError` naming the cap, and a number to try, if the value is beyond it.

    >>> check(2, CascadeCaps(levels=2), "levels", "levels")
    """
    allowed: int = getattr(limits, cap)
    if value > allowed:
        raise CapError([Excess(cap, value, allowed, what, max(value, 4 * allowed))])
