"""What a network did with a word, whichever engine ran it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import final

from attemper.languages.words import Word, show_word
from attemper.networks.layers import Network
from attemper.running.numbers import OutputNumber, read_bit, read_numbers, show_number

SHOWN = 60
"""How many symbols of a word a line shows."""


@final
@dataclass(frozen=True, repr=False)
class Run:
    """What a network did with a word.

    `values` is the output coordinate at the positions 1..n as numbers; `bits` reads them: True from
    3/4 on, False up to 1/4, None between (beyond what rounding can read). `margin` is the smallest
    margin of the network's clamps on this word, see `DenseTransformer.run_with_margin`; where it is
    negative, some approximate bit inside the network could not be rounded, and no bit is read.

    Of a network that puts out a symbol, `rows` has the bits of every symbol; `bits` are those of the first.
    Of one that puts out numbers, `numbers` has what it puts out at each position, and there are no bits.
    """

    word: Word
    values: tuple[float, ...]
    rows: tuple[tuple[bool | None, ...], ...]
    margin: float
    numbers: tuple[OutputNumber | None, ...] | None = None

    @property
    def bits(self) -> tuple[bool | None, ...]:
        """The bits of the output, or of its first symbol."""
        return self.rows[0]

    def __repr__(self) -> str:
        more = "..." if len(self.word) > SHOWN else ""
        if self.numbers is None:
            bits = "".join("?" if bit is None else str(int(bit)) for bit in self.bits[:SHOWN])
        else:
            bits = ", ".join(map(show_number, self.numbers[:SHOWN]))
        word = f"{show_word(self.word[:SHOWN])}{more}"
        return f"<Run {word}: {bits}{more}, margin {self.margin:.6g}>"


def run_of(network: Network, word: Word, rows: Sequence[Sequence[float]], margin: float) -> Run:
    """What was done with a non-empty word: what each output is at the positions 1..n, and the margin."""
    own = [tuple(row) for row in rows]
    if network.measure is not None:
        found = read_numbers(network, own)
        return Run(word, own[0], (), margin, found if margin >= 0 else (None,) * len(word))
    bits = (tuple(read_bit(value) if margin >= 0 else None for value in row) for row in own)
    return Run(word, own[0], tuple(bits), margin)


def empty_run(network: Network) -> Run:
    """What a network does with the empty word: there is nothing to put out."""
    if network.measure is not None:
        return Run((), (), (), float("inf"), ())
    return Run((), (), ((),) * len(network.outputs), float("inf"))
