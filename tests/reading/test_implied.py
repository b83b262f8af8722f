"""Selections that always find what they read: their formulas say nothing of where nothing is found."""

from __future__ import annotations

from itertools import product

import pytest

from attemper.attention_program.machine import output
from attemper.attention_program.parse import parse_program
from attemper.compiling.lowering.program_to_formula import program_to_formula
from attemper.languages.temporal.meaning import truth
from attemper.reading.implied import sure_selections

STEPS = """alphabet ["a", "b", "c"]
s0 = letter ["a"]
s1 = letter ["a", "b"]
s2 = letter ["c"]
s3 = count <= s0
s4 = count <= s2
s5 = linear 1 s3 -1 s4 0
s6 = compare s5 >= 1
s7 = compare s5 >= 2
s8 = not s7
s9 = and s6 s8
s10 = attend {mask} {choice} where s{where} value s{value}
s11 = not s6
s12 = or s11 s7
s13 = and s0 s12
s14 = or s10 s13
output s14
"""

WAYS = [
    ("<=", "rightmost", 1, 0, True),
    ("<=", "leftmost", 6, 7, True),
    ("<", "rightmost", 6, 9, True),
    ("<=", "rightmost", 0, 1, False),
    ("<=", "leftmost", 7, 6, False),
    ("<", "leftmost", 9, 2, False),
    ("<=", "rightmost", 9, 9, True),
]


@pytest.mark.parametrize(("mask", "choice", "where", "value", "is_sure"), WAYS)
def test_the_formula_says_what_the_program_puts_out(
    mask: str, choice: str, where: int, value: int, *, is_sure: bool
) -> None:
    program = parse_program(STEPS.format(mask=mask, choice=choice, where=where, value=value))
    sure = sure_selections(program)
    assert sure == (frozenset({10}) if is_sure else frozenset())
    for formula in (program_to_formula(program, sure), program_to_formula(program)):
        for word in product("abc", repeat=5):
            assert truth(formula, word) == output(program, word), (word, formula)


def test_none_is_sure_where_a_step_has_no_diagram() -> None:
    text = STEPS.format(mask="<=", choice="rightmost", where=1, value=0)
    program = parse_program(text.replace("output", 's15 = place ["number", "2"]\ns16 = and s14 s15\noutput'))
    assert sure_selections(program) == {10}, "what nobody selects by is not looked at"
    text = text.replace('s1 = letter ["a", "b"]', 's1 = place ["number", "2"]')
    assert sure_selections(parse_program(text)) == frozenset()
