"""Restrictions: what they allow, one after the other, and that fixing more adds no answer (Hahn 2020)."""

from __future__ import annotations

import random
from collections.abc import Callable, Mapping
from itertools import product

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from attemper.models.hard.examples import RandomTables
from attemper.models.hard.protocol import HardModel, answer
from attemper.theories.refutation.certificate.restrictions import Restriction, fixed
from attemper.theories.refutation.check.subcubes import answers_by_cases, possible_answers
from tests.support.drawn.hard_examples import NearestOneChain, PrefixXor, RandomWeights, ScatteredPositions

SYMBOLS = ("a", "b", "c")

SOME = st.sets(st.integers(0, 2), min_size=1).map(lambda found: tuple(sorted(found)))


def restrictions(length: int | None = None) -> st.SearchStrategy[Restriction]:
    sizes = {"max_size": 6} if length is None else {"min_size": length, "max_size": length}
    return st.lists(SOME, **sizes).map(lambda allowed: Restriction(tuple(allowed)))


@st.composite
def restriction_and_choices(draw: st.DrawFn) -> tuple[Restriction, dict[int, int], dict[int, int]]:
    """A restriction, and two ways to fix different ones of its positions."""
    restriction = draw(restrictions())
    first: dict[int, int] = {}
    second: dict[int, int] = {}
    for position, some in enumerate(restriction.allowed, start=1):
        taker = draw(st.sampled_from((None, first, second)))
        if taker is not None:
            taker[position] = draw(st.sampled_from(some))
    return restriction, first, second


def agrees(word: tuple[int, ...], choice: Mapping[int, int]) -> bool:
    return all(word[position - 1] == symbol for position, symbol in choice.items())


# --- what they allow -------------------------------------------------------------------------------------


@given(restrictions())
def test_the_words_are_those_with_allowed_symbols(restriction: Restriction) -> None:
    n = len(restriction.allowed)
    words = list(product(*restriction.allowed))
    by_hand = [
        word
        for word in product(range(3), repeat=n)
        if all(word[i] in restriction.allowed[i] for i in range(n))
    ]
    assert words == by_hand
    assert restriction.size == len(words)
    varying = tuple(i + 1 for i in range(n) if len({word[i] for word in words}) > 1)
    assert restriction.free == varying


@pytest.mark.parametrize("wrong", [(), (1, 0), (0, 0), (0, 2, 1), (1, 1, 2)])
def test_positions_without_ascending_symbols_are_refused(wrong: tuple[int, ...]) -> None:
    with pytest.raises(ValueError, match="position 2 must have some symbols, each once, in ascending order"):
        Restriction(((0, 1), wrong, (1,)))


def test_a_restriction_without_positions_has_one_word() -> None:
    assert Restriction(()).size == 1
    assert Restriction(()).free == ()


def test_huge_restrictions_have_exact_sizes() -> None:
    restriction = Restriction(((0, 1),) * 1_000 + ((2,),) * 1_000)
    assert restriction.size == 2**1000
    assert restriction.free == tuple(range(1, 1_001))


# --- fixing more, and composing --------------------------------------------------------------------------


@given(restriction_and_choices())
def test_fixing_keeps_the_words_that_agree(
    case: tuple[Restriction, dict[int, int], dict[int, int]],
) -> None:
    restriction, choice, _ = case
    after = fixed(restriction, choice)
    assert list(product(*after.allowed)) == [
        word for word in product(*restriction.allowed) if agrees(word, choice)
    ]
    assert set(after.free) == set(restriction.free) - set(choice)


@given(restriction_and_choices())
def test_one_restriction_after_the_other_is_both(
    case: tuple[Restriction, dict[int, int], dict[int, int]],
) -> None:
    restriction, first, second = case
    both = fixed(restriction, {**first, **second})
    assert fixed(fixed(restriction, first), second) == both
    assert fixed(fixed(restriction, second), first) == both


def test_a_symbol_that_is_not_allowed_cannot_be_fixed() -> None:
    restriction = Restriction(((0, 1), (1, 2)))
    for position, symbol in ((1, 2), (2, 0), (2, -1), (1, 3)):
        with pytest.raises(ValueError, match=f"position {position} may not have the symbol {symbol}"):
            fixed(restriction, {position: symbol})


# --- what is forced stays forced -------------------------------------------------------------------------

MODELS: tuple[Callable[[int, int], HardModel], ...] = (
    lambda n, seed: RandomTables(n, (1,), seed, symbols=SYMBOLS, ending=None),
    lambda n, seed: RandomTables(n, (1, 1), seed, levels=2, values=3, symbols=SYMBOLS, ending=None),
    lambda n, seed: RandomTables(n, (2, 1), seed, levels=3, values=2, symbols=SYMBOLS, ending=None),
    lambda n, seed: RandomTables(n, (0, 2), seed, levels=3, symbols=SYMBOLS, ending=None),
    lambda n, seed: RandomWeights(n, (1, 1), seed, 3, 0.5, SYMBOLS, None),
    lambda n, seed: PrefixXor(n, 1 + seed % 3, SYMBOLS, None),
    lambda n, seed: NearestOneChain(n, 1 + seed % 2, SYMBOLS, None),
    lambda n, seed: ScatteredPositions(n, 1, SYMBOLS, None, 3 + seed % 20),
)


@given(
    st.sampled_from(MODELS),
    st.integers(0, 2**20),
    st.integers(1, 5).flatmap(lambda n: st.tuples(restrictions(n), restrictions(n))),
)
def test_fixing_more_never_adds_an_answer(
    make: Callable[[int, int], HardModel], seed: int, pair: tuple[Restriction, Restriction]
) -> None:
    """Neither to those that occur nor to those that are listed."""
    wide, other = pair
    narrow = Restriction(
        tuple(
            tuple(sorted({*some} & {*also})) or some[:1]
            for some, also in zip(wide.allowed, other.allowed, strict=True)
        )
    )
    model = make(len(wide.allowed), seed)
    true_wide, true_narrow = (
        {answer(model, np.array(word)) for word in product(*restriction.allowed)}
        for restriction in (wide, narrow)
    )
    listed_wide, listed_narrow = possible_answers(model, wide), possible_answers(model, narrow)
    assert true_narrow <= true_wide <= listed_wide
    assert true_narrow <= listed_narrow <= listed_wide


@pytest.mark.sweep(0)
@given(st.sampled_from(MODELS), st.integers(0, 2**20), restrictions(5), st.permutations(range(1, 6)))
def test_telling_more_cases_apart_never_adds_an_answer(
    make: Callable[[int, int], HardModel], seed: int, restriction: Restriction, order: list[int]
) -> None:
    model = make(5, seed)
    before = {(): possible_answers(model, restriction)}
    for count in range(1, 4):
        after = answers_by_cases(model, restriction, order[:count])
        assert all(after[case] <= before[case[:-1]] for case in after)
        assert {case[:-1] for case in after} == before.keys()
        before = after


def test_a_single_word_has_one_possible_answer_which_is_its_own() -> None:
    draw = random.Random(0)
    said = set()
    for make in MODELS:
        for _ in range(10):
            n = draw.randint(1, 8)
            model = make(n, draw.getrandbits(20))
            word = tuple(draw.randrange(3) for _ in range(n))
            only = possible_answers(model, Restriction(tuple((symbol,) for symbol in word)))
            assert only == {answer(model, np.array(word))}
            said |= only
    assert said == {False, True}
