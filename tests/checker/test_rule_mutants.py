"""Mutants of networks and programs over selections by cases, distances, integers, symbols and defaults.

What the checker proves of a changed network or of a changed program must be true: the network runs in
float64 beside the program's definition, on all short words and on a few longer ones.
"""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import lru_cache
from itertools import product
from typing import Any

import numpy as np
import pytest
import torch

from attemper.attention_program import meaning, wellformed
from attemper.attention_program.builder import prune
from attemper.attention_program.language import ProgramLanguage
from attemper.attention_program.ops import Choice, Mask, Program
from attemper.attention_program.parse import parse_program
from attemper.checker.names import UnprovenError
from attemper.checker.proof import prove
from attemper.compiling.pipeline import compile_language
from attemper.compiling.regimes import Regime
from attemper.errors import InternalError, UnsupportedError
from attemper.languages.temporal.reading import At
from attemper.languages.words import Word
from attemper.networks.layers import Network
from attemper.networks.wellformed import complaints
from attemper.running.dense import DenseTransformer
from tests.support.mutants import gentle_mutant, random_network_mutant
from tests.support.nearest import one_nearest, palindromes, reversed_bit
from tests.support.programs import ProgramSampler
from tests.support.realisations import program_mutants
from tests.support.rule_mutants import rule_mutants

LETTERS = """alphabet ["a", "b", "c"]
s0 = letter ["a"]
s1 = letter ["b"]
s2 = letter ["c"]
s3 = place ["test", ["mod", 2, 0], 1, 0, 0]
s4 = place ["test", ["mod", 2, 1], 1, 0, 0]
"""

TEXTS = {
    "cases by letters": "s5 = attend < rightmost where s0:s0 s1:s1 s2:s2 value s3 default 0",
    "two cases, else 1": "s5 = attend all leftmost where s0:s1 s2:s0 value s3 default 1",
    "cases by places": "s5 = attend >= leftmost where s3:s0 s4:s1 value s2 default 1",
    "cases of what is computed": (
        "s5 = previous 2 s0 default 1\ns6 = not s5\n"
        "s7 = attend > leftmost where s5:s1 s6:s0 value s3 default 0"
    ),
    "three before": "s5 = previous 3 s0 default 1",
    "two ahead": "s5 = next 2 s1 default 0",
    "a count of what is far": (
        "s5 = previous 2 s0 default 1\ns6 = count <= s5\ns7 = count < s1\ns8 = linear 1 s6 -1 s7 0\n"
        "s9 = compare s8 >= 0"
    ),
    "as heads do": "s5 = previous s0\ns6 = attend < leftmost where s0:s5 s1:s2 value s0",
}

SYMBOLS = {
    "a symbol before": (
        "s5 = previous s0 default 0\ns6 = previous s1 default 0\ns7 = previous s2 default 0\n"
        "s8 = or s5 s6 s7\ns9 = not s8",
        (("a", 5), ("b", 6), ("c", 7), ("none", 9)),
    ),
    "a parity": (
        "s5 = attend < rightmost where s0 value s3 default 0\ns6 = not s5",
        (("odd", 6), ("even", 5)),
    ),
}

COUNTS = {
    "nearest": one_nearest(Mask.ALL, Choice.RIGHTMOST, ((1, -1), 1), ((-1, 1), 0), ("a",)),
    "nearest before": one_nearest(Mask.UP_TO, Choice.LEFTMOST, ((1, 0), 0), ((0, 1), 1), None),
    "nearest behind": one_nearest(Mask.FROM, Choice.RIGHTMOST, ((0, 1), 2), ((1, 1), -1), side=Mask.FROM),
    "reversed": reversed_bit(),
    "palindromes": palindromes(),
}

DRAWN = {f"drawn {seed}": seed for seed in range(12)}

LONG = (9, 17, 33)


def program_of(name: str) -> Program:
    """The program of that name; the output of a text is its last step."""
    if name in COUNTS:
        return COUNTS[name]
    if name in DRAWN:
        rng = random.Random(name)
        return prune(ProgramSampler(rng).program(rng.randint(4, 10)))[0]
    text, symbols = SYMBOLS[name] if name in SYMBOLS else (TEXTS[name], ())
    program = parse_program(f"{LETTERS}{text}\noutput s{5 + text.count(chr(10))}")
    return replace(program, symbols=symbols, output=symbols[0][1]) if symbols else program


def language_of(program: Program) -> ProgramLanguage:
    return ProgramLanguage(program, At.LAST, accepts_empty=False)


@lru_cache
def networks_of(name: str) -> tuple[Network, ...]:
    """The network of each regime that can run the program, and for which it is proved."""
    language, found = language_of(program_of(name)), []
    for regime in Regime:
        try:
            network = compile_language(language, language.program.alphabet, regime).soft
        except UnsupportedError:
            continue
        if is_proved(network, language.program):
            found.append(network)
    return tuple(found)


def is_proved(network: Network, program: Program) -> bool:
    try:
        prove(network, language_of(program))
    except UnprovenError:
        return False
    return True


@lru_cache
def words_over(symbols: tuple[str, ...]) -> tuple[tuple[Word, ...], ...]:
    """Words side by side, by their length: all short ones, and of each longer length a few."""
    rng = random.Random(1)
    short = (tuple(product(symbols, repeat=n)) for n in range(1, 7 if len(symbols) == 2 else 5))
    weights = [[rng.choice((1, 1, 4)) for _ in symbols] for _ in range(4)]
    long = (tuple(tuple(rng.choices(symbols, own, k=n)) for own in weights) for n in LONG)
    return (*short, *long)


@lru_cache(maxsize=1 << 12)
def meant(program: Program) -> tuple[Any, ...] | None:
    """What the program puts out, [word, position, output], for each length; None if it breaks a promise."""
    found = []
    for words in words_over(program.alphabet.symbols):
        try:
            rows = [meaning.run(program, word) for word in words]
        except InternalError:
            return None
        found.append(np.array([[row[ref] for ref in program.outputs] for row in rows]).swapaxes(1, 2))
        if program.symbols and (found[-1].sum(axis=2) != 1).any():
            return None
    return tuple(found)


def wrong_word(network: Network, program: Program) -> Word | None:
    """A word on which an output is further than 1/4 from what is meant; the empty word for anything else."""
    rows = meant(program)
    if rows is None or [name for name, _ in network.symbols] != [name for name, _ in program.symbols]:
        return ()
    symbols, model = program.alphabet.symbols, DenseTransformer(network)
    for words, expected in zip(words_over(symbols), rows, strict=True):
        tokens = torch.tensor([[symbols.index(symbol) for symbol in word] for word in words])
        found = model(tokens).reshape(expected.shape).numpy()
        bad = ~(np.abs(found - expected) <= 0.25)
        if bad.any():
            return words[int(bad.any(axis=(1, 2)).argmax())]
    return None


# Mutants -----------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Changed:
    """A network, and the program that it is said to run."""

    name: str
    network: Network
    program: Program


def mutants(name: str, network: Network, rng: random.Random, count: int) -> Iterator[Changed]:
    """So many mutants of each kind: of the network, of the program, of both."""
    program, networks = program_of(name), list(rule_mutants(network, rng))
    programs = list(program_mutants(program))
    for what, own in rng.sample(networks, min(count, len(networks))):
        yield Changed(what, own, program)
    for what, said in rng.sample(programs, min(count // 2, len(programs))):
        yield Changed(what, network, said)
    for _ in range(count // 3 if networks and programs else 0):
        (what, own), (more, said) = rng.choice(networks), rng.choice(programs)
        yield Changed(f"{what}; {more}", own, said)
    for draw in (random_network_mutant, gentle_mutant):
        for _ in range(count // 3):
            what, other = draw(network, rng)
            if other is not None:
                yield Changed(what, other, program)


def surveyed(name: str, count: int) -> Counter[str]:
    """What becomes of mutants; one that is proved must be right."""
    found: Counter[str] = Counter()
    for index, network in enumerate(networks_of(name)):
        for own in mutants(name, network, random.Random(f"{name} {index}"), count):
            if complaints(own.network) or wellformed.complaints(own.program):
                found["ill-formed"] += 1
            elif is_proved(own.network, own.program):
                found["proved"] += 1
                assert wrong_word(own.network, own.program) is None, (index, own.name)
            else:
                found["rejected"] += 1
    return found


EVERY = (*TEXTS, *SYMBOLS, *COUNTS, *DRAWN)


@pytest.mark.parametrize("name", ["two cases, else 1", "two ahead", "a parity", "nearest", "reversed"])
def test_a_changed_network_or_program_is_proved_only_if_it_is_right(name: str) -> None:
    found = surveyed(name, 6)
    assert found["rejected"] >= 10


@pytest.mark.slow
@pytest.mark.parametrize("name", EVERY)
def test_many_changed_networks_and_programs_are_proved_only_if_they_are_right(name: str) -> None:
    found = surveyed(name, 60)
    assert found.total() > 100
    assert found["rejected"] > found.total() / 5


def test_the_judge_sees_what_is_wrong() -> None:
    """Of another program every network is wrong, and so is most of what is not proved."""
    seen = wrong = 0
    for name in ("two cases, else 1", "a parity", "reversed"):
        for network in networks_of(name):
            assert wrong_word(network, program_of(name)) is None
            for own in mutants(name, network, random.Random(2), 3):
                if not complaints(own.network) and not is_proved(own.network, own.program):
                    seen += 1
                    wrong += wrong_word(own.network, own.program) is not None
    assert wrong > seen / 3
