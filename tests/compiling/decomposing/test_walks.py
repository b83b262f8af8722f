"""Walks between two walls: found wherever they are, right in all configurations, and never deeper."""

from __future__ import annotations

import random

import pytest

from attemper.checker.proof import prove
from attemper.compiling.cascade import Cascade, Sum
from attemper.compiling.decomposing.decompose import decompose
from attemper.compiling.decomposing.limits import CascadeCaps
from attemper.compiling.decomposing.stages import CascadeQuestion
from attemper.compiling.decomposing.walks import walk_chain
from attemper.compiling.pipeline import compile_language
from attemper.errors import UnsupportedError
from attemper.languages.regular.dfa import Dfa
from attemper.languages.words import Alphabet, Word
from attemper.networks.regime import Regime
from tests.compiling.decomposing.verifying import check, prefixes
from tests.support.drawn import automata


def gridworld(cells: int) -> Dfa:
    """Cells in a row: r and l go to the next one, where there is one; s stays. Accepted in the last cell."""
    rows = [(min(cell + 1, cells - 1), max(cell - 1, 0), cell) for cell in range(cells)]
    return automata.from_rows("rls", rows, [cells - 1])


def gridworld_in_the_plane(cells: int) -> Dfa:
    """So many cells in each of two directions. Accepted in one corner."""

    def move(state: automata.State, symbol: str) -> automata.State:
        assert isinstance(state, tuple)
        across = state[0] + (symbol == "r") - (symbol == "l")
        up = state[1] + (symbol == "u") - (symbol == "d")
        return max(0, min(cells - 1, across)), max(0, min(cells - 1, up))

    return automata.explored("rlud", (0, 0), move, lambda state: state == (cells - 1, cells - 1))


def random_walk_rule(draw: random.Random) -> tuple[int, int, list[tuple[int, int, int]]]:
    """How many numbers there are, the first one, and each letter's weight, least and greatest number."""
    numbers = draw.randint(3, 7)
    moves = [(draw.choice([1, -1]), 0, numbers - 1)]
    for _ in range(draw.randint(0, 2)):
        low, high = sorted(draw.choices(range(numbers), k=2))
        moves.append((draw.randint(1 - numbers, numbers - 1), low, high))
    return numbers, draw.randrange(numbers), moves


def walked(start: int, moves: list[tuple[int, int, int]], word: list[int]) -> list[int]:
    """The numbers after each letter."""
    found, number = [], start
    for letter in word:
        weight, low, high = moves[letter]
        number = max(low, min(high, number + weight))
        found.append(number)
    return found


@pytest.mark.sweep(15)
@pytest.mark.parametrize("seed", range(60))
def test_random_walks(seed: int) -> None:
    """The chain says which number it is after each letter."""
    draw = random.Random(f"walk {seed}")
    numbers, start, moves = random_walk_rule(draw)
    rows = tuple(
        tuple(walked(number, moves, [letter])[0] for letter in range(len(moves))) for number in range(numbers)
    )
    dfa = Dfa(Alphabet(tuple("abc"[: len(moves)])), rows, start, frozenset())
    found = walk_chain(dfa, CascadeQuestion(tuple(range(numbers))), CascadeCaps())
    assert found is not None
    places, chain = found
    for number in range(numbers):
        asked = Cascade(dfa.alphabet, 0, places.period, (chain,), frozenset({(number,)}))
        for _ in range(6):
            word = draw.choices(range(len(moves)), k=60)
            letters: Word = tuple("abc"[letter] for letter in word)
            assert prefixes(asked, letters) == tuple(own == number for own in walked(start, moves, word))


@pytest.mark.sweep(1)
@pytest.mark.parametrize(("cells", "before"), [(5, 4), (8, 7), (16, 15), (30, None)])
def test_gridworlds_take_three_layers(cells: int, before: int | None) -> None:
    """However many cells; `before` is what a cascade of smaller and smaller sets takes."""
    dfa = gridworld(cells)
    found = decompose(dfa)
    assert isinstance(found.chosen, Cascade)
    assert found.chosen.sublayers == 3
    plain = next(one for one in found.alternatives if one.name == "plain")
    assert before is None or plain.sublayers == before
    check(found.chosen, dfa, count=16, short=5)
    compiled = compile_language(dfa, dfa.alphabet, Regime.UNBOUNDED)
    assert sum(1 for layer in compiled.soft.layers if layer.heads) == 3
    if cells <= 16:
        prove(compiled.soft, dfa, compiled.realisation)


def test_a_gridworld_in_the_plane_is_two_walks_side_by_side() -> None:
    dfa = gridworld_in_the_plane(5)
    found = decompose(dfa)
    assert isinstance(found.chosen, Cascade)
    assert found.chosen.sublayers == 3
    assert len(found.chosen.chains) == 2
    check(found.chosen, dfa, count=8, short=4)


def test_many_numbers_are_counted_by_sums() -> None:
    """Where the remainders of both counts have too many combinations."""
    found = walk_chain(gridworld(40), CascadeQuestion((0,) * 39 + (1,)), CascadeCaps())
    assert found is not None
    assert isinstance(found[1].levels[0].registers[0], Sum)


def test_steps_that_are_alike_but_for_whole_rounds_need_no_counter() -> None:
    """Up and down are alike modulo 2: the position says where the ring begins."""
    found = walk_chain(automata.clamped(3), CascadeQuestion((1, 0, 0)), CascadeCaps())
    assert found is not None
    places, chain = found
    assert places.period == 2
    assert sum(level.sublayers for level in chain.levels) == 1


@pytest.mark.parametrize(
    "dfa", [automata.parity(), automata.dyck(4), automata.a_star_b(), automata.tomita(3)]
)
def test_what_is_no_walk(dfa: Dfa) -> None:
    assert walk_chain(dfa, CascadeQuestion(tuple(range(len(dfa.moves)))), CascadeCaps()) is None


def test_more_cells_than_registers_are_refused_by_name() -> None:
    with pytest.raises(UnsupportedError, match=r"raise it with limits=\{'registers': 256\}"):
        walk_chain(gridworld(70), CascadeQuestion((0,) * 70), CascadeCaps())
