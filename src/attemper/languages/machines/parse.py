"""Texts of counter machines.

One thing stands on each line, or before each `;`; what follows `#` is a comment:

    registers n m               their order; without it the order in which they are met
    input x10 n 10              a token of the input, the register that it adds to, and how much (1)
    start go                    the token that starts, `start` if nothing is said
    take: sub n -> give else halt
    give: add m 2 -> take

A line without a label has its number for one, without `->` it goes on to the next line, and the last one
halts. Listings as Minsky's machines are written in are read, too: `0: R1- 1 2`, `1: R0+ 0`, `2: HALT`; such a
listing without tokens of the input has one for each register, which is called as it is and adds 1.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import NoReturn, final

from attemper.errors import SourceError
from attemper.languages.machines.syntax import (
    END,
    HALT,
    NAME,
    Adding,
    CounterMachine,
    Input,
    MachineLine,
    Subtracting,
)

DEFAULT_START = "start"

_STATEMENT = re.compile(r"[^;\n]+")
_WORD = re.compile(r"->|(?:(?!->)[^\s:])+:?|:")
_MINSKY = re.compile(r"(\w+)([+-])")


@final
@dataclass(frozen=True)
class _Written:
    """A word of a text, and where it stands."""

    text: str
    at: int


@final
@dataclass
class _Statement:
    """Words that are read from left to right; `at` is where the next one stands."""

    source: str
    words: list[_Written]
    end: int

    @property
    def next(self) -> str:
        """The next word, which stays; the empty text at the end."""
        return self.words[0].text if self.words else ""

    @property
    def at(self) -> int:
        """Where the next word stands."""
        return self.words[0].at if self.words else self.end

    def take(self, *expected: str) -> str:
        """The next word, which is gone then. Raises `SourceError`, saying what is `expected`, at the end."""
        if not self.words:
            self.refuse("the line ends too early", *expected)
        return self.words.pop(0).text

    def name(self, what: str) -> str:
        """The next word, a name."""
        at, word = self.at, self.take(what)
        if not NAME.fullmatch(word):
            self.refuse(f"'{word[:40]}' is no name", what, at=at)
        return word

    def number(self) -> int:
        """The next word, a number; 1 if it is none."""
        return int(self.take()) if re.fullmatch(r"[0-9]{1,9}", self.next) else 1

    def refuse(self, message: str, *expected: str, at: int | None = None) -> NoReturn:
        """Raise `SourceError` at the next word, or where it is said."""
        place = self.at if at is None else at
        before = self.source[:place]
        line, column = before.count("\n") + 1, place - before.rfind("\n")
        raise SourceError(message, text=self.source, line=line, column=column, expected=expected)


@final
@dataclass(frozen=True)
class _Draft:
    """A line as it is written; None goes on to the next line."""

    statement: _Statement
    label: str
    register: str
    amount: int
    then: _Written | None
    otherwise: _Written | None = None


@final
@dataclass
class _Listing:
    """What was read so far."""

    registers: list[str] = field(default_factory=list)
    inputs: list[tuple[str, str, int]] = field(default_factory=list)
    start: str = DEFAULT_START
    lines: list[_Draft] = field(default_factory=list)
    ends: set[str] = field(default_factory=set)
    is_minsky: bool = False


def parse_machine(text: str) -> CounterMachine:
    """Read a counter machine; this module's text has the grammar.

    Raises `SourceError` with the place of what cannot be read, and `MachineError` for what is no machine.

    >>> machine = parse_machine("input x n; take: sub n else halt; give: add m 2 -> take")
    >>> machine.registers, machine.alphabet.symbols
    (('n', 'm'), ('x', 'start', 'take-', 'take0', 'give+'))
    >>> parse_machine("0: R1- 1 2; 1: R0+ 0; 2: HALT").alphabet.symbols
    ('R0', 'R1', 'start', '0-', '00', '1+')
    """
    read = _Listing()
    for statement in _statements(text):
        _read(read, statement)
    if read.is_minsky and not read.inputs:
        read.registers.sort(key=lambda name: (len(name), name))
        read.inputs = [(name, name, 1) for name in read.registers]
    number = {name: index for index, name in enumerate(read.registers)}
    inputs = tuple(Input(token, number[register], amount) for token, register, amount in read.inputs)
    return CounterMachine(tuple(read.registers), inputs, read.start, tuple(_lines(read, number)))


def _statements(text: str) -> Iterator[_Statement]:
    bare = re.sub(r"#[^\n]*", lambda comment: " " * len(comment[0]), text)
    for found in _STATEMENT.finditer(bare):
        words = [_Written(word[0], found.start() + word.start()) for word in _WORD.finditer(found[0])]
        if words:
            yield _Statement(text, words, found.start() + len(found[0].rstrip()))


def _read(read: _Listing, statement: _Statement) -> None:
    match statement.next:
        case "registers":
            statement.take()
            read.registers += _rest(statement)
        case "input":
            statement.take()
            token, register = statement.name("a name for the token"), statement.name("a register")
            _meet(read, register)
            read.inputs.append((token, register, statement.number()))
        case "start":
            statement.take()
            read.start = statement.name("a name for the token")
        case _:
            _read_line(read, statement)
    if statement.words:
        statement.refuse(f"'{statement.next[:40]}' is not read here", "the end of the line")


def _rest(statement: _Statement) -> Iterator[str]:
    while statement.words:
        yield statement.name("a register")


def _meet(read: _Listing, register: str) -> None:
    if register not in read.registers:
        read.registers.append(register)


def _read_line(read: _Listing, statement: _Statement) -> None:
    label = str(len(read.lines) + 1)
    at = statement.at
    if statement.next.endswith(":"):
        label = statement.take().removesuffix(":")
        if not NAME.fullmatch(label) or label.lower() == HALT:
            statement.refuse(f"'{label[:40]}' is no label", "a name", at=at)
    if label in read.ends or any(own.label == label for own in read.lines):
        statement.refuse(f"two lines are called '{label}'", "another label", at=at)
    at, word = statement.at, statement.take("add", "sub", HALT)
    if word.lower() == HALT:
        read.ends.add(label)
        return
    if found := _MINSKY.fullmatch(word):
        read.is_minsky = True
        draft = _minsky(statement, label, found[1], found[2])
    elif word in {"add", "sub"}:
        draft = _ours(statement, label, word)
    else:
        statement.refuse(
            f"'{word[:40]}' is no line of a machine", "add", "sub", HALT, "registers", "input", "start", at=at
        )
    _meet(read, draft.register)
    read.lines.append(draft)


def _ours(statement: _Statement, label: str, word: str) -> _Draft:
    register = statement.name("a register")
    if word == "add":
        return _Draft(statement, label, register, statement.number(), _after(statement, "->"))
    then = _after(statement, "->")
    otherwise = _after(statement, "else")
    if otherwise is None:
        statement.refuse(f"nothing says what comes next where {register} is 0", "else")
    return _Draft(statement, label, register, 0, then, otherwise)


def _after(statement: _Statement, word: str) -> _Written | None:
    if statement.next != word:
        return None
    statement.take()
    return _target(statement)


def _target(statement: _Statement) -> _Written:
    at = statement.at
    return _Written(statement.name(f"a label or {HALT}"), at)


def _minsky(statement: _Statement, label: str, register: str, sign: str) -> _Draft:
    if sign == "+":
        return _Draft(statement, label, register, 1, _target(statement))
    return _Draft(statement, label, register, 0, _target(statement), _target(statement))


def _lines(read: _Listing, number: dict[str, int]) -> Iterator[MachineLine]:
    lines = {draft.label: index for index, draft in enumerate(read.lines, start=1)}

    def target(draft: _Draft, index: int, to: _Written | None) -> int:
        if to is None:
            return index + 1 if index < len(read.lines) else END
        if to.text.lower() == HALT or to.text in read.ends:
            return END
        if to.text not in lines:
            draft.statement.refuse(f"no line is called '{to.text}'", *list(lines)[:8], HALT, at=to.at)
        return lines[to.text]

    for index, draft in enumerate(read.lines, start=1):
        register, then = number[draft.register], target(draft, index, draft.then)
        if draft.otherwise is None:
            yield Adding(draft.label, register, draft.amount, then)
        else:
            yield Subtracting(draft.label, register, then, target(draft, index, draft.otherwise))
