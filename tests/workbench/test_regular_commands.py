"""Regular expressions and automata through the command line: right answers, exit codes and short messages."""

from __future__ import annotations

import json
import re
import shutil
from collections.abc import Iterator
from dataclasses import dataclass, replace
from itertools import product
from pathlib import Path
from typing import Any

import pytest

import attemper as library
from attemper.certificates.files import CERTIFICATE
from attemper.certificates.files import load as load_certificate
from attemper.certificates.files import save as save_certificate
from attemper.certifying.choosing import way_taken
from attemper.compiling.decomposing.decompose import decompose
from attemper.compiling.decomposing.limits import CascadeCaps
from attemper.errors import ExitCode, MalformedFileError, OptionError
from attemper.languages.regular.dfa import Dfa
from attemper.languages.regular.files import dfa_to_json
from attemper.languages.regular.regex import parse_regex
from attemper.workbench.cli.time_limit import TimeUp
from attemper.workbench.folder import load
from tests.support.cli.command_line import Outcome, attemper
from tests.support.drawn import automata
from tests.support.mutants.saved import change_structure

LONGEST_MESSAGE = 12

WHOLE_AUTOMATON = ("compile", "classify")
"""The commands that read expressions and automata."""


def assert_refused(outcome: Outcome, code: ExitCode, fragment: str) -> None:
    assert outcome.code == code, outcome
    assert fragment in outcome.err, outcome.err
    assert outcome.out == ""
    assert outcome.err.startswith("error: ")
    assert len(outcome.err.splitlines()) <= LONGEST_MESSAGE


def asked(command: str, folder: Path, *source: object) -> Outcome:
    """The command on an expression or automaton; `compile` writes to the folder."""
    return attemper(command, *source, *(("-o", folder) if command == "compile" else ()))


def short_words(symbols: str, longest: int) -> Iterator[str]:
    for length in range(longest + 1):
        yield from map("".join, product(symbols, repeat=length))


def verdicts(folder: Path, words: list[str]) -> list[bool]:
    """What `attemper run` says to each word."""
    outcome = attemper("run", folder, "--words", "-", "--json", stdin="".join(f"{word}\n" for word in words))
    assert outcome.code == 0, outcome.err
    return [record["accepted"] for record in outcome.records]


# Expressions that are none ----------------------------------------------------------------------------


@dataclass(frozen=True)
class BadRegex:
    text: str
    code: ExitCode
    fragment: str
    alphabet: str = "ab"


BAD_REGEXES = {
    "empty": BadRegex("", ExitCode.USAGE, "'regex:' names no language: write formula:TEXT"),
    "blank": BadRegex(" \t", ExitCode.USAGE, "names no language"),
    "open bracket": BadRegex("a(b", ExitCode.SOURCE, "this bracket is not closed (line 1, column 2)"),
    "bracket too many": BadRegex("a)b", ExitCode.SOURCE, "')' closes nothing (line 1, column 2)"),
    "open set": BadRegex("[ab", ExitCode.SOURCE, "expected: ']'"),
    "backwards range": BadRegex("[b-a]", ExitCode.SOURCE, "the range b-a runs against the order"),
    "nothing to repeat": BadRegex("*a", ExitCode.SOURCE, "nothing before '*' to repeat"),
    "repetition of a repetition": BadRegex("a**", ExitCode.SOURCE, "put brackets around what it repeats"),
    "backwards repetition": BadRegex("a{2,1}", ExitCode.SOURCE, "ends before it begins"),
    "half a repetition": BadRegex("a{2", ExitCode.SOURCE, "a repetition is written {n}, {n,} or {n,m}"),
    "huge repetition": BadRegex("a{99999999999}", ExitCode.SOURCE, "at most 1000 times"),
    "missing alternative": BadRegex("a|", ExitCode.SOURCE, "ends too early"),
    "missing operand": BadRegex("a&|b", ExitCode.SOURCE, "an expression is missing before '|'"),
    "complement of nothing": BadRegex("a~", ExitCode.SOURCE, "ends too early"),
    "unknown symbol": BadRegex("abc", ExitCode.SOURCE, "symbol 'c' is not in the alphabet {a b}"),
    "second line": BadRegex("a\n c", ExitCode.SOURCE, "(line 2, column 2)"),
    "open quote": BadRegex("a'b", ExitCode.SOURCE, "quotation mark is not closed"),
    "anchors of other tools": BadRegex("^a$", ExitCode.SOURCE, "'^' cannot stand here"),
    "too deep": BadRegex("(" * 300 + "a" + ")" * 300, ExitCode.SOURCE, "nest deeper than 200 levels"),
    "too large": BadRegex(".*a.{20}b*", ExitCode.UNSUPPORTED, "more than 20000 states on the way"),
    "unprintable": BadRegex("a\x1b[31mb", ExitCode.SOURCE, r"symbol '\x1b' is not in the alphabet"),
    "no alphabet": BadRegex("a", ExitCode.WORD, "an alphabet needs at least one symbol", ""),
    "symbol twice": BadRegex("a", ExitCode.WORD, "symbol 'a' occurs twice", "aa"),
}


@pytest.mark.parametrize("command", WHOLE_AUTOMATON)
@pytest.mark.parametrize("name", BAD_REGEXES)
def test_a_bad_expression_is_refused(name: str, command: str, tmp_path: Path) -> None:
    bad = BAD_REGEXES[name]
    outcome = asked(command, tmp_path / "m", f"regex:{bad.text}", "--alphabet", bad.alphabet)
    assert_refused(outcome, bad.code, bad.fragment)
    assert not (tmp_path / "m").exists()


def test_an_error_points_at_its_place(tmp_path: Path) -> None:
    outcome = attemper("classify", "regex:ab(a|)b", "--alphabet", "ab")
    assert outcome.err.splitlines()[:3] == [
        "error: an expression is missing before ')' (line 1, column 6)",
        "    ab(a|)b",
        "         ^",
    ]


# Automata in files ------------------------------------------------------------------------------------

TWO_STATES: dict[str, Any] = {
    "alphabet": ["a", "b"],
    "states": ["p", "q"],
    "start": "p",
    "accepting": ["q"],
    "moves": {"p": {"a": "q", "b": "p"}, "q": {"a": "p", "b": "q"}},
}

WRONG: dict[str, tuple[dict[str, Any] | str, str]] = {
    "partial, but does not say so": (
        TWO_STATES | {"moves": {"p": {"a": "q"}, "q": {"a": "p", "b": "q"}}},
        'state "p" has no move for the symbol "b"; give it one, or say "partial": true',
    ),
    "nondeterministic": (
        TWO_STATES | {"moves": {"p": {"a": ["p", "q"], "b": "p"}, "q": {"a": "p", "b": "q"}}},
        "only deterministic automata are read",
    ),
    "two moves of one symbol": (
        json.dumps(TWO_STATES).replace('"b": "p"}', '"a": "p", "b": "p"}', 1),
        'the key "a" occurs twice',
    ),
    "several starts": (TWO_STATES | {"start": ["p", "q"]}, "a list is not the name of a state"),
    "unknown start": (TWO_STATES | {"start": "r"}, 'the state "r" is not in "states"'),
    "unknown accepting state": (TWO_STATES | {"accepting": ["q", "r"]}, 'the state "r" is not in "states"'),
    "unknown target": (
        TWO_STATES | {"moves": {"p": {"a": "r", "b": "p"}, "q": {"a": "p", "b": "q"}}},
        'the moves of state "p", symbol "a": the state "r" is not in "states"',
    ),
    "unknown symbol": (
        TWO_STATES | {"moves": {"p": {"a": "q", "b": "p", "c": "p"}, "q": {"a": "p", "b": "q"}}},
        'the symbol "c", which is not in "alphabet"',
    ),
    "numbers for states": (TWO_STATES | {"states": [0, 1]}, "the number 0 has no meaning here"),
    "no states": (TWO_STATES | {"states": []}, 'the state "p" is not in "states"'),
    "no symbols": (TWO_STATES | {"alphabet": []}, "the automaton's alphabet is empty"),
    "symbol with a blank": (TWO_STATES | {"alphabet": ["a", "b c"]}, "blank or unprintable character"),
    "no moves": ({k: v for k, v in TWO_STATES.items() if k != "moves"}, 'no entry "moves"'),
    "unknown entry": (TWO_STATES | {"final": ["q"]}, 'unknown entry "final"'),
    "a list": ("[]", "an automaton is a JSON object"),
    "no JSON": ("digraph { p -> q }", "this is not JSON"),
    "nothing": ("", "this is not JSON"),
}


def saved(automaton: dict[str, Any] | str, folder: Path) -> Path:
    path = folder / "automaton.json"
    path.write_text(automaton if isinstance(automaton, str) else json.dumps(automaton), encoding="utf-8")
    return path


@pytest.mark.parametrize("command", WHOLE_AUTOMATON)
@pytest.mark.parametrize("name", WRONG)
def test_a_wrong_automaton_is_refused(name: str, command: str, tmp_path: Path) -> None:
    automaton, fragment = WRONG[name]
    path = saved(automaton, tmp_path)
    outcome = asked(command, tmp_path / "m", f"dfa:{path}")
    assert_refused(outcome, ExitCode.SOURCE, fragment)
    assert str(path) in outcome.err
    assert not (tmp_path / "m").exists()


@pytest.mark.parametrize("command", WHOLE_AUTOMATON)
def test_a_file_that_cannot_be_read_is_refused(command: str, tmp_path: Path) -> None:
    nowhere = asked(command, tmp_path / "m", f"dfa:{tmp_path / 'nowhere.json'}")
    assert_refused(nowhere, ExitCode.FILE, "nowhere.json'; give the path of an automaton in JSON")
    assert_refused(asked(command, tmp_path / "m", f"dfa:{tmp_path}"), ExitCode.FILE, "cannot read")
    (tmp_path / "binary").write_bytes(b"\xff\xfe\x00")
    outcome = asked(command, tmp_path / "m", f"dfa:{tmp_path / 'binary'}")
    assert_refused(outcome, ExitCode.FILE, "not a text in UTF-8")


UNUSUAL: dict[str, tuple[dict[str, Any], int]] = {
    "two states": (TWO_STATES, 2),
    "partial": (TWO_STATES | {"partial": True, "moves": {"p": {"a": "q"}, "q": {"b": "q"}}}, 3),
    "no moves at all": (TWO_STATES | {"partial": True, "moves": {}, "accepting": ["p"]}, 2),
    "unreachable states": (
        TWO_STATES
        | {"states": ["p", "q", "island"], "moves": TWO_STATES["moves"] | {"island": {"a": "p", "b": "q"}}},
        2,
    ),
    "states that act alike": (
        TWO_STATES | {"accepting": ["p", "q"]},
        1,
    ),
    "empty language": (TWO_STATES | {"accepting": []}, 1),
    "accepting states out of reach": (
        TWO_STATES | {"accepting": ["q"], "moves": {"p": {"a": "p", "b": "p"}, "q": {"a": "p", "b": "q"}}},
        1,
    ),
    "one letter": (
        {
            "alphabet": ["a"],
            "states": ["0", "1", "2"],
            "start": "0",
            "accepting": ["0", "1"],
            "moves": {"0": {"a": "1"}, "1": {"a": "2"}, "2": {"a": "1"}},
        },
        3,
    ),
    "one letter, the empty word alone": (
        {
            "alphabet": ["a"],
            "states": ["0"],
            "start": "0",
            "accepting": ["0"],
            "moves": {},
            "partial": True,
        },
        2,
    ),
}
"""Automata that are unusual, and how many states the minimal ones have."""


def accepted(automaton: dict[str, Any], word: str) -> bool:
    """Straight from the table of the file; a move that is not there rejects."""
    state = automaton["start"]
    for symbol in word:
        state = automaton["moves"].get(state, {}).get(symbol)
        if state is None:
            return False
    return state in automaton["accepting"]


@pytest.mark.sweep(1)
@pytest.mark.parametrize("name", UNUSUAL)
def test_an_unusual_automaton_is_compiled(name: str, tmp_path: Path) -> None:
    automaton, states = UNUSUAL[name]
    path, folder = saved(automaton, tmp_path), tmp_path / "m"
    assert attemper("classify", f"dfa:{path}", "--json").record["states"] == states
    compiled = attemper("compile", f"dfa:{path}", "-o", folder)
    assert compiled.code == 0, compiled.err
    assert attemper("check", folder).code == 0
    symbols = "".join(automaton["alphabet"])
    words = list(short_words(symbols, 6 if len(symbols) > 1 else 40))
    assert verdicts(folder, words) == [accepted(automaton, word) for word in words]


@pytest.mark.slow
def test_two_hundred_states(tmp_path: Path) -> None:
    folder = tmp_path / "m"
    path = saved(dfa_to_json(automata.length_modulo(200, "ab")), tmp_path)
    assert attemper("classify", f"dfa:{path}", "--json").record["modulus"] == 200
    assert attemper("compile", f"dfa:{path}", "-o", folder, "--json").code == 0
    words = ["a" * 199, "b" * 200, "ab" * 100, "ab" * 200, "ab" * 200 + "a"]
    assert verdicts(folder, words) == [False, True, True, True, False]
    dyck = automata.dyck(198)
    assert len(dyck.moves) == 200
    path = saved(dfa_to_json(dyck), tmp_path)
    assert attemper("classify", f"dfa:{path}", "--json").record["class"] == "star-free"
    found = attemper("compile", f"dfa:{path}", "-o", tmp_path / "n", "--json").record
    assert found["layers"] == 3
    assert attemper("check", tmp_path / "n").code == 0
    deep = "(" * 198 + ")" * 198
    assert verdicts(tmp_path / "n", [deep, f"({deep})", deep[:-1]]) == [True, False, False]
    path = saved(dfa_to_json(automata.clamped(200)), tmp_path)
    refused = attemper("compile", f"dfa:{path}", "-o", tmp_path / "n")
    assert_refused(refused, ExitCode.UNSUPPORTED, "beyond the cap of ")
    assert "raise it with --limit " in refused.err


@pytest.mark.slow
def test_the_table_of_cells_in_a_row_is_what_is_compiled(tmp_path: Path) -> None:
    page = (Path(__file__).parents[2] / "docs" / "automata.md").read_text(encoding="utf-8")
    table = re.findall(
        r"^\| (cells in a row|layers|layers without counting|parameters) \| (.*) \|$", page, re.MULTILINE
    )
    rows = {name: [int(cell.replace(",", "")) for cell in cells.split(" | ")] for name, cells in table}
    found = []
    for cells in rows["cells in a row"]:
        dfa = automata.clamped(cells)
        path = saved(dfa_to_json(dfa), tmp_path)
        record = attemper("compile", f"dfa:{path}", "-o", tmp_path / "m", "--json").record
        latches = way_taken(decompose(dfa, CascadeCaps(counter=False)).alternatives)
        found.append((record["layers"], latches.sublayers, record["parameters"]))
    assert found == list(
        zip(rows["layers"], rows["layers without counting"], rows["parameters"], strict=True)
    )


@pytest.mark.parametrize("name", ["A5", "S5"])
def test_a_group_that_is_not_solvable_is_named(name: str, tmp_path: Path) -> None:
    path = saved(dfa_to_json(automata.permuting(*automata.GENERATORS[name])), tmp_path)
    refused = attemper("compile", f"dfa:{path}", "-o", tmp_path / "m")
    assert_refused(refused, ExitCode.UNSUPPORTED, "it has the factor A5")
    record = attemper("classify", f"dfa:{path}", "--json").record
    assert record["class"] == "not solvable"
    assert record["witness_holds"] is True
    assert [group["name"] for group in record["groups"]] == [name]
    assert "with the factor A5" in record["reason"]
    text = attemper("classify", f"dfa:{path}")
    assert text.code == 0
    assert "with the factor A5" in text.out


# From compile to check --------------------------------------------------------------------------------

EVENLY_MANY = dfa_to_json(automata.parity())


@pytest.fixture(scope="module")
def regex_folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("regex") / "model"
    outcome = attemper("compile", "regex:(a b)* | b+", "--alphabet", "ab", "-o", folder)
    assert outcome.code == 0, outcome.err
    return folder


@pytest.fixture(scope="module")
def dfa_folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("dfa")
    outcome = attemper("compile", f"dfa:{saved(EVENLY_MANY, folder)}", "-o", folder / "model")
    assert outcome.code == 0, outcome.err
    return folder / "model"


@pytest.fixture(params=["regex", "automaton"])
def folder(request: pytest.FixtureRequest) -> Path:
    names = {"regex": "regex_folder", "automaton": "dfa_folder"}
    found: Path = request.getfixturevalue(names[request.param])
    return found


def language_of(folder: Path) -> Dfa:
    language = load(folder).language.definition
    assert isinstance(language, Dfa)
    return language


def test_the_model_says_what_the_source_means(regex_folder: Path, dfa_folder: Path) -> None:
    words = list(short_words("ab", 8))
    expected = [w == "ab" * (len(w) // 2) or (w != "" and set(w) == {"b"}) for w in words]
    assert verdicts(regex_folder, words) == expected
    assert verdicts(dfa_folder, words) == [word.count("b") % 2 == 0 for word in words]


def test_the_model_reads_back_as_it_was(folder: Path, tmp_path: Path) -> None:
    model = load(folder)
    model.save(tmp_path)
    again = load(tmp_path)
    assert again == model
    assert again.digest == model.digest
    shutil.copy(folder / CERTIFICATE, tmp_path)
    assert attemper("check", tmp_path).code == 0


def test_certify_and_check(folder: Path, tmp_path: Path) -> None:
    load(folder).save(tmp_path)
    missing = attemper("check", tmp_path)
    assert missing.code == ExitCode.FILE
    assert "attemper certify" in missing.out
    certified = attemper("certify", tmp_path)
    assert certified.code == 0, certified.err
    assert load_certificate(tmp_path) == load_certificate(folder)
    checked = attemper("check", tmp_path)
    assert checked.code == 0
    claim, _, language = checked.out.splitlines()
    assert claim == "PROVED: all lengths, in real arithmetic"
    assert language.startswith("  language: an automaton over a b with ")
    assert f"  network: {tmp_path}" in attemper("check", tmp_path, "--all").out.splitlines()
    record = attemper("check", tmp_path, "--json").record
    assert record["verdict"] == "PROVED"
    assert {claim["status"] for claim in record["claims"]} == {"PROVED"}


def test_show(regex_folder: Path, dfa_folder: Path) -> None:
    for folder, kind, source in (
        (regex_folder, "regex", "(a b)* | b+"),
        (dfa_folder, "automaton", "an automaton with 2 states"),
    ):
        shown = attemper("show", folder)
        assert shown.code == 0
        assert shown.out.splitlines()[0].split(maxsplit=1) == [kind, source]
        assert "numerator-first kernels" in shown.out
        record = attemper("show", folder, "--json").record
        assert record[kind] == source
        assert record["at"] == "last"
        assert record["empty"] == "accept"
        assert {horizon["format"] for horizon in record["horizons"]} == {"float64", "float32", "bfloat16"}


def test_run_prints_every_prefix(folder: Path) -> None:
    dfa = language_of(folder)
    words = ["", "a", "ab", "bb", "abab", "b" * 50]
    outcome = attemper("run", folder, *words, "--json")
    assert outcome.code == 0
    for word, record in zip(words, outcome.records, strict=True):
        assert record["word"] == list(word)
        assert record["accepted"] == dfa.accepts(tuple(word))
        assert record["positions"] == [int(bit) for bit in dfa.prefixes(tuple(word))]
    for options in (("--weights", "hard"), ("--dtype", "float32")):
        assert attemper("run", folder, *words, *options, "--json").records == outcome.records
    text = attemper("run", folder, "abab")
    bits = "".join(str(int(bit)) for bit in dfa.prefixes(tuple("abab")))
    assert text.out.split() == ["accepted" if dfa.accepts(tuple("abab")) else "rejected", "abab", bits]


def test_words_with_other_symbols_are_refused(folder: Path) -> None:
    assert_refused(attemper("run", folder, "abc"), ExitCode.WORD, "symbol 'c' at position 3")
    assert_refused(attemper("trace", folder, "abc"), ExitCode.WORD, "symbol 'c' at position 3")


def test_verify(folder: Path) -> None:
    outcome = attemper("verify", folder, "--up-to", "5", "--count", "40", "--longest", "100", "--json")
    assert outcome.code == 0
    assert outcome.record["agree"] is True
    assert outcome.record["words"] >= sum(2**n for n in range(6))
    assert outcome.record["disagreement"] is None


def test_verify_finds_the_word_where_the_source_was_exchanged(regex_folder: Path, tmp_path: Path) -> None:
    other = exchanged(regex_folder, tmp_path / "m", "(a b)* | b b b+")
    outcome = attemper("verify", other, "--json")
    assert outcome.code == ExitCode.DISAGREEMENT
    assert outcome.record["disagreement"]["word"] == ["b"]
    assert outcome.record["disagreement"]["expected"] is False


def test_trace(folder: Path) -> None:
    text = attemper("trace", folder, "abb")
    assert text.code == 0
    verdict = "accepted" if language_of(folder).accepts(("a", "b", "b")) else "rejected"
    assert text.out.splitlines()[:2] == [verdict, "word abb"]
    records = attemper("trace", folder, "abb", "--json").records
    (output,) = [record for record in records if record["kind"] == "output"]
    bits = [value > 0.5 for value in output["values"]]
    assert tuple(bits) == language_of(folder).prefixes(("a", "b", "b"))
    heads = [record for record in records if record["kind"] == "head"]
    assert len(heads) == sum(len(layer.heads) for layer in load(folder).network.layers)
    assert attemper("trace", folder, "").code == 0


# The empty word ---------------------------------------------------------------------------------------


@pytest.mark.sweep(3)
@pytest.mark.parametrize(
    ("regex", "accepts"),
    [("()", True), ("a*", True), ("~[]", True), ("a", False), ("[]", False), ("a?b", False)],
)
def test_the_empty_word(regex: str, accepts: bool, tmp_path: Path) -> None:
    model = library.compile(library.regex(regex, "ab"))
    assert model.accepts("") is accepts
    assert attemper("compile", f"regex:{regex}", "--alphabet", "ab", "-o", tmp_path).code == 0
    assert load(tmp_path).accepts("") is accepts
    assert attemper("run", tmp_path, "", "--json").record == {
        "word": [],
        "accepted": accepts,
        "positions": [],
    }
    assert attemper("show", tmp_path, "--json").record["empty"] == ("accept" if accepts else "reject")
    assert attemper("verify", tmp_path, "--up-to", "4", "--count", "0").code == 0
    assert attemper("check", tmp_path).code == 0


# Symbols ----------------------------------------------------------------------------------------------


def test_symbols_of_several_characters(tmp_path: Path) -> None:
    regex = "(push pop)* push?"
    assert attemper("compile", f"regex:{regex}", "--alphabet", "push pop", "-o", tmp_path).code == 0
    outcome = attemper("run", tmp_path, "push pop push", "pop", "", "--json")
    assert [record["accepted"] for record in outcome.records] == [True, False, True]
    assert attemper("check", tmp_path).code == 0


def test_symbols_that_must_be_quoted(tmp_path: Path) -> None:
    assert attemper("compile", "regex:('(' ')')*", "--alphabet", "()", "-o", tmp_path).code == 0
    assert load(tmp_path).language.written == "('(' ')')*"
    assert verdicts(tmp_path, ["()()", "(()", ""]) == [True, False, True]
    assert attemper("show", tmp_path, "--json").record["regex"] == "('(' ')')*"


# Targets ----------------------------------------------------------------------------------------------


def test_a_horizon_is_reached_or_refused(tmp_path: Path) -> None:
    source = ("regex:(a b)*", "--alphabet", "ab")
    reached = attemper("compile", *source, "--horizon", "100000", "--dtype", "float32", "-o", tmp_path / "m")
    assert reached.code == 0, reached.err
    record = attemper("show", tmp_path / "m", "--json").record
    horizon = next(
        h["horizon"]
        for h in record["horizons"]
        if (h["format"], h["kernel"]) == ("float32", "numerator-first")
    )
    assert horizon >= 100_000
    assert load(tmp_path / "m").language.written == "(a b)*"
    far = ("--horizon", "100000", "--dtype", "bfloat16", "-o", tmp_path / "n")
    refused = attemper("compile", *source, *far)
    assert_refused(refused, ExitCode.UNSUPPORTED, "the largest that is proved is")
    assert not (tmp_path / "n").exists()


def test_a_horizon_for_an_automaton(tmp_path: Path) -> None:
    path = saved(EVENLY_MANY, tmp_path)
    outcome = attemper("compile", f"dfa:{path}", "--horizon", "500", "-o", tmp_path / "m", "--json")
    assert outcome.code == 0, outcome.err
    reached = {(h["format"], h["kernel"]): h["horizon"] for h in outcome.record["horizons"]}
    assert reached["float64", "numerator-first"] >= 500


def test_a_cascade_is_taken_where_a_counter_does_not_reach(tmp_path: Path) -> None:
    """Normalise-first kernels round counts too coarsely for 100,000 symbols in float32."""
    path = saved(dfa_to_json(automata.dyck(10)), tmp_path)
    target = ("--horizon", "100000", "--dtype", "float32", "--json", "-o", tmp_path / "m", "--kernel")
    counter = attemper("compile", f"dfa:{path}", *target, "numerator-first").record
    assert counter["layers"] == 3
    cascade = attemper("compile", f"dfa:{path}", *target, "normalise-first").record
    assert cascade["layers"] > 3
    reached = {(h["format"], h["kernel"]): h["horizon"] for h in cascade["horizons"]}
    assert reached["float32", "normalise-first"] >= 100_000


@pytest.mark.parametrize("regime", ["unbounded", "temperature", "decoder"])
def test_regimes(regime: str, tmp_path: Path) -> None:
    source = ("regex:(a a | b)*", "--alphabet", "ab", "--regime", regime)
    assert attemper("compile", *source, "-o", tmp_path).code == 0
    assert attemper("show", tmp_path, "--json").record["regime"] == regime
    assert attemper("check", tmp_path).code == 0
    words = list(short_words("ab", 5))
    runs = [word.split("b") for word in words]
    assert verdicts(tmp_path, words) == [all(len(run) % 2 == 0 for run in of) for of in runs]


# Classify ---------------------------------------------------------------------------------------------

CLASSES = {
    "(a b)*": ("star-free", 1),
    "(a | b b)*": ("quasi-aperiodic", 2),
    "(a | b a* b)*": ("solvable", None),
    "[]": ("star-free", 1),
}


@pytest.mark.parametrize("regex", CLASSES)
def test_classes_of_expressions(regex: str) -> None:
    kind, modulus = CLASSES[regex]
    record = attemper("classify", f"regex:{regex}", "--alphabet", "ab", "--json").record
    assert record["class"] == kind
    assert record["modulus"] == modulus
    assert record["witness_holds"] is True
    assert bool(record["witness"]["words"]) == (kind != "star-free")
    text = attemper("classify", f"regex:{regex}", "--alphabet", "ab")
    assert text.code == 0
    assert text.out.splitlines()[0] == f"{record['states']} states"
    assert text.out.splitlines()[1].startswith(kind)


def test_the_words_of_a_witness_permute_its_states() -> None:
    """(a | b a* b)*: a keeps both states, some word of the same length exchanges them."""
    record = attemper("classify", "regex:(a | b a* b)*", "--alphabet", "ab", "--json").record
    idle, moving = record["witness"]["words"]
    assert len(idle) == len(moving)
    assert (idle.count("b") % 2, moving.count("b") % 2) == (0, 1)
    assert sorted(record["witness"]["states"]) == [0, 1]


@pytest.mark.parametrize("regex", ["(ab)*", "(b*ab*a)*b*"])
def test_what_classify_prints_is_the_result(regex: str) -> None:
    found = library.classify(f"regex:{regex}")
    said = attemper("classify", f"regex:{regex}")
    assert (said.code, said.out) == (found.exit_code, f"{found}\n")
    assert attemper("classify", f"regex:{regex}", "--json").record == found.record
    assert str(found).splitlines()[0] == "alphabet a b (from the text)"
    assert found.record["alphabet_from_text"] is True
    assert "(from the text)" not in attemper("classify", f"regex:{regex}", "--alphabet", "ab").out


def test_classify_takes_whatever_names_a_regular_language(tmp_path: Path) -> None:
    path = saved(dfa_to_json(parse_regex("(ab)*", "ab")), tmp_path)
    library.compile("regex:(ab)*").save(tmp_path / "net")
    for language in ("H (a <-> WY b) & b", f"dfa:{path}", path, f"{tmp_path / 'net'}", "zoo:ab-star"):
        record = attemper("classify", language, "--json").record
        assert record["class"] == "star-free", language
    late = attemper("classify", "#<[a] <= #<[b]", "--seconds", 1)
    assert late.code == ExitCode.UNKNOWN
    assert "no answer within 1 seconds (making the automaton)" in late.err
    refused = attemper("classify", "F a & O b", "--at", "last")
    assert refused.code == ExitCode.UNSUPPORTED
    assert "is not made an automaton" in refused.err


def test_the_limits_that_classify_names_can_be_set() -> None:
    ask = ("classify", "regex:.*a.{6}b.*a.{3}", "--alphabet", "ab")
    few = attemper(*ask, "--limit", "sets=9", "--json")
    assert few.code == 0
    said = few.record["forcing"]["not_computed"]
    assert "more than 9 sets of states" in said
    assert "raise the limit 'sets' to 36" in said
    none = attemper(*ask, "--limit", "image_sets=5")
    assert none.code == ExitCode.UNSUPPORTED
    assert "raise it with --limit image_sets=20, or split" in " ".join(none.err.split())
    assert_refused(attemper(*ask, "--limit", "set=9"), ExitCode.USAGE, "the limits are: image_sets, sets")
    assert library.classify(ask[1], "ab", limits={"sets": 9}).forcing.refusal == said
    with pytest.raises(OptionError, match="there is no limit 'set'"):
        library.classify(ask[1], "ab", limits={"set": 9})


def test_classify_whose_time_is_up_says_what_is_known(monkeypatch: pytest.MonkeyPatch) -> None:
    def out_of_time(*_: object) -> None:
        raise TimeUp("the time was up; allow more with --seconds")

    monkeypatch.setattr("attemper.workbench.classifying.growth", out_of_time)
    said = attemper("classify", "regex:(ab)*")
    assert said.code == ExitCode.UNKNOWN
    assert "star-free" in said.out
    last = said.out.splitlines()[-1]
    assert last.endswith("at other lengths not computed: the time was up; allow more with --seconds")
    monkeypatch.setattr("attemper.workbench.classifying.classes.classify", out_of_time)
    none = attemper("classify", "regex:(ab)*")
    assert (none.code, none.out) == (ExitCode.UNKNOWN, "")
    assert "no answer within 60 seconds (making the automaton: it has 3 states" in none.err


# Options ----------------------------------------------------------------------------------------------

EXCLUSIVE: dict[str, tuple[tuple[str, ...], str]] = {
    "nothing": (("--alphabet", "ab"), "LANGUAGE"),
    "regex and automaton": (("regex:a", "dfa:x.json", "--alphabet", "ab"), "unexpected extra argument"),
    "regex without alphabet": (("regex:a",), "regex:a names the symbol a only: say which there are"),
    "regex of any symbol": (("regex:a.b",), "may mean symbols that it does not name"),
    "automaton with alphabet": (("dfa:x.json", "--alphabet", "ab"), "alphabet: an automaton has its own"),
    "another kind": (
        ("regexp:a", "--alphabet", "ab"),
        "'regexp:' is no kind of language: write formula:TEXT",
    ),
}


@pytest.mark.parametrize("command", WHOLE_AUTOMATON)
@pytest.mark.parametrize("name", EXCLUSIVE)
def test_options_that_exclude_each_other(name: str, command: str, tmp_path: Path) -> None:
    options, fragment = EXCLUSIVE[name]
    assert_refused(asked(command, tmp_path / "m", *options), ExitCode.USAGE, fragment)
    assert not (tmp_path / "m").exists()


@pytest.mark.parametrize(
    ("options", "fragment"),
    [
        (("O a", "regex:a", "--alphabet", "ab"), "unexpected extra argument"),
        (
            ("--regex", "a", "--alphabet", "ab"),
            "has no --regex any more: write attemper compile 'regex:TEXT'",
        ),
        (("--program", "x.rasp"), "has no --program any more: write attemper compile program:FILE"),
        (
            ("regex:a", "--alphabet", "ab", "--cap", "symbols=9"),
            "has no --cap any more: write --limit NAME=N",
        ),
        (("regex:a", "--alphabet", "ab", "--at", "last"), "at: an expression says this itself"),
        (("regex:a", "--alphabet", "ab", "--empty", "accept"), "empty: an expression says this itself"),
        (("dfa:x.json", "--at", "first"), "at: an automaton says this itself"),
        (("regex:a", "--alphabet", "ab", "--horizon", "0"), "--horizon"),
    ],
)
def test_options_of_compile_that_exclude_each_other(
    options: tuple[str, ...], fragment: str, tmp_path: Path
) -> None:
    assert_refused(attemper("compile", *options, "-o", tmp_path / "m"), ExitCode.USAGE, fragment)


# Saved sources that were exchanged --------------------------------------------------------------------


def exchanged(folder: Path, copy: Path, regex: str) -> Path:
    """A copy of the model of an expression that says that it came from another one; its digest fits."""
    shutil.copytree(folder, copy)
    change_structure(copy, lambda s: s["source"].update(text=regex))
    return copy


def test_the_certificate_of_another_expression_is_malformed(regex_folder: Path, tmp_path: Path) -> None:
    other = exchanged(regex_folder, tmp_path / "m", "(a b)* | b b+")
    assert attemper("check", other).code == ExitCode.FILE
    uncertified = attemper("certify", other)
    assert uncertified.code == ExitCode.UNKNOWN
    assert "no proof" in uncertified.err


def test_a_false_certificate_is_refuted_by_a_word(regex_folder: Path, tmp_path: Path) -> None:
    other = exchanged(regex_folder, tmp_path / "m", "(a b)* | b b+")
    model = load(other)
    save_certificate(
        replace(load_certificate(regex_folder), network=model.digest, language=model.language.definition),
        other,
    )
    outcome = attemper("check", other, "--json")
    assert outcome.code == ExitCode.REFUTED
    assert outcome.record["claims"][0]["witness"] == ["b"]


@pytest.mark.parametrize(
    ("regex", "fragment"),
    [
        ("(a b", "this bracket is not closed"),
        ("(a c)*", "symbol 'c' is not in the alphabet"),
        ("", "the expression is empty"),
        ("b+", "both that the empty word is accepted and rejected"),
        (".*a.{20}", "more than 20000 states"),
    ],
)
def test_a_saved_expression_that_cannot_be_is_refused(
    regex: str, fragment: str, regex_folder: Path, tmp_path: Path
) -> None:
    other = exchanged(regex_folder, tmp_path / "m", regex)
    with pytest.raises(MalformedFileError):
        load(other)
    assert_refused(attemper("show", other), ExitCode.FILE, fragment)


def test_a_saved_expression_is_not_read_at_the_first_position(regex_folder: Path, tmp_path: Path) -> None:
    shutil.copytree(regex_folder, tmp_path / "m")
    change_structure(tmp_path / "m", lambda s: s["source"].update(at="first"))
    outcome = attemper("show", tmp_path / "m")
    assert_refused(outcome, ExitCode.FILE, "an automaton is read at the last position")


@pytest.mark.parametrize(
    ("automaton", "fragment"),
    [
        ("[]", "an automaton is a JSON object"),
        (json.dumps(TWO_STATES | {"start": "r"}), 'the state "r"'),
        (json.dumps(TWO_STATES), "both that the empty word is accepted and rejected"),
    ],
)
def test_a_saved_automaton_that_cannot_be_is_refused(
    automaton: str, fragment: str, dfa_folder: Path, tmp_path: Path
) -> None:
    shutil.copytree(dfa_folder, tmp_path / "m")
    change_structure(tmp_path / "m", lambda s: s["source"].update(text=automaton))
    assert_refused(attemper("show", tmp_path / "m"), ExitCode.FILE, fragment)


def test_compiling_again_replaces_the_model(tmp_path: Path) -> None:
    compile_to = ("--alphabet", "ab", "-o", tmp_path)
    assert attemper("compile", "regex:a*", *compile_to).code == 0
    assert attemper("compile", "regex:b*", *compile_to).code == 0
    assert verdicts(tmp_path, ["a", "b"]) == [False, True]
    assert attemper("check", tmp_path).code == 0
    path = saved(EVENLY_MANY, tmp_path)
    assert attemper("compile", f"dfa:{path}", "-o", tmp_path).code == 0
    assert verdicts(tmp_path, ["ab", "bb"]) == [False, True]


def test_a_refusal_names_all_caps_that_are_met(tmp_path: Path) -> None:
    source = ("regex:(a(bc)*d|cab)*", "--alphabet", "abcd", "-o", tmp_path / "m", "--limit", "levels=1")
    refused = attemper("compile", *source, "--limit", "symbols=10", "--limit", "labels=1", "--json")
    assert refused.code == ExitCode.UNSUPPORTED
    caps = json.loads(refused.err)["error"]["limits"]
    assert set(caps) == {"levels", "symbols", "labels"}
    named = [part for cap, number in caps.items() for part in ("--limit", f"{cap}={number}")]
    assert f"raise them with {' '.join(named)}, which" in json.loads(refused.err)["error"]["message"]


@pytest.mark.parametrize(
    ("expression", "empty", "formula"),
    [
        ("~((a|b)*a(a|b){3})", " (with --empty accept)", "Y Y Y a"),
        (".*a.{3}b.*a", "", "a & O (b & Y Y Y Y a)"),
    ],
)
def test_a_refusal_of_an_automaton_names_a_formula_that_needs_no_cascade(
    expression: str, empty: str, formula: str, tmp_path: Path
) -> None:
    path = saved(dfa_to_json(parse_regex(expression, "ab")), tmp_path)
    source = (f"dfa:{path}", "-o", tmp_path / "m", "--limit", "rows=1")
    refused = attemper("compile", *source, "--json")
    assert refused.code == ExitCode.UNSUPPORTED
    said = json.loads(refused.err)["error"]
    assert "raise it with --limit rows=" in said["message"]
    assert said["message"].endswith(f"which needs no cascade: {said['formula']}{empty}")
    assert formula in said["formula"]
    same = ("same", f"dfa:{path}", f"formula:{said['formula']}", *(["--empty", "accept"] if empty else []))
    assert attemper(*same).code == 0


@pytest.mark.parametrize("source", [("regex:.*a.{3}b.*a", "--alphabet", "ab")])
def test_a_refusal_says_how_its_cap_is_raised(source: tuple[str, ...], tmp_path: Path) -> None:
    """The option that the message names, with the number that it names, is one that there is."""
    refused = attemper(
        "compile", *source, "-o", tmp_path / "m", "--limit", "symbols=10", "--limit", "levels=60"
    )
    assert_refused(refused, ExitCode.UNSUPPORTED, "beyond the cap of 10; raise it with --limit symbols=")
    found = re.search(r"raise it with --limit (symbols=\d+),", refused.err)
    assert found is not None
    assert not (tmp_path / "m").exists()
    assert attemper("compile", *source, "-o", tmp_path / "m", "--limit", "symbols=4000").code == 0
    assert attemper("check", tmp_path / "m").code == 0


@pytest.mark.parametrize(
    ("cap", "fragment"),
    [
        (
            "symbol=10",
            "there is no limit 'symbol'; the limits are: image_sets, image_states, symbols, labels, ",
        ),
        ("bases=1", "there is no limit 'bases'"),
        ("symbols", "a limit is given as NAME=N, for example symbols=8000, not as 'symbols'"),
        ("symbols=-1", "a limit is given as NAME=N"),
        ("symbols=many", "a limit is given as NAME=N"),
    ],
)
def test_a_cap_that_is_none_is_refused(cap: str, fragment: str, tmp_path: Path) -> None:
    refused = attemper("compile", "regex:a*b", "--alphabet", "ab", "-o", tmp_path / "m", "--limit", cap)
    assert_refused(refused, ExitCode.USAGE, fragment)


def test_a_formula_has_no_caps(tmp_path: Path) -> None:
    refused = attemper("compile", "O a", "--alphabet", "ab", "-o", tmp_path / "m", "--limit", "symbols=10")
    assert refused.code == ExitCode.USAGE
    assert "limits are on an automaton's cascade, and a formula or program has none" in refused.err


@pytest.mark.sweep(1)
@pytest.mark.parametrize(
    ("pattern", "words", "expected"),
    [
        ("a{40}", ["a" * 40, "a" * 39, "a" * 39 + "b"], [True, False, False]),
        ("a{100}", ["a" * 100, "a" * 99, "a" * 99 + "b"], [True, False, False]),
        pytest.param("(a{100}){100}", ["a" * 99, "b"], [False, False], marks=pytest.mark.slow),
    ],
)
def test_long_repetitions_are_counters(
    pattern: str, words: list[str], expected: list[bool], tmp_path: Path
) -> None:
    source = (f"regex:{pattern}", "--alphabet", "ab")
    assert attemper("compile", *source, "-o", tmp_path / "m").code == 0
    assert attemper("check", tmp_path / "m").code == 0
    assert verdicts(tmp_path / "m", words) == expected
