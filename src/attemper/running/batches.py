"""Running a network on many words of any lengths, in batches that fit in memory."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import final

import torch
from torch import Tensor

from attemper.languages.words import Alphabet, Word, show_word
from attemper.networks.layers import Network, hidden_width
from attemper.running.dense import DenseTransformer
from attemper.running.engines.names import Engine
from attemper.running.numbers import Number, read_bit, read_numbers, show_number

NUMBERS_PER_BATCH = 1 << 23
"""How many activations of the widest layer a batch may have (64 MiB in float64)."""


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
    numbers: tuple[Number | None, ...] | None = None

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


def runs_of(model: DenseTransformer, words: Sequence[Word], engine: Engine | None = None) -> Iterator[Run]:
    """Run words, in their order; lengths may differ, and the empty word has no positions.

    `engine`: None is the module's own.
    """
    runs = run_words(model, [word for word in words if word], engine)
    for word in words:
        yield next(runs) if word else _empty_run(model.network)


def _empty_run(network: Network) -> Run:
    """What a network does with the empty word: there is nothing to put out."""
    if network.measure is not None:
        return Run((), (), (), float("inf"), ())
    return Run((), (), ((),) * len(network.outputs), float("inf"))


def run_words(model: DenseTransformer, words: Sequence[Word], engine: Engine | None = None) -> Iterator[Run]:
    """Run non-empty words, in their order; lengths may differ."""
    widest = max(len(model.network.coordinates), hidden_width(model.network), 64)
    start = 0
    while start < len(words):
        end = _batch_end(words, start, NUMBERS_PER_BATCH // widest)
        batch = words[start:end]
        with torch.no_grad():
            values, margins = model.run_with_margin(*tokens_of(model.network.alphabet, batch), engine)
        outputs = values.reshape(*values.shape[:2], -1).transpose(1, 2).tolist()
        for word, rows, margin in zip(batch, outputs, margins.tolist(), strict=True):
            own = [tuple(row[: len(word)]) for row in rows]
            if model.network.measure is not None:
                found = read_numbers(model.network, own)
                numbers = found if margin >= 0 else (None,) * len(word)
                yield Run(word, own[0], (), margin, numbers)
                continue
            bits = (tuple(read_bit(value) if margin >= 0 else None for value in row) for row in own)
            yield Run(word, own[0], tuple(bits), margin)
        start = end


def tokens_of(alphabet: Alphabet, words: Sequence[Word]) -> tuple[Tensor, Tensor]:
    """Non-empty words as tokens [word, position], padded on the right, and lengths [word]."""
    number_of = {symbol: number for number, symbol in enumerate(alphabet.symbols)}
    return pad([[number_of[symbol] for symbol in word] for word in words])


def pad(rows: Sequence[Sequence[int]]) -> tuple[Tensor, Tensor]:
    """Token numbers [batch, position], padded on the right with 0, and the lengths [batch]."""
    width = max(len(row) for row in rows)
    tokens = torch.tensor([[*row, *[0] * (width - len(row))] for row in rows])
    return tokens, torch.tensor([len(row) for row in rows])


def _batch_end(words: Sequence[Word], start: int, tokens: int) -> int:
    """As many words from `start` on as fit, padded, into one batch; at least one."""
    width = end = 0
    for end in range(start, len(words)):
        width = max(width, len(words[end]))
        if end > start and width * (end - start + 1) > tokens:
            return end
    return end + 1
