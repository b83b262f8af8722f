"""What may come next in words of a regular language: learned and judged at every prefix.

The tokens are the alphabet in its order, then a start, which stands before every word; outputs are the
alphabet, then END. After a prefix that leads to state q, symbol a may come next if a word of the language
goes on so, and END if q accepts. A model says so by positive numbers.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from random import Random
from typing import final

import torch
from torch import Tensor, nn

from attemper.errors import UnsupportedError
from attemper.languages.regular.completing import completions
from attemper.languages.regular.dfa import Dfa
from attemper.languages.regular.numbering import numbering_of
from attemper.languages.words import Word
from attemper.training.settings import NextTask, Settings
from attemper.workbench.automata import automaton_required
from attemper.workbench.lengths import LengthRange
from attemper.workbench.naming import language


def allowed(dfa: Dfa) -> Tensor:
    """What may come next in each state, [state, output] of True and False.

    >>> from attemper.languages.regular.regex import parse_regex
    >>> allowed(parse_regex("(ab)*", "ab"))[0].tolist()
    [True, False, True]
    """
    left = completions(dfa)
    rows = [
        [*(left[target] is not None for target in row), state in dfa.accepting]
        for state, row in enumerate(dfa.moves)
    ]
    return torch.tensor(rows)


def members(dfa: Dfa, lengths: LengthRange, count: int, seed: int) -> list[Word]:
    """Words of the language: each length that has some is as likely as another, and so are its words.

    Raises `UnsupportedError` where no length has any.
    """
    numbering = numbering_of(dfa, lengths[1])
    if numbering is None:
        raise UnsupportedError(f"words of {lengths[1]:,} symbols are not counted: choose shorter ones")
    inhabited = [n for n in range(lengths[0], lengths[1] + 1) if numbering.count(n)]
    if not inhabited:
        sizes = f"{lengths[0]:,}" if lengths[0] == lengths[1] else f"{lengths[0]:,} to {lengths[1]:,}"
        raise UnsupportedError(f"the language has no words of {sizes} symbols: ask for other lengths")
    draw = Random(f"next {dfa.text()} {lengths} {seed}")
    drawn = [draw.choice(inhabited) for _ in range(count)]
    return [numbering.word(n, draw.randrange(numbering.count(n))) for n in drawn]


@final
@dataclass(frozen=True)
class Continuations:
    """Learn what may come next: the binary cross-entropy of every output after every prefix."""

    automaton: Dfa
    words: Sequence[Word]
    settings: Settings

    @property
    def symbols(self) -> Word:
        return self.automaton.alphabet.symbols

    @property
    def tokens(self) -> int:
        return len(self.symbols) + 1

    @property
    def outputs(self) -> int:
        return len(self.symbols) + 1

    def loss(self, model: nn.Module, step: int) -> Tensor:
        draw = Random(f"next {self.settings.seeds.order} {step}")
        return self.loss_of(model, draw.choices(self.words, k=self.settings.training.batch))

    def loss_of(self, model: nn.Module, words: Sequence[Word]) -> Tensor:
        """The mean loss over all prefixes of some words and all outputs."""
        logits, may, is_there = self.said(model, words)
        labels = may.to(logits.dtype)
        return nn.functional.binary_cross_entropy_with_logits(logits[is_there], labels[is_there])

    def said(self, model: nn.Module, words: Sequence[Word]) -> tuple[Tensor, Tensor, Tensor]:
        """Logits [word, prefix, output], what may come next there, and which prefixes are no padding."""
        number = {symbol: k for k, symbol in enumerate(self.symbols)}
        width = max(map(len, words)) + 1
        tokens = torch.zeros((len(words), width), dtype=torch.long)
        states = torch.zeros((len(words), width), dtype=torch.long)
        for row, word in enumerate(words):
            tokens[row, : len(word) + 1] = torch.tensor([len(number), *(number[symbol] for symbol in word)])
            states[row, : len(word) + 1] = torch.tensor(
                states_along(self.automaton, [number[s] for s in word])
            )
        ends = torch.tensor([len(word) for word in words])
        is_there = torch.arange(width) <= ends[:, None]
        return model(tokens, is_there), allowed(self.automaton)[states], is_there


def states_along(dfa: Dfa, word: Sequence[int]) -> list[int]:
    """The states after each prefix."""
    found = [dfa.start]
    for symbol in word:
        found.append(dfa.moves[found[-1]][symbol])
    return found


def continuations_of(settings: Settings, task: NextTask) -> Continuations:
    """What the settings say is to be learned. Raises `UnsupportedError` for what is not regular, or empty."""
    meant = language(task.language, task.alphabet, at=task.at, empty=task.empty)
    automaton = automaton_required(meant.definition, meant.alphabet, meant)
    lengths = settings.training.shortest, settings.training.length
    words = members(automaton, lengths, task.words, settings.seeds.data)
    for n in settings.evaluation.lengths:
        members(automaton, (n, n), 1, settings.seeds.evaluation)  # none: better said now than at the end
    return Continuations(automaton, words, settings)


@final
@dataclass(frozen=True)
class Continued:
    """Of how many words of n symbols every prefix gets the right answers, all of them."""

    n: int
    words: int
    right: int
    loss: float
    """The mean binary cross-entropy in nats."""


@torch.no_grad()
def continued(model: nn.Module, lesson: Continuations, n: int, count: int, seed: int) -> Continued:
    """The model on drawn words of n symbols. Raises `UnsupportedError` where there are none to n."""
    words = members(lesson.automaton, (n, n), count, seed)
    logits, may, is_there = lesson.said(model, words)
    wrong = ((logits > 0) != may).any(dim=-1) & is_there
    return Continued(n, len(words), int((~wrong.any(dim=-1)).sum()), float(lesson.loss_of(model, words)))
