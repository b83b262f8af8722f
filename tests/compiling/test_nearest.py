"""The nearest count: what is compiled is what is meant, in both regimes, proved and run."""

from __future__ import annotations

import random
from dataclasses import replace
from itertools import product

import numpy as np
import pytest
import torch

from attemper.attention_program import meaning
from attemper.attention_program.ops import PROGRAM, Choice, Count, Linear, Mask, Nearest, Program
from attemper.attention_program.parse import parse_program
from attemper.attention_program.show import show_program
from attemper.attention_program.wellformed import complaints
from attemper.checker.proof import prove
from attemper.checker.rounding.arithmetic import Kernel
from attemper.checker.rounding.network import failure_at
from attemper.compiling.pipeline import Compiled, compile_language
from attemper.errors import UnsupportedError
from attemper.exact.formats import BFLOAT16, FLOAT32, FLOAT64
from attemper.languages.words import Word, words_of_length
from attemper.models.hard.networks import NetworkModel
from attemper.models.hard.protocol import answer
from attemper.networks import meaning_hard
from attemper.networks.regime import Regime
from attemper.running.dense import DenseTransformer
from tests.support.drawn.nearest import (
    AB,
    compiled,
    dyck,
    is_nested,
    language_of,
    nearest_by_definition,
    one_nearest,
    palindromes,
    reversed_bit,
)

REGIMES = (Regime.UNBOUNDED, Regime.TEMPERATURE)


def soft_bits(program: Program, found: Compiled, words: list[Word]) -> list[tuple[bool, ...]]:
    """The softmax network's outputs, which are within 1/4 of bits."""
    symbols = program.alphabet.symbols
    rows = DenseTransformer(found.soft)(torch.tensor([[symbols.index(s) for s in word] for word in words]))
    bits = rows > 0.5
    assert float((rows - bits.double()).abs().max()) <= 0.25
    return [tuple(map(bool, row)) for row in bits]


def drawn(rng: random.Random) -> dict[str, object]:
    """A nearest count with weights from -1 to 1, and constants that lead out of 1..n on both sides."""
    count = lambda: ((rng.choice((-1, 0, 1)), rng.choice((-1, 1))), rng.randint(-2, 2))  # noqa: E731
    return {
        "mask": rng.choice((Mask.UP_TO, Mask.FROM, Mask.ALL)),
        "choice": rng.choice((Choice.RIGHTMOST, Choice.LEFTMOST)),
        "query": count(),
        "key": count(),
        "where": rng.choice((("a", "b"), ("a",), None)),
        "side": rng.choice((Mask.UP_TO, Mask.FROM, Mask.ALL)),
    }


@pytest.mark.sweep(5)
@pytest.mark.parametrize("regime", REGIMES)
@pytest.mark.parametrize("seed", range(8))
def test_the_nearest_count_is_the_one_of_the_definition(regime: Regime, seed: int) -> None:
    """Counts below 1 and beyond n, ties on both sides, nothing that is sought: all words of 5 symbols."""
    case = drawn(random.Random(seed))
    program = one_nearest(**case)  # type: ignore[arg-type]
    found = compiled(program, regime)
    for n in (1, 2, 5):
        words = list(words_of_length(AB, n))
        soft = soft_bits(program, found, words)
        for word, bits in zip(words, soft, strict=True):
            expected = tuple(j % 2 == 0 for j in nearest_by_definition(**case, word=word))  # type: ignore[arg-type]
            assert meaning.output(program, word) == expected
            assert bits == expected
            assert tuple(map(bool, meaning_hard.output_bits(found.hard, word))) == expected


@pytest.mark.parametrize("regime", REGIMES)
@pytest.mark.parametrize(
    ("query", "key"),
    [
        (((0, 0), 2), ((1, -1), 0)),
        (((1, 0), 0), ((0, 0), 3)),
        (((-1, -1), 1), ((1, 1), 0)),
        (((0, 0), 0),) * 2,
    ],
)
def test_counts_that_are_constants_or_of_all_positions(
    regime: Regime, query: tuple[tuple[int, int], int], key: tuple[tuple[int, int], int]
) -> None:
    case = {"mask": Mask.UP_TO, "choice": Choice.LEFTMOST, "query": query, "key": key}
    case |= {"where": ("a", "b"), "side": Mask.UP_TO}
    program = one_nearest(**case)  # type: ignore[arg-type]
    found = compiled(program, regime)
    for n in (1, 2, 5):
        words = list(words_of_length(AB, n))
        expected = [
            tuple(j % 2 == 0 for j in nearest_by_definition(**case, word=word))  # type: ignore[arg-type]
            for word in words
        ]
        assert soft_bits(program, found, words) == expected


@pytest.mark.parametrize("regime", REGIMES)
def test_brackets_of_two_kinds_are_proved_in_four_layers(regime: Regime) -> None:
    program = dyck(2)
    found = compiled(program, regime)
    assert len(found.soft.layers) == 4
    for n in range(1, 6):
        words = [tuple(word) for word in product(program.alphabet.symbols, repeat=n)]
        assert soft_bits(program, found, words) == [is_nested(word) for word in words]
    rng = random.Random(5)
    for n in (40, 101):
        words = [tuple(rng.choices(program.alphabet.symbols, k=n)) for _ in range(4)]
        words.append((*"(" * (n // 2), *")" * (n // 2), *"[" * (n % 2)))
        assert soft_bits(program, found, words) == [is_nested(word) for word in words]


@pytest.mark.parametrize("regime", REGIMES)
def test_positions_need_no_lookup(regime: Regime) -> None:
    """Reversal in one layer, palindromes in two."""
    for program, layers in ((reversed_bit(), 1), (palindromes(), 2)):
        found = compiled(program, regime)
        assert len(found.soft.layers) == layers
        for n in range(1, 8):
            words = list(words_of_length(AB, n))
            expected = [tuple(symbol == "a" for symbol in word[::-1]) for word in words]
            if layers == 2:
                expected = [(word == word[::-1],) * n for word in words]
            assert soft_bits(program, found, words) == expected
            assert [meaning.output(program, word) for word in words] == expected


@pytest.mark.parametrize("regime", REGIMES)
def test_networks_about_positions_are_unique_hard_attention(regime: Regime) -> None:
    """So they can be refuted, as selections can."""
    network = compiled(palindromes(), regime).soft
    for n in (1, 2, 5):
        model = NetworkModel(network, n, "")
        for word in words_of_length(AB, n):
            said = answer(model, np.array([AB.symbols.index(symbol) for symbol in word]))
            assert said is (word == word[::-1])


def test_keys_that_are_other_positions_are_looked_up() -> None:
    """n - j + 1 is the number of positions from j on: the nearest to i is the same, two layers later."""
    mirrored = reversed_bit()
    letter, one, query, key, found = mirrored.steps
    assert isinstance(found, Nearest)
    exchanged = Program(AB, (letter, one, query, key, replace(found, query=3, key=2)), 4)
    for regime in REGIMES:
        made = compiled(exchanged, regime)
        assert len(made.soft.layers) == 3
        words = list(words_of_length(AB, 5))
        expected = [tuple(symbol == "a" for symbol in word[::-1]) for word in words]
        assert soft_bits(exchanged, made, words) == expected


@pytest.mark.slow
@pytest.mark.parametrize(("kinds", "longest"), [(2, 8), (3, 5)])
@pytest.mark.parametrize("regime", REGIMES)
def test_all_words_of_brackets(regime: Regime, kinds: int, longest: int) -> None:
    program = dyck(kinds)
    found = compiled(program, regime)
    for n in range(1, longest + 1):
        words = [tuple(word) for word in product(program.alphabet.symbols, repeat=n)]
        for start in range(0, len(words), 4096):
            some = words[start : start + 4096]
            assert soft_bits(program, found, some) == [is_nested(word) for word in some]


@pytest.mark.parametrize("regime", REGIMES)
def test_horizons_of_brackets(regime: Regime) -> None:
    """24 n^3 < 1 / u is about what integers of the size n^3 can do."""
    program = dyck(2)
    language = language_of(program)
    found = compile_language(language, program.alphabet, regime)
    analysis = prove(found.soft, language, found.realisation)
    for form, length in ((FLOAT64, 20_000), (FLOAT32, 32)):
        assert failure_at(analysis, form, Kernel.NUMERATOR_FIRST, length) is None
        assert failure_at(analysis, form, Kernel.NUMERATOR_FIRST, 4 * length) is not None


def test_nothing_is_said_of_bfloat16_words() -> None:
    program = dyck(1)
    found = compile_language(language_of(program), program.alphabet, Regime.UNBOUNDED)
    analysis = prove(found.soft, language_of(program), found.realisation)
    assert failure_at(analysis, BFLOAT16, Kernel.NUMERATOR_FIRST, 16) is not None


def test_the_decoder_regime_says_why_not() -> None:
    program = dyck(1)
    pattern = (
        r"decoder regime cannot compute 'nearest <= rightmost .*"
        r"\. Use regime='temperature' or regime='unbounded'$"
    )
    with pytest.raises(UnsupportedError, match=pattern) as caught:
        compile_language(language_of(program), program.alphabet, Regime.DECODER)
    assert caught.value.details["options"] == ("regime",)


def test_counts_on_several_sides_are_refused() -> None:
    program = one_nearest(Mask.ALL, Choice.LEFTMOST, ((1, 0), 0), ((0, 1), 0))
    steps = list(program.steps)
    steps[3] = Count(Mask.FROM, 1)
    steps[4] = Linear(((1, 2), (1, 3)), 0)
    mixed = Program(AB, tuple(steps), program.output)
    with pytest.raises(UnsupportedError, match="on more than one side; give all its counts one mask"):
        compile_language(language_of(mixed), AB, Regime.UNBOUNDED)


@pytest.mark.parametrize("mask", [Mask.BEFORE, Mask.AFTER])
def test_strict_masks_are_no_masks_of_the_nearest_count(mask: Mask) -> None:
    found = complaints(one_nearest(mask, Choice.LEFTMOST, ((1, 0), 0), ((0, 1), 0)))
    assert [str(complaint) for complaint in found] == [
        f"s8: the nearest count is looked for where i itself is seen, not under '{mask}'"
    ]


def test_bits_and_counts_are_told_apart() -> None:
    program = one_nearest(Mask.ALL, Choice.LEFTMOST, ((1, 0), 0), ((0, 1), 0))
    step = program.steps[-1]
    assert isinstance(step, Nearest)
    for ill in ({"query": 0}, {"key": 1}, {"where": 2}, {"value": 3}):
        fields = {**{name: getattr(step, name) for name in step.__dataclass_fields__}, **ill}
        changed = Program(AB, (*program.steps[:-1], Nearest(**fields)), program.output)
        assert len(complaints(changed)) == 1


def test_programs_are_read_back() -> None:
    for program in (dyck(3), one_nearest(Mask.FROM, Choice.LEFTMOST, ((1, 0), -2), ((0, -1), 1))):
        assert parse_program(show_program(program)) == program
        assert PROGRAM.read(PROGRAM.encode(program)) == program
