"""Folders of GPT-2 models with random weights."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
from safetensors.numpy import save_file

TOKENS = ("a", "b", "<bos>", "<sep>", "<eos>", "<pad>")


def gpt2_folder(folder: Path, seed: int, *, heads: int = 1, tied: bool = True, **config: object) -> Path:
    """A model of one layer, width 8, with 16 positions, over `TOKENS`; `config` are more entries."""
    rng, width, inner, places = np.random.default_rng(seed), 8, 12, 16

    def drawn(*shape: int, size: float = 0.5, mean: float = 0.0) -> np.ndarray:  # type: ignore[type-arg]
        return (mean + rng.normal(scale=size, size=shape)).astype(np.float32)

    tensors = {"wte.weight": drawn(len(TOKENS), width, size=1.0), "wpe.weight": drawn(places, width)}
    shapes = {
        "attn.c_attn": (width, 3 * width),
        "attn.c_proj": (width, width),
        "mlp.c_fc": (width, inner),
        "mlp.c_proj": (inner, width),
    }
    for name, shape in shapes.items():
        tensors |= {f"h.0.{name}.weight": drawn(*shape), f"h.0.{name}.bias": drawn(shape[1], size=0.1)}
    for name in ("h.0.ln_1", "h.0.ln_2", "ln_f"):
        tensors |= {
            f"{name}.weight": drawn(width, size=0.1, mean=1.0),
            f"{name}.bias": drawn(width, size=0.1),
        }
    named = {f"transformer.{name}": tensor for name, tensor in tensors.items()}
    if not tied:
        named["lm_head.weight"] = drawn(len(TOKENS), width)
    entries = {
        "model_type": "gpt2",
        "architectures": ["GPT2LMHeadModel"],
        "dtype": "float32",
        "activation_function": "gelu_new",
        "layer_norm_epsilon": 1e-5,
        "n_embd": width,
        "n_head": heads,
        "n_inner": inner,
        "n_layer": 1,
        "n_positions": places,
        "vocab_size": len(TOKENS),
        "tie_word_embeddings": tied,
        "bos_token_id": TOKENS.index("<bos>"),
        "eos_token_id": TOKENS.index("<eos>"),
        **config,
    }
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "config.json").write_text(json.dumps(entries), encoding="utf-8")
    numbers = {token: number for number, token in enumerate(TOKENS)}
    (folder / "vocab.json").write_text(json.dumps(numbers), encoding="utf-8")
    save_file(named, folder / "model.safetensors")
    return folder
