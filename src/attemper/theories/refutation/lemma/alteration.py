"""The Depth Reduction Lemma by alteration: random bits, and then a repair for each tuple that they missed.

The bound and its proof are in docs/depth-reduction.md. It holds for every length.
"""

from __future__ import annotations

from fractions import Fraction
from math import expm1, log

import numpy as np

from attemper.models.arrays import Integers
from attemper.models.hard.protocol import HardModel
from attemper.theories.refutation.certificate.restrictions import Restriction
from attemper.theories.refutation.lemma import faithful
from attemper.theories.refutation.lemma.inputs import FREE, PartialAssignment, bits_of
from attemper.theories.refutation.lemma.satisfied import Keys, bottom_of
from attemper.theories.refutation.lemma.transformers import own_layer


def altered(
    model: HardModel,
    base: Restriction,
    k: int,
    rate: Fraction | None = None,
    *,
    seed: int = 0,
    derandomised: bool = False,
) -> faithful.Reduction:
    """A restriction under which all tuples of a transformer's first layer (c = 1) are k-satisfied.

        fixed inputs <= q F + U (1 - q/2)^k          on average; if derandomised, always

    F: the free inputs of `base`; U <= H (n + F): its unsatisfied tuples; q: `rate`, None for `best_rate`.

    Guaranteed for every n and k >= 1: the result `holds`, with the bound above (docs/depth-reduction.md; an
    alternative to the proof of Hahn 2020, Lemma 4). Raises ValueError if k < 1 or q is not in (0, 1).

    >>> from attemper.models.hard.examples import RandomTables
    >>> from attemper.theories.refutation.lemma.inputs import two_symbols
    >>> model = RandomTables(40, (1,))
    >>> altered(model, two_symbols(model), 8, derandomised=True).holds
    True
    """
    keys = Keys(bottom_of(own_layer(model, base)))
    rate = best_rate(k, model.heads[0]) if rate is None else rate
    bits, stages = alter(keys, bits_of(base), k, rate, seed=seed, derandomised=derandomised)
    return faithful.finished(keys, base, bits, k, stages)


def alter(
    keys: Keys,
    bits: PartialAssignment,
    k: int,
    rate: Fraction,
    *,
    eta: Fraction = Fraction(1, 10),
    seed: int = 0,
    derandomised: bool = False,
) -> tuple[PartialAssignment, tuple[faithful.StageRecord, ...]]:
    """The same for layer 0 of a c-transformer; derandomised for c = 1 only.

    `eta`: for c > 1, inputs that feed more than c / (eta C) activations are fixed first. For c = 1 there is
    no need: activations with new inputs share none.
    """
    if k < 1 or not 0 < rate < 1 or not 0 < eta < 1:
        raise ValueError("k must be at least 1, and the rate and eta between 0 and 1")
    most = keys.bottom.most_inputs * k
    first = faithful.much_read_fixed(keys.bottom, bits, eta) if keys.bottom.most_inputs > 1 else bits
    if derandomised:
        second = chosen_bits(keys, first, k, rate)
    else:
        second = first.copy()
        faithful.random_bits(second, rate, np.random.default_rng(seed), first == FREE)
    third, repaired = repairs(keys, second, k)
    return third, (
        faithful.stage("1: inputs that feed many", keys, bits, first, most),
        faithful.stage("2: chosen bits" if derandomised else "2: random bits", keys, first, second, most),
        faithful.stage("3: repairs", keys, second, third, most, repaired),
    )


def best_rate(k: int, heads: int) -> Fraction:
    """A rate q, to three digits, for which q + 2 H (1 - q/2)^k is about least."""
    if k == 1:
        return Fraction(1, 2)
    found = -2 * expm1(-log(heads * k) / (k - 1))
    return Fraction(min(999, max(1, round(1000 * found))), 1000)


def repairs(keys: Keys, bits: PartialAssignment, k: int) -> tuple[PartialAssignment, int]:
    """All tuples satisfied, for at most c inputs each; and how many tuples had to be repaired.

    In an unsatisfied tuple, the activation that ranks first is not fixed: it would block all others. It gets
    the value that attains its greatest score, and then it does. Other tuples stay satisfied.
    """
    bits, repaired = bits.copy(), 0
    most = keys.bottom.most_inputs * k
    for number in keys.unsatisfied(bits, most):
        one = np.array([number])
        if not keys.bottom.possible(bits)[keys.own_row[number]]:
            continue
        low, high = keys.ranges(bits, one)
        if keys.counts_in(bits, one, low, high)[0] <= most:
            continue
        high = faithful.without_own(keys, one, high)
        j = int(high[0].argmax())
        faithful.fix(keys.bottom, bits, faithful.favourite(keys, bits, one, high[:, j], j))
        repaired += 1
    return bits, repaired


def chosen_bits(keys: Keys, bits: PartialAssignment, k: int, rate: Fraction) -> PartialAssignment:
    """Bits that are at least as good as random ones are on average (c = 1), by conditional expectations.

        Phi = expected fixed inputs + sum over the tuples of P(none of its first k activations is at its best)

    One input after the other is given 0 or 1 or is left free, whichever makes Phi, given all that has been
    decided, least; so Phi never grows. In the end it is the number of fixed inputs and of tuples that may
    need a repair, and it began with q F + U (1 - q/2)^k. The sums are compared as integers.
    """
    if keys.bottom.most_inputs > 1:
        raise ValueError("conditional expectations are for activations that depend on one input each")
    bits = bits.copy()
    tuples = keys.unsatisfied(bits, k)
    if not len(tuples):
        return bits
    wanted = _wanted(keys, bits, tuples, k)
    undecided = np.full(len(tuples), k)
    missed = np.ones(len(tuples), dtype=bool)
    miss = 1 - rate / 2
    # The probability to miss m more, times a common denominator.
    weights = [miss.numerator**m * miss.denominator ** (k - m) for m in range(k + 1)]
    # A fixed input, in the same measure; with one input less to be decided, as below.
    price = miss.numerator * miss.denominator ** (k - 1)
    for x in np.argsort(-(wanted != FREE).sum(axis=0), kind="stable"):
        if bits[x] != FREE:
            continue
        column = wanted[:, x]
        lost = [_total(undecided[missed & (column == bit)], weights) for bit in (0, 1)]
        costs = {FREE: lost[0] + lost[1], 0: lost[1] + price, 1: lost[0] + price}
        bits[x] = choice = min(costs, key=lambda option: costs[option])
        undecided -= column != FREE
        missed &= (column == FREE) | (column != choice) | (choice == FREE)
    return bits


def _wanted(keys: Keys, bits: PartialAssignment, tuples: Integers, k: int) -> PartialAssignment:
    """(tuple, input): the bit with which one of the first k activations is at its best; else FREE.

    It is one bit only: if both were best, the activation would be a blocker, and the tuple satisfied.
    """
    goals = faithful.first_new(
        keys, bits, faithful.without_own(keys, tuples, keys.ranges(bits, tuples)[1]), k
    )
    positions = keys.position(goals)
    rows = keys.bottom.starts[positions]
    each = np.arange(len(tuples))[:, None]
    rows = rows + (keys.table[tuples[:, None], rows] != goals)
    wanted = np.full((len(tuples), len(bits)), FREE, dtype=np.int8)
    wanted[each, keys.bottom.inputs[positions, 0]] = keys.bottom.bits[rows, 0]
    return wanted


def _total(undecided: Integers, weights: list[int]) -> int:
    """The sum of the weights of the tuples with these numbers of undecided inputs."""
    return sum(int(count) * weights[m] for m, count in enumerate(np.bincount(undecided)) if count)
