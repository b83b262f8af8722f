"""Sweeps: which runs there are, that finished ones are not run again, and what becomes of an error."""

from __future__ import annotations

import pickle
from concurrent.futures import Executor, Future, ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from multiprocessing import get_context
from pathlib import Path
from typing import Any

import pytest

from attemper.errors import MalformedFileError, OptionError, SourceError, UnsupportedError
from attemper.training import runs, sweeps
from attemper.training.entries import entries_of
from attemper.training.runs import load_run
from attemper.training.sweeps import folder_of, products, swept
from tests.support.cli.executors import AtOnce
from tests.support.drawn.training import tiny

ENTRIES = entries_of(tiny())


class Waiting(Executor):
    """Takes every task, and does the first one only when it is taken; the others wait for ever."""

    def __init__(self) -> None:
        self.futures: list[Future[Any]] = []

    def submit(self, task: Any, /, *given: Any, **named: Any) -> Future[Any]:
        future: Future[Any] = Future()
        if not self.futures:
            try:
                future.set_result(task(*given, **named))
            except Exception as error:  # noqa: BLE001 - whoever asks for the result meets it
                future.set_exception(error)
        self.futures.append(future)
        return future


def test_a_product_has_every_choice_of_values() -> None:
    found = products(ENTRIES, ["seeds.init=[0, 1, 2]", "model.norm = ['post', 'pre']"])
    assert [(one.seeds.init, one.model.norm) for one in found] == [
        (init, norm) for init in (0, 1, 2) for norm in ("post", "pre")
    ]
    assert len({folder_of(one, Path("x")) for one in found}) == 6
    assert products(ENTRIES, []) == [tiny()]


def test_the_same_settings_are_one_run() -> None:
    assert len(products(ENTRIES, ["training.clip=[1, 1.0, 2]"])) == 2


@pytest.mark.parametrize(
    ("axis", "said"),
    [
        ("seeds.init=3", "lists no values"),
        ("seeds.init=[]", "lists no values"),
        ("seeds.init", "lists no values"),
        ("seeds.init=[0, 1", "lists no values"),
        ("seeds.init=" + "[" * 9999, "lists no values"),
        ("init=[0]", "names no entry"),
        ("seeds.inti=[0]", "seeds.inti: there is no such entry"),
        ("seeds.init=[0, -1]", "seeds.init: Input should be greater"),
    ],
)
def test_what_is_no_axis_is_refused(axis: str, said: str) -> None:
    with pytest.raises(OptionError) as found:
        products(ENTRIES, [axis])
    assert said in str(found.value)


def test_an_entry_is_swept_over_once() -> None:
    with pytest.raises(OptionError, match=r"'seeds\.init' is swept over twice"):
        products(ENTRIES, ["seeds.init=[0]", "seeds.data=[0]", "seeds.init=[1]"])


def test_finished_runs_are_not_run_again(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    trained: list[object] = []
    real = runs._train
    monkeypatch.setattr(
        runs, "_train", lambda state, *given: (trained.append(state.step), real(state, *given))
    )
    asked, told = products(ENTRIES, ["seeds.init=[0, 1]"]), []
    folders = list(swept(asked, tmp_path, AtOnce(), 1, told.append))
    assert set(folders) == {folder_of(one, tmp_path) for one in asked}
    assert (trained, told) == ([0, 0], [1, 1])
    # One more, and one that was left before it was measured.
    (folder_of(asked[0], tmp_path) / "model.safetensors").unlink()
    more = products(ENTRIES, ["seeds.init=[0, 1, 2]"])
    executor = AtOnce()
    assert len(list(swept(more, tmp_path, executor, 1, told.append))) == executor.tasks == 3
    assert sorted(trained) == [0, 0, 0, 7]
    assert [load_run(folder_of(one, tmp_path)).settings for one in more] == more


def test_a_run_that_fails_cancels_the_others(tmp_path: Path) -> None:
    asked, executor = products(ENTRIES, ["seeds.init=[0, 1, 2]"]), Waiting()
    folder_of(asked[0], tmp_path).mkdir()
    (folder_of(asked[0], tmp_path) / "settings.toml").mkdir()
    with pytest.raises(MalformedFileError):
        list(swept(asked, tmp_path, executor, 1, lambda _: None))
    assert [one.cancelled() for one in executor.futures] == [False, True, True]


def test_a_process_that_dies_is_said(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def dies(*given: object) -> Path:
        raise BrokenProcessPool

    monkeypatch.setattr(sweeps, "_trained", dies)
    asked, executor = products(ENTRIES, ["seeds.init=[0, 1]"]), Waiting()
    with pytest.raises(UnsupportedError, match="a process of the sweep died"):
        list(swept(asked, tmp_path, executor, 1, lambda _: None))
    assert executor.futures[1].cancelled()


def test_whoever_stops_listening_cancels_the_others(tmp_path: Path) -> None:
    asked, executor = products(ENTRIES, ["seeds.init=[0, 1, 2]"]), Waiting()
    listening = swept(asked, tmp_path, executor, 1, lambda _: None)
    assert next(listening) == folder_of(asked[0], tmp_path)
    listening.close()  # type: ignore[attr-defined]
    assert [one.cancelled() for one in executor.futures] == [False, True, True]


def test_an_error_of_a_text_comes_through_a_pickle() -> None:
    error = SourceError("wrong", text="a(b", line=1, column=2, expected=("x",))
    found = pickle.loads(pickle.dumps(error))
    assert type(found) is SourceError
    assert (str(found), found.details, found.text) == (str(error), error.details, error.text)


@pytest.mark.slow
def test_processes_of_their_own_do_the_same(tmp_path: Path) -> None:
    asked = products(ENTRIES, ["seeds.init=[0, 1]"])
    bad = tiny(task={"kind": "recognition", "language": "regex:(a", "alphabet": "ab"})
    with ProcessPoolExecutor(2, mp_context=get_context("spawn")) as executor:
        assert len(list(swept(asked, tmp_path, executor, 1, lambda _: None))) == 2
        with pytest.raises(SourceError) as found:
            list(swept([bad], tmp_path, executor, 1, lambda _: None))
    assert found.value.exit_code == 3
    for one in asked:
        folder = folder_of(one, tmp_path)
        expected = runs.train(one, tmp_path / "here" / folder.name).folder
        assert (folder / "metrics.jsonl").read_bytes() == (expected / "metrics.jsonl").read_bytes()
