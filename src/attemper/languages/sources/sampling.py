"""Prefixes of n symbols drawn given |w| >= n: exactly by their law, without rejection, from a seed."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterator
from itertools import accumulate, islice, pairwise
from random import Random
from typing import assert_never

from attemper.errors import OptionError
from attemper.languages.sources.brackets import height_masses
from attemper.languages.sources.values import CLOSING, Brackets, Parity, Source, require_length
from attemper.languages.words import Word


def sample(source: Source, n: int, count: int, seed: int) -> tuple[Word, ...]:
    """`count` independent prefixes of n symbols, by their law given |w| >= n; n >= 1.

    PARITY: the states after 1, ..., n-1 symbols accept independently with (1-p)/(2-p), the last one with 1/2.
    2DYCK: the height at n by its law; then back from there, where the last of t symbols that lead to height h
    closes with probability (h+2) c / ((h+1) t), c = (t-h)/2 of them (all ballot paths are equally likely).
    All choices are between integers. The same seed gives the same prefixes.

    Raises `OptionError` if n is below 1 (2DYCK: or beyond `brackets.LONGEST`), or `count` or `seed` negative.

    >>> from fractions import Fraction
    >>> ["".join(word) for word in sample(Brackets(Fraction(2, 5)), 8, 3, seed=0)]
    ['[][[]]()', '[(([[]])', '[][()(()']
    """
    require_length(n)
    for name, value in (("count", count), ("seed", seed)):
        if type(value) is not int or value < 0:
            raise OptionError(f"{name}={value!r} is not a whole number from 0 on")
    return tuple(islice(_drawn(source, n, Random(seed)), count))


def _drawn(source: Source, n: int, random: Random) -> Iterator[Word]:
    match source:
        case Parity():
            while True:
                yield _bits(source, n, random)
        case Brackets():
            heights, masses = zip(*height_masses(source, n), strict=True)
            until = list(accumulate(masses))
            while True:
                height = heights[bisect_right(until, random.randrange(until[-1]))]
                yield _typed(_opening(n, height, random), random)
        case _:
            assert_never(source)


def _bits(source: Parity, n: int, random: Random) -> Word:
    share = source.accepting_share
    accepting = [random.randrange(share.denominator) < share.numerator for _ in range(n - 1)]
    states = [not source.odd, *accepting, random.randrange(2) == 0]
    return tuple("0" if before is after else "1" for before, after in pairwise(states))


def _opening(n: int, height: int, random: Random) -> list[bool]:
    """Which of n brackets open, in a random ballot path that ends at the height."""
    opening = []
    for length in range(n, 0, -1):
        closed = (length - height) // 2
        closes = random.randrange((height + 1) * length) < (height + 2) * closed
        opening.append(not closes)
        height += 1 if closes else -1
    return opening[::-1]


def _typed(opening: list[bool], random: Random) -> Word:
    """The brackets, the kinds of opening ones at random."""
    still_open: list[str] = []
    word = []
    for opens in opening:
        if opens:
            still_open.append(random.choice("(["))
        word.append(still_open[-1] if opens else CLOSING[still_open.pop()])
    return tuple(word)
