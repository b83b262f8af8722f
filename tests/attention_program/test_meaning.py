"""What programs mean, by an oracle of its own: cases, distances, defaults and promises."""

from __future__ import annotations

import random
from dataclasses import replace
from functools import cache

import pytest
from hypothesis import given

from attemper.attention_program import meaning
from attemper.attention_program.ops import (
    Attend,
    Cases,
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
from attemper.errors import InternalError
from attemper.exact.closed_forms import FIRST, evaluate
from attemper.exact.predicates import Remainder, Zero, holds
from attemper.languages.words import Alphabet, Word, words_of_length
from tests.support.drawn.nearest import nearest_by_definition, one_nearest
from tests.support.drawn.programs import ProgramSampler, programs

AB = Alphabet(("a", "b"))
WORDS = [word for n in range(1, 5) for word in words_of_length(AB, n)]

Rows = tuple[tuple[int, ...], ...]


class BrokenPromiseError(Exception):
    """Two bits of a union hold together, or two cases of a selection with a default."""


def by_definition(program: Program, word: Word) -> Rows:
    """Every step at every position, each from the sentence that says what it is."""
    n = len(word)

    @cache
    def at(ref: Ref, i: int) -> int:
        match program.steps[ref]:
            case Letter(symbols):
                return 1 if word[i - 1] in symbols else 0
            case Place(form):
                return int(evaluate(form, i, n))
            case Not(bit):
                return 0 if at(bit, i) else 1
            case Gate(connective, bits):
                return gated(connective, [at(bit, i) for bit in bits])
            case Merge(bits):
                return gated(Connective.UNION, [at(bit, i) for bit in bits])
            case Table(bits, rows):
                return 1 if [bool(at(bit, i)) for bit in bits] in [list(row) for row in rows] else 0
            case Attend() as step:
                return selected(step, i)
            case Shift(direction, bit, distance, default):
                j = {Direction.PREVIOUS: i - distance, Direction.NEXT: i + distance}[direction]
                if j in range(1, n + 1):
                    return at(bit, j)
                return at(bit, i) if default is None else int(default)
            case Count(mask, bit):
                return len([j for j in shown(mask, i) if at(bit, j)])
            case Linear(parts, constant):
                return sum([factor * at(count, i) for factor, count in parts], constant)
            case Compare(count, threshold):
                return 1 if at(count, i) >= threshold else 0
            case Equals(count, value):
                return 1 if at(count, i) == value else 0
            case CountTest(predicate, count, scale, shift):
                return 1 if holds(predicate, scale * at(count, i) + shift) else 0

    def shown(mask: Mask, i: int) -> list[int]:
        every = {"<=": i, "<": i - 1}.get(mask, n)
        first = {">=": i, ">": i + 1}.get(mask, 1)
        return list(range(first, every + 1))

    def selected(step: Attend, i: int) -> int:
        seen = shown(step.mask, i)
        forced = [there for here, there in step.cases if here is None or at(here, i) == 1]
        if step.default is None:
            lacking = {j: sum(1 - at(there, j) for there in forced) for j in seen}
            matching = [j for j in seen if lacking[j] == min(lacking.values())]
        elif len(forced) > 1:
            raise BrokenPromiseError
        else:
            matching = [j for j in seen if any(at(there, j) for there in forced)]
        if not matching:
            return 1 if step.default else 0
        return at(step.value, max(matching) if step.choice is Choice.RIGHTMOST else min(matching))

    return tuple(tuple(at(ref, i) for i in range(1, n + 1)) for ref in range(len(program.steps)))


def gated(connective: Connective, bits: list[int]) -> int:
    match connective:
        case Connective.AND:
            return 0 if 0 in bits else 1
        case Connective.OR:
            return 1 if 1 in bits else 0
        case Connective.XOR:
            return bits.count(1) % 2
        case Connective.UNION:
            if bits.count(1) > 1:
                raise BrokenPromiseError
            return bits.count(1)


def assert_same(program: Program, words: list[Word]) -> None:
    for word in words:
        assert meaning.run(program, word) == by_definition(program, word), (word, program)


# Random programs ---------------------------------------------------------------------------------------


@given(programs(compiled=False, direct_tests=False))
def test_programs_mean_what_each_step_says(program: Program) -> None:
    assert_same(program, WORDS)


@pytest.mark.slow
def test_many_programs_mean_what_each_step_says() -> None:
    words = [word for n in range(1, 6) for word in words_of_length(AB, n)]
    for seed in range(3000):
        rng = random.Random(seed)
        sampler = ProgramSampler(rng, compiled=False, direct_tests=False)
        assert_same(sampler.program(rng.randint(5, 25)), words)


def broken(program: Program, rng: random.Random) -> Program:
    """The program with any bits, also of those that do not exclude each other, for all cases and unions."""
    steps = list(program.steps)
    for ref, step in enumerate(steps):
        bits = [k for k in range(ref) if not isinstance(steps[k], Count | Linear)]
        match step:
            case Attend() if step.where is None:
                steps[ref] = replace(step, cases=tuple((rng.choice(bits), there) for _, there in step.cases))
            case Merge(read) | Gate(Connective.UNION, read):
                steps[ref] = replace(step, bits=tuple(rng.choice(bits) for _ in read))
            case _:
                pass
    return replace(program, steps=tuple(steps))


@pytest.mark.sweep(0)
def test_a_promise_that_is_not_kept_is_no_meaning() -> None:
    """Where the oracle meets a broken promise, so does the library; elsewhere they are the same."""
    kept = not_kept = 0
    for seed in range(150):
        rng = random.Random(seed)
        program = broken(ProgramSampler(rng, compiled=False).program(rng.randint(5, 15)), rng)
        for word in WORDS:
            try:
                expected = by_definition(program, word)
            except BrokenPromiseError:
                not_kept += 1
                with pytest.raises(InternalError, match=r"hold together|in force"):
                    meaning.run(program, word)
            else:
                kept += 1
                assert meaning.run(program, word) == expected, (seed, word)
    assert min(kept, not_kept) > 500


# By hand -----------------------------------------------------------------------------------------------

A, B = Letter(("a",)), Letter(("b",))


def output(step: Step, word: str, *before: Step) -> str:
    """The bits of a step after s0 = a and s1 = b."""
    program = Program(AB, (A, B, *before, step), 2 + len(before))
    rows = meaning.run(program, tuple(word))
    assert rows == by_definition(program, tuple(word))
    return "".join(map(str, rows[-1]))


OWN: Cases = ((0, 0), (1, 1))
"""The same symbol as at i."""

SELECTIONS = {
    # The value is [i = 1], so that it is seen whether j = 1 was chosen.
    (Mask.BEFORE, Choice.RIGHTMOST, OWN, False): ("abab", "0010"),
    (Mask.BEFORE, Choice.RIGHTMOST, OWN, True): ("abab", "1110"),
    (Mask.BEFORE, Choice.LEFTMOST, OWN, False): ("aaba", "0101"),
    (Mask.BEFORE, Choice.LEFTMOST, OWN, True): ("aaba", "1111"),
    (Mask.BEFORE, Choice.RIGHTMOST, OWN, None): ("abab", "0110"),
    (Mask.UP_TO, Choice.LEFTMOST, OWN, False): ("abab", "1010"),
    (Mask.ALL, Choice.LEFTMOST, OWN, True): ("abab", "1010"),
    (Mask.AFTER, Choice.RIGHTMOST, OWN, True): ("abb", "101"),
    (Mask.FROM, Choice.LEFTMOST, OWN, False): ("ab", "10"),
    # At a's alone a case is in force: where none is, nothing matches; a head reads the outermost position.
    (Mask.UP_TO, Choice.LEFTMOST, ((0, 0),), False): ("ab", "10"),
    (Mask.UP_TO, Choice.LEFTMOST, ((0, 0),), True): ("ab", "11"),
    (Mask.UP_TO, Choice.LEFTMOST, ((0, 0),), None): ("ab", "11"),
    (Mask.UP_TO, Choice.RIGHTMOST, ((0, 0),), None): ("ab", "10"),
    (Mask.BEFORE, Choice.RIGHTMOST, ((0, 0),), True): ("abb", "111"),
}


@pytest.mark.parametrize("key", SELECTIONS, ids=str)
def test_selections_by_cases(key: tuple[Mask, Choice, Cases, bool | None]) -> None:
    mask, choice, cases, default = key
    word, expected = SELECTIONS[key]
    assert output(Attend(mask, choice, cases, 2, default), word, Place(FIRST)) == expected


def test_two_cases_in_force_mean_nothing_with_a_default() -> None:
    for default in (False, True):
        step = Attend(Mask.UP_TO, Choice.RIGHTMOST, ((0, 0), (0, 1)), 0, default)
        program = Program(AB, (A, B, step), 2)
        assert meaning.run(program, ("b", "b"))[2] == (default, default)
        with pytest.raises(InternalError, match="two cases of a selection are in force at position 2"):
            meaning.run(program, ("b", "a"))


def test_a_head_by_cases_prefers_what_lacks_the_fewest_bits() -> None:
    """At a: an a is looked for, and what is first; where a stands first, both hold at once."""
    step = Attend(Mask.ALL, Choice.RIGHTMOST, ((0, 0), (0, 2)), 2, None)
    assert output(step, "aaa", Place(FIRST)) == "111"
    assert output(step, "baa", Place(FIRST)) == "000"
    assert output(step, "bab", Place(FIRST)) == "000"
    assert output(step, "abb", Place(FIRST)) == "100"


@pytest.mark.parametrize(
    ("step", "expected"),
    [
        (Shift(Direction.PREVIOUS, 0, 1, default=False), "0110"),
        (Shift(Direction.PREVIOUS, 0, 1, default=True), "1110"),
        (Shift(Direction.PREVIOUS, 0, 1, default=None), "1110"),
        (Shift(Direction.PREVIOUS, 0, 2, default=False), "0011"),
        (Shift(Direction.PREVIOUS, 0, 3, default=True), "1111"),
        (Shift(Direction.PREVIOUS, 0, 64, default=False), "0000"),
        (Shift(Direction.NEXT, 0, 1, default=False), "1000"),
        (Shift(Direction.NEXT, 0, 1, default=None), "1000"),
        (Shift(Direction.NEXT, 1, 1, default=None), "0111"),
        (Shift(Direction.NEXT, 0, 2, default=True), "0011"),
    ],
    ids=str,
)
def test_shifts_over_distances(step: Step, expected: str) -> None:
    assert output(step, "aabb") == expected


def test_one_position_has_no_neighbour() -> None:
    for default, bit in ((False, "0"), (True, "1"), (None, "1")):
        assert output(Shift(Direction.PREVIOUS, 0, 1, default), "a") == bit
        seen = "0" if default is None else bit
        assert output(Attend(Mask.BEFORE, Choice.LEFTMOST, everywhere(0), 0, default), "a") == seen


@pytest.mark.parametrize(
    ("step", "word", "expected"),
    [
        (CountTest(Zero(), 2, 1, -2), "aaab", "0100"),
        (CountTest(Zero(), 2, 1, 2), "aaab", "0000"),
        (CountTest(Remainder(3, 1), 2, 2, -1), "aaab", "1000"),
        (CountTest(Remainder(3, 1), 2, 2, 2), "aaab", "1000"),
        (CountTest(Remainder(3, 1), 2, 1, 0), "aaab", "1000"),
        (Compare(2, 2), "aaab", "0111"),
        (Equals(2, 2), "aaab", "0100"),
        (Linear(((2, 2), (-1, 2)), -1), "aaab", "0122"),
        (Table((0, 3), ((True, False),)), "aaab", "0110"),
        (Table((0, 3), ((False, False), (True, True))), "aaab", "1001"),
        (Gate(Connective.XOR, (0, 3, 3)), "aaab", "1110"),
        (Gate(Connective.XOR, (0, 3)), "aaab", "0110"),
        (Gate(Connective.XOR, (0, 0, 0, 3)), "aaab", "0110"),
        (Gate(Connective.AND, (0, 3)), "aaab", "1000"),
        (Gate(Connective.OR, (1, 3)), "aaab", "1001"),
    ],
    ids=str,
)
def test_what_stands_at_the_position(step: Step, word: str, expected: str) -> None:
    """After the number of a's, and the first position."""
    assert output(step, word, Count(Mask.UP_TO, 0), Place(FIRST)) == expected


@pytest.mark.parametrize(
    ("nearest", "word", "expected"),
    [
        (Nearest(Mask.ALL, Choice.LEFTMOST, 1, 2, 2, 3), "baba", "1111"),
        (Nearest(Mask.ALL, Choice.RIGHTMOST, 0, 2, 2, 3), "bbbb", "0000"),
        (Nearest(Mask.ALL, Choice.LEFTMOST, 1, 2, 2, 3), "bbbb", "1111"),
        (Nearest(Mask.ALL, Choice.LEFTMOST, 0, 2, 2, 3), "bbbb", "1111"),
        (Nearest(Mask.UP_TO, Choice.LEFTMOST, 0, 2, 2, 3), "baba", "1000"),
        (Nearest(Mask.FROM, Choice.LEFTMOST, 1, 2, 2, 3), "baba", "1000"),
    ],
    ids=str,
)
def test_the_nearest_count_by_hand(nearest: Nearest, word: str, expected: str) -> None:
    """Of the number of a's, with the value [i = 1]."""
    program = Program(AB, (A, B, Count(Mask.UP_TO, 0), Place(FIRST), nearest), 4)
    assert "".join(map(str, meaning.run(program, tuple(word))[4])) == expected


@pytest.mark.parametrize("seed", range(40))
def test_the_nearest_count_is_that_of_its_definition(seed: int) -> None:
    rng = random.Random(seed)
    sums = [((rng.choice((-1, 0, 1)), rng.choice((-1, 0, 1))), rng.randint(-2, 3)) for _ in range(2)]
    own = rng.choice((Mask.UP_TO, Mask.FROM, Mask.ALL)), rng.choice(tuple(Choice)), *sums
    where, side = rng.choice((("a",), ("b",), (), None)), rng.choice((Mask.UP_TO, Mask.FROM, Mask.ALL))
    program = one_nearest(*own, where=where, side=side)
    for word in WORDS:
        read = nearest_by_definition(*own, where, side, word)
        assert meaning.run(program, word)[-1] == tuple(int(j % 2 == 0) for j in read)


def test_a_symbol_is_one_name_at_every_position() -> None:
    """The first of the bits is the result; where none or two hold, nothing is meant."""
    program = Program(AB, (A, B, Place(FIRST)), 0, (("x", 0), ("y", 1)))
    assert meaning.outputs(program, ("a", "b")) == ((True, False), (False, True))
    assert meaning.output(program, ("a", "b")) == (True, False)
    assert meaning.outputs(replace(program, symbols=()), ("a", "b")) == ((True, False),)
    for symbols, word in (
        ((("x", 0),), "ab"),
        ((("x", 1),), "aba"),
        ((("x", 0), ("y", 1), ("z", 2)), "ab"),
        ((("x", 0), ("y", 2)), "aa"),
        ((("x", 0), ("y", 2)), "bb"),
        ((("x", 0), ("y", 0)), "aa"),
    ):
        with pytest.raises(InternalError, match="not exactly one symbol"):
            meaning.outputs(replace(program, symbols=symbols), tuple(word))
