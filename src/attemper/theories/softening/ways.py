"""PARITY with a gap that vanishes, and four ways out: by how much words with even and odd many 1s are apart.

**The vanishing gap.** Chiang and Cholak (2022) recognise PARITY by two layers of softmax at a constant
temperature, with bounded position embeddings. Here the marker stands at i = 0 and the word at 1..n-1, with k
ones. Uniform heads find k/n and 1/n, hidden units u_i = [i = k]/n, and two heads with the scores (-1)^i and
-(-1)^i average u: their difference s is more than 0 for even k, and less for odd k. For even n it is
+-2 tanh(1)/n^2. (From memory of the paper; `published_parity` is the network.)

**Ways out** are of four kinds, and all keep a gap: temperature, rounding, layer normalisation, and unbounded
position embeddings. The first and last look position c = k + 1 up, and read (-1)^k there: position j weighs
e^(-4 (j - c)^2), by scores of -(j - c)^2/n^2 at 1/tau = 4 n^2, or by the query (c/n, 1/n) and keys
(8 n j, -4 n j^2) at tau = 1.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import final

import flint

from attemper.exact.balls import ball, positive_part, precision
from attemper.exact.closed_forms import ONE
from attemper.networks.layers import Network
from attemper.networks.typed import HeadOf, LayerOf, UnitOf, hard_network
from attemper.theories.softening.search.temperatures import softened

PRECISION = 128
"""Bits of the balls."""

EPS = Fraction(1, 10**5)
"""What PyTorch's LayerNorm adds to a variance, if nothing else is said."""

PutOut = Sequence[flint.arb]
"""What is put out at a length, for k = 0, 1, ... ones: greater where k is even."""


@final
@dataclass(frozen=True)
class WayOut:
    """A way to recognise PARITY: its name, what grows with n, and what it puts out for n positions."""

    name: str
    grows: str
    outputs: Callable[[int], PutOut]

    def gap(self, n: int) -> flint.arb:
        """The least output of an even k less the greatest of an odd one, for n >= 2."""
        with precision(PRECISION):
            return gap_of(self.outputs(n))


def gap_of(outputs: PutOut) -> flint.arb:
    """By how much even and odd k are apart; less than 0 where some of them are confused."""
    least, greatest = outputs[0], outputs[1]
    for even in outputs[2::2]:
        least = least.min(even)
    for odd in outputs[3::2]:
        greatest = greatest.max(odd)
    return least - greatest


def vanishing(n: int) -> PutOut:
    """s for k = 0..n-1: what the two heads find at u_k = 1/n, which is 0 elsewhere."""
    great, small = flint.arb(1).exp(), flint.arb(-1).exp()
    even, odd = (n + 1) // 2, n // 2
    first, second = even * great + odd * small, even * small + odd * great
    found = {0: (great / first - small / second) / n, 1: (small / first - great / second) / n}
    return [found[k % 2] for k in range(n)]


def looked_up(n: int, score: Callable[[int, int], flint.fmpq], coldness: flint.arb) -> PutOut:
    """(-1)^(j-1) averaged over j = 1..n, weighed by the scores of j for c = k + 1."""
    found = []
    for c in range(1, n + 1):
        weights = [(flint.arb(score(c, j)) * coldness).exp() for j in range(1, n + 1)]
        total = sum(weights, flint.arb(0))
        found.append(
            sum((-weight if j % 2 else weight for j, weight in enumerate(weights)), flint.arb(0)) / total
        )
    return found


def _near(n: int) -> Callable[[int, int], flint.fmpq]:
    return lambda c, j: flint.fmpq(-((j - c) ** 2), n**2)


def _growing_keys(n: int) -> Callable[[int, int], flint.fmpq]:
    return lambda c, j: flint.fmpq(c, n) * (8 * n * j) + flint.fmpq(1, n) * (-4 * n * j**2)


def rounded(n: int) -> PutOut:
    """ReLU(x) - ReLU(x - 1), x = (s - middle) / gap + 1/2: 1 for even k, 0 for odd."""
    outputs = vanishing(n)
    gap = gap_of(outputs)
    middle = (outputs[0] + outputs[1]) / 2
    scaled = [(s - middle) / gap + ball(Fraction(1, 2)) for s in outputs]
    return [positive_part(x) - positive_part(x - 1) for x in scaled]


def normalised(n: int, eps: Fraction) -> PutOut:
    """s / sqrt(s^2 + eps): what LayerNorm makes of the coordinates s and -s."""
    return [s / (s * s + ball(eps)).sqrt() for s in vanishing(n)]


WAYS = (
    WayOut("constant temperature", "nothing", vanishing),
    WayOut("temperature 1/(4 n^2)", "1/tau", lambda n: looked_up(n, _near(n), flint.arb(4 * n**2))),
    WayOut("temperature 1/ln n", "1/tau, too slowly", lambda n: looked_up(n, _near(n), flint.arb(n).log())),
    WayOut("rounding", "slope n^2/3", rounded),
    WayOut("layer norm, eps 0", "Lipschitz constant", lambda n: normalised(n, Fraction(0))),
    WayOut("layer norm, eps 1e-5", "nothing", lambda n: normalised(n, EPS)),
    WayOut("unbounded positions", "n j and n j^2", lambda n: looked_up(n, _growing_keys(n), flint.arb(1))),
)
"""The constant temperature first, then the ways out, and two that look like one."""


@final
@dataclass(frozen=True)
class GapsOfWay:
    """A way's name, what grows, and its gap at each n, as the float next to it."""

    way: str
    grows: str
    gaps: dict[int, float]


def gaps_at(lengths: Sequence[int]) -> tuple[GapsOfWay, ...]:
    """The gaps of all ways.

    >>> [round(own.gaps[16], 4) for own in gaps_at([16])]
    [0.0119, 1.8587, -0.0902, 1.0, 2.0, 1.7661, 1.8587]
    """
    return tuple(
        GapsOfWay(way.name, way.grows, {n: float(way.gap(n).mid()) for n in lengths}) for way in WAYS
    )


def published_parity() -> Network:
    """Chiang and Cholak's network over 0, 1 and the marker "$", which words begin with, at temperature 1.

    >>> from attemper.networks.meaning_soft import output_bits
    >>> [float(output_bits(published_parity(), word)[-1]) > 0 for word in ("$101", "$100")]
    [True, False]
    """
    share = ["product", [["sum", [["position"], ["number", "-1"]]], ["power", ["length"], -1]]]
    sign = ["product", [["number", "-1"], ["alternating"]]]
    seen = {"k/n": 1, "i/n": -1}
    hard = hard_network(
        ["0", "1", "$"],
        embedding={"1": {"one": 1}, "$": {"marker": 1}},
        positions={"i/n": share, "sign": sign, "const": 1},
        layers=[
            LayerOf(
                [HeadOf("all", {"k/n": {"one": 1}, "1/n": {"marker": 1}})],
                [
                    UnitOf({**seen, "1/n": -1}, {"u": 1}),
                    UnitOf(seen, {"u": -2}),
                    UnitOf({**seen, "1/n": 1}, {"u": 1}),
                ],
            ),
            LayerOf(
                [
                    HeadOf("all", {"s": {"u": 1}}, query=[{"const": 1}], key=[{"sign": 1}]),
                    HeadOf("all", {"s": {"u": -1}}, query=[{"const": -1}], key=[{"sign": 1}]),
                ]
            ),
        ],
        output="s",
    )
    return softened(hard, [[ONE], [ONE, ONE]])
