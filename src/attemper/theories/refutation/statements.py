"""Hahn, sections 3 to 5 and the supplement: hard attention, each statement on models that run in a second."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import product
from math import exp, log
from typing import final

import numpy as np

from attemper.models.arrays import Array, Booleans, Integers
from attemper.models.hard.examples import RandomTables
from attemper.models.hard.protocol import HardModel, activations, answer, numbers_of
from attemper.theories.refutation.ask import refute
from attemper.theories.refutation.certificate.restrictions import Restriction, fixed
from attemper.theories.refutation.lemma.constants import RemovedLayer, Variant, parameters
from attemper.theories.refutation.lemma.faithful import (
    Reduction,
    faithful,
    first_new,
    greedily_fixed,
    much_read_fixed,
    random_bits,
    without_own,
)
from attemper.theories.refutation.lemma.inputs import FREE, bits_of, two_symbols
from attemper.theories.refutation.lemma.satisfied import Bottom, Keys, attended_inputs, bottom_of
from attemper.theories.refutation.lemma.transformers import own_layer
from attemper.workbench.papers.statements import Observed, Paper, Statement, at_least, at_most, equal


def by_hand(model: HardModel, word: Sequence[int], layer: int) -> Array:
    """The activations behind a layer, by the definition: each head reads the leftmost best score."""
    rows = model.embed(np.arange(1, len(word) + 1), np.array(word))
    for number in range(layer):
        rows = layer_by_hand(model, number, rows)
    return rows


def layer_by_hand(model: HardModel, number: int, rows: Array) -> Array:
    """What one layer makes of the activations before it."""
    after = []
    for i in range(len(rows)):
        read = []
        for head in range(model.heads[number]):
            scores = model.scores(number, head, rows[i : i + 1], rows)[0].tolist()
            read.append(rows[[scores.index(max(scores))]])
        after.append(model.combine(number, rows[i : i + 1], read)[0])
    return np.array(after)


def hard_models() -> Iterator[Observed]:
    """Random functions, two layers, two heads: what runs is the definition."""
    for levels in (None, 2):
        model = RandomTables(5, (2, 2), seed=1, levels=levels)
        wrong = 0
        for bits in product((0, 1), repeat=4):
            found = activations(model, np.array([*bits, 2]))
            wrong += sum(not (found[layer] == by_hand(model, (*bits, 2), layer)).all() for layer in (0, 1, 2))
        yield equal(f"{'many' if levels is None else levels} scores: layers that differ, of 48", wrong, 0)


def restrictions() -> Iterator[Observed]:
    """What a restriction leaves of all words, and what fixing more does."""
    base = two_symbols(RandomTables(6, (1,)))
    yield equal("words of 5 bits", base.size, 2**5)
    more = fixed(base, {1: 1, 4: 0})
    left = [word for word in product(*base.allowed) if word[0] == 1 and word[3] == 0]
    yield equal("words left by x_1 = 1, x_4 = 0", more.size, len(left))
    yield equal("they are those that agree", list(product(*more.allowed)) == left, True)
    yield equal("free positions", " ".join(map(str, more.free)), "2 3 5")


def refuted(model: HardModel, language: str, most_fixed: int) -> Iterator[Observed]:
    """Two words, a restriction, and 200 words drawn from it, which all get one answer."""
    found = refute(model, language, free=1 - most_fixed / model.length)
    yield equal(f"{language}, n = {model.length}", str(found.status), "PROVED")
    if found.refutation is None:
        return
    allowed, free = found.refutation.restriction.allowed, len(found.refutation.restriction.free)
    yield at_least("positions that stay free", free, model.length - most_fixed)
    draw = np.random.default_rng(0)
    words = [np.array([draw.choice(some) for some in allowed]) for _ in range(200)]
    yield equal("answers on 200 words of the restriction", len({answer(model, word) for word in words}), 1)
    pair = [numbers_of(model, word) for word in found.words]
    yield equal("answers on the two words", len({answer(model, word) for word in pair}), 1)
    member, stranger = found.words
    yield equal("symbols in which they differ", sum(s != t for s, t in zip(member, stranger, strict=True)), 1)


def theorem_1() -> Iterator[Observed]:
    """Two layers of random tables at n = 24."""
    yield from refuted(RandomTables(24, (1, 1)), "zoo:parity-even", 12)


def corollary_2_parity() -> Iterator[Observed]:
    """PARITY, for one and two layers."""
    for heads in ((1,), (1, 1)):
        yield from refuted(RandomTables(24, heads), "zoo:parity-even", 20)


def corollary_2_dyck() -> Iterator[Observed]:
    """1DYCK and 2DYCK: a fifth at each end is fixed before the search."""
    yield from refuted(RandomTables(25, (1, 1), symbols=("(", ")", "$")), "zoo:dyck-1", 20)
    yield from refuted(RandomTables(25, (1,), symbols=("(", ")", "[", "]", "$")), "zoo:dyck-2", 20)


@final
@dataclass(frozen=True)
class Expecting:
    """Hard attention that looks for the first symbol that is not the expected one: accepts one word alone."""

    length: int
    expected: tuple[int, ...]
    symbols: tuple[str, ...] = ("0", "1", "$")
    ending: str | None = "$"
    heads: tuple[int, ...] = (1,)
    semantics: str = "integers, exactly"

    @property
    def digest(self) -> str:
        """A name."""
        return f"expecting {self.expected}"

    def embed(self, positions: Integers, symbols: Integers) -> Array:
        """Whether the symbol is another one than expected; the end marker never is."""
        expected = np.array([*self.expected, 2])[positions - 1]
        return np.asarray(symbols != expected, dtype=np.int64)[:, None]

    def scores(self, layer: int, head: int, queries: Array, keys: Array) -> Array:
        """1 where it is another one."""
        return np.broadcast_to(keys[:, 0], (len(queries), len(keys)))

    def combine(self, layer: int, own: Array, attended: Sequence[Array]) -> Array:
        """What was found."""
        return attended[0]

    def labels(self, activations: Array) -> Booleans:
        """Whether there is no other symbol."""
        return np.asarray(activations[:, 0] == 0, dtype=np.bool_)


def modelled() -> Iterator[Observed]:
    """1* and a^m b^m at n = 7: right on all words, and not refuted."""
    for name, expected in (("1*", (1,) * 6), ("0^3 1^3", (0, 0, 0, 1, 1, 1))):
        model = Expecting(7, expected)
        words = list(product((0, 1), repeat=6))
        wrong = sum(answer(model, np.array([*word, 2])) is not (word == expected) for word in words)
        yield equal(f"{name}: wrong on, of {len(words)} words", wrong, 0)
    found = refute(Expecting(7, (1,) * 6), "regex:1*", seconds=5)
    yield equal("1*: two words that it cannot tell apart", str(found.status), "UNKNOWN")
    yield equal("1* is said to be forced by 1 symbol", "forced by 1 of" in found.reason, True)


def shared(n: int) -> Bottom:
    """A layer 0 whose activations all read input 0, and their own."""
    owner = np.repeat(np.arange(n), [2, *([4] * (n - 1))])
    inputs = np.array([[0, -1], *([0, j] for j in range(1, n))])
    bits = [[bit, -1] for bit in (0, 1)] + [[a, b] for _ in range(1, n) for a in (0, 1) for b in (0, 1)]
    scores = np.random.default_rng(0).permutation(len(owner) ** 2).reshape(1, len(owner), len(owner))
    return Bottom(scores, owner, inputs, np.array(bits, dtype=np.int8))


def stage_1() -> Iterator[Observed]:
    """Inputs that feed many are fixed: none where c = 1; the shared one where c = 2."""
    model = RandomTables(40, (1,))
    base = two_symbols(model)
    kept = much_read_fixed(bottom_of(own_layer(model, base)), bits_of(base), Fraction(1, 10))
    yield equal("c = 1: inputs fixed", int((kept != bits_of(base)).sum()), 0)
    bits = much_read_fixed(shared(40), np.full(40, FREE, dtype=np.int8), Fraction(1, 4))
    yield equal("c = 2, input 0 feeds all: fixed", " ".join(map(str, np.flatnonzero(bits != FREE))), "0")
    most = max(int((shared(40).inputs == x).sum()) for x in np.flatnonzero(bits == FREE))
    yield at_most("a free input then feeds", most, 2 / 0.25)


def stage_2() -> Iterator[Observed]:
    """Activations that many unsatisfied tuples depend on are fixed; then few depend on any."""
    for n, k in ((40, 2), (80, 4)):
        model = RandomTables(n, (1,))
        base = two_symbols(model)
        keys = Keys(bottom_of(own_layer(model, base)))
        bits, steps = greedily_fixed(keys, bits_of(base), k, 2 * k)
        yield at_most(f"n = {n}, k = {k}: steps", steps, 2 * n / k)
        tuples = keys.unsatisfied(bits, k)
        high = without_own(keys, tuples, keys.ranges(bits, tuples)[1])
        depending = high >= first_new(keys, bits, high, k)[:, -1:]
        yield at_most(
            "unsatisfied tuples that depend on one activation", int(depending.sum(axis=0).max()), 2 * k
        )


def _most_attended(model: HardModel, base: Restriction, found: Reduction) -> int:
    """On how many free inputs a head's choice depends at most, by the definition, tuple by tuple."""
    bottom, bits = bottom_of(own_layer(model, base)), bits_of(base)
    for i, symbols in enumerate(found.restriction.allowed):
        bits[i] = FREE if len(symbols) > 1 else base.allowed[i].index(symbols[0])
    rows = np.flatnonzero(bottom.possible(bits))
    return max(len(attended_inputs(bottom, bits, h, int(row))) for h in range(bottom.heads) for row in rows)


def stage_3() -> Iterator[Observed]:
    """Random bits, resampled while any tuple is unsatisfied."""
    model = RandomTables(64, (1,))
    base = two_symbols(model)
    found = faithful(model, base, 8, Fraction(257, 500))
    yield equal("unsatisfied tuples in the end", found.stages[-1].unsatisfied, 0)
    yield at_most("inputs that a choice depends on, by the definition", _most_attended(model, base, found), 8)
    yield at_least("of 63 inputs stay free", found.free, 15)


def likelihoods() -> Iterator[Observed]:
    """How often X_0 and the events X occur in 2,000 draws of random bits, where c = 1."""
    model, k, rate, delta = RandomTables(41, (1,)), 3, Fraction(1, 2), 0.5
    base = two_symbols(model)
    keys, bits, draw = Keys(bottom_of(own_layer(model, base))), bits_of(base), np.random.default_rng(0)
    tuples = keys.unsatisfied(bits, k)
    goals = first_new(keys, bits, without_own(keys, tuples, keys.ranges(bits, tuples)[1]), k)
    positions = keys.position(goals)
    starts = keys.bottom.starts[positions]
    best = keys.bottom.bits[starts + (keys.table[tuples[:, None], starts + 1] == goals), 0]
    free, share, exceeded = bits == FREE, 0.0, 0
    for _ in range(2000):
        found = bits.copy()
        random_bits(found, rate, draw, free)
        share += float((found[keys.bottom.inputs[positions, 0]] != best).all(axis=1).mean()) / 2000
        exceeded += int((found != bits).sum() > (1 + delta) * rate * free.sum())
    wanted = float((1 - rate / 2) ** k)
    yield at_most("share of the events X that occur", share, wanted + 0.02)
    yield at_least("the same, with c = 1, where the bound is attained", share, wanted - 0.02)
    most = exp(-(delta**2) * float(rate) * int(free.sum()) / 3)
    yield at_most("share of draws in which X_0 occurs", exceeded / 2000, most)


def constants() -> Iterator[Observed]:
    """The conditions at the constants for C'/C = 1/2, c = H = C = 1, computed here once more in floats."""
    found = parameters(Variant.ALTERATION, RemovedLayer(1, 1, Fraction(1, 2)))
    yield equal(
        "by alteration: k, c', n from", f"{found.k}, {found.inputs_after}, {found.shortest}", "14, 29, 59"
    )
    yield at_most("q + 2 (1 - q/2)^k", float(found.q + 2 * (1 - found.q / 2) ** found.k), 0.5)
    found = parameters(Variant.PUBLISHED, RemovedLayer(1, 1, Fraction(1, 2)))
    k, eta, q = found.k, float(found.eta), float(found.q)
    yield equal("as published: k, n from", f"{k}, {found.shortest}", "1867, 7471")
    yield at_most("2^c c / (eta C k)", 2 / (eta * k), 1.0)
    neighbours = 4 * k**2 / eta
    events = log(1 / k**2) + log(1 / 2) + neighbours * log(1 - 1 / k**2)
    yield at_most("(31): ln of the left side", k * eta * log(1 - q / 2), events)
    yield at_least(
        "(4): (1 - 2 eta) (1 - (1 + delta) q)", (1 - 2 * eta) * (1 - (1 + float(found.delta)) * q), 0.4999
    )


REFUTE = "attemper refute MODEL zoo:parity-even --length 24"
LEMMA = "attemper lemma --length 64 --k 8"

STATEMENTS = (
    Statement(
        *(
            50,
            Paper.HAHN,
            ("section-3", "model"),
            "Section 3: transformers with any functions, hard attention",
        ),
        "`HardModel`: embed, scores, combine and labels as functions of arrays; PyTorch encoders are read "
        "as one.",
        "",
        REFUTE,
        hard_models,
    ),
    Statement(
        *(
            56,
            Paper.HAHN,
            ("section-5-restrictions", "restrictions"),
            "Restrictions, and how they are refined",
        ),
        "`Restriction`: which symbols each position may have; `fixed` refines it.",
        "Positions may have any sets of symbols, not all or one.",
        REFUTE,
        restrictions,
    ),
    Statement(
        *(
            57,
            Paper.HAHN,
            ("theorem-1",),
            "Theorem 1: restrictions under which the output depends on few inputs",
        ),
        "`refute`: a restriction of one length under which the answer is constant, with proof.",
        "Constant in place of few inputs, and one n at a time (notes 13, 14): found by a search with a "
        "checker of its "
        "own, as the constants of the proof allow one layer; `lemma --reduce` goes the proof's own way.",
        REFUTE,
        theorem_1,
    ),
    Statement(
        *(
            58,
            Paper.HAHN,
            ("corollary-2-parity", "corollary-2"),
            "Corollary 2: no hard-attention transformer recognises PARITY",
        ),
        "Two words that differ in one symbol and get the same answer.",
        "",
        REFUTE,
        corollary_2_parity,
    ),
    Statement(
        *(59, Paper.HAHN, ("corollary-2-dyck", "corollary-2"), "Corollary 2: nor 1DYCK, nor 2DYCK"),
        "The same, from a restriction that fixes a fifth of the positions at each end.",
        "",
        "attemper refute MODEL zoo:dyck-1 --length 25",
        corollary_2_dyck,
    ),
    Statement(
        *(
            60,
            Paper.HAHN,
            ("section-5-modelled", "ones"),
            "1* and a^n b^n can be recognised by hard attention",
        ),
        "A head that looks for the first symbol that is not the expected one; `refute` finds nothing, and "
        "says why.",
        "",
        "attemper refute MODEL regex:1* --length 7",
        modelled,
    ),
    Statement(
        *(
            68,
            Paper.SUPPLEMENT,
            ("lemma-6", "stage-1"),
            "Stage 1 (Lemma 6): inputs that feed many activations are fixed",
        ),
        "`much_read_fixed`; where c = 1 there are none.",
        "",
        LEMMA,
        stage_1,
    ),
    Statement(
        69,
        Paper.SUPPLEMENT,
        ("stage-2", *(f"lemma-{n}" for n in (9, 10, 13, 15, 17)), "corollary-18", "definition-12"),
        "Stage 2 (Definitions 7 to 16, Lemmas 9 to 17, Corollary 18): activations that many depend on are "
        "fixed",
        "`greedily_fixed`, until few unsatisfied tuples depend on any activation.",
        "`satisfied` is about the free inputs of what may be attended to (notes 3, 5), and fewer "
        "neighbours are needed "
        "(note 8).",
        LEMMA,
        stage_2,
    ),
    Statement(
        *(
            70,
            Paper.SUPPLEMENT,
            ("stage-3", "definition-20", "lemma-23", "corollary-24"),
            "Stage 3 (Lemma 23, Corollary 24): random bits",
        ),
        "The Local Lemma as a program: Moser and Tardos resample what is unsatisfied; each tuple is checked.",
        "The existence proof becomes a run with a cap; alteration (ours) has far smaller constants.",
        LEMMA,
        stage_3,
    ),
    Statement(
        *(71, Paper.SUPPLEMENT, ("lemma-21", "lemma-22"), "Lemmas 21, 22: how likely the events are"),
        "P(X) = (1 - (q/2)^c)^.. and Chernoff's bound on P(X_0): conditions of the constants, in balls.",
        "Here c = 1, where the k activations read inputs of their own.",
        "attemper lemma",
        likelihoods,
    ),
    Statement(
        *(72, Paper.SUPPLEMENT, ("definition-5", "constants"), "Definition 5: how large k and n must be"),
        "`attemper lemma` finds k, c' and the least n, confirmed in balls; `alteration` beside the "
        "published proof.",
        "Three conditions are corrected (notes 1, 2, 8 of docs/depth-reduction.md).",
        "attemper lemma",
        constants,
    ),
)
