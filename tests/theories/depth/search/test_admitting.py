"""Whether any number of layers is enough, against the monoid of all words whose length the period divides."""

from __future__ import annotations

from itertools import product

import pytest

from attemper.languages.regular.classes import RegularClass
from attemper.languages.regular.dfa import Dfa
from attemper.languages.regular.regex import parse_regex
from attemper.theories.depth.search.admitting import beyond_all_layers
from tests.theories.depth.search.test_searching import drawn


def permutes(dfa: Dfa, period: int) -> bool:
    """Whether some word of a length that the period divides takes states in a cycle."""
    states = range(len(dfa.moves))
    blocks = []
    for word in product(range(len(dfa.alphabet.symbols)), repeat=period):
        images = list(states)
        for letter in word:
            images = [dfa.moves[state][letter] for state in images]
        blocks.append(tuple(images))
    monoid = set(blocks)
    new = list(monoid)
    while new:
        own = new.pop()
        for block in blocks:
            made = tuple(block[state] for state in own)
            if made not in monoid:
                monoid.add(made)
                new.append(made)
    return any(not _is_aperiodic(own) for own in monoid)


def _is_aperiodic(own: tuple[int, ...]) -> bool:
    power = own
    for _ in own:
        power = tuple(own[state] for state in power)
    return power == tuple(own[state] for state in power)


@pytest.mark.parametrize("period", [1, 2, 3, 4, 6])
def test_it_is_the_monoid_that_decides(period: int) -> None:
    met = set()
    for seed in range(250):
        dfa = drawn(seed, 4)
        found = beyond_all_layers(dfa, period)
        assert (found is not None) is permutes(dfa, period), dfa
        met.add((found is None, None if found is None else found.kind))
    assert {(True, None), (False, RegularClass.SOLVABLE)} <= met


@pytest.mark.parametrize(
    ("regex", "enough"), [("(aa)*", {2, 4, 6}), ("(aaa)*", {3, 6}), ("(a{6})*", {6}), ("(aa)*|(aaa)*", {6})]
)
def test_a_period_must_have_the_factors_of_the_cycle(regex: str, enough: set[int]) -> None:
    dfa = parse_regex(regex, "a")
    assert {period for period in range(1, 7) if beyond_all_layers(dfa, period) is None} == enough
