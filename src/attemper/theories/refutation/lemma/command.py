"""attemper lemma"""

from __future__ import annotations

from contextlib import nullcontext
from fractions import Fraction
from pathlib import Path
from time import monotonic
from typing import TYPE_CHECKING, Annotated

import typer

from attemper.errors import AttemperError, InternalError, UnsupportedError
from attemper.modules import ModuleError, blaming
from attemper.theories.refutation.lemma import constants
from attemper.theories.refutation.lemma.said import LemmaConstants, LemmaReductions, LemmaRuns
from attemper.workbench.cli.console import out, print_found
from attemper.workbench.cli.options import Json, require_ending, share
from attemper.workbench.cli.progress import activity
from attemper.workbench.cli.searching import use_few_threads
from attemper.workbench.cli.time_limit import SecondsOption, limited
from attemper.writing import write_together

if TYPE_CHECKING:
    from attemper.theories.refutation.lemma.transformers import CTransformer

_SHOWN = (constants.Variant.PUBLISHED, constants.Variant.TUNED, constants.Variant.ALTERATION)
_INPUTS = (1, 2, 3, 4)
_SHARES = (Fraction(1, 2), Fraction(9, 10))
_LONGEST = 2000
_MOST_INPUTS = 50
_MOST_HEADS = 1000
_MOST_LAYERS = 12
_READ_AT_ONCE = 4
_COMPARED, _SCORED = 2**12, 2**24
"""On so many words a reduced transformer is compared with the first, or with so many scores in a layer."""

ReducedArgument = Annotated[
    str | None,
    typer.Argument(
        metavar="DIR|MODULE:OBJECT", help="With --reduce: a folder, or a Python object; else random tables."
    ),
]
ReduceOption = Annotated[
    bool,
    typer.Option("--reduce", help="Take all layers away, one after the other: the proof of Theorem 1."),
]
LayersOption = Annotated[
    int | None,
    typer.Option("--layers", metavar="L", help="With --reduce: layers of the random tables; else 2."),
]
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
    typer.Option(
        "--length",
        metavar="N",
        help="Run it at this length: on one layer of random tables; with --reduce on all layers.",
    ),
]
KOption = Annotated[
    int | None,
    typer.Option("--k", metavar="K", help="The k of the lemma, for --length; with --reduce, else 1."),
]
RateOption = Annotated[
    str | None,
    typer.Option(
        "--rate", metavar="Q", help="The rate q of random bits, with --length; else alteration's best."
    ),
]
SeedOption = Annotated[
    int, typer.Option("--seed", min=0, metavar="N", help="For random tables and bits, with --length.")
]
SvgOption = Annotated[
    Path | None,
    typer.Option(metavar="FILE", help="With --reduce: draw what happened to this file, x.svg."),
]
FigureOption = Annotated[
    int,
    typer.Option(
        min=1,
        max=3,
        metavar="1|2|3",
        help="Which of Hahn's figures: all layers; the first one, before and after; how a head's k "
        "activations are selected.",
    ),
]


@limited
def lemma_command(
    model: ReducedArgument = None,
    reduce: ReduceOption = False,
    layers: LayersOption = None,
    c: InputsOption = None,
    heads: HeadsOption = 1,
    free: FreeOption = None,
    length: RunLengthOption = None,
    k: KOption = None,
    rate: RateOption = None,
    seed: SeedOption = 0,
    svg: SvgOption = None,
    figure: FigureOption = 1,
    seconds: SecondsOption = 60,
    json: Json = False,
) -> None:
    """Say how large Hahn's Depth Reduction Lemma's constants are; or run it on one layer, or on all."""
    if not 1 <= heads <= _MOST_HEADS:
        raise typer.BadParameter(f"--heads must be from 1 to {_MOST_HEADS}")
    use_few_threads()
    found: LemmaConstants | LemmaRuns | LemmaReductions
    if svg is not None:
        require_ending(svg, (".svg",), "as a picture does: --svg x.svg")
    if reduce:
        from attemper.models.hard.loading import is_folder

        if rate is not None or free is not None:
            raise typer.BadParameter("--rate and --free are not for --reduce")
        own = None if model is None or is_folder(model) else model
        with nullcontext() if own is None else blaming(own):
            first = _first(model, length, layers, heads, c, seed)
            found = _reduced(first, 1 if k is None else k, seed, own)
        if svg is not None:
            from attemper.theories.refutation.lemma.pictures import figure_svg

            write_together({svg: figure_svg(figure, found.removed).encode()})
    elif model is not None or layers is not None or svg is not None:
        raise typer.BadParameter("a model, --layers and --svg are for --reduce")
    elif length is not None:
        if c is not None or free is not None:
            raise typer.BadParameter("--c and --free are for the tables, not for --length")
        found = _run(length, heads, k, rate, seed)
    else:
        if k is not None or rate is not None:
            raise typer.BadParameter("--k and --rate are for --length")
        found = _constants(c, heads, free)
    print_found(found, json=json)
    if svg is not None and not json:
        out.print(f"wrote a picture to {svg}")


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


def _first(
    model: str | None, length: int | None, layers: int | None, heads: int, c: int | None, seed: int
) -> CTransformer:
    """The transformer whose layers are taken away."""
    from attemper.models.hard.examples import RandomTables
    from attemper.models.hard.networks import NetworkModel
    from attemper.theories.refutation.ask import hard_model_of
    from attemper.theories.refutation.lemma.transformers import own_layer, reading_others
    from attemper.theories.refutation.search.probing import probe

    if model is not None:
        if layers is not None or heads != 1 or c is not None:
            raise typer.BadParameter("--layers, --heads and --c are for random tables, not for a model")
        found = hard_model_of(model, length)
        if not isinstance(found, NetworkModel):
            probe(found, hard_model_of(model, length), model)
        if not found.heads:
            raise UnsupportedError(f"'{model}' has no layer that could be taken away")
        return own_layer(found)
    if length is None or not 2 <= length <= _LONGEST:
        raise typer.BadParameter(f"--reduce needs a --length from 2 to {_LONGEST}, for example --length 24")
    layers = 2 if layers is None else layers
    if not 1 <= layers <= _MOST_LAYERS:
        raise typer.BadParameter(f"--layers must be from 1 to {_MOST_LAYERS}")
    if not 1 <= (c or 1) <= _READ_AT_ONCE:
        raise typer.BadParameter(f"with --reduce, --c must be from 1 to {_READ_AT_ONCE}")
    tables = RandomTables(length, (heads,) * layers, seed)
    return own_layer(tables) if c in (None, 1) else reading_others(tables, c or 1, seed)


def _differs(bits: tuple[int, ...], own: str | None) -> AttemperError:
    """Where a reduced transformer is not what it was: a fault of ours, or of somebody's own functions."""
    said = f"the reduced transformer has other activations on the inputs {bits}"
    if own is None:
        return InternalError(said)
    return ModuleError(f"'{own}': {said}: a row's results must not depend on the other rows")


def _reduced(first: CTransformer, k: int, seed: int, own: str | None) -> LemmaReductions:
    from attemper.theories.refutation.lemma.reducing import agreement, all_removed

    removed, compared, seconds = [], [], []
    with activity("reducing") as report:
        began = monotonic()
        for one in all_removed(first, k):
            seconds.append(monotonic() - began)
            report(f"comparing, with {len(one.transformer.heads)} layers left")
            removed.append(one)
            most = max(1, min(_COMPARED, _SCORED // first.size**2))
            compared.append(agreement(first, one.transformer, most, seed))
            if compared[-1].differs is not None:
                raise _differs(compared[-1].differs, own)
            report(f"{len(one.transformer.heads)} layers are left")
            began = monotonic()
    return LemmaReductions(first, tuple(removed), tuple(compared), tuple(seconds))


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
