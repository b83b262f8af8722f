"""Well-known languages as formulas and regular expressions: what the demo compiles and tests check."""

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


@final
@dataclass(frozen=True)
class NamedRegular:
    """A regular expression, and membership said again in plain Python, independently of it."""

    name: str
    regex: str
    alphabet: str
    contains: Callable[[Word], bool]


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


def _no_three_zeros(word: Word) -> bool:
    return "000" not in "".join(word)


def _even_runs(word: Word) -> bool:
    """Every run of 1s has even length."""
    return all(len(run) % 2 == 0 for run in "".join(word).split("0"))


def _multiple_of_three(word: Word) -> bool:
    return int("".join(word) or "0", 2) % 3 == 0


def _date(word: Word) -> bool:
    return "".join(word) == "dddd-dd-dd"


REGULAR_LANGUAGES = (
    NamedRegular("no 000 (star-free)", "~(.* 000 .*)", "01", _no_three_zeros),
    NamedRegular("runs of 1s are even (quasi-aperiodic)", "(0|11)*", "01", _even_runs),
    NamedRegular("binary multiples of 3 (group S3)", "(0|1(01*0)*1)*", "01", _multiple_of_three),
    NamedRegular("dddd-dd-dd", "d{4} '-' d{2} '-' d{2}", "d-", _date),
)
