"""Where a command may write a network."""

from __future__ import annotations

from pathlib import Path

from attemper.networks.files import STRUCTURE
from attemper.writing import require_own


def require_network_place(folder: Path, *, force: bool) -> None:
    """Refuse a folder with other files than those of a network, unless by force.

    Raises `MalformedFileError`.
    """
    require_own(folder, "those of a network", lambda own: (own / STRUCTURE).is_file(), force=force)
