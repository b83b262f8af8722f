"""attemper judge"""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Literal

import typer

from attemper.errors import OptionError
from attemper.theories.judging.ask import UP_TO, judge
from attemper.workbench.cli.console import out, print_found
from attemper.workbench.cli.options import AlphabetOption, AtOption, EmptyOption, Json
from attemper.workbench.cli.progress import activity
from attemper.workbench.cli.searching import require_file, use_few_threads
from attemper.workbench.cli.time_limit import SecondsOption, limited


@limited
def judge_command(
    model: Annotated[
        str,
        typer.Argument(
            metavar="DIR|MODULE:OBJECT",
            help="A run of 'attemper train', a GPT-2 of transformers, or an encoder in Python.",
        ),
    ],
    language: Annotated[
        str | None,
        typer.Argument(metavar="[LANGUAGE]", help="As everywhere (docs/naming.md); left out, the run's own."),
    ] = None,
    alphabet: AlphabetOption = None,
    at: AtOption = None,
    empty: EmptyOption = None,
    up_to: Annotated[
        str,
        typer.Option(
            "--up-to", metavar="N|auto", help="Words of at most N symbols; auto: doubled while proved."
        ),
    ] = str(UP_TO),
    offsets: Annotated[
        str,
        typer.Option(
            "--offsets", metavar="K|K-M|all", help="So many positions are left out before each input."
        ),
    ] = "0",
    vocab: Annotated[
        str | None,
        typer.Option(
            "--vocab",
            metavar="TOKENS",
            help="Of a GPT-2 without vocab.json: its tokens by number, as in 'a,b,<bos>,<eos>'.",
        ),
    ] = None,
    answer: Annotated[
        str | None,
        typer.Option(
            "--answer",
            metavar="TOKENS",
            help="Of a GPT-2 asked about whole words: the token asked with, those for yes and no.",
        ),
    ] = None,
    seconds: SecondsOption = 60,
    output: Annotated[
        Path | None,
        typer.Option("--output", "-o", metavar="FILE", help="Write the proof, or the wrong word."),
    ] = None,
    json: Json = False,
) -> int:
    """Prove that a trained transformer answers every word of a language right, or show one it gets wrong.

    Transformers of one layer are judged (docs/judging.md). Interrupted (Ctrl-C), or when the time is up, it
    ends with what is known so far.

    Exit codes: 0 PROVED to the length that was asked for; 10 REFUTED by a word; 12 UNKNOWN.
    """
    require_file(output)
    use_few_threads()
    with activity("judge") as report:
        found = judge(
            model,
            language,
            alphabet,
            at=at,
            empty=empty,
            vocab=None if vocab is None else vocab.split(","),
            answer=None if answer is None else _tokens_of(answer),
            up_to=_length(up_to),
            offsets=_offsets(offsets),
            seconds=seconds,
            report=report,
        )
    is_known = found.judgement is not None
    if output is not None and is_known:
        found.save(output)
    print_found(found, json=json)
    if output is not None and not json:
        out.print(f"wrote {output}" if is_known else f"nothing is shown: no {output}")
    return found.exit_code


def _length(text: str) -> int | Literal["auto"]:
    if text == "auto":
        return "auto"
    if not text.isascii() or not text.isdecimal():
        raise OptionError(f"'{text[:40]}' is neither a length nor auto", options=("up_to",))
    return int(text[:20])


def _offsets(text: str) -> tuple[int, int] | Literal["all"]:
    if text == "all":
        return "all"
    ends = text.split("-")
    if len(ends) > 2 or not all(end.isascii() and end.isdecimal() for end in ends):
        raise OptionError(f"'{text[:40]}' is no number, nor two as in 0-150, nor all", options=("offsets",))
    return int(ends[0][:20]), int(ends[-1][:20])


def _tokens_of(text: str) -> tuple[str, str, str]:
    match text.split(","):
        case [query, yes, no]:
            return query, yes, no
        case _:
            raise OptionError(f"'{text[:40]}' are not three tokens, as in '<sep>,1,0'", options=("answer",))
