"""What an attention head computes: its scores are derived from the weights, then a rule is applied to them.

What a head is said to be for only selects the rule to try; the rule proves its own conditions from the
scores. Each construction stands in a file of its own, in `constructions`.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass
from typing import final

from attemper.checker.attention.by_cases import by_cases
from attemper.checker.attention.scores import ReadHead, read_head
from attemper.checker.diagrams import TooLargeError
from attemper.checker.names import Names, UnprovenError
from attemper.checker.rules import HeadFact
from attemper.checker.values import ResidualValues
from attemper.networks import layers


@final
@dataclass(frozen=True)
class HeadRule:
    """How the heads of one construction are proved.

    `strict_masks`: also with masks that hide i itself. `by_cases`: in each combination of bits at i alone.
    `has_gap`: a greatest score leads over others, which none does where all are equal. `is_unique`: one
    visible position has the greatest score, whatever the head's values are.
    """

    strict_masks: bool = False
    by_cases: bool = False
    has_gap: bool = True
    is_unique: bool = False


RULES: Mapping[type[layers.Construction], HeadRule] = {
    layers.Uniform: HeadRule(has_gap=False),
    layers.Select: HeadRule(strict_masks=True, by_cases=True, is_unique=True),
    layers.Neighbour: HeadRule(by_cases=True, is_unique=True),
    layers.Sign: HeadRule(),
    layers.LocalSign: HeadRule(),
    layers.Lookup: HeadRule(is_unique=True),
    layers.IntegerValue: HeadRule(),
    layers.NearestInteger: HeadRule(),
    layers.IntegerSign: HeadRule(),
}
"""The rule of each construction, in the order in which they are tried where nothing says what a head is."""


def prover_of(construction: type[layers.Construction]) -> Callable[[ReadHead], HeadFact]:
    """The rule in the construction's own file, loaded with its first head: a network needs few of nine."""
    match construction:
        case layers.Uniform:
            from attemper.checker.constructions.uniform import uniform as prove
        case layers.Select:
            from attemper.checker.constructions.select import select as prove
        case layers.Neighbour:
            from attemper.checker.constructions.neighbour import neighbour as prove
        case layers.Sign:
            from attemper.checker.constructions.sign import sign as prove
        case layers.LocalSign:
            from attemper.checker.constructions.local_sign import local_sign as prove
        case layers.Lookup:
            from attemper.checker.constructions.lookup import lookup as prove
        case layers.IntegerValue:
            from attemper.checker.constructions.integer_value import integer_value as prove
        case layers.NearestInteger:
            from attemper.checker.constructions.nearest_integer import nearest_integer as prove
        case layers.IntegerSign:
            from attemper.checker.constructions.integer_sign import integer_sign as prove
        case _:
            raise UnprovenError(f"no rule is about {construction.__name__}")
    return prove


def head_fact(names: Names, head: layers.Head, stream: ResidualValues, is_loose: bool = False) -> HeadFact:
    """Apply the rule of the head's construction, or the first that fits where nothing says what the head is.

    Raises `UnprovenError`.
    """
    if not isinstance(head.construction, layers.Foreign):
        return fact_by(type(head.construction), names, head, stream, is_loose)
    for construction in RULES:
        with suppress(UnprovenError, TooLargeError, OverflowError):
            return fact_by(construction, names, head, stream, is_loose)
    raise UnprovenError("nothing says which rule it is for, and none fits")


def fact_by(
    construction: type[layers.Construction],
    names: Names,
    head: layers.Head,
    stream: ResidualValues,
    is_loose: bool = False,
) -> HeadFact:
    """Apply the rule of a construction, whatever the head is said to be. Raises `UnprovenError`."""
    rule = RULES[construction]
    if head.masking.is_strict and not rule.strict_masks:
        raise UnprovenError("only selections have a rule for strict masks")
    read = read_head(names, head, stream, is_loose)
    prove = prover_of(construction)
    return by_cases(prove, read) if rule.by_cases else prove(read)
