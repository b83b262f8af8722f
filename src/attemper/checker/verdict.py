"""What a check says: a status, and for each claim its lengths, arithmetic and assumptions."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path
from typing import Protocol, final

from attemper.errors import ExitCode, MalformedFileError
from attemper.exact.codec import Codec, Natural, Positive
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
    arithmetic). `witness` is a word that the network gets wrong, for REFUTED. A claim `is_vacuous` that is
    proved and speaks of no word of n >= 1 symbols.
    """

    status: Status
    text: str
    assumptions: tuple[str, ...] = ()
    arithmetic: str = ""
    witness: Word | None = None
    is_vacuous: bool = False


@final
@dataclass(frozen=True)
class WordPair:
    """What a refutation shows: two words that a model answers alike, though one is in the language.

    The words are without the model's end marker. Of the `length` positions, `free` may have several symbols;
    the answer depends on the symbols at `decided_by` only.
    """

    member: Word
    stranger: Word
    answer: bool
    length: Natural
    free: Natural
    decided_by: tuple[Positive, ...]


class About(StrEnum):
    """What a verdict can be about."""

    NETWORK = "network"
    MODEL = "model"
    ENCODER = "encoder"
    NETWORKS = "networks"


@final
@dataclass(frozen=True)
class Subject:
    """What a verdict is about: a network that should compute a language, a model refuted by two words, an
    encoder and what one symbol can change in it, or all networks of one class.

    `place` says where it is (empty: only in memory), or which networks the class has. `language` and `digest`
    are None where the files could not be read so far.
    """

    about: About
    place: str
    digest: str | None = None
    language: str | None = None
    pair: WordPair | None = None


@final
@dataclass(frozen=True)
class Verdict:
    """The verdicts of all claims, and what they are about; never a bool."""

    claims: tuple[ClaimVerdict, ...]
    subject: Subject | None = None
    explanation: tuple[str, ...] = ()
    """The proof, or how far it goes, in lines for people, if that was asked for."""

    @property
    def status(self) -> Status:
        """The worst status of a claim; UNKNOWN where every one is vacuous, as then nothing is proved."""
        order = list(Status)
        worst = max((claim.status for claim in self.claims), key=order.index)
        return Status.UNKNOWN if all(claim.is_vacuous for claim in self.claims) else worst

    @property
    def exit_code(self) -> ExitCode:
        """What `attemper check` returns to the shell."""
        return EXIT_CODES[self.status]

    def __bool__(self) -> bool:
        """A verdict has more than two values: compare its status."""
        raise TypeError("a verdict is not true or false; look at its status")


VERDICT: Codec[Verdict] = Codec(Verdict)
"""Verdicts as JSON data."""


class Judge(Protocol):
    """What judges a kind of file that `attemper.registry.FORMATS` lists, or a folder with such a certificate.

    The model (a folder or MODULE:OBJECT) is what the user says that it is about. What another file says is
    MALFORMED at worst; `OptionError` is raised where a model is missing or of no use, and what loading one
    raises.
    """

    def __call__(self, path: Path, model: str | None) -> Verdict:
        """The verdict on what stands at the path."""


def malformed(error: MalformedFileError, subject: Subject) -> Verdict:
    """What is said of a file or folder that cannot be read."""
    return Verdict((ClaimVerdict(Status.MALFORMED, str(error)),), subject)
