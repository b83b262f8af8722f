"""Rounding of integers: of those that are read, and of the scores that compare them, as polynomials in n.

(certificates/FORMAT.md, section 5: IntegerValue, NearestInteger and IntegerSign.)
"""

from __future__ import annotations

from fractions import Fraction
from functools import partial

import flint

from attemper.checker.attention.counts import Margin
from attemper.checker.attention.scores import Output
from attemper.checker.constructions.nearest_integer import apart_of
from attemper.checker.names import Clamped, Names, Whole
from attemper.checker.rounding.arithmetic import ZERO, Lengths, Off, OfInteger, PowersOfN, Rounded
from attemper.checker.rounding.attention import QUOTIENT, RoundedHead, attended, lost_of_parabola
from attemper.checker.rounding.growth import (
    Forms,
    at_most,
    of_integer,
    scaled,
    size_of,
    times,
    total,
)
from attemper.checker.rounding.score_gaps import KNOWN, lost_below, sum_rate
from attemper.checker.rules import Rule
from attemper.checker.values import Value, of_closed_form
from attemper.exact.balls import ball
from attemper.networks.layers import LinearForm, Softmax

SPARE = 2
"""By so much more than it must weights are said to fade: e^-digits(n) is less than n^-1.44."""


def integer_value(rule: Rule, head: RoundedHead) -> list[Off]:
    """Score gaps may be smaller by the same part as a lookup's.

    One large number and many small ones are added, which loses at most the small ones once more.
    """
    near = distances(head, rule.said, 1 - head.bear(lost_of_parabola(head)))
    return [integer_off(head, output, rounded, near) for rounded, output in head.values]


def nearest_integer(rule: Rule, head: RoundedHead) -> list[Off]:
    """Every score gap may be smaller by what all errors together change a difference of scores by."""
    off, trails = scores_off(head), (*rule.behind, *rule.ahead, *rule.said)
    loss, ahead, *beyond = (head.bear(off / ball(trail.start)) for trail in trails)
    found = attended(head, lambda: rule.others(loss, ahead))
    apart = apart_of(rule.behind[0], rule.said, [loss, *beyond]) * head.noise
    return [
        own if output.step is None else nearest_key_off(head, form, output.growth, apart)
        for own, form, (_, output) in zip(found, head.head.values, head.values, strict=True)
    ]


def integer_sign(rule: Rule, head: RoundedHead) -> list[Off]:
    """What is lost of the score gap of exact integers: more than `off` of it."""
    said, own = rule.said, rule.said.compared
    total = compared_off(head, own.found, own.unit, own.growth, said.smallest)
    loss = (total - ball(said.off)).max(flint.arb(0)) / ball(1 - said.off)
    return attended(head, lambda: rule.others(head.bear(loss)))


def vanishing(lengths: Lengths, margin: Margin, kept: flint.arb, noise: flint.arb) -> tuple[flint.arb, int]:
    """(w, q) such that noise e^-(kept margin) <= w n^-q at every n <= N.

    With D binary digits n is less than 2^D, so each D that occurs has a greatest n.
    """
    power = margin.digits + margin.digits // SPARE
    found = ZERO
    for digits in range(1, lengths.length.bit_length() + 1):
        longest = min(2**digits - 1, lengths.length)
        weight = (-(ball(margin.base) + margin.digits * digits) * kept).exp()
        found = found.max(weight * flint.arb(longest) ** power)
    return found * noise, power


def distances(head: RoundedHead, margin: Margin, kept: flint.arb) -> PowersOfN:
    """The sum of all other weights, relative to the right position's, each times its distance."""
    weight, power = vanishing(head.lengths, margin, kept, head.noise)
    rest = ((-ball(margin.base) * kept).exp() * head.noise) ** 3
    return {-power: 2 * weight / (1 - rest) ** 2}


def integer_off(head: RoundedHead, output: Output, rounded: Rounded, near: PowersOfN) -> OfInteger:
    """How far an integer is off: one large number and many small ones are added.

    A rounding of a sum of two is at most the lesser of them, so that all small ones count once more, above
    and below the fraction line. They are no larger than the size times their weights. Where these are not
    small, what is known of any mean of numbers of that size says more.
    """
    lengths, u = head.lengths, head.lengths.u
    relative = ZERO if rounded.absolute == 0 else rounded.relative
    if not (relative <= ball(KNOWN)):
        raise head.uncovered()
    long = lengths.long / (1 - lengths.long)
    size = size_of(lengths, {(0, output.growth): output.diagram})
    apart = times(near, _per_step(head.names, output, size))
    own = relative + (lengths.form.exp + QUOTIENT) * u + head.dropped + lengths.length * lengths.tiny
    small = 2 * (1 + 2 * long) + head.noise - 1 + 4 * u
    found = total([scaled(apart, head.noise), scaled(times(near, size), small), scaled(size, own)])
    # Below the line stands 1, up to an error of exp and of the sum of all others.
    least = 1 - lengths.form.exp * u - 2 * long * sum(near.values(), ZERO)
    if not (least > 0):
        raise head.uncovered()
    growth = scaled(found, (1 + relative) / least)
    if 0 in near:
        mean = scaled(size, relative + (1 + relative) * head.quotient)
        growth = min(growth, total([scaled(apart, head.noise), mean]), key=partial(at_most, lengths))
    return of_integer(lengths, growth, growth)


def _per_step(names: Names, output: Output, size: PowersOfN) -> PowersOfN:
    """How far the values of two positions are apart for each step: the factor, for squares 2 n times it."""
    ((number, _),) = names.values(output.diagram)[0].parts
    whole = names.quantities[number]
    square = isinstance(whole, Clamped) and whole.power == 2
    return times(size, {-1: flint.arb(2 if square else 1)})


def scores_off(head: RoundedHead) -> flint.arb:
    """What the difference of two computed scores can be off by, at every length up to N.

    The query is the same number for both positions: its error counts by how far their keys are apart.
    """
    lengths, cold, forms = head.lengths, head.cold, Forms(head.lengths, head.before, head.offs)
    key_forms = Forms(lengths, head.before, head.of_keys)
    assert isinstance(head.head.weighting, Softmax)
    exact = of_closed_form(head.names, head.head.weighting.inverse_temperature)
    colder = scaled(size_of(lengths, exact), 1 + cold.number.relative)
    rate = _rate(head)
    parts: list[PowersOfN] = [{0: lost_below(lengths, len(head.rows), cold)}]
    for query, key, row in zip(head.head.query, head.head.key, head.rows, strict=True):
        sizes, errors = forms.size(query), forms.error(query)
        keys, of_keys = key_forms.size(key), key_forms.error(key)
        # What the product of query and temperature loses to underflow meets the key, which may be large.
        below: PowersOfN = {0: lengths.tiny}
        off = total([times(colder, total([errors, scaled(sizes, cold.number.relative)])), below])
        whole = total([times(colder, total([sizes, errors])), below])
        apart = scaled(keys, flint.arb(1 if has_one_sign(head.names, row.key) else 2))
        lost = total([of_keys, scaled(total([keys, of_keys]), rate)])
        parts += [times(off, apart), scaled(times(whole, lost), flint.arb(2))]
    return at_most(lengths, total(parts))


def nearest_key_off(head: RoundedHead, form: LinearForm, growth: int, apart: flint.arb) -> OfInteger:
    """How far a nearest key is off, a multiple that a head reads: by `apart` for each step from the query.

    Beside that by the error of what is read, by underflow, and by the weights above and below the fraction
    line being rounded differently.
    """
    forms = Forms(head.lengths, head.before, head.offs)
    size, own = forms.size(form), forms.error(form)
    rest = total([own, scaled(total([size, own]), head.quotient), {0: head.lengths.tiny}])
    # The key is at most n: its multiple's size for n = 1 is the factor.
    near: PowersOfN = {growth: apart * sum(size.values(), ZERO)}
    found = total([times(near, {1: flint.arb(1)}), rest])
    return of_integer(head.lengths, found, total([near, rest]))


def compared_off(
    head: RoundedHead, found: int, unit: Fraction, growth: int, score_gap: Fraction
) -> flint.arb:
    """The relative error of scores whose query is at least unit n^growth for each step of a nearest key."""
    lengths, cold, (row,) = head.lengths, head.cold, head.rows
    error = Forms(lengths, head.before, head.offs).error(row.form, found)
    query = at_most(lengths, times(error, {-growth: 1 / ball(abs(unit))}))
    others = (1 + row.scored.key.relative) * (1 + cold.number.relative) * (1 + lengths.u) ** cold.roundings
    below = lost_below(lengths, 1, cold) + lengths.tiny * (row.scored.key.size + row.scored.key.absolute)
    return (1 + query) * others - 1 + below / ball(score_gap)


def _rate(head: RoundedHead) -> flint.arb:
    """What products and their sum can lose, relative to their sizes; nothing if they are exact."""
    lengths, cold, scored = head.lengths, head.cold, [row.scored for row in head.rows]
    grids = [row.grid for row in scored if row.grid is not None]
    size = sum((row.product.size for row in scored), ZERO)
    if len(grids) == len(scored) and lengths.arithmetic.fits(size, min(grids)):
        return ZERO
    return (1 + lengths.u) ** cold.roundings * (1 + sum_rate(lengths, len(scored), cold)) - 1


def has_one_sign(names: Names, key: Value) -> bool:
    """Whether a key is never less than 0, or never greater."""
    values = [value for diagram in key.values() for value in names.values(diagram)]
    parts = [names.quantities[number] for value in values for number, _ in value.parts]
    if any(not isinstance(part, Whole) and part.low < 0 for part in parts):
        return False
    factors = [f for value in values for f in (value.constant, *(own for _, own in value.parts))]
    return min(factors, default=0) >= 0 or max(factors, default=0) <= 0
