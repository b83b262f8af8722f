"""The margins of words as FORMAT.md, section 18, has them, from a judgement's data and a run's raw files."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from itertools import product
from typing import Any

from tests.support.oracles.raw_encoder import RawRun
from tests.support.oracles.raw_gpt2 import RawGpt2


class RawTask:
    """What is asked, from the data of a judgement's file."""

    def __init__(self, run: RawRun | RawGpt2, judgement: Mapping[str, Any]) -> None:
        self.run, self.reading = run, judgement["reading"]
        self.vocabulary = judgement["vocabulary"]
        self.automaton = judgement["automaton"]
        self.letters = self.automaton["alphabet"]
        self.left = self._left()

    def _left(self) -> list[float]:
        """How far each state is from an accepting one."""
        moves, accepting = self.automaton["moves"], self.automaton["accepting"]
        left = [0.0 if state in accepting else float("inf") for state in range(len(moves))]
        for _ in moves:
            left = [min(own, 1 + min(left[t] for t in row)) for own, row in zip(left, moves, strict=True)]
        return left

    def states(self, word: tuple[str, ...]) -> list[int]:
        """The states after each prefix."""
        found = [self.automaton["start"]]
        for symbol in word:
            found.append(self.automaton["moves"][found[-1]][self.letters.index(symbol)])
        return found

    def is_read(self, word: tuple[str, ...], up_to: int) -> bool:
        """Whether the word is judged in a judgement to this length."""
        if self.reading == "verdict":
            return len(word) <= up_to
        return len(word) + self.left[self.states(word)[-1]] <= up_to

    def margin(self, word: tuple[str, ...], offset: int = 0) -> float:
        """The least of what is to be positive, and of the negatives of what is to be negative."""
        state = self.states(word)[-1]
        may = [self.left[target] < float("inf") for target in self.automaton["moves"][state]]
        if isinstance(self.run, RawGpt2):
            tokens = self.vocabulary["tokens"]
            asked = self.vocabulary["asked"]
            read = [tokens.index(token) for token in (self.vocabulary["start"], *word)]
            if asked is not None:
                found = self.run.outputs([*read, tokens.index(asked["query"])], offset)
                value = found[tokens.index(asked["yes"])] - found[tokens.index(asked["no"])]
                return float(value if state in self.automaton["accepting"] else -value)
            good = {symbol for symbol, can in zip(self.letters, may, strict=True) if can}
            if state in self.automaton["accepting"]:
                good.add(self.vocabulary["end"])
            values = zip(tokens, self.run.outputs(read, offset), strict=True)
            return min(float(x if token in good else -x) for token, x in values)
        assert offset == 0
        number = {symbol: k for k, symbol in enumerate(self.run.symbols)}
        tokens, always = [number[symbol] for symbol in word], len(number)
        if self.reading == "verdict":
            no, yes = self.run.outputs([*tokens, always])
            return float(yes - no if state in self.automaton["accepting"] else no - yes)
        found = self.run.outputs([always, *tokens])
        right = [*may, state in self.automaton["accepting"]]
        return min(float(x if good else -x) for x, good in zip(found, right, strict=True))

    def words(self, up_to: int) -> Iterator[tuple[str, ...]]:
        """All that are read."""
        for length in range(up_to + 1):
            yield from (word for word in product(self.letters, repeat=length) if self.is_read(word, up_to))
