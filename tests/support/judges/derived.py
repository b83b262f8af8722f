"""What the checker derives of a network, evaluated on a word: to be compared with what the network computes.

The normal forms are read here by the meaning of their atoms alone, straight from the definitions.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from fractions import Fraction
from typing import assert_never

import flint

from attemper.checker import names
from attemper.checker.analysis import Analysis
from attemper.checker.diagrams import Diagram
from attemper.checker.values import ResidualValues, Value
from attemper.exact.balls import ball, precision
from attemper.languages.words import Word
from attemper.networks import meaning_soft
from attemper.networks.layers import Layer, LinearForm, Masking
from tests.support.oracles.raw_exact import sees
from tests.support.oracles.raw_files import NAMED

NOTHING = ball(Fraction(1, 10**40))
"""What the balls themselves may be wide."""


Symbols = Mapping[tuple[int, int], tuple[Diagram, ...]]
"""What the bits of each group of a layer are, by layer and group."""


class Reading:
    """The atoms and means of one check, on one word.

    `symbols` says what the bits are that have names of their own.
    """

    def __init__(self, known: names.Names, word: Word, symbols: Symbols | None = None) -> None:
        self.names = known
        self.symbols = symbols or {}
        self.word = word
        self.length = len(word)
        self._numbers: dict[tuple[Diagram, int], Fraction] = {}
        self._bits: dict[tuple[int, int, int], bool] = {}
        self._sums: dict[tuple[Masking, Diagram, int], Fraction] = {}
        self.has_unnamed = any(isinstance(own, names.Range) for own in known.quantities)

    def value(self, value: Value, i: int) -> Fraction:
        """The sum of i^a n^b times a diagram."""
        total = Fraction(0)
        for powers, diagram in value.items():
            own = self.number(diagram, i)
            total += own if powers == (0, 0) or not own else own * self._power(powers, i)
        return total

    def _power(self, powers: tuple[int, int], i: int) -> Fraction:
        a, b = powers
        return Fraction(i) ** a * Fraction(self.length) ** b

    def ends(self, value: Value, i: int) -> tuple[Fraction, Fraction]:
        """The least and the greatest that a value can be at i: one number, where all of it has a name."""
        if not self.has_unnamed:
            return (self.value(value, i),) * 2
        low = high = Fraction(0)
        for powers, diagram in value.items():
            size, terminal = self._power(powers, i), self.terminal(diagram, i)
            sides = [sorted(size * f * own for own in self._mean_ends(m, i)) for m, f in terminal.parts]
            low += size * terminal.constant + sum((side[0] for side in sides), Fraction(0))
            high += size * terminal.constant + sum((side[1] for side in sides), Fraction(0))
        return low, high

    def number(self, diagram: Diagram, i: int) -> Fraction:
        """A diagram at position i."""
        if (diagram, i) not in self._numbers:
            self._numbers[diagram, i] = self._affine(self.terminal(diagram, i), i)
        return self._numbers[diagram, i]

    def terminal(self, diagram: Diagram, i: int) -> names.Affine:
        """The affine value that a diagram leads to at position i."""
        diagrams = self.names.diagrams
        while not diagrams.is_constant(diagram):
            (family, threshold), low, high = diagrams.top(diagram)
            diagram = high if self.bit(family, threshold, i) else low
        terminal = diagrams.value(diagram)
        assert isinstance(terminal, names.Affine)
        return terminal

    def seen(self, masking: Masking, i: int) -> list[int]:
        """The positions that i sees."""
        return [j for j in range(1, self.length + 1) if sees(masking, i, j)]

    def bit(self, family: int, threshold: int, i: int) -> bool:
        """An atom at position i; False where it speaks of a position that does not exist."""
        key = (family, threshold, i)
        if key not in self._bits:
            self._bits[key] = self._atom(family, threshold, i)
        return self._bits[key]

    def _affine(self, value: names.Affine, i: int) -> Fraction:
        return value.constant + sum((f * self._mean(m, i) for m, f in value.parts), Fraction(0))

    def _mean_ends(self, number: int, i: int) -> tuple[Fraction, Fraction]:
        """The least and the greatest that a quantity can be at i; of a range nothing else is known."""
        own = self.names.quantities[number]
        if isinstance(own, names.Range | names.PositivePart) and self._is_unnamed(number):
            return own.low, own.high
        return (self._mean(number, i),) * 2

    def _is_unnamed(self, number: int) -> bool:
        own = self.names.quantities[number]
        return isinstance(own, names.Range) or (
            isinstance(own, names.PositivePart) and any(self._is_unnamed(m) for m, _ in own.inner.parts)
        )

    def _mean(self, number: int, i: int) -> Fraction:
        own = self.names.quantities[number]
        match own:
            case names.Mean(masking, summand):
                return self._sum(masking, summand, i) / len(self.seen(masking, i))
            case names.PositivePart(inner):
                return max(Fraction(0), self._affine(inner, i))
            case names.LengthDigits() | names.Clamped() | names.NearestKey():
                return Fraction(self._whole(own, i))
            case names.Range():
                raise AssertionError("a range is no number")
            case _:
                assert_never(own)

    def whole(self, number: int, i: int) -> int:
        """An integer at position i, by its number."""
        whole = self.names.quantities[number]
        assert isinstance(whole, names.Whole)
        return self._whole(whole, i)

    def _whole(self, whole: names.Whole, i: int) -> int:
        """The binary digits of n, a sum within 1..n, its square, or the key that is nearest."""
        match whole:
            case names.LengthDigits():
                return len(f"{self.length:b}")
            case names.Clamped(masking, summand, power, among):
                total = self._sum(masking, summand, i)
                assert total.denominator == 1
                return min(max(int(total), 1), len(self.seen(among, i))) ** power
            case names.NearestKey():
                return self.whole(whole.key, self._nearest(whole, i))
            case _:
                assert_never(whole)

    def _nearest(self, atom: names.NearestAt | names.NearestKey, i: int) -> int:
        """The position that the nearest integer is read at."""
        sought = self.whole(atom.query, i)
        off = {
            j: (sought - self.whole(atom.key, j)) ** 2 + 1 - self.number(atom.where, j)
            for j in self.seen(atom.masking, i)
        }
        best = [j for j, own in off.items() if own == min(off.values())]
        return best[0 if atom.leftmost else -1]

    def _sum(self, masking: Masking, summand: Diagram, i: int) -> Fraction:
        key = (masking, summand, i)
        if key not in self._sums:
            self._sums[key] = sum((self.number(summand, j) for j in self.seen(masking, i)), Fraction(0))
        return self._sums[key]

    def _atom(self, family: int, threshold: int, i: int) -> bool:
        n = self.length
        atom = self.names.atoms[family]
        match atom:
            case names.LetterBit(place):
                return bool(self.names.symbols.index(self.word[i - 1]) >> place & 1)
            case names.PlaceAtLeast(a, b):
                return a * i + b * n >= threshold
            case names.PlaceRemainder(modulus, a, b):
                return (a * i + b * n - threshold) % modulus == 0
            case names.PlaceNamed(name, a, b):
                return NAMED[name](a * i + b * n + threshold)
            case names.CountRemainder(masking, bit, modulus, a):
                return (a * self._sum(masking, bit, i) - threshold) % modulus == 0
            case names.CountNamed(masking, bit, name, a):
                return NAMED[name](int(a * self._sum(masking, bit, i)) + threshold)
            case names.SumAtLeast(masking, summand):
                return self._sum(masking, summand, i) >= threshold
            case names.MixedAtLeast(left, right, own):
                before = sum((self.number(left, j) for j in range(1, i)), Fraction(0))
                after = sum((self.number(right, j) for j in range(i + 1, n + 1)), Fraction(0))
                return before + self.number(own, i) + after >= threshold
            case names.Exists(masking, where):
                return any(self.number(where, j) for j in self.seen(masking, i))
            case names.SelectedAt(masking, leftmost, where, inner):
                found = [j for j in self.seen(masking, i) if self.number(where, j)]
                return bool(found) and self.bit(inner, threshold, found[0 if leftmost else -1])
            case names.NearestAt(inner=inner):
                return self.bit(inner, threshold, self._nearest(atom, i))
            case names.NearestBeyond(found):
                whole = self.names.quantities[found]
                assert isinstance(whole, names.NearestKey)
                return self.whole(found, i) - self.whole(whole.query, i) >= threshold
            case names.AtOffset(offset, inner):
                return 1 <= i + offset <= n and self.bit(inner, threshold, i + offset)
            case names.SymbolCode(layer, group):
                return self.number(self.symbols[layer, group][threshold], i) == 1
            case _:
                assert_never(atom)


def derived_wrongly(analysis: Analysis, word: Word) -> Iterator[str]:
    """Every coordinate that is, on this word, further from what was derived than its error.

    Of the embedding, and of each layer after its heads and after its hidden units.
    """
    reading = Reading(analysis.names, word)
    with precision(meaning_soft.PRECISION):
        streams = meaning_soft.residual_streams(analysis.network, word)
        pairs = [("of the embedding", analysis.start, streams[0])]
        for number, fact in enumerate(analysis.layers):
            middle = _after_heads(analysis.network.layers[number], streams[number])
            pairs.append((f"after the heads of layer {number}", fact.middle, middle))
            pairs.append((f"after layer {number}", fact.after, streams[number + 1]))
        for place, stream, actual in pairs:
            for i, vector in enumerate(actual, start=1):
                for coordinate, number_ in enumerate(vector):
                    value = reading.value(stream.values[coordinate], i)
                    error = _error(stream, coordinate, len(word))
                    if not abs(number_ - ball(value)) <= ball(error) + NOTHING:
                        yield (
                            f"{''.join(word)}: coordinate {coordinate} at {i} {place} is "
                            f"{number_}, not {value} up to {float(error)}"
                        )


def _error(stream: ResidualValues, coordinate: int, length: int) -> Fraction:
    """What the checker knows of a coordinate's error in words of a length."""
    error, fading = stream.errors[coordinate], stream.vanishing.get(coordinate)
    if fading is None:
        return error
    assert fading.power <= 0
    return error * Fraction(length) ** fading.power


def _after_heads(layer: Layer, before: meaning_soft.ResidualBalls) -> meaning_soft.ResidualBalls:
    """The stream between the heads and the hidden units, by the definition of attention."""
    middle = [list(vector) for vector in before]
    for head in layer.heads:
        for i, weights in enumerate(meaning_soft.attention(head, before)):
            for form, target in zip(head.values, head.targets, strict=True):
                for j, weight in weights.items():
                    middle[i][target] += weight * _number(form, before[j - 1])
    return middle


def _number(form: LinearForm, vector: list[flint.arb]) -> flint.arb:
    return sum((ball(factor) * vector[coordinate] for coordinate, factor in form), flint.arb(0))
