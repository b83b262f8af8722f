"""What is said where a library that an extra brings is not installed, above all torch."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager
from importlib.util import find_spec

from attemper.errors import OptionError

TORCH = "torch"


@contextmanager
def library_needed(library: str, extra: str, what: str) -> Iterator[None]:
    """Where `what` imports a library: raises `OptionError`, saying what to install, if it is missed within.

    Other modules that are missed are left as they are.

    >>> with library_needed("uvicorn", "play", "this"):
    ...     raise ModuleNotFoundError("No module named 'uvicorn'", name="uvicorn")
    Traceback (most recent call last):
    ...
    attemper.errors.OptionError: this needs uvicorn: pip install 'attemper[play]' (in a clone: '.[play]')
    """
    try:
        yield
    except ModuleNotFoundError as error:
        if error.name is None or error.name.partition(".")[0] != library:
            raise
        remedy = f"pip install 'attemper[{extra}]' (in a clone: '.[{extra}]')"
        raise OptionError(f"{what} needs {library}: {remedy}") from None


def torch_needed(what: str, extra: str = TORCH) -> AbstractContextManager[None]:
    """Where `what` imports torch, as `library_needed`; `extra` is one that brings torch, too."""
    return library_needed(TORCH, extra, what)


def has_torch() -> bool:
    """Whether torch is installed; it is not imported."""
    return find_spec(TORCH) is not None
