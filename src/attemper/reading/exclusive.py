"""Which bits of a program seem to exclude each other: what is seen on random words, many at once.

Nothing is proved by that: whoever follows the program tests at every configuration that no two bits of a
group are 1.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import cycle, islice
from random import Random
from typing import final

from attemper.attention_program.ops import Program, Ref
from attemper.checker.cases import from_digits
from attemper.checker.names import UnprovenError
from attemper.checker.registers import Moment, PeriodicPositions, Registers, StepCone

WORDS = 256
"""So many random words are tried."""

LENGTH = 64
"""So many symbols each of them has."""

SEED = 0
"""What they are drawn with: the same words each time."""

FAR = 10 * LENGTH
"""States of an automaton that no total of so short words goes beyond."""


@final
class RandomWords:
    """Random words of one alphabet, half of them with one symbol more often than others."""

    def __init__(self, symbols: int) -> None:
        draw = Random(SEED)
        weights = [
            [1.0 if word % 2 or own != word // 2 % symbols else 4.0 * symbols for own in range(symbols)]
            for word in range(WORDS)
        ]
        words = [draw.choices(range(symbols), own, k=LENGTH) for own in weights]
        self.letters = [
            [from_digits("1" if word[place] == own else "0" for word in words) for own in range(symbols)]
            for place in range(LENGTH)
        ]

    def groups(self, program: Program, bits: Sequence[Ref]) -> list[list[Ref]]:
        """The bits in runs, as few as can be, of which no two were 1 at one position of a word."""
        try:
            ones = self._ones(program, bits)
        except UnprovenError:
            return [[bit] for bit in bits]
        everywhere = (1 << WORDS * LENGTH) - 1
        return [list(bits[start:end]) for start, end in _cuts([ones[bit] for bit in bits], everywhere)]

    def _ones(self, program: Program, bits: Sequence[Ref]) -> dict[Ref, int]:
        """For each bit where the bit can be 1: a binary digit is a position of a word.

        Words that have come to a past which others had go on as copies of words that have not.
        """
        part, places = StepCone(program, bits, (), FAR), PeriodicPositions.of(program)
        rows, place = [part.start()] * WORDS, 1
        known: set[tuple[int, Registers]] = set()
        found = dict.fromkeys(bits, 0)
        for number, letters in enumerate(self.letters):
            moment = Moment(part, place, number == 0, rows, letters, {})
            moment.run()
            for bit in bits:
                found[bit] |= (moment.all & ~moment.bits[bit].no) << number * WORDS
            place = places.next(place)
            reached = moment.registers()
            new = [row for row in dict.fromkeys(reached) if (place, row) not in known]
            known.update((place, row) for row in new)
            rows = [*new, *islice(cycle(new or reached), WORDS - len(new))]
        return found


def _cuts(ones: Sequence[int], everywhere: int) -> Iterator[tuple[int, int]]:
    """Where runs of bits start and end that exclude each other: as few runs as can be.

    Where a bit at an end would do for the run beside it, too, most runs are taken of which a bit is 1
    everywhere, as it is with bits that say which of all cases holds.
    """
    best: dict[int, tuple[int, int, int]] = {len(ones): (0, 0, len(ones))}
    for start in reversed(range(len(ones))):
        ways: list[tuple[int, int, int]] = []
        taken = 0
        for end in range(start + 1, len(ones) + 1):
            if taken & ones[end - 1]:
                break
            taken |= ones[end - 1]
            runs, open_runs, _ = best[end]
            ways.append((runs + 1, open_runs + (taken != everywhere), end))
        best[start] = min(ways)
    end = 0
    while end < len(ones):
        start, end = end, best[end][2]
        yield start, end
