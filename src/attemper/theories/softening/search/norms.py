"""The budget by norms, as the theorem is proved on paper: printed beside ours, and proving nothing here."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from math import exp, inf

from attemper.networks.layers import Head, Layer, LinearForm, Network
from attemper.theories.softening.search.temperatures import least_coldness

HALVINGS = Fraction(2**200)


def coldness_by_norms(
    hard: Network,
    uniform: Sequence[Sequence[bool]],
    magnitudes: Sequence[Fraction],
    gap: Fraction,
    length: int,
    epsilon: Fraction,
) -> Fraction | None:
    """About the least 1/tau for which the recursion of norms stays within epsilon at one length.

    With e the error so far, X a bound on what a layer reads, g the least gap of all heads, A = W_Q^T W_K:
    delta = |A|_1 (2 X e + e^2), the mass off the maximum m = (n - 1) e^-((g - 2 delta)/tau), the error behind
    the heads a = e + sum of |W_V| (e + 2 X m), and behind the layer (1 + |W_1| |W_2|) a, |.| the largest row
    sum. (Yang, Strobl, Chiang, Angluin, Theorem 26, with constants of our own.) None: no temperature is seen
    to be enough.
    """
    if length == 1:
        return Fraction(1)
    layers = [
        (_growth(layer), [(_entries(head), _row_sum(head.values)) for head in layer.heads])
        for layer in hard.layers
    ]

    def error(cold: Fraction) -> float:
        e = 0.0
        for (growth, heads), are_uniform, size in zip(layers, uniform, magnitudes, strict=True):
            added = 0.0
            for (entries, values), is_uniform in zip(heads, are_uniform, strict=True):
                room = float(gap) - 2 * entries * (2 * float(size) * e + e * e)
                if not is_uniform and room <= 0:
                    return inf
                mass = 0.0 if is_uniform else (length - 1) * exp(-room * float(cold))
                added += values * (e + 2 * float(size) * mass)
            e = growth * (e + added)
        return e

    return least_coldness(lambda cold: error(cold) <= epsilon, Fraction(1), HALVINGS)


def _growth(layer: Layer) -> float:
    first = _row_sum([unit.form for unit in layer.hidden])
    written: dict[int, Fraction] = {}
    for unit in layer.hidden:
        for target, factor in unit.outputs:
            written[target] = written.get(target, Fraction(0)) + abs(factor)
    return 1 + first * float(max(written.values(), default=Fraction(0)))


def _entries(head: Head) -> float:
    """The sum of the sizes of all entries of W_Q^T W_K."""
    total: dict[tuple[int, int], Fraction] = {}
    for query, key in zip(head.query, head.key, strict=True):
        for a, x in query:
            for b, y in key:
                total[a, b] = total.get((a, b), Fraction(0)) + x * y
    return float(sum(map(abs, total.values())))


def _row_sum(rows: Sequence[LinearForm]) -> float:
    return float(max((sum(abs(factor) for _, factor in row) for row in rows), default=Fraction(0)))
