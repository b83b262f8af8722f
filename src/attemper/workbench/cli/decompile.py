"""attemper decompile"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from attemper.checker.names import UnprovenError
from attemper.errors import ExitCode, OptionError, UnsupportedError
from attemper.languages.regular.files import dfa_to_json
from attemper.reading.machines import CONFIGURATIONS, SECONDS
from attemper.workbench.automata import Caps
from attemper.workbench.cli.console import out, print_json
from attemper.workbench.cli.options import Json
from attemper.workbench.cli.progress import activity
from attemper.workbench.cli.time_limit import SecondsOption, limited
from attemper.workbench.decompiling import Decompiled, decompile
from attemper.workbench.report import decompiled
from attemper.workbench.report.decompiled import class_of
from attemper.writing import write_together

if TYPE_CHECKING:
    from attemper.workbench.reading_models import ModelReading

WORDS = 10_000
"""So many words are run by the definition of somebody's model unless it is said otherwise."""


@limited
def decompile_command(
    subject: Annotated[
        str,
        typer.Argument(
            metavar="DIR|MODULE:OBJECT",
            help="A network's folder, or somebody's future-masked hard-attention model.",
        ),
    ],
    form: Annotated[
        decompiled.PrintAs, typer.Option("--as", help="What is printed, and written by -o FILE.")
    ] = decompiled.PrintAs.AUTOMATON,
    edited: Annotated[
        bool, typer.Option("--edited", help="Read the weights as they are now, whoever changed them.")
    ] = False,
    configurations: Annotated[
        int, typer.Option(min=1, metavar="N", help="UNKNOWN beyond so many configurations.")
    ] = CONFIGURATIONS,
    seconds: SecondsOption = SECONDS,
    words: Annotated[
        int | None,
        typer.Option(
            min=0, metavar="N", help=f"Of a model: run so many words by its definition ({WORDS:,})."
        ),
    ] = None,
    output: Annotated[
        str | None,
        typer.Option(
            "-o",
            "--output",
            metavar="FILE|DIR/",
            help="Write what was read; with a / at the end the same weights, certified to compute that.",
        ),
    ] = None,
    json: Json = False,
) -> int:
    """Say which language a network computes, from its weights alone, proved for all lengths.

    What is printed of a folder is PROVED by the checker from the weights; neither its certificate nor its
    source is looked at. Of somebody's model the automaton is MEASURED: its functions are believed.

    Exit codes: 0 read back, 1 a model's own runs differ from the tables, 12 UNKNOWN, with the reason.
    """
    if ":" in subject and not Path(subject).exists():
        if edited or form is not decompiled.PrintAs.AUTOMATON or (output or "").endswith("/"):
            raise OptionError("--edited, --as and -o DIR/ are about a network's folder, not about a model")
        return _model(subject, WORDS if words is None else words, configurations, seconds, output, json)
    if words is not None:
        raise OptionError("--words is for somebody's model, MODULE:OBJECT: a folder's weights are proved")
    caps = Caps(configurations, seconds)
    try:
        with activity("reading the weights") as report:
            found = decompile(
                subject, edited=edited, configurations=configurations, seconds=seconds, report=report
            )
            report("writing down what was read")
            text = decompiled.text_of(found, form)
            if output is not None:
                _write(found, text, form, output)
    except UnprovenError as error:
        return _unknown(subject, str(error), json)
    except KeyboardInterrupt as end:
        return _unknown(subject, str(end) or "interrupted", json)
    is_remarked = json or form is decompiled.PrintAs.AUTOMATON
    shown = decompiled.Printed(found, text, _remarks(found, caps) if is_remarked else None)
    is_interrupted = is_remarked and shown.remarks is None
    if json:
        print_json({"subject": subject, "status": "PROVED", **decompiled.record_of(shown, form)})
    else:
        out.print_lines("\n".join(decompiled.lines_of(shown, form)))
        if output is not None:
            out.print(f"wrote {output}")
        if is_interrupted:
            out.print("interrupted: class, formula and claim were not looked at")
    return ExitCode.UNKNOWN if is_interrupted else ExitCode.OK


def _remarks(found: Decompiled, caps: Caps) -> decompiled.Remarks | None:
    """What is said beside what was read; None if that is interrupted."""
    try:
        with activity("looking for its class, and a formula"):
            return decompiled.remarks_on(found, caps)
    except KeyboardInterrupt:
        return None


def _unknown(subject: str, reason: str, json: bool) -> int:
    if json:
        print_json({"subject": subject, "status": "UNKNOWN", "reason": reason})
    else:
        out.print(f"UNKNOWN: {reason}")
    return ExitCode.UNKNOWN


# A network's folder ---------------------------------------------------------------------------------------


def _write(found: Decompiled, text: str, form: decompiled.PrintAs, output: str) -> None:
    """What was asked for, as a file; or the weights, certified to compute what was read, as a folder.

    Raises `UnsupportedError` where there is no automaton to be written: a formula is no automaton's file.
    """
    if not output.endswith("/"):
        if form is decompiled.PrintAs.AUTOMATON and found.automaton is None:
            raise UnsupportedError(
                f"no automaton was found, but a formula that counts: write that with --as formula -o {output}"
            )
        write_together({Path(output): text.encode("utf-8")})
        return
    found.model.save(output, certificate=found.certificate())


# Somebody's model -----------------------------------------------------------------------------------------


def _model(
    subject: str, words: int, configurations: int, seconds: float, output: str | None, json: bool
) -> int:
    from attemper.workbench.reading_models import read_model  # models are functions of arrays

    try:
        with activity("reading the model") as report:
            found = read_model(
                subject, words=words, configurations=configurations, seconds=seconds, progress=report
            )
    except KeyboardInterrupt as end:
        return _unknown(subject, str(end) or "interrupted", json)
    if output is not None and found.disagreement is None:
        write_together({Path(output): dfa_to_json(found.dfa).encode("utf-8")})
    if json:
        print_json(found.record())
    else:
        out.print_lines("\n".join(_model_lines(found)))
        if output is not None and found.disagreement is None:
            out.print(f"wrote {output}")
    return ExitCode.OK if found.disagreement is None else ExitCode.DISAGREEMENT


def _model_lines(found: ModelReading) -> list[str]:
    if found.disagreement is not None:
        return list(found.lines())
    return [*found.lines(), *decompiled.automaton_lines(found.dfa, class_of(found.dfa))]
