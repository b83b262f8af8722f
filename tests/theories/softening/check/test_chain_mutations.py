"""Chains of errors that were changed at random: none that is false is accepted.

What is false is said by `tests.support.judges.chain_judge`, which shares no arithmetic with the checker.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cache
from itertools import product
from random import Random

import pytest

import attemper
from attemper.checker.verdict import Status
from attemper.exact.balls import precision
from attemper.exact.closed_forms import number, times
from attemper.exact.monomials import Monomial
from attemper.languages.words import Word
from attemper.networks.layers import HardWeighting, Network, Softmax
from attemper.networks.meaning_hard import residual_streams as hard_streams
from attemper.networks.meaning_soft import residual_streams as soft_streams
from attemper.theories.softening.certificate import (
    Approximation,
    ClosedFormErrors,
    GapBy,
    HeadGap,
    LayerError,
)
from attemper.theories.softening.check import claims as checker
from attemper.theories.softening.check.by_rule import LayerByRule, by_rule
from attemper.theories.softening.check.enumeration import examine
from attemper.theories.softening.check.hard import hardened, uniform_heads
from tests.support.drawn.soft_networks import drawn
from tests.support.drawn.softened import DIGEST, ZERO, Claims, by_rules, softened
from tests.support.judges.chain_judge import Judge, arb, at

CHECKED = 3
ACCEPTED = {Status.PROVED, Status.PROVED_UNDER_ASSUMPTIONS}

FORMULAS = {
    "O a": ("ab", "temperature"),
    "#<[a] % 2 = 0": ("ab", "temperature"),
    "'a' S ('b' & Y ('b' & Y 'b'))": ("ab", "unbounded"),
}


@dataclass(frozen=True)
class Case:
    network: Network
    soft: Network
    found: Approximation
    judge: Judge
    known: tuple[LayerByRule, ...]


def stated(network: Network, longest: int) -> Claims | None:
    """What a hard network does on short words, given for all; None if it is not tieless there."""
    looked = [examine(network, n) for n in range(1, longest + 1)]
    if any(one.tie is not None for one in looked):
        return None
    found = []
    for number_, uniform in enumerate(uniform_heads(network)):
        size = max(one.magnitudes[number_] for one in looked)
        least = [
            min((one.gaps[number_][h] or Fraction(1) for one in looked), default=Fraction(1))
            for h in range(len(uniform))
        ]
        gaps = tuple(
            None if alone else HeadGap(GapBy.GIVEN, Monomial(gap))
            for alone, gap in zip(uniform, least, strict=True)
        )
        found.append(LayerError(Monomial(size), GapBy.GIVEN, gaps, ZERO))
    return tuple(found)


@cache
def cases() -> tuple[Case, ...]:
    found = []
    for formula, (alphabet, regime) in FORMULAS.items():
        network = attemper.compile(formula, alphabet, regime=regime).network
        found.append(_case(network, by_rules(network)))
    found.append(_case(attemper.compile("zoo:palindromes", regime="temperature").network, None, 3))
    random = Random(17)
    for layers in (1, 2, 3):
        while (given := stated(network := drawn(random, layers), CHECKED)) is None:
            pass
        found.append(_case(network, given, CHECKED))
    return tuple(found)


def _case(network: Network, said: Claims | None, longest: int = 4) -> Case:
    given = by_rules(network) if said is None else said
    soft, found = softened(network, given, Fraction(1, 10), checked_to=CHECKED)
    return Case(network, soft, found, Judge(network, longest), by_rule(hardened(network)))


FACTORS = [
    *(
        Fraction(p, q)
        for p, q in ((0, 1), (1, 2), (3, 4), (9, 10), (99, 100), (3, 2), (2, 1), (10, 1), (101, 100))
    ),
    1 - Fraction(1, 10**6),
    1 + Fraction(1, 10**6),
    1 - Fraction(1, 10**12),
]
POWERS = [
    Fraction(p, q) for p, q in ((1, 1), (-1, 1), (1, 2), (-1, 7), (1, 1024), (-1, 1024), (-3, 1), (2, 1))
]


def _changed(random: Random, own: Monomial) -> Monomial:
    if random.random() < 0.6:
        return replace(own, factor=own.factor * random.choice(FACTORS))
    return replace(own, power=own.power + random.choice(POWERS))


def _layer_changed(random: Random, own: LayerError) -> LayerError:
    places = [h for h, gap in enumerate(own.gaps) if gap is not None]
    kind = random.choice(["magnitude", "error", "error", *(["gap", "gap", "by"] if places else [])])
    if kind == "magnitude":
        return replace(own, magnitude=_changed(random, own.magnitude))
    if kind == "error":
        return replace(own, error=_changed(random, own.error))
    place = random.choice(places)
    gap = own.gaps[place]
    assert gap is not None
    other = GapBy.RULE if gap.by is GapBy.GIVEN else GapBy.GIVEN
    new = HeadGap(other, gap.gap) if kind == "by" else HeadGap(gap.by, _changed(random, gap.gap))
    return replace(own, gaps=(*own.gaps[:place], new, *own.gaps[place + 1 :]))


def _warmer(random: Random, soft: Network) -> Network:
    """One head at another temperature."""
    layers = list(soft.layers)
    number_ = random.choice([n for n, layer in enumerate(layers) if layer.heads])
    heads = list(layers[number_].heads)
    place = random.randrange(len(heads))
    weighting = heads[place].weighting
    assert isinstance(weighting, Softmax)
    factor = random.choice([*FACTORS, Fraction(-1)])
    cold = times(number(factor), weighting.inverse_temperature)
    heads[place] = replace(heads[place], weighting=Softmax(cold))
    layers[number_] = replace(layers[number_], heads=tuple(heads))
    return replace(soft, layers=tuple(layers))


def mutated(random: Random, case: Case) -> tuple[Network, Approximation]:
    soft, found = case.soft, case.found
    assert isinstance(found.evidence, ClosedFormErrors)
    for _ in range(random.choice([1, 1, 2, 3])):
        kind = random.random()
        if kind < 0.75:
            layers = list(found.evidence.layers)
            place = random.randrange(len(layers))
            layers[place] = _layer_changed(random, layers[place])
            found = replace(found, evidence=replace(found.evidence, layers=tuple(layers)))
        elif kind < 0.9:
            soft = _warmer(random, soft)
        else:
            found = replace(found, epsilon=found.epsilon * random.choice(FACTORS))
    return soft, found


def campaign(random: Random, wanted: int, monkeypatch: pytest.MonkeyPatch) -> Counter[str]:
    """Changes until so many are false; none of these may be accepted."""
    said: Counter[str] = Counter()
    while said["false"] < wanted:
        case = random.choice(cases())
        monkeypatch.setattr(checker, "by_rule", lambda _, known=case.known: known)
        soft, found = mutated(random, case)
        assert isinstance(found.evidence, ClosedFormErrors)
        verdict = checker.check_approximation(soft, DIGEST, found)
        wrong = case.judge.is_false(soft, found.evidence, found.epsilon)
        assert not (wrong and verdict.status in ACCEPTED), (wrong, found, verdict.claims[0])
        said.update(["false" if wrong else "not seen to be false", str(verdict.status)])
    return said


@pytest.mark.sweep(0)
def test_no_false_chain_is_accepted(monkeypatch: pytest.MonkeyPatch) -> None:
    said = campaign(Random(1), 60, monkeypatch)
    # Some are refuted with a word, some stay true and are proved.
    assert said["REFUTED"] >= 1
    assert said["UNKNOWN"] >= 25
    assert said["PROVED"] >= 5


@pytest.mark.slow
def test_no_false_chain_of_many_is_accepted(monkeypatch: pytest.MonkeyPatch) -> None:
    said = campaign(Random(2), 5_000, monkeypatch)
    assert said["REFUTED"] >= 100
    assert said["PROVED"] >= 500


@pytest.mark.sweep(0)
def test_the_judge_finds_nothing_wrong_with_chains_that_are_as_they_were() -> None:
    for case in cases():
        assert isinstance(case.found.evidence, ClosedFormErrors)
        verdict = checker.check_approximation(case.soft, DIGEST, case.found)
        assert verdict.status in ACCEPTED
        assert not case.judge.is_false(case.soft, case.found.evidence, case.found.epsilon)


@pytest.mark.parametrize("index", range(len(FORMULAS) + 4))
def test_no_coordinate_is_further_off_than_is_claimed_in_balls(index: int) -> None:
    """The definition of both networks, on short words: after each layer, and of what is put out."""
    case, random = cases()[index], Random(3)
    assert isinstance(case.found.evidence, ClosedFormErrors)
    for n in (1, 2, 3):
        words = list(product(case.network.alphabet.symbols, repeat=n))
        for word in random.sample(words, min(len(words), 4)):
            with precision(256):
                _compare(case, case.found.evidence.layers, word)


def _compare(case: Case, layers: Claims, word: Word) -> None:
    soft, hard = soft_streams(case.soft, word), hard_streams(case.network, word, HardWeighting.AVERAGE)
    for number_, claimed in enumerate(layers, start=1):
        is_last = number_ == len(layers)
        places = case.network.outputs if is_last else range(len(case.network.coordinates))
        most = at(claimed.error, len(word)) + arb(Fraction(1, 2**150))
        for own, true in zip(soft[number_], hard[number_], strict=True):
            assert all(abs(own[c] - arb(true[c])) <= most for c in places)
