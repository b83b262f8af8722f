"""Which bits of a program seem to exclude each other: what is seen on random words, many at once.

Nothing is proved by that: whoever follows the program tests at every configuration that no two bits of a
group are 1.
"""

from __future__ import annotations

from collections.abc import Sequence
from random import Random
from typing import final

from attemper.attention_program.ops import Program, Ref
from attemper.checker.cases import from_digits
from attemper.checker.names import UnprovenError
from attemper.checker.registers import Moment, Part, Places

WORDS = 256
"""So many random words are tried."""

LENGTH = 64
"""So many symbols each of them has."""

SEED = 0
"""What they are drawn with: the same words each time."""

FAR = 10 * LENGTH
"""States of an automaton that no total of so short words goes beyond."""


@final
class Seen:
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
        """The bits in runs, as long as can be, of which no two were 1 at one position of a word."""
        try:
            found = self._ones(program, bits)
        except UnprovenError:
            return [[bit] for bit in bits]
        groups: list[list[Ref]] = []
        taken = [0] * LENGTH
        for bit in bits:
            if not groups or any(one & other for one, other in zip(found[bit], taken, strict=True)):
                groups.append([])
                taken = [0] * LENGTH
            groups[-1].append(bit)
            taken = [one | other for one, other in zip(found[bit], taken, strict=True)]
        return groups

    def _ones(self, program: Program, bits: Sequence[Ref]) -> dict[Ref, list[int]]:
        """For each bit and each position the words in which the bit can be 1 there."""
        part, places = Part(program, bits, (), FAR), Places.of(program)
        rows, place = [part.start()] * WORDS, 1
        found: dict[Ref, list[int]] = {bit: [] for bit in bits}
        for number, letters in enumerate(self.letters):
            moment = Moment(part, place, number == 0, rows, letters, {})
            moment.run()
            for bit in bits:
                found[bit].append(moment.all & ~moment.bits[bit].no)
            rows, place = moment.registers(), places.next(place)
        return found
