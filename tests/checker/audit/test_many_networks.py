"""The audit of 3,000 networks, a thousand of each kind; and every rule for heads is met among them."""

from __future__ import annotations

import random

import pytest

from attemper.checker.heads import RULES
from tests.support.drawn.audited import KINDS, subject, words_of
from tests.support.judges.audit import Tally, audit

PARTS, EACH = 20, 50
LONGEST = 8
RUNS = 3


def audited(kind: str, part: int) -> Tally:
    """What is found of a part of the networks of a kind."""
    tally = Tally()
    for number in range(EACH):
        own = subject(kind, f"many {part}.{number}")
        rng = random.Random(f"many words {kind} {part}.{number}")
        audit(own, words_of(own.network, rng, LONGEST), RUNS, rng, tally)
    return tally


@pytest.mark.slow
@pytest.mark.parametrize("part", range(PARTS))
@pytest.mark.parametrize("kind", KINDS)
def test_every_coordinate_of_many_networks_is_what_is_said(kind: str, part: int) -> None:
    tally = audited(kind, part)
    assert not tally.false, "\n".join(tally.false)
    assert tally.counts["networks"] == EACH
    assert tally.counts["followed"] >= EACH * 3 // 4
    assert tally.counts["floats"] >= 50 * EACH


@pytest.mark.slow
def test_every_rule_is_met() -> None:
    met = sum((audited(kind, 0).counts for kind in KINDS), start=Tally().counts)
    rules = {kind.__name__ for kind in RULES}
    assert rules <= set(met), rules - set(met)
