"""TransformerLens' cache of activations, for models whose layers differ in size."""

from __future__ import annotations

from typing import Any

import torch

from attemper.exports.extras import library

library("transformer_lens", "transformer-lens")

from transformer_lens import ActivationCache  # noqa: E402 - after the error that says what is missing
from transformer_lens.utilities import Slice  # noqa: E402


class LensCache(ActivationCache):  # type: ignore[misc]
    """An `ActivationCache` whose labels of heads and neurons are those that each layer has.

    `apply_ln` does nothing, as no norm stands before what is put out; of a network that normalises what its
    sublayers read, only `apply_ln=False` has a meaning.
    """

    def stack_head_results(self, layer: int = -1, return_labels: bool = False, **options: Any) -> Any:
        """What each head before a layer adds to the stream, [head, batch, position, d_model]."""
        stack, labels = super().stack_head_results(layer, return_labels=True, **options)
        if not return_labels:
            return stack
        blocks = enumerate(self._blocks_before(layer))
        own = [f"L{number}H{head}" for number, block in blocks for head in range(block.attn.W_O.shape[0])]
        return stack, own + labels[-1:] * (labels[-1:] == ["remainder"])

    def stack_neuron_results(
        self, layer: int, return_labels: bool = False, neuron_slice: Any = None, **options: Any
    ) -> Any:
        """What each hidden unit before a layer adds to the stream, [unit, batch, position, d_model]."""
        stack, labels = super().stack_neuron_results(
            layer, return_labels=True, neuron_slice=neuron_slice, **options
        )
        if not return_labels:
            return stack
        chosen = Slice.unwrap(neuron_slice)
        own = [
            f"L{number}N{unit}"
            for number, block in enumerate(self._blocks_before(layer))
            for unit in chosen.apply(torch.arange(block.mlp.W_out.shape[0]), dim=0).reshape(-1).tolist()
        ]
        return stack, own + labels[-1:] * (labels[-1:] == ["remainder"])

    def _blocks_before(self, layer: int | None) -> list[Any]:
        blocks = list(self.model.blocks)
        return blocks if layer is None or layer == -1 else blocks[:layer]
