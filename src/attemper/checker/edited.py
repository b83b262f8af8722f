"""Whether a network whose weights somebody changed still computes the language of its certificate."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from attemper.certificates.files import load as load_certificate
from attemper.checker.check import judge
from attemper.checker.verdict import About, ClaimVerdict, Status, Subject, Verdict
from attemper.errors import UnsupportedError
from attemper.networks.files import load_edited


def check_edited(
    folder: Path, against: Path | None = None, *, ignore_rounding: bool = False, explained: bool = False
) -> Verdict:
    """The verdict on every claim of the folder's certificate, or another one, about the weights as they are.

    The language and the claims are the certificate's. Its digest is about the weights as they were and is
    not looked at. Raises `MalformedFileError`, naming the file and what is wrong.
    """
    certificate = load_certificate(folder, against)
    subject = Subject(About.NETWORK, str(folder))
    try:
        edited, digest = load_edited(folder)
    except UnsupportedError as error:
        return Verdict((ClaimVerdict(Status.UNKNOWN, str(error)),), subject)
    if not certificate.claims:
        return Verdict((ClaimVerdict(Status.MALFORMED, "the certificate claims nothing"),), subject)
    verdict = judge(
        edited.network,
        certificate.language,
        certificate.claims,
        certificate.realisation,
        rounding=edited.rounding,
        ignore_rounding=ignore_rounding,
        explained=explained,
    )
    language = certificate.language.text(edited.network.alphabet)
    return replace(verdict, subject=replace(subject, digest=digest, language=language))
