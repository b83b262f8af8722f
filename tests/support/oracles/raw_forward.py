"""A forward pass that reads a folder's files alone, in every arithmetic that a float claim is about.

Nothing here imports attemper. Numbers are kept in arrays of the format in which sums are formed: float64,
or float32 for float32 and bfloat16; what a format rounds to is rounded by `Format.narrow`. Words of
several lengths run side by side, [word, position]; what hidden keys add to a sum is exactly 0.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from copy import copy
from dataclasses import dataclass, replace
from enum import StrEnum
from functools import cache
from itertools import product
from typing import Any

import numpy as np
import torch

from tests.support.oracles.raw_files import Floats, Integers, RawNetwork, form_in_floats, places_of

# Formats ------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Format:
    """A number format: where sums are formed, where a fused multiply-add is formed, and torch's name."""

    name: str
    wide: type[np.floating[Any]]
    fused: type[np.floating[Any]]
    torch: torch.dtype

    def narrow(self, numbers: Floats) -> Floats:
        """The nearest numbers of the format, ties to even."""
        if self.name != "bfloat16":
            return numbers.astype(self.wide, copy=False)
        _, exponents = np.frexp(numbers)
        last = np.maximum(exponents - 8, -133)  # of the last bit, which denormal numbers share
        return np.ldexp(np.rint(np.ldexp(numbers, -last)), last).astype(np.float32, copy=False)


FORMATS = {
    own.name: own
    for own in (
        Format("float64", np.float64, np.longdouble, torch.float64),
        Format("float32", np.float32, np.float64, torch.float32),
        Format("bfloat16", np.float32, np.float64, torch.bfloat16),
    )
}


# Ways to run --------------------------------------------------------------------------------------------


class Kernel(StrEnum):
    """How attention is computed."""

    NUMERATOR = "numerator first"
    """The sums of e_j v_j and of e_j, then one division."""
    FUSED = "fused"
    """torch's scaled_dot_product_attention; a head without a query averages as NUMERATOR does."""
    FUSED_MEANS = "fused throughout"
    """torch's scaled_dot_product_attention for every head."""
    NORMALISE = "normalise first"
    """Each e_j is divided by the sum of all, then the values are summed."""
    EAGER = "eager"
    """torch's softmax, then the values are summed."""
    SCAN = "scan"
    """What a scan may do with any head: numerator first in float64, where keys read places unrounded."""


class Order(StrEnum):
    """In which order a sum is formed."""

    SEQUENTIAL = "sequential"
    REVERSED = "reversed"
    PAIRWISE = "pairwise"
    FUSED = "fused multiply-add"
    TORCH = "torch"


@dataclass(frozen=True)
class Way:
    """One way to run a network: the kernel, the order of every sum, and three choices.

    The temperature is multiplied with q, or with q . k: claims cover both. A bias is added after the sum, or
    is its first term; position embeddings are evaluated in float64 and rounded once, or computed in the
    format: claims cover the first of each.
    """

    kernel: Kernel
    order: Order
    late_temperature: bool = False
    early_bias: bool = False
    narrow_places: bool = False

    def __str__(self) -> str:
        named = ("late_temperature", "early_bias", "narrow_places")
        return ", ".join([self.kernel, self.order, *(name for name in named if getattr(self, name))])


KERNELS: dict[str, tuple[Kernel, ...]] = {
    "numerator-first": (Kernel.NUMERATOR, Kernel.FUSED, Kernel.FUSED_MEANS),
    "normalise-first": (Kernel.NORMALISE, Kernel.EAGER),
    "scan": (Kernel.SCAN,),
}
"""The kernels of each class of section 6."""


@cache
def covered_ways(kernel_class: str) -> tuple[Way, ...]:
    """Every way that a claim about a class of kernels speaks of."""
    return tuple(way for way in every_way(kernel_class) if not (way.early_bias or way.narrow_places))


def every_way(kernel_class: str) -> tuple[Way, ...]:
    """Those, and with biases and position embeddings as no claim has them."""
    found = (
        Way(kernel, order, *flags)
        for kernel, order in product(KERNELS[kernel_class], Order)
        if _makes_sense(kernel, order)
        for flags in product((False, True), repeat=3)
    )
    fused = (Kernel.FUSED, Kernel.FUSED_MEANS)
    return tuple(way for way in found if not (way.late_temperature and way.kernel in fused))


def _makes_sense(kernel: Kernel, order: Order) -> bool:
    """Whether the pair is a way of its own: where torch attends, two orders of the rest are enough."""
    by_torch = (Kernel.FUSED, Kernel.FUSED_MEANS, Kernel.EAGER)
    return kernel not in by_torch or order in (Order.TORCH, Order.REVERSED)


# Sums ---------------------------------------------------------------------------------------------------


def dot(left: Floats, right: Floats, form: Format, order: Order, first: Floats | None = None) -> Floats:
    """left [..., rows, k] times right [..., k, columns], formed in the wide format; `first` begins the sum.

    What is 0 in all of the right side is left out, which changes no sum.
    """
    used = np.flatnonzero(right.any(axis=tuple(k for k in range(right.ndim) if k != right.ndim - 2)))
    shape = (*np.broadcast_shapes(left.shape[:-2], right.shape[:-2]), left.shape[-2], right.shape[-1])
    total = np.zeros(shape, form.wide) if first is None else np.broadcast_to(first, shape)
    if not len(used):
        return total
    left, right = left[..., used], right[..., used, :]
    match order:
        case Order.TORCH:
            found = torch.from_numpy(np.ascontiguousarray(left)).to(form.torch) @ torch.from_numpy(
                np.ascontiguousarray(right)
            ).to(form.torch)
            total = total + found.to(torch.float32 if form.name == "bfloat16" else form.torch).numpy()
        case Order.SEQUENTIAL | Order.REVERSED:
            steps = range(len(used)) if order is Order.SEQUENTIAL else reversed(range(len(used)))
            for k in steps:
                total = total + left[..., k, None] * right[..., k, None, :]
        case Order.FUSED:
            left, right = left.astype(form.fused), right.astype(form.fused)
            for k in range(len(used)):
                total = (total + left[..., k, None] * right[..., k, None, :]).astype(form.wide)
        case Order.PAIRWISE:
            parts = [left[..., k, None] * right[..., k, None, :] for k in range(len(used))]
            while len(parts) > 1:
                odd = [parts[-1]] if len(parts) % 2 else []
                parts = [a + b for a, b in zip(parts[::2], parts[1::2], strict=False)] + odd
            total = total + parts[0]
    return total


# The network --------------------------------------------------------------------------------------------

After = Callable[[int, Floats], Floats]
"""What the stream after a layer, by its number, is set to, [word, position, coordinate]."""

Reads = Callable[[str, Floats], Floats]
"""What a reader finds in place of the stream: "head 1.0 query" (key, values), "feed-forward 1", "output"."""


def as_it_is(reader: str, stream: Floats) -> Floats:
    """What readers find where nothing is done to them."""
    del reader
    return stream


@dataclass(frozen=True)
class Batch:
    """Words of several lengths, as numbers of symbols, padded on the right with symbol 0."""

    tokens: Integers
    lengths: Integers


def batch_of(words: Sequence[Sequence[int]]) -> Batch:
    """The words as a batch."""
    lengths = np.array([len(word) for word in words])
    tokens = np.zeros((len(words), int(lengths.max())), dtype=np.int64)
    for row, word in enumerate(words):
        tokens[row, : len(word)] = word
    return Batch(tokens, lengths)


def run(network: RawNetwork, batch: Batch, form: Format, way: Way) -> Floats:
    """The only output coordinate, [word, position], in float64; what stands in the padding means nothing."""
    found = run_every_output(network, batch, form, way)
    assert found.shape[-1] == 1, "several coordinates are read"
    return found[..., 0]


def run_every_output(
    network: RawNetwork,
    batch: Batch,
    form: Format,
    way: Way,
    after: After | None = None,
    reads: Reads = as_it_is,
) -> Floats:
    """Each output coordinate, [word, position, output], in float64."""
    with np.errstate(over="ignore", invalid="ignore", under="ignore"):
        return _Run(network, batch, form, way, after, reads).outputs()


def run_every_coordinate(network: RawNetwork, batch: Batch, form: Format, way: Way) -> Floats:
    """The stream after the last layer, [word, position, coordinate], in float64."""
    with np.errstate(over="ignore", invalid="ignore", under="ignore"):
        return _Run(network, batch, form, way).stream()


class _Run:
    """One batch in one arithmetic."""

    def __init__(
        self,
        network: RawNetwork,
        batch: Batch,
        form: Format,
        way: Way,
        after: After | None = None,
        reads: Reads = as_it_is,
    ) -> None:
        self.network, self.form, self.way, self.after, self.reads = network, form, way, after, reads
        self.tokens = batch.tokens
        self.places = places_of(batch.lengths)
        self.masks: dict[str, Any] = {}

    def outputs(self) -> Floats:
        """What is read of the last stream, in float64."""
        return self.reads("output", self.stream())[..., self.network.coordinates]

    def stream(self) -> Floats:
        """The stream after the last layer, in float64."""
        network = self.network
        stream = self.form.narrow(self._weight(network.tensors["embed.W_E"])[self.tokens] + self._positions())
        for layer, heads in enumerate(network.heads):
            if heads:
                read = [self._head(stream, layer, number) for number in range(len(heads))]
                stream = self._add(stream, np.concatenate(read, axis=-1), self._joined(layer))
            if network.weight(layer, "mlp.b_in").size:
                stream = self._feed_forward(stream, layer)
            if self.after is not None:
                stream = self.after(layer, stream)
        return stream.astype(np.float64)

    def _weight(self, numbers: Floats) -> Floats:
        return self.form.narrow(numbers)

    def _joined(self, layer: int) -> Floats:
        """W_O of all heads, [head and value, coordinate]."""
        written = self._weight(self.network.weight(layer, "attn.W_O"))
        return written.reshape(-1, written.shape[-1])

    def _positions(self) -> Floats:
        width = self.network.tensors["embed.W_E"].shape[1]
        table = np.zeros((*self.tokens.shape, width), self.form.wide)
        narrow = self.form.narrow if self.way.narrow_places else _in_float64
        for coordinate, tree in self.network.positions:
            table[..., coordinate] = self.form.narrow(form_in_floats(tree, self.places, narrow))
        return table

    def _dot(self, left: Floats, right: Floats, first: Floats | None = None) -> Floats:
        """A sum of products, rounded to the format."""
        return self.form.narrow(dot(left, right, self.form, self.way.order, first))

    def _add(self, stream: Floats, read: Floats, weights: Floats) -> Floats:
        return self.form.narrow(stream + self._dot(read, weights))

    def _feed_forward(self, stream: Floats, layer: int) -> Floats:
        inner, bias, outer = (
            self._weight(self.network.weight(layer, f"mlp.{n}")) for n in ("W_in", "b_in", "W_out")
        )
        read = self.reads(f"feed-forward {layer}", stream)
        if self.way.early_bias:
            before = self._dot(read, inner, first=bias)
        else:
            before = self.form.narrow(self._dot(read, inner) + bias)
        return self._add(stream, np.maximum(before, 0), outer)

    # Attention ---------------------------------------------------------------------------------------

    def _head(self, stream: Floats, layer: int, number: int) -> Floats:
        """What a head reads, [word, position, value]."""
        if self.way.kernel is not Kernel.SCAN:
            return self._attended(stream, stream, layer, number)
        wide = copy(self)
        wide.form = FORMATS["float64"]
        wide.way = replace(self.way, kernel=Kernel.NUMERATOR)
        stream = _in_float64(stream)
        read = wide._attended(stream, wide._placed(stream), layer, number)
        return self.form.narrow(read.astype(self.form.wide))

    def _placed(self, stream: Floats) -> Floats:
        """The stream with position embeddings as they are before they are rounded, where nothing writes."""
        written = self.network.tensors["embed.W_E"].any(axis=0)
        for layer in range(len(self.network.heads)):
            written = written | self._joined(layer).any(axis=0)
            written = written | self.network.weight(layer, "mlp.W_out").any(axis=0)
        exact = stream.copy()
        for coordinate, tree in self.network.positions:
            if not written[coordinate]:
                exact[..., coordinate] = form_in_floats(tree, self.places, _in_float64)
        return exact

    def _attended(self, stream: Floats, keys: Floats, layer: int, number: int) -> Floats:
        """What a head reads, whose keys read another stream."""
        head = self.network.heads[layer][number]
        weights = (
            self._weight(self.network.weight(layer, f"attn.{n}")[number]) for n in ("W_Q", "W_K", "W_V")
        )
        parts = (("query", stream), ("key", keys), ("values", stream))
        streams = (self.reads(f"head {layer}.{number} {part}", own) for part, own in parts)
        query, key, value = (self._dot(*pair) for pair in zip(streams, weights, strict=True))
        cold = form_in_floats(head.coldness, self.places, _in_float64) / np.sqrt(query.shape[-1])
        cold = self.form.narrow(cold)[..., None]
        visible = self._visible(head.masking)
        sees = visible.any(axis=-1)[..., None]
        kernel = self.way.kernel
        if kernel is Kernel.FUSED and not self.network.weight(layer, "attn.W_Q")[number].any():
            kernel = Kernel.NUMERATOR
        if kernel in (Kernel.FUSED, Kernel.FUSED_MEANS):
            read = self._fused(self.form.narrow(query * cold), key, value, visible | ~sees)
        else:
            read = self._by_scores(self._scores(query, key, cold), value, visible | ~sees, kernel)
        return np.where(sees, read, 0).astype(self.form.wide, copy=False)

    def _visible(self, masking: str) -> Any:
        """Who sees whom, [word, query, key]."""
        if masking not in self.masks:
            i = np.arange(1, self.tokens.shape[1] + 1)[:, None]
            j = i.T
            seen = {
                "future-masked": j <= i,
                "strictly future-masked": j < i,
                "past-masked": j >= i,
                "strictly past-masked": j > i,
                "unmasked": j == j + 0 * i,
            }[masking]
            self.masks[masking] = seen[None] & self.places.real[:, None, :]
        return self.masks[masking]

    def _scores(self, query: Floats, key: Floats, cold: Floats) -> Floats:
        keys = np.swapaxes(key, -1, -2)
        if self.way.late_temperature:
            return self.form.narrow(self._dot(query, keys) * cold)
        return self._dot(self.form.narrow(query * cold), keys)

    def _by_scores(self, scores: Floats, value: Floats, visible: Any, kernel: Kernel) -> Floats:
        form = self.form
        hidden = np.where(visible, scores, -np.inf).astype(form.wide, copy=False)
        if kernel is Kernel.EAGER:
            shares = torch.from_numpy(hidden).to(form.torch).softmax(-1)
            shares = shares.to(torch.float32 if form.name == "bfloat16" else form.torch).numpy()
            return self._dot(shares, value)
        behind = form.narrow(hidden - hidden.max(axis=-1, keepdims=True))
        weights = _exp(behind)
        ones = np.ones((*value.shape[:-1], 1), form.wide)
        total = self._positions_sum(weights, ones)
        if kernel is Kernel.NORMALISE:
            return self._dot(form.narrow(weights / total), value)
        return form.narrow(self._positions_sum(weights, value) / total)

    def _positions_sum(self, weights: Floats, values: Floats) -> Floats:
        """A sum over positions in the wide format."""
        order = self.way.order
        if order is Order.TORCH:
            return (torch.from_numpy(weights) @ torch.from_numpy(values)).numpy()
        return dot(weights, values, self.form, order)

    def _fused(self, query: Floats, key: Floats, value: Floats, visible: Any) -> Floats:
        parts = [
            torch.from_numpy(np.ascontiguousarray(own)).to(self.form.torch) for own in (query, key, value)
        ]
        mask = torch.zeros(visible.shape, dtype=self.form.torch)
        mask = mask.masked_fill(~torch.from_numpy(np.ascontiguousarray(visible)), float("-inf"))
        read = torch.nn.functional.scaled_dot_product_attention(
            *(own[:, None] for own in parts), attn_mask=mask[:, None], scale=1.0
        )[:, 0]
        return read.to(torch.float32 if self.form.name == "bfloat16" else self.form.torch).numpy()


def _in_float64(numbers: Floats) -> Floats:
    return numbers.astype(np.float64, copy=False)


def _exp(numbers: Floats) -> Floats:
    """exp, formed in a wider format and rounded: well within every bound that section 6 names."""
    if numbers.dtype == np.float32:
        return np.exp(numbers.astype(np.float64)).astype(np.float32)
    return np.exp(numbers)


def all_words(symbols: int, longest: int) -> Iterator[tuple[int, ...]]:
    """All words of numbers of symbols that are not empty, the shortest first."""
    for length in range(1, longest + 1):
        yield from product(range(symbols), repeat=length)
