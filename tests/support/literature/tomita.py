"""Tomita's seven languages, which studies of recurrent networks and transformers have used ever since."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import groupby, pairwise
from random import Random

from tests.support.literature.entry import Entry, Family, Formula, Regex, avoiding, by


def runs(word: str) -> Iterator[tuple[str, int]]:
    """Each run of one symbol, with its length."""
    return ((symbol, len(list(run))) for symbol, run in groupby(word))


def no_odd_zeros_after_odd_ones(word: str) -> bool:
    after = pairwise(runs(word))
    return not any(left[0] == "1" and left[1] % 2 and right[1] % 2 for left, right in after)


def at_most_four_runs(word: str) -> bool:
    return "".join(symbol for symbol, _ in runs(word)) in {"", "0", "1", "01", "10", "010", "101", "0101"}


def four_runs(draw: Random, length: int) -> str:
    first, second, third = sorted(draw.randint(0, length) for _ in range(3))
    sizes = (first, second - first, third - second, length - third)
    return "".join(symbol * size for symbol, size in zip("0101", sizes, strict=True))


def odd_ones_are_followed_by_even_zeros(draw: Random, length: int) -> str:
    """Tomita's third language, block by block."""
    word = "0" * draw.randint(0, 3)
    while len(word) < length:
        ones = draw.randint(1, 6)
        zeros = 2 * draw.randint(1, 3) if ones % 2 else draw.randint(1, 6)
        word += "1" * ones + "0" * zeros
    # What is cut off may have been a block's even number of 0s: the word ends with a 1.
    return word[:length].rstrip("0")


FAMILY = Family(
    "Tomita's languages",
    "M. Tomita, *Dynamic construction of finite-state automata from examples using hill-climbing*, 1982.",
    (
        Entry(
            "Tomita 1",
            "01",
            Regex("1*"),
            by(lambda word: "0" not in word),
            lambda _, length: "1" * length,
            before=1,
        ),
        Entry(
            "Tomita 2",
            "01",
            Regex("(10)*"),
            by(lambda word: word == "10" * (len(word) // 2)),
            lambda _, length: "10" * (length // 2),
            before=2,
        ),
        Entry(
            "Tomita 3",
            "01",
            Regex("~((.*0)?1(11)*0(00)*(1.*)?)"),
            by(no_odd_zeros_after_odd_ones),
            odd_ones_are_followed_by_even_zeros,
            before=5,
        ),
        Entry(
            "Tomita 4",
            "01",
            Regex("~(.*000.*)"),
            by(lambda word: "000" not in word),
            avoiding("01", "000"),
            before=2,
        ),
        Entry(
            "Tomita 5, expression",
            "01",
            Regex("(1*01*0)*1* & (0*10*1)*0*"),
            by(lambda word: word.count("0") % 2 == word.count("1") % 2 == 0),
            before=2,
        ),
        Entry(
            "Tomita 5, formula",
            "01",
            Formula("even(#<['0']) & even(#<['1'])"),
            by(lambda word: word.count("0") % 2 == word.count("1") % 2 == 0),
            before=2,
        ),
        Entry(
            "Tomita 6, expression",
            "01",
            Regex("(10 | (0|11)(01)*(1|00))*"),
            by(lambda word: (word.count("0") - word.count("1")) % 3 == 0),
            before=2,
        ),
        Entry(
            "Tomita 6, formula",
            "01",
            Formula("(#<['0'] - #<['1']) % 3 = 0"),
            by(lambda word: (word.count("0") - word.count("1")) % 3 == 0),
        ),
        Entry("Tomita 7", "01", Regex("0*1*0*1*"), by(at_most_four_runs), four_runs, before=3),
    ),
)
