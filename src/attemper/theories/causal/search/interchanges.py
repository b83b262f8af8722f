"""Interchanges that seem to go wrong, found by running the network in float64: the checker confirms them.

Of every length all words are run once. At each position a variable is then set to each row that it has there
on some word: so many runs of all words as there are different rows, not as there are pairs of words.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import product

import torch
from torch import Tensor

from attemper.languages.words import Word, words_of_length
from attemper.running.dense import DenseTransformer
from attemper.theories.causal.certificate import Interchange, Taken
from attemper.theories.causal.check.settings import HALF, QUARTER, Interchanges

WORDS = 300
"""Of so many words of one length at most all are run."""

SEEN = 1e-6
"""Rows of floats that are no further apart count as one, and a bit is not held that is further off."""


def suspects(interchanges: Interchanges, up_to: int) -> Iterator[Interchange]:
    """Words of up to so many symbols, the shortest first; rows that hold something else come last."""
    alphabet, variables = interchanges.network.alphabet, sorted(interchanges.written)
    unheld = list[Interchange]()
    for length in range(1, up_to + 1):
        if len(alphabet.symbols) ** length > WORDS:
            break
        run = _Runs(interchanges, tuple(words_of_length(alphabet, length)))
        yield from run.wrong(Interchange(word, ()) for word in run.words)
        for number, position in product(variables, range(1, length + 1)):
            for source in run.sources(number, position):
                yield from run.wrong(
                    Interchange(word, (Taken(number, position, source),)) for word in run.words
                )
        yield from run.wrong(run.whole())
        unheld += () if interchanges.edges else run.unheld()
    yield from unheld


def replayed(interchanges: Interchanges, said: Interchange) -> list[list[float]]:
    """What the network puts out on the base word after the interchange: [position][output].

    At `blocks.l.hook_resid_post`, l the variable's layer, its coordinates at the position are replaced by
    those of a run on the source.
    """
    words = dict.fromkeys((said.base, *(taken.source for taken in said.taken)))
    rows: list[list[float]] = _Runs(interchanges, tuple(words)).outputs([said])[0].tolist()
    return rows


class _Runs:
    """Words of one length, run once, and what variables are on them."""

    def __init__(self, interchanges: Interchanges, words: Sequence[Word]) -> None:
        self.interchanges, self.words = interchanges, words
        self.variables = interchanges.variables
        self.module = DenseTransformer(interchanges.network, torch.float64)
        self.without = DenseTransformer(interchanges.without, torch.float64)
        self.numbers = {word: number for number, word in enumerate(words)}
        symbols = interchanges.network.alphabet.symbols
        self.tokens = torch.tensor([[symbols.index(symbol) for symbol in word] for word in words])
        self.points = [f"blocks.{own.layer}.hook_resid_post" for own in self.variables]
        with torch.no_grad():
            _, self.streams = self.module.run_with_cache(self.tokens, names=set(self.points))

    def rows(self, number: int) -> Tensor:
        """What a variable is on every word at every position [word, position, coordinate]."""
        return self.streams[self.points[number]][..., list(self.variables[number].coordinates)]

    def sources(self, number: int, position: int) -> list[Word]:
        """For every row that the variable has at the position a word on which it has that."""
        rows = (self.rows(number)[:, position - 1] / SEEN).round().tolist()
        first = {tuple(row): word for row, word in zip(reversed(rows), reversed(self.words), strict=True)}
        return list(first.values())

    def whole(self) -> Iterator[Interchange]:
        """Every variable at every position, from one word, where there are not too many pairs of words."""
        if len(self.words) ** 2 > WORDS:
            return
        for base, source in product(self.words, self.words):
            places = product(self.interchanges.written, range(1, len(base) + 1))
            yield Interchange(base, tuple(Taken(number, place, source) for number, place in places))

    def outputs(self, every: Sequence[Interchange]) -> Tensor:
        """What is put out after each of them [interchange, position, output]."""
        bases = self.tokens[[self.numbers[own.base] for own in every]]
        points = {self.points[number] for number in self.interchanges.written}
        with torch.no_grad():
            found = self.without.run_with_hooks(
                bases, on={point: _Setting(self, point, every) for point in points}
            )
        return found if found.dim() == 3 else found[..., None]

    def wrong(self, tried: Iterator[Interchange]) -> Iterator[Interchange]:
        """Those of them after which the network does not put out what the program does."""
        every, room = list(tried), HALF if self.interchanges.edges else QUARTER
        for own, output in zip(every, self.outputs(every) if every else (), strict=True):
            steps = self.interchanges.steps(own)
            meant = torch.tensor([steps[ref] for ref in self.interchanges.program.outputs]).T
            if bool(((output - meant).abs() > float(room)).any()):
                yield own

    def unheld(self) -> Iterator[Interchange]:
        """Words on which a coordinate is not what its step says."""
        for word in self.words:
            steps = self.interchanges.steps_of(word)
            for number, variable in enumerate(self.variables):
                bits = [
                    [1 - bit if holder.opposite else bit for bit in steps[code.step]]
                    for code in variable.codes
                    for holder in code.holders
                ]
                rows = self.rows(number)[self.numbers[word]]
                if bool(((rows.T - torch.tensor(bits)).abs() > SEEN).any()):
                    yield Interchange(word, ())
                    break


class _Setting:
    """A hook that sets, in each of a batch's words, what is taken after one layer."""

    def __init__(self, runs: _Runs, point: str, every: Sequence[Interchange]) -> None:
        self.runs, self.point, self.every = runs, point, every
        self.written = {
            number: tuple(map(list, zip(*pairs, strict=True)))
            for number, pairs in runs.interchanges.written.items()
            if runs.points[number] == point
        }
        """Where variables stand, and where what is taken of them is written."""

    def __call__(self, stream: Tensor) -> Tensor:
        """The stream with numbers copied from the sources' own; from nowhere they are the word's own."""
        after = stream.clone()
        for own, place in self.written.values():
            after[..., place] = stream[..., own]
        for number, said in enumerate(self.every):
            for taken in said.taken:
                if taken.variable in self.written:
                    own, place = self.written[taken.variable]
                    there = self.runs.streams[self.point][self.runs.numbers[taken.source], taken.position - 1]
                    after[number, taken.position - 1, place] = there[own]
        return after
