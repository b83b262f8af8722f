"""What rules say of hard networks: true of every short word, tight, and about every compiled head."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction
from functools import cache
from random import Random

import pytest

import attemper
from attemper.attention_program.ops import Choice, Mask
from attemper.checker.verdict import Status
from attemper.exact.closed_forms import Digits, I, number, plus
from attemper.exact.monomials import Monomial
from attemper.networks.layers import Construction, Network, Softmax, Uniform
from attemper.networks.regime import Regime
from attemper.networks.typed import HeadOf, LayerOf, hard_network
from attemper.theories.softening.check.by_rule import LayerByRule, by_rule
from attemper.theories.softening.check.claims import check_approximation
from attemper.theories.softening.check.hard import hardened, uniform_heads
from tests.support.drawn.matching import one_matched
from tests.support.drawn.nearest import compiled
from tests.support.drawn.soft_networks import drawn
from tests.support.drawn.softened import DIGEST, by_rules, softened
from tests.support.drawn.typed_networks import last_a
from tests.support.judges.chain_judge import Seen, at, seen_of

SOURCES = {
    "O a": "temperature unbounded decoder",
    "Y a": "temperature unbounded decoder",
    "#<[a] >= #<[b]": "temperature unbounded",
    "#<[a] >= #>[b]": "temperature unbounded",
    "#<[a] % 2 = 0": "temperature unbounded decoder",
    "a S (b & Y b)": "temperature",
}
ZOO = (
    *("ab-star", "parity-even", "tomita-3", "majority", "a-n-b-n", "dyck-1", "flip-flop", "k-hop-2"),
    *("palindromes", "sort", "dyck-2"),
)
CASES = [(name, regime) for name, regimes in SOURCES.items() for regime in regimes.split()]
MATCHED = (Mask.ALL, Choice.RIGHTMOST, ((1, -1), 1), ((-1, 1), 1), ("a",), Mask.UP_TO)


@cache
def network_of(name: str, regime: str) -> Network:
    """A compiled network, whose heads do not say what they are for."""
    if name == "matched":
        network = compiled(one_matched(*MATCHED), Regime(regime)).soft
    elif name in ZOO:
        network = attemper.compile(f"zoo:{name}", regime=regime).network  # type: ignore[arg-type]
    else:
        network = attemper.compile(name, "ab", regime=regime).network  # type: ignore[arg-type]
    layers = tuple(
        replace(layer, heads=tuple(replace(head, construction=Uniform()) for head in layer.heads))
        for layer in network.layers
    )
    return replace(network, layers=layers)


def compare(known: tuple[LayerByRule, ...], seen: Seen, longest: int) -> set[tuple[int, int]]:
    """Check all that is known on short words; the heads whose lead is attained."""
    attained = set()
    for number_, layer in enumerate(known):
        for n in range(1, longest + 1):
            assert layer.magnitude is not None
            assert float(at(layer.magnitude, n)) >= float(seen.sizes[number_, n]) - 1e-9
            for index, head in enumerate(layer.heads):
                if head is None:
                    continue
                assert (number_, index, n) not in seen.ties
                score_gap = seen.score_gaps.get((number_, index, n))
                own = float(at(head.gap, n))
                assert score_gap is None or own <= float(score_gap) * (1 + 1e-9)
                if score_gap is not None and own >= float(score_gap) * (1 - 1e-9):
                    attained.add((number_, index))
        for index, head in enumerate(layer.heads):
            for place, spread in enumerate(head.spreads if head else ()):
                apart = seen.apart.get((number_, index, place), Fraction(0))
                assert float(at(spread, longest)) >= float(apart) - 1e-9
        for form, group in layer.groups.items():
            ends = [layer.names.bounds(value) for value in layer.names.values(group.diagram)]
            for value in seen.inputs[number_, form]:
                assert any(low <= value <= high for low, high in ends)
    return attained


@pytest.mark.sweep(4)
@pytest.mark.parametrize(("name", "regime"), [*CASES, ("matched", "temperature"), ("matched", "unbounded")])
def test_what_is_known_by_rule_is_true_of_all_short_words(name: str, regime: str) -> None:
    network = network_of(name, regime)
    known, longest = by_rule(hardened(network)), 3 if name == "matched" else 4
    for layer, uniform in zip(known, uniform_heads(network), strict=True):
        assert [head is not None for head in layer.heads] == [not alone for alone in uniform]
    compare(known, seen_of(network, longest), longest)


TIGHT = {
    ("Y a", "unbounded"): (0, 0),
    ("#<[a] >= #<[b]", "temperature"): (1, 0),
    ("#<[a] >= #>[b]", "unbounded"): (1, 0),
    ("#<[a] % 2 = 0", "temperature"): (1, 1),
    ("#<[a] % 2 = 0", "unbounded"): (1, 0),
}
"""Heads whose lead by rule is attained: of Neighbour, both kinds of Sign, LocalSign and Lookup."""


@pytest.mark.parametrize(("case", "head"), TIGHT.items())
def test_leads_are_attained(case: tuple[str, str], head: tuple[int, int]) -> None:
    network = network_of(*case)
    assert head in compare(by_rule(hardened(network)), seen_of(network, 4), 4)


@pytest.mark.sweep(5)
@pytest.mark.parametrize(
    ("name", "regime"),
    [*((name, "temperature") for name in ZOO), *((name, "unbounded") for name in ZOO[:4])],
)
def test_entries_of_the_zoo_are_softened_by_rule_for_all_lengths(name: str, regime: str) -> None:
    """No head says what it is for; epsilon is 0, as every bit is rounded."""
    network = network_of(name, regime)
    soft, found = softened(network, by_rules(network), Fraction(0))
    (claim,) = check_approximation(soft, DIGEST, found).claims
    assert claim.status is Status.PROVED


def test_what_no_rule_covers_is_not_known_nor_what_is_made_of_it() -> None:
    """Heads of later layers that read what the first head has made are not followed either."""
    network = network_of("tomita-3", "temperature")
    first = network.layers[0].heads[0]
    odd = replace(first, key=tuple(tuple((c, f * (c + 3)) for c, f in row) for row in first.key[::-1]))
    heads = (odd, *network.layers[0].heads[1:])
    changed = replace(network, layers=(replace(network.layers[0], heads=heads), *network.layers[1:]))
    known = by_rule(hardened(changed))
    assert known[0].heads[0] is None
    assert any(head is None for layer in known[1:] for head in layer.heads)
    assert all(layer.magnitude is not None for layer in known)
    compare(known, seen_of(changed, 3), 3)


def test_sizes_of_random_networks_are_bounds() -> None:
    random = Random(5)
    for _ in range(2):
        network = drawn(random, 2)
        known = by_rule(hardened(network))
        seen = seen_of(network, 2)
        for number_, layer in enumerate(known):
            assert layer.magnitude is not None
            for n in (1, 2):
                assert float(at(layer.magnitude, n)) >= float(seen.sizes[number_, n]) - 1e-9


def test_nothing_is_known_where_an_embedding_cannot_be_followed() -> None:
    network = replace(network_of("O a", "temperature"), positions=((0, Digits(plus(I, 1))),))
    assert [(layer.magnitude, layer.heads) for layer in by_rule(hardened(network))] == [(None, (None,))]


def test_the_temperatures_of_a_network_say_nothing_of_its_hard_one() -> None:
    network = network_of("O a", "temperature")
    (head,) = network.layers[0].heads
    warm = replace(head, weighting=Softmax(number(Fraction(1, 1000))))
    other = replace(network, layers=(replace(network.layers[0], heads=(warm,)),))
    gaps = [by_rule(hardened(own))[0].heads[0] for own in (network, other)]
    assert gaps[0] == gaps[1]
    assert gaps[0] is not None
    assert gaps[0].gap == Monomial(Fraction(1, 2), Fraction(-1))


def test_every_construction_is_among_the_cases() -> None:
    from typing import get_args

    names = [*CASES, ("matched", "temperature")]
    built = set()
    for name, regime in names:
        if name == "matched":
            network = compiled(one_matched(*MATCHED), Regime(regime)).soft
        else:
            network = attemper.compile(name, "ab", regime=regime).network  # type: ignore[arg-type]
        built |= {type(head.construction) for layer in network.layers for head in layer.heads}
    assert built == set(get_args(Construction))


def test_one_position_is_the_best_whatever_is_read_there() -> None:
    network = last_a()
    (layer,) = by_rule(network)
    (head,) = layer.heads
    assert head is not None
    # j/n is no number of a diagram: what is read is not known, but where.
    assert (head.gap, head.spreads) == (Monomial(Fraction(1), Fraction(-1)), (Monomial(Fraction(2)),))
    assert layer.magnitude == Monomial(Fraction(1))


def test_ties_of_other_values_are_no_lead() -> None:
    tied = HeadOf("<=", {"where": {"place": 1}}, query=[{"one": 1}], key=[{"a": 2}])
    places = {"one": 1, "place": ["product", [["position"], ["power", ["length"], -1]]]}
    network = hard_network(
        "ab", embedding={"a": {"a": 1}}, positions=places, layers=[LayerOf([tied])], output="where"
    )
    (layer,) = by_rule(network)
    assert layer.heads == (None,)
