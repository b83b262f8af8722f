"""A program that is written is read back as the same, and nothing else is read; only ValueError says so."""

from __future__ import annotations

import copy
import json
import random
from collections.abc import Callable
from dataclasses import replace
from fractions import Fraction
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from attemper.attention_program.ops import (
    PROGRAM,
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
    Matched,
    Merge,
    Nearest,
    Not,
    Numbers,
    Part,
    Place,
    Program,
    Shift,
    Step,
    Table,
    everywhere,
)
from attemper.attention_program.wellformed import MAX_TABLE_BITS, complaints
from attemper.compiling.lowering.cascade_to_program import cascade_to_program
from attemper.exact.closed_forms import FIRST
from attemper.exact.predicates import Named, Remainder
from attemper.languages.measures import Measure
from attemper.languages.words import Alphabet
from tests.compiling.test_cascade_to_program import BY_HAND
from tests.support.drawn.programs import EVERY, SAID, ProgramSampler, programs

AB = Alphabet(("a", "b"))

MAX_FACTOR = 10**11
"""The largest integer of a program."""

EXAMPLE = Program(
    AB,
    (
        Letter(("a",)),
        Place(FIRST),
        Gate(Connective.AND, (0, 1)),
        Not(2),
        Table((0, 3), ((False, True), (True, True))),
        Merge((2, 4)),
        Attend(Mask.BEFORE, Choice.LEFTMOST, everywhere(3), 5, None),
        Shift(Direction.NEXT, 6, default=None),
        Count(Mask.ALL, 7),
        Linear(((2, 8), (-1, 8)), -3),
        Compare(9, 1),
        Equals(8, -2),
        CountTest(Remainder(3, 1), 8, -1, 4),
        Gate(Connective.UNION, ()),
        Attend(Mask.BEFORE, Choice.LEFTMOST, everywhere(3), 5, True),
        Attend(Mask.ALL, Choice.RIGHTMOST, ((0, 1), (3, 2)), 5, False),
        Attend(Mask.ALL, Choice.RIGHTMOST, ((0, 1),), 5, None),
        Shift(Direction.NEXT, 6, 1, default=False),
        Shift(Direction.PREVIOUS, 6, 4, default=True),
        Nearest(Mask.FROM, Choice.LEFTMOST, 3, 8, 9, 5),
        Matched(Mask.UP_TO, Choice.RIGHTMOST, 3, 8, 9),
    ),
    12,
)
TREE: dict[str, Any] = {
    "alphabet": ["a", "b"],
    "steps": [
        ["letter", ["a"]],
        ["place", ["test", ["zero"], 1, 0, -1]],
        ["gate", "and", [0, 1]],
        ["not", 2],
        ["table", [0, 3], [[False, True], [True, True]]],
        ["merge", [2, 4]],
        ["attend", "<", "leftmost", [[None, 3]], 5, None],
        ["shift", "next", 6, 1, None],
        ["count", "all", 7],
        ["linear", [[2, 8], [-1, 8]], -3],
        ["compare", 9, 1],
        ["equals", 8, -2],
        ["count test", ["remainder", 3, 1], 8, -1, 4],
        ["gate", "union", []],
        ["attend", "<", "leftmost", [[None, 3]], 5, True],
        ["attend", "all", "rightmost", [[0, 1], [3, 2]], 5, False],
        ["attend", "all", "rightmost", [[0, 1]], 5, None],
        ["shift", "next", 6, 1, False],
        ["shift", "previous", 6, 4, True],
        ["nearest", ">=", "leftmost", 3, 8, 9, 5],
        ["matched", "<=", "rightmost", 3, 8, 9],
    ],
    "output": 12,
    "symbols": [],
    "numbers": None,
}


def read_program(tree: object) -> Program:
    """The well-formed program that the data are; raises ValueError as who reads a certificate does."""
    program = PROGRAM.read(tree)
    for complaint in complaints(program):
        raise ValueError(str(complaint))
    return program


def assert_survives(program: Program) -> None:
    tree = PROGRAM.encode(program)
    assert read_program(tree) == program
    assert read_program(json.loads(json.dumps(tree))) == program


# Reading back ------------------------------------------------------------------------------------------


def test_each_step_is_written_as_documented() -> None:
    assert PROGRAM.encode(EXAMPLE) == TREE
    assert list(PROGRAM.encode(EXAMPLE)) == list(TREE)
    assert read_program(TREE) == EXAMPLE


@given(programs(compiled=False, direct_tests=False))
def test_every_program_survives(program: Program) -> None:
    assert_survives(program)


@pytest.mark.slow
def test_many_programs_survive() -> None:
    for seed in range(5000):
        rng = random.Random(seed)
        assert_survives(ProgramSampler(rng, compiled=False, direct_tests=False).program(rng.randint(1, 40)))


@pytest.mark.parametrize("name", BY_HAND)
def test_programs_of_cascades_survive(name: str) -> None:
    assert_survives(cascade_to_program(BY_HAND[name][0]).program)


STEPS: list[Step] = [
    *(Gate(connective, bits) for connective in Connective for bits in ((), (0,), (0, 0, 0))),
    *(
        Attend(mask, choice, everywhere(0), 0, default)
        for mask in Mask
        for choice in Choice
        for default in EVERY
    ),
    *(Attend(Mask.ALL, Choice.LEFTMOST, ((0, 0),) * width, 0, d) for width in (1, 2, 40) for d in EVERY),
    *(Shift(direction, 0, 1, default) for direction in Direction for default in EVERY),
    *(Shift(direction, 0, 64, default) for direction in Direction for default in SAID),
    *(Count(mask, 0) for mask in Mask),
    *(Table((0,) * width, ((False,) * width,)) for width in (0, 1, MAX_TABLE_BITS)),
    *(Letter(symbols) for symbols in ((), ("b", "a"))),
    *(Linear(parts, constant) for parts in ((), ((0, 1),)) for constant in (-MAX_FACTOR, 0, MAX_FACTOR)),
    CountTest(Named("prime"), 1, 0, 0),
    Table((), ()),
    Merge(()),
]


@pytest.mark.parametrize("step", STEPS, ids=str)
def test_every_way_of_a_step_survives(step: Step) -> None:
    assert_survives(Program(AB, (Letter(("a",)), Count(Mask.ALL, 0), step), 0))


def test_symbols_of_any_spelling_survive() -> None:
    symbols = ("push", "é", "=", "s0", '"', "[", "\\", "💥")
    assert_survives(Program(Alphabet(symbols), (Letter(symbols[::-1]),), 0))


# What is not read --------------------------------------------------------------------------------------

NESTED: list[Any] = ["position"]
for _ in range(20_000):
    NESTED = ["sum", [NESTED]]

A_STEP = 'expected one of ["letter", ...], ["place", ...], ["not", ...], '
A_FORM = 'expected one of ["number", ...], ["position", ...], '
A_REF = "expected an integer from 0, not "
AN_INTEGER = "expected an integer from -100000000000 to 100000000000, not "
A_BIT = "expected true or false, not "
A_DEFAULT = "expected ... true or false, not "
A_REF_IF_ANY = "expected ... an integer from 0, not "
A_FRACTION = 'expected a fraction such as "3/2", in lowest terms, not '
A_MASK = 'expected one of "<=", "<", ">=", ">", "all", not '

BROKEN_STEPS: dict[str, tuple[Any, str]] = {
    # Each stands after a bit s0 and a count s1, as s2.
    "no step": (None, f"steps[2]: {A_STEP}"),
    "a step as text": ("not", f"steps[2]: {A_STEP}"),
    "a step as an object": ({"not": 0}, f"steps[2]: {A_STEP}"),
    "a step as an object of its fields": ({"bit": 0}, f"steps[2]: {A_STEP}"),
    "an empty step": ([], f"steps[2]: {A_STEP}"),
    "an unknown step": (["nand", [0]], f"steps[2]: {A_STEP}"),
    "a name that is no text": ([0, 0], f"steps[2]: {A_STEP}"),
    "a name that is a list": ([["not"], 0], f"steps[2]: {A_STEP}"),
    "a name in capitals": (["Not", 0], f"steps[2]: {A_STEP}"),
    "an entry too few": (["not"], 'steps[2]: after "not" stands bit, not []'),
    "an entry too many": (["not", 0, 0], 'steps[2]: after "not" stands bit, not [0, 0]'),
    "a tuple": (("not", 0), f"steps[2]: {A_STEP}"),
    "a step that does not stand earlier": (["not", 2], "s2 is not an earlier step"),
    "a step that does not exist": (["not", 99], "s99 is not an earlier step"),
    "a step from the end": (["not", -1], f"steps[2].bit: {A_REF}-1"),
    "a step of 2^63": (["not", 2**63], f"steps[2].bit: {A_REF}9223372036854775808"),
    "a step by a fraction": (["not", 0.0], f"steps[2].bit: {A_REF}0.0"),
    "a step by a truth value": (["not", False], f"steps[2].bit: {A_REF}False"),
    "a step by its name": (["not", "0"], f"steps[2].bit: {A_REF}'0'"),
    "no step at all": (["not", None], f"steps[2].bit: {A_REF}None"),
    "a list of steps where one is meant": (["not", [0]], f"steps[2].bit: {A_REF}[0]"),
    "a gate of no list": (["gate", "and", 0], "steps[2].bits: expected a list, not 0"),
    "a gate of text": (["gate", "and", "00"], "steps[2].bits: expected a list, not '00'"),
    "a gate of truth values": (["gate", "and", [False]], f"steps[2].bits[0]: {A_REF}False"),
    "a gate of counts": (["gate", "xor", [0, 1]], "s1 is a count, a bit is meant"),
    "a merge of counts": (["merge", [1]], "s1 is a count, a bit is meant"),
    "a gate of a later step": (["gate", "or", [0, 3]], "s3 is not an earlier step"),
    "a connective in capitals": (
        ["gate", "AND", [0, 0]],
        'steps[2].connective: expected one of "and", "or", "xor", "union", not \'AND\'',
    ),
    "a connective for a step": (["and", [0, 0]], f"steps[2]: {A_STEP}"),
    "a letter that is not in the alphabet": (["letter", ["c"]], "'c' is not in the alphabet"),
    "a letter with a symbol twice": (["letter", ["a", "b", "a"]], "a symbol twice"),
    "a letter that is part of one": (["letter", [""]], "'' is not in the alphabet"),
    "a letter that is a number": (["letter", [0]], "steps[2].symbols[0]: expected a text, not 0"),
    "a letter that is a list": (["letter", [["a"]]], "steps[2].symbols[0]: expected a text, not ['a']"),
    "letters as text": (["letter", "ab"], "steps[2].symbols: expected a list, not 'ab'"),
    "a place that is no form": (["place", ["k"]], f"steps[2].form: {A_FORM}"),
    "a place that is a text": (["place", "i"], f"steps[2].form: {A_FORM}"),
    "a place that is a number": (["place", 1], f"steps[2].form: {A_FORM}"),
    "a place by an integer": (["place", ["number", 1]], f"steps[2].form.value: {A_FRACTION}1"),
    "a place by a fraction": (["place", ["number", 1.0]], f"steps[2].form.value: {A_FRACTION}1.0"),
    "a place that divides by zero": (["place", ["number", "1/0"]], f"steps[2].form.value: {A_FRACTION}'1/0'"),
    "a place in other terms": (["place", ["number", "2/4"]], f"form.value: {A_FRACTION}"),
    "a place with a plus": (["place", ["number", "+1"]], f"steps[2].form.value: {A_FRACTION}'+1'"),
    "a place with a minus for zero": (["place", ["number", "-0"]], f"form.value: {A_FRACTION}"),
    "a place of a number too long": (
        ["place", ["number", "1" * 41]],
        f"steps[2].form.value: {A_FRACTION}'111",
    ),
    "a place of an unknown predicate": (
        ["place", ["test", ["named", "no_such"], 1, 0, 0]],
        "steps[2].form.predicate: no numerical predicate is called 'no_such'",
    ),
    "a place with a fraction inside": (
        ["place", ["test", ["zero"], 1.0, 0, -1]],
        f"steps[2].form.per_position: {AN_INTEGER}1.0",
    ),
    "a place with a truth value inside": (
        ["place", ["test", ["zero"], True, 0, -1]],
        f"steps[2].form.per_position: {AN_INTEGER}True",
    ),
    "a place with an integer too large": (
        ["place", ["test", ["zero"], MAX_FACTOR + 1, 0, 0]],
        f"steps[2].form.per_position: {AN_INTEGER}100000000001",
    ),
    "a place of a high power": (
        ["place", ["power", ["position"], 99]],
        "steps[2].form.exponent: expected an integer from -16 to 16, not 99",
    ),
    "a place of a high degree": (
        ["place", ["power", ["power", ["position"], 16], 5]],
        "s2: powers and products nest to the degree 80",
    ),
    "a place that divides by what may be 0": (
        ["place", ["power", ["alternating"], -1]],
        "s2: only i and n have negative powers",
    ),
    "a place nested too deeply": (["place", NESTED], "more than 200 lists and objects stand one inside"),
    "a table without rows": (["table", [0]], 'steps[2]: after "table" stands bits, rows, not [[0]]'),
    "a table with rows as text": (["table", [0], "01"], "steps[2].rows: expected a list, not '01'"),
    "a table with a row as text": (["table", [0], ["1"]], "steps[2].rows[0]: expected a list, not '1'"),
    "a table with rows as numbers": (["table", [0], [1]], "steps[2].rows[0]: expected a list, not 1"),
    "a table with a row of numbers": (["table", [0], [[1]]], f"steps[2].rows[0][0]: {A_BIT}1"),
    "a table with a row of digits": (["table", [0], [["1"]]], f"steps[2].rows[0][0]: {A_BIT}'1'"),
    "a table with a row of null": (["table", [0], [[None]]], f"steps[2].rows[0][0]: {A_BIT}None"),
    "a table with a narrow row": (["table", [0, 0], [[True]]], "a row of another width"),
    "a table with a wide row": (["table", [0], [[True, False]]], "a row of another width"),
    "a table with a row twice": (["table", [0], [[True], [False], [True]]], "a row twice"),
    "a table of 13 bits": (["table", [0] * 13, []], "a table of 13 bits"),
    "a table of counts": (["table", [1], [[True]]], "s1 is a count, a bit is meant"),
    "attention without a default": (
        ["attend", "<=", "rightmost", [[None, 0]], 0],
        'steps[2]: after "attend" stands mask, choice, cases, value, default, not ',
    ),
    "attention with a default that is 1": (
        ["attend", "<=", "rightmost", [[None, 0]], 0, 1],
        f"steps[2].default: {A_DEFAULT}1",
    ),
    "attention with a default of 2": (
        ["attend", "<=", "rightmost", [[None, 0]], 0, 2],
        f"steps[2].default: {A_DEFAULT}2",
    ),
    "attention with a default that is a fraction": (
        ["attend", "<=", "rightmost", [[None, 0]], 0, 0.0],
        f"steps[2].default: {A_DEFAULT}0.0",
    ),
    "attention to equal counts": (
        ["attend", "<=", "rightmost", [[None, 0]], 0, [1, 1]],
        f"steps[2].default: {A_DEFAULT}[1, 1]",
    ),
    "attention with two defaults": (
        ["attend", "<=", "rightmost", [[None, 0]], 0, False, False],
        'steps[2]: after "attend" stands mask, choice, cases, value, default, not ',
    ),
    "attention with no case": (["attend", "<=", "rightmost", [], 0, None], "no case"),
    "attention with a case of one": (
        ["attend", "<=", "rightmost", [[0]], 0, None],
        "steps[2].cases[0]: expected a list of 2 entries, not [0]",
    ),
    "attention with a case of three": (
        ["attend", "<=", "rightmost", [[0, 0, 0]], 0, None],
        "steps[2].cases[0]: expected a list of 2 entries, not [0, 0, 0]",
    ),
    "attention with cases as steps": (
        ["attend", "<=", "rightmost", [0, 0], 0, None],
        "steps[2].cases[0]: expected a list of 2 entries, not 0",
    ),
    "attention with cases as one step": (
        ["attend", "<=", "rightmost", 0, 0, None],
        "steps[2].cases: expected a list, not 0",
    ),
    "attention with a case as an object": (
        ["attend", "<=", "rightmost", [{"0": 0}], 0, None],
        "steps[2].cases[0]: expected a list of 2 entries, not {'0': 0}",
    ),
    "attention with a case everywhere and another": (
        ["attend", "<=", "rightmost", [[None, 0], [0, 0]], 0, None],
        "stands alone",
    ),
    "attention with a case of truth values": (
        ["attend", "<=", "rightmost", [[True, 0]], 0, None],
        f"steps[2].cases[0][0]: {A_REF_IF_ANY}True",
    ),
    "attention with a case for nothing": (
        ["attend", "<=", "rightmost", [[0, None]], 0, None],
        f"steps[2].cases[0][1]: {A_REF}None",
    ),
    "attention with a case of a count": (
        ["attend", "<=", "rightmost", [[1, 0]], 0, None],
        "s1 is a count, a bit is meant",
    ),
    "attention with a case for a count": (
        ["attend", "<=", "rightmost", [[0, 1]], 0, None],
        "s1 is a count, a bit is meant",
    ),
    "attention with a case of a later step": (
        ["attend", "<=", "rightmost", [[0, 2]], 0, None],
        "s2 is not an earlier step",
    ),
    "a shift with a bit only": (
        ["shift", "previous", 0],
        'steps[2]: after "shift" stands direction, bit, distance, default, not ',
    ),
    "a shift with a default only": (
        ["shift", "previous", 0, False],
        'steps[2]: after "shift" stands direction, bit, distance, default, not ',
    ),
    "a shift with a default that is 0": (
        ["shift", "previous", 0, 1, 0],
        f"steps[2].default: {A_DEFAULT}0",
    ),
    "a shift with a default of 2": (["shift", "previous", 0, 1, 2], f"steps[2].default: {A_DEFAULT}2"),
    "a shift over no position": (["shift", "previous", 0, 0, False], "a shift over 0 positions"),
    "a shift over too many positions": (["shift", "next", 0, 65, False], "a shift over 65 positions"),
    "a shift over several positions as a head": (
        ["shift", "next", 0, 2, None],
        "no head shifts over 2 positions without a default",
    ),
    "a shift with a distance that is a fraction": (
        ["shift", "next", 0, 1.0, False],
        f"steps[2].distance: {AN_INTEGER}1.0",
    ),
    "a shift with a distance of none": (
        ["shift", "next", 0, None, False],
        f"steps[2].distance: {AN_INTEGER}None",
    ),
    "a shift with an entry too many": (
        ["shift", "next", 0, 1, False, False],
        'steps[2]: after "shift" stands direction, bit, distance, default, not ',
    ),
    "attention with an unknown mask": (
        ["attend", "=<", "rightmost", [[None, 0]], 0, None],
        f"steps[2].mask: {A_MASK}'=<'",
    ),
    "attention with an unknown choice": (
        ["attend", "<=", "nearest", [[None, 0]], 0, None],
        'steps[2].choice: expected one of "rightmost", "leftmost", not \'nearest\'',
    ),
    "attention with the choice first": (
        ["attend", "rightmost", "<=", [[None, 0]], 0, None],
        f"steps[2].mask: {A_MASK}'rightmost'",
    ),
    "attention with a mask by its number": (
        ["attend", 0, "rightmost", [[None, 0]], 0, None],
        f"steps[2].mask: {A_MASK}0",
    ),
    "attention to a count": (
        ["attend", "<=", "rightmost", [[None, 1]], 0, None],
        "s1 is a count, a bit is meant",
    ),
    "attention that reads a count": (
        ["attend", "<=", "rightmost", [[None, 0]], 1, None],
        "s1 is a count, a bit is meant",
    ),
    "a shift by a direction that does not exist": (
        ["shift", "up", 0, 1, None],
        'steps[2].direction: expected one of "previous", "next", not \'up\'',
    ),
    "a direction for a step": (["previous", 0], f"steps[2]: {A_STEP}"),
    "a shift of a count": (["shift", "previous", 1, 1, None], "s1 is a count, a bit is meant"),
    "a count of a count": (["count", "<=", 1], "s1 is a count, a bit is meant"),
    "a count without a mask": (["count", 0], 'steps[2]: after "count" stands mask, bit, not [0]'),
    "a count with an unknown mask": (["count", "<>", 0], f"steps[2].mask: {A_MASK}'<>'"),
    "a sum of bits": (["linear", [[1, 0]], 0], "s0 is a bit, a count is meant"),
    "a sum of parts that are none": (
        ["linear", [[1]], 0],
        "steps[2].parts[0]: expected a list of 2 entries, not [1]",
    ),
    "a sum of parts too long": (
        ["linear", [[1, 1, 1]], 0],
        "steps[2].parts[0]: expected a list of 2 entries, not [1, 1, 1]",
    ),
    "a sum of parts as text": (
        ["linear", ["11"], 0],
        "steps[2].parts[0]: expected a list of 2 entries, not '11'",
    ),
    "a sum with a fraction": (["linear", [[0.5, 1]], 0], f"steps[2].parts[0][0]: {AN_INTEGER}0.5"),
    "a sum with a truth value": (["linear", [[True, 1]], 0], f"steps[2].parts[0][0]: {AN_INTEGER}True"),
    "a sum with a constant that is a fraction": (
        ["linear", [], 0.0],
        f"steps[2].constant: {AN_INTEGER}0.0",
    ),
    "a sum with a factor too large": (
        ["linear", [[MAX_FACTOR + 1, 1]], 0],
        f"steps[2].parts[0][0]: {AN_INTEGER}100000000001",
    ),
    "a sum with a constant too large": (
        ["linear", [], -MAX_FACTOR - 1],
        f"steps[2].constant: {AN_INTEGER}-100000000001",
    ),
    "a sum with a constant far too large": (["linear", [], 10**5000], ""),
    "a comparison of a bit": (["compare", 0, 1], "s0 is a bit, a count is meant"),
    "a comparison with a fraction": (["compare", 1, 0.5], f"steps[2].threshold: {AN_INTEGER}0.5"),
    "a comparison with infinity": (["compare", 1, float("inf")], f"steps[2].threshold: {AN_INTEGER}inf"),
    "a comparison with a threshold too large": (
        ["compare", 1, MAX_FACTOR + 1],
        f"steps[2].threshold: {AN_INTEGER}100000000001",
    ),
    "an equality of a bit": (["equals", 0, 1], "s0 is a bit, a count is meant"),
    "an equality with a truth value": (["equals", 1, True], f"steps[2].value: {AN_INTEGER}True"),
    "a test of a bit": (["count test", ["zero"], 0, 1, 0], "s0 is a bit, a count is meant"),
    "a test by another name": (["test", ["zero"], 1, 1, 0], f"steps[2]: {A_STEP}"),
    "a test by the name of its class": (["CountTest", ["zero"], 1, 1, 0], f"steps[2]: {A_STEP}"),
    "a test of an unknown predicate": (
        ["count test", ["named", "no_such"], 1, 1, 0],
        "steps[2].predicate: no numerical predicate is called 'no_such'",
    ),
    "a test of a predicate that is none": (
        ["count test", "even", 1, 1, 0],
        'steps[2].predicate: expected one of ["remainder", ...], ["zero", ...], ["non negative", ...], ',
    ),
    "a test of a remainder out of range": (
        ["count test", ["remainder", 2, 2], 1, 1, 0],
        "steps[2].predicate: a remainder mod 2 lies in 0..1, not 2",
    ),
    "a test of a negative remainder": (
        ["count test", ["remainder", 2, -1], 1, 1, 0],
        "steps[2].predicate: a remainder mod 2 lies in 0..1, not -1",
    ),
    "a test of no modulus": (
        ["count test", ["remainder", 0, 0], 1, 1, 0],
        "steps[2].predicate: a modulus is at least 1, not 0",
    ),
    "a test with a scale that is a fraction": (
        ["count test", ["zero"], 1, 1.0, 0],
        f"steps[2].scale: {AN_INTEGER}1.0",
    ),
    "a test with a shift too large": (
        ["count test", ["zero"], 1, 1, 10**12],
        f"steps[2].shift: {AN_INTEGER}1000000000000",
    ),
}


def assert_says(error: Exception, message: str) -> None:
    """Each part of a message that is cut by dots stands in what is said."""
    for part in message.split(" ... "):
        assert part in str(error)


def with_step(step: object) -> dict[str, Any]:
    """A program with the step behind a bit and a count."""
    steps = [["letter", ["a"]], ["count", "<=", 0], step]
    return {"alphabet": ["a", "b"], "steps": steps, "output": 0, "symbols": [], "numbers": None}


@pytest.mark.parametrize("name", BROKEN_STEPS)
def test_a_broken_step_is_refused(name: str) -> None:
    step, message = BROKEN_STEPS[name]
    with pytest.raises(ValueError) as caught:
        read_program(with_step(step))
    assert_says(caught.value, message)
    assert len(str(caught.value)) < 2000


A_PROGRAM = "expected an object with the entries alphabet, steps, output, symbols, numbers, not "

BROKEN_PROGRAMS: dict[str, tuple[Callable[[dict[str, Any]], Any], str]] = {
    "nothing": (lambda tree: None, A_PROGRAM + "None"),
    "a list": (lambda tree: list(tree.values()), A_PROGRAM),
    "a tagged list": (lambda tree: ["program", *tree.values()], A_PROGRAM),
    "only steps": (lambda tree: tree["steps"], A_PROGRAM),
    **{
        f"no {entry}": (
            lambda tree, entry=entry: {key: tree[key] for key in tree if key != entry},
            f"the entry '{entry}' is missing",
        )
        for entry in TREE
    },
    "another entry": (lambda tree: {**tree, "name": "x"}, "the entry 'name' is unknown; remove it"),
    "an entry that is no text": (lambda tree: {**tree, 0: "x"}, "the entry '0' is unknown; remove it"),
    "an empty alphabet": (lambda tree: {**tree, "alphabet": []}, "alphabet: an alphabet needs at least one"),
    "an alphabet as text": (lambda tree: {**tree, "alphabet": "ab"}, "alphabet: expected a list, not 'ab'"),
    "an alphabet as an object": (
        lambda tree: {**tree, "alphabet": {"symbols": ["a", "b"]}},
        "alphabet: expected a list, not {'symbols': ['a', 'b']}",
    ),
    "an alphabet of numbers": (
        lambda tree: {**tree, "alphabet": ["a", 1]},
        "alphabet[1]: expected a text, not 1",
    ),
    "an alphabet of lists": (
        lambda tree: {**tree, "alphabet": ["a", ["b"]]},
        "alphabet[1]: expected a text, not ['b']",
    ),
    "a symbol twice": (lambda tree: {**tree, "alphabet": ["a", "a"]}, "alphabet: symbol 'a' occurs twice"),
    "a symbol with a blank": (lambda tree: {**tree, "alphabet": ["a", "b b"]}, "alphabet: symbol 'b b' has"),
    "an alphabet as a tuple": (
        lambda tree: {**tree, "alphabet": ("a", "b")},
        "alphabet: expected a list, not ('a', 'b')",
    ),
    "steps as an object": (
        lambda tree: {**tree, "steps": dict(enumerate(tree["steps"]))},
        "steps: expected a list, not {",
    ),
    "steps as a tuple": (
        lambda tree: {**tree, "steps": tuple(tree["steps"])},
        "steps: expected a list, not (",
    ),
    "no step at all": (lambda tree: {**tree, "steps": [], "output": 0}, "the output s0 is not a step"),
    "an output that is no step": (lambda tree: {**tree, "output": 21}, "the output s21 is not a step"),
    "an output from the end": (lambda tree: {**tree, "output": -1}, f"output: {A_REF}-1"),
    "an output that is a count": (lambda tree: {**tree, "output": 8}, "the output s8 is a count, not a bit"),
    "an output that is a sum": (lambda tree: {**tree, "output": 9}, "the output s9 is a count, not a bit"),
    "an output that is a fraction": (lambda tree: {**tree, "output": 12.0}, f"output: {A_REF}12.0"),
    "an output that is a truth value": (lambda tree: {**tree, "output": False}, f"output: {A_REF}False"),
    "an output as text": (lambda tree: {**tree, "output": "12"}, f"output: {A_REF}'12'"),
    "several outputs": (lambda tree: {**tree, "output": [12]}, f"output: {A_REF}[12]"),
    "symbols that are null": (lambda tree: {**tree, "symbols": None}, "symbols: expected a list, not None"),
    "numbers that are false": (lambda tree: {**tree, "numbers": False}, "numbers: expected an object with"),
}


@pytest.mark.parametrize("name", BROKEN_PROGRAMS)
def test_a_broken_program_is_refused(name: str) -> None:
    change, message = BROKEN_PROGRAMS[name]
    with pytest.raises(ValueError) as caught:
        read_program(change(TREE))
    assert_says(caught.value, message)


# Whatever comes ----------------------------------------------------------------------------------------


def read_or_refuse(tree: object) -> None:
    """Either a well-formed program that is written in just this way, or ValueError; all else escapes."""
    try:
        program = read_program(tree)
    except ValueError:
        return
    assert complaints(program) == ()
    assert json.dumps(PROGRAM.encode(program), sort_keys=True) == json.dumps(tree, sort_keys=True)


SCRAPS: tuple[Any, ...] = (
    *(None, True, False, 0, 1, -1, 2, 7, 0.0, 1.0, float("nan"), 10**11 + 1, "", "0", "01", "a", "<", "all"),
    *("and", "merge", "union", "gate", "table", "attend", "leftmost", "previous", "shift", "count"),
    *("linear", "zero", "1/2", [], [0], [[1, 1]], [[True, False]], [[None, 0]], {}, ["not", 0]),
    *(["named", "prime"], ["remainder", 2, 1], ["zero"], ["position"], ["number", "1"]),
)


def places_in(tree: Any) -> list[tuple[Any, Any]]:
    """All places of a tree: a list or object, and the index or key in it."""
    keys = tree.keys() if isinstance(tree, dict) else range(len(tree)) if isinstance(tree, list) else ()
    return [(tree, key) for key in keys] + [place for key in keys for place in places_in(tree[key])]


def mutated(tree: Any, rng: random.Random) -> Any:
    """The tree with some entries replaced, dropped, repeated or exchanged."""
    changed = copy.deepcopy(tree)
    for _ in range(rng.randint(1, 3)):
        places = places_in(changed)
        if not places:
            break
        inside, key = rng.choice(places)
        other, other_key = rng.choice(places)
        match rng.randrange(4):
            case 0:
                inside[key] = copy.deepcopy(rng.choice(SCRAPS))
            case 1:
                del inside[key]
            case 2 if isinstance(inside, list):
                inside.insert(key, copy.deepcopy(inside[key]))
            case _:
                inside[key] = copy.deepcopy(other[other_key])
    return changed


@given(programs(compiled=False, direct_tests=False), st.randoms(use_true_random=False))
def test_mutated_trees_are_read_or_refused(program: Program, rng: random.Random) -> None:
    for _ in range(10):
        read_or_refuse(mutated(PROGRAM.encode(program), rng))


@pytest.mark.slow
def test_many_mutated_trees_are_read_or_refused() -> None:
    for seed in range(5000):
        rng = random.Random(seed)
        program = ProgramSampler(rng, compiled=False, direct_tests=False).program(rng.randint(1, 15))
        for _ in range(10):
            read_or_refuse(mutated(PROGRAM.encode(program), rng))


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=5), inner, max_size=3),
    max_leaves=12,
)


@given(JSON)
def test_any_data_is_read_or_refused(tree: object) -> None:
    read_or_refuse(tree)
    for steps in (tree, [["letter", ["a"]], tree]):
        read_or_refuse({"alphabet": ["a"], "steps": steps, "output": 0, "symbols": [], "numbers": None})


def test_symbols_are_names_with_their_bits() -> None:
    """The first of the bits is the output."""
    program = replace(EXAMPLE, output=3, symbols=(("x", 3), ("y", 2), ("none", 12)))
    tree = {**TREE, "output": 3, "symbols": [["x", 3], ["y", 2], ["none", 12]]}
    assert PROGRAM.encode(program) == tree
    assert read_program(tree) == program
    one = replace(EXAMPLE, output=7, symbols=(("x", 7),))
    assert read_program({**TREE, "output": 7, "symbols": [["x", 7]]}) == one


A_PAIR = "expected a list of 2 entries, not "


@pytest.mark.parametrize(
    ("symbols", "message"),
    [
        ([["x"]], f"symbols[0]: {A_PAIR}['x']"),
        ([["x", 3, 2]], f"symbols[0]: {A_PAIR}['x', 3, 2]"),
        ([[3, "x"]], "symbols[0][0]: expected a text, not 3"),
        ([["x", 3], 2], f"symbols[1]: {A_PAIR}2"),
        ({"x": 3}, "symbols: expected a list, not {'x': 3}"),
        ([["x", "3"]], f"symbols[0][1]: {A_REF}'3'"),
        ([["x", 3.0]], f"symbols[0][1]: {A_REF}3.0"),
        ([["x", 3], ["x", 2]], "an output symbol has two bits"),
        ([["x", 3], ["y", 8]], "a count, not a bit"),
        ([["x", 2], ["y", 3]], "the output is not the bit of the first symbol"),
        ([["x", 3], ["y", 99]], "the output s99 is not a step"),
    ],
)
def test_other_outputs_are_refused(symbols: object, message: str) -> None:
    with pytest.raises(ValueError) as caught:
        read_program({**TREE, "output": 3, "symbols": symbols})
    assert_says(caught.value, message)


NUMBERS: dict[str, tuple[Numbers, Any]] = {
    "integer": (
        Numbers(Measure.INTEGER, Mask.UP_TO, ((Part(Fraction(-2), 3, 8), Part(Fraction(1), None, 9)),)),
        {
            "measure": "integer",
            "mask": "<=",
            "rows": [
                [
                    {"factor": "-2", "bit": 3, "count": 8},
                    {"factor": "1", "bit": None, "count": 9},
                ]
            ],
            "names": [],
        },
    ),
    "fraction": (
        Numbers(Measure.FRACTION, Mask.ALL, ((Part(Fraction(1, 2), 3, 8), Part(Fraction(-3, 7), 2, None)),)),
        {
            "measure": "fraction",
            "mask": "all",
            "rows": [
                [
                    {"factor": "1/2", "bit": 3, "count": 8},
                    {"factor": "-3/7", "bit": 2, "count": None},
                ]
            ],
            "names": [],
        },
    ),
    "distribution": (
        Numbers(
            Measure.DISTRIBUTION,
            Mask.ALL,
            ((Part(Fraction(1), 3, None),), (Part(Fraction(1), 2, None),), ()),
            ("yes", "no", "maybe"),
        ),
        {
            "measure": "distribution",
            "mask": "all",
            "rows": [
                [{"factor": "1", "bit": 3, "count": None}],
                [{"factor": "1", "bit": 2, "count": None}],
                [],
            ],
            "names": ["yes", "no", "maybe"],
        },
    ),
}


@pytest.mark.parametrize("name", NUMBERS)
def test_numbers_are_written_as_documented(name: str) -> None:
    numbers, data = NUMBERS[name]
    program = replace(EXAMPLE, output=3, numbers=numbers)
    assert PROGRAM.encode(program) == {**TREE, "output": 3, "numbers": data}
    assert list(PROGRAM.encode(program)["numbers"]) == list(data)
    assert_survives(program)


BROKEN_NUMBERS: dict[str, tuple[str, Callable[[dict[str, Any]], object], str]] = {
    "no measure": ("integer", lambda data: data.pop("measure"), "numbers: the entry 'measure' is missing"),
    "another entry": ("integer", lambda data: data.update(over="<="), "numbers: the entry 'over' is unknown"),
    "another measure": (
        "integer",
        lambda data: data.update(measure="real"),
        'numbers.measure: expected one of "integer", "fraction", "distribution", not \'real\'',
    ),
    "another mask": (
        "integer",
        lambda data: data.update(mask="=<"),
        f"numbers.mask: {A_MASK}'=<'",
    ),
    "a strict mask": (
        "integer",
        lambda data: data.update(mask="<"),
        "numbers are not put out under the mask '<'",
    ),
    "a distribution over some positions": (
        "distribution",
        lambda data: data.update(mask="<="),
        "numbers are not put out under the mask '<='",
    ),
    "two integers": (
        "integer",
        lambda data: data["rows"].append(data["rows"][0]),
        "2 numbers are put out where one is",
    ),
    "no number": ("fraction", lambda data: data["rows"].clear(), "the output is not the first step that"),
    "a number of no parts": (
        "fraction",
        lambda data: data["rows"][0].clear(),
        "the output is not the first step that the numbers are made of",
    ),
    "a number less than names": (
        "distribution",
        lambda data: data["rows"].pop(),
        "2 numbers are put out where one is, or one for each name",
    ),
    "a name twice": (
        "distribution",
        lambda data: data.update(names=["yes", "no", "yes"]),
        "a distribution has distinct names",
    ),
    "a fraction with a name": (
        "fraction",
        lambda data: data.update(names=["half"]),
        "a distribution has distinct names, and nothing else has names",
    ),
    "a name that is no text": (
        "distribution",
        lambda data: data.update(names=["yes", "no", 0]),
        "numbers.names[2]: expected a text, not 0",
    ),
    "a part as a list": (
        "integer",
        lambda data: data["rows"][0].append(["1", 3, 8]),
        "numbers.rows[0][2]: expected an object with the entries factor, bit, count, not ['1', 3, 8]",
    ),
    "a part without a bit": (
        "integer",
        lambda data: data["rows"][0][0].pop("bit"),
        "numbers.rows[0][0]: the entry 'bit' is missing",
    ),
    "a part with neither": (
        "fraction",
        lambda data: data["rows"][0][1].update(bit=None),
        "a part of a number has neither a bit nor a count",
    ),
    "a part of a bit by its name": (
        "fraction",
        lambda data: data["rows"][0][1].update(bit="2"),
        f"numbers.rows[0][1].bit: {A_REF_IF_ANY}'2'",
    ),
    "a part of a truth value": (
        "fraction",
        lambda data: data["rows"][0][1].update(count=True),
        f"numbers.rows[0][1].count: {A_REF_IF_ANY}True",
    ),
    "a part with a factor that is a number": (
        "fraction",
        lambda data: data["rows"][0][0].update(factor=1),
        f"numbers.rows[0][0].factor: {A_FRACTION}1",
    ),
    "a part with a factor in other terms": (
        "fraction",
        lambda data: data["rows"][0][0].update(factor="2/4"),
        f"numbers.rows[0][0].factor: {A_FRACTION}",
    ),
    "a part of an integer with a fraction": (
        "integer",
        lambda data: data["rows"][0][0].update(factor="1/2"),
        "a part of an integer has no count, or a factor that is no integer",
    ),
    "a part of an integer without a count": (
        "integer",
        lambda data: data["rows"][0][0].update(count=None),
        "a part of an integer has no count, or a factor that is no integer",
    ),
    "a probability with a count": (
        "distribution",
        lambda data: data["rows"][0][0].update(count=8),
        "a probability has a count",
    ),
    "a count where a bit is meant": (
        "fraction",
        lambda data: data["rows"][0][1].update(bit=9),
        "s9 is a count, a bit is meant",
    ),
    "a bit where a count is meant": (
        "fraction",
        lambda data: data["rows"][0][1].update(count=2),
        "s2 is a bit, a count is meant",
    ),
}


@pytest.mark.parametrize("name", BROKEN_NUMBERS)
def test_other_numbers_are_refused(name: str) -> None:
    kind, change, message = BROKEN_NUMBERS[name]
    data = copy.deepcopy(NUMBERS[kind][1])
    change(data)
    with pytest.raises(ValueError) as caught:
        read_program({**TREE, "output": 3, "numbers": data})
    assert_says(caught.value, message)


READ_BY_NEAREST: list[tuple[list[object], str]] = [
    ([3, 8, 9], 'steps[20]: after "nearest" stands mask, choice, where, query, key, value, not '),
    ([3, 8, 9, 5, 5], 'steps[20]: after "nearest" stands mask, choice, where, query, key, value, not '),
    ([3, 8, 9, None], f"steps[20].value: {A_REF}None"),
    ([3, 5, 9, 5], "s5 is a bit, a count is meant"),
    ([3, 8, 5, 5], "s5 is a bit, a count is meant"),
    ([8, 8, 9, 5], "s8 is a count, a bit is meant"),
    ([3, 8, 9, 9], "s9 is a count, a bit is meant"),
]


@pytest.mark.parametrize(("read", "message"), READ_BY_NEAREST)
def test_a_nearest_count_reads_two_bits_and_two_counts(read: list[object], message: str) -> None:
    steps = [*TREE["steps"][:-1], ["nearest", "all", "rightmost", *read]]
    with pytest.raises(ValueError) as caught:
        read_program({**TREE, "steps": steps})
    assert_says(caught.value, message)


@pytest.mark.parametrize("step", ["nearest", "matched"])
@pytest.mark.parametrize("mask", ["<", ">"])
def test_a_strict_mask_shows_no_nearest_count(step: str, mask: str) -> None:
    read = [3, 8, 9, 5] if step == "nearest" else [3, 8, 9]
    with pytest.raises(ValueError, match="the nearest count is looked for where i itself is seen"):
        read_program({**TREE, "steps": [*TREE["steps"], [step, mask, "rightmost", *read]]})
