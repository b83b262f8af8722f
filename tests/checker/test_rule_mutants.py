"""Mutants of networks and programs over selections by cases, distances, integers, symbols and defaults.

What the checker proves of a changed network or of a changed program must be true: the network's files run in
float64 beside the program, on all short words and on a few longer ones, by code that imports nothing of the
library.
"""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Any

import numpy as np
import pytest

from attemper.attention_program import wellformed
from attemper.attention_program.builder import prune
from attemper.attention_program.language import ProgramLanguage
from attemper.attention_program.ops import PROGRAM, Choice, Mask, Program
from attemper.attention_program.parse import parse_program
from attemper.checker.names import UnprovenError
from attemper.checker.proof import prove
from attemper.compiling.pipeline import compile_language
from attemper.errors import UnsupportedError
from attemper.languages.temporal.reading import At
from attemper.networks.layers import Network
from attemper.networks.regime import Regime
from attemper.networks.wellformed import complaints
from tests.support.drawn.nearest import one_nearest, palindromes, reversed_bit
from tests.support.drawn.programs import ProgramSampler
from tests.support.judges.read_back import raw_of
from tests.support.mutants.one_change import gentle_mutant, random_network_mutant
from tests.support.mutants.realisations import program_mutants
from tests.support.mutants.rule_mutants import rule_mutants
from tests.support.oracles import raw_forward, raw_truth
from tests.support.oracles.raw_files import places_of
from tests.support.oracles.raw_forward import FORMATS, Batch, Kernel, Order, Way, all_words, batch_of

LETTERS = """alphabet ["a", "b", "c"]
s0 = letter ["a"]
s1 = letter ["b"]
s2 = letter ["c"]
s3 = place ["test", ["remainder", 2, 0], 1, 0, 0]
s4 = place ["test", ["remainder", 2, 1], 1, 0, 0]
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

LONG = (9, 17, 33, 64)

WAY = Way(Kernel.NUMERATOR, Order.TORCH)


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


# Judging -----------------------------------------------------------------------------------------------


@lru_cache
def batches_of(symbols: int) -> tuple[Batch, ...]:
    """All short words, and of each longer length a few."""
    rng, short = random.Random(1), list(all_words(symbols, 6 if symbols == 2 else 4))
    weights = [[rng.choice((1, 1, 4)) for _ in range(symbols)] for _ in range(4)]
    longer = [tuple(rng.choices(range(symbols), own, k=n)) for n in LONG for own in weights]
    return batch_of(short), batch_of(longer)


@lru_cache(maxsize=1 << 12)
def meant(program: Program) -> tuple[dict[str | None, Any], ...] | None:
    """What is put out, by name, [word, position], for each batch; None if a promise of the program breaks."""
    tree, alphabet, found = PROGRAM.encode(program), program.alphabet.symbols, []
    for batch in batches_of(len(alphabet)):
        if raw_truth.broken_promises(tree, alphabet, batch).any():
            return None
        found.append(raw_truth.truths(["program language", tree, "last", False], alphabet, batch))
    return tuple(found)


def what_is_wrong(network: Network, program: Program) -> str | None:
    """A word on which an output is further than 1/4 from what is meant, or what else is not as it is said."""
    raw, rows = raw_of(network), meant(program)
    if rows is None:
        return "the program breaks a promise"
    for batch, expected in zip(batches_of(len(raw.alphabet)), rows, strict=True):
        if [name for name, _ in raw.outputs] != list(expected):
            return "it puts out other symbols"
        found = raw_forward.run_every_output(raw, batch, FORMATS["float64"], WAY)
        near = np.abs(found - np.stack(list(expected.values()), axis=-1)) <= 0.25
        bad = (~near.all(axis=2) & places_of(batch.lengths).real).any(axis=1)
        if bad.any():
            return str(batch.tokens[int(bad.argmax())])
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
                found_wrong = what_is_wrong(own.network, own.program)
                assert found_wrong is None, (index, own.name, found_wrong)
            else:
                found["rejected"] += 1
    return found


EVERY = (*TEXTS, *SYMBOLS, *COUNTS, *DRAWN)


@pytest.mark.sweep(1)
@pytest.mark.parametrize("name", ["two cases, else 1", "two ahead", "a parity", "nearest", "reversed"])
def test_a_changed_network_or_program_is_proved_only_if_it_is_right(name: str) -> None:
    found = surveyed(name, 6)
    assert found["rejected"] >= 10


@pytest.mark.slow
@pytest.mark.parametrize("name", EVERY)
def test_many_changed_networks_and_programs_are_proved_only_if_they_are_right(name: str) -> None:
    found = surveyed(name, 60)
    assert found.total() > 100
    assert found["rejected"] >= 20


@pytest.mark.sweep(0)
def test_the_judge_sees_what_is_wrong() -> None:
    """Of another program every network is wrong, and so is most of what is not proved."""
    seen = wrong = 0
    for name in ("two cases, else 1", "a parity", "reversed"):
        for network in networks_of(name):
            assert what_is_wrong(network, program_of(name)) is None
            for own in mutants(name, network, random.Random(2), 3):
                if not complaints(own.network) and not is_proved(own.network, own.program):
                    seen += 1
                    wrong += what_is_wrong(own.network, own.program) is not None
    assert wrong > seen / 3
