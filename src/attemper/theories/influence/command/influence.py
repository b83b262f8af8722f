"""attemper influence"""

from __future__ import annotations

from itertools import chain
from pathlib import Path
from time import monotonic
from typing import TYPE_CHECKING, Annotated, cast

import typer

from attemper.errors import OptionError
from attemper.workbench.cli.console import out, print_found
from attemper.workbench.cli.options import Json
from attemper.workbench.cli.progress import activity
from attemper.workbench.cli.searching import use_few_threads
from attemper.workbench.cli.time_limit import SecondsOption, limited
from attemper.workbench.lengths import ranges_of

if TYPE_CHECKING:
    from attemper.theories.influence.ask.measuring import ModeName

MODES = ("exact", "word", "sampled", "search")

MOST_LENGTHS = 1_000
"""No more lengths are measured at a time."""

MEASURING = 0.9
"""So much of the time is for measuring: the rest is for what follows, and for saying it."""

EncoderArgument = Annotated[
    str,
    typer.Argument(
        metavar="DIR|MODULE:OBJECT", help="A folder made by 'attemper compile', or an encoder in Python."
    ),
]


@limited
def influence_command(
    model: EncoderArgument,
    lengths: Annotated[
        str | None,
        typer.Option(metavar="A,B", help="Lengths, or A-B; they count an end marker and --start."),
    ] = None,
    mode: Annotated[
        str | None,
        typer.Option(
            metavar="MODE", help=f"{', '.join(MODES)} (default: exact where few enough, else sampled)."
        ),
    ] = None,
    words: Annotated[
        str | None, typer.Option(metavar="FILE|-", help="One word a line, without markers; for --mode word.")
    ] = None,
    count: Annotated[
        int | None,
        typer.Option(min=1, metavar="N", help="Words of each length (default 64; of a search 4096)."),
    ] = None,
    seed: Annotated[int, typer.Option(min=0, metavar="N", help="For sampled words and the search.")] = 0,
    seconds: SecondsOption = 60,
    start: Annotated[
        str | None, typer.Option(metavar="SYMBOL", help="The symbol that begins every word of this model.")
    ] = None,
    log_odds: Annotated[
        str | None, typer.Option(metavar="NAME", help="Measure ln(P/(1-P)) of this output instead.")
    ] = None,
    source: Annotated[
        str | None,
        typer.Option(metavar="NAME", help="Draw sampled words from parity-even, parity-odd or dyck2."),
    ] = None,
    p: Annotated[str, typer.Option("--p", metavar="P", help="The source's probability, a fraction.")] = "1/2",
    csv: Annotated[Path | None, typer.Option("--csv", metavar="FILE", help="Write all numbers here.")] = None,
    logit_range: Annotated[
        str | None,
        typer.Option(metavar="S", help="Cap each row of a compiled network's logits at the range s(n)."),
    ] = None,
    json: Json = False,
) -> int:
    """Measure how much one symbol can change what a model with soft attention puts out at position n.

    In float64, not a proof: docs/influence.md says what each mode looks at. Interrupted (Ctrl-C), or when the
    time is up, the report has what was seen.

    Exit codes: 0 measured, 130 interrupted.
    """
    began = monotonic()
    asked = None if lengths is None else lengths_of(lengths)
    use_few_threads()
    if logit_range is not None:
        from attemper.theories.influence.command.bridging import bridge_command

        if (mode, words, start, log_odds, source, csv) != (None,) * 6:
            raise typer.BadParameter(
                "--logit-range goes with --lengths, --count, --seed, --seconds and --json only"
            )
        left = MEASURING * (seconds - (monotonic() - began))
        return bridge_command(model, logit_range, asked, count, seed, left, json=json)
    from attemper.theories.influence.ask.measuring import influence

    with activity("measuring") as report:
        found = influence(
            model,
            asked,
            words=None if words is None else Path(words),
            mode=cast("ModeName | None", mode),
            count=count,
            seed=seed,
            seconds=MEASURING * (seconds - (monotonic() - began)),
            start=start,
            log_odds=log_odds,
            source=source,
            p=p,
            report=report,
        )
    if csv is not None:
        found.save(csv)
    print_found(found, json=json)
    if csv is not None and not json:
        out.print(f"wrote {csv}")
    return found.exit_code


def lengths_of(text: str) -> tuple[int, ...]:
    """The lengths in a list such as 64,128 or 8-16. Raises `OptionError`.

    >>> lengths_of("64,8-10")
    (64, 8, 9, 10)
    """
    ranges = ranges_of(text)
    if sum(greatest - least + 1 for least, greatest in ranges) > MOST_LENGTHS:
        raise OptionError(
            f"lengths: '{text[:80]}' are more than {MOST_LENGTHS:,} lengths: give fewer", options=("lengths",)
        )
    return tuple(chain.from_iterable(range(least, greatest + 1) for least, greatest in ranges))
