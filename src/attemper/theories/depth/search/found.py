"""What is known of the layers that a language needs, from below and from above; and how it is told."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import assert_never, final

from attemper.checker.verdict import Status
from attemper.errors import ExitCode, OptionError
from attemper.html_tables import Tabled
from attemper.languages.temporal.show import show_within
from attemper.languages.words import Word
from attemper.theories.depth import certificate
from attemper.theories.depth.certificate import DEPTH
from attemper.theories.depth.check.claims import describe
from attemper.theories.depth.check.pairs import in_layers, shown
from attemper.workbench.language import Language
from attemper.workbench.report.languages import lines_on, record_of_language

LONGEST = 200
"""A longer formula is not printed."""


@final
@dataclass(frozen=True, repr=False)
class Depth(Tabled):
    """How many layers networks of a class need for a language, from below and from above.

    No network with fewer than `lower` layers knows the language: `pair` are two words that it would have to
    tell apart, None if `lower` is 0. Some network with `upper` layers does, by all classes of words or by a
    formula, which `by` is; None, both, where no bound from above was found. `stopped` says why nothing more
    was looked for where the two differ, `capped` that a cap or an interrupt was the reason, and `layers` what
    was found for each k. All of `claims` is proved by the checker.
    """

    language: Language
    lower: int
    upper: int | None
    by: certificate.EnoughByClasses | certificate.EnoughByFormula | None
    claims: certificate.DepthClaims
    layers: tuple[tuple[int, str | certificate.DepthClaim], ...]
    stopped: str = ""
    capped: bool = False

    @property
    def pair(self) -> tuple[Word, Word] | None:
        """Two words with one answer from all networks with fewer than `lower` layers."""
        found = [claim.words for claim in self.claims.claims if isinstance(claim, certificate.Inseparable)]
        return found[-1] if found else None

    @property
    def least(self) -> int | None:
        """The least number of layers, if both bounds meet."""
        return self.lower if self.lower == self.upper else None

    @property
    def status(self) -> Status:
        """PROVED where all that was asked for is found, else UNKNOWN; the bounds are proved in any case."""
        return Status.UNKNOWN if self.capped else Status.PROVED

    @property
    def exit_code(self) -> ExitCode:
        """What the command line returns."""
        return ExitCode.UNKNOWN if self.capped else ExitCode.OK

    def __repr__(self) -> str:
        above = "no bound from above" if self.upper is None else f"at most {self.upper}"
        known = f"least depth {self.least}" if self.least is not None else f"at least {self.lower}, {above}"
        return f"<Depth: {known}>"

    def __str__(self) -> str:
        return "\n".join(self._lines())

    def _lines(self) -> Iterator[str]:
        yield from lines_on(self.language)
        for k, claim in self.layers:
            yield f"{in_layers(k)}: {claim}" if isinstance(claim, str) else claim_line(claim)
        if isinstance(self.by, certificate.EnoughByFormula):
            yield claim_line(self.by)
        yield self._bounds()
        yield f"proved for {describe(self.claims.networks)}"
        if self.pair is not None and len(self.pair[0]) == len(self.pair[1]):
            yield "the last pair has one length: that bound holds for weights that depend on the length, too"

    def _bounds(self) -> str:
        if self.least is not None:
            return f"least depth: {self.least}"
        above = "" if self.upper is None else f", at most {self.upper:,}"
        return f"at least {in_layers(self.lower)}{above} ({self.stopped})"

    @property
    def record(self) -> dict[str, object]:
        """The bounds as JSON data."""
        networks = self.claims.networks
        return {
            **record_of_language(self.language),
            "at_least": self.lower,
            "at_most": self.upper,
            "least": self.least,
            "layers": [
                {"layers": k, **({"open": claim} if isinstance(claim, str) else claim_record(claim))}
                for k, claim in self.layers
            ],
            "by": None if self.by is None else {"layers": self.by.layers, **claim_record(self.by)},
            "stopped": self.stopped or None,
            "period": [networks.prefix, networks.period],
            "choice": str(networks.choice),
            "networks": describe(networks),
        }

    def save(self, path: str | Path) -> None:
        """Write the claims to a file for `attemper check`.

        Raises `OptionError` if there are none, and `MalformedFileError` if writing fails.
        """
        if not self.claims.claims:
            raise OptionError(f"there is nothing to save: {self.stopped}")
        DEPTH.save(self.claims, Path(path))


def claim_line(claim: certificate.DepthClaim) -> str:
    """What a claim says.

    >>> claim_line(certificate.EnoughByClasses(2, 602))
    '2 layers: enough (602 classes)'
    """
    return f"{in_layers(claim.layers)}: {_said(claim)}"


def _said(claim: certificate.DepthClaim) -> str:
    match claim:
        case certificate.Inseparable(_, (first, second) as words):
            return f"not enough, {shown(first, words)} against {shown(second, words)}"
        case certificate.EnoughByClasses(_, classes):
            return f"enough ({classes:,} classes)"
        case certificate.EnoughByFormula(_, formula):
            text = show_within(formula, LONGEST)
            return "enough (a past formula)" if text is None else f"enough ({text})"
        case _:
            assert_never(claim)


def claim_record(claim: certificate.DepthClaim) -> dict[str, object]:
    """What a claim says, without its number of layers, as JSON data."""
    match claim:
        case certificate.Inseparable(_, words):
            return {"words": [list(word) for word in words]}
        case certificate.EnoughByClasses(_, classes):
            return {"classes": classes}
        case certificate.EnoughByFormula(_, formula):
            return {"formula": show_within(formula, 10**6)}
        case _:
            assert_never(claim)
