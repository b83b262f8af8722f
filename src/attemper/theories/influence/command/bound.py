"""attemper limits bound"""

from __future__ import annotations

from fractions import Fraction
from pathlib import Path
from time import monotonic
from typing import TYPE_CHECKING, Annotated

import typer

from attemper.checker.report import record_of
from attemper.checker.verdict import Status
from attemper.errors import OptionError
from attemper.workbench.cli.console import out, print_json
from attemper.workbench.cli.options import Json, share
from attemper.workbench.cli.progress import activity
from attemper.workbench.cli.searching import require_file, use_few_threads, written
from attemper.workbench.cli.time_limit import SecondsOption, limited

if TYPE_CHECKING:
    from attemper.languages.sources.values import Parity
    from attemper.theories.influence.ask import Limit, Typical


@limited
def bound_command(
    model: Annotated[
        str, typer.Argument(metavar="MODULE:OBJECT", help="An encoder, or a function that gives one.")
    ],
    n0: Annotated[
        int, typer.Option("--n0", min=2, metavar="N", help="A bound C/n is for all n from here on.")
    ] = 4096,
    n: Annotated[
        int | None,
        typer.Option("--n", min=2, metavar="N", help="The length, where positions or a mask need one."),
    ] = None,
    typical: Annotated[
        str | None,
        typer.Option(metavar="SOURCE", help="Only words typical of parity-even or parity-odd; with --tau."),
    ] = None,
    p: Annotated[str, typer.Option("--p", metavar="P", help="The source's probability of ending.")] = "1/2",
    tau: Annotated[
        str, typer.Option("--tau", metavar="T", help="How far frequencies of 1s may be from the source's.")
    ] = "0.1",
    margin: Annotated[
        str, typer.Option(metavar="M", help="From which n on no margin M is possible on PARITY.")
    ] = "1",
    seconds: SecondsOption = 120,
    output: Annotated[
        Path | None, typer.Option("--output", "-o", metavar="FILE", help="Write the bound here.")
    ] = None,
    json: Json = False,
) -> int:
    """Bound what one symbol can change in an encoder with soft attention, and what follows, with proof.

    Without mask and positions, or with periodic ones, the bound is C/n, for all words of all lengths n >= N0
    (n = N0 modulo the period); else for all words of the length N. n counts the end marker. Half of the time
    is for the search, the rest for the checker. Interrupted (Ctrl-C), the search ends with the best so far.

    Exit codes: 0 found and PROVED, 12 nothing found, 130 interrupted.
    """
    began = monotonic()
    require_file(output)
    use_few_threads()
    from attemper.theories.influence.ask import BoundRequest, bound_and_check, encoder_named

    chosen = _source(typical or "parity-even", p)
    with activity("bounding") as report:
        left = seconds - (monotonic() - began)
        asked = BoundRequest(n0, n, chosen, _typical(chosen, typical, tau), _positive(margin), left, report)
        found = bound_and_check(encoder_named(model), asked, model)
    _print_found(found, json=json)
    return written(found, output, json=json)


def _source(name: str, p: str) -> Parity:
    """The source of an option's name, with that probability of ending."""
    from attemper.languages.sources.values import Parity, source_named

    found = source_named(name, share(p, "--p"))
    if not isinstance(found, Parity):
        raise OptionError("bounds follow for parity-even and parity-odd: an encoder reads 0 and 1")
    return found


def _typical(source: Parity, named: str | None, tau: str) -> Typical | None:
    from attemper.theories.influence.ask import Typical

    return None if named is None else Typical(source, share(tau, "--tau"))


def _positive(text: str) -> Fraction:
    """A margin, read exactly."""
    try:
        found = Fraction(text)
    except (ValueError, ZeroDivisionError):
        found = Fraction(0)
    if not found > 0 or found.denominator > 10**6:
        raise typer.BadParameter("--margin must be a number above 0, for example 1 or 1/2")
    return found


def _print_found(found: Limit, *, json: bool) -> None:
    """The claims, and what was measured beside them; or why there are none."""
    if json:
        print_json(_record(found))
        return
    if found.verdict is None:
        out.print(f"UNKNOWN: {found.reason}")
    else:
        for claim in found.verdict.claims:
            out.print(f"{claim.status}: {claim.text}")
        out.print(f"arithmetic: {found.verdict.claims[0].arithmetic}")
    if found.remark:
        out.print(f"UNKNOWN: {found.remark}")
    if found.everywhere is not None and found.bound is not None:
        out.print("what follows rests on the bound for typical words, and counts the others in")
    kind = "all words" if found.is_of_all_words else "the words that were tried"
    kind = kind if found.everywhere is None else "typical words"
    both = [(kind, each) for each in found.measured] + [("all words", found.everywhere)]
    for words, each in both:
        if each is not None:
            out.print(f"n times the greatest change of {words} is {each[1]:.6g} at n = {each[0]}: measured")
    if found.leaves:
        out.print(f"{found.leaves:,} leaves")


def _record(found: Limit) -> dict[str, object]:
    """The same as JSON data."""
    said = {"verdict": str(Status.UNKNOWN), "reason": found.reason}
    record = said if found.verdict is None else record_of(found.verdict)
    numbers: dict[str, object] = {
        "measured": [_measured(each) for each in found.measured],
        "measured_of": "all words" if found.is_of_all_words else "words that were tried",
        "measured_over_all_words": None if found.everywhere is None else _measured(found.everywhere),
        "leaves": found.leaves,
        "remark": found.remark,
        "seconds": round(found.seconds, 1),
    }
    return {**record, **numbers}


def _measured(pair: tuple[int, float]) -> dict[str, object]:
    return {"n": pair[0], "n_times_change": pair[1]}
