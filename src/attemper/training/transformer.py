"""A transformer of PyTorch's own encoder layers, small enough to be trained on one core."""

from __future__ import annotations

from typing import assert_never

import torch
from torch import Tensor, nn

from attemper.errors import OptionError
from attemper.training.settings import ModelSettings


class Transformer(nn.Module):
    """PyTorch's own encoder layers, with a read-out: as Hahn (2020) has it, if nothing is causal.

    The parts `embedding`, `encoder` and `readout` are what `attemper.models.soft.reading.read_weights` takes,
    without learned positions and log-n temperature.
    """

    def __init__(self, settings: ModelSettings, tokens: int, outputs: int) -> None:
        super().__init__()
        self.settings, width = settings, settings.width
        self.embedding = nn.Embedding(tokens, width)
        layers = [_layer(settings) for _ in range(settings.layers)]
        self.encoder = nn.TransformerEncoder(layers[0], settings.layers, enable_nested_tensor=False)
        # The stack copies one layer: each shall have first weights of its own.
        self.encoder.layers = nn.ModuleList(layers)
        self.readout = nn.Linear(width, outputs)
        self.places = nn.Embedding(settings.longest, width) if settings.positions == "learned" else None

    def forward(self, tokens: Tensor, mask: Tensor | None = None) -> Tensor:
        length = tokens.shape[1]
        x = self.embedding(tokens) + self._positions(length)
        causal = nn.Transformer.generate_square_subsequent_mask(length) if self.settings.causal else None
        # What is causal never sees the padding, which stands behind.
        hidden = None if mask is None or self.settings.causal else ~mask
        x = self.encoder(
            x,
            mask=None if causal is None else causal.to(x.dtype),
            src_key_padding_mask=hidden,
            is_causal=self.settings.causal,
        )
        found: Tensor = self.readout(x)
        return found

    def _positions(self, length: int) -> Tensor:
        match self.settings.positions:
            case "none":
                return self.embedding.weight.new_zeros(())
            case "sinusoidal":
                return sinusoids(length, self.settings.width).to(self.embedding.weight)
            case "learned":
                assert self.places is not None
                if length > self.settings.longest:
                    raise OptionError(
                        f"{length:,} positions, and the model has learned {self.settings.longest:,}: "
                        "train with a greater model.longest"
                    )
                return self.places.weight[:length]
            case _:
                assert_never(self.settings.positions)


class _LogScaled(nn.TransformerEncoderLayer):
    """A layer whose scores are multiplied by ln k, for a query that sees k positions: temperature 1/ln k."""

    def _sa_block(
        self, x: Tensor, attn_mask: Tensor | None, key_padding_mask: Tensor | None, is_causal: bool = False
    ) -> Tensor:
        own = self.self_attn
        parts = nn.functional.linear(x, own.in_proj_weight, own.in_proj_bias).chunk(3, dim=-1)
        batch, length, width = x.shape
        shape = (batch, length, own.num_heads, width // own.num_heads)
        q, k, v = (part.reshape(shape).transpose(1, 2) for part in parts)
        seen = torch.arange(1, length + 1) if is_causal else torch.full((length,), length)
        hidden = attn_mask
        if key_padding_mask is not None:
            # The stack has made numbers of what was True and False: 0 for what is seen, else -inf.
            hidden = key_padding_mask[:, None, None, :]
            seen = (key_padding_mask == 0).sum(dim=1)[:, None, None].expand(-1, 1, length)
        scaled = q * seen.log().to(x.dtype)[..., None]
        z = nn.functional.scaled_dot_product_attention(scaled, k, v, attn_mask=hidden)
        found: Tensor = own.out_proj(z.transpose(1, 2).reshape(batch, length, width))
        return found


def _layer(settings: ModelSettings) -> nn.TransformerEncoderLayer:
    kind = _LogScaled if settings.temperature == "log-n" else nn.TransformerEncoderLayer
    layer = kind(
        settings.width,
        settings.heads,
        settings.hidden,
        dropout=0.0,
        batch_first=True,
        norm_first=settings.norm == "pre",
    )
    # PyTorch computes a layer by one fused function where nothing is trained, and that function knows neither
    # our scores nor layers without norms: this says that it must not.
    layer.activation_relu_or_gelu = 0
    if settings.norm == "none":
        layer.norm1 = layer.norm2 = nn.Identity()  # type: ignore[assignment]
    return layer


def sinusoids(length: int, width: int) -> Tensor:
    """Vaswani's position embeddings [position, width] in float64, on the CPU, from position 0 on.

    Coordinates 2k and 2k+1 are the sine and the cosine of position / 10000^(2k/width).
    """
    places, rates = (torch.arange(*ends, device="cpu").double() for ends in ((length,), (0, width, 2)))
    angles = places[:, None] / 10000 ** (rates / width)
    return torch.stack([angles.sin(), angles.cos()], dim=-1).flatten(1)[:, :width]
