"""A statement of a paper as data: what it is here, where it differs, and a run that can fail.

A new row is a `Statement` in the `STATEMENTS` of the room that shows it (`registry.STATEMENTS` names them),
with a function that yields what is `Observed`. A test of all rows asks for an error to plant that it is to
notice, and `python -m tests.support.writers.papers --write` writes docs/papers.md.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from enum import StrEnum
from fractions import Fraction
from typing import assert_never, final

Datum = bool | int | float | str | Fraction
"""What a run sees, and what it is judged by."""


class Paper(StrEnum):
    """Which text a statement stands in, as it is typed."""

    YANG = "yang"
    """Yang, Strobl, Chiang, Angluin: Simulating Hard Attention Using Soft Attention (2024)."""
    HAHN = "hahn"
    """Hahn: Theoretical Limitations of Self-Attention in Neural Sequence Models (2020)."""
    SUPPLEMENT = "supplement"
    """The note of 2021 with a more formal proof of the Depth Reduction Lemma, and a correction of Lemma 5."""
    JIANG = "jiang"
    """Jiang, Hahn, Zetzsche, Lin: Softmax Transformers are Turing-Complete (2025); we know its abstract."""


class HasToBe(StrEnum):
    """How what was seen has to compare with what is wanted."""

    EQUAL = "="
    AT_MOST = "<="
    AT_LEAST = ">="


@final
@dataclass(frozen=True)
class Observed:
    """One number, or text, that a run has found, and what it has to be.

    >>> print(at_most("mass off the maximum", Fraction(1, 3), Fraction(1, 2)))
    mass off the maximum: 1/3 <= 1/2
    >>> equal("layers", 2, 1).holds
    False
    """

    what: str
    found: Datum
    judged: HasToBe
    wanted: Datum

    @property
    def holds(self) -> bool:
        """Whether it is so; never for what is not a number."""
        match self.judged:
            case HasToBe.EQUAL:
                return self.found == self.wanted
            case HasToBe.AT_MOST:
                return _number(self.found) <= _number(self.wanted)
            case HasToBe.AT_LEAST:
                return _number(self.found) >= _number(self.wanted)
            case _:
                assert_never(self.judged)

    def __str__(self) -> str:
        if self.judged is not HasToBe.EQUAL:
            return f"{self.what}: {_shown(self.found)} {self.judged} {_shown(self.wanted)}"
        return f"{self.what}: {_shown(self.found)}" + ("" if self.holds else f", not {_shown(self.wanted)}")

    def about(self, name: str) -> Observed:
        """The same, said of what the name names.

        >>> print(equal("wrong words", 0, 0).about("Y a,"))
        Y a, wrong words: 0
        """
        return replace(self, what=f"{name} {self.what}")

    def as_record(self) -> dict[str, object]:
        """The same as JSON data; fractions are texts."""
        plain = {
            name: str(d) if isinstance(d, Fraction) else d
            for name, d in (("found", self.found), ("wanted", self.wanted))
        }
        return {"what": self.what, "judged": str(self.judged), "holds": self.holds, **plain}


def equal(what: str, found: Datum, wanted: Datum) -> Observed:
    """It has to be exactly this."""
    return Observed(what, found, HasToBe.EQUAL, wanted)


def at_most(what: str, found: Datum, wanted: Datum) -> Observed:
    """It may not be greater."""
    return Observed(what, found, HasToBe.AT_MOST, wanted)


def at_least(what: str, found: Datum, wanted: Datum) -> Observed:
    """It may not be less."""
    return Observed(what, found, HasToBe.AT_LEAST, wanted)


def _number(datum: Datum) -> int | float | Fraction:
    assert not isinstance(datum, str), datum
    return datum


def _shown(datum: Datum) -> str:
    return f"{datum:.6g}" if isinstance(datum, float) else str(datum)


@final
@dataclass(frozen=True)
class Statement:
    """One row: a statement of a paper, and what shows it."""

    row: int
    """Its number in docs/papers.md."""
    paper: Paper
    keys: tuple[str, ...]
    """What is typed for it, the first one its own: `theorem-15`; others may be those of several rows."""
    title: str
    """What the paper calls it, and about what it is, in one line."""
    says: str
    """What it is in this library's words."""
    differs: str
    """Where this library does it otherwise, and why; nothing where it does not."""
    command: str
    """What else to type, or to call from Python."""
    run: Callable[[], Iterable[Observed]] | None
    """A small example; None for what is not built, `differs` says why."""
