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
    Attend,
    Choice,
    Compare,
    Connective,
    Count,
    CountTest,
    Direction,
    Equals,
    Gate,
    Letter,
    Linear,
    Mask,
    Not,
    Place,
    Program,
    Ref,
    Shift,
    Step,
)
from attemper.attention_program.realisation import Realisation, SymbolGroup
from attemper.checker import realising
from attemper.checker.following import follows
from attemper.checker.names import UnprovenError
from attemper.checker.realising import realise
from attemper.compiling.pipeline import Compiled, compile_language
from attemper.compiling.regimes import Regime
from attemper.errors import AttemperError
from attemper.exact.balls import ball, precision
from attemper.exact.closed_forms import complement
from attemper.languages.temporal.parse import parse
from attemper.languages.temporal.reading import At, TemporalLanguage
from attemper.languages.words import Alphabet, Word, words_of_length
from attemper.networks import meaning_soft
from attemper.networks.layers import Network
from attemper.networks.meaning_soft import output_bits
from tests.checker.test_following import AUTOMATA
from tests.support.mutants import random_network_mutant
from tests.support.samples import FormulaSampler

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


def test_the_networks_of_random_formulas_run_their_programs() -> None:
    realised = 0
    for seed in range(80):
        rng = random.Random(seed)
        formula = FormulaSampler(rng, AB.symbols).formula(rng.randint(1, 5))
        for regime in Regime:
            try:
                own = compile_language(TemporalLanguage(formula, At.LAST, False), AB, regime)
            except AttemperError:
                continue
            realise(own.soft, own.realisation)
            realised += 1
    assert realised > 120


@pytest.mark.parametrize("name", AUTOMATA)
def test_the_networks_of_automata_run_their_programs(name: str) -> None:
    dfa = AUTOMATA[name]
    own = compile_language(dfa, dfa.alphabet, Regime.UNBOUNDED)
    realise(own.soft, own.realisation)
    groups = [tuple(ref for _, ref in group.bits) for group in own.realisation.groups]
    assert follows(own.realisation.program, dfa, groups)


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


def changed(program: Program, rng: random.Random) -> Program:
    """The program with one step changed."""
    ref = rng.randrange(len(program.steps))
    return replace(
        program, steps=(*program.steps[:ref], other_step(program, ref, rng), *program.steps[ref + 1 :])
    )


def other_step(program: Program, ref: Ref, rng: random.Random) -> Step:
    bits = [k for k in range(ref) if not isinstance(program.steps[k], Count | Linear)]
    match program.steps[ref]:
        case Letter(symbols):
            return Letter(tuple(symbol for symbol in AB.symbols if symbol not in symbols))
        case Place(form):
            return Place(complement(form))
        case Attend(mask, choice, where, value, default):
            return rng.choice(
                (
                    Attend(rng.choice([*Mask]), choice, where, value, default),
                    Attend(mask, rng.choice([*Choice]), where, value, default),
                    Attend(mask, choice, rng.choice(bits), value, default),
                    Attend(mask, choice, where, rng.choice(bits), default),
                )
            )
        case Shift(direction, bit):
            return Shift(Direction.NEXT if direction is Direction.PREVIOUS else Direction.PREVIOUS, bit)
        case Gate(_, read):
            return Gate(rng.choice([*Connective]), read)
        case Compare(count, threshold):
            return Compare(count, threshold + rng.choice((-1, 1)))
        case Equals(count, value):
            return Equals(count, value + rng.choice((-1, 1)))
        case Count(mask, _):
            return Count(mask, rng.choice(bits))
        case Linear(parts, constant):
            return Linear(parts, constant + rng.choice((-1, 1)))
        case CountTest(predicate, count, scale, shift):
            return CountTest(predicate, count, scale, shift + rng.choice((-1, 1)))
        case Not(bit):
            return Gate(Connective.OR, (bit,))
        case other:
            return other


@pytest.mark.parametrize("text", TEXTS)
def test_a_program_with_one_change_computes_the_same_or_is_not_accepted(text: str) -> None:
    own, rng, fates = compiled(text), random.Random(text), Counter[str]()
    program = own.realisation.program
    for _ in range(60):
        other = changed(program, rng)
        same = all(machine.output(program, word) == machine.output(other, word) for word in WORDS[:30])
        accepted = is_realised(own.soft, replace(own.realisation, program=other))
        assert same or not accepted, other
        fates[f"{'same' if same else 'other'}: {accepted}"] += 1
    assert fates["other: False"] > 15


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
        if not is_realised(own.soft, said):
            fates["not realised"] += 1
            continue
        together = any(
            all(rows[ref][i] for _, ref in group.bits)
            for word in words_of_length(dfa.alphabet, 6)
            for rows in [machine.run(said.program, word)]
            for i in range(6)
        )
        refs = [tuple(ref for _, ref in own_group.bits) for own_group in said.groups]
        try:
            kept = follows(said.program, dfa, refs)
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
    error = realise(own.soft, own.realisation).end.errors[own.soft.output]
    assert error == 0
    with pytest.raises(UnprovenError, match="the output is not shown"):
        realise(own.soft, replace(own.realisation, program=replace(own.realisation.program, output=0)))
    monkeypatch.setattr(realising, "ROUNDED", Fraction(-1, 100))
    with pytest.raises(UnprovenError, match="the output is not shown"):
        realise(own.soft, own.realisation)


def test_a_program_over_another_alphabet_is_refused() -> None:
    own = compiled("a S b")
    other = replace(own.realisation.program, alphabet=Alphabet(("b", "a")))
    with pytest.raises(UnprovenError, match="another alphabet"):
        realise(own.soft, Realisation(other))
