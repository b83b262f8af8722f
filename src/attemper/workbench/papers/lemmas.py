"""Yang et al., sections 3.2 to 3.4: bounds on softmax, measured in heads of compiled networks, in balls."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from itertools import product
from math import exp

from attemper.exact.balls import precision
from attemper.languages.named.entry import RegimeName
from attemper.networks import meaning_hard, meaning_soft
from attemper.workbench.compiling import compile as compiled
from attemper.workbench.model import Model
from attemper.workbench.papers.statements import Observed, Paper, Statement, at_least, at_most, equal

REGIMES: tuple[RegimeName, ...] = ("temperature", "unbounded", "decoder")

R = exp(-4)
"""e^-B at the least margin B = 4, which these small networks have."""


def stray_of(model: Model, construction: str) -> float:
    """The most weight, over short words and positions, that lies off where hard attention looks."""
    most = 0.0
    symbols = model.alphabet.symbols
    words = [word for n in (1, 2, 4) for word in product(symbols, repeat=n)]
    with precision(128):
        for word in [*words, tuple(symbols[:1]) * 12, tuple(symbols[1:2]) * 12]:
            hard = meaning_hard.residual_streams(model.network, word)
            soft = meaning_soft.residual_streams(model.network, word)
            for layer, exact, balls in zip(model.network.layers, hard, soft, strict=False):
                for head in layer.heads:
                    if type(head.construction).__name__ == construction:
                        best = meaning_hard.attention(head, exact)
                        weights = meaning_soft.attention(head, balls)
                        off = (
                            1 - row[max(one, key=one.__getitem__)]
                            for one, row in zip(best, weights, strict=True)
                        )
                        most = max([most, *(float(part.upper()) for part in off)])
    return most


def lemma_6() -> Iterator[Observed]:
    """Scores that fall by a gap at each step: by arithmetic, and in the heads of Y and of X."""
    worst = 0.0
    for gap in (1, 2, 4, 8):
        powers = [exp(-gap * abs(step)) for step in range(-20, 21)]
        worst = max(worst, 2 * (1 - 1 / sum(powers)) / (4 * exp(-gap)))
    yield at_most("sum of |weights - hard weights| over 4 e^-gap", worst, 1.0)
    yield at_least("the same, which is nearly attained", worst, 0.99)
    for formula in ("Y a", "X a"):
        model = compiled(formula, "ab", at="first" if formula == "X a" else "last", regime="temperature")
        yield at_most(f"{formula}: weight off the neighbour", stray_of(model, "Neighbour"), R)


def lemma_7() -> Iterator[Observed]:
    """Scores -B (j - c)^2: by arithmetic, and in the lookup of a count."""
    worst = 0.0
    for gap in (1, 2, 4, 8):
        powers = [exp(-gap * step**2) for step in range(-20, 21)]
        worst = max(worst, (1 - 1 / sum(powers)) / exp(-gap))
    yield at_most("weight off c over e^-B", worst, 2.3)
    for regime in REGIMES:
        model = compiled("odd(#<[a])", "ab", regime=regime)
        yield at_most(f"odd(#<[a]), {regime}: weight off c", stray_of(model, "Lookup"), 2.3 * R)


def lemma_8() -> Iterator[Observed]:
    """Tie-breaking: of the positions that are not blocked the last (first) one."""
    for regime in REGIMES:
        model = compiled("a S b", "ab", regime=regime)
        yield at_most(f"a S b, {regime}: weight off the last", stray_of(model, "Select"), R + R**3)
    for regime in REGIMES[:2]:
        model = compiled("a U b", "ab", at="first", regime=regime)
        yield at_most(f"a U b, {regime}: weight off the first", stray_of(model, "Select"), R + R**3)


def lemma_9() -> Iterator[Observed]:
    """What softmax PARITY puts out: exactly 0 or 1, though each head is off."""
    model = compiled("odd(#<['1'])", "01", regime="temperature")
    for n in (10, 100, 500):
        for word in ("1" * n, "1" * (n - 1) + "0"):
            (run,) = model.run([word], engine="numpy")
            value = run.values[-1]
            yield equal(f"n = {n}, {word.count('1')} ones: put out", value, float(word.count("1") % 2))
            yield at_least(f"n = {n}: how far sums stay off the thresholds", run.margin, 0.2)


MEMBERS: dict[str, tuple[Callable[[int], str], Callable[[int], str]]] = {
    "O a": (lambda n: "a" + "b" * (n - 1), lambda n: "b" * n),
    "#<[a] <= #<[b]": (lambda n: "ab" * (n // 2), lambda n: "ab" * (n // 2 - 1) + "aa"),
}
"""Of each formula a member and another word of n symbols, which are hard to tell apart."""


def fixed_gap() -> Iterator[Observed]:
    """How far apart what is put out for members and for others is."""
    for formula, (member, other) in MEMBERS.items():
        model = compiled(formula, "ab", regime="temperature")
        for n in (2, 20, 300):
            (high,), (low,) = (model.run([word], engine="numpy") for word in (member(n), other(n)))
            yield equal(f"{formula}, n = {n}: gap", high.values[-1] - low.values[-1], 1.0)


STATEMENTS = (
    Statement(
        *(7, Paper.YANG, ("lemma-6",), "Lemma 6: scores that fall by gamma give 4 e^-gamma off the maximum"),
        "With r = e^-B at most r of the weight strays from a neighbour: compilers choose B, the checker "
        "proves it.",
        "Sharper, as all others are on one side: r in place of 2 e^-gamma.",
        "attemper show DIR",
        lemma_6,
    ),
    Statement(
        *(8, Paper.YANG, ("lemma-7",), "Lemma 7: scores -(j - c)^2 look up position c"),
        "A Lookup head, for predicates at counts: at most 2.3 r strays.",
        "The constant is ours; two neighbours give 2 r.",
        """attemper compile "odd(#<['1'])" --regime temperature -o parity""",
        lemma_7,
    ),
    Statement(
        *(9, Paper.YANG, ("lemma-8",), "Lemma 8: tie-breaking, by growing embeddings or by temperatures"),
        "A Select head: what is blocked loses more than the whole tie-break is worth; at most r + r^3 "
        "strays.",
        "",
        'attemper compile "a S b" --regime decoder -o since',
        lemma_8,
    ),
    Statement(
        *(10, Paper.YANG, ("lemma-9",), "Lemma 9: a feed-forward makes exact Booleans of approximate ones"),
        "A clamp, two ReLUs: what is at most 1/4 becomes 0, what is at least 3/4 becomes 1, exactly.",
        "",
        "attemper trace DIR WORD",
        lemma_9,
    ),
    Statement(
        *(
            12,
            Paper.YANG,
            ("section-3.1-gap", "gap"),
            "Acceptance with a gap that does not shrink (section 3.1)",
        ),
        "What is put out is 0 or 1 at every length.",
        "",
        "attemper run DIR WORD",
        fixed_gap,
    ),
)
