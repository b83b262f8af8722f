"""Automata as past formulas: the same language at every position, proved for all lengths."""

from __future__ import annotations

import json
import re

import pytest

from attemper.compiling.lowering.cascade_to_formula import LARGEST
from attemper.errors import ExitCode, OptionError, UnsupportedError
from attemper.languages.regular.classes import Kind, classify
from attemper.languages.regular.regex import parse_regex
from attemper.languages.temporal.meaning import truth
from attemper.languages.temporal.parse import parse
from attemper.languages.temporal.show import show
from attemper.languages.temporal.syntax import CountAtom, Formula, PositionAtom, Term, subformulas
from attemper.languages.words import parse_alphabet, words_of_length
from attemper.workbench.asking import formula_of
from attemper.workbench.translate import translate
from tests.support import automata
from tests.support.command_line import attemper
from tests.support.slowly import every_nth

LANGUAGES = [
    ("a*b", "ab"),
    ("(ab)*", "ab"),
    (".*aa.*", "ab"),
    ("~(.*000.*)", "01"),
    (".*a...", "ab"),
    ("(a(ab)*b)*", "ab"),
    ("(0|11)*", "01"),
    ("(b*ab*ab*a)*b*", "ab"),
    ("(0|1(01*0)*1)*", "01"),
    ("(aaa)*", "a"),
    ("()", "ab"),
    (".*", "ab"),
    ("[]", "ab"),
    ("(push pop)*", "push pop"),
]


@pytest.mark.parametrize(
    ("regex", "symbols"),
    every_nth([*LANGUAGES, ("(a(a(a(a(a(ab)*b)*b)*b)*b)*b)*", "ab"), ("(b*a){0,20}b*", "ab")], 3),
)
def test_the_formula_is_the_automaton(regex: str, symbols: str) -> None:
    alphabet = parse_alphabet(symbols)
    dfa = parse_regex(regex, alphabet)
    found = translate(dfa)
    assert found.proved
    assert found.agreed >= 9
    assert parse(show(found.formula), alphabet) == found.formula
    for length in range(1, 8):
        for word in words_of_length(alphabet, length):
            assert truth(found.formula, word) == dfa.prefixes(word), word
    if (
        regex,
        symbols,
    ) in LANGUAGES:  # star-free languages need no numbers; the other two are shorter with one
        assert is_numerical(found.formula) is (classify(dfa).kind is not Kind.APERIODIC)


def is_numerical(formula: Formula) -> bool:
    """Whether it tests a number of positions or of symbols."""
    return any(
        isinstance(atom, PositionAtom | CountAtom)
        for part in subformulas(formula)
        for term in (getattr(part, name, None) for name in ("term", "left", "right"))
        if isinstance(term, Term)
        for _, atom in term.parts
    )


def test_a_formula_that_grows_too_large_is_refused() -> None:
    dfa = automata.clamped(10)
    with pytest.raises(UnsupportedError, match=f"more than the cap of {LARGEST:,}"):
        translate(dfa)


def test_the_command() -> None:
    done = attemper("formula", "--regex", "(b*ab*a)*b*", "--alphabet", "ab")
    assert done.code == ExitCode.OK
    assert done.out.splitlines()[0] == "#<[a] % 2 = 0"
    assert "empty word: accept; proved the same language" in done.out
    done = attemper("formula", "--regex", "a*b", "--alphabet", "ab", "--json")
    record = json.loads(done.out)
    assert record["proved"] is True
    assert (record["at"], record["empty"]) == ("last", "reject")


def test_the_command_refuses_groups_that_are_not_solvable() -> None:
    done = attemper("formula", "--regex", "(a|b", "--alphabet", "ab")
    assert done.code == ExitCode.SOURCE
    done = attemper("formula", "--alphabet", "ab")
    assert done.code == ExitCode.USAGE


@pytest.mark.slow
def test_the_cap_that_a_refusal_names_can_be_raised_here_too() -> None:
    ask = ("formula", "--regex", "(a|b)*abba(a|b)*", "--alphabet", "ab")
    refused = attemper(*ask, "--cap", "symbols=3")
    assert refused.code == ExitCode.UNSUPPORTED
    (named,) = re.findall(r"raise it with --cap (symbols=\d+) ", refused.err)
    assert attemper(*ask, "--cap", named).code == ExitCode.OK
    assert attemper(*ask, "--cap", "symbol=3").code == ExitCode.USAGE
    dfa = parse_regex("(a|b)*abba(a|b)*", parse_alphabet("ab"))
    with pytest.raises(UnsupportedError, match="beyond the cap of 3; "):
        formula_of(dfa, caps={"symbols": 3})
    with pytest.raises(OptionError, match="there is no cap 'symbol'"):
        formula_of(dfa, caps={"symbol": 3})
