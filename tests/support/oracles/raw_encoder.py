"""A trained run's folder, run from its raw files: PyTorch's encoder layer as its documentation has it."""

from __future__ import annotations

import json
import struct
import tomllib
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

Array = Any


class RawRun:
    """One layer, causal or not, read at the last token."""

    def __init__(self, folder: Path) -> None:
        self.settings = tomllib.loads((folder / "settings.toml").read_text(encoding="utf-8"))["model"]
        self.symbols = json.loads((folder / "manifest.json").read_bytes())["symbols"]
        data = (folder / "model.safetensors").read_bytes()
        (size,) = struct.unpack("<Q", data[:8])
        header, body = json.loads(data[8 : 8 + size]), data[8 + size :]
        self.tensors = {
            name: np.frombuffer(body[slice(*entry["data_offsets"])], dtype="<f4")
            .astype(np.float64)
            .reshape(entry["shape"])
            for name, entry in header.items()
            if name != "__metadata__"
        }

    def outputs(self, tokens: Sequence[int]) -> Array:
        """What is put out at the last token, in float64."""
        own, width, heads = self.tensors, self.settings["width"], self.settings["heads"]
        x = own["embedding.weight"][list(tokens)] + self._positions(len(tokens))
        norm = self.settings["norm"]
        first = self._normed("norm1", x) if norm == "pre" else x
        mixed = first @ self._layer("self_attn.in_proj_weight").T + self._layer("self_attn.in_proj_bias")
        size, read = width // heads, []
        for head in range(heads):
            q, k, v = (mixed[:, part * width + head * size :][:, :size] for part in range(3))
            scores = k @ q[-1] / np.sqrt(size)
            weights = np.exp(scores - scores.max())
            read.append(weights @ v / weights.sum())
        last = x[-1] + np.concatenate(read) @ self._layer("self_attn.out_proj.weight").T
        last = last + self._layer("self_attn.out_proj.bias")
        if norm == "post":
            last = self._normed("norm1", last)
        entering = self._normed("norm2", last) if norm == "pre" else last
        hidden = np.maximum(entering @ self._layer("linear1.weight").T + self._layer("linear1.bias"), 0)
        last = last + hidden @ self._layer("linear2.weight").T + self._layer("linear2.bias")
        if norm == "post":
            last = self._normed("norm2", last)
        return last @ own["readout.weight"].T + own["readout.bias"]

    def _layer(self, name: str) -> Array:
        return self.tensors[f"encoder.layers.0.{name}"]

    def _normed(self, name: str, x: Array) -> Array:
        centred = x - x.mean(axis=-1, keepdims=True)
        scale = np.sqrt((centred**2).mean(axis=-1, keepdims=True) + 1e-5)
        return centred / scale * self._layer(f"{name}.weight") + self._layer(f"{name}.bias")

    def _positions(self, count: int) -> Array:
        width = self.settings["width"]
        if self.settings["positions"] == "learned":
            return self.tensors["places.weight"][:count]
        if self.settings["positions"] == "none":
            return np.zeros((count, width))
        rates = 10000.0 ** (np.arange(0, width, 2) / width)
        angles = np.arange(count)[:, None] / rates
        both = np.stack([np.sin(angles), np.cos(angles)], axis=-1).reshape(count, -1)[:, :width]
        return both.astype(np.float32).astype(np.float64)
