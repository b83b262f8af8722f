"""The value of every coordinate of the residual stream, symbolically, for all words and positions at once.

A value is a sum of i^a n^b times a diagram: position embeddings may grow, everything else is (0, 0).
`error` bounds how far, in real arithmetic, the network's number can be from it.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from fractions import Fraction
from functools import partial, reduce
from typing import assert_never, final

from attemper.checker.diagrams import Diagram
from attemper.checker.names import (
    Affine,
    Clamped,
    LengthDigits,
    Mean,
    Names,
    NearestKey,
    PositivePart,
    Range,
    UnprovenError,
)
from attemper.exact import closed_forms, monomials
from attemper.exact.monomials import Monomial
from attemper.networks.layers import Coordinate, LinearForm, Network

MAX_DEGREE = 32

MAX_PRODUCTS = 500
"""Of values with more pairs of powers than this no product is made: no rule needs a tenth of it."""

Exponents = tuple[int, int]
"""The exponents (a, b) of i^a n^b."""

Value = dict[Exponents, Diagram]
"""The sum of i^a n^b * diagram; diagrams are not 0."""


@final
@dataclass(frozen=True)
class PerStep:
    """By how much a multiple of a nearest key is off for each step from its query, of at least one.

    It is off by at most `bound` times max(1, |key - query|); `found` is the key's number.
    """

    found: int
    bound: Monomial


@final
@dataclass
class ResidualValues:
    """The values of all coordinates at one depth of the network.

    The errors hold at every length. Of some it is known that they vanish with it: those are in `vanishing`,
    and `steps` says more of nearest keys. Whoever adds to an error calls `worsen`, which keeps all three in
    step.
    """

    values: list[Value]
    errors: list[Fraction] = field(default_factory=list)
    vanishing: dict[Coordinate, Monomial] = field(default_factory=dict)
    steps: dict[Coordinate, PerStep | None] = field(default_factory=dict)

    def copy(self) -> ResidualValues:
        """Another stream with the same values, of which what is done to it is not done to this one."""
        return ResidualValues(list(self.values), list(self.errors), dict(self.vanishing), dict(self.steps))

    def worsen(self, coordinate: Coordinate, error: Monomial, step: PerStep | None = None) -> None:
        """Add to an error. By steps it is known only if that is all of it."""
        if error.factor:
            self.vanishing[coordinate] = self.bound(coordinate, None).plus(error)
            self.steps[coordinate] = None if self.errors[coordinate] else step
            self.errors[coordinate] += error.factor

    def steps_of(self, coordinate: Coordinate, found: int | None) -> bool:
        """Whether the error is known for each step of this nearest key."""
        step = self.steps.get(coordinate)
        return step is not None and step.found == found

    def bound(self, coordinate: Coordinate, found: int | None) -> Monomial:
        """How far the coordinate can be from its value, if possible for each step of a nearest key."""
        step = self.steps.get(coordinate)
        if step is not None and self.steps_of(coordinate, found):
            return step.bound
        return self.vanishing.get(coordinate, Monomial(self.errors[coordinate]))


def embedded(names: Names, network: Network) -> ResidualValues:
    """The residual stream before the first layer."""
    values: list[Value] = [{} for _ in network.coordinates]
    for symbol, form in zip(network.alphabet.symbols, network.embedding, strict=True):
        for coordinate, factor in form:
            letter: Value = {(0, 0): names.scaled(names.letter(symbol), factor)}
            values[coordinate] = add(names, values[coordinate], letter)
    for coordinate, closed in network.positions:
        values[coordinate] = add(names, values[coordinate], of_closed_form(names, closed))
    return ResidualValues(values, [Fraction(0)] * len(values))


def of_closed_form(names: Names, form: closed_forms.ClosedForm) -> Value:
    """The value of a closed form.

    Raises `UnprovenError` for 1/x where x is not i or n, and for digits of anything but n.
    """
    match form:
        case closed_forms.Number(value):
            return _clean(names, {(0, 0): names.number(value)})
        case closed_forms.Position():
            return {(1, 0): names.true}
        case closed_forms.Length():
            return {(0, 1): names.true}
        case closed_forms.Alternating():
            return {(0, 0): names.sign}
        case closed_forms.Test(predicate, per_position, per_length, shift):
            return _clean(names, {(0, 0): names.place(predicate, per_position, per_length, shift)})
        case closed_forms.Sum(parts):
            return reduce(partial(add, names), (of_closed_form(names, part) for part in parts), {})
        case closed_forms.Product(parts):
            factors = (of_closed_form(names, part) for part in parts)
            return reduce(partial(multiply, names), factors, {(0, 0): names.true})
        case closed_forms.Power(base, exponent):
            return _of_power(names, base, exponent)
        case closed_forms.Digits(inner):
            if inner != closed_forms.Length():
                raise UnprovenError("a closed form has the digits of something else than n")
            return {(0, 0): names.digits()}
        case _:
            assert_never(form)


def _of_power(names: Names, base: closed_forms.ClosedForm, exponent: int) -> Value:
    if abs(exponent) > MAX_DEGREE:
        raise UnprovenError("a closed form has a larger power than any rule needs")
    match base:
        case closed_forms.Position():
            return {(exponent, 0): names.true}
        case closed_forms.Length():
            return {(0, exponent): names.true}
        case _ if exponent >= 0:
            return of_closed_form(names, closed_forms.Product((base,) * exponent))
        case _:
            raise UnprovenError("a position embedding divides by something else than i and n")


def add(names: Names, left: Value, right: Value) -> Value:
    """left + right."""
    total = dict(left)
    for powers, diagram in right.items():
        total[powers] = names.plus(total.get(powers, names.false), diagram)
    return _clean(names, total)


def multiply(names: Names, left: Value, right: Value) -> Value:
    """left * right."""
    if len(left) * len(right) > MAX_PRODUCTS:
        raise UnprovenError("a closed form has more powers than any rule needs")
    product: Value = {}
    for (a, b), x in left.items():
        for (c, d), y in right.items():
            powers = (a + c, b + d)
            if max(map(abs, powers)) > MAX_DEGREE:
                raise UnprovenError("a closed form has a larger power than any rule needs")
            product[powers] = names.plus(product.get(powers, names.false), names.product(x, y))
    return _clean(names, product)


def of_form(names: Names, form: LinearForm, stream: ResidualValues) -> Value:
    """The value of a linear form."""
    parts: dict[tuple[int, int], list[Diagram]] = {}
    for coordinate, factor in form:
        for powers, diagram in stream.values[coordinate].items():
            parts.setdefault(powers, []).append(names.scaled(diagram, factor))
    return _clean(names, {powers: names.total(found) for powers, found in parts.items()})


def plain(value: Value, names: Names, what: str) -> Diagram:
    """The diagram of a value that has no powers of i and n. Raises `UnprovenError`."""
    if any(powers != (0, 0) for powers in value):
        raise UnprovenError(f"{what} reads a position embedding that is not bounded")
    return value.get((0, 0), names.false)


def error_of(form: LinearForm, stream: ResidualValues) -> Fraction:
    """How far the linear form can be from its value."""
    return sum((abs(factor) * stream.errors[c] for c, factor in form), Fraction(0))


def bound_of(form: LinearForm, stream: ResidualValues, found: int | None = None) -> Monomial:
    """How far the linear form can be from its value, in words of length n.

    With `found`, the number of a nearest key: for each step that it is away from its query, of at least one.
    """
    return monomials.total(stream.bound(c, found).times(Monomial(abs(factor))) for c, factor in form)


def magnitude_of(names: Names, value: Value) -> Monomial:
    """The greatest size of a value, in words of length n."""
    # 1/i is as large as 1 at i = 1.
    return monomials.total(
        monomials.greatest(_magnitude(names, own) for own in names.values(diagram)).times(
            Monomial(Fraction(1), max(a, 0) + b)
        )
        for (a, b), diagram in value.items()
    )


def _magnitude(names: Names, value: Affine) -> Monomial:
    """The greatest size of an affine value: a whole number is at most n, or its square n^2."""
    found = Monomial(abs(value.constant))
    for number, factor in value.parts:
        match names.quantities[number]:
            case Mean() | PositivePart() | Range():
                low, high = names.bounds(Affine(Fraction(0), ((number, factor),)))
                found = found.plus(Monomial(max(abs(low), abs(high))))
            case LengthDigits() | NearestKey():
                found = found.plus(Monomial(abs(factor), 1))
            case Clamped(power=power):
                found = found.plus(Monomial(abs(factor), power))
            case other:
                assert_never(other)
    return found


def _clean(names: Names, value: Value) -> Value:
    return {powers: diagram for powers, diagram in value.items() if diagram != names.false}
