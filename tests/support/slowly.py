"""Cases of a test of which a few are tried every time, and the others in `make test-slow`."""

from __future__ import annotations

from collections.abc import Collection, Iterable
from typing import Any

import pytest


def mostly_slow(cases: Iterable[Any], fast: Collection[Any]) -> list[Any]:
    """The cases as parameters: all but the fast ones are slow."""
    return [case if case in fast else pytest.param(*_values(case), marks=pytest.mark.slow) for case in cases]


def _values(case: Any) -> tuple[Any, ...]:
    return case if isinstance(case, tuple) else (case,)


def every_nth(cases: Iterable[Any], step: int) -> list[Any]:
    """The cases as parameters: the first and each `step`-th after it are fast, all others slow."""
    return [
        case if number % step == 0 else pytest.param(*_values(case), marks=pytest.mark.slow)
        for number, case in enumerate(cases)
    ]
