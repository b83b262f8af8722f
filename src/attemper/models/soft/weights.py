"""A PyTorch encoder as data: float64 weights, position embeddings and a mask, no way of attending chosen.

    y_i^(0) = embedding(w_i) + position(i, n)
    y^(k)   = layer k of `torch.nn.TransformerEncoderLayer`, with LayerNorm after, before or nowhere
    output  = readout norm(y_n^(L)) + bias, if there is a last norm, or readout y_n^(L) + bias

What is said of an encoder is said of these *real-number* functions of its float64 weights: the square root of
the head width, the exponentials and the divisions are the exact ones.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from functools import cached_property
from hashlib import sha256
from typing import assert_never, final

import numpy as np

from attemper.errors import UnsupportedError
from attemper.languages.masks import PositionMask
from attemper.models.arrays import Floats, Integers
from attemper.models.soft.activations import Activation


class Mask(PositionMask):
    """What position i sees: every position, or the positions j <= i."""

    UNMASKED = "unmasked"
    FUTURE_MASKED = "future-masked", True, True, False


@final
@dataclass(frozen=True)
class NoPositions:
    """No position embedding: a word's order cannot matter to an unmasked encoder."""


@final
@dataclass(frozen=True, eq=False)
class Periodic:
    """Position i has row (i - 1) mod m of the (m, d) table, at every length."""

    table: Floats


@final
@dataclass(frozen=True, eq=False)
class Table:
    """Position i has row i - 1 of the (n, d) table: the encoder works at the length n only."""

    table: Floats


@final
@dataclass(frozen=True, eq=False)
class Bounded:
    """Position i of n has the row that a function gives, with every coordinate from `least` to `greatest`.

    `function` takes the positions 1..n, of shape (n,), and n, and gives an (n, d) matrix. The box is the
    user's word for all lengths; at a length that is looked at, it is checked.
    """

    function: Callable[[Integers, int], Floats]
    least: float
    greatest: float


PositionEncoding = NoPositions | Periodic | Table | Bounded


@final
@dataclass(frozen=True, eq=False)
class EncoderNorm:
    """LayerNorm: (x - mean) / sqrt(variance + epsilon) * gain + bias, over the d coordinates."""

    gain: Floats
    bias: Floats
    epsilon: float

    @property
    def arrays(self) -> tuple[Floats, Floats, Floats]:
        """Everything that the norm computes with."""
        return self.gain, self.bias, np.array([self.epsilon])


@final
@dataclass(frozen=True, eq=False)
class EncoderLayer:
    """The weights of a `torch.nn.TransformerEncoderLayer` of width d with `heads` heads.

    `in_weight` (3d, d) has the rows of the queries, keys and values, a head's rows together. `norms` are that
    of attention and that of the feed-forward, before their sublayer if `norm_first`, or after the residual
    sum; None without LayerNorm.
    """

    in_weight: Floats
    in_bias: Floats
    out_weight: Floats
    out_bias: Floats
    hidden_weight: Floats
    hidden_bias: Floats
    back_weight: Floats
    back_bias: Floats
    norms: tuple[EncoderNorm, EncoderNorm] | None
    heads: int
    norm_first: bool
    activation: Activation = Activation.RELU

    @property
    def before(self) -> tuple[EncoderNorm, EncoderNorm] | tuple[None, None]:
        """The norms that come before attention and before the feed-forward."""
        return self.norms if self.norms is not None and self.norm_first else (None, None)

    @property
    def after(self) -> tuple[EncoderNorm, EncoderNorm] | tuple[None, None]:
        """The norms that come after the residual sums of attention and of the feed-forward."""
        return self.norms if self.norms is not None and not self.norm_first else (None, None)

    @property
    def arrays(self) -> Iterator[Floats]:
        """Everything that the layer computes with, in one order."""
        yield from (self.in_weight, self.in_bias, self.out_weight, self.out_bias)
        yield from (self.hidden_weight, self.hidden_bias, self.back_weight, self.back_bias)
        for norm in self.norms or ():
            yield from norm.arrays
        flags = [self.heads, self.norm_first, self.norms is not None]
        if self.activation is not Activation.RELU:
            flags.append(list(Activation).index(self.activation))
        yield np.array(flags, dtype=np.float64)


@final
@dataclass(frozen=True, eq=False)
class Encoder:
    """An encoder over S symbols, of width d, with K outputs that are read at position n.

    `symbols` has the end marker if there is one: `ending`, the symbol at position n and nowhere else. n
    counts the marker. `outputs` names the K rows of `readout`; a recogniser has one, and accepts if that is
    positive.
    """

    symbols: tuple[str, ...]
    ending: str | None
    embedding: Floats
    positions: PositionEncoding
    mask: Mask
    layers: tuple[EncoderLayer, ...]
    readout: Floats
    bias: Floats
    outputs: tuple[str, ...]
    last_norm: EncoderNorm | None = None

    @property
    def width(self) -> int:
        return int(self.embedding.shape[1])

    @cached_property
    def digest(self) -> str:
        """A hash of everything that the encoder computes with; of positions by a function, of their box.

        So it is one for all encoders with such a box: at one length, `at` has that of the positions there.
        """
        match self.positions:
            case NoPositions():
                positions = np.zeros((0, self.width))
            case Periodic(table) | Table(table):
                positions = table
            case Bounded(_, least, greatest):
                positions = np.array([least, greatest], dtype=np.float64)
            case _:
                assert_never(self.positions)
        parts = [self.embedding, positions, self.readout, self.bias]
        parts += [part for layer in self.layers for part in layer.arrays]
        parts += () if self.last_norm is None else self.last_norm.arrays
        named = (self.symbols, self.ending, type(self.positions).__name__, self.mask.value, self.outputs)
        shapes = repr((named, [part.shape for part in parts])).encode()
        return sha256(shapes + b"".join(np.ascontiguousarray(part).tobytes() for part in parts)).hexdigest()

    def at(self, length: int) -> Encoder:
        """The encoder for words of that length only where a function gives its positions; else itself.

        Raises `UnsupportedError` for another length than a table's, and for positions outside their box.
        """
        match self.positions:
            case Bounded():
                return replace(self, positions=Table(position_rows(self, length)))
            case Table(table) if len(table) != length:
                raise UnsupportedError(f"this encoder works at n = {len(table)} only, not at n = {length}")
            case _:
                return self


def require_plain(encoder: Encoder) -> None:
    """Raises `UnsupportedError` unless the encoder has ReLU and no last norm, for what knows no others."""
    if encoder.last_norm is not None or any(own.activation is not Activation.RELU for own in encoder.layers):
        raise UnsupportedError("only 'attemper judge' takes encoders with GELU or with a last norm")


def shifted(encoder: Encoder, offset: int) -> Encoder:
    """The encoder whose position i has the row of position i + offset of this one.

    Raises `UnsupportedError` where positions depend on the length.
    """
    match encoder.positions:
        case NoPositions():
            return encoder
        case Periodic(table):
            return replace(encoder, positions=Periodic(np.roll(table, -offset, axis=0)))
        case _:
            raise UnsupportedError("positions that depend on the length are not shifted")


def by_last_symbol(encoder: Encoder) -> tuple[Encoder, ...]:
    """The encoder as encoders with an end marker: itself, or where it has none one for each x_n.

    What reads x_n = a after n - 1 symbols is an encoder with a marker whose embedding is that of a.
    """
    if encoder.ending is not None:
        return (encoder,)
    marker = "".join(encoder.symbols) + "$"
    symbols, rows = (*encoder.symbols, marker), encoder.embedding
    return tuple(
        replace(encoder, symbols=symbols, ending=marker, embedding=np.vstack([rows, row])) for row in rows
    )


def position_rows(encoder: Encoder, length: int) -> Floats:
    """The (n, d) matrix that is added to the embeddings of a word of n symbols.

    Raises `UnsupportedError` where the encoder has no such positions.

    >>> table = np.array([[0.0], [1.0]])
    >>> one = np.ones((1, 1))
    >>> tiny = Encoder(("a",), None, one, Periodic(table), Mask.UNMASKED, (), one, one[0], ("output",))
    >>> position_rows(tiny, 3).tolist()
    [[0.0], [1.0], [0.0]]
    """
    match encoder.positions:
        case NoPositions():
            return np.zeros((length, encoder.width))
        case Periodic(table):
            return table[np.arange(length) % len(table)]
        case Table(table):
            if len(table) != length:
                raise UnsupportedError(f"this encoder works at n = {len(table)} only, not at n = {length}")
            return table
        case Bounded(function, least, greatest):
            rows = np.asarray(function(np.arange(1, length + 1), length), dtype=np.float64)
            if rows.shape != (length, encoder.width):
                wanted = (length, encoder.width)
                raise UnsupportedError(
                    f"the positions at n = {length} must have the shape {wanted}, not {rows.shape}"
                )
            if not bool(((rows >= least) & (rows <= greatest)).all()):
                raise UnsupportedError(
                    f"the positions at n = {length} leave their box, from {least} to {greatest}"
                )
            return rows
        case _:
            assert_never(encoder.positions)
