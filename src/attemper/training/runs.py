"""A run on disk: a folder with its settings, what was measured, its state, and at the end the model.

    settings.toml       all entries, also those that were not given
    manifest.json       the digest of the settings, the symbols by their tokens, versions, threads, parameters
    metrics.jsonl       a line for each record, then one for each length that is measured: no clock times
    timing.jsonl        how long the steps took, in seconds: what no two runs have in common
    state.safetensors   weights, optimiser, step: where a run goes on; no generator has a state, since each
                        step's chance comes from the seeds and its number
    model.safetensors   the trained weights, when the run is finished

Interrupt a run whenever you like: `resume` goes on from the last state, and metrics.jsonl is then, byte by
byte, that of a run that was never interrupted, on the same machine and number of threads.
"""

from __future__ import annotations

import json
import platform
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any, final

import torch
from rich.table import Table
from safetensors import SafetensorError
from safetensors.torch import load, save
from torch import Tensor, nn

from attemper.errors import MalformedFileError, OptionError
from attemper.files import parse_json, read_bytes
from attemper.html_tables import Tabled
from attemper.running.devices import device_named
from attemper.training.devices import computing_on
from attemper.training.entries import as_toml, digest_of, read_settings
from attemper.training.loop import TrainingState, trained
from attemper.training.losses import Lesson, lesson_of, words_digest
from attemper.training.models import model_of, parameter_count
from attemper.training.results import results
from attemper.training.settings import Settings
from attemper.version import __version__
from attemper.workbench.cli.console import text_of
from attemper.workbench.report.tables import table
from attemper.writing import write_together

SETTINGS, MANIFEST, METRICS, TIMING = "settings.toml", "manifest.json", "metrics.jsonl", "timing.jsonl"
STATE, MODEL = "state.safetensors", "model.safetensors"

MOST_BYTES = 2**32
"""The most bytes of weights that are read."""


HEADERS = {
    "n": "n",
    "words": "words",
    "loss": "loss",
    "excess": "above H_opt",
    "floor": "own floor",
    "change": "mean change",
    "right": "right",
    "members": "in the language",
    "right_members": "of these right",
}
"""The columns of what was measured, in their order; each kind of task has some of them."""


@final
@dataclass(frozen=True, repr=False)
class TrainingRun(Tabled):
    """A finished run: its settings, the trained model, and what was measured, as in metrics.jsonl.

    `was_finished` says that it was there before it was asked for, and nothing was trained. It prints as the
    lines of `attemper train`.
    """

    folder: Path
    settings: Settings
    model: nn.Module
    rows: tuple[dict[str, object], ...]
    was_finished: bool = False

    @property
    def measured(self) -> list[dict[str, object]]:
        """The rows of the lengths at which it was measured."""
        return [row for row in self.rows if row["kind"] == "measured"]

    @property
    def record(self) -> dict[str, object]:
        """Which run it is, whether it was trained now, and what was measured, as JSON data."""
        return {
            "kind": "run",
            "folder": str(self.folder),
            "settings": digest_of(self.settings),
            "trained": not self.was_finished,
            "measured": self.measured,
        }

    def __repr__(self) -> str:
        lengths = ", ".join(str(row["n"]) for row in self.measured)
        return f"<TrainingRun: {self.folder}, measured at n = {lengths}>"

    def __str__(self) -> str:
        return text_of(self._parts())

    def _parts(self) -> Iterator[str | Table]:
        if self.was_finished:
            yield f"nothing was trained: {self.folder} is finished"
        columns = {name: said for name, said in HEADERS.items() if name in self.measured[0]}
        shown = table(*columns.values())
        for row in self.measured:
            shown.add_row(*(_cell(row[name]) for name in columns))
        yield shown
        for row in self.measured:
            if row.get("warning"):
                yield f"warning: n = {row['n']}: {row['warning']}"
        yield f"losses in nats; {'read from' if self.was_finished else 'wrote'} {self.folder}"


def _cell(value: object) -> str:
    return f"{value:.4f}" if isinstance(value, float) else f"{value:,}"


def train(
    settings: Settings,
    folder: Path,
    *,
    resume: bool = False,
    device: str = "cpu",
    progress: Callable[[int], None] = lambda steps: None,
) -> TrainingRun:
    """Train the model that the settings say, and measure it; everything is written to the folder.

    A finished run of the same settings is read, and nothing is done. `progress` is told how many steps are
    done, as they are. Raises `OptionError` if the folder has a run that is not finished and `resume` is not
    said, or one of other settings, and for a `device` that is not there; `MalformedFileError` for a damaged
    folder, and if it cannot be written.
    """
    where = device_named(device)
    lesson = lesson_of(settings)
    if (folder / SETTINGS).exists():
        _require_same(settings, lesson, folder)
        if is_finished(folder):
            return replace(_finished(folder, settings, lesson), was_finished=True)
        if not resume:
            raise OptionError(
                f"'{folder}' has a run that is not finished: go on with resume=True, or name another",
                options=("resume",),
            )
    model = model_of(settings, lesson.tokens, lesson.outputs)
    # The settings come last: a folder that has them has the manifest, too.
    write_together(
        {
            folder / MANIFEST: _manifest(settings, lesson, model, device),
            folder / SETTINGS: as_toml(settings).encode(),
        }
    )
    with computing_on(model, where):
        state = TrainingState.begun(model, settings.training)
        if (folder / STATE).exists():
            _restore(state, settings, folder / STATE)
        progress(state.step)
        _train(state, lesson, settings, folder, progress)
        rows = [{"kind": "measured", **asdict(row)} for row in results(model.eval(), lesson, settings)]
    with _appended(folder / METRICS) as write:
        for row in rows:
            write(row)
    tensors = {name: own.contiguous() for name, own in model.state_dict().items()}
    write_together({folder / MODEL: save(tensors, metadata={"settings": digest_of(settings)})})
    return TrainingRun(folder, settings, model, tuple(_lines(folder / METRICS)))


def has_runs(folder: Path) -> bool:
    """Whether the folder is that of a run, or of a sweep."""
    return any((one / SETTINGS).is_file() for one in (folder, *folder.iterdir()))


def is_finished(folder: Path) -> bool:
    """Whether a run in the folder has come to its end."""
    return (folder / MODEL).exists()


def load_run(folder: Path) -> TrainingRun:
    """A finished run. Raises `MalformedFileError` if it is none, or damaged."""
    settings = read_settings(folder / SETTINGS)
    return _finished(folder, settings, lesson_of(settings))


def _finished(folder: Path, settings: Settings, lesson: Lesson) -> TrainingRun:
    """The run of these settings that stands in the folder."""
    model = model_of(settings, lesson.tokens, lesson.outputs)
    tensors, _ = _tensors(folder / MODEL, settings)
    with _damaged(folder / MODEL):
        model.load_state_dict(tensors)
    rows = tuple(_lines(folder / METRICS))
    measured = [row.get("n") for row in rows if row.get("kind") == "measured"]
    if measured != list(settings.evaluation.lengths):
        raise MalformedFileError(
            f"'{folder / METRICS}' lacks what was measured: train again in another folder"
        )
    return TrainingRun(folder, settings, model.eval(), rows)


def _train(
    state: TrainingState, lesson: Lesson, settings: Settings, folder: Path, progress: Callable[[int], None]
) -> None:
    """The steps that are left, recorded and saved."""
    _keep_lines(folder / METRICS, state.step)
    _keep_lines(folder / TIMING, state.step)
    begun = time.monotonic()
    with _appended(folder / METRICS) as write, _appended(folder / TIMING) as write_time:
        for record in trained(state, lesson, settings.training, progress):
            if record is None:
                said = {
                    "settings": digest_of(settings),
                    "step": str(state.step),
                    "total": state.total.hex(),
                }
                write_together({folder / STATE: save(state.tensors(), metadata=said)})
                continue
            write({"kind": "step", **asdict(record)})
            write_time({"step": record.step, "seconds": time.monotonic() - begun})


def _manifest(settings: Settings, lesson: Lesson, model: nn.Module, device: str) -> bytes:
    """What the run is, and on what."""
    said = {
        "format": "attemper-run/2",
        "settings": digest_of(settings),
        "symbols": list(lesson.symbols),
        "words": words_digest(lesson),
        "parameters": parameter_count(model),
        "attemper": __version__,
        "torch": torch.__version__,
        "python": platform.python_version(),
        "machine": platform.machine(),
        "threads": torch.get_num_threads(),
        "device": device,
    }
    return json.dumps(said, indent=1).encode() + b"\n"


def _require_same(settings: Settings, lesson: Lesson, folder: Path) -> None:
    """Raises `OptionError` if the run in the folder is another one, or its set of words has changed."""
    if digest_of(read_settings(folder / SETTINGS)) != digest_of(settings):
        raise OptionError(f"'{folder}' has a run of other settings: name another folder")
    with _damaged(folder / MANIFEST):
        said: Any = parse_json(read_bytes(folder / MANIFEST, "train again in another folder"))
        if said["words"] != words_digest(lesson):
            raise OptionError(f"'{folder}' has a run on other words, which have changed: name another folder")


def _restore(state: TrainingState, settings: Settings, path: Path) -> None:
    tensors, said = _tensors(path, settings)
    with _damaged(path):
        step = int(said["step"])
        if not 0 <= step <= settings.training.steps:
            raise ValueError(f"it is of step {step}")
        state.restore(tensors, step, float.fromhex(said["total"]))


def _tensors(path: Path, settings: Settings) -> tuple[dict[str, Tensor], Mapping[str, str]]:
    """The tensors of a file of such a run, and what it says of itself."""
    data = read_bytes(path, "train again, or name the folder of a finished run", MOST_BYTES)
    with _damaged(path):
        size = int.from_bytes(data[:8], "little")
        header: Any = parse_json(data[8 : 8 + size])
        said: dict[str, str] = header["__metadata__"]
        if said["settings"] != digest_of(settings):
            raise ValueError("its settings are others")
        return load(data), said


@contextmanager
def _damaged(path: Path) -> Iterator[None]:
    """Raises `MalformedFileError` for what cannot be read of a file."""
    try:
        yield
    except (SafetensorError, RuntimeError, LookupError, ValueError, TypeError, OverflowError) as error:
        raise MalformedFileError(f"'{path}' is damaged, or of another run: {str(error)[:200]}") from None


@contextmanager
def _appended(path: Path) -> Iterator[Callable[[Mapping[str, object]], None]]:
    """Writes records to the end of a file, each a line that is there at once."""
    try:
        stream = path.open("a", encoding="utf-8")
    except OSError as error:
        raise MalformedFileError(f"cannot write to '{path}': {error.strerror}") from None
    with stream:

        def write(record: Mapping[str, object]) -> None:
            try:
                stream.write(json.dumps(record) + "\n")
                stream.flush()
            except OSError as error:
                raise MalformedFileError(f"cannot write to '{path}': {error.strerror}") from None

        yield write


def _keep_lines(path: Path, step: int) -> None:
    """Leave the records of the first steps alone: what came after them is done again."""
    records = _lines(path)
    with _damaged(path):
        kept = [record for record in records if int(str(record.get("step", step + 1))) <= step]
    write_together({path: "".join(json.dumps(record) + "\n" for record in kept).encode()})


def _lines(path: Path) -> list[dict[str, object]]:
    """The records of a file; a last line that was not written completely is left out."""
    if not path.exists():
        return []
    lines = read_bytes(path, "", MOST_BYTES).decode(errors="replace").split("\n")
    found: list[dict[str, object]] = []
    with _damaged(path):
        for line in lines[:-1]:
            record = parse_json(line.encode())
            if not isinstance(record, dict):
                raise ValueError("a line is no record")
            found.append(record)
    return found
