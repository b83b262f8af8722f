"""Strict masks for heads that compare Integers, which see i itself: what stands at j is read at j + 1 <= i.

    at j                the same, read at j + 1
    b                   previous b
    count[j < i] b      count[j < i] previous b
    count[j <= i] b     count[j < i] b
    count[j > i] b      count[j >= i] b
    count[j >= i] b     count[j >= i] b + [previous b]

Under j > i all of it is the other way round. Heads see the first (last) position, too, at which nothing is to
be read. Bits are false there, so that it is not found where a bit is sought. Where something is found in any
case, it is a *copy* of what stands there and is read at its neighbour, and finding it makes no difference: so
bits are copied. Counts up to j are 0 instead of 1 at most, and `nearest` takes 1 for what is less.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import final

from attemper.attention_program.ops import Count, Direction, Mask, Place, Ref, Shift
from attemper.exact.closed_forms import FIRST, LAST
from attemper.languages.rasp.bits import Bits
from attemper.languages.rasp.integers import IntegerTerm, sum_of

WITHOUT_I = {mask.weak: mask for mask in Mask if mask.is_strict}
"""By the mask that shows i, the one of the same side that does not."""


@final
@dataclass(frozen=True)
class Restated:
    """How heads that see i itself read what stands at the j of a mask; under one that shows i, as it is."""

    bits: Bits
    text_mask: Mask
    copied: bool

    @property
    def mask(self) -> Mask:
        """The mask of the heads."""
        return self.text_mask.weak

    def bit(self, bit: Ref) -> Ref:
        """A bit at j."""
        if not self.text_mask.is_strict:
            return bit
        return (
            self.bits.chosen(self._edge, bit, self._neighbour(bit)) if self.copied else self._neighbour(bit)
        )

    def term(self, term: IntegerTerm) -> IntegerTerm:
        """An Integer at j."""
        if not self.text_mask.is_strict:
            return term
        parts = [
            (factor * own, IntegerTerm(((1, count),), 0))
            for factor, read in term.parts
            for own, count in self._counts(read)
            if count.bit != self.bits.false
        ]
        return sum_of([*parts, (1, IntegerTerm((), term.constant))])

    def found(self, read: Ref, default: Ref) -> Ref:
        """What heads have read; the default where no j is seen."""
        return self.bits.chosen(self._edge, default, read) if self.text_mask.is_strict else read

    @property
    def _edge(self) -> Ref:
        return self.bits.add(Place(FIRST if self.text_mask.before else LAST))

    def _neighbour(self, bit: Ref) -> Ref:
        if bit == self.bits.false:
            return bit
        if bit == self.bits.true:
            return self.bits.negation(self._edge)
        direction = Direction.PREVIOUS if self.text_mask.before else Direction.NEXT
        return self.bits.add(Shift(direction, bit, 1, False))

    def _counts(self, count: Count) -> Iterator[tuple[int, Count]]:
        """Factors and counts whose sum at j + 1 is a count at j."""
        strict, neighbour = self.text_mask, self._neighbour(count.bit)
        match count.mask:
            case Mask.ALL:
                yield 1, count
            case mask if mask is strict:
                yield 1, Count(mask, neighbour)
            case mask if mask is strict.weak:
                yield 1, Count(strict, count.bit)
            case mask if mask.is_strict:
                inner = self.bits.all_of((count.bit, self.bits.negation(self._edge)))
                yield 1, Count(mask.weak, inner if self.copied else count.bit)
            case mask:
                yield from ((1, count), (1, Count(mask, neighbour)), (-1, Count(WITHOUT_I[mask], neighbour)))
