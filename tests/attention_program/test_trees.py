"""A program's tree is read back as the same program, and nothing else is read; only ValueError says so."""

from __future__ import annotations

import copy
import json
import random
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

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
    Shift,
    Step,
    Table,
    everywhere,
)
from attemper.attention_program.trees import program_from_tree, program_to_tree
from attemper.attention_program.wellformed import MAX_TABLE_BITS, complaints
from attemper.compiling.lowering.cascade_to_program import cascade_to_program
from attemper.exact.closed_forms import FIRST, MAX_FACTOR
from attemper.exact.predicates import Named, Remainder
from attemper.languages.words import Alphabet
from tests.compiling.test_cascade_to_program import BY_HAND
from tests.support.drawn.programs import EVERY, SAID, ProgramSampler, programs

AB = Alphabet(("a", "b"))

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
    ),
    12,
)
TREE: dict[str, Any] = {
    "alphabet": ["a", "b"],
    "steps": [
        ["letter", ["a"]],
        ["place", ["test", "zero", 1, 0, -1]],
        ["and", [0, 1]],
        ["not", 2],
        ["table", [0, 3], ["01", "11"]],
        ["merge", [2, 4]],
        ["attend", "<", "leftmost", 3, 5],
        ["next", 6],
        ["count", "all", 7],
        ["linear", [[2, 8], [-1, 8]], -3],
        ["compare", 9, 1],
        ["equals", 8, -2],
        ["test", ["mod", 3, 1], 8, -1, 4],
        ["union", []],
        ["attend", "<", "leftmost", 3, 5, 1],
        ["attend", "all", "rightmost", [[0, 1], [3, 2]], 5, 0],
        ["attend", "all", "rightmost", [[0, 1]], 5],
        ["next", 6, 1, 0],
        ["previous", 6, 4, 1],
        ["nearest", ">=", "leftmost", 3, 8, 9, 5],
    ],
    "output": 12,
}


def assert_survives(program: Program) -> None:
    tree = program_to_tree(program)
    assert program_from_tree(tree) == program
    assert program_from_tree(json.loads(json.dumps(tree))) == program


# Reading back ------------------------------------------------------------------------------------------


def test_each_step_is_written_as_documented() -> None:
    assert program_to_tree(EXAMPLE) == TREE
    assert program_from_tree(TREE) == EXAMPLE


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

NESTED: list[Any] = []
for _ in range(20_000):
    NESTED = ["+", NESTED]

BROKEN_STEPS: dict[str, tuple[Any, str]] = {
    # Each stands after a bit s0 and a count s1, as s2.
    "no step": (None, "not a step"),
    "a step as text": ("not", "not a step"),
    "a step as an object": ({"not": 0}, "not a step"),
    "an empty step": ([], "not a step"),
    "an unknown step": (["nand", [0]], "not a step"),
    "a name that is no text": ([0, 0], "not a step"),
    "an entry too few": (["not"], "not a step"),
    "an entry too many": (["not", 0, 0], "not a step"),
    "a tuple": (("not", 0), "the one way"),
    "a step that does not stand earlier": (["not", 2], "s2 is not an earlier step"),
    "a step that does not exist": (["not", 99], "s99 is not an earlier step"),
    "a step from the end": (["not", -1], "s-1 is not an earlier step"),
    "a step by a fraction": (["not", 0.0], "not an integer"),
    "a step by a truth value": (["not", False], "not an integer"),
    "a step by its name": (["not", "0"], "not an integer"),
    "no step at all": (["not", None], "not an integer"),
    "a list of steps where one is meant": (["not", [0]], "not an integer"),
    "a gate of no list": (["and", 0], "not a list of steps"),
    "a gate of text": (["and", "00"], "not a list of steps"),
    "a gate of truth values": (["and", [False]], "not an integer"),
    "a gate of counts": (["xor", [0, 1]], "s1 is a count, a bit is meant"),
    "a merge of counts": (["merge", [1]], "s1 is a count, a bit is meant"),
    "a gate of a later step": (["or", [0, 3]], "s3 is not an earlier step"),
    "a connective in capitals": (["AND", [0, 0]], "not a step"),
    "a letter that is not in the alphabet": (["letter", ["c"]], "'c' is not in the alphabet"),
    "a letter with a symbol twice": (["letter", ["a", "b", "a"]], "a symbol twice"),
    "a letter that is part of one": (["letter", [""]], "'' is not in the alphabet"),
    "a letter that is a number": (["letter", [0]], "'0' is not in the alphabet"),
    "a letter that is a list": (["letter", [["a"]]], "is not in the alphabet"),
    "letters as text": (["letter", "ab"], "not a step"),
    "a very long letter": (["letter", ["c" * 10**6]], "'ccc"),
    "a place that is no form": (["place", "k"], "not a rational"),
    "a place that is a number": (["place", 1], "not a closed form"),
    "a place by a fraction": (["place", 1.0], "not a closed form"),
    "a place that divides by zero": (["place", "1/0"], "not a rational"),
    "a place in other terms": (["place", "2/4"], "the one way"),
    "a place with a plus": (["place", "+1"], "not a rational"),
    "a place with a minus for zero": (["place", "-0"], "the one way"),
    "a place of a number too long": (["place", "1" * 41], "not a rational"),
    "a place of an unknown predicate": (["place", ["test", ["named", "no_such"], 1, 0, 0]], "no_such"),
    "a place with a fraction inside": (["place", ["test", "zero", 1.0, 0, -1]], "not an integer"),
    "a place with a truth value inside": (["place", ["test", "zero", True, 0, -1]], "not an integer"),
    "a place with an integer too large": (["place", ["test", "zero", MAX_FACTOR + 1, 0, 0]], "ordinary size"),
    "a place of a high power": (["place", ["^", "i", 99]], "larger than any"),
    "a place nested too deeply": (["place", NESTED], ""),
    "a table without rows": (["table", [0]], "not a step"),
    "a table with rows as text": (["table", [0], "01"], "not a step"),
    "a table with rows as lists": (["table", [0], [[True]]], "not a row of bits"),
    "a table with rows as numbers": (["table", [0], [1]], "not a row of bits"),
    "a table with a row of other digits": (["table", [0], ["2"]], "not a row of bits"),
    "a table with a row of other ones": (["table", [0], ["١"]], "not a row of bits"),
    "a table with a narrow row": (["table", [0, 0], ["1"]], "a row of another width"),
    "a table with a wide row": (["table", [0], ["10"]], "a row of another width"),
    "a table with a row twice": (["table", [0], ["1", "0", "1"]], "a row twice"),
    "a table of 13 bits": (["table", [0] * 13, []], "a table of 13 bits"),
    "a table of counts": (["table", [1], ["1"]], "s1 is a count, a bit is meant"),
    "attention with a default that is a truth value": (
        ["attend", "<=", "rightmost", 0, 0, True],
        "not an integer",
    ),
    "attention with a default of 2": (["attend", "<=", "rightmost", 0, 0, 2], "a default is 0 or 1"),
    "attention with a default of none": (["attend", "<=", "rightmost", 0, 0, None], "not an integer"),
    "attention with a default that is a fraction": (
        ["attend", "<=", "rightmost", 0, 0, 0.0],
        "not an integer",
    ),
    "attention to equal counts": (["attend", "<=", "rightmost", 0, 0, [1, 1]], "not an integer"),
    "attention with two defaults": (["attend", "<=", "rightmost", 0, 0, 0, 0], "not a step"),
    "attention with no case": (["attend", "<=", "rightmost", [], 0], "no case"),
    "attention with a case of one": (["attend", "<=", "rightmost", [[0]], 0], "not a case"),
    "attention with a case of three": (["attend", "<=", "rightmost", [[0, 0, 0]], 0], "not a case"),
    "attention with cases as steps": (["attend", "<=", "rightmost", [0, 0], 0], "not a case"),
    "attention with a case as an object": (["attend", "<=", "rightmost", [{"0": 0}], 0], "not a case"),
    "attention with the only case in a list": (
        ["attend", "<=", "rightmost", [[None, 0]], 0],
        "the one way",
    ),
    "attention with a case everywhere and another": (
        ["attend", "<=", "rightmost", [[None, 0], [0, 0]], 0],
        "stands alone",
    ),
    "attention with a case of truth values": (
        ["attend", "<=", "rightmost", [[True, 0]], 0],
        "not an integer",
    ),
    "attention with a case for nothing": (["attend", "<=", "rightmost", [[0, None]], 0], "not an integer"),
    "attention with a case of a count": (
        ["attend", "<=", "rightmost", [[1, 0]], 0],
        "s1 is a count, a bit is meant",
    ),
    "attention with a case for a count": (
        ["attend", "<=", "rightmost", [[0, 1]], 0],
        "s1 is a count, a bit is meant",
    ),
    "attention with a case of a later step": (
        ["attend", "<=", "rightmost", [[0, 2]], 0],
        "s2 is not an earlier step",
    ),
    "a shift with a default only": (["previous", 0, 0], "not a step"),
    "a shift with a default that is a truth value": (["previous", 0, 1, False], "not an integer"),
    "a shift with a default of 2": (["previous", 0, 1, 2], "a default is 0 or 1"),
    "a shift with a default of none": (["previous", 0, 1, None], "not an integer"),
    "a shift over no position": (["previous", 0, 0, 0], "a shift over 0 positions"),
    "a shift over too many positions": (["next", 0, 65, 0], "a shift over 65 positions"),
    "a shift with a distance that is a fraction": (["next", 0, 1.0, 0], "not an integer"),
    "a shift with an entry too many": (["next", 0, 1, 0, 0], "not a step"),
    "attention with an unknown mask": (["attend", "=<", "rightmost", 0, 0], "'=<'"),
    "attention with an unknown choice": (["attend", "<=", "nearest", 0, 0], "'nearest'"),
    "attention with the choice first": (["attend", "rightmost", "<=", 0, 0], "'rightmost'"),
    "attention with a mask by its number": (["attend", 0, "rightmost", 0, 0], "not a step"),
    "attention to a count": (["attend", "<=", "rightmost", 1, 0], "s1 is a count, a bit is meant"),
    "attention that reads a count": (["attend", "<=", "rightmost", 0, 1], "s1 is a count, a bit is meant"),
    "a shift by a direction that does not exist": (["shift", 0], "not a step"),
    "a shift of a count": (["previous", 1], "s1 is a count, a bit is meant"),
    "a count of a count": (["count", "<=", 1], "s1 is a count, a bit is meant"),
    "a count without a mask": (["count", 0], "not a step"),
    "a count with an unknown mask": (["count", "<>", 0], "'<>'"),
    "a sum of bits": (["linear", [[1, 0]], 0], "s0 is a bit, a count is meant"),
    "a sum of parts that are none": (["linear", [[1]], 0], "not a part of a sum"),
    "a sum of parts too long": (["linear", [[1, 1, 1]], 0], "not a part of a sum"),
    "a sum of parts as text": (["linear", ["11"], 0], "not a part of a sum"),
    "a sum with a fraction": (["linear", [[0.5, 1]], 0], "not an integer"),
    "a sum with a truth value": (["linear", [[True, 1]], 0], "not an integer"),
    "a sum with a constant that is a fraction": (["linear", [], 0.0], "not an integer"),
    "a sum with a factor too large": (["linear", [[MAX_FACTOR + 1, 1]], 0], "ordinary size"),
    "a sum with a constant too large": (["linear", [], -MAX_FACTOR - 1], "ordinary size"),
    "a sum with a constant far too large": (["linear", [], 10**5000], ""),
    "a comparison of a bit": (["compare", 0, 1], "s0 is a bit, a count is meant"),
    "a comparison with a fraction": (["compare", 1, 0.5], "not an integer"),
    "a comparison with infinity": (["compare", 1, float("inf")], "not an integer"),
    "a comparison with a threshold too large": (["compare", 1, MAX_FACTOR + 1], "ordinary size"),
    "an equality of a bit": (["equals", 0, 1], "s0 is a bit, a count is meant"),
    "an equality with a truth value": (["equals", 1, True], "not an integer"),
    "a test of a bit": (["test", "zero", 0, 1, 0], "s0 is a bit, a count is meant"),
    "a test of an unknown predicate": (["test", ["named", "no_such"], 1, 1, 0], "no_such"),
    "a test of a predicate that is none": (["test", "even", 1, 1, 0], "not a numerical predicate"),
    "a test of a remainder out of range": (["test", ["mod", 2, 2], 1, 1, 0], "0..1"),
    "a test of no modulus": (["test", ["mod", 0, 0], 1, 1, 0], "at least 1"),
    "a test with a scale that is a fraction": (["test", "zero", 1, 1.0, 0], "not an integer"),
    "a test with a shift too large": (["test", "zero", 1, 1, 10**12], "ordinary size"),
}


@pytest.mark.parametrize("name", BROKEN_STEPS)
def test_a_broken_step_is_refused(name: str) -> None:
    step, message = BROKEN_STEPS[name]
    tree = {"alphabet": ["a", "b"], "steps": [["letter", ["a"]], ["count", "<=", 0], step], "output": 0}
    with pytest.raises(ValueError) as caught:
        program_from_tree(tree)
    assert message in str(caught.value)
    assert len(str(caught.value)) < 1000


BROKEN_PROGRAMS: dict[str, Callable[[dict[str, Any]], Any]] = {
    "nothing": lambda tree: None,
    "a list": lambda tree: list(tree.values()),
    "only steps": lambda tree: tree["steps"],
    "no alphabet": lambda tree: {key: tree[key] for key in ("steps", "output")},
    "no output": lambda tree: {key: tree[key] for key in ("steps", "alphabet")},
    "another entry": lambda tree: {**tree, "name": "x"},
    "an empty alphabet": lambda tree: {**tree, "alphabet": []},
    "an alphabet as text": lambda tree: {**tree, "alphabet": "ab"},
    "an alphabet of numbers": lambda tree: {**tree, "alphabet": ["a", 1]},
    "an alphabet of lists": lambda tree: {**tree, "alphabet": ["a", ["b"]]},
    "a symbol twice": lambda tree: {**tree, "alphabet": ["a", "a"]},
    "a symbol with a blank": lambda tree: {**tree, "alphabet": ["a", "b b"]},
    "an alphabet as a tuple": lambda tree: {**tree, "alphabet": ("a", "b")},
    "steps as an object": lambda tree: {**tree, "steps": dict(enumerate(tree["steps"]))},
    "steps as a tuple": lambda tree: {**tree, "steps": tuple(tree["steps"])},
    "no steps": lambda tree: {**tree, "steps": [], "output": 0},
    "an output that is no step": lambda tree: {**tree, "output": len(tree["steps"])},
    "an output from the end": lambda tree: {**tree, "output": -1},
    "an output that is a count": lambda tree: {**tree, "output": 8},
    "an output that is a sum": lambda tree: {**tree, "output": 9},
    "an output that is a fraction": lambda tree: {**tree, "output": 12.0},
    "an output that is a truth value": lambda tree: {**tree, "output": False},
    "an output as text": lambda tree: {**tree, "output": "12"},
    "several outputs": lambda tree: {**tree, "output": [12]},
}


@pytest.mark.parametrize("name", BROKEN_PROGRAMS)
def test_a_broken_program_is_refused(name: str) -> None:
    with pytest.raises(ValueError):
        program_from_tree(BROKEN_PROGRAMS[name](TREE))


# Whatever comes ----------------------------------------------------------------------------------------


def read_or_refuse(tree: object) -> None:
    """Either a well-formed program that is written in just this way, or ValueError; all else escapes."""
    try:
        program = program_from_tree(tree)
    except ValueError:
        return
    assert complaints(program) == ()
    assert json.dumps(program_to_tree(program), sort_keys=True) == json.dumps(tree, sort_keys=True)


SCRAPS: tuple[Any, ...] = (
    *(None, True, False, 0, 1, -1, 2, 7, 0.0, 1.0, float("nan"), 10**11 + 1, "", "0", "01", "a", "<", "all"),
    *("and", "merge", "union", "table", "attend", "leftmost", "previous", "count", "linear", "zero", "1/2"),
    *([], [0], [[1, 1]], ["01"], {}, ["not", 0], ["named", "prime"], ["mod", 2, 1]),
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
        read_or_refuse(mutated(program_to_tree(program), rng))


@pytest.mark.slow
def test_many_mutated_trees_are_read_or_refused() -> None:
    for seed in range(5000):
        rng = random.Random(seed)
        program = ProgramSampler(rng, compiled=False, direct_tests=False).program(rng.randint(1, 15))
        for _ in range(10):
            read_or_refuse(mutated(program_to_tree(program), rng))


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=5), inner, max_size=3),
    max_leaves=12,
)


@given(JSON)
def test_any_data_is_read_or_refused(tree: object) -> None:
    read_or_refuse(tree)
    read_or_refuse({"alphabet": ["a"], "steps": tree, "output": 0})
    read_or_refuse({"alphabet": ["a"], "steps": [["letter", ["a"]], tree], "output": 0})


def test_symbols_are_names_with_their_bits() -> None:
    """The first of the bits is the output."""
    program = replace(EXAMPLE, output=3, symbols=(("x", 3), ("y", 2), ("none", 12)))
    tree = {**TREE, "output": [["x", 3], ["y", 2], ["none", 12]]}
    assert program_to_tree(program) == tree
    assert program_from_tree(tree) == program
    one = replace(EXAMPLE, output=7, symbols=(("x", 7),))
    assert program_from_tree({**TREE, "output": [["x", 7]]}) == one


@pytest.mark.parametrize(
    ("output", "message"),
    [
        ([], "an output of no symbols"),
        ([["x"]], "not a symbol and its bit"),
        ([["x", 3, 2]], "not a symbol and its bit"),
        ([[3, "x"]], "not a symbol and its bit"),
        ([["x", 3], 2], "not a symbol and its bit"),
        ([["x", "3"]], "integer"),
        ([["x", 3.0]], "integer"),
        ([["x", 3], ["x", 2]], "an output symbol has two bits"),
        ([["x", 3], ["y", 8]], "a count, not a bit"),
    ],
)
def test_other_outputs_are_refused(output: object, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        program_from_tree({**TREE, "output": output})


@pytest.mark.parametrize("read", [[3, 8, 9], [3, 8, 9, 5, 5], [3, 8, 9, None], [3, 5, 9, 5], [8, 8, 9, 5]])
def test_a_nearest_count_reads_two_bits_and_two_counts(read: list[object]) -> None:
    steps = [*TREE["steps"][:-1], ["nearest", "all", "rightmost", *read]]
    with pytest.raises(ValueError):
        program_from_tree({**TREE, "steps": steps})
