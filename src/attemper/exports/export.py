"""One door to all exports: which file of this room writes which kind."""

from __future__ import annotations

from pathlib import Path
from typing import assert_never

from attemper.errors import OptionError
from attemper.exports.kinds import ExportTarget
from attemper.exports.places import require_place
from attemper.exports.subject import Exported
from attemper.missing import torch_needed


def export(
    subject: Exported,
    kind: ExportTarget,
    path: Path,
    *,
    dtype: str = "float64",
    positions: int | None = None,
    uniform_heads: bool = False,
    force: bool = False,
) -> None:
    """Write the subject as that kind, to a file or a folder; what it wrote there before is replaced.

    Raises `OptionError` for an option that the kind does not have, or an extra that is not installed;
    `UnsupportedError` for a network that the kind cannot hold; `MalformedFileError` if writing fails, and
    where something else stands (`require_place`), which `force` allows in a folder.
    """
    require_place(kind, path, force=force)
    if positions is not None and kind is not ExportTarget.GPT2:
        raise OptionError(
            f"positions is for gpt2 alone, whose table of positions ends: {kind} reads every length"
        )
    if uniform_heads and kind is not ExportTarget.TRANSFORMER_LENS:
        raise OptionError(f"uniform heads are for transformer-lens alone: leave them out for {kind}")
    with torch_needed(f"the export {kind}", kind.extra):
        _write(subject, kind, path, dtype, positions, uniform_heads=uniform_heads)


def _write(
    subject: Exported,
    kind: ExportTarget,
    path: Path,
    dtype: str,
    positions: int | None,
    *,
    uniform_heads: bool,
) -> None:
    match kind:
        case ExportTarget.HUGGING_FACE:
            from attemper.exports.hugging_face.writing import write_hugging_face

            write_hugging_face(subject, path, dtype)
        case ExportTarget.GPT2:
            from attemper.exports.gpt2.writing import write_gpt2

            if positions is None:
                raise OptionError("gpt2 needs positions, the greatest length of words: for example 512")
            write_gpt2(subject, path, dtype, positions)
        case ExportTarget.TRANSFORMER_LENS:
            from attemper.exports.transformer_lens.writing import write_transformer_lens

            write_transformer_lens(subject, path, dtype, uniform_heads=uniform_heads)
        case ExportTarget.ONNX:
            from attemper.exports.onnx import write_onnx

            write_onnx(subject, path, dtype)
        case ExportTarget.TORCH:
            from attemper.exports.exported_program import write_exported_program

            write_exported_program(subject, path, dtype)
        case ExportTarget.CIRCUIT:
            from attemper.exports.circuit import write_circuit

            write_circuit(subject, path)
        case ExportTarget.COQ:
            from attemper.exports.coq.writing import write_coq

            write_coq(subject, path)
        case _:
            assert_never(kind)
