"""What is measured of a trained model: losses on a source, or how often its verdicts are right."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import partial
from typing import assert_never, final

import torch
from torch import Tensor, nn

from attemper.training.continuations import Continuations, Continued, continued
from attemper.training.labelled import drawn, unbalanced
from attemper.training.losses import Lesson, NextSymbols, Verdicts
from attemper.training.measuring import Measured, finite, measured
from attemper.training.settings import Settings

NEVER_TRAINED_ON = 2**104
"""The seeds of batches are below (`losses`), so that no length is measured on words of a batch."""

AT_ONCE = 256
"""So many words are judged together."""


@final
@dataclass(frozen=True)
class Judged:
    """How many of the words of n symbols get the right verdict: of all, and of those in the language."""

    n: int
    words: int
    right: int
    members: int
    right_members: int
    loss: float
    """The mean loss in nats."""
    warning: str
    """What is to be said where there are hardly any words of one verdict, or none of this length."""


def results(model: nn.Module, lesson: Lesson, settings: Settings) -> Iterator[Measured | Judged | Continued]:
    """The model at each of `evaluation.lengths`."""
    asked = settings.evaluation
    for n in asked.lengths:
        seed = settings.seeds.evaluation
        match lesson:
            case NextSymbols(source=source):
                said = partial(after_the_last, model)
                yield measured(said, source, n, asked.words, NEVER_TRAINED_ON + seed)
            case Verdicts():
                yield judged(model, lesson, n, asked.words, seed)
            case Continuations():
                yield continued(model, lesson, n, asked.words, seed)
            case _:
                assert_never(lesson)


def after_the_last(model: nn.Module, tokens: Tensor) -> Tensor:
    """What a model says after the last token, [batch, output]."""
    found: Tensor = model(tokens)[:, -1]
    return found


@torch.no_grad()
def judged(model: nn.Module, lesson: Verdicts, n: int, count: int, seed: int) -> Judged:
    """The model on words of n symbols, by turns in the language and not, as far as there are such.

    Raises `UnsupportedError` if the model says no number.
    """
    words = list(drawn(lesson.task, (n, n), count, seed))
    parts = [words[top : top + AT_ONCE] for top in range(0, len(words), AT_ONCE)]
    logits = finite(torch.cat([lesson.logits(model, part) for part in parts]), "on some word")
    labels = torch.tensor([one.label for one in words])
    right = logits.argmax(dim=-1) == labels.long()
    return Judged(
        n,
        len(words),
        int(right.sum()),
        int(labels.sum()),
        int((right & labels).sum()),
        float(nn.functional.cross_entropy(logits, labels.long())),
        unbalanced(lesson.task, (n, n), words),
    )
