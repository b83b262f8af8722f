"""Shifts are moved inwards where that saves a layer, and the program stays the same function."""

from __future__ import annotations

import random

import pytest

from attemper.attention_program.meaning import run
from attemper.attention_program.ops import Attend, Direction, Mask, Program, Shift
from attemper.checker.proof import prove
from attemper.compiling.lowering.temporal_to_program import temporal_to_program
from attemper.compiling.passes import layers_of
from attemper.compiling.pipeline import Compiled, compile_language
from attemper.compiling.simplifying.move_shifts import move_shifts
from attemper.compiling.simplifying.simplify_program import simplify_program
from attemper.languages.temporal.parse import parse
from attemper.languages.temporal.reading import At, TemporalLanguage
from attemper.languages.words import Alphabet, words_of_length
from attemper.networks.regime import Regime
from tests.support.drawn.samples import FormulaSampler

AB = Alphabet(("a", "b"))
SHORT = [word for n in range(1, 7) for word in words_of_length(AB, n)]


def simplified(text: str) -> Program:
    program, _ = temporal_to_program(parse(text, AB), AB)
    return simplify_program(program)[0]


def compiled(text: str, regime: Regime = Regime.UNBOUNDED) -> Compiled:
    return compile_language(TemporalLanguage(parse(text, AB), At.LAST, False), AB, regime)


@pytest.mark.parametrize(
    ("text", "mask"),
    [
        ("Y O a", Mask.BEFORE),
        ("Y (a S b)", Mask.BEFORE),
        ("X F a", Mask.AFTER),
        ("X (a U b)", Mask.AFTER),
        ("X G a", Mask.AFTER),
        ("WY H a", Mask.BEFORE),
    ],
)
def test_a_shifted_selection_is_one_selection(text: str, mask: Mask) -> None:
    program, _ = move_shifts(simplified(text))
    assert not [step for step in program.steps if isinstance(step, Shift)]
    (selection,) = (step for step in program.steps if isinstance(step, Attend))
    assert selection.mask is mask
    assert len(compiled(text).soft.layers) == 1


@pytest.mark.parametrize("text", ["X O a", "Y F a", "Y Y a", "Y (#<[a] >= 2)", "Y X a"])
def test_other_shifts_stay(text: str) -> None:
    program, _ = move_shifts(simplified(text))
    directions = [step.direction for step in program.steps if isinstance(step, Shift)]
    wanted = {"X": Direction.NEXT, "Y": Direction.PREVIOUS}
    assert directions == [wanted[letter] for letter in reversed(text) if letter in wanted]


@pytest.mark.parametrize(
    ("text", "layers"),
    [
        # Six of each: 11 layers when a shift takes its own.
        ("F (a & X F (b & X F (a & X F (b & X F (a & X F b)))))", 6),
        ("O (a & Y O (b & Y O (a & Y O (b & Y O (a & Y O b)))))", 6),
        ("H (a -> WY H (b -> WY H a))", 3),
        ("Y (a & O b)", 1),
        ("Y (a xor (b S a) xor Y a)", 2),
        ("Y (O a & even(pos))", 2),
        ("WY (Y pos % 3 = 2 | !b)", 2),
        ("#<[Y O a] >= 2", 3),
    ],
)
def test_shifts_cost_no_layer_where_they_can_be_moved(text: str, layers: int) -> None:
    made = compiled(text)
    assert len(made.soft.layers) == layers
    prove(made.soft, TemporalLanguage(parse(text, AB), At.LAST, False))


@pytest.mark.parametrize("text", ["Y a", "Y (a & Y O b) | Y Y Y a", "Y (a | b & Y a) & O a"])
def test_nothing_is_moved_where_no_layer_is_saved(text: str) -> None:
    program = simplified(text)
    moved, _ = move_shifts(program)
    assert layers_of(moved) == layers_of(program)
    assert compiled(text).program == program


@pytest.mark.sweep(9)
@pytest.mark.parametrize("seed", range(40))
def test_a_random_program_computes_the_same_and_is_not_deeper(seed: int) -> None:
    rng = random.Random(seed)
    program, _ = temporal_to_program(FormulaSampler(rng, AB.symbols).formula(rng.choice((3, 4))), AB)
    program, _ = simplify_program(program)
    moved, to = move_shifts(program)
    assert layers_of(moved) <= layers_of(program)
    for word in SHORT[:: len(SHORT) // 30]:
        before, after = run(program, word), run(moved, word)
        for old, new in enumerate(to):
            assert new < 0 or before[old] == after[new]


@pytest.mark.sweep(0)
def test_gates_nested_deeply_are_moved_through_without_recursion() -> None:
    text = "Y (" + "O b & !(a xor " * 300 + "a" + ")" * 301
    program = simplified(text)
    moved, _ = move_shifts(program)
    assert (layers_of(program), layers_of(moved)) == (2, 1)
