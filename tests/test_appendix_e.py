"""DYCK-2 by the program of Appendix E of Yang et al., typed line by line: proved, and right at every prefix.

The oracle is below: it takes brackets off a stack, and shares nothing with what is tested.
"""

from __future__ import annotations

import random
from collections.abc import Iterable
from functools import cache
from itertools import product

import pytest

import attemper
from attemper.checker.proof import prove
from attemper.checker.verdict import Status
from attemper.languages.named.entry import Rasp, RegimeName
from attemper.languages.named.zoo import language_named
from tests.languages.rasp.test_page import PROGRAMS

CLOSING = {"(": ")", "[": "]"}

OTHER_LINES = {
    "nearest": ("rightmost[j < i : depth(j) = depth(i)]", "nearest rightmost[j < i : depth(j) ~ depth(i)]"),
    "a sum": ("left ? sumleft - sumright : sumleft - sumright + 1", "sumleft - sumright + (right ? 1 : 0)"),
    "errors": ("ok        = every[j <= i] !error", "ok        = count[j <= i] error = 0"),
}
"""Lines of the program, and how they can be written, too."""


def is_balanced(word: str) -> bool:
    open_brackets: list[str] = []
    for symbol in word:
        if symbol in CLOSING:
            open_brackets.append(symbol)
        elif not open_brackets or CLOSING[open_brackets.pop()] != symbol:
            return False
    return not open_brackets


def balanced_word(draw: random.Random, length: int, deepest: int) -> str:
    """A balanced word of that even length, at most so deep."""
    word, due = "", ""
    while len(word) + len(due) < length:
        if due and (len(due) == deepest or draw.random() < 0.4):
            word, due = word + due[0], due[1:]
        else:
            symbol = draw.choice("([")
            word, due = word + symbol, CLOSING[symbol] + due
    return word + due


def words_of_brackets(count: int) -> list[str]:
    """Random words to 200 symbols, nested to the depth 20, every second one with a symbol exchanged."""
    words: list[str] = []
    for seed in range(count):
        draw = random.Random(seed)
        word = balanced_word(draw, 2 * draw.randrange(60, 101), 20)
        place = draw.randrange(len(word))
        words.append(word if seed % 2 else word[:place] + draw.choice("()[]") + word[place + 1 :])
    return words


def depth_of(word: str) -> int:
    depths = [0]
    for symbol in word:
        depths.append(depths[-1] + (1 if symbol in CLOSING else -1))
    return max(depths)


def assert_right_at_every_prefix(model: attemper.Model, words: Iterable[str]) -> None:
    for run in model.run(list(words)):
        prefixes = (run.word[:length] for length in range(1, len(run.word) + 1))
        assert tuple(map(bool, run.outputs)) == tuple(is_balanced("".join(one)) for one in prefixes), run.word


@cache
def network(regime: RegimeName) -> attemper.Model:
    return attemper.compile("zoo:dyck-2-appendix-e", regime=regime)


def test_the_page_has_the_program_of_the_zoo() -> None:
    source = language_named("dyck-2-appendix-e").source
    assert isinstance(source, Rasp)
    assert PROGRAMS["appendix_e"].split("\n", 1)[1] == source.text


@pytest.mark.sweep(1)
@pytest.mark.parametrize("regime", ["unbounded", "temperature"])
def test_it_is_proved_and_right_at_every_prefix(regime: RegimeName) -> None:
    model = network(regime)
    assert model.realisation is not None
    prove(model.network, model.language.definition, model.realisation)
    assert_right_at_every_prefix(
        model, ("".join(word) for n in (1, 2, 3, 4) for word in product("()[]", repeat=n))
    )
    assert_right_at_every_prefix(model, words_of_brackets(8))


@pytest.mark.sweep(1)
@pytest.mark.parametrize("other", OTHER_LINES)
def test_lines_can_be_written_otherwise(other: str) -> None:
    line, written = OTHER_LINES[other]
    text = PROGRAMS["appendix_e"]
    assert line in text
    model = attemper.compile(attemper.program(text.replace(line, written)))
    assert model.realisation is not None
    prove(model.network, model.language.definition, model.realisation)
    assert_right_at_every_prefix(model, words_of_brackets(8))


def test_a_wrong_line_is_found() -> None:
    """Without what its depth says of right brackets, the program is another one."""
    text = PROGRAMS["appendix_e"].replace("sumleft - sumright + 1", "sumleft - sumright")
    model = attemper.compile(attemper.program(text))
    with pytest.raises(AssertionError):
        assert_right_at_every_prefix(model, ["()"])


@pytest.mark.slow
@pytest.mark.parametrize("regime", ["unbounded", "temperature"])
def test_it_is_right_on_all_words_of_eight_symbols_and_on_long_ones(regime: RegimeName) -> None:
    model = network(regime)
    assert model.check(model.certify()).status is Status.PROVED
    for n in range(1, 9):
        assert_right_at_every_prefix(model, map("".join, product("()[]", repeat=n)))
    words = words_of_brackets(200)
    assert max(depth_of(word) for word in words if is_balanced(word)) == 20
    assert max(map(len, words)) == 200
    assert sum(map(is_balanced, words)) >= 100
    assert_right_at_every_prefix(model, words)
