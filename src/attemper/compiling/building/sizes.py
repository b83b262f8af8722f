"""Networks that could be neither saved nor read nor run: refused as soon as that is known."""

from __future__ import annotations

from attemper.errors import UnsupportedError
from attemper.networks.weights import MOST_PARAMETERS


def require_few_weights(least: int) -> None:
    """Raises `UnsupportedError` if a network has at least so many weights, and that is too many.

    >>> require_few_weights(250_000_000)
    """
    if least > MOST_PARAMETERS:
        raise UnsupportedError(
            f"the network needs at least {least:,} weights, beyond the cap of {MOST_PARAMETERS:,} on what is "
            "saved, read and run; no option raises it. Split the language into simpler ones, compile each, "
            "and join their verdicts"
        )
