"""Closed forms in the position i and the length n: position embeddings and temperatures.

A form is a tree over a small vocabulary, so that a network can be written down once for every
length, checked, and evaluated exactly. Nothing here depends on a maximal length.

    form ::= rational | i | n | (-1)^i | [predicate(a i + b n + c)] | sum | product | form ^ integer
           | digits(form)
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction
from typing import Annotated, assert_never, final

from attemper.exact import predicates
from attemper.exact.codec import Codec, CodecError, Ordinary, Rational, Within


@final
@dataclass(frozen=True)
class Number:
    """A rational constant."""

    value: Rational


@final
@dataclass(frozen=True)
class Position:
    """The position i, from 1 to n."""


@final
@dataclass(frozen=True)
class Length:
    """The length n of the word."""


@final
@dataclass(frozen=True)
class Alternating:
    """(-1)^i."""


@final
@dataclass(frozen=True)
class Test:
    """1 if the predicate holds of per_position * i + per_length * n + shift, else 0."""

    predicate: predicates.Predicate
    per_position: Ordinary
    per_length: Ordinary
    shift: Ordinary


@final
@dataclass(frozen=True)
class Sum:
    """The sum of its parts."""

    parts: tuple[ClosedForm, ...]


@final
@dataclass(frozen=True)
class Product:
    """The product of its parts."""

    parts: tuple[ClosedForm, ...]


@final
@dataclass(frozen=True)
class Power:
    """base ^ exponent, the exponent a (possibly negative) integer."""

    base: ClosedForm
    exponent: Annotated[int, Within(-16, 16)]


@final
@dataclass(frozen=True)
class Digits:
    """The number of binary digits of a positive integer: d where 2^(d-1) <= form < 2^d.

    The form must be a positive integer by its shape: i, n, a positive integer, or a sum, a product or a power
    (not a negative one) of such. Raises ValueError for all others.
    """

    form: ClosedForm

    def __post_init__(self) -> None:
        if not _is_positive_integer(self.form):
            raise ValueError(
                f"digits are those of a positive integer, as {show_form(self.form)[:80]} may not be"
            )


ClosedForm = Number | Position | Length | Alternating | Test | Sum | Product | Power | Digits

ONE = Number(Fraction(1))
I = Position()  # noqa: E741 - the papers' name
N = Length()
SIGN = Alternating()
FIRST = Test(predicates.Zero(), 1, 0, -1)
LAST = Test(predicates.Zero(), 1, -1, 0)
ONLY = Test(predicates.Zero(), 0, 1, -1)
"""[n = 1]: the word has a single position."""


def number(value: int | Fraction) -> Number:
    """The constant form."""
    return Number(Fraction(value))


def times(*parts: ClosedForm | int | Fraction) -> ClosedForm:
    """The product of forms and numbers."""
    return Product(tuple(number(p) if isinstance(p, int | Fraction) else p for p in parts))


def plus(*parts: ClosedForm | int | Fraction) -> ClosedForm:
    """The sum of forms and numbers."""
    return Sum(tuple(number(p) if isinstance(p, int | Fraction) else p for p in parts))


def over(form: ClosedForm, exponent: int = 1) -> ClosedForm:
    """1 / form^exponent."""
    return Power(form, -exponent)


def _is_positive_integer(form: ClosedForm) -> bool:
    """Whether the shape of a form says that it is a positive integer at every i <= n."""
    match form:
        case Number(value):
            return value > 0 and value.denominator == 1
        case Position() | Length() | Digits():
            return True
        case Sum(parts):
            return bool(parts) and all(map(_is_positive_integer, parts))
        case Product(parts):
            return all(map(_is_positive_integer, parts))
        case Power(base, exponent):
            return exponent >= 0 and _is_positive_integer(base)
        case Alternating() | Test():
            return False
        case _:
            assert_never(form)


def complement(form: ClosedForm) -> ClosedForm:
    """1 - form: the negation of a 0/1-valued form."""
    return plus(1, times(-1, form))


def evaluate(form: ClosedForm, position: int, length: int) -> Fraction:
    """The exact value at position i of a word of length n (1 <= i <= n)."""
    match form:
        case Number(value):
            return value
        case Position():
            return Fraction(position)
        case Length():
            return Fraction(length)
        case Alternating():
            return Fraction(-1 if position % 2 else 1)
        case Test(predicate, per_position, per_length, shift):
            argument = per_position * position + per_length * length + shift
            return Fraction(predicates.holds(predicate, argument))
        case Sum(parts):
            return sum((evaluate(part, position, length) for part in parts), Fraction(0))
        case Product(parts):
            product = Fraction(1)
            for part in parts:
                product *= evaluate(part, position, length)
            return product
        case Power(base, exponent):
            return evaluate(base, position, length) ** exponent
        case Digits(inner):
            return Fraction(evaluate(inner, position, length).numerator.bit_length())
        case _:
            assert_never(form)


def shift_position(form: ClosedForm, offset: int) -> ClosedForm:
    """The form at position i + offset, as a form of i. Raises ValueError for digits of i before i.

    >>> show_form(shift_position(times(I, Test(predicates.Zero(), 1, 0, -1)), -1))
    '(i + -1)*[i - 2 = 0]'
    """
    match form:
        case Number() | Length():
            return form
        case Position():
            return plus(I, offset)
        case Alternating():
            return times(-1, SIGN) if offset % 2 else SIGN
        case Test(predicate, per_position, per_length, shift):
            return Test(predicate, per_position, per_length, shift + offset * per_position)
        case Sum(parts):
            return Sum(tuple(shift_position(part, offset) for part in parts))
        case Product(parts):
            return Product(tuple(shift_position(part, offset) for part in parts))
        case Power(base, exponent):
            return Power(shift_position(base, offset), exponent)
        case Digits(inner):
            return Digits(shift_position(inner, offset))
        case _:
            assert_never(form)


def depends_on_length(form: ClosedForm) -> bool:
    """Whether n occurs in the form; the `decoder` regime allows only forms where it does not."""
    match form:
        case Number() | Position() | Alternating():
            return False
        case Length():
            return True
        case Test(_, _, per_length, _):
            return per_length != 0
        case Sum(parts) | Product(parts):
            return any(depends_on_length(part) for part in parts)
        case Power(base, _):
            return depends_on_length(base)
        case Digits(inner):
            return depends_on_length(inner)
        case _:
            assert_never(form)


def has_reciprocal(form: ClosedForm) -> bool:
    """Whether the form divides or takes digits somewhere: read at i - 1 it may mean nothing."""
    match form:
        case Sum(parts) | Product(parts):
            return any(has_reciprocal(part) for part in parts)
        case Power(base, exponent):
            return exponent < 0 or has_reciprocal(base)
        case Digits():
            return True
        case _:
            return False


def tests_in(form: ClosedForm) -> tuple[Test, ...]:
    """The tests that occur in the form."""
    match form:
        case Test():
            return (form,)
        case Sum(parts) | Product(parts):
            return tuple(test for part in parts for test in tests_in(part))
        case Power(base, _) | Digits(base):
            return tests_in(base)
        case _:
            return ()


def nesting(form: ClosedForm) -> int:
    """How deeply sums, products, powers and digits nest."""
    match form:
        case Sum(parts) | Product(parts):
            return 1 + max((nesting(part) for part in parts), default=0)
        case Power(base, _) | Digits(base):
            return 1 + nesting(base)
        case _:
            return 0


def growth(form: ClosedForm) -> int:
    """An e with |form| = O(n^e) over all positions i <= n: an upper bound, exact for monomials.

    Digits grow as log n, and are not counted.

    >>> growth(times(I, over(N))), growth(times(N, Power(I, 2))), growth(over(I))
    (0, 3, 0)
    """
    match form:
        case Number() | Alternating() | Test() | Digits():
            return 0
        case Position() | Length():
            return 1
        case Sum(parts):
            return max((growth(part) for part in parts), default=0)
        case Product(parts):
            return sum(growth(part) for part in parts)
        case Power(Length(), exponent):
            return exponent
        case Power(base, exponent):
            # 1/i is as large as 1 at i = 1, so a negative power of i only bounds by a constant.
            return max(exponent, 0) * growth(base)
        case _:
            assert_never(form)


def show_form(form: ClosedForm) -> str:
    """A human's text of the form."""
    match form:
        case Number(value):
            return str(value)
        case Position():
            return "i"
        case Length():
            return "n"
        case Alternating():
            return "(-1)^i"
        case Test(predicate, per_position, per_length, shift):
            return f"[{predicates.show_predicate(predicate, _show_linear(per_position, per_length, shift))}]"
        case Sum(parts):
            return "(" + " + ".join(show_form(part) for part in parts) + ")"
        case Product(parts):
            return "*".join(show_form(part) for part in parts)
        case Power(base, exponent):
            text = show_form(base)
            if isinstance(base, Product | Alternating) or text.startswith("-"):
                text = f"({text})"
            return f"{text}^{exponent}"
        case Digits(inner):
            return f"digits({show_form(inner)})"
        case _:
            assert_never(form)


FORM: Codec[ClosedForm] = Codec(ClosedForm)
"""Closed forms as JSON data."""

MAX_NESTING = 80
"""The deepest nesting of a form that a file may have: all lists around it stay within the codec's limit."""

MAX_TOTAL_DEGREE = 64
"""The greatest total degree of a form that a file may have."""


def complaints(form: ClosedForm) -> Iterator[str]:
    """What no file may have: negative powers of what could be 0, and powers that nest to a large degree.

    The total degree of a form is 1 for what has no parts, the sum of the degrees of a product's factors, the
    greatest degree of a sum's parts, for digits that of the form inside, and for a power (its base's degree)
    * (the exponent's size, at least 1): at most `MAX_TOTAL_DEGREE`, so that no nesting of small powers makes
    a large one.

    >>> list(complaints(over(plus(I, -1))))
    ['only i and n have negative powers: anything else could be 0']
    """
    degree = _degree(form)
    if degree is None:
        yield "only i and n have negative powers: anything else could be 0"
    elif nesting(form) > MAX_NESTING:
        yield f"sums, products and powers nest {nesting(form)} deep, more than {MAX_NESTING}"
    elif degree > MAX_TOTAL_DEGREE:
        yield (
            f"powers and products nest to the degree {degree}, and no construction needs more than "
            f"{MAX_TOTAL_DEGREE}"
        )


def read_form(data: object) -> ClosedForm:
    """The form that a file may have and that is written as the data; raises `CodecError`."""
    form = FORM.read(data)
    for complaint in complaints(form):
        raise CodecError(complaint)
    return form


def _degree(form: ClosedForm) -> int | None:
    """The total degree; None if something else than i and n has a negative power."""
    match form:
        case Number() | Position() | Length() | Alternating() | Test():
            return 1
        case Sum(parts) | Product(parts):
            degrees = [_degree(part) for part in parts]
            found = [degree for degree in degrees if degree is not None]
            if len(found) < len(degrees):
                return None
            return sum(found) if isinstance(form, Product) else max(found, default=1)
        case Power(base, exponent):
            if exponent < 0 and base not in (I, N):
                return None
            degree = _degree(base)
            return None if degree is None else degree * max(1, abs(exponent))
        case Digits(inner):
            return _degree(inner)
        case _:
            assert_never(form)


def _show_linear(per_position: int, per_length: int, shift: int) -> str:
    parts = [
        name if factor == 1 else f"{factor}{name}"
        for factor, name in ((per_position, "i"), (per_length, "n"))
        if factor
    ]
    if shift or not parts:
        parts.append(str(shift))
    return " + ".join(parts).replace("+ -", "- ")
