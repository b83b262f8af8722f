"""Everything that can be wrong with an encoder that somebody put together."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from attemper.models.soft.activations import Activation
from attemper.models.soft.weights import (
    Bounded,
    Encoder,
    EncoderLayer,
    EncoderNorm,
    Mask,
    NoPositions,
    Periodic,
    Table,
)

LEAST = 2.0**-1022
"""The least float64 number above 0 that is not denormal."""


LEAST_EPSILON = 2.0**-900
"""Beside more than this what underflows is nothing (`enclosures.tails.normed`)."""


def complaints(encoder: Encoder) -> Iterator[str]:
    """What is wrong with the encoder: nothing is said of one that has a complaint.

    >>> from dataclasses import replace
    >>> one = np.ones((1, 1))
    >>> rest = (NoPositions(), Mask.UNMASKED, (), one, one[0], ("output",))
    >>> tiny = Encoder(("a", "$"), "$", np.ones((2, 1)), *rest)
    >>> list(complaints(tiny)), list(complaints(replace(tiny, ending="b")))
    ([], ["its end marker 'b' is not one of its symbols"])
    """
    yield from _names(encoder)
    mask: object = encoder.mask
    if not isinstance(mask, Mask):
        yield "its mask is not a Mask"
    embedding: object = encoder.embedding
    if not isinstance(embedding, np.ndarray) or embedding.ndim != 2:
        yield "its embedding is not a matrix"
        return
    width, outputs = encoder.width, len(encoder.outputs)
    yield from _array("embedding", encoder.embedding, (len(encoder.symbols), width))
    yield from _array("readout", encoder.readout, (outputs, width))
    yield from _array("bias", encoder.bias, (outputs,))
    yield from _positions(encoder)
    if encoder.last_norm is not None:
        yield from _norm(encoder.last_norm, width)
    if not _are(encoder.layers, EncoderLayer):
        yield "its layers are not a tuple of EncoderLayers: what is looked at must be what is computed with"
        return
    for number, layer in enumerate(encoder.layers):
        yield from (f"{complaint} (layer {number})" for complaint in _layer(layer, width))


def _are(found: object, wanted: type) -> bool:
    """Whether it is a tuple of these: another collection may be used up, or changed, when it is read."""
    return type(found) is tuple and all(type(each) is wanted for each in found)


def _names(encoder: Encoder) -> Iterator[str]:
    for what, names in (("symbols", encoder.symbols), ("outputs", encoder.outputs)):
        if not isinstance(names, tuple) or not all(isinstance(name, str) for name in names):
            yield f"its {what} are not a tuple of texts"
        elif not names or len(set(names)) < len(names):
            yield f"its {what} are none, or not distinct"
    if encoder.ending is not None and encoder.ending not in encoder.symbols:
        yield f"its end marker {encoder.ending!r} is not one of its symbols"


def _positions(encoder: Encoder) -> Iterator[str]:
    positions: object = encoder.positions
    match positions:
        case Periodic(table) | Table(table):
            if isinstance(table, np.ndarray) and len(table) == 0:
                yield "its table of positions is empty"
            yield from _array("table of positions", table, (len(table), encoder.width))
        case Bounded(_, least, greatest):
            ends: tuple[object, ...] = (least, greatest)
            if not all(isinstance(end, float | int) for end in ends):
                yield "the box of its positions is not of Python's numbers: write float(...)"
            elif not -np.inf < least <= greatest < np.inf:
                yield "the box of its positions is not bounded"
        case NoPositions():
            pass
        case _:
            yield "its positions are none of those that exist"


def _layer(layer: EncoderLayer, width: int) -> Iterator[str]:
    if type(layer.heads) is not int or layer.heads < 1 or width % layer.heads:
        yield f"its heads do not divide its width {width}"
        return
    hidden = np.size(layer.hidden_bias)
    if not hidden:
        yield "its feed-forward has no units: give it one whose weights are 0"
    yield from _array("in_weight", layer.in_weight, (3 * width, width))
    yield from _array("in_bias", layer.in_bias, (3 * width,))
    yield from _array("out_weight", layer.out_weight, (width, width))
    yield from _array("out_bias", layer.out_bias, (width,))
    yield from _array("hidden_weight", layer.hidden_weight, (hidden, width))
    yield from _array("hidden_bias", layer.hidden_bias, (hidden,))
    yield from _array("back_weight", layer.back_weight, (width, hidden))
    yield from _array("back_bias", layer.back_bias, (width,))
    if layer.norms is not None and not (_are(layer.norms, EncoderNorm) and len(layer.norms) == 2):
        yield "its norms are neither None nor a tuple of two Norms"
        return
    for norm in layer.norms or ():
        yield from _norm(norm, width)
    activation: object = layer.activation
    if not isinstance(activation, Activation):
        yield "its activation is not an Activation"


def _norm(norm: object, width: int) -> Iterator[str]:
    if type(norm) is not EncoderNorm:
        yield "a norm is not an EncoderNorm"
        return
    yield from _array("gain of a norm", norm.gain, (width,))
    yield from _array("bias of a norm", norm.bias, (width,))
    if not isinstance(norm.epsilon, float) or not LEAST_EPSILON < norm.epsilon < np.inf:
        yield "the epsilon of a norm is not a number above 2^-900: without one LayerNorm has jumps"


def _array(name: str, found: object, shape: tuple[int, ...]) -> Iterator[str]:
    if type(found) is not np.ndarray or found.dtype != np.float64 or found.shape != shape:
        yield f"its {name} is not an array of float64 of the shape {shape}"
    elif not np.isfinite(found).all():
        yield f"its {name} has a number that is not finite"
    elif ((found != 0) & (np.abs(found) < LEAST)).any():
        yield f"its {name} has a number so near to 0 that processors may take it for 0: write 0"
