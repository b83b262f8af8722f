"""Automata as JSON and from automata-lib: round trips, partial tables, and every bad file."""

from __future__ import annotations

import json
import random
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from automata.fa.dfa import DFA
from automata.fa.nfa import NFA
from hypothesis import given, settings
from hypothesis import strategies as st

from attemper.errors import AutomatonError, ExitCode, MalformedFileError
from attemper.languages.regular.dfa import Dfa
from attemper.languages.regular.files import dfa_from_automata_lib, dfa_from_json, dfa_to_json, read_dfa
from attemper.languages.regular.minimal import minimal
from attemper.languages.words import Alphabet, Word, words_of_length

GOOD: dict[str, Any] = {
    "alphabet": ["a", "b"],
    "states": ["q0", "q1"],
    "start": "q0",
    "accepting": ["q1"],
    "moves": {"q0": {"a": "q1", "b": "q0"}, "q1": {"a": "q0", "b": "q1"}},
}
ODD = Dfa(Alphabet(("a", "b")), ((1, 0), (0, 1)), 0, frozenset({1}))


@st.composite
def dfas(draw: st.DrawFn) -> Dfa:
    symbol = st.text(min_size=1, max_size=3).filter(
        lambda s: s.isprintable() and len(s.split()) == 1 and " " not in s and not {"'", '"'} <= set(s)
    )
    alphabet = Alphabet(tuple(draw(st.lists(symbol, min_size=1, max_size=3, unique=True))))
    count = draw(st.integers(1, 6))
    states = st.integers(0, count - 1)
    row = st.tuples(*(states for _ in alphabet.symbols))
    moves = tuple(draw(row) for _ in range(count))
    return Dfa(alphabet, moves, draw(states), draw(st.frozensets(states)))


def walk(table: dict[str, Any], word: Word) -> bool:
    """Whether the table as it is written accepts the word; a move that is not there rejects it."""
    state = table["start"]
    for symbol in word:
        state = table["moves"].get(state, {}).get(symbol)
    return state in table["accepting"]


def agree(dfa: Dfa, table: dict[str, Any], length: int = 6) -> bool:
    words = (word for n in range(length + 1) for word in words_of_length(dfa.alphabet, n))
    return all(dfa.accepts(word) is walk(table, word) for word in words)


# Round trips ---------------------------------------------------------------------------------------


@given(dfas())
def test_an_automaton_written_reads_back(dfa: Dfa) -> None:
    text = dfa_to_json(dfa)
    assert dfa_from_json(text) == minimal(dfa)
    table = json.loads(text)
    assert list(table) == list(GOOD)
    assert agree(dfa, table, 4)


def test_the_text_of_an_automaton() -> None:
    assert dfa_to_json(ODD) == (
        "{\n"
        '  "alphabet": ["a", "b"],\n'
        '  "states": ["q0", "q1"],\n'
        '  "start": "q0",\n'
        '  "accepting": ["q1"],\n'
        '  "moves": {\n'
        '    "q0": {"a": "q1", "b": "q0"},\n'
        '    "q1": {"a": "q0", "b": "q1"}\n'
        "  }\n"
        "}\n"
    )
    assert dfa_from_json(dfa_to_json(ODD)) == dfa_from_json(json.dumps(GOOD)) == ODD


def test_accepting_states_are_written_in_order() -> None:
    dfa = Dfa(Alphabet(("a",)), tuple(((k + 1) % 10,) for k in range(10)), 0, frozenset({8, 1, 3}))
    assert json.loads(dfa_to_json(dfa))["accepting"] == ["q1", "q3", "q8"]


def test_a_file_is_read_with_and_without_a_byte_order_mark(tmp_path: Path) -> None:
    path = tmp_path / "odd.json"
    for mark in (b"", b"\xef\xbb\xbf"):
        path.write_bytes(mark + json.dumps(GOOD).encode())
        assert read_dfa(path) == ODD


# Tables with gaps ----------------------------------------------------------------------------------


def random_table(rng: random.Random, gaps: float) -> dict[str, Any]:
    states = [f"s{k}" for k in range(rng.randint(1, 6))]
    rng.shuffle(states)
    rows = {s: {c: rng.choice(states) for c in "ab" if rng.random() >= gaps} for s in states}
    return {
        "alphabet": ["a", "b"],
        "states": states,
        "start": rng.choice(states),
        "accepting": [s for s in states if rng.random() < 0.5],
        "moves": {s: row for s, row in rows.items() if row or rng.random() < 0.5},
    }


@pytest.mark.sweep(30)
@pytest.mark.parametrize("seed", range(100))
def test_a_move_that_is_not_there_rejects_if_the_file_says_so(seed: int) -> None:
    table = random_table(random.Random(seed), 0.4)
    dfa = dfa_from_json(json.dumps({**table, "partial": True}))
    assert agree(dfa, table)
    assert minimal(dfa) == dfa
    gaps = [(s, c) for s in table["states"] for c in "ab" if c not in table["moves"].get(s, {})]
    for partial in ({}, {"partial": False}):
        if not gaps:
            assert dfa_from_json(json.dumps({**table, **partial})) == dfa
            continue
        state, symbol = gaps[0]
        with pytest.raises(AutomatonError) as caught:
            dfa_from_json(json.dumps({**table, **partial}))
        assert str(caught.value) == (
            f'state "{state}" has no move for the symbol "{symbol}"; give it one, '
            f'or say "partial": true if the word is then rejected'
        )


def test_unreachable_states_are_allowed_and_dropped() -> None:
    moves = {**GOOD["moves"], "far": {"a": "far", "b": "q0"}}
    table = {**GOOD, "states": ["far", "q0", "q1"], "accepting": ["q1", "far"], "moves": moves}
    assert dfa_from_json(json.dumps(table)) == ODD


def test_no_state_need_accept() -> None:
    dfa = dfa_from_json(json.dumps({**GOOD, "accepting": []}))
    assert dfa == Dfa(ODD.alphabet, ((0, 0),), 0, frozenset())


# Bad files -----------------------------------------------------------------------------------------


def changed(**entries: Any) -> str:
    return json.dumps({**GOOD, **entries})


def row_of_q0(**moves: Any) -> str:
    return changed(moves={**GOOD["moves"], "q0": {**GOOD["moves"]["q0"], **moves}})


def without(entry: str) -> str:
    return json.dumps({name: value for name, value in GOOD.items() if name != entry})


BAD = {
    "empty": ("", "this is not JSON"),
    "not JSON": ("states: q0", "this is not JSON: Expecting value: line 1 column 1"),
    "truncated": (json.dumps(GOOD)[:-1], "this is not JSON"),
    "followed by more": (json.dumps(GOOD) + "{}", "this is not JSON: Extra data"),
    "byte order mark": ("\ufeff" + json.dumps(GOOD), "this is not JSON"),
    "a list": ("[]", 'an automaton is a JSON object with "alphabet", "states"'),
    "a text": ('"q0"', 'an automaton is a JSON object with "alphabet", "states"'),
    "null": ("null", "not null"),
    "no alphabet": (
        without("alphabet"),
        'the automaton has no entry "alphabet"; it needs "alphabet", "states"',
    ),
    "no states": (without("states"), 'no entry "states"'),
    "no start": (without("start"), 'no entry "start"'),
    "no accepting": (without("accepting"), 'no entry "accepting"'),
    "no moves": (without("moves"), 'no entry "moves"'),
    "another entry": (changed(final=["q1"]), 'unknown entry "final"; there are "alphabet", "states"'),
    "alphabet empty": (changed(alphabet=[]), "alphabet is empty; it needs at least one symbol"),
    "alphabet a text": (changed(alphabet="ab"), '"alphabet" is a list of texts, not "ab"'),
    "alphabet of lists": (changed(alphabet=[["a"]]), '"alphabet" is a list of texts; a list is none'),
    "symbol twice": (changed(alphabet=["a", "b", "a"]), '"a" occurs twice in "alphabet"'),
    "symbol empty": (changed(alphabet=["a", ""]), "the automaton's alphabet: the empty text is not a symbol"),
    "symbol blank": (changed(alphabet=["a b"]), "the automaton's alphabet: symbol 'a b' has a blank"),
    "symbol surrogate": (changed(alphabet=["\ud800"]), r"symbol '\ud800' has a blank or unprintable"),
    "states an object": (changed(states={"q0": True}), '"states" is a list of texts, not an object'),
    "state null": (changed(states=["q0", None]), '"states" is a list of texts; null is none'),
    "state twice": (changed(states=["q0", "q1", "q0"]), '"q0" occurs twice in "states"'),
    "no state at all": (changed(states=[]), 'the state "q0" is not in "states"'),
    "start unknown": (changed(start="q7"), 'the state "q7" is not in "states"'),
    "start a list": (changed(start=["q0"]), "a list is not the name of a state"),
    "start null": (changed(start=None), "null is not the name of a state"),
    "accepting a text": (changed(accepting="q1"), '"accepting" is a list of texts, not "q1"'),
    "accepting unknown": (changed(accepting=["q1", "x"]), 'the state "x" is not in "states"'),
    "accepting twice": (changed(accepting=["q1", "q1"]), '"q1" occurs twice in "accepting"'),
    "partial a text": (changed(partial="yes"), '"partial" is true or false, not "yes"'),
    "partial null": (changed(partial=None), '"partial" is true or false, not null'),
    "moves a list": (changed(moves=[]), '"moves" is an object from states to their moves, not a list'),
    "moves of another state": (
        changed(moves={**GOOD["moves"], "q2": {}}),
        'in "moves": the state "q2" is not in "states"',
    ),
    "row a text": (changed(moves={"q0": "q1"}), 'the moves of state "q0" are an object from symbols'),
    "another symbol": (
        row_of_q0(c="q1"),
        'the moves of state "q0" have the symbol "c", which is not in "alphabet"',
    ),
    "nondeterministic": (row_of_q0(a=["q0", "q1"]), 'the moves of state "q0" have a list for the symbol "a"'),
    "target unknown": (
        row_of_q0(b="q9"),
        'in the moves of state "q0", symbol "b": the state "q9" is not in "states"',
    ),
    "target null": (row_of_q0(b=None), 'symbol "b": null is not the name of a state'),
    "target an object": (row_of_q0(b={}), 'symbol "b": an object is not the name of a state'),
    "move missing": (
        changed(moves={"q0": {"a": "q1", "b": "q0"}, "q1": {"a": "q0"}}),
        'state "q1" has no move for the symbol "b"',
    ),
    "row missing": (
        changed(moves={"q0": {"a": "q1", "b": "q0"}}),
        'state "q1" has no move for the symbol "a"',
    ),
    "number": (changed(states=["q0", 1]), "the number 1 has no meaning here"),
    "fraction": (changed(start=1.5), "the number 1.5 has no meaning here"),
    "not a number": (changed(start=float("nan")), "the number NaN has no meaning here"),
    "infinite": (changed(start=float("inf")), "the number Infinity has no meaning here"),
    "huge number": (
        changed().replace('"q0"', "9" * 100_000, 1),
        f"the number {'9' * 40} has no meaning here",
    ),
    "huge exponent": (changed().replace('"q0"', "1e999999", 1), "the number 1e999999 has no meaning here"),
    "nests deeply": (
        changed().replace('"q0"', "[" * 100_000 + "]" * 100_000, 1),
        "the JSON nests too deeply",
    ),
    "nests and is not closed": ('{"a":' * 100_000, "the JSON nests too deeply"),
    "entry twice": (changed()[:-1] + ', "start": "q1"}', 'the key "start" occurs twice in one object'),
    "symbol twice in a row": (
        changed().replace('"a": "q1"', '"a": "q1", "a": "q0"'),
        'the key "a" occurs twice',
    ),
    "state twice in moves": (changed().replace('"q1": {', '"q0": {'), 'the key "q0" occurs twice'),
    "long names": (changed(start="x" * 10_000), 'the state "xxxx'),
}


@pytest.mark.parametrize("name", BAD)
def test_a_bad_automaton_is_refused_by_name(name: str, tmp_path: Path) -> None:
    text, fragment = BAD[name]
    with pytest.raises(AutomatonError) as caught:
        dfa_from_json(text)
    assert fragment in str(caught.value)
    assert len(str(caught.value)) < 300
    assert caught.value.exit_code is ExitCode.SOURCE
    str(caught.value).encode()
    if name != "byte order mark":
        path = tmp_path / "bad.json"
        path.write_text(text, encoding="utf-8")
        with pytest.raises(AutomatonError) as caught_in_file:
            read_dfa(path)
        assert str(caught_in_file.value) == f"'{path}': {caught.value}"


def test_a_file_that_cannot_be_read(tmp_path: Path) -> None:
    (tmp_path / "latin.json").write_bytes(json.dumps(GOOD).encode() + b"\xe9")
    for name, fragment in (
        ("missing.json", "there is no"),
        ("", "cannot read"),
        ("a\0b", "cannot read"),
        ("latin.json", "is not a text in UTF-8"),
    ):
        with pytest.raises(MalformedFileError, match=fragment):
            read_dfa(tmp_path / name)


NAMES = st.sampled_from(["a", "b", "q0", "q1"])
JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | NAMES | st.text(max_size=3),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(NAMES, inner, max_size=3),
    max_leaves=8,
)


def read_or_none(text: str) -> Dfa | None:
    try:
        return dfa_from_json(text)
    except AutomatonError:
        return None


@pytest.mark.sweep(0)
@settings(max_examples=500, deadline=None)
@given(st.fixed_dictionaries({}, optional={name: JSON for name in (*GOOD, "partial")}))
def test_any_entries_are_an_automaton_or_an_error(entries: dict[str, Any]) -> None:
    table = {**GOOD, **entries}
    dfa = read_or_none(json.dumps(table))
    if dfa is not None:
        assert agree(dfa, table, 3)


@settings(max_examples=500, deadline=None)
@given(st.text(max_size=40), st.integers(0, 160), st.integers(0, 30))
def test_a_damaged_text_is_an_automaton_or_an_error(inserted: str, place: int, removed: int) -> None:
    text = json.dumps(GOOD)
    damaged = text[:place] + inserted + text[place + removed :]
    dfa = read_or_none(damaged)
    if dfa is not None:
        assert agree(dfa, json.loads(damaged), 3)


# automata-lib --------------------------------------------------------------------------------------


def library_dfa(table: dict[str, Any]) -> DFA:
    return DFA(
        states=set(table["states"]),
        input_symbols=set(table["alphabet"]),
        transitions={state: table["moves"].get(state, {}) for state in table["states"]},
        initial_state=table["start"],
        final_states=set(table["accepting"]),
        allow_partial=True,
    )


@pytest.mark.sweep(25)
@pytest.mark.parametrize("seed", range(60))
def test_the_library_s_automata_are_read_complete_or_partial(seed: int) -> None:
    rng = random.Random(seed)
    table = random_table(rng, rng.choice((0.0, 0.4)))
    theirs = library_dfa(table)
    ours = dfa_from_automata_lib(theirs)
    assert agree(ours, table)
    assert len(ours.moves) == len(theirs.to_complete().minify(retain_names=False).to_complete().states)
    assert ours == dfa_from_json(json.dumps({**table, "partial": True}))


def test_states_of_the_library_may_be_anything_hashable() -> None:
    theirs = DFA.from_nfa(NFA.from_regex("(a|b)*ab"), retain_names=True)
    assert any(not isinstance(state, int | str) for state in theirs.states)
    ours = dfa_from_automata_lib(theirs)
    for word in (word for n in range(7) for word in words_of_length(ours.alphabet, n)):
        assert ours.accepts(word) is (word[-2:] == ("a", "b"))


def test_symbols_of_the_library_are_sorted() -> None:
    theirs = DFA.from_finite_language(set("cadjbfgehi") | {"push"}, {"c"})
    assert dfa_from_automata_lib(theirs).alphabet.symbols == (*"abcdefghij", "push")


def bare_library_dfa(symbols: set[Any]) -> DFA:
    return DFA(
        states={0},
        input_symbols=symbols,
        transitions={0: {}},
        initial_state=0,
        final_states={0},
        allow_partial=True,
    )


@pytest.mark.parametrize(
    ("theirs", "fragment"),
    [
        (NFA.from_regex("a"), "a DFA of automata-lib is needed, not NFA; for an NFA call DFA.from_nfa"),
        (ODD, "a DFA of automata-lib is needed, not Dfa"),
        (None, "not NoneType"),
        (bare_library_dfa(set()), "alphabet is empty"),
        (bare_library_dfa({1}), "input_symbols is a list of texts; 1 is none"),
        (bare_library_dfa({"a b"}), "symbol 'a b' has a blank"),
    ],
)
def test_what_cannot_be_read_from_the_library(theirs: Any, fragment: str) -> None:
    with pytest.raises(AutomatonError, match=fragment):
        dfa_from_automata_lib(theirs)


def test_reading_files_loads_neither_the_library_nor_anything_heavy() -> None:
    script = "import sys, attemper.languages.regular.files; print(*sys.modules)"
    run = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    assert not {"automata", "lark", "torch", "numpy"} & set(run.stdout.split())
