"""What is compared: each pair does the same work in two ways."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator
from dataclasses import dataclass

import torch

import attemper
from attemper.languages.temporal.meaning import truth
from attemper.running.batches import pad
from attemper.running.dense import DenseTransformer
from attemper.running.truth import truth_of_words


@dataclass(frozen=True)
class Pair:
    """Two ways to do the same work."""

    name: str
    first: str
    second: str
    run_first: Callable[[], object]
    run_second: Callable[[], object]
    repeats: int = 5


def pairs() -> Iterator[Pair]:
    """All comparisons."""
    model = attemper.compile("G (a -> F b) & #<[a] >= #<[b] & O (a & Y b)", "ab")
    for length in (256, 1024, 2048):
        yield _streaming_against_matrix(model.dense(), length)
    yield _scan_against_fused(model, 512, 32)
    yield _scan_against_fused(model, 16, 2048)
    yield _formats(model, 2048)
    yield _ragged_batch_against_single_words(model)
    yield _linear_time_meaning_against_definition(model)


def _tokens(length: int) -> tuple[torch.Tensor, torch.Tensor]:
    rng = random.Random(0)
    return pad([[rng.randrange(2) for _ in range(length)]])


def _streaming_against_matrix(dense: DenseTransformer, length: int) -> Pair:
    tokens, lengths = _tokens(length)
    patterns = [f"blocks.{number}.attn.hook_pattern" for number in range(len(dense.blocks))]
    return Pair(
        f"one word of {length} symbols",
        "streaming attention",
        "n x n matrices kept",
        lambda: dense(tokens, lengths),
        lambda: dense.run_with_cache(tokens, lengths, patterns),
    )


def _scan_against_fused(model: attemper.Model, words: int, length: int) -> Pair:
    rng = random.Random(3)
    tokens, lengths = pad([[rng.randrange(2) for _ in range(length)] for _ in range(words)])
    scan, fused = model.dense(engine="scan"), model.dense(engine="fused")
    return Pair(
        f"{words} words of {length} symbols",
        "scan",
        "fused attention",
        lambda: scan(tokens, lengths),
        lambda: fused(tokens, lengths),
    )


def _formats(model: attemper.Model, length: int) -> Pair:
    tokens, lengths = _tokens(length)
    wide, narrow = model.dense(dtype="float64"), model.dense(dtype="float32")
    return Pair(
        f"one word of {length} symbols",
        "float32",
        "float64",
        lambda: narrow(tokens, lengths),
        lambda: wide(tokens, lengths),
    )


def _ragged_batch_against_single_words(model: attemper.Model) -> Pair:
    rng = random.Random(1)
    words = ["".join(rng.choices("ab", k=rng.randint(1, 60))) for _ in range(200)]
    return Pair(
        "200 words of 1 to 60 symbols",
        "one ragged batch",
        "word by word",
        lambda: list(model.run(words)),
        lambda: [model.positions(word) for word in words],
    )


def _linear_time_meaning_against_definition(model: attemper.Model) -> Pair:
    rng = random.Random(2)
    words = [tuple(rng.choices("ab", k=100)) for _ in range(20)]
    formula = model.language.definition.formula
    return Pair(
        "exact meaning on 20 words of 100 symbols",
        "all words at once",
        "by definition",
        lambda: truth_of_words(formula, words),
        lambda: [truth(formula, word) for word in words],
    )
