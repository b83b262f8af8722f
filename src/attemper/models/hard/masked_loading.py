"""Find the masked model that a user names: an object of a Python module, or a folder's network."""

from __future__ import annotations

from pathlib import Path
from typing import cast

from attemper.models.hard.loading import PARTS, is_folder
from attemper.models.hard.masked import MaskedModel
from attemper.models.hard.masked_arrays import MaskedEncoder, MaskedHardModel
from attemper.models.hard.masked_networks import MaskedNetwork
from attemper.models.hard.masked_wellformed import complaints
from attemper.models.hard.protocol import HardModel
from attemper.models.soft.weights import Encoder
from attemper.modules import ModuleError, blaming, imported, not_bare, place_of
from attemper.networks.files import load as load_network
from attemper.networks.layers import Network


def load_masked(source: str) -> MaskedModel:
    """A folder's network with hard weights, or an object of a Python module (MODULE:OBJECT).

    The object is a `MaskedModel`, a `HardModel` without positions, an encoder that was read, a `Network`, or
    a function without arguments that gives one of these. Raises `OptionError` where nothing has that name,
    `ModuleError` where the module raises an error or the object is no model, `UnsupportedError` for a model
    that is not of this kind, and what loading a folder raises.

    >>> load_masked("attemper.models.hard.masked_examples:Alternating").places
    (0, 1)
    """
    if is_folder(source):
        network, _ = load_network(Path(source))
        return MaskedNetwork(network)
    found = imported(source)
    if callable(found) and (isinstance(found, type) or not hasattr(found, "scores")):
        made_by = found
        with blaming(source, wholly=True):
            found = made_by()
        if found is None:
            file, line = place_of(made_by)
            raise ModuleError(f"'{source}' returned None: does it end with a return?", file=file, line=line)
        not_bare(found, source)
    with blaming(source, wholly=True):
        return as_masked(found, source)


def as_masked(found: object, source: str) -> MaskedModel:
    """An object of any of these kinds as a masked model; `source` is its name in errors.

    Raises `ModuleError` for anything else, and `UnsupportedError` for what is not of this kind.

    >>> from attemper.models.hard.masked_examples import Alternating
    >>> as_masked(Alternating(), "").places
    (0, 1)
    """
    match found:
        case MaskedNetwork() | MaskedHardModel() | MaskedEncoder():
            return found
        case Network():
            return MaskedNetwork(found)
        case Encoder():
            return MaskedEncoder(found)
    if hasattr(found, "scores") and hasattr(found, "length") and not hasattr(found, "places"):
        return MaskedHardModel(_hard(found, source))
    complaint = next(complaints(found), None)
    if complaint is not None or isinstance(found, type):
        said = complaint or "no instance"
        raise ModuleError(f"'{source}' is no masked model: it has {said}")
    return cast(MaskedModel, found)


def _hard(found: object, source: str) -> HardModel:
    """The object, if it has every part of a `HardModel`."""
    missing = next((part for part in PARTS if not hasattr(found, part)), None)
    if missing is not None:
        raise ModuleError(f"'{source}' is no hard-attention model, as it has no '{missing}'")
    return cast(HardModel, found)
