"""Automata that look at the ends of a word only, as formulas of one layer: the same language, and proved."""

from __future__ import annotations

import pytest

from attemper.checker.proof import prove
from attemper.compiling.lowering.ends_to_formula import ends_to_formula
from attemper.compiling.pipeline import PassResult, compile_language
from attemper.languages.regular.regex import parse_regex
from attemper.languages.temporal.meaning import truth
from attemper.languages.temporal.show import show
from attemper.languages.words import Alphabet, words_of_length
from attemper.networks.regime import Regime

ABC = Alphabet(("a", "b", "c"))
TWO, THREE = Alphabet(("a", "b")), ABC

BY_THEIR_ENDS = {
    "a.*": (TWO, "O (first & a)", 1),
    "a.*a|b.*b|a|b": (TWO, "O (first & a) & a | !O (first & a) & b", 1),
    "a.*b": (TWO, "O (first & a) & b", 1),
    "[ab].*": (THREE, "O (first & (a | b))", 1),
    "[ab].*c": (THREE, "O (first & (a | b)) & c", 1),
    "a.*b.": (TWO, "O (first & a) & Y b", 1),
    ".*a": (TWO, "a", 0),
    ".*ab": (TWO, "b & Y a", 1),
    ".": (TWO, "first", 0),
    "a.*a|b.*b|c.*[ab]": (THREE, None, 1),
    ".*a.|b": (THREE, None, 1),
}


@pytest.mark.sweep(5)
@pytest.mark.parametrize("regex", BY_THEIR_ENDS)
def test_the_formula_is_the_language(regex: str) -> None:
    alphabet, text, layers = BY_THEIR_ENDS[regex]
    dfa = parse_regex(regex, alphabet)
    formula = ends_to_formula(dfa)
    assert formula is not None
    assert text is None or show(formula) == text
    for n in range(1, 7):
        for word in words_of_length(alphabet, n):
            assert truth(formula, word) == dfa.prefixes(word)
    for regime in Regime:
        compiled = compile_language(dfa, alphabet, regime)
        assert len(compiled.soft.layers) == layers
        prove(compiled.soft, dfa, compiled.realisation)


@pytest.mark.parametrize("regex", ["a*b", "(ab)*", ".*a..", "(..)*", "a.a.*", "(a|b)*c(a|b)*"])
def test_other_automata_have_no_such_formula(regex: str) -> None:
    assert ends_to_formula(parse_regex(regex, ABC)) is None


def test_the_empty_word_may_be_accepted_or_not() -> None:
    for regex in ("(a.*)?", "a.*"):
        dfa = parse_regex(regex, TWO)
        compiled = compile_language(dfa, TWO, Regime.UNBOUNDED)
        assert compiled.soft.accepts_empty == dfa.accepts(())
        prove(compiled.soft, dfa, compiled.realisation)


def test_the_way_that_was_taken_is_named_and_shown_to_whoever_watches() -> None:
    seen: list[PassResult] = []
    compiled = compile_language(parse_regex("a.*b", TWO), TWO, Regime.UNBOUNDED, watch=seen.append)
    assert tuple(seen) == compiled.stages
    assert seen[0].by.name == "temporal_to_program"
    assert (compiled.alternatives[-1].name, compiled.alternatives[-1].rows) == ("first and last letters", 0)


def test_where_a_cascade_is_no_deeper_it_stays() -> None:
    seen: list[PassResult] = []
    compiled = compile_language(parse_regex(".*a.", TWO), TWO, Regime.UNBOUNDED, watch=seen.append)
    assert seen[0].by.name == "cascade_to_program"
    assert (compiled.alternatives[-1].sublayers, compiled.alternatives[-1].rows) == (1, None)


def test_large_automata_are_not_looked_at() -> None:
    letters = Alphabet(tuple(f"s{k}" for k in range(30)))
    ends = "|".join(f"s{k} .* s{k}" for k in range(30))
    assert ends_to_formula(parse_regex(ends, letters)) is None
