"""Automata as past formulas: the same language at every position, proved for all lengths."""

from __future__ import annotations

import json
import re

import pytest

from attemper.checker.verdict import Status
from attemper.compiling.lowering.cascade_to_formula import LARGEST
from attemper.errors import ExitCode, OptionError, UnsupportedError
from attemper.languages.named.entry import Regex
from attemper.languages.regular.classes import RegularClass, classify
from attemper.languages.regular.regex import parse_regex
from attemper.languages.temporal.meaning import truth
from attemper.languages.temporal.parse import parse
from attemper.languages.temporal.show import show
from attemper.languages.temporal.syntax import CountAtom, Formula, PositionAtom, Term, subformulas
from attemper.languages.words import Alphabet, parse_alphabet, words_of_length
from attemper.workbench.cli.time_limit import TimeUp
from attemper.workbench.same import same
from attemper.workbench.translate import Way, translate
from attemper.workbench.translating import to_formula
from tests.support.cli.command_line import attemper
from tests.support.corpora.literature import ENTRIES
from tests.support.drawn import automata
from tests.support.slowly import every_nth

LANGUAGES = [
    ("a*b", "ab"),
    ("(ab)*", "ab"),
    (".*aa.*", "ab"),
    ("~(.*000.*)", "01"),
    (".*a...", "ab"),
    ("(a(ab)*b)*", "ab"),
    ("(b*ab*ab*a)*b*", "ab"),
    ("(0|11)*", "01"),
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
    assert found.agreed is None  # what is proved is not tried
    assert parse(show(found.formula), alphabet) == found.formula
    for length in range(1, 8):
        for word in words_of_length(alphabet, length):
            assert truth(found.formula, word) == dfa.prefixes(word), word
    if classify(dfa).kind is not RegularClass.APERIODIC:
        assert is_numerical(found.formula)


CHARACTERS = {
    "Tomita 1": 5,
    "Tomita 2": 23,
    "Tomita 4": 27,
    "Tomita 5, expression": 33,
    "Tomita 6, expression": 105,
    "Tomita 7": 174,
    "Even pairs, expression": 11,
    "Parity": 15,
    "Repeat 01": 24,
    "First": 7,
    "D_2": 409,
    "D_3": 64,
    "D_4": 64,
    "D_12": 65,
    "(aa)* over a": 11,
    "(aa)* over a b": 28,
    "(aaaa)* over a": 11,
    "(abab)*": 168,
    "aa*bb*cc*dd*ee*": 285,
    "[ab]*d[bc]*": 242,
    "[012]*02*": 9,
    "SL2: no ab, no cd": 134,
    "SL4: no abcd": 2158,
    "SL6: no aabbab": 1946,
    "SP3: no subsequence abc": 4329,
    "LT: aba if and only if bb": 10506,
    "LTT: at least 3 ab": 451,
    "TSL2: no ab on the tier a b, 4 symbols": 13,
    "TSL2: no ab on the tier a b, 16 symbols": 13,
    "TSL2: no ab on the tier a b, 64 symbols": 13,
    "TLTT: at least 2 ab on the tier a b": 186,
}
"""The languages of docs/languages.md that are written as an expression, and have a formula of so many
characters without a search that splits and tests positions."""


@pytest.mark.sweep(5)
@pytest.mark.parametrize("name", every_nth(sorted(CHARACTERS), 6))
def test_no_formula_of_the_literature_is_longer_than_without_splitting(name: str) -> None:
    entry = ENTRIES[name]
    assert isinstance(entry.source, Regex)
    found = translate(parse_regex(entry.source.text, Alphabet(tuple(entry.alphabet))))
    assert found.proved
    assert len(show(found.formula)) <= CHARACTERS[name]


@pytest.mark.parametrize(
    ("regex", "most"),
    [("(ab|ba)*", 47), ("(aa)*", len("H a & pos % 2 = 0")), ("0*1*0*1*", 40), (".*01.*1.*01.*", 50)],
)
def test_formulas_with_positions_and_of_several_parts_are_short(regex: str, most: int) -> None:
    alphabet = parse_alphabet("01" if "0" in regex else "ab")
    found = translate(parse_regex(regex, alphabet))
    assert found.proved
    assert found.way is Way.SEARCH
    assert len(show(found.formula)) <= most


def test_nothing_is_searched_where_the_class_has_no_such_formula(monkeypatch: pytest.MonkeyPatch) -> None:
    def searched(*_: object) -> None:
        raise AssertionError("it was searched")

    monkeypatch.setattr("attemper.workbench.translate.shortest", searched)
    assert translate(parse_regex("(b*ab*a)*b*", parse_alphabet("ab"))).text == "#<[a] % 2 = 0"
    with pytest.raises(AssertionError, match="searched"):
        translate(parse_regex("(ab)*", parse_alphabet("ab")))


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
    done = attemper("to-formula", "regex:(b*ab*a)*b*", "--alphabet", "ab")
    assert done.code == ExitCode.OK
    assert done.out.splitlines()[0] == "#<[a] % 2 = 0"
    assert "empty word: accept; proved the same language" in done.out
    assert done.out.splitlines()[2].endswith("read from the automaton's cascade")
    done = attemper("to-formula", "regex:a*b", "--alphabet", "ab", "--json")
    record = json.loads(done.out)
    assert record["proved"] is True
    assert (record["at"], record["empty"]) == ("last", "reject")
    assert (record["way"], record["agreed_up_to"]) == ("search", None)


@pytest.mark.parametrize("language", ["regex:(ab)*", "regex:(b*ab*a)*b*", "zoo:ab-star", "O (a & Y b)"])
def test_what_is_printed_is_the_result(language: str) -> None:
    found = to_formula(language)
    assert (found.status, found.exit_code) == (Status.PROVED, ExitCode.OK)
    assert attemper("to-formula", language).out == f"{found}\n"
    assert attemper("to-formula", language, "--json").record == found.record
    assert ("alphabet a b (from the text)" in str(found)) is found.record["alphabet_from_text"]
    assert same(language, f"formula:{found.text}", empty=found.record["empty"]).status is Status.PROVED


def test_a_formula_that_was_found_is_told_when_the_time_is_up(monkeypatch: pytest.MonkeyPatch) -> None:
    def out_of_time(*_: object) -> None:
        raise TimeUp("the time was up; allow more with --seconds")

    monkeypatch.setattr("attemper.workbench.translate._is_proved", out_of_time)
    done = attemper("to-formula", "regex:(ab)*", "--alphabet", "ab")
    assert done.code == ExitCode.UNKNOWN
    assert done.out.splitlines()[0] == "b & H (a <-> WY b)"
    assert "NOT proved the same language, the time was up; allow more with --seconds" in done.out
    assert to_formula("regex:(ab)*").status is Status.UNKNOWN
    monkeypatch.setattr("attemper.workbench.translating.found_formula", out_of_time)
    done = attemper("to-formula", "regex:(ab)*")
    assert (done.code, done.out) == (ExitCode.UNKNOWN, "")
    assert "no answer within 60 seconds (making the automaton: it has 3 states; translating)" in done.err


def test_the_command_refuses_groups_that_are_not_solvable() -> None:
    done = attemper("to-formula", "regex:(a|b", "--alphabet", "ab")
    assert done.code == ExitCode.SOURCE
    done = attemper("to-formula", "--alphabet", "ab")
    assert done.code == ExitCode.USAGE


@pytest.mark.slow
def test_the_cap_that_a_refusal_names_can_be_raised_here_too(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("attemper.workbench.translate.shortest", lambda *_: None)
    ask = ("to-formula", "regex:(a|b)*abba(a|b)*", "--alphabet", "ab")
    refused = attemper(*ask, "--limit", "symbols=3")
    assert refused.code == ExitCode.UNSUPPORTED
    (named,) = re.findall(r"raise it with --limit (symbols=\d+),", refused.err)
    assert attemper(*ask, "--limit", named).code == ExitCode.OK
    assert attemper(*ask, "--limit", "symbol=3").code == ExitCode.USAGE
    dfa = parse_regex("(a|b)*abba(a|b)*", parse_alphabet("ab"))
    with pytest.raises(UnsupportedError, match="beyond the cap of 3; "):
        to_formula(dfa, limits={"symbols": 3})
    with pytest.raises(OptionError, match="there is no limit 'symbol'"):
        to_formula(dfa, limits={"symbol": 3})
