"""Integers at j < i, and Integers of cases that are one sum: drawn texts mean what they say."""

from __future__ import annotations

import random
from collections.abc import Sequence

import pytest

from attemper.attention_program.ops import Choice, Count, Direction, Mask, Matched, Nearest, Shift
from attemper.errors import UnsupportedError
from attemper.languages.rasp import syntax
from attemper.languages.rasp.parse import parse_source
from attemper.languages.rasp.program import RaspProgram, parse_rasp
from attemper.languages.rasp.show import show
from attemper.languages.rasp.syntax import Applied, Conditional, Index, Number, Sum
from tests.languages.rasp.test_meaning import assert_means_what_it_says
from tests.support.judges.rasp import RaspSampler
from tests.support.suites import Few

STRICT = (Mask.BEFORE, Mask.AFTER)


def with_cases(sampler: RaspSampler) -> syntax.Expression:
    """An Integer of two cases that differ by a number, as far as one position sees."""
    integer, rng = sampler._at_most_n(), sampler.rng
    here: syntax.Expression = syntax.In(("a",))
    if rng.random() < 0.5:
        here = syntax.Shifted(Direction.PREVIOUS, 1, here, None)
    numbers = [Number(rng.randrange(3)) for _ in range(2)]
    if rng.random() < 0.5:
        return Sum((integer, Conditional(here, *numbers)))
    return Conditional(here, *(Sum((integer, number)) for number in numbers))


def drawn(seed: int) -> RaspProgram | None:
    """One attention to an Integer of cases, under any mask; None where heads cannot compare it."""
    rng = random.Random(seed)
    sampler = RaspSampler(rng)
    key = with_cases(sampler)
    query = key if rng.random() < 0.5 else sampler._at_most_n()
    sides = Applied(key, Index.THERE), Applied(query, Index.HERE)
    mask, choice, body = rng.choice((*STRICT, *Mask)), rng.choice(list(Choice)), sampler.bit(1)
    default = syntax.Truth(rng.random() < 0.5)
    condition = sampler.condition(1, tuple(Index)) if rng.random() < 0.6 else None
    output: syntax.Expression
    if rng.random() < 0.5:
        otherwise = default if mask.is_strict else None
        output = syntax.Nearest(choice, mask, condition, *sides, body, otherwise)
    else:
        equal: syntax.Expression = syntax.Comparison(syntax.Relation.EQUAL, *sides)
        if condition is not None:
            equal = syntax.Joined(syntax.Join.AND, (equal, condition))
        output = syntax.Selection(choice, mask, equal, body, default)
    source = syntax.ProgramText(sampler.alphabet, False, (), output)
    assert parse_source(show(source)) == source
    try:
        return parse_rasp(show(source))
    except UnsupportedError as error:
        if any(said in str(error) for said in ("may exceed n", "more than one side", "cases, and ")):
            return None
        raise


def assert_drawn_texts_agree(seeds: Sequence[int], longest: int) -> None:
    found = [program for program in map(drawn, seeds) if program is not None]
    assert len(found) > len(seeds) // 3
    for program in found:
        assert_means_what_it_says(program, longest)
    steps = [step for program in found for step in program.program.steps]
    for kind in (Nearest, Matched, Shift):
        assert sum(isinstance(step, kind) for step in steps) > len(found) // 4


def test_strict_masks_and_cases_mean_what_is_said(few: Few) -> None:
    assert_drawn_texts_agree(few(range(60), 12), 3)


@pytest.mark.slow
def test_many_strict_masks_and_cases_mean_what_is_said() -> None:
    assert_drawn_texts_agree(range(1_000, 3_000), 5)


@pytest.mark.parametrize(
    "output",
    [
        "nearest leftmost[j < i : p(j), d(j) ~ 1] !p else false",
        "nearest rightmost[j > i : p(j), e(j) ~ 1] !p else true",
        "nearest leftmost[j < i : p(j), e(j) ~ k(i)] !p else true",
        "nearest leftmost[j < i : !p(j), (count[j > i] p)(j) ~ 2] p else true",
        "rightmost[j < i : (k - k)(j) = (k - 1)(i)] true else false",
        "leftmost[j > i : e(j) = d(i)] p else true",
    ],
)
def test_the_ends_of_words_mean_what_is_said(output: str) -> None:
    head = "alphabet a b\nempty reject\np = in 'a'\nk = count[j <= i] p\nd = pos\ne = len + 1 - pos\n"
    assert_means_what_it_says(parse_rasp(f"{head}output {output}"), 6)


HEAD = """alphabet ( [ ) ]
empty reject
left = in '(' '['
right = in ')' ']'
up = count[j <= i] left
down = count[j <= i] right
"""


@pytest.mark.parametrize(
    "depth",
    [
        "count[j <= i] left - count[j < i] right",
        "left ? up - down : up - down + 1",
        "right ? up - down + 1 : up - down",
        "up - down + (right ? 1 : 0)",
        "!left ? 1 - down + up : up - down",
    ],
)
def test_one_depth_is_one_sum_however_it_is_written(depth: str) -> None:
    """What is counted at the neighbour: brackets before it, and what closes before that."""
    found = parse_rasp(f"{HEAD}d = {depth}\noutput some[j < i : d(j) = d(i)]")
    assert sum(isinstance(step, Matched) for step in found.program.steps) == 2
    assert sum(isinstance(step, Count) for step in found.program.steps) == 4


@pytest.mark.parametrize(
    ("mask", "there"),
    [("j < i", "j <= i"), ("j > i", "j >= i"), ("j <= i", "j <= i"), ("all", "all")],
)
def test_heads_that_compare_integers_see_i(mask: str, there: str) -> None:
    text = f"{HEAD}output nearest leftmost[{mask} : up(j) ~ down(i)] left{' else true' * (mask != there)}"
    found = parse_rasp(text)
    (nearest,) = (step for step in found.program.steps if isinstance(step, Nearest))
    assert (there == "all" and nearest.mask is Mask.ALL) or f"j {nearest.mask} i" == there
    assert any(isinstance(step, Shift) for step in found.program.steps) == (mask != there)
