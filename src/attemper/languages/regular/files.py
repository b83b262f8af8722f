"""Automata as small JSON files, and those of the library automata-lib.

`docs/automata.md` describes the format.
"""

from __future__ import annotations

import json
from collections.abc import Collection, Hashable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, NoReturn, TypeVar

from attemper.errors import AlphabetError, AutomatonError
from attemper.files import read_utf8
from attemper.languages.regular.dfa import Dfa
from attemper.languages.regular.minimal import minimal
from attemper.languages.words import Alphabet

if TYPE_CHECKING:
    from automata.fa.dfa import DFA

_State = TypeVar("_State", bound=Hashable)

_ENTRIES = ("alphabet", "states", "start", "accepting", "moves")


def read_dfa(path: str | Path) -> Dfa:
    """The minimal automaton of a JSON file, whose form `docs/automata.md` describes.

    Raises `MalformedFileError` if the file cannot be read, `AutomatonError` naming what is wrong inside.

    >>> from tempfile import TemporaryDirectory
    >>> with TemporaryDirectory() as folder:
    ...     file = Path(folder) / "even.json"
    ...     _ = file.write_text('{"alphabet": ["a"], "states": ["even", "odd"], "start": "even", '
    ...                         '"accepting": ["even"], '
    ...                         '"moves": {"even": {"a": "odd"}, "odd": {"a": "even"}}}')
    ...     read_dfa(file).accepts(("a", "a"))
    True
    """
    text = read_utf8(Path(path), "give the path of an automaton in JSON")
    try:
        return dfa_from_json(text)
    except AutomatonError as error:
        raise AutomatonError(f"'{path}': {error}") from None


def dfa_from_json(text: str) -> Dfa:
    """The minimal automaton of the JSON text.

    A move that is not there rejects the word, if the text says `"partial": true`. Raises `AutomatonError`
    naming the state, symbol or entry that is wrong.

    >>> dfa_from_json('''{"alphabet": ["a", "b"], "states": ["even", "odd"], "start": "even",
    ...     "accepting": ["odd"], "moves": {"even": {"a": "odd", "b": "even"},
    ...                                     "odd": {"a": "even", "b": "odd"}}}''').moves
    ((1, 0), (0, 1))
    """
    entries = _entries(text)
    partial = entries.get("partial", False)
    if not isinstance(partial, bool):
        raise AutomatonError(f'"partial" is true or false, not {_shown(partial)}')
    alphabet = _alphabet(_names(entries["alphabet"], '"alphabet"'))
    states = dict.fromkeys(_names(entries["states"], '"states"'))
    accepting = _names(entries["accepting"], '"accepting"')
    for state in (entries["start"], *accepting):
        _check_state(state, states, '"start" or "accepting"')
    moves = _moves(entries["moves"], states, alphabet)
    if not partial:
        for state, row in moves.items():
            for symbol in alphabet.symbols:
                if symbol not in row:
                    raise AutomatonError(
                        f"state {_shown(state)} has no move for the symbol {_shown(symbol)}; give it one, "
                        f'or say "partial": true if the word is then rejected'
                    )
    return _completed(alphabet, entries["start"], accepting, moves)


def dfa_to_json(dfa: Dfa) -> str:
    """A JSON text of the automaton, its states named q0, q1, and so on; `dfa_from_json` reads it back."""
    names = [f"q{state}" for state in range(len(dfa.moves))]
    rows = (
        f"    {_json(name)}: {_json({s: names[t] for s, t in zip(dfa.alphabet.symbols, row, strict=True)})}"
        for name, row in zip(names, dfa.moves, strict=True)
    )
    return "\n".join(
        (
            "{",
            f'  "alphabet": {_json(dfa.alphabet.symbols)},',
            f'  "states": {_json(names)},',
            f'  "start": {_json(names[dfa.start])},',
            f'  "accepting": {_json([names[state] for state in sorted(dfa.accepting)])},',
            '  "moves": {',
            ",\n".join(rows),
            "  }",
            "}\n",
        )
    )


def dfa_from_automata_lib(dfa: DFA) -> Dfa:
    """The minimal automaton of a `DFA` of automata-lib, complete or partial; its symbols in sorted order.

    Raises `AutomatonError` for anything else, and for symbols that cannot be written.
    """
    from automata.fa.dfa import DFA

    if not isinstance(dfa, DFA):
        raise AutomatonError(
            f"a DFA of automata-lib is needed, not {type(dfa).__name__}; for an NFA call DFA.from_nfa"
        )
    alphabet = _alphabet(sorted(_names(list(dfa.input_symbols), "input_symbols")))
    moves = {state: dfa.transitions.get(state, {}) for state in dfa.states}
    return _completed(alphabet, dfa.initial_state, dfa.final_states, moves)


def _json(data: object) -> str:
    return json.dumps(data, ensure_ascii=False)


def _entries(text: str) -> dict[str, Any]:
    """The entries of the outermost object; all five are there, and no others but `partial`."""
    try:
        data = json.loads(
            text,
            object_pairs_hook=_without_twins,
            parse_int=_refuse_number,
            parse_float=_refuse_number,
            parse_constant=_refuse_number,
        )
    except json.JSONDecodeError as error:
        raise AutomatonError(f"this is not JSON: {error}") from None
    except RecursionError:
        raise AutomatonError("this is no automaton: the JSON nests too deeply") from None
    if not isinstance(data, dict):
        raise AutomatonError(f"an automaton is a JSON object with {_listed(_ENTRIES)}, not {_shown(data)}")
    for name in _ENTRIES:
        if name not in data:
            raise AutomatonError(f"the automaton has no entry {_shown(name)}; it needs {_listed(_ENTRIES)}")
    for name in data:
        if name not in {*_ENTRIES, "partial"}:
            raise AutomatonError(f"unknown entry {_shown(name)}; there are {_listed((*_ENTRIES, 'partial'))}")
    return data


def _without_twins(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found: dict[str, Any] = {}
    for key, value in pairs:
        if key in found:
            raise AutomatonError(f"the key {_shown(key)} occurs twice in one object; give it once")
        found[key] = value
    return found


def _refuse_number(spelling: str) -> NoReturn:
    raise AutomatonError(
        f"the number {spelling[:40]} has no meaning here; the names of states and symbols are texts in quotes"
    )


def _names(entry: object, what: str) -> list[str]:
    """A list of distinct texts."""
    if not isinstance(entry, list):
        raise AutomatonError(f"{what} is a list of texts, not {_shown(entry)}")
    known: set[str] = set()
    for name in entry:
        if not isinstance(name, str):
            raise AutomatonError(f"{what} is a list of texts; {_shown(name)} is none")
        if name in known:
            raise AutomatonError(f"{_shown(name)} occurs twice in {what}; give it once")
        known.add(name)
    return entry


def _alphabet(symbols: Collection[str]) -> Alphabet:
    if not symbols:
        raise AutomatonError("the automaton's alphabet is empty; it needs at least one symbol")
    try:
        return Alphabet(tuple(symbols))
    except AlphabetError as error:
        raise AutomatonError(f"the automaton's alphabet: {error}") from None


def _moves(entry: object, states: Collection[str], alphabet: Alphabet) -> dict[str, dict[str, str]]:
    """The row of each state; empty for a state without one."""
    if not isinstance(entry, dict):
        raise AutomatonError(f'"moves" is an object from states to their moves, not {_shown(entry)}')
    rows: dict[str, dict[str, str]] = {state: {} for state in states}
    symbols = frozenset(alphabet.symbols)
    for state, row in entry.items():
        _check_state(state, states, '"moves"')
        if not isinstance(row, dict):
            raise AutomatonError(
                f"the moves of state {_shown(state)} are an object from symbols to states, not {_shown(row)}"
            )
        for symbol, target in row.items():
            where = f"the moves of state {_shown(state)}"
            if symbol not in symbols:
                raise AutomatonError(f'{where} have the symbol {_shown(symbol)}, which is not in "alphabet"')
            if isinstance(target, list):
                raise AutomatonError(
                    f"{where} have a list for the symbol {_shown(symbol)}: only deterministic automata are "
                    f"read; give one state"
                )
            _check_state(target, states, f"{where}, symbol {_shown(symbol)}")
        rows[state] = row
    return rows


def _check_state(state: object, states: Collection[str], where: str) -> None:
    if not isinstance(state, str):
        raise AutomatonError(f"in {where}: {_shown(state)} is not the name of a state, which is a text")
    if state not in states:
        raise AutomatonError(f'in {where}: the state {_shown(state)} is not in "states"')


def _completed(
    alphabet: Alphabet,
    start: _State,
    accepting: Collection[_State],
    moves: Mapping[_State, Mapping[str, _State]],
) -> Dfa:
    """The minimal automaton; a move that is not there goes to one more state, which accepts nothing."""
    number = {state: index for index, state in enumerate(moves)}
    sink = len(number)
    rows = [
        tuple(number[row[symbol]] if symbol in row else sink for symbol in alphabet.symbols)
        for row in moves.values()
    ]
    rows.append((sink,) * len(alphabet.symbols))
    return minimal(Dfa(alphabet, tuple(rows), number[start], frozenset(number[state] for state in accepting)))


def _listed(names: Collection[str]) -> str:
    return ", ".join(f'"{name}"' for name in names)


def _shown(value: object) -> str:
    """The value for a message: short, in ASCII."""
    match value:
        case list():
            return "a list"
        case dict():
            return "an object"
        case _:
            text = json.dumps(value)
            return text if len(text) <= 60 else f"{text[:60]}..."
