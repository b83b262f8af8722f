"""A certificate on disk: `certificate.json` beside the network. FORMAT.md specifies it."""

from __future__ import annotations

from pathlib import Path

from attemper.certificates.claims import Certificate, complaints
from attemper.documents import Document
from attemper.errors import MalformedFileError
from attemper.exact.codec import Codec
from attemper.files import CERTIFICATE, parse_json, read_bytes

CERTIFIED: Document[Certificate] = Document(
    "attemper-certificate/3",
    "certificate",
    Codec(Certificate),
    "make one with 'attemper certify DIR'",
    complaints,
)
"""What certificate.json holds beside a network of a language."""


def save(certificate: Certificate, folder: Path) -> None:
    """Write the certificate into the network's folder. Raises `MalformedFileError` if that fails."""
    CERTIFIED.save(certificate, folder / CERTIFICATE)


def discard(folder: Path) -> None:
    """Remove the certificate of another network that may stand in the folder."""
    (folder / CERTIFICATE).unlink(missing_ok=True)


def load(folder: Path, other: Path | None = None) -> Certificate:
    """Read the certificate of a network's folder, or another file that has one.

    Raises `MalformedFileError` with what is wrong.
    """
    return CERTIFIED.load(other or folder / CERTIFICATE)


def load_if_any(folder: Path) -> Certificate | None:
    """The certificate of a network's folder; None if there is none that can be read."""
    try:
        return load(folder)
    except MalformedFileError:
        return None


def format_of(path: Path) -> str:
    """The format that a file says it has; the empty text where it says none, or cannot be read."""
    try:
        data = parse_json(read_bytes(path, ""))
    except (ValueError, RecursionError, MalformedFileError):
        return ""
    return str(data.get("format", "")) if isinstance(data, dict) else ""
