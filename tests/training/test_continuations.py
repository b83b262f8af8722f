"""What may come next: labels against all words, and the loss by its definition."""

from __future__ import annotations

from itertools import product
from math import exp, log

import pytest
import torch
from torch import Tensor, nn

from attemper.errors import UnsupportedError
from attemper.languages.regular.regex import parse_regex
from attemper.training.continuations import Continuations, allowed, continued, members
from attemper.training.losses import lesson_of, words_digest
from attemper.training.runs import train
from tests.support.drawn.training import tiny

LANGUAGE = {"kind": "next", "language": "regex:(a(ab)*b)*", "words": 30}


class Same(nn.Module):
    """Says the same after every prefix."""

    def __init__(self, *logits: float) -> None:
        super().__init__()
        self.logits = torch.tensor(logits, dtype=torch.float64)

    def forward(self, tokens: Tensor, mask: Tensor | None = None) -> Tensor:
        return self.logits.expand(*tokens.shape, -1)


@pytest.mark.parametrize("text", ["(ab)*", "(a|b)*b", "a*b*", "aab|ba"])
def test_labels_are_what_words_say(text: str) -> None:
    dfa = parse_regex(text, "ab")
    words = [word for n in range(7) for word in product("ab", repeat=n) if dfa.accepts(word)]
    for prefix in (word for n in range(4) for word in product("ab", repeat=n)):
        may = [any(word[: len(prefix) + 1] == (*prefix, letter) for word in words) for letter in "ab"]
        row = allowed(dfa)[dfa.state_after(prefix)].tolist()
        if len(prefix) + 2 < 6:
            assert row == [*may, dfa.accepts(prefix)]


def test_words_are_members_of_the_lengths() -> None:
    dfa = parse_regex("(ab)*", "ab")
    found = members(dfa, (1, 6), 200, seed=0)
    assert {len(word) for word in found} == {2, 4, 6}
    assert all(map(dfa.accepts, found))
    assert found == members(dfa, (1, 6), 200, seed=0) != members(dfa, (1, 6), 200, seed=1)
    with pytest.raises(UnsupportedError, match="has no words of 3 symbols"):
        members(dfa, (3, 3), 1, seed=0)


def test_the_loss_is_the_mean_over_prefixes_and_outputs() -> None:
    lesson = lesson_of(tiny(task=LANGUAGE, evaluation={"lengths": [2, 4]}))
    assert isinstance(lesson, Continuations)
    assert (lesson.tokens, lesson.outputs, lesson.symbols) == (3, 3, ("a", "b"))
    words, logits = [("a", "b"), ()], (1.0, -2.0, 0.5)
    table, total, count = allowed(lesson.automaton), 0.0, 0
    for word in words:
        for n in range(len(word) + 1):
            row = table[lesson.automaton.state_after(word[:n])].tolist()
            for logit, may in zip(logits, row, strict=True):
                total += log(1 + exp(-logit if may else logit))
                count += 1
    assert float(lesson.loss_of(Same(*logits), words)) == pytest.approx(total / count, rel=1e-12)
    assert float(lesson.loss(Same(*logits), 1)) != float(lesson.loss(Same(*logits), 2))
    assert words_digest(lesson) != words_digest(
        lesson_of(tiny(task={**LANGUAGE, "words": 31}, evaluation={"lengths": [2]}))
    )


def test_a_word_is_right_if_all_its_prefixes_are() -> None:
    lesson = lesson_of(tiny(task={**LANGUAGE, "language": "regex:a*", "alphabet": "a"}))
    assert isinstance(lesson, Continuations)
    assert continued(Same(1, 1), lesson, 5, 8, 0).right == 8
    assert continued(Same(1, -1), lesson, 5, 8, 0).right == 0
    assert continued(Same(0, 1), lesson, 5, 8, 0).right == 0, "0 says nothing"


def test_a_run_is_trained_and_measured_and_refused_before_it_begins(tmp_path) -> None:  # type: ignore[no-untyped-def]
    run = train(tiny(task=LANGUAGE, evaluation={"lengths": [2, 4]}), tmp_path / "run")
    assert [(row["n"], row["words"]) for row in run.measured] == [(2, 4), (4, 4)]
    assert "right" in str(run)
    with pytest.raises(UnsupportedError, match="no words of 5 symbols: ask for other lengths"):
        train(tiny(task=LANGUAGE), tmp_path / "other")
    assert not (tmp_path / "other").exists()
