"""Families of pairs, the congruence, and least depths that are known."""

from __future__ import annotations

import random
from itertools import product

import pytest

from attemper.languages.regular.dfa import Dfa
from attemper.languages.regular.minimal import minimal
from attemper.languages.regular.regex import parse_regex
from attemper.languages.words import Alphabet
from attemper.theories.depth.ask import depth
from attemper.theories.depth.certificate import HardNetworks
from attemper.theories.depth.check.pairs import values_at_ends
from attemper.theories.depth.search.admitting import beyond_all_layers
from attemper.theories.depth.search.climb import Depth
from tests.support.oracles.layered import places, value_at_end
from tests.support.slowly import mostly_slow


def alike(first: str, second: str, layers: int, period: int = 1) -> bool:
    one, other = values_at_ends((tuple(first), tuple(second)), layers, HardNetworks(1, period))
    return one == other


@pytest.mark.parametrize("k", range(1, 13))
def test_one_more_a_before_b_is_not_seen_by_k_layers(k: int) -> None:
    for r in (1, k, 15):
        first, second = "a" * k + "b" * r, "a" * (k + 1) + "b" * r
        assert alike(first, second, k)
        assert not alike(first, second, k + 1)


@pytest.mark.parametrize("period", [2, 3, 4])
@pytest.mark.parametrize("k", range(1, 6))
def test_one_more_period_of_a_is_not_seen_by_k_layers(k: int, period: int) -> None:
    for r in (1, 2, 7):
        assert alike("a" * (k * period) + "b" * r, "a" * ((k + 1) * period) + "b" * r, k, period)


@pytest.mark.parametrize("k", range(1, 11))
def test_pairs_of_one_length(k: int) -> None:
    up = "a" * (k + 1) + "b" * (k + 1) + "a" * k + "b" * k
    down = "a" * k + "b" * (k + 1) + "a" * (k + 1) + "b" * k
    assert len(up) == len(down)
    assert alike(up, down, k)


@pytest.mark.parametrize("cases", mostly_slow([300, 9_000], [300]))
def test_classes_are_a_congruence(cases: int) -> None:
    rng = random.Random(0)
    classes: dict[tuple[int, int, object], list[str]] = {}
    for layers, period in ((1, 1), (1, 2), (2, 1)):
        for n in range(1, 8):
            for letters in product("ab", repeat=n):
                key = layers, period, value_at_end(letters, layers, places(1, period))
                classes.setdefault(key, []).append("".join(letters))
    several = [(layers, period, own) for (layers, period, _), own in classes.items() if len(own) > 1]
    for _ in range(cases):
        layers, period, own = rng.choice(several)
        u, v = rng.sample(own, 2)
        x, y = ("".join(rng.choices("ab", k=rng.randrange(5))) for _ in range(2))
        place = places(1, period)
        assert value_at_end(x + u + y, layers, place) == value_at_end(x + v + y, layers, place)


LEAST = [
    ("a*b", "ab", 1),
    ("(ab)*", "ab", 2),
    ("[^a]* a [^a]* a [^a]*", "ab", 3),
    ("a*b*a*b*", "ab", 3),
    ("~[] a b b a ~[]", "ab", 4),
    ("(a(ab)*b)*", "ab", 3),
    ("(a(a(ab)*b)*b)*", "ab", 4),
    ("~[]", "ab", 0),
    ("~[] a", "abc", 0),
    ("a", "a", 1),
]


@pytest.mark.parametrize(("regex", "letters", "least"), LEAST)
def test_least_depths(regex: str, letters: str, least: int) -> None:
    dfa = parse_regex(regex, letters)
    found = depth(dfa)
    assert found.least == least
    assert require_bounds(found, dfa)
    if regex == "~[] a b b a ~[]":
        assert found.pair is not None
        assert sorted(map(len, found.pair)) == [10, 13]


def require_bounds(found: Depth, dfa: Dfa) -> bool:
    """The pair is one, by the definition; whether both bounds meet."""
    assert found.upper is None or found.lower <= found.upper
    if found.pair is not None:
        first, second = found.pair
        assert dfa.accepts(first) is not dfa.accepts(second)
        if found.lower <= 4:
            assert value_at_end(first, found.lower - 1) == value_at_end(second, found.lower - 1)
    return found.least is not None


def all_with_three_states() -> list[Dfa]:
    seen: dict[Dfa, None] = {}
    for moves in product(range(3), repeat=6):
        for mask in range(8):
            accepting = frozenset(state for state in range(3) if mask >> state & 1)
            rows = tuple(zip(moves[::2], moves[1::2], strict=True))
            own = minimal(Dfa(Alphabet(("a", "b")), rows, 0, accepting))
            if len(own.moves) == 3:
                seen.setdefault(own)
    return list(seen)


@pytest.mark.sweep(0)
def test_all_star_free_automata_with_three_states_have_a_known_least_depth() -> None:
    automata = all_with_three_states()
    assert len(automata) == 1_028
    star_free = [dfa for dfa in automata if beyond_all_layers(dfa, 1) is None]
    found = [depth(dfa, limits={"classes": 5_000}) for dfa in star_free]
    assert all(require_bounds(one, dfa) for one, dfa in zip(found, star_free, strict=True))
    assert [sum(one.least == k for one in found) for k in range(4)] == [0, 76, 86, 0]


def drawn_star_free(states: int, wanted: int, seed: int) -> list[Dfa]:
    rng = random.Random(seed)
    seen: dict[Dfa, None] = {}
    while len(seen) < wanted:
        rows = tuple((rng.randrange(states), rng.randrange(states)) for _ in range(states))
        accepting = frozenset(state for state in range(states) if rng.random() < 0.5)
        own = minimal(Dfa(Alphabet(("a", "b")), rows, 0, accepting))
        if len(own.moves) == states and own not in seen and beyond_all_layers(own, 1) is None:
            seen[own] = None
    return list(seen)


@pytest.mark.parametrize(
    ("states", "wanted", "percent"), mostly_slow([(4, 10, 98), (4, 200, 98), (5, 100, 75)], [(4, 10, 98)])
)
def test_drawn_star_free_automata(states: int, wanted: int, percent: int) -> None:
    automata = drawn_star_free(states, wanted, seed=states)
    known = [require_bounds(depth(dfa, limits={"classes": 30_000}), dfa) for dfa in automata]
    assert 100 * sum(known) >= percent * wanted
