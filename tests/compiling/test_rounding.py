"""Lemma 9 and the folding of Boolean work: clamps give exact bits on approximate ones."""

from __future__ import annotations

import random
from fractions import Fraction
from itertools import product

import numpy as np
import pytest

from attemper.attention_program.ops import Connective, Gate, Letter, Not, Place, Ref, Step, Table
from attemper.compiling.assembling.blocks import GateBlock, GateExpression, block_of
from attemper.exact.closed_forms import FIRST, LAST, complement
from tests.support.drawn.programs import PLAIN

LEAF_COUNT = 5


def relu(x: Fraction) -> Fraction:
    return max(x, Fraction(0))


def value_of(block: GateBlock, bits: dict[Ref, Fraction]) -> Fraction:
    """The block on approximate bits, as the hidden layer computes it."""
    total = Fraction(block.constant)
    for clamp in block.clamps:
        s = sum((bits[leaf] if sign else 1 - bits[leaf] for leaf, sign in clamp.literals), Fraction(0))
        s -= len(clamp.literals) * sum(1 - bits[leaf] if sign else bits[leaf] for leaf, sign in clamp.gates)
        m = clamp.at_least
        total += clamp.sign * 2 * (relu(s - m + Fraction(3, 4)) - relu(s - m + Fraction(1, 4)))
    return total


def truth_of(steps: list[Step], root: Ref, bits: dict[Ref, bool]) -> bool:
    known = dict(bits)
    for ref, step in enumerate(steps):
        match step:
            case Not(bit):
                known[ref] = not known[bit]
            case Gate(Connective.AND, refs):
                known[ref] = all(known[bit] for bit in refs)
            case Gate(Connective.OR, refs):
                known[ref] = any(known[bit] for bit in refs)
            case Gate(_, refs):
                known[ref] = sum(known[bit] for bit in refs) % 2 == 1
            case Table(refs, rows):
                known[ref] = tuple(known[bit] for bit in refs) in rows
            case _:
                pass
    return known[root]


def random_gates(rng: random.Random) -> list[Step]:
    steps: list[Step] = [Letter((str(k),)) for k in range(LEAF_COUNT)]
    for _ in range(rng.randint(1, 8)):
        picked = tuple(rng.sample(range(len(steps)), rng.randint(2, 3)))
        rows = tuple(row for row in product((False, True), repeat=2) if rng.random() < 0.5)
        step = rng.choice([Not(picked[0]), Table(picked[:2], rows), *(Gate(c, picked) for c in PLAIN)])
        steps.append(step)
    return steps


@pytest.mark.sweep(44)
@pytest.mark.parametrize("seed", range(150))
def test_a_block_is_its_function_at_the_corners_of_the_error_box(seed: int) -> None:
    rng = random.Random(seed)
    steps = random_gates(rng)
    root, positive = len(steps) - 1, rng.random() < 0.5
    block = block_of(GateExpression(tuple(steps), frozenset(range(LEAF_COUNT)), (root, positive)))
    assert block is not None
    error = Fraction(1, 4 * LEAF_COUNT)
    for assignment in product((False, True), repeat=LEAF_COUNT):
        bits = dict(enumerate(assignment))
        expected = truth_of(steps, root, bits) == positive
        for side in (0, error, -error, None):
            off = {k: rng.choice([error, -error]) if side is None else Fraction(side) for k in bits}
            assert value_of(block, {k: Fraction(bit) + off[k] for k, bit in bits.items()}) == expected


@pytest.mark.sweep(3)
@pytest.mark.parametrize("width", [2, 5, 12, 30])
def test_a_parity_of_shifts_is_regular_once_the_edges_are_fixed(width: int) -> None:
    """Bits 0 and 1 are the edges; each shift is guarded by one of them, half of them by its negation."""
    steps: list[Step] = [Place(FIRST), Place(complement(LAST))]
    steps += [Letter((str(k),)) for k in range(width)]
    guarded = []
    for k in range(width):
        steps.append(Not(0))
        steps.append(Gate(Connective.AND, (len(steps) - 1 if k % 2 else 1, 2 + k)))
        guarded.append(len(steps) - 1)
    steps.append(Gate(Connective.XOR, tuple(guarded)))
    leaves = frozenset(range(2 + width))
    block = block_of(GateExpression(tuple(steps), leaves, (len(steps) - 1, True)))
    assert block is not None
    assert len(block.clamps) <= 4 * width
    rng = random.Random(width)
    for _ in range(200):
        bits = {leaf: rng.random() < 0.5 for leaf in leaves}
        # Gates are exact; the shifts may be off by up to 1/4 in total.
        off = {leaf: Fraction(rng.choice([-1, 1]), 4 * width) if leaf > 1 else Fraction(0) for leaf in leaves}
        approximate = {leaf: Fraction(bit) + off[leaf] for leaf, bit in bits.items()}
        assert value_of(block, approximate) == truth_of(steps, len(steps) - 1, bits)


@pytest.mark.parametrize("negated", [False, True])
def test_a_union_of_conjunctions_has_one_clamp_for_each(negated: bool) -> None:
    """Sixteen conjunctions of the four bits that say which, each with a bit of its own."""
    steps: list[Step] = [Letter((str(k),)) for k in range(20)]
    steps += [Not(k) for k in range(4)]
    for case in range(16):
        which = tuple(k if case >> k & 1 else 20 + k for k in range(4))
        steps.append(Gate(Connective.AND, (*which, 4 + case)))
    steps.append(Gate(Connective.UNION, tuple(range(24, 40))))
    block = block_of(GateExpression(tuple(steps), frozenset(range(20)), (40, not negated)))
    assert block is not None
    assert len(block.clamps) == 16
    for case, own in product(range(16), (False, True)):
        bits = {k: bool(case >> k & 1) for k in range(4)} | {4 + k: (k == case) == own for k in range(16)}
        values = {k: Fraction(bit) for k, bit in bits.items()}
        assert value_of(block, values) == (truth_of(steps, 40, bits) != negated)


@pytest.mark.parametrize("connective", PLAIN)
@pytest.mark.parametrize("width", [2, 12, 13, 40])
def test_regular_blocks_have_no_width_limit(connective: Connective, width: int) -> None:
    steps: list[Step] = [Letter((str(k),)) for k in range(width)]
    steps.append(Gate(connective, tuple(range(width))))
    block = block_of(GateExpression(tuple(steps), frozenset(range(width)), (width, True)))
    assert block is not None
    for ones in (0, 1, 2, width - 1, width):
        bits = {k: Fraction(k < ones) for k in range(width)}
        expected = truth_of(steps, width, {k: k < ones for k in range(width)})
        assert value_of(block, bits) == expected
    assert len(block.clamps) <= width + 1


def test_an_irregular_block_of_13_literals_is_refused() -> None:
    steps: list[Step] = [Letter((str(k),)) for k in range(13)]
    steps.append(Gate(Connective.AND, tuple(range(6))))
    steps.append(Gate(Connective.XOR, (13, *range(6, 13))))
    assert block_of(GateExpression(tuple(steps), frozenset(range(13)), (14, True))) is None


@pytest.mark.parametrize("dtype", [np.float16, np.float32])
def test_rounding_one_approximate_bit_is_exact_in_floating_point(dtype: type[np.floating]) -> None:
    """2 ReLU(x - 1/4) - 2 ReLU(x - 3/4) is exactly 1 on [3/4, 5/4] and exactly 0 on [-1/4, 1/4]."""
    rng = np.random.default_rng(0)
    near = rng.uniform(-0.25, 0.25, 100_000).astype(dtype)
    quarter, three, two = dtype(0.25), dtype(0.75), dtype(2)
    for bit in (0, 1):
        x = np.clip(near + dtype(bit), dtype(bit - 0.25), dtype(bit + 0.25))
        low, high = np.maximum(x - quarter, dtype(0)), np.maximum(x - three, dtype(0))
        assert np.all(two * low - two * high == dtype(bit))
