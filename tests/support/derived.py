"""What the checker derives of a network, evaluated on a word: to be compared with what the network computes.

The normal forms are read here by the meaning of their atoms alone, straight from the definitions.
"""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction

from attemper.checker.analysis import Analysis
from attemper.checker.diagrams import Diagram
from attemper.checker.terms import Affine, Terms
from attemper.checker.values import Value
from attemper.exact.balls import ball, precision
from attemper.exact.predicates import Named, holds
from attemper.languages.words import Word
from attemper.networks import meaning_soft
from attemper.networks.layers import Masking
from attemper.networks.meaning_hard import visible

NOTHING = ball(Fraction(1, 10**40))
"""What the balls themselves may be wide."""


class Reading:
    """The atoms and means of one check, on one word."""

    def __init__(self, terms: Terms, word: Word) -> None:
        self.terms = terms
        self.word = word
        self.length = len(word)
        self._numbers: dict[tuple[Diagram, int], Fraction] = {}
        self._bits: dict[tuple[int, int, int], bool] = {}
        self._relus = {number: name for name, number in terms._mean_numbers.items() if name[0] == "relu"}

    def value(self, value: Value, i: int) -> Fraction:
        """The sum of i^a n^b times a diagram."""
        n = self.length
        parts = (Fraction(i) ** a * Fraction(n) ** b * self.number(d, i) for (a, b), d in value.items())
        return sum(parts, Fraction(0))

    def number(self, diagram: Diagram, i: int) -> Fraction:
        """A diagram at position i."""
        if (diagram, i) not in self._numbers:
            diagrams, node = self.terms.diagrams, diagram
            while not diagrams.is_constant(node):
                (family, threshold), low, high = diagrams.top(node)
                node = high if self.bit(family, threshold, i) else low
            terminal = diagrams.value(node)
            assert isinstance(terminal, Affine)
            self._numbers[diagram, i] = self._affine(terminal, i)
        return self._numbers[diagram, i]

    def bit(self, family: int, threshold: int, i: int) -> bool:
        """An atom at position i; False where it speaks of a position that does not exist."""
        key = (family, threshold, i)
        if key not in self._bits:
            self._bits[key] = self._atom(family, threshold, i)
        return self._bits[key]

    def _affine(self, value: Affine, i: int) -> Fraction:
        return value.constant + sum((f * self._mean(m, i) for m, f in value.parts), Fraction(0))

    def _mean(self, number: int, i: int) -> Fraction:
        mean = self.terms.means[number]
        if mean.masking is None:
            _, inner = self._relus[number]
            assert isinstance(inner, Affine)
            return max(Fraction(0), self._affine(inner, i))
        seen = visible(mean.masking, i, self.length)
        return self._sum(mean.masking, mean.summand, i) / len(seen)

    def _sum(self, masking: Masking, summand: Diagram, i: int) -> Fraction:
        return sum((self.number(summand, j) for j in visible(masking, i, self.length)), Fraction(0))

    def _atom(self, family: int, threshold: int, i: int) -> bool:
        n = self.length
        match self.terms._names[family]:
            case ("letter", int(place)):
                return bool(self.terms.symbols.index(self.word[i - 1]) >> place & 1)
            case ("line", int(a), int(b)):
                return a * i + b * n >= threshold
            case ("mod", "place", int(modulus), int(a), int(b)):
                return (a * i + b * n - threshold) % modulus == 0
            case ("named", "place", _, _, str(name), int(a), int(b)):
                return holds(Named(name), a * i + b * n + threshold)
            case ("mod", "count", Masking() as masking, int(bit), int(modulus), int(a), 0):
                return (a * self._sum(masking, bit, i) - threshold) % modulus == 0
            case ("named", "count", Masking() as masking, int(bit), str(name), int(a), 0):
                return holds(Named(name), int(a * self._sum(masking, bit, i)) + threshold)
            case ("sum", Masking() as masking, int(summand)):
                return self._sum(masking, summand, i) >= threshold
            case ("mixed", int(left), int(right), int(own)):
                before = sum((self.number(left, j) for j in range(1, i)), Fraction(0))
                after = sum((self.number(right, j) for j in range(i + 1, n + 1)), Fraction(0))
                return before + self.number(own, i) + after >= threshold
            case ("exists", Masking() as masking, int(where)):
                return any(self.number(where, j) for j in visible(masking, i, n))
            case ("at", Masking() as masking, bool(leftmost), int(where), int(inner)):
                found = [j for j in visible(masking, i, n) if self.number(where, j)]
                return bool(found) and self.bit(inner, threshold, found[0 if leftmost else -1])
            case ("shifted", int(offset), int(inner)):
                return 1 <= i + offset <= n and self.bit(inner, threshold, i + offset)
            case name:
                raise AssertionError(f"an atom without a meaning: {name}")


def derived_wrongly(analysis: Analysis, word: Word) -> Iterator[str]:
    """Every coordinate of every layer that is, on this word, further from what was derived than its error."""
    derived = [analysis.start, *(fact.after for fact in analysis.layers)]
    reading = Reading(analysis.terms, word)
    with precision(meaning_soft.PRECISION):
        streams = meaning_soft.residual_streams(analysis.network, word)
        for depth, (stream, actual) in enumerate(zip(derived, streams, strict=True)):
            for i, vector in enumerate(actual, start=1):
                for coordinate, number in enumerate(vector):
                    value = reading.value(stream.values[coordinate], i)
                    if not abs(number - ball(value)) <= ball(stream.errors[coordinate]) + NOTHING:
                        yield (
                            f"{''.join(word)}: coordinate {coordinate} at {i} after {depth} layers is "
                            f"{number}, not {value} up to {float(stream.errors[coordinate])}"
                        )
