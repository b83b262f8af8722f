"""Ragged batches, one set of weights for every length, and memory linear in the length."""

from __future__ import annotations

import random
import subprocess
import sys
from textwrap import dedent

import pytest
import torch

import attemper
from attemper.compiling.pipeline import compile_language
from attemper.languages.temporal.show import show
from attemper.languages.words import Word
from attemper.networks.layers import Masking, parameter_count
from attemper.networks.regime import Regime
from attemper.running import batches
from attemper.running.batches import pad, run_words
from attemper.running.dense import DenseTransformer
from attemper.running.truth import truth_of_words
from attemper.workbench.model import Model
from attemper.workbench.options import DType, WeightsName
from tests.support.drawn.samples import FormulaSampler, adversarial_words

PAST = ("Y (a S b)", "#<[a] <= #<[b]", "even(#<[a])")
FUTURE = ("X (a U b)", "#>[a] <= #>[b]")
TOTAL = ("#[a] <= #[b]", "even(#[a])", "even(#>[a])")
MIXED = ("#<[a] <= #>[b]", "(a S b) & X (a U b) | even(#<[a]) & #<[a] <= #>[b] | #[a] = #[b]")
FORMULAS = PAST + FUTURE + TOTAL + MIXED


def compiled(formula: str, regime: str = "unbounded") -> Model:
    return attemper.compile(formula, "ab", at="last", regime=regime)


def ragged_words(seed: int, lengths: tuple[int, ...] = (1, 2, 3, 4, 7, 18, 31)) -> list[Word]:
    """Adversarial and random words of many lengths, shuffled so that neighbours differ in length."""
    rng = random.Random(seed)
    words = [word for length in lengths for word in adversarial_words(rng, ("a", "b"), length)]
    rng.shuffle(words)
    return words


def truth(model: Model, word: Word) -> tuple[bool, ...]:
    return tuple(truth_of_words(model.language.definition.formula, [word])[0].tolist())


def tokens_of(words: list[Word]) -> tuple[torch.Tensor, torch.Tensor]:
    return pad([["ab".index(symbol) for symbol in word] for word in words])


# Padding ----------------------------------------------------------------------------------------------


@pytest.mark.sweep(2)
@pytest.mark.parametrize("weights", ["soft", "hard"])
@pytest.mark.parametrize("regime", ["unbounded", "temperature"])
@pytest.mark.parametrize("formula", FORMULAS)
def test_a_word_reads_the_same_alone_and_in_a_ragged_batch(
    formula: str, regime: str, weights: WeightsName
) -> None:
    """Padding is invisible: read bits are the same, and the exact truth, whatever the neighbours are."""
    model = compiled(formula, regime)
    words = ragged_words(1)
    together = list(model.run(words, weights=weights))
    for word, run in zip(words, together, strict=True):
        (alone,) = model.run([word], weights=weights)
        assert run.bits == alone.bits == truth(model, word)


@pytest.mark.sweep(3)
@pytest.mark.parametrize("dtype", ["float64", "float32"])
@pytest.mark.parametrize("formula", PAST)
def test_a_word_reads_the_same_alone_and_in_a_ragged_batch_of_a_decoder(formula: str, dtype: DType) -> None:
    model = compiled(formula, "decoder")
    words = ragged_words(2)
    for word, run in zip(words, model.run(words, dtype=dtype), strict=True):
        (alone,) = model.run([word], dtype=dtype)
        assert run.bits == alone.bits == truth(model, word)


@pytest.mark.sweep(3)
@pytest.mark.parametrize("formula", FORMULAS)
def test_the_hard_network_reads_ragged_batches(formula: str) -> None:
    """The same for leftmost, rightmost and average-hard attention as the hard network has them."""
    model = compiled(formula)
    hard = DenseTransformer(
        compile_language(model.language.definition, model.alphabet, Regime.UNBOUNDED).hard
    )
    words = ragged_words(3)
    for word, run in zip(words, run_words(hard, words), strict=True):
        (alone,) = run_words(hard, [word])
        assert run.bits == alone.bits == truth(model, word)


@pytest.mark.sweep(2)
@pytest.mark.parametrize("seed", range(4))
def test_random_formulas_read_ragged_batches(seed: int) -> None:
    """Nested formulas with every operator: several layers, masks mixed within a layer."""
    rng = random.Random(seed)
    sampler = FormulaSampler(rng, ("a", "b"))
    words = ragged_words(seed, (1, 2, 5, 12))
    for _ in range(8):
        model = compiled(show(sampler.formula(3)))
        for word, run in zip(words, model.run(words), strict=True):
            assert run.bits == truth(model, word), (model.title, word)


@pytest.mark.parametrize("formula", FORMULAS)
def test_the_symbols_in_the_padding_do_not_matter_at_all(formula: str) -> None:
    """Weights of padding are exactly 0, so not even the last bit of a value depends on what stands there."""
    model = compiled(formula).dense()
    tokens, lengths = tokens_of(ragged_words(4))
    real = torch.arange(tokens.shape[1])[None, :] < lengths[:, None]
    others = torch.where(real, tokens, 1 - tokens)
    assert not torch.equal(tokens, others)
    assert torch.equal(model(tokens, lengths)[real], model(others, lengths)[real])


@pytest.mark.sweep(4)
@pytest.mark.parametrize("formula", FORMULAS)
def test_margins_are_those_of_the_words_alone(formula: str) -> None:
    """A margin looks at real positions only; the sums in it may be rounded in another order.

    A clamp's sum is a difference of attention outputs in [-1, 1]; scores here are below 2^15, so outputs
    move by less than 2^15 * 2^-53 * 2^6 = 2^-32 between two orders of summing.
    """
    model = compiled(formula)
    words = ragged_words(5)
    for word, run in zip(words, model.run(words), strict=True):
        (alone,) = model.run([word])
        assert run.margin == alone.margin or abs(run.margin - alone.margin) < 2**-32
        assert run.margin > 0.2


# Batches ----------------------------------------------------------------------------------------------


def test_many_words_in_many_batches_keep_their_order(monkeypatch: pytest.MonkeyPatch) -> None:
    """More words than one batch holds, some longer than a batch is wide, empty ones between them."""
    sizes: list[tuple[int, ...]] = []

    def noted(rows: list[list[int]]) -> tuple[torch.Tensor, torch.Tensor]:
        tokens, lengths = pad(rows)
        sizes.append(tuple(tokens.shape))
        return tokens, lengths

    monkeypatch.setattr(batches, "NUMBERS_PER_BATCH", 64 * 1000)
    monkeypatch.setattr(batches, "pad", noted)
    rng = random.Random(6)
    lengths = [rng.randint(0, 40) for _ in range(500)]
    lengths[100], lengths[300] = 900, 1001
    words = [tuple(rng.choice("ab") for _ in range(length)) for length in lengths]
    model = compiled("Y (a S b)")
    runs = list(model.run(words))
    assert len(sizes) > 10
    assert all(number * width <= 1000 or number == 1 for number, width in sizes)
    assert [run.word for run in runs] == words
    for run in runs:
        assert run.bits == (truth(model, run.word) if run.word else ())
        assert len(run.values) == len(run.word)


def test_no_words_give_no_runs() -> None:
    assert list(compiled("Y a").run([])) == []


# One set of weights -----------------------------------------------------------------------------------


def weights_of(model: DenseTransformer) -> dict[str, torch.Tensor]:
    return {name: tensor.clone() for name, tensor in model.state_dict().items()}


@pytest.mark.parametrize("weights", ["soft", "hard"])
@pytest.mark.parametrize("formula", FORMULAS)
def test_running_any_length_leaves_the_weights_as_they_are(formula: str, weights: WeightsName) -> None:
    """One set of weights for every n: nothing is built or changed for a length (n = 1, 2, 3, 10, 4096)."""
    model = compiled(formula)
    dense = model._runner(weights, "float64")
    before = weights_of(dense)
    rng = random.Random(8)
    for length in (1, 2, 3, 10, 4096 if weights == "soft" else 512):
        word = tuple(rng.choice("ab") for _ in range(length))
        run, _ = model.run([word, word], weights=weights)
        assert run.bits == truth(model, word)
        assert model._runner(weights, "float64") is dense
        after = dense.state_dict()
        assert list(after) == list(before)
        assert all(torch.equal(before[name], after[name]) for name in before)
        assert sum(p.numel() for p in dense.parameters()) == parameter_count(model.network)
    assert not list(dense.buffers())
    assert not any(p.requires_grad for p in dense.parameters())


@pytest.mark.parametrize("regime", ["unbounded", "temperature", "decoder"])
def test_compiling_again_gives_the_same_weights(regime: str) -> None:
    first, second = (weights_of(compiled("even(#<[a & Y b])", regime).dense()) for _ in range(2))
    assert list(first) == list(second)
    assert all(torch.equal(first[name], second[name]) for name in first)


# Memory -----------------------------------------------------------------------------------------------

MEASURE = dedent(
    """
    import random, resource, sys
    import torch
    import attemper
    from attemper.running.batches import pad
    from attemper.running.numbers import read_bit
    from attemper.running.truth import truth_of_words

    formula, dtype, *lengths = sys.argv[1:]
    torch.set_num_threads(1)
    model = attemper.compile(formula, "ab", at="last")
    rng = random.Random(0)
    words = [tuple(rng.choice("ab") for _ in range(int(length))) for length in lengths]
    list(model.run(["abba" * 8], dtype=dtype))
    truths = [truth_of_words(model.language.definition.formula, [word])[0].tolist() for word in words]
    tokens, sizes = pad([["ab".index(symbol) for symbol in word] for word in words])

    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    with torch.no_grad():
        values, _ = model.dense(dtype=dtype).run_with_margin(tokens, sizes)
    after = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    for row, own in zip(values.tolist(), truths, strict=True):
        assert [read_bit(value) for value in row[: len(own)]] == own
    print(after - before)
    """
)
"""Runs words in one batch in a process of its own, whose peak is not some earlier test's."""


def peak_growth(formula: str, dtype: DType, *lengths: int) -> int:
    """By how many bytes one forward pass raises the process's peak memory."""
    done = subprocess.run(
        [sys.executable, "-c", MEASURE, formula, dtype, *map(str, lengths)],
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    # ru_maxrss counts KiB on Linux, bytes on macOS.
    return int(done.stdout) * (1 if sys.platform == "darwin" else 1024)


def maskings(formula: str) -> set[Masking]:
    return {head.masking for layer in compiled(formula).network.layers for head in layer.heads}


@pytest.mark.sweep(0)
@pytest.mark.skipif(sys.platform == "win32", reason="no resource.getrusage")
@pytest.mark.parametrize("dtype", ["float64", pytest.param("float32", marks=pytest.mark.slow)])
def test_memory_is_linear_in_the_length(dtype: DType) -> None:
    """Selection, sign heads and averages under all masks at n = 20,000, without an n x n matrix.

    One such matrix has 3.2 GB in float64 (1.6 in float32) for each head; the streams of 20,000 positions
    and some 30 coordinates have 5 MB each. The bits are right as well.
    """
    formula = "(a S b) & (a U b) & #<[a] <= #<[b] | #>[a] < #>[b] | #[a] = #[b]"
    assert maskings(formula) == {masking for masking in Masking if not masking.is_strict}
    assert peak_growth(formula, dtype, 20_000) < 400e6


@pytest.mark.sweep(0)
@pytest.mark.skipif(sys.platform == "win32", reason="no resource.getrusage")
def test_memory_of_ragged_batches_is_linear_in_the_length() -> None:
    """Unmasked heads hide the padding by a mask, which is one row and not an n x n matrix (1.8 GB here)."""
    formula = "#[a] <= #[b]"
    assert maskings(formula) == {Masking.NONE}
    assert peak_growth(formula, "float64", 15_000, 9_000) < 200e6
