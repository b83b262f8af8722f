"""Find the encoder that a user names."""

from __future__ import annotations

from attemper.models.soft.weights import Encoder
from attemper.models.soft.wellformed import complaints
from attemper.modules import ModuleError, blaming, imported, not_bare, place_of


def load_encoder(source: str) -> Encoder:
    """The encoder that MODULE:OBJECT names: an `Encoder`, or a function without arguments that gives one.

    Raises `OptionError` where nothing has that name, and `ModuleError` where the module raises an error or
    the object is no encoder.
    """
    found = imported(source)
    if not isinstance(found, Encoder) and callable(found):
        made_by = found
        with blaming(source, wholly=True):
            found = not_bare(made_by(), source)
        if not isinstance(found, Encoder):
            file, line = place_of(made_by)
            raise ModuleError(_complaint(source, found), file=file, line=line)
    if not isinstance(found, Encoder):
        raise ModuleError(_complaint(source, found))
    for complaint in complaints(found):
        raise ModuleError(f"'{source}' is no encoder to say anything about: {complaint}")
    return found


def _complaint(source: str, found: object) -> str:
    return (
        f"'{source}' is of the type {type(found).__name__}, not an encoder: see docs/limits.md, and use "
        "attemper.models.soft.reading.read_weights"
    )
