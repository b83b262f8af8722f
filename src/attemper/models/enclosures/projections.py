"""What a layer's heads make of the activations that they enter with, in forms."""

from __future__ import annotations

import numpy as np

from attemper.models.enclosures import forms
from attemper.models.soft.weights import EncoderLayer


def mixed_in(layer: EncoderLayer, entering: forms.Form) -> tuple[forms.Form, forms.Form, forms.Form]:
    """Queries, keys and values, (H, c, n, S); the queries are over the root of the head width."""
    mixed = entering.mapped(layer.in_weight).plus(layer.in_bias[:, None, None])
    size = len(entering.rest) // layer.heads
    shaped = mixed.reshaped(3, layer.heads, size, *entering.rest.shape[1:])
    root = np.full((1, 1, 1, 1), 1 / np.sqrt(size))
    return (
        shaped[0] * forms.constant(root, entering.frame, forms.upward(2 * forms.GAMMA * root, 1)),
        shaped[1],
        shaped[2],
    )
