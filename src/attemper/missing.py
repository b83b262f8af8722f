"""What is said where torch is not installed, which only running needs: one place for all doors to it."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from attemper.errors import OptionError

TORCH = "torch"


@contextmanager
def torch_needed() -> Iterator[None]:
    """Where networks may be run: raises `OptionError`, saying what to install, if torch is missed within.

    Other modules that are missed are left as they are.

    >>> with torch_needed():
    ...     raise ModuleNotFoundError("No module named 'torch'", name="torch")
    Traceback (most recent call last):
    ...
    attemper.errors.OptionError: torch is not installed, which running needs: pip install torch
    """
    try:
        yield
    except ModuleNotFoundError as error:
        if error.name is None or error.name.partition(".")[0] != TORCH:
            raise
        raise OptionError("torch is not installed, which running needs: pip install torch") from None
