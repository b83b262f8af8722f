"""Machines that put out numbers, merged; and the words on which automata are tried."""

from __future__ import annotations

from itertools import product
from random import Random

import numpy as np

from attemper.languages.regular.dfa import Dfa
from attemper.languages.words import Alphabet
from attemper.reading.models.mealy import Machine, merged
from attemper.reading.models.words_to_try import LONGEST, LONGEST_SHORT, words_to_try


def drawn(draw: Random, states: int, letters: int) -> Machine:
    moves = [[draw.randrange(states) for _ in range(letters)] for _ in range(states)]
    outputs = [[draw.randrange(2) + 5 for _ in range(letters)] for _ in range(states)]
    return Machine(np.array(moves), np.array(outputs))


def alike(machine: Machine) -> set[tuple[int, int]]:
    """Pairs of states that put out the same on all words as long as there are states, by trying them."""
    states, letters = machine.moves.shape
    found = set()
    for one, other in product(range(states), repeat=2):
        started = [
            Machine(_from(machine.moves, s), _from(machine.outputs, s, moves=False)) for s in (one, other)
        ]
        words = product(range(letters), repeat=states)
        if all(started[0].run(word) == started[1].run(word) for word in words):
            found.add((one, other))
    return found


def _from(rows: np.ndarray, start: int, *, moves: bool = True) -> np.ndarray:
    """The rows, where the states 0 and `start` change their numbers."""
    order = np.arange(len(rows))
    order[[0, start]] = order[[start, 0]]
    return order[rows[order]] if moves else rows[order]


def test_merged_machines_put_out_the_same_with_no_two_states_alike() -> None:
    draw = Random(0)
    for _ in range(60):
        machine = drawn(draw, draw.randint(1, 5), draw.randint(1, 2))
        small = merged(machine)
        letters = machine.moves.shape[1]
        for word in product(range(letters), repeat=6):
            assert small.run(word) == machine.run(word)
        assert len(alike(small)) == len(small.moves)
        kept = {one: min(b for a, b in alike(machine) if a == one) for one in range(len(machine.moves))}
        assert len(small.moves) == len(set(kept.values()))


def test_a_machine_that_needs_too_many_rounds_is_left_as_it_is() -> None:
    length = 30
    chain = Machine(
        np.minimum(np.arange(length) + 1, length - 1)[:, None],
        (np.arange(length) == length - 1).astype(np.int64)[:, None],
    )
    assert merged(chain, rounds=5) is chain
    looked: list[int] = []
    assert len(merged(chain, lambda: looked.append(0)).moves) == length
    assert len(looked) == length - 1
    twice = Machine(np.concatenate([chain.moves, chain.moves]), np.concatenate([chain.outputs] * 2))
    assert len(merged(twice).moves) == length


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
