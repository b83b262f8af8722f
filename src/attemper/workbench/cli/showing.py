"""attemper show"""

from __future__ import annotations

from importlib import import_module
from pathlib import Path
from typing import Annotated

import typer
from rich.table import Table

from attemper.attention_program.language import defining_program
from attemper.attention_program.show import show_program
from attemper.certificates.claims import Certificate, RealClaim
from attemper.certificates.files import format_of, load_if_any
from attemper.errors import MalformedFileError
from attemper.files import CERTIFICATE
from attemper.languages.measures import Measure, describe
from attemper.registry import FORMATS
from attemper.workbench.cli.certifying import claim_text, horizons_of
from attemper.workbench.cli.console import out, print_json, print_program
from attemper.workbench.cli.options import Json
from attemper.workbench.cli.showing_engines import show_engines
from attemper.workbench.cli.showing_texts import show_text
from attemper.workbench.cli.time_limit import SecondsOption, limited
from attemper.workbench.folder import load
from attemper.workbench.model import Model
from attemper.workbench.report.assumptions import OneSymbol
from attemper.workbench.report.files import ShownFile, ShowsFile
from attemper.workbench.report.summary import Summary, summary_of
from attemper.workbench.report.tables import table

ONE_SYMBOL = {
    OneSymbol.FEW: "O(1/n)",
    OneSymbol.TEMPERATURE: "O(1): tau",
    OneSymbol.POSITIONS: "O(1): PE",
    OneSymbol.BOTH: "O(1): tau, PE",
    OneSymbol.READ: "O(1): read",
    OneSymbol.UNKNOWN: "UNKNOWN",
}
"""What one symbol can change, in few columns."""

LEGEND = (
    "one symbol can change more than O(1/n): tau, where the temperature depends on i or n; PE, where "
    "position embeddings are unbounded; read, where the head reads what such a head has written"
)

TEXT = ".rasp"
"""How the names of programs' texts end."""

SHOWN = (
    "give the folder of a network, the text of a program (FILE.rasp), or the file of a refutation "
    "(refute -o), of a bound (bound -o), of a depth (depth -o), of causal variables (causal -o), of "
    "another basis (bench), or of a judgement (judge -o)"
)
"""What there is to show."""

NAME = 20
"""How many columns the names of facts have."""


@limited
def show_command(
    path: Annotated[
        Path,
        typer.Argument(
            metavar="PATH",
            help="A network's folder, a program's text (FILE.rasp), or what refute, bound, depth or soften "
            "wrote.",
        ),
    ],
    steps: Annotated[
        bool, typer.Option("--steps", help="Print a program's steps, one head's work each, instead.")
    ] = False,
    engines: Annotated[
        bool, typer.Option("--engines", help="Print how each head is run in linear time, instead.")
    ] = False,
    model: Annotated[
        str | None,
        typer.Option(
            metavar="MODEL", help="What a refutation is about, if it is not in the folder that it names."
        ),
    ] = None,
    seconds: SecondsOption = 60,
    json: Json = False,
) -> None:
    """Show what a path holds: a network, a program's text, a refutation, a bound, or a depth.

    Of a network its layers, heads, widths, position embeddings, temperatures, logits, and the certified
    horizons. Of a program's text (FILE.rasp) its class, how it is read, and the type of every definition. Of
    a refutation its restriction: which symbols are fixed, and who can attend where under it.
    """
    del seconds
    if steps and json:
        raise typer.BadParameter("--steps prints steps, which are no JSON: leave one of --steps, --json out")
    if steps and engines:
        raise typer.BadParameter("--steps and --engines print different things: give one of them")
    if not path.exists():
        raise MalformedFileError(f"there is no '{path}': {SHOWN}")
    shows = _shows(path / CERTIFICATE if path.is_dir() else path)
    if shows is not None:
        if steps or engines:
            raise typer.BadParameter(f"--steps and --engines are not about '{path}': leave them out")
        _print_file(shows(path, model, out.columns), json=json)
        return
    if model is not None:
        raise typer.BadParameter(f"--model is for refutations: leave it out for '{path}'")
    if path.is_dir():
        _show_folder(path, steps=steps, engines=engines, json=json)
    elif path.suffix == TEXT:
        show_text(path, json=json, steps=steps)
    else:
        raise MalformedFileError(f"'{path}' is of no kind that is shown: {SHOWN}")


def _shows(file: Path) -> ShowsFile | None:
    """Who shows a file, by the format that it says it has; None where no theory wrote it."""
    form = format_of(file)
    row = next((row for row in FORMATS if form.startswith(row.prefix)), None)
    if row is None:
        return None
    module, _, name = row.show.partition(":")
    found: ShowsFile = getattr(import_module(module), name)
    return found


def _print_file(shown: ShownFile, *, json: bool) -> None:
    if json:
        print_json(shown.data)
        return
    for line in shown.lines:
        out.print(line)


def _show_folder(folder: Path, *, steps: bool, engines: bool, json: bool) -> None:
    model = load(folder)
    if engines:
        show_engines(model, json=json)
    elif steps:
        _show_steps(model)
    else:
        _show_network(model, folder, json=json)


def _show_steps(model: Model) -> None:
    program = defining_program(model.language.definition)
    if program is None:
        raise typer.BadParameter("--steps is for attention programs, and this network has none")
    print_program(show_program(program))


def _show_network(model: Model, folder: Path, *, json: bool) -> None:
    summary = summary_of(model)
    certificate, complaint = _certificate_of(model, folder)
    if json:
        horizons = None if certificate is None else horizons_of(certificate)
        print_json({**summary.as_record(), "horizons": horizons})
        return
    for name, value in _facts(summary):
        out.print(f"{name:{NAME}} {value}", hang=NAME + 1)
    if summary.head_list:
        out.print(_heads(summary))
        if any(head.one_symbol != OneSymbol.FEW for head in summary.head_list):
            out.print(LEGEND)
    if certificate is None:
        out.print(f"{complaint}; make one with 'attemper certify DIR'")
        return
    out.print("claimed by certificate.json, to be checked with 'attemper check DIR':")
    for claim in sorted(certificate.claims, key=lambda claim: not isinstance(claim, RealClaim)):
        out.print(f"  {claim_text(claim)}")


def _certificate_of(model: Model, folder: Path) -> tuple[Certificate | None, str]:
    """The certificate of this very network that stands in the folder; else None, and what stands there."""
    if model.certificate is not None:
        return model.certificate, ""
    if not (folder / CERTIFICATE).exists():
        return None, "no certificate"
    if load_if_any(folder) is None:
        return None, f"{CERTIFICATE} is none"
    return None, f"{CERTIFICATE} is about another network or language"


def _facts(summary: Summary) -> list[tuple[str, object]]:
    return [
        (summary.kind, summary.source),
        ("alphabet", summary.alphabet),
        _reading(summary),
        ("regime", summary.regime),
        *([("normalisation", summary.normalisation)] if summary.normalisation else []),
        ("layers", summary.layers),
        ("heads", summary.heads),
        ("width", f"d_model {summary.d_model}, d_head {summary.d_head}, d_mlp {summary.d_mlp}"),
        ("parameters", f"{summary.parameters}, the same at every length"),
        ("position embeddings", ", ".join(summary.position_embeddings)),
        ("attention", summary.attention),
        ("hypotheses of", ", ".join(summary.satisfies) or "no theorem of Yang et al."),
        ("stream", summary.stream),
    ]


def _reading(summary: Summary) -> tuple[str, str]:
    if summary.measure is not None:
        return "puts out", f"{describe(Measure(summary.measure))} at every position{_meant(summary)}"
    if summary.puts_out:
        return "puts out", f"one of {' '.join(summary.puts_out)} at every position"
    return "read at", f"the {summary.at} position; empty word: {summary.empty}"


def _meant(summary: Summary) -> str:
    """What the coordinate of a number holds."""
    if summary.measure == Measure.INTEGER:
        return ": its share, which times the number of visible positions is the integer"
    return f" over {' '.join(summary.puts_out)}" if summary.puts_out else ""


def _heads(summary: Summary) -> Table:
    headers = ("layer", "head", "construction", "mask", "temperature", "logits")
    shown = table(
        *headers, "one symbol can change", "writes", wraps=("temperature", "one symbol can change", "writes")
    )
    for head in summary.head_list:
        shown.add_row(
            str(head.layer),
            str(head.head),
            head.construction,
            head.masking,
            head.temperature,
            f"O(n^{head.logit_growth})",
            ONE_SYMBOL[OneSymbol(head.one_symbol)],
            ", ".join(head.writes),
        )
    return shown
