"""Which positions j a position i sees: what the masks of programs and those of networks have in common."""

from __future__ import annotations

from enum import StrEnum
from typing import Any, Self


class PositionMask(StrEnum):
    """Masks by their texts: each says whether i sees the positions before it, itself, and those after it.

    Positions and lengths are numbers, or arrays of them, as numpy and torch have them.
    """

    before: bool
    here: bool
    after: bool

    def __new__(cls, text: str, before: bool = True, here: bool = True, after: bool = True) -> Self:
        """A mask with that text; it shows everything if nothing else is said."""
        mask = str.__new__(cls, text)
        mask._value_ = text
        mask.before, mask.here, mask.after = before, here, after
        return mask

    @property
    def is_strict(self) -> bool:
        """Whether i does not see itself."""
        return not self.here

    @property
    def weak(self) -> Self:
        """The same side, with i itself."""
        sides = self.before, self.after
        return next(mask for mask in type(self) if mask.here and (mask.before, mask.after) == sides)

    def sees(self, i: Any, j: Any) -> Any:
        """Whether i sees j; of arrays in their common shape."""
        if self.before and self.after:
            return (i == i) & (j == j)
        first, second = (j, i) if self.before else (i, j)
        return first <= second if self.here else first < second

    def ends(self, i: Any, n: Any) -> tuple[Any, Any]:
        """(low, high) where i sees the positions from low + 1 to high of a word of n symbols."""
        return 0 if self.before else i - int(self.here), n if self.after else i - int(self.is_strict)

    def visible(self, i: int, n: int) -> range:
        """The positions that i sees in a word of n symbols.

        >>> from attemper.networks.layers import Masking
        >>> list(Masking.FUTURE.visible(2, 3)), list(Masking.STRICT_PAST.visible(2, 3))
        ([1, 2], [3])
        """
        low, high = self.ends(i, n)
        return range(low + 1, high + 1)

    def number_visible(self, i: Any, n: Any) -> Any:
        """How many positions i sees in a word of n symbols."""
        low, high = self.ends(i, n)
        return high - low

    @property
    def number_visible_form(self) -> tuple[int, int, int]:
        """(a, b, c) where i sees a i + b n + c positions.

        >>> from attemper.networks.layers import Masking
        >>> Masking.PAST.number_visible_form
        (-1, 1, 1)
        """
        return self.before - self.after, int(self.after), self.here - self.before
