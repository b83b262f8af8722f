"""What single passes make of small formulas, as program text. Read a changed expectation with care."""

from __future__ import annotations

import pytest

from attemper.attention_program.show import show_program
from attemper.compiling.pipeline import compile_language
from attemper.languages.temporal.parse import parse
from attemper.languages.temporal.reading import At, TemporalLanguage
from attemper.languages.words import Alphabet
from attemper.networks.regime import Regime

AB = Alphabet(("a", "b"))
NOT_FIRST = 'place ["sum", [["number", "1"], ["product", [["number", "-1"], ["test", ["zero"], 1, 0, -1]]]]]'

SIMPLIFIED = {
    "H (a -> Y b)": """
        s0 = letter ["a"]
        s1 = letter ["b"]
        s2 = previous s1 default 0
        s3 = not s2
        s4 = and s0 s3
        s5 = attend <= rightmost where s4 value s4 default 0
        s6 = not s5
        output s6
    """,
    "#<[a] > 2*#<[b] + #<[a & b]": """
        s0 = letter ["a"]
        s1 = letter ["b"]
        s2 = count <= s0
        s3 = count <= s1
        s4 = linear 1 s2 -2 s3 0
        s5 = compare s4 >= 1
        output s5
    """,
    "!!(a | true) & (b xor b)": """
        s0 = place ["number", "0"]
        output s0
    """,
    "a S a | !(!b & a)": """
        s0 = place ["number", "1"]
        output s0
    """,
}
GUARDED = {
    "Y b": f"""
        s0 = letter ["b"]
        s1 = {NOT_FIRST}
        s2 = previous s0
        s3 = and s1 s2
        output s3
    """,
    "4*#[a] == 2*#<[b] + 6": """
        s0 = letter ["a"]
        s1 = letter ["b"]
        s2 = count all s0
        s3 = count <= s1
        s4 = linear 2 s2 -1 s3 0
        s5 = equals s4 = 3
        output s5
    """,
    "O (a & first)": """
        s0 = letter ["a"]
        s1 = place ["test", ["zero"], 1, 0, -1]
        s2 = and s0 s1
        s3 = attend <= rightmost where s2 value s0
        s4 = attend <= rightmost where s2 value s1
        s5 = and s3 s4
        output s5
    """,
}


def expected(lines: str) -> str:
    steps = "\n".join(line.strip() for line in lines.strip().splitlines())
    return f'alphabet ["a", "b"]\n{steps}\n'


@pytest.mark.parametrize("text", SIMPLIFIED)
def test_simplified(text: str) -> None:
    language = TemporalLanguage(parse(text, AB), At.LAST, False)
    program = compile_language(language, AB, Regime.UNBOUNDED).program
    assert show_program(program) == expected(SIMPLIFIED[text])


@pytest.mark.parametrize("text", GUARDED)
def test_guarded(text: str) -> None:
    language = TemporalLanguage(parse(text, AB), At.LAST, False)
    program = compile_language(language, AB, Regime.UNBOUNDED).guarded
    assert show_program(program) == expected(GUARDED[text])
