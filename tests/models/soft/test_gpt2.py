"""GPT-2 folders as encoders: the numbers that the model puts out, and what is not read."""

from __future__ import annotations

import json
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from safetensors.numpy import load_file, save_file

from attemper.errors import AttemperError, MalformedFileError, UnsupportedError
from attemper.models.soft.gpt2 import read_gpt2
from attemper.models.soft.in_torch import outputs_in_torch
from attemper.models.soft.meaning import outputs_in_balls
from attemper.models.soft.soft import outputs_of
from attemper.models.soft.vocabulary import ModelTokens
from attemper.models.soft.weights import shifted
from tests.support.drawn.gpt2_folders import TOKENS, gpt2_folder
from tests.support.oracles.raw_gpt2 import RawGpt2

VOCABULARY = ModelTokens(TOKENS, "<bos>", "<eos>")

MODELS: dict[str, dict[str, Any]] = {
    "as it is": {},
    "two heads": {"heads": 2},
    "its own head": {"tied": False, "activation_function": "gelu"},
    "relu": {"activation_function": "relu", "layer_norm_epsilon": 1e-3},
}


@pytest.mark.parametrize("name", list(MODELS))
def test_a_folder_is_read_as_it_runs(name: str, tmp_path: Path) -> None:
    folder = gpt2_folder(tmp_path / "model", len(name), **MODELS[name])
    encoder, raw = read_gpt2(folder, VOCABULARY, "ab", 16), RawGpt2(folder)
    assert encoder.symbols == ("a", "b", "<bos>")
    assert encoder.outputs == ("a", "b", "<eos>", "<bos>", "<sep>", "<pad>")
    order = [TOKENS.index(token) for token in encoder.outputs]
    for length, offset in product((0, 1, 4), (0, 5)):
        words = list(product(range(2), repeat=length))
        tokens = np.array([(2, *word) for word in words])
        here = outputs_of(shifted(encoder, offset), tokens)
        there = np.array([raw.outputs((2, *word), offset)[order] for word in words])
        assert np.allclose(here, there, rtol=1e-12, atol=1e-12)
        assert np.allclose(here, outputs_in_torch(shifted(encoder, offset), tokens), rtol=1e-4, atol=1e-4)
        balls = outputs_in_balls(shifted(encoder, offset), tokens[-1].tolist())
        assert np.allclose([float(ball.mid()) for ball in balls], there[-1], rtol=1e-9, atol=1e-9)


def changed(folder: Path, **entries: object) -> Path:
    """The folder with other entries in its configuration."""
    config = json.loads((folder / "config.json").read_bytes())
    config |= entries
    (folder / "config.json").write_text(json.dumps(config), encoding="utf-8")
    return folder


ENTRIES: dict[str, tuple[object, str]] = {
    "activation_function": ("quick_gelu", "is none of gelu_new, gelu_pytorch_tanh, gelu, relu"),
    "model_type": ("bert", "is not read, only 'gpt2'"),
    "architectures": (["GPT2DoubleHeadsModel"], "is not read"),
    "scale_attn_weights": (False, "is not read, only True"),
    "scale_attn_by_inverse_layer_idx": (True, "is not read, only False"),
    "add_cross_attention": (1, "is not read, only False"),
    "dtype": ("bfloat16", "is not read, only 'float32'"),
    "torch_dtype": ("float16", "is not read, only 'float32'"),
    "rope_theta": (10000, "'rope_theta' is not understood"),
    "n_head": (3, "do not divide"),
    "n_inner": (None, "12 hidden units"),
    "n_layer": (2, "h.1"),
    "n_embd": (8.0, "n_embd = 8.0 is no number"),
    "n_positions": (17, "another shape"),
    "vocab_size": (7, "has vocab_size 7, and 6 tokens are named"),
    "bos_token_id": (3, "has bos_token_id 3, which is '<sep>', not '<bos>'"),
    "eos_token_id": (0, "has eos_token_id 0, which is 'a', not '<eos>'"),
    "layer_norm_epsilon": (0.0, "epsilon"),
    "tie_word_embeddings": (False, "lm_head.weight"),
}


@pytest.mark.parametrize("name", list(ENTRIES))
def test_every_entry_that_changes_the_function_is_refused_or_read(name: str, tmp_path: Path) -> None:
    value, said = ENTRIES[name]
    folder = changed(gpt2_folder(tmp_path / "model", 1), **{name: value})
    with pytest.raises((MalformedFileError, UnsupportedError), match=said):
        read_gpt2(folder, VOCABULARY, "ab", 16)


def test_entries_without_effect_are_read(tmp_path: Path) -> None:
    folder = gpt2_folder(tmp_path / "model", 1)
    before = read_gpt2(folder, VOCABULARY, "ab", 16).digest
    changed(
        folder, attn_pdrop=0.5, use_cache=False, transformers_version="9", dtype="float32", bos_token_id=50256
    )
    assert read_gpt2(folder, VOCABULARY, "ab", 16).digest == before
    for name in ("activation_function", "layer_norm_epsilon", "tie_word_embeddings"):
        config = json.loads((folder / "config.json").read_bytes())
        del config[name]
        (folder / "config.json").write_text(json.dumps(config), encoding="utf-8")
    assert read_gpt2(folder, VOCABULARY, "ab", 16).digest == before, "these are the values that are left out"


def test_it_is_said_in_which_numbers_it_runs(tmp_path: Path) -> None:
    """Left out, `transformers` takes that of some tensor, which need not be that of the others."""
    folder = gpt2_folder(tmp_path / "model", 1)
    config = json.loads((folder / "config.json").read_bytes())
    for entries in ({}, {"dtype": None}, {"dtype": "float32", "torch_dtype": "float64"}):
        left = {name: value for name, value in config.items() if name != "dtype"}
        (folder / "config.json").write_text(json.dumps(left | entries), encoding="utf-8")
        with pytest.raises(UnsupportedError, match="dtype"):
            read_gpt2(folder, VOCABULARY, "ab", 16)
    (folder / "config.json").write_text(json.dumps(left | {"torch_dtype": "float32"}), encoding="utf-8")
    read_gpt2(folder, VOCABULARY, "ab", 16)


def test_tensors_that_are_not_understood_are_refused(tmp_path: Path) -> None:
    folder = gpt2_folder(tmp_path / "model", 1)
    weights = folder / "model.safetensors"
    own = load_file(weights)
    head = own["transformer.wte.weight"]
    save_file({**own, "lm_head.weight": head.copy()}, weights)
    read_gpt2(folder, VOCABULARY, "ab", 16)
    bias = "transformer.h.0.attn.c_attn.bias"
    cases: list[tuple[dict[str, Any], str]] = [
        ({**own, "lm_head.weight": head + 1}, "not wte.weight"),
        ({**own, "lm_head.weight": np.vstack([head, head])}, "of another shape"),
        ({**own, "transformer.h.0.attn.bias": np.ones((1, 1, 16, 16), np.float32)}, "is not understood"),
        ({**own, "wte.weight": head.copy()}, "there twice"),
        ({name: tensor for name, tensor in own.items() if name != bias}, "c_attn.bias"),
        ({**own, bias: own[bias][None]}, "of the shape"),
        ({**own, bias: own[bias] * np.float32(np.nan)}, "none in float32"),
    ]
    for tensors, said in cases:
        save_file(tensors, weights)
        with pytest.raises(AttemperError, match=said):
            read_gpt2(folder, VOCABULARY, "ab", 16)
    for dtype in ("float32", "float64"):
        changed(folder, dtype=dtype)
        save_file({name: tensor.astype(np.float64) for name, tensor in own.items()}, weights)
        read_gpt2(folder, VOCABULARY, "ab", 16)
        save_file({**own, bias: own[bias].astype(np.float64) + 1e-12}, weights)
        if dtype == "float64":
            read_gpt2(folder, VOCABULARY, "ab", 16)
            continue
        with pytest.raises(MalformedFileError, match="that are none in float32, its dtype"):
            read_gpt2(folder, VOCABULARY, "ab", 16)
    save_file({name: tensor.astype(np.float16) for name, tensor in own.items()}, weights)
    half, raw = read_gpt2(folder, VOCABULARY, "ab", 16), RawGpt2(folder)
    assert np.allclose(outputs_of(half, np.array([[2, 0]]))[0, :2], raw.outputs([2, 0])[:2], rtol=1e-12)


def test_tokens_are_those_of_the_folder(tmp_path: Path) -> None:
    folder = gpt2_folder(tmp_path / "model", 1)
    for tokens, start, end, said in (
        (("b", "a", *TOKENS[2:]), "<bos>", "<eos>", "has other tokens"),
        (TOKENS[:5], "<bos>", "<eos>", "5 tokens are named"),
        ((*TOKENS[:5], "<eos>"), "<bos>", "<eos>", "two are the same"),
        (TOKENS, "<bos>", "a", "is one of the letters"),
        (TOKENS, "<start>", "<eos>", "'<start>' is none of the tokens"),
        (TOKENS, "<sep>", "<eos>", "which is '<bos>', not '<sep>'"),
    ):
        with pytest.raises(MalformedFileError, match=said):
            read_gpt2(folder, ModelTokens(tokens, start, end), "ab", 16)
    with pytest.raises(UnsupportedError, match="16 positions: judge words of at most 15 symbols"):
        read_gpt2(folder, VOCABULARY, "ab", 17)
    for odd in ("\ud800", "", "\n"):
        with pytest.raises(MalformedFileError, match="is empty, or cannot be printed"):
            read_gpt2(folder, ModelTokens((*TOKENS[:5], odd), "<bos>", "<eos>"), "ab", 16)
    changed(folder, eos_token_id=[0])
    with pytest.raises(MalformedFileError, match=r"has eos_token_id \[0\]: give one number, or null"):
        read_gpt2(folder, VOCABULARY, "ab", 16)
    changed(folder, eos_token_id=4)
    (folder / "vocab.json").write_text('{"a": 0, "b": 2}', encoding="utf-8")
    with pytest.raises(MalformedFileError, match="does not number tokens from 0 on"):
        read_gpt2(folder, VOCABULARY, "ab", 16)
    (folder / "vocab.json").unlink()
    other = ModelTokens(("b", "a", *TOKENS[2:]), "<bos>", "<eos>")
    assert read_gpt2(folder, other, "ab", 16).digest != read_gpt2(folder, VOCABULARY, "ab", 16).digest


def test_one_token_can_be_start_and_end(tmp_path: Path) -> None:
    folder = gpt2_folder(tmp_path / "model", 1, bos_token_id=2, eos_token_id=2)
    encoder = read_gpt2(folder, ModelTokens(TOKENS, "<bos>", "<bos>"), "ab", 16)
    assert encoder.symbols == ("a", "b", "<bos>")
    assert encoder.outputs == ("a", "b", "<bos>", "<sep>", "<eos>", "<pad>")
