"""Each rule of well-formedness, broken on purpose, is complained of at its step."""

from __future__ import annotations

from dataclasses import replace

import pytest

from attemper.attention_program.ops import (
    Attend,
    Cases,
    Choice,
    Compare,
    Connective,
    Count,
    CountTest,
    Direction,
    Gate,
    Letter,
    Linear,
    Mask,
    Nearest,
    Not,
    Program,
    Shift,
    Step,
    Table,
    everywhere,
)
from attemper.attention_program.wellformed import (
    MAX_DISTANCE,
    MAX_TABLE_BITS,
    Complaint,
    complaints,
    is_machine,
    require_machine,
    require_wellformed,
)
from attemper.errors import InternalError, UnsupportedError
from attemper.exact.predicates import Zero
from attemper.languages.words import Alphabet

BIT, COUNT = 0, 1
BEFORE = (Letter(("a",)), Count(Mask.UP_TO, BIT), Linear(((2, COUNT),), 1))
"""A bit s0, a count s1 and a combination s2 that the step under test, s3, may read."""


def _program(*steps: Step, output: int = BIT) -> Program:
    return Program(Alphabet(("a", "b")), (*BEFORE, *steps), output)


def _attend(where: int, value: int) -> Attend:
    return _by_cases(everywhere(where), value)


def _by_cases(cases: Cases, value: int = BIT) -> Attend:
    return Attend(Mask.UP_TO, Choice.RIGHTMOST, cases, value, False)


def _nearest(mask: Mask = Mask.ALL) -> Nearest:
    return Nearest(mask, Choice.RIGHTMOST, BIT, COUNT, 2, BIT)


def test_a_program_with_every_reading_is_well_formed() -> None:
    steps = (_attend(BIT, BIT), Compare(2, 1), CountTest(Zero(), COUNT, 1, 0), Table((0, 3), ()))
    cases = (
        _by_cases(((3, 4), (4, 3))),
        _by_cases(((BIT, 5),)),
        Shift(Direction.PREVIOUS, 7, 2, default=True),
    )
    assert complaints(_program(*steps, *cases, _nearest(), output=10)) == ()


READING_STEPS: dict[str, tuple[Step, ...]] = {
    # Each step reads s3, itself; s9, a later step; s-1, no step at all.
    "not": (Not(3), Not(9), Not(-1)),
    "gate": tuple(Gate(Connective.OR, (BIT, ref)) for ref in (3, 9, -1)),
    "table": tuple(Table((ref,), ()) for ref in (3, 9, -1)),
    "attend where": tuple(_attend(ref, BIT) for ref in (3, 9, -1)),
    "attend value": tuple(_attend(BIT, ref) for ref in (3, 9, -1)),
    "attend here": tuple(_by_cases(((BIT, BIT), (ref, BIT))) for ref in (3, 9, -1)),
    "attend there": tuple(_by_cases(((BIT, BIT), (BIT, ref))) for ref in (3, 9, -1)),
    **{
        f"nearest {name}": tuple(replace(_nearest(), **{name: ref}) for ref in (3, 9, -1))
        for name in ("where", "query", "key", "value")
    },
    "shift": tuple(Shift(Direction.NEXT, ref) for ref in (3, 9, -1)),
    "count": tuple(Count(Mask.ALL, ref) for ref in (3, 9, -1)),
    "linear": tuple(Linear(((1, ref),), 0) for ref in (3, 9, -1)),
    "compare": tuple(Compare(ref, 0) for ref in (3, 9, -1)),
    "test": tuple(CountTest(Zero(), ref, 1, 0) for ref in (3, 9, -1)),
}


@pytest.mark.parametrize("name", READING_STEPS)
def test_references_are_to_earlier_steps(name: str) -> None:
    for step, ref in zip(READING_STEPS[name], (3, 9, -1), strict=True):
        assert complaints(_program(step)) == (Complaint(3, f"s{ref} is not an earlier step"),)


COUNTS_AS_BITS: dict[str, Step] = {
    "not": Not(COUNT),
    "gate": Gate(Connective.AND, (BIT, COUNT)),
    "table": Table((COUNT,), ()),
    "attend where": _attend(COUNT, BIT),
    "attend value": _attend(BIT, COUNT),
    "attend here": _by_cases(((BIT, BIT), (COUNT, BIT))),
    "attend there": _by_cases(((BIT, COUNT), (BIT, BIT))),
    "nearest where": replace(_nearest(), where=COUNT),
    "nearest value": replace(_nearest(), value=COUNT),
    "shift": Shift(Direction.PREVIOUS, COUNT),
    "count": Count(Mask.BEFORE, COUNT),
}


@pytest.mark.parametrize("name", COUNTS_AS_BITS)
def test_a_count_is_not_read_as_a_bit(name: str) -> None:
    assert complaints(_program(COUNTS_AS_BITS[name])) == (Complaint(3, "s1 is a count, a bit is meant"),)


def test_a_combination_is_a_count_as_well() -> None:
    assert complaints(_program(Not(2))) == (Complaint(3, "s2 is a count, a bit is meant"),)


BITS_AS_COUNTS: dict[str, Step] = {
    "linear": Linear(((1, COUNT), (1, BIT)), 0),
    "compare": Compare(BIT, 1),
    "test": CountTest(Zero(), BIT, 1, 0),
    "nearest query": replace(_nearest(), query=BIT),
    "nearest key": replace(_nearest(), key=BIT),
}


@pytest.mark.parametrize("name", BITS_AS_COUNTS)
def test_a_bit_is_not_read_as_a_count(name: str) -> None:
    assert complaints(_program(BITS_AS_COUNTS[name])) == (Complaint(3, "s0 is a bit, a count is meant"),)


@pytest.mark.parametrize("output", [COUNT, 2])
def test_the_output_is_a_bit(output: int) -> None:
    expected = Complaint(None, f"the output s{output} is a count, not a bit")
    assert complaints(_program(output=output)) == (expected,)


@pytest.mark.parametrize("output", [3, 99, -1])
def test_the_output_is_a_step(output: int) -> None:
    assert complaints(_program(output=output)) == (Complaint(None, f"the output s{output} is not a step"),)


def test_a_program_without_steps_has_no_output() -> None:
    program = Program(Alphabet(("a",)), (), 0)
    assert complaints(program) == (Complaint(None, "the output s0 is not a step"),)


def test_letters_are_symbols_of_the_alphabet() -> None:
    found = complaints(_program(Letter(("a", "c", "ab"))))
    assert found == (Complaint(3, "'c' is not in the alphabet"), Complaint(3, "'ab' is not in the alphabet"))


def test_a_letter_has_each_symbol_once() -> None:
    assert complaints(_program(Letter(("b", "a")))) == ()
    found = complaints(_program(Letter(("a", "b", "a"))))
    assert found == (Complaint(3, "a letter has a symbol twice"),)


def test_a_table_has_at_most_twelve_bits() -> None:
    assert complaints(_program(Table((BIT,) * MAX_TABLE_BITS, ()))) == ()
    wide = Table((BIT,) * (MAX_TABLE_BITS + 1), ())
    assert complaints(_program(wide)) == (Complaint(3, "a table of 13 bits; at most 12 are allowed"),)


@pytest.mark.parametrize("row", [(), (True,), (True, True, True)])
def test_a_row_has_the_tables_width(row: tuple[bool, ...]) -> None:
    table = Table((BIT, BIT), ((True, False), row))
    assert complaints(_program(table)) == (Complaint(3, "a table of 2 bits has a row of another width"),)


def test_a_row_stands_once() -> None:
    table = Table((BIT,), ((True,), (False,), (True,)))
    assert complaints(_program(table)) == (Complaint(3, "a table has a row twice"),)


@pytest.mark.parametrize("default", [False, True, None])
def test_a_selection_has_a_case(default: bool | None) -> None:
    step = Attend(Mask.ALL, Choice.LEFTMOST, (), BIT, default)
    assert complaints(_program(step)) == (Complaint(3, "a selection has no case"),)


@pytest.mark.parametrize("cases", [((None, 0), (0, 0)), ((0, 0), (None, 0)), ((None, 0), (None, 0))])
def test_a_case_that_is_everywhere_in_force_stands_alone(cases: Cases) -> None:
    expected = Complaint(3, "a case that is everywhere in force stands alone")
    assert complaints(_program(_by_cases(cases))) == (expected,)
    assert complaints(_program(_by_cases(cases[:1]))) == ()


@pytest.mark.parametrize("default", [False, True])
def test_a_shift_goes_over_1_to_64_positions(default: bool) -> None:
    for distance in (1, 2, MAX_DISTANCE):
        assert complaints(_program(Shift(Direction.NEXT, BIT, distance, default))) == ()
    for distance in (-1, 0, MAX_DISTANCE + 1):
        expected = Complaint(3, f"a shift over {distance} positions; from 1 to 64 are allowed")
        assert complaints(_program(Shift(Direction.NEXT, BIT, distance, default))) == (expected,)


def test_a_head_shifts_to_the_neighbour_only() -> None:
    assert complaints(_program(Shift(Direction.PREVIOUS, BIT, 1, None))) == ()
    expected = Complaint(3, "no head shifts over 2 positions without a default")
    assert complaints(_program(Shift(Direction.PREVIOUS, BIT, 2, None))) == (expected,)


@pytest.mark.parametrize("default", [0, 1, "0"])
def test_a_default_is_no_number(default: bool) -> None:
    expected = (Complaint(3, f"a default is True, False or None, not {default}"),)
    assert complaints(_program(Shift(Direction.NEXT, BIT, default=default))) == expected
    assert complaints(_program(replace(_attend(BIT, BIT), default=default))) == expected


@pytest.mark.parametrize("mask", Mask)
def test_a_nearest_count_is_looked_for_where_i_itself_is_seen(mask: Mask) -> None:
    message = f"the nearest count is looked for where i itself is seen, not under '{mask}'"
    expected = (Complaint(3, message),) if mask in {Mask.BEFORE, Mask.AFTER} else ()
    assert complaints(_program(_nearest(mask))) == expected


def test_symbols_have_a_bit_each_and_the_first_is_the_output() -> None:
    program = _program(Not(BIT), output=3)
    assert complaints(replace(program, symbols=(("x", 3), ("y", BIT)))) == ()
    assert complaints(replace(program, symbols=(("x", 3),))) == ()
    other = Complaint(None, "the output is not the bit of the first symbol")
    assert complaints(replace(program, symbols=(("x", BIT), ("y", 3)))) == (other,)
    twice = Complaint(None, "an output symbol has two bits")
    assert complaints(replace(program, symbols=(("x", 3), ("x", BIT)))) == (twice,)
    counted = Complaint(None, f"the output s{COUNT} is a count, not a bit")
    assert complaints(replace(program, symbols=(("x", 3), ("y", COUNT)))) == (counted,)


def test_a_machine_has_no_defaults() -> None:
    for step in (_attend(BIT, BIT), Shift(Direction.NEXT, BIT, default=True), Shift(Direction.NEXT, BIT, 2)):
        assert not is_machine(_program(step))
        with pytest.raises(UnsupportedError, match="s3 has a default"):
            require_machine(_program(step, Shift(Direction.NEXT, BIT)))
    program = _program(replace(_attend(BIT, BIT), default=None), Shift(Direction.NEXT, BIT, default=None))
    assert is_machine(program)
    assert require_machine(program) is program


def test_complaints_come_in_the_order_of_the_steps() -> None:
    found = complaints(_program(Not(COUNT), Not(BIT), Letter(("z",)), output=COUNT))
    assert [complaint.step for complaint in found] == [3, 5, None]


def test_a_pass_that_breaks_a_program_is_named() -> None:
    with pytest.raises(InternalError, match=r"after 'some_pass'.*s3: s1 is a count"):
        require_wellformed(_program(Not(COUNT)), "some_pass")
    with pytest.raises(InternalError, match=r": (s\d: [^;]*; ){4}s7: [^;]*$"):
        require_wellformed(_program(*(Not(COUNT),) * 7), "some_pass")
    good = _program()
    assert require_wellformed(good, "some_pass") is good
