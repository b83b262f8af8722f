"""From a bounded counter to a past formula that counts.

With c = the sum of w_s #<[s], the word so far is inside if no letter led outside, and low <= c <= high here
and at all positions before:

    H !(letters that lead outside) & H (c >= low & c <= high)
"""

from __future__ import annotations

from attemper.compiling.bounded_counter import BoundedCounter
from attemper.languages.temporal import syntax
from attemper.languages.temporal.connectives import FALSE, all_of, any_of, negation


def counter_to_formula(counter: BoundedCounter) -> syntax.Formula:
    """A past formula that holds at i exactly where the prefix of length i is accepted."""
    inside = all_of(_inside(counter))
    accepted = any_of([_between(counter, low, high) for low, high in counter.accepting])
    return any_of([negation(inside), accepted]) if counter.accepts_outside else all_of([inside, accepted])


def _inside(counter: BoundedCounter) -> list[syntax.Formula]:
    """What holds where the word so far is inside."""
    known = [weight for weight in counter.weights if weight is not None]
    bounds = []
    if min(known) < 0:
        bounds.append(_compared(counter, syntax.ComparisonOperator.AT_LEAST, counter.low))
    if max(known) > 0:
        bounds.append(_compared(counter, syntax.ComparisonOperator.AT_MOST, counter.high))
    in_range = all_of(bounds)
    leading_out = _letters(counter, None)
    return [
        *([_always(negation(leading_out))] if leading_out != FALSE else []),
        in_range if counter.is_monotone else _always(in_range),
    ]


def _between(counter: BoundedCounter, low: int, high: int) -> syntax.Formula:
    """That the number is in the range, if the word so far is inside."""
    if low == high:
        return _compared(counter, syntax.ComparisonOperator.EQUAL, low)
    bounds = []
    if low > counter.low:
        bounds.append(_compared(counter, syntax.ComparisonOperator.AT_LEAST, low))
    if high < counter.high:
        bounds.append(_compared(counter, syntax.ComparisonOperator.AT_MOST, high))
    return all_of(bounds)


def _compared(counter: BoundedCounter, operator: syntax.ComparisonOperator, number: int) -> syntax.Formula:
    weights = sorted({weight for weight in counter.weights if weight}, reverse=True)
    number_here = tuple(
        (weight, syntax.CountAtom(syntax.Side.LEFT, _letters(counter, weight))) for weight in weights
    )
    return syntax.Comparison(operator, syntax.Term(number_here, 0), syntax.Term((), number))


def _letters(counter: BoundedCounter, weight: int | None) -> syntax.Formula:
    """That the symbol has this weight."""
    symbols = counter.alphabet.symbols
    return any_of(
        [syntax.Symbol(s) for s, own in zip(symbols, counter.weights, strict=True) if own == weight]
    )


def _always(formula: syntax.Formula) -> syntax.Formula:
    return syntax.Unary(syntax.UnaryOperator.HISTORICALLY, formula)
