"""Texts with equal Integers at i and j, to a network: of every sign, by cases, with numbers."""

from __future__ import annotations

import pytest

from attemper.networks.regime import Regime
from tests.support.judges.texts import require_network_says

HEAD = """alphabet a b
empty reject
a = in 'a'
b = in 'b'
x = count[j <= i] a - count[j <= i] b
bs = count[j <= i] b
as = count[all] a
"""

OUTPUTS = (
    "leftmost[all : b(j) & bs(j) = as(i)] (pos % 2 = 0) else false",
    "rightmost[j <= i : x(j) = x(i) - 1] a else true",
    "leftmost[j >= i : a(i) & b(j) & x(i) + 2 = x(j)] (pos % 2 = 1) else false",
    "rightmost[all : bs(j) = min(as, 3 - x)(i)] first else true",
    "leftmost[all : pos(j) = len - pos(i)] a else true",
    "some[j <= i : x(j) + 1 = 0(i) & a(j)]",
    "every[j <= i : x(i) = x(j)] (a | first)",
    "(rightmost[all : (count[j > i] a)(j) = bs(i) + 1] (a ? one : two) else none) = two",
    "some[all : -pos(j) = x(i)] b",
)


@pytest.mark.sweep(4)
@pytest.mark.parametrize("regime", [Regime.UNBOUNDED, Regime.TEMPERATURE])
@pytest.mark.parametrize("output", OUTPUTS)
def test_networks_of_texts_do_what_the_texts_say(output: str, regime: Regime) -> None:
    """All words of 1 and of 5 symbols, against a reading that shares nothing with the lowering."""
    require_network_says(f"{HEAD}output {output}", regime, (1, 5))
