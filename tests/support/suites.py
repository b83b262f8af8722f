"""A few of many cases, for the quick suite."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol, TypeVar

Case = TypeVar("Case")


class Few(Protocol):
    """The fixture `few`: in the quick suite so many of the cases, otherwise all of them."""

    def __call__(self, cases: Sequence[Case], number: int, /) -> Sequence[Case]:
        """The cases of this run."""
        ...


def spread(cases: Sequence[Case], number: int, /) -> Sequence[Case]:
    """So many of the cases, spread evenly, the first among them; all of them if there are no more."""
    number = min(number, len(cases))
    return [cases[place * len(cases) // number] for place in range(number)]


def every(cases: Sequence[Case], number: int, /) -> Sequence[Case]:
    """All of them."""
    del number
    return cases
