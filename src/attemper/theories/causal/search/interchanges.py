"""Interchanges that seem to go wrong, found by running the network in float64: the checker confirms them.

Of every length all words are run once. At each position a variable is then set to each row that it has there
on some word: so many runs of all words as there are different rows, not as there are pairs of words. What is
read along edges is set at several positions, too. Last come values that no word has there.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from functools import cache
from itertools import chain, combinations, compress, islice, product
from typing import assert_never, final

import torch
from torch import Tensor

from attemper.languages.words import Word, words_of_length
from attemper.networks.layers import Network
from attemper.running.dense import DenseTransformer
from attemper.theories.causal.certificate import CausalVariable, Interchange, SetTo, Taken
from attemper.theories.causal.check.settings import HALF, QUARTER, Interchanges, row_of

WORDS = 300
"""Of so many words of one length at most all are run."""

MIXES = 100
"""So many settings of one variable at one or more positions are tried of each length."""

AT_ONCE = 128
"""So many runs are one batch."""

SEEN = 1e-6
"""Rows of floats that are no further apart count as one, and a bit is not held that is further off."""


def suspects(interchanges: Interchanges, up_to: int, every_word: EveryWord) -> Iterator[Interchange]:
    """Words of up to so many symbols, the shortest first; rows that hold something else come last.

    Who asks of several edges of the same variables runs words once, with one `every_word` for all.
    """
    runs = _Runs(interchanges, every_word.module)
    every = list(every_word.up_to(up_to))
    for words in every:
        yield from runs.wrong(words, (Interchange(word, ()) for word in words.words))
        yield from runs.wrong(words, runs.mixed(words, words.taken))
        yield from runs.wrong(words, runs.whole(words))
    if not interchanges.edges:
        yield from chain.from_iterable(map(runs.unheld, every))
    for words in every:
        yield from runs.wrong(words, runs.mixed(words, words.set_or_taken))


def replayed(interchanges: Interchanges, said: Interchange) -> list[list[float]]:
    """What the network puts out on the base word after the interchange: [position][output].

    At `blocks.l.hook_resid_post`, l the variable's layer, its coordinates at the position are replaced by
    those of a run on the source.
    """
    natural = EveryWord(interchanges.network, interchanges.variables)
    words = natural.these(tuple(dict.fromkeys((said.base, *said.sources))))
    rows: list[list[float]] = _Runs(interchanges, natural.module).outputs(words, [said])[0].tolist()
    return rows


@final
class EveryWord:
    """A network in float64, and what variables are on all words of a length: each is run once."""

    def __init__(self, network: Network, variables: Sequence[CausalVariable]) -> None:
        self.network, self.variables = network, variables
        self.module = DenseTransformer(network, torch.float64)
        self._of_length = cache(self._all)

    def up_to(self, length: int) -> Iterator[_OneLength]:
        """The words of each length, as far as there are not too many."""
        for own in range(1, length + 1):
            if len(self.network.alphabet.symbols) ** own > WORDS:
                return
            yield self._of_length(own)

    def these(self, words: Sequence[Word]) -> _OneLength:
        """Some words of one length."""
        return _OneLength(self, words)

    def _all(self, length: int) -> _OneLength:
        return self.these(tuple(words_of_length(self.network.alphabet, length)))


@final
class _OneLength:
    """Words of one length, and what variables are on them."""

    def __init__(self, own: EveryWord, words: Sequence[Word]) -> None:
        self.variables, self.words = own.variables, words
        self.numbers = {word: number for number, word in enumerate(words)}
        symbols = own.network.alphabet.symbols
        self.tokens = torch.tensor([[symbols.index(symbol) for symbol in word] for word in words])
        self.points = [f"blocks.{variable.layer}.hook_resid_post" for variable in own.variables]
        with torch.no_grad():
            _, self.streams = own.module.run_with_cache(self.tokens, names=set(self.points))
        self.sources = cache(self._sources)
        """For every row that a variable has at a position a word on which it has that."""

    def rows(self, number: int) -> Tensor:
        """What a variable is on every word at every position [word, position, coordinate]."""
        return self.streams[self.points[number]][..., list(self.variables[number].coordinates)]

    def _sources(self, number: int, position: int) -> dict[tuple[float, ...], Word]:
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


@final
class _Runs:
    """A network in which variables are set, or which is cut at edges."""

    def __init__(self, interchanges: Interchanges, module: DenseTransformer) -> None:
        self.interchanges, self.variables = interchanges, interchanges.variables
        is_cut = interchanges.without is not interchanges.network
        self.module = DenseTransformer(interchanges.without, torch.float64) if is_cut else module

    def mixed(
        self, words: _OneLength, options: Callable[[int, int], Iterator[Taken | SetTo]]
    ) -> Iterator[Interchange]:
        """Every word with every mix of one variable's options."""
        return (Interchange(word, mix) for mix in self._mixes(words, options) for word in words.words)

    def _mixes(
        self, words: _OneLength, options: Callable[[int, int], Iterator[Taken | SetTo]]
    ) -> Iterator[tuple[Taken | SetTo, ...]]:
        """One variable, at one position first; of edges, whose program is not run, then at more of them."""
        length = len(words.words[0])
        for number in sorted(self.interchanges.written):
            choices = [list(options(number, position)) for position in range(1, length + 1)]
            most = length if self.interchanges.edges else 1
            together = chain.from_iterable(combinations(choices, size) for size in range(1, most + 1))
            yield from islice(chain.from_iterable(product(*own) for own in together), MIXES)

    def whole(self, words: _OneLength) -> Iterator[Interchange]:
        """Every variable at every position, from one word, where there are not too many pairs of words."""
        if len(words.words) ** 2 > WORDS:
            return
        for base, source in product(words.words, words.words):
            places = product(self.interchanges.written, range(1, len(base) + 1))
            yield Interchange(base, tuple(Taken(number, place, source) for number, place in places))

    def outputs(self, words: _OneLength, every: Sequence[Interchange]) -> Tensor:
        """What is put out after each of them [interchange, position, output]."""
        bases = words.tokens[[words.numbers[own.base] for own in every]]
        points = {words.points[number] for number in self.interchanges.written}
        with torch.no_grad():
            found = self.module.run_with_hooks(
                bases, on={point: _Setting(self, words, point, every) for point in points}
            )
        return found if found.dim() == 3 else found[..., None]

    def wrong(self, words: _OneLength, tried: Iterator[Interchange]) -> Iterator[Interchange]:
        """Those of them after which the network does not put out what the program does."""
        room = float(HALF if self.interchanges.edges else QUARTER)
        outputs = self.interchanges.program.outputs
        while every := list(islice(tried, AT_ONCE)):
            steps = map(self.interchanges.steps, every)
            meant = torch.tensor([[own[ref] for ref in outputs] for own in steps]).transpose(1, 2)
            is_wrong = ((self.outputs(words, every) - meant).abs() > room).flatten(1).any(dim=1)
            yield from compress(every, is_wrong.tolist())

    def unheld(self, words: _OneLength) -> Iterator[Interchange]:
        """Words on which a coordinate is not what its step says."""
        for word in words.words:
            steps = self.interchanges.steps_of(word)
            for number, variable in enumerate(self.variables):
                bits = [
                    [1 - bit if holder.opposite else bit for bit in steps[code.step]]
                    for code in variable.codes
                    for holder in code.holders
                ]
                rows = words.rows(number)[words.numbers[word]]
                if bool(((rows.T - torch.tensor(bits)).abs() > SEEN).any()):
                    yield Interchange(word, ())
                    break


class _Setting:
    """A hook that sets, in each of a batch's words, what is taken after one layer."""

    def __init__(self, runs: _Runs, words: _OneLength, point: str, every: Sequence[Interchange]) -> None:
        self.words, self.point, self.every = words, point, every
        self.written = {
            number: tuple(map(list, zip(*pairs, strict=True)))
            for number, pairs in runs.interchanges.written.items()
            if words.points[number] == point
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
                there = self.words.streams[self.point][self.words.numbers[source], position - 1]
                return there[coordinates]
            case SetTo(number, _, value):
                row = row_of(self.words.variables[number], value)
                return torch.tensor([float(row[own]) for own in coordinates], dtype=torch.float64)
            case _:
                assert_never(taken)
