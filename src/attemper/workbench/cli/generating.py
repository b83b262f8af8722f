"""attemper generate"""

from __future__ import annotations

import re
from contextlib import nullcontext
from itertools import islice
from pathlib import Path
from time import monotonic
from typing import Annotated

import typer

from attemper.checker.limits import MOST_SECONDS
from attemper.errors import ExitCode, UnsupportedError
from attemper.escapes import escaped
from attemper.running.streaming.stream import Stream
from attemper.workbench.cli.console import out, print_json
from attemper.workbench.cli.options import Folder, Json
from attemper.workbench.cli.progress import counting
from attemper.workbench.cli.streaming import flush, interrupts, saving, write
from attemper.workbench.cli.time_limit import SecondsOption
from attemper.workbench.folder import load
from attemper.workbench.generating import Generated

MOST = 1_000_000
"""How many tokens are written if nothing is said."""

AT_ONCE = 4_096
"""So many tokens a stream writes between two looks at the clock."""

_INPUT = re.compile(r"(\w+)=([0-9]{1,18})")


def generate_command(
    folder: Folder,
    inputs: Annotated[
        list[str] | None,
        typer.Option("--input", metavar="REGISTER=N", help="What a register begins with; may be repeated."),
    ] = None,
    prompt: Annotated[
        str | None, typer.Option(metavar="TOKENS", help="Any tokens, in place of --input.")
    ] = None,
    most: Annotated[int, typer.Option(min=0, metavar="N", help="Write at most so many tokens.")] = MOST,
    beyond: Annotated[
        bool, typer.Option("--beyond", help="Go on where no claim says that a token is right.")
    ] = False,
    load_state: Annotated[
        Path | None, typer.Option("--load-state", metavar="FILE", help="Go on from there.")
    ] = None,
    save_state: Annotated[
        Path | None, typer.Option("--save-state", metavar="FILE", help="To go on later.")
    ] = None,
    seconds: SecondsOption = MOST_SECONDS,
    json: Json = False,
) -> int:
    """Let a counter machine's transformer write, token by token, until it halts (docs/machines.md).

    Each token is what the network puts out at the last position, and is its next symbol. The prompt of a
    machine without --input and --prompt is its start alone. Exit codes: 0 it has halted, 12 it has not, or
    the horizon is reached.
    """
    if inputs and prompt is not None:
        raise typer.BadParameter("give --input or --prompt, not both")
    model = load(folder)
    begins = dict(map(_input, inputs or [])) if prompt is None and load_state is None else prompt or ""
    made = model.generate(begins, state=load_state, beyond=beyond)
    stream = made.reader
    if save_state is not None and not isinstance(stream, Stream):
        raise UnsupportedError(
            "this network is no stream, so that it has no state to be saved: keep the tokens"
        )
    kept = saving(stream, save_state) if isinstance(stream, Stream) else nullcontext()
    with interrupts() as pressed, kept, counting("writing", most) as count:
        tokens, end = list[str](), monotonic() + seconds
        written = 0
        while not made.halted and written < most and monotonic() < end:
            pressed.stop_if_pressed()
            some = list(islice(made, min(AT_ONCE if made.is_stream else 1, most - written)))
            written += len(some)
            count(len(some))
            if json:
                tokens += some
            elif some:
                blank = " " if written > len(some) else ""
                write(f"{blank}{escaped(' '.join(some))}")
                flush()
    if json:
        print_json(
            {
                "tokens": tokens,
                "halted": made.halted,
                "registers": made.registers,
                "length": made.length,
                "horizon": made.horizon,
                "claimed": made.claimed,
            }
        )
    else:
        write("\n" if written else "")
        _say(made, written)
    return ExitCode.OK if made.halted else ExitCode.UNKNOWN


def _input(text: str) -> tuple[str, int]:
    found = _INPUT.fullmatch(text)
    if found is None:
        raise typer.BadParameter(f"--input '{text[:80]}' is no number of a register: write it as n=27")
    return found[1], int(found[2])


def _say(made: Generated, written: int) -> None:
    end = "halted" if made.halted else "not halted"
    out.print(f"{end} after {written:,} tokens")
    if made.registers:
        out.print(f"registers: {', '.join(f'{name} {number:,}' for name, number in made.registers.items())}")
    out.print(f"claimed of {made.claimed}")
