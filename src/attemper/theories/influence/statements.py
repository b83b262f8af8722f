"""Hahn, section 6 and the supplement's second part: soft attention, on small random encoders."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from fractions import Fraction
from functools import partial
from itertools import product
from math import exp, log

import numpy as np

from attemper.languages.sources.bracket_levels import type_excess
from attemper.languages.sources.brackets import closing, closing_limit
from attemper.languages.sources.laws import next_symbols, survival
from attemper.languages.sources.levels import last_symbols, optimum
from attemper.languages.sources.sampling import sample
from attemper.languages.sources.values import Brackets, Parity, Source
from attemper.models.arrays import Floats
from attemper.models.soft.meaning import outputs_in_balls
from attemper.models.soft.soft import outputs_of
from attemper.models.soft.weights import Bounded, Encoder, EncoderLayer, Mask, NoPositions, PositionEncoding
from attemper.theories.influence.ask.bounding import Limit, bound
from attemper.theories.influence.certificate import EveryLengthBound, FrequencyBound, SourceFloor, TableBound
from attemper.theories.influence.check.floors import Readout, cross_entropy_floor
from attemper.theories.influence.search.bridge import capped, ranges
from attemper.theories.influence.search.logit_ranges import parse_logit_range
from attemper.workbench.compiling import compile as compiled
from attemper.workbench.papers.statements import Observed, Paper, Statement, at_least, at_most, equal

HALF = Parity(Fraction(1, 2), odd=False)
TWO_FIFTHS = Brackets(Fraction(2, 5))


def encoder(
    layers: int = 1,
    outputs: tuple[str, ...] = ("accept",),
    positions: PositionEncoding | None = None,
    symbols: str = "01",
    gain: float = 1.0,
) -> Encoder:
    """Random weights of width 4, without LayerNorm, over some symbols and an end marker."""
    draw, d = np.random.default_rng(1), 4

    def drawn(*shape: int) -> Floats:
        return np.asarray(draw.standard_normal(shape) / shape[-1] ** 0.5)

    def weights(*shape: int) -> Floats:
        return gain * drawn(*shape)

    def layer() -> EncoderLayer:
        matrices = weights(3 * d, d), weights(3 * d), weights(d, d), weights(d)
        hidden = weights(2 * d, d), weights(2 * d), weights(d, 2 * d), weights(d)
        return EncoderLayer(*matrices, *hidden, None, 1, norm_first=False)

    made = tuple(layer() for _ in range(layers))
    rest = made, drawn(len(outputs), d), drawn(len(outputs)), outputs
    rows = drawn(len(symbols) + 1, d)
    return Encoder((*symbols, "$"), "$", rows, positions or NoPositions(), Mask.UNMASKED, *rest)


def sinusoids(i: np.ndarray, n: int) -> Floats:
    """The usual ones, at a third of the size."""
    del n
    return np.stack([np.sin(i), np.cos(i), np.sin(i / 7), np.cos(i / 7)], axis=1) / 3


WAVES = Bounded(sinusoids, -0.34, 0.34)
HALVED = 0.5
"""Weights that are so much smaller have scores that range less, which constants grow with."""


def greatest_change(model: Encoder, words: np.ndarray) -> float:
    """The most, over words [word, position] and their exchanges at a few places, that one symbol changes."""
    most = 0.0
    for i in {0, 1, words.shape[1] // 2, words.shape[1] - 2}:
        other = words.copy()
        other[:, i] = 1 - other[:, i]
        most = max(most, float(np.abs(outputs_of(model, words) - outputs_of(model, other)).max()))
    return most


def all_bits(n: int) -> np.ndarray:
    """All words of n positions, the last of which is the end marker."""
    return np.array([[*bits, 2] for bits in product((0, 1), repeat=n - 1)])


def constant_of(found: Limit) -> Fraction:
    """C, or the bound itself for one length; 0, which nothing is below, where there is none."""
    match found.bound and found.bound.bound:
        case FrequencyBound(constant=constant) | EveryLengthBound(constant=constant):
            return constant
        case TableBound(change=change):
            return change
        case _:
            return Fraction(0)


def soft_model() -> Iterator[Observed]:
    """An encoder in balls, beside softmax attention written out in numpy."""
    model = encoder(2)
    off = 0.0
    for word in all_bits(5):
        wanted = by_hand(model, word)[0][-1] @ model.readout.T + model.bias
        (found,) = outputs_in_balls(model, word.tolist())
        off = max(off, abs(float(found.mid()) - float(wanted[0])))
    yield at_most("outputs off the formula of softmax attention", off, 1e-12)


def by_hand(model: Encoder, word: np.ndarray) -> tuple[Floats, list[Floats]]:
    """What stands at each position in the end, and the weights of attention in each layer."""
    rows, found = model.embedding[word], []
    if isinstance(model.positions, Bounded):
        rows = rows + sinusoids(np.arange(1, len(word) + 1), len(word))
    for layer in model.layers:
        q, k, v = np.split(rows @ layer.in_weight.T + layer.in_bias, 3, axis=1)
        powers = np.exp(q @ k.T / 2.0)
        found.append(powers / powers.sum(axis=1, keepdims=True))
        rows = rows + found[-1] @ v @ layer.out_weight.T + layer.out_bias
        hidden = np.maximum(rows @ layer.hidden_weight.T + layer.hidden_bias, 0)
        rows = rows + hidden @ layer.back_weight.T + layer.back_bias
    return rows, found


def lemma_5() -> Iterator[Observed]:
    """C for all n >= 64, for one and two layers, beside exchanges in words of 64 symbols."""
    for layers in (1, 2):
        found = bound(encoder(layers), n0=64, seconds=20)
        constant = float(constant_of(found))
        yield equal(f"{layers} layers, all n >= 64", str(found.status), "PROVED")
        draw = np.random.default_rng(0)
        words = np.array([[0] * 63 + [2], [1] * 63 + [2], *([*draw.integers(0, 2, 63), 2] for _ in range(8))])
        yield at_most(
            "64 times what an exchange changes, and C", 64 * greatest_change(encoder(layers), words), constant
        )
        yield at_most(
            "C over the greatest that was measured", constant / max(c for _, c in found.measured), 3.0
        )


def every_length(layers: int) -> Iterator[Observed]:
    """With sinusoidal positions: all exchanges in all words of some lengths, beside C for all n >= 2."""
    model = encoder(layers, positions=WAVES, gain=HALVED)
    found = bound(model, seconds=20)
    yield equal(f"{layers} layers, all n >= 2", str(found.status), "PROVED")
    constant = float(constant_of(found))
    for n in (4, 7, 10):
        change = greatest_change(model.at(n), all_bits(n))
        yield at_most(f"{n} times the greatest change of all words, and C", n * change, constant)
        alone = bound(model, length=n, seconds=20)
        yield at_most("that change, and its bound for one n", change, float(constant_of(alone)))


def hahns() -> Iterator[Observed]:
    """H^L C^(2L) D, written out for one head, beside the C that is proved."""
    for layers in (1, 2):
        model = encoder(layers, positions=WAVES, gain=HALVED)
        found = bound(model, seconds=20)
        norms = [
            {name: float(np.linalg.norm(matrix, 2)) for name, matrix in _matrices(layer).items()}
            for layer in model.layers
        ]
        act = max(1 + each["back"] * each["hidden"] for each in norms)
        act *= max(1.0, *(each["written"] for each in norms))
        largest = 0.34 * 2 + max(float(np.linalg.norm(row)) for row in model.embedding)
        scores = (2 * act**layers * largest) ** 2 * max(each["scores"] for each in norms)
        apart = np.linalg.norm(model.embedding[0] - model.embedding[1]) * np.linalg.norm(model.readout)
        digits = (2 * layers * (log(2) + np.logaddexp(2 * scores, log(1 + act))) + log(apart)) / log(10)
        printed = found.hahn or 0.0
        yield at_most(f"{layers} layers: log10 of Hahn's constant off by", abs(printed - float(digits)), 1e-9)
        yield at_most(f"{layers} layers: log10 of C, and of it", log(constant_of(found)) / log(10), printed)


def _matrices(layer: EncoderLayer) -> dict[str, Floats]:
    q, k, v = np.split(layer.in_weight, 3)
    hidden, back = layer.hidden_weight, layer.back_weight
    return {"scores": q.T @ k / 2, "written": layer.out_weight @ v, "hidden": hidden, "back": back}


def weights_change() -> Iterator[Observed]:
    """How much an exchange moves the second layer's weights on all other positions: not less than 1/n."""
    model, scaled = encoder(2, positions=WAVES, gain=HALVED), []
    for n in (16, 64):
        words = np.array([[0] * (n - 1) + [2], [1] + [0] * (n - 2) + [2]])
        one, other = (by_hand(model, word)[1][1] for word in words)
        scaled.append(n * float(np.abs(one - other)[1:, 1:].sum(axis=1).max()))
        yield at_least(f"n = {n}: n times what weights on unchanged symbols change", scaled[-1], 0.09)
    yield at_most("that at 64, over that at 16", scaled[1] / scaled[0], 1.1)
    yield from every_length(2)


def sources() -> Iterator[Observed]:
    """The levels of PARITY and how long words are, computed here once more in floats."""
    yield equal("P(|w| >= 64)", float(survival(HALF, 64)), 0.5 * 0.75**63)

    def entropy(ends: float) -> float:
        return -ends * log(ends) - (1 - ends) * log((1 - ends) / 2)

    yield at_most("H_opt off by", abs(float(optimum(HALF)) - (entropy(0.5) + log(2)) / 2), 1e-12)
    yield at_most("H_uni off by", abs(float(last_symbols(HALF, 0)) - entropy(0.25)), 1e-12)
    yield at_most(
        "H_bi off by", abs(float(last_symbols(HALF, 1)) - (entropy(1 / 6) + entropy(1 / 3)) / 2), 1e-12
    )
    drawn = sample(HALF, 12, 2000, seed=0)
    share = sum(word.count("1") % 2 == 0 for word in drawn) / 2000
    yield at_most("share of even prefixes off 1/2 by", abs(share - 0.5), 0.04)


def theorem_6_parity() -> Iterator[Observed]:
    """A floor for an encoder with logits of 0, 1 and END, and its own cross-entropy on sampled prefixes."""
    model, n = encoder(1, ("0", "1", "END")), 64
    found = bound(model, n0=n, seconds=20)
    yield equal(f"all n >= {n}", str(found.status), "PROVED")
    constant = constant_of(found)
    level = float(last_symbols(HALF, 0))
    for length in (n, 16 * n, 256 * n):
        floor = float(cross_entropy_floor(HALF, length, constant / length, Readout.QUERY))
        yield at_most(f"n = {length:,}: floor, and chance level", floor, level)
    yield at_most("chance level over the last floor", level / floor, 1.0001)
    own = cross_entropy_of(model, HALF, n)
    floor = float(cross_entropy_floor(HALF, n, constant / n, Readout.QUERY))
    yield at_least(f"its own cross-entropy at n = {n}, and the floor", own, floor - 0.03)


def cross_entropy_of(model: Encoder, source: Source, n: int) -> float:
    """That of an encoder on 500 prefixes that are drawn, by the law of what follows them."""
    prefixes = sample(source, n - 1, 500, seed=0)
    numbers = [[*map(model.symbols.index, word), model.symbols.index("$")] for word in prefixes]
    logits = outputs_of(model, np.array(numbers))
    losses = np.log(np.exp(logits).sum(axis=1, keepdims=True)) - logits
    laws = [
        [float(next_symbols(source, word).get(symbol, 0)) for symbol in model.outputs] for word in prefixes
    ]
    return float((np.array(laws) * losses).sum(axis=1).mean())


def theorem_6_dyck() -> Iterator[Observed]:
    """P_0 (1 - p) ln 2 at a length and in the limit, from a recursion of heights in floats."""
    for n in (64, 65):
        p0 = heights(0.4, n)
        excess = float(type_excess(TWO_FIFTHS, n))
        yield at_most(
            f"n = {n}: loss of kinds off P_0 (1 - p) ln 2 by", abs(excess - 0.6 * p0 * log(2)), 1e-12
        )


def theorem_6_encoder() -> Iterator[Observed]:
    """H_opt + q (1 - b) ln(1 + e^(-C/2n)), in floats, for an encoder with sinusoidal positions."""
    model = encoder(1, ("(", "[", ")", "]", "END"), WAVES, "([)]", gain=HALVED)
    found, n = bound(model, n0=64, p="2/5", seconds=20), 64
    yield equal("all n >= 2", str(found.status), "PROVED")
    constant = float(constant_of(found))
    best = -0.4 * log(0.4) - 0.6 * log(0.6) + 0.4 * log(2)
    for claim in found.bound.consequences if found.bound else ():
        assert isinstance(claim, SourceFloor)
        law, _ = laws_of_heights(0.4, claim.length - 1)
        share = 1 - law.get(0, 0.0) / sum(law.values())
        floor = best + 0.6 * share * log(1 + exp(-constant / (2 * claim.length)))
        yield at_most(
            f"n = {claim.length}: floor {float(claim.nats):.6f} off by", abs(float(claim.nats) - floor), 1e-5
        )
        yield at_least("floor above H_opt by", float(claim.nats) - best, 0.2)
    own = cross_entropy_of(model, TWO_FIFTHS, n)
    (first, *_) = found.bound.consequences if found.bound else ()
    assert isinstance(first, SourceFloor)
    yield at_least(f"its own cross-entropy at n = {n}, and the floor", own, float(first.nats) - 0.03)


def heights(p: float, n: int) -> float:
    """P(x_n closes and leaves a bracket open), given that the word has n symbols."""
    law, closed = laws_of_heights(p, n)
    return closed / sum(law.values())


def laws_of_heights(p: float, n: int) -> tuple[dict[int, float], float]:
    """The weight of each height after n symbols, and that of an x_n that closes and leaves a bracket open."""
    law, closed = {0: 1.0}, 0.0
    for _ in range(n):
        after: dict[int, float] = {}
        for height, mass in law.items():
            after[height + 1] = after.get(height + 1, 0.0) + mass * p
            if height:
                after[height - 1] = after.get(height - 1, 0.0) + mass * (1 - p)
        closed = sum(law.get(h + 1, 0.0) * (1 - p) for h in after if h > 0)
        law = after
    return law, closed


def footnote_4() -> Iterator[Observed]:
    """P_0 and its limits, from the same recursion."""
    for n, limit in ((400, 8 / 15), (401, 7 / 12)):
        odd = n % 2 == 1
        yield at_most(f"n = {n}: P_0 off by", abs(float(closing(TWO_FIFTHS, n)) - heights(0.4, n)), 1e-10)
        yield at_most("its limit off by", abs(float(closing_limit(TWO_FIFTHS, odd=odd)) - limit), 1e-12)
        yield at_most("P_0 off its limit by", abs(heights(0.4, n) - limit), 0.02)


def factor_n(
    formula: str, members: Callable[[Floats], Floats], enough: str, too_little: str
) -> Iterator[Observed]:
    """The scores of all heads capped at a range, on 128 words about half of whose symbols are 1s."""
    model = compiled(formula, "01", regime="temperature")
    for text, works in ((too_little, False), (enough, True)):
        wrong = 0
        for n in (16, 32):
            ones = [[i < n // 2 + more for i in range(n)] for more in (-1, 0) for _ in range(32)]
            words = np.random.default_rng(0).permuted(np.array(ones, dtype=np.int64), axis=1)
            cap, widest = parse_logit_range(text).at(n), np.array([[0] * n, [1] * n, *words])
            factors = {head: min(1.0, cap / span) for head, span in ranges(model, widest).items() if span}
            off = capped(model, factors)(words)[:, 0] - members(words)
            wrong += int((abs(off) > 1 / 4).sum())
        judge = equal if works else at_least
        yield judge(f"{formula}, logits to {text}, no right bit on, of 128 words", wrong, 0 if works else 1)


BOUND = "attemper bound MODULE:ENCODER"
SOURCE = "attemper source parity-even --length 64"
CAPPED = "attemper influence majority --logit-range '4 log n' --lengths 16,64"
MAJORITY, PARITY = "#<['0'] <= #<['1']", "odd(#<['1'])"

STATEMENTS = (
    Statement(
        *(
            24,
            Paper.YANG,
            ("section-4.3-optimal", "factor-n"),
            "The factor n in temperatures is needed (end of 4.3)",
        ),
        "`influence --logit-range` caps the scores of a network that is right, and counts the words that "
        "go wrong.",
        "Measured, not proved.",
        CAPPED,
        partial(factor_n, MAJORITY, lambda words: 2 * words.sum(axis=1) >= words.shape[1], "4n", "4 log n"),
    ),
    Statement(
        *(51, Paper.HAHN, ("section-3-soft",), "Section 3: softmax attention"),
        "`Encoder`: weights as data, run in float64 and in balls, read from PyTorch.",
        "Scaled dot products. Additive attention is refused, by the class of a module that computes it: "
        "encoders have PyTorch's layers, none of which do.",
        BOUND,
        soft_model,
    ),
    Statement(
        *(73, Paper.HAHN, ("lemma-5",), "Lemma 5: one symbol changes the output by O(1/n)"),
        "`bound`: a constant C, with changes of at most C/n at all n from some length on, proved for this "
        "encoder.",
        "Computed from the frequencies of symbols, without positions or with periodic ones.",
        BOUND,
        lemma_5,
    ),
    Statement(
        *(74, Paper.HAHN, ("lemma-5-positions", "lemma-5"), "Lemma 5 with bounded position embeddings"),
        "`bound` of an encoder whose positions a function gives, in a box: C/n for every n >= 2; for one n "
        "`--length N` has a smaller bound.",
        "Without mask and LayerNorm; with a mask and several layers it is false.",
        BOUND,
        partial(every_length, 1),
    ),
    Statement(
        *(75, Paper.HAHN, ("lemma-5-constants", "lemma-5"), "Lemma 5's own constants A, F, C"),
        "`bound` prints H^L C^(2L) D, as its proof has it, as a power of ten beside the C that is proved.",
        "Compared with, and not relied on: what S2 adds to the proof is not in it.",
        BOUND,
        hahns,
    ),
    Statement(
        *(76, Paper.SUPPLEMENT, ("section-2", "lemma-5"), "S2: the weights of attention change, too"),
        "The recursion counts how scores move, layer by layer: `check/every_length.py` has the proof.",
        "Another form of the supplement's calculation; its rate is right.",
        BOUND,
        weights_change,
    ),
    Statement(
        *(78, Paper.HAHN, ("section-6-sources", "sources"), "Section 6: the sources of PARITY and 2DYCK"),
        "`attemper source`: laws, least cross-entropies and floors, exactly or in balls.",
        "",
        SOURCE,
        sources,
    ),
    Statement(
        *(
            79,
            Paper.HAHN,
            ("theorem-6-parity", "theorem-6"),
            "Theorem 6: cross-entropy near chance on PARITY",
        ),
        "A floor on the cross-entropy of this encoder at each n, which rises to the chance level.",
        "The paper's `converges to` is `is at least, in the limit`; read at x_n the level is H_bi.",
        BOUND,
        theorem_6_parity,
    ),
    Statement(
        *(
            80,
            Paper.HAHN,
            ("theorem-6-2dyck-source", "theorem-6"),
            "Theorem 6: cross-entropy on 2DYCK, at the source",
        ),
        "P_0 (1 - p) ln 2 above the optimum, for any n.",
        "",
        "attemper source dyck2 --p 2/5 --length 64",
        theorem_6_dyck,
    ),
    Statement(
        *(
            81,
            Paper.HAHN,
            ("theorem-6-2dyck", "theorem-6"),
            "Theorem 6: cross-entropy on 2DYCK, for an encoder at hand",
        ),
        "`bound` proves C for the logits of ) and ], and the floor that follows from it.",
        "In place of a chance level in the limit a floor at each n.",
        f"{BOUND} --n0 64 --p 2/5",
        theorem_6_encoder,
    ),
    Statement(
        *(82, Paper.HAHN, ("footnote-4",), "Footnote 4: how often a bracket is closed inside"),
        "P_0 by the exact law of heights, and its limits p (2 - 3p)/q and (3 - 4p)/(4q).",
        "Given that the word is so long; the stationary chain of the footnote is the law along many words.",
        "attemper source dyck2 --p 2/5 --length 64",
        footnote_4,
    ),
    Statement(
        *(83, Paper.HAHN, ("section-6-convolutions", "convolutions"), "Convolutions with average pooling"),
        "`study` trains and measures some.",
        "the paper's remark about them is not proved here: bounds are for attention",
        "attemper study --quick",
        None,
    ),
    Statement(
        *(84, Paper.HAHN, ("section-7", "discussion"), "Section 7: something must grow with the length"),
        "Which logits must grow, and how fast: those of PARITY's lookup as n^2.",
        "Norms, heads and layers of trained models are not compared.",
        CAPPED.replace("majority", "parity"),
        partial(factor_n, PARITY, lambda words: words.sum(axis=1) % 2 == 1, "4n^2", "4 log n"),
    ),
)
