"""A head as a scan computes the logarithms of its weights, written from FORMAT.md: every operation is off.

Numbers are 64 bits wide, and each operation is off by one unit round-off of a much narrower format, in a
direction that the caller draws: so every bound can be seen to hold where it is nearly reached.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from fractions import Fraction
from itertools import product

import numpy as np

from attemper.exact import closed_forms
from attemper.networks.layers import Head, Layer, LinearForm, Masking, Network, Softmax
from tests.support.oracles.raw_exact import sees

Powers = dict[tuple[int, int], Fraction]
"""The sum of factor * j^p (-1)^(e j) by (p, e)."""

Numbers = dict[int, np.longdouble]


def powers_of(form: closed_forms.ClosedForm, length: int) -> Powers:
    """A closed form without tests and digits, in words of that length."""
    match form:
        case closed_forms.Number(value):
            return {(0, 0): value}
        case closed_forms.Position():
            return {(1, 0): Fraction(1)}
        case closed_forms.Length():
            return {(0, 0): Fraction(length)}
        case closed_forms.Alternating():
            return {(0, 1): Fraction(1)}
        case closed_forms.Sum(parts):
            return _sum(powers_of(part, length) for part in parts)
        case closed_forms.Product(parts):
            total: Powers = {(0, 0): Fraction(1)}
            for part in parts:
                total = _times(total, powers_of(part, length))
            return total
        case closed_forms.Power(base, exponent):
            if exponent < 0:
                (((p, _), factor),) = powers_of(base, length).items()
                return {(p * exponent, 0): factor**exponent}
            return powers_of(closed_forms.Product((base,) * exponent), length)
        case _:
            raise ValueError(form)


def _sum(parts: Iterable[Powers]) -> Powers:
    total: Powers = {}
    for part in parts:
        for name, factor in part.items():
            total[name] = total.get(name, Fraction(0)) + factor
    return {name: factor for name, factor in total.items() if factor}


def _times(left: Powers, right: Powers) -> Powers:
    return _sum(
        {(p + s, (e + f) % 2): x * y} for ((p, e), x), ((s, f), y) in product(left.items(), right.items())
    )


def is_of_powers(form: closed_forms.ClosedForm) -> bool:
    """Whether `powers_of` knows it."""
    try:
        powers_of(form, 3)
    except ValueError:
        return False
    return True


# The exact stream --------------------------------------------------------------------------------------

Stream = list[list[Fraction]]
"""The number at each position (from 0) and coordinate."""


def embedded(network: Network, word: str) -> Stream:
    """The stream before the first layer."""
    rows = []
    for place, letter in enumerate(word, 1):
        row = [Fraction(0)] * len(network.coordinates)
        for c, factor in network.embedding[network.alphabet.symbols.index(letter)]:
            row[c] += factor
        for c, form in network.positions:
            row[c] += closed_forms.evaluate(form, place, len(word))
        rows.append(row)
    return rows


def averaged(layer: Layer, stream: Stream) -> Stream:
    """The stream after a layer whose heads have no scores."""
    rows = [list(row) for row in stream]
    for head in layer.heads:
        assert not head.query
        for place, row in enumerate(rows):
            seen = visible(head.masking, place + 1, len(rows))
            for form, target in zip(head.values, head.targets, strict=True):
                total = sum((_read(form, stream[j - 1]) for j in seen), Fraction(0))
                row[target] += total / len(seen) if seen else 0
    for row in rows:
        added = [(unit, max(_read(unit.form, row) + unit.bias, Fraction(0))) for unit in layer.hidden]
        for unit, active in added:
            for target, factor in unit.outputs:
                row[target] += factor * active
    return rows


def _read(form: LinearForm, row: list[Fraction]) -> Fraction:
    return sum((factor * row[c] for c, factor in form), Fraction(0))


def visible(masking: Masking, place: int, length: int) -> list[int]:
    """The positions that one sees."""
    return [j for j in range(1, length + 1) if sees(masking, place, j)]


def scores(head: Head, stream: Stream, place: int) -> dict[int, Fraction]:
    """The exact score of every visible position."""
    assert isinstance(head.weighting, Softmax)
    cold = closed_forms.evaluate(head.weighting.inverse_temperature, place, len(stream))
    queries = [_read(form, stream[place - 1]) for form in head.query]
    return {
        j: cold
        * sum(
            (q * _read(form, stream[j - 1]) for q, form in zip(queries, head.key, strict=True)), Fraction(0)
        )
        for j in visible(head.masking, place, len(stream))
    }


# The scan -----------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Inexact:
    """Arithmetic whose every result is off by `roundoff` times what `draw` gives, from -1 to 1."""

    roundoff: float
    draw: Callable[[], float]

    def off(self, number: np.longdouble) -> np.longdouble:
        """A result as it is computed."""
        return number * (1 + np.longdouble(self.roundoff * self.draw()))

    def of(self, number: Fraction) -> np.longdouble:
        """A number as it is stored."""
        return self.off(np.longdouble(number.numerator) / np.longdouble(number.denominator))

    def times(self, left: np.longdouble, right: np.longdouble) -> np.longdouble:
        """The product."""
        return self.off(left * right)

    def plus(self, numbers: Iterable[np.longdouble]) -> np.longdouble:
        """The sum, one after the other."""
        total, *others = [*numbers] or [np.longdouble(0)]
        for other in others:
            total = self.off(total + other)
        return total


@dataclass(frozen=True)
class Class:
    """Positions whose scores are one polynomial of g = j, or of 1/j: its three coefficients."""

    members: list[int]
    coefficients: list[np.longdouble]
    is_inverse: bool
    middle: int


class Scan:
    """One query of a head. `read` is the stream that is read, with the errors of its format."""

    def __init__(self, network: Network, head: Head, read: Stream, inexact: Inexact) -> None:
        self.head = head
        self.read = read
        self.inexact = inexact
        self.places = {c: powers_of(form, len(read)) for c, form in network.positions if is_of_powers(form)}

    def log_weights(self, place: int, moved: bool) -> Numbers:
        """The logarithms of the weights; `moved`: in powers of j - i where they are quadratic."""
        assert isinstance(self.head.weighting, Softmax)
        length, of = len(self.read), self.inexact
        cold = of.of(closed_forms.evaluate(self.head.weighting.inverse_temperature, place, length))
        queries = [of.times(self._form(form, place), cold) for form in self.head.query]
        found: Numbers = {}
        classes = [self._class(members, queries, place if moved else 0) for members in self._classes(place)]
        peaks = [self._peak(own) for own in classes]
        tops = [self._score(own, peak) for own, peak in zip(classes, peaks, strict=True)]
        for own, peak, top in zip(classes, peaks, tops, strict=True):
            behind = of.off(top - max(tops))
            found |= {j: of.off(self._difference(own, j, peak) + behind) for j in own.members}
        return found

    def _form(self, form: LinearForm, place: int) -> np.longdouble:
        row = self.read[place - 1]
        return self.inexact.plus(
            self.inexact.times(np.longdouble(float(factor)), np.longdouble(float(row[c])))
            for c, factor in form
        )

    def _classes(self, place: int) -> list[list[int]]:
        found: dict[object, list[int]] = {}
        waves = any(e for form in self.head.key for c, _ in form for _, e in self.places.get(c, {}))
        for j in visible(self.head.masking, place, len(self.read)):
            content = [self.read[j - 1][c] for form in self.head.key for c, _ in form if c not in self.places]
            found.setdefault((j % 2 if waves else 0, *content), []).append(j)
        return list(found.values())

    def _class(self, members: list[int], queries: list[np.longdouble], middle: int) -> Class:
        terms: dict[int, list[np.longdouble]] = {0: [], 1: [], 2: [], -1: [], -2: []}
        for query, form in zip(queries, self.head.key, strict=True):
            content = tuple(part for part in form if part[0] not in self.places)
            if content:
                terms[0].append(self.inexact.times(query, self._form(content, members[0])))
            kappas = _sum(_scaled(self.places[c], factor) for c, factor in form if c in self.places)
            for (p, e), kappa in kappas.items():
                sign = -1 if e and members[0] % 2 else 1
                terms[p].append(sign * self.inexact.times(query, self.inexact.of(kappa)))
        is_inverse = bool(terms[-1] or terms[-2])
        names = (0, -1, -2) if is_inverse else (0, 1, 2)
        own = [self.inexact.plus(terms[p]) for p in names]
        if is_inverse or own[2] == 0 or not middle:
            return Class(members, own, is_inverse, 0)
        alpha, b, a = own
        moved = [alpha + b * middle + a * middle**2, b + 2 * a * middle, a]
        return Class(members, [self.inexact.off(x) for x in moved], is_inverse, middle)

    def _score(self, own: Class, j: int) -> np.longdouble:
        of, (alpha, b, a) = self.inexact, own.coefficients
        g = of.off(1 / np.longdouble(j)) if own.is_inverse else np.longdouble(j - own.middle)
        return of.plus([alpha, of.times(b, g), of.times(a, of.times(g, g))])

    def _difference(self, own: Class, j: int, peak: int) -> np.longdouble:
        """The score of j less that of the peak."""
        of, (_, b, a) = self.inexact, own.coefficients
        apart, total = np.longdouble(j - peak), np.longdouble(j + peak - 2 * own.middle)
        if own.is_inverse:
            whole = of.off(np.longdouble(j) * peak)
            apart, total = of.off(-apart / whole), of.off(total / whole)
        return of.times(apart, of.plus([of.times(a, total), b]) if a else b)

    def _peak(self, own: Class) -> int:
        _, b, a = own.coefficients
        members = own.members
        if a == 0:
            return members[-1] if bool(b > 0) is not own.is_inverse else members[0]
        vertex = -b / (2 * a)
        place = (1 / vertex if vertex > 0 else np.inf) if own.is_inverse else vertex + own.middle
        rank = sum(j <= place for j in members)
        candidates = members[max(rank - 1, 0) : rank + 1]
        best = candidates[0]
        for other in candidates[1:]:
            best = other if self._difference(own, other, best) > 0 else best
        for step in (-1, 1):
            beside = members.index(best) + step
            if 0 <= beside < len(members) and self._difference(own, members[beside], best) > 0:
                best = members[beside]
        return best


def _scaled(powers: Powers, factor: Fraction) -> Powers:
    return {name: own * factor for name, own in powers.items()}
