"""The paper on machines, which this library knows by its abstract alone."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import suppress
from functools import partial
from itertools import islice, zip_longest

from attemper.certifying.certificate import prove
from attemper.errors import UndecidedError, UnprovedError
from attemper.languages.machines.meaning import run
from attemper.languages.machines.parse import parse_machine
from attemper.workbench import naming
from attemper.workbench.compiling import compile as compiled
from attemper.workbench.papers.statements import Observed, Paper, Statement, equal

SQUARING = (
    "input x n; next: sub n -> odd else halt; odd: add m 2 -> copy; copy: sub m -> up else back; "
    "up: add s -> keep; keep: add t -> copy; back: sub t -> give else next; give: add m -> back"
)
"""s becomes n (n + 1): m is 2, 4, 6, ..., and is added to s."""


def a_machine(text: str, number: int) -> Iterator[Observed]:
    """A counter machine's network is proved of every word, and writes the machine's run."""
    machine = parse_machine(text)
    model = compiled(naming.machine(text), regime="decoder")
    try:
        prove(model.network, model.language.definition, model.realisation)
        status = "PROVED"
    except UnprovedError:
        status = "UNKNOWN"
    yield equal("real arithmetic, every word", status, "PROVED")
    made = model.generate({"n": number})
    prompt = (*("x",) * number, machine.start)
    found, wanted = list[str](), list(run(machine, prompt))
    with suppress(UndecidedError):
        found += islice(made, 2 * len(wanted))
    yield equal("tokens that differ from the machine's", _differing(found, wanted), 0)
    yield equal("halted", made.halted, True)
    yield equal("s", (made.registers or {}).get("s", 0), number * (number + 1))


def _differing(found: list[str], wanted: list[str]) -> int:
    return sum(one != other for one, other in zip_longest(found, wanted))


STATEMENTS = (
    Statement(
        *(
            88,
            Paper.JIANG,
            ("abstract",),
            "Abstract: softmax transformers with a chain of thought are Turing-complete",
        ),
        "A counter machine's network, these weights, writes the machine's run (docs/machines.md).",
        "Known by its abstract alone. There relative positions and networks that exist; here absolute ones, "
        "and inputs are sums of tokens, not words over letters.",
        "attemper generate DIR --input n=27",
        partial(a_machine, SQUARING, 6),
    ),
)
