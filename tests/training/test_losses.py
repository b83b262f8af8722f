"""What a step is trained on: batches by the seeds and the step, and the losses' definitions."""

from __future__ import annotations

from collections import Counter
from fractions import Fraction
from math import exp, log, sqrt
from typing import Any

import pytest
import torch
from torch import Tensor, nn

from attemper.languages.sources.values import Parity
from attemper.training import losses
from attemper.training.labelled import Labelled
from attemper.training.losses import NextSymbols, Verdicts, lesson_of, place_of, words_digest
from attemper.training.models import model_of
from attemper.training.prefixes import drawn_prefixes, laws, states
from tests.support.drawn.training import RECOGNITION, tiny


class Spy(nn.Module):
    """Says the same of everything, and remembers what it was asked."""

    def __init__(self, logits: list[float]) -> None:
        super().__init__()
        self.logits, self.asked = torch.tensor(logits, dtype=torch.float64), []  # type: ignore[var-annotated]

    def forward(self, tokens: Tensor, mask: Tensor | None = None) -> Tensor:
        self.asked.append((tokens, mask))
        return self.logits.expand(*tokens.shape, -1)


def asked(step: int, logits: tuple[float, ...] = (0.0, 1.0, 2.0), **tables: Any) -> tuple[Tensor, float]:
    """The tokens of a step's batch, and the loss of a model that says these logits of everything."""
    spy = Spy(list(logits))
    loss = lesson_of(tiny(**tables)).loss(spy, step)
    ((tokens, _),) = spy.asked
    return tokens, float(loss)


def test_a_batch_is_of_the_seed_and_the_step_alone() -> None:
    first = asked(3)
    assert torch.equal(asked(3)[0], first[0])
    assert asked(3)[1] == first[1]
    for others in (asked(4), asked(3, seeds={"data": 1})):
        assert not torch.equal(others[0], first[0])
    for same in ({"init": 9}, {"order": 9}, {"evaluation": 9}):
        assert torch.equal(asked(3, seeds=same)[0], first[0])


def test_the_loss_is_the_cross_entropy_of_the_law() -> None:
    settings = tiny()
    tokens, loss = asked(2)
    lesson = lesson_of(settings)
    assert isinstance(lesson, NextSymbols)
    norm = log(sum(map(exp, (0, 1, 2))))
    table, total = laws(lesson.source), 0.0
    for row in tokens.tolist():
        assert row[0] == 2
        word = tuple(str(token) for token in row[1:])
        for state in states(lesson.source, word)[1:]:
            total += sum(float(share) * (norm - z) for share, z in zip(table[state], (0, 1, 2), strict=True))
    assert loss == pytest.approx(total / (4 * 4), rel=1e-12)


def test_drawn_symbols_have_the_frequencies_of_the_law() -> None:
    """Of N drawn symbols as many are END as the law says, to within six standard deviations."""
    entries = {"batch": 64, "length": 16}
    task = {"name": "parity-even", "p": "1/2"}
    # Both symbols cost the same, and END one nat less: so the losses say how often END was drawn.
    logits = (0.0, 0.0, 1.0)
    ends = count = 0.0
    for step in range(8):
        _, by_law = asked(step, logits, task=task, training=entries)
        _, drawn = asked(step, logits, task={**task, "targets": "symbols"}, training=entries)
        ends += (by_law - drawn) * 64 * 16
        count += 64 * 16
    assert 0 < abs(ends) < 6 * sqrt(count / 4)


def test_drawn_symbols_depend_on_the_seed_of_the_words(monkeypatch: pytest.MonkeyPatch) -> None:
    """Not only by the words: after the same ones another seed, or step, draws other symbols."""
    task = {"name": "parity-even", "p": "1/2", "targets": "symbols"}
    words = drawn_prefixes(Parity(Fraction(1, 2), odd=False), 16, 64, 0)
    monkeypatch.setattr(losses, "drawn_prefixes", lambda *_: words)

    def found(step: int, seed: int) -> float:
        return asked(step, (0.0, 1.0, 2.0), task=task, seeds={"data": seed})[1]

    assert len({found(step, seed) for seed in range(6) for step in range(6)}) > 20
    assert found(1, 1) == found(1, 1)


@pytest.mark.parametrize("size", [1, 2, 7, 12])
def test_every_epoch_goes_through_all_words_in_an_order_of_its_own(size: int) -> None:
    for order in (0, 1):
        epochs = [[place_of(epoch * size + k, size, order) for k in range(size)] for epoch in range(4)]
        assert all(sorted(epoch) == list(range(size)) for epoch in epochs)
        if size >= 7:
            assert len({tuple(epoch) for epoch in epochs}) == 4
    if size >= 7:
        assert [place_of(k, size, 0) for k in range(size)] != [place_of(k, size, 1) for k in range(size)]


def test_batches_of_a_set_are_its_order_cut_in_pieces() -> None:
    settings = tiny(task=RECOGNITION, training={"batch": 5})
    lesson = lesson_of(settings)
    assert isinstance(lesson, Verdicts)
    seen: Counter[Labelled] = Counter()
    for step in range(12):
        spy = Spy([0.0, 1.0])
        lesson.loss(spy, step)
        ((tokens, mask),) = spy.asked
        for row, shown in zip(tokens.tolist(), mask.tolist(), strict=True):
            length = sum(shown) - 1
            assert shown == [at <= length for at in range(len(row))]
            assert row[length:] == [2] * (len(row) - length)
            word = tuple("01"[token] for token in row[:length])
            seen[Labelled(word, word.count("1") % 2 == 1)] += 1
    assert seen == Counter({word: 5 * times for word, times in Counter(lesson.words).items()})


def test_seeds_change_what_they_are_for_alone() -> None:
    def parts(**seeds: int) -> tuple[object, object, object]:
        settings = tiny(task=RECOGNITION, seeds=seeds)
        lesson = lesson_of(settings)
        model = model_of(settings, lesson.tokens, lesson.outputs)
        spy = Spy([0.0, 1.0])
        lesson.loss(spy, 0)
        weights = [own.tolist() for own in model.parameters()]
        return weights, words_digest(lesson), spy.asked[0][0].tolist()

    weights, words, order = parts()
    assert parts(init=1)[1:] == (words, order)
    assert parts(init=1)[0] != weights
    assert parts(data=1)[0] == weights
    assert parts(data=1)[1] != words
    assert parts(order=1)[:2] == (weights, words)
    assert parts(order=1)[2] != order


def test_the_loss_of_verdicts_is_the_cross_entropy_at_the_end_markers() -> None:
    lesson = lesson_of(tiny(task=RECOGNITION))
    assert isinstance(lesson, Verdicts)
    loss = lesson.loss_of(Spy([0.0, 1.0]), [Labelled((), False), Labelled(("1", "0"), True)])
    assert float(loss) == pytest.approx((log(1 + exp(1)) + log(1 + exp(-1))) / 2, rel=1e-12)
