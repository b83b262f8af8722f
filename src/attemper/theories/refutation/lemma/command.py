"""attemper lemma"""

from __future__ import annotations

from fractions import Fraction
from typing import Annotated

import typer

from attemper.errors import UnsupportedError
from attemper.theories.refutation.lemma import constants
from attemper.theories.refutation.lemma.said import LemmaConstants, LemmaRuns
from attemper.workbench.cli.console import print_found
from attemper.workbench.cli.options import Json, share
from attemper.workbench.cli.progress import activity
from attemper.workbench.cli.searching import use_few_threads
from attemper.workbench.cli.time_limit import SecondsOption, limited

_SHOWN = (constants.Variant.PUBLISHED, constants.Variant.TUNED, constants.Variant.ALTERATION)
_INPUTS = (1, 2, 3, 4)
_SHARES = (Fraction(1, 2), Fraction(9, 10))
_LONGEST = 2000
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
RunLengthOption = Annotated[
    int | None,
    typer.Option("--length", metavar="N", help="Run the construction at this length, on random tables."),
]
KOption = Annotated[int | None, typer.Option("--k", metavar="K", help="The k of the lemma; with --length.")]
RateOption = Annotated[
    str | None,
    typer.Option(
        "--rate", metavar="Q", help="The rate q of random bits, with --length; else alteration's best."
    ),
]
SeedOption = Annotated[
    int, typer.Option("--seed", min=0, metavar="N", help="For random tables and bits, with --length.")
]


@limited
def lemma_command(
    c: InputsOption = None,
    heads: HeadsOption = 1,
    free: FreeOption = None,
    length: RunLengthOption = None,
    k: KOption = None,
    rate: RateOption = None,
    seed: SeedOption = 0,
    seconds: SecondsOption = 60,
    json: Json = False,
) -> None:
    """Say how large Hahn's Depth Reduction Lemma's constants are; or run its construction on one layer."""
    if not 1 <= heads <= _MOST_HEADS:
        raise typer.BadParameter(f"--heads must be from 1 to {_MOST_HEADS}")
    use_few_threads()
    found: LemmaConstants | LemmaRuns
    if length is not None:
        if c is not None or free is not None:
            raise typer.BadParameter("--c and --free are for the tables, not for --length")
        found = _run(length, heads, k, rate, seed)
    else:
        if k is not None or rate is not None:
            raise typer.BadParameter("--k and --rate are for --length")
        found = _constants(c, heads, free)
    print_found(found, json=json)


def _constants(c: int | None, heads: int, free: str | None) -> LemmaConstants:
    if c is not None and not 1 <= c <= _MOST_INPUTS:
        raise typer.BadParameter(f"--c must be from 1 to {_MOST_INPUTS}")
    shares = _SHARES if free is None else (share(free, "--free"),)
    layers = [
        constants.RemovedLayer(inputs, heads, kept)
        for kept in shares
        for inputs in (_INPUTS if c is None else (c,))
    ]
    try:
        return LemmaConstants(
            tuple(constants.parameters(variant, layer) for layer in layers for variant in _SHOWN)
        )
    except OverflowError:
        raise UnsupportedError(
            "the numbers grow too large; choose a smaller --c, --heads or --free"
        ) from None


def _run(length: int, heads: int, k: int | None, rate: str | None, seed: int) -> LemmaRuns:
    from attemper.models.hard.examples import RandomTables
    from attemper.theories.refutation.lemma.alteration import altered, best_rate
    from attemper.theories.refutation.lemma.faithful import faithful
    from attemper.theories.refutation.lemma.inputs import two_symbols

    if k is None or k < 1:
        raise typer.BadParameter("--length needs a --k that is at least 1, for example --k 16")
    if not 2 <= length <= _LONGEST:
        raise typer.BadParameter(f"--length must be from 2 to {_LONGEST}")
    q = best_rate(k, heads) if rate is None else share(rate, "--rate")
    model = RandomTables(length, (heads,), seed)
    base = two_symbols(model)
    with activity("three stages") as report:
        found = {"three stages": faithful(model, base, k, q, seed=seed)}
        report("done; alteration")
        found["alteration"] = altered(model, base, k, q, seed=seed)
        found["alteration, not random"] = altered(model, base, k, q, derandomised=True)
    return LemmaRuns(length, heads, k, q, seed, found)
