"""The passes keep a program's meaning, and the assembled hard network has the same meaning."""

from __future__ import annotations

import random
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from attemper.attention_program.meaning import output, run
from attemper.attention_program.ops import (
    Attend,
    Choice,
    Connective,
    Count,
    Gate,
    Letter,
    Mask,
    Merge,
    Not,
    Place,
    Program,
    Ref,
    Shift,
    everywhere,
)
from attemper.attention_program.wellformed import complaints
from attemper.compiling.assembling.assemble import assemble
from attemper.compiling.simplifying.guard_edges import guard_edges
from attemper.compiling.simplifying.join_shifts import join_shifts
from attemper.compiling.simplifying.move_shifts import move_shifts
from attemper.compiling.simplifying.simplify_program import simplify_program
from attemper.compiling.simplifying.spell_out import Shared, spell_out
from attemper.languages.words import Alphabet, Word, words_of_length
from attemper.networks.layers import Network
from attemper.networks.meaning_hard import output_bits
from attemper.networks.wellformed import complaints as network_complaints
from tests.support.drawn.programs import ProgramSampler, programs

WORDS = [word for n in range(1, 5) for word in words_of_length(Alphabet(("a", "b")), n)]
FEW_WORDS = [("a",), ("b",), ("a", "b"), ("b", "b", "a"), ("a", "a", "b", "a"), ("b", "a", "b", "b")]


def _assert_same_meaning(before: Program, after: Program, to: list[Ref]) -> None:
    """The output and every step that was kept have the same values."""
    assert complaints(after) == ()
    for word in WORDS:
        old, new = run(before, word), run(after, word)
        assert new[after.output] == old[before.output]
        for ref, kept in enumerate(to):
            assert kept < 0 or new[kept] == old[ref], (word, ref)


def _passed(program: Program) -> Program:
    """The program simplified, spelled out and guarded."""
    return guard_edges(spell_out(simplify_program(program)[0], Shared.NONE)[0])[0]


def _assembled(program: Program) -> Network:
    """The hard network of a program as written by a lowering."""
    return assemble(_passed(program), {}, False, False).network


def _assert_assembled(program: Program, words: list[Word]) -> None:
    network = _assembled(program)
    assert network_complaints(network) == ()
    for word in words:
        assert output_bits(network, word) == output(program, word), word


@given(programs(compiled=False, direct_tests=False))
def test_simplifying_keeps_the_meaning_of_every_step(program: Program) -> None:
    after, to = simplify_program(program)
    _assert_same_meaning(program, after, to)


@given(programs(compiled=False, direct_tests=False))
def test_simplifying_twice_changes_nothing_more(program: Program) -> None:
    once, _ = simplify_program(program)
    twice, _ = simplify_program(once)
    assert len(twice.steps) <= len(once.steps)
    assert [output(twice, word) for word in WORDS] == [output(once, word) for word in WORDS]


@given(programs(direct_tests=False), st.sampled_from(Shared))
def test_spelling_out_keeps_the_meaning_of_every_step(program: Program, shared: Shared) -> None:
    after, to = spell_out(program, shared)
    _assert_same_meaning(program, after, to)
    for step in after.steps:
        match step:
            case Attend():
                assert shared is not Shared.NONE or step.where is not None
            case Shift():
                assert step.distance == 1
            case _:
                pass


@given(programs(direct_tests=False), st.sampled_from(Shared))
def test_moving_shifts_keeps_the_meaning_of_every_step(program: Program, shared: Shared) -> None:
    simplified, _ = spell_out(program, shared)
    after, to = move_shifts(simplified)
    _assert_same_meaning(simplified, after, to)


@given(programs(direct_tests=False), st.sampled_from(Shared))
def test_joining_shifts_keeps_the_meaning_of_every_step(program: Program, shared: Shared) -> None:
    simplified, _ = spell_out(program, shared)
    after, to = join_shifts(simplified)
    _assert_same_meaning(simplified, after, to)
    guarded, to = guard_edges(after)
    _assert_same_meaning(after, guarded, to)


@given(programs(direct_tests=False), st.sampled_from(Shared))
def test_guarding_keeps_the_meaning_of_every_step(program: Program, shared: Shared) -> None:
    simplified, _ = spell_out(simplify_program(program)[0], shared)
    after, to = guard_edges(simplified)
    _assert_same_meaning(simplified, after, to)


@given(programs(spelled_out=True, direct_tests=False))
def test_guarding_an_unsimplified_program_keeps_its_meaning(program: Program) -> None:
    after, to = guard_edges(program)
    _assert_same_meaning(program, after, to)


@given(programs())
def test_guarded_programs_have_no_strict_counts_and_no_defaults(program: Program) -> None:
    for step in _passed(program).steps:
        match step:
            case Attend(default=default) | Shift(default=default):
                assert default is None
            case Count(mask, _):
                assert mask not in {Mask.BEFORE, Mask.AFTER}
            case _:
                pass


@given(programs())
def test_the_assembled_network_computes_the_program(program: Program) -> None:
    _assert_assembled(program, WORDS)


@pytest.mark.slow
def test_many_assembled_networks_compute_their_programs() -> None:
    for seed in range(1500):
        rng = random.Random(seed)
        program = ProgramSampler(rng).program(rng.randint(5, 25))
        _assert_same_meaning(program, *simplify_program(program))
        for shared in Shared:
            _assert_same_meaning(program, *spell_out(program, shared))
        _assert_assembled(program, FEW_WORDS)


def test_a_gate_waits_for_a_merge_that_it_reads_negated() -> None:
    """The first a: not the sum of what a head of the same layer found."""
    found = Attend(Mask.BEFORE, Choice.RIGHTMOST, everywhere(0), 0, None)
    steps = (Letter(("a",)), found, Merge((1,)), Not(2), Gate(Connective.AND, (0, 3)))
    program = Program(Alphabet(("a", "b")), steps, 4)
    network = assemble(program, {}, False, False).network
    for word in WORDS:
        assert output_bits(network, word) == output(program, word), word


@pytest.mark.parametrize("connective", [Connective.AND, Connective.OR])
def test_absences_of_letters_are_joined_under_one_mask(connective: Connective) -> None:
    """A conjunction of absences is one; what is said of another mask or of another bit is left alone."""
    found = [
        Attend(mask, Choice.RIGHTMOST, everywhere(ref), ref, False)
        for mask in (Mask.UP_TO, Mask.FROM)
        for ref in (0, 1)
    ]
    since = Attend(Mask.UP_TO, Choice.RIGHTMOST, everywhere(2), 0, False)
    letters = (Letter(("a",)), Letter(("b",)), Letter(("a", "b")))
    absent = tuple(Not(ref) for ref in range(3, 8))
    read = tuple(range(8, 13)) if connective is Connective.AND else tuple(range(3, 8))
    program = Program(
        Alphabet(("a", "b", "c")), (*letters, *found, since, *absent, Gate(connective, read)), 13
    )
    after, _ = simplify_program(program)
    assert [step for step in after.steps if isinstance(step, Attend)] == [
        replace(
            since,
            cases=everywhere(after.steps.index(Letter(("a", "b")))),
            value=after.steps.index(Letter(("a",))),
        ),
        *(
            Attend(
                mask,
                Choice.RIGHTMOST,
                everywhere(after.steps.index(Letter(("a", "b")))),
                after.steps.index(Letter(("a", "b"))),
                False,
            )
            for mask in (Mask.UP_TO, Mask.FROM)
        ),
    ]
    for word in WORDS:
        assert output(after, word) == output(program, word), word


def test_an_absence_and_what_it_denies_are_false() -> None:
    found = tuple(Attend(Mask.BEFORE, Choice.LEFTMOST, everywhere(ref), ref, False) for ref in (0, 1))
    steps = (Letter(("a",)), Letter(("b",)), *found, Not(2), Not(3), Gate(Connective.AND, (2, 4, 5)))
    after, _ = simplify_program(Program(Alphabet(("a", "b", "c")), steps, 6))
    assert [type(step) for step in after.steps] == [Place]
