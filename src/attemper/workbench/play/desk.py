"""Who answers questions: a few at once, and what was answered lately is not made again."""

from __future__ import annotations

import asyncio
from typing import final

from attemper.workbench.play.processes import AnswerLimits, JsonAnswer, answer_to
from attemper.workbench.play.question import Question

KEPT = 32
"""So many answers are kept."""


class BusyError(Exception):
    """No question is taken now: as many are being answered as may be at once, or the server is ending."""


@final
class Desk:
    """Answers questions within limits, until it is closed."""

    def __init__(self, limits: AnswerLimits | None = None) -> None:
        self.limits = limits or AnswerLimits()
        self.closed = False
        self._working: set[asyncio.Task[JsonAnswer]] = set()
        self._kept: dict[Question, JsonAnswer] = {}

    @property
    def busy(self) -> int:
        """How many questions are being answered."""
        return len(self._working)

    async def answer(self, question: Question) -> JsonAnswer:
        """The answer to a question, which is kept where it is a network with a certificate.

        Raises `BusyError` if `at_once` questions are being answered, and if the desk is closed meanwhile.
        """
        if question in self._kept:
            # What is asked for again is forgotten last.
            self._kept[question] = self._kept.pop(question)
            return self._kept[question]
        if self.closed:
            raise BusyError(_ENDING)
        if self.busy >= self.limits.at_once:
            raise BusyError(f"{self.busy} networks are being compiled, and no more at once: try again")
        answer = await self._made(question)
        if _is_certified(answer):
            self._kept[question] = answer
            if len(self._kept) > KEPT:
                del self._kept[next(iter(self._kept))]
        return answer

    def close(self) -> None:
        """Answer nothing any more: the processes that are at work are killed."""
        self.closed = True
        for work in self._working:
            work.cancel()

    async def _made(self, question: Question) -> JsonAnswer:
        """The answer of a process. Whoever stops waiting for this stops the process, too."""
        work = asyncio.create_task(answer_to(question, self.limits))
        self._working.add(work)
        try:
            return await work
        except asyncio.CancelledError:
            if self.closed:
                raise BusyError(_ENDING) from None
            raise
        finally:
            self._working.discard(work)


def _is_certified(answer: JsonAnswer) -> bool:
    """Whether nothing would be found by asking again."""
    match answer:
        case {"contents": {"certificate": dict()}}:
            return True
        case _:
            return False


_ENDING = "the server is ending"
