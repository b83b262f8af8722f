"""Well-known languages as formulas: what the demo compiles and the tests check against plain Python."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import final

from attemper.languages.words import Word


@final
@dataclass(frozen=True)
class NamedLanguage:
    """A formula, and membership said again in plain Python, independently of any formula."""

    name: str
    formula: str
    alphabet: str
    contains: Callable[[Word], bool]
    accepts_empty: bool = False


def _odd_ones(word: Word) -> bool:
    """PARITY with the polarity "odd": an odd number of 1s. (Hahn's PARITY is "even".)"""
    return word.count("1") % 2 == 1


def _majority(word: Word) -> bool:
    return word.count("0") <= word.count("1")


def _dyck_1(word: Word) -> bool:
    height = 0
    for symbol in word:
        height += 1 if symbol == "(" else -1
        if height < 0:
            return False
    return height == 0


def _has_aab(word: Word) -> bool:
    return "aab" in "".join(word)


def _flip_flop(word: Word) -> bool:
    """Every read gives what was last written; a read before any write fails."""
    written = None
    for instruction in word:
        if instruction.startswith("w"):
            written = instruction[1]
        if instruction.startswith("r") and instruction[1] != written:
            return False
    return True


def _ab_star(word: Word) -> bool:
    return len(word) % 2 == 0 and word == ("a", "b") * (len(word) // 2)


NAMED_LANGUAGES = (
    NamedLanguage("PARITY (remainder of a count)", "#<['1'] % 2 = 1", "01", _odd_ones),
    NamedLanguage("PARITY (position predicate)", "O (odd(pos) & pos = #['1'])", "01", _odd_ones),
    NamedLanguage("PARITY (no predicate)", "!O (#<[Y '1'] = #>['1'])", "01", _odd_ones),
    NamedLanguage("MAJORITY", "#<['0'] <= #<['1']", "01", _majority, accepts_empty=True),
    NamedLanguage("DYCK-1", "#<['('] = #<[')'] & H (#<[')'] <= #<['('])", "( )", _dyck_1, accepts_empty=True),
    NamedLanguage("3-gram aab", "O (b & Y (a & Y a))", "ab", _has_aab),
    NamedLanguage(
        "flip-flop",
        "H ((r0 -> !w1 S w0) & (r1 -> !w0 S w1))",
        "w0 w1 r0 r1 i",
        _flip_flop,
        accepts_empty=True,
    ),
    NamedLanguage("(ab)*", "b & H ((a -> first | Y b) & (b -> Y a))", "ab", _ab_star, accepts_empty=True),
)
