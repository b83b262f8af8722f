"""The diagram of every step of a program is what it means, at every position of short words."""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Iterator
from fractions import Fraction

import pytest

from attemper.attention_program.meaning import run
from attemper.attention_program.ops import (
    Attend,
    Choice,
    Compare,
    Connective,
    Count,
    CountTest,
    Direction,
    Equals,
    Gate,
    Letter,
    Linear,
    Mask,
    Merge,
    Nearest,
    Not,
    Place,
    Program,
    Ref,
    Shift,
    Step,
    Table,
    everywhere,
)
from attemper.checker.diagrams import Diagram
from attemper.checker.names import UnprovenError
from attemper.checker.program import Programs, Steps, results_of
from attemper.exact import closed_forms
from attemper.exact.closed_forms import FIRST, I, over, times
from attemper.exact.predicates import Named, Remainder, Zero
from attemper.languages.words import Alphabet, words_of_length
from attemper.networks.layers import Masking
from tests.support.drawn.programs import ProgramSampler
from tests.support.judges.derived import Reading

AB = Alphabet(("a", "b"))
WORDS = [word for n in range(1, 5) for word in words_of_length(AB, n)]
MASKS = (*Mask,)


def steps_of(program: Program) -> Steps:
    return Steps(Programs(program.alphabet.symbols), program)


def bits_of(program: Program) -> Iterator[Ref]:
    return (ref for ref, step in enumerate(program.steps) if not isinstance(step, Count | Linear))


def assert_is_computed(steps: Steps, refs: list[Ref], words: list[tuple[str, ...]]) -> None:
    for word in words:
        rows, reading = run(steps.program, word), Reading(steps.names, word)
        for ref in refs:
            read = [reading.number(steps.bit(ref), i) for i in range(1, len(word) + 1)]
            assert read == list(rows[ref]), (ref, steps.program.steps[ref], word)


def surveyed(seeds: range) -> Counter[str]:
    """Compare the steps of random programs; those that have no diagram are counted by their kind."""
    found: Counter[str] = Counter()
    for seed in seeds:
        rng = random.Random(seed)
        sampler = ProgramSampler(rng, compiled=False, direct_tests=rng.random() < 0.8)
        steps, known = steps_of(sampler.program(rng.randint(3, 12))), []
        for ref in bits_of(steps.program):
            try:
                steps.bit(ref)
            except UnprovenError:
                found[f"no {type(steps.program.steps[ref]).__name__}"] += 1
            else:
                known.append(ref)
                found[type(steps.program.steps[ref]).__name__] += 1
        assert_is_computed(steps, known, WORDS)
    return found


@pytest.mark.sweep(0)
def test_the_diagram_of_a_step_is_what_it_means() -> None:
    found = surveyed(range(150))
    for kind in (Letter, Place, Not, Gate, Table, Attend, Shift, Compare, Equals, CountTest):
        assert found[kind.__name__] > 10, kind


@pytest.mark.slow
def test_the_diagrams_of_many_steps_are_what_they_mean() -> None:
    surveyed(range(150, 5_000))


@pytest.mark.parametrize("mask", MASKS)
@pytest.mark.parametrize("choice", [*Choice])
def test_a_selection_falls_on_what_is_blocked_where_nothing_matches(mask: Mask, choice: Choice) -> None:
    steps: tuple[Step, ...] = (
        Letter(("a",)),
        Place(FIRST),
        Not(1),
        Attend(mask, choice, everywhere(0), 2, None),
    )
    program = Program(AB, (*steps, Attend(mask, choice, everywhere(0), 3, None)), 4)
    assert_is_computed(steps_of(program), [3, 4], WORDS)


@pytest.mark.parametrize("direction", [*Direction])
def test_a_shift_reads_i_itself_at_the_edge(direction: Direction) -> None:
    program = Program(
        AB, (Letter(("a",)), Shift(direction, 0, default=None), Shift(direction, 1, default=None)), 2
    )
    assert_is_computed(steps_of(program), [1, 2], WORDS)


@pytest.mark.sweep(15)
@pytest.mark.parametrize("mask", MASKS)
@pytest.mark.parametrize("other", MASKS)
def test_totals_over_two_masks_are_compared_exactly(mask: Mask, other: Mask) -> None:
    counts = (Letter(("a",)), Letter(("b",)), Count(mask, 0), Count(other, 1))
    for factor in (-2, -1, 1):
        total = (Linear(((1, 2), (factor, 3)), 1), Linear(((2, 4), (-1, 2)), -3))
        tests = (Compare(5, -1), Equals(5, 0), Compare(4, 2), Equals(2, 1))
        steps = steps_of(Program(AB, (*counts, *total, *tests), 6))
        assert_is_computed(steps, [6, 7, 8, 9], WORDS)


@pytest.mark.parametrize("mask", MASKS)
def test_predicates_of_counts_are_read_at_the_count(mask: Mask) -> None:
    for predicate in (Remainder(3, 1), Named("square"), Named("even")):
        tests = [CountTest(predicate, 1, scale, shift) for scale in (-1, 1, 2) for shift in (-1, 0, 2)]
        program = Program(AB, (Letter(("a",)), Count(mask, 0), *tests), 2)
        assert_is_computed(steps_of(program), list(range(2, 11)), WORDS)


def test_equal_things_made_in_the_same_way_are_one_diagram_and_others_are_not() -> None:
    names = Programs(AB.symbols).names
    a, b = names.letter("a"), names.letter("b")
    made: list[Diagram] = []
    for masking in (Masking.FUTURE, Masking.PAST, Masking.NONE):
        made.append(names.positions.exists(masking, a))
        assert names.positions.exists(masking, a) == made[-1]
        for leftmost in (False, True):
            made.append(names.positions.chosen(masking, leftmost, names.both(a, names.first), names.last))
            made.append(names.positions.chosen(masking, leftmost, names.both(b, names.first), names.last))
    made += [
        names.positions.shifted(a, offset, edge) for offset in (-1, 1) for edge in (names.false, names.true)
    ]
    assert len(set(made)) == len(made)


UNPROVED: dict[str, tuple[tuple[Step, ...], str]] = {
    "several counts": (
        (
            *(Letter(("a",)), Count(Mask.UP_TO, 0), Count(Mask.ALL, 0)),
            *(Linear(((1, 1), (1, 2)), 0), CountTest(Named("prime"), 3, 1, 0)),
        ),
        "several counts at once",
    ),
    "unbounded place": ((Place(I),), "not bounded"),
    "odd power": ((Place(over(I)),), "not bounded"),
    "cancelled place": (
        (
            Place(times(Fraction(1, 2), closed_forms.Test(Zero(), 1, 0, -2))),
            Count(Mask.UP_TO, 0),
            Linear(((1, 1), (-1, 1)), 0),
            Linear(((3, 2),), 0),
            Compare(3, 0),
        ),
        "step 0 is neither 0 nor 1",
    ),
}


@pytest.mark.parametrize("name", UNPROVED)
def test_steps_without_a_diagram_say_so(name: str) -> None:
    steps, reason = UNPROVED[name]
    program = Program(AB, steps, len(steps) - 1)
    with pytest.raises(UnprovenError, match=reason):
        steps_of(program).bit(program.output)


def test_a_sum_that_cancels_keeps_the_promises_of_what_is_counted() -> None:
    counted = Count(Mask.UP_TO, 1)
    steps = steps_of(
        Program(AB, (Letter(("a",)), Merge((0, 0)), counted, Linear(((1, 2), (-1, 2)), 0), Compare(3, 0)), 4)
    )
    assert steps.bit(4) == steps.names.true
    assert steps.promises == [(0, 0)]


def test_a_step_with_a_name_is_called_by_it() -> None:
    steps = steps_of(Program(AB, (Letter(("a",)), Not(0)), 1))
    symbol = steps.names.symbol(0, 0, 0)
    assert steps.bit(0) == steps.names.letter("a")
    steps.name(0, symbol)
    assert steps.bit(0) == symbol
    assert steps.bit(1) == steps.names.negation(symbol)


@pytest.mark.parametrize(
    ("bits", "is_one"),
    [((0, 1), True), ((4, 1, 5), True), ((0, 2), False), ((0,), False), ((0, 1, 4), False)],
)
def test_an_output_is_exactly_one_symbol(bits: tuple[Ref, ...], is_one: bool) -> None:
    """No two at once, and one everywhere."""
    steps = (Letter(("a",)), Letter(("b",)), Place(FIRST), Not(2))
    parts = (Gate(Connective.AND, (0, 2)), Gate(Connective.AND, (0, 3)))
    symbols = tuple((f"s{bit}", bit) for bit in bits)
    program = Program(AB, (*steps, *parts), bits[0], symbols)
    if is_one:
        assert len(results_of(steps_of(program))) == len(bits)
    else:
        with pytest.raises(UnprovenError, match="not seen to be exactly one symbol"):
            results_of(steps_of(program))


@pytest.mark.parametrize(
    "masks", [(Mask.UP_TO, Mask.FROM), (Mask.BEFORE, Mask.ALL), (Mask.UP_TO, Mask.BEFORE)]
)
def test_a_nearest_count_is_one_of_a_single_side(masks: tuple[Mask, Mask]) -> None:
    counts = (Count(masks[0], 0), Count(masks[1], 0), Linear(((1, 1), (-1, 2)), 1))
    nearest = Nearest(Mask.ALL, Choice.RIGHTMOST, 0, 3, 1, 0)
    steps = steps_of(Program(AB, (Letter(("a",)), *counts, nearest), 4))
    if masks == (Mask.UP_TO, Mask.BEFORE):
        assert steps.bit(4)
        return
    with pytest.raises(UnprovenError, match="over more than one side"):
        steps.bit(4)
