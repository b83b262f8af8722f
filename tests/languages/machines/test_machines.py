"""Counter machines: their texts, what is no machine, and what they do."""

from __future__ import annotations

import random
from itertools import islice

import pytest

from attemper.errors import AttemperError, MachineError, SourceError
from attemper.exact.codec import Codec
from attemper.languages.machines.meaning import configuration_of, next_tokens, run
from attemper.languages.machines.parse import parse_machine
from attemper.languages.machines.reading import MachineLanguage
from attemper.languages.machines.show import show_machine
from attemper.languages.machines.syntax import Adding, CounterMachine, Input, Subtracting
from tests.support.drawn.counter_machines import families, random_machine
from tests.support.suites import Few

OURS = """
# comments, blank lines; and several lines on one
registers n m
input x10 n 10;   input x1 n

start go
take: sub n -> give else done   # to a line that is named below
give: add m 2 -> take
done: halt
"""

MINSKY = "0: R1- 1 2\n1: R0+ 0\n2: HALT"


def test_a_text_of_ours() -> None:
    lines = Subtracting("take", 0, 2, 0), Adding("give", 1, 2, 1)
    inputs = Input("x10", 0, 10), Input("x1", 0, 1)
    assert parse_machine(OURS) == CounterMachine(("n", "m"), inputs, "go", lines)


def test_a_listing_of_minskys() -> None:
    machine = parse_machine(MINSKY)
    assert machine.registers == ("R0", "R1")
    assert [own.token for own in machine.inputs] == ["R0", "R1"]
    assert list(run(machine, ("R1", "R1", "start"))) == ["0-", "1+", "0-", "1+", "00"]


def test_what_is_not_said_is_the_next_line() -> None:
    machine = parse_machine("add n\nadd m 3\nsub n else 1")
    assert machine.lines == (Adding("1", 0, 1, 2), Adding("2", 1, 3, 3), Subtracting("3", 0, 0, 1))


def test_what_is_shown_reads_back(few: Few) -> None:
    rng = random.Random(1)
    machines = [
        *families(),
        *(random_machine(rng, rng.randint(0, 30), rng.randint(1, 8)) for _ in range(200)),
    ]
    for machine in few(machines, 60):
        assert parse_machine(show_machine(machine)) == machine
        assert parse_machine(MachineLanguage(machine).text().removeprefix("a counter machine: ")) == machine
        codec = Codec(CounterMachine)
        assert codec.read(codec.encode(machine)) == machine


@pytest.mark.parametrize(
    ("text", "place", "says"),
    [
        ("sub n", (1, 6), "where n is 0"),
        ("add n -> there", (1, 10), "no line is called 'there'"),
        ("add n\nadd m ->", (2, 9), "ends too early"),
        ("add n 2 3", (1, 9), "'3' is not read here"),
        ("a b", (1, 1), "'a' is no line"),
        ("a: add n\na: add n", (2, 1), "two lines are called 'a'"),
        ("input x", (1, 8), "ends too early"),
        ("a-b: add n", (1, 1), "is no label"),
        ("halt: add n", (1, 1), "is no label"),
        ("Halt: add n -> a", (1, 1), "is no label"),
        ("n" * 41 + ": add n", (1, 1), "is no label"),
        ("add n!", (1, 5), "is no name"),
        ("1: R1- 2", (1, 9), "ends too early"),
        ("registers n-m", (1, 11), "is no name"),
        ("start", (1, 6), "ends too early"),
    ],
)
def test_a_text_that_is_none_says_where(text: str, place: tuple[int, int], says: str) -> None:
    with pytest.raises(SourceError, match=says) as caught:
        parse_machine(text)
    assert (caught.value.line, caught.value.column) == place


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("start none", "no token is called 'none'"),
        ("input none n", "no token is called 'none'"),
        ("registers n n", "two registers have one name"),
        ("start s; input s n", "two tokens are called 's'"),
        ("start 10; 1: sub n else halt", "two tokens are called '10'"),
        ("add n 0", "adds 0"),
        ("add n 2000000", "adds 2000000"),
        ("\n".join(["add n"] * 500), "at most 499"),
    ],
)
def test_what_is_no_machine(text: str, says: str) -> None:
    with pytest.raises(MachineError, match=says):
        parse_machine(text)


def test_a_table_with_a_line_or_a_register_that_is_not_there() -> None:
    for lines in [
        (Adding("a", 1, 1, 0),),
        (Adding("a", 0, 1, 2),),
        (Subtracting("a", 0, 1, 2),),
        (Adding("a", -1, 1, 0),),
        (Adding("HALT", 0, 1, 0),),
        (Adding("a", 0, 1, 1), Subtracting("a", 0, 2, 0)),
    ]:
        with pytest.raises(MachineError):
            CounterMachine(("n",), (), "go", lines)


def test_no_text_is_more_than_refused() -> None:
    rng = random.Random(2)
    pieces = [
        "add",
        "sub",
        "n",
        "m",
        "else",
        "->",
        "halt",
        ":",
        "1",
        "R1-",
        "R0+",
        "a:",
        "input",
        "start",
        ";",
        "\n",
        "#",
        "é",
        "-",
        "9" * 30,
    ]
    for _ in range(3_000):
        text = " ".join(rng.choices(pieces, k=rng.randint(0, 12)))
        try:
            machine = parse_machine(text)
        except AttemperError as error:
            assert 2 <= error.exit_code <= 4  # noqa: PT017 - most texts are refused
            continue
        assert parse_machine(show_machine(machine)) == machine


def test_a_run_is_what_follows_each_of_its_prefixes() -> None:
    rng = random.Random(3)
    for _ in range(100):
        machine = random_machine(rng, rng.randint(1, 12), rng.randint(1, 4))
        prompt = (*rng.choices([own.token for own in machine.inputs], k=rng.randint(0, 4)), machine.start)
        tokens = tuple(islice(run(machine, prompt), 60))
        whole = (*prompt, *tokens)
        assert next_tokens(machine, whole)[len(prompt) - 1 : -1] == tokens


def test_a_word_that_is_no_run_is_a_configuration_too() -> None:
    machine = parse_machine("input x n; a: sub n -> b else halt; b: add n 5 -> a")
    found = configuration_of(machine, ("a-", "a-", "x", "b+", "a-"))
    assert (found.line, found.registers) == (2, [3])
    assert next_tokens(machine, ("a-", "b+", "a0")) == ("b+", "a-", "none")
    assert configuration_of(machine, ("a-", "a-")).registers == [-2]


def test_rows_have_one_bit_at_every_position() -> None:
    machine = parse_machine("input x n; sub n else 1; add n -> halt")
    rows = MachineLanguage(machine).rows(("x", "start", "1-", "2+", "10"))
    assert machine.outputs == ("1-", "10", "2+", "none")
    assert [sum(bits) for bits in zip(*rows, strict=True)] == [1] * 5
    assert MachineLanguage(machine).bits(("x",)) == (True,)
