"""A network as an ONNX file, for runtimes that have neither torch nor this package."""

from __future__ import annotations

import logging
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import torch

from attemper.errors import UnsupportedError
from attemper.exports.extras import library
from attemper.exports.remarks import as_texts, remarks_of
from attemper.exports.subject import Exported
from attemper.exports.tracing import AXES, INPUTS, OUTPUTS, exported_program
from attemper.networks.layers import parameter_count
from attemper.writing import write_together

MOST_BYTES = 2**31 - 2**24
"""The most bytes of weights: a protobuf message ends at 2^31, and some of it is the graph's."""


def write_onnx(subject: Exported, path: Path, dtype: str) -> None:
    """Write the model, completely or not at all; its metadata is what `remarks_of` says, as texts.

    Inputs are `tokens` and `mask`, int64 [batch, position]; outputs are `outputs`, [batch, position] or
    [batch, position, name] in the format of the weights, and `margins` [batch] in float64. Raises
    `OptionError` if onnx or onnxscript is missing, `UnsupportedError` for more weights than one file can hold
    and what `architecture_of` raises, `MalformedFileError` if the file cannot be written.
    """
    onnx: Any = library("onnx", "onnx")
    library("onnxscript", "onnx")
    size = parameter_count(subject.network) * getattr(torch, dtype).itemsize
    if size > MOST_BYTES:
        raise UnsupportedError(
            f"the weights have {size:,} bytes, more than {MOST_BYTES:,}, the most that an ONNX file can "
            "hold: export as torch"
        )
    program = exported_program(subject, dtype)
    with _in_silence():
        traced: Any = torch.onnx.export(
            program,
            dynamo=True,
            input_names=INPUTS,
            output_names=OUTPUTS,
            dynamic_shapes=AXES,
            verbose=False,
        )
    model = traced.model_proto
    onnx.helper.set_model_props(model, as_texts(remarks_of(subject, dtype)))
    onnx.checker.check_model(model)
    write_together({path: model.SerializeToString()})


@contextmanager
def _in_silence() -> Iterator[None]:
    """Without what torch's exporter says of its own parts: a deprecation, and that torchvision is absent."""
    registry = logging.getLogger("torch.onnx._internal.exporter._registration")
    level = registry.level
    registry.setLevel(logging.ERROR)
    try:
        with warnings.catch_warnings():
            warnings.filterwarnings("ignore", r".*treespec, LeafSpec", FutureWarning)
            yield
    finally:
        registry.setLevel(level)
