"""Whether a certificate is true of a network on every short word, from the definitions alone.

What the network puts out is judged from its files, by code that imports nothing of the library; what the
evidence says of its inside is judged by the library's own definitional meanings.
"""

from __future__ import annotations

import tempfile
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import lru_cache
from pathlib import Path
from typing import Any

import flint
import numpy as np

from attemper.certificates.claims import Certificate, FloatClaim
from attemper.certificates.evidence import MeansSubformula, RoundedLayer, SoftenedHead
from attemper.certificates.files import encode as certificate_entries
from attemper.certifying.horizons import horizon_of
from attemper.checker.proof import prove
from attemper.checker.rounding.arithmetic import Kernel
from attemper.exact.balls import ball, precision
from attemper.exact.closed_forms import evaluate
from attemper.exact.formats import FORMATS
from attemper.languages.temporal.meaning import truth
from attemper.languages.temporal.reading import At
from attemper.languages.temporal.syntax import Formula, subformulas
from attemper.languages.words import Alphabet, Word, words_of_length
from attemper.networks import files, meaning_hard, meaning_soft
from attemper.networks.layers import Head, Layer, LinearForm, Network, Sign, Softmax
from tests.support import raw_exact, raw_forward, raw_truth
from tests.support.raw_files import RawNetwork, places_of, read_folder
from tests.support.raw_forward import all_words, batch_of, covered_ways

NUMERATOR_FIRST = str(Kernel.NUMERATOR_FIRST)

LONGEST = 8
"""All words up to this length run in floats."""

LONGEST_EXACT = 4
"""All words up to this length run in balls."""

QUARTER = Fraction(1, 4)


def falsehoods(network: Network, certificate: Certificate) -> Iterator[str]:
    """What a certificate says and a short word, or the horizon computed anew, shows to be false.

    Raises `UnsupportedError` where no file can hold the network.
    """
    language = certificate.language
    if network.accepts_empty != language.accepts_empty:
        yield "the empty word gets another verdict"
    if network.reads_first != (language.at is At.FIRST):
        yield "it is read at the other end"
    raw = _in_files(network)
    source = certificate_entries(certificate)["source"]
    assert isinstance(source, dict)
    yield from _wrong_in_balls(raw, source)
    yield from _wrong_inside(network, certificate)
    yield from _wrong_in_floats(raw, source, FloatClaim("float64", NUMERATOR_FIRST, LONGEST, ""))
    yield from _wrong_horizons(network, certificate, raw, source)


def _in_files(network: Network) -> RawNetwork:
    """The network as it stands in its files."""
    with tempfile.TemporaryDirectory() as folder:
        files.save(network, files.Source("formula", "", "last", ""), Path(folder))
        return read_folder(Path(folder))


def _wrong_in_balls(raw: RawNetwork, source: Mapping[str, Any]) -> Iterator[str]:
    """The output on short words, exactly."""
    words = list(all_words(len(raw.alphabet), LONGEST_EXACT))
    truths = raw_truth.truth(source, raw.alphabet, batch_of(words))
    for word, row in zip(words, truths, strict=True):
        for place, value in enumerate(raw_exact.outputs(raw, word)):
            if not abs(value - int(row[place])) <= ball(QUARTER):
                yield f"{_shown(raw, word)}: the output at {place + 1} is {value}, not {int(row[place])}"


def _wrong_inside(network: Network, certificate: Certificate) -> Iterator[str]:
    """The evidence on short words."""
    if not certificate.evidence:
        return
    with precision(meaning_soft.PRECISION):
        for word in words_up_to(network.alphabet, LONGEST_EXACT):
            streams = meaning_soft.residual_streams(network, word)
            yield from _wrong_evidence(network, certificate, word, streams)


def _wrong_in_floats(raw: RawNetwork, source: Mapping[str, Any], claim: FloatClaim) -> Iterator[str]:
    """The output on all words up to a length, in a format and for a class of kernels, in two ways."""
    words = list(all_words(len(raw.alphabet), min(LONGEST, claim.horizon)))
    batch = batch_of(words)
    expected = raw_truth.truth(source, raw.alphabet, batch)
    real = places_of(batch.lengths).real
    for way in (*covered_ways(claim.kernel)[:1], *covered_ways(claim.kernel)[-1:]):
        found = raw_forward.run(raw, batch, raw_forward.FORMATS[claim.format], way)
        wrong = ~(np.abs(found - expected) <= float(QUARTER)) & real
        for row in np.flatnonzero(wrong.any(axis=1)):
            yield f"{_shown(raw, words[row])} in {claim.format}, {way}: {found[row]}"


def _wrong_horizons(
    network: Network, certificate: Certificate, raw: RawNetwork, source: Mapping[str, Any]
) -> Iterator[str]:
    """A float claim must not exceed the horizon that is computed anew, nor fail on a short word."""
    for claim in certificate.claims:
        if isinstance(claim, FloatClaim) and claim.horizon:
            horizon = _horizon(network, certificate.language.formula, claim.format, claim.kernel)
            if horizon < claim.horizon:
                yield f"{claim} but the horizon is {horizon}"
            yield from _wrong_in_floats(raw, source, claim)


def _shown(raw: RawNetwork, word: tuple[int, ...]) -> str:
    return "".join(raw.alphabet[k] for k in word)


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
