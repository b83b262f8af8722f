"""Whether a chain of errors is false somewhere: the recursion once more, numerically, at single lengths.

It shares nothing with the checker but the data of networks and certificates. What the hard network does is
seen on all words of up to `SHORT` symbols, by its definition; the recursion is evaluated at `LENGTHS`, in
balls. A chain that is found false is certainly no proof; one that is not may still be none.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from fractions import Fraction
from itertools import product

import flint

from attemper.exact.closed_forms import evaluate
from attemper.exact.monomials import Monomial
from attemper.languages.words import Word
from attemper.networks.layers import HardWeighting, Head, LinearForm, Network, Softmax
from attemper.networks.meaning_hard import residual_streams, value_of
from attemper.theories.softening.certificate import ClosedFormErrors, GapBy, LayerError

SHORT = 4
LENGTHS = (1, 2, 3, 4, 7, 8, 16, 1023, 10**6)
BITS = 256


def arb(value: Fraction | int) -> flint.arb:
    own = Fraction(value)
    return flint.arb(flint.fmpq(own.numerator, own.denominator))


def at(monomial: Monomial, n: int) -> flint.arb:
    """factor * n^power."""
    return arb(monomial.factor) * (flint.arb(n).log() * arb(monomial.power)).exp()


@dataclass(frozen=True)
class Seen:
    """What short words show of a hard network.

    By layer and length the greatest size; by head the least lead over another value, and whether positions of
    other values tie; by value how far apart it is; by layer and form what hidden units read.
    """

    sizes: dict[tuple[int, int], Fraction]
    score_gaps: dict[tuple[int, int, int], Fraction]
    ties: set[tuple[int, int, int]]
    apart: dict[tuple[int, int, int], Fraction]
    inputs: dict[tuple[int, LinearForm], set[Fraction]]


def seen_of(network: Network, longest: int = SHORT) -> Seen:
    found = Seen({}, {}, set(), {}, {})
    for n in range(1, longest + 1):
        for word in product(network.alphabet.symbols, repeat=n):
            _look(network, word, found)
    return found


def _look(network: Network, word: Word, found: Seen) -> None:
    n = len(word)
    streams = residual_streams(network, word, HardWeighting.AVERAGE)
    for number, layer in enumerate(network.layers):
        size = max(abs(x) for vector in streams[number] for x in vector)
        found.sizes[number, n] = max(found.sizes.get((number, n), Fraction(0)), size)
        for index, head in enumerate(layer.heads):
            _look_at_head(head, (number, index, n), streams[number], found)
        attended = replace(network, layers=(*network.layers[:number], replace(layer, hidden=(), clamps=())))
        middle = residual_streams(attended, word, HardWeighting.AVERAGE)[-1]
        for unit in layer.hidden:
            inputs = found.inputs.setdefault((number, unit.form), set())
            inputs |= {value_of(unit.form, vector) for vector in middle}


def _look_at_head(head: Head, key: tuple[int, int, int], stream: list[list[Fraction]], found: Seen) -> None:
    n = len(stream)
    for i in range(1, n + 1):
        scores = {
            j: sum(
                value_of(q, stream[i - 1]) * value_of(k, stream[j - 1])
                for q, k in zip(head.query, head.key, strict=True)
            )
            for j in head.masking.visible(i, n)
        }
        if not scores:
            continue
        values = {j: tuple(value_of(form, stream[j - 1]) for form in head.values) for j in scores}
        best = max(scores.values())
        winner = next(j for j in scores if scores[j] == best)
        others = [best - scores[j] for j in scores if values[j] != values[winner]]
        for place in range(len(head.values)):
            spread = max(v[place] for v in values.values()) - min(v[place] for v in values.values())
            at_head = (key[0], key[1], place)
            found.apart[at_head] = max(found.apart.get(at_head, Fraction(0)), spread)
        if 0 in others:
            found.ties.add(key)
        elif others:
            found.score_gaps[key] = min(found.score_gaps.get(key, min(others)), *others)


def _some(values: set[Fraction]) -> list[Fraction]:
    """At most five of the values, from the least to the greatest: more find no more."""
    found = sorted(values)
    return [found[k * (len(found) - 1) // 4] for k in range(5)] if len(found) > 5 else found


class Judge:
    """Judges chains about one soft network, at any temperatures of its heads."""

    def __init__(self, network: Network, longest: int = SHORT) -> None:
        self.longest = longest
        self.seen = seen_of(network, longest)
        self.inputs = {key: _some(found) for key, found in self.seen.inputs.items()}

    def is_false(self, soft: Network, evidence: ClosedFormErrors, epsilon: Fraction) -> str:
        """Where the chain is false, in words; empty if nothing is found."""
        before = flint.ctx.prec
        flint.ctx.prec = BITS
        try:
            return self._of_hard(evidence) or self._of_chain(soft, evidence, epsilon)
        finally:
            flint.ctx.prec = before

    def _of_hard(self, evidence: ClosedFormErrors) -> str:
        """Of leads and magnitudes, on short words; of what is given, on those on which that is checked."""
        for number, claimed in enumerate(evidence.layers):
            for n in self._short(claimed.magnitude_by, evidence):
                if at(claimed.magnitude, n) < arb(self.seen.sizes[number, n]):
                    return f"the magnitude of layer {number} at {n}"
            for index, gap in enumerate(claimed.gaps):
                for n in () if gap is None else self._short(gap.by, evidence):
                    key = (number, index, n)
                    if key in self.seen.ties:
                        return f"a tie in layer {number}, head {index} at {n}"
                    if key in self.seen.score_gaps and at(gap.gap, n) > arb(self.seen.score_gaps[key]):
                        return f"the lead of layer {number}, head {index} at {n}"
        return ""

    def _short(self, by: GapBy, evidence: ClosedFormErrors) -> range:
        longest = self.longest if by is GapBy.RULE else min(self.longest, evidence.checked_to)
        return range(1, longest + 1)

    def _of_chain(self, soft: Network, evidence: ClosedFormErrors, epsilon: Fraction) -> str:
        for n in LENGTHS:
            errors = {c: flint.arb(0) for c in range(len(soft.coordinates))}
            for number, claimed in enumerate(evidence.layers):
                errors = self._after(soft, number, claimed, errors, n)
                is_last = number == len(soft.layers) - 1
                places = set(soft.outputs) if is_last else set(errors)
                most = at(claimed.error, n)
                for c in places:
                    if not errors[c].is_finite() or most < errors[c]:
                        return f"the error of layer {number} at {n}"
                errors = {c: flint.arb(0) if own == 0 else most for c, own in errors.items()}
            if evidence.layers and at(evidence.layers[-1].error, n) > arb(epsilon):
                return f"epsilon at {n}"
        return ""

    def _after(
        self, soft: Network, number: int, claimed: LayerError, errors: dict[int, flint.arb], n: int
    ) -> dict[int, flint.arb]:
        layer, size, found = soft.layers[number], at(claimed.magnitude, n), dict(errors)
        for index, head in enumerate(layer.heads):
            gap = claimed.gaps[index]
            mass = flint.arb(0) if gap is None or n == 1 else _mass(head, at(gap.gap, n), size, errors, n)
            for place, (form, target) in enumerate(zip(head.values, head.targets, strict=True)):
                own = sum((arb(abs(f)) * errors[c] for c, f in form), flint.arb(0))
                # Short words show at least so much; longer ones may show more.
                spread = arb(self.seen.apart.get((number, index, place), Fraction(0)))
                found[target] = found[target] + own + (mass * spread if gap is not None else 0)
        middle = dict(found)
        for form in {unit.form for unit in layer.hidden}:
            off = sum((arb(abs(f)) * middle[c] for c, f in form), flint.arb(0))
            if off == 0:
                continue
            units = [unit for unit in layer.hidden if unit.form == form]
            for target in {t for unit in units for t, _ in unit.outputs}:
                pieces = [(unit.bias, f) for unit in units for t, f in unit.outputs if t == target]
                moved = [_moved(pieces, value, off) for value in self.inputs[number, form]]
                found[target] += max(moved, key=lambda own: float(own.mid()))
        return found


def _mass(head: Head, gap: flint.arb, size: flint.arb, errors: dict[int, flint.arb], n: int) -> flint.arb:
    """The weight of what loses, from the lead and what errors change the scores by."""
    products: dict[tuple[int, int], Fraction] = {}
    for query, key in zip(head.query, head.key, strict=True):
        for (a, p), (b, q) in product(query, key):
            products[a, b] = products.get((a, b), Fraction(0)) + p * q
    delta = sum(
        (
            arb(abs(f)) * (errors[a] * size + size * errors[b] + errors[a] * errors[b])
            for (a, b), f in products.items()
        ),
        flint.arb(0),
    )
    left = gap - 2 * delta
    if not left > 0:
        return flint.arb("inf")
    assert isinstance(head.weighting, Softmax)
    places = range(1, n + 1) if n <= 4 else (1, n // 2, n)
    coldest = min(evaluate(head.weighting.inverse_temperature, i, n) for i in places)
    if coldest < 0:
        return flint.arb("inf")
    return (n - 1) * (-arb(coldest) * left).exp()


def _moved(pieces: list[tuple[Fraction, Fraction]], value: Fraction, off: flint.arb) -> flint.arb:
    """How much a piecewise linear function changes at most within `off` of a value."""

    def total(x: flint.arb) -> flint.arb:
        return sum((arb(f) * (x + arb(bias)).max(flint.arb(0)) for bias, f in pieces), flint.arb(0))

    here = arb(value)
    points = [here - off, here + off] + [arb(-bias) for bias, _ in pieces if arb(abs(value + bias)) < off]
    changes = [abs(total(point) - total(here)) for point in points]
    return max(changes, key=lambda own: float(own.mid()))
