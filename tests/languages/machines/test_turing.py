"""Turing machines: their texts, what they do, and programs and networks that do it."""

from __future__ import annotations

import random
from itertools import islice

import pytest

import attemper
from attemper.attention_program.meaning import outputs
from attemper.certificates.claims import RealClaim
from attemper.checker.check import judge
from attemper.checker.verdict import Status
from attemper.errors import SourceError
from attemper.languages.machines.turing import TuringMachine, parse_turing, program_text, run_turing
from attemper.languages.rasp.program import parse_rasp
from attemper.languages.words import Word
from tests.support.suites import Few

CHAMPIONS = {
    "1RB1LB_1LA1RZ": (6, 4),
    "1RB1RZ_1LB0RC_1LC1LA": (21, 5),
    "1RB2LB1RZ_2LA2RB1LB": (38, 9),
    "1RB1LB_1LA0LC_1RZ1LD_1RD0RA": (107, 13),
}
"""Busy beavers of 2, 3, 2 (3 symbols) and 4 states: steps, and how much is not blank at the end."""


def tape_after(machine: TuringMachine, word: Word) -> tuple[str, int, dict[int, str]]:
    """State, head and tape as the tokens of any word say, one after the other."""
    state, head, tape = "A", 0, dict[int, str]()
    for token in word:
        if token == "start":
            state = "A"
            continue
        state, tape[head], direction = token
        head += 1 if direction == "R" else -1
    return state, head, tape


def next_token(machine: TuringMachine, word: Word) -> str:
    state, head, tape = tape_after(machine, word)
    if state not in machine.states:
        return "none"
    symbol, direction, after = (
        getattr(machine.moves[state, tape.get(head, "0")], name) for name in ("symbol", "direction", "state")
    )
    return f"{after}{symbol}{direction}"


@pytest.mark.parametrize("text", CHAMPIONS)
def test_champions_halt_after_as_many_steps_as_is_known(text: str) -> None:
    machine = parse_turing(text)
    tokens = [move.token for move in islice(run_turing(machine), 1_000)]
    steps, ones = CHAMPIONS[text]
    _, _, tape = tape_after(machine, tuple(tokens))
    assert (len(tokens), sum(symbol != "0" for symbol in tape.values())) == (steps, ones)


@pytest.mark.parametrize("text", list(CHAMPIONS)[:2])
def test_a_network_is_proved_and_does_the_steps(text: str) -> None:
    model = attemper.compile(f"tm:{text}", regime="unbounded")
    assert judge(model.network, model.language.definition, (RealClaim(),)).status is Status.PROVED
    made = model.generate("start")
    assert list(made) == [move.token for move in run_turing(parse_turing(text))]
    assert (made.halted, made.registers) == (True, None)


@pytest.mark.slow
@pytest.mark.parametrize("text", list(CHAMPIONS)[2:])
def test_larger_networks_are_proved_and_do_the_steps(text: str) -> None:
    test_a_network_is_proved_and_does_the_steps(text)


def test_the_program_means_what_the_machine_does_on_every_word(few: Few) -> None:
    rng = random.Random(9)
    for _ in few(range(200), 20):
        states, symbols = rng.randint(1, 4), rng.randint(1, 3)
        cells = [
            f"{rng.randrange(symbols)}{rng.choice('LR')}{rng.choice('ABCD'[:states] + 'Z')}"
            for _ in range(states * symbols)
        ]
        rows = ("".join(cells[k : k + symbols]) for k in range(0, len(cells), symbols))
        machine = parse_turing("_".join(rows))
        program = parse_rasp(program_text(machine)).program
        names = [name for name, _ in program.symbols]
        for length in (1, 2, 5, 12):
            word = tuple(rng.choices(program.alphabet.symbols, k=length))
            found = [names[bits.index(True)] for bits in zip(*outputs(program, word), strict=True)]
            assert found == [next_token(machine, word[: i + 1]) for i in range(length)], (machine, word)


def test_an_undefined_cell_writes_one_last_token() -> None:
    assert parse_turing("1RB---_1LA---") == parse_turing("1RB1RZ_1LA1RZ")


@pytest.mark.parametrize(
    ("text", "column"),
    [
        ("", 1),
        ("_", 1),
        ("1RB_", 5),
        ("_1RB", 1),
        ("1RB1LB_1LA", 8),
        ("1RB1L", 4),
        ("1RB1LB1", 7),
        ("1XB1LB_1LA1RZ", 1),
        ("1RB1Lb_1LA1RZ", 4),
        ("aRB1LB_1LA1RZ", 1),
        ("1RB 1LB_1LA1RZ", 4),
        ("1RB1LB_1LA2RZ", 11),
        ("1RB1LB_1LA1RZ ", 14),
        ("1RB--_1LA1RZ", 4),
        ("1RB----_1LA1RZ", 7),
        ("1R", 1),
        ("RB1", 1),
        ("1RB1LB_1LA1RZ_", 15),
        ("9RA", 1),
        ("1RB1LB,1LA1RZ", 7),
        ("_".join(["1RB1RA"] * 26), 1),
        ("1RA" * 11, 1),
    ],
)
def test_a_text_that_is_none_says_where(text: str, column: int) -> None:
    with pytest.raises(SourceError) as caught:
        parse_turing(text)
    assert caught.value.column == column
