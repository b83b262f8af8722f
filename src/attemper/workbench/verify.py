"""Does a model compute its language? Soft run, hard run and exact meaning, word by word.

Agreement on the words tried is not a proof: it is a search for a counterexample.
"""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import Executor

from attemper.workbench.model import Model
from attemper.workbench.verifying.answers import Disagreement, Expected, Verification
from attemper.workbench.verifying.plans import Plan, count_words, longest_exhaustive
from attemper.workbench.verifying.sweeps import Sweep

__all__ = [
    "Disagreement",
    "Expected",
    "Plan",
    "Sweep",
    "Verification",
    "count_words",
    "longest_exhaustive",
    "verify",
]


def verify(
    model: Model,
    plan: Plan,
    progress: Callable[[int], None] = lambda _: None,
    executor: Executor | None = None,
) -> Verification:
    """Try the plan's words; stop at the first disagreement. `progress` hears how many were done.

    The answer is the same without an executor and with any one: `Sweep` says what is kept if it breaks.
    """
    return Sweep(model, plan).run(progress, executor)
