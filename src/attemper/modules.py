"""Somebody's own Python modules: imported by name; their errors told apart from ours, with their place."""

from __future__ import annotations

import importlib
import sys
import sysconfig
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from traceback import walk_tb

from attemper.errors import AttemperError, ExitCode, OptionError
from attemper.escapes import escaped

OURS = Path(__file__).parent
"""The folder of this package."""

LIBRARIES = tuple(Path(sysconfig.get_path(name)) for name in ("stdlib", "platstdlib", "purelib", "platlib"))
"""Where Python's own modules and the installed packages are."""


class ModuleError(AttemperError):
    """An error in a module of the user's own, with the file and line where that module stood.

    `file` is None and `line` 0 where the place is not known.

    >>> import attemper
    >>> try:
    ...     with blaming("models:mine", wholly=True):
    ...         len(3)
    ... except attemper.ModuleError as error:
    ...     print(error)
    'models:mine' raised TypeError: object of type 'int' has no len()
    """

    exit_code = ExitCode.MODULE

    def __init__(self, message: str, *, file: str | None = None, line: int = 0) -> None:
        if file is None:
            super().__init__(message)
        else:
            super().__init__(f"{message} ({file}:{line})", file=file, line=line)

    def __str__(self) -> str:
        return escaped(super().__str__())


@contextmanager
def blaming(source: str, *, wholly: bool = False) -> Iterator[None]:
    """Turn errors that the module of `source` (MODULE:OBJECT) raises into `ModuleError`, with their place.

    With `wholly` nothing else runs here, so that every error is theirs. Otherwise those are that were raised
    while code of theirs was running; the others, and errors of attemper's own, are left as they are.

    >>> with blaming("models:mine", wholly=True):
    ...     len(3)
    Traceback (most recent call last):
    ...
    attemper.modules.ModuleError: 'models:mine' raised TypeError: object of type 'int' has no len()
    """
    try:
        yield
    except (AttemperError, MemoryError):
        raise
    except (Exception, SystemExit) as error:
        file, line = _place(error)
        if file is None and not wholly:
            raise
        said = f"{type(error).__name__}: {error}" if str(error) else type(error).__name__
        raise ModuleError(f"'{source}' raised {said}", file=file, line=line) from error


def _place(error: BaseException) -> tuple[str | None, int]:
    """The file and line of the user's code nearest to the error; None and 0 if none of it was running."""
    if isinstance(error, SyntaxError) and error.filename and _is_theirs(error.filename):
        return shown_path(error.filename), error.lineno or 0
    frames = [(frame.f_code.co_filename, line) for frame, line in walk_tb(error.__traceback__)]
    theirs = [(shown_path(name), line) for name, line in frames if _is_theirs(name)]
    return theirs[-1] if theirs else (None, 0)


def _is_theirs(name: str) -> bool:
    path = Path(name)
    return not name.startswith("<") and not any(path.is_relative_to(ours) for ours in (OURS, *LIBRARIES))


def place_of(function: object) -> tuple[str | None, int]:
    """The file and line where a function of the user's begins; None and 0 where that is not known."""
    code = getattr(getattr(function, "__func__", function), "__code__", None)
    return (None, 0) if code is None else (shown_path(code.co_filename), code.co_firstlineno)


def shown_path(name: str) -> str:
    """A file's name as seen from the folder where the user stands."""
    path = Path(name)
    return str(path.relative_to(Path.cwd())) if path.is_relative_to(Path.cwd()) else name


def imported(source: str) -> object:
    """The object that MODULE:OBJECT names; the folder where the user stands is looked in first.

    Raises `OptionError` where nothing has that name, and `ModuleError` where importing the module fails.

    >>> imported("math:pi")
    3.141592653589793
    """
    module, colon, name = source.partition(":")
    if not colon or not module or module.startswith("."):
        raise OptionError(f"'{source}' is neither a folder nor MODULE:OBJECT")
    here = str(Path.cwd())
    if here not in sys.path:
        sys.path.insert(0, here)
    try:
        with blaming(module, wholly=True):
            found = importlib.import_module(module)
    except ModuleError as error:
        # The module that was asked for is not there: no code of the user's has run.
        if isinstance(error.__cause__, ModuleNotFoundError) and error.__cause__.name in _parents(module):
            raise OptionError(
                f"there is no module '{module}', neither in this folder nor among what is installed"
            ) from None
        raise
    if not hasattr(found, name):
        raise OptionError(f"the module '{module}' has no '{name}'")
    return not_bare(getattr(found, name), source)


def not_bare(found: object, source: str) -> object:
    """What a name of the user's stands for. Raises `ModuleError` if it is an encoder of torch by itself."""
    torch = sys.modules.get("torch")
    if torch is None or not isinstance(found, torch.nn.TransformerEncoder):
        return found
    raise ModuleError(
        f"'{source}' is a torch.nn.TransformerEncoder, without symbols, embedding and readout: wrap it, "
        "with attemper.models.hard.encoders.read_encoder for hard attention (docs/refutation.md), or with "
        "attemper.models.soft.reading.read_weights for soft attention (docs/limits.md)"
    )


def _parents(module: str) -> set[str]:
    """The module's name, and those of the packages that it is in."""
    parts = module.split(".")
    return {".".join(parts[: k + 1]) for k in range(len(parts))}
