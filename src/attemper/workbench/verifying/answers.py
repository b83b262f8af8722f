"""What trying words has shown: plain data, which travels between processes."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import final

from attemper.languages.words import Word
from attemper.running.numbers import OutputNumber

Expected = int | Fraction | dict[str, Fraction]
"""A number as it should be."""


@final
@dataclass(frozen=True)
class Disagreement:
    """A word on which a run differs from the language's exact meaning at a position (from 1)."""

    word: Word
    position: int
    which: str
    expected: bool | Expected
    got: bool | OutputNumber | None


@final
@dataclass(frozen=True)
class Verification:
    """How many words were tried, the smallest margin seen, and the first disagreement if any.

    The first disagreement is the first in the order of the plan, and the other numbers are those of the words
    up to that one: they depend on the model and the plan, not on who has tried the words, or when.
    """

    words: int
    longest: int
    smallest_margin: float
    disagreement: Disagreement | None


NOTHING = Verification(0, 0, float("inf"), None)
"""What is known before any word is tried."""


def joined(first: Verification, then: Verification) -> Verification:
    """What words have shown that were all right, and words that come after them in the plan.

    >>> joined(NOTHING, Verification(2, 1, 0.25, None))
    Verification(words=2, longest=1, smallest_margin=0.25, disagreement=None)
    """
    return Verification(
        first.words + then.words,
        max(first.longest, then.longest),
        min(first.smallest_margin, then.smallest_margin),
        then.disagreement,
    )
