"""Find the model that a user names: a folder's network, or an object of a Python module."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any, cast

from attemper.errors import OptionError
from attemper.models.hard.networks import NetworkModel
from attemper.models.hard.protocol import HardModel
from attemper.modules import ModuleError, blaming, imported, not_bare, place_of
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

    The object is a model, or a function from the length n to one. Raises `OptionError` where nothing has that
    name or the length is missing, `ModuleError` where the module raises an error or the object is no model,
    and what loading a folder raises.
    """
    if is_folder(source):
        if length is None:
            raise OptionError(
                "a network works at every length: say which one, as in length=30", options=("length",)
            )
        network, text = load_network(Path(source))
        return NetworkModel(network, length, digest_of(network, text))
    found = imported(source)
    if callable(found) and not isinstance(found, type) and not hasattr(found, "scores"):
        if length is None:
            raise OptionError(
                f"'{source}' is a function of the length: say which one, as in length=30", options=("length",)
            )
        made_by = found
        with blaming(source, wholly=True):
            found = made_by(length)
        if found is None:
            file, line = place_of(made_by)
            raise ModuleError(f"'{source}' returned None: does it end with a return?", file=file, line=line)
        not_bare(found, source)
    with blaming(source, wholly=True):
        return _validated(found, source, length)


def _validated(found: object, source: str, length: int | None) -> HardModel:
    missing = [part for part in PARTS if not hasattr(found, part)]
    if missing or isinstance(found, type):
        raise ModuleError(
            f"'{source}' is no hard-attention model, as it has no '{(*missing, 'instance')[0]}'; a model has "
            f"{', '.join(PARTS)}: see docs/refutation.md"
        )
    model = cast(HardModel, found)
    complaint = next(_complaints(model), None)
    if complaint is not None:
        raise ModuleError(f"'{source}' must have {complaint}")
    if length is not None and model.length != length:
        raise OptionError(f"'{source}' is a model for n = {model.length}, not for n = {length}")
    return model


def _complaints(model: HardModel) -> Iterator[str]:
    """What the model's attributes should be, and are not."""
    if type(model.length) is not int or model.length < 1:
        yield "a length that is an integer from 1 on"
    symbols: Any = model.symbols
    if not isinstance(symbols, tuple) or not all(isinstance(symbol, str) for symbol in symbols):
        yield 'symbols that are a tuple of texts, such as ("0", "1", "$")'
    elif len(set(symbols)) < len(symbols):
        yield "symbols that differ"
    elif model.ending is not None and model.ending not in symbols:
        yield "an ending that is one of its symbols, or None"
    heads: Any = model.heads
    if not isinstance(heads, tuple) or not all(type(count) is int and count >= 0 for count in heads):
        yield "heads that are a tuple of integers, one for each layer, such as (1, 2)"
    texts: Any = (model.digest, model.semantics)
    if not all(isinstance(text, str) for text in texts):
        yield "a digest and semantics that are texts"


def is_folder(source: str) -> bool:
    """Whether it names a folder, whatever else it may be."""
    try:
        return Path(source).is_dir()
    except (OSError, ValueError):
        return False
