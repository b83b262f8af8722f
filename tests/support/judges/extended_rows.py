"""What every head of a layer attends to, by the definition, in numbers of a 64-bit mantissa.

The residual stream before the layer is given, so that a head is judged alone. A coordinate that nothing but
a position embedding writes is *pure*: keys have the closed form's own value there, not what a format made of
it. Scores are formed as differences from the greatest one, so that their size costs nothing. Nothing here
knows how any engine runs a head.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from fractions import Fraction
from typing import assert_never

import numpy as np
from numpy.typing import NDArray

from attemper.exact import closed_forms
from attemper.exact.predicates import holds
from attemper.networks.layers import Head, LinearForm, Masking, Network, Softmax

Extended = NDArray[np.longdouble]

HAS_EXTENDED = bool(np.finfo(np.longdouble).nmant >= 63)
"""Whether this machine has such numbers; where not, what is compared with them is skipped."""

QUERIES_AT_ONCE = 256
FEWEST_LEFT = -11000
"""exp of less is 0 in these numbers."""


def head_rows(
    network: Network,
    layer: int,
    stream: NDArray[np.float64],
    *,
    rounded: Callable[[float], float] | None = None,
) -> list[Extended]:
    """The means of each head's values [position, value], from the layer's stream [position, d_model].

    `rounded` is what a narrow format makes of a weight: then queries and values read pure coordinates from
    the stream, too. In float64 (None) they are the closed forms' own values, as in keys. Raises `ValueError`
    for a normalised network and for a head without softmax.
    """
    if network.normalisation is not None:
        raise ValueError("a normalised network has other rows than these")
    n = len(stream)
    read = stream.astype(np.longdouble)
    exact = read.copy()
    for coordinate, form in network.positions:
        if coordinate not in written(network):
            exact[:, coordinate] = form_column(form, n)
    weight = _weight(rounded)
    queries = exact if rounded is None else read
    return [_head(head, queries, exact, weight) for head in network.layers[layer].heads]


def written(network: Network) -> frozenset[int]:
    """The coordinates that an embedding, a head or a hidden unit writes, in any layer."""
    found = {coordinate for row in network.embedding for coordinate, _ in row}
    for layer in network.layers:
        found |= {target for head in layer.heads for target in head.targets}
        found |= {coordinate for unit in layer.hidden for coordinate, _ in unit.outputs}
    return frozenset(found)


def form_column(form: closed_forms.ClosedForm, n: int) -> Extended:
    """The form at the positions 1..n of a word of length n; every operation rounds once, to 64 bits."""
    match form:
        case closed_forms.Number(value):
            return np.full(n, extended(value))
        case closed_forms.Position():
            return np.arange(1, n + 1).astype(np.longdouble)
        case closed_forms.Length():
            return np.full(n, np.longdouble(n))
        case closed_forms.Alternating():
            return (1 - 2 * (np.arange(1, n + 1) % 2)).astype(np.longdouble)
        case closed_forms.Test(predicate, per_position, per_length, shift):
            there = (per_position * i + per_length * n + shift for i in range(1, n + 1))
            return np.array([holds(predicate, value) for value in there]).astype(np.longdouble)
        case closed_forms.Sum(parts):
            return sum((form_column(part, n) for part in parts), np.zeros(n, np.longdouble))
        case closed_forms.Product(parts):
            product = np.ones(n, np.longdouble)
            for part in parts:
                product = product * form_column(part, n)
            return product
        case closed_forms.Power(base, exponent):
            power = form_column(base, n) ** abs(exponent)
            return 1 / power if exponent < 0 else power
        case closed_forms.Digits(inner):
            return np.array([int(value).bit_length() for value in form_column(inner, n)]).astype(
                np.longdouble
            )
        case _:
            assert_never(form)


def extended(value: Fraction) -> np.longdouble:
    """The rational, rounded to 64 bits."""
    return np.longdouble(str(value.numerator)) / np.longdouble(str(value.denominator))


def score_size(network: Network, layer: int, stream: NDArray[np.float64]) -> float:
    """The greatest sum of sizes of the products that make a score of the layer up, whatever masks show.

    No kernel has scores that are better than a few roundings of that size.
    """
    n, most = len(stream), 0.0
    for head in network.layers[layer].heads:
        assert isinstance(head.weighting, Softmax)
        cold = np.abs(form_column(head.weighting.inverse_temperature, n))[:, None]
        q, k = (_columns(_sizes(forms), np.abs(stream), extended) for forms in (head.query, head.key))
        most = max(most, float(((q * cold) @ k.T).max()) if head.query else 0.0)
    return most


def _sizes(forms: Sequence[LinearForm]) -> tuple[LinearForm, ...]:
    return tuple(tuple((coordinate, abs(factor)) for coordinate, factor in form) for form in forms)


Weight = Callable[[Fraction], np.longdouble]


def _weight(rounded: Callable[[float], float] | None) -> Weight:
    if rounded is None:
        return extended
    return lambda value: np.longdouble(rounded(float(value)))


def _head(head: Head, queries: Extended, keys: Extended, weight: Weight) -> Extended:
    if not isinstance(head.weighting, Softmax):
        raise ValueError("a head of this network is not a softmax head")
    n = len(keys)
    cold = form_column(head.weighting.inverse_temperature, n)
    q = _columns(head.query, queries, weight) * cold[:, None]
    k, v = _columns(head.key, keys, weight), _columns(head.values, queries, weight)
    return np.concatenate([_block(block, q, k, v, head.masking) for block in _blocks(n)])


def _columns(forms: Sequence[LinearForm], stream: Extended, weight: Weight) -> Extended:
    found = np.zeros((len(stream), len(forms)), np.longdouble)
    for number, form in enumerate(forms):
        for coordinate, factor in form:
            found[:, number] += weight(factor) * stream[:, coordinate]
    return found


def _blocks(n: int) -> Iterator[slice]:
    return (slice(start, min(start + QUERIES_AT_ONCE, n)) for start in range(0, n, QUERIES_AT_ONCE))


def _block(block: slice, q: Extended, k: Extended, v: Extended, masking: Masking) -> Extended:
    """The means of some queries [query, value]; 0 where the mask shows nothing."""
    seen = _visible(masking, len(k))[block]
    sizes = np.zeros(seen.shape, np.longdouble)
    for row in range(q.shape[1]):
        sizes += q[block, row, None] * k[None, :, row]
    best = np.where(seen, sizes, -np.inf).argmax(axis=1)
    apart = np.zeros(seen.shape, np.longdouble)
    for row in range(q.shape[1]):
        apart += q[block, row, None] * (k[None, :, row] - k[best, row, None])
    apart -= np.where(seen, apart, -np.inf).max(axis=1, keepdims=True, initial=FEWEST_LEFT)
    shares = np.where(seen, np.exp(np.maximum(np.where(seen, apart, 0), FEWEST_LEFT)), 0)
    total = shares.sum(axis=1, keepdims=True)
    return (shares @ v) / np.where(total == 0, 1, total)


def _visible(masking: Masking, n: int) -> NDArray[np.bool_]:
    i, j = np.arange(n)[:, None], np.arange(n)[None, :]
    match masking:
        case Masking.FUTURE:
            return j <= i
        case Masking.STRICT_FUTURE:
            return j < i
        case Masking.PAST:
            return j >= i
        case Masking.STRICT_PAST:
            return j > i
        case Masking.NONE:
            return np.ones((n, n), dtype=bool)
        case _:
            assert_never(masking)
