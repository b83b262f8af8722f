"""What a step is trained on: batches that depend on the seeds and the step alone; their losses, in nats."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache
from hashlib import sha256
from random import Random
from typing import assert_never, final

import torch
from torch import Tensor, nn

from attemper.languages.sources.values import Source, source_named
from attemper.training.continuations import Continuations, continuations_of
from attemper.training.datasets import training_words
from attemper.training.labelled import Labelled, Task
from attemper.training.prefixes import drawn_prefixes, symbols_of
from attemper.training.settings import NextTask, RecognitionTask, Settings, SourceTask


@final
@dataclass(frozen=True)
class NextSymbols:
    """Learn a source: after each of the symbols 1 to n of every prefix, what comes next."""

    source: Source
    settings: Settings
    draws_symbols: bool

    @property
    def symbols(self) -> tuple[str, ...]:
        return symbols_of(self.source)

    @property
    def tokens(self) -> int:
        return len(self.symbols) + 1

    @property
    def outputs(self) -> int:
        return len(symbols_of(self.source)) + 1

    def loss(self, model: nn.Module, step: int) -> Tensor:
        asked, seed = self.settings.training, (self.settings.seeds.data << 40) + step
        prefixes = drawn_prefixes(self.source, asked.length, asked.batch, seed)
        law = prefixes.law[:, 1:]
        if self.draws_symbols:
            # PyTorch's generator reads 32 bits of a seed, which must not be the step alone.
            chance = torch.Generator().manual_seed(Random(f"symbols {seed}").getrandbits(32))
            drawn = torch.multinomial(law.flatten(0, 1), 1, generator=chance)
            law = nn.functional.one_hot(drawn[:, 0], law.shape[-1]).reshape(law.shape).to(law.dtype)
        said = model(prefixes.tokens)[:, 1:].log_softmax(dim=-1)
        loss: Tensor = -(law.to(said.dtype) * said).sum(dim=-1).mean()
        return loss


@final
@dataclass(frozen=True)
class Verdicts:
    """Learn a language: of each word, whether it is in it, said at the end marker behind the word."""

    task: Task
    words: Sequence[Labelled]
    settings: Settings

    @property
    def symbols(self) -> tuple[str, ...]:
        return self.task.alphabet

    @property
    def tokens(self) -> int:
        return len(self.symbols) + 1

    @property
    def outputs(self) -> int:
        return 2

    def loss(self, model: nn.Module, step: int) -> Tensor:
        size, order = self.settings.training.batch, self.settings.seeds.order
        places = range(step * size, (step + 1) * size)
        return self.loss_of(model, [self.words[place_of(place, len(self.words), order)] for place in places])

    def loss_of(self, model: nn.Module, words: Sequence[Labelled]) -> Tensor:
        """The mean loss on some words."""
        labels = torch.tensor([int(one.label) for one in words])
        return nn.functional.cross_entropy(self.logits(model, words), labels)

    def logits(self, model: nn.Module, words: Sequence[Labelled]) -> Tensor:
        """What the model says at the end markers: logits [word, (not in the language, in it)]."""
        number = {symbol: k for k, symbol in enumerate(self.task.alphabet)}
        marker = len(number)
        width = max(len(one.word) for one in words) + 1
        tokens = torch.full((len(words), width), marker)
        for row, one in enumerate(words):
            tokens[row, : len(one.word)] = torch.tensor(
                [number[symbol] for symbol in one.word], dtype=torch.long
            )
        ends = torch.tensor([len(one.word) for one in words])
        mask = torch.arange(width) <= ends[:, None]
        found: Tensor = model(tokens, mask)[torch.arange(len(words)), ends]
        return found


def place_of(place: int, size: int, order: int) -> int:
    """Which of `size` words stands in this place, if each epoch goes through all of them in its own order."""
    epoch, within = divmod(place, size)
    return _order(epoch, size, order)[within]


@lru_cache(maxsize=2)
def _order(epoch: int, size: int, seed: int) -> Sequence[int]:
    return Random(f"{seed} {epoch}").sample(range(size), size)


Lesson = NextSymbols | Verdicts | Continuations
"""What is learned: `symbols` are tokens from 0 on, `tokens` and `outputs` say what a model needs, `loss` is
that of a step's batch.
"""


def lesson_of(settings: Settings) -> Lesson:
    """What the settings say is to be learned. Raises what `training_words` raises."""
    asked = settings.training
    match settings.task:
        case SourceTask(name=name, p=p, targets=targets):
            return NextSymbols(source_named(name, Fraction(p)), settings, targets == "symbols")
        case RecognitionTask():
            lengths = (asked.shortest, asked.length)
            task, words = training_words(settings.task, lengths, settings.seeds.data)
            return Verdicts(task, words, settings)
        case NextTask():
            return continuations_of(settings, settings.task)
        case _:
            assert_never(settings.task)


def words_digest(lesson: Lesson) -> str | None:
    """What names the set of words that is learned from, in its order; None if every batch is drawn anew."""
    match lesson:
        case NextSymbols():
            return None
        case Verdicts(words=words):
            said = "".join(f"{json.dumps([one.word, one.label])}\n" for one in words)
            return sha256(said.encode()).hexdigest()
        case Continuations(words=members):
            return sha256("".join(f"{json.dumps(word)}\n" for word in members).encode()).hexdigest()
        case _:
            assert_never(lesson)
