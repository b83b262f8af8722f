"""Every operation on decision diagrams against truth tables over all assignments that keep the ties."""

from __future__ import annotations

import itertools
import random
from collections.abc import Hashable

import pytest

from attemper.checker import diagrams as module
from attemper.checker.diagrams import Diagram, Diagrams, Tie, TooLargeError, Variable

TIES = (Tie.FREE, Tie.CHAIN, Tie.EXCLUSIVE, Tie.FREE)
SIZE = 3
VARIABLES = [(family, threshold) for family in range(len(TIES)) for threshold in range(SIZE)]

Bits = dict[Variable, bool]


def assignments_of(family: int, tie: Tie) -> list[Bits]:
    rows: list[tuple[bool, ...]] = list(itertools.product((False, True), repeat=SIZE))
    if tie is Tie.CHAIN:
        rows = [row for row in rows if all(high <= low for low, high in itertools.pairwise(row))]
    if tie is Tie.EXCLUSIVE:
        rows = [row for row in rows if sum(row) <= 1]
    return [{(family, threshold): bit for threshold, bit in enumerate(row)} for row in rows]


ASSIGNMENTS: list[Bits] = [
    {**free, **chain, **exclusive, **last}
    for free, chain, exclusive, last in itertools.product(
        *(assignments_of(family, tie) for family, tie in enumerate(TIES[:3])), assignments_of(3, TIES[3])[::3]
    )
]


class Bench:
    def __init__(self, seed: int) -> None:
        self.rng = random.Random(seed)
        self.all = Diagrams()
        assert [self.all.family(tie) for tie in TIES] == [0, 1, 2, 3]

    def bit(self, variable: Variable) -> Diagram:
        return self.all.bit(variable, self.all.constant(0), self.all.constant(1))

    def sample(self, depth: int = 3) -> Diagram:
        if depth == 0:
            return self.all.constant(self.rng.randrange(3))
        own = self.bit(self.rng.choice(VARIABLES))
        left, right = self.sample(depth - 1), self.sample(depth - 1)
        mixed = self.all.combine("*", lambda a, b: a * b, own, left)
        return self.all.combine("mod", lambda a, b: (a + b) % 3, mixed, right)

    def value(self, diagram: Diagram, bits: Bits) -> Hashable:
        while not self.all.is_constant(diagram):
            variable, low, high = self.all.top(diagram)
            assert all(self.all.is_constant(c) or variable < self.all.top(c)[0] for c in (low, high))
            diagram = high if bits[variable] else low
        return self.all.value(diagram)

    def table(self, diagram: Diagram) -> tuple[Hashable, ...]:
        return tuple(self.value(diagram, bits) for bits in ASSIGNMENTS)


SEEDS = range(8)


@pytest.mark.parametrize("seed", SEEDS)
def test_bits_and_combinations_are_those_of_their_values(seed: int) -> None:
    bench = Bench(seed)
    for variable in VARIABLES:
        assert bench.table(bench.bit(variable)) == tuple(int(bits[variable]) for bits in ASSIGNMENTS)
    left, right = bench.sample(), bench.sample()
    tables = bench.table(left), bench.table(right)
    assert bench.table(bench.all.combine("pair", lambda a, b: (a, b), left, right)) == tuple(
        zip(*tables, strict=True)
    )
    assert bench.table(bench.all.map("twice", lambda a: 2 * a, left)) == tuple(2 * v for v in tables[0])


@pytest.mark.parametrize("seed", SEEDS)
def test_many_are_combined_as_their_values_are(seed: int) -> None:
    bench = Bench(seed)
    parts = [bench.sample(depth) for depth in (3, 0, 2, 1, 3)]
    both = bench.all.combine_all("+", lambda a, b: a + b, parts)
    assert bench.table(both) == tuple(map(sum, zip(*map(bench.table, parts), strict=True)))
    assert bench.all.combine_all("+", lambda a, b: a + b, parts[::-1]) == both
    assert bench.all.combine_all("+", lambda a, b: a + b, parts[:1]) == parts[0]


def test_what_is_large_is_combined_last() -> None:
    """Each combination goes through what stands already: what is large would be copied each time."""

    def steps(large_first: bool) -> int:
        diagrams = Diagrams()
        zero, one = diagrams.constant(0), diagrams.constant(1)
        bits = [diagrams.bit((diagrams.family(Tie.FREE), 0), zero, one) for _ in range(10)]
        large = bits[0]
        for bit in bits[1:]:
            large = diagrams.combine("mix", lambda a, b: (3 * a + b) % 1009, large, bit)
        before = len(diagrams._memo)
        if large_first:
            for bit in bits:
                large = diagrams.combine("+", lambda a, b: a + b, large, bit)
        else:
            diagrams.combine_all("+", lambda a, b: a + b, [large, *bits])
        return len(diagrams._memo) - before

    assert 2 * steps(large_first=False) < steps(large_first=True)


@pytest.mark.parametrize("first", VARIABLES)
def test_pairs_of_bits_are_combined(first: Variable) -> None:
    bench = Bench(0)
    for second in VARIABLES:
        pair = bench.all.combine("pair", lambda a, b: (a, b), bench.bit(first), bench.bit(second))
        assert bench.table(pair) == tuple((int(bits[first]), int(bits[second])) for bits in ASSIGNMENTS)


@pytest.mark.parametrize("seed", SEEDS)
def test_one_function_is_one_diagram(seed: int) -> None:
    bench = Bench(seed)
    known: dict[tuple[Hashable, ...], Diagram] = {}
    for _ in range(12):
        diagram = bench.sample(2)
        table = bench.table(diagram)
        assert known.setdefault(table, diagram) == diagram
        assert bench.all.is_constant(diagram) == (len(set(table)) == 1)


@pytest.mark.parametrize("seed", SEEDS)
def test_values_and_support_are_those_of_the_function(seed: int) -> None:
    bench = Bench(seed)
    diagram = bench.sample()
    table = bench.table(diagram)
    assert len(bench.all.values(diagram)) == len(set(bench.all.values(diagram)))
    assert set(bench.all.values(diagram)) == set(table)
    support = bench.all.support(diagram)
    rows: dict[tuple[bool, ...], set[Hashable]] = {}
    for bits, value in zip(ASSIGNMENTS, table, strict=True):
        rows.setdefault(tuple(bits[v] for v in sorted(support)), set()).add(value)
    assert all(len(values) == 1 for values in rows.values())
    assert bench.all.support(bench.bit((3, 1))) == {(3, 1)}


@pytest.mark.parametrize("seed", SEEDS)
def test_branches_fix_a_bit(seed: int) -> None:
    bench = Bench(seed)
    diagram = bench.sample()
    for variable, value in itertools.product(VARIABLES, (False, True)):
        there = [bits for bits in ASSIGNMENTS if bits[variable] == value]
        if bench.all.is_constant(diagram) or variable <= bench.all.top(diagram)[0]:
            branch = bench.all.branches(diagram, variable)[value]
            assert all(bench.value(branch, bits) == bench.value(diagram, bits) for bits in there)
            if TIES[variable[0]] is Tie.FREE:
                assert variable not in bench.all.support(branch)


@pytest.mark.parametrize("seed", range(16))
def test_constrained_diagrams_agree_where_it_matters_and_depend_on_nothing_else(seed: int) -> None:
    bench = Bench(seed)
    all_, false = bench.all, bench.all.constant(0)
    for _ in range(4):
        first, second, care = (
            bench.sample(),
            bench.sample(2),
            all_.map("bit", lambda v: int(v > 0), bench.sample(2)),
        )
        if care == false:
            continue
        cared = all_.constrain(first, care, false)
        for bits, where in zip(ASSIGNMENTS, bench.table(care), strict=True):
            assert not where or bench.value(cared, bits) == bench.value(first, bits)
        kept = all_.combine("keep", lambda c, v: v if c else None, care, first)
        mixed = all_.combine("fill", lambda k, v: v if k is None else k, kept, second)
        assert all_.constrain(mixed, care, false) == cared
        assert all_.constrain(care, care, false) == all_.constant(1)


@pytest.mark.parametrize("seed", SEEDS)
def test_variables_are_replaced_and_decided(seed: int) -> None:
    bench = Bench(seed)
    all_, diagram = bench.all, bench.sample()

    def choose(bit: Diagram, high: Diagram, low: Diagram) -> Diagram:
        kept = all_.combine("keep", lambda b, h: h if b else None, bit, high)
        return all_.combine("fill", lambda k, v: v if k is None else k, kept, low)

    flipped = {
        v: all_.map("not", lambda b: 1 - b, bench.bit(v)) if v[0] in {0, 3} else bench.bit(v)
        for v in VARIABLES
    }
    replaced = all_.substitute(diagram, flipped.__getitem__, choose)
    for bits in ASSIGNMENTS:
        other = {v: bit != (v[0] in {0, 3}) for v, bit in bits.items()}
        assert bench.value(replaced, bits) == bench.value(diagram, other)
    for value in (True, False):
        memo: dict[Diagram, Diagram] = {}
        fixed = all_.decide(diagram, lambda v, value=value: value if v[0] in {0, 2} else None, memo)
        for bits in ASSIGNMENTS:
            other = {v: value if v[0] in {0, 2} else bit for v, bit in bits.items()}
            assert bench.value(fixed, bits) == bench.value(diagram, other)
        assert not {v[0] for v in all_.support(fixed)} & {0, 2}


def test_too_many_nodes_are_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "MAX_NODES", 6)
    bench = Diagrams()
    assert [bench.constant(k) for k in range(6)] == [0, 1, 2, 3, 4, 5]
    with pytest.raises(TooLargeError):
        bench.constant(6)


def test_what_is_forgotten_is_found_again(monkeypatch: pytest.MonkeyPatch) -> None:
    bench = Bench(0)
    diagrams = [bench.sample() for _ in range(6)]
    before = [bench.all.map("twice", lambda v: 2 * v, diagram) for diagram in diagrams]
    monkeypatch.setattr(module, "MAX_REMEMBERED", 0)
    assert [bench.all.map("twice", lambda v: 2 * v, diagram) for diagram in diagrams] == before
