"""Interchanges that seem to go wrong, found by running the network in float64: the checker confirms them.

Of every length all words are run once. At each position a variable is then set to each row that it has there
on some word: so many runs of all words as there are different rows, not as there are pairs of words. What is
read along edges is set at several positions, too. Last come values that no word has there.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from itertools import chain, combinations, islice, product
from typing import assert_never

import torch
from torch import Tensor

from attemper.languages.words import Word, words_of_length
from attemper.running.dense import DenseTransformer
from attemper.theories.causal.certificate import Interchange, SetTo, Taken
from attemper.theories.causal.check.settings import HALF, QUARTER, Interchanges, row_of

WORDS = 300
"""Of so many words of one length at most all are run."""

MIXES = 100
"""So many settings of one variable at one or more positions are tried of each length."""

SEEN = 1e-6
"""Rows of floats that are no further apart count as one, and a bit is not held that is further off."""


def suspects(interchanges: Interchanges, up_to: int) -> Iterator[Interchange]:
    """Words of up to so many symbols, the shortest first; rows that hold something else come last."""
    alphabet, every = interchanges.network.alphabet, list[_Runs]()
    for length in range(1, up_to + 1):
        if len(alphabet.symbols) ** length > WORDS:
            break
        run = _Runs(interchanges, tuple(words_of_length(alphabet, length)))
        every.append(run)
        yield from run.wrong(Interchange(word, ()) for word in run.words)
        for mix in run.mixes(run.taken):
            yield from run.wrong(Interchange(word, mix) for word in run.words)
        yield from run.wrong(run.whole())
    if not interchanges.edges:
        yield from chain.from_iterable(run.unheld() for run in every)
    for run in every:
        for mix in run.mixes(run.set_or_taken):
            yield from run.wrong(Interchange(word, mix) for word in run.words)


def replayed(interchanges: Interchanges, said: Interchange) -> list[list[float]]:
    """What the network puts out on the base word after the interchange: [position][output].

    At `blocks.l.hook_resid_post`, l the variable's layer, its coordinates at the position are replaced by
    those of a run on the source.
    """
    words = dict.fromkeys((said.base, *said.sources))
    rows: list[list[float]] = _Runs(interchanges, tuple(words)).outputs([said])[0].tolist()
    return rows


class _Runs:
    """Words of one length, run once, and what variables are on them."""

    def __init__(self, interchanges: Interchanges, words: Sequence[Word]) -> None:
        self.interchanges, self.words = interchanges, words
        self.variables = interchanges.variables
        self.module = DenseTransformer(interchanges.network, torch.float64)
        is_cut = interchanges.without is not interchanges.network
        self.without = DenseTransformer(interchanges.without, torch.float64) if is_cut else self.module
        self.numbers = {word: number for number, word in enumerate(words)}
        symbols = interchanges.network.alphabet.symbols
        self.tokens = torch.tensor([[symbols.index(symbol) for symbol in word] for word in words])
        self.points = [f"blocks.{own.layer}.hook_resid_post" for own in self.variables]
        with torch.no_grad():
            _, self.streams = self.module.run_with_cache(self.tokens, names=set(self.points))

    def rows(self, number: int) -> Tensor:
        """What a variable is on every word at every position [word, position, coordinate]."""
        return self.streams[self.points[number]][..., list(self.variables[number].coordinates)]

    def sources(self, number: int, position: int) -> dict[tuple[float, ...], Word]:
        """For every row that the variable has at the position a word on which it has that."""
        rows = (self.rows(number)[:, position - 1] / SEEN).round().mul(SEEN).tolist()
        words = zip(reversed(rows), reversed(self.words), strict=True)
        return {tuple(row): word for row, word in words}

    def taken(self, number: int, position: int) -> Iterator[Taken]:
        """The variable at the position, from words that differ there."""
        for source in self.sources(number, position).values():
            yield Taken(number, position, source)

    def set_or_taken(self, number: int, position: int) -> Iterator[Taken | SetTo]:
        """Every value of the variable at the position, from a word that has it where there is one."""
        variable, sources = self.variables[number], self.sources(number, position)
        for value in range(len(variable.codes) + 1):
            row = row_of(variable, value)
            source = sources.get(tuple(float(row[own]) for own in variable.coordinates))
            if source is None:
                yield SetTo(number, position, value)
            else:
                yield Taken(number, position, source)

    def mixes(
        self, options: Callable[[int, int], Iterator[Taken | SetTo]]
    ) -> Iterator[tuple[Taken | SetTo, ...]]:
        """One variable, at one position first; of edges, whose program is not run, then at more of them."""
        length = len(self.words[0])
        for number in sorted(self.interchanges.written):
            choices = [list(options(number, position)) for position in range(1, length + 1)]
            most = length if self.interchanges.edges else 1
            together = chain.from_iterable(combinations(choices, size) for size in range(1, most + 1))
            yield from islice(chain.from_iterable(product(*own) for own in together), MIXES)

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
                    after[number, taken.position - 1, place] = self._row(taken, own)
        return after

    def _row(self, taken: Taken | SetTo, coordinates: list[int]) -> Tensor:
        match taken:
            case Taken(_, position, source):
                there = self.runs.streams[self.point][self.runs.numbers[source], position - 1]
                return there[coordinates]
            case SetTo(number, _, value):
                row = row_of(self.runs.variables[number], value)
                return torch.tensor([float(row[own]) for own in coordinates], dtype=torch.float64)
            case _:
                assert_never(taken)
