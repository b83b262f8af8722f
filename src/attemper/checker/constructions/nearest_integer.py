"""NearestInteger: the rightmost (leftmost) visible position of the least (K - K')^2 + b. (Ours.)

Form: G (2 K K' - K'^2 - b) + T t(j), where K is a whole number at i, K' one at j, K'^2 its square, b a bit at
j or 0, and t(j) is j or its negative; G and T depend on i and n. K, K' and K'^2 may be approximate. K can be
i, n - i + 1 or n, too, and K' can be j: the numbers of all positions on a side.
Side conditions: G > 0, T > 0; what errors can change the difference of two scores by is at most `noise` at
every length; a step costs at least `gap` by T t(j); a position of a larger L = (K - K')^2 + b, however
near, is behind.
Bound: L is an integer, so a larger one is larger by 1 at least. Nearer positions of the same L, e^noise
e^-gap each step: e^noise r / (1 - r); positions of a larger L: e^noise e^-far.
Output: the value at the winner: there is one wherever i sees anything, whether or not K is some K'.
Floats: the errors of all rows, as polynomials in n, against the gap.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction
from typing import final

import flint

from attemper.checker.attention.bounds import VISIBLE, for_losses, is_positive
from attemper.checker.attention.scores import Output, ReadHead, plain_values
from attemper.checker.attention.tie_breaks import tie_break
from attemper.checker.diagrams import Diagram
from attemper.checker.names import Clamped, Names, UnprovenError
from attemper.checker.rounding.arithmetic import ZERO, Growth, Off
from attemper.checker.rounding.attention import RoundedHead, attended
from attemper.checker.rounding.growth import Forms, at_most, scaled, size_of, times, total
from attemper.checker.rounding.leads import lost_below, sum_rate
from attemper.checker.rules import HeadFact, mass, weight
from attemper.checker.values import Bound, Value, multiply, of_closed_form, peak_of
from attemper.exact import laurent
from attemper.exact.balls import ball
from attemper.exact.laurent import Laurent
from attemper.networks.layers import Masking, Softmax

BOTH = Bound(Fraction(2))
"""Two positions are compared, and each has the error."""


@final
@dataclass(frozen=True)
class NearestIntegerRule:
    """Nearer positions lead by `gap` per step, those of a larger L are at most e^-far together.

    Errors change no lead by more than `noise`.
    """

    gap: Fraction
    far: Fraction
    noise: Fraction

    def stray(self, loss: flint.arb, noise: flint.arb) -> flint.arb:
        """W = e^noise (r / (1 - r) + e^-far)."""
        return self._mass(loss, noise, ball(self.far) * (1 - loss))

    def offs(self, head: RoundedHead) -> list[Off]:
        """Every lead may be smaller by what all errors together change a difference of scores by."""
        loss = _off(head) / ball(self.gap)
        # Half of what is far may be lost, so that 2 u of its lead are no more than 4 u of its bound.
        far = ball(self.far) * (1 - 4 * head.lengths.u) - loss * ball(self.gap)
        return attended(head, loss, lambda lost, noise: self._mass(lost, noise, far))

    def _mass(self, loss: flint.arb, noise: flint.arb, far: flint.arb) -> flint.arb:
        near = weight(self.gap, loss)
        return mass(ball(self.noise).exp() * (near / (1 - near) + (-far).exp()) * noise)


def nearest_integer(head: ReadHead) -> HeadFact:
    """The rule for a nearest integer. Raises `UnprovenError`, naming what is not shown."""
    values, noise = plain_values(head), _noise(head)
    parts = _parts(head)
    failure = UnprovenError("its scores are not those of a nearest integer")
    for reading in _readings(head.names, parts):
        try:
            return _fact(head, values, noise, parts, reading)
        except UnprovenError as error:
            failure = error
    raise failure


def _fact(
    head: ReadHead, values: tuple[Diagram, ...], noise: Fraction, parts: _Parts, reading: _Reading
) -> HeadFact:
    names, push = head.names, reading.push
    tie = tie_break(reading.tie, 1, head.masking)
    if not is_positive(push, tie.domain):
        raise UnprovenError("its parabola is upside down")
    where = _where(names, parts, push)
    gap, span = tie.bounds()
    lead = laurent.plus(push, laurent.times(span, -1))
    others = laurent.plus(VISIBLE[tie.masking], laurent.constant(-1))
    room = laurent.plus(laurent.constant(1), laurent.times(others, -1))
    far, _ = for_losses(lead, room, tie.domain, "positions further from the integer can win")

    def read(value: Diagram) -> Diagram:
        return names.nearest(head.masking, not tie.is_rising, where, reading.query, reading.key, value)

    outputs = tuple(
        _output(names, value, target, read(value)) for value, target in zip(values, head.targets, strict=True)
    )
    return HeadFact(NearestIntegerRule(gap, far, noise), outputs)


def _output(names: Names, value: Diagram, target: int, read: Diagram) -> Output:
    found = names.constants(value, "a value")
    return Output(target, read, max(found) - min(found), max(map(abs, found)))


# The scores, term by term ------------------------------------------------------------------------


@final
@dataclass
class _Parts:
    """What a score adds up, but for what does not depend on j.

    `products` has the factors of (a whole number at i, or None for 1) times a whole number at j: j itself and
    its square are such. `others` has those of diagrams at j without averages.
    """

    products: dict[tuple[int | None, int], Laurent]
    others: dict[Diagram, Laurent]


def _parts(head: ReadHead) -> _Parts:
    names, parts = head.names, _Parts({}, {})
    for row, key in head.rows:
        at_i, query = _of_query(names, multiply(names, row, head.coldness))
        for (power, length), diagram in key.items():
            factor = laurent.times(query, laurent.monomial(0, length))
            for number, own in _wholes_of(names, power, diagram).items():
                product = parts.products.get((at_i, number), {})
                parts.products[at_i, number] = laurent.plus(product, laurent.times(factor, own))
            fixed = names.constant_part(diagram)
            if power or names.diagrams.is_constant(fixed):
                continue
            if at_i is not None:
                raise UnprovenError("its query multiplies an integer with what is none")
            parts.others[fixed] = laurent.plus(parts.others.get(fixed, {}), factor)
    return parts


def _of_query(names: Names, value: Value) -> tuple[int | None, Laurent]:
    """Of which whole number a query is a multiple (None: of 1), and the factor."""
    numbers: set[int | None] = set()
    factor: Laurent = {}
    for powers, diagram in value.items():
        values = names.values(diagram)
        if len(values) != 1 or len(values[0].parts) + (values[0].constant != 0) != 1:
            raise UnprovenError("its query is not a multiple of an integer")
        ((number, own),) = values[0].parts or ((None, values[0].constant),)
        numbers.add(number)
        factor = laurent.plus(factor, laurent.monomial(*powers, own))
    if len(numbers) != 1:
        raise UnprovenError("its query is not a multiple of an integer")
    return numbers.pop(), factor


def _wholes_of(names: Names, power: int, diagram: Diagram) -> dict[int, Fraction]:
    """The whole numbers in a key, with their factors, which must be the same everywhere."""
    values = names.values(diagram)
    if power:
        if power not in {1, 2} or len(values) != 1 or values[0].parts:
            raise UnprovenError("a key multiplies a position with what is no number")
        return {_position(names, power): values[0].constant}
    found = dict(values[0].parts)
    if any(dict(value.parts) != found for value in values):
        raise UnprovenError("an integer is weighed differently at different positions")
    if any(number not in names.wholes for number in found):
        raise UnprovenError("a key depends on an average")
    return found


def _position(names: Names, power: int, side: Masking = Masking.FUTURE) -> int:
    """The number of the whole number that counts all positions on a side: of j itself, if it sees j' <= j."""
    ((number, _),) = names.clamped(side, names.true, power).parts
    return number


@final
@dataclass(frozen=True)
class _Reading:
    """What a score is about: the numbers of K and K', G, and T."""

    query: int
    key: int
    push: Laurent
    tie: Laurent


def _readings(names: Names, parts: _Parts) -> Iterator[_Reading]:
    """Each way to read the score as G (2 K K' - K'^2 - b) + T t(j); K can be a position, too."""
    found = {name: form for name, form in parts.products.items() if form}
    squares = [at_j for at_i, at_j in found if at_i is None and _clamped(names, at_j).power == 2]
    if len(squares) != 1:
        raise UnprovenError("its scores have not one square")
    push, square = laurent.times(found.pop((None, squares[0])), -1), _clamped(names, squares[0])
    ((key, _),) = names.clamped(square.masking, square.summand, 1).parts
    for at_i, query, whole in _queries(names, found):
        twice = laurent.times(laurent.times(push, whole), -2)
        others = {**found, (at_i, key): laurent.plus(found.get((at_i, key), {}), twice)}
        left = {name: form for name, form in others.items() if form}
        if set(left) == {(None, _position(names, 1))}:
            yield _Reading(query, key, push, left[None, _position(names, 1)])


def _queries(
    names: Names, products: dict[tuple[int | None, int], Laurent]
) -> Iterator[tuple[int | None, int, Laurent]]:
    """What K can be: what stands at i in the products, its number, and its factor where that is 1."""
    wholes = {at_i for at_i, _ in products if at_i is not None}
    for at_i in wholes:
        if _clamped(names, at_i).power == 1:
            yield at_i, at_i, laurent.constant(1)
    if not wholes:
        yield from ((None, _position(names, 1, side), shown) for side, shown in VISIBLE.items())


def _clamped(names: Names, number: int) -> Clamped:
    whole = names.wholes.get(number)
    if not isinstance(whole, Clamped):
        raise UnprovenError("its parabola is not about integers of two counts")
    return whole


def _where(names: Names, parts: _Parts, push: Laurent) -> Diagram:
    """Where b is 0: what is taken away from a position is G or nothing."""
    b = names.false
    for diagram, factor in parts.others.items():
        powers = next(iter(push))
        ratio = factor.get(powers, Fraction(0)) / push[powers]
        if laurent.times(push, ratio) != factor:
            raise UnprovenError("its keys are weighed differently by different positions")
        b = names.plus(b, names.scaled(diagram, -ratio))
    levels = sorted(names.constants(b, "a key"))
    if levels[-1] - levels[0] not in {0, 1} or len(levels) > 2:
        raise UnprovenError("it is not pushed away from positions by a bit")
    return names.equals(b, levels[0])


def _noise(head: ReadHead) -> Fraction:
    """What errors of rows can change the difference of two scores by, at every length."""
    total, cold = Bound(Fraction(0)), peak_of(head.names, head.coldness)
    for (row, key), (of_query, of_key) in zip(head.rows, head.errors, strict=True):
        query, keys = peak_of(head.names, row).times(cold), peak_of(head.names, key)
        off = of_query.times(cold)
        total = total.plus(BOTH.times(off.times(keys)))
        total = total.plus(BOTH.times(query.plus(off).times(of_key)))
    if total.power > 0:
        raise UnprovenError("its integers are off by too much in longer words")
    return total.factor


# Floats ------------------------------------------------------------------------------------------


def _off(head: RoundedHead) -> flint.arb:
    """What the difference of two computed scores can be off by, at every length up to N.

    The query is the same number for both positions: its error counts by how far their keys are apart.
    """
    lengths, cold, forms = head.lengths, head.cold, Forms(head.lengths, head.before, head.offs)
    assert isinstance(head.head.weighting, Softmax)
    exact = of_closed_form(head.names, head.head.weighting.inverse_temperature)
    colder = scaled(size_of(lengths, exact), 1 + cold.number.relative)
    rate = _rate(head)
    parts: list[Growth] = [{0: lost_below(lengths, len(head.rows), cold)}]
    for query, key, row in zip(head.head.query, head.head.key, head.rows, strict=True):
        sizes, errors = forms.size(query), forms.error(query)
        keys, of_keys = forms.size(key), forms.error(key)
        off = times(colder, total([errors, scaled(sizes, cold.number.relative)]))
        whole = times(colder, total([sizes, errors]))
        apart = scaled(keys, flint.arb(1 if _has_one_sign(head.names, row.key) else 2))
        lost = total([of_keys, scaled(total([keys, of_keys]), rate)])
        parts += [times(off, apart), scaled(times(whole, lost), flint.arb(2))]
    return at_most(lengths, total(parts))


def _rate(head: RoundedHead) -> flint.arb:
    """What products and their sum can lose, relative to their sizes; nothing if they are exact."""
    lengths, cold, scored = head.lengths, head.cold, [row.scored for row in head.rows]
    grids = [row.grid for row in scored if row.grid is not None]
    size = sum((row.product.size for row in scored), ZERO)
    if len(grids) == len(scored) and lengths.arithmetic.fits(size, min(grids)):
        return ZERO
    return (1 + lengths.u) ** cold.roundings * (1 + sum_rate(lengths, len(scored), cold)) - 1


def _has_one_sign(names: Names, key: Value) -> bool:
    """Whether a key is never less than 0, or never greater."""
    values = [value for diagram in key.values() for value in names.values(diagram)]
    if any(names.means[mean].low < 0 for value in values for mean, _ in value.parts):
        return False
    factors = [f for value in values for f in (value.constant, *(own for _, own in value.parts))]
    return min(factors) >= 0 or max(factors) <= 0
