"""What a check says: a status, and for each claim its lengths, arithmetic and assumptions."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import final

from attemper.errors import ExitCode
from attemper.languages.words import Word


class Status(StrEnum):
    """From best to worst; a check is as good as its worst claim."""

    PROVED = "PROVED"
    PROVED_UNDER_ASSUMPTIONS = "PROVED_UNDER_ASSUMPTIONS"
    UNKNOWN = "UNKNOWN"
    REFUTED = "REFUTED"
    MALFORMED = "MALFORMED"


EXIT_CODES = {
    Status.PROVED: ExitCode.OK,
    Status.PROVED_UNDER_ASSUMPTIONS: ExitCode.PROVED_UNDER_ASSUMPTIONS,
    Status.UNKNOWN: ExitCode.UNKNOWN,
    Status.REFUTED: ExitCode.REFUTED,
    Status.MALFORMED: ExitCode.FILE,
}


@final
@dataclass(frozen=True)
class ClaimVerdict:
    """The status of one claim.

    `text` names the lengths and the format, `arithmetic` what is assumed of its operations (empty: real
    arithmetic). `witness` is a word that the network gets wrong, for REFUTED.
    """

    status: Status
    text: str
    assumptions: tuple[str, ...] = ()
    arithmetic: str = ""
    witness: Word | None = None


@final
@dataclass(frozen=True)
class Verdict:
    """The verdicts of all claims; never a bool."""

    claims: tuple[ClaimVerdict, ...]

    @property
    def status(self) -> Status:
        """The worst status of a claim."""
        order = list(Status)
        return max((claim.status for claim in self.claims), key=order.index)

    @property
    def exit_code(self) -> ExitCode:
        """What `attemper check` returns to the shell."""
        return EXIT_CODES[self.status]

    def __bool__(self) -> bool:
        """A verdict has more than two values: compare its status."""
        raise TypeError("a verdict is not true or false; look at its status")
