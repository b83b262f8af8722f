"""Does a model compute its language? Soft run, hard run and exact meaning, word by word.

Agreement on the words tried is not a proof: it is a search for a counterexample.
"""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import Executor
from dataclasses import replace

from attemper.errors import OptionError
from attemper.workbench.against import require_symbols
from attemper.workbench.language import Language
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
    "said_of",
    "tested_against",
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
    return said_of(model, Sweep(model, plan).run(progress, executor))


def said_of(model: Model, found: Verification) -> Verification:
    """The same, which says what was compared with."""
    language = model.language
    return replace(found, language=model.title if language.spelling is None else str(language))


def tested_against(model: Model, language: Language) -> Model:
    """The same network, said to compute another language.

    Raises `AlphabetError` for other symbols, and `OptionError` for what is read elsewhere, or says something
    else of the empty word, which has no position that could be run.
    """
    require_symbols(language, model.alphabet)
    network, meant = model.network, language.definition
    if network.reads_first != meant.reads_first:
        own, other = ("first" if one.reads_first else "last" for one in (network, meant))
        raise OptionError(
            f"the network is read at the {own} position, and {language} at the {other}", options=("at",)
        )
    if network.accepts_empty != meant.accepts_empty:
        own, other = ("accepts" if one.accepts_empty else "rejects" for one in (network, meant))
        raise OptionError(
            f"they differ on the empty word: the network {own} it, and {language} {other} it",
            options=("empty",),
        )
    return replace(model, language=language)
