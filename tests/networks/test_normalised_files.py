"""A normalised network survives its files exactly, and files that say something else are refused."""

from __future__ import annotations

import json
import shutil
from array import array
from collections.abc import Callable
from dataclasses import replace
from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest
import torch
from safetensors.numpy import load_file, save_file

import attemper
from attemper import LayerNorm
from attemper.errors import MalformedFileError, OptionError
from attemper.networks.announced import announced_bytes
from attemper.networks.files import STRUCTURE, WEIGHTS, load, load_edited, with_weights
from attemper.networks.layers import Norm, parameter_count
from attemper.networks.safetensors import Tensor
from attemper.networks.structure import structure_of
from attemper.networks.weights import tensors_of
from attemper.workbench.checking import _as_it_is
from tests.support.mutants.saved import Structure, change_structure, change_weights

WAYS = {
    "layer norm": LayerNorm(),
    "gains, biases": LayerNorm(gain=(Fraction(1, 3), Fraction(-5)), bias=(Fraction(1, 7), Fraction(2))),
    "padding": LayerNorm(eps=Fraction(0), padding=Fraction(2**16), unit=Fraction(1, 2**24)),
    "RMS": LayerNorm(is_centred=False, gain=(Fraction(1, 2),)),
}


@pytest.fixture(scope="module", params=WAYS)
def original(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("normalised") / "network"
    attemper.compile("O (b & Y a)", "ab", layer_norm=WAYS[request.param]).save(folder)
    return folder


@pytest.fixture
def folder(original: Path, tmp_path: Path) -> Path:
    return Path(shutil.copytree(original, tmp_path / "network"))


@pytest.fixture
def centred(tmp_path: Path) -> Path:
    attemper.compile("O (b & Y a)", "ab", layer_norm=LayerNorm()).save(tmp_path / "network")
    return tmp_path / "network"


def test_a_network_survives_its_folder(folder: Path) -> None:
    network, source = load(folder)
    again = folder.parent / "again"
    attemper.load(folder).save(again)
    for name in (STRUCTURE, WEIGHTS):
        assert (again / name).read_bytes() == (folder / name).read_bytes()
    assert network.normalisation is not None
    assert source.regime == "temperature"
    assert load_edited(folder)[0].network == network
    assert load_edited(folder)[0].rounding == ""


def test_norms_are_named_as_in_transformer_lens(folder: Path) -> None:
    network, _ = load(folder)
    tensors = load_file(folder / WEIGHTS)
    how = network.normalisation
    assert how is not None
    parts = {"w", "b"} if how.is_centred else {"w"}
    norms = {f"blocks.{k}.{name}.{part}" for k in (0, 1) for name in ("ln1", "ln2") for part in parts}
    assert {name for name in tensors if ".ln" in name} == norms
    assert tensors["blocks.1.ln2.w"].tolist() == [float(gain) for gain in how.before_feed_forward[1].gain]
    assert sum(tensor.size for tensor in tensors.values()) == parameter_count(network)
    assert set(attemper.load(folder).dense().state_dict()) == set(tensors)


def test_the_size_of_the_weights_is_announced(folder: Path) -> None:
    """No more is read: every weight has its place in what the structure announces."""
    network, source = load(folder)
    structure = structure_of(network, source)
    announced = announced_bytes(structure)
    assert announced >= (folder / WEIGHTS).stat().st_size
    rest = announced_bytes(replace(structure, normalisation=None))
    how = network.normalisation
    assert how is not None
    names, width = 8 if how.is_centred else 4, len(network.coordinates)
    assert announced - rest == names * (1000 + 8 * width)


def test_other_networks_say_nothing_of_norms(tmp_path: Path) -> None:
    attemper.compile("O a", "ab").save(tmp_path)
    assert json.loads((tmp_path / STRUCTURE).read_text())["normalisation"] is None


def changed(key: str, value: object) -> Callable[[Structure], object]:
    return lambda structure: structure["normalisation"].__setitem__(key, value)


@pytest.mark.parametrize(
    ("change", "said"),
    [
        (
            changed("is_centred", "rms norm"),
            "normalisation.is_centred: expected true or false, not 'rms norm'",
        ),
        (changed("is_centred", False), "missing or unexpected tensors: blocks.0.ln1.b, blocks.0.ln2.b"),
        (changed("is_centred", 1), "normalisation.is_centred: expected true or false, not 1"),
        (changed("eps", "-1/100000"), "eps is -1/100000, less than 0"),
        (
            changed("eps", 1e-5),
            'normalisation.eps: expected a fraction such as "3/2", in lowest terms, not 1e-05',
        ),
        (changed("eps", "1e-5"), "normalisation.eps: expected a fraction such as"),
        (changed("eps", "2/200000"), "normalisation.eps: expected a fraction such as"),
        (changed("unit", "1/3"), "the unit 1/3 is no power of two"),
        (changed("unit", "0"), "the unit 0 is no power of two"),
        (changed("unit", None), "normalisation.unit: expected a fraction such as"),
        (changed("momentum", "1/10"), "normalisation: the entry 'momentum' is unknown; remove it"),
        (
            lambda structure: structure["normalisation"].pop("unit"),
            "normalisation: the entry 'unit' is missing",
        ),
        (
            lambda structure: structure.__setitem__("normalisation", ["norm structure", "0", "1", True]),
            "normalisation: expected an object with the entries eps, unit, is_centred, not ",
        ),
        (
            lambda structure: structure.__setitem__("normalisation", None),
            "missing or unexpected tensors: blocks.0.ln1.b",
        ),
        (lambda structure: structure.pop("normalisation"), "the entry 'normalisation' is missing"),
    ],
)
def test_entries_that_are_none_are_refused(
    change: Callable[[Structure], object], said: str, centred: Path
) -> None:
    change_structure(centred, change)
    with pytest.raises(MalformedFileError) as caught:
        load(centred)
    assert said in str(caught.value)


@pytest.mark.parametrize(
    ("change", "said"),
    [
        (lambda tensors: tensors.pop("blocks.1.ln2.w"), "missing or unexpected tensors: blocks.1.ln2.w"),
        (
            lambda tensors: tensors.__setitem__("blocks.0.ln1.b", Tensor((1,), array("d", [0]))),
            "tensor 'blocks.0.ln1.b' has shape [1], not",
        ),
        (
            lambda tensors: tensors["blocks.0.ln1.w"].numbers.__setitem__(0, float("nan")),
            "tensor 'blocks.0.ln1.w' has a number that is not finite",
        ),
        (
            lambda tensors: tensors.__setitem__("blocks.2.ln1.w", tensors["blocks.1.ln1.w"]),
            "missing or unexpected tensors: blocks.2.ln1.w",
        ),
    ],
)
def test_tensors_that_are_none_are_refused(
    change: Callable[[dict[str, Tensor]], object], said: str, centred: Path
) -> None:
    change_weights(centred, change)
    with pytest.raises(MalformedFileError) as caught:
        load(centred)
    assert said in str(caught.value)


def test_a_changed_gain_is_noticed_and_read(folder: Path) -> None:
    tensors = load_file(folder / WEIGHTS)
    tensors["blocks.1.ln2.w"][3] = 7
    save_file(tensors, folder / WEIGHTS)
    with pytest.raises(MalformedFileError, match="the digest does not fit"):
        load(folder)
    how = load_edited(folder)[0].network.normalisation
    assert how is not None
    assert how.before_feed_forward[1].gain[3] == 7


def test_weights_of_other_formats_have_their_norms_read(folder: Path) -> None:
    network, _ = load(folder)
    tensors = {name: tensor.astype(np.float32) for name, tensor in load_file(folder / WEIGHTS).items()}
    save_file(tensors, folder / WEIGHTS)
    edited = load_edited(folder)[0].network
    assert edited.normalisation is not None
    assert network.normalisation is not None
    for one, other in zip(
        edited.normalisation.before_attention, network.normalisation.before_attention, strict=True
    ):
        assert one == Norm(
            *(tuple(Fraction(float(np.float32(float(x)))) for x in row) for row in _rows(other))
        )


def _rows(norm: Norm) -> tuple[tuple[Fraction, ...], tuple[Fraction, ...]]:
    return norm.gain, norm.bias


def test_other_weights_are_put_into_a_network(folder: Path) -> None:
    network, _ = load(folder)
    assert with_weights(network, tensors_of(network)).network == network
    plain = attemper.compile("O (b & Y a)", "ab", regime="temperature").network
    with pytest.raises(ValueError, match="missing or unexpected tensors"):
        with_weights(plain, tensors_of(network))


def test_a_module_is_read_as_it_is_now(folder: Path) -> None:
    module = attemper.load(folder).dense()
    network = module.network
    assert _as_it_is(module, None).network == network
    with torch.no_grad():
        module.blocks[0].ln1.w[2] *= 4  # type: ignore[index, operator, union-attr]
    how, before = _as_it_is(module, None).network.normalisation, network.normalisation
    assert how is not None
    assert before is not None
    assert how.before_attention[0].gain[2] == 4 * before.before_attention[0].gain[2]


def test_a_module_with_another_eps_than_its_network_is_refused(folder: Path) -> None:
    module = attemper.load(folder).dense()
    module.blocks[1].ln2.eps = 0.5  # type: ignore[union-attr, assignment]
    with pytest.raises(OptionError, match=r"blocks.1.ln2 has eps=0.5, and the network eps="):
        attemper.check(module, "O (b & Y a)")
