"""Networks changed at random, softened by rule where a rule holds and by what short words show elsewhere.

What is PROVED is compared with both networks by their definitions, in balls.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from fractions import Fraction
from itertools import product
from random import Random

import pytest

from attemper.checker.verdict import Status
from attemper.exact.balls import precision
from attemper.languages.words import Word
from attemper.networks.layers import HardWeighting, Network
from attemper.networks.meaning_hard import residual_streams as hard_streams
from attemper.networks.meaning_soft import residual_streams as soft_streams
from attemper.theories.softening.certificate import ClosedFormErrors, GapBy, HeadGap
from attemper.theories.softening.check.by_rule import by_rule
from attemper.theories.softening.check.claims import check_approximation
from attemper.theories.softening.check.hard import hardened
from tests.support.drawn.softened import DIGEST, ZERO, Claims, softened
from tests.support.judges.chain_judge import arb, at, seen_of
from tests.support.mutants.changed_networks import changed
from tests.theories.softening.check.test_by_rule import compare, network_of
from tests.theories.softening.check.test_chain_mutations import stated

BASES = (
    *(("O a", "temperature"), ("Y a", "unbounded"), ("#<[a] >= #<[b]", "temperature")),
    *(("#<[a] >= #>[b]", "temperature"), ("#<[a] % 2 = 0", "unbounded"), ("a S (b & Y b)", "temperature")),
)
LONGEST = 3


def claims_of(network: Network) -> Claims | None:
    """By rule where that is known, else as short words show it; None if they show a tie."""
    given = stated(network, LONGEST)
    if given is None:
        return None
    found = []
    for own, known in zip(given, by_rule(hardened(network)), strict=True):
        gaps = tuple(
            gap if head is None or gap is None else HeadGap(GapBy.RULE, head.gap)
            for gap, head in zip(own.gaps, known.heads, strict=True)
        )
        assert known.magnitude is not None
        found.append(replace(own, magnitude=known.magnitude, magnitude_by=GapBy.RULE, gaps=gaps, error=ZERO))
    return tuple(found)


def sweep(random: Random, count: int) -> Counter[str]:
    said: Counter[str] = Counter()
    for _ in range(count):
        network = changed(random, network_of(*random.choice(BASES)))
        known = by_rule(hardened(network))
        compare(known, seen_of(network, LONGEST), LONGEST)
        claims = claims_of(network)
        if claims is None:
            said["tied"] += 1
            continue
        try:
            soft, found = softened(network, claims, Fraction(1, 8), checked_to=LONGEST, last=LONGEST)
        except AssertionError:
            said["no temperature"] += 1
            continue
        (claim,) = check_approximation(soft, DIGEST, found).claims
        assert claim.status is Status.PROVED
        assert isinstance(found.evidence, ClosedFormErrors)
        said[
            "by rule" if all(g is None or g.by is GapBy.RULE for c in claims for g in c.gaps) else "given"
        ] += 1
        with precision(256):
            for n in range(1, LONGEST + 1):
                for word in product(network.alphabet.symbols, repeat=n):
                    _within(network, soft, found.evidence.layers, word)
    return said


def _within(network: Network, soft: Network, layers: Claims, word: Word) -> None:
    own, true = soft_streams(soft, word), hard_streams(network, word, HardWeighting.AVERAGE)
    for number, claimed in enumerate(layers, start=1):
        places = network.outputs if number == len(layers) else range(len(network.coordinates))
        most = at(claimed.error, len(word)) + arb(Fraction(1, 2**150))
        for mine, theirs in zip(own[number], true[number], strict=True):
            assert all(abs(mine[c] - arb(theirs[c])) <= most for c in places)


def test_changed_networks_are_within_what_is_proved() -> None:
    said = sweep(Random(4), 8)
    assert said["by rule"] + said["given"] >= 2


@pytest.mark.slow
def test_many_changed_networks_are_within_what_is_proved() -> None:
    said = sweep(Random(5), 1_000)
    assert said["by rule"] >= 100
    assert said["given"] >= 50
