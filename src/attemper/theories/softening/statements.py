"""Yang et al., section 5 and Appendix A: uniform-tieless attention, on a network that is typed in."""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction
from itertools import product
from math import exp, log

from attemper.errors import UnsupportedError
from attemper.exact.closed_forms import Number, evaluate, show_form
from attemper.networks import meaning_hard, meaning_soft
from attemper.networks.layers import Network, Softmax
from attemper.networks.typed import HeadOf, LayerOf, hard_network
from attemper.theories.softening.ask import soften
from attemper.theories.softening.check.enumeration import examine
from attemper.theories.softening.check.hard import uniform_heads
from attemper.theories.softening.lemmas.norms import coldness_by_norms
from attemper.theories.softening.search.temperatures import softened
from attemper.workbench.papers.statements import Observed, Paper, Statement, at_least, at_most, equal

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
    """1/tau in closed form: (c + digits of n) over the gap."""
    (head,) = soften(last_a(), epsilon=EPSILON).network.layers[0].heads
    assert isinstance(head.weighting, Softmax)
    yield equal("1/tau", show_form(head.weighting.inverse_temperature), "n*(5 + digits(n))")
    for n in (10, 1000, 100_000):
        cold = evaluate(head.weighting.inverse_temperature, n, n)
        yield at_least(f"n = {n:,}: gap / tau", float(cold / n), log(2 * n / EPSILON))
        yield at_most(
            f"n = {n:,}: gap / tau over ln(2 n / epsilon)", float(cold / n) / log(2 * n / EPSILON), 1.5
        )


HEADLINE = "attemper soften MODULE:NETWORK --epsilon 1/100"

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
        "Bounds here are per construction.",
        "the comparison with Lemma 33",
        HEADLINE,
        None,
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
        "The recursion of norms; `soften` prints the temperature that it asks for beside ours.",
        "Their constants, layer by layer, are not printed yet.",
        HEADLINE,
        by_norms,
    ),
    Statement(
        *(34, Paper.YANG, ("lemma-33",), "Lemma 33: how far tieless softmax is from hardmax"),
        "Part of the budget of each head; here where scores are exact.",
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
        "digits(n) in place of ln n; gaps that are no monomial are tried word by word.",
        HEADLINE,
        temperature_26,
    ),
    Statement(
        *(43, Paper.YANG, ("lemma-27", "appendix-a"), "Lemma 27: the width that rounding to r bits takes"),
        "Only Booleans are rounded here: width 2.",
        "pieces and widths",
        HEADLINE,
        None,
    ),
    Statement(
        *(
            44,
            Paper.YANG,
            ("section-1-ways-out", "ways-out"),
            "Four ways out: temperature, rounding, layer norm, unbounded",
        ),
        "Regimes, and LayerNorm.",
        "the comparison of the four",
        HEADLINE,
        None,
    ),
    Statement(
        *(
            45,
            Paper.YANG,
            ("chiang-cholak", "section-1-parity"),
            "PARITY of Chiang and Cholak, whose gap vanishes",
        ),
        "PARITY here has gap 1 at all lengths.",
        "their network",
        HEADLINE,
        None,
    ),
)
