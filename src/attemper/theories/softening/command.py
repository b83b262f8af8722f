"""attemper soften, attemper four-ways"""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path
from typing import Annotated

import typer

from attemper.errors import OptionError
from attemper.networks.files import STRUCTURE
from attemper.theories.softening.texts import said_in
from attemper.workbench.cli.console import out, print_json
from attemper.workbench.cli.options import Force, Json, LimitOption, require_ending
from attemper.workbench.cli.places import require_network_place
from attemper.workbench.cli.progress import activity
from attemper.workbench.cli.searching import use_few_threads
from attemper.workbench.cli.time_limit import SecondsOption, limited
from attemper.workbench.lengths import ranges_of
from attemper.workbench.limits import parse_limits
from attemper.writing import write_together

LONGEST_LENGTH = 512
"""To add up what all positions weigh takes a time that grows like n^2."""


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
    limit: LimitOption = None,
    up_to: Annotated[
        int | None, typer.Option(min=1, metavar="N", help="The greatest length of words that are tried.")
    ] = None,
    first: Annotated[
        int, typer.Option("--from", min=1, metavar="N", help="The least length that is claimed.")
    ] = 1,
    rounding: Annotated[
        bool, typer.Option("--round", help="Add a layer that rounds what is put out to 0 or 1.")
    ] = False,
    lemmas: Annotated[
        bool,
        typer.Option(
            "--lemmas", help="Print bounds by the lemmas of Theorem 26 beside ours, and measured errors."
        ),
    ] = False,
    seconds: SecondsOption = 60,
    force: Force = False,
    json: Json = False,
) -> int:
    """Make a softmax network of an average-hard one, within epsilon of it, with proof.

    Every head must be uniform or tieless. That is proved by rule for all lengths, or stated with --gap and
    checked for short words, or tried on all words up to a length, where the claim then ends.

    --limit words=N says how many words may be tried in all.

    Exit codes: 0 PROVED, 4 a tie, with its word, 10 what is stated is false, 11 proved if what is stated
    holds, 12 no temperature is seen to be low enough.
    """
    if output.is_file():
        raise typer.BadParameter(f"'{output}' is a file; -o needs a folder")
    require_network_place(output, force=force)
    use_few_threads()
    from attemper.theories.softening.ask import soften
    from attemper.theories.softening.report import lemma_parts

    with activity("softening") as report:
        found = soften(
            network,
            epsilon=epsilon,
            gaps=said_in(gap, "gaps"),
            magnitudes=said_in(magnitude, "magnitudes"),
            limits=parse_limits(limit),
            first=first,
            up_to=up_to,
            rounding=rounding,
            report=report,
        )
        record, text = found.record, str(found)
        tables = found.lemmas if lemmas and found.is_proved else ()
    if lemmas:
        record = {**record, "lemmas": [asdict(own) for own in tables]}
    replaced = found.is_proved and (output / STRUCTURE).exists()
    if found.is_proved:
        found.save(output)
    if json:
        print_json({**record, "directory": str(output) if found.is_proved else None, "replaced": replaced})
        return found.exit_code
    out.print_lines(text)
    for part in lemma_parts(tables):
        out.print(part)
    wrote = f"wrote {output}{', in place of the network that was there' if replaced else ''}"
    out.print(wrote if found.is_proved else "nothing is written")
    return found.exit_code


@limited
def four_ways_command(
    lengths: Annotated[
        str, typer.Option("--lengths", metavar="A,B", help="At which numbers of positions, as 4,8 or 4-8.")
    ] = "4,8,16,32,64,128",
    svg: Annotated[
        Path | None, typer.Option(metavar="FILE", help="Draw gaps against n to this file, x.svg.")
    ] = None,
    seconds: SecondsOption = 60,
    json: Json = False,
) -> None:
    """Show how PARITY's gap vanishes at a constant temperature, and four ways out (docs/four-ways.md).

    A gap is the least number put out for an even number of 1s, less the greatest for an odd one.
    """
    del seconds
    asked = ranges_of(lengths)
    if min(asked)[0] < 2 or max(greatest for _, greatest in asked) > LONGEST_LENGTH:
        raise OptionError(f"lengths: each is from 2 to {LONGEST_LENGTH}", options=("lengths",))
    if svg is not None:
        require_ending(svg, (".svg",), "as a picture does: --svg x.svg")
    from attemper.theories.softening.report import ways_svg, ways_table
    from attemper.theories.softening.ways import gaps_at

    with activity("adding up what all positions weigh"):
        found = gaps_at(sorted({n for least, greatest in asked for n in range(least, greatest + 1)}))
    if svg is not None:
        write_together({svg: ways_svg(found).encode()})
    if json:
        picture = {} if svg is None else {"picture": str(svg)}
        print_json({"gaps": [asdict(own) for own in found], **picture})
        return
    out.print(ways_table(found))
    if svg is not None:
        out.print(f"wrote a picture to {svg}")
