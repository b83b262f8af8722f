"""attemper lemma"""

from __future__ import annotations

from dataclasses import asdict
from fractions import Fraction
from typing import TYPE_CHECKING, Annotated

import typer
from rich.table import Table

from attemper.errors import UnsupportedError
from attemper.theories.refutation.lemma import constants
from attemper.workbench.cli.console import out, print_json
from attemper.workbench.cli.options import Json, share
from attemper.workbench.cli.progress import activity
from attemper.workbench.report.tables import table

if TYPE_CHECKING:
    from attemper.theories.refutation.lemma.faithful import Reduction

_SHOWN = (constants.Variant.PUBLISHED, constants.Variant.TUNED, constants.Variant.ALTERATION)
_INPUTS = (1, 2, 3, 4)
_SHARES = (Fraction(1, 2), Fraction(9, 10))
_LONGEST = 2000
_SHORT = 10**6
_MOST_INPUTS = 50
_MOST_HEADS = 1000

InputsOption = Annotated[
    int | None,
    typer.Option(
        "--c", metavar="C", help=f"Inputs that an activation depends on, to {_MOST_INPUTS}; else 1 to 4."
    ),
]
HeadsOption = Annotated[int, typer.Option("--heads", metavar="H", help="Heads in the layer.")]
FreeOption = Annotated[
    str | None,
    typer.Option(
        "--free", metavar="SHARE", help="Share of the free inputs that stays free; else 1/2 and 9/10."
    ),
]
RunOption = Annotated[
    int | None,
    typer.Option("--run", metavar="N", help="Run the construction at this length, on random tables."),
]
KOption = Annotated[int | None, typer.Option("--k", metavar="K", help="The k of the lemma; with --run.")]
RateOption = Annotated[
    str | None,
    typer.Option(
        "--rate", metavar="Q", help="The rate q of random bits, with --run; else alteration's best."
    ),
]
SeedOption = Annotated[int, typer.Option("--seed", min=0, help="For random tables and bits, with --run.")]


def lemma_command(
    c: InputsOption = None,
    heads: HeadsOption = 1,
    free: FreeOption = None,
    run: RunOption = None,
    k: KOption = None,
    rate: RateOption = None,
    seed: SeedOption = 0,
    json: Json = False,
) -> None:
    """Say how large Hahn's Depth Reduction Lemma's constants are; or run its construction on one layer."""
    if not 1 <= heads <= _MOST_HEADS:
        raise typer.BadParameter(f"--heads must be from 1 to {_MOST_HEADS}")
    if run is not None:
        if c is not None or free is not None:
            raise typer.BadParameter("--c and --free are for the tables, not for --run")
        _run(run, heads, k, rate, seed, json)
        return
    if k is not None or rate is not None:
        raise typer.BadParameter("--k and --rate are for --run")
    if c is not None and not 1 <= c <= _MOST_INPUTS:
        raise typer.BadParameter(f"--c must be from 1 to {_MOST_INPUTS}")
    shares = _SHARES if free is None else (share(free, "--free"),)
    layers = [
        constants.RemovedLayer(inputs, heads, kept)
        for kept in shares
        for inputs in (_INPUTS if c is None else (c,))
    ]
    try:
        found = [constants.parameters(variant, layer) for layer in layers for variant in _SHOWN]
    except OverflowError:
        raise UnsupportedError(
            "the numbers grow too large; choose a smaller --c, --heads or --free"
        ) from None
    if json:
        print_json({"parameters": list(map(_record, found))})
        return
    for kept in shares:
        out.print(_table([one for one in found if one.layer.kept == kept], heads, kept))
    out.print("Guaranteed: for every length from n on. Numbers with an e are rounded up.")


def _second(found: constants.Parameters) -> int | None:
    """log10 of a k for the layer above; None if even that is too large to be computed."""
    try:
        return constants.exponent(found.variant, constants.layer_above(found))
    except OverflowError:
        return None


def _record(found: constants.Parameters) -> dict[str, object]:
    return {
        "variant": found.variant.value,
        "c": found.layer.inputs,
        "heads": found.layer.heads,
        "free": str(found.layer.kept),
        "eta": str(found.eta),
        "q": str(found.q),
        "delta": str(found.delta),
        "k": found.k,
        "inputs_after": found.inputs_after,
        "shortest": found.shortest,
        "log10_k_of_second_layer": _second(found),
    }


def _table(found: list[constants.Parameters], heads: int, kept: Fraction) -> Table:
    caption = f"{_heads(heads)}, {kept} of the free inputs stay free"
    headers = ("c", "proof", "k", "c'", "n", "eta", "q", "delta", "k of the next layer")
    shown = table(*headers, wraps=("k of the next layer",), caption=caption)
    for one in found:
        second = _second(one)
        shown.add_row(
            str(one.layer.inputs),
            one.variant.value,
            *map(short, (one.k, one.inputs_after, one.shortest)),
            *(f"{float(number):.2g}" for number in (one.eta, one.q, one.delta)),
            "beyond all bounds" if second is None else f"10^{short(second)}",
        )
    return shown


def _heads(heads: int) -> str:
    return "1 head" if heads == 1 else f"{heads} heads"


def short(number: int) -> str:
    """An integer with at most six digits as it is; a larger one to three digits, rounded up.

    >>> short(999_999), short(1_000_001)
    ('999999', '1.01e6')
    """
    if number < _SHORT:
        return str(number)
    zeros = len(str(number)) - 3
    digits = -(-number // 10**zeros)
    if digits == 1000:
        digits, zeros = 100, zeros + 1
    return f"{digits // 100}.{digits % 100:02}e{zeros + 2}"


def _run(length: int, heads: int, k: int | None, rate: str | None, seed: int, json: bool) -> None:
    from attemper.models.hard.examples import RandomTables
    from attemper.theories.refutation.lemma.alteration import altered, best_rate
    from attemper.theories.refutation.lemma.faithful import faithful
    from attemper.theories.refutation.lemma.satisfied import two_symbols

    if k is None or k < 1:
        raise typer.BadParameter("--run needs a --k that is at least 1, for example --k 16")
    if not 2 <= length <= _LONGEST:
        raise typer.BadParameter(f"--run must be from 2 to {_LONGEST}")
    q = best_rate(k, heads) if rate is None else share(rate, "--rate")
    model = RandomTables(length, (heads,), seed)
    base = two_symbols(model)
    with activity("three stages") as report:
        found = {"three stages": faithful(model, base, k, q, seed=seed)}
        report("done; alteration")
        found["alteration"] = altered(model, base, k, q, seed=seed)
        found["alteration, not random"] = altered(model, base, k, q, derandomised=True)
    if json:
        runs = {name: _outcome(reduction) for name, reduction in found.items()}
        print_json({"length": length, "heads": heads, "k": k, "q": str(q), "seed": seed, "runs": runs})
        return
    headers = ("construction", "stage", "fixed", "steps", "free", "unsatisfied tuples")
    shown = table(*headers, wraps=("construction", "stage", "unsatisfied tuples"))
    for name, reduction in found.items():
        for stage in reduction.stages:
            numbers = (stage.fixed, stage.steps, stage.free, stage.unsatisfied)
            shown.add_row(name, stage.name, *map(str, numbers))
    out.print(f"random tables of length {length} with {_heads(heads)}; k = {k}, q = {q}")
    out.print(shown)
    for name, reduction in found.items():
        verdict = f"all tuples are {k}-satisfied" if reduction.holds else f"not all tuples are {k}-satisfied"
        out.print(f"{name}: {verdict}; a choice depends on {reduction.most_attended} inputs at most")


def _outcome(reduction: Reduction) -> dict[str, object]:
    return {
        "stages": [asdict(stage) for stage in reduction.stages],
        "free": reduction.free,
        "most_attended": reduction.most_attended,
        "holds": reduction.holds,
    }
