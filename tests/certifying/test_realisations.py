"""What a network might run, if nobody says: the program of a language, or of the compiler's own networks."""

from __future__ import annotations

from dataclasses import replace

import pytest

from attemper.attention_program.language import ProgramLanguage
from attemper.attention_program.realisation import Realisation
from attemper.certifying.realisations import WAYS, realisations
from attemper.checker.proof import prove
from attemper.compiling.pipeline import compile_language
from attemper.languages.regular.dfa import Dfa
from attemper.languages.temporal.parse import parse
from attemper.languages.temporal.reading import At, TemporalLanguage
from attemper.languages.words import Alphabet
from attemper.networks.regime import Regime
from tests.support.drawn import automata

AB = Alphabet(("a", "b"))

AUTOMATA: dict[str, Dfa] = {
    "a*b": automata.a_star_b(),
    "(ab)*": automata.ab_star(),
    "Dyck-1 depth 3": automata.dyck(3),
    "Dyck-1 depth 6": automata.dyck(6),
    "S3": automata.word_problem("S3"),
}


@pytest.mark.sweep(1)
@pytest.mark.parametrize("regime", Regime)
@pytest.mark.parametrize("name", AUTOMATA)
def test_the_program_of_a_compiled_automaton_is_found(name: str, regime: Regime) -> None:
    """However it was compiled."""
    dfa = AUTOMATA[name]
    for limits in WAYS:
        compiled = compile_language(dfa, dfa.alphabet, regime, limits=limits)
        found = list(realisations(compiled.soft, dfa))
        assert compiled.realisation in found
        assert len(set(found)) == len(found)
        prove(compiled.soft, dfa, compiled.realisation)


def test_there_is_none_for_a_network_of_another_shape() -> None:
    dfa = AUTOMATA["a*b"]
    compiled = compile_language(dfa, dfa.alphabet, Regime.UNBOUNDED)
    network = compiled.soft
    assert list(realisations(replace(network, layers=network.layers[:-1]), dfa)) == [None]
    renamed = replace(network, coordinates=("own name", *network.coordinates[1:]))
    assert list(realisations(renamed, dfa)) == [None]
    assert list(realisations(network, AUTOMATA["(ab)*"])) == [None]


def test_weights_are_not_looked_at() -> None:
    dfa = AUTOMATA["a*b"]
    compiled = compile_language(dfa, dfa.alphabet, Regime.UNBOUNDED)
    changed = replace(compiled.soft, embedding=compiled.soft.embedding[::-1])
    assert compiled.realisation in list(realisations(changed, dfa))


@pytest.mark.sweep(0)
def test_an_automaton_that_nothing_compiles_has_none() -> None:
    network = compile_language(AUTOMATA["a*b"], AB, Regime.UNBOUNDED).soft
    assert list(realisations(network, automata.word_problem("A5"))) == [None]


def test_a_formula_needs_none_and_a_program_is_its_own() -> None:
    language = TemporalLanguage(parse("a S b", AB), At.LAST, accepts_empty=False)
    compiled = compile_language(language, AB, Regime.UNBOUNDED)
    assert list(realisations(compiled.soft, language)) == [None]
    program = compiled.realisation.program
    said = ProgramLanguage(program, At.LAST, accepts_empty=False)
    assert list(realisations(compiled.soft, said)) == [Realisation(program)]
