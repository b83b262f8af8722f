"""What a network did with a word, whichever engine ran it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import final

from attemper.errors import UnsupportedError
from attemper.languages.measures import describe
from attemper.languages.words import Word, show_word
from attemper.networks.layers import Network
from attemper.running.numbers import OutputNumber, read_bit, read_numbers, show_number

SHOWN = 60
"""How many symbols of a word a line shows."""

PutOut = str | bool | OutputNumber
"""A symbol's name, a bit or a number."""


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

    network: Network = field(compare=False)
    word: Word
    values: tuple[float, ...]
    rows: tuple[tuple[bool | None, ...], ...]
    margin: float
    numbers: tuple[OutputNumber | None, ...] | None = None

    @property
    def bits(self) -> tuple[bool | None, ...]:
        """The bits of the output, or of its first symbol. Raises `UnsupportedError` for numbers."""
        if self.numbers is not None:
            raise _no_verdict(self.network)
        return self.rows[0]

    @property
    def accepted(self) -> bool | None:
        """The verdict, at the position where the language is read; None if it cannot be read there.

        Raises `UnsupportedError` where a symbol or a number is put out, and not a bit.

        >>> import attemper
        >>> [run.accepted for run in attemper.compile("O a", "ab").run(["bab", "b", ""])]
        [True, False, False]
        """
        if _puts_out_more(self.network):
            raise _no_verdict(self.network)
        if not self.word:
            return self.network.accepts_empty
        return self.bits[0 if self.network.reads_first else -1]

    @property
    def outputs(self) -> tuple[PutOut | None, ...]:
        """What is put out at each position: a bit, a symbol's name or a number; None where it cannot be read.

        >>> import attemper
        >>> [run.outputs for run in attemper.compile("O a", "ab").run(["bab"])]
        [(False, True, True)]
        """
        if self.numbers is not None:
            return self.numbers
        names = [name for name, _ in self.network.symbols]
        return tuple(_only(names, column) for column in zip(*self.rows, strict=True)) if names else self.bits

    def __repr__(self) -> str:
        more = "..." if len(self.word) > SHOWN else ""
        said = [self._shown_outputs() + more] if self.word else []
        if not _puts_out_more(self.network):
            said.insert(0, verdict_text(self.accepted))
        word = f"{show_word(self.word[:SHOWN])}{more}"
        return f"<Run {word}: {', '.join([*said, f'margin {self.margin:.6g}'])}>"

    def _shown_outputs(self) -> str:
        """What is put out at the first positions, on one line."""
        if self.numbers is not None:
            return ", ".join(map(show_number, self.numbers[:SHOWN]))
        if self.network.symbols:
            return show_word(tuple("?" if one is None else str(one) for one in self.outputs[:SHOWN]))
        return "".join("?" if bit is None else str(int(bit)) for bit in self.bits[:SHOWN])


def verdict_text(accepted: bool | None) -> str:
    """A verdict in a word.

    >>> verdict_text(True), verdict_text(None)
    ('accepted', 'undecided')
    """
    return {True: "accepted", False: "rejected", None: "undecided"}[accepted]


def run_of(network: Network, word: Word, rows: Sequence[Sequence[float]], margin: float) -> Run:
    """What was done with a non-empty word: what each output is at the positions 1..n, and the margin."""
    own = [tuple(row) for row in rows]
    if network.measure is not None:
        found = read_numbers(network, own)
        return Run(network, word, own[0], (), margin, found if margin >= 0 else (None,) * len(word))
    bits = (tuple(read_bit(value) if margin >= 0 else None for value in row) for row in own)
    return Run(network, word, own[0], tuple(bits), margin)


def empty_run(network: Network) -> Run:
    """What a network does with the empty word: there is nothing to put out."""
    if network.measure is not None:
        return Run(network, (), (), (), float("inf"), ())
    return Run(network, (), (), ((),) * len(network.outputs), float("inf"))


def _puts_out_more(network: Network) -> bool:
    """Whether symbols or numbers are put out, and not a bit."""
    return bool(network.symbols) or network.measure is not None


def _no_verdict(network: Network) -> UnsupportedError:
    what = "a symbol" if network.measure is None else describe(network.measure)
    return UnsupportedError(
        f"there is no verdict: {what} is put out at every position; see it with 'attemper run' or "
        "model.output(word)"
    )


def _only(names: Sequence[str], bits: Sequence[bool | None]) -> str | None:
    """The name whose bit alone is 1; None if there is none, or a bit is not known."""
    held = [name for name, bit in zip(names, bits, strict=True) if bit is not False]
    return held[0] if len(held) == 1 and None not in bits else None
