"""Choices and hitting against their definitions, score by score and row by row."""

from __future__ import annotations

import random
from collections.abc import Iterator
from fractions import Fraction

import numpy as np
import pytest

from attemper.models.hard.examples import RandomTables
from attemper.models.hard.protocol import HardModel, dot, scored
from attemper.theories.refutation.certificate.restrictions import Restriction, fixed
from attemper.theories.refutation.check.subcubes import possible_answers
from attemper.theories.refutation.search.hitting import WORTH, choices_under, hit, ranking
from attemper.theories.refutation.search.states import (
    Activations,
    TooManyError,
    answers,
    choices_of,
    following,
    lowest,
    within,
)
from tests.support.drawn.hard_examples import (
    NearestOneChain,
    PrefixXor,
    RandomWeights,
    ScatteredPositions,
    equally_many,
    ones,
)

MODELS: dict[str, HardModel] = {
    "random tables": RandomTables(14, (2, 1), 1),
    "ties": RandomTables(13, (2, 1), 2, levels=3),
    "few activations": RandomTables(12, (1, 1), 3, values=2),
    "four symbols": RandomTables(9, (2, 1), 4, symbols=("(", ")", "[", "]", "$")),
    "no end marker": RandomTables(11, (1, 1), 5, symbols=("a", "b"), ending=None),
    "random weights": RandomWeights(13, (2, 1), 6),
    "on a grid": RandomWeights(12, (1, 1), 7, grid=1.0),
    "nearest 1": NearestOneChain(14, 2),
    "scattered": ScatteredPositions(13, 2),
    "sums modulo 2": PrefixXor(12, 2),
    "one layer": RandomTables(15, (2,), 8),
    "1*": ones(12),
    "a^n b^n": equally_many(13),
}


def restricted(model: HardModel, seed: int) -> Restriction:
    """Some symbols fixed, some positions with two symbols of several, the end marker where it belongs."""
    draw = random.Random(f"restricted {seed}")
    letters = [k for k in range(len(model.symbols)) if model.symbols[k] != model.ending]
    allowed = [
        tuple(sorted(draw.sample(letters, draw.choice([1, 2, 2, len(letters)])))) for _ in range(model.length)
    ]
    if model.ending is not None:
        allowed[-1] = (model.symbols.index(model.ending),)
    return Restriction(tuple(allowed))


def slow_choices(model: HardModel, layer: int, head: int, state: Activations, query: int) -> list[int]:
    """By the definition: what is not beaten by something that is sure to be there, the best first."""
    scores = scored(model, layer, head, state.rows[[query]], state.rows)[0]
    own = int(state.owner[query])
    values = {
        position: [query] if position == own else list(state.of(position)) for position in range(model.length)
    }
    sure = max((min(scores[v] for v in values[position]), -position) for position in values)
    found = [v for position in values for v in values[position] if (scores[v], -position) >= sure]
    return sorted(found, key=lambda v: (-Fraction(scores[v].item()), state.owner[v], v))


def states(model: HardModel, seed: int) -> Iterator[tuple[int, Activations]]:
    state = lowest(model, restricted(model, seed))
    for layer in range(len(model.heads)):
        yield layer, state
        if layer + 1 < len(model.heads):
            state = following(model, layer, state, 100_000)


@pytest.mark.sweep(6)
@pytest.mark.parametrize("name", MODELS)
@pytest.mark.parametrize("seed", range(3))
def test_choices_are_what_may_be_attended_to(name: str, seed: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("attemper.theories.refutation.search.states.BLOCK", 60)
    model = MODELS[name]
    for layer, state in states(model, seed):
        queries = np.arange(len(state.owner))
        for head in range(model.heads[layer]):
            choices = choices_of(model, layer, head, state, queries)
            found = [choices.of(query).tolist() for query in queries]
            assert found == [slow_choices(model, layer, head, state, query) for query in queries]
            assert choices.rows.tolist() == [q for q, of in enumerate(found) for _ in of]
            assert within(choices.counts).tolist() == [rank for of in found for rank in range(len(of))]


def test_a_state_knows_the_choices_that_it_was_made_from() -> None:
    model = MODELS["random tables"]
    (_, below), (_, above) = states(model, 0)
    for head in range(model.heads[0]):
        for query in range(len(below.owner)):
            assert above.choices[head].of(query).tolist() == slow_choices(model, 0, head, below, query)
    for parents in above.parents.tolist():
        for head in range(model.heads[0]):
            assert parents[1 + head] in above.choices[head].of(parents[0])


def test_too_many_choices_are_refused() -> None:
    model = MODELS["ties"]
    state = lowest(model, restricted(model, 0))
    queries = np.arange(len(state.owner))
    count = len(choices_of(model, 0, 0, state, queries).columns)
    assert len(choices_of(model, 0, 0, state, queries, count).columns) == count
    with pytest.raises(TooManyError):
        choices_of(model, 0, 0, state, queries, count - 1)
    with pytest.raises(TooManyError):
        ranking(model, restricted(model, 0), count)


@pytest.mark.sweep(11)
@pytest.mark.parametrize("name", MODELS)
@pytest.mark.parametrize("seed", range(3))
def test_the_answers_that_are_seen_are_those_of_the_checker(name: str, seed: int) -> None:
    """With and without a ranking under a looser restriction, from which no scores need be computed."""
    model = MODELS[name]
    loose = restricted(model, seed)
    known = ranking(model, loose)
    draw = random.Random(f"tight {seed}")
    for _ in range(5):
        some = draw.sample(loose.free, draw.randint(0, len(loose.free)))
        tight = fixed(loose, {i: draw.choice(loose.allowed[i - 1]) for i in some})
        expected = possible_answers(model, tight)
        state = lowest(model, tight)
        assert answers(model, state, 100_000) == expected
        if known.is_complete:
            choices = choices_under(tight, known)
            for head, of_head in enumerate(choices):
                for query in range(len(state.owner)):
                    assert of_head.of(query).tolist() == slow_choices(model, 0, head, state, query)
            assert answers(model, state, 100_000, choices) == expected


@pytest.mark.parametrize("heads", [(), (0,), (0, 1), (1, 0), (0, 0, 2)])
def test_answers_of_layers_without_heads(heads: tuple[int, ...]) -> None:
    model = RandomTables(11, heads, 2)
    for seed in range(5):
        restriction = restricted(model, seed)
        assert answers(model, lowest(model, restriction), 10_000) == possible_answers(model, restriction)


# Hitting ----------------------------------------------------------------------------------------------


def slow_round(model: HardModel, restriction: Restriction, most: int) -> dict[int, int]:
    """One round of greedy hitting, as it is described."""
    state = lowest(model, restriction)
    queries = range(len(state.owner)) if len(model.heads) > 1 else state.of(model.length - 1)
    waiting: list[set[int]] = []
    for head in range(model.heads[0]):
        for query in queries:
            free = [
                v
                for v in slow_choices(model, 0, head, state, query)
                if len(state.of(int(state.owner[v]))) > 1 and state.owner[v] != state.owner[query]
            ]
            positions = list(dict.fromkeys(int(state.owner[v]) for v in free))
            if len(positions) > most:
                limit = next(k for k, v in enumerate(free) if state.owner[v] == positions[most])
                waiting.append(set(free[: limit + 1]))
    chosen: dict[int, int] = {}
    first = 0
    while waiting:
        gains = [sum(v in elements for elements in waiting) for v in range(len(state.owner))]
        gains = [0 if int(state.owner[v]) + 1 in chosen else gain for v, gain in enumerate(gains)]
        first = first or max(gains)
        if WORTH * max(gains) < first:
            break
        best = gains.index(max(gains))
        chosen[int(state.owner[best]) + 1] = int(state.parents[best, 0])
        waiting = [elements for elements in waiting if best not in elements]
    return chosen


@pytest.mark.sweep(12)
@pytest.mark.parametrize("name", MODELS)
@pytest.mark.parametrize("most", [0, 1, 3])
def test_hitting_is_what_it_says(name: str, most: int) -> None:
    model = MODELS[name]
    for seed in range(2):
        start = expected = restricted(model, seed)
        while chosen := slow_round(model, expected, most):
            expected = fixed(expected, chosen)
        assert hit(start, ranking(model, start), most) == expected


@pytest.mark.parametrize("name", MODELS)
@pytest.mark.parametrize("most", [0, 2])
def test_afterwards_each_head_depends_on_few_symbols(name: str, most: int) -> None:
    model = MODELS[name]
    base = restricted(model, 9)
    after = hit(base, ranking(model, base), most)
    state = lowest(model, after)
    queries = range(len(state.owner)) if len(model.heads) > 1 else state.of(model.length - 1)
    for head in range(model.heads[0]):
        for query in queries:
            reached = {int(state.owner[v]) for v in slow_choices(model, 0, head, state, query)}
            free = {p for p in reached if len(state.of(p)) > 1 and p != state.owner[query]}
            assert len(free) <= most


def test_a_deadline_ends_it_early() -> None:
    model = MODELS["random tables"]
    base = restricted(model, 0)
    assert hit(base, ranking(model, base), 0, deadline=0) == base


# Products ---------------------------------------------------------------------------------------------


@pytest.mark.sweep(5)
@pytest.mark.parametrize(
    "shape", [(1, 3, 1), (3, 5, 2_000), (2_000, 5, 3), (50, 1, 9_000), (9_000, 7, 50), (0, 2, 3)]
)
@pytest.mark.parametrize("cached", [8, 64, 1 << 15])
def test_products_are_summed_in_order(
    shape: tuple[int, int, int], cached: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """To the last bit, however they are cut into pieces."""
    monkeypatch.setattr("attemper.models.hard.protocol.CACHED", cached)
    rows, inner, columns = shape
    draw = np.random.default_rng(inner)
    left, right = draw.standard_normal((rows, inner)), draw.standard_normal((inner, columns))
    expected = np.zeros((rows, columns))
    for k in range(inner):
        expected = expected + left[:, k, None] * right[None, k, :]
    assert np.array_equal(dot(left, right), expected)
    if rows:
        assert np.array_equal(dot(left[-1:], right), expected[-1:])
        assert np.array_equal(dot(left, right[:, -1:]), expected[:, -1:])
