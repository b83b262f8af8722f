"""Selections by cases, and shifts over several positions, become steps that have one head each."""

from __future__ import annotations

import pytest

from attemper.attention_program.meaning import output
from attemper.attention_program.ops import Direction, Letter, Program, Shift
from attemper.attention_program.parse import parse_program
from attemper.attention_program.show import show_program
from attemper.compiling.simplifying.move_shifts import move_shifts
from attemper.compiling.simplifying.spell_out import Shared, spell_out
from attemper.languages.words import Alphabet, words_of_length

AB = Alphabet(("a", "b"))
WORDS = [word for n in range(1, 7) for word in words_of_length(AB, n)]


def program_of(*steps: str) -> Program:
    lines = ['letter ["a"]', 'letter ["b"]', *steps]
    numbered = "\n".join(f"s{number} = {line}" for number, line in enumerate(lines))
    return parse_program(f'alphabet ["a", "b"]\n{numbered}\noutput s{len(lines) - 1}')


SPELLED_OUT = {
    "attend <= leftmost where s0:s1 s1:s0 value s0 default 0": """
        s2 = attend <= leftmost where s1 value s0 default 0
        s3 = and s0 s2
        s4 = attend <= leftmost where s0 value s0 default 0
        s5 = and s1 s4
        s6 = union s3 s5
    """,
    "attend < rightmost where s0:s1 value s0 default 1": """
        s2 = attend < rightmost where s1 value s1 default 0
        s3 = and s0 s2
        s4 = not s3
    """,
    "attend <= leftmost where s0:s0 value s1": """
        s2 = place ["number", "1"]
        s3 = attend <= leftmost where s0 value s1
        s4 = and s0 s3
        s5 = attend <= leftmost where s2 value s1
        s6 = and s1 s5
        s7 = union s4 s6
    """,
    "previous 3 s0 default 0": """
        s1 = previous s0 default 0
        s2 = previous s1 default 0
        s3 = previous s2 default 0
    """,
    "next 2 s0 default 1": """
        s1 = next s0 default 0
        s2 = next s1 default 0
        s3 = not s2
    """,
    "previous s0": """
        s1 = previous s0
    """,
    "attend all leftmost where s1 value s0 default 1": """
        s2 = attend all leftmost where s1 value s0 default 1
    """,
}


@pytest.mark.parametrize("step", SPELLED_OUT)
def test_spelled_out(step: str) -> None:
    program = program_of(step)
    after, to = spell_out(program, Shared.NONE)
    shown = [line.strip() for line in SPELLED_OUT[step].strip().splitlines()]
    assert show_program(after).splitlines()[-1 - len(shown) : -1] == shown
    assert to[program.output] == after.output
    for word in WORDS:
        assert output(after, word) == output(program, word), word


@pytest.mark.parametrize("direction", Direction)
@pytest.mark.parametrize("default", [False, True, None])
def test_a_shift_that_is_moved_keeps_its_default(direction: Direction, default: bool | None) -> None:
    """Of the shifts that can be moved, those are that are 0 at the edge."""
    for inner in ("attend <= rightmost where s1 value s0 default 0", "attend >= leftmost where s1 value s0"):
        before = program_of(inner, "not s2")
        for read in (2, 3):
            steps = (*before.steps, Shift(direction, read, default=default))
            program = Program(AB, steps, 4)
            after, _ = move_shifts(program)
            for word in WORDS:
                assert output(after, word) == output(program, word), word


def test_a_distance_is_not_moved_as_if_it_were_one() -> None:
    program = Program(AB, (Letter(("a",)), Shift(Direction.PREVIOUS, 0, 3, default=False)), 1)
    after, _ = move_shifts(program)
    for word in WORDS:
        assert output(after, word) == output(program, word), word
