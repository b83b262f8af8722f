"""Whether a certificate is true of a network on every short word.

The network is read from its files, and run beside its source, by code that imports nothing of the library.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from fractions import Fraction
from functools import lru_cache
from typing import Any

import numpy as np

from attemper.attention_program.realisation import Realisation
from attemper.certificates.claims import Certificate, FloatClaim
from attemper.certificates.files import CERTIFIED
from attemper.certifying.horizons import horizon_of
from attemper.checker.proof import prove
from attemper.checker.rounding.arithmetic import Kernel
from attemper.exact.balls import ball
from attemper.exact.formats import FORMATS
from attemper.languages.definition import Definition
from attemper.languages.words import Alphabet, Word, words_of_length
from attemper.networks.layers import Network
from tests.support.judges.read_back import raw_of
from tests.support.oracles import raw_exact, raw_forward, raw_truth
from tests.support.oracles.raw_files import RawNetwork, places_of
from tests.support.oracles.raw_forward import all_words, batch_of, covered_ways

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
    if network.reads_first != language.reads_first:
        yield "it is read at the other end"
    raw = raw_of(network)
    source = CERTIFIED.encode(certificate)["language"]
    assert isinstance(source, list)
    yield from _wrong_in_balls(raw, source)
    yield from _wrong_in_floats(raw, source, FloatClaim("float64", NUMERATOR_FIRST, LONGEST, ""))
    yield from _wrong_horizons(network, certificate, raw, source)


def _wrong_in_balls(raw: RawNetwork, source: Sequence[Any]) -> Iterator[str]:
    """The output on short words, exactly."""
    words = list(all_words(len(raw.alphabet), LONGEST_EXACT))
    truths = raw_truth.truth(source, raw.alphabet, batch_of(words))
    for word, row in zip(words, truths, strict=True):
        for place, value in enumerate(raw_exact.outputs(raw, word)):
            if not abs(value - int(row[place])) <= ball(QUARTER):
                yield f"{_shown(raw, word)}: the output at {place + 1} is {value}, not {int(row[place])}"


def _wrong_in_floats(raw: RawNetwork, source: Sequence[Any], claim: FloatClaim) -> Iterator[str]:
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
    network: Network, certificate: Certificate, raw: RawNetwork, source: Sequence[Any]
) -> Iterator[str]:
    """A float claim must not exceed the horizon that is computed anew, nor fail on a short word."""
    for claim in certificate.claims:
        if isinstance(claim, FloatClaim) and claim.horizon:
            horizon = _horizon(
                network, certificate.language, certificate.realisation, claim.format, claim.kernel
            )
            if horizon < claim.horizon:
                yield f"{claim} but the horizon is {horizon}"
            yield from _wrong_in_floats(raw, source, claim)


def _shown(raw: RawNetwork, word: tuple[int, ...]) -> str:
    return "".join(raw.alphabet[k] for k in word)


@lru_cache(maxsize=1 << 10)
def _horizon(network: Network, language: Definition, said: Realisation | None, name: str, kernel: str) -> int:
    """The greatest length that is proved, computed anew."""
    return horizon_of(prove(network, language, said), FORMATS[name], Kernel(kernel))[0]


# Words -----------------------------------------------------------------------------------------------


def words_up_to(alphabet: Alphabet, length: int) -> Iterator[Word]:
    """All words that are not empty, the shortest first."""
    for size in range(1, length + 1):
        yield from words_of_length(alphabet, size)
