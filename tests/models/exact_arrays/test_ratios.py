"""How hot the budget lets random networks be, beside how hot they may be: and that its word is kept."""

from __future__ import annotations

from fractions import Fraction
from itertools import islice
from statistics import median

import pytest

from attemper.theories.softening.check.elementwise import ErrorBudget, error_bound, inverse_temperatures
from tests.support.drawn.soft_networks import softened, tieless, violations
from tests.support.judges.soft_floats import hottest, hottest_that_works

LENGTH = 5
EPSILONS = (Fraction(1, 100), Fraction(1, 4))


def ratios(layers: int, epsilon: Fraction, count: int) -> list[float]:
    """The hottest temperature that works over the hottest that is proved, for so many random networks.

    At the second one no number of any word is further than epsilon from the hard network's, in balls.
    """
    found: list[float] = []
    for hard, _ in islice(tieless(layers, layers, LENGTH), 3 * count):
        works = hottest_that_works(hard, LENGTH, float(epsilon))
        if works is None:
            continue
        budget = ErrorBudget(hard, LENGTH)

        def is_proved(temperature: float, hard=hard, budget=budget) -> bool:  # type: ignore[no-untyped-def]
            soft = softened(hard, 1 / Fraction(temperature))
            return bool(budget.is_within(inverse_temperatures(soft), epsilon))

        proved = hottest(is_proved, 1e-6, 1e3)
        soft = softened(hard, 1 / Fraction(proved))
        bound = error_bound(soft, LENGTH)
        assert bound.outputs <= epsilon
        assert violations(soft, LENGTH, bound.coordinates) == 0
        found.append(works / proved)
        if len(found) == count:
            return found
    raise AssertionError("too few networks")


@pytest.mark.sweep(1)
@pytest.mark.parametrize("layers", [1, 2, 3])
def test_the_budget_is_sharp_and_right(layers: int) -> None:
    assert max(ratios(layers, EPSILONS[0], 1)) <= 2


@pytest.mark.slow
@pytest.mark.parametrize("layers", [1, 2, 3])
def test_the_budget_is_sharp_and_right_for_twenty_networks(layers: int) -> None:
    near = ratios(layers, EPSILONS[0], 20)
    assert sum(ratio <= 2 for ratio in near) >= 19
    assert max(near) <= 8
    far = ratios(layers, EPSILONS[1], 20)
    assert median(far) <= 2.5
