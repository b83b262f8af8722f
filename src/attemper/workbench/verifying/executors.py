"""Executors for sweeps: processes of this machine, none of which outlives its sweep, and a dask cluster."""

from __future__ import annotations

import multiprocessing
import os
import signal
import sys
import threading
from collections.abc import Iterator
from concurrent.futures import BrokenExecutor, CancelledError, Executor, ProcessPoolExecutor
from contextlib import contextmanager
from multiprocessing import resource_tracker
from multiprocessing.connection import Connection
from multiprocessing.context import BaseContext

from attemper.errors import OptionError, UnsupportedError
from attemper.missing import library_needed
from attemper.version import __version__
from attemper.workbench.verifying.answers import Verification
from attemper.workbench.verifying.sweeps import CountProgress, Sweep

SECONDS_TO_ANSWER = 10
"""How long a scheduler may take to answer at first, and to find a worker."""


def run_on_processes(sweep: Sweep, jobs: int, progress: CountProgress = lambda _: None) -> Verification:
    """Run the sweep on so many processes; where one of them dies, go on with new ones.

    Raises `UnsupportedError` where that has happened and no further task was finished.
    """
    while True:
        before = sweep.finished
        try:
            with process_pool(jobs) as pool:
                return sweep.run(progress, pool)
        except BrokenExecutor:
            if sweep.finished == before:
                raise UnsupportedError(
                    f"one of {jobs} processes died and no task was finished: was it killed, or is there too "
                    f"little memory? Try fewer, as jobs={max(1, jobs // 2)}",
                    options=("jobs",),
                ) from None


@contextmanager
def process_pool(jobs: int) -> Iterator[Executor]:
    """So many processes. None is left afterwards: not after an error, Ctrl-C or the end of this process.

    >>> with process_pool(1) as pool:
    ...     pool.submit(abs, -5).result()
    5
    """
    context = _context()
    end_of_worker, end_here = context.Pipe(duplex=False)
    pool = ProcessPoolExecutor(jobs, context, initializer=_begin, initargs=(end_of_worker,))
    try:
        with _without_interrupts():
            list(pool.map(abs, range(jobs)))
        yield pool
    except BaseException:
        end_here.close()
        pool.shutdown(cancel_futures=True)
        raise
    else:
        pool.shutdown()
    finally:
        end_here.close()
        end_of_worker.close()


def _context() -> BaseContext:
    """How processes begin: from one that has loaded what they need, and has no threads; else from nothing."""
    if "forkserver" not in multiprocessing.get_all_start_methods():
        return multiprocessing.get_context("spawn")
    context = multiprocessing.get_context("forkserver")
    context.set_forkserver_preload(["attemper.workbench.verifying.working"])
    return context


@contextmanager
def _without_interrupts() -> Iterator[None]:
    """Ctrl-C waits for the end of this, and never reaches processes that begin within.

    A worker that is interrupted while it begins, or whose pool has ended by then, would print its traceback.
    """
    if sys.platform == "win32":
        yield
        return
    # This process begins beside the first of the workers, and would let Ctrl-C through again.
    resource_tracker.ensure_running()
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


def _begin(pipe: Connection) -> None:
    """A worker's first act: Ctrl-C is for the process that has begun the sweep, and ends with that one."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    threading.Thread(target=_leave_with, args=(pipe,), daemon=True).start()


def _leave_with(pipe: Connection) -> None:
    """Wait until the other end of the pipe is closed, and leave at once."""
    pipe.poll(None)
    os._exit(0)


@contextmanager
def scheduler(address: str) -> Iterator[Executor]:
    """The workers of a dask cluster, by its scheduler's address. Tasks are pickles: trusted clusters only.

    Raises `OptionError` if `distributed` is not installed, no scheduler answers, or there is no worker.
    """
    with library_needed("distributed", "cluster", "a scheduler"):
        from distributed import Client

    try:
        client = Client(address, timeout=SECONDS_TO_ANSWER)
    except (OSError, ValueError, TypeError) as error:
        raise OptionError(f"no scheduler answers at '{address}': {error}") from None
    with client:
        try:
            client.wait_for_workers(1, timeout=SECONDS_TO_ANSWER)
        except TimeoutError:
            raise OptionError(f"the cluster at '{address}' has no worker: begin one") from None
        yield client.get_executor()


def run_on_scheduler(sweep: Sweep, address: str, progress: CountProgress = lambda _: None) -> Verification:
    """Run the sweep on a dask cluster.

    Raises `OptionError` as `scheduler` does, and `UnsupportedError` where the cluster cannot do a task.
    """
    with scheduler(address) as executor:
        try:
            return sweep.run(progress, executor)
        except Exception as error:
            if not _is_of_cluster(error):
                raise
            said = str(error).partition("\n")[0] or type(error).__name__
            raise UnsupportedError(
                f"the cluster at '{address}' has not done a task ({said}): its scheduler and its workers "
                f"need attemper {__version__} and must stay within reach"
            ) from error


def _is_of_cluster(error: Exception) -> bool:
    """Whether tasks could not be read there, or got lost; what a task itself raises is none of that."""
    is_unread = isinstance(error, ImportError) or isinstance(error.__cause__, ImportError)
    is_of_dask = type(error).__module__.partition(".")[0] == "distributed"
    return is_unread or is_of_dask or isinstance(error, CancelledError)
