"""Processes and clusters that try words, and what is left of them afterwards: nothing."""

from __future__ import annotations

import multiprocessing
import os
import signal
import subprocess
import sys
import time
from concurrent.futures import BrokenExecutor, Executor
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from attemper.errors import ExitCode, OptionError, UnsupportedError
from attemper.workbench.verify import Plan, Sweep, verify
from attemper.workbench.verifying import executors, plans
from attemper.workbench.verifying.executors import process_pool, run_on_processes, scheduler
from tests.support.cli.command_line import attemper as command
from tests.support.cli.executors import Breaking
from tests.workbench.test_sweeps import MAJORITY, MODELS

if TYPE_CHECKING:
    from collections.abc import Iterator

PLAN = Plan(up_to=7, count=60, longest=40)

on_linux = pytest.mark.skipif(not Path("/proc/self/stat").exists(), reason="processes are looked up in /proc")


@pytest.fixture
def small_tasks(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(plans, "CHUNK", 16)
    monkeypatch.setattr(plans, "TASK_COST", 10_000)


@pytest.mark.sweep(0)
@pytest.mark.usefixtures("small_tasks")
def test_processes_say_what_one_thread_says() -> None:
    expected = {name: verify(model, PLAN) for name, model in MODELS.items()}
    with process_pool(2) as pool:
        assert {name: verify(model, PLAN, executor=pool) for name, model in MODELS.items()} == expected
        workers = {pool.submit(os.getpid).result() for _ in range(40)}
        assert os.getpid() not in workers
    assert not multiprocessing.active_children()


def test_no_process_is_left_after_an_error() -> None:
    def interrupted() -> None:
        with process_pool(2) as pool:
            waiting = [pool.submit(time.sleep, 600) for _ in range(8)]
            until(lambda: any(future.running() for future in waiting))
            raise KeyboardInterrupt

    before = time.monotonic()
    with pytest.raises(KeyboardInterrupt):
        interrupted()
    assert not multiprocessing.active_children()
    assert time.monotonic() - before < 300


@pytest.mark.usefixtures("small_tasks")
def test_a_dead_worker_is_replaced_and_nothing_is_lost(monkeypatch: pytest.MonkeyPatch) -> None:
    pools: list[Breaking] = []

    @contextmanager
    def breaking(jobs: int) -> Iterator[Executor]:
        pools.append(Breaking(after=jobs))
        yield pools[-1]

    monkeypatch.setattr(executors, "process_pool", breaking)
    sweep = Sweep(MAJORITY, PLAN)
    assert run_on_processes(sweep, 4) == verify(MAJORITY, PLAN)
    assert len(pools) > 2
    assert sum(pool.tasks for pool in pools) == sweep.finished
    pools.clear()
    with pytest.raises(UnsupportedError, match=r"one of 0 processes died .* fewer, as jobs=1"):
        run_on_processes(Sweep(MAJORITY, PLAN), 0)
    assert len(pools) == 1


def test_a_worker_that_is_killed_breaks_a_pool_and_its_sweep_goes_on() -> None:
    def broken() -> None:
        with process_pool(1) as pool:
            pool.submit(os._exit, 9)
            sweep.run(executor=pool)

    sweep = Sweep(MAJORITY, PLAN)
    with pytest.raises(BrokenExecutor):
        broken()
    assert run_on_processes(sweep, 1) == verify(MAJORITY, PLAN)
    assert not multiprocessing.active_children()


# The command ----------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("models") / "wrong"
    MODELS["wrong from 5 symbols on"].save(path)
    MAJORITY.save(path.with_name("right"))
    return path.with_name("right")


@pytest.mark.parametrize("name", ["right", "wrong"])
def test_jobs_print_what_one_process_prints(folder: Path, name: str) -> None:
    arguments = ("verify", folder.with_name(name), "--up-to", "6", "--count", "40", "--longest", "30")
    for json in ([], ["--json"]):
        alone, together = command(*arguments, *json), command(*arguments, *json, "--jobs", "2")
        assert alone == together
        assert alone.code == (ExitCode.OK if name == "right" else ExitCode.DISAGREEMENT)
        assert together.err == ""


def test_options_that_cannot_be(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert command("verify", folder, "--jobs", "0").code == ExitCode.USAGE
    both = command("verify", folder, "--jobs", "2", "--scheduler", "tcp://localhost:1")
    assert both.code == ExitCode.USAGE
    assert "leave --jobs out" in both.err
    monkeypatch.setitem(sys.modules, "distributed", None)
    missing = command("verify", folder, "--scheduler", "tcp://localhost:1")
    assert missing.code == ExitCode.USAGE
    assert "pip install 'attemper[cluster]'" in missing.err
    with pytest.raises(OptionError, match="attemper"), scheduler("tcp://localhost:1"):
        pass


def session(leader: int) -> set[int]:
    """The living processes of a session."""
    found = set()
    for stat in Path("/proc").glob("[0-9]*/stat"):
        try:
            _, _, rest = stat.read_text(encoding="utf-8", errors="replace").rpartition(")")
        except OSError:
            continue
        state, _, _, of = rest.split()[:4]
        if int(of) == leader and state not in {"Z", "X"}:
            found.add(int(stat.parent.name))
    return found


@contextmanager
def long_sweep(folder: Path) -> Iterator[subprocess.Popen[str]]:
    """A command in a session of its own, with two workers that are at work."""
    arguments = ["verify", folder, "--up-to", "18", "--count", "9", "--jobs", "2"]
    started = subprocess.Popen(
        [sys.executable, "-m", "attemper", *map(str, arguments)],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
        # Whoever runs the tests in the background may ignore the signal.
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL),
    )
    try:
        until(lambda: len(session(started.pid)) >= 5)  # itself, a tracker, what forks, and two workers
        time.sleep(0.5)
        yield started
    finally:
        started.kill()
        started.communicate()


def until(condition) -> None:  # type: ignore[no-untyped-def]
    deadline = time.monotonic() + 120
    while not condition():
        assert time.monotonic() < deadline
        time.sleep(0.02)


@on_linux
def test_ctrl_c_ends_a_sweep_on_processes_and_leaves_none(folder: Path) -> None:
    with long_sweep(folder) as started:
        os.killpg(started.pid, signal.SIGINT)
        out, err = started.communicate(timeout=120)
        assert (started.returncode, out, err) == (ExitCode.INTERRUPTED, "", "interrupted\n")
        until(lambda: not session(started.pid))


@pytest.mark.sweep(0)  # it imports torch in three processes, as the test above does
@on_linux
def test_a_killed_sweep_leaves_no_process(folder: Path) -> None:
    with long_sweep(folder) as started:
        started.kill()
        started.wait()
        until(lambda: not session(started.pid))


# Clusters -------------------------------------------------------------------------------------------


@pytest.mark.filterwarnings("default")
@pytest.mark.usefixtures("small_tasks")
def test_a_dask_cluster_says_what_one_thread_says(folder: Path) -> None:
    distributed = pytest.importorskip("distributed")
    with distributed.LocalCluster(n_workers=2, threads_per_worker=1, dashboard_address=None) as cluster:
        address = cluster.scheduler_address
        for model in MODELS.values():
            with scheduler(address) as pool:
                assert verify(model, PLAN, executor=pool) == verify(model, PLAN)
        arguments = ("verify", folder, "--up-to", "6", "--count", "40", "--longest", "30")
        assert command(*arguments, "--scheduler", address) == command(*arguments)


@pytest.mark.filterwarnings("default")
def test_a_scheduler_that_does_not_answer(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("distributed")
    monkeypatch.setattr(executors, "SECONDS_TO_ANSWER", 1)
    for address in ("tcp://127.0.0.1:1", "nonsense://here"):
        found = command("verify", folder, "--scheduler", address)
        assert found.code == ExitCode.USAGE
        assert f"no scheduler answers at '{address}'" in found.err


@pytest.mark.filterwarnings("default")
def test_a_cluster_without_workers_or_without_attemper(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    distributed = pytest.importorskip("distributed")
    monkeypatch.setattr(executors, "SECONDS_TO_ANSWER", 2)
    with distributed.LocalCluster(n_workers=0, dashboard_address=None) as cluster:
        found = command("verify", folder, "--scheduler", cluster.scheduler_address)
        assert (found.code, "has no worker" in found.err) == (ExitCode.USAGE, True)

    class Unread:
        def run(self, *_: object) -> None:
            raise RuntimeError("cannot be read there") from ModuleNotFoundError("attemper")

    refused = pytest.raises(UnsupportedError, match=r"cannot be read there.*need attemper")
    with distributed.LocalCluster(1, processes=False, dashboard_address=None) as cluster, refused:
        executors.run_on_scheduler(Unread(), cluster.scheduler_address)  # type: ignore[arg-type]
