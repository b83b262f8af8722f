"""What is kept of counts and totals, against automata that know as much as their tests ask for."""

from __future__ import annotations

import itertools

import pytest

from attemper.attention_program.machine import run
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
    Not,
    Place,
    Program,
    Shift,
    Step,
    everywhere,
)
from attemper.checker.names import UnprovenError
from attemper.checker.reachability import follows
from attemper.exact import closed_forms, predicates
from attemper.exact.closed_forms import FIRST, complement
from attemper.exact.predicates import NonNegative, Predicate, Remainder, Zero
from attemper.languages.regular.dfa import Dfa
from tests.checker.test_reachability import (
    AB,
    LEFT,
    answer,
    counted,
    counting,
    flipped,
    guessed,
    of_count,
    outputs_of,
)
from tests.support.drawn import automata


@pytest.mark.parametrize(
    "test", [Compare(1, 1), Equals(1, 1), CountTest(Remainder(3, 1), 1, 1, 0), CountTest(Zero(), 1, 2, -2)]
)
def test_strict_counts_leave_i_itself_out(test: Step) -> None:
    strict, weak = (
        Program(AB, (Letter(("a",)), Count(mask, 0), test), 2) for mask in (Mask.BEFORE, Mask.UP_TO)
    )
    for program, other in ((strict, weak), (weak, strict)):
        dfa = guessed(outputs_of(program))
        assert follows(program, dfa)
        assert answer(other, dfa) is False


@pytest.mark.parametrize("factor", [-2, -1, 1, 2])
@pytest.mark.parametrize("predicate", [Zero(), NonNegative()])
def test_a_total_is_kept_on_both_sides_of_where_its_test_changes(factor: int, predicate: Predicate) -> None:
    """Totals that start on one side and end on the other, and such as never get there."""
    for scale, shift, constant in itertools.product((-3, -1, 0, 2), (-3, 0, 4), (-4, 0, 5)):
        steps = (Linear(((factor, 1),), constant), CountTest(predicate, 2, scale, shift))
        said = [predicates.holds(predicate, scale * (constant + factor * k) + shift) for k in range(12)]
        dfa = counting(11, {k for k, value in enumerate(said) if value})
        assert follows(of_count(*steps), dfa)
        changes = [k for k in range(11) if said[k] != said[k + 1]]
        for k in changes:
            assert answer(of_count(*steps), flipped(dfa, k)) is False
            assert answer(of_count(*steps), flipped(dfa, k + 1)) is False


@pytest.mark.parametrize("mask", LEFT)
@pytest.mark.parametrize("factor", [-1, 0, 1])
@pytest.mark.parametrize("once", [-3, 2])
def test_what_comes_at_the_first_position_only_may_lead_across_a_test(
    mask: Mask, factor: int, once: int
) -> None:
    """constant + factor * (the number of a) + once, where the last part comes at 1, or (strict) after 1."""
    for constant, threshold in itertools.product((-2, 0, 3), (-3, 0, 1, 4)):
        steps = (Place(FIRST), Count(mask, 2), Linear(((once, 3), (factor, 1)), constant))
        without = [constant + factor * k for k in range(12)]
        totals = [value + (once if mask is Mask.UP_TO else 0) for value in without[:2]]
        totals += [value + once for value in without]
        # States: none yet, the words b and a, and longer words by their number of a.
        rows = ((2, 1), (4, 3), (5, 4), *((3 + min(k + 1, 11), 3 + k) for k in range(12)))
        at_least = frozenset(1 + k for k, total in enumerate(totals) if total >= threshold)
        exactly = frozenset(1 + k for k, total in enumerate(totals) if total == threshold)
        assert follows(of_count(*steps, Compare(4, threshold)), Dfa(AB, rows, 0, at_least))
        assert follows(of_count(*steps, Equals(4, threshold)), Dfa(AB, rows, 0, exactly))


MEMORIES = {
    "shift": Shift(Direction.PREVIOUS, 8, default=None),
    "strict": Attend(Mask.BEFORE, Choice.RIGHTMOST, everywhere(0), 8, None),
    "once": Attend(Mask.UP_TO, Choice.LEFTMOST, everywhere(7), 8, None),
}


@pytest.mark.parametrize("memory", MEMORIES)
@pytest.mark.parametrize("is_one", [False, True])
def test_what_has_been_forgotten_is_neither_0_nor_1_when_it_is_read_later(memory: str, is_one: bool) -> None:
    """On ten or more a, where the total is forgotten, the output is what a test of it was before."""
    steps = (
        Compare(4, 1),
        Not(5),
        Place(closed_forms.Test(Zero(), 1, 0, -9)),
        Gate(Connective.OR, (5 if is_one else 6,)),
        MEMORIES[memory],
        Attend(Mask.UP_TO, Choice.RIGHTMOST, everywhere(1), 1, None),
        Not(10),
        Place(closed_forms.Test(NonNegative(), 1, 0, -10)),
        Gate(Connective.AND, (11, 12)),
        Not(13),
        Gate(Connective.AND, (9, 13)) if is_one else Gate(Connective.OR, (9, 14)),
    )
    program, wrong = counted(*steps), automata.empty() if is_one else automata.universal()
    assert run(program, ("a",) * 12)[program.output][-1] == is_one
    with pytest.raises(UnprovenError, match="rises and falls"):
        follows(program, wrong)


@pytest.mark.parametrize("mask", LEFT)
@pytest.mark.parametrize("choice", [*Choice])
@pytest.mark.parametrize("where", [Letter(()), Letter(("b",)), Place(complement(FIRST))])
def test_a_selection_that_finds_nothing_falls_on_what_is_blocked(
    mask: Mask, choice: Choice, where: Step
) -> None:
    program = Program(AB, (Letter(("a",)), where, Attend(mask, choice, everywhere(1), 0, None)), 2)
    dfa = guessed(outputs_of(program))
    assert follows(program, dfa)
    assert not any(follows(program, flipped(dfa, state)) for state in range(1, len(dfa.moves)))


def test_a_shift_over_two_positions_has_no_register() -> None:
    """No machine has one: what stands two positions before is not kept."""
    program = Program(AB, (Letter(("a",)), Shift(Direction.PREVIOUS, 0, 2, None)), 1)
    with pytest.raises(UnprovenError, match="no step of a machine"):
        follows(program, None)
