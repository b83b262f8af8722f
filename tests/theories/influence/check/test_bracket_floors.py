"""Theorem 6 for 2DYCK, for an encoder at hand: from a bound to the cross-entropy that it cannot beat."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction
from functools import cache

import numpy as np
import pytest

from attemper.checker.verdict import Status
from attemper.languages.sources.levels import optimum
from attemper.languages.sources.values import Brackets
from attemper.models.arrays import Floats
from attemper.models.soft.soft import outputs_of_histograms
from attemper.models.soft.weights import Encoder, Mask, NoPositions, Table
from attemper.theories.influence.ask.bounding import BoundRequest, bound_and_check, functionals_of
from attemper.theories.influence.certificate import (
    EveryLengthBound,
    OneSymbolBound,
    SourceFloor,
    TableBound,
)
from attemper.theories.influence.check.claims import check_limit
from attemper.theories.influence.check.every_length import every_length_bound
from attemper.theories.influence.check.floors import Readout, cross_entropy_floor
from tests.support.drawn.bracket_encoders import P, random_bracket_encoder, trained_bracket_encoder
from tests.support.oracles.bracket_prefixes import SYMBOLS, Prefixes, drawn, losses

SOURCE = Brackets(Fraction(2, 5))
TYPES = tuple((name == ")") - (name == "]") for name in SYMBOLS)
"""logit(")") - logit("]")."""

encoder_of = cache(
    lambda seed, ending: (trained_bracket_encoder if seed >= 10 else random_bracket_encoder)(seed, ending)
)
prefixes = cache(lambda n, count: drawn(P, n, count, seed=n))


def logits(encoder: Encoder, read: Prefixes) -> Floats:
    """What the encoder puts out on each prefix and its marker, by how often symbols stand there."""
    blind = replace(encoder, positions=NoPositions())
    found = np.empty((len(read.last), len(SYMBOLS)))
    if encoder.ending is not None:
        counts = np.concatenate([read.counts, np.ones((len(read.counts), 1))], axis=1)
        return outputs_of_histograms(blind, counts, 4)
    for last in range(4):
        rows = read.last == last
        found[rows] = outputs_of_histograms(blind, read.counts[rows].astype(float), last)
    return found


def compared(seed: int, ending: str | None, n: int, count: int) -> tuple[float, float, float, float]:
    """At the length n: C, the floor, the cross-entropy on so many prefixes, its standard error."""
    encoder = encoder_of(seed, ending)
    constant, _ = every_length_bound(encoder, [TYPES])
    readout = Readout.LAST if ending is None else Readout.QUERY
    floor = float(cross_entropy_floor(SOURCE, n, constant / n, readout))
    read = prefixes(n if ending is None else n - 1, count)
    lost = losses(P, read.forced, logits(encoder, read))
    return float(constant), floor, float(lost.mean()), float(lost.std() / np.sqrt(count))


@pytest.mark.parametrize("ending", [None, "$"], ids=["x_n", "marker"])
@pytest.mark.parametrize("seed", [0, 10])
def test_no_encoder_is_below_its_floor(seed: int, ending: str | None) -> None:
    _, floor, found, error = compared(seed, ending, 64, 2_000)
    assert floor <= found + 3 * error


@pytest.mark.slow
@pytest.mark.parametrize("ending", [None, "$"], ids=["x_n", "marker"])
@pytest.mark.parametrize("seed", range(20))
def test_no_encoder_is_below_its_floor_on_many_prefixes(seed: int, ending: str | None) -> None:
    """Ten random ones and ten trained ones."""
    floors = []
    for n in (64, 256, 1024):
        _, floor, found, error = compared(seed, ending, n, 100_000)
        assert floor <= found + 3 * error
        floors.append(floor)
    if seed < 10:
        assert floors[-1] > float(optimum(SOURCE)) + 0.15  # most of what Theorem 6 says, not nothing


# As a claim -----------------------------------------------------------------------------------------


def bounded(ending: str | None) -> tuple[Encoder, OneSymbolBound]:
    encoder = random_bracket_encoder(0, ending)
    found = bound_and_check(encoder, BoundRequest(start=64, seconds=0))
    assert found.status is Status.PROVED
    assert found.bound is not None
    return encoder, found.bound


@pytest.mark.parametrize(("ending", "words"), [(None, "64 symbols"), ("$", "63 symbols and the marker")])
def test_a_floor_follows_from_the_bound_and_no_greater_one(ending: str | None, words: str) -> None:
    encoder, found = bounded(ending)
    first = next(each for each in found.consequences if isinstance(each, SourceFloor))
    assert (first.source, first.p, first.length) == ("dyck2", Fraction(1, 2), 64)
    claim = check_limit(found, encoder).claims[1]
    assert claim.text.startswith(f"cross-entropy on the source dyck2 with p = 1/2, prefixes of {words}:")
    assert isinstance(found.bound, EveryLengthBound)
    readout = Readout.LAST if ending is None else Readout.QUERY
    exact = cross_entropy_floor(Brackets(Fraction(1, 2)), 64, found.bound.constant / 64, readout)
    assert 0 <= float(exact) - float(first.nats) <= 2e-6
    more = replace(first, nats=first.nats + Fraction(1, 10**5))
    assert check_limit(replace(found, consequences=(more,)), encoder).status is Status.UNKNOWN


def test_ends_against_both_closing_brackets_give_twice_the_change() -> None:
    encoder, found = bounded("$")
    assert functionals_of(encoder)[-1] == TYPES
    assert isinstance(found.bound, EveryLengthBound)
    source, constant = Brackets(Fraction(1, 2)), found.bound.constant
    twice = cross_entropy_floor(source, 64, 2 * constant / 64, Readout.QUERY)
    below = Fraction(int(float(twice) * 10**6), 10**6)
    above = below + Fraction(1, 10**5)
    for functionals, nats, wanted in (
        (found.functionals, above, Status.PROVED),
        (found.functionals[:-1], below, Status.PROVED),
        (found.functionals[:-1], above, Status.UNKNOWN),
        (found.functionals[2:3], below, Status.MALFORMED),
        (found.functionals[:2], below, Status.MALFORMED),
    ):
        claim = SourceFloor("dyck2", Fraction(1, 2), 64, nats)
        given = replace(found, functionals=functionals, consequences=(claim,))
        assert check_limit(given, encoder).status is wanted


def test_no_floor_on_brackets_follows_for_other_symbols_outputs_and_exchanges() -> None:
    encoder, found = bounded("$")
    claim = SourceFloor("dyck2", Fraction(1, 2), 64, Fraction(0))
    for changed in (
        replace(encoder, symbols=("(", "[", ")", "}", "$")),
        replace(encoder, outputs=("(", "[", ")", "}", "END")),
    ):
        given = replace(found, digest=changed.digest, symbols=changed.symbols, consequences=(claim,))
        assert check_limit(given, changed).status is Status.MALFORMED
    for wrong in (replace(claim, length=5000), replace(claim, p=Fraction(1)), replace(claim, length=1)):
        assert check_limit(replace(found, consequences=(wrong,)), encoder).status is Status.MALFORMED
    table = replace(
        encoder, positions=Table(np.zeros((8, 8))), layers=encoder.layers[:1], mask=Mask.FUTURE_MASKED
    )
    for last_only, wanted in ((False, Status.PROVED), (True, Status.MALFORMED)):
        bound = TableBound(8, Fraction(99), last_only)
        given = replace(found, digest=table.digest, bound=bound, consequences=(replace(claim, length=8),))
        assert check_limit(given, table).status is wanted


def test_a_masked_encoder_over_brackets_is_asked_about_every_exchange() -> None:
    encoder = replace(random_bracket_encoder(0, "$"), mask=Mask.FUTURE_MASKED)
    found = bound_and_check(encoder, BoundRequest(length=8)).bound
    assert found is not None
    assert isinstance(found.bound, TableBound)
    assert not found.bound.last_only
    assert any(isinstance(each, SourceFloor) for each in found.consequences)
