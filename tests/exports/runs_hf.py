"""Networks as exported to Hugging Face, ONNX and .pt2, read from there again: tokens and mask to outputs."""

from __future__ import annotations

from pathlib import Path

import torch
from torch import Tensor

from attemper.exports.exported_program import write_exported_program
from attemper.exports.onnx import write_onnx
from attemper.exports.subject import Exported
from attemper.running.traceable.labels import labels_of
from tests.support.drawn.exported import RunExport


def _name(dtype: torch.dtype) -> str:
    return str(dtype).removeprefix("torch.")


def run_hugging_face(subject: Exported, dtype: torch.dtype, folder: Path) -> RunExport:
    """The model that Auto classes load: what its network puts out in the model's own run, and no other.

    Its labels must be those that follow from these outputs, so that whoever compares outputs compares labels.
    Raises what `write_hugging_face` raises: `UnsupportedError` for a network that puts out numbers.
    """
    from transformers import AutoModelForTokenClassification

    from attemper.exports.hugging_face.looking import names_of
    from attemper.exports.hugging_face.writing import write_hugging_face

    write_hugging_face(subject, folder, _name(dtype))
    model = AutoModelForTokenClassification.from_pretrained(folder)
    assert model.dtype is dtype
    put_out: list[tuple[Tensor, Tensor]] = []
    model.network.register_forward_hook(lambda module, given, found: put_out.append(found))
    labels_in = names_of if subject.network.symbols else labels_of

    def run(tokens: Tensor, mask: Tensor) -> tuple[Tensor, Tensor]:
        put_out.clear()
        labels = model(input_ids=tokens, attention_mask=mask).logits.argmax(dim=-1)
        ((outputs, margins),) = put_out
        assert torch.equal(labels, labels_in(outputs, margins))
        return outputs, margins

    return run


def run_exported_program(subject: Exported, dtype: torch.dtype, folder: Path) -> RunExport:
    """The program in a .pt2 file."""
    path = folder.with_suffix(".pt2")
    write_exported_program(subject, path, _name(dtype))
    module: RunExport = torch.export.load(path).module()
    return module


def run_onnx(subject: Exported, dtype: torch.dtype, folder: Path) -> RunExport:
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
