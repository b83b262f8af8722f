"""Programs that say what stands where nothing is to be read: compiled and proved, and never falsely."""

from __future__ import annotations

import random
from collections import Counter
from dataclasses import replace
from fractions import Fraction

import pytest

from attemper.attention_program import meaning
from attemper.attention_program.builder import prune
from attemper.attention_program.language import ProgramLanguage
from attemper.attention_program.ops import (
    Attend,
    Choice,
    Compare,
    Connective,
    Count,
    Direction,
    Gate,
    Letter,
    Linear,
    Mask,
    Merge,
    Not,
    Place,
    Program,
    Ref,
    Shift,
    Step,
    everywhere,
)
from attemper.certificates.claims import RealClaim
from attemper.checker.check import judge
from attemper.checker.identities import Formulas
from attemper.checker.names import UnprovenError
from attemper.checker.program import Steps
from attemper.checker.proof import prove
from attemper.checker.verdict import Status
from attemper.compiling.pipeline import Compiled, compile_language
from attemper.errors import InternalError, UnsupportedError
from attemper.exact import closed_forms
from attemper.exact.closed_forms import FIRST, SIGN, ClosedForm, number, times
from attemper.exact.predicates import Zero
from attemper.languages.temporal.reading import At
from attemper.languages.words import Alphabet, Word, words_of_length
from attemper.networks import meaning_hard, meaning_soft
from attemper.networks.layers import Network
from attemper.networks.regime import Regime
from tests.support.drawn.programs import ProgramSampler
from tests.support.judges.derived import Reading
from tests.support.mutants.realisations import random_program_mutant

AB = Alphabet(("a", "b"))
WORDS = [word for n in range(1, 6) for word in words_of_length(AB, n)]
LONGER = [*WORDS, *words_of_length(AB, 6)]

Rows = list[tuple[bool, ...] | None]


def language_of(program: Program) -> ProgramLanguage:
    return ProgramLanguage(program, At.LAST, accepts_empty=False)


def compiled(program: Program, regime: Regime = Regime.UNBOUNDED) -> Compiled:
    return compile_language(language_of(program), program.alphabet, regime)


def is_proved(network: Network, program: Program) -> bool:
    try:
        prove(network, language_of(program))
    except UnprovenError:
        return False
    return True


def said(program: Program, words: list[Word]) -> Rows:
    """The program's output on these words; None where it means nothing."""
    found: Rows = []
    for word in words:
        try:
            found.append(meaning.output(program, word))
        except InternalError:
            found.append(None)
    return found


def drawn(seed: int, *, compiled: bool = True) -> Program:
    """A random program of which every step is needed."""
    rng = random.Random(seed)
    program = ProgramSampler(rng, compiled=compiled).program(rng.randint(3, 14))
    return prune(program)[0]


# Diagrams ----------------------------------------------------------------------------------------------


def assert_normal_forms_are_read_as_defined(seeds: range) -> None:
    words = WORDS[:30]
    for seed in seeds:
        program = drawn(seed, compiled=False)
        steps = Steps(Formulas(AB.symbols), program)
        refs = [ref for ref, step in enumerate(program.steps) if not isinstance(step, Count | Linear)]
        rows = [meaning.run(program, word) for word in words]
        for ref in refs:
            try:
                diagram = steps.bit(ref)
            except UnprovenError:
                continue
            for word, row in zip(words, rows, strict=True):
                reading = Reading(steps.names, word)
                read = tuple(reading.number(diagram, i) for i in range(1, len(word) + 1))
                assert read == row[ref], (seed, ref, program.steps[ref], word)


def test_the_normal_form_of_a_step_is_what_it_means() -> None:
    assert_normal_forms_are_read_as_defined(range(80))


@pytest.mark.slow
def test_the_normal_forms_of_many_steps_are_what_they_mean() -> None:
    assert_normal_forms_are_read_as_defined(range(80, 2000))


# From the program to the proof -------------------------------------------------------------------------


def rounded(network: Network, word: Word) -> tuple[bool, ...]:
    """The soft network's output; every number is shown to be near 0 or near 1."""
    found = meaning_soft.output_bits(network, word)
    assert all(value < 0.25 or value > 0.75 for value in found)
    return tuple(bool(value > 0.5) for value in found)


def survey(seeds: range, words: list[Word], mutants: int) -> Counter[str]:
    """Compile random programs, run and prove them; no mutant that means something else may be proved."""
    found: Counter[str] = Counter()
    for seed in seeds:
        program, rng = drawn(seed), random.Random(seed)
        try:
            own = compiled(program, tuple(Regime)[seed % 3])
        except UnsupportedError:
            found["refused"] += 1
            continue
        expected = said(program, words)
        for word, row in zip(words, expected, strict=True):
            assert row == tuple(map(bool, meaning_hard.output_bits(own.hard, word))), (seed, word)
        for word in rng.sample(words, 4):
            assert expected[words.index(word)] == rounded(own.soft, word), (seed, word)
        is_shown = is_proved(own.soft, program)
        found["proved" if is_shown else "not proved"] += 1
        for _ in range(mutants if is_shown and len(program.steps) > 1 else 0):
            name, other = random_program_mutant(program, rng)
            if said(other, words) != expected:
                found["mutants"] += 1
                assert not is_proved(own.soft, other), (seed, name)
    return found


@pytest.mark.sweep(0)
def test_random_programs_are_compiled_and_proved_and_their_mutants_are_not() -> None:
    found = survey(range(60), LONGER, 3)
    assert found["proved"] >= 40
    assert found["not proved"] <= 3
    assert found["mutants"] >= 60


@pytest.mark.slow
def test_many_programs_are_compiled_and_proved_and_their_mutants_are_not() -> None:
    found = survey(range(60, 1060), LONGER, 6)
    assert found["not proved"] <= 0.03 * found["proved"]


A, B = Letter(("a",)), Letter(("b",))
PREVIOUS = Shift(Direction.PREVIOUS, 0, 1, default=False)

BY_HAND: dict[str, tuple[Step, ...]] = {
    "equal symbols before": (
        A,
        B,
        Place(FIRST),
        Attend(Mask.BEFORE, Choice.RIGHTMOST, ((0, 0), (1, 1)), 2, default=True),
    ),
    "equal symbols after": (
        A,
        B,
        Shift(Direction.NEXT, 0, 1, default=True),
        Attend(Mask.AFTER, Choice.LEFTMOST, ((0, 0), (1, 1)), 2, default=False),
    ),
    "a case that is seldom in force": (
        A,
        Place(FIRST),
        Attend(Mask.ALL, Choice.LEFTMOST, ((1, 0),), 0, default=True),
    ),
    "far before": (A, Shift(Direction.PREVIOUS, 0, 3, default=True)),
    "far after": (A, Shift(Direction.NEXT, 0, 2, default=False)),
    "no default beside one": (
        A,
        Attend(Mask.BEFORE, Choice.LEFTMOST, everywhere(0), 0, None),
        Shift(Direction.PREVIOUS, 1, 2, default=True),
        Shift(Direction.PREVIOUS, 2, 1, None),
    ),
    "a count of what is far": (
        A,
        Shift(Direction.PREVIOUS, 0, 2, default=True),
        Count(Mask.BEFORE, 1),
        Count(Mask.UP_TO, 0),
        Linear(((1, 2), (-1, 3)), 0),
        Compare(4, 0),
    ),
}


@pytest.mark.sweep(1)
@pytest.mark.parametrize("name", BY_HAND)
@pytest.mark.parametrize("regime", Regime)
def test_a_program_by_hand_is_right_and_proved(name: str, regime: Regime) -> None:
    steps = BY_HAND[name]
    program = Program(AB, steps, len(steps) - 1)
    try:
        own = compiled(program, regime)
    except UnsupportedError:
        assert regime is Regime.DECODER
        assert name in {"equal symbols after", "a case that is seldom in force", "far after"}
        return
    expected = said(program, LONGER)
    assert None not in expected
    for word, row in zip(LONGER, expected, strict=True):
        assert tuple(map(bool, meaning_hard.output_bits(own.hard, word))) == row, word
        if len(word) < 5:
            assert rounded(own.soft, word) == row, word
    assert is_proved(own.soft, program)
    rng = random.Random(name)
    for _ in range(12):
        other = random_program_mutant(program, rng)[1]
        if said(other, LONGER) != expected:
            assert not is_proved(own.soft, other), other


# Promises ----------------------------------------------------------------------------------------------

NO_BITS: dict[str, ClosedForm] = {
    "a half": number(Fraction(1, 2)),
    "a half at 2": times(Fraction(1, 2), closed_forms.Test(Zero(), 1, 0, -2)),
    "a half at 1000": times(Fraction(1, 2), closed_forms.Test(Zero(), 1, 0, -1000)),
    "a half in words of 3": times(Fraction(1, 2), closed_forms.Test(Zero(), 0, 1, -3)),
    "two": number(2),
    "a sign": SIGN,
}
NEVER, ALWAYS = Letter(()), Letter(("a", "b"))

Attack = tuple[tuple[Step, ...], Ref, Step]
"""Steps after a and b, their output, and what the output would be if the rest did no harm."""

ATTACKS: dict[str, Attack] = {
    **{f"{name}, not needed": ((Place(form),), 0, A) for name, form in NO_BITS.items()},
    **{
        f"{name}, where nothing is": ((Place(form), NEVER, Gate(Connective.AND, (2, 3))), 4, NEVER)
        for name, form in NO_BITS.items()
    },
    **{
        f"{name}, counted 0 times": (
            (Place(form), Count(Mask.UP_TO, 2), Linear(((0, 3),), 0), Compare(4, 0)),
            5,
            ALWAYS,
        )
        for name, form in NO_BITS.items()
    },
    "a union twice of a, not needed": ((Gate(Connective.UNION, (0, 0)),), 0, A),
    "a merge twice of a, not needed": ((Merge((0, 0)),), 0, A),
    "a merge, counted and cancelled": (
        (Merge((0, 0)), Count(Mask.UP_TO, 2), Linear(((1, 3), (-1, 3)), 0), Compare(4, 0)),
        5,
        ALWAYS,
    ),
    "a union, read where nothing is": (
        (Gate(Connective.UNION, (0, 0)), NEVER, Attend(Mask.ALL, Choice.LEFTMOST, everywhere(3), 2, False)),
        4,
        NEVER,
    ),
    "a union of the neighbour and a": ((PREVIOUS, Gate(Connective.UNION, (0, 2))), 0, A),
    "a union that breaks at 1000": (
        (Place(closed_forms.Test(Zero(), 1, 0, -1000)), Gate(Connective.UNION, (0, 2))),
        0,
        A,
    ),
    **{
        f"two cases in force by {default}, {what}": (
            (Attend(Mask.UP_TO, Choice.RIGHTMOST, cases, 0, default),),
            0,
            A,
        )
        for default in (False, True)
        for what, cases in {
            "the same": ((0, 0), (0, 0)),
            "others": ((0, 0), (0, 1)),
            "one always": ((0, 0), (0, 0), (1, 1)),
        }.items()
    },
    "cases of the neighbour and a": (
        (PREVIOUS, Attend(Mask.BEFORE, Choice.RIGHTMOST, ((0, 0), (2, 1)), 0, False)),
        0,
        A,
    ),
}


@pytest.mark.parametrize("name", ATTACKS)
@pytest.mark.parametrize("is_machine", [False, True])
def test_a_program_that_may_mean_nothing_is_not_proved(name: str, is_machine: bool) -> None:
    """Nor one of heads alone, where the step that breaks a promise is one of theirs."""
    more, output, meant = ATTACKS[name]
    steps = (A, B, *more) if is_machine else (A, B, *more, PREVIOUS)
    network = compiled(Program(AB, (meant,), 0)).soft
    assert is_proved(network, Program(AB, (meant,), 0))
    assert not is_proved(network, Program(AB, steps, output))


def test_a_program_that_means_nothing_is_judged_unknown() -> None:
    """No word refutes it, either: there is nothing that the network should have said."""
    for name in (
        "a half, not needed",
        "a merge twice of a, not needed",
        "two cases in force by True, others",
    ):
        more, output, _ = ATTACKS[name]
        for steps in ((A, B, *more), (A, B, *more, PREVIOUS)):
            network, language = compiled(Program(AB, (A,), 0)).soft, language_of(Program(AB, steps, output))
            verdict = judge(network, language, (RealClaim(),))
            assert verdict.status is Status.UNKNOWN


def test_outputs_of_other_symbols_are_not_compared() -> None:
    """The same symbols in another order are right at every word, and not what is claimed; so are fewer."""
    program = Program(AB, (A, B, PREVIOUS), 0, (("x", 0), ("y", 1)))
    network = compiled(program).soft
    assert is_proved(network, program)
    x, y = network.symbols
    for symbols in ((y, x), (x,), (), (("x", y[1]), ("z", x[1]))):
        other = replace(network, symbols=symbols, output=(*symbols, x)[0][1])
        assert judge(other, language_of(program), (RealClaim(),)).status is Status.UNKNOWN
    exchanged = replace(network, symbols=(("x", y[1]), ("y", x[1])), output=y[1])
    assert judge(exchanged, language_of(program), (RealClaim(),)).status is Status.REFUTED


@pytest.mark.parametrize("default", [False, True])
def test_cases_that_exclude_each_other_are_seen_to(default: bool) -> None:
    """By letters, by a bit and its negation, by places; the step is not needed, and harmless."""
    network = compiled(Program(AB, (A,), 0)).soft
    steps = (A, B, PREVIOUS, Not(2), Place(FIRST), Gate(Connective.AND, (2, 0)), Gate(Connective.AND, (3, 0)))
    for cases in (((0, 0), (1, 1)), ((2, 0), (3, 1)), ((5, 0), (6, 1), (1, 1)), ((4, 0), (2, 1))):
        step = Attend(Mask.ALL, Choice.LEFTMOST, cases, 0, default)
        assert is_proved(network, Program(AB, (*steps, step), 0))


@pytest.mark.parametrize("cases", [((0, 0), (0, 0)), ((0, 0), (2, 1))])
def test_heads_by_two_cases_at_once_are_not_proved(cases: tuple[tuple[Ref, Ref], ...]) -> None:
    """What they mean is defined; but no rule follows it."""
    step = Attend(Mask.UP_TO, Choice.RIGHTMOST, cases, 0, None)
    program = Program(AB, (A, B, replace(PREVIOUS, default=None), step), 3)
    network = compiled(replace(program, steps=(*program.steps[:3], replace(step, cases=cases[:1])))).soft
    assert not is_proved(network, program)
