"""Find the model that a user or a refutation names: a folder's network, or an object of a Python module."""

from __future__ import annotations

import importlib
import sys
from pathlib import Path
from typing import cast

from attemper.certificates.refutations import Refutation
from attemper.errors import OptionError
from attemper.hard_models.networks import NetworkModel
from attemper.hard_models.protocol import HardModel
from attemper.networks.files import digest_of
from attemper.networks.files import load as load_network

PARTS = (
    "embed",
    "scores",
    "combine",
    "labels",
    "length",
    "symbols",
    "ending",
    "heads",
    "digest",
    "semantics",
)
"""What every model has."""


def load_model(source: str, length: int | None) -> HardModel:
    """A folder's network read with hard attention, or an object of a Python module (MODULE:OBJECT).

    The object is a model, or a function from the length n to one. Raises `OptionError` where it is neither,
    and what loading raises.
    """
    if is_folder(source):
        if length is None:
            raise OptionError("a network works at every length: say which one with --n")
        network, text = load_network(Path(source))
        return NetworkModel(network, length, digest_of(network, text))
    module, colon, name = source.partition(":")
    if not colon or not module or module.startswith("."):
        raise OptionError(f"'{source}' is neither a folder nor MODULE:OBJECT")
    found = _imported(module, name)
    if callable(found) and not isinstance(found, type) and not hasattr(found, "scores"):
        if length is None:
            raise OptionError(f"'{source}' is a function of the length: say which one with --n")
        found = found(length)
    return _validated(found, source, length)


def load_model_of(refutation: Refutation, model: str | None) -> HardModel:
    """The model that is named, or the network in the folder that the refutation names.

    Code is never imported because a file says so: a MODULE:OBJECT must be named by the user.
    """
    if model is None and not is_folder(refutation.source):
        source = refutation.source[:80]
        raise OptionError(f"there is no folder '{source}' here; say with --model which model it is about")
    return load_model(model or refutation.source, len(refutation.restriction.allowed))


def _validated(found: object, source: str, length: int | None) -> HardModel:
    missing = [part for part in PARTS if not hasattr(found, part)]
    if missing or isinstance(found, type):
        raise OptionError(
            f"'{source}' is no hard-attention model, as it has no '{(*missing, 'instance')[0]}'; "
            "see 'attemper.hard_models.protocol.HardModel'"
        )
    model = cast(HardModel, found)
    if type(model.length) is not int or model.length < 1 or len(set(model.symbols)) < len(model.symbols):
        raise OptionError(f"'{source}' must have a length from 1 on, and symbols that differ")
    if model.ending is not None and model.ending not in model.symbols:
        raise OptionError(f"the end marker of '{source}' is not one of its symbols")
    if length is not None and model.length != length:
        raise OptionError(f"'{source}' is a model for n = {model.length}, not for n = {length}")
    return model


def is_folder(source: str) -> bool:
    """Whether it names a folder, whatever else it may be."""
    try:
        return Path(source).is_dir()
    except (OSError, ValueError):
        return False


def _imported(module: str, name: str) -> object:
    here = str(Path.cwd())
    if here not in sys.path:
        sys.path.insert(0, here)
    try:
        found = importlib.import_module(module)
    except MemoryError:
        raise
    except Exception as error:  # whatever the user's module does when it is run
        reason = f"{type(error).__name__}: {error}"
        raise OptionError(f"the module '{module}' cannot be imported: {reason}") from error
    if not hasattr(found, name):
        raise OptionError(f"the module '{module}' has no '{name}'")
    return getattr(found, name)
