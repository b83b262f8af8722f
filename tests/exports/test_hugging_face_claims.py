"""What a card and a model claim: horizons by format, none where the model is not what was proved."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import torch

from attemper import Model
from attemper.errors import MalformedFileError
from attemper.exports.remarks import KERNEL
from attemper.exports.restoring import read_hugging_face
from attemper.exports.subject import Exported
from tests.support.drawn.exported import MODELS

pytestmark = pytest.mark.exports


FORMATS = ("float64", "float32", "bfloat16")


def loaded(auto: Any, folder: Path, dtype: torch.dtype = torch.float64) -> Any:
    return auto.AutoModelForTokenClassification.from_pretrained(folder, dtype=dtype)


def claimed(model: Model) -> dict[str, int]:
    """The horizons of the certificate for the arithmetic of exports, by format."""
    horizons = Exported(model.network, model.source, model.certify()).horizons()
    return {dtype: kernels[KERNEL] for dtype, kernels in horizons.items() if KERNEL in kernels}


@pytest.mark.parametrize("dtype", FORMATS)
@pytest.mark.parametrize("name", ["since", "lookup"])
def test_a_model_has_the_horizon_of_the_format_that_it_is_loaded_in(
    name: str, dtype: str, auto: Any, exported: Any
) -> None:
    model, folder = exported[name]
    own = loaded(auto, folder, getattr(torch, dtype))
    assert own.dtype is getattr(torch, dtype)
    assert own.config.horizons == claimed(model)
    assert own.horizon == claimed(model)[dtype] > 0
    card = (folder / "README.md").read_text(encoding="utf-8")
    assert f"| {dtype} | {claimed(model)[dtype]:,} |" in card
    assert "`model.horizon`" in card
    assert model.digest in card


@pytest.mark.parametrize("name", [name for name, one in MODELS.items() if one().network.measure is None])
def test_every_model_that_is_loaded_as_it_was_exported_has_the_horizon(
    name: str, auto: Any, exported: Any
) -> None:
    model, folder = exported[name]
    assert loaded(auto, folder).horizon == claimed(model)["float64"]


def test_a_model_that_is_converted_has_the_horizon_of_what_it_then_is(auto: Any, exported: Any) -> None:
    """The configuration still names the format in which it was loaded."""
    model, folder = exported["lookup"]
    own, horizons = loaded(auto, folder), claimed(model)
    assert len({horizons[dtype] for dtype in FORMATS}) == len(FORMATS)
    for convert, dtype in (
        (own.bfloat16, "bfloat16"),
        (own.float, "float32"),
        (own.double, "float64"),
        (lambda: own.to(torch.bfloat16), "bfloat16"),
    ):
        convert()
        assert own.horizon == horizons[dtype]
    assert own.half().horizon is None
    assert own.config.dtype is torch.float64


def test_weights_in_two_formats_have_no_horizon(auto: Any, exported: Any) -> None:
    _, folder = exported["lookup"]
    own = loaded(auto, folder)
    own.network.blocks[0].attn.float()
    assert own.horizon is None


@pytest.mark.parametrize("dtype", [torch.bfloat16, torch.float16])
def test_autocast_has_no_horizon(dtype: torch.dtype, auto: Any, exported: Any) -> None:
    """It computes products in another format than that of the weights."""
    model, folder = exported["lookup"]
    own = loaded(auto, folder, torch.float32)
    with torch.autocast("cpu", dtype=dtype):
        assert own.horizon is None
        with torch.autocast("cpu", enabled=False):
            assert own.horizon == claimed(model)["float32"]
    assert own.horizon == claimed(model)["float32"]


def test_changed_weights_have_no_horizon(auto: Any, exported: Any) -> None:
    model, folder = exported["since"]
    own = loaded(auto, folder)
    with torch.no_grad():
        weight = own.network.get_parameter("embed.W_E")
        weight[0, 0] += 1
        assert own.horizon is None
        weight[0, 0] -= 1
    assert own.horizon == claimed(model)["float64"]
    without = auto.AutoModelForTokenClassification.from_config(own.config)
    assert without.horizon is None  # weights that no file has given
    assert own.to("meta").horizon is None


def test_weights_that_a_format_rounded_have_no_horizon_in_a_wider_one(auto: Any, exported: Any) -> None:
    """Nobody can tell them from changed ones, and float64's claim is about others."""
    model, folder = exported["layer norm"]
    assert claimed(model)["float32"] > 0
    own = loaded(auto, folder)
    assert own.horizon == claimed(model)["float64"]
    assert own.float().horizon is None
    assert own.double().horizon is None


def test_a_certificate_of_another_network_claims_nothing(auto: Any, exported: Any) -> None:
    _, folder = exported["since"]
    _, other = exported["until"]
    own = loaded(auto, folder)
    own.config.certificate = auto.AutoConfig.from_pretrained(other).certificate
    assert own.config.horizons == {}
    assert own.horizon is None


@pytest.mark.parametrize("entry", ["reads_first", "output", "accepts_empty"])
def test_a_structure_that_was_changed_has_no_horizon(entry: str, auto: Any, exported: Any) -> None:
    _, folder = exported["since"]
    own = loaded(auto, folder)
    assert own.horizon is not None
    own.config.network[entry] = not own.config.network[entry]
    assert own.config.horizons == {}
    assert own.horizon is None


@pytest.mark.parametrize("precision", ["high", "medium"])
def test_float32_that_is_multiplied_in_a_narrower_format_has_no_horizon(
    precision: str, auto: Any, exported: Any
) -> None:
    _, folder = exported["since"]
    narrow, wide = loaded(auto, folder, torch.float32), loaded(auto, folder)
    before = torch.get_float32_matmul_precision()
    torch.set_float32_matmul_precision(precision)
    try:
        assert narrow.horizon is None
        assert wide.horizon is not None
    finally:
        torch.set_float32_matmul_precision(before)
    assert narrow.horizon is not None


def test_a_network_without_a_certificate_claims_nothing(auto: Any, tmp_path: Path) -> None:
    model = MODELS["since"]()
    model.export("hugging-face", tmp_path)
    assert auto.AutoConfig.from_pretrained(tmp_path).horizons == {}
    assert loaded(auto, tmp_path).horizon is None
    assert "nothing is claimed" in (tmp_path / "README.md").read_text(encoding="utf-8")


def test_a_card_says_that_rounded_weights_cannot_be_checked(auto: Any, tmp_path: Path) -> None:
    model = MODELS["layer norm"]()
    model.export("hugging-face", tmp_path, dtype="float32", certificate=model.certify())
    card = (tmp_path / "README.md").read_text(encoding="utf-8")
    assert "cannot be checked" in card
    assert "attemper check" not in card
    with pytest.raises(MalformedFileError, match="in float64"):
        read_hugging_face(tmp_path)
