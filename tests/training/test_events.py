"""What TensorBoard shows of a run."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from attemper.errors import OptionError
from attemper.training.runs import load_run
from tests.support.cli.command_line import attemper
from tests.support.drawn.training import tiny, written


def test_without_tensorboard_nothing_is_begun_and_the_extra_is_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "tensorboard", None)
    said = attemper("train", written(tiny(), tmp_path), "-o", tmp_path / "run", "--tensorboard")
    assert said.code == OptionError.exit_code
    assert "needs tensorboard: pip install 'attemper[tensorboard]'" in said.err
    assert not (tmp_path / "run").exists()


@pytest.mark.exports
def test_tensorboard_reads_every_number_of_the_run(tmp_path: Path) -> None:
    from tensorboard.backend.event_processing.event_accumulator import EventAccumulator

    order = ("train", written(tiny(), tmp_path), "-o", tmp_path / "run", "--tensorboard")
    for _ in range(2):  # the second time nothing is trained, and the file is written anew
        assert attemper(*order).code == 0
    assert len(list((tmp_path / "run" / "tensorboard").iterdir())) == 1
    events = EventAccumulator(str(tmp_path / "run" / "tensorboard"))
    events.Reload()
    rows = load_run(tmp_path / "run").rows
    for kind, place, name in (("step", "step", "loss"), ("step", "step", "rate"), ("measured", "n", "loss")):
        asked = [row for row in rows if row["kind"] == kind]
        found = [(one.step, one.value) for one in events.Scalars(f"{kind}/{name}")]
        assert found == [(row[place], pytest.approx(row[name], rel=1e-6)) for row in asked]
    assert "measured/n" not in events.Tags()["scalars"]


@pytest.mark.exports
def test_each_run_of_a_sweep_has_its_own(tmp_path: Path) -> None:
    config = written(tiny(), tmp_path)
    said = attemper("train", config, "-o", tmp_path / "all", "--over", "seeds.init=[0,1]", "--tensorboard")
    assert said.code == 0
    assert len(list((tmp_path / "all").glob("*/tensorboard/events.out.tfevents.*"))) == 2
