"""The table of constructions: which plan a head has, and which construction computes a step.

Attend    select      Compare, Equals    sign, or local_sign if left and right counts mix
Shift     neighbour   CountTest          lookup, corrected where the count is 0
Nearest   nearest_integer; integers: integer_value, one for each query and key; Matched: then integer_sign
Count     uniform     averages: of a bit, of a mark (1/i, 1/(n-i+1) or 1/n), of a whole difference
No pass names a construction: each asks here.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator

from attemper.attention_program import ops
from attemper.compiling.building.counts import Need, comparisons_of
from attemper.compiling.building.plan import HeadPlan
from attemper.compiling.building.site import Site
from attemper.compiling.building.weights import Coordinates
from attemper.compiling.constructions import lookup, nearest_integer, neighbour, select, sign
from attemper.compiling.constructions.integer_sign import IntegerSignPlan, matched, needs_to_match
from attemper.compiling.constructions.integer_value import (
    IntegerValuePlan,
    allocate_integer,
    in_units,
    make_integer,
)
from attemper.compiling.constructions.local_sign import LocalSignPlan
from attemper.compiling.constructions.nearest_integer import NearestIntegerPlan
from attemper.compiling.constructions.uniform import UniformPlan, make_average, mean_head, name_of
from attemper.compiling.literal import retrieved
from attemper.networks import layers
from attemper.networks.regime import Regime

__all__ = [
    "PHASES",
    "allocate_integer",
    "compute",
    "make_average",
    "make_integer",
    "mean_head",
    "name_of",
    "needs",
    "plan_of",
    "soft_plan_of",
    "soft_values",
]

PHASES = (ops.Looking, ops.Compare | ops.Equals, ops.CountTest)
"""The steps that have heads, in the order in which these are made."""


_PLANS: dict[type[object], Callable[..., HeadPlan]] = {
    layers.Uniform: UniformPlan,
    layers.Select: select.SelectPlan,
    layers.Neighbour: neighbour.NeighbourPlan,
    layers.Sign: sign.SignPlan,
    layers.LocalSign: LocalSignPlan,
    layers.Lookup: lookup.LookupPlan,
    layers.IntegerValue: IntegerValuePlan,
    layers.NearestInteger: NearestIntegerPlan,
    layers.IntegerSign: IntegerSignPlan,
}


def plan_of(head: layers.Head, *, is_literal: bool = False) -> HeadPlan:
    """What the compiler knows of a head; if it `is_literal`, the papers' way to what stands at a count."""
    if is_literal and isinstance(head.construction, layers.IntegerValue | layers.Lookup):
        return retrieved.RetrievedPlan(head.construction, head.masking)
    return _PLANS[type(head.construction)](head.construction, head.masking)


def soft_plan_of(
    head: layers.Head, regime: Regime, stream: Coordinates, *, is_literal: bool = False
) -> HeadPlan:
    """What the compiler knows of a softmax head: positions that it compares are in the regime's unit."""
    match head.construction:
        case layers.NearestInteger() as construction:
            return NearestIntegerPlan(nearest_integer.in_units(construction, regime, stream), head.masking)
        case _:
            return plan_of(head, is_literal=is_literal)


def soft_values(
    head: layers.Head, regime: Regime, stream: Coordinates, *, is_literal: bool = False
) -> tuple[layers.LinearForm, ...]:
    """What a softmax head carries: integers in the regime's unit, all else as the hard head does."""
    match head.construction:
        case layers.IntegerValue() as construction if not is_literal:
            return in_units(construction, head.values, regime, stream)
        case _:
            return head.values


def needs(program: ops.Program, ref: ops.Ref, *, is_literal: bool = False) -> Iterator[Need]:
    """What the head of a step reads. Raises `UnsupportedError` for a step that no construction covers."""
    match program.steps[ref]:
        case ops.Compare() | ops.CountTest() as step if is_literal:
            return retrieved.needs(program, step)
        case ops.Attend() as step:
            return select.needs(program, step)
        case ops.Nearest() as step:
            return nearest_integer.needs(program, step)
        case ops.Matched() as step:
            return needs_to_match(program, step)
        case ops.Shift() as step:
            return neighbour.needs(program, step)
        case ops.Compare() | ops.Equals() as step:
            return sign.needs(program, comparisons_of(program, step))
        case ops.CountTest() as step:
            return lookup.needs(program, step)
        case _:
            raise AssertionError(f"step s{ref} has no head")


def compute(site: Site, ref: ops.Ref, *, is_literal: bool = False) -> layers.LinearForm:
    """Have the heads of a step made; the approximate bit that they write.

    If it `is_literal`, counts are retrieved, and a comparison's number is at least 1, or at most 0.
    """
    match site.program.steps[ref]:
        case ops.Compare() as step if is_literal:
            return retrieved.compared(site, ref, step)
        case ops.CountTest() as step if is_literal:
            return retrieved.tested(site, ref, step)
        case ops.Attend() as step:
            return select.selected(site, ref, step)
        case ops.Nearest() as step:
            return nearest_integer.found(site, ref, step)
        case ops.Matched() as step:
            return matched(site, ref, step)
        case ops.Shift() as step:
            return neighbour.shifted(site, ref, step)
        case ops.Compare() | ops.Equals() as step:
            return sign.compared(site, ref, step)
        case ops.CountTest() as step:
            return lookup.looked_up(site, ref, step)
        case _:
            raise AssertionError(f"step s{ref} has no head")
