"""Whether a program seems to count without end: what it answers after more and more of one word.

A regular language tells finitely many pasts apart: after u^i, i above all that the program counts to and a
multiple of all that it counts modulo, it answers as after u^(2i) and u^(3i). Where a total that rises with
each u falls with each v, it does not: the answers to the prefixes of v v v ... after u^i and after u^(2i)
part at some symbol, and those after u^(2i) and after u^(3i) later still. Words u and v of one or two symbols
are tried side by side, and then a few symbols, each read i times, in the place of u^i.

Nothing is proved by that, and nothing is refused for it: it says which of two ways is tried first.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import islice, permutations
from math import lcm, prod
from typing import final

from attemper.attention_program.ops import Program
from attemper.checker.cases import from_digits
from attemper.checker.registers import Moment, PeriodicPositions, Registers, StepCone
from attemper.languages.words import Word, show_word
from attemper.reading.machines import counts_without_bound

MOST_WAYS = 150
"""So many ways to rise and fall are tried side by side."""

MOST_BLOCKS = 3
"""So many symbols rise one after the other at most, as in a^i b^i c^i d^j."""

WORK = 100_000
"""Positions, times the steps, symbols and words that are looked at in each: more is not tried."""

TIMES = (1, 2, 3)
"""How many times the least number of symbols each word is read that rises."""

RepeatedWords = tuple[Word, ...]
"""Words that are read one after the other, each again and again."""

RiseAndFall = tuple[RepeatedWords, Word]
"""What rises, and what then falls."""


@final
@dataclass(frozen=True)
class Endless:
    """Words by which a total rises, and a word by which it falls, as is seen from what is answered.

    Where each block is read for `length` symbols, and for twice as many, the prefixes of `down` `down` ...
    are answered alike before the symbol `first`; with twice and thrice as many before `second`, a later one.
    """

    blocks: RepeatedWords
    down: Word
    length: int
    first: int
    second: int

    def __str__(self) -> str:
        once, twice, thrice = (" ".join(self._powers(times)) for times in TIMES)
        down = " ".join([show_word(self.down)] * 3)
        return (
            f"a total seems to rise and fall without end: after {once} and {twice} the answers to {down} ... "
            f"part at symbol {self.first}, after {twice} and {thrice} at symbol {self.second}"
        )

    def _powers(self, times: int) -> Iterator[str]:
        for block in self.blocks:
            own = show_word(block) if len(block) == 1 else f"({show_word(block)})"
            yield f"{own}^{times * self.length // len(block)}"


def endless(program: Program) -> Endless | None:
    r"""Words by which a total of the program seems to rise and fall without end; None where none were met.

    The program has the meaning of `attention_program.machine`, and puts out a bit. Raises `UnprovenError`
    where it looks to the right, or tells too many places apart.

    >>> from attemper.attention_program.parse import parse_program
    >>> letters = 'alphabet ["a", "b"]\ns0 = letter ["a"]\ns1 = letter ["b"]\n'
    >>> counts = "s2 = count <= s0\ns3 = count <= s1\ns4 = linear 1 s2 -1 s3 0\n"
    >>> found = endless(parse_program(f"{letters}{counts}s5 = compare s4 >= 0\noutput s5"))
    >>> found.blocks, found.down, found.length, found.first, found.second
    ((('b',),), ('a',), 4, 4, 8)
    """
    if not counts_without_bound(program):
        return None
    part = StepCone(program, (program.output,), (), 1)
    factors = [abs(factor) for tally in part.tallies.values() for factor, *_ in tally.parts]
    # Most totals are seen by short words, equations with factors only by multiples of these.
    for length in dict.fromkeys(_beyond(part, by) for by in (1, lcm(*factors))):
        for count in range(1, MOST_BLOCKS + 1):
            # What rises by the greatest factor at each symbol can fall by 1, or the other way round.
            found = _parting(program, count, length, 2 * (max(factors) + 1) * length)
            if found is not None:
                return found
    return None


def _beyond(part: StepCone, by: int) -> int:
    """So many symbols as are beyond all that is counted to, a multiple of `by` and of all moduli."""
    places, tallies = PeriodicPositions.of(part.program), part.tallies.values()
    memory = len(part.shifts) + len(part.selections)
    counted = sum(max(abs(tally.least), abs(tally.most)) for tally in tallies)
    period = lcm(2 * places.period, prod(tally.modulus or 1 for tally in tallies), by)
    return period * (places.prefix + memory + counted)


def _ways(symbols: Sequence[str], count: int) -> Iterator[RiseAndFall]:
    """Ways with so many blocks; of one block with words of one and of two symbols, short ones first."""
    letters: list[Word] = [(symbol,) for symbol in symbols]
    for *blocks, down in permutations(letters, count + 1):
        yield tuple(blocks), down
    if count == 1:
        longer = list(permutations(symbols, 2))
        yield from (
            way for own in longer for letter in letters for way in (((own,), letter), ((letter,), own))
        )
        yield from (((up,), down) for up, down in permutations(longer, 2))


def _parting(program: Program, blocks: int, length: int, falling: int) -> Endless | None:
    """The first way with so many blocks in which answers part later where more was read before."""
    positions = sum(TIMES) * blocks * length + falling
    symbols, part = program.alphabet.symbols, StepCone(program, (program.output,), (), positions)
    words = WORK // positions - len(part.steps) - len(symbols)
    ways = list(islice(_ways(symbols, blocks), max(0, min(MOST_WAYS, words // len(TIMES)))))
    if not ways:
        return None
    runs = [_risen(part, [own for own, _ in ways], times * length) for times in TIMES]
    run = _SideBySide(part, runs[0].place, [row for own in runs for row in own.rows])
    said = run.read([down for _, down in ways] * len(TIMES), falling)
    found = _parted(said, len(ways))
    return None if found is None else Endless(*ways[found[0]], length, *found[1:])


def _parted(said: Iterable[int], count: int) -> tuple[int, int, int] | None:
    """The number of a way, the symbol at which answers part first, and the later one where they part then.

    `said` has for each symbol the answers in all ways where each has risen once, twice, thrice, as digits.
    """
    every = (1 << count) - 1
    parted: list[int] = []
    early = late = 0
    for symbol, answers in enumerate(said, 1):
        once, twice, thrice = (answers >> count * left & every for left in reversed(range(len(TIMES))))
        later = (twice ^ thrice) & early & ~late
        if later:
            own = later.bit_length()
            first = next(number for number, cases in enumerate(parted, 1) if cases >> own - 1 & 1)
            return count - own, first, symbol
        early, late = early | once ^ twice, late | twice ^ thrice
        parted.append(early)
    return None


def _risen(part: StepCone, ways: Sequence[RepeatedWords], length: int) -> _SideBySide:
    """What is kept of each way's blocks, each read for so many symbols."""
    run = _SideBySide(part, 1, [part.start()] * len(ways), is_first=True)
    for words in zip(*ways, strict=True):
        for _ in run.read(words, length):
            pass
    return run


@final
class _SideBySide:
    """Words that are read side by side; `rows` has what is kept of each."""

    def __init__(self, part: StepCone, place: int, rows: list[Registers], *, is_first: bool = False) -> None:
        self.part, self.place, self.rows, self.is_first = part, place, rows, is_first
        self._places = PeriodicPositions.of(part.program)

    def read(self, words: Sequence[Word], symbols: int) -> Iterator[int]:
        """Read so many symbols of each word and its repetitions: where the output is 1, digit by digit."""
        letters = [self._letters(words, number) for number in range(lcm(*map(len, words)))]
        for number in range(symbols):
            own = letters[number % len(letters)]
            moment = Moment(self.part, self.place, self.is_first, self.rows, own, {})
            moment.run()
            self.rows, self.place, self.is_first = moment.registers(), self._places.next(self.place), False
            yield moment.bits[self.part.program.output].yes

    def _letters(self, words: Sequence[Word], number: int) -> list[int]:
        own = [word[number % len(word)] for word in words]
        symbols = self.part.program.alphabet.symbols
        return [from_digits("1" if one == symbol else "0" for one in own) for symbol in symbols]
