"""Layers without hidden units, or without heads, in ONNX Runtime, which is particular about empty tensors."""

from __future__ import annotations

from pathlib import Path

import pytest
import torch

from tests.exports.runs_hf import run_onnx
from tests.support.drawn.empty_layers import BUILDS, subject_of
from tests.support.drawn.exported import difference, rounding_of_means, words_for

pytestmark = pytest.mark.exports


@pytest.mark.parametrize("dtype", [torch.float64, torch.float32], ids=str)
@pytest.mark.parametrize("name", BUILDS)
def test_the_runtime_puts_out_what_the_dense_module_does(
    name: str, dtype: torch.dtype, tmp_path: Path
) -> None:
    subject = subject_of(name)
    run = run_onnx(subject, dtype, tmp_path / "x")
    found = difference(subject.network, run, dtype, words_for(subject.network, 4, (7, 60)))
    assert found.outputs <= rounding_of_means(60, torch.finfo(dtype).eps / 2)
    assert found.margins == 0
