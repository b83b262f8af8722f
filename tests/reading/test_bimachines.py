"""Machines that look both ways, run and merged; and the words on which automata are tried."""

from __future__ import annotations

from collections.abc import Iterator
from functools import reduce
from itertools import product
from math import prod
from random import Random

import numpy as np
import pytest

from attemper.languages.regular.dfa import Dfa
from attemper.languages.words import Alphabet
from attemper.reading.models.bimachines import Bimachine, merged
from attemper.reading.models.words_to_try import LONGEST, LONGEST_SHORT, words_to_try


def drawn(draw: Random, *, ended: bool) -> Bimachine:
    left, letters, right = draw.randint(1, 4), draw.randint(1, 2), draw.randint(1, 4)

    def numbers(most: int, *shape: int) -> np.ndarray:
        return np.array([draw.randrange(most) for _ in range(prod(shape))]).reshape(shape)

    outputs = numbers(2, left, letters, right)
    ends = numbers(2, left) if ended else None
    return Bimachine(numbers(left, left, letters), numbers(right, right, letters), outputs, ends)


def plainly(machine: Bimachine, word: tuple[int, ...]) -> tuple[int, ...]:
    """What is put out, each position by itself."""
    found = []
    for i, letter in enumerate(word):
        before = reduce(lambda state, one: machine.left[state, one], word[:i], 0)
        behind = reduce(lambda state, one: machine.right[state, one], word[:i:-1], 0)
        found.append(machine.outputs[before, letter, behind])
    if machine.ends is not None:
        found.append(machine.ends[reduce(lambda state, one: machine.left[state, one], word, 0)])
    return tuple(map(int, found))


def words(machine: Bimachine, longest: int) -> Iterator[tuple[int, ...]]:
    letters = machine.left.shape[1]
    return (word for length in range(longest + 1) for word in product(range(letters), repeat=length))


def told_apart(machine: Bimachine) -> int:
    """How many states on the left there are where no word tells two apart: enough words are tried."""
    rows = set()
    for state in range(len(machine.left)):
        said = []
        for word in words(machine, len(machine.left)):
            there = reduce(lambda q, one: machine.left[q, one], word, state)
            said.append(
                (machine.outputs[there].tobytes(), None if machine.ends is None else machine.ends[there])
            )
        rows.add(tuple(said))
    return len(rows)


@pytest.mark.parametrize("ended", [False, True])
def test_merged_machines_put_out_the_same_with_no_two_states_alike(ended: bool) -> None:
    draw = Random(0)
    for _ in range(40):
        machine = drawn(draw, ended=ended)
        small = merged(machine)
        for word in words(machine, 5):
            assert small.run(word) == machine.run(word) == plainly(machine, word)
        assert len(small.left) == told_apart(machine) == told_apart(small)
        if not ended:
            other = machine.mirrored()
            assert len(small.right) == told_apart(other)
            for word in words(machine, 4):
                assert other.run(word[::-1]) == machine.run(word)[::-1]


def test_a_machine_that_needs_too_many_rounds_is_left_as_it_is() -> None:
    length = 30
    moves = np.minimum(np.arange(length) + 1, length - 1)[:, None]
    outputs = (np.arange(length) == length - 1).astype(np.int64)[:, None, None]
    chain = Bimachine(moves, np.zeros_like(moves[:1]), outputs)
    assert merged(chain, rounds=5).left.tolist() == moves.tolist()
    looked: list[int] = []
    assert len(merged(chain, lambda: looked.append(0)).left) == length
    # The side with one state takes one round.
    assert len(looked) == length
    twice = Bimachine(np.concatenate([moves, moves]), chain.right, np.concatenate([outputs] * 2))
    assert len(merged(twice).left) == length


def test_words_to_try_have_short_ones_all_edges_and_random_ones() -> None:
    states = 40
    chain = Dfa(
        Alphabet(("a", "b")),
        tuple((min(state + 1, states - 1), 0) for state in range(states)),
        0,
        frozenset({states - 1}),
    )
    words = list(words_to_try(chain, 400, 0, 1))
    assert len(words) == 400
    assert set(product("ab", repeat=6)) <= set(words[:200])
    edges = {(chain.state_after(word[:-1]), word[-1]) for word in words if word}
    assert edges == set(product(range(states), "ab"))
    assert LONGEST / 3 < max(map(len, words)) <= LONGEST
    assert all(words)
    assert words == list(words_to_try(chain, 400, 0, 1))
    assert words != list(words_to_try(chain, 400, 1, 1))
    one = Dfa(Alphabet(("a",)), ((0,),), 0, frozenset({0}))
    assert next(iter(words_to_try(one, 1, 0, 0))) == ()
    assert max(map(len, list(words_to_try(one, 1_000, 0, 1))[:16])) == LONGEST_SHORT
    assert list(words_to_try(one, 0, 0, 1)) == []
