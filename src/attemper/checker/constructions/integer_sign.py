"""IntegerSign: the parity whose sign is that of 2 (K' - K) + c, c = 1 or -1, K' the key nearest to K. (Ours.)

Form: kappa (2 (K' - K) + c) sigma_j, without a mask, where sigma_j is (-1)^j, kappa depends on i and n, and
K' is what a NearestInteger head of an earlier layer has read for the query K. K' and K may be approximate.
Side conditions: the query is off by at most `off` < 1 times max(1, |K' - K|), in its own unit; |kappa| is at
least `smallest`; the value depends on j's parity alone.
Bound: |2 x + c| >= max(1, |x|) for integers x, so errors for each step of K' from K are relative ones. Right
positions score at least gap = smallest (1 - off) and wrong ones at most -gap, and there are at most twice as
many of the wrong parity: 2 r^2.
Output: the value at even j if kappa (2 (K' - K) + c) > 0, at odd j if not; at i where n = 1.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import final

from attemper.checker.attention.bounds import DOMAINS, at_corner, constant, positive, proved, scalar
from attemper.checker.attention.leads import Trail
from attemper.checker.attention.nearest_keys import OTHER, Compared, compared_in
from attemper.checker.attention.parities import by_parity, even_and_odd
from attemper.checker.attention.scores import ReadHead, plain_values
from attemper.checker.names import UnprovenError
from attemper.checker.rules import HeadFact, Rule
from attemper.checker.values import bound_of
from attemper.exact import laurent
from attemper.networks.layers import IntegerSign, Masking

EXACT = "its keys are not exactly (-1)^j times a number"


@final
@dataclass(frozen=True)
class ComparedScore:
    """Logits x (-1)^j, |x| at least `smallest` less the relative error `off`: what floats ask for."""

    smallest: Fraction
    off: Fraction
    compared: Compared


def integer_sign(head: ReadHead) -> HeadFact:
    """The rule for the sign of a difference. Raises `UnprovenError`, naming what is not shown."""
    names = head.names
    if head.masking is not Masking.NONE:
        raise UnprovenError("it may see more positions of the wrong parity than twice those of the right one")
    if len(head.rows) != 1:
        raise UnprovenError(OTHER)
    values, slope = plain_values(head), _slope(head)
    compared = compared_in(names, head.rows[0][0])
    lean = laurent.times(slope, laurent.monomial(0, compared.growth, compared.unit))
    is_up = at_corner(lean, head.masking) > 0
    size = lean if is_up else laurent.times(lean, -1)
    smallest = positive(
        proved(laurent.most(size, laurent.constant(1), DOMAINS[head.masking]), "both parities are as likely")
    )
    said = ComparedScore(smallest, _off(head, compared), compared)
    rule = Rule(IntegerSign, (Trail(2 * smallest * (1 - said.off)),) * 2, said=said)
    is_even = compared.is_more if is_up else names.negation(compared.is_more)
    pairs = zip(values, head.targets, strict=True)
    outputs = (head.output(target, value, by_parity(head, is_even, value)) for value, target in pairs)
    return HeadFact((rule,), tuple(outputs))


def _slope(head: ReadHead) -> laurent.Laurent:
    """What the query is multiplied with at even j; at odd j with the negative."""
    names = head.names
    ((_, key),), ((_, off),) = head.rows, head.errors
    if off.factor or len(key) != 1 or next(iter(key))[0] != 0:
        raise UnprovenError(EXACT)
    (((_, growth), diagram),) = key.items()
    at_even, at_odd = even_and_odd(names, diagram)
    if at_even != names.scaled(at_odd, -1):
        raise UnprovenError(EXACT)
    cold = scalar(names, head.coldness)
    return laurent.times(cold, laurent.monomial(0, growth, constant(names, at_even)))


def _off(head: ReadHead, compared: Compared) -> Fraction:
    """The relative error of the query."""
    bound = bound_of(head.queries[0], head.stream, compared.found)
    off = bound.factor / abs(compared.unit)
    if (off and bound.power > compared.growth) or off >= 1:
        raise UnprovenError("its integers are off by too much")
    return off
