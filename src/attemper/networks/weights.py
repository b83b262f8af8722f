"""A network's weights as dense tensors, and back: the same numbers, exactly.

    embed.W_E                    [symbol, d_model]
    blocks.L.attn.W_Q, W_K, W_V  [head, d_model, d_head]
    blocks.L.attn.W_O            [head, d_head, d_model]
    blocks.L.mlp.W_in            [d_model, d_mlp]
    blocks.L.mlp.b_in            [d_mlp]
    blocks.L.mlp.W_out           [d_mlp, d_model]
    blocks.L.ln1.w, ln1.b        [d_model]      of a normalised network, before attention
    blocks.L.ln2.w, ln2.b        [d_model]      and before the feed-forward layer; RMSNorm has no b

Names and shapes follow TransformerLens. W_Q carries the factor sqrt(d_head).
"""

from __future__ import annotations

from array import array
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from math import isfinite, prod
from typing import final

from attemper.errors import UnsupportedError
from attemper.networks import layers
from attemper.networks.safetensors import Tensor

Entries = Iterable[tuple[tuple[int, ...], Fraction]]
"""The non-zero entries of a tensor."""


@final
@dataclass(frozen=True)
class HeadWeights:
    """The linear maps of one head, without the factor sqrt(d_head)."""

    query: tuple[layers.LinearForm, ...]
    key: tuple[layers.LinearForm, ...]
    values: tuple[layers.LinearForm, ...]
    targets: tuple[layers.Coordinate, ...]


@final
@dataclass(frozen=True)
class HeadRows:
    """A head as its tensors have it: `written[m]` is the row of W_O for value m, whatever stands there."""

    query: tuple[layers.LinearForm, ...]
    key: tuple[layers.LinearForm, ...]
    values: tuple[layers.LinearForm, ...]
    written: tuple[layers.LinearForm, ...]


MOST_PARAMETERS = 250_000_000
"""Larger networks (2 GB in float64) are not written densely."""


def tensors_of(network: layers.Network) -> dict[str, Tensor]:
    """All weights of the network.

    Raises `UnsupportedError` if one is not exactly a float64, or if there are more than `MOST_PARAMETERS`.
    """
    count = layers.parameter_count(network)
    if count > MOST_PARAMETERS:
        raise UnsupportedError(
            f"the network has {count:,} weights, more than {MOST_PARAMETERS:,}, the cap on writing them; "
            "split the language into simpler ones"
        )
    width, d_head = len(network.coordinates), network.head_width
    symbols = len(network.embedding)
    tensors = {"embed.W_E": _dense((symbols, width), _matrix_entries(network.embedding))}
    for number, layer in enumerate(network.layers):
        attention, feed_forward = f"blocks.{number}.attn", f"blocks.{number}.mlp"
        heads, units = len(layer.heads), len(layer.hidden)
        root = Fraction(layers.HEAD_WIDTHS[d_head])
        reading = (heads, width, d_head)
        tensors |= _norm_tensors(network.normalisation, number, "ln1")
        tensors[f"{attention}.W_Q"] = _dense(reading, _reading_entries((h.query for h in layer.heads), root))
        tensors[f"{attention}.W_K"] = _dense(reading, _reading_entries(h.key for h in layer.heads))
        tensors[f"{attention}.W_V"] = _dense(reading, _reading_entries(h.values for h in layer.heads))
        tensors[f"{attention}.W_O"] = _dense((heads, d_head, width), _writing_entries(layer))
        forms = [unit.form for unit in layer.hidden]
        biases = (((u,), unit.bias) for u, unit in enumerate(layer.hidden))
        transposed = (((c, u), x) for (u, c), x in _matrix_entries(forms))
        tensors |= _norm_tensors(network.normalisation, number, "ln2")
        tensors[f"{feed_forward}.W_in"] = _dense((width, units), transposed)
        tensors[f"{feed_forward}.b_in"] = _dense((units,), biases)
        outputs = [unit.outputs for unit in layer.hidden]
        tensors[f"{feed_forward}.W_out"] = _dense((units, width), _matrix_entries(outputs))
    return tensors


def embedding_from(tensors: Mapping[str, Tensor], symbols: int, width: int) -> tuple[layers.LinearForm, ...]:
    """The word embeddings; raises ValueError for a missing tensor or another shape."""
    rows = _rows(_expect(tensors, "embed.W_E", (symbols, width)))
    return tuple(rows.get((symbol,), ()) for symbol in range(symbols))


def heads_from(
    tensors: Mapping[str, Tensor], layer: int, rows: tuple[tuple[int, int], ...], width: int, d_head: int
) -> tuple[HeadWeights, ...]:
    """The heads of a layer, of which head h uses rows[h] = (query rows, values).

    Raises ValueError for a missing tensor, another shape, a weight in a row that is not used, or a value that
    is not written to one coordinate with factor 1.
    """
    found: list[HeadWeights] = []
    for number, head in enumerate(head_rows(tensors, layer, rows, width, d_head)):
        if any(len(form) != 1 or form[0][1] != 1 for form in head.written):
            raise ValueError(f"blocks.{layer}.attn: head {number} must write each value to one coordinate")
        targets = tuple(form[0][0] for form in head.written)
        found.append(HeadWeights(head.query, head.key, head.values, targets))
    return tuple(found)


def head_rows(
    tensors: Mapping[str, Tensor], layer: int, rows: tuple[tuple[int, int], ...], width: int, d_head: int
) -> tuple[HeadRows, ...]:
    """The heads of a layer as they stand, of which head h uses rows[h] = (query rows, values).

    All that the tensors hold beyond those rows is 0. Raises ValueError for everything else.
    """
    used, values = [own for own, _ in rows], [own for _, own in rows]
    reading, writing = (len(rows), width, d_head), (len(rows), d_head, width)
    prefix = f"blocks.{layer}.attn"
    query = _used_rows(tensors, f"{prefix}.W_Q", reading, used, along=1)
    key = _used_rows(tensors, f"{prefix}.W_K", reading, used, along=1)
    value = _used_rows(tensors, f"{prefix}.W_V", reading, values, along=1)
    output = _used_rows(tensors, f"{prefix}.W_O", writing, values)
    root = Fraction(layers.HEAD_WIDTHS[d_head])
    return tuple(
        HeadRows(
            query=tuple(tuple((c, x / root) for c, x in form) for form in query[head]),
            key=key[head],
            values=value[head],
            written=output[head],
        )
        for head in range(len(rows))
    )


def _used_rows(
    tensors: Mapping[str, Tensor], name: str, shape: tuple[int, ...], used: Sequence[int], along: int = -1
) -> list[tuple[layers.LinearForm, ...]]:
    """For each head the first used[head] rows of its matrix; raises ValueError if another row is not 0."""
    found = _rows(_expect(tensors, name, shape), along)
    for (head, m), form in found.items():
        if m >= used[head]:
            raise ValueError(
                f"tensor '{name}': head {head} uses {used[head]} of its rows, but row {m} has a weight, "
                f"{float(form[0][1])!r} for coordinate {form[0][0]}"
            )
    return [tuple(found.get((head, m), ()) for m in range(count)) for head, count in enumerate(used)]


def hidden_from(
    tensors: Mapping[str, Tensor], layer: int, units: int, width: int
) -> tuple[layers.Hidden, ...]:
    """The hidden units of a layer."""
    prefix = f"blocks.{layer}.mlp"
    inner = _rows(_expect(tensors, f"{prefix}.W_in", (width, units)), along=0)
    bias = _expect(tensors, f"{prefix}.b_in", (units,))
    outer = _rows(_expect(tensors, f"{prefix}.W_out", (units, width)))
    return tuple(
        layers.Hidden(inner.get((unit,), ()), Fraction(bias.numbers[unit]), outer.get((unit,), ()))
        for unit in range(units)
    )


def norms_from(
    tensors: Mapping[str, Tensor], depth: int, width: int, *, is_centred: bool
) -> tuple[tuple[layers.Norm, ...], tuple[layers.Norm, ...]]:
    """The norms before the attention and before the feed-forward layer of each layer."""

    def norm(name: str) -> layers.Norm:
        gain = _expect(tensors, f"{name}.w", (width,)).numbers
        bias = _expect(tensors, f"{name}.b", (width,)).numbers if is_centred else [0] * width
        return layers.Norm(tuple(map(Fraction, gain)), tuple(map(Fraction, bias)))

    attention = tuple(norm(f"blocks.{number}.ln1") for number in range(depth))
    return attention, tuple(norm(f"blocks.{number}.ln2") for number in range(depth))


PARTS = ("attn.W_Q", "attn.W_K", "attn.W_V", "attn.W_O", "mlp.W_in", "mlp.b_in", "mlp.W_out")
"""The tensors of every layer."""

NORM_PARTS = {True: ("ln1.w", "ln1.b", "ln2.w", "ln2.b"), False: ("ln1.w", "ln2.w")}
"""Those of a normalised layer besides, if the normalisation is centred and if not."""


def tensor_names(depth: int, is_centred: bool | None = None) -> set[str]:
    """The names of all tensors of a network with that many layers; `is_centred`: its normalisation."""
    parts = PARTS if is_centred is None else (*PARTS, *NORM_PARTS[is_centred])
    return {"embed.W_E", *(f"blocks.{number}.{part}" for number in range(depth) for part in parts)}


def _norm_tensors(normalisation: layers.Normalisation | None, layer: int, name: str) -> dict[str, Tensor]:
    """The gains and biases of one norm; nothing if the network has none."""
    if normalisation is None:
        return {}
    norms = normalisation.before_attention if name == "ln1" else normalisation.before_feed_forward
    numbers = {"w": norms[layer].gain, "b": norms[layer].bias}
    return {
        f"blocks.{layer}.{name}.{part}": _dense((len(own),), (((c,), x) for c, x in enumerate(own)))
        for part, own in numbers.items()
        if f"{name}.{part}" in NORM_PARTS[normalisation.is_centred]
    }


def _matrix_entries(forms: Iterable[layers.LinearForm]) -> Entries:
    for row, form in enumerate(forms):
        for coordinate, factor in form:
            yield (row, coordinate), factor


def _reading_entries(heads: Iterable[tuple[layers.LinearForm, ...]], root: Fraction = Fraction(1)) -> Entries:
    for head, rows in enumerate(heads):
        for m, form in enumerate(rows):
            for coordinate, factor in form:
                yield (head, coordinate, m), factor * root


def _writing_entries(layer: layers.Layer) -> Entries:
    for number, head in enumerate(layer.heads):
        for m, target in enumerate(head.targets):
            yield (number, m, target), Fraction(1)


def _dense(shape: tuple[int, ...], entries: Entries) -> Tensor:
    numbers = array("d", bytes(8 * prod(shape)))
    for place, value in entries:
        index = 0
        for size, own in zip(shape, place, strict=True):
            index = index * size + own
        number = float(value)
        if Fraction(number) != value:
            raise UnsupportedError(f"the weight {value} is not exactly a float64: use smaller integers")
        numbers[index] = number
    return Tensor(shape, numbers)


def _expect(tensors: Mapping[str, Tensor], name: str, shape: tuple[int, ...]) -> Tensor:
    tensor = tensors.get(name)
    if tensor is None:
        raise ValueError(f"tensor '{name}' is missing")
    if tensor.shape != shape:
        raise ValueError(f"tensor '{name}' has shape {list(tensor.shape)}, not {list(shape)}")
    if not all(map(isfinite, tensor.numbers)):
        raise ValueError(f"tensor '{name}' has a number that is not finite")
    return tensor


def _rows(tensor: Tensor, along: int = -1) -> dict[tuple[int, ...], layers.LinearForm]:
    """The non-zero rows of a tensor as sparse forms; `along` is the axis of the coordinates."""
    axis = along % len(tensor.shape)
    rows: dict[tuple[int, ...], list[tuple[int, Fraction]]] = {}
    for index, number in enumerate(tensor.numbers):
        if number:
            place: list[int] = []
            for size in reversed(tensor.shape):
                index, own = divmod(index, size)
                place.insert(0, own)
            coordinate = place.pop(axis)
            rows.setdefault(tuple(place), []).append((coordinate, Fraction(number)))
    return {place: tuple(form) for place, form in rows.items()}
