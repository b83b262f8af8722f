"""Korec's U22: the table on docs/machines.md, and what it computes, read off the table by hand."""

from __future__ import annotations

import re
from itertools import islice
from pathlib import Path

import pytest

import attemper
from attemper.languages.machines.meaning import run
from attemper.languages.machines.parse import parse_machine
from attemper.languages.machines.syntax import Adding, CounterMachine
from tests.support.suites import Few

PAGE = Path(__file__).parents[3] / "docs" / "machines.md"

P, M = "RiP", "RiZM"

TABLE = {
    1: (M, 1, 3, 6),
    3: (P, 7, 1),
    4: (M, 5, 6, 7),
    6: (P, 6, 4),
    7: (M, 6, 9, 4),
    9: (P, 5, 10),
    10: (M, 7, 12, 13),
    12: (P, 1, 7),
    13: (M, 6, 33, 1),
    33: (P, 6, 14),
    14: (M, 4, 1, 16),
    16: (M, 5, 18, 23),
    18: (M, 5, 20, 27),
    20: (M, 5, 22, 30),
    22: (P, 4, 16),
    23: (M, 2, 32, 25),
    25: (M, 0, 1, 32),
    27: (M, 3, 32, 29),
    29: (P, 0, 1),
    30: (P, 2, 31),
    31: (P, 3, 32),
    32: (M, 4, 1, 34),
}
"""As `RegisterMachine.hs` of scolobb/computing-devices has it, at commit 047f86a; 34 halts there."""


def u22() -> CounterMachine:
    (text,) = re.findall(r"```machine\n# u22.machine\n(.*?)```", PAGE.read_text(encoding="utf-8"), re.DOTALL)
    return parse_machine(text)


def test_the_table_is_that_of_its_source() -> None:
    machine = u22()
    labels = {0: 34} | {number: int(line.label) for number, line in enumerate(machine.lines, start=1)}
    assert machine.registers == tuple(f"R{k}" for k in range(8))
    found = {
        int(line.label): (P, line.register, labels[line.then])
        if isinstance(line, Adding)
        else (M, line.register, labels[line.then], labels[line.otherwise])
        for line in machine.lines
    }
    assert found == TABLE


def stepped(code: int, argument: int, most: int) -> tuple[int | None, int]:
    """What is in register 0 where the machine halts within so many steps, and the steps: from the table."""
    registers, state, steps = [0, code, argument, 0, 0, 0, 0, 0], 1, 0
    while state != 34 and steps < most:
        kind, register, *after = TABLE[state]
        steps += 1
        if kind == P:
            registers[register] += 1
            state = after[0]
        elif registers[register]:
            registers[register] -= 1
            state = after[0]
        else:
            state = after[1]
    return (registers[0], steps) if state == 34 else (None, steps)


def derived(code: int, argument: int, most: int) -> int | None:
    """The same as arithmetic: C = code + 1 is divided by ever larger numbers.

    Of those that do not divide it the (R4 + 1)-th after the last one is taken; its remainder x says what is
    done (x mod 3) and what R4 is next (x div 3), and where the search goes on (m - x).
    """
    c, at, skip, r0, r2, r3 = code + 1, 0, 0, 0, argument, 0
    for _ in range(most):
        m = at
        while True:
            m += 1
            x = c % m
            if x and not skip:
                break
            skip -= x > 0
        at = m - x
        skip, kind = divmod(x, 3)
        ends = True
        if kind == 0 and r2:
            r2 -= 1
        elif kind == 0 and r0:
            r0, ends = r0 - 1, False
        elif kind == 1 and r3:
            r3 -= 1
        elif kind == 1:
            r0, ends = r0 + 1, False
        elif kind == 2:
            r2, r3 = r2 + 1, r3 + 1
        if ends and not skip:
            return r0
        skip -= ends
    return None


def test_what_it_computes(few: Few) -> None:
    found = {
        (c, argument): result
        for c in range(1, 1_501)
        for argument in range(4)
        if (result := derived(c - 1, argument, 2_000)) is not None
    }
    assert len(found) == 1_632
    for c, argument in few(sorted(found), 60):
        assert stepped(c - 1, argument, 10**6)[0] == found[c, argument], (c, argument)


@pytest.mark.parametrize(
    ("c", "argument", "steps", "result"), [(2, 0, 57, 0), (324, 0, 31_023, 1), (324, 2, 31_023, 1)]
)
def test_the_network_runs_it(c: int, argument: int, steps: int, result: int) -> None:
    model = attemper.compile(u22(), regime="decoder")
    made = model.generate({"R1": c - 1, "R2": argument})
    tokens = list(islice(made, steps + 1))
    prompt = ("R1",) * (c - 1) + ("R2",) * argument + ("start",)
    assert tokens == list(run(u22(), prompt))
    assert len(tokens) == steps
    assert made.registers is not None
    assert made.registers["R0"] == result
    assert stepped(c - 1, argument, 10**6) == (result, steps)


@pytest.mark.slow
def test_the_first_useful_function() -> None:
    """y + 2, by a plain interpreter, for y = 0."""
    assert stepped(1_209_599, 0, 10**9) == (2, 738_319_385)
