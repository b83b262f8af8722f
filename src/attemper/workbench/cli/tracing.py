"""attemper trace"""

from __future__ import annotations

from dataclasses import asdict, replace
from typing import TYPE_CHECKING, Annotated

import typer

from attemper.languages.words import Word
from attemper.networks.layers import Network
from attemper.workbench.cli.console import out, print_json
from attemper.workbench.cli.options import Folder, Json
from attemper.workbench.cli.time_limit import SecondsOption, limited
from attemper.workbench.folder import load
from attemper.workbench.report import attention
from attemper.workbench.report.heads import HeadTrace
from attemper.workbench.report.windows import WordWindow, cut_word

if TYPE_CHECKING:
    from attemper.workbench.trace import Trace

LayerOption = Annotated[int | None, typer.Option(min=0, help="Only this layer, counted from 0.")]
HeadOption = Annotated[int | None, typer.Option(min=0, help="Only heads of this number, counted from 0.")]
PositionOption = Annotated[
    int | None,
    typer.Option(
        min=1,
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
    """Show every subformula at every position, every head's attention (soft and hard), and margins.

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
        _print_records(shown)
        return
    shades = attention.PLAIN_SHADES if out.options.ascii_only else attention.SHADES
    read_at = 1 if model.network.reads_first else len(trace.word)
    _print(
        shown, attention.View(out.columns, out.fits, shades, position or read_at, marked=position is not None)
    )


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


def _print_records(trace: Trace) -> None:
    """One JSON object per subformula, head and layer, each with its kind."""
    for formula, truth in trace.subformulas:
        print_json({"kind": "subformula", "formula": formula, "positions": [int(bit) for bit in truth]})
    for head in trace.heads:
        print_json({"kind": "head", **asdict(head)})
    for margin in trace.margins:
        print_json({"kind": "margin", **asdict(margin)})
    print_json({"kind": "output", "word": list(trace.word), "values": list(trace.output)})


def _print(trace: Trace, view: attention.View) -> None:
    out.print(f"word {cut_word(trace.word, view.room - len('word '))}")
    if trace.word and trace.subformulas:
        _print_truth(trace, view)
    shaded = [_print_head(head, trace.word, view) for head in trace.heads]
    if trace.word and not trace.heads:
        out.print("no heads")
    for margin in trace.margins:
        out.print(f"layer {margin.layer}: smallest margin {margin.margin:.6f}")
    if any(shaded):
        out.print(attention.legend(view.shades))
    elif trace.heads:
        out.print(f"weights: . below {attention.STEPS[0]}")


def _print_truth(trace: Trace, view: attention.View) -> None:
    table, window = attention.truth_table(trace.subformulas, trace.word, view)
    if not window.is_whole:
        out.print(f"{_positions(window)}: --position I shows those around I, --json all")
    out.print(table)


def _print_head(head: HeadTrace, word: Word, view: attention.View) -> bool:
    """Print a head's attention; whether its weights are shaded."""
    pattern = attention.attention_pattern(head, word, view)
    out.print()
    where = "" if pattern.window.is_whole else f"; {_positions(pattern.window)}"
    writes = ", ".join(head.writes)
    out.print(f"layer {head.layer}, head {head.head}: {head.construction}, writes {writes}{where}")
    out.print(pattern.table)
    if view.marked:
        out.print(attention.attended_text(head, view.centre))
    return pattern.shaded


def _positions(window: WordWindow) -> str:
    return f"positions {window.first} to {window.last} of {window.length}"
