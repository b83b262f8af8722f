"""attemper run DIR --stream: symbols on the standard input, each answered before the next one comes."""

from __future__ import annotations

import os
import signal
import sys
from codecs import getincrementaldecoder
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from types import FrameType
from typing import TYPE_CHECKING, final

import typer

from attemper.errors import MalformedFileError, UndecidedError
from attemper.escapes import escaped
from attemper.languages.words import Alphabet
from attemper.running.numbers import show_number
from attemper.workbench.cli.console import ReaderLeftError, print_json
from attemper.workbench.model import Model

if TYPE_CHECKING:
    from attemper.running.streaming.outputs import PutOut
    from attemper.running.streaming.stream import Stream

AT_ONCE = 1 << 16
"""The most bytes that are taken from the standard input at once; fewer are answered as soon as they come."""

BYTE_ORDER_MARK = "\ufeff"
"""Some editors begin a text with it."""


@final
@dataclass(frozen=True)
class StreamOptions:
    """The options of `run` that are about streams."""

    wanted: bool
    load: Path | None
    save: Path | None

    def require_alone(self, *, has_words: bool, is_hard: bool, dtype: str, engine: str) -> None:
        """Raises `typer.BadParameter` for options that do not go together."""
        if not self.wanted:
            if self.load is not None or self.save is not None:
                raise typer.BadParameter("--load-state and --save-state are of --stream: give that, too")
            return
        if has_words:
            raise typer.BadParameter("--stream reads symbols on the standard input: leave words out")
        if is_hard:
            raise typer.BadParameter("--stream is for softmax: leave --weights hard out")
        if dtype != "float64":
            raise typer.BadParameter(f"--stream is computed in float64: leave --dtype {dtype} out")
        if engine != "auto":
            raise typer.BadParameter(f"--stream has a way of its own: leave --engine {engine} out")


@final
class Interrupts:
    """Ctrl-C while a symbol is read is kept until that is answered: no state is torn."""

    def __init__(self) -> None:
        self._is_waiting = False
        self._came = False

    def on_signal(self, number: int, frame: FrameType | None) -> None:
        """Stop now if nothing is under way, else at the next wait."""
        self._came = True
        if self._is_waiting:
            raise KeyboardInterrupt

    @contextmanager
    def waiting(self) -> Iterator[None]:
        """Where Ctrl-C stops at once."""
        self._is_waiting = True
        try:
            self.stop_if_pressed()
            yield
        finally:
            self._is_waiting = False

    def stop_if_pressed(self) -> None:
        """Stop for a Ctrl-C that came before."""
        if self._came:
            raise KeyboardInterrupt


@contextmanager
def interrupts() -> Iterator[Interrupts]:
    """Ctrl-C as `Interrupts` has it, until the end of the block; whoever ignores it goes on ignoring it."""
    own, before = Interrupts(), signal.getsignal(signal.SIGINT)
    if before is not signal.default_int_handler:
        yield own
        return
    signal.signal(signal.SIGINT, own.on_signal)
    try:
        yield own
        own.stop_if_pressed()
    finally:
        signal.signal(signal.SIGINT, before)


def run_stream(model: Model, options: StreamOptions, *, json: bool) -> None:
    """Answer the symbols on the standard input until it ends; raises what `Stream.push` does.

    Whatever ends it, `--save-state` is written with what was read before.
    """
    stream = model.stream(state=options.load)
    answers = _Answers(model, json=json)
    with interrupts() as pressed, saving(stream, options.save), answers.on_lines():
        for symbol in _symbols(model.alphabet, _chunks(pressed, answers), answers):
            answers.give(stream, symbol, stream.push(symbol))
    if answers.undecided is not None:
        raise UndecidedError(
            f"undecided: the output at position {answers.undecided:,} cannot be read: the word is beyond "
            "what float64 can compute"
        )


@contextmanager
def saving(stream: Stream, path: Path | None) -> Iterator[None]:
    """Write the state at the end of the block, whatever ends it, if it is the state after some position."""
    try:
        yield
    finally:
        if path is not None and stream.is_whole:
            stream.save(path)


@final
class _Answers:
    """What is put out, on lines as the symbols stand on lines; of JSON one line for each symbol."""

    def __init__(self, model: Model, *, json: bool) -> None:
        self._json = json
        self._are_bits = not model.network.symbols and model.network.measure is None
        self._line_has = 0
        self.undecided: int | None = None

    def give(self, stream: Stream, symbol: str, found: PutOut | None) -> None:
        """Print what is put out at the position of a symbol."""
        if found is None and self.undecided is None:
            self.undecided = stream.position
        if self._json:
            shown = int(found) if isinstance(found, bool) else found
            print_json({"position": stream.position, "symbol": symbol, "output": shown})
            return
        if isinstance(found, dict):
            write(f"{escaped(show_number(found))}\n")
            return
        text = _shown(found)
        write(text if self._are_bits or not self._line_has else f" {text}")
        self._line_has += 1

    def end_line(self) -> None:
        """End the line, if something stands on it."""
        if self._line_has:
            self._line_has = 0
            write("\n")

    @contextmanager
    def on_lines(self) -> Iterator[None]:
        """Where answers are given: the last line ends with the block."""
        try:
            yield
        finally:
            self.end_line()


def _shown(found: PutOut | None) -> str:
    match found:
        case None:
            return "?"
        case bool():
            return str(int(found))
        case str():
            return escaped(found)
        case _:
            return show_number(found)


def write(text: str) -> None:
    """Print a part of a line."""
    try:
        sys.stdout.write(text)
    except BrokenPipeError:
        raise ReaderLeftError from None


def flush() -> None:
    """Hand over what was written."""
    try:
        sys.stdout.flush()
    except BrokenPipeError:
        raise ReaderLeftError from None


def _symbols(alphabet: Alphabet, chunks: Iterator[str], answers: _Answers) -> Iterator[str]:
    """The symbols in a text that comes in chunks: run together if each is one character, else with blanks.

    Where a line ends, the line of answers ends, too.
    """
    begun = ""
    for chunk in chunks:
        for character in chunk:
            if not character.isspace():
                begun += character
            if begun and (character.isspace() or alphabet.is_single_character):
                yield begun
                begun = ""
            if character == "\n":
                answers.end_line()
    if begun:
        yield begun


def _chunks(pressed: Interrupts, answers: _Answers) -> Iterator[str]:
    """The text on the standard input, as it comes; what was answered is handed over before each wait."""
    decoder = getincrementaldecoder("utf-8")()
    is_first, data = True, b"\n"
    while data:
        flush()
        with pressed.waiting():
            data = _read()
        try:
            text = decoder.decode(data, final=not data)
        except UnicodeDecodeError as error:
            yield error.object[: error.start].decode("utf-8")
            raise MalformedFileError("the symbols on the standard input are not UTF-8 text") from None
        if text and is_first:
            text, is_first = text.removeprefix(BYTE_ORDER_MARK), False
        yield text


def _read() -> bytes:
    """What has come on the standard input, or comes next; nothing at its end."""
    try:
        descriptor = sys.stdin.fileno()
    except (AttributeError, OSError, ValueError):
        # The standard input is no file: a notebook's, for example.
        return sys.stdin.read(AT_ONCE).encode()
    try:
        return os.read(descriptor, AT_ONCE)
    except OSError as error:
        raise MalformedFileError(f"cannot read the standard input: {error.strerror}") from None
