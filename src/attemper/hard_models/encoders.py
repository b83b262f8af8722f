"""A PyTorch encoder whose weights are read, and whose attention is made hard.

The arithmetic is this file's: float64, sums in the order of the coordinates, so that nothing depends on the
batch. PyTorch's own kernels may round otherwise; what is said about this model is not said about them.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from hashlib import sha256
from typing import TYPE_CHECKING, Any, final

import numpy as np
from numpy.typing import NDArray

from attemper.errors import UnsupportedError
from attemper.hard_models.protocol import Array, Integers, dot

if TYPE_CHECKING:
    import torch

Matrix = NDArray[np.float64]


@final
@dataclass(frozen=True)
class EncoderLayer:
    """The weights of a `torch.nn.TransformerEncoderLayer`, in float64."""

    in_weight: Matrix
    in_bias: Matrix
    out_weight: Matrix
    out_bias: Matrix
    hidden_weight: Matrix
    hidden_bias: Matrix
    back_weight: Matrix
    back_bias: Matrix
    norms: tuple[tuple[Matrix, Matrix, float], tuple[Matrix, Matrix, float]]
    heads: int
    norm_first: bool


@final
@dataclass(frozen=True, eq=False)
class EncoderModel:
    """Embeddings plus positions, encoder layers with leftmost-hard attention, and a linear readout at n."""

    symbols: tuple[str, ...]
    ending: str | None
    embedding: Matrix
    positions: Matrix
    layers: tuple[EncoderLayer, ...]
    readout: Matrix
    bias: float

    @property
    def length(self) -> int:
        return len(self.positions)

    @property
    def heads(self) -> tuple[int, ...]:
        return tuple(layer.heads for layer in self.layers)

    @property
    def semantics(self) -> str:
        return "float64, every sum in the order of the coordinates"

    @property
    def digest(self) -> str:
        parts = [self.embedding, self.positions, self.readout, np.array([self.bias])]
        for layer in self.layers:
            parts += [layer.in_weight, layer.in_bias, layer.out_weight, layer.out_bias]
            parts += [layer.hidden_weight, layer.hidden_bias, layer.back_weight, layer.back_bias]
            parts += [part for gain, bias, eps in layer.norms for part in (gain, bias, np.array([eps]))]
            parts.append(np.array([layer.heads, layer.norm_first]))
        named = repr((self.symbols, self.ending, [part.shape for part in parts])).encode()
        return sha256(named + b"".join(np.ascontiguousarray(part).tobytes() for part in parts)).hexdigest()

    def embed(self, positions: Integers, symbols: Integers) -> Array:
        return np.asarray(self.embedding[symbols] + self.positions[positions - 1])

    def scores(self, layer: int, head: int, queries: Array, keys: Array) -> Array:
        which = self.layers[layer]
        width = queries.shape[1]
        size = width // which.heads
        rows = slice(head * size, (head + 1) * size)
        below = slice(width + head * size, width + (head + 1) * size)
        left, right = (_normed(rows_, which, 0) if which.norm_first else rows_ for rows_ in (queries, keys))
        query = dot(left, which.in_weight[rows].T) + which.in_bias[rows]
        key = dot(right, which.in_weight[below].T) + which.in_bias[below]
        return dot(query, key.T)

    def combine(self, layer: int, own: Array, attended: Sequence[Array]) -> Array:
        which = self.layers[layer]
        width = own.shape[1]
        size = width // which.heads
        read = []
        for head, rows in enumerate(attended):
            part = slice(2 * width + head * size, 2 * width + (head + 1) * size)
            seen = _normed(rows, which, 0) if which.norm_first else rows
            read.append(dot(seen, which.in_weight[part].T) + which.in_bias[part])
        middle = own + (dot(np.concatenate(read, axis=1), which.out_weight.T) + which.out_bias)
        if not which.norm_first:
            middle = _normed(middle, which, 0)
        entering = _normed(middle, which, 1) if which.norm_first else middle
        hidden = np.maximum(dot(entering, which.hidden_weight.T) + which.hidden_bias, 0)
        after = middle + (dot(hidden, which.back_weight.T) + which.back_bias)
        return after if which.norm_first else _normed(after, which, 1)

    def labels(self, activations: Array) -> NDArray[np.bool_]:
        return np.asarray(dot(activations, self.readout[:, None])[:, 0] + self.bias > 0, dtype=np.bool_)


def _normed(rows: Array, layer: EncoderLayer, number: int) -> Matrix:
    gain, bias, eps = layer.norms[number]
    mean = _sum(rows) / rows.shape[1]
    centred = rows - mean
    variance = _sum(centred * centred) / rows.shape[1]
    return np.asarray(centred / np.sqrt(variance + eps) * gain + bias)


def _sum(rows: Array) -> Matrix:
    """The sums of the rows, in the order of the columns."""
    return dot(rows, np.ones((rows.shape[1], 1)))


def read_encoder(
    encoder: torch.nn.TransformerEncoder,
    embedding: torch.nn.Embedding,
    positions: torch.Tensor,
    readout: torch.nn.Linear,
    symbols: Sequence[str],
    ending: str | None,
) -> EncoderModel:
    """The hard-attention model with the weights of an encoder, for words of `len(positions)` symbols.

    `positions` is the (n, d) matrix that is added to the embeddings; `readout` has one output, accepted if
    positive, applied at position n. The encoder is read without mask and padding: one that was trained with a
    causal mask is another function. Raises `UnsupportedError` for what it does not read: other activations
    than ReLU, a final norm, attention without biases; and for modules that compute something else than their
    weights say: subclasses, methods replaced in an instance, hooks, parametrizations. Raises `TypeError` for
    arguments that are no such things at all, for example because their order is another.
    """
    _require_kinds(encoder, embedding, positions, readout)
    _require_plain(encoder, embedding, readout)
    if encoder.norm is not None:
        raise UnsupportedError("an encoder with a final norm is not read; build it with norm=None")
    width = embedding.embedding_dim
    if positions.ndim != 2 or positions.shape[1] != width:
        raise UnsupportedError(f"the positions must be a matrix with {width} columns, like the embedding")
    if readout.weight.shape != (1, width) or readout.bias is None:
        raise UnsupportedError(f"the readout must be linear with {width} inputs, one output and a bias")
    if embedding.max_norm is not None:
        raise UnsupportedError("an embedding with max_norm is not read")
    if (
        len(set(symbols)) < len(symbols)
        or len(symbols) > embedding.num_embeddings
        or (ending is not None and ending not in symbols)
    ):
        raise UnsupportedError(
            "symbols must differ, each with a row of the embedding, the end marker among them"
        )
    layers = tuple(_layer(layer) for layer in encoder.layers)
    return EncoderModel(
        tuple(symbols),
        ending,
        _matrix(embedding.weight),
        _matrix(positions),
        layers,
        _matrix(readout.weight)[0],
        float(_matrix(readout.bias)[0]) if readout.bias is not None else 0.0,
    )


def _require_kinds(*arguments: object) -> None:
    """Raises `TypeError` unless the arguments of `read_encoder` are of the kinds that it takes."""
    import torch

    names = ("encoder", "embedding", "positions", "readout")
    kinds = (torch.nn.TransformerEncoder, torch.nn.Embedding, torch.Tensor, torch.nn.Linear)
    for name, kind, argument in zip(names, kinds, arguments, strict=True):
        if not isinstance(argument, torch.nn.Module if issubclass(kind, torch.nn.Module) else kind) or any(
            isinstance(argument, other) for other in kinds if other is not kind
        ):
            raise TypeError(
                f"'{name}' must be of the class torch.{'nn.' * (kind is not torch.Tensor)}{kind.__name__}, "
                f"not {type(argument).__name__}; read_encoder takes {', '.join(names)}, symbols, ending"
            )


def _require_plain(encoder: object, embedding: object, readout: object) -> None:
    """Raises `UnsupportedError` unless every module that computes is torch's own, with nothing replaced."""
    from torch import nn

    _require_own("the encoder", encoder, nn.TransformerEncoder)
    _require_own("the embedding", embedding, nn.Embedding)
    _require_own("the readout", readout, nn.Linear)
    layers = getattr(encoder, "layers", None)
    _require_own("the encoder's 'layers'", layers, nn.ModuleList)
    assert isinstance(layers, nn.ModuleList)
    for number, layer in enumerate(layers):
        name = f"layer {number} of the encoder"
        _require_own(name, layer, nn.TransformerEncoderLayer)
        for part, module in layer.named_children():
            _require_own(f"'{part}' in {name}", module, *_parts_of_a_layer(part))
            if isinstance(module, nn.MultiheadAttention):
                classes = _parts_of_a_layer("out_proj")
                _require_own(f"'{part}.out_proj' in {name}", module.out_proj, *classes)


def _parts_of_a_layer(part: str) -> tuple[type[torch.nn.Module], ...]:
    """The classes that a module of this name in an encoder layer may have."""
    from torch import nn

    match part:
        case "self_attn":
            return (nn.MultiheadAttention,)
        case "linear1" | "linear2":
            return (nn.Linear,)
        case "out_proj":
            return (nn.Linear, nn.modules.linear.NonDynamicallyQuantizableLinear)
        case "norm1" | "norm2":
            return (nn.LayerNorm,)
        case "dropout" | "dropout1" | "dropout2":
            return (nn.Dropout,)
        case "activation":
            return (nn.ReLU,)
        case _:
            return ()


def _require_own(name: str, module: object, *classes: type[torch.nn.Module]) -> None:
    """Raises `UnsupportedError` unless the module is exactly of one of the classes, as torch made it."""
    own = type(module)
    if own not in classes:
        raise UnsupportedError(
            f"{name} is a {own.__module__}.{own.__qualname__}, whose functions are not known: only torch's "
            "own classes are read, not subclasses; copy the weights into one of them"
        )
    replaced = sorted(key for key in vars(module) if callable(getattr(own, key, None)))
    if replaced:
        raise UnsupportedError(f"{name} has a '{replaced[0]}' of its own, which is not read; remove it")
    if any(getattr(module, hooks, None) for hooks in HOOKS):
        raise UnsupportedError(f"{name} has hooks, which can compute anything, and are not read; remove them")


HOOKS = ("_forward_hooks", "_forward_pre_hooks")
"""Where torch keeps the functions that are called before and after a module's own."""


def _layer(layer: Any) -> EncoderLayer:
    attention = layer.self_attn
    import torch

    activation = layer.activation
    if activation is not torch.nn.functional.relu and not isinstance(activation, torch.nn.ReLU):
        raise UnsupportedError("an encoder layer whose activation is not ReLU is not read")
    if attention.in_proj_weight is None or attention.in_proj_bias is None:
        raise UnsupportedError("attention without a joint projection and its bias is not read")
    if attention.bias_k is not None or attention.add_zero_attn:
        raise UnsupportedError("attention with keys of its own (add_bias_kv, add_zero_attn) is not read")
    first, second = layer.norm1, layer.norm2
    if any(norm.weight is None or norm.bias is None for norm in (first, second)):
        raise UnsupportedError("layer norms without gain and bias are not read")
    return EncoderLayer(
        _matrix(attention.in_proj_weight),
        _matrix(attention.in_proj_bias),
        _matrix(attention.out_proj.weight),
        _matrix(attention.out_proj.bias),
        _matrix(layer.linear1.weight),
        _matrix(layer.linear1.bias),
        _matrix(layer.linear2.weight),
        _matrix(layer.linear2.bias),
        (
            (_matrix(first.weight), _matrix(first.bias), float(first.eps)),
            (_matrix(second.weight), _matrix(second.bias), float(second.eps)),
        ),
        int(attention.num_heads),
        bool(layer.norm_first),
    )


def _matrix(tensor: torch.Tensor) -> Matrix:
    return np.asarray(tensor.detach().cpu().double().numpy(), dtype=np.float64)
