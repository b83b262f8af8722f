"""What one symbol can change in a soft encoder, for every n >= 2: the recursion of Lemma 5, in balls.

**Claim.** Take an encoder whose positions are bounded, without mask (with one layer at most: with any), and
without LayerNorm. Two words of n >= 2 symbols that differ in one symbol x_i, i < n, have outputs that differ,
in each functional, by at most C / n, if C is at least `every_length_bound`.

**Boxes.** For each symbol there is a box that contains y_j^(k), what stands after layer k at every position j
with this symbol, in every word of every length: y_j^(0) is its embedding and a position in the positions'
box, a head puts out an average of values of all symbols, and the rest is followed by interval arithmetic.

**The recursion.** Norms are Euclidean. Let |change of y_j^(k)| <= eps_k / n for all j != i; eps_0 = 0. A head
of layer k has scores s(y_j, y_w) = (Q y_j + b_Q)(K y_w + b_K) / sqrt(d_h) and weights a_w, and writes the
average of U y_w and a constant. Over the boxes before the layer, and the queries that are asked,

    nu >= |U|;  diam >= |U y - U y'|;  range >= s(q, y) - s(q, y');  rho >= |Q^T K (y - y')| / sqrt(d_h);
    kappa >= |K^T (Q q + b_Q)| / sqrt(d_h);

all greatest values are over two keys y, y' of any symbols, and q. Then the stream between attention and
feed-forward changes, at j != i, by at most moved / n,

    moved = eps_(k-1) (1 + sum_h [nu + diam (rho + 2 kappa) / 4]) + 2 sum_h e^range diam,

and y_j^(k) by (1 + |W2||W1|) as much, as ReLU is 1-Lipschitz. After the last layer a functional r of the
stream changes by at most (|r| + |r W2||W1|) moved / n; there only position n asks, the end marker if there
is one. What stands at i may change by any amount: it stays in its box.

**Proof.** Fix j != i and a head; primes are of the second word, u_w = U y_w, and o_- is the average over all
w != i with weights a_w / (1 - a_i). As o = o_- + a_i (u_i - o_-),

    o' - o = (o'_- - o_-) + a'_i (u'_i - o'_-) - a_i (u_i - o_-).

1 / a_i is at least 1 + (n-1) e^-range >= n e^-range, so the last two terms are at most 2 e^range diam / n.
The first is sum a'_w (u'_w - u_w), at most nu eps / n, and sum (a'_w - a_w) u_w over w != i, at most diam
times half of sum |a'_w - a_w|, which is at most tanh(r/4) <= r/4 for scores whose changes have the range r.
s(y'_j, y'_w) - s(y_j, y'_w) has over w a range of at most rho |y'_j - y_j|, and s(y_j, y'_w) - s(y_j, y_w) is
at most kappa |y'_w - y_w| in size: so r <= (rho + 2 kappa) eps / n. (Hahn 2020, Lemma 5, whose constant is
another; this form of the proof, with the weights' change of supplement S2, is ours.)

With a mask and two layers or more it is false: late positions see few keys, and x_1 can change the output by
the order of (ln n)^(L-1) / n.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import reduce
from itertools import product
from typing import assert_never, final

import flint
import numpy as np

from attemper.errors import UnsupportedError
from attemper.exact.balls import positive_part, precision
from attemper.models.arrays import Floats
from attemper.models.soft.weights import Bounded, Encoder, EncoderLayer, Mask, NoPositions, Periodic, Table

BITS = 128
"""The precision of everything here."""

SQUARINGS = 6
"""A norm is off by a factor of at most d^(1/128), d the lesser side of its matrix."""


@final
@dataclass(frozen=True)
class EveryLength:
    """C for each functional, from above, and by how much the scores of one query range in each layer.

    C is not finite where it is beyond what balls can hold.
    """

    constants: tuple[flint.arb, ...]
    ranges: tuple[flint.arb, ...]


def every_length_bound(encoder: Encoder, functionals: Sequence[Sequence[int]]) -> EveryLength:
    """C of the claim for each functional, K integers. Its size is governed by e^range.

    Raises `UnsupportedError` for LayerNorm, a mask with several layers, and a table of positions, which has
    one length only.

    >>> from attemper.models.soft.weights import Mask, NoPositions
    >>> one = np.ones((1, 1))
    >>> blind = Encoder(("a", "b"), None, one, NoPositions(), Mask.UNMASKED, (), one, one[0], ("o",))
    >>> every_length_bound(blind, [[1]])  # no layer: position n sees itself only
    EveryLength(constants=(0,), ranges=())
    """
    if encoder.mask is not Mask.UNMASKED and len(encoder.layers) > 1:
        raise UnsupportedError(
            "with a mask and several layers there is no C/n for every n: the first symbol can change more"
        )
    if any(layer.norms is not None for layer in encoder.layers):
        raise UnsupportedError(
            "a bound for every n is for encoders without LayerNorm, which multiplies it by up to "
            "1/sqrt(epsilon) each time; give a length for a bound by the table of positions"
        )
    with precision(BITS):
        boxes, change = _embedded(encoder), flint.arb(0)
        factors, ranges = [flint.arb(1)] * len(functionals), []
        for number, layer in enumerate(encoder.layers, start=1):
            asking = boxes
            if number == len(encoder.layers) and encoder.ending is not None:
                marker = encoder.symbols.index(encoder.ending)
                asking = flint.arb_mat([[row[marker]] for row in boxes.tolist()])
            boxes, moved, widest = _attended(layer, boxes, asking, change)
            ranges.append(widest)
            inward, outward = _norm(_of(layer.hidden_weight)), _of(layer.back_weight)
            if number == len(encoder.layers):
                rows = [flint.arb_mat([[*each]]) * _of(encoder.readout) for each in functionals]
                factors = [(_norm(row) + _norm(row * outward) * inward) * moved for row in rows]
            change, boxes = (1 + _norm(outward) * inward) * moved, _fed_forward(layer, boxes)
        constants = factors if encoder.layers else [flint.arb(0)] * len(functionals)
        return EveryLength(tuple(each.upper() for each in constants), tuple(ranges))


def _embedded(encoder: Encoder) -> flint.arb_mat:
    """The boxes (d, S) before the first layer."""
    match encoder.positions:
        case NoPositions():
            least = greatest = np.zeros(encoder.width)
        case Periodic(table):
            least, greatest = table.min(axis=0), table.max(axis=0)
        case Bounded(_, low, high):
            least, greatest = np.full(encoder.width, low), np.full(encoder.width, high)
        case Table(table):
            raise UnsupportedError(
                f"this encoder works at n = {len(table)} only: its bound is that of its table"
            )
        case _:
            assert_never(encoder.positions)
    places = [
        flint.arb(a).union(flint.arb(b)) for a, b in zip(least.tolist(), greatest.tolist(), strict=True)
    ]
    rows = zip(_of(encoder.embedding.T).tolist(), places, strict=True)
    return flint.arb_mat([[each + place for each in row] for row, place in rows])


def _attended(
    layer: EncoderLayer, boxes: flint.arb_mat, asking: flint.arb_mat, change: flint.arb
) -> tuple[flint.arb_mat, flint.arb, flint.arb]:
    """The boxes (d, S) after attention, what its output changes by at most times n, and the scores' range.

    `boxes` (d, S) are those before, `asking` (d, A) of them those that have queries, `change` is eps.
    """
    width, size = boxes.nrows(), boxes.nrows() // layer.heads
    apart = flint.arb_mat([[a - b for a, b in product(row, repeat=2)] for row in boxes.tolist()])
    slope, jump, widest = flint.arb(1), flint.arb(0), flint.arb(0)
    out, bias = _of(layer.out_weight), _of(layer.in_bias[:, None])
    values = flint.arb_mat(bias.tolist()[2 * width :])
    after = boxes + _repeated(out * values + _of(layer.out_bias[:, None]), boxes.ncols())
    for first in range(0, width, size):
        parts = [slice(top, top + size) for top in range(first, 3 * width, width)]
        query, key, value = (_of(layer.in_weight[part]) for part in parts)
        scale = 1 / flint.arb(size).sqrt()
        asked = query * asking + _repeated(_of(layer.in_bias[parts[0], None]), asking.ncols())
        pulls = key.transpose() * asked * scale
        ranged = _greatest((pulls.transpose() * apart).entries())
        written = _of(layer.out_weight[:, parts[0]]) * value
        diameter = _longest(written * apart)
        rho = _longest(query.transpose() * key * apart) * scale
        slope += _norm(written) + diameter * (rho + 2 * _longest(pulls)) / 4
        jump += 2 * ranged.exp() * diameter
        widest = widest.max(ranged)
        read = [reduce(flint.arb.union, row) for row in (written * boxes).tolist()]
        after += _repeated(flint.arb_mat([[each] for each in read]), boxes.ncols())
    return after, change * slope + jump, widest


def _fed_forward(layer: EncoderLayer, boxes: flint.arb_mat) -> flint.arb_mat:
    """The boxes (d, S) after the feed-forward and its residual."""
    inner = _of(layer.hidden_weight) * boxes + _repeated(_of(layer.hidden_bias[:, None]), boxes.ncols())
    hidden = flint.arb_mat([[positive_part(value) for value in row] for row in inner.tolist()])
    return boxes + _of(layer.back_weight) * hidden + _repeated(_of(layer.back_bias[:, None]), boxes.ncols())


def _norm(matrix: flint.arb_mat) -> flint.arb:
    """At least the spectral norm: tr((A^T A)^k)^(1/2k), k = 2^`SQUARINGS`, as a trace has all eigenvalues."""
    power = matrix.transpose() * matrix if matrix.ncols() < matrix.nrows() else matrix * matrix.transpose()
    for _ in range(SQUARINGS):
        power *= power
    found = power.trace().abs_upper()
    for _ in range(SQUARINGS + 1):
        found = found.sqrt()
    return found


def _longest(columns: flint.arb_mat) -> flint.arb:
    """At least the length of each column."""
    return _greatest(
        [sum((x.abs_upper() ** 2 for x in row), flint.arb(0)) for row in columns.transpose().tolist()]
    ).sqrt()


def _greatest(values: Sequence[flint.arb]) -> flint.arb:
    """At least the size of each, exactly; not a number if one of them may be any."""
    return reduce(flint.arb.max, (value.abs_upper() for value in values))


def _of(matrix: Floats) -> flint.arb_mat:
    """The float64 numbers, exactly."""
    return flint.arb_mat(matrix.tolist())


def _repeated(column: flint.arb_mat, count: int) -> flint.arb_mat:
    return flint.arb_mat([row * count for row in column.tolist()])
