"""What an attention head computes: its scores are derived from the weights, then a rule is applied to them.

What a head is said to be for only selects the rule to try; the rule proves its own conditions from the
scores. Each construction stands in a file of its own, in `constructions`.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from attemper.checker.attention.by_cases import by_cases
from attemper.checker.attention.scores import ReadHead, ScoredHead, read_head, scored_head
from attemper.checker.constructions.integer_sign import integer_sign
from attemper.checker.constructions.integer_value import integer_value
from attemper.checker.constructions.local_sign import local_sign
from attemper.checker.constructions.lookup import lookup
from attemper.checker.constructions.nearest_integer import nearest_integer
from attemper.checker.constructions.neighbour import neighbour
from attemper.checker.constructions.select import select
from attemper.checker.constructions.sign import sign
from attemper.checker.constructions.uniform import uniform
from attemper.checker.names import Names, UnprovenError
from attemper.checker.rules import HeadFact
from attemper.checker.values import Stream
from attemper.exact.closed_forms import ONE
from attemper.networks.layers import (
    Construction,
    Foreign,
    Head,
    IntegerSign,
    IntegerValue,
    LocalSign,
    Lookup,
    NearestInteger,
    Neighbour,
    Select,
    Sign,
    Softmax,
    Uniform,
)

RULES: dict[type[Construction], Callable[[ScoredHead], HeadFact]] = {
    Uniform: uniform,
    Select: select,
    Neighbour: neighbour,
    Sign: sign,
    LocalSign: local_sign,
    Lookup: lookup,
}
"""The rules of constructions that read numbers of one size at every length, all of them exact."""

INTEGER_RULES: dict[type[Construction], Callable[[ReadHead], HeadFact]] = {
    IntegerValue: integer_value,
    NearestInteger: nearest_integer,
    IntegerSign: integer_sign,
}
"""The rules of constructions that make integers, or read such as are only approximate."""

CHOOSING = tuple(kind for kind in (*RULES, *INTEGER_RULES) if kind is not Uniform)
"""The constructions whose heads have a greatest score, in the order in which a head is tried with them."""

WITH_STRICT_MASKS = frozenset({Select})
"""The constructions whose rules also hold for masks that hide i itself."""


BY_CASES = frozenset({Select})
"""The constructions whose rules are applied to each combination of bits at i."""


def head_fact(names: Names, head: Head, stream: Stream) -> HeadFact:
    """Apply the rule of the head's construction. Raises `UnprovenError`."""
    if isinstance(head.construction, Foreign):
        raise UnprovenError("nothing says which rule it is for")
    return fact_by(type(head.construction), names, head, stream)


def fact_by(construction: type[Construction], names: Names, head: Head, stream: Stream) -> HeadFact:
    """Apply the rule of a construction, whatever the head is said to be. Raises `UnprovenError`."""
    if head.masking.is_strict and construction not in WITH_STRICT_MASKS:
        raise UnprovenError("only selections have a rule for strict masks")
    read = read_head(names, head, stream)
    if construction in INTEGER_RULES:
        return INTEGER_RULES[construction](read)
    rule, scored = RULES[construction], scored_head(read)
    return by_cases(rule, scored) if construction in BY_CASES else rule(scored)


def averaging(names: Names, head: Head, stream: Stream) -> HeadFact:
    """What a head puts out if all its scores are equal, whatever its rows are. Raises `UnprovenError`."""
    return fact_by(Uniform, names, replace(head, query=(), key=(), weighting=Softmax(ONE)), stream)
