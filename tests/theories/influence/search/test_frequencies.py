"""Branch and bound over boxes: what it promises of its constant, its tree and its budget."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.typing import NDArray

from attemper.theories.influence.check.frequencies import leaves_of
from attemper.theories.influence.search.frequencies import SearchProgress, search

Array = NDArray[np.float64]

WIDTHS = [1.0, 0.25]


def hill(low: Array, high: Array) -> Array:
    """Bounds of a function with a peak of 1 at (1/3, 1/3); infinite on wide boxes."""
    middle, width = (low + high) / 2, (high - low).sum(axis=1)
    bound = 1 - np.abs(middle - 1 / 3).sum(axis=1) + 2 * width
    return np.where(width > 1, np.inf, bound)


def test_the_constant_is_the_greatest_bound_of_the_leaves() -> None:
    found = search(hill, WIDTHS, target=1.05, evaluations=4000)
    low, high = leaves_of(found.splits, 2)
    assert 1 < found.constant <= 1.05
    assert found.constant == hill(low, high).max()
    assert (found.leaves, found.evaluations) == (len(low), 2 * len(low) - 2)
    assert (high - low).prod(axis=1).sum() == 1


def test_more_evaluations_are_no_worse_and_the_same_budget_gives_the_same() -> None:
    budgets = (10, 100, 1000)
    found = [search(hill, WIDTHS, evaluations=budget) for budget in budgets]
    assert found[0].constant >= found[1].constant >= found[2].constant > 1
    assert all(each.evaluations <= budget for each, budget in zip(found, budgets, strict=True))
    assert found[1] == search(hill, WIDTHS, evaluations=100)


def test_nothing_is_looked_at_without_a_budget() -> None:
    for found in (search(hill, WIDTHS, evaluations=1), search(hill, WIDTHS, seconds=0)):
        assert (found.constant, found.splits, found.leaves) == (np.inf, ".", 1)


def test_progress_is_told_and_an_interrupt_keeps_the_best_so_far() -> None:
    told: list[SearchProgress] = []
    calls = 0

    def interrupted(low: Array, high: Array) -> Array:
        nonlocal calls
        calls += 1
        if calls == 8:
            raise KeyboardInterrupt
        return hill(low, high)

    found = search(interrupted, WIDTHS, progress=told.append)
    assert found.interrupted
    assert found.constant == told[-1].constant == hill(*leaves_of(found.splits, 2)).max()
    assert [each.constant for each in told] == sorted((each.constant for each in told), reverse=True)


def test_an_error_in_a_bound_is_not_kept_quiet() -> None:
    def broken(low: Array, high: Array) -> Array:
        raise ValueError("broken")

    with pytest.raises(ValueError, match="broken"):
        search(broken, WIDTHS)


def test_a_peak_that_no_box_resolves_ends_the_search() -> None:
    """Boxes are not halved for ever."""
    found = search(
        lambda low, high: np.where((low[:, 0] <= 0.3) & (high[:, 0] > 0.3), np.inf, 1.0), [1.0], target=1.0
    )
    assert found.constant == np.inf
    assert found.leaves < 100
    leaves_of(found.splits, 1)
