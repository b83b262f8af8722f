"""Exported GPT-2s in TransformerLens' own TransformerBridge: patterns and streams are the network's."""

from __future__ import annotations

import random
from collections.abc import Callable
from itertools import product
from pathlib import Path
from typing import Any

import pytest
import torch

import attemper
from attemper import Model
from attemper.exports.gpt2.vocabulary import answers_of

pytestmark = pytest.mark.exports

MODELS: dict[str, Callable[[], Model]] = {
    "majority": lambda: attemper.compile("#<['0'] <= #<['1']", "01"),
    "dyck-1": lambda: attemper.compile("zoo:dyck-1", regime="unbounded"),
    "since": lambda: attemper.compile("(!'c') S 'b'", "abc"),
    "k-hop-1": lambda: attemper.compile("zoo:k-hop-1", regime="unbounded"),
    "flip-flop": lambda: attemper.compile("zoo:flip-flop", regime="unbounded"),
}


def booted(folder: Path) -> Any:
    from transformer_lens import TransformerBridge

    return TransformerBridge.boot_transformers(str(folder), dtype=torch.float64)


@pytest.mark.parametrize("is_compatible", [False, True], ids=["as it is", "no processing"])
@pytest.mark.parametrize("name", MODELS)
def test_patterns_and_streams_are_ours(name: str, is_compatible: bool, tmp_path: Path) -> None:
    """Within 1e-12, on all short words and random ones to 200 symbols."""
    model = MODELS[name]()
    model.export("gpt2", tmp_path / "out", positions=200)
    bridge = booted(tmp_path / "out")
    if is_compatible:
        bridge.enable_compatibility_mode(no_processing=True)
    network, draw = model.network, random.Random(name)
    symbols = model.alphabet.symbols
    own, tried = model.dense(engine="matrix"), 0
    longest = 6 if len(symbols) <= 3 else 3
    batches = [list(product(symbols, repeat=n)) for n in range(1, longest + 1)]
    batches += [[tuple(draw.choices(symbols, k=n)) for _ in range(4)] for n in (50, 199, 200)]
    for words in batches:
        tokens, _ = model.to_tokens(words)
        output, cache = own.run_with_cache(tokens)
        with torch.no_grad():
            logits, found = bridge.run_with_cache(tokens)
        for number, layer in enumerate(network.layers):
            pattern = found[f"blocks.{number}.attn.hook_pattern"][:, : len(layer.heads)]
            ours = cache[f"blocks.{number}.attn.hook_pattern"]
            assert float((pattern - ours).abs().max()) <= 1e-12
            stream = found[f"blocks.{number}.hook_resid_post"][..., : len(network.coordinates)]
            assert float((stream - cache[f"blocks.{number}.hook_resid_post"]).abs().max()) <= 1e-12
            tried += 1
        answers = bridge.to_str_tokens(logits.argmax(dim=-1)[0], prepend_bos=False)
        assert answers == [answers_of(network)[bit].name for bit in output[0].round().int().tolist()]
    assert tried == len(network.layers) * len(batches)


def test_the_default_processing_folds_the_gain_into_the_weights(tmp_path: Path) -> None:
    """What docs/gpt2.md warns of: weights of 2^50 and more."""
    MODELS["majority"]().export("gpt2", tmp_path / "out", positions=8)
    bridge = booted(tmp_path / "out")
    assert float(bridge.W_Q.detach().abs().max()) <= 8
    bridge.enable_compatibility_mode()
    assert float(bridge.W_Q.detach().abs().max()) >= 2.0**50


def test_words_are_read_and_what_is_no_symbol_is_an_error(tmp_path: Path) -> None:
    MODELS["majority"]().export("gpt2", tmp_path / "out", positions=8)
    bridge = booted(tmp_path / "out")
    logits = bridge("0110", prepend_bos=False)
    said = bridge.to_str_tokens(logits.argmax(dim=-1)[0], prepend_bos=False)
    assert said == ["rejected", "accepted", "accepted", "accepted"]
    with pytest.raises(IndexError):
        bridge("01x0", prepend_bos=False)
