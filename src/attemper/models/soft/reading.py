"""The weights of a `torch.nn.TransformerEncoder`, as data: one reader for hard and soft attention."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from attemper.errors import UnsupportedError
from attemper.models.arrays import Floats
from attemper.models.soft import weights

if TYPE_CHECKING:
    import torch


def read_weights(
    encoder: torch.nn.TransformerEncoder,
    embedding: torch.nn.Embedding,
    readout: torch.nn.Linear,
    symbols: Sequence[str],
    ending: str | None,
    *,
    positions: weights.PositionEncoding | None = None,
    mask: weights.Mask = weights.Mask.UNMASKED,
    outputs: Sequence[str] | None = None,
) -> weights.Encoder:
    """The encoder with the weights of these modules, as `attemper influence` and `attemper bound` take it.

    `embedding` has a row for each of the `symbols`, the end marker `ending` among them. `positions` is what
    is added to the embeddings (default: nothing), `mask` how the encoder is called. `readout` is applied at
    position n; `outputs` names its K rows (default: "output", or "output 0" to "output K-1").

    Layers may have LayerNorm after or before their sublayers, or `torch.nn.Identity()` in the place of both.
    Raises `UnsupportedError` for what is not read: other activations than ReLU, a final norm, LayerNorm
    without a positive epsilon, attention without biases, weights that are not finite; and for modules that
    compute something else than their weights say: subclasses, methods replaced in an instance, hooks,
    parametrizations. Raises `TypeError` for arguments that are no such things at all, for example because
    their order is another.

    >>> import torch
    >>> layer = torch.nn.TransformerEncoderLayer(4, 2, 8, batch_first=True)
    >>> stack = torch.nn.TransformerEncoder(layer, 1, enable_nested_tensor=False)
    >>> read_weights(stack, torch.nn.Embedding(3, 4), torch.nn.Linear(4, 1), ("0", "1", "$"), "$").width
    4
    """
    _require_kinds(encoder=encoder, embedding=embedding, readout=readout)
    _require_plain(encoder, embedding, readout)
    if encoder.norm is not None:
        raise UnsupportedError("an encoder with a final norm is not read; build it with norm=None")
    width, rows = embedding.embedding_dim, readout.out_features
    if readout.in_features != width or readout.bias is None:
        raise UnsupportedError(f"the readout must be linear with {width} inputs and a bias")
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
    named = tuple(outputs) if outputs is not None else _default_names(rows)
    if len(named) != rows or len(set(named)) < rows:
        raise UnsupportedError(f"the readout has {rows} outputs: give as many names that differ")
    return weights.Encoder(
        tuple(symbols),
        ending,
        _matrix(embedding.weight)[: len(symbols)],
        _read_positions(positions, width),
        mask,
        tuple(_layer(layer) for layer in encoder.layers),
        _matrix(readout.weight),
        _matrix(readout.bias),
        named,
    )


def _default_names(rows: int) -> tuple[str, ...]:
    return ("output",) if rows == 1 else tuple(f"output {row}" for row in range(rows))


def _read_positions(positions: weights.PositionEncoding | None, width: int) -> weights.PositionEncoding:
    """The positions, with tables of the encoder's width only."""
    if isinstance(positions, weights.Periodic | weights.Table):
        table = np.asarray(positions.table, dtype=np.float64)
        if table.ndim != 2 or table.shape[1] != width or len(table) == 0:
            raise UnsupportedError(
                f"a table of positions must be a matrix with {width} columns, like the embedding"
            )
        return type(positions)(table)
    return positions if positions is not None else weights.NoPositions()


def _require_kinds(**arguments: object) -> None:
    """Raises `TypeError` unless the arguments are of the kinds that are read."""
    from torch import nn

    kinds = {"encoder": nn.TransformerEncoder, "embedding": nn.Embedding, "readout": nn.Linear}
    for name, argument in arguments.items():
        kind = kinds[name]
        others = tuple(other for other in kinds.values() if other is not kind)
        if not isinstance(argument, nn.Module) or isinstance(argument, others):
            raise TypeError(
                f"'{name}' must be of the class torch.nn.{kind.__name__}, not {type(argument).__name__}; "
                f"the modules are given as {', '.join(kinds)}"
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
            return (nn.LayerNorm, nn.Identity)
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


def _layer(layer: Any) -> weights.EncoderLayer:
    attention = layer.self_attn
    import torch

    activation = layer.activation
    if activation is not torch.nn.functional.relu and not isinstance(activation, torch.nn.ReLU):
        raise UnsupportedError(
            "an encoder layer whose activation is not ReLU is not read: ReLU can be followed exactly, being "
            "a line on each side of 0; GELU is read from folders of GPT-2s alone, by 'attemper judge'; "
            "train it with activation='relu'"
        )
    if attention.in_proj_weight is None or attention.in_proj_bias is None:
        raise UnsupportedError("attention without a joint projection and its bias is not read")
    if attention.bias_k is not None or attention.add_zero_attn:
        raise UnsupportedError("attention with keys of its own (add_bias_kv, add_zero_attn) is not read")
    return weights.EncoderLayer(
        _matrix(attention.in_proj_weight),
        _matrix(attention.in_proj_bias),
        _matrix(attention.out_proj.weight),
        _matrix(attention.out_proj.bias),
        _matrix(layer.linear1.weight),
        _matrix(layer.linear1.bias),
        _matrix(layer.linear2.weight),
        _matrix(layer.linear2.bias),
        _norms(layer.norm1, layer.norm2),
        int(attention.num_heads),
        bool(layer.norm_first),
    )


def _norms(first: Any, second: Any) -> tuple[weights.EncoderNorm, weights.EncoderNorm] | None:
    """The two norms of a layer; None where both are left out."""
    import torch

    left_out = [isinstance(norm, torch.nn.Identity) for norm in (first, second)]
    if all(left_out):
        return None
    if any(left_out) or any(norm.weight is None or norm.bias is None for norm in (first, second)):
        raise UnsupportedError("layer norms without gain and bias, or without the other norm, are not read")
    if not all(norm.eps > 0 for norm in (first, second)):
        raise UnsupportedError("a layer norm whose eps is not positive is not read: it has jumps")
    return _norm(first), _norm(second)


def _norm(norm: Any) -> weights.EncoderNorm:
    return weights.EncoderNorm(_matrix(norm.weight), _matrix(norm.bias), float(norm.eps))


def _matrix(tensor: torch.Tensor) -> Floats:
    found = np.asarray(tensor.detach().cpu().double().numpy(), dtype=np.float64)
    if not np.isfinite(found).all():
        raise UnsupportedError("an encoder has a weight that is not finite")
    return found
