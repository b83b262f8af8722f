"""One network for all machines of a size: what it puts out on any prompt, and that it runs every listing."""

from __future__ import annotations

import random
from functools import cache
from itertools import islice

import pytest

import attemper
from attemper.attention_program.language import defining_program
from attemper.attention_program.meaning import outputs
from attemper.certificates.claims import RealClaim
from attemper.checker.check import judge
from attemper.checker.verdict import Status
from attemper.errors import UnsupportedError
from attemper.languages.machines.listing import interpreter_text, listing_of
from attemper.languages.machines.meaning import run
from attemper.languages.machines.parse import parse_machine
from attemper.languages.machines.syntax import Adding, CounterMachine, Input, MachineLine, Subtracting
from attemper.languages.words import Word
from attemper.workbench.model import Model
from tests.support.suites import Few


@cache
def interpreter() -> Model:
    return attemper.compile(attemper.program(interpreter_text(8, 3)), regime="decoder")


def drawn(rng: random.Random, lines: int, registers: int) -> CounterMachine:
    """A machine whose lines add 1."""

    def line(number: int) -> MachineLine:
        register, then, otherwise = rng.randrange(registers), rng.randint(0, lines), rng.randint(0, lines)
        then = rng.choice([then, number % lines + 1])
        if rng.random() < 0.45:
            return Adding(f"L{number}", register, 1, then)
        return Subtracting(f"L{number}", register, then, otherwise)

    inputs = tuple(Input(f"x{r}", r, 1) for r in range(registers))
    table = tuple(line(number) for number in range(1, lines + 1))
    return CounterMachine(tuple(f"r{r}" for r in range(registers)), inputs, "start", table)


def wanted(machine: CounterMachine, prompt: Word, most: int) -> list[str]:
    """The tokens of a run, as the interpreter writes them: what happened, and the line that comes next."""
    found = list[str]()
    for token in islice(run(machine, prompt), most):
        label, sign = token[:-1], token[-1]
        line = next(own for own in machine.lines if own.label == label)
        found.append(f"{'=' if sign == '0' else sign}{line.register}")
        after = line.otherwise if isinstance(line, Subtracting) and sign == "0" else line.then
        found += [f"@{after - 1}"] if after else []
    return found[:most]


def test_every_listing_is_run(few: Few) -> None:
    rng = random.Random(1)
    for _ in few(range(200), 4):
        machine = drawn(rng, rng.randint(1, 8), rng.randint(1, 3))
        inputs = [own.token for own in machine.inputs]
        prompt = (*rng.choices(inputs, k=rng.randint(0, 9)), "start")
        made = interpreter().generate((*listing_of(machine), *prompt))
        assert list(islice(made, 500)) == wanted(machine, prompt, 500), machine


@pytest.mark.slow
def test_the_network_is_proved() -> None:
    model = interpreter()
    assert judge(model.network, model.language.definition, (RealClaim(),)).status is Status.PROVED


def next_token(word: Word) -> str:
    """What is put out after a word, read off the page: docs/machines.md."""

    def header(j: int) -> str | None:
        return word[j][:-1] if j >= 0 and word[j].endswith(":") else None

    def line(j: int) -> str | None:
        if j < 0:
            return None
        return "0" if word[j] == "start" or word[j][0] == "x" else word[j][1:] if word[j][0] == "@" else None

    def last(kind: tuple[str, ...], behind: int, name: str | None) -> str | None:
        places = [j for j in range(len(word)) if word[j].startswith(kind) and header(j - behind) == name]
        return word[places[-1]] if places else None

    here = word[-1]
    if here[0] in "+-=":
        went = line(len(word) - 2)
        target = None if went is None else last((">",), 3 if here[0] == "=" else 2, went)
        return "none" if target in {None, ">halt"} else f"@{str(target)[1:]}"
    now = line(len(word) - 1)
    op = None if now is None else last(("inc", "dec"), 1, now)
    if op is None:
        return "none"
    register = op[3:]
    held = sum((own in {f"+{register}", f"x{register}"}) - (own == f"-{register}") for own in word)
    return f"{'+' if op.startswith('inc') else '-' if held > 0 else '='}{register}"


def test_the_program_means_what_the_page_says_on_every_word(few: Few) -> None:
    program = defining_program(interpreter().language.definition)
    assert program is not None
    rng, names = random.Random(2), [name for name, _ in program.symbols]
    for _ in few(range(300), 40):
        machine = drawn(rng, rng.randint(1, 8), 3)
        word = [*listing_of(machine), *rng.choices(program.alphabet.symbols, k=rng.randint(1, 12))]
        for _ in range(rng.randint(0, 6)):  # something is missing, doubled or moved
            place = rng.randrange(len(word))
            word[place : place + rng.randint(0, 2)] = rng.choices(word, k=rng.randint(0, 2))
        word = word or ["start"]
        rows = outputs(program, tuple(word))
        found = [names[bits.index(True)] for bits in zip(*rows, strict=True)]
        assert found == [next_token(tuple(word[: i + 1])) for i in range(len(word))], word


@pytest.mark.parametrize(
    ("listing", "written"),
    [
        ("", []),
        ("1: inc0 >1 >1", []),
        ("0: inc0 >1 >1", ["+0", "@1"]),
        ("0: inc0", ["+0"]),
        ("0: inc0 >halt", ["+0"]),
        ("0: inc0 >halt >halt 0: inc1 >halt >halt", ["+1"]),
        ("0: >halt inc0", []),
    ],
)
def test_a_listing_that_is_none_ends(listing: str, written: list[str]) -> None:
    made = interpreter().generate((*listing.split(), "start"))
    assert list(islice(made, 20)) == written
    assert made.halted


def test_what_has_no_listing_is_refused() -> None:
    with pytest.raises(UnsupportedError, match="adds 2"):
        listing_of(parse_machine("add n 2"))
    for size in ((0, 1), (13, 1), (1, 0), (1, 10)):
        with pytest.raises(UnsupportedError, match="1 to 12 lines"):
            interpreter_text(*size)
