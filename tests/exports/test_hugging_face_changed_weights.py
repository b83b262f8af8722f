"""A folder with other weights than were exported is refused, and what was changed is said."""

from __future__ import annotations

import struct
from array import array
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

import attemper
from attemper.errors import MalformedFileError
from attemper.exports.hugging_face_files import (
    PREFIX,
)
from attemper.exports.restoring import read_hugging_face
from attemper.exports.subject import Exported
from attemper.networks.safetensors import Tensor, encode_tensors
from tests.support.mutants.exported_folders import (
    Weights,
    exported_config,
    in_float32,
    subject_of,
    weights_of,
    write,
)
from tests.support.mutants.saved import with_number


def test_weights_that_float32_rounds_are_refused(tmp_path: Path) -> None:
    subject = subject_of(
        attemper.compile("O 'a'", "ab", regime="temperature", layer_norm=attemper.LayerNorm())
    )
    folder = write(tmp_path, exported_config(subject, "float32"), in_float32(weights_of(subject)))
    with pytest.raises(MalformedFileError, match=r"other weights than were exported.*float32.*in float64"):
        read_hugging_face(folder)


def _neighbours(number: float) -> Iterator[float]:
    """The nearest numbers, and quite others."""
    (bits,) = struct.unpack("<q", struct.pack("<d", number))
    for other in (bits + 1, bits - 1 if number else bits + 2):
        yield struct.unpack("<d", struct.pack("<q", other))[0]
    yield from (number + 1, -number, 2.0**100)


@pytest.mark.slow
def test_every_change_of_every_weight_is_refused(since: Exported, tmp_path: Path) -> None:
    """To its neighbours, its negative (of 0 too) and others: no other number is taken for it."""
    config, tensors = exported_config(since), weights_of(since)
    tried = 0
    for name, tensor in tensors.items():
        for place, number in enumerate(tensor.numbers):
            for other in _neighbours(number):
                attacked = {**tensors, name: with_number(tensor, place, other)}
                folder = write(tmp_path, config, encode_tensors(attacked))
                with pytest.raises(MalformedFileError):
                    read_hugging_face(folder)
                tried += 1
    assert tried == 5 * sum(len(tensor.numbers) for tensor in tensors.values())


@pytest.mark.parametrize(
    ("number", "said"),
    [(0.5, "other weights than were exported"), (float("nan"), "not finite"), (-0.0, "-0.0 at .*, not 0.0")],
)
def test_what_is_wrong_with_a_weight_is_said(
    number: float, said: str, since: Exported, tmp_path: Path
) -> None:
    tensors = weights_of(since)
    name = f"{PREFIX}embed.W_E"
    place = tensors[name].numbers.index(0 if number == 0 else 1)
    attacked = {**tensors, name: with_number(tensors[name], place, number)}
    with pytest.raises(MalformedFileError, match=said):
        read_hugging_face(write(tmp_path, exported_config(since), encode_tensors(attacked)))


def _without(weights: Weights) -> Weights:
    return dict(list(weights.items())[1:])


def _with_another(weights: Weights) -> Weights:
    return {**weights, "classifier": Tensor((1,), array("d", [1.0]))}


def _with_a_twin(weights: Weights) -> Weights:
    """transformers would load the tensor without the prefix over the other one."""
    return {**weights, "embed.W_E": weights[f"{PREFIX}embed.W_E"]}


def _with_one_more(weights: Weights) -> Weights:
    return {**weights, f"{PREFIX}embed.b_E": Tensor((1,), array("d", [1.0]))}


def _transposed(weights: Weights) -> Weights:
    tensor = weights[f"{PREFIX}embed.W_E"]
    return {**weights, f"{PREFIX}embed.W_E": Tensor(tensor.shape[::-1], tensor.numbers)}


@pytest.mark.parametrize(
    ("change", "said"),
    [
        (_without, "missing or unexpected tensors: blocks"),
        (_with_another, "has a tensor 'classifier', which no export writes"),
        (_with_a_twin, "has a tensor 'embed.W_E', which no export writes"),
        (_with_one_more, "missing or unexpected tensors: embed.b_E"),
        (_transposed, r"'embed.W_E' has shape \[\d+, 3\], not \[3, \d+\]"),
    ],
)
def test_other_tensors_are_refused(
    change: Callable[[Weights], Weights], said: str, since: Exported, tmp_path: Path
) -> None:
    with pytest.raises(MalformedFileError, match=said):
        read_hugging_face(write(tmp_path, exported_config(since), encode_tensors(change(weights_of(since)))))
