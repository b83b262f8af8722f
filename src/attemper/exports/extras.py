"""Libraries that only some exports need: imported where they are used, or missed with the extra's name."""

from __future__ import annotations

from importlib import import_module
from types import ModuleType

from attemper.errors import OptionError


def library(name: str, extra: str) -> ModuleType:
    """The module of that name. Raises `OptionError`, naming the extra that brings it, if it is missing.

    >>> library("json", "onnx").__name__
    'json'
    """
    try:
        return import_module(name)
    except ModuleNotFoundError as error:
        if error.name is None or error.name.partition(".")[0] != name.partition(".")[0]:
            raise
        raise OptionError(
            f"{name} is not installed, which this needs: pip install 'attemper[{extra}]'"
        ) from None
