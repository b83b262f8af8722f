"""Two readings of the float rule of Select derive the same: the checker's, and one from FORMAT.md alone."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from fractions import Fraction
from random import Random

import pytest
import torch
from flint import arb, fmpq

from attemper.certifying.horizons import horizon_of
from attemper.checker.analysis import Analysis, analyse
from attemper.checker.names import UnprovenError
from attemper.checker.proof import prove
from attemper.checker.rounding import network as rounding
from attemper.checker.rounding.arithmetic import EXACT, BeyondError, Kernel, Lengths, OfNumber
from attemper.checker.rounding.feed_forward import written
from attemper.checker.rounding.network import Rounding
from attemper.checker.rounding.rules import offs_of
from attemper.checker.rules import stray_mass
from attemper.exact.balls import precision
from attemper.exact.closed_forms import ONE, I, N, Power, plus, times
from attemper.exact.formats import FORMATS
from attemper.languages.temporal.parse import parse
from attemper.languages.temporal.reading import At, TemporalLanguage
from attemper.languages.words import Alphabet
from attemper.networks.layers import Head, Layer, Masking, Network, Select, Softmax
from attemper.networks.wellformed import complaints
from attemper.running.dense import DenseTransformer
from tests.support.drawn.select_heads import linear, random_head
from tests.support.judges import float_rule
from tests.support.judges.float_rule import NoBoundError, bound
from tests.support.suites import Few

BITS = 300
SLACK = Fraction(1, 2**40)
"""How far two bounds may be apart, relatively, to count as the same: what balls of 300 bits round is less."""

LENGTHS = (1, 2, 3, 10, 100, 1000, 10**5)
Bounds = tuple[arb, arb, arb, arb]
"""The losses near and ahead, the stray mass, the error of the head's value."""


@pytest.fixture(autouse=True)
def fine_balls(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Let the checker compute with so many bits that (1 + u)^2 - 1 keeps its digits."""
    monkeypatch.setattr(rounding, "PRECISION", BITS)
    with precision(BITS):
        yield


def analysed(network: Network) -> Analysis | None:
    """The checker's analysis of the network; None where no rule covers the head."""
    assert not complaints(network)
    try:
        return analyse(network)
    except UnprovenError:
        return None


def of_checker(rounded: Rounding, length: int) -> Bounds | None:
    """What the checker derives for the head in the network's last layer; None where it has no bound."""
    network, facts = rounded.analysis.network, rounded.analysis.layers
    run = rounding._Run(rounded, Kernel.NUMERATOR_FIRST, Lengths(rounded.arithmetic, length))
    [head], [fact] = network.layers[-1].heads, facts[-1].heads
    try:
        if not (4 * run.lengths.long < 1):
            return None
        run.offs = [EXACT for _ in network.coordinates]
        run._embed()
        for before, writings in zip(facts[:-1], rounded.writings, strict=False):
            for writing in writings:
                off = written(run.lengths, writing, before.middle, run.offs)
                run.offs[writing.target] = off
        computed = run.heads.head("the head", head, fact.outputs, facts[-1].before, run.offs)
        [value], [rule] = offs_of(fact, computed), fact.rules
        assert rule.construction is Select
        assert isinstance(value, OfNumber)
        if length == 1:
            return arb(0), arb(0), arb(0), value.constant
        near, ahead = computed.losses(rule.said)
        others = rule.others(computed.bear(near), computed.bear(ahead)) * computed.noise
        return near, ahead, stray_mass(others), value.constant
    except BeyondError:
        return None


def of_reader(network: Network, name: str, length: int) -> Bounds | None:
    """What the second reading derives for the same head."""
    try:
        found = bound(network, float_rule.FORMATS[name], length)
    except NoBoundError:
        return None
    near, ahead = (arb(fmpq(*loss.as_integer_ratio())) for loss in (found.near, found.ahead))
    return near, ahead, found.stray_mass, found.value_error


def are_same(left: Bounds | None, right: Bounds | None) -> bool:
    """Whether both have no bound, or the same four."""
    if left is None or right is None:
        return left is right
    slack = arb(fmpq(*SLACK.as_integer_ratio()))
    return all(abs(x - y) <= slack * abs(x) for x, y in zip(left, right, strict=True))


def compare(seed: int, lengths: tuple[int, ...]) -> Counter[bool]:
    """Compare one random head in all formats; how often both have a bound, and how often both have none."""
    network, counts = random_head(Random(seed)), Counter[bool]()
    analysis = analysed(network)
    for name, form in FORMATS.items():
        rounded = None if analysis is None else Rounding(analysis, form)
        for length in lengths:
            ours = None if rounded is None else of_checker(rounded, length)
            theirs = of_reader(network, name, length)
            assert are_same(ours, theirs), (seed, name, length, ours, theirs)
            counts[ours is not None] += 1
    return counts


def test_both_readings_agree_on_two_hundred_heads(few: Few) -> None:
    counts, seeds = Counter[bool](), few(range(200), 20)
    for seed in seeds:
        counts += compare(seed, (Random(seed).choice(LENGTHS[1:]),))
    assert min(counts[True], counts[False]) > len(seeds)


@pytest.mark.slow
@pytest.mark.parametrize("hundred", range(10))
def test_both_readings_agree_at_all_lengths(hundred: int) -> None:
    for seed in range(100 * hundred, 100 * hundred + 100):
        compare(seed, LENGTHS)


def value_holds(network: Network, name: str, length: int) -> bool:
    """Whether the second reading has the head's value within 1/4."""
    found = of_reader(network, name, length)
    return found is not None and bool(found[3] <= arb(1) / 4)


@pytest.mark.sweep(0)
def test_whole_horizons_are_the_same() -> None:
    found = set()
    for seed in range(40):
        network = random_head(Random(seed))
        analysis = analysed(network)
        for name, form in FORMATS.items():
            if analysis is not None:
                horizon, _ = horizon_of(analysis, form, Kernel.NUMERATOR_FIRST)
                found.add(horizon)
                assert horizon == 0 or value_holds(network, name, horizon), (seed, name, horizon)
                assert horizon == rounding.LONGEST or not value_holds(network, name, horizon + 1), seed
    assert len(found) > 20


def test_the_comparison_would_notice_a_slightly_larger_roundoff(monkeypatch: pytest.MonkeyPatch) -> None:
    for name, arithmetic in float_rule.FORMATS.items():
        lost = float_rule.Arithmetic(**{**vars(arithmetic), "u": arithmetic.u * (1 + SLACK * 1024)})
        monkeypatch.setitem(float_rule.FORMATS, name, lost)
    with pytest.raises(AssertionError):
        _ = [compare(seed, (10,)) for seed in range(20)]


# The query of a key that grows with n ------------------------------------------------------------


def cancelling() -> Network:
    """The head reads [a] at i itself; its query is 4 + 2^55 - 2^55, its key n^14 j."""
    query = plus(4, 2**55, -(2**55))
    rows = linear((2, 1)), linear((3, 1))
    head = Head(
        Select(False, ((None, ()),)),
        Masking.FUTURE,
        Softmax(ONE),
        rows[:1],
        rows[1:],
        (linear((0, 1)),),
        (4,),
    )
    return Network(
        alphabet=Alphabet(("a", "b")),
        coordinates=("a", "b", "query", "key", "out"),
        embedding=(linear((0, 1)), linear((1, 1))),
        positions=((2, query), (3, times(Power(N, 14), I))),
        layers=(Layer((head,), (), ()),),
        head_width=1,
        output=4,
        reads_first=False,
        accepts_empty=False,
    )


def test_a_cancelled_query_makes_the_head_an_average() -> None:
    network = cancelling()
    for dtype in (torch.float32, torch.float64):
        with torch.no_grad():
            output = DenseTransformer(network, dtype)(torch.tensor([[0, 1]]))[0]
        assert output.flatten().tolist() == [1, 0.5]
    assert all(of_reader(network, name, 2) is None for name in FORMATS)


def test_no_length_is_claimed_for_the_cancelled_query() -> None:
    network = cancelling()
    analysis = prove(network, TemporalLanguage(parse("a", network.alphabet), At.LAST, False))
    assert all(horizon_of(analysis, form, Kernel.NUMERATOR_FIRST)[0] <= 1 for form in FORMATS.values())
