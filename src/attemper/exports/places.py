"""Where an export may write: nothing is replaced that no export of its kind has written."""

from __future__ import annotations

import os
from functools import partial
from pathlib import Path
from typing import assert_never

from attemper.errors import MalformedFileError
from attemper.exports.hugging_face_files import CONFIG, MODEL_TYPE
from attemper.exports.kinds import NETWORK, ExportTarget
from attemper.exports.transformer_lens.writing import MARK
from attemper.files import CERTIFICATE, parse_json, read_bytes
from attemper.networks.files import STRUCTURE, WEIGHTS
from attemper.writing import require_own

OF_NETWORKS = (STRUCTURE, WEIGHTS, CERTIFICATE)
"""The files of a network's folder: exports are read from them, and never written over them."""


def require_place(kind: ExportTarget, path: Path, *, force: bool = False) -> None:
    """Refuse a place where something stands that is no export of this kind.

    A file is refused where a folder stands, and under the name of a network's file; a folder where a file
    stands, and where other files are than those of an export, but for hidden ones; these may stand there with
    `force`. Raises `MalformedFileError`.

    >>> require_place(ExportTarget.CIRCUIT, Path("network.json"))
    Traceback (most recent call last):
    ...
    attemper.errors.MalformedFileError: 'network.json' is a name that a network's own file has: name another
    """
    if kind.is_file:
        _require_file_place(kind, path)
        return
    if path.is_file():
        raise MalformedFileError(f"'{path}' is a file, and {kind} writes a folder: name another place")
    require_own(path, f"those of an export as {kind}", partial(_is_export, kind), force=force)


def _require_file_place(kind: ExportTarget, path: Path) -> None:
    if path.is_dir():
        raise MalformedFileError(f"'{path}' is a folder, and {kind} writes a file: name one in it")
    # A link stands for what it names.
    if {path.name, Path(os.path.realpath(path)).name} & set(OF_NETWORKS):
        raise MalformedFileError(f"'{path}' is a name that a network's own file has: name another")


def _is_export(kind: ExportTarget, folder: Path) -> bool:
    """Whether the folder has what only an export of this kind writes."""
    match kind:
        case ExportTarget.HUGGING_FACE:
            return _model_type(folder / CONFIG) == MODEL_TYPE
        case ExportTarget.GPT2:
            return _model_type(folder / CONFIG) == "gpt2" and (folder / NETWORK / STRUCTURE).is_file()
        case ExportTarget.TRANSFORMER_LENS:
            return (folder / MARK).is_file()
        case ExportTarget.ONNX | ExportTarget.TORCH | ExportTarget.CIRCUIT | ExportTarget.COQ:
            return False
        case _:
            assert_never(kind)


def _model_type(path: Path) -> object:
    """What a configuration says that it configures; None of what is no configuration."""
    try:
        entry = parse_json(read_bytes(path, ""))
    except (MalformedFileError, ValueError, RecursionError):
        return None
    return entry.get("model_type") if isinstance(entry, dict) else None
