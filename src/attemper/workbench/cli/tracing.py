"""attemper trace"""

from __future__ import annotations

from dataclasses import replace
from typing import Annotated

import typer

from attemper.networks.layers import Network
from attemper.workbench.cli.console import out, print_json
from attemper.workbench.cli.options import Folder, Json
from attemper.workbench.cli.time_limit import SecondsOption, limited
from attemper.workbench.folder import load
from attemper.workbench.trace import parts_of

LayerOption = Annotated[int | None, typer.Option(min=0, metavar="N", help="Only this layer, counted from 0.")]
HeadOption = Annotated[
    int | None, typer.Option(min=0, metavar="N", help="Only heads of this number, counted from 0.")
]
PositionOption = Annotated[
    int | None,
    typer.Option(
        min=1,
        metavar="N",
        help="Mark this position, counted from 1, say with numbers what it attends to, "
        "and show what is around it where the word is too long.",
    ),
]


@limited
def trace_command(
    folder: Folder,
    word: Annotated[str, typer.Argument(metavar="WORD", help="The word to read.")],
    layer: LayerOption = None,
    head: HeadOption = None,
    position: PositionOption = None,
    seconds: SecondsOption = 60,
    json: Json = False,
) -> None:
    """Show the verdict, every subformula at every position, every head's attention, and margins.

    Attention weights are numbers where they fit, else shaded characters; of a word that is too long even for
    these, the positions around --position (default: the one that the verdict is read at).
    """
    if json and position is not None:
        raise typer.BadParameter("--position is for the text: --json has all positions")
    model = load(folder)
    _require(model.network, layer, head)
    trace = model.trace(word)
    if position is not None and position > len(trace.word):
        raise typer.BadParameter(f"there is no position {position}: the word has {len(trace.word)}")
    shown = replace(
        trace,
        heads=tuple(one for one in trace.heads if layer in {None, one.layer} and head in {None, one.head}),
        margins=tuple(one for one in trace.margins if layer in {None, one.layer}),
    )
    if json:
        for record in shown.records:
            print_json(record)
        return
    for part in parts_of(shown, position):
        out.print(part)


def _require(network: Network, layer: int | None, head: int | None) -> None:
    """Refuse a layer or head that the network does not have."""
    count = len(network.layers)
    if layer is not None and layer >= count:
        raise typer.BadParameter(f"there is no layer {layer}: the network has {count}, counted from 0")
    layers = network.layers if layer is None else (network.layers[layer],)
    most = max((len(one.heads) for one in layers), default=0)
    if head is not None and head >= most:
        where = "any layer" if layer is None else f"layer {layer}"
        raise typer.BadParameter(f"there is no head {head} in {where}: there are {most}, counted from 0")
