"""Words by which a total seems to rise and fall without end: what is said of them is what formulas mean."""

from __future__ import annotations

import pytest

import attemper
from attemper.attention_program.ops import Program
from attemper.attention_program.parse import parse_program
from attemper.languages.temporal.meaning import truth
from attemper.languages.temporal.parse import parse
from attemper.languages.words import Alphabet, Word
from attemper.reading.endless import WORK, RepeatedWords, endless
from attemper.reading.networks import program_of
from tests.support.drawn.counting import ENDLESS, REGULAR


def program(text: str, symbols: str) -> Program:
    return program_of(attemper.compile(text, symbols, at="last").network).program


def read(words: RepeatedWords, symbols: int) -> Word:
    """Each word again and again, so many symbols of each."""
    return tuple(symbol for word in words for symbol in (word * symbols)[:symbols])


@pytest.mark.sweep(6)
@pytest.mark.parametrize(("text", "symbols"), ENDLESS)
def test_answers_part_where_it_is_said_and_nowhere_before(text: str, symbols: str) -> None:
    """By the meaning of the formula, which the network is compiled from, at every symbol."""
    found = endless(program(text, symbols))
    assert found is not None
    formula = parse(text, Alphabet(tuple(symbols)))
    down = read((found.down,), found.second)
    answers = []
    for times in (1, 2, 3):
        up = read(found.blocks, times * found.length)
        answers.append(truth(formula, up + down)[len(up) :])
    once, twice, thrice = answers
    for shorter, longer, parted in ((once, twice, found.first), (twice, thrice, found.second)):
        assert shorter[: parted - 1] == longer[: parted - 1]
        assert shorter[parted - 1] != longer[parted - 1]
    assert found.first < found.second
    for times in (1, 2, 3):
        assert f"^{times * found.length // len(found.blocks[0])} " in str(found)


@pytest.mark.sweep(3)
@pytest.mark.parametrize("text", [*REGULAR, "#<[a] == #<[b] & #<[a] <= 5"])
def test_a_regular_language_is_never_thought_endless(text: str) -> None:
    assert endless(program(text, "ab")) is None


COUNTS = """alphabet ["a", "b"]
s0 = letter ["a"]
s1 = letter ["b"]
s2 = count <= s0
s3 = count <= s1
s4 = linear {0} s2 {1} s3 0
s5 = compare s4 >= {2}
output s5
"""


@pytest.mark.parametrize(
    ("factors", "is_endless"),
    [((1, -1, 0), True), ((1, -1, 9), True), ((1, 2, 3), False), ((1, -1, WORK), False)],
)
def test_what_only_rises_or_would_take_too_long_is_not_tried(
    factors: tuple[int, int, int], is_endless: bool
) -> None:
    """None says that nothing was met, whatever the language is."""
    assert (endless(parse_program(COUNTS.format(*factors))) is not None) is is_endless
