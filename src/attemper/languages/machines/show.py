"""Counter machines as text, which `parse` reads back: the same machine."""

from __future__ import annotations

from collections.abc import Iterator

from attemper.languages.machines.syntax import END, HALT, Adding, CounterMachine


def show_machine(machine: CounterMachine) -> str:
    r"""One line for the registers, each token of the input, the start, and each line.

    >>> from attemper.languages.machines.syntax import Adding, Subtracting
    >>> lines = Subtracting("take", 0, 2, 0), Adding("give", 1, 2, 1)
    >>> print(show_machine(CounterMachine(("n", "m"), (), "go", lines)))
    registers n m
    start go
    take: sub n -> give else halt
    give: add m 2 -> take
    """
    return "\n".join(_lines(machine))


def _lines(machine: CounterMachine) -> Iterator[str]:
    names = machine.registers
    if names:
        yield f"registers {' '.join(names)}"
    for own in machine.inputs:
        yield f"input {own.token} {names[own.register]} {own.amount}"
    yield f"start {machine.start}"
    for line in machine.lines:
        then = _target(machine, line.then)
        if isinstance(line, Adding):
            yield f"{line.label}: add {names[line.register]} {line.amount} -> {then}"
        else:
            otherwise = _target(machine, line.otherwise)
            yield f"{line.label}: sub {names[line.register]} -> {then} else {otherwise}"


def _target(machine: CounterMachine, number: int) -> str:
    return HALT if number == END else machine.lines[number - 1].label
