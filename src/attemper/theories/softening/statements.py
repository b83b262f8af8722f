"""Yang et al., section 5 and Appendix A: uniform-tieless attention, on a network that is typed in."""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction
from itertools import product
from math import exp, log, tanh

import flint
import numpy as np

from attemper.errors import UnsupportedError
from attemper.exact.closed_forms import Number, evaluate, show_form
from attemper.networks import meaning_hard, meaning_soft
from attemper.networks.layers import Network, Softmax
from attemper.networks.typed import HeadOf, LayerOf, hard_network
from attemper.theories.softening.ask import pieces, soften
from attemper.theories.softening.check.enumeration import examine
from attemper.theories.softening.check.hard import uniform_heads
from attemper.theories.softening.lemmas.norms import (
    HeadSizes,
    LayerSizes,
    Lead,
    Published,
    coldness_by_norms,
    edelman,
    layer_errors,
)
from attemper.theories.softening.search.temperatures import softened
from attemper.theories.softening.ways import gaps_at, published_parity
from attemper.workbench.compiling import compile as compiled
from attemper.workbench.papers.statements import Observed, Paper, Statement, at_least, at_most, equal
from attemper.workbench.papers.tasks import entry

EPSILON = Fraction(1, 100)
LENGTHS = range(1, 7)


SHARE = ["product", [["position"], ["power", ["length"], -1]]]
"""j/n."""


def last_a(place: object = SHARE, *, breaks_ties: bool = True) -> Network:
    """Where the last a stands: a scores 2, and `place` at j is added to break ties, unless they stay."""
    key = {"a": 2, "place": 1} if breaks_ties else {"a": 2}
    return hard_network(
        "ab",
        embedding={"a": {"a": 1}},
        positions={"one": 1, "place": place},
        layers=[LayerOf([HeadOf("<=", {"where": {"place": 1}}, query=[{"one": 1}], key=[key])])],
        output="where",
    )


def gap_by_hand(n: int) -> Fraction | None:
    """The least distance of the greatest score to a lower one, over all words and positions."""
    gaps = []
    for word in product("ab", repeat=n):
        scores = [2 * (symbol == "a") + Fraction(j, n) for j, symbol in enumerate(word, start=1)]
        for i in range(1, n + 1):
            best = max(scores[:i])
            gaps += [best - score for score in scores[:i] if score < best]
    return min(gaps, default=None)


def tieless() -> Iterator[Observed]:
    """The gap as examined and by hand; a network with a tie is refused, with the word."""
    for n in LENGTHS:
        ((found,),) = examine(last_a(), n).gaps
        yield equal(f"n = {n}: gap", str(found), str(gap_by_hand(n)))
    try:
        soften(last_a(breaks_ties=False), epsilon=EPSILON)
    except UnsupportedError as error:
        said = str(error)
    else:
        said = "softened"
    yield equal("without a tie-break it is refused with 'aa'", "'aa'" in said, True)


def gaps_are_positive() -> Iterator[Observed]:
    """The gap function at each length: here 1/n."""
    for n in range(2, 9):
        ((found,),) = examine(last_a(), n).gaps
        yield at_least(f"n = {n}: gap", Fraction(0) if found is None else found, Fraction(1, n))


def magnitudes() -> Iterator[Observed]:
    """x_max(n), the greatest entry before the layer, as examined and by the definition."""
    network = last_a(["power", ["position"], 2])
    for n in LENGTHS:
        (found,) = examine(network, n).magnitudes
        streams = (meaning_hard.residual_streams(network, word)[0] for word in product("ab", repeat=n))
        yield equal(
            f"n = {n}: greatest entry", str(found), str(max(abs(x) for s in streams for v in s for x in v))
        )


def errors_of(hard: Network, soft: Network, n: int) -> float:
    """The most, over all words of n symbols, by which what is put out differs: rationals against balls."""
    most = 0.0
    for word in product("ab", repeat=n):
        pairs = zip(meaning_hard.output_bits(hard, word), meaning_soft.output_bits(soft, word), strict=True)
        most = max([most, *(float(abs(enclosed - float(exact)).upper()) for exact, enclosed in pairs)])
    return most


def edelman_bound() -> Iterator[Observed]:
    """Scores with a gap below t that tie: weights off by at most 2 ((n - t) / t) e^-gap; and Lemma 33."""
    for n, tied, gap in ((16, 1, 8), (64, 3, 9), (256, 4, 12)):
        losing = (n - tied) * exp(-gap) / (tied + (n - tied) * exp(-gap))
        said = float(edelman(Lead(Fraction(gap), flint.arb(1)), n, tied))
        yield at_most(f"{n} scores, {tied} greatest, gap {gap}: weights off by", 2 * losing, said)
        yield at_least("the same over the bound, which is nearly attained", 2 * losing / said, 0.99)
    lead, one = Lead(Fraction(8), flint.arb(1)), flint.arb(1)
    for before, times in ((0.0, 1.0), (0.25, exp(2 * (2 * 0.25 + 0.25**2)))):
        sizes = LayerSizes((HeadSizes(one, one),), one)
        (head,) = layer_errors(sizes, [lead], one, flint.arb(before), 16).heads
        ratio = 0.0 if head.weights is None else float(head.weights / edelman(lead, 16))
        yield at_most(f"what is read off by {before}: Lemma 33 over it off by", abs(ratio - times), 1e-9)


def layer_by_layer() -> Iterator[Observed]:
    """The tables of `soften --lemmas`, for two layers: what is measured, by our sizes, and as published."""
    found = soften(compiled("zoo:flip-flop", regime="temperature"), epsilon=EPSILON)
    for one in found.lemmas:
        pairs = [(row.measured, row.own) for row in one.rows if row.own is not None]
        pairs += [(row.own, row.published) for row in one.rows if row.own and row.published]
        pairs += [(row.measured, row.published) for row in one.rows if row.published is not None]
        above = sum(float(low.lstrip("<")) > float(high) for low, high in pairs)
        yield equal(f"{one.temperatures}, n = {one.n}: numbers above a lemma's, of {len(pairs)}", above, 0)
        gaps = [(row.proved or row.measured, row.measured) for row in one.rows if row.what == "gap"]
        yield equal("gaps that are proved and not there", sum(float(a) > float(b) for a, b in gaps), 0)
        silent = any(row.own is None and row.what == "weight error" for row in one.rows)
        yield equal("errors of scores outweigh a gap", silent, one.temperatures == "as softened")


def by_norms() -> Iterator[Observed]:
    """The temperature by the recursion of norms at n = 5, and one 20 times as warm."""
    hard = last_a()
    examined = examine(hard, 5)
    ((gap,),) = examined.gaps
    assert gap is not None
    cold = coldness_by_norms(hard, uniform_heads(hard), examined.magnitudes, gap, 5, EPSILON)
    assert cold is not None
    yield at_most("1/tau by norms times the gap", float(cold * gap), 20.0)
    yield at_most(
        "error at that tau, n = 5", errors_of(hard, softened(hard, ((Number(cold),),)), 5), float(EPSILON)
    )
    warm = softened(hard, ((Number(cold / 20),),))
    yield at_least("error at 20 tau", errors_of(hard, warm, 5), float(EPSILON))


def lemma_33() -> Iterator[Observed]:
    """A first layer has exact scores: sum of |weights - hard weights| <= 2 (n - 1) e^(-gap / tau)."""
    found = soften(last_a(), epsilon="1/10")
    (head,) = found.network.layers[0].heads
    assert isinstance(head.weighting, Softmax)
    for n in LENGTHS[1:]:
        ((gap,),) = examine(found.hard, n).gaps
        assert gap is not None
        most = 0.0
        for word in product("ab", repeat=n):
            weights = meaning_soft.attention(head, meaning_soft.residual_streams(found.network, word)[0])
            hard = meaning_hard.attention(head, meaning_hard.residual_streams(found.hard, word)[0])
            for soft, best in zip(weights, hard, strict=True):
                most = max(most, sum(abs(float(soft[j].mid()) - float(best.get(j, 0))) for j in soft))
        cold = evaluate(head.weighting.inverse_temperature, n, n)
        yield at_most(f"n = {n}: weights off by", most, 2 * (n - 1) * exp(-cold * gap))


def theorem_26() -> Iterator[Observed]:
    """Softened within 1/100 at all lengths, proved; measured on all words up to 6."""
    found = soften(last_a(), epsilon=EPSILON)
    reach = found.certificate.last or "all"
    yield equal("within 1/100, at lengths to", f"{reach}, {found.status}", "all, PROVED")
    for n in LENGTHS:
        yield at_most(f"n = {n}: greatest error", errors_of(found.hard, found.network, n), float(EPSILON))


def temperature_26() -> Iterator[Observed]:
    """1/tau in closed form, (c + digits of n) over the gap; and that of the theorem, written out."""
    found = soften(last_a(), epsilon=EPSILON)
    (head,) = found.network.layers[0].heads
    assert isinstance(head.weighting, Softmax)
    yield equal("1/tau", show_form(head.weighting.inverse_temperature), "n*(5 + digits(n))")
    d, p = 4, 2
    grown = 1 + d**2 * p**2
    largest = (1 + d * p) * grown + d * p**2 + p
    for n in (10, 1000, 100_000):
        cold = evaluate(head.weighting.inverse_temperature, n, n)
        yield at_least(f"n = {n:,}: gap / tau", float(cold / n), log(2 * n / EPSILON))
        yield at_most(
            f"n = {n:,}: gap / tau over ln(2 n / epsilon)", float(cold / n) / log(2 * n / EPSILON), 1.5
        )
        least = min(float(EPSILON), 1 / n / (12 * d**2.5 * p**2 * largest))
        wanted = 2 * n * log(2 * grown * d * p * n * largest / least)
        own = float(Published.of(found.hard).coldness(1, n, flint.arb(1), Fraction(1, n), EPSILON))
        yield at_most("the theorem's 1/tau off, in parts of it, by", abs(own / wanted - 1), 1e-9)
        yield at_least("it over ours", own / float(cold), 1.0)


def flip_flop() -> Iterator[Observed]:
    """Theorem 26's temperature for flip-flop falls like 1/(n log n); the compiler's is 1/(8n)."""
    model = compiled("zoo:flip-flop", regime="temperature")
    found = soften(model, epsilon=EPSILON)
    ratios = []
    for n in (10, 1000, 100_000):
        colds = []
        for network in (found.network, model.network):
            weighting = network.layers[0].heads[0].weighting
            assert isinstance(weighting, Softmax)
            colds.append(evaluate(weighting.inverse_temperature, n, n))
        wanted = f"{2 * n * (2 + n.bit_length())}, {8 * n}"
        yield equal(f"n = {n:,}: 1/tau of softening, and compiled", f"{colds[0]}, {colds[1]}", wanted)
        ratios.append(float(colds[0] / colds[1]) / log(n))
    yield at_most("their ratio over ln n: at most", max(ratios), 1.0)
    yield at_least("at least", min(ratios), 0.1)
    yield from entry("flip-flop", "temperature")
    yield from entry("flip-flop", "decoder")


def rounding_width() -> Iterator[Observed]:
    """Pieces of what rounds p bits to r, which the units of one hidden layer make."""
    for p, r in ((3, 1), (5, 2), (6, 3)):
        table = {x: x >> (p - r) for x in range(2**p)}
        found = pieces(table)
        name = f"{p} bits to {r}:"
        yield equal(f"{name} pieces", found.count, 2 ** (r + 1) - 1)
        yield equal(f"{name} least width of one hidden layer", found.least_width(), 2 ** (r + 1) - 2)
        made = {
            x: sum((unit.factor * max(x - unit.start, Fraction(0)) for unit in found.units), Fraction(0))
            for x in table
        }
        yield equal(f"{name} {len(found.units)} units make the table", made == table, True)


def four_ways() -> Iterator[Observed]:
    """The gaps of `attemper four-ways`, by floats."""
    for one in gaps_at((16, 128)):
        for n, gap in one.gaps.items():
            s = np.array([2 * tanh(1) / n**2, -2 * tanh(1) / n**2])
            c, j = np.arange(1, n + 1)[:, None], np.arange(1, n + 1)
            wanted = {
                "constant temperature": s,
                "temperature 1/(4 n^2)": _looked_up(-((j - c) ** 2) / n**2 * 4 * n**2),
                "temperature 1/ln n": _looked_up(-((j - c) ** 2) / n**2 * log(n)),
                "rounding": np.array([1.0, 0.0]),
                "layer norm, eps 0": s / abs(s),
                "layer norm, eps 1e-5": s / np.sqrt(s**2 + 1e-5),
                "unbounded positions": _looked_up(8.0 * c * j - 4 * j**2),
            }[one.way]
            own = float(wanted[::2].min() - wanted[1::2].max())
            yield at_most(f"{one.way}, n = {n}: gap {gap:.3g} off by", abs(gap - own), 1e-9)


def _looked_up(scores: np.ndarray) -> np.ndarray:
    """(-1)^(j - 1), averaged by the softmax of each row."""
    powers = np.exp(scores - scores.max(axis=1, keepdims=True))
    signs = 1 - 2 * (np.arange(scores.shape[1]) % 2)
    return np.asarray(powers @ signs / powers.sum(axis=1))


def published() -> Iterator[Observed]:
    """All words behind the marker: even ones get more than 0, by a margin that falls like 1/n^2."""
    network = published_parity()
    for n in (2, 4, 6):
        found: dict[bool, list[float]] = {False: [], True: []}
        for bits in product("01", repeat=n - 1):
            output = meaning_soft.output_bits(network, ("$", *bits))[-1]
            found[bits.count("1") % 2 == 0].append(float(output.mid()))
        gap = min(found[True]) - max(found[False])
        yield at_least(f"n = {n}: of even words, least", min(found[True]), 1e-9)
        yield at_most(f"n = {n}: of odd words, greatest", max(found[False]), -1e-9)
        yield at_most(f"n = {n}: gap {gap:.3g} off 4 tanh(1)/n^2 by", abs(gap - 4 * tanh(1) / n**2), 1e-12)


HEADLINE = "attemper soften MODULE:NETWORK --epsilon 1/100"
LEMMAS = f"{HEADLINE} --lemmas"
WAYS_OUT = "attemper four-ways --lengths 16,128"

STATEMENTS = (
    Statement(
        *(
            6,
            Paper.YANG,
            ("definition-5", "tieless"),
            "Definition 5: uniform and tieless heads, and their gap",
        ),
        "`soften` reads the gap off the scores by a rule, for all lengths, or tries all words of a length.",
        "Ties are allowed where what is read at them is the same.",
        HEADLINE,
        tieless,
    ),
    Statement(
        *(11, Paper.YANG, ("edelman", "section-3.2-edelman"), "The bound of Edelman et al. on softmax"),
        "2 ((n - t)/t) e^(-gap/tau) for t that tie, beside Lemma 33 in `soften --lemmas`: equal for exact "
        "scores.",
        "As we have it from the paper's remark.",
        LEMMAS,
        edelman_bound,
    ),
    Statement(
        *(31, Paper.YANG, ("lemma-24",), "Lemma 24: the gap function is positive"),
        "`examine` finds the least gap over all words of a length, as a fraction, and a word that attains "
        "it.",
        "",
        HEADLINE,
        gaps_are_positive,
    ),
    Statement(
        *(32, Paper.YANG, ("section-5-x-max", "x-max"), "x_max(n): the greatest entry of any activation"),
        "`examine(network, n).magnitudes`; `soften --magnitude` takes one that is said, and checks it.",
        "",
        f"{HEADLINE} --magnitude 0=3n",
        magnitudes,
    ),
    Statement(
        33,
        Paper.YANG,
        tuple(f"lemma-{number}" for number in (25, 28, 29, 30, 31, 32, 34)),
        "Lemmas 25, 28 to 32, 34: how errors grow from layer to layer",
        "`soften --lemmas` prints each layer's numbers: as published, by the sizes of the weights, measured.",
        "Networks are softened by rules, or by the recursion of norms with their own sizes.",
        LEMMAS,
        lambda: (*layer_by_layer(), *by_norms()),
    ),
    Statement(
        *(34, Paper.YANG, ("lemma-33",), "Lemma 33: how far tieless softmax is from hardmax"),
        "Part of the budget of each head; here where scores are exact, and layer by layer in `soften "
        "--lemmas`.",
        "",
        HEADLINE,
        lemma_33,
    ),
    Statement(
        *(
            35,
            Paper.YANG,
            ("theorem-26-epsilon", "theorem-26"),
            "Theorem 26: softmax within epsilon of average-hard attention",
        ),
        "`soften`: the same weights and a temperature, proved at all lengths.",
        "Coordinates that are exact stay so, and values of few letters count for less: a better budget.",
        HEADLINE,
        theorem_26,
    ),
    Statement(
        *(36, Paper.YANG, ("theorem-26-temperature", "theorem-26"), "Theorem 26: how cold that is"),
        "1/tau = (c + k digits(n)) / gap(n), in closed form, for all n.",
        "digits(n) in place of ln n; gaps that are no monomial are tried word by word; `--lemmas` has the "
        "theorem's.",
        LEMMAS,
        temperature_26,
    ),
    Statement(
        *(38, Paper.YANG, ("flip-flop",), "The flip-flop language of Liu et al. (section 6)"),
        "`flip-flop` with 1/tau = 8n, as compiled; softened by Theorem 26 alone it is of the order n log n.",
        "",
        "attemper compile zoo:flip-flop --regime temperature -o flip; attemper soften flip -o cold",
        flip_flop,
    ),
    Statement(
        *(43, Paper.YANG, ("lemma-27", "appendix-a"), "Lemma 27: the width that rounding to r bits takes"),
        "`attemper.pieces`: the least pieces through any table, and the least width of a network that makes "
        "it.",
        "The exact number, 2^(r+1) - 1, is ours.",
        "attemper.pieces({x: x >> 3 for x in range(32)}).least_width()",
        rounding_width,
    ),
    Statement(
        *(
            44,
            Paper.YANG,
            ("section-1-ways-out", "ways-out"),
            "Four ways out: temperature, rounding, layer norm, unbounded",
        ),
        "`four-ways` has the gap that each gives PARITY, and what grows with n for it.",
        "",
        WAYS_OUT,
        four_ways,
    ),
    Statement(
        *(
            45,
            Paper.YANG,
            ("chiang-cholak", "section-1-parity"),
            "PARITY of Chiang and Cholak, whose gap vanishes",
        ),
        "`ways.published_parity`: two layers, bounded, at temperature 1; its gap is 4 tanh(1)/n^2 for even "
        "n.",
        "Their network as we understand it; PARITY as compiled here has gap 1.",
        WAYS_OUT,
        published,
    ),
)
