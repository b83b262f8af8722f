"""Tie-breaks against what they are worth between all pairs of positions that a head sees."""

from __future__ import annotations

from fractions import Fraction
from itertools import combinations

import pytest

from attemper.checker.attention.bounds import DOMAINS
from attemper.checker.attention.tie_breaks import tie_break
from attemper.exact import laurent
from attemper.networks.layers import Masking


@pytest.mark.parametrize("masking", DOMAINS)
@pytest.mark.parametrize("power", [1, -1])
@pytest.mark.parametrize("steps", [1, 2, 3])
def test_a_level_is_at_most_the_lead_of_positions_so_many_steps_apart(
    masking: Masking, power: int, steps: int
) -> None:
    """As said: size * steps, of 1/j over the square of the greatest visible position."""
    level = tie_break(laurent.constant(-5), power, masking).level(steps)
    assert level.domain == DOMAINS[masking]
    for n in range(1, 9):
        for i in range(1, n + 1):
            seen, found = masking.visible(i, n), laurent.at(level.form, i, n)
            assert found == (5 * steps if power == 1 else Fraction(5 * steps, max(seen) ** 2))
            for j, k in combinations(seen, 2):
                score_gap = 5 * abs(Fraction(j) ** power - Fraction(k) ** power)
                assert score_gap >= found or k - j < steps
