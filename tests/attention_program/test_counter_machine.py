"""The program of a counter machine means what the machine does, on every word, be it a run or not."""

from __future__ import annotations

import random

from attemper.attention_program.counter_machine import program_of
from attemper.attention_program.meaning import outputs
from attemper.attention_program.wellformed import complaints, is_machine
from attemper.languages.machines.meaning import next_tokens
from attemper.languages.machines.parse import parse_machine
from attemper.languages.machines.reading import MachineLanguage
from tests.support.drawn.counter_machines import families, random_machine
from tests.support.suites import Few


def test_the_program_puts_out_what_the_machine_writes_next(few: Few) -> None:
    rng = random.Random(4)
    machines = [
        *families(),
        *(random_machine(rng, rng.randint(0, 20), rng.randint(1, 6)) for _ in range(240)),
    ]
    for machine in few(machines, 40):
        program = program_of(machine)
        assert not complaints(program)
        assert is_machine(program)
        assert tuple(name for name, _ in program.symbols) == machine.outputs
        for length in (1, 2, 3, 7, 15):
            word = tuple(rng.choices(machine.alphabet.symbols, k=length))
            assert outputs(program, word) == MachineLanguage(machine).rows(word), (machine, word)


def test_a_register_that_nothing_adds_to_is_never_positive() -> None:
    machine = parse_machine("sub n -> 1 else halt")
    assert next_tokens(machine, ("start", "1-", "10")) == ("10", "10", "none")
    assert outputs(program_of(machine), ("start", "1-", "10")) == MachineLanguage(machine).rows(
        ("start", "1-", "10")
    )


def test_a_machine_without_lines_has_halted() -> None:
    machine = parse_machine("input x n")
    assert outputs(program_of(machine), ("x", "start")) == ((True, True),)
