"""What a search for a refutation finds, and what the independent checker says to that."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path
from typing import TypeGuard, final

from attemper.checker.verdict import Status, Verdict
from attemper.errors import AttemperError, InternalError, OptionError
from attemper.models.hard.networks import NetworkModel
from attemper.models.hard.protocol import HardModel
from attemper.modules import ModuleError, blaming
from attemper.theories.refutation.certificate.files import Refutation
from attemper.theories.refutation.certificate.files import save as save_refutation
from attemper.theories.refutation.certificate.targets import Target
from attemper.theories.refutation.check.claims import check_refutation
from attemper.theories.refutation.search.named import refute
from attemper.theories.refutation.search.probing import probe


@final
@dataclass(frozen=True, repr=False)
class Finding:
    """What a search for a refutation found, and what the independent checker says to that.

    `refutation` has the two words, `member` in the language and `stranger` outside, and the restriction on
    which the model never changes its `answer`; it and the `verdict` are None where nothing was found, for the
    `reason` that is named. `seconds` is how long the search took; `interrupted` says that Ctrl-C ended it,
    and that this is the best so far.
    """

    refutation: Refutation | None
    verdict: Verdict | None
    reason: str
    seconds: float
    interrupted: bool = False

    def __repr__(self) -> str:
        if self.refutation is None or self.verdict is None:
            return f"<Finding: not refuted after {self.seconds:.1f} s>"
        free, size = len(self.refutation.restriction.free), len(self.refutation.restriction.allowed)
        return f"<Finding: {self.verdict.status}, {free} of {size} positions are free>"

    def save(self, path: str | Path) -> None:
        """Write the refutation to a file for `attemper check`.

        Raises `OptionError` if there is none, and `MalformedFileError` if writing fails.
        """
        if self.refutation is None:
            raise OptionError(f"there is no refutation to save: {self.reason}")
        save_refutation(self.refutation, Path(path))


def search_and_check(
    make: Callable[[], HardModel],
    target: Callable[[HardModel], Target],
    *,
    source: str,
    free: float | None,
    seconds: float,
    seed: int,
    report: Callable[[str], None],
) -> Finding:
    """Search for a refutation of a model, and have the checker judge what is found.

    `make` gives the model, and `target` the language over its symbols. Somebody's own is asked for twice, and
    must be the same: for the search, and for the check. `source` is DIR or MODULE:OBJECT, or empty; the rest
    is as `attemper.refute` has it.

    Raises `OptionError` (an option), `UnsupportedError` (no words to tell apart) and `ModuleError` (functions
    that do not do what `HardModel` says).
    """
    _require_numbers(free, seconds, seed)
    model = make()
    is_ours, name = type(model) is NetworkModel, source or type(model).__qualname__
    again = model if is_ours else make()
    if not is_ours:
        probe(model, again, name)
    with blaming(name):
        outcome = refute(
            model, target(model), source=source, free=free, seconds=seconds, seed=seed, report=report
        )
    if outcome.refutation is None:
        return Finding(None, None, outcome.reason, outcome.seconds)
    report("checking what was found")
    verdict = check_refutation(outcome.refutation, again, place=source)
    if verdict.status not in {Status.PROVED, Status.PROVED_UNDER_ASSUMPTIONS}:
        raise _not_accepted(verdict, name, is_ours=is_ours)
    return Finding(outcome.refutation, verdict, "", outcome.seconds, outcome.interrupted)


def _require_numbers(free: object, seconds: object, seed: object) -> None:
    """Raises `OptionError` for what is no number, or one that means nothing here."""
    if free is not None and not (_is_number(free) and 0 <= free <= 1):
        raise OptionError(f"free={free!r} is not a part of the positions, from 0 to 1", options=("free",))
    if not (_is_number(seconds) and seconds >= 0):
        raise OptionError(f"seconds={seconds!r} is not a number of seconds from 0 on", options=("seconds",))
    if type(seed) is not int or seed < 0:
        raise OptionError(f"seed={seed!r} is not a whole number from 0 on", options=("seed",))


def _is_number(value: object) -> TypeGuard[float]:
    return isinstance(value, int | float | Fraction) and not isinstance(value, bool)


def _not_accepted(verdict: Verdict, name: str, *, is_ours: bool) -> AttemperError:
    """Why the checker does not accept what was found: somebody's own functions, or else a fault of ours."""
    said = "; ".join(f"{claim.status}: {claim.text}" for claim in verdict.claims)
    message = f"the checker does not accept what was found: {said}"
    return InternalError(message) if is_ours else ModuleError(f"'{name}': {message}")
