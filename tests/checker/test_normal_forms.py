"""Normal forms against the definition: equal forms mean equal truth, and diagrams keep their ties."""

from __future__ import annotations

import itertools
import random
from collections import defaultdict

import pytest

from attemper.checker.diagrams import Diagram, Diagrams, Tie
from attemper.checker.identities import Formulas
from attemper.checker.names import UnprovenError
from attemper.checker.source import meanings_of
from attemper.languages.temporal.meaning import truth
from attemper.languages.temporal.show import show
from attemper.languages.temporal.syntax import Formula
from attemper.languages.words import Alphabet, words_of_length
from tests.support.drawn.samples import FormulaSampler
from tests.support.suites import Few

AB = Alphabet(("a", "b"))
WORDS = [word for length in range(1, 7) for word in words_of_length(AB, length)]


def _meanings(formula: Formula) -> tuple[tuple[bool, ...], ...]:
    return tuple(truth(formula, word) for word in WORDS)


@pytest.mark.sweep(0)
@pytest.mark.parametrize("seed", range(12))
def test_formulas_with_one_normal_form_have_one_truth(seed: int) -> None:
    """In one set of names: whatever shares a diagram must agree on every position of every short word."""
    rng = random.Random(seed)
    names = Formulas(AB.symbols).names
    classes: dict[Diagram, list[Formula]] = defaultdict(list)
    for _ in range(250):
        formula = FormulaSampler(rng, AB.symbols).formula(rng.choice((1, 2, 2, 3)))
        try:
            classes[meanings_of(names.positions, formula)[formula]].append(formula)
        except UnprovenError:
            continue
    shared = [members for members in classes.values() if len(members) > 1]
    assert len(shared) > 5
    for first, *others in shared:
        expected = _meanings(first)
        for other in others:
            assert _meanings(other) == expected, (show(first), show(other))


@pytest.mark.sweep(1)
@pytest.mark.parametrize("seed", range(6))
def test_negations_and_constants_are_found(seed: int, few: Few) -> None:
    """A form that is constant, or the negation of another, must be so by definition too."""
    rng = random.Random(100 + seed)
    names = Formulas(AB.symbols).names
    for _ in few(range(150), 60):
        formula = FormulaSampler(rng, AB.symbols).formula(3)
        try:
            form = meanings_of(names.positions, formula)[formula]
        except UnprovenError:
            continue
        assert names.is_bit(form)
        assert names.negation(names.negation(form)) == form
        if names.diagrams.is_constant(form):
            values = {value for row in _meanings(formula) for value in row}
            assert values == {form == names.true}, show(formula)


def _random_diagram(diagrams: Diagrams, rng: random.Random, depth: int) -> Diagram:
    if depth == 0:
        return diagrams.constant(rng.randrange(2))
    variable = (rng.randrange(3), rng.randrange(3))
    own = diagrams.bit(variable, diagrams.constant(0), diagrams.constant(1))
    left, right = (_random_diagram(diagrams, rng, depth - 1) for _ in range(2))
    return diagrams.combine("&", min, diagrams.combine("^", lambda a, b: a ^ b, own, left), right)


def _value(diagrams: Diagrams, diagram: Diagram, bits: dict[tuple[int, int], bool]) -> object:
    while not diagrams.is_constant(diagram):
        variable, low, high = diagrams.top(diagram)
        diagram = high if bits[variable] else low
    return diagrams.value(diagram)


def _assignments() -> list[dict[tuple[int, int], bool]]:
    """Every assignment that keeps the ties of a free, a chained and an exclusive family of three bits."""
    found = []
    for free in itertools.product((False, True), repeat=3):
        for chain in range(4):
            for exclusive in range(4):
                bits = {(0, k): free[k] for k in range(3)}
                bits |= {(1, k): chain > k for k in range(3)}
                bits |= {(2, k): exclusive == k for k in range(3)}
                found.append(bits)
    return found


@pytest.mark.parametrize("seed", range(40))
def test_diagrams_are_equal_exactly_if_their_functions_are(seed: int) -> None:
    rng = random.Random(seed)
    diagrams = Diagrams()
    for tie in (Tie.FREE, Tie.CHAIN, Tie.EXCLUSIVE):
        diagrams.family(tie)
    assignments = _assignments()
    by_function: dict[tuple[object, ...], Diagram] = {}
    for _ in range(30):
        diagram = _random_diagram(diagrams, rng, rng.choice((1, 2, 3)))
        function = tuple(_value(diagrams, diagram, bits) for bits in assignments)
        assert by_function.setdefault(function, diagram) == diagram


@pytest.mark.parametrize("seed", range(40))
def test_constrain_agrees_where_it_must_and_only_depends_on_that(seed: int) -> None:
    rng = random.Random(seed)
    diagrams = Diagrams()
    for tie in (Tie.FREE, Tie.CHAIN, Tie.EXCLUSIVE):
        diagrams.family(tie)
    false = diagrams.constant(0)
    assignments = _assignments()
    for _ in range(20):
        first, second, care = (_random_diagram(diagrams, rng, 2) for _ in range(3))
        if care == false:
            continue
        cared = diagrams.constrain(first, care, false)
        where = [bits for bits in assignments if _value(diagrams, care, bits)]
        assert all(_value(diagrams, cared, b) == _value(diagrams, first, b) for b in where)
        mixed = diagrams.combine(
            "|",
            max,
            diagrams.combine("&", min, first, care),
            diagrams.combine("&", min, second, diagrams.map("!", lambda v: 1 - v, care)),
        )
        assert diagrams.constrain(mixed, care, false) == cared
