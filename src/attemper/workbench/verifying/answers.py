"""What trying words has shown: plain data, which travels between processes."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from fractions import Fraction
from math import isfinite
from typing import final

from attemper.errors import ExitCode
from attemper.escapes import escaped
from attemper.html_tables import Tabled
from attemper.languages.words import Word, show_word
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
class Verification(Tabled):
    """How many words were tried, the smallest margin seen, and the first disagreement if any.

    The first disagreement is the first in the order of the plan, and the other numbers are those of the words
    up to that one: they depend on the model and the plan, not on who has tried the words, or when.
    """

    words: int
    longest: int
    smallest_margin: float
    disagreement: Disagreement | None
    language: str = field(default="", compare=False)
    """What was compared with, as people read it."""

    @property
    def status(self) -> str:
        """MEASURED where all words agree, which is no proof; else DISAGREEMENT."""
        return "MEASURED" if self.disagreement is None else "DISAGREEMENT"

    @property
    def exit_code(self) -> ExitCode:
        """What `attemper verify` returns to the shell."""
        return ExitCode.OK if self.disagreement is None else ExitCode.DISAGREEMENT

    @property
    def margin(self) -> float | None:
        """The smallest margin of a clamp; None where none was seen."""
        return self.smallest_margin if isfinite(self.smallest_margin) else None

    @property
    def record(self) -> dict[str, object]:
        """What was found, as JSON data."""
        wrong = self.disagreement
        return {
            "language": self.language,
            "status": self.status,
            "agree": wrong is None,
            "words": self.words,
            "longest": self.longest,
            "smallest_margin": self.margin,
            "disagreement": wrong
            and {
                "word": list(wrong.word),
                "position": wrong.position,
                "which": wrong.which,
                "expected": _plain(wrong.expected),
                "got": _plain(wrong.got),
            },
        }

    def lines(self) -> Iterator[str]:
        """What was compared, and what came out."""
        yield (
            f"compared: soft run, hard run and the exact meaning of {self.language}, on {self.words:,} words "
            f"up to length {self.longest:,}"
        )
        wrong = self.disagreement
        if wrong is not None:
            yield (
                f"WRONG at position {wrong.position}: {wrong.which} says {_plain(wrong.got)}, the language "
                f"{_plain(wrong.expected)}, on the word {show_word(wrong.word)}"
            )
            return
        margin = "no clamps" if self.margin is None else f"smallest margin {self.margin:.6f}"
        yield f"no disagreement (measured, not proved); {margin}"

    def __str__(self) -> str:
        return "\n".join(map(escaped, self.lines()))


def _plain(found: bool | OutputNumber | Expected | None) -> object:
    """As JSON has it: fractions as numbers."""
    match found:
        case Fraction():
            return float(found)
        case dict():
            return {name: float(value) for name, value in found.items()}
        case _:
            return found


NOTHING = Verification(0, 0, float("inf"), None)
"""What is known before any word is tried."""


def joined(first: Verification, then: Verification) -> Verification:
    """What words have shown that were all right, and words that come after them in the plan.

    >>> joined(NOTHING, Verification(2, 1, 0.25, None))
    Verification(words=2, longest=1, smallest_margin=0.25, disagreement=None, language='')
    """
    return Verification(
        first.words + then.words,
        max(first.longest, then.longest),
        min(first.smallest_margin, then.smallest_margin),
        then.disagreement,
    )
