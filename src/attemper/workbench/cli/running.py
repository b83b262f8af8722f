"""attemper run"""

from __future__ import annotations

import time
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, TypedDict, final

import typer
from rich.cells import cell_len

from attemper.errors import UndecidedError, WordError
from attemper.escapes import escaped
from attemper.languages.words import Word, show_word
from attemper.running.engines.names import Engine
from attemper.workbench.cli.console import err, out, print_json
from attemper.workbench.cli.lines import lines_in, place_in
from attemper.workbench.cli.options import DeviceOption, DTypeOption, Folder, Json, WeightsOption
from attemper.workbench.cli.progress import duration, waiting_for_the_user
from attemper.workbench.cli.streaming import StreamOptions, run_stream
from attemper.workbench.folder import load
from attemper.workbench.model import Model
from attemper.workbench.options import DeviceName, DType, EngineName, WeightsName
from attemper.workbench.report.windows import cut, cut_word, length_note

if TYPE_CHECKING:
    from attemper.running.numbers import OutputNumber
    from attemper.running.runs import Run


@final
class HowRun(TypedDict):
    """What `Model.run` is told beside the words."""

    weights: WeightsName
    dtype: DType
    engine: EngineName
    device: DeviceName


WORDS_AT_ONCE = 4096
LONG = 8192
"""Words longer than this take noticeable time, of which people are told."""


def run_command(
    folder: Folder,
    words: Annotated[
        list[str] | None, typer.Argument(metavar="WORD...", help="Words; '' is the empty word.")
    ] = None,
    word_file: Annotated[
        str | None,
        typer.Option("--words", metavar="FILE|-", help="A file with one word a line, or - for stdin."),
    ] = None,
    weights: Annotated[
        WeightsOption, typer.Option(help="Softmax, or average-hard attention.")
    ] = WeightsOption.SOFT,
    dtype: Annotated[DTypeOption, typer.Option(help="The number format.")] = DTypeOption.FLOAT64,
    engine: Annotated[Engine, typer.Option(help="How attention is computed.")] = Engine.AUTO,
    device: Annotated[
        DeviceOption, typer.Option(help="Where torch computes; mps has no float64.")
    ] = DeviceOption.CPU,
    stream: Annotated[
        bool,
        typer.Option("--stream", help="Read symbols on stdin and answer each at once (docs/streaming.md)."),
    ] = False,
    load_state: Annotated[
        Path | None, typer.Option("--load-state", metavar="FILE", help="With --stream: go on from there.")
    ] = None,
    save_state: Annotated[
        Path | None, typer.Option("--save-state", metavar="FILE", help="With --stream: to go on later.")
    ] = None,
    json: Json = False,
) -> None:
    """Run a compiled transformer on words, or symbol by symbol."""
    streaming = StreamOptions(stream, load_state, save_state)
    has_words = bool(words) or word_file is not None
    is_hard = weights is WeightsOption.HARD
    streaming.require_alone(has_words=has_words, is_hard=is_hard, dtype=dtype.value, engine=engine.value)
    if streaming.wanted and device is not DeviceOption.CPU:
        raise typer.BadParameter("--stream runs without torch: leave --device out")
    model = load(folder)
    if streaming.wanted:
        with waiting_for_the_user():
            run_stream(model, streaming, json=json)
        return
    if not words and word_file is None:
        raise typer.BadParameter("there is no word to run: give words ('' is the empty one) or --words FILE")
    if words and word_file is not None:
        raise typer.BadParameter("give words or --words FILE, not both")
    lines = enumerate(iter(words) if words else lines_in(word_file or "-"), start=1)
    undecided: str | None = None
    while chunk := list(islice(lines, WORDS_AT_ONCE)):
        parsed, unreadable = _parse(model, chunk, None if words else word_file)
        longest = max(parsed, key=len, default=())
        how: HowRun = {
            "weights": weights.value,
            "dtype": dtype.value,
            "engine": engine.value,
            "device": device.value,
        }
        if len(longest) > LONG and err.is_terminal and not json:
            err.print(forecast(model, longest, how))
        for run in model.run(parsed, **how):
            _print(run, json=json)
            if None in run.outputs and undecided is None:
                undecided = model.undecided_message(run, dtype.value)
        if unreadable is not None:
            raise unreadable
    if undecided is not None:
        raise UndecidedError(undecided)


def forecast(model: Model, word: Word, how: HowRun) -> str:
    """How long a long word will take, judging by its first symbols: time grows with n in a scan, else n^2.

    They are run twice: what the first run loads and makes is there afterwards.
    """
    for _ in range(2):
        began = time.monotonic()
        list(model.run([word[:LONG]], **how))
    power = 1 if model.scans(len(word), how["weights"], how["dtype"], how["engine"]) else 2
    said = duration((time.monotonic() - began) * (len(word) / LONG) ** power)
    growth = "n" if power == 1 else "n^2"
    return f"a word of {len(word):,} symbols: the time grows like {growth}, so it takes about {said}"


def _parse(
    model: Model, lines: list[tuple[int, str]], file: str | None
) -> tuple[list[Word], WordError | None]:
    """The words up to the first that cannot be read, and what is wrong with that one; `file` has them."""
    words: list[Word] = []
    for number, line in lines:
        try:
            words.append(model.word(line))
        except WordError as error:
            place = f"word {number}" if file is None else place_in(file, number)
            return words, WordError(f"{place}: {error}", word=number, **error.details)
    return words, None


def _print_symbols(run: Run, *, json: bool) -> None:
    """The symbol at every position, in the order of the word's."""
    if json:
        print_json({"word": list(run.word), "outputs": list(run.outputs)})
        return
    shown = show_word(tuple("?" if name is None else str(name) for name in run.outputs))
    out.print(f"{escaped(show_word(run.word))}  {escaped(shown)}")


def _print_numbers(run: Run, numbers: tuple[OutputNumber | None, ...], *, json: bool) -> None:
    """The number at every position, in the order of the word's; of a distribution one line a position."""
    from attemper.running.numbers import show_number

    word = escaped(show_word(run.word))
    if json:
        print_json({"word": list(run.word), "outputs": list(numbers)})
    elif any(isinstance(number, dict) for number in numbers):
        out.print(word)
        for i, number in enumerate(numbers, start=1):
            out.print(f"  {i}  {escaped(show_number(number))}", hang=5)
    else:
        out.print(f"{word}  {' '.join(map(show_number, numbers))}")


def _print(run: Run, *, json: bool) -> None:
    if run.numbers is not None:
        _print_numbers(run, run.numbers, json=json)
        return
    if run.network.symbols:
        _print_symbols(run, json=json)
        return
    if json:
        bits = [None if bit is None else int(bit) for bit in run.bits]
        print_json({"word": list(run.word), "accepted": run.accepted, "positions": bits})
        return
    from attemper.running.runs import verdict_text

    said = verdict_text(run.accepted)
    word = escaped(show_word(run.word))
    digits = "".join("?" if bit is None else str(int(bit)) for bit in run.bits)
    if cell_len(f"{said}  {word}  {digits}") <= out.columns:
        out.print(f"{said}  {word}  {digits}")
        return
    # The digits stand below the symbols that they are about.
    indent = " " * len(f"{said}  ")
    room = out.columns - len(indent)
    shown = cut_word(run.word, room)
    out.print(f"{said}  {shown}")
    out.print(indent + cut(digits, room if shown == word else room - len(length_note(run.word))))
