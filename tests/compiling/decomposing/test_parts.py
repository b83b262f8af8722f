"""Congruences, abelian coordinates, components and frames against their definitions."""

from __future__ import annotations

import random
from itertools import combinations, product

import pytest

from attemper.compiling.decomposing.abelian import coordinates, tallies, total
from attemper.compiling.decomposing.bases import (
    PositionCycle,
    by_last_letters,
    by_place,
    exact_places,
    reachable_at,
)
from attemper.compiling.decomposing.congruences import UnionBudget, coarsest, quotient, splitting
from attemper.compiling.decomposing.frames import frames
from attemper.compiling.decomposing.limits import CascadeCaps
from attemper.compiling.decomposing.refining import refine
from attemper.compiling.decomposing.stages import Images
from attemper.languages.regular.dfa import Dfa
from attemper.languages.regular.image_sets import members, strong_components
from attemper.languages.words import words_of_length
from tests.support.drawn import automata


def is_congruence(dfa: Dfa, classes: tuple[int, ...]) -> bool:
    return all(
        classes[x] == classes[y]
        for p, q in combinations(range(len(dfa.moves)), 2)
        if classes[p] == classes[q]
        for x, y in zip(dfa.moves[p], dfa.moves[q], strict=True)
    )


def partitions(count: int) -> list[tuple[int, ...]]:
    """All partitions of a few states, classes numbered by their least states."""
    found: list[tuple[int, ...]] = [()]
    for _ in range(count):
        found = [(*some, k) for some in found for k in range(max(some, default=-1) + 2)]
    return found


def refines(fine: tuple[int, ...], coarse: tuple[int, ...]) -> bool:
    return len(set(zip(fine, coarse, strict=True))) == max(fine) + 1


@pytest.mark.parametrize("seed", range(40))
def test_coarsest_congruences(seed: int) -> None:
    draw = random.Random(seed)
    family = draw.choice([automata.random_dfa, automata.random_near_permutations, automata.random_r_trivial])
    dfa = family(seed, draw.randint(2, 6), draw.randint(1, 2))
    every = [classes for classes in partitions(len(dfa.moves)) if is_congruence(dfa, classes)]
    for p, q in combinations(range(len(dfa.moves)), 2):
        apart = [classes for classes in every if classes[p] != classes[q]]
        found = coarsest(dfa, p, q, UnionBudget(100_000))
        assert found in apart
        assert not any(found != other and refines(found, other) for other in apart)
    split = splitting(dfa, UnionBudget(100_000))
    proper = [classes for classes in every if max(classes) < len(dfa.moves) - 1]
    splits = len(dfa.moves) > 1 and len(set(zip(*proper, strict=True))) == len(dfa.moves) if proper else False
    assert (split is not None) == splits
    if split is not None:
        assert set(split) <= set(proper)
        assert len(set(zip(*split, strict=True))) == len(dfa.moves)


def test_a_spent_budget_finds_nothing() -> None:
    budget = UnionBudget(10)
    assert splitting(automata.contains_all(4), budget) is None
    assert budget.left < 0


def test_quotients_follow_the_classes() -> None:
    dfa = automata.contains_all(3)
    for congruence in splitting(dfa, UnionBudget(100_000)) or ():
        small = quotient(dfa, congruence)
        for word in words_of_length(dfa.alphabet, 5):
            assert small.state_after(word) == congruence[dfa.state_after(word)]


@pytest.mark.parametrize("orders", [(2,), (4,), (6,), (2, 2), (2, 4), (3, 3), (2, 6), (12,), (2, 2, 3)])
@pytest.mark.parametrize("primary", [False, True])
def test_coordinates_add_up(orders: tuple[int, ...], primary: bool) -> None:
    elements = list(product(*map(range, orders)))

    def add(a: tuple[int, ...], b: tuple[int, ...]) -> tuple[int, ...]:
        return tuple((x + y) % m for x, y, m in zip(a, b, orders, strict=True))

    found, named = coordinates(elements, add, primary=primary)
    assert sorted(named.values()) == elements
    number = {element: key for key, element in named.items()}
    draw = random.Random(0)
    steps = draw.choices(elements, k=60)
    counted = tallies(found, [number[step] for step in steps])
    sums = {
        tally: sum(number[step][tally.coordinate] == tally.value for step in steps) % tally.modulus
        for tally in counted
    }
    expected = elements[0]
    for step in steps:
        expected = add(expected, step)
    assert named[total(found, sums)] == expected
    if primary:
        assert all(
            len([p for p in range(2, m + 1) if m % p == 0 and all(p % q for q in range(2, p))]) == 1
            for m in found
        )


def test_components_by_mutual_reachability() -> None:
    for seed in range(100):
        draw = random.Random(seed)
        count = draw.randint(1, 9)
        edges = [tuple(draw.sample(range(count), draw.randint(0, min(2, count)))) for _ in range(count)]
        reach = [{node} for node in range(count)]
        for _ in range(count):
            for node in range(count):
                reach[node] |= {far for target in edges[node] for far in reach[target]}
        number = strong_components(edges)
        for p, q in product(range(count), repeat=2):
            assert (number[p] == number[q]) == (q in reach[p] and p in reach[q])
            assert q not in reach[p] or number[p] <= number[q]


@pytest.mark.parametrize("seed", range(20))
def test_stages_hold_the_state_and_frames_number_it(seed: int) -> None:
    """Along every short word, the state is in the set of the node reached, at two heights."""
    draw = random.Random(seed)
    dfa = draw.choice([automata.random_dfa, automata.random_order_preserving])(seed, draw.randint(2, 6), 2)
    images = Images(dfa, CascadeCaps())
    places = exact_places(images)[0]
    for stage in (
        by_place(PositionCycle(0, 1), images, carried=False),
        by_place(places, images, carried=True),
        by_last_letters(places, images, 2, carried=False)[1],
    ):
        refined = refine(stage, images)
        known = frames(stage, images)
        for node, mask in enumerate(stage.sets):
            assert sorted(known.frame[node]) == list(members(mask))
            for subset in refined.subsets[node]:
                assert subset & ~mask == 0
                assert known.states(node, known.coordinates(node, subset)) == subset
        for number, step in enumerate(stage.steps):
            image = images.under(stage.sets[step.source], step.letter)
            assert image & ~stage.sets[step.target] == 0
            assert (number in known.resets) == (image != stage.sets[step.target])
            if number not in known.resets:
                assert known.component[step.source] <= known.component[step.target]


def test_what_is_reachable_at_a_place() -> None:
    for seed in range(20):
        dfa = automata.random_dfa(seed, 6, 2)
        images = Images(dfa, CascadeCaps())
        exact, sets = exact_places(images)
        for places in (exact, PositionCycle(0, exact.period), PositionCycle(1, 3)):
            found = [0] * places.count
            for length in range(11):
                place = 0
                for _ in range(length):
                    place = places.after(place)
                for word in words_of_length(dfa.alphabet, length) if length < 9 else ():
                    found[place] |= 1 << dfa.state_after(word)
            known = reachable_at(places, images)
            assert all(small & ~large == 0 for small, large in zip(found, known, strict=True))
        assert reachable_at(exact, images) == sets
