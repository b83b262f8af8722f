"""How well a model predicts a source at a length, and the least that its own influence allows: pair by pair.

A drawn prefix and its partner (`prefixes.partner`) are weighed as the source weighs them given all other
symbols, so that nothing is left to chance between the two. Their mean loss L and the change eps of what they
are told apart by keep

    PARITY: L >= g(alpha, eps) + (1 - alpha p) ln 2,      eps = |change of ln(P(END) / P(not END))|,
    2DYCK:  L >= h(p) + p ln 2 + q ln(1 + e^(-eps/2)),    eps = |change of ln(P(")") / P("]"))|,

at every n and for every model (`attemper.languages.sources.pairs`, `bracket_levels`; after Hahn 2020, section
6). Losses are in nats, given |w| >= n.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from math import exp, log1p, sqrt
from typing import assert_never, final

import torch
from torch import Tensor

from attemper.errors import UnsupportedError
from attemper.exact.balls import ball, precision
from attemper.languages.sources.entropies import PRECISION, entropy
from attemper.languages.sources.levels import optimum
from attemper.languages.sources.pairs import least_loss_from_below
from attemper.languages.sources.sampling import sample
from attemper.languages.sources.values import Brackets, Parity, Source
from attemper.languages.words import Word
from attemper.training.prefixes import odds_of, partner, states, with_laws

Logits = Callable[[Tensor], Tensor]
"""Tokens [batch, position] to what a model says after the last one, [batch, output]."""

AT_ONCE = 1 << 16
"""So many tokens are run together."""


@final
@dataclass(frozen=True)
class Measured:
    """What a model does after n symbols of a source, on `words` drawn prefixes, each with its partner.

    `loss` is the cross-entropy in nats, `excess` what it is above the optimum, prefix by prefix, with the
    standard error of that mean. `floor` is the mean of the pairs' own floors, above the optimum: `excess` is
    never below it. `change` is the mean of eps, `largest` the greatest that was seen.
    """

    n: int
    words: int
    loss: float
    excess: float
    standard_error: float
    floor: float
    change: float
    largest: float


@torch.no_grad()
def measured(model: Logits, source: Source, n: int, words: int, seed: int) -> Measured:
    """The model after n symbols. Raises what `sample` raises, and `UnsupportedError` if it says no number.

    >>> from attemper.training.models import ParityRnn
    >>> rnn = ParityRnn(0.5, odd=False)
    >>> found = measured(lambda tokens: rnn(tokens)[:, -1], Parity(Fraction(1, 2), odd=False), 64, 8, seed=0)
    >>> abs(found.excess) < 1e-15, found.floor <= found.excess + 1e-15
    (True, True)
    """
    pairs = [_Pair(source, word) for word in sample(source, n, words, seed)]
    own, law = _said(model, source, [pair.prefix for pair in pairs])
    # A prefix without a partner stands for both.
    others, other_law = _said(model, source, [pair.partner or pair.prefix for pair in pairs])
    share = torch.tensor([float(pair.share) for pair in pairs], dtype=torch.float64)
    excess = share * _excess(own, law) + (1 - share) * _excess(others, other_law)
    change = (_odds(source, own) - _odds(source, others)).abs()
    floors = [pair.floor(eps) for pair, eps in zip(pairs, change.tolist(), strict=True)]
    floor = torch.tensor(floors, dtype=torch.float64)
    return Measured(
        n,
        words,
        float(optimum(source).mid()) + float(excess.mean()),
        float(excess.mean()),
        float(excess.std(correction=0)) / sqrt(words),
        float(floor.mean()),
        float(change.mean()),
        float(change.max()),
    )


def _said(model: Logits, source: Source, prefixes: Sequence[Word]) -> tuple[Tensor, Tensor]:
    """What the model says after the prefixes, [batch, output] in float64, and the law of what comes."""
    asked = with_laws(source, prefixes)
    size = max(1, AT_ONCE // asked.tokens.shape[1])
    logits = torch.cat([model(part).double() for part in torch.split(asked.tokens, size)])
    return finite(logits, "after some prefix"), asked.law[:, -1]


def finite(logits: Tensor, where: str) -> Tensor:
    """The logits themselves. Raises `UnsupportedError` if one is no finite number."""
    if not torch.isfinite(logits).all():
        raise UnsupportedError(
            f"the model's output is not a finite number {where}: nothing is measured; "
            "train it with a smaller training.rate"
        )
    return logits


def _excess(logits: Tensor, law: Tensor) -> Tensor:
    """The loss of the logits above the law's own entropy [batch]: the sum of law ln(law/P) over outputs."""
    losses = torch.where(law > 0, law * logits.log_softmax(dim=-1), 0.0)
    return (torch.xlogy(law, law) - losses).sum(dim=-1)


def _odds(source: Source, logits: Tensor) -> Tensor:
    """What a pair is told apart by [batch]: the log-odds of END, or of one closing bracket to the other."""
    output, others = odds_of(source)
    return logits[:, output] - logits[:, list(others)].logsumexp(dim=-1)


@final
class _Pair:
    """A prefix, its partner if it has one, and how much of their common weight is the prefix's."""

    def __init__(self, source: Source, prefix: Word) -> None:
        self.source, self.prefix, self.partner = source, prefix, partner(source, prefix)
        # Both kinds of bracket are as likely as each other.
        self.share = Fraction(1, 2)
        self.accepting = self.share
        if isinstance(source, Parity):
            # x_n = 0 leaves the state, whose accepting ones the source leaves with p; 1 turns them around.
            a = source.accepting_share
            self.accepting = 1 - a if prefix[-1] == "1" else a
            self.share = self.accepting if states(source, prefix)[-1] else 1 - self.accepting

    def floor(self, eps: float) -> float:
        """The least excess of a model whose odds differ by eps on the two."""
        if self.partner is None:
            return 0.0
        match self.source:
            case Parity(p):
                with precision(PRECISION):
                    # Of a huge eps nothing is known but that the loss is no less than with all told apart.
                    least = least_loss_from_below(p, self.accepting, Fraction(eps))
                    return max(0.0, float((least - ball(self.accepting) * entropy(p)).lower()))
            case Brackets():
                return float(self.source.q) * log1p(exp(-eps / 2))
            case _:
                assert_never(self.source)
