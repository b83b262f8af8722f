"""Executors that do as no pool should be relied on not to: at once, in any order, forgetting, breaking."""

from __future__ import annotations

import random
import threading
from collections.abc import Callable
from concurrent.futures import BrokenExecutor, Executor, Future
from typing import Any

from attemper.workbench.verifying import working


class AtOnce(Executor):
    """Does each task while it is submitted."""

    def __init__(self) -> None:
        self.tasks = 0

    def submit(self, task: Callable[..., Any], /, *given: Any, **named: Any) -> Future[Any]:
        future: Future[Any] = Future()
        self.tasks += 1
        try:
            future.set_result(task(*given, **named))
        except Exception as error:  # noqa: BLE001 - it is whoever asks for the result who meets it
            future.set_exception(error)
        return future


class Forgetful(AtOnce):
    """Every task has a worker of its own, which knows no model."""

    def submit(self, task: Callable[..., Any], /, *given: Any, **named: Any) -> Future[Any]:
        working._kept.kept_networks.clear()
        return super().submit(task, *given, **named)


class Breaking(AtOnce):
    """Breaks for ever after so many tasks."""

    def __init__(self, after: int) -> None:
        super().__init__()
        self.after = after

    def submit(self, task: Callable[..., Any], /, *given: Any, **named: Any) -> Future[Any]:
        if self.tasks >= self.after:
            raise BrokenExecutor("a worker died")
        return super().submit(task, *given, **named)


class DyingWorkers(Breaking):
    """Takes every task, and does the first ones only: of the others the future says that the worker died."""

    def submit(self, task: Callable[..., Any], /, *given: Any, **named: Any) -> Future[Any]:
        if self.tasks < self.after:
            return super().submit(task, *given, **named)
        future: Future[Any] = Future()
        future.set_exception(BrokenExecutor("a worker died"))
        return future


class Shuffling(Executor):
    """One thread, which waits for several tasks and does any of them next, or always the latest."""

    def __init__(self, seed: int | None) -> None:
        self._random = None if seed is None else random.Random(seed)
        self._waiting: list[tuple[Future[Any], Callable[[], Any]]] = []
        self._came = threading.Condition()
        self._closed = False
        self._thread = threading.Thread(target=self._work)
        self._thread.start()
        self.order: list[object] = []

    def submit(self, task: Callable[..., Any], /, *given: Any, **named: Any) -> Future[Any]:
        future: Future[Any] = Future()
        with self._came:
            self._waiting.append((future, lambda: task(*given, **named)))
            self._came.notify()
        return future

    def shutdown(self, wait: bool = True, *, cancel_futures: bool = False) -> None:
        with self._came:
            self._closed = True
            self._came.notify()
        self._thread.join()

    def _work(self) -> None:
        while True:
            with self._came:
                # A moment for more tasks to come, so that there is something to shuffle.
                self._came.wait_for(lambda: self._closed or len(self._waiting) > 3, timeout=0.02)
                if self._closed:
                    return
                if not self._waiting:
                    continue
                place = -1 if self._random is None else self._random.randrange(len(self._waiting))
                future, task = self._waiting.pop(place)
            if future.set_running_or_notify_cancel():
                try:
                    future.set_result(task())
                except Exception as error:  # noqa: BLE001 - it is whoever asks for the result who meets it
                    future.set_exception(error)
