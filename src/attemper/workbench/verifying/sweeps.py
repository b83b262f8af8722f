"""A sweep over the words of a plan, on any executor, that can be interrupted and continued."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from concurrent.futures import FIRST_COMPLETED, Executor, Future, wait
from functools import cached_property
from itertools import islice
from typing import final

from attemper.workbench.model import Model
from attemper.workbench.verifying.answers import NOTHING, Verification, joined
from attemper.workbench.verifying.batches import Batch
from attemper.workbench.verifying.comparing import TestedNetwork, try_batches
from attemper.workbench.verifying.engines import one_thread, require_reached
from attemper.workbench.verifying.plans import Plan, PlanPart, count_words, tasks
from attemper.workbench.verifying.sharing import shares_prefixes
from attemper.workbench.verifying.working import BatchTask, packed, with_batches, work

IN_FLIGHT = 128
"""How many tasks an executor has at a time; so many bring the model, the others only where asked to."""

CountProgress = Callable[[int], None]
Numbered = tuple[int, tuple[Batch, ...]]
"""A task's batches and its number in its part of the plan."""


@final
class _Finished:
    """What the finished tasks of a part have shown, by their numbers."""

    def __init__(self) -> None:
        self.found: dict[int, Verification] = {}
        self.first_wrong = float("inf")
        """The number of the first task that has found a disagreement."""

    def keep(self, number: int, found: Verification) -> None:
        self.found[number] = found
        if found.disagreement is not None:
            self.first_wrong = min(self.first_wrong, number)

    def joined(self) -> Verification:
        """All up to the first disagreement, in the plan's order."""
        found = NOTHING
        for number in sorted(self.found):
            if number <= self.first_wrong:
                found = joined(found, self.found[number])
        return found


@final
class Sweep:
    """The words of a plan, tried with a model, and what they have shown so far.

    `run` tries what has not been tried yet. Interrupted (by Ctrl-C, or because a worker has died) the sweep
    keeps every finished task, and `run` can be called again, with the same executor or another one.

    Raises `UnsupportedError` for more than two million words, and `OptionError` for words of more than 1,024
    symbols where torch is not installed.

    >>> from attemper.workbench.compiling import compile
    >>> sweep = Sweep(compile("O a", "ab"), Plan(up_to=4, count=20, longest=50))
    >>> sweep.run().words, sweep.finished
    (50, 2)
    """

    def __init__(self, model: Model, plan: Plan) -> None:
        count_words(model, plan)
        require_reached(plan.reach)
        self.model, self.plan = model, plan
        self._finished = {part: _Finished() for part in PlanPart}

    @cached_property
    def _tested(self) -> TestedNetwork:
        return TestedNetwork.of(self.model.network, self.model.language.definition)

    @cached_property
    def _packed(self) -> BatchTask:
        return packed(self.model)

    @property
    def finished(self) -> int:
        """How many tasks are finished."""
        return sum(len(part.found) for part in self._finished.values())

    def run(self, progress: CountProgress = lambda _: None, executor: Executor | None = None) -> Verification:
        """Try the words, up to the first disagreement in the plan's order.

        Without an executor all is done here. `progress` hears, in this thread, how many more words are done.
        Raises what the executor raises, such as `concurrent.futures.BrokenExecutor`. Then, and at Ctrl-C,
        tasks that have not begun are cancelled.
        """
        told = _Told(progress)
        with one_thread():
            found = self._try_all_lengths(told, executor)
            if found.disagreement is not None:
                return found
            told.begin_after(found.words)
            return joined(found, self._try(PlanPart.DRAWN, told, executor))

    def _try_all_lengths(self, told: _Told, executor: Executor | None) -> Verification:
        if self.plan.up_to > 1 and shares_prefixes(self.model.network):
            found = self._try(PlanPart.PREFIXES, told, executor)
            if found.disagreement is None:
                return found
        # Each word is run by itself: the first that goes wrong is found in the plan's order, shortest first.
        told.begin_after(0)
        return self._try(PlanPart.LENGTHS, told, executor)

    def _try(self, part: PlanPart, told: _Told, executor: Executor | None) -> Verification:
        finished = self._finished[part]
        told.add(sum(found.words for found in finished.found.values()))
        numbered = enumerate(tasks(self.model, self.plan, part))
        unfinished = (task for task in numbered if task[0] not in finished.found)
        if executor is None:
            self._try_here(unfinished, finished, told)
        else:
            _Flight(executor, self._packed, finished, told).fly(unfinished)
        return finished.joined()

    def _try_here(self, unfinished: Iterator[Numbered], finished: _Finished, told: _Told) -> None:
        for number, batches in unfinished:
            if number > finished.first_wrong:
                return
            found = try_batches(self._tested, batches)
            finished.keep(number, found)
            told.add(found.words)


@final
class _Told:
    """What `progress` has heard: never more words than are done, and no word twice."""

    def __init__(self, progress: CountProgress) -> None:
        self._progress, self._heard, self._done = progress, 0, 0

    def begin_after(self, words: int) -> None:
        """From here on, words are done beyond the first so many of the plan."""
        self._done = words

    def add(self, words: int) -> None:
        """So many more are done."""
        self._done += words
        if self._done > self._heard:
            self._progress(self._done - self._heard)
            self._heard = self._done


@final
class _Flight:
    """Tasks on their way through an executor; what comes back is kept by the task's number."""

    def __init__(self, executor: Executor, model: BatchTask, finished: _Finished, told: _Told) -> None:
        self._executor, self._finished, self._told = executor, finished, told
        self._packed = model
        self._flying: dict[Future[Verification | None], Numbered] = {}
        self._sent = 0

    def fly(self, unfinished: Iterator[Numbered]) -> None:
        """Have all tasks done that come before the first one that finds a disagreement."""
        try:
            while True:
                for numbered in islice(unfinished, IN_FLIGHT - len(self._flying)):
                    if numbered[0] < self._finished.first_wrong:
                        self._send(numbered, brings_model=self._sent < IN_FLIGHT)
                self._drop_after(self._finished.first_wrong)
                if not self._flying:
                    return
                for future in wait(self._flying, return_when=FIRST_COMPLETED).done:
                    self._land(future)
        finally:
            self._drop_after(-1)

    def _send(self, numbered: Numbered, *, brings_model: bool) -> None:
        task = with_batches(self._packed, numbered[1], brings_model=brings_model)
        self._flying[self._executor.submit(work, task)] = numbered
        self._sent += 1

    def _land(self, future: Future[Verification | None]) -> None:
        found = future.result()
        numbered = self._flying.pop(future)
        if found is None:
            self._send(numbered, brings_model=True)
            return
        self._finished.keep(numbered[0], found)
        self._told.add(found.words)

    def _drop_after(self, last: float) -> None:
        """Forget the tasks with greater numbers: what has not begun is cancelled, what is done is kept."""
        for future, (number, _) in list(self._flying.items()):
            if number > last:
                del self._flying[future]
                if not future.cancel() and future.done() and future.exception() is None:
                    found = future.result()
                    if found is not None:
                        self._finished.keep(number, found)
