"""What is given of a hard network, without proof: tried on all words of some lengths, and put into words.

Given can be a gap, a magnitude, and that a coordinate which is rounded is a bit. Compared is exactly:
factor * n^(p/q) with a rational by the q-th powers of both.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from itertools import islice
from typing import assert_never, final

from attemper.checker.names import UnprovenError
from attemper.exact.monomials import Monomial
from attemper.languages.words import Word, show_word
from attemper.networks.layers import Network
from attemper.theories.softening.certificate import GapBy, LayerError
from attemper.theories.softening.check.closed_form import AssumedBit

MOST_POWER = 64
"""Powers p/q of what is given have |p| and q up to that, so that q-th powers can be compared."""


@final
@dataclass(frozen=True)
class Gap:
    """At all visible positions of the greatest score the head's values are the same, and every other visible
    score is at least `least` below it.
    """

    layer: int
    head: int
    least: Monomial

    def __str__(self) -> str:
        return (
            f"layer {self.layer}, head {self.head}: at all visible positions of the greatest score the "
            f"values are the same, and every other visible score is at least {said(self.least)} below it"
        )


@final
@dataclass(frozen=True)
class MagnitudeBound:
    """No coordinate of the hard network before the layer is larger than `most`."""

    layer: int
    most: Monomial

    def __str__(self) -> str:
        return f"layer {self.layer}: no coordinate before it is larger than {said(self.most)} in size"


@final
@dataclass(frozen=True)
class IsBit:
    """A coordinate of the hard network before the layer is 0 or 1."""

    bit: AssumedBit

    def __str__(self) -> str:
        return f"layer {self.bit.layer}: coordinate {self.bit.coordinate} before it is 0 or 1"


Given = Gap | MagnitudeBound | IsBit
"""What somebody says of the hard network, at every position of every word."""


@final
@dataclass(frozen=True)
class Counterexample:
    """A word in which something that is given is false, and why."""

    word: Word
    text: str


def given_in(layers: tuple[LayerError, ...], bits: set[AssumedBit]) -> tuple[Given, ...]:
    """All that is given in a chain of errors. Raises `UnprovenError` for what cannot be compared."""
    found: list[Given] = []
    for number, layer in enumerate(layers):
        if layer.magnitude_by is GapBy.GIVEN:
            found.append(MagnitudeBound(number, _comparable(layer.magnitude)))
        for index, gap in enumerate(layer.gaps):
            if gap is not None and gap.by is GapBy.GIVEN:
                found.append(Gap(number, index, _comparable(gap.gap)))
    return (*found, *(IsBit(bit) for bit in sorted(bits, key=lambda bit: (bit.layer, bit.coordinate))))


def refuting(hard: Network, given: tuple[Given, ...], length: int) -> Counterexample | None:
    """A word of that length in which something given is false; None if there is none.

    A tie between different values is one: no gap says at which of them a softened head looks.
    """
    from attemper.theories.softening.check.enumeration import (
        examine,  # numpy: for other checks it is not needed
    )

    found = examine(hard, length)
    if found.tie is not None:
        tie = found.tie
        return Counterexample(
            tie.word,
            f"layer {tie.layer}, head {tie.head}: in {_quoted(tie.word)} positions {tie.tied[0]} and "
            f"{tie.tied[1]} have the greatest score as seen from position {tie.position}, and other values",
        )
    for own in given:
        match own:
            case Gap(layer, head, least):
                gap = found.attained_gaps[layer][head]
                if gap is not None and compare(least, length, gap.value) > 0:
                    return _false(own, gap.word, f"it is only {gap.value} below")
            case MagnitudeBound(layer, most):
                size = found.attained_magnitudes[layer]
                if compare(most, length, size.value) < 0:
                    return _false(own, size.word, f"one is {size.value}")
            case IsBit(bit):
                word = _without_bit(hard, bit, length)
                if word is not None:
                    return _false(own, word, "it is another number")
            case _:
                assert_never(own)
    return None


def _false(given: Given, word: Word, truth: str) -> Counterexample:
    return Counterexample(word, f"what is given is false: {given}; in {_quoted(word)} {truth}")


def _without_bit(hard: Network, bit: AssumedBit, length: int) -> Word | None:
    """A word of that length in which a coordinate is neither 0 nor 1 somewhere."""
    from attemper.theories.softening.check.streams import batches, follow

    for words in batches(hard, length):
        stream = next(islice(follow(hard, words), bit.layer, None)).stream
        numbers, scale = stream.numbers[..., bit.coordinate], stream.scales[bit.coordinate]
        others = ((numbers != 0) & (numbers != scale)).any(axis=1)
        if others.any():
            return tuple(hard.alphabet.symbols[number] for number in words[int(others.argmax())].tolist())
    return None


def compare(monomial: Monomial, length: int, value: Fraction) -> int:
    """The sign of factor * n^power - value, for a value that is not negative."""
    if not monomial.factor or not value:
        return (monomial.factor > 0) - (value > 0)
    root = monomial.power.denominator
    own = monomial.factor**root * Fraction(length) ** monomial.power.numerator
    other = value**root
    return (own > other) - (own < other)


def said(monomial: Monomial) -> str:
    """A monomial as it is, however long its text is: what is assumed must not be rounded."""
    return _text(monomial, str(monomial.factor))


def shown(monomial: Monomial) -> str:
    """About how much a monomial is, where nothing rests on the text."""
    return _text(monomial, _short(monomial.factor))


def _text(monomial: Monomial, factor: str) -> str:
    if not monomial.factor or not monomial.power:
        return factor
    power = "n" if monomial.power == 1 else f"n^{monomial.power}"
    return power if monomial.factor == 1 else f"{factor} {power}"


def _short(factor: Fraction) -> str:
    """A fraction, or about how much it is if its text is long."""
    text = str(factor)
    return text if len(text) <= 24 else f"{float(factor):.3g}"


def _comparable(monomial: Monomial) -> Monomial:
    power = monomial.power
    if max(abs(power.numerator), power.denominator) > MOST_POWER:
        raise UnprovenError(f"what is given has a power of n beyond {MOST_POWER}: {shown(monomial)}")
    return monomial


def _quoted(word: Word) -> str:
    return f"'{show_word(word)}'"
