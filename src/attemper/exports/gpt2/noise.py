"""Whether a GPT-2 reads its stream well enough: what it may be off, sublayer by sublayer, in rationals.

Compared with real arithmetic on the same first stream and the same weights in the format, which are those of
`Network.dense`. `rounding.py` derives what one read is off, R; what the stream is off already, times the
weights, comes to that: N = R + sum_c |w_c| noise_c. With n positions, G, L and u as there:

Score of r rows: sum (q N_k + k N_q + N_q N_k) + G(r + 8) sum (q + N_q)(k + N_k) + 4 L r, q and k bounds.
    If every score of a head is off by at most s, its weights are by factors within e^(+-2s), so that an
    average of numbers up to V is by at most min(2 s / (1 - 2 s), 2) V. That is taken of a head of which
    nothing is said. A head with a construction, as compilers write them, has a score gap, so that neither
    bits nor averages need be exact; how large that is, a certificate proves and nothing here. Of such a head
    the read alone is judged, R in place of N: at most `SCORE_GAP`.
Average of n numbers: N + G(3 n + 20) V + 8 n L (1 + V): exp, both sums, rescaling and the quotient.
Pair of a clamp, in a word where its form stays out of the ramp by `ROOM` or more: both units are on the same
    side, and the stream's noise is in both: 2 |f| R for an output f. Other units: |f| N.
Sum: k numbers of a coordinate are written and added to it: G(k + 2) (S + the sum of their bounds) + 2 k L.

Claim. A bit of a decided word is at most 1/4 or at least 3/4, and GPT-2 takes 1/2 for the bound between. A
network is refused unless a clamp's form is off by at most ROOM = 1/64, and each bit put out by less than 1/8.
So where all heads are foreign or uniform, a GPT-2's answers are those of real arithmetic for every word whose
clamps have a margin of 1/64 there. `DenseTransformer` rounds less at each of these places, is off by no more,
and so has the same answer where its margin is 1/32 or more (1/8 + 1/8 is not less than 1/4, and both bounds
are strict). Other heads leave one more assumption: that they look where their construction says.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import final

from attemper.checker.heads import RULES
from attemper.errors import UnsupportedError
from attemper.exact.formats import FORMATS, FloatFormat
from attemper.exports.dependencies import head_name
from attemper.exports.gpt2.layout import ROOTS, Layout
from attemper.exports.gpt2.rounding import ReadBounds, relative
from attemper.exports.gpt2.sizes import alone_of, pairs_of, shown, size_of, sizes_of
from attemper.networks.layers import Foreign, Head, Layer, LinearForm, Network

ROOM = Fraction(1, 64)
"""How far a clamp's form may be off: a sixteenth of the way from a ramp's end to its middle, 1/4."""

SCORE_GAP = Fraction(1, 8)
"""How far scores of a head with a construction may be off: weights by factors within e^(+-1/4)."""

BIT = Fraction(1, 8)
"""How far a bit that is put out stays within: half of the way from 1/4 or 3/4 to 1/2."""

Write = tuple[int, Fraction, Fraction]
"""A coordinate, what is written to it at most, and how far that is off."""


@final
@dataclass(frozen=True)
class NoisyRead:
    """Something that is read: its name, how large and how far off it may be, and what it bears, if known."""

    name: str
    size: Fraction
    noise: Fraction
    bears: Fraction | None


def require_quiet(network: Network, layout: Layout, tabulated: Sequence[Fraction], dtype: str) -> None:
    """Refuse a network of which a GPT-2 in the format may read something wrong.

    `tabulated` are the greatest absolute values of position embeddings. Raises `UnsupportedError`, naming the
    first clamp, head or output.
    """
    form = FORMATS[dtype]
    for reading in readings(network, layout, tabulated, form):
        if reading.bears is not None and reading.noise >= reading.bears:
            raise UnsupportedError(
                f"in {dtype} the LayerNorms and sums of a GPT-2 can read {reading.name} as far off as "
                f"{shown(reading.noise)}, and {shown(reading.bears)} is too much: {_remedy(dtype)}"
            )
        if reading.size > form.range:
            raise UnsupportedError(
                f"{reading.name} can be as large as {shown(reading.size)}, and in {dtype} a GPT-2 holds "
                f"numbers up to {shown(Fraction(form.range))}: {_remedy(dtype)}"
            )


def _remedy(dtype: str) -> str:
    wider = "" if dtype == "float64" else "float64 reads better, "
    return f"{wider}fewer positions help where positions are large, and so do smaller weights"


def readings(
    network: Network, layout: Layout, tabulated: Sequence[Fraction], form: FloatFormat
) -> Iterator[NoisyRead]:
    """Everything that a GPT-2 reads of a network's stream, in its order.

    >>> import attemper
    >>> from attemper.exports.gpt2.layout import layout_of
    >>> network = attemper.compile("O a", "ab").network
    >>> tabulated = [Fraction(1)] * 4 + [Fraction(100)]
    >>> for reading in readings(network, layout_of(network, 100), tabulated, FORMATS["float32"]):
    ...     print(reading.name, shown(reading.noise))
    query 0 of head 0.0 2^-14
    query 1 of head 0.0 2^-20
    key 0 of head 0.0 2^-16
    key 1 of head 0.0 2^-12
    the scores of head 0.0 2^-7
    value 0 of head 0.0 2^-19
    hidden unit 0.0 2^-14
    hidden unit 0.1 2^-14
    the output 'O a' 2^-16
    """
    # Rounding weights to the format makes products of up to three of them larger in every layer.
    growth = 1 + relative(3 * len(network.layers) + 2, form)
    sizes = [size * growth for size in sizes_of(network, tabulated)]
    noise = [Fraction(0)] * len(sizes)
    for number, layer in enumerate(network.layers):
        stream, writes = ReadBounds(form, layout.width, sizes, noise), list[Write]()
        for index, head in enumerate(layer.heads):
            yield from _of_head(head_name(number, index), head, stream, layout, writes)
        stream = ReadBounds(form, layout.width, sizes, _added(stream, writes))
        yield from _of_hidden(number, layer, stream)
        noise = _added(stream, list(_hidden_writes(layer, stream)))
    last = ReadBounds(form, layout.width, sizes, noise)
    for output in network.outputs:
        read = ((output, Fraction(1)),)
        name = f"the output '{network.coordinates[output]}'"
        yield NoisyRead(name, last.size(read, Fraction(0)), last.off(read), BIT)


def _of_head(
    name: str, head: Head, stream: ReadBounds, layout: Layout, writes: list[Write]
) -> Iterator[NoisyRead]:
    form = stream.form
    # What is said to be uniform is judged as if nothing were said: scores of 0 are off by nothing.
    said = head.construction
    is_said = not isinstance(said, Foreign) and RULES[type(said)].has_gap
    score, size = _score(head, stream, stream.read if is_said else stream.off)
    # Scores are formed times the root of the head width, and divided by that root afterwards.
    scaled = size * ROOTS[layout.head_width]
    # A row that is too large gives no number, also where the other one is 0.
    for what, rows, factor in (("query", head.query, ROOTS[layout.head_width]), ("key", head.key, 1)):
        for row, read in enumerate(rows):
            off = stream.off(read)
            yield NoisyRead(
                f"{what} {row} of {name}", factor * (size_of(read, stream.sizes) + off), off, None
            )
    yield NoisyRead(f"the scores of {name}", scaled, score, SCORE_GAP if is_said else None)
    moved = (
        Fraction(0) if is_said else (min(2 * score / (1 - 2 * score), Fraction(2)) if 2 * score < 1 else 2)
    )
    averaging = relative(3 * layout.positions + 20, form)
    for row, (value, target) in enumerate(zip(head.values, head.targets, strict=True)):
        off = stream.off(value)
        most = size_of(value, stream.sizes) + off
        yield NoisyRead(f"value {row} of {name}", most, off, None)
        lost = 8 * layout.positions * form.least_normal * (1 + most) if value else Fraction(0)
        writes.append((target, most, off + (averaging + moved) * most + lost))


def _score(
    head: Head, stream: ReadBounds, off: Callable[[LinearForm], Fraction]
) -> tuple[Fraction, Fraction]:
    """How far scores are off, if forms are by `off`, and a bound on the absolute values of their products."""
    noise, size = Fraction(0), Fraction(0)
    for query, key in zip(head.query, head.key, strict=True):
        if query and key:
            q, k = size_of(query, stream.sizes), size_of(key, stream.sizes)
            q_off, k_off = off(query), off(key)
            noise += q * k_off + k * q_off + q_off * k_off + 4 * stream.form.least_normal
            size += (q + q_off) * (k + k_off)
    return noise + relative(len(head.query) + 8, stream.form) * size, size


def _of_hidden(number: int, layer: Layer, stream: ReadBounds) -> Iterator[NoisyRead]:
    clamping = {index for clamp in layer.clamps for index in clamp}
    for index, unit in enumerate(layer.hidden):
        size, off = stream.size(unit.form, unit.bias), stream.off(unit.form, unit.bias)
        yield NoisyRead(f"hidden unit {number}.{index}", size, off, ROOM if index in clamping else None)


def _hidden_writes(layer: Layer, stream: ReadBounds) -> Iterator[Write]:
    alone = [(unit, stream.off(unit.form, unit.bias)) for unit in alone_of(layer)]
    paired = [layer.hidden[index] for pair in pairs_of(layer) for index in pair]
    for unit, off in [*alone, *((unit, stream.read(unit.form, unit.bias)) for unit in paired)]:
        most = stream.size(unit.form, unit.bias) + off
        for coordinate, factor in unit.outputs:
            yield coordinate, abs(factor) * most, abs(factor) * off


def _added(stream: ReadBounds, writes: Sequence[Write]) -> list[Fraction]:
    """What each coordinate is off once these numbers have been added to it."""
    found = list(stream.noise)
    for coordinate in {write[0] for write in writes}:
        own = [(most, off) for target, most, off in writes if target == coordinate]
        total = stream.sizes[coordinate] + sum(most for most, _ in own)
        lost = 2 * len(own) * stream.form.least_normal
        found[coordinate] += sum(off for _, off in own) + lost
        found[coordinate] += relative(len(own) + 2, stream.form) * total
    return found
