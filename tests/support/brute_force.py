"""Whether a certificate is true of a network on every short word, from the definitions alone."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import lru_cache

import flint
import torch

from attemper.certificates.claims import Certificate, FloatClaim
from attemper.certificates.evidence import MeansSubformula, RoundedLayer, SoftenedHead
from attemper.checker.proof import prove
from attemper.checker.rounding import Kernel, horizon_of
from attemper.exact.balls import ball, precision
from attemper.exact.closed_forms import evaluate
from attemper.exact.formats import FORMATS
from attemper.languages.temporal.meaning import truth
from attemper.languages.temporal.reading import At
from attemper.languages.temporal.syntax import Formula, subformulas
from attemper.languages.words import Alphabet, Word, words_of_length
from attemper.networks import meaning_hard, meaning_soft
from attemper.networks.layers import Head, Layer, LinearForm, Network, Sign, Softmax
from attemper.running.batches import run_words
from attemper.running.dense import DenseTransformer

LONGEST = 8
"""All words up to this length run in float64."""

LONGEST_EXACT = 4
"""All words up to this length run in balls."""

QUARTER = Fraction(1, 4)


def falsehoods(network: Network, certificate: Certificate) -> Iterator[str]:
    """What a certificate says and a short word, or the horizon computed anew, shows to be false."""
    language = certificate.language
    if network.accepts_empty != language.accepts_empty:
        yield "the empty word gets another verdict"
    if network.reads_first != (language.at is At.FIRST):
        yield "it is read at the other end"
    yield from _wrong_in_balls(network, certificate)
    yield from _wrong_in_floats(network, language.formula, "float64", LONGEST)
    yield from _wrong_horizons(network, certificate)


def _wrong_in_balls(network: Network, certificate: Certificate) -> Iterator[str]:
    formula = certificate.language.formula
    with precision(meaning_soft.PRECISION):
        for word in words_up_to(network.alphabet, LONGEST_EXACT):
            streams = meaning_soft.residual_streams(network, word)
            bits = [vector[network.output] for vector in streams[-1]]
            for i, (value, bit) in enumerate(zip(bits, _truths(formula, word), strict=True), start=1):
                if not abs(value - int(bit)) <= ball(QUARTER):
                    yield f"{''.join(word)}: the output at {i} is {value}, not {int(bit)}"
            yield from _wrong_evidence(network, certificate, word, streams)


def _wrong_in_floats(network: Network, formula: Formula, name: str, length: int) -> Iterator[str]:
    """The engine on all words up to a length, in a format."""
    words = list(words_up_to(network.alphabet, length))
    for run in run_words(DenseTransformer(network, getattr(torch, name)), words):
        expected = _truths(formula, run.word)
        if any(not abs(value - bit) <= 0.25 for value, bit in zip(run.values, expected, strict=True)):
            yield f"{''.join(run.word)} in {name}: {run.values}"


def _wrong_horizons(network: Network, certificate: Certificate) -> Iterator[str]:
    """A float claim must not exceed the horizon that is computed anew, nor fail on a short word."""
    claims = [claim for claim in certificate.claims if isinstance(claim, FloatClaim) and claim.horizon]
    if not claims:
        return
    longest: dict[str, int] = {}
    for claim in claims:
        horizon = _horizon(network, certificate.language.formula, claim.format, claim.kernel)
        if horizon < claim.horizon:
            yield f"{claim} but the horizon is {horizon}"
        if claim.kernel == Kernel.NUMERATOR_FIRST:  # as the engine divides
            longest[claim.format] = min(LONGEST, claim.horizon)
    for name, length in longest.items():
        if name != "float64":
            yield from _wrong_in_floats(network, certificate.language.formula, name, length)


@lru_cache(maxsize=1 << 10)
def _horizon(network: Network, formula: Formula, name: str, kernel: str) -> int:
    """The greatest length that is proved, computed anew."""
    return horizon_of(prove(network, formula).analysis, FORMATS[name], Kernel(kernel))[0]


# Evidence --------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class _Seen:
    """A layer on one word: the streams before it, and who sees whom by how much, softly and hardly."""

    layer: Layer
    soft: meaning_soft.Stream
    hard: meaning_hard.Stream
    soft_rows: tuple[list[dict[int, flint.arb]], ...]
    hard_rows: tuple[list[dict[int, Fraction]], ...]


def _wrong_evidence(
    network: Network, certificate: Certificate, word: Word, streams: list[meaning_soft.Stream]
) -> Iterator[str]:
    parts = subformulas(certificate.language.formula)
    text = "".join(word)
    layers = [_seen(network, word, streams, number) for number in range(len(network.layers))]
    for item in certificate.evidence:
        match item:
            case MeansSubformula(layer, coordinate, subformula):
                expected = _truths(parts[subformula], word)
                values = [vector[coordinate] for vector in streams[layer + 1]]
                if any(not abs(v - int(b)) <= 1e-30 for v, b in zip(values, expected, strict=True)):
                    yield f"{text}: {item}"
            case SoftenedHead(layer, head, _, stray_mass):
                off = _stray_mass(layers[layer], head)
                if off > ball(stray_mass):
                    yield f"{text}: {item}, but the stray mass is {off}"
            case RoundedLayer(layer, error):
                off = _greatest_error(layers[layer])
                if off > ball(error):
                    yield f"{text}: {item}, but a hidden unit is off by {off}"


def _seen(network: Network, word: Word, streams: list[meaning_soft.Stream], number: int) -> _Seen:
    layer, soft = network.layers[number], streams[number]
    upright = replace(network, layers=tuple(_upright(own, len(word)) for own in network.layers))
    hard = meaning_hard.residual_streams(upright, word)[number]
    return _Seen(
        layer,
        soft,
        hard,
        tuple(meaning_soft.attention(head, soft) for head in layer.heads),
        tuple(meaning_hard.attention(head, hard) for head in upright.layers[number].heads),
    )


def _upright(layer: Layer, length: int) -> Layer:
    """The layer as hard attention reads it: it ignores temperatures, so a negative one turns the query."""

    def turned(head: Head) -> Head:
        assert isinstance(head.weighting, Softmax)
        if evaluate(head.weighting.inverse_temperature, 1, length) >= 0:
            return head
        return replace(head, query=tuple(tuple((c, -x) for c, x in row) for row in head.query))

    return replace(layer, heads=tuple(map(turned, layer.heads)))


def _stray_mass(seen: _Seen, head: int) -> flint.arb:
    """The most attention off the hard head's positions; a sign head's are all those of the same parity."""
    by_parity = isinstance(seen.layer.heads[head].construction, Sign)
    most = flint.arb(0)
    for soft_row, hard_row in zip(seen.soft_rows[head], seen.hard_rows[head], strict=True):
        right = {j for j in soft_row if j in hard_row or (by_parity and (j - min(hard_row)) % 2 == 0)}
        most = most.max(sum((weight for j, weight in soft_row.items() if j not in right), flint.arb(0)))
    return most


def _greatest_error(seen: _Seen) -> flint.arb:
    """The most by which what a hidden unit reads differs between soft and hard attention."""
    soft_middle = [list(vector) for vector in seen.soft]
    hard_middle = [list(vector) for vector in seen.hard]
    for head, soft_rows, hard_rows in zip(seen.layer.heads, seen.soft_rows, seen.hard_rows, strict=True):
        for form, target in zip(head.values, head.targets, strict=True):
            for i, (soft_row, hard_row) in enumerate(zip(soft_rows, hard_rows, strict=True)):
                for j, weight in soft_row.items():
                    soft_middle[i][target] += weight * _value(form, seen.soft[j - 1])
                for j, exact in hard_row.items():
                    hard_middle[i][target] += exact * meaning_hard.value_of(form, seen.hard[j - 1])
    most = flint.arb(0)
    for softened, exactly in zip(soft_middle, hard_middle, strict=True):
        for form in {unit.form for unit in seen.layer.hidden}:
            most = most.max(abs(_value(form, softened) - ball(meaning_hard.value_of(form, exactly))))
    return most


def _value(form: LinearForm, vector: list[flint.arb]) -> flint.arb:
    return sum((ball(factor) * vector[coordinate] for coordinate, factor in form), flint.arb(0))


# Words -----------------------------------------------------------------------------------------------


def words_up_to(alphabet: Alphabet, length: int) -> Iterator[Word]:
    """All words that are not empty, the shortest first."""
    for size in range(1, length + 1):
        yield from words_of_length(alphabet, size)


@lru_cache(maxsize=1 << 16)
def _truths(formula: Formula, word: Word) -> tuple[bool, ...]:
    return tuple(truth(formula, word))
