"""A GPT-2 folder of one layer, run from its raw files as its paper and `transformers` describe it."""

from __future__ import annotations

import json
import math
import struct
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

Array = Any

DTYPES = {"F64": "<f8", "F32": "<f4", "F16": "<f2"}


class RawGpt2:
    """Read at the last token, in float64, in the order of the tokens."""

    def __init__(self, folder: Path) -> None:
        self.config = json.loads((folder / "config.json").read_bytes())
        data = (folder / "model.safetensors").read_bytes()
        (size,) = struct.unpack("<Q", data[:8])
        header, body = json.loads(data[8 : 8 + size]), data[8 + size :]
        self.tensors = {
            name.removeprefix("transformer."): np.frombuffer(
                body[slice(*entry["data_offsets"])], dtype=DTYPES[entry["dtype"]]
            )
            .astype(np.float64)
            .reshape(entry["shape"])
            for name, entry in header.items()
            if name != "__metadata__"
        }

    def outputs(self, tokens: Sequence[int], offset: int = 0) -> Array:
        """The logits after the tokens, the first of which stands at position id `offset`."""
        own, width, heads = self.tensors, self.config["n_embd"], self.config["n_head"]
        x = own["wte.weight"][list(tokens)] + own["wpe.weight"][offset : offset + len(tokens)]
        mixed = self._affine("h.0.attn.c_attn", self._normed("h.0.ln_1", x))
        size, read = width // heads, []
        for head in range(heads):
            q, k, v = (mixed[:, part * width + head * size :][:, :size] for part in range(3))
            scores = k @ q[-1] / math.sqrt(size)
            weights = np.exp(scores - scores.max())
            read.append(weights @ v / weights.sum())
        last = x[-1] + self._affine("h.0.attn.c_proj", np.concatenate(read))
        units = self._affine("h.0.mlp.c_fc", self._normed("h.0.ln_2", last))
        last = last + self._affine("h.0.mlp.c_proj", self._activation(units))
        return own.get("lm_head.weight", own["wte.weight"]) @ self._normed("ln_f", last)

    def _affine(self, name: str, x: Array) -> Array:
        return x @ self.tensors[f"{name}.weight"] + self.tensors[f"{name}.bias"]

    def _normed(self, name: str, x: Array) -> Array:
        centred = x - x.mean(axis=-1, keepdims=True)
        scale = np.sqrt((centred**2).mean(axis=-1, keepdims=True) + self.config["layer_norm_epsilon"])
        return centred / scale * self.tensors[f"{name}.weight"] + self.tensors[f"{name}.bias"]

    def _activation(self, units: Array) -> Array:
        match self.config["activation_function"]:
            case "gelu_new":
                bent = math.sqrt(2 / math.pi) * (units + 0.044715 * units**3)
                return units * (1 + np.tanh(bent)) / 2
            case "gelu":
                return np.array([u * (1 + math.erf(u / math.sqrt(2))) / 2 for u in units])
            case "relu":
                return np.maximum(units, 0)
            case other:
                raise ValueError(other)
