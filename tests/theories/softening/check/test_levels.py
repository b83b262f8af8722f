"""Heads whose best positions tie between equal values: covered for all lengths, and no others."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from fractions import Fraction
from random import Random

import pytest

from attemper.checker.attention.contests import ScoreLevels
from attemper.checker.diagrams import Diagram
from attemper.checker.verdict import Status
from attemper.networks.typed import HeadOf, LayerOf, Terms, UnitOf
from attemper.theories.softening.ask import soften
from attemper.theories.softening.certificate import ClosedFormErrors, GapBy
from attemper.theories.softening.check import levels
from attemper.theories.softening.check.by_rule import by_rule
from attemper.theories.softening.check.claims import check_approximation
from attemper.theories.softening.check.streams import TieError
from attemper.theories.softening.search.soften import SofteningRequest, soften_network
from tests.support.drawn.tied_networks import drawn, false_of, levelled, typed
from tests.support.suites import Few
from tests.theories.softening.search.test_soften import require_near

TENTH = Fraction(1, 10)

EVER_A: tuple[str, Terms, Terms, Terms | None] = ("<=", {"a": 1}, {"a": 1}, None)

COVERED: dict[str, tuple[str, Terms, Terms, Terms | None]] = {
    "is there an a so far": EVER_A,
    "is there an a before": ("<", {"a": 1}, {"a": 1}, None),
    "is there an a behind": (">", {"a": 1}, {"a": 1}, None),
    "is there an a": ("all", {"a": 1}, {"a": 1}, None),
    "b before a before c": ("<=", {"a": 1, "b": 2}, {"b": 5, "c": -1}, None),
    "all but a": ("<=", {"a": 1}, {"a": 1}, {"one": -1}),
    "colder with n": ("all", {"a": 1}, {"a": 3}, {"length": 1}),
    "warmer with n": ("all", {"a": 1}, {"a": 3}, {"share": 1}),
    "zero at one position": (">=", {"a": 1}, {"a": 1}, {"length": 1, "one": -1}),
    "what i is decides": ("<=", {"a": 1, "b": 2}, {"a": 1, "b": 3, "c": 1}, {"a": 1, "b": -1, "c": 2}),
    "the first": ("<=", {"first": 1}, {"a": 1, "b": 2}, None),
    "the first, before": ("<", {"first": 1}, {"a": 1, "b": 2}, None),
    "the last": ("all", {"last": 1}, {"a": 1, "b": 2}, None),
    "the last, behind": (">", {"last": 1}, {"a": 1, "b": 2}, None),
    "best at the third position only": ("<=", {"third": 1}, {"third": 1}, None),
    "even positions": ("<=", {"sign": 1}, {"sign": 2}, None),
}
"""Mask, key, value and query of heads that a rule must cover."""

REFUSED: dict[str, tuple[str, Terms, Terms, Terms | None]] = {
    "another value among the best": ("<=", {"a": 1, "b": 1}, {"a": 1}, None),
    "another value behind the best": ("<=", {"a": 1}, {"b": 1}, None),
    "another value at the first of the best": ("all", {"a": 1}, {"a": 1, "first": 1}, None),
    "another value at the last of the best": ("all", {"a": 1}, {"a": 1, "last": 1}, None),
    "another value at the third position": ("<=", {"a": 1}, {"a": 1, "third": 1}, None),
    "no level where i has c": ("<=", {"a": 1}, {"a": 1}, {"a": 1, "b": 1}),
    "levels change places at n = 3": ("all", {"a": 1}, {"a": 1}, {"length": 1, "one": -3}),
    "levels meet at n = 2": ("all", {"a": 1}, {"a": 1}, {"length": 1, "one": -2}),
    "the last, which is not always seen": ("<=", {"last": 1}, {"a": 1}, None),
}
"""Heads that tie between other values on some word, or whose levels meet: no rule may cover them."""


@pytest.mark.sweep(5)
@pytest.mark.parametrize("name", COVERED)
def test_a_head_whose_best_positions_agree_is_covered_and_all_that_is_said_is_true(name: str) -> None:
    false, (layer,) = false_of(levelled(*COVERED[name]), 3)
    assert false == []
    assert layer.heads[0] is not None
    assert layer.groups


@pytest.mark.parametrize("name", REFUSED)
def test_a_head_whose_best_positions_may_differ_is_not(name: str) -> None:
    (layer,) = by_rule(levelled(*REFUSED[name]))
    assert layer.heads == (None,)
    assert not layer.groups


def test_nothing_that_is_said_of_random_networks_is_false(few: Few) -> None:
    covered, left = _covered(few(range(40), 6), 3)
    assert min(covered, left) > 0


@pytest.mark.slow
@pytest.mark.parametrize("part", range(8))
def test_nothing_that_is_said_of_many_random_networks_is_false(part: int) -> None:
    _covered(range(1000 + 150 * part, 1150 + 150 * part), 5)


def _covered(seeds: Iterable[int], longest: int) -> tuple[int, int]:
    """How many heads are covered, and how many not, where nothing that is said is false."""
    heads = []
    for seed in seeds:
        false, known = false_of(drawn(Random(seed)), longest)
        assert false == [], seed
        heads += [head is not None for layer in known for head in layer.heads]
    return sum(heads), len(heads) - sum(heads)


@pytest.mark.parametrize(
    "name", ["is there an a so far", "b before a before c", "warmer with n", "what i is decides"]
)
def test_softened_heads_are_near_on_all_short_words(name: str) -> None:
    found = soften_network(levelled(*COVERED[name]), SofteningRequest(TENTH))
    assert (found.first, found.last, found.unruled) == (1, None, "")
    assert isinstance(found.evidence, ClosedFormErrors)
    assert [gap.by for layer in found.evidence.layers for gap in layer.gaps if gap] == [GapBy.RULE]
    require_near(found, range(1, 4), TENTH)


@pytest.mark.slow
@pytest.mark.parametrize("name", COVERED)
def test_softened_heads_are_near_on_all_words_of_six_symbols(name: str) -> None:
    found = soften_network(levelled(*COVERED[name]), SofteningRequest(TENTH))
    require_near(found, range(1, 7), TENTH)


def test_what_is_read_is_known_to_later_layers() -> None:
    """An a so far, rounded; then whether some position before i has none so far."""
    ever = HeadOf("<=", {"x": {"a": 1}}, query=[{"one": 1}], key=[{"a": 1}])
    steps = [UnitOf({"x": 1}, {"ever": 2}, bias="-1/4"), UnitOf({"x": 1}, {"ever": -2}, bias="-3/4")]
    without = HeadOf("<", {"y": {"ever": 1}}, query=[{"one": -1}], key=[{"ever": 1}])
    network = typed([LayerOf([ever], steps), LayerOf([without], [UnitOf({"y": 1}, {"z": 1})])], "z", "ab")
    false, known = false_of(network, 5)
    assert false == []
    assert all(head is not None for layer in known for head in layer.heads)
    found = soften(network, epsilon=TENTH)
    assert (found.verdict.status, found.certificate.last) == (Status.PROVED, None)
    require_near(found.softening, range(1, 5), TENTH)


def test_values_that_tie_in_the_hard_network_and_differ_by_errors_in_the_soft_one_are_counted() -> None:
    """Nothing is rounded in between: what ties in layer 1 is off by the error of layer 0."""
    ever = HeadOf("<=", {"x": {"a": 1}}, query=[{"one": 1}], key=[{"a": 1}])
    again = HeadOf("all", {"y": {"x": 1}}, query=[{"one": 1}], key=[{"x": 1}])
    network = typed([LayerOf([ever]), LayerOf([again])], "y", "ab")
    found = soften(network, epsilon=TENTH)
    assert found.verdict.status is Status.PROVED
    evidence = found.certificate.evidence
    assert isinstance(evidence, ClosedFormErrors)
    first, second = (layer.error for layer in evidence.layers)
    assert second.factor > first.factor > 0
    require_near(found.softening, range(1, 6), TENTH)


def test_a_larger_lead_than_that_of_the_levels_is_not_believed() -> None:
    found = soften(levelled(*EVER_A), epsilon=TENTH)
    assert found.verdict.status is Status.PROVED
    evidence = found.certificate.evidence
    assert isinstance(evidence, ClosedFormErrors)
    (layer,) = evidence.layers
    (gap,) = layer.gaps
    assert gap is not None
    larger = replace(gap, gap=replace(gap.gap, factor=2 * gap.gap.factor))
    claimed = replace(found.certificate, evidence=replace(evidence, layers=(replace(layer, gaps=(larger,)),)))
    (claim,) = check_approximation(found.network, found.certificate.network, claimed).claims
    assert claim.status is Status.UNKNOWN
    assert "no rule says that it leads by 2" in claim.text


def test_words_that_tie_between_other_values_are_still_told() -> None:
    with pytest.raises(TieError) as refusal:
        soften_network(levelled("<=", {"a": 1, "b": 1}, {"a": 1}), SofteningRequest(TENTH, up_to=3))
    assert refusal.value.tie.tied == (1, 2)


def test_without_the_side_condition_the_random_networks_show_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(levels, "_is_of_one", lambda names, bit: True)
    assert _are_seen()


def test_levels_that_are_left_out_wrongly_are_seen(monkeypatch: pytest.MonkeyPatch) -> None:
    reached = levels._reached

    def fewer(own: ScoreLevels) -> dict[int, Diagram]:
        return dict(list(reached(own).items())[:1])

    monkeypatch.setattr(levels, "_reached", fewer)
    assert _are_seen()


def _are_seen() -> bool:
    return any(false_of(drawn(Random(seed)), 3)[0] for seed in range(10))
