"""attemper show FILE.rasp: what a program's text says, before anything is compiled."""

from __future__ import annotations

from pathlib import Path

from attemper.attention_program.show import show_program
from attemper.files import read_utf8
from attemper.languages.measures import describe
from attemper.languages.rasp.program import RaspProgram, parse_rasp
from attemper.languages.words import listed
from attemper.workbench.cli.console import out, print_json, print_program


def show_text(file: Path, *, json: bool, steps: bool) -> None:
    """Show the class of a program's text, how it is read, and the type of every definition; or its steps."""
    found = parse_rasp(read_utf8(file, "give the text of an attention program"))
    if steps:
        print_program(show_program(found.program))
        return
    types = {name: str(one) for name, one in found.types.items()}
    if json:
        print_json({**_facts(found), "types": types})
        return
    shown = {**_facts(found), **types}
    width = max(map(len, shown))
    for name, value in shown.items():
        out.print(f"{name:{width}}  {value}", hang=width + 2)


def _facts(found: RaspProgram) -> dict[str, str]:
    one = found.program_class
    facts = {
        "class": "neither B-RASP nor C-RASP" if one is None else f"{one}: {one.says}",
        "alphabet": listed(found.program.alphabet.symbols, "symbols"),
    }
    numbers = found.program.numbers
    if numbers is not None:
        of = f" over {listed(list(numbers.names), 'names')}" if numbers.names else ""
        facts["puts out"] = f"{describe(numbers.measure)}{of} at every position"
    elif found.program.symbols:
        names = listed([name for name, _ in found.program.symbols], "names")
        facts["puts out"] = f"one of {names} at every position"
    else:
        empty = "accept" if found.accepts_empty else "reject"
        facts["read at"] = f"the {found.at} position; empty word: {empty}"
    return {**facts, "steps": str(len(found.program.steps))}
