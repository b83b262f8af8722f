"""An encoder as PyTorch runs it: its own modules, in float32, with an encoder's weights."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import TYPE_CHECKING, Any, assert_never

import numpy as np

from attemper.models.arrays import Floats, Integers
from attemper.models.soft.activations import Activation
from attemper.models.soft.weights import Encoder, EncoderLayer, Mask, position_rows

if TYPE_CHECKING:
    import torch


def outputs_in_torch(encoder: Encoder, words: Integers) -> Floats:
    """The outputs at position n, (B, K), for words of n symbols, numbered, (B, n), in float32.

    >>> from attemper.models.soft.weights import NoPositions
    >>> one = np.ones((1, 1))
    >>> tiny = Encoder(("a",), None, one, NoPositions(), Mask.UNMASKED, (), one / 4, one[0], ("o",))
    >>> outputs_in_torch(tiny, np.array([[0]])).tolist()
    [[1.25]]
    """
    import torch

    length = words.shape[1]
    with torch.inference_mode():
        rows = encoder.embedding[words] + position_rows(encoder, length)
        stream = torch.tensor(rows, dtype=torch.float32)
        mask = None
        if encoder.mask is not Mask.UNMASKED:
            mask = torch.nn.Transformer.generate_square_subsequent_mask(length)
        for layer in encoder.layers:
            stream = _module(layer, encoder.width)(stream, src_mask=mask)
        last = stream[:, -1]
        if encoder.last_norm is not None:
            norm = encoder.last_norm
            gain, bias = (torch.tensor(own, dtype=torch.float32) for own in (norm.gain, norm.bias))
            last = torch.nn.functional.layer_norm(last, (encoder.width,), gain, bias, norm.epsilon)
        readout = torch.tensor(encoder.readout, dtype=torch.float32)
        found = last @ readout.T + torch.tensor(encoder.bias, dtype=torch.float32)
    return np.asarray(found.double().numpy())


def _activation(activation: Activation) -> Callable[[torch.Tensor], torch.Tensor]:
    import torch

    match activation:
        case Activation.RELU:
            return torch.nn.functional.relu
        case Activation.GELU:
            return torch.nn.functional.gelu
        case Activation.GELU_TANH:
            return partial(torch.nn.functional.gelu, approximate="tanh")
        case _:
            assert_never(activation)


def _module(layer: EncoderLayer, width: int) -> torch.nn.TransformerEncoderLayer:
    """PyTorch's layer with these weights."""
    import torch

    made = torch.nn.TransformerEncoderLayer(
        width,
        layer.heads,
        len(layer.hidden_bias),
        dropout=0.0,
        activation=_activation(layer.activation),
        batch_first=True,
        norm_first=layer.norm_first,
    )
    weights = {
        "self_attn.in_proj_weight": layer.in_weight,
        "self_attn.in_proj_bias": layer.in_bias,
        "self_attn.out_proj.weight": layer.out_weight,
        "self_attn.out_proj.bias": layer.out_bias,
        "linear1.weight": layer.hidden_weight,
        "linear1.bias": layer.hidden_bias,
        "linear2.weight": layer.back_weight,
        "linear2.bias": layer.back_bias,
    }
    names: list[tuple[str, Any]] = list(zip(("norm1", "norm2"), layer.norms or (), strict=False))
    for name, norm in names:
        weights |= {f"{name}.weight": norm.gain, f"{name}.bias": norm.bias}
        getattr(made, name).eps = norm.epsilon
    if layer.norms is None:
        made.norm1 = made.norm2 = torch.nn.Identity()  # type: ignore[assignment]
    made.activation_relu_or_gelu = 0  # PyTorch's fused function knows no layer without norms
    made.load_state_dict({name: torch.tensor(own, dtype=torch.float32) for name, own in weights.items()})
    return made.eval()
