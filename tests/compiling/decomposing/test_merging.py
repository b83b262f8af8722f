"""Merging and pruning leave the codes as they are, and merge what is alike."""

from __future__ import annotations

import random

import pytest

from attemper.compiling.cascade import (
    Cascade,
    Chain,
    Counter,
    Delay,
    Latch,
    Register,
    RegisterLevel,
    Sum,
)
from attemper.compiling.decomposing.merging import merge
from attemper.compiling.decomposing.pruning import prune
from attemper.languages.words import Alphabet, words_of_length
from tests.compiling.decomposing.verifying import prefixes
from tests.support.suites import Few

AB = Alphabet(("a", "b"))
BASE = ((0, (0, 1)),)


def random_chain(seed: int) -> Chain:
    """A random chain over two letters: full tables over all contents, with many rows that never occur."""
    draw = random.Random(seed)
    below, levels = 2, []
    for height in range(draw.randint(1, 3)):
        registers = tuple(_register(draw, below, height) for _ in range(draw.randint(0, 2)))
        above = draw.randint(1, 5)
        contents: list[tuple[int | None, ...]] = [()]
        for register in registers:
            contents = [(*some, one) for some in contents for one in _values(register, below)]
        keys = [(symbol, some) for symbol in range(below) for some in contents]
        levels.append(RegisterLevel(registers, tuple((key, draw.randrange(above)) for key in keys)))
        below = above
    return Chain(tuple(levels), tuple(draw.randrange(2) for _ in range(below)))


def _register(draw: random.Random, below: int, height: int) -> Register:
    symbols = [symbol for symbol in range(below) if draw.random() < 0.6]
    kind = draw.choice(["latch", "counter", "sum", *(["delay"] if height == 0 else [])])
    if kind == "latch":
        return Latch(tuple((symbol, draw.choice([None, 0, 1, 2])) for symbol in symbols))
    if kind == "sum":
        return Sum(tuple((symbol, draw.randrange(4)) for symbol in symbols), 4)
    return Counter(frozenset(symbols), draw.randint(2, 3)) if kind == "counter" else Delay(1)


def _values(register: Register, below: int) -> list[int | None]:
    match register:
        case Latch():
            return [None, 0, 1, 2]
        case Counter() | Sum():
            return list(range(register.modulus))
        case _:
            return [None, *range(below)]


def codes(chain: Chain, length: int) -> list[tuple[bool, ...]]:
    cascade = Cascade(AB, 0, 1, (chain,), frozenset({(1,)}))
    return [prefixes(cascade, word) for word in words_of_length(AB, length)]


def size(chain: Chain) -> int:
    return sum(len(level.rows) for level in chain.levels)


@pytest.mark.sweep(26)
@pytest.mark.parametrize("seed", range(150))
def test_nothing_changes_but_the_size(seed: int) -> None:
    chain = random_chain(seed)
    expected = codes(chain, 7)
    merged = merge(chain)
    assert codes(merged, 7) == expected
    assert size(merged) <= size(chain)
    pruned = prune(chain, BASE, 10_000)
    assert codes(pruned, 7) == expected
    assert codes(merge(pruned), 7) == expected
    for before, after in zip(chain.levels, pruned.levels, strict=True):
        assert set(after.rows) <= set(before.rows)


def test_pruning_leaves_the_rows_that_words_use(few: Few) -> None:
    for seed in few(range(40), 14):
        pruned = prune(random_chain(seed), BASE, 10_000)
        for level in range(len(pruned.levels)):
            for row in range(len(pruned.levels[level].rows)):
                rows = pruned.levels[level].rows
                shorter = RegisterLevel(pruned.levels[level].registers, rows[:row] + rows[row + 1 :])
                levels = (*pruned.levels[:level], shorter, *pruned.levels[level + 1 :])
                with pytest.raises(KeyError):
                    codes(Chain(levels, pruned.codes), 9)


def test_pruning_gives_up_at_its_limit() -> None:
    counter = RegisterLevel(
        (Counter(frozenset({0}), 5),), tuple(((s, (c,)), c) for s in (0, 1, 2) for c in range(5))
    )
    chain = Chain((counter,), (0, 0, 0, 0, 1))
    assert prune(chain, BASE, 4) is chain
    assert len(prune(chain, BASE, 5).levels[0].rows) == 10


def test_equal_symbols_labels_and_useless_registers_go() -> None:
    """Level 1 has a symbol twice and a latch that says nothing; level 2 has two equal labels."""
    first = RegisterLevel(
        (Latch(((0, 0),)),), (((0, (None,)), 0), ((0, (0,)), 1), ((1, (None,)), 2), ((1, (0,)), 2))
    )
    work = Latch(((0, 0), (1, 1), (2, None)))
    second = RegisterLevel(
        (work,), tuple(((s, (c,)), int(c is not None)) for s in (0, 1, 2) for c in (None, 0, 1))
    )
    chain = merge(Chain((first, second), (0, 1)))
    assert codes(chain, 6) == codes(Chain((first, second), (0, 1)), 6)
    assert [len(level.registers) for level in chain.levels] == [0, 1]
    assert [len(level.rows) for level in chain.levels] == [2, 4]
    assert isinstance(latch := chain.levels[1].registers[0], Latch)
    assert {label for _, label in latch.store} == {0, None}
