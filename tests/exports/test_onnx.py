"""Networks as ONNX files in ONNX Runtime: shapes, metadata, operations, and what is refused."""

from __future__ import annotations

import json
import sys
from collections import Counter
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest
import torch
from torch import nn

import attemper
from attemper.errors import MalformedFileError, OptionError, UnsupportedError
from attemper.exact.closed_forms import I, Number, Power, Product, Sum
from attemper.exports import onnx as writing
from attemper.exports.remarks import as_texts, remarks_of
from attemper.exports.subject import Exported
from attemper.running.closed_form_tensors import form_values
from attemper.running.traceable.labels import UNDECIDED, labels_of
from tests.exports.runs_hf import run_onnx
from tests.support.drawn.exported import MODELS, padded, words_for

pytestmark = pytest.mark.exports

EVERY_OPERATION = ("since", "both sides counted", "layer norm", "rms norm", "strict", "even length")
FORMATS = {"float64": torch.float64, "float32": torch.float32}

DEPENDING_ON_DATA = {"If", "Loop", "Scan", "NonZero", "Unique", "Compress", "Dropout", "RandomNormal"}
OF_ANOTHER_CLASS = {
    "Softmax",
    "LogSoftmax",
    "LayerNormalization",
    "RMSNormalization",
    "Gemm",
    "Pow",
    "Attention",
}
"""Normalise first, keep eps in float32, add a bias inside a sum, or are not exact for integers."""

MOVING = {"Transpose", "Split", "Squeeze", "Unsqueeze", "Gather", "GatherND", "Reshape", "Concat", "Slice"}
"""Operations that compute nothing."""


@pytest.fixture(scope="module")
def files(tmp_path_factory: pytest.TempPathFactory) -> dict[tuple[str, str], Path]:
    """The file of each network in each format, written when it is first asked for."""

    class Files(dict[tuple[str, str], Path]):
        def __missing__(self, key: tuple[str, str]) -> Path:
            self[key] = tmp_path_factory.mktemp("onnx") / "x.onnx"
            model = MODELS[key[0]]()
            writing.write_onnx(Exported(model.network, model.source, model.certify()), self[key], key[1])
            return self[key]

    return Files()


def session_of(path: Path, optimised: Path | None = None) -> Any:
    """The runtime's session on a CPU, and the graph that it makes of the file."""
    import onnxruntime

    options = onnxruntime.SessionOptions()
    options.log_severity_level = 3  # it warns that an optimised graph is for this machine
    if optimised is not None:
        options.optimized_model_filepath = str(optimised)
    return onnxruntime.InferenceSession(path, options, providers=["CPUExecutionProvider"])


@pytest.mark.parametrize("dtype", FORMATS)
@pytest.mark.parametrize("name", ["since", "layer norm"])
def test_batch_and_length_are_free(name: str, dtype: str, files: Any) -> None:
    model, session = MODELS[name](), session_of(files[name, dtype])
    module = Exported(model.network, model.source).traceable(FORMATS[dtype])
    words = words_for(model.network, 3, (1, 17, 777))
    for batch in ([words[0]], words[:1] * 3, words[-2:], words):
        for left in (False, True):
            tokens, mask = padded(model.network, batch, left=left)
            outputs, margins = session.run(None, {"tokens": tokens.numpy(), "mask": mask.numpy()})
            own, _ = module(tokens, mask)
            assert (outputs.dtype, margins.dtype) == (dtype, "float64")
            assert torch.equal(torch.from_numpy(outputs)[mask.bool()], own[mask.bool()])
            assert (margins > 0).all()


def test_rows_without_symbols_are_finite(files: Any) -> None:
    session = session_of(files["since", "float32"])
    tokens, mask = torch.tensor([[9, 9, 9], [1, 0, 9]]), torch.tensor([[0, 0, 0], [1, 1, 0]])
    outputs, margins = session.run(None, {"tokens": tokens.numpy(), "mask": mask.numpy()})
    assert torch.from_numpy(outputs).isfinite().all()
    assert margins[0] == float("inf")
    assert outputs[1, :2].tolist() == [1, 1]


@pytest.mark.parametrize("name", ["since", "layer norm"])
def test_what_is_no_number_stays_none(name: str, tmp_path: Path) -> None:
    """A weight that is no number is seen: neither a maximum nor a comparison hides it."""
    import onnx
    from onnx import numpy_helper

    model = MODELS[name]()
    path = tmp_path / "x.onnx"
    writing.write_onnx(Exported(model.network, model.source), path, "float64")
    file = onnx.load(path)
    (place,) = (k for k, one in enumerate(file.graph.initializer) if one.name == "blocks.0.mlp.b_in")
    broken = numpy_helper.to_array(file.graph.initializer[place]) * float("nan")
    file.graph.initializer[place].CopyFrom(numpy_helper.from_array(broken, "blocks.0.mlp.b_in"))
    onnx.save(file, path)
    outputs, margins = session_of(path).run(None, {"tokens": [[1, 0], [0, 0]], "mask": [[1, 1], [1, 0]]})
    assert (labels_of(*map(torch.from_numpy, (outputs, margins))) == UNDECIDED).all()


def test_the_file_says_what_is_in_it_and_how_it_is_read(files: Any) -> None:
    import onnx

    model = MODELS["since"]()
    said = as_texts(remarks_of(Exported(model.network, model.source, model.certify()), "float32"))
    session = session_of(files["since", "float32"])
    assert session.get_modelmeta().custom_metadata_map == said
    assert json.loads(said["alphabet"]) == ["a", "b", "c"]
    assert (said["digest"], said["read_at"], said["kernel"]) == (model.digest, "last", "numerator-first")
    axes = {one.name: one.shape for one in [*session.get_inputs(), *session.get_outputs()]}
    plane = ["batch", "position"]
    assert axes == {"tokens": plane, "mask": plane, "outputs": plane, "margins": ["batch"]}
    content = files["since", "float32"].read_bytes()
    assert str(Path(attemper.__file__).parents[2]).encode() not in content
    assert b"site-packages" not in content
    onnx.checker.check_model(onnx.load(files["since", "float32"]), full_check=True)


@pytest.mark.parametrize("dtype", FORMATS)
@pytest.mark.parametrize("name", EVERY_OPERATION)
def test_the_runtime_leaves_the_class_as_it_is(name: str, dtype: str, files: Any, tmp_path: Path) -> None:
    """All its optimisations move numbers and fold negations, and nothing that rounds otherwise.

    A product with a transposed matrix is the same sum of products; a choice after a negation is the other
    choice. No product gets a bias, no softmax is made of its parts, and no normalisation of ours is replaced.
    """
    import onnx

    session_of(files[name, dtype], tmp_path / "optimised.onnx")
    before, after = (onnx.load(path).graph for path in (files[name, dtype], tmp_path / "optimised.onnx"))
    kinds, left = Counter(node.op_type for node in before.node), Counter(node.op_type for node in after.node)
    assert not (set(kinds) | set(left)) & (DEPENDING_ON_DATA | OF_ANOTHER_CLASS)
    assert set(left - kinds) <= {"FusedMatMul", *MOVING}
    assert set(kinds - left) <= {"MatMul", "Not", "Cast", "Identity", *MOVING}
    assert left["MatMul"] + left["FusedMatMul"] == kinds["MatMul"]
    for node in after.node:
        if node.op_type == "FusedMatMul":
            assert {one.name: one.f for one in node.attribute if one.name == "alpha"} == {"alpha": 1.0}


@pytest.mark.parametrize("name", EVERY_OPERATION)
def test_numbers_of_float64_are_nowhere_in_float32(name: str, files: Any) -> None:
    import onnx

    graph = onnx.load(files[name, "float64"]).graph
    double = onnx.TensorProto.DOUBLE
    assert {one.data_type for one in graph.initializer} <= {
        double,
        onnx.TensorProto.INT64,
        onnx.TensorProto.BOOL,
    }
    casts = [one.i for node in graph.node if node.op_type == "Cast" for one in node.attribute]
    assert onnx.TensorProto.FLOAT not in casts


class Form(nn.Module):
    """A closed form as a module of positions and lengths."""

    def __init__(self, form: Any) -> None:
        super().__init__()
        self.form = form

    def forward(self, i: torch.Tensor, n: torch.Tensor) -> torch.Tensor:
        return form_values(self.form, i, n)


@pytest.mark.parametrize(
    "form",
    [
        Number(Fraction(1, 3)),
        Sum((Number(Fraction(1, 3)), Product((Number(Fraction(-2, 7)), Power(I, -3))))),
        Product((Number(Fraction(10**9 + 7)), I, I)),
    ],
)
def test_constants_are_not_rounded_to_float32(form: Any) -> None:
    import onnxruntime

    i = torch.arange(1, 50)[None]
    n = torch.full_like(i, 49)
    with writing._in_silence():
        made: Any = torch.onnx.export(torch.export.export(Form(form), (i, n)), dynamo=True, verbose=False)
    session = onnxruntime.InferenceSession(
        made.model_proto.SerializeToString(), providers=["CPUExecutionProvider"]
    )
    given = dict(zip((one.name for one in session.get_inputs()), (i.numpy(), n.numpy()), strict=False))
    assert torch.equal(torch.from_numpy(session.run(None, given)[0]), form_values(form, i, n))


@pytest.mark.parametrize("name", ["layer norm", "rms norm"])
def test_normalised_margins_are_those_of_the_module_in_float64(name: str, files: Any) -> None:
    """eps in float32 would move them by 10^-8."""
    model, session = MODELS[name](), session_of(files[name, "float64"])
    module = Exported(model.network, model.source).traceable(torch.float64)
    tokens, mask = padded(model.network, words_for(model.network, 3, (30,)), left=True)
    _, margins = session.run(None, {"tokens": tokens.numpy(), "mask": mask.numpy()})
    torch.testing.assert_close(torch.from_numpy(margins), module(tokens, mask)[1], rtol=0, atol=1e-11)


def test_numbers_are_put_out_too(tmp_path: Path) -> None:
    model = MODELS["bigrams"]()
    subject = Exported(model.network, model.source)
    run = run_onnx(subject, torch.float64, tmp_path / "x")
    tokens, mask = padded(model.network, words_for(model.network, 4, ()), left=False)
    outputs, _ = run(tokens, mask)
    own, _ = subject.traceable(torch.float64)(tokens, mask)
    assert outputs.shape == (*tokens.shape, len(model.network.symbols))
    torch.testing.assert_close(outputs[mask.bool()], own[mask.bool()], rtol=0, atol=1e-15)


def test_more_weights_than_a_file_can_hold_are_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    model = MODELS["since"]()
    monkeypatch.setattr(writing, "MOST_BYTES", 1_000)
    with pytest.raises(UnsupportedError, match=r"more than 1,000, .*: export as torch"):
        model.export("onnx", tmp_path / "x.onnx")
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize("missing", ["onnx", "onnxscript"])
def test_a_missing_library_is_named_with_its_extra(
    missing: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, missing, None)
    said = rf"this needs {missing}: pip install 'attemper\[onnx\]'"
    with pytest.raises(OptionError, match=said):
        MODELS["since"]().export("onnx", tmp_path / "x.onnx")
    assert not list(tmp_path.iterdir())


def test_a_file_is_written_completely_or_not_at_all(tmp_path: Path) -> None:
    path = tmp_path / "x.onnx"
    path.write_bytes(b"before")
    with pytest.raises(UnsupportedError, match="'prime' is a Python function"):
        attemper.compile("prime(pos)", "ab").export("onnx", path)
    assert path.read_bytes() == b"before"
    with pytest.raises(MalformedFileError, match="cannot write"):
        MODELS["since"]().export("onnx", path / "y.onnx")
    MODELS["since"]().export("onnx", path)
    assert [one.name for one in tmp_path.iterdir()] == ["x.onnx"]
    assert path.read_bytes() != b"before"
