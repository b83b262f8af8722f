"""What a machine computes: by its heads' scores, by hand, as compiled; where it is not the definition."""

from __future__ import annotations

import random
from collections.abc import Callable
from dataclasses import replace
from functools import cache

import pytest
from hypothesis import given

from attemper.attention_program import machine, meaning
from attemper.attention_program.meaning import StepValues
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
    Merge,
    Not,
    Place,
    Program,
    Ref,
    Shift,
    Step,
    Table,
    everywhere,
)
from attemper.compiling.assembling.assemble import assemble
from attemper.compiling.building.bits import letter_and_place, strip_negations
from attemper.compiling.cascade import Cascade
from attemper.compiling.decomposing.decompose import decompose
from attemper.compiling.lowering.cascade_to_program import cascade_to_program
from attemper.compiling.lowering.temporal_to_program import temporal_to_program
from attemper.compiling.pipeline import compile_language
from attemper.compiling.simplifying.guard_edges import guard_edges
from attemper.compiling.simplifying.simplify_program import simplify_program
from attemper.compiling.simplifying.spell_out import Shared, spell_out
from attemper.errors import InternalError, UnsupportedError
from attemper.exact.closed_forms import FIRST, SIGN, evaluate, number
from attemper.exact.predicates import holds
from attemper.languages.named.entry import Entry, SourceText
from attemper.languages.temporal.parse import parse
from attemper.languages.words import Alphabet, Word, words_of_length
from attemper.networks.meaning_hard import output_bits
from attemper.networks.regime import Regime
from attemper.workbench.demo import SHOWN, title
from attemper.workbench.zoo_sources import language_of
from tests.compiling.test_cascade_to_program import BY_HAND, delays, random_cascade, small_automaton
from tests.support.drawn.programs import AS_HEADS, SAID, ProgramSampler, programs, without_defaults
from tests.support.drawn.samples import FormulaSampler
from tests.support.suites import Few

AB = Alphabet(("a", "b"))


def words_up_to(alphabet: Alphabet, longest: int) -> list[Word]:
    return [word for n in range(1, longest + 1) for word in words_of_length(alphabet, n)]


def guarded(program: Program) -> Program:
    return guard_edges(spell_out(simplify_program(program)[0], Shared.NONE)[0])[0]


# By what its heads score -------------------------------------------------------------------------------

SEES: dict[Mask, Callable[[int, int], bool]] = {
    Mask.UP_TO: lambda i, j: j <= i,
    Mask.BEFORE: lambda i, j: j < i,
    Mask.FROM: lambda i, j: j >= i,
    Mask.AFTER: lambda i, j: j > i,
    Mask.ALL: lambda i, j: True,
}


def by_scores(program: Program, word: Word) -> tuple[StepValues, ...]:
    """Every step again, position by position: a head goes where its score is highest, whatever is there."""
    n = len(word)

    @cache
    def at(ref: Ref, i: int) -> int:
        match program.steps[ref]:
            case Letter(symbols):
                return symbols.count(word[i - 1])
            case Place(form):
                return int(evaluate(form, i, n))
            case Not(bit):
                return 1 - at(bit, i)
            case Gate(Connective.AND, bits):
                return min((at(bit, i) for bit in bits), default=1)
            case Gate(Connective.OR, bits):
                return max((at(bit, i) for bit in bits), default=0)
            case Gate(Connective.XOR, bits):
                return sum(at(bit, i) for bit in bits) % 2
            case Gate(_, bits) | Merge(bits):
                return sum(at(bit, i) for bit in bits)
            case Table(bits, rows):
                return sum(all(at(bit, i) == v for bit, v in zip(bits, row, strict=True)) for row in rows)
            case Attend(mask, choice, cases, value, None):
                theres = [there for here, there in cases if here is None or at(here, i)]
                return reads(mask, i, choice, lambda j: sum(at(there, j) - 1 for there in theres), value)
            case Shift(Direction.PREVIOUS, bit, 1, None):
                return reads(Mask.UP_TO, i, Choice.RIGHTMOST, lambda j: -((-1) ** (i + j)), bit)
            case Shift(Direction.NEXT, bit, 1, None):
                return reads(Mask.FROM, i, Choice.LEFTMOST, lambda j: -((-1) ** (i + j)), bit)
            case Count(mask, bit):
                return sum(at(bit, j) for j in range(1, n + 1) if SEES[mask](i, j))
            case Linear(parts, constant):
                return constant + sum(factor * at(count, i) for factor, count in parts)
            case Compare(count, threshold):
                return int(at(count, i) >= threshold)
            case Equals(count, value):
                return int(at(count, i) == value)
            case CountTest(predicate, count, scale, shift):
                return int(holds(predicate, scale * at(count, i) + shift))
            case step:
                raise AssertionError(step)

    def reads(mask: Mask, i: int, choice: Choice, score: Callable[[int], int], value: Ref) -> int:
        """The value at the visible position with the highest score; of several, at the chosen one."""
        side = 1 if choice is Choice.RIGHTMOST else -1
        seen = [(score(j), side * j) for j in range(1, n + 1) if SEES[mask](i, j)]
        return at(value, abs(max(seen)[1])) if seen else 0

    return tuple(tuple(at(ref, i) for i in range(1, n + 1)) for ref in range(len(program.steps)))


@given(programs(defaults=AS_HEADS, compiled=False, direct_tests=False))
def test_a_machine_computes_what_its_heads_score(program: Program) -> None:
    for word in words_up_to(AB, 4):
        assert machine.run(program, word) == by_scores(program, word), word


@pytest.mark.slow
def test_many_machines_compute_what_their_heads_score() -> None:
    for seed in range(3000):
        rng = random.Random(seed)
        program = ProgramSampler(rng, defaults=AS_HEADS, compiled=False, direct_tests=False).program(
            rng.randint(5, 25)
        )
        for word in words_up_to(AB, 4):
            assert machine.run(program, word) == by_scores(program, word), (seed, word)


# By hand -----------------------------------------------------------------------------------------------

WHERE, VALUE = 0, 1
LETTERS = Alphabet(("-", "w", "v", "x"))
"""w: looked for; v: the value holds; x: both."""


def rows_of(step: Step, word: str) -> tuple[StepValues, StepValues]:
    """A step's values by the definition and by the machine, where s0 is `where` and s1 the value."""
    program = Program(LETTERS, (Letter(("w", "x")), Letter(("v", "x")), step), 2)
    return meaning.run(program, tuple(word))[2], machine.run(without_defaults(program), tuple(word))[2]


def selection(mask: Mask, choice: Choice, default: bool | None = False) -> Attend:
    return Attend(mask, choice, everywhere(WHERE), VALUE, default)


SELECTIONS = {
    # Nothing is looked for: the machine falls on what is blocked.
    (Mask.UP_TO, Choice.RIGHTMOST, "v--v"): ("0000", "1001"),
    (Mask.UP_TO, Choice.LEFTMOST, "v--v"): ("0000", "1111"),
    (Mask.BEFORE, Choice.RIGHTMOST, "v--v"): ("0000", "0100"),
    (Mask.BEFORE, Choice.LEFTMOST, "v--v"): ("0000", "0111"),
    (Mask.FROM, Choice.RIGHTMOST, "-vv-"): ("0000", "0000"),
    (Mask.FROM, Choice.LEFTMOST, "-vv-"): ("0000", "0110"),
    (Mask.AFTER, Choice.RIGHTMOST, "vv-v"): ("0000", "1110"),
    (Mask.AFTER, Choice.LEFTMOST, "vv-v"): ("0000", "1010"),
    (Mask.ALL, Choice.RIGHTMOST, "v--"): ("000", "000"),
    (Mask.ALL, Choice.LEFTMOST, "v--"): ("000", "111"),
    # As soon as it is found, both read it.
    (Mask.UP_TO, Choice.RIGHTMOST, "vwv"): ("000", "100"),
    (Mask.UP_TO, Choice.LEFTMOST, "v-xw"): ("0011", "1111"),
    (Mask.BEFORE, Choice.RIGHTMOST, "vx-w-"): ("00110", "01110"),
    (Mask.FROM, Choice.LEFTMOST, "-xv"): ("110", "111"),
    (Mask.AFTER, Choice.RIGHTMOST, "-xv"): ("100", "110"),
    (Mask.ALL, Choice.RIGHTMOST, "vx-"): ("111", "111"),
    # One position: it sees itself, or nothing.
    (Mask.UP_TO, Choice.RIGHTMOST, "v"): ("0", "1"),
    (Mask.FROM, Choice.LEFTMOST, "v"): ("0", "1"),
    (Mask.ALL, Choice.LEFTMOST, "v"): ("0", "1"),
    (Mask.BEFORE, Choice.RIGHTMOST, "x"): ("0", "0"),
    (Mask.AFTER, Choice.LEFTMOST, "x"): ("0", "0"),
}


@pytest.mark.parametrize(("mask", "choice", "word"), SELECTIONS)
def test_a_selection_that_finds_nothing_falls_on_what_is_blocked(
    mask: Mask, choice: Choice, word: str
) -> None:
    defined, computed = (tuple(map(int, row)) for row in SELECTIONS[mask, choice, word])
    assert rows_of(selection(mask, choice), word) == (defined, computed)


def test_a_shift_at_the_edge_reads_its_own_position() -> None:
    assert rows_of(Shift(Direction.PREVIOUS, VALUE), "v-v-") == ((0, 1, 0, 1), (1, 1, 0, 1))
    assert rows_of(Shift(Direction.NEXT, VALUE), "-v-v") == ((1, 0, 1, 0), (1, 0, 1, 1))
    for direction in Direction:
        assert rows_of(Shift(direction, VALUE), "v") == ((0,), (1,))


@pytest.mark.parametrize("mask", Mask)
def test_counts_are_as_they_are_defined(mask: Mask) -> None:
    expected = {
        Mask.UP_TO: (1, 1, 2, 3),
        Mask.BEFORE: (0, 1, 1, 2),
        Mask.FROM: (3, 2, 2, 1),
        Mask.AFTER: (2, 2, 1, 0),
        Mask.ALL: (3, 3, 3, 3),
    }
    assert rows_of(Count(mask, VALUE), "v-vx") == (expected[mask],) * 2


@pytest.mark.parametrize("step", [Merge((WHERE, VALUE)), Gate(Connective.UNION, (WHERE, VALUE))])
def test_bits_are_added_whatever_was_promised(step: Step) -> None:
    program = Program(LETTERS, (Letter(("w", "x")), Letter(("v", "x")), step), 2)
    assert machine.output(program, tuple("-wvx")) == (0, 1, 1, 2)
    with pytest.raises(InternalError, match="hold together"):
        meaning.output(program, tuple("-wvx"))


def test_a_head_prefers_the_greater_sum() -> None:
    """So its score, the sum less 1, says; under the promise there is none greater than 1."""
    steps = (
        Letter(("w", "x")),
        Letter(("v", "x")),
        Merge((0, 1)),
        Attend(Mask.ALL, Choice.LEFTMOST, everywhere(2), 0, None),
    )
    assert machine.output(Program(LETTERS, steps, 3), tuple("vx")) == (1, 1)
    assert machine.output(Program(LETTERS, steps, 3), tuple("vw")) == (0, 0)


@pytest.mark.parametrize("form", [number(2), SIGN])
def test_places_are_bits_in_both(form: object) -> None:
    program = Program(AB, (Place(form),), 0)
    for run in (meaning.run, machine.run):
        with pytest.raises(InternalError, match="neither 0 nor 1"):
            run(program, ("a",))


def test_the_empty_word_has_no_positions() -> None:
    program = Program(AB, (Letter(("a",)), Shift(Direction.NEXT, 0, default=None)), 1)
    assert machine.run(program, ()) == ((), ())


# What no machine has -----------------------------------------------------------------------------------


WITH_DEFAULTS: list[Step] = [
    *(Attend(mask, Choice.RIGHTMOST, everywhere(0), 0, default) for mask in Mask for default in SAID),
    *(Shift(direction, 0, default=default) for direction in Direction for default in SAID),
    Shift(Direction.PREVIOUS, 0, 2, default=False),
]


@pytest.mark.parametrize("step", WITH_DEFAULTS, ids=str)
def test_a_default_is_refused_wherever_it_stands(step: Step) -> None:
    with pytest.raises(UnsupportedError, match=r"s1 has a default .*compile the program"):
        machine.run(Program(AB, (Letter(("a",)), step), 0), ("a",))
    with pytest.raises(UnsupportedError, match="s1 has a default"):
        machine.output(Program(AB, (Letter(("a",)), step), 0), ())


# Guarded programs --------------------------------------------------------------------------------------


def defined(program: Program) -> Program:
    """The program with 0 wherever there is nothing to read, however heads do."""
    steps = (
        replace(step, default=False) if isinstance(step, Attend | Shift) else step for step in program.steps
    )
    return replace(program, steps=tuple(steps))


def assert_same_output(program: Program, words: list[Word]) -> None:
    """A program of heads whose output is the same if they found nothing where there is nothing."""
    for word in words:
        assert machine.output(program, word) == meaning.output(defined(program), word), word


@given(programs())
def test_guarded_programs_are_run_as_they_are_defined(program: Program) -> None:
    after = guarded(program)
    for word in words_up_to(AB, 4):
        assert machine.output(after, word) == meaning.output(program, word), word


@given(programs(defaults=SAID))
def test_guarded_definitions_are_the_same_in_both(program: Program) -> None:
    after = guarded(program)
    assert_same_output(after, words_up_to(AB, 4))
    for word in words_up_to(AB, 4):
        assert machine.output(after, word) == meaning.output(program, word), word


def test_guarded_formulas_are_the_same_in_both(few: Few) -> None:
    words = words_up_to(AB, 5)
    for seed in few(range(120), 12):
        formula = FormulaSampler(random.Random(seed), AB.symbols).formula(3)
        assert_same_output(guarded(temporal_to_program(formula, AB)[0]), words)


@pytest.mark.slow
def test_many_guarded_formulas_are_the_same_in_both() -> None:
    words = words_up_to(AB, 5)
    for seed in range(1000, 3000):
        formula = FormulaSampler(random.Random(seed), AB.symbols).formula(4)
        assert_same_output(guarded(temporal_to_program(formula, AB)[0]), words)


@pytest.mark.sweep(3)
@pytest.mark.parametrize(("entry", "source"), SHOWN, ids=[title(*shown) for shown in SHOWN])
def test_named_languages_are_the_same_in_both(entry: Entry, source: SourceText) -> None:
    alphabet = Alphabet(entry.alphabet)
    program = compile_language(language_of(entry, source).definition, alphabet, Regime.UNBOUNDED).guarded
    words = words_up_to(alphabet, 6 if len(alphabet.symbols) == 2 else 4)
    assert_same_output(program, words)
    for word in words:
        assert machine.output(program, word)[-1] == entry.accepts(word), word


def test_unguarded_formulas_differ_where_the_definition_says_there_is_none() -> None:
    program, _ = temporal_to_program(parse("Y a", AB), AB)
    assert meaning.output(program, tuple("aab")) == (0, 1, 1)
    assert machine.output(without_defaults(program), tuple("aab")) == (1, 1, 1)


# Compiled heads ----------------------------------------------------------------------------------------


def is_assembled(program: Program) -> bool:
    """Whether the assembly takes the program as it is, and makes each of its heads look for one bit.

    Strict counts are rewritten and merged outputs made a bit by `guard_edges` only.
    """
    base, _ = strip_negations(program, program.output)
    return not isinstance(program.steps[base], Merge) and not any(
        (isinstance(step, Count) and step.mask in {Mask.BEFORE, Mask.AFTER})
        or (isinstance(step, Attend) and letter_and_place(program, sought(step)) is not None)
        for step in program.steps
    )


def sought(step: Attend) -> Ref:
    """What the head of a step looks for, which has no cases."""
    assert step.where is not None
    return step.where


def compare_unguarded(seeds: range, longest: int) -> tuple[int, int]:
    """How many programs were assembled without guards, and how many of these show that they have none.

    Asserts that each network computes what its program is as a machine.
    """
    words, assembled, shown = words_up_to(AB, longest), 0, 0
    for seed in seeds:
        rng = random.Random(seed)
        sampler = ProgramSampler(rng, defaults=AS_HEADS, spelled_out=True)
        program, _ = simplify_program(sampler.program(rng.randint(3, 16)))
        if not is_assembled(program):
            continue
        network = assemble(program, {}, False, False).network
        for word in words:
            assert output_bits(network, word) == machine.output(program, word), (seed, word)
        assembled += 1
        shown += any(
            machine.output(program, word) != meaning.output(defined(program), word) for word in words
        )
    return assembled, shown


@pytest.mark.sweep(0)
def test_networks_of_unguarded_programs_compute_them_as_machines() -> None:
    assembled, shown = compare_unguarded(range(300), 4)
    assert assembled >= 200
    assert shown >= 25


@pytest.mark.slow
def test_many_networks_of_unguarded_programs_compute_them_as_machines() -> None:
    assembled, shown = compare_unguarded(range(1000, 5000), 5)
    assert assembled >= 2500
    assert shown >= 350


@pytest.mark.sweep(4)
@pytest.mark.parametrize("mask", Mask)
@pytest.mark.parametrize("choice", Choice)
def test_each_selection_is_what_its_head_computes(mask: Mask, choice: Choice) -> None:
    steps = (Letter(("w", "x")), Letter(("v", "x")), selection(mask, choice, default=None))
    program = Program(LETTERS, steps, 2)
    network = assemble(program, {}, False, False).network
    for word in words_up_to(LETTERS, 4):
        assert output_bits(network, word) == machine.output(program, word), word


@pytest.mark.parametrize("direction", Direction)
def test_each_shift_is_what_its_head_computes(direction: Direction) -> None:
    program = Program(AB, (Letter(("a",)), Shift(direction, 0, default=None)), 1)
    network = assemble(program, {}, False, False).network
    for word in words_up_to(AB, 6):
        assert output_bits(network, word) == machine.output(program, word), word


@given(programs())
def test_networks_of_guarded_programs_compute_them_as_machines(program: Program) -> None:
    after = guarded(program)
    network = assemble(after, {}, False, False).network
    for word in words_up_to(AB, 4):
        assert output_bits(network, word) == machine.output(after, word), word


def test_a_head_for_a_letter_at_a_place_prefers_one_of_the_two() -> None:
    """Where an a at position 1 is looked for in vain, it falls on the last a, or on position 1."""
    steps = (Letter(("a",)), Place(FIRST), Gate(Connective.AND, (0, 1)))
    program = Program(AB, (*steps, Attend(Mask.UP_TO, Choice.RIGHTMOST, everywhere(2), 0, None)), 3)
    network = assemble(program, {}, False, False).network
    assert machine.output(program, tuple("bbab")) == (0, 0, 1, 0)
    assert output_bits(network, tuple("bbab")) == (0, 0, 1, 1)
    by_definition = replace(program, steps=(*program.steps[:3], replace(program.steps[3], default=False)))
    assert machine.output(guarded(by_definition), tuple("bbab")) == (0, 0, 0, 0)


@pytest.mark.sweep(4)
@pytest.mark.parametrize("mask", Mask)
@pytest.mark.parametrize("choice", Choice)
def test_a_letter_at_a_place_is_looked_for_as_a_whole(mask: Mask, choice: Choice) -> None:
    steps = (Letter(("a",)), Place(FIRST), Gate(Connective.AND, (0, 1)))
    for value in (0, 1, 2):
        program = Program(AB, (*steps, Attend(mask, choice, everywhere(2), value, None)), 3)
        network = assemble(guarded(program), {}, False, False).network
        for word in words_up_to(AB, 5):
            assert output_bits(network, word) == meaning.output(program, word), word


# Cascades ----------------------------------------------------------------------------------------------


def compare_cascade(source: Cascade, longest: int) -> int:
    """How many values of steps differ between the meanings, of all words.

    Asserts that a delay's selection alone has another value, where no position before i has the residue
    that it looks for: there it falls on i - 1. It does not show: the output and all other steps are the same.
    """
    lowered, differing = cascade_to_program(source), 0
    program = lowered.program
    for word in words_up_to(source.alphabet, longest):
        said, computed = meaning.run(defined(program), word), machine.run(program, word)
        for step, own, other in zip(program.steps, said, computed, strict=True):
            for i in range(1, len(word) + 1):
                if own[i - 1] == other[i - 1]:
                    continue
                assert isinstance(step, Attend), (word, step)
                assert isinstance(program.steps[sought(step)], Place), (word, step)
                assert not any(computed[sought(step)][: i - 1]), (word, step)
                assert other[i - 1] == computed[step.value][i - 2], (word, step)
                differing += 1
        assert computed[program.output] == said[program.output], word
    return differing


@pytest.mark.sweep(6)
@pytest.mark.parametrize("name", BY_HAND)
def test_cascades_by_hand_differ_where_delays_have_not_begun(name: str) -> None:
    source, _ = BY_HAND[name]
    differing = compare_cascade(source, 6 if len(source.alphabet.symbols) == 2 else 4)
    has_delay = name in {"delay 2", "delay 3", "delays 1 and 3", "delays 1, 2 and 3", "one of each"}
    assert (differing > 0) == has_delay


@pytest.mark.sweep(0)
def test_random_cascades_differ_where_delays_have_not_begun() -> None:
    differing = [compare_cascade(random_cascade(seed), 5) for seed in range(40)]
    assert sum(map(bool, differing)) >= 4


@pytest.mark.sweep(0)
def test_cascades_of_automata_have_the_same_output_in_both() -> None:
    found = [decompose(small_automaton(seed)).chosen for seed in range(0, 40, 2)]
    cascades = [source for source in found if isinstance(source, Cascade)]
    assert len(cascades) >= 15
    for source in cascades:
        compare_cascade(source, 6)


def test_a_delay_of_two_falls_on_the_position_before() -> None:
    """At i = 2 nothing stands two places before: what is looked for is an even j, and j = 1 is found."""
    program = cascade_to_program(delays(2)).program
    word = tuple("aaba")
    changed = {
        (i, sought(step), step.value)
        for step, own, other in zip(
            program.steps, meaning.run(defined(program), word), machine.run(program, word), strict=True
        )
        for i in range(1, 5)
        if isinstance(step, Attend) and own[i - 1] != other[i - 1]
    }
    assert len(changed) == 1
    ((i, where, value),) = changed
    assert i == 2
    assert machine.run(program, word)[where] == (0, 1, 0, 1)
    assert machine.run(program, word)[value] == (1, 1, 0, 1)
