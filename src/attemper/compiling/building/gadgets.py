"""What several kinds of heads need: the value of signs, bits at the edge, products with a bit, negations."""

from __future__ import annotations

from fractions import Fraction

from attemper.attention_program.ops import Merge, Ref
from attemper.compiling.building.bits import is_embedded, strip_negations
from attemper.compiling.building.plan import HeadPlan, with_rows
from attemper.compiling.building.site import Site
from attemper.compiling.building.weights import added, form, scaled
from attemper.exact.closed_forms import SIGN, ClosedForm, complement
from attemper.networks.layers import Coordinate, LinearForm

_HALF = Fraction(1, 2)


def sign_literal(site: Site, sign: Coordinate, edge: Coordinate) -> LinearForm:
    """The approximate bit of a sign head: (1 + sign)/2, which is 0 at the edge, plus the edge's bit."""
    return added(form((sign, _HALF), (edge, 1)), site.stream.constant(_HALF))


def add_sign_head(site: Site, layer: int, plan: HeadPlan, target: Coordinate) -> None:
    """A head that reads (-1)^j."""
    rows = plan.hard(site.stream)
    site.layers[layer - 1].heads.append(with_rows(plan, rows, ((site.stream.at(SIGN), target),)))


def edge_bit(
    site: Site, name: str, layer: int, difference: LinearForm, bound: int, edge: ClosedForm
) -> Coordinate:
    """edge and difference >= 1, where difference is an odd integer at the edge.

    R(D - (M+1)(1-e)) - R(D - 1 - (M+1)(1-e)) with M >= max |D|.
    """
    target = site.stream.new(f"edge {name}")
    outside = site.stream.at(complement(edge))
    gated = added(difference, scaled(outside, -(bound + 1)))
    draft = site.layers[layer - 1]
    draft.add_hidden(gated, Fraction(0), target, Fraction(1))
    draft.add_hidden(gated, Fraction(-1), target, Fraction(-1))
    return target


def product_with_bit(
    site: Site, name: str, layer: int, factor: LinearForm, bound: int, bit: ClosedForm
) -> Coordinate:
    """bit * factor, where |factor| <= bound: R(x - M(1-b)) - R(-x - M(1-b))."""
    target = site.stream.new(f"gate {name}")
    outside = scaled(site.stream.at(complement(bit)), -bound)
    draft = site.layers[layer - 1]
    draft.add_hidden(added(factor, outside), Fraction(0), target, Fraction(1))
    draft.add_hidden(added(scaled(factor, -1), outside), Fraction(0), target, Fraction(-1))
    return target


def negation_of(site: Site, bit: Ref) -> LinearForm:
    """The negation of a bit: exactly 0 where it holds, 1 where it does not."""
    base, positive = strip_negations(site.program, bit)
    if is_embedded(site.program, base) or isinstance(site.program.steps[base], Merge):
        own = site.bit(base)
        return site.negated(own) if positive else own
    return form((site.bits[base, not positive], 1))
