"""Turing machines in the notation of bbchallenge, what they do, and the attention program that does it.

`1RB1LB_1LA1RZ`: one row for each state A, B, ..., and in it for each symbol 0, 1, ... what is written, where
the head moves, and the state that follows. A letter behind the last state halts, and so does `---`, or 1RZ.

A step is a token, as `B1R`: state B follows, 1 was written, the head went right. So the tokens say where the
head is (how often it went right less how often it went left) and what stands there: what the last token wrote
that began where the head is now.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import final

from attemper.errors import SourceError
from attemper.languages.machines.cases import first_of, one_of

START = "start"
"""The token before the first step."""

UNDEFINED = "---"

MOST_STATES, MOST_SYMBOLS = 25, 10

_TOKEN = re.compile(r"([A-Z])([0-9])([LR])")

_CELL = re.compile(r"([0-9])([LR])([A-Z])|---")


@final
@dataclass(frozen=True)
class Move:
    """What is written, L or R, and the letter of the state that follows."""

    symbol: str
    direction: str
    state: str

    @property
    def token(self) -> str:
        """What is written where this is done."""
        return f"{self.state}{self.symbol}{self.direction}"

    @classmethod
    def of_token(cls, token: str) -> Move | None:
        """What a token says was done; None for what is no token of a step.

        >>> Move.of_token("B1R"), Move.of_token("start")
        (Move(symbol='1', direction='R', state='B'), None)
        """
        found = _TOKEN.fullmatch(token)
        return None if found is None else cls(found[2], found[3], found[1])


@final
@dataclass(frozen=True)
class TuringMachine:
    """What is done in each state, A (the first), B, ..., at each symbol, 0 (the blank), 1, ..."""

    rows: tuple[tuple[Move, ...], ...]

    @property
    def states(self) -> str:
        """The letters of the states: all others halt."""
        return "".join(chr(ord("A") + k) for k in range(len(self.rows)))

    @property
    def moves(self) -> dict[tuple[str, str], Move]:
        """What is done, by state and symbol."""
        cells = zip(self.states, self.rows, strict=True)
        return {(state, str(symbol)): move for state, row in cells for symbol, move in enumerate(row)}

    @property
    def tokens(self) -> tuple[Move, ...]:
        """The moves that write different tokens, in the order of the table."""
        return tuple(dict.fromkeys(self.moves.values()))


def parse_turing(text: str) -> TuringMachine:
    """Read a machine. Raises `SourceError` with the place of what is wrong.

    >>> parse_turing("1RB1LB_1LA1RZ").rows[1]
    (Move(symbol='1', direction='L', state='A'), Move(symbol='1', direction='R', state='Z'))
    """
    rows, at = list[tuple[Move, ...]](), 0
    for written in text.split("_"):
        rows.append(tuple(_cells(text, written, at)))
        if len(rows[-1]) != len(rows[0]):
            raise _wrong(text, at, f"this row has {len(rows[-1])} cells, and the first {len(rows[0])}")
        at += len(written) + 1
    if len(rows) > MOST_STATES or len(rows[0]) > MOST_SYMBOLS:
        raise _wrong(text, 0, f"a machine has at most {MOST_STATES} states and {MOST_SYMBOLS} symbols")
    for row, cells in enumerate(rows):
        for cell, move in enumerate(cells):
            if int(move.symbol) >= len(cells):
                place = row * (3 * len(cells) + 1) + 3 * cell
                raise _wrong(
                    text, place, f"the symbol {move.symbol} is written, and the last is {len(cells) - 1}"
                )
    return TuringMachine(tuple(rows))


def _cells(text: str, row: str, at: int) -> Iterator[Move]:
    if not row:
        raise _wrong(text, at, "a row has no cell")
    for start in range(0, len(row), 3):
        found = _CELL.fullmatch(row[start : start + 3])
        if found is None:
            raise _wrong(text, at + start, f"'{row[start : start + 3]}' is no cell")
        yield Move("1", "R", "Z") if found[0] == UNDEFINED else Move(*found.groups())


def _wrong(text: str, at: int, message: str) -> SourceError:
    return SourceError(
        message, text=text, column=at + 1, expected=("cells such as 1RB or ---", "rows parted by _")
    )


def run_turing(machine: TuringMachine) -> Iterator[Move]:
    """What it does, step by step, from the blank tape on, until it halts, if it does.

    >>> [move.token for move in run_turing(parse_turing("1RB1LB_1LA1RZ"))]
    ['B1R', 'A1L', 'B1L', 'A1L', 'B1R', 'Z1R']
    """
    tape, head, state = dict[int, str](), 0, "A"
    while state in machine.states:
        move = machine.moves[state, tape.get(head, "0")]
        tape[head], state = move.symbol, move.state
        head += 1 if move.direction == "R" else -1
        yield move


def program_text(machine: TuringMachine) -> str:
    """An attention program that puts out the token of the next step, or `none` where there is none.

    >>> print(program_text(parse_turing("1RA---")))
    alphabet start A1R Z1R
    right = in 'A1R' 'Z1R'
    left = false
    before = count[j < i] right - count[j < i] left
    head = count[j <= i] right - count[j <= i] left
    wrote = (in 'A1R' 'Z1R' ? '1' : '0')
    reads = rightmost[j <= i : before(j) = head(i) & (!in 'start')(j)] wrote(j) else '0'
    state = (in 'A1R' 'start' ? 'A' : 'Z')
    output (state = 'A' & reads = '0' ? 'A1R' : (state = 'A' & reads = '1' ? 'Z1R' : none))
    <BLANKLINE>
    """
    return "\n".join([*_definitions(machine), ""])


def _definitions(machine: TuringMachine) -> Iterator[str]:
    tokens = machine.tokens

    def where(**said: str) -> str:
        found = [
            own.token for own in tokens if all(getattr(own, name) == value for name, value in said.items())
        ]
        found += [START] if said.get("state") == "A" else []
        return one_of(found)

    yield f"alphabet {' '.join([START, *(own.token for own in tokens)])}"
    yield f"right = {where(direction='R')}"
    yield f"left = {where(direction='L')}"
    yield "before = count[j < i] right - count[j < i] left"
    yield "head = count[j <= i] right - count[j <= i] left"
    symbols = sorted({own.symbol for own in tokens} - {"0"})
    wrote = [(where(symbol=own), own) for own in symbols]
    yield f"wrote = {first_of(wrote, '0')}"
    yield f"reads = rightmost[j <= i : before(j) = head(i) & (!in '{START}')(j)] wrote(j) else '0'"
    states = [own for own in machine.states if own == "A" or any(own == move.state for move in tokens)]
    state = [(where(state=own), own) for own in states]
    yield f"state = {first_of(state, 'Z')}"
    steps = [
        (f"state = '{letter}' & reads = '{symbol}'", move.token)
        for (letter, symbol), move in machine.moves.items()
        if letter in states and symbol in {"0", *symbols}  # others cannot be met
    ]
    yield f"output {first_of(steps)}"
