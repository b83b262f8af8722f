"""attemper check: of the rest of the package only what starts the process that checks is loaded."""

from __future__ import annotations

from contextlib import suppress
from dataclasses import dataclass
from importlib import resources
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, final

import typer

from attemper.checker import limits
from attemper.errors import OptionError
from attemper.workbench.checked import Checked
from attemper.workbench.cli.completion import languages_begun
from attemper.workbench.cli.console import ReaderLeftError, err, out, print_json, print_program
from attemper.workbench.cli.memory_limit import MemoryOption, memory_limit
from attemper.workbench.cli.options import (
    AlphabetOption,
    AtOption,
    EmptyOption,
    Json,
)
from attemper.workbench.cli.progress import activity
from attemper.workbench.cli.time_limit import SecondsOption, time_limit

if TYPE_CHECKING:
    from attemper.networks.layers import Network
    from attemper.workbench.language import Language
    from attemper.workbench.naming import AtName, EmptyName


@final
@dataclass(frozen=True)
class AskedAgainst:
    """A language as it stands on the command line."""

    text: str
    alphabet: str | None
    at: AtName | None
    empty: EmptyName | None


def _print_rules(wanted: bool) -> None:
    if wanted:
        rules = resources.files("attemper.certificates").joinpath("FORMAT.md")
        print_program(rules.read_text(encoding="utf-8"))
        raise typer.Exit


def check_command(
    path: Annotated[
        Path,
        typer.Argument(
            metavar="PATH",
            help="The folder of a network, or a file: a refutation, bound, depth, causal variables, basis.",
        ),
    ],
    json: Json = False,
    ignore_rounding: Annotated[
        bool,
        typer.Option(
            "--ignore-rounding",
            help="Take float operations to be exact: what then holds is PROVED_UNDER_ASSUMPTIONS at best.",
        ),
    ] = False,
    edited: Annotated[
        bool,
        typer.Option(
            "--edited",
            help="Judge the weights as they are now, whoever changed them after they were certified.",
        ),
    ] = False,
    model: Annotated[
        str | None,
        typer.Option(metavar="DIR|MODULE:OBJECT", help="The model that a refutation is about."),
    ] = None,
    against: Annotated[
        str | None,
        typer.Option(
            metavar="LANGUAGE",
            help="Judge the network by this language, in place of its certificate's.",
            autocompletion=languages_begun,
        ),
    ] = None,
    alphabet: AlphabetOption = None,
    at: AtOption = None,
    empty: EmptyOption = None,
    explain: Annotated[
        bool,
        typer.Option(
            "--explain", help="Print the proof layer by layer, or how far it goes and what stands in its way."
        ),
    ] = False,
    complete: Annotated[
        bool,
        typer.Option("--all", help="Print all claims, the digest, and what is assumed of float arithmetic."),
    ] = False,
    seconds: SecondsOption = limits.SECONDS,
    memory: MemoryOption = limits.MEMORY,
    rules: Annotated[
        bool,
        typer.Option(
            "--rules",
            callback=_print_rules,
            is_eager=True,
            help="Print FORMAT.md, the rules that verdicts name by their sections, and leave.",
        ),
    ] = False,
) -> int:
    """Check a network's certificate, or a refutation, from the raw weights, trusting nothing that it says.

    With --edited the certificate's language and claims are judged of whatever weights stand in the folder;
    its digest is about the weights as they were, and is not looked at. With --against no certificate is
    needed: a formula or an expression is over the network's alphabet, and is read where the network is read
    and with its verdict on the empty word, unless --alphabet, --at or --empty say otherwise. The checker gets
    the language as a tree, and prints it in its own words.

    Exit codes: 0 PROVED, 10 REFUTED, 11 PROVED_UNDER_ASSUMPTIONS, 12 UNKNOWN, 6 MALFORMED.
    """
    del rules
    note = limits.memory_note()
    if note is not None:
        err.print(note)
    request = limits.Request(str(path), model, None, ignore_rounding, edited, explain)
    within = limits.ProcessLimits(seconds, memory)
    with activity(f"checking, for at most {seconds:g} seconds"):
        if against is not None:
            found = _against(request, within, AskedAgainst(against, alphabet, at, empty))
        elif alphabet is not None or at is not None or empty is not None:
            raise OptionError("--alphabet, --at and --empty are about --against LANGUAGE: give it, too")
        else:
            found = Checked(limits.check_within(request, within, limits.seconds_since_start()))
    # Whoever reads only the first line still gets the exit code.
    with suppress(ReaderLeftError):
        if json:
            print_json(found.record if against is None else {**found.record, "against": against})
        else:
            for line in found.lines(complete=complete):
                out.print(line)
    return found.exit_code


def _against(request: limits.Request, within: limits.ProcessLimits, asked: AskedAgainst) -> Checked:
    """The verdict on the network in a folder against a language that a text names."""
    # Other checks read no texts, and start without all that does.
    from attemper.workbench.against import Against, check_against
    from attemper.workbench.cli.written import written_language

    def language(network: Network) -> Language:
        return written_language(asked.text, asked.alphabet, asked.at, asked.empty, like=network)

    with time_limit(within.seconds), memory_limit(within.memory):
        return Checked(check_against(request, within, Against(language)))
