"""attemper soften"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from attemper.checker.report import record_of
from attemper.checker.verdict import Status
from attemper.networks.files import STRUCTURE
from attemper.theories.softening.texts import said_in
from attemper.workbench.cli.console import out, print_json
from attemper.workbench.cli.options import Force, Json
from attemper.workbench.cli.places import require_network_place
from attemper.workbench.cli.progress import activity
from attemper.workbench.cli.searching import use_few_threads
from attemper.workbench.cli.time_limit import SecondsOption, limited
from attemper.workbench.report.tables import table

if TYPE_CHECKING:
    from attemper.theories.softening.ask import Softened
    from attemper.theories.softening.report import SofteningReport


@limited
def soften_command(
    network: Annotated[
        str, typer.Argument(metavar="DIR|MODULE:OBJECT", help="An average-hard network, or a compiled one.")
    ],
    output: Annotated[
        Path, typer.Option("--output", "-o", metavar="DIR", help="Write the softmax network here.")
    ],
    epsilon: Annotated[
        str, typer.Option(metavar="E", help="How far what is put out may be from the hard network's.")
    ] = "1/100",
    gap: Annotated[
        list[str] | None,
        typer.Option(
            metavar="L.H=GAP", help="A head's gap, as 0.1='1/2 n^-1', where no rule fits; may be repeated."
        ),
    ] = None,
    magnitude: Annotated[
        list[str] | None,
        typer.Option(metavar="L=NUMBER", help="A bound on what a layer reads, as 0='3 n'; may be repeated."),
    ] = None,
    words: Annotated[int, typer.Option(min=1, help="How many words may be tried in all.")] = 2**20,
    up_to: Annotated[
        int | None, typer.Option(min=1, metavar="N", help="The greatest length of words that are tried.")
    ] = None,
    first: Annotated[
        int, typer.Option("--from", min=1, metavar="N", help="The least length that is claimed.")
    ] = 1,
    rounding: Annotated[
        bool, typer.Option("--round", help="Add a layer that rounds what is put out to 0 or 1.")
    ] = False,
    seconds: SecondsOption = 60,
    force: Force = False,
    json: Json = False,
) -> int:
    """Make a softmax network of an average-hard one, within epsilon of it, with proof.

    Every head must be uniform or tieless. That is proved by rule for all lengths, or stated with --gap and
    checked for short words, or tried on all words up to a length, where the claim then ends.

    Exit codes: 0 PROVED, 4 a tie, with its word, 10 what is stated is false, 11 proved if what is stated
    holds, 12 no temperature is seen to be low enough.
    """
    if output.is_file():
        raise typer.BadParameter(f"'{output}' is a file; -o needs a folder")
    require_network_place(output, force=force)
    use_few_threads()
    from attemper.theories.softening.ask import network_of, soften
    from attemper.theories.softening.report import softening_report

    with activity("softening") as report:
        original = network_of(network)
        found = soften(
            original,
            epsilon=epsilon,
            gaps=said_in(gap, "gaps"),
            magnitudes=said_in(magnitude, "magnitudes"),
            words=words,
            first=first,
            up_to=up_to,
            rounding=rounding,
            report=report,
        )
        is_shown = found.verdict.status in {Status.PROVED, Status.PROVED_UNDER_ASSUMPTIONS}
        numbers = softening_report(found.softening, original) if is_shown else None
    replaced = numbers is not None and (output / STRUCTURE).exists()
    if numbers is not None:
        found.save(output)
    if json:
        record = {**record_of(found.verdict), **(numbers.as_record() if numbers else {})}
        print_json({**record, "directory": str(output) if numbers else None, "replaced": replaced})
        return found.verdict.exit_code
    _print_verdict(found)
    if numbers is None:
        out.print("nothing is written")
    else:
        _print_numbers(found, numbers)
        out.print(f"wrote {output}{', in place of the network that was there' if replaced else ''}")
    return found.verdict.exit_code


def _print_verdict(found: Softened) -> None:
    for claim in found.verdict.claims:
        out.print(f"{claim.status}: {claim.text}")
        for assumption in claim.assumptions:
            out.print(f"  if {assumption}")


def _print_numbers(found: Softened, numbers: SofteningReport) -> None:
    """How cold the heads are, and how cold they had to be."""
    if numbers.heads:
        _print_temperatures(numbers)
    if found.softening.unruled:
        out.print(f"no rule covers {found.softening.unruled}")
    if numbers.seen:
        n, gap, size = numbers.seen[-1]
        out.print(f"tried: all words of up to {n} symbols; at n = {n} the least gap is {gap or 'none'}")
        out.print(f"and the greatest number that a layer reads is {size}")
    if numbers.budgets is not None:
        _print_budgets(numbers)


def _print_temperatures(numbers: SofteningReport) -> None:
    lengths = [*numbers.heads[0].taus]
    shown = table("head", "gap", "", "1/tau", *(f"tau, n = {n:,}" for n in lengths), wraps=("1/tau",))
    for head in numbers.heads:
        taus = [_short(head.taus[n]) for n in lengths]
        shown.add_row(f"{head.layer}.{head.head}", head.gap, head.by, head.form, *taus)
        if head.given is not None:
            shown.add_row("", "", "", "as it was", *(_short(head.given[n]) for n in lengths))
    out.print(shown)


def _print_budgets(numbers: SofteningReport) -> None:
    budgets = numbers.budgets
    assert budgets is not None
    out.print(f"tau at n = {budgets.n}, enough for all its words: {_short(budgets.tried)} word by word,")
    norms = "none" if budgets.norms is None else _short(budgets.norms)
    closed = "" if budgets.closed is None else f"{_short(budgets.closed)} by the closed form, "
    out.print(f"{closed}{norms} by the recursion of norms")
    if budgets.ratio is not None:
        out.print(f"so the closed form is {_short(budgets.ratio)} times colder than it had to be there")


def _short(number: float) -> str:
    return f"{number:.3g}"
