"""Encoders that somebody put together are looked at before anything is said of them."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from attemper.errors import OptionError
from attemper.models.soft.loading import load_encoder
from attemper.models.soft.weights import Bounded, Encoder, EncoderNorm, Periodic
from attemper.models.soft.wellformed import complaints
from attemper.modules import ModuleError
from tests.support.drawn.encoders import NORMS, random_encoder

ENCODER = random_encoder(1)
(LAYER, *_) = ENCODER.layers
NORM = EncoderNorm(np.ones(16), np.zeros(16), 1e-5)
WRONG_NORM = EncoderNorm(np.ones(16), np.zeros(16), 0.0)


def with_layer(**changes: object) -> Encoder:
    return replace(ENCODER, layers=(replace(LAYER, **changes),))  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("encoder", "said"),
    [
        (replace(ENCODER, ending="b"), "end marker 'b'"),
        (replace(ENCODER, symbols=("0", "0", "$")), "not distinct"),
        (replace(ENCODER, outputs=()), "outputs are none"),
        (replace(ENCODER, mask="unmasked"), "not a Mask"),  # type: ignore[arg-type]
        (replace(ENCODER, embedding=ENCODER.embedding[:2]), "embedding is not an array of float64"),
        (replace(ENCODER, embedding=ENCODER.embedding[0]), "not a matrix"),
        (replace(ENCODER, readout=ENCODER.readout.astype(np.float32)), "readout is not an array of float64"),  # type: ignore[arg-type]
        (replace(ENCODER, bias=np.array([2.0**-1023])), "may take it for 0"),
        (replace(ENCODER, bias=np.array([np.nan])), "bias has a number that is not finite"),
        (replace(ENCODER, positions=Periodic(np.ones((0, 16)))), "is empty"),
        (replace(ENCODER, positions=Bounded(lambda i, n: i, 0.0, np.inf)), "not bounded"),
        (replace(ENCODER, positions=None), "none of those that exist"),  # type: ignore[arg-type]
        (with_layer(heads=3), "do not divide"),
        (with_layer(hidden_bias=np.zeros(0)), "has no units"),
        (with_layer(back_weight=LAYER.back_weight.T), "back_weight is not an array"),
        (with_layer(hidden_bias=np.float64(0)), "hidden_bias is not an array"),
        (with_layer(norms=(WRONG_NORM, WRONG_NORM)), "epsilon of a norm is not a number above 2^-900"),
        (
            with_layer(norms=(replace(NORM, epsilon="1e-5"),) * 2),
            "epsilon of a norm is not a number above 2^-900",
        ),
        (with_layer(norms=(NORM,)), "neither None nor a tuple of two Norms"),
        (with_layer(norms=[NORM, NORM]), "neither None nor a tuple of two Norms"),
        (with_layer(norms=iter([NORM, NORM])), "neither None nor a tuple of two Norms"),
        (replace(ENCODER, layers=list(ENCODER.layers)), "not a tuple of EncoderLayers"),  # type: ignore[arg-type]
        (replace(ENCODER, layers=iter(ENCODER.layers)), "not a tuple of EncoderLayers"),  # type: ignore[arg-type]
        (replace(ENCODER, layers=(LAYER, None)), "not a tuple of EncoderLayers"),  # type: ignore[arg-type]
    ],
)
def test_what_is_wrong_is_named(encoder: Encoder, said: str) -> None:
    assert any(said in complaint for complaint in complaints(encoder))


@pytest.mark.parametrize("norm", NORMS)
def test_nothing_is_wrong_with_what_is_read(norm: str) -> None:
    assert not list(complaints(random_encoder(2, norm=norm)))


SOURCE = """
from dataclasses import replace
from tests.support.drawn.encoders import random_encoder

encoder = random_encoder(1)
nothing = None
spoiled = replace(encoder, ending="b")


def made():
    return encoder


def wrong():
    return 3


def failing():
    return 1 / 0
"""


@pytest.fixture
def module(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[[str], str]:
    (tmp_path / "my_encoders.py").write_text(SOURCE)
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.chdir(tmp_path)
    return lambda name: f"my_encoders:{name}"


def test_an_encoder_is_found_by_name(module: Callable[[str], str]) -> None:
    assert load_encoder(module("encoder")).digest == load_encoder(module("made")).digest == ENCODER.digest


@pytest.mark.parametrize(
    ("name", "said"),
    [
        ("nothing", "of the type NoneType, not an encoder"),
        ("wrong", "of the type int, not an encoder"),
        ("failing", "ZeroDivisionError"),
        ("spoiled", "end marker 'b'"),
    ],
)
def test_what_is_no_encoder_is_refused(module: Callable[[str], str], name: str, said: str) -> None:
    with pytest.raises(ModuleError, match=said):
        load_encoder(module(name))


def test_what_is_not_there_is_refused(module: Callable[[str], str]) -> None:
    with pytest.raises(OptionError, match="has no 'other'"):
        load_encoder(module("other"))
