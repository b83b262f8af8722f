"""Networks as modules of TransformerLens: `load` makes one of a folder."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from attemper.exports.extras import library

if TYPE_CHECKING:
    from attemper.exports.transformer_lens.hooked_module import LensTransformer


def load(folder: str | Path, dtype: str | None = None) -> LensTransformer:
    """The network in a folder as a `HookedRootModule` of TransformerLens.

    The folder is one of `attemper export DIR transformer-lens`, of `attemper compile` or of
    `attemper soften`.
    `dtype` is float64 or float32; without one it is what the export says, else float64. The module is in
    evaluation mode. Raises
    `MalformedFileError` (folder), `OptionError` (dtype, or transformer-lens is not installed).
    """
    library("transformer_lens", "transformer-lens")
    from attemper.exports.transformer_lens.hooked_module import LensTransformer
    from attemper.exports.transformer_lens.writing import settings_in

    named, uniform_heads = settings_in(Path(folder))
    return LensTransformer.of_folder(Path(folder), dtype or named, uniform_heads=uniform_heads)


__all__ = ["load"]
