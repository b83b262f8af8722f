"""attemper influence"""

from __future__ import annotations

from fractions import Fraction
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer
from rich.table import Table

from attemper.errors import ExitCode, MalformedFileError, OptionError
from attemper.models.arrays import Integers
from attemper.workbench.cli.console import out, print_json
from attemper.workbench.cli.lines import lines_in, place_in
from attemper.workbench.cli.options import Json
from attemper.workbench.cli.progress import activity
from attemper.workbench.cli.searching import use_few_threads
from attemper.workbench.cli.time_limit import SecondsOption, limited
from attemper.workbench.report.tables import table
from attemper.workbench.report.windows import cut

if TYPE_CHECKING:
    from attemper.languages.sources.values import Source
    from attemper.theories.influence.search.floors import Floors
    from attemper.theories.influence.search.measuring import MeasuringPlan
    from attemper.theories.influence.search.results import Report, ReportRow
    from attemper.theories.influence.search.subjects import MeasuredModel

WITNESS = 60
"""How many characters of a word are shown; --csv and --json have all."""

MODES = ("exact", "word", "sampled", "search")

SAMPLES = {"search": 4096}
"""How many words are run if nobody says so; in other modes than search it is `SAMPLED`."""

SAMPLED = 64

LONGEST = 100_000_000
"""No longer words are asked for."""

EncoderArgument = Annotated[
    str,
    typer.Argument(
        metavar="DIR|MODULE:OBJECT", help="A folder made by 'attemper compile', or an encoder in Python."
    ),
]


@limited
def influence_command(
    model: EncoderArgument,
    n: Annotated[
        str | None,
        typer.Option("--n", metavar="N[,N,...]", help="Lengths; they count an end marker and --start."),
    ] = None,
    mode: Annotated[
        str | None,
        typer.Option(help=f"{', '.join(MODES)} (default: exact where few enough, else sampled)."),
    ] = None,
    words: Annotated[
        str | None, typer.Option(metavar="FILE|-", help="One word a line, without markers; for --mode word.")
    ] = None,
    samples: Annotated[
        int | None, typer.Option(min=1, help="Words of each length (default 64; of a search 4096).")
    ] = None,
    seed: Annotated[int, typer.Option(min=0, help="For sampled words and the search.")] = 0,
    seconds: SecondsOption = 60,
    start: Annotated[
        str | None, typer.Option(metavar="SYMBOL", help="The symbol that begins every word of this model.")
    ] = None,
    log_odds: Annotated[
        str | None, typer.Option(metavar="NAME", help="Measure ln(P/(1-P)) of this output instead.")
    ] = None,
    source: Annotated[
        str | None, typer.Option(help="Draw sampled words from parity-even, parity-odd or dyck2.")
    ] = None,
    p: Annotated[str, typer.Option("--p", help="The source's probability, a fraction.")] = "1/2",
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
    use_few_threads()
    from attemper.theories.influence.search.measuring import measure
    from attemper.theories.influence.search.subjects import subject_of, words_in

    if logit_range is not None:
        from attemper.theories.influence.command.bridging import bridge_command

        if (mode, words, start, log_odds, source, csv) != (None,) * 6:
            raise typer.BadParameter(
                "--logit-range goes with --n, --samples, --seed, --seconds and --json only"
            )
        lengths = lengths_of(n) if n is not None else None
        return bridge_command(model, logit_range, lengths, samples, seed, seconds, json=json)
    chosen = _mode(mode, words, source)
    _require_fitting(n, chosen, words)
    subject = subject_of(model, start, log_odds)
    given = None if words is None else words_in(lines_in(words), subject, partial(place_in, words))
    drawn_from = _source(source, p)
    lengths = tuple(given) if given is not None else lengths_of(n or "")
    amount = samples or SAMPLES.get(chosen or "", SAMPLED)
    if drawn_from is not None and chosen == "sampled":
        given = _drawn(drawn_from, subject, lengths, amount, seed)
    with activity("measuring") as report:
        found = measure(subject, _plan(chosen, lengths, amount, seed, seconds, given), report)
    floors = _floors(found, drawn_from, log_odds, seed)
    if csv is not None:
        _write(csv, found.as_csv())
    if json:
        print_json({**found.as_record(), "floors": [each.as_record() for each in floors]})
    else:
        _print_report(found)
        for each in floors:
            _print_floors(each)
        if csv is not None:
            out.print(f"wrote {csv}")
    return ExitCode.INTERRUPTED if found.interrupted else ExitCode.OK


def lengths_of(text: str) -> tuple[int, ...]:
    """The lengths in a list such as 64,128, each once, the shortest first. Raises `OptionError`."""
    parts = [part.strip() for part in text.split(",")]
    if not all(part.isascii() and part.isdecimal() and 2 <= int(part[:12]) <= LONGEST for part in parts):
        raise OptionError(f"--n '{text}' is no list of lengths from 2 to {LONGEST:,}, such as 64 or 64,128")
    return tuple(sorted({int(part) for part in parts}))


def _mode(mode: str | None, words: str | None, source: str | None) -> str | None:
    if mode is not None and mode not in MODES:
        raise OptionError(f"--mode '{mode}' is none of {', '.join(MODES)}")
    if mode is None:
        return "word" if words is not None else "sampled" if source is not None else None
    return mode


def _require_fitting(n: str | None, mode: str | None, words: str | None) -> None:
    """Raises a usage error unless the options go together."""
    if (mode == "word") != (words is not None):
        raise typer.BadParameter("--mode word and --words FILE go together")
    if (n is None) == (words is None):
        raise typer.BadParameter(
            "give the lengths with --n, or words with --words FILE, which have their own"
        )


def _source(name: str | None, p: str) -> Source | None:
    from attemper.languages.sources.values import source_named

    if name is None:
        return None
    try:
        probability = Fraction(p)
    except (ValueError, ZeroDivisionError):
        raise OptionError(f"--p '{p}' is no fraction, such as 1/2") from None
    return source_named(name, probability)


def _drawn(
    source: Source, subject: MeasuredModel, lengths: tuple[int, ...], count: int, seed: int
) -> dict[int, Integers]:
    from attemper.theories.influence.search.floors import words_from

    return {length: words_from(source, subject, length, count, seed) for length in lengths}


def _plan(
    mode: str | None,
    lengths: tuple[int, ...],
    samples: int,
    seed: int,
    seconds: float,
    words: dict[int, Integers] | None,
) -> MeasuringPlan:
    from attemper.theories.influence.search.measuring import MeasuringPlan
    from attemper.theories.influence.search.results import Mode

    return MeasuringPlan(Mode(mode) if mode else None, lengths, samples, seed, seconds, words)


def _floors(found: Report, source: Source | None, log_odds: str | None, seed: int) -> list[Floors]:
    """The floors that the changes of x_(n-1) mean, where the output is the log-odds of a source's END."""
    from attemper.languages.sources.values import Parity
    from attemper.theories.influence.search.floors import floors_of

    if log_odds is None or not isinstance(source, Parity):
        return []
    return floors_of(found, source, seed)


def _write(file: Path, text: str) -> None:
    try:
        file.write_text(text, encoding="utf-8")
    except OSError as error:
        raise MalformedFileError(f"cannot write '{file}': {error.strerror}") from None


def _print_report(found: Report) -> None:
    rows = found.largest_rows
    for meaning in dict.fromkeys(each.found_as for each in found.measured if each.seen):
        lengths = [f"{each.length:,}" for each in found.measured if each.found_as == meaning]
        at = "" if len(lengths) == len(found.measured) else f" (n = {', '.join(lengths)})"
        out.print(f"measured in float64, not proved: {meaning}{at}")
    several = len(found.subject.names) > 1
    if rows:
        out.print(_table(rows, several=several))
    for place, slope in found.slopes().items():
        if slope is not None:
            out.print(f"slope on log-log axes, {_positions(place)}: {slope:.3f} (1/n is -1)")
    if rows:
        _print_witness(found, max((row for row in rows if row.length == rows[-1].length), key=_size))
    _print_unfinished(found)


def _size(row: ReportRow) -> float:
    return row.changes.largest


def _print_witness(found: Report, row: ReportRow) -> None:
    """Where the largest change at a length was seen."""
    from attemper.theories.influence.search.results import exchange_record

    exchange = exchange_record(found.subject.symbols, row.changes.exchange)
    where = "" if exchange["position"] is None else f"x_{exchange['position']}, "
    word = cut(str(exchange["word"]), WITNESS)
    change = f"{where}'{exchange['before']}' to '{exchange['after']}', in '{word}'"
    out.print(f"at n = {row.length}: {row.changes.largest:.6g} by {change}")


def _positions(place: str) -> str:
    return "all positions" if place == "any" else f"{place} position"


def _print_unfinished(found: Report) -> None:
    for each in found.measured:
        if not each.finished:
            why = "interrupted" if found.interrupted else "the time was up"
            out.print(f"not finished at n = {each.length}: {why}; --seconds gives more")


def _table(rows: list[ReportRow], *, several: bool) -> Table:
    """The rows; with means where these mean something, and with outputs where there are several."""
    headers = ["n", "positions", "exchanges", "largest", "n times it"]
    means = any(row.changes.mean is not None for row in rows)
    more = [*(["mean"] if means else []), *(["output"] if several else [])]
    shown = table(*headers, *more, wraps=("positions", "output"))
    for row in rows:
        cells = [
            f"{row.length:,}",
            str(row.place),
            f"{row.changes.exchanges:,}",
            f"{row.changes.largest:.4g}",
            f"{row.scaled:.5g}",
        ]
        mean = [f"{row.changes.mean or 0:.3g}"] if means else []
        shown.add_row(*cells, *mean, *([row.output] if several else []))
    return shown


def _print_floors(floors: Floors) -> None:
    out.print(
        f"floors on the cross-entropy of {floors.source}, p = {floors.p}, at n = {floors.n}, in nats, "
        f"measured (a table on x_n has {floors.table:.6f}, the optimum is {floors.optimum:.6f}):"
    )
    out.print(
        f"  from all words: at most {floors.from_worst:.6f}, as the worst word found changes the log-odds "
        f"by {floors.worst_change:.4g}",
        hang=4,
    )
    out.print(
        f"  typical words: {floors.typical:.6f} +- {floors.standard_error:.6f}, the mean over "
        f"{floors.prefixes} drawn prefixes, whose mean change is {floors.mean_change:.4g}",
        hang=4,
    )
