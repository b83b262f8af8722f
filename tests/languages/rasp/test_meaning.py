"""What a text says is what its program computes, by a reading that shares nothing with the lowering."""

from __future__ import annotations

import random

import pytest

from attemper.attention_program.meaning import run
from attemper.attention_program.ops import Attend, Nearest
from attemper.attention_program.wellformed import complaints
from attemper.errors import UnsupportedError
from attemper.languages.rasp.parse import parse_source
from attemper.languages.rasp.program import RaspProgram, parse_rasp
from attemper.languages.rasp.show import show
from tests.support.judges.rasp import RaspMeaning, RaspSampler, words_to


def assert_means_what_it_says(found: RaspProgram, longest: int) -> None:
    assert not complaints(found.program)
    for word in words_to(found.program.alphabet, longest):
        rows = run(found.program, word)
        meaning = RaspMeaning(found.source, word)
        for i, value in enumerate(meaning.outputs()):
            if isinstance(value, str):
                assert {name for name, bit in found.program.symbols if rows[bit][i]} == {value}, word
            else:
                assert rows[found.program.output][i] == value, word
        for ref, called in found.names.items():
            name, _, symbol = called.partition(" = ")
            for i in range(1, len(word) + 1):
                value = meaning.named(name, i)
                assert rows[ref][i - 1] == (value == symbol if symbol else value), (called, word)


def sampled(seed: int) -> RaspProgram | None:
    """A random source, shown and read; None where it has more cases or branches than are built."""
    rng = random.Random(seed)
    sampler = RaspSampler(rng, rng.choice(("ab", "ab", "abc")))
    source = sampler.source(rng.randrange(5))
    text = show(source)
    assert parse_source(text) == source, text
    assert show(parse_source(text)) == text
    try:
        return parse_rasp(text)
    except UnsupportedError as error:
        if "too many" in str(error) or "cases, and " in str(error):
            return None
        raise


def assert_samples_agree(seeds: range, refused: int) -> None:
    found = [sampled(seed) for seed in seeds]
    programs = [program for program in found if program is not None]
    assert len(found) - len(programs) <= refused
    by_cases = nearest = 0
    for program in programs:
        longest = 5 if len(program.program.alphabet.symbols) == 2 else 4
        assert_means_what_it_says(program, longest)
        nearest += any(isinstance(step, Nearest) for step in program.program.steps)
        by_cases += any(isinstance(step, Attend) and step.where is None for step in program.program.steps)
    assert by_cases > len(seeds) // 10
    assert nearest > len(seeds) // 10


@pytest.mark.sweep(0)
def test_random_sources_mean_what_they_say() -> None:
    assert_samples_agree(range(150), refused=15)


@pytest.mark.slow
def test_many_random_sources_mean_what_they_say() -> None:
    assert_samples_agree(range(1_000, 3_000), refused=200)
