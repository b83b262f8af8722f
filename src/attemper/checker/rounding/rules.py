"""What floats take away from what was proved of a head, for each construction.

One is for all heads that choose a position by a tie-break; others are for signs, averages and parabolas.
Those of whole numbers stand in a file of their own.
"""

from __future__ import annotations

from functools import reduce
from typing import Any

import flint

from attemper.checker.attention.scores import Output
from attemper.checker.diagrams import Diagram
from attemper.checker.names import Names
from attemper.checker.rounding.arithmetic import (
    ZERO,
    Kernel,
    Off,
    OfNumber,
    OnGrid,
    Rounded,
    as_number,
    greatest,
)
from attemper.checker.rounding.attention import RoundedHead, attended, lost_of_parabola
from attemper.checker.rounding.score_gaps import lost_below, sum_rate
from attemper.checker.rules import HeadFact, Rule
from attemper.checker.values import Value
from attemper.exact.balls import ball
from attemper.networks import layers

MEAN = 4
"""A mean of values with exact sums is within so many u: the sum times a rounded reciprocal, rounded."""


def offs_of(fact: HeadFact, head: RoundedHead) -> list[Off]:
    """How far each output can be off where the head is computed in floats: as far as by the worst rule.

    Raises `BeyondError`, naming the head, where nothing is known of that.
    """
    if len(fact.rules) == 1:
        return _offs(fact.rules[0], head)
    found = (_offs(rule, head) for rule in fact.rules)
    return [reduce(_worse, map(as_number, offs)) for offs in zip(*found, strict=True)]


def _offs(rule: Rule, head: RoundedHead) -> list[Off]:
    match rule.construction:
        case layers.Uniform:
            return _averages(head)
        case layers.Select | layers.Neighbour:
            return attended(head, lambda: rule.others(*map(head.bear, head.losses(rule.said))))
        case layers.Sign:
            loss = _loss_of_sign(rule.said, head)
        case layers.LocalSign:
            loss = _loss_of_local_sign(rule.said, head)
        case layers.Lookup:
            loss = lost_of_parabola(head)
        case _:
            from attemper.checker.rounding import integers

            rounded = {
                layers.IntegerValue: integers.integer_value,
                layers.NearestInteger: integers.nearest_integer,
                layers.IntegerSign: integers.integer_sign,
            }
            return rounded[rule.construction](rule, head)
    return attended(head, lambda: rule.others(head.bear(loss)))


def _worse(one: OfNumber, other: OfNumber) -> OfNumber:
    """The greatest errors of both."""
    apart = None if one.apart is None or other.apart is None else one.apart.max(other.apart)
    return OfNumber(
        one.at_zero.max(other.at_zero),
        one.elsewhere.max(other.elsewhere),
        one.average.max(other.average),
        one.relative.max(other.relative),
        apart=apart,
    )


# Averages ------------------------------------------------------------------------------------------------


def _averages(head: RoundedHead) -> list[Off]:
    """Scores that only cancel have no rule."""
    if head.rows:
        raise head.uncovered()
    return [_average(head, *pair) for pair in head.values]


def _average(head: RoundedHead, value: Rounded, output: Output) -> OfNumber:
    """How far an average of these values can be off."""
    lengths = head.lengths
    has_means = lengths.arithmetic.has_means({(0, 0): output.diagram})
    whole = lengths.long * ball(output.size)
    divided = MEAN * lengths.u
    if head.kernel is not Kernel.NORMALISE_FIRST and isinstance(value, OnGrid) and whole <= ball(value.grid):
        # The average of a constant is a constant, but not computed as one.
        return OfNumber(ZERO, ZERO if has_means else divided * ball(output.size), ZERO, divided)
    mean = value.absolute + (ball(output.size) + value.absolute) * head.sums
    alone = value.absolute if has_means else mean
    return OfNumber(alone, alone, mean, divided)


# Signs ---------------------------------------------------------------------------------------------------


def _loss_of_sign(unit: Any, head: RoundedHead) -> flint.arb:
    """All right positions score alike, and so do all wrong ones: D's own error, and that of one product.

    One row, whose key is a multiple of (-1)^j times a power of j, with nothing constant in it.
    """
    if len(head.rows) != 1 or not _alternates(head.names, head.rows[0].key):
        raise head.uncovered()
    (row,) = head.rows
    of_mean = head.mean_off(row) * head.lengths.length / ball(unit)
    return (1 + row.scored.product.relative) * (1 + of_mean) - 1


def _alternates(names: Names, key: Value) -> bool:
    """Whether a key is (-1)^j times a number and a power of j."""
    return len(key) == 1 and all(_is_multiple(names, diagram, names.sign) for diagram in key.values())


def _is_multiple(names: Names, diagram: Diagram, of: Diagram) -> bool:
    """Whether it is a number times the other one, which is never 0."""
    (one, *_), (other, *_) = names.values(diagram), names.values(of)
    ratio = abs(one.constant / other.constant)
    return not one.parts and diagram in {names.scaled(of, ratio), names.scaled(of, -ratio)}


def _loss_of_local_sign(gap: Any, head: RoundedHead) -> flint.arb:
    """Twice the absolute error of a score, against the least score gap 2 gap; all others are larger."""
    lengths, cold, products = head.lengths, head.cold, [row.scored.product for row in head.rows]
    sizes = sum((product.size for product in products), ZERO)
    off = greatest([sum((product.absolute for product in products), ZERO)])
    rate = sum_rate(lengths, len(products), cold) + (ZERO if cold.is_exact else lengths.u)
    off += rate * (sizes + off) + lost_below(lengths, len(products), cold)
    return off / ball(gap)
