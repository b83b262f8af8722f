"""Counter machines: lines that add to registers and subtract from them. Data only.

A configuration is a line, or the end, and an integer in every register. Every word that is not empty is a
configuration: each of its symbols, a *token*, says what it changes in the registers, and the last one says
which line comes next. Inputs and the start come before line 1; a line writes one token when it is executed.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import Annotated, final

from attemper.errors import MachineError
from attemper.exact.codec import Natural, Within
from attemper.languages.words import Alphabet

LARGEST_AMOUNT = 2**20

HowMuch = Annotated[int, Within(1, LARGEST_AMOUNT)]
"""How much an input or a line adds."""

MOST_LINES = 499
"""A line that subtracts has two tokens; networks are made for some 1,000 symbols."""

END = 0
"""The number of no line: where the machine halts."""

HALTS = "none"
"""What is put out where the machine has halted: no token."""

HALT = "halt"
"""Where a line goes that goes nowhere: no label."""

NAME = re.compile(r"[A-Za-z0-9_]{1,40}")


@final
@dataclass(frozen=True)
class Input:
    """A token of the input: the register that it adds to, by its number from 0, and how much."""

    token: str
    register: Natural
    amount: HowMuch


@final
@dataclass(frozen=True)
class Adding:
    """A line that adds to a register and goes on with the line `then`. It writes LABEL+."""

    label: str
    register: Natural
    amount: HowMuch
    then: Natural


@final
@dataclass(frozen=True)
class Subtracting:
    """A line that takes 1 from a register that is 1 or more and goes on with `then`; it writes LABEL-.

    Else nothing changes, and it goes on with `otherwise` and writes LABEL0.
    """

    label: str
    register: Natural
    then: Natural
    otherwise: Natural


MachineLine = Adding | Subtracting


@final
@dataclass(frozen=True)
class TokenEffect:
    """What a token says: the number of the line that comes next, and what it adds to which register."""

    line: Natural
    register: Natural = 0
    amount: int = 0


@final
@dataclass(frozen=True)
class CounterMachine:
    """Registers by their names, tokens of the input, the token that starts, and lines 1, 2, ...

    Execution begins at line 1, or has ended where there is none.

    Raises `MachineError` for what is no machine, with what is wrong.

    >>> lines = Subtracting("take", 0, 2, 0), Adding("give", 1, 2, 1)
    >>> doubling = CounterMachine(("n", "m"), (Input("x", 0, 1),), "go", lines)
    >>> doubling.alphabet.symbols, doubling.effects["give+"]
    (('x', 'go', 'take-', 'take0', 'give+'), TokenEffect(line=1, register=1, amount=2))
    """

    registers: tuple[str, ...]
    inputs: tuple[Input, ...]
    start: str
    lines: tuple[MachineLine, ...]

    def __post_init__(self) -> None:
        for complaint in _complaints(self):
            raise MachineError(complaint)

    @cached_property
    def effects(self) -> dict[str, TokenEffect]:
        """What each token says, in the alphabet's order: of the input, the start, each line."""
        return dict(_effects(self))

    @cached_property
    def alphabet(self) -> Alphabet:
        """All tokens."""
        return Alphabet(tuple(self.effects))

    @cached_property
    def outputs(self) -> tuple[str, ...]:
        """What can be put out: the tokens of each line, in order, and `none`."""
        return (*(token for line in self.lines for token in tokens_of(line)), HALTS)

    def tokens_before(self, number: int) -> tuple[str, ...]:
        """The tokens that come before a line, by its number, or before the end."""
        return tuple(token for token, said in self.effects.items() if said.line == number)


def tokens_of(line: MachineLine) -> tuple[str, ...]:
    """What a line can write."""
    return (f"{line.label}+",) if isinstance(line, Adding) else (f"{line.label}-", f"{line.label}0")


def _effects(machine: CounterMachine) -> Iterator[tuple[str, TokenEffect]]:
    first = 1 if machine.lines else END
    for own in machine.inputs:
        yield own.token, TokenEffect(first, own.register, own.amount)
    yield machine.start, TokenEffect(first)
    for line in machine.lines:
        if isinstance(line, Adding):
            said = [TokenEffect(line.then, line.register, line.amount)]
        else:
            said = [TokenEffect(line.then, line.register, -1), TokenEffect(line.otherwise)]
        yield from zip(tokens_of(line), said, strict=True)


def _complaints(machine: CounterMachine) -> Iterator[str]:
    """What is wrong with a machine."""
    if len(machine.lines) > MOST_LINES:
        yield f"it has {len(machine.lines):,} lines, and a network's machine at most {MOST_LINES}"
    if len(set(machine.registers)) < len(machine.registers):
        yield "two registers have one name"
    yield from _of_names(machine)
    for line in (*machine.inputs, *machine.lines):
        if not 0 <= line.register < len(machine.registers):
            yield f"'{_name(line)}' names register {line.register}, of {len(machine.registers)}"
        if not isinstance(line, Subtracting) and not 1 <= line.amount <= LARGEST_AMOUNT:
            yield f"'{_name(line)}' adds {line.amount}: it can add 1 to {LARGEST_AMOUNT:,}"
    for line in machine.lines:
        for target in (line.then, line.otherwise) if isinstance(line, Subtracting) else (line.then,):
            if not 0 <= target <= len(machine.lines):
                yield f"'{line.label}' goes on with line {target}, of {len(machine.lines)}"


def _of_names(machine: CounterMachine) -> Iterator[str]:
    tokens = [*(own.token for own in machine.inputs), machine.start]
    for name in (*machine.registers, *tokens, *(line.label for line in machine.lines)):
        if not NAME.fullmatch(name):
            yield f"'{name[:40]}' is no name: a name has 1 to 40 letters from A to z, digits and '_'"
    if HALTS in tokens:
        yield f"no token is called '{HALTS}': that is put out where a machine has halted"
    if any(line.label.lower() == HALT for line in machine.lines):
        yield f"no line is called '{HALT}': that is where machines halt"
    if len({line.label for line in machine.lines}) < len(machine.lines):
        yield "two lines have one label"
    tokens += [token for line in machine.lines for token in tokens_of(line)]
    for token, times in Counter(tokens).items():
        if times > 1:
            yield (
                f"two tokens are called '{token}': a line that adds writes LABEL+, one that subtracts LABEL- "
                "or LABEL0; rename one"
            )


def _name(line: Input | MachineLine) -> str:
    return line.token if isinstance(line, Input) else line.label
