"""Lemmas 25 and 28 to 34 of Yang et al., and Theorem 26: each tried on every word, in balls, and how loose.

`python -m tests.support.judges.lemmas` prints how loose: over 50 networks, all words of 2 to 6 symbols.
"""

from __future__ import annotations

import sys
from collections import defaultdict
from collections.abc import Iterator
from fractions import Fraction
from itertools import product
from statistics import median

import flint

from attemper.exact.balls import ball, precision, upper_bound
from attemper.languages.words import Word
from attemper.networks.layers import HEAD_WIDTHS, Network
from attemper.networks.meaning_hard import residual_streams, value_of
from attemper.theories.softening.check.enumeration import examine
from attemper.theories.softening.check.hard import uniform_heads
from attemper.theories.softening.lemmas.measured import MeasuredLayer, measured
from attemper.theories.softening.lemmas.norms import (
    PRECISION,
    Lead,
    Published,
    edelman,
    layer_errors,
    own_sizes,
)
from attemper.theories.softening.search.soften import constant
from attemper.theories.softening.search.temperatures import softened
from tests.support.drawn.tieless_networks import tieless

NETWORKS = 50
LENGTHS = range(2, 7)
EPSILON = Fraction(1, 8)

UNTOLD = Fraction(1, 2**150)
"""What balls of 256 bits may not tell from 0: cold heads multiply their radius, layer by layer."""

SHOWN = Fraction(1, 2**100)
"""How loose a bound is that is less than this is not said: what is measured there is the balls' radius."""

Loose = dict[str, list[float]]


class Held:
    """Each inequality as it is tried: it must hold, and how loose it is is kept."""

    def __init__(self) -> None:
        self.loose: Loose = defaultdict(list)

    def __call__(self, lemma: str, left: flint.arb, right: flint.arb) -> None:
        assert left <= right + ball(UNTOLD), (lemma, left, right)
        if right > ball(SHOWN):
            self.loose[lemma].append(float((left / right).upper()))


def hold_at(network: Network, length: int, held: Held) -> None:
    """Theorem 26 at its temperature, and each lemma at warmer ones, on all words of one length."""
    seen, paper, uniform = examine(network, length), Published.of(network), uniform_heads(network)
    gap = min((gap for layer in seen.gaps for gap in layer if gap is not None), default=Fraction(1))
    assert gap > 0  # Lemma 24
    embedded = ball(seen.magnitudes[0])
    cold = upper_bound(paper.coldness(len(network.layers), length, embedded, gap, EPSILON))
    coldest = softened(network, constant(uniform, cold))
    softs = {warm: softened(network, constant(uniform, warm)) for warm in (6 / gap, 12 / gap, 25 / gap)}
    for word in product("ab", repeat=length):
        hold_of_sizes(network, paper, word, embedded, held)
        held("26", measured(network, coldest, [word])[-1].after, ball(EPSILON))
        gaps = examine(network, length, [word]).gaps
        for warm, soft in softs.items():
            layers = measured(network, soft, [word])
            for index, known in enumerate(layers):
                leads = [None if own is None else Lead(own, ball(warm)) for own in gaps[index]]
                hold_of_layer(known, leads, length, paper, held)
                for name, sizes in (("25", paper.sizes(network)), ("ours", own_sizes(network))):
                    bound = layer_errors(sizes[index], leads, known.read, known.before, length)
                    if bound.after is not None:
                        held(name, known.after, bound.after)


def hold_of_sizes(network: Network, paper: Published, word: Word, embedded: flint.arb, held: Held) -> None:
    """Lemma 29 behind each layer, and 28 of W_Q, W_K and W_V, where W_Q is that on disk."""
    root = HEAD_WIDTHS[network.head_width]
    streams = residual_streams(network, word)
    for number, stream in enumerate(streams[1:], start=1):
        size = max(abs(value) for vector in stream for value in vector)
        held("29", ball(size), paper.read(number, embedded))
    for layer, stream in zip(network.layers, streams, strict=False):
        size = max(abs(value) for vector in stream for value in vector)
        for head in layer.heads:
            for factor, rows in ((root, head.query), (1, head.key), (1, head.values)):
                mapped = max((abs(value_of(row, vector)) for vector in stream for row in rows), default=0)
                held("28", ball(Fraction(factor * mapped)), paper.map * ball(size))


def hold_of_layer(
    known: MeasuredLayer, leads: list[Lead | None], length: int, paper: Published, held: Held
) -> None:
    """Lemmas 30 to 34 and the bound of Edelman et al., each from what is measured before it."""
    before, read = known.before, known.read
    for lead, head in zip(leads, known.heads, strict=True):
        if lead is None:
            held("31", head.values, paper.map * before)
            continue
        held("32", head.scores, paper.scores * (2 * read * before + before * before))
        held("Edelman et al.", head.exact_weights, edelman(lead, length))
        room = ball(lead.gap) - 2 * head.scores
        if room > 0:
            held("33", head.weights, 2 * (length - 1) * (-room * lead.coldness).exp())
        held("34", head.values, paper.map * (before + read * head.weights))
    held("30", known.after, paper.growth * known.behind_heads)


def looseness(held: Held) -> Iterator[str]:
    """A row for each inequality."""
    yield f"{'lemma':>14}  cases  greatest  median left/right"
    for lemma, ratios in sorted(held.loose.items()):
        yield f"{lemma:>14}  {len(ratios):5}  {max(ratios):8.3g}  {median(ratios):.3g}"


if __name__ == "__main__":
    tried = Held()
    with precision(PRECISION):
        for seed in range(NETWORKS):
            drawn = tieless(seed, LENGTHS[-1]).network
            for n in LENGTHS:
                hold_at(drawn, n, tried)
    sys.stdout.writelines(f"{line}\n" for line in looseness(tried))
