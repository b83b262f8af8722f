"""The three stages in which Hahn proves the Depth Reduction Lemma (Lemma 4), run on one layer.

With the constants of the proof this needs words too long for any computer (`constants`), so k is an argument,
and whether every tuple is k-satisfied in the end is found by looking. Where the proof has a Local Lemma, here
are Moser and Tardos: events that occur get new random bits until none does.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import final

import numpy as np

from attemper.models.arrays import Booleans, Integers
from attemper.models.hard.protocol import HardModel
from attemper.theories.refutation.certificate.restrictions import Restriction
from attemper.theories.refutation.lemma.inputs import FREE, PartialAssignment, bits_of, restriction_of
from attemper.theories.refutation.lemma.satisfied import Bottom, Keys, bottom_of
from attemper.theories.refutation.lemma.transformers import own_layer


@final
@dataclass(frozen=True)
class StageRecord:
    """What a stage did: how many inputs it fixed, how many are free and how many tuples unsatisfied after it.

    `steps`: the activations fixed in Stage 2, the events resampled in Stage 3, the tuples repaired.
    """

    name: str
    fixed: int
    free: int
    unsatisfied: int
    steps: int = 0


@final
@dataclass(frozen=True)
class Reduction:
    """Restricted inputs under which a layer can be removed: if `holds`, every tuple is k-satisfied.

    `most_attended`: on how many free inputs the choice of a head depends at most, given its own activation.
    `start`: how many inputs were free before the first stage.
    """

    restriction: Restriction
    k: int
    start: int
    stages: tuple[StageRecord, ...]
    most_attended: int
    holds: bool

    @property
    def free(self) -> int:
        """How many inputs are free in the end."""
        return self.stages[-1].free if self.stages else self.start


def faithful(
    model: HardModel,
    base: Restriction,
    k: int,
    rate: Fraction,
    *,
    seed: int = 0,
    threshold: int | None = None,
) -> Reduction:
    """The three stages on a transformer's first layer (c = 1), from the restriction `base`.

    `k` >= 1, `rate` q in (0, 1), `threshold`: see `reduced`. In `base` a position has one symbol, or two.

    Guaranteed: the restriction allows no word that `base` does not, and if `holds`, every tuple is
    k-satisfied, so that the layer's activations depend on at most 2 k H + 1 inputs. Not guaranteed: that it
    holds (the resampling is cut short), and how much is free.
    """
    keys = Keys(bottom_of(own_layer(model, base)))
    bits, stages = reduced(keys, bits_of(base), k, rate, seed=seed, threshold=threshold)
    return finished(keys, base, bits, k, stages)


def finished(
    keys: Keys, base: Restriction, bits: PartialAssignment, k: int, stages: tuple[StageRecord, ...]
) -> Reduction:
    """The stages' outcome, where every tuple is looked at again."""
    counts = keys.counts(bits, keys.tuples(bits))
    most = int(counts.max(initial=0))
    holds = most <= keys.bottom.most_inputs * k
    return Reduction(restriction_of(base, bits), k, _free(bits_of(base)), stages, most, holds)


def reduced(
    keys: Keys,
    bits: PartialAssignment,
    k: int,
    rate: Fraction,
    *,
    eta: Fraction = Fraction(1, 10),
    threshold: int | None = None,
    seed: int = 0,
    most_resampled: int = 20_000,
) -> tuple[PartialAssignment, tuple[StageRecord, ...]]:
    """The three stages on layer 0 of a c-transformer; `eta` is for Stage 1 (with c = 1 it fixes nothing).

    `threshold`: Stage 2 ends when no activation has more k-depending unsatisfied tuples; None: 2^c k H, as in
    the proof. After `most_resampled` resampled events Stage 3 gives up.
    """
    if k < 1 or not 0 < rate < 1 or not 0 < eta < 1:
        raise ValueError("k must be at least 1, and the rate and eta between 0 and 1")
    bottom = keys.bottom
    if threshold is None:
        threshold = 2**bottom.most_inputs * k * bottom.heads
    draw = np.random.default_rng(seed)
    first = much_read_fixed(bottom, bits, eta)
    second, rounds = greedily_fixed(keys, first, k, threshold)
    third, resampled = resampled_bits(keys, second, k, rate, draw, most_resampled)
    most = bottom.most_inputs * k
    return third, (
        stage("1: inputs that feed many", keys, bits, first, most),
        stage("2: greedy", keys, first, second, most, rounds),
        stage("3: random bits", keys, second, third, most, resampled),
    )


def stage(
    name: str, keys: Keys, before: PartialAssignment, after: PartialAssignment, most: int, steps: int = 0
) -> StageRecord:
    """The record of what a stage did."""
    unsatisfied = len(keys.unsatisfied(after, most))
    return StageRecord(name, _free(before) - _free(after), _free(after), unsatisfied, steps)


def _free(bits: PartialAssignment) -> int:
    return int((bits == FREE).sum())


# Stage 1 ---------------------------------------------------------------------------------------------------


def much_read_fixed(bottom: Bottom, bits: PartialAssignment, eta: Fraction) -> PartialAssignment:
    """rho^(1): free inputs that feed more than c / (eta C) activations are 0.

    C is the free share of the inputs. There are fewer than eta C n such inputs, as n activations have at most
    c n inputs in all (supplement, Lemma 6). In a transformer's own first layer an input feeds one activation,
    so there are none.
    """
    readers = np.bincount(bottom.inputs[bottom.inputs >= 0], minlength=bottom.size)
    limit = bottom.most_inputs * bottom.size / (eta * max(1, _free(bits)))
    return np.where((bits == FREE) & (readers > int(limit)), 0, bits).astype(np.int8)


# Stage 2 ---------------------------------------------------------------------------------------------------


def greedily_fixed(
    keys: Keys, bits: PartialAssignment, k: int, threshold: int
) -> tuple[PartialAssignment, int]:
    """rho^(2), and how many activations were fixed for it (supplement, Lemma 15 to Lemma 17).

    As long as more than `threshold` unsatisfied tuples k-depend on an activation, it gets the value that is
    best for the most of them, and all rankings are made again. With the threshold 2^c k H, this satisfies
    more than k H tuples for at most c inputs.
    """
    bits, rounds = bits.copy(), 0
    most = keys.bottom.most_inputs * k
    tuples = keys.tuples(bits)
    while True:
        low, high = keys.ranges(bits, tuples)
        unsatisfied = keys.counts_in(bits, tuples, low, high) > most
        tuples, high = tuples[unsatisfied], without_own(keys, tuples[unsatisfied], high[unsatisfied])
        if not len(tuples):
            return bits, rounds
        depends = high >= first_new(keys, bits, high, k)[:, -1:]
        # What has no free input blocks all below it, where it is the leftmost that is attended to.
        loads = np.where(keys.feeding(bits), depends.sum(axis=0), 0)
        j = int(loads.argmax())
        if loads[j] <= threshold:
            return bits, rounds
        fix(keys.bottom, bits, favourite(keys, bits, tuples[depends[:, j]], high[depends[:, j], j], j))
        rounds += 1
        # What is satisfied stays so, and what is impossible too: only the others are looked at again.
        tuples = tuples[keys.bottom.possible(bits)[keys.own_row[tuples]]]


def without_own(keys: Keys, tuples: Integers, high: Integers) -> Integers:
    """(tuple, activation): the keys of hi, and -1 for the tuple's own activation, which has its value."""
    high[np.arange(len(tuples)), keys.own[tuples]] = -1
    return high


def first_new(keys: Keys, bits: PartialAssignment, high: Integers, k: int) -> Integers:
    """(tuple, s): the key of the s-th activation with a *new input*: one that no activation above it has.

    (Supplement, (9).) These are the activations that rank first for some free input. An unsatisfied tuple has
    more than c k free inputs above and at its blocker, at most c for each new activation, so it has more than
    k of these (this is what Lemma 9 of the supplement is about).
    """
    firsts = np.maximum.reduceat(high[:, keys.fed], keys.parts, axis=1)[:, bits[keys.sources] == FREE]
    most = keys.bottom.most_inputs * k
    if most < firsts.shape[1]:
        # An activation ranks first for at most c inputs: the k greatest keys are among the c k first.
        firsts = -np.partition(-firsts, most - 1, axis=1)[:, :most]
    firsts = -np.sort(-firsts, axis=1)
    new = np.c_[np.ones(len(firsts), dtype=bool), firsts[:, 1:] != firsts[:, :-1]] & (firsts >= 0)
    chosen = new & (new.cumsum(axis=1) <= k)
    return np.asarray(firsts[chosen].reshape(len(firsts), k))


def favourite(keys: Keys, bits: PartialAssignment, tuples: Integers, best: Integers, j: int) -> int:
    """The row of activation j that attains the best key for the most of the tuples; the first of these."""
    rows = np.flatnonzero((keys.bottom.owner == j) & keys.bottom.possible(bits))
    attains = keys.table[np.ix_(tuples, rows)] == best[:, None]
    return int(rows[attains.sum(axis=0).argmax()])


def fix(bottom: Bottom, bits: PartialAssignment, row: int) -> None:
    """Give a row's inputs its bits, in place."""
    inputs = bottom.inputs[bottom.owner[row]]
    bits[inputs[inputs >= 0]] = bottom.bits[row, inputs >= 0]


# Stage 3 ---------------------------------------------------------------------------------------------------


def random_bits(bits: PartialAssignment, rate: Fraction, draw: np.random.Generator, where: Booleans) -> None:
    """Give the inputs in `where` 0 and 1 with probability q/2 each, or leave them free; in place."""
    drawn = draw.integers(0, 2 * rate.denominator, int(where.sum()))
    bits[where] = np.where(drawn < rate.numerator, 0, np.where(drawn < 2 * rate.numerator, 1, FREE))


def resampled_bits(
    keys: Keys,
    bits: PartialAssignment,
    k: int,
    rate: Fraction,
    draw: np.random.Generator,
    most_resampled: int,
) -> tuple[PartialAssignment, int]:
    """rho^(3), and how many events were resampled for it (supplement, Definitions 19 and 20).

    The event X of a tuple that is unsatisfied under rho^(2): none of its first k activations with new inputs
    is sure to attain the greatest score that it has under rho^(2). Rankings and greatest scores are those
    under rho^(2) throughout, so that X depends on the free inputs of these k activations and on nothing else.
    In each sweep a maximal set of occurring events without common inputs gets new random bits.

    X_0, that too much is fixed, is not resampled: at a practical k it is the rule, and nothing can be done.
    """
    events = _Events(keys, bits, k)
    free = bits == FREE
    found, resampled = bits.copy(), 0
    random_bits(found, rate, draw, free)
    while resampled < most_resampled:
        occurring = events.occurring(found)
        if not len(occurring):
            break
        taken = np.zeros(len(bits), dtype=bool)
        for event in occurring:
            if not (events.inputs[event] & taken).any():
                taken |= events.inputs[event]
                resampled += 1
        random_bits(found, rate, draw, taken)
    return found, resampled


@final
class _Events:
    """The events X of the tuples that are unsatisfied under a restriction, as they are under it."""

    def __init__(self, keys: Keys, bits: PartialAssignment, k: int) -> None:
        bottom = keys.bottom
        self.bottom = bottom
        tuples = keys.unsatisfied(bits, bottom.most_inputs * k)
        if not len(tuples):
            self.inputs = np.zeros((0, len(bits)), dtype=bool)
            self.best = np.zeros((0, k, 1), dtype=bool)
            return
        goals = first_new(keys, bits, without_own(keys, tuples, keys.ranges(bits, tuples)[1]), k)
        positions = keys.position(goals)
        widest = int(np.bincount(bottom.owner).max())
        self.rows = np.minimum(
            bottom.starts[positions][:, :, None] + np.arange(widest), len(bottom.owner) - 1
        )
        self.there = bottom.owner[self.rows] == positions[:, :, None]
        self.best = keys.table[tuples[:, None, None], self.rows] == goals[:, :, None]
        selected = np.zeros((len(tuples), bottom.size), dtype=bool)
        selected[np.arange(len(tuples))[:, None], positions] = True
        self.inputs = keys.inputs_of(selected) & (bits == FREE)

    def occurring(self, bits: PartialAssignment) -> Integers:
        if not len(self.best):
            return np.zeros(0, dtype=np.int64)
        open_ = self.there & self.bottom.possible(bits)[self.rows] & ~self.best
        return np.flatnonzero(open_.any(axis=2).all(axis=1))
