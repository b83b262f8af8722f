"""Of a hundred networks, every coordinate after every layer is what the checker says, as near as it says.

`test_many_networks.py` has 3,000. The networks are compiled, changed and written by hand; what they compute
is found by code that imports nothing of the library, exactly and in floats.
"""

from __future__ import annotations

import random
from collections.abc import Callable
from dataclasses import replace
from fractions import Fraction

import pytest

from attemper.checker.analysis import Analysis
from attemper.checker.rounding import network as rounding
from attemper.checker.rounding.arithmetic import EXACT
from attemper.networks.layers import Network
from tests.support.drawn.audited import KINDS, subject, words_of
from tests.support.judges import audit as auditing
from tests.support.judges.audit import Subject, Tally, audit

PARTS, EACH = 17, 2
"""Tests of each kind, and networks of each test."""

WIDEST, LONGEST = 30, 4

CASES = [(kind, part) for kind in KINDS for part in range(PARTS)]


def prepare() -> None:
    """Draw the networks once, for whoever runs these tests many times."""
    for kind, part in CASES:
        subjects(kind, part)


def subjects(kind: str, part: int) -> list[Subject]:
    """The networks of a test."""
    return [subject(kind, f"{part}.{number}", WIDEST) for number in range(EACH)]


def audited(some: list[Subject], seed: object) -> Tally:
    """What is found of some networks."""
    tally, rng = Tally(), random.Random(f"words {seed}")
    for own in some:
        audit(own, words_of(own.network, rng, LONGEST), 1, rng, tally)
    return tally


@pytest.mark.parametrize(("kind", "part"), CASES)
def test_every_coordinate_is_what_is_said(kind: str, part: int) -> None:
    tally = audited(subjects(kind, part), part)
    assert not tally.false, "\n".join(tally.false)
    assert tally.counts["followed"] >= 1
    assert tally.counts["values"] >= 100


# What the audit sees ---------------------------------------------------------------------------------------


def with_a_larger_factor(network: Network) -> Network:
    """What one unit of the last layer writes, half a millionth more of it."""
    layer = network.layers[-1]
    unit = layer.hidden[-1]
    (target, factor), *others = unit.outputs
    changed = replace(unit, outputs=((target, factor * Fraction(2**21 + 1, 2**21)), *others))
    return replace(
        network, layers=(*network.layers[:-1], replace(layer, hidden=(*layer.hidden[:-1], changed)))
    )


def test_a_network_other_than_that_of_which_it_is_said_is_seen(monkeypatch: pytest.MonkeyPatch) -> None:
    own = next(own for own in subjects("compiled", 0) if own.network.layers[-1].hidden)
    followed: Callable[[Subject], Analysis | None] = auditing.followed

    def of_another(subject: Subject) -> Analysis | None:
        analysis = followed(subject)
        assert analysis is not None
        return replace(analysis, network=with_a_larger_factor(analysis.network))

    assert not audited([own], "seen").false
    monkeypatch.setattr(auditing, "followed", of_another)
    assert audited([own], "seen").false


def test_rounding_that_is_said_not_to_be_is_seen(monkeypatch: pytest.MonkeyPatch) -> None:
    some = subjects("compiled", 1)
    bounds = rounding.Rounding.bounds_at

    def without_errors(own: rounding.Rounding, *at: object) -> rounding.Bounds:
        found = bounds(own, *at)  # type: ignore[arg-type]
        return replace(found, offs=[EXACT for _ in found.offs])

    assert not audited(some, "seen").false
    monkeypatch.setattr(rounding.Rounding, "bounds_at", without_errors)
    false = audited(some, "seen").false
    assert any("float32" in own or "bfloat16" in own or "float64" in own for own in false)
