"""Equal Integers at i and j: drawn texts mean what they say, and whatever no head finds is refused."""

from __future__ import annotations

import random

import pytest

from attemper.attention_program.ops import Attend, Choice, Count, Mask, Matched
from attemper.errors import AttemperError, SourceError, UnsupportedError
from attemper.languages.rasp.parse import parse_source
from attemper.languages.rasp.program import RaspProgram, parse_rasp
from attemper.languages.rasp.show import show
from attemper.languages.rasp.syntax import (
    Applied,
    Comparison,
    Conditional,
    Expression,
    Index,
    Join,
    Joined,
    Number,
    ProgramText,
    Quantified,
    Quantifier,
    Relation,
    Selection,
    Sum,
    Truth,
)
from tests.languages.rasp.test_meaning import assert_means_what_it_says
from tests.support.judges.rasp import RaspSampler


def drawn(seed: int) -> RaspProgram | None:
    """One attention that asks for equal Integers, shown and read; None if its cases are too many."""
    rng = random.Random(seed)
    sampler = RaspSampler(rng)
    key, query = sampler._at_most_n(), sampler._at_most_n()
    if rng.random() < 0.3:
        query = Conditional(sampler.bit(0), query, Sum((sampler._at_most_n(), Number(rng.randrange(3)))))
    sides: list[Expression] = [Applied(key, Index.THERE), Applied(query, Index.HERE)]
    rng.shuffle(sides)
    condition: Expression = Comparison(Relation.EQUAL, sides[0], sides[1])
    if rng.random() < 0.6:
        parts = [condition, sampler.condition(1, tuple(Index))]
        rng.shuffle(parts)
        condition = Joined(Join.AND, tuple(parts))
    mask, body = rng.choice(list(Mask)), sampler.bit(1)
    quantifier = rng.choice((Quantifier.SOME, Quantifier.EVERY))
    choice, default = rng.choice(list(Choice)), Truth(rng.random() < 0.5)
    output = rng.choice(
        (
            Selection(choice, mask, condition, body, default),
            Selection(choice, mask, condition, body, default),
            Quantified(quantifier, mask, condition, body),
        )
    )
    source = ProgramText(sampler.alphabet, False, (), output)
    assert parse_source(show(source)) == source
    try:
        return parse_rasp(show(source))
    except UnsupportedError as error:
        if "cases" in str(error):
            return None
        raise


def assert_drawn_texts_agree(seeds: range, longest: int) -> None:
    found = [program for program in map(drawn, seeds) if program is not None]
    assert len(found) > len(seeds) // 2
    for program in found:
        assert_means_what_it_says(program, longest)
    steps = [step for program in found for step in program.program.steps]
    assert sum(isinstance(step, Matched) for step in steps) > len(found)


def test_equal_integers_mean_what_is_said() -> None:
    assert_drawn_texts_agree(range(16), 4)


@pytest.mark.slow
def test_many_equal_integers_mean_what_is_said() -> None:
    assert_drawn_texts_agree(range(1_000, 3_000), 5)


HEAD = """alphabet a b
empty reject
p = in 'a'
d = pos
x = count[j <= i] p - count[j <= i] !p
k = count[j <= i] p
"""


def steps_of(output: str) -> list[int]:
    """How many steps say whether integers are equal, and how many selections look for 0."""
    steps = parse_rasp(f"{HEAD}output {output}").program.steps
    return [sum(isinstance(step, kind) for step in steps) for kind in (Matched, Attend)]


@pytest.mark.parametrize(
    ("output", "matched", "zeros"),
    [
        ("some[all : d(j) = x(i)]", 1, 0),
        ("some[all : -pos(j) = x(i)]", 1, 0),
        ("some[all : k(j) = x(i)]", 1, 1),
        ("some[all : x(j) = x(i)]", 2, 1),
        ("some[all : (count[j < i] p)(j) = d(i)]", 1, 1),
        ("some[all : (count[j < i] true)(j) = d(i)]", 1, 0),
        ("some[all : symbol(i) = symbol(j) & d(j) = k(i)]", 2, 0),
        ("some[all : 3(j) = k(i)]", 0, 0),
    ],
)
def test_integers_have_heads_for_the_signs_that_they_can_have(output: str, matched: int, zeros: int) -> None:
    assert steps_of(output) == [matched, zeros]


def test_a_query_is_compared_with_the_length_only_if_something_is_added() -> None:
    for output, expected in (("d(j) = k(i)", False), ("d(j) = (k - 1)(i)", False), ("d(j) = k(i) + 1", True)):
        program = parse_rasp(f"{HEAD}output some[all : {output}]").program
        lengths = [step for step in program.steps if isinstance(step, Count) and step.mask is Mask.ALL]
        assert bool(lengths) is expected


def refused(output: str) -> AttemperError:
    with pytest.raises((SourceError, UnsupportedError)) as caught:
        parse_rasp(f"{HEAD}output {output}")
    return caught.value


@pytest.mark.parametrize(
    ("output", "column", "said"),
    [
        ("some[j <= i : d(j) = d(i) & k(j) = k(i)]", 36, "stands once in brackets"),
        ("some[j <= i : d(j) - d(i) = 0(j)]", 22, "stands on one side of '='"),
        ("some[j <= i : !(d(j) = d(i))]", 24, "not under ! or |"),
        ("some[j <= i : d(j) = d(i) | p(j)]", 22, "not under ! or |"),
        ("some[j <= i : d(j) < d(i)]", 22, "no other comparison of the two is built"),
        ("some[j <= i : d(j) != d(i)]", 22, "no other comparison of the two is built"),
        ("every[j <= i : d(j) = d(i)]", 23, "not under ! or |"),
        ("count[j <= i : d(j) = d(i)] > 2", 23, "not under ! or |"),
        ("nearest rightmost[all : d(j) = d(i), d(j) ~ d(i)] p", 32, "not under ! or |"),
        ("some[all : (2 * d)(j) = d(i)]", 19, "'(2 * d)(j)' may exceed n"),
        ("some[all : (d + k)(i) = d(j)]", 19, "'(d + k)(i)' counts on more than|'(d + k)(i)' may exceed n"),
        ("some[all : abs(d(j) - 3) = d(i)]", 19, "distinguishes cases"),
        (
            "some[all : x(j) = d(i)"
            + "".join(f" & (d(i) % {k} = 1 -> (previous({k}) p)(j))" for k in (2, 3, 5, 7, 11))
            + "]",
            8,
            "this has 96 cases, and equal Integers take heads for each: at most 60",
        ),
        ("rightmost[all : d(j) = d(i)] p", 37, "else"),
        ("rightmost[all : d(j) = d(i)] d else 0", 37, "Integers that 'rightmost' fetches"),
    ],
)
def test_what_no_head_finds_is_refused(output: str, column: int, said: str) -> None:
    error = refused(output)
    assert any(one in str(error) for one in said.split("|"))
    assert (error.details["line"], error.details["column"]) == (7, column)
