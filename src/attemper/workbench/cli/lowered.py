"""attemper check --program FILE.rasp: the text as steps, which are what the checker reads and judges."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory

from attemper.attention_program.show import show_program
from attemper.errors import MalformedFileError, OptionError
from attemper.files import read_utf8
from attemper.languages.rasp.program import RaspProgram, parse_rasp
from attemper.languages.temporal.reading import At
from attemper.networks.files import load, load_edited
from attemper.networks.layers import Network


def read_text(file: Path) -> RaspProgram:
    """The program of a text. Raises `MalformedFileError` and what `parse_rasp` raises."""
    return parse_rasp(read_utf8(file, "give the text of an attention program"))


@contextmanager
def steps_of(file: Path, folder: Path, *, edited: bool) -> Iterator[Path]:
    """A file with the steps of a text, for as long as it is needed.

    Steps say nothing of how a verdict is read; the text does. Raises `OptionError` where the network in the
    folder is read in another way, and what `read_text` raises.
    """
    found = read_text(file)
    _require_read_alike(found, file, folder, edited)
    with TemporaryDirectory() as temporary:
        steps = Path(temporary) / f"{file.stem}.program"
        steps.write_text(show_program(found.program), encoding="utf-8")
        yield steps


def _require_read_alike(found: RaspProgram, file: Path, folder: Path, edited: bool) -> None:
    network = _network(folder, edited)
    if network is None:
        return
    at = At.FIRST if network.reads_first else At.LAST
    if at is not found.at:
        raise OptionError(f"'{file}' is read at the {found.at} position, and the network at the {at}")
    if network.accepts_empty != found.accepts_empty:
        says = {True: "accepts", False: "rejects"}
        text, own = says[found.accepts_empty], says[network.accepts_empty]
        raise OptionError(f"'{file}' {text} the empty word, and the network {own} it")


def _network(folder: Path, edited: bool) -> Network | None:
    """The network; None where there is none, which the checker says."""
    try:
        return load_edited(folder)[0].network if edited else load(folder)[0]
    except MalformedFileError:
        return None
