"""Texts with `nearest`, to a network: queries by cases, conditions that read i, numbers at j."""

from __future__ import annotations

import pytest

from attemper.networks.regime import Regime
from tests.support.judges.texts import require_network_says

OUTPUTS = (
    "nearest leftmost[all : (len - pos)(j) ~ pos(i)] in 'a'",
    "nearest rightmost[j >= i : (in 'a')(i) & (in 'b')(j), pos(j) ~ x(i)] first",
    "nearest rightmost[all : x(j) - 1 ~ max(x, pos - 3)(i)] in 'b'",
    "nearest leftmost[j <= i : symbol(i) = symbol(j), -2 - x(i) ~ -x(j)] previous in 'a'",
    "nearest rightmost[all : pos(j) ~ 1000000000 - pos(i)] in 'a'",
)


@pytest.mark.parametrize("regime", [Regime.UNBOUNDED, Regime.TEMPERATURE])
@pytest.mark.parametrize("output", OUTPUTS)
def test_networks_of_texts_do_what_the_texts_say(output: str, regime: Regime) -> None:
    """All words of 1, 2 and 5 symbols, against a reading that shares nothing with the lowering."""
    x = "x = count[j <= i] in 'a' - count[j < i] in 'b'"
    require_network_says(f"alphabet a b\nempty reject\n{x}\noutput {output}", regime, (1, 2, 5))
