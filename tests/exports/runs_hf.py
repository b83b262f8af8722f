"""Networks as exported to Hugging Face, ONNX and .pt2, read from there again: tokens and mask to outputs."""

from __future__ import annotations

from pathlib import Path

import torch
from torch import Tensor

from attemper.exports.exported_program import write_exported_program
from attemper.exports.onnx import write_onnx
from attemper.exports.subject import Subject
from tests.support.exported import RunExport


def _name(dtype: torch.dtype) -> str:
    return str(dtype).removeprefix("torch.")


def run_hugging_face(subject: Subject, dtype: torch.dtype, folder: Path) -> RunExport:
    """The network inside the model that Auto classes load; of one that puts out numbers, which no such model
    does, the tensors that the folder would hold, in its form.
    """
    from transformers import AutoModelForTokenClassification

    from attemper.exports.hugging_face.writing import write_hugging_face

    if subject.network.measure is not None:
        return subject.traceable(dtype)
    write_hugging_face(subject, folder, _name(dtype))
    model = AutoModelForTokenClassification.from_pretrained(folder)
    assert model.dtype is dtype

    def run(tokens: Tensor, mask: Tensor) -> tuple[Tensor, Tensor | None]:
        outputs, margins = model.network(tokens, mask)
        return outputs, margins

    return run


def run_exported_program(subject: Subject, dtype: torch.dtype, folder: Path) -> RunExport:
    """The program in a .pt2 file."""
    path = folder.with_suffix(".pt2")
    write_exported_program(subject, path, _name(dtype))
    module: RunExport = torch.export.load(path).module()
    return module


def run_onnx(subject: Subject, dtype: torch.dtype, folder: Path) -> RunExport:
    """The model in an ONNX file, as ONNX Runtime runs it on a CPU."""
    from onnxruntime import InferenceSession

    path = folder.with_suffix(".onnx")
    write_onnx(subject, path, _name(dtype))
    session = InferenceSession(path, providers=["CPUExecutionProvider"])

    def run(tokens: Tensor, mask: Tensor) -> tuple[Tensor, Tensor | None]:
        outputs, margins = session.run(None, {"tokens": tokens.numpy(), "mask": mask.numpy()})
        assert outputs.dtype == _name(dtype)
        return torch.from_numpy(outputs), torch.from_numpy(margins)

    return run
