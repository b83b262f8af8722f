"""However a run is stopped: when it has gone on, records and weights are those of one that was not."""

from __future__ import annotations

import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from attemper.training import runs
from attemper.training.runs import train
from attemper.training.settings import Settings
from tests.support.drawn.training import RECOGNITION, tiny, written
from tests.support.slowly import mostly_slow

KINDS = {"source": tiny(), "language": tiny(task=RECOGNITION), "table": tiny(model={"kind": "table"})}
STEPS = 7


class Stopped(Exception):  # noqa: N818 - no error, but what interrupts
    pass


def bytes_of(folder: Path) -> list[bytes]:
    return [(folder / name).read_bytes() for name in ("metrics.jsonl", "model.safetensors")]


@pytest.fixture(scope="module", params=KINDS)
def whole(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> tuple[Settings, Path]:
    settings = KINDS[request.param]
    return settings, train(settings, tmp_path_factory.mktemp("whole")).folder


def stopped_after(settings: Settings, folder: Path, steps: int, *, resume: bool = False) -> None:
    done = 0

    def progress(more: int) -> None:
        nonlocal done
        done += more
        if done >= steps:
            raise Stopped

    with pytest.raises(Stopped):
        train(settings, folder, resume=resume, progress=progress)


@pytest.mark.sweep(6)
@pytest.mark.parametrize("steps", range(STEPS + 1))
def test_it_goes_on_from_any_step(whole: tuple[Settings, Path], steps: int, tmp_path: Path) -> None:
    settings, expected = whole
    stopped_after(settings, tmp_path, steps)
    assert bytes_of(train(settings, tmp_path, resume=True).folder) == bytes_of(expected)


def test_it_may_be_stopped_many_times(whole: tuple[Settings, Path], tmp_path: Path) -> None:
    settings, expected = whole
    for steps in range(STEPS):
        stopped_after(settings, tmp_path, steps + 1, resume=True)
    assert bytes_of(train(settings, tmp_path, resume=True).folder) == bytes_of(expected)


@pytest.mark.parametrize("torn", ["{", '{"kind": "step", "step": 6, "lo', '{"kind": "step"}', "\udcff"])
def test_a_record_that_was_torn_is_written_again(
    whole: tuple[Settings, Path], torn: str, tmp_path: Path
) -> None:
    settings, expected = whole
    stopped_after(settings, tmp_path, 5)
    with (tmp_path / "metrics.jsonl").open("a", errors="surrogateescape") as stream:
        stream.write(torn)
    assert bytes_of(train(settings, tmp_path, resume=True).folder) == bytes_of(expected)


@pytest.mark.parametrize("measured", [0, 1, 2])
def test_it_goes_on_where_only_the_measuring_is_left(
    whole: tuple[Settings, Path], measured: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    settings, expected = whole
    real = runs.results

    def some(*given: object) -> Iterator[object]:
        for place, row in enumerate(real(*given)):  # type: ignore[arg-type]
            if place == measured:
                raise Stopped
            yield row
        raise Stopped

    with monkeypatch.context() as patched:
        patched.setattr(runs, "results", some)
        with pytest.raises(Stopped):
            train(settings, tmp_path)
    told: list[int] = []
    assert bytes_of(train(settings, tmp_path, resume=True, progress=told.append).folder) == bytes_of(expected)
    assert told == [STEPS]


def test_it_goes_on_where_all_is_measured_but_the_model_is_not_written(
    whole: tuple[Settings, Path], tmp_path: Path
) -> None:
    settings, expected = whole
    train(settings, tmp_path)
    (tmp_path / "model.safetensors").unlink()
    assert bytes_of(train(settings, tmp_path, resume=True).folder) == bytes_of(expected)


LONG = {"steps": 900, "log_every": 5, "save_every": 7}


@pytest.mark.sweep(0)
@pytest.mark.parametrize("kind", mostly_slow([signal.SIGINT, signal.SIGKILL], [signal.SIGINT]))
def test_a_process_that_is_stopped_goes_on(kind: signal.Signals, tmp_path: Path) -> None:
    settings = tiny(training=LONG)
    run, config = tmp_path / "run", written(settings, tmp_path)
    command = [sys.executable, "-m", "attemper", "train", str(config), "-o", str(run)]
    process = subprocess.Popen(
        command,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        # A shell that runs the tests in the background has them ignore interrupts, and so would the process.
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL),
    )
    try:
        while process.poll() is None and _lines(run / "metrics.jsonl") < 6:
            time.sleep(0.005)
        assert process.poll() is None, process.communicate()
        process.send_signal(kind)
        _, err = process.communicate()
    finally:
        process.kill()
    assert process.returncode == (130 if kind is signal.SIGINT else -signal.SIGKILL)
    assert "Traceback" not in err
    assert 6 <= _lines(run / "metrics.jsonl") < LONG["steps"] // LONG["log_every"]
    assert not (run / "model.safetensors").exists()
    train(settings, run, resume=True)
    assert bytes_of(run) == bytes_of(train(settings, tmp_path / "whole").folder)


def _lines(path: Path) -> int:
    return path.read_bytes().count(b"\n") if path.exists() else 0
