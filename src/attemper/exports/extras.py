"""Libraries that only some exports need: imported where they are used, or missed with the extra's name."""

from __future__ import annotations

from importlib import import_module
from types import ModuleType

from attemper.missing import library_needed


def library(name: str, extra: str) -> ModuleType:
    """The module of that name. Raises `OptionError`, naming the extra that brings it, if it is missing.

    >>> library("json", "onnx").__name__
    'json'
    """
    with library_needed(name.partition(".")[0], extra, "this"):
        return import_module(name)
