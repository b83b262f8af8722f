"""Weights that somebody changed are read as they are: the same function, exactly, as a network."""

from __future__ import annotations

import hashlib
import json
import random
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest
import safetensors.torch
import torch

from attemper.errors import MalformedFileError, UnsupportedError
from attemper.networks.edited import Edited
from attemper.networks.files import STRUCTURE, WEIGHTS, load_edited, with_weights
from attemper.networks.layers import Head, Network
from attemper.networks.meaning_soft import output_bits
from attemper.networks.safetensors import Tensor
from attemper.networks.weights import tensors_of
from attemper.running.dense import DenseTransformer
from attemper.workbench.compiling import compile as compile_formula
from attemper.workbench.model import Model
from tests.support.mutants.saved import change_structure, with_number

FORMULA = "#<[a] <= #<[b] & (a S b)"
"""Layer 0 has a head with no rows and one value, and one with two rows and one value."""


@pytest.fixture(scope="module")
def model() -> Model:
    return compile_formula(FORMULA, "ab")


@pytest.fixture
def folder(model: Model, tmp_path: Path) -> Path:
    model.save(tmp_path)
    return tmp_path


def stored(folder: Path) -> dict[str, torch.Tensor]:
    return safetensors.torch.load_file(folder / WEIGHTS)


def head_of(network: Network, layer: int, head: int) -> Head:
    return network.layers[layer].heads[head]


# What is free ------------------------------------------------------------------------------------------


@pytest.mark.parametrize("dtype", [torch.float64, torch.float32, torch.float16, torch.bfloat16], ids=str)
def test_what_the_safetensors_library_writes_is_read(dtype: torch.dtype, model: Model, folder: Path) -> None:
    """Every weight of this network is a number of every format: nothing changes."""
    tensors = {name: tensor.to(dtype) for name, tensor in stored(folder).items()}
    safetensors.torch.save_file(tensors, folder / WEIGHTS, metadata={"format": "pt"})
    structure, weights = (folder / STRUCTURE).read_bytes(), (folder / WEIGHTS).read_bytes()
    edited, digest = load_edited(folder)
    assert edited == Edited(model.network, "")
    plain = json.loads(structure)
    del plain["digest"]
    canonical = json.dumps(plain, sort_keys=True, separators=(",", ":")).encode()
    parts = b"".join(hashlib.sha256(part).digest() for part in (canonical, weights))
    assert digest == hashlib.sha256(parts).hexdigest()


def test_numbers_of_narrow_formats_are_read_exactly(folder: Path) -> None:
    tensors = stored(folder)
    drawn = torch.randn(tensors["embed.W_E"].shape, generator=torch.Generator().manual_seed(5))
    for dtype in (torch.float32, torch.float16, torch.bfloat16):
        changed = tensors | {"embed.W_E": drawn.to(dtype)}
        safetensors.torch.save_file(changed, folder / WEIGHTS)
        edited, _ = load_edited(folder)
        found = [
            [float(dict(row).get(c, 0)) for c in range(drawn.shape[1])] for row in edited.network.embedding
        ]
        assert found == drawn.to(dtype).double().tolist()


def test_other_formats_are_refused(folder: Path) -> None:
    tensors = {name: tensor.to(torch.int64) for name, tensor in stored(folder).items()}
    safetensors.torch.save_file(tensors, folder / WEIGHTS)
    with pytest.raises(MalformedFileError, match="is not a float64 tensor but I64"):
        load_edited(folder)


def test_the_digest_and_the_layout_of_the_structure_are_free(model: Model, folder: Path) -> None:
    structure = json.loads((folder / STRUCTURE).read_text(encoding="utf-8"))
    for digest in ({"digest": "0" * 64}, {}):
        kept = {name: value for name, value in structure.items() if name != "digest"}
        (folder / STRUCTURE).write_text(json.dumps({**digest, **kept}, sort_keys=True), encoding="utf-8")
        assert load_edited(folder)[0].network == model.network


def test_a_negative_zero_is_zero(model: Model, folder: Path) -> None:
    tensors = {name: torch.where(t == 0, -0.0, t) for name, t in stored(folder).items()}
    safetensors.torch.save_file(tensors, folder / WEIGHTS)
    assert load_edited(folder)[0] == Edited(model.network, "")


def test_a_clamp_that_is_none_any_more_is_dropped(model: Model) -> None:
    tensors = tensors_of(model.network)
    number, layer = next((n, own) for n, own in enumerate(model.network.layers) if own.clamps)
    broken, *kept = layer.clamps
    name = f"blocks.{number}.mlp.b_in"
    moved = with_number(tensors[name], broken[0], tensors[name].numbers[broken[0]] + 0.125)
    edited = with_weights(model.network, tensors | {name: moved})
    assert edited.network.layers[number].clamps == tuple(kept)
    assert edited.rounding == ""


def test_a_clamp_of_units_that_do_not_exist_is_refused(folder: Path) -> None:
    for clamp, said in (
        ([0, 999], "a clamp names a hidden unit that does not exist"),
        ([-1, 0], r"layers\[0\]\.clamps\[\d+\]\[0\]: expected an integer from 0, not -1"),
    ):
        change_structure(folder, lambda s, clamp=clamp: s["layers"][0]["clamps"].append(clamp))
        with pytest.raises(MalformedFileError, match=said):
            load_edited(folder)


# What is not free --------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("change", "fragment"),
    [
        (lambda t: t.pop("blocks.0.mlp.b_in"), "missing or unexpected tensors: blocks.0.mlp.b_in"),
        (lambda t: t.update(more=torch.zeros(1)), "missing or unexpected tensors: more"),
        (lambda t: t.update({"embed.W_E": t["embed.W_E"][:1]}), "'embed.W_E' has shape"),
        (lambda t: t["embed.W_E"].fill_(torch.inf), "'embed.W_E' has a number that is not finite"),
        (lambda t: t["blocks.0.attn.W_Q"][0].fill_(1), "'blocks.0.attn.W_Q': head 0 uses 0 of its rows"),
        (lambda t: t["blocks.0.attn.W_O"][1, 1].fill_(1), "'blocks.0.attn.W_O': head 1 uses 1 of its rows"),
    ],
)
def test_weights_that_the_structure_does_not_have_are_refused(
    change: Callable[[dict[str, torch.Tensor]], object], fragment: str, folder: Path
) -> None:
    tensors = stored(folder)
    change(tensors)
    safetensors.torch.save_file(tensors, folder / WEIGHTS)
    with pytest.raises(MalformedFileError) as caught:
        load_edited(folder)
    assert fragment in str(caught.value)


# Rows of W_O -------------------------------------------------------------------------------------------


OUTPUT = "blocks.0.attn.W_O"


def output_with_row(model: Model, head: int, row: dict[int, float]) -> Tensor:
    """Layer 0's W_O with another row for the only value of a head."""
    tensor = tensors_of(model.network)[OUTPUT]
    _, d_head, width = tensor.shape
    for coordinate in range(width):
        tensor = with_number(tensor, head * d_head * width + coordinate, row.get(coordinate, 0.0))
    return tensor


def with_output_row(model: Model, head: int, row: dict[int, float]) -> Edited:
    tensors = tensors_of(model.network)
    return with_weights(model.network, tensors | {OUTPUT: output_with_row(model, head, row)})


def test_a_head_whose_output_is_zero_has_no_values(model: Model) -> None:
    edited = with_output_row(model, 1, {})
    head = head_of(edited.network, 0, 1)
    assert (head.values, head.targets) == ((), ())
    assert edited.rounding == "layer 0, head 1 computes value 0 and writes it nowhere"
    others = head_of(model.network, 0, 1)
    assert replace(head, values=others.values, targets=others.targets) == others


def test_a_row_of_several_coordinates_is_one_value_for_each(model: Model) -> None:
    edited = with_output_row(model, 1, {2: 1.0, 5: -0.25})
    (value,) = head_of(model.network, 0, 1).values
    head = head_of(edited.network, 0, 1)
    assert head.targets == (2, 5)
    assert head.values == (value, tuple((c, -x / 4) for c, x in value))
    assert edited.rounding == ""


@pytest.mark.parametrize("factor", [2.0**3, -(2.0**3), 2.0**-10])
def test_small_powers_of_two_round_nothing(factor: float, model: Model) -> None:
    """Before 2^10 an average over 2^18 positions could be 2^-128, which may be flushed to 0."""
    assert not with_output_row(model, 0, {2: factor}).rounding


@pytest.mark.parametrize("factor", [3.0, 1.5, 0.1, 2.0**4, 2.0**-11])
def test_other_factors_than_small_powers_of_two_round(factor: float, model: Model) -> None:
    edited = with_output_row(model, 0, {2: factor})
    assert edited.rounding == f"layer 0, head 0 multiplies value 0 by {factor!r}, which rounds it"


def test_a_head_that_writes_more_than_its_width_is_not_supported(model: Model) -> None:
    with pytest.raises(UnsupportedError, match=r"layer 0, head 1 writes 5 values, more than its width 4"):
        with_output_row(model, 1, dict.fromkeys(range(5), 1.0))


@pytest.mark.parametrize("seed", range(4))
def test_the_normal_form_computes_what_the_tensors_compute(seed: int, model: Model) -> None:
    """Against a forward pass on the tensors themselves, in float64."""
    rng = random.Random(seed)
    head, width = rng.randint(0, 1), len(model.network.coordinates)
    row = {rng.randrange(width): rng.choice([1.0, -2.0, 0.375, 1.1]) for _ in range(rng.randint(0, 4))}
    edited, output = with_output_row(model, head, row), output_with_row(model, head, row)
    module = DenseTransformer(model.network)
    weights = torch.tensor(output.numbers, dtype=torch.float64).reshape(output.shape)
    module.load_state_dict(module.state_dict() | {OUTPUT: weights})
    for word in ("a", "ab", "bba", "abab", "bbabaa"):
        tokens = torch.tensor([["ab".index(symbol) for symbol in word]])
        outputs = [float(value) for value in output_bits(edited.network, tuple(word))]
        assert module(tokens)[0].tolist() == pytest.approx(outputs, abs=1e-9)
