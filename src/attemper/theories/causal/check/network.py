"""The network that a file of this theory is about."""

from __future__ import annotations

from pathlib import Path

from attemper.errors import OptionError
from attemper.networks import files
from attemper.networks.files import STRUCTURE
from attemper.networks.layers import Network


def network_in(folder: Path) -> tuple[Network, str]:
    """The network that a file is about, and its digest. Raises `OptionError` where none is said."""
    if not (folder / STRUCTURE).is_file():
        raise OptionError(
            f"there is no network in '{folder}': say with 'model' which folder the file is about",
            options=("model",),
        )
    network, source = files.load(folder)
    return network, files.digest_of(network, source)
