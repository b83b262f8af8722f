"""That a network runs a program: what the compiler makes is proved, and nothing that is something else."""

from __future__ import annotations

import random
from collections import Counter
from dataclasses import replace
from fractions import Fraction
from functools import lru_cache

import pytest

from attemper.attention_program import machine
from attemper.attention_program.ops import (
    Connective,
    Count,
    Gate,
    Letter,
    Merge,
    Program,
)
from attemper.attention_program.realisation import Realisation, SymbolGroup
from attemper.checker import analysis as analysis_module
from attemper.checker.names import UnprovenError
from attemper.checker.reachability import follows
from attemper.checker.realising import realise
from attemper.compiling.pipeline import Compiled, compile_language
from attemper.errors import AttemperError
from attemper.exact.balls import ball, precision
from attemper.languages.temporal.parse import parse
from attemper.languages.temporal.reading import At, TemporalLanguage
from attemper.languages.words import Alphabet, Word, words_of_length
from attemper.networks import meaning_soft
from attemper.networks.layers import Network
from attemper.networks.meaning_soft import output_bits
from attemper.networks.regime import Regime
from tests.checker.test_reachability import AUTOMATA
from tests.support.drawn.samples import FormulaSampler
from tests.support.mutants.attacks import network_of
from tests.support.mutants.one_change import random_network_mutant
from tests.support.mutants.realisations import random_program_mutant
from tests.support.suites import Few

AB = Alphabet(("a", "b"))
WORDS = [word for n in range(1, 6) for word in words_of_length(AB, n)]


@lru_cache
def compiled(text: str, regime: Regime = Regime.UNBOUNDED) -> Compiled:
    return compile_language(TemporalLanguage(parse(text, AB), At.LAST, False), AB, regime)


def is_realised(network: Network, said: Realisation) -> bool:
    try:
        realise(network, said)
    except UnprovenError:
        return False
    return True


def bits_of(network: Network, word: Word) -> list[int] | None:
    """The network's exact outputs as bits; None where one is not within 1/4 of a bit."""
    quarter = ball(Fraction(1, 4))
    found = []
    with precision(meaning_soft.PRECISION):
        for number in output_bits(network, word):
            near = [bit for bit in (0, 1) if abs(number - bit) <= quarter]
            if not near:
                return None
            found += near
    return found


def assert_runs(network: Network, program: Program) -> None:
    for word in WORDS:
        assert bits_of(network, word) == list(machine.output(program, word)), word


# What the compiler makes ------------------------------------------------------------------------------


def test_the_networks_of_random_formulas_run_their_programs(few: Few) -> None:
    realised, seeds = 0, few(range(80), 8)
    for seed in seeds:
        rng = random.Random(seed)
        formula = FormulaSampler(rng, AB.symbols).formula(rng.randint(1, 5))
        for regime in Regime:
            try:
                own = compile_language(TemporalLanguage(formula, At.LAST, False), AB, regime)
            except AttemperError:
                continue
            realise(own.soft, own.realisation)
            realised += 1
    assert realised > 3 * len(seeds) // 2


@pytest.mark.sweep(8)
@pytest.mark.parametrize("name", AUTOMATA)
def test_the_networks_of_automata_run_their_programs(name: str) -> None:
    dfa = AUTOMATA[name]
    own = compile_language(dfa, dfa.alphabet, Regime.UNBOUNDED)
    _, promises = realise(own.soft, own.realisation)
    assert {tuple(ref for _, ref in group.bits) for group in own.realisation.groups} <= set(promises)
    assert follows(own.realisation.program, dfa, promises)


# Nothing else -----------------------------------------------------------------------------------------

TEXTS = (
    "a S b",
    "Y a",
    "X (a U b)",
    "#<[a] >= #<[b]",
    "O (a & Y b)",
    "even(#<[a])",
    "#<[a] >= #>[b]",
    "H (a | X b)",
)


@pytest.mark.sweep(1)
@pytest.mark.parametrize("text", TEXTS)
def test_a_network_with_one_change_runs_the_program_or_is_not_accepted(text: str) -> None:
    own, rng, fates = compiled(text), random.Random(text), Counter[bool]()
    for _ in range(60):
        _, mutant = random_network_mutant(own.soft, rng)
        if mutant is None:
            continue
        accepted = is_realised(mutant, own.realisation)
        fates[accepted] += 1
        if accepted and fates[True] <= 6:
            assert_runs(mutant, own.realisation.program)
    assert fates[False] > 5


@pytest.mark.sweep(3)
@pytest.mark.parametrize("text", TEXTS)
def test_a_program_with_one_change_computes_the_same_or_is_not_accepted(text: str) -> None:
    own, rng, fates = compiled(text), random.Random(text), Counter[str]()
    program = own.realisation.program
    for _ in range(60):
        _, other = random_program_mutant(program, rng)
        same = all(machine.output(program, word) == machine.output(other, word) for word in WORDS[:30])
        accepted = is_realised(own.soft, replace(own.realisation, program=other))
        assert same or not accepted, other
        fates[f"{'same' if same else 'other'}: {accepted}"] += 1
    assert fates["other: False"] > 15


@pytest.mark.sweep(0)
def test_groups_of_other_bits_are_accepted_only_with_their_promise() -> None:
    """A false group may be accepted, but then the program breaks the promise, and following it notices."""
    dfa = AUTOMATA["Tomita 3"]
    own = compile_language(dfa, dfa.alphabet, Regime.UNBOUNDED)
    rng, fates = random.Random(1), Counter[str]()
    bits = [pair for group in own.realisation.groups for pair in group.bits]
    for _ in range(25):
        layer = rng.randrange(len(own.soft.layers))
        group = SymbolGroup(layer, tuple(rng.sample(bits, 2)))
        said = replace(own.realisation, groups=(*own.realisation.groups, group))
        try:
            _, promises = realise(own.soft, said)
        except UnprovenError:
            fates["not realised"] += 1
            continue
        together = any(
            all(rows[ref][i] for _, ref in group.bits)
            for word in words_of_length(dfa.alphabet, 6)
            for rows in [machine.run(said.program, word)]
            for i in range(6)
        )
        try:
            kept = follows(said.program, dfa, promises)
        except UnprovenError:
            kept = False
        assert not (together and kept)
        fates[f"{'together' if together else 'apart'}: {kept}"] += 1
    assert fates["not realised"] > 5


REFUSED = {
    "there is no layer 7": SymbolGroup(7, ((0, 0),)),
    "there is no layer -1": SymbolGroup(-1, ((0, 0),)),
    "there is no coordinate 999": SymbolGroup(0, ((999, 0),)),
    "there is no coordinate -1": SymbolGroup(0, ((-1, 0),)),
    "step 999 is no bit": SymbolGroup(0, ((0, 999),)),
    "step -1 is no bit": SymbolGroup(0, ((0, -1),)),
    "a group of layer 0 has no bits": SymbolGroup(0, ()),
}


@pytest.mark.parametrize("reason", REFUSED)
def test_groups_of_nothing_are_refused(reason: str) -> None:
    own = compiled("a S b")
    with pytest.raises(UnprovenError, match=reason):
        realise(own.soft, replace(own.realisation, groups=(REFUSED[reason],)))


def test_counts_are_no_bits_of_a_group() -> None:
    own = compiled("#<[a] >= #<[b]")
    steps = own.realisation.program.steps
    count = next(ref for ref, step in enumerate(steps) if isinstance(step, Count))
    with pytest.raises(UnprovenError, match="is no bit"):
        realise(own.soft, replace(own.realisation, groups=(SymbolGroup(0, ((0, count),)),)))


def test_an_output_that_is_off_by_more_than_a_quarter_is_not_the_programs(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    own = compiled("a S b")
    analysis, _ = realise(own.soft, own.realisation)
    error = analysis.end.errors[own.soft.output]
    assert error == 0
    with pytest.raises(UnprovenError, match="the output is not shown"):
        realise(own.soft, replace(own.realisation, program=replace(own.realisation.program, output=0)))
    monkeypatch.setattr(analysis_module, "ROUNDED", Fraction(-1, 100))
    with pytest.raises(UnprovenError, match="off by more than 1/4"):
        realise(own.soft, own.realisation)


def test_a_program_over_another_alphabet_is_refused() -> None:
    own = compiled("a S b")
    other = replace(own.realisation.program, alphabet=Alphabet(("b", "a")))
    with pytest.raises(UnprovenError, match="another alphabet"):
        realise(own.soft, Realisation(other))


# Promises ---------------------------------------------------------------------------------------------


def summed(*letters: str) -> tuple[Network, Program]:
    """A network that adds up letters of the alphabet, and the union of them; a letter twice counts twice."""
    parts = [[(0, letters.count(symbol))] if symbol in letters else [] for symbol in AB.symbols]
    bits = tuple(Letter((symbol,)) for symbol in letters)
    union = Gate(Connective.UNION, tuple(range(len(bits))))
    return network_of(1, parts, {}, [], 0), Program(AB, (*bits, union), len(bits))


def test_a_sum_that_is_seen_to_be_a_bit_promises_nothing() -> None:
    network, program = summed("a", "b")
    _, promises = realise(network, Realisation(program))
    assert promises == ()


@pytest.mark.parametrize("kind", ["union", "merge"])
def test_a_sum_that_is_not_seen_to_be_a_bit_is_promised_with_each_bit_as_often_as_it_stands(
    kind: str,
) -> None:
    network, program = summed("a", "a")
    if kind == "merge":
        program = replace(program, steps=(*program.steps[:-1], Merge((0, 1))))
    _, promises = realise(network, Realisation(program))
    assert promises == ((0, 1),)
    once = Program(AB, (Letter(("a",)), Gate(Connective.UNION, (0, 0))), 1)
    _, promises = realise(network, Realisation(once))
    assert promises == ((0, 0),)


def test_groups_are_promised_in_the_order_of_the_certificate() -> None:
    dfa = AUTOMATA["Tomita 3"]
    own = compile_language(dfa, dfa.alphabet, Regime.UNBOUNDED)
    _, promises = realise(own.soft, own.realisation)
    wanted = tuple(tuple(ref for _, ref in group.bits) for group in own.realisation.groups)
    assert promises[: len(wanted)] == wanted
