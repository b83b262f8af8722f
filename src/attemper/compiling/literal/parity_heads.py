"""A formula's steps as Yang et al. compute them: with heads for positions of one parity, and by thresholds
alone.

    previous b    and(i odd, i not 1, b at the rightmost even j <= i), or
                  and(i even, i not 1, b at the rightmost odd j <= i); next likewise, to the right
    count = v     count >= v, and not count >= v + 1
    attend        as it is: what a formula reads is 0 wherever it does not look (Theorems 15 and 16)

(Theorems 12 and 13; Theorem 20 compares by one threshold.) A place that is a product of tests becomes a gate
of them, for first, last and the parity are no embeddings of their own here. The values are unchanged:
running the program before and after gives the same bits.
"""

from __future__ import annotations

from fractions import Fraction

from attemper.attention_program import ops
from attemper.attention_program.builder import Builder, prune, rebuilt, replace_inputs
from attemper.exact.closed_forms import FIRST, LAST, ClosedForm, Number, Product, Sum, Test
from attemper.exact.predicates import Remainder

EVEN, ODD = (Test(Remainder(2, parity), 1, 0, 0) for parity in (0, 1))


def parity_heads(program: ops.Program) -> tuple[ops.Program, list[ops.Ref]]:
    """The program without shifts and equalities, and for each old step the new one (-1: dropped)."""
    builder = Builder()
    to: list[ops.Ref] = []
    for step in program.steps:
        to.append(_spelled(builder, replace_inputs(step, to)))
    outputs = {ref: _output(builder, to[ref]) for ref in program.outputs}
    whole = rebuilt(program, builder.steps, lambda ref: outputs[ref])
    pruned, kept = prune(whole)
    return pruned, [kept[ref] for ref in to]


def _spelled(builder: Builder, step: ops.Step) -> ops.Ref:
    match step:
        case ops.Place(form):
            return _place(builder, form)
        case ops.Shift():
            return _neighbour(builder, step)
        case ops.Equals(count, value):
            reached, exceeded = (builder.add(ops.Compare(count, least)) for least in (value, value + 1))
            return _both(builder, reached, builder.add(ops.Not(exceeded)))
        case ops.Attend(mask, choice, cases, value, _):
            return builder.add(ops.Attend(mask, choice, cases, value, None))
        case _:
            return builder.add(step)


def _output(builder: Builder, bit: ops.Ref) -> ops.Ref:
    """A bit that stands somewhere: no embedding is the negation of another one."""
    step = builder.steps[bit]
    is_negated = isinstance(step, ops.Not) and isinstance(builder.steps[step.bit], ops.Place)
    return _both(builder, bit) if is_negated else bit


def _both(builder: Builder, *bits: ops.Ref) -> ops.Ref:
    return builder.add(ops.Gate(ops.Connective.AND, bits))


def _place(builder: Builder, form: ClosedForm) -> ops.Ref:
    match form:
        case Sum((Number(Fraction(numerator=1, denominator=1)), Product((Number(minus), inner)))) if (
            minus == -1
        ):
            return builder.add(ops.Not(_place(builder, inner)))
        case Product(parts):
            return _both(builder, *(_place(builder, part) for part in parts))
        case _:
            return builder.add(ops.Place(form))


def _neighbour(builder: Builder, step: ops.Shift) -> ops.Ref:
    assert (step.distance, step.default) == (1, False), "formulas look at neighbours alone"
    is_back = step.direction is ops.Direction.PREVIOUS
    mask = ops.Mask.UP_TO if is_back else ops.Mask.FROM
    choice = ops.Choice.RIGHTMOST if is_back else ops.Choice.LEFTMOST
    inside = builder.add(ops.Not(builder.add(ops.Place(FIRST if is_back else LAST))))
    parts = []
    for here, there in ((ODD, EVEN), (EVEN, ODD)):
        where = ops.everywhere(builder.add(ops.Place(there)))
        found = builder.add(ops.Attend(mask, choice, where, step.bit, None))
        parts.append(_both(builder, found, builder.add(ops.Place(here)), inside))
    return builder.add(ops.Gate(ops.Connective.UNION, tuple(parts)))
