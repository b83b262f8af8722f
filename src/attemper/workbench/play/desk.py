"""Who answers questions: a few at once, and what was answered lately is not made again."""

from __future__ import annotations

from typing import final

from attemper.workbench.play.processes import Answer, Limits, answer_to
from attemper.workbench.play.question import Question

KEPT = 32
"""So many answers are kept."""


class BusyError(Exception):
    """As many questions are being answered as may be at once."""


@final
class Desk:
    """Answers questions within limits; `busy` counts the processes that are at work."""

    def __init__(self, limits: Limits | None = None) -> None:
        self.limits = limits or Limits()
        self.busy = 0
        self._kept: dict[Question, Answer] = {}

    async def answer(self, question: Question) -> Answer:
        """The answer to a question, which is kept where it is a network.

        Raises `BusyError` if `at_once` questions are being answered.
        """
        if question in self._kept:
            # What is asked for again is forgotten last.
            self._kept[question] = self._kept.pop(question)
            return self._kept[question]
        if self.busy >= self.limits.at_once:
            raise BusyError(f"{self.busy} networks are being compiled, and no more at once: try again")
        self.busy += 1
        try:
            answer = await answer_to(question, self.limits)
        finally:
            self.busy -= 1
        if "error" not in answer:
            self._kept[question] = answer
            if len(self._kept) > KEPT:
                del self._kept[next(iter(self._kept))]
        return answer
