"""What a counter machine does, over the integers, straight from the definition: the oracle."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import final

from attemper.languages.machines.syntax import END, HALTS, Adding, CounterMachine
from attemper.languages.words import Word


@final
@dataclass
class Configuration:
    """The number of the line that comes next, `END` where the machine has halted, and the registers.

    To execute a line is `step`; to take its token for granted is `read`, and comes to the same configuration.

    >>> from attemper.languages.machines.parse import parse_machine
    >>> machine = parse_machine("input x n; take: sub n else halt")
    >>> found = Configuration.first(machine)
    >>> found.read(machine, "x"), found.line, found.registers
    (None, 1, [1])
    """

    line: int
    registers: list[int]

    @classmethod
    def first(cls, machine: CounterMachine) -> Configuration:
        """Before the first token: all registers are 0, and line 1 comes next if there is one."""
        return cls(1 if machine.lines else END, [0] * len(machine.registers))

    def read(self, machine: CounterMachine, token: str) -> None:
        """Take what a token says for granted, whether or not the machine would have written it."""
        said = machine.effects[token]
        self.line = said.line
        if said.amount:
            self.registers[said.register] += said.amount

    def step(self, machine: CounterMachine) -> str:
        """Execute the next line: what it writes, or `none` at the end."""
        if self.line == END:
            return HALTS
        line = machine.lines[self.line - 1]
        if isinstance(line, Adding):
            self.registers[line.register] += line.amount
            self.line = line.then
            return f"{line.label}+"
        if self.registers[line.register] >= 1:
            self.registers[line.register] -= 1
            self.line = line.then
            return f"{line.label}-"
        self.line = line.otherwise
        return f"{line.label}0"

    def copy(self) -> Configuration:
        """The same, to go on with apart."""
        return Configuration(self.line, list(self.registers))


def configuration_of(machine: CounterMachine, word: Word) -> Configuration:
    """Where the machine is after the tokens of a word; all of them must be the machine's."""
    found = Configuration.first(machine)
    for token in word:
        found.read(machine, token)
    return found


def next_tokens(machine: CounterMachine, word: Word) -> tuple[str, ...]:
    """What the machine writes next from the configuration of each prefix of a word."""
    found, written = Configuration.first(machine), list[str]()
    for token in word:
        found.read(machine, token)
        written.append(found.copy().step(machine))
    return tuple(written)


def run(machine: CounterMachine, word: Word) -> Iterator[str]:
    """The tokens that the machine writes from the configuration of a word on, until it halts, if it does.

    >>> from attemper.languages.machines.parse import parse_machine
    >>> machine = parse_machine("input x n; take: sub n else halt; again: sub n -> take else take")
    >>> " ".join(run(machine, ("x", "x", "x", "start")))
    'take- again- take- again0 take0'
    """
    found = configuration_of(machine, word)
    while (token := found.step(machine)) != HALTS:
        yield token
