"""Strict masks: i does not see itself, and the first (last) position sees nothing and gets 0."""

from __future__ import annotations

import random

import pytest
import torch

from attemper.attention_program.builder import Builder
from attemper.attention_program.meaning import output
from attemper.attention_program.ops import (
    Attend,
    Choice,
    Connective,
    Gate,
    Letter,
    Mask,
    Not,
    Program,
    Ref,
)
from attemper.compiling.assembling.assemble import assemble
from attemper.compiling.regimes import Regime
from attemper.compiling.simplifying.guard_edges import guard_edges
from attemper.compiling.softening.drop_unused import drop_unused
from attemper.compiling.softening.hard_to_soft import hard_to_soft
from attemper.languages.words import Alphabet, Word, words_of_length
from attemper.networks.layers import HardWeighting, Masking, Network
from attemper.networks.meaning_hard import output_bits
from attemper.networks.meaning_soft import output_bits as soft_output_bits
from attemper.running.dense import DenseTransformer

AB = Alphabet(("a", "b"))
SHORT = [word for n in range(1, 6) for word in words_of_length(AB, n)]


def strict_program(rng: random.Random, masks: tuple[Mask, ...]) -> Program:
    """A few layers of strict selections, each of gates of earlier bits, with both defaults."""
    builder = Builder()
    bits: list[Ref] = [builder.add(Letter(("a",))), builder.add(Letter(("b",)))]
    for _ in range(4):
        where, value = rng.choice(bits), rng.choice(bits)
        if rng.random() < 0.5:
            where = builder.add(Gate(Connective.OR, (where, builder.add(Not(rng.choice(bits))))))
        mask, choice = rng.choice(masks), rng.choice(tuple(Choice))
        bits.append(builder.add(Attend(mask, choice, where, value, rng.random() < 0.5)))
    found = builder.add(Gate(Connective.XOR, tuple(bits[-3:])))
    return guard_edges(Program(AB, tuple(builder.steps), found))[0]


def networks(program: Program, regime: Regime) -> tuple[Network, Network]:
    hard = assemble(program, {}, reads_first=False, accepts_empty=False).network
    return hard, drop_unused(hard_to_soft(hard, regime))[0]


def bits_of(model: DenseTransformer, words: list[Word], *, watched: bool) -> list[tuple[bool, ...]]:
    width = max(map(len, words))
    tokens = torch.tensor([[AB.symbols.index(s) for s in word] + [0] * (width - len(word)) for word in words])
    lengths = torch.tensor([len(word) for word in words])
    values = model.run_with_cache(tokens, lengths)[0] if watched else model(tokens, lengths)
    assert ((values - values.round()).abs() < 0.25)[torch.arange(width) < lengths[:, None]].all()
    return [
        tuple(round(v) == 1 for v in row[: len(word)])
        for row, word in zip(values.tolist(), words, strict=True)
    ]


@pytest.mark.parametrize("regime", list(Regime))
@pytest.mark.parametrize("seed", range(6))
def test_strict_selections_are_right_at_every_level(seed: int, regime: Regime) -> None:
    rng = random.Random(seed)
    masks = (Mask.BEFORE,) if regime is Regime.DECODER else (Mask.BEFORE, Mask.AFTER, Mask.UP_TO)
    program = strict_program(rng, masks)
    hard, soft = networks(program, regime)
    assert any(head.masking.is_strict for layer in soft.layers for head in layer.heads)
    long = [tuple(rng.choice("ab") for _ in range(n)) for n in (1, 2, 57, 300)]
    expected = [output(program, word) for word in [*SHORT, *long]]
    for word, bits in zip(SHORT, expected, strict=False):
        assert output_bits(hard, word) == bits
        assert all(
            abs(ball - bit) <= 0.25 for ball, bit in zip(soft_output_bits(soft, word), bits, strict=True)
        )
    for weighting in (None, HardWeighting.AVERAGE):
        model = DenseTransformer(soft, torch.float64, weighting)
        assert bits_of(model, [*SHORT, *long], watched=False) == expected
        assert bits_of(model, [*SHORT, *long[:3]], watched=True) == expected[:-1]


def test_the_first_and_last_position_see_nothing() -> None:
    """Without the guard of a default a strict head adds 0 there, in every way of running it."""
    builder = Builder()
    letter = builder.add(Letter(("a",)))
    true = builder.add(Letter(("a", "b")))
    before = builder.add(Attend(Mask.BEFORE, Choice.RIGHTMOST, true, letter, default=False))
    program = Program(AB, tuple(builder.steps), before)
    hard, soft = networks(program, Regime.UNBOUNDED)
    assert [head.masking for layer in soft.layers for head in layer.heads] == [Masking.STRICT_FUTURE]
    model = DenseTransformer(soft, torch.float64)
    words = [("a",), ("a", "a", "b"), ("b",)]
    expected = [(False,), (False, True, True), (False,)]
    assert [output_bits(hard, word) for word in words] == expected
    assert bits_of(model, words, watched=False) == bits_of(model, words, watched=True) == expected
