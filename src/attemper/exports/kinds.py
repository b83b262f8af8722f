"""What a network can be exported as, and what each kind writes."""

from __future__ import annotations

from enum import StrEnum

FORMATS = ("float64", "float32")
"""The number formats that weights are exported in."""

NETWORK = "network"
"""Where a GPT-2's folder has the network itself, as attemper reads and checks it."""


class ExportTarget(StrEnum):
    """Where an exported network goes."""

    HUGGING_FACE = "hugging-face"
    """A folder that Auto classes of transformers load, after `import attemper.exports.hugging_face`."""
    GPT2 = "gpt2"
    """Folders of a stock GPT-2, for readers who do not have this package."""
    TRANSFORMER_LENS = "transformer-lens"
    """A folder that `attemper.exports.transformer_lens.load` reads as a HookedRootModule."""
    ONNX = "onnx"
    """A file for ONNX runtimes."""
    TORCH = "torch"
    """A file of `torch.export`, ending in .pt2."""
    CIRCUIT = "circuit"
    """A JSON file of the ground truth: which head reads and writes what."""
    COQ = "coq"
    """A theorem that Coq checks: the network computes its formula."""

    @property
    def extra(self) -> str:
        """The extra that brings all that is imported to write it."""
        if self in {ExportTarget.HUGGING_FACE, ExportTarget.GPT2}:
            return "hugging-face"
        return "onnx" if self is ExportTarget.ONNX else "torch"

    @property
    def is_file(self) -> bool:
        """Whether one file is written; else a folder."""
        return self in {ExportTarget.ONNX, ExportTarget.TORCH, ExportTarget.CIRCUIT, ExportTarget.COQ}
