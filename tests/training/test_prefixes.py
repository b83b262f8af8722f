"""Prefixes as tokens, the law of what follows, and partners: against the definition of the sources."""

from __future__ import annotations

from fractions import Fraction

import pytest
import torch

from attemper.languages.sources.laws import next_symbols
from attemper.languages.sources.values import END, Brackets, Parity, Source
from attemper.training import measuring
from attemper.training.prefixes import (
    drawn_prefixes,
    laws,
    odds_of,
    partner,
    states,
    symbols_of,
    tokens_of,
    with_laws,
)
from tests.support.oracles.sources import PAIRS, after, prefixes, unmatched

SOURCES = [
    Parity(Fraction(1, 2), odd=False),
    Parity(Fraction(1, 3), odd=True),
    Brackets(Fraction(2, 5)),
    Brackets(Fraction(2, 3)),
]
LENGTHS = range(7)


@pytest.fixture(params=SOURCES, ids=str)
def source(request: pytest.FixtureRequest) -> Source:
    found: Source = request.param
    return found


def test_the_law_of_every_prefix_is_the_source_s(source: Source) -> None:
    outputs = (*symbols_of(source), END)
    table = laws(source)
    for n in LENGTHS:
        for word in prefixes(source, n):
            rows = states(source, word)
            assert len(rows) == n + 1
            for length, row in enumerate(rows):
                expected = after(source, word[:length])
                assert expected == next_symbols(source, word[:length])
                assert table[row].tolist() == [float(expected.get(output, 0)) for output in outputs]


def test_the_rows_of_laws_are_laws(source: Source) -> None:
    assert laws(source).dtype == torch.float64
    assert torch.allclose(laws(source).sum(dim=-1), torch.ones(len(laws(source)), dtype=torch.float64))


def test_tokens_number_the_symbols_behind_the_start() -> None:
    assert tokens_of(SOURCES[0], [("0", "1"), ("1", "1")]).tolist() == [[2, 0, 1], [2, 1, 1]]
    assert tokens_of(SOURCES[2], [("(", ")", "[", "]")]).tolist() == [[4, 0, 1, 2, 3]]


def test_prefixes_have_their_words_tokens_and_laws(source: Source) -> None:
    found = drawn_prefixes(source, 5, 7, seed=3)
    assert found.tokens.shape == (7, 6)
    assert torch.equal(found.tokens, tokens_of(source, found.words))
    assert torch.equal(found.law, with_laws(source, found.words).law)
    assert found.words == drawn_prefixes(source, 5, 7, seed=3).words
    assert found.words != drawn_prefixes(source, 5, 7, seed=4).words


def test_a_partner_is_at_one_exchange_and_has_the_prefix_as_its_own(source: Source) -> None:
    for n in LENGTHS:
        live = prefixes(source, n)
        for word in live:
            other = partner(source, word)
            if other is None:
                continue
            assert other in live
            assert sum(a != b for a, b in zip(word, other, strict=True)) == 1
            assert partner(source, other) == word
            if isinstance(source, Parity):
                assert word[-1] == other[-1]
                assert (END in after(source, word)) is not (END in after(source, other))
            else:
                assert after(source, word).keys() ^ after(source, other).keys() == set(PAIRS.values())


def test_who_has_no_partner(source: Source) -> None:
    for n in LENGTHS:
        for word in prefixes(source, n):
            alone = n < 2 if isinstance(source, Parity) else not unmatched(word)
            assert (partner(source, word) is None) is alone


def test_a_pair_s_weights_are_the_source_s(source: Source) -> None:
    for n in LENGTHS:
        for word, mass in prefixes(source, n).items():
            other = partner(source, word)
            if other is not None:
                assert measuring._Pair(source, word).share == mass / (
                    mass + prefixes(source, len(other))[other]
                )


def test_the_odds_are_those_that_pairs_differ_in() -> None:
    for source in SOURCES:
        output, others = odds_of(source)
        outputs = (*symbols_of(source), END)
        told = {outputs[place] for place in (output, *others)}
        assert told == ({"0", "1", END} if isinstance(source, Parity) else {")", "]"})
