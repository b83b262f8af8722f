"""What a search for a refutation finds, and what the independent checker says to that."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path
from typing import NoReturn, TypeGuard, final

from attemper.checker.report import record_of
from attemper.checker.verdict import Status, Verdict
from attemper.errors import AttemperError, ExitCode, InternalError, OptionError
from attemper.html_tables import Tabled
from attemper.languages.words import Word
from attemper.models.hard.networks import NetworkModel
from attemper.models.hard.protocol import HardModel
from attemper.modules import ModuleError, blaming
from attemper.theories.refutation.certificate.files import REFUTATION, Refutation
from attemper.theories.refutation.certificate.restrictions import Restriction
from attemper.theories.refutation.certificate.targets import Target
from attemper.theories.refutation.check.claims import check_refutation
from attemper.theories.refutation.report import picture
from attemper.theories.refutation.search.named import refute
from attemper.theories.refutation.search.probing import probe
from attemper.workbench.cli.console import out, text_of


@final
@dataclass(frozen=True, repr=False)
class Finding(Tabled):
    """What a search for a refutation found, and what the independent checker says to that.

    `refutation` has the two words, and the restriction on which the model never changes its `answer`; it and
    the `verdict` are None where nothing was found, for the `reason` that is named. `seconds` is how long the
    search took; `interrupted` says that Ctrl-C ended it, and that this is the best so far. It prints as the
    lines of `attemper refute`; `note` is the first of them, on a name that two languages have.
    """

    refutation: Refutation | None
    verdict: Verdict | None
    reason: str
    seconds: float
    interrupted: bool = False
    note: str = ""

    @property
    def status(self) -> Status:
        """PROVED, or PROVED_UNDER_ASSUMPTIONS; UNKNOWN where nothing was found."""
        return Status.UNKNOWN if self.verdict is None else self.verdict.status

    @property
    def words(self) -> tuple[Word, ...]:
        """The word in the language, and the one that is not; none where nothing was found."""
        return () if self.refutation is None else (self.refutation.member, self.refutation.stranger)

    @property
    def restriction(self) -> Restriction | None:
        """Which symbols each position may have, so that the model's answer stays the same."""
        return None if self.refutation is None else self.refutation.restriction

    @property
    def exit_code(self) -> ExitCode:
        """What the command line returns."""
        if self.verdict is None:
            return ExitCode.UNKNOWN
        return ExitCode.INTERRUPTED if self.interrupted else self.verdict.exit_code

    def __bool__(self) -> NoReturn:
        raise TypeError("a search can end with UNKNOWN, so it is neither true nor false: look at its status")

    def __repr__(self) -> str:
        if self.refutation is None:
            return f"<Finding: {self.status}, not refuted after {self.seconds:.1f} s>"
        free, size = len(self.refutation.restriction.free), len(self.refutation.restriction.allowed)
        return f"<Finding: {self.status}, {free} of {size} positions are free>"

    def __str__(self) -> str:
        return text_of(self._lines())

    def _lines(self) -> Iterator[str]:
        if self.note:
            yield self.note
        if self.refutation is None or self.verdict is None:
            yield f"not refuted: {self.reason}"
            return
        claims = self.verdict.claims
        yield from (f"{claim.status}: {claim.text}" for claim in claims)
        yield from (f"assuming {one}" for one in dict.fromkeys(a for c in claims for a in c.assumptions))
        named = dict.fromkeys(claim.arithmetic for claim in claims if claim.arithmetic)
        yield from (f"arithmetic: {arithmetic}" for arithmetic in named)
        yield from picture(self.refutation, out.columns)

    @property
    def record(self) -> dict[str, object]:
        """The verdict with both words, or the reason why there is none, as JSON data."""
        said = (
            {"verdict": str(self.status), "reason": self.reason}
            if self.verdict is None
            else record_of(self.verdict)
        )
        return {**said, "seconds": round(self.seconds, 1)}

    def save(self, path: str | Path) -> None:
        """Write the refutation to a file for `attemper check`.

        Raises `OptionError` if there is none, and `MalformedFileError` if writing fails.
        """
        if self.refutation is None:
            raise OptionError(f"there is no refutation to save: {self.reason}")
        REFUTATION.save(self.refutation, Path(path))


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
