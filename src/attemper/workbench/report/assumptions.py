"""Which assumption of Hahn's Lemma 5 a head breaks, exactly, from the closed forms of its network.

One symbol changes what a head attends to by O(1/n) if the range of its scores, over all words of all lengths,
and its values are bounded, and nothing else that it computes with depends on n (Hahn 2020, Lemma 5, with
supplement S2). A compiled head can break this by a temperature that depends on n, or by position embeddings
that grow; and a head that breaks nothing can read what such a head has written. Where the closed forms do
not decide it, the answer is UNKNOWN.

A sublayer behind a normalisation reads nothing unbounded: where eps is positive, numbers that change little
make what is read change little, wherever they stand at the position. All of them count as read.
"""

from __future__ import annotations

from collections.abc import Iterable
from enum import IntEnum, StrEnum
from fractions import Fraction
from typing import assert_never

from attemper.exact import closed_forms
from attemper.exact.laurent import Laurent, constant, monomial, plus, times
from attemper.networks.layers import Coordinate, Head, Layer, LinearForm, Masking, Network, Softmax


class Boundedness(StrEnum):
    """Whether something is bounded over all positions of all lengths."""

    YES = "yes"
    NO = "no"
    UNKNOWN = "unknown"


class OneSymbol(StrEnum):
    """What one symbol can change of a head's output: O(1/n), or the assumption that the head breaks."""

    FEW = "O(1/n)"
    TEMPERATURE = "more: temperature"
    POSITIONS = "more: unbounded positions"
    BOTH = "more: temperature, unbounded positions"
    READ = "more: what it reads"
    UNKNOWN = "UNKNOWN"


class Origin(IntEnum):
    """What a coordinate depends on, and so how much one symbol can change it at most positions."""

    OWN_SYMBOL = 0
    """The symbol and the place here."""
    AVERAGES = 1
    """Unmasked heads that one symbol changes by O(1/n), at every position."""
    MASKED_AVERAGES = 2
    """The same of masked heads: at a position that sees few others a symbol changes much."""
    MORE = 3
    UNKNOWN = 4


def one_symbol(network: Network) -> tuple[tuple[OneSymbol, ...], ...]:
    """The answer for each head of each layer.

    >>> import attemper
    >>> model = attemper.compile("#<['0'] <= #<['1']", "01", regime="temperature")
    >>> [[str(head) for head in layer] for layer in one_symbol(model.network)]
    [['O(1/n)'], ['more: temperature']]
    """
    how = network.normalisation
    if how is not None and how.eps == 0:
        return tuple((OneSymbol.UNKNOWN,) * len(layer.heads) for layer in network.layers)
    forms: dict[Coordinate, closed_forms.ClosedForm] = {} if how is not None else dict(network.positions)
    known = {coordinate: is_bounded(form) for coordinate, form in forms.items()}
    origins: dict[Coordinate, Origin] = {}
    found = []
    for layer in network.layers:
        read = [_read(head, origins) for head in layer.heads]
        answers = [
            _of_head(head, forms, known, origin) for head, origin in zip(layer.heads, read, strict=True)
        ]
        found.append(tuple(answers))
        known = _after(layer, known)
        origins = _origins_after(
            layer, origins, [_written(*each) for each in zip(layer.heads, answers, read, strict=True)]
        )
        if how is not None:
            origins = dict.fromkeys(range(len(network.coordinates)), max(origins.values(), default=Origin(0)))
    return tuple(found)


def _read(head: Head, origins: dict[Coordinate, Origin]) -> Origin:
    """The farthest origin of what a head reads."""
    forms = (*head.query, *head.key, *head.values)
    return max(
        (origins.get(c, Origin.OWN_SYMBOL) for form in forms for c, _ in form), default=Origin.OWN_SYMBOL
    )


def _written(head: Head, answer: OneSymbol, read: Origin) -> Origin:
    """The origin of what a head writes."""
    match answer:
        case OneSymbol.UNKNOWN:
            return Origin.UNKNOWN
        case OneSymbol.FEW if head.masking is Masking.NONE and read <= Origin.AVERAGES:
            return Origin.AVERAGES
        case OneSymbol.FEW:
            return Origin.MASKED_AVERAGES
        case _:
            return Origin.MORE


def _origins_after(
    layer: Layer, origins: dict[Coordinate, Origin], written: list[Origin]
) -> dict[Coordinate, Origin]:
    """The origins after a layer, whose heads write with these."""
    after = dict(origins)

    def write(target: Coordinate, origin: Origin) -> None:
        after[target] = max(origin, after.get(target, Origin.OWN_SYMBOL))

    for head, origin in zip(layer.heads, written, strict=True):
        for target in head.targets:
            write(target, origin)
    middle = dict(after)
    for unit in layer.hidden:
        origin = max((middle.get(c, Origin.OWN_SYMBOL) for c, _ in unit.form), default=Origin.OWN_SYMBOL)
        for target, _ in unit.outputs:
            write(target, origin)
    return after


def is_bounded(form: closed_forms.ClosedForm) -> Boundedness:
    """Whether the form is bounded over all 1 <= i <= n.

    It is if no power of it grows; it is not if its Laurent polynomial grows along i = 2, i = n/2 or i = n, n
    a multiple of 4, where (-1)^i is 1.

    >>> from attemper.exact.closed_forms import I, N, over, plus, times
    >>> [str(is_bounded(form)) for form in (times(I, over(N)), times(I, I), plus(N, times(-1, I)))]
    ['yes', 'no', 'no']
    """
    if isinstance(form, closed_forms.Digits):
        return is_bounded(form.form)
    if closed_forms.growth(form) <= 0 and not _has_digits(form):
        return Boundedness.YES
    polynomial = _laurent(form)
    if polynomial is not None and any(
        _grows(polynomial, slope) for slope in (None, Fraction(1, 2), Fraction(1))
    ):
        return Boundedness.NO
    return Boundedness.UNKNOWN


def _grows(polynomial: Laurent, slope: Fraction | None) -> bool:
    """Whether the polynomial grows along i = slope * n, or along i = 2."""
    along: dict[int, Fraction] = {}
    for (a, b), factor in polynomial.items():
        power, own = (b, factor * Fraction(2) ** a) if slope is None else (a + b, factor * slope**a)
        along[power] = along.get(power, Fraction(0)) + own
    return any(power > 0 and factor for power, factor in along.items())


def _laurent(form: closed_forms.ClosedForm) -> Laurent | None:
    """The form as a polynomial where (-1)^i = 1; None if it tests or takes digits, or divides by a sum."""
    match form:
        case closed_forms.Number(value):
            return constant(value)
        case closed_forms.Alternating():
            return constant(1)
        case closed_forms.Position():
            return monomial(1, 0)
        case closed_forms.Length():
            return monomial(0, 1)
        case closed_forms.Sum(parts) | closed_forms.Product(parts):
            found = [_laurent(part) for part in parts]
            known = [part for part in found if part is not None]
            if len(known) < len(found):
                return None
            return plus(*known) if isinstance(form, closed_forms.Sum) else _product(known)
        case closed_forms.Power(closed_forms.Position(), exponent):
            return monomial(exponent, 0)
        case closed_forms.Power(closed_forms.Length(), exponent):
            return monomial(0, exponent)
        case closed_forms.Power(base, exponent):
            inner = _laurent(base)
            return None if inner is None or exponent < 0 else _product([inner] * exponent)
        case closed_forms.Test() | closed_forms.Digits():
            return None
        case _:
            assert_never(form)


def _product(factors: Iterable[Laurent]) -> Laurent:
    product = constant(1)
    for factor in factors:
        product = times(product, factor)
    return product


def _has_digits(form: closed_forms.ClosedForm) -> bool:
    match form:
        case closed_forms.Digits():
            return True
        case closed_forms.Sum(parts) | closed_forms.Product(parts):
            return any(_has_digits(part) for part in parts)
        case closed_forms.Power(base, _):
            return _has_digits(base)
        case _:
            return False


def _after(layer: Layer, known: dict[Coordinate, Boundedness]) -> dict[Coordinate, Boundedness]:
    """What is known of the coordinates after a layer: averages and bits of what is bounded are bounded."""
    after = dict(known)

    def write(target: Coordinate, bounded: bool) -> None:
        if not bounded or after.get(target, Boundedness.YES) is not Boundedness.YES:
            after[target] = Boundedness.UNKNOWN

    for head in layer.heads:
        for value, target in zip(head.values, head.targets, strict=True):
            write(target, _of_form(value, known) is Boundedness.YES)
    rounded = {unit for pair in layer.clamps for unit in pair}
    middle = dict(after)
    for number, unit in enumerate(layer.hidden):
        for target, _ in unit.outputs:
            # The two units that round a bit differ by at most 1 whatever they read.
            write(target, number in rounded or _of_form(unit.form, middle) is Boundedness.YES)
    return after


def _of_form(form: LinearForm, known: dict[Coordinate, Boundedness]) -> Boundedness:
    """Whether a linear form is bounded: it is not if one coordinate is not and all others are."""
    answers = [known.get(coordinate, Boundedness.YES) for coordinate, _ in form]
    if all(answer is Boundedness.YES for answer in answers):
        return Boundedness.YES
    alone = answers.count(Boundedness.NO) == 1 and Boundedness.UNKNOWN not in answers
    return Boundedness.NO if alone else Boundedness.UNKNOWN


def _of_head(
    head: Head,
    forms: dict[Coordinate, closed_forms.ClosedForm],
    known: dict[Coordinate, Boundedness],
    read: Origin,
) -> OneSymbol:
    if not isinstance(head.weighting, Softmax):
        return OneSymbol.UNKNOWN
    coldness = head.weighting.inverse_temperature
    cold = is_bounded(coldness)
    rows = [(q, k) for q, k in zip(head.query, head.key, strict=True) if q and k]
    values = _all(_of_form(value, known) for value in head.values)
    if values is Boundedness.YES and _range_is_bounded(rows, coldness, forms, known):
        # With a mask, averages of averages fall as (log n)^k/n for early symbols: not O(1/n), and not said.
        few = {Origin.OWN_SYMBOL: OneSymbol.FEW, Origin.AVERAGES: OneSymbol.FEW, Origin.MORE: OneSymbol.READ}
        return few.get(read, OneSymbol.UNKNOWN)
    places = _all([*(_of_form(form, known) for row in rows for form in row), values])
    match cold, places:
        case Boundedness.NO, Boundedness.YES:
            return OneSymbol.TEMPERATURE
        case Boundedness.YES, Boundedness.NO:
            return OneSymbol.POSITIONS
        case Boundedness.NO, Boundedness.NO:
            return OneSymbol.BOTH
        case _:
            return OneSymbol.UNKNOWN


def _all(answers: Iterable[Boundedness]) -> Boundedness:
    """Whether all of several things are bounded."""
    found = set(answers)
    if Boundedness.NO in found:
        return Boundedness.NO
    return Boundedness.UNKNOWN if Boundedness.UNKNOWN in found else Boundedness.YES


def _range_is_bounded(
    rows: list[tuple[LinearForm, LinearForm]],
    coldness: closed_forms.ClosedForm,
    forms: dict[Coordinate, closed_forms.ClosedForm],
    known: dict[Coordinate, Boundedness],
) -> bool:
    """Whether the powers of n in queries, keys and 1/temperature cancel: scores are then bounded."""

    def power(form: LinearForm) -> int | None:
        """A power of n that bounds the form, None if none is known."""
        powers = []
        for coordinate, _ in form:
            own = forms.get(coordinate)
            if own is not None and not _has_digits(own) and known[coordinate] is not Boundedness.UNKNOWN:
                powers.append(closed_forms.growth(own))
            elif known.get(coordinate, Boundedness.YES) is Boundedness.YES:
                powers.append(0)
            else:
                return None
        return max(powers)

    if not rows:
        return True
    if _has_digits(coldness):
        return False
    bounds = [(power(q), power(k)) for q, k in rows]
    return all(
        q is not None and k is not None and q + k + closed_forms.growth(coldness) <= 0 for q, k in bounds
    )
