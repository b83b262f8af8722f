"""What a page knows of machines: what each token says, and where the tokens of any word have come to."""

from __future__ import annotations

import random
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import pytest

import attemper
from attemper.exports.page.contents import page_contents
from attemper.exports.page.machine import machine_data
from attemper.exports.subject import Exported
from attemper.languages.machines.listing import interpreter_text
from attemper.languages.machines.meaning import configuration_of, run
from attemper.languages.machines.parse import parse_machine
from attemper.languages.machines.show import show_machine
from attemper.languages.machines.syntax import HALTS, CounterMachine
from attemper.languages.machines.turing import parse_turing, program_text
from attemper.languages.words import Alphabet, Word
from attemper.networks.structure import Provenance
from tests.exports.runs_page import Interpreter, needs_node
from tests.languages.machines.test_turing import CHAMPIONS, tape_after
from tests.support.drawn.counter_machines import random_machine
from tests.support.suites import Few

DOUBLING = "input x10 n 10; input x1 n; take: sub n -> give else halt; give: add m 2 -> take"


@pytest.fixture(scope="module")
def node(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Interpreter]:
    interpreter = Interpreter(tmp_path_factory.mktemp("page"))
    yield interpreter
    interpreter.stop()


@pytest.fixture(scope="module")
def doubling() -> Exported:
    model = attemper.compile(attemper.machine(DOUBLING), regime="decoder")
    return Exported(model.network, model.source)


def subject_of(doubling: Exported, source: Provenance, alphabet: Alphabet) -> Exported:
    """A network over these symbols, all of which it can put out, that says that it comes from there."""
    symbols = tuple((name, 0) for name in (*alphabet.symbols, HALTS))
    return Exported(replace(doubling.network, alphabet=alphabet, symbols=symbols), source)


def data_of(doubling: Exported, machine: CounterMachine) -> Any:
    source = Provenance("machine", show_machine(machine), "last", "decoder")
    return machine_data(subject_of(doubling, source, machine.alphabet))


def tape_of(doubling: Exported, program: str, symbols: Word) -> Any:
    source = Provenance("program", program, "last", "unbounded")
    return machine_data(subject_of(doubling, source, Alphabet(symbols)))


def turing_symbols(text: str) -> Word:
    return ("start", *(move.token for move in parse_turing(text).tokens))


def test_a_counter_machine_is_what_its_tokens_say(doubling: Exported) -> None:
    assert page_contents(doubling)["machine"] == {
        "kind": "counters",
        "registers": ["n", "m"],
        "lines": ["take: sub n -> give else halt", "give: add m 2 -> take"],
        "effects": [[1, 0, 10], [1, 0, 1], [1, 0, 0], [2, 0, -1], [0, 0, 0], [1, 1, 2]],
    }
    assert doubling.network.alphabet.symbols == ("x10", "x1", "start", "take-", "take0", "give+")


def test_a_machine_without_lines_has_halted(doubling: Exported) -> None:
    assert data_of(doubling, parse_machine("input x n"))["lines"] == []
    assert data_of(doubling, parse_machine("start go"))["registers"] == []


def test_a_turing_machine_is_what_the_names_of_its_tokens_say(doubling: Exported) -> None:
    text = "1RB1LB_1LA1RZ"
    assert tape_of(doubling, program_text(parse_turing(text)), turing_symbols(text)) == {
        "kind": "tape",
        "effects": [["A", None, 0], ["B", "1", 1], ["B", "1", -1], ["A", "1", -1], ["Z", "1", 1]],
    }


def test_other_networks_have_no_machine(doubling: Exported) -> None:
    once = attemper.compile("O a", "ab")
    assert "machine" not in page_contents(Exported(once.network, once.source))
    hard = replace(doubling, source=Provenance("hard", "0" * 64, "last", "decoder"))
    assert machine_data(hard) is None
    silent = replace(doubling, network=replace(doubling.network, symbols=(("other", 0),)))
    assert machine_data(silent) is None


def test_a_machine_over_other_tokens_is_not_the_networks(doubling: Exported) -> None:
    other = Provenance("machine", "sub n else halt", "last", "decoder")
    assert machine_data(replace(doubling, source=other)) is None


@pytest.mark.parametrize("symbols", [("start",), ("B1R", "start"), ("start", "B1R", "B1"), ("go", "B1R")])
def test_programs_over_other_tokens_have_no_tape(symbols: Word, doubling: Exported) -> None:
    assert tape_of(doubling, "", symbols) is None


def test_a_program_that_reads_a_listing_has_no_tape(doubling: Exported) -> None:
    language = attemper.program(interpreter_text(1, 1))
    assert tape_of(doubling, "", language.alphabet.symbols) is None


@needs_node
def test_registers_and_line_are_those_of_the_interpreter(
    doubling: Exported, node: Interpreter, few: Few
) -> None:
    """After random words of random machines, hardly any of which is a run."""
    draw = random.Random(3)
    machines = [random_machine(draw, draw.randint(0, 12), draw.randint(1, 5)) for _ in range(200)]
    for machine in few(machines, 25):
        data, tokens = data_of(doubling, machine), machine.alphabet.symbols
        for length in (0, 1, draw.randint(2, 60)):
            word = tuple(draw.choices(range(len(tokens)), k=length))
            found = configuration_of(machine, tuple(tokens[number] for number in word))
            assert node.call("countersAfter", data, word) == {"held": found.registers, "line": found.line}


@needs_node
@pytest.mark.parametrize("text", CHAMPIONS)
def test_tape_head_and_state_are_those_of_the_tokens(
    text: str, doubling: Exported, node: Interpreter
) -> None:
    machine, symbols, draw = parse_turing(text), turing_symbols(text), random.Random(4)
    data = tape_of(doubling, program_text(machine), symbols)
    for length in (0, 1, 2, 3, 10, 40):
        word = draw.choices(range(len(symbols)), k=length)
        state, head, cells = tape_after(machine, tuple(symbols[number] for number in word))
        first, last = min([head, *cells]), max([head, *cells])
        assert node.call("tapeAfter", data, word) == {
            "state": state,
            "head": head - first,
            "tape": [cells.get(place, "0") for place in range(first, last + 1)],
        }


@needs_node
def test_steps_are_put_out_by_the_network_until_it_halts(doubling: Exported, node: Interpreter) -> None:
    node.show(page_contents(doubling))
    machine = parse_machine(DOUBLING)
    for word in (["x1", "x1", "start"], ["give+", "x1"], ["take0"]):
        expected = [*run(machine, tuple(word))]
        for token in expected:
            assert node.call("nextOf", word) == {"token": token}
            word.append(token)
        assert node.call("nextOf", word) == {"why": "the network puts out none: the run has ended"}
    assert node.call("nextOf", [])["why"].startswith("nothing is put out of the empty word")


@needs_node
def test_a_network_that_is_another_table_writes_what_it_puts_out(
    doubling: Exported, node: Interpreter
) -> None:
    """The page has no table of what comes next: other weights write others, or none that can be read."""
    contents: Any = page_contents(doubling)
    names = [name for name, _ in contents["outputs"]]
    take, give = names.index("take-"), names.index("give+")
    contents["outputs"][take][0], contents["outputs"][give][0] = "give+", "take-"
    node.show(contents)
    assert node.call("nextOf", ["x1", "start"]) == {"token": "give+"}
    contents["outputs"] = [[name, contents["outputs"][take][1]] for name in names]
    node.show(contents)
    assert "cannot be read" in node.call("nextOf", ["x1", "start"])["why"]
