"""Must show 2: the softmax network computes the formula's exact meaning, in every regime that admits it."""

from __future__ import annotations

import random
from collections.abc import Iterator

import pytest

from attemper.compiling.pipeline import compile_language
from attemper.errors import UnsupportedError
from attemper.languages.temporal.parse import parse
from attemper.languages.temporal.reading import At, TemporalLanguage
from attemper.languages.temporal.show import show
from attemper.languages.temporal.syntax import (
    Binary,
    BinaryOperator,
    Comparison,
    ComparisonOperator,
    Formula,
    Unary,
    UnaryOperator,
    subformulas,
)
from attemper.languages.words import Alphabet, Word, words_of_length
from attemper.networks.layers import HardWeighting
from attemper.networks.regime import Regime
from attemper.running.batches import run_words
from attemper.running.dense import DenseTransformer
from attemper.running.truth import truth_of_words
from tests.support.drawn.samples import FormulaSampler, adversarial_words
from tests.support.slowly import every_nth

FORMULAS = 135
CHUNK = 15
NESTING = 5
LONGEST = 300


def sampled_formula(seed: int) -> tuple[Formula, Alphabet]:
    """Formula number `seed` of the sweep: over {a, b} or {0, 1}, every third one past only."""
    rng = random.Random(seed)
    symbols = ("a", "b") if seed % 2 else ("0", "1")
    return FormulaSampler(rng, symbols, past_only=seed % 3 == 0).formula(NESTING), Alphabet(symbols)


def batches_of_words(rng: random.Random, alphabet: Alphabet, longest: int) -> Iterator[list[Word]]:
    for length in range(1, 9):
        yield list(words_of_length(alphabet, length))
    for length in (rng.randint(9, 40), rng.randint(41, longest - 1), longest):
        yield list(adversarial_words(rng, alphabet.symbols, length))


def assert_exact(formula: Formula, alphabet: Alphabet, batches: list[list[Word]], *, hard: bool) -> int:
    """Compare in every regime; the number of regimes that admit the formula."""
    expected = [truth_of_words(formula, words).tolist() for words in batches]
    admitted = 0
    for regime in Regime:
        try:
            soft = compile_language(TemporalLanguage(formula, At.LAST, False), alphabet, regime).soft
        except UnsupportedError as error:
            if regime is not Regime.DECODER:
                pytest.fail(f"only the decoder regime may refuse: {error}")
            continue
        admitted += 1
        models = [DenseTransformer(soft)]
        if hard:
            models.append(DenseTransformer(soft, weighting=HardWeighting.AVERAGE))
        for model in models:
            for words, rows in zip(batches, expected, strict=True):
                for run, row in zip(run_words(model, words), rows, strict=True):
                    assert list(run.bits) == row, (show(formula), regime, "".join(run.word), run.margin)
    return admitted


@pytest.mark.sweep(0)
@pytest.mark.parametrize("start", every_nth(range(0, FORMULAS, CHUNK), 3))
def test_random_formulas_are_exact_on_all_short_and_on_adversarial_words(start: int) -> None:
    for seed in range(start, start + CHUNK):
        formula, alphabet = sampled_formula(seed)
        batches = list(batches_of_words(random.Random(seed), alphabet, LONGEST))
        admitted = assert_exact(formula, alphabet, batches, hard=seed % 10 == 0)
        assert admitted == 3 or seed % 3 != 0, "every past formula is admitted by every regime"


def test_the_sweep_uses_every_operator() -> None:
    used: set[object] = set()
    for seed in range(FORMULAS):
        for part in subformulas(sampled_formula(seed)[0]):
            used.add(part.operator if isinstance(part, Unary | Binary | Comparison) else type(part))
    assert used >= {*UnaryOperator, *BinaryOperator, *ComparisonOperator}
    assert {kind.__name__ for kind in used if isinstance(kind, type)} >= {
        "Symbol",
        "Constant",
        "First",
        "Last",
        "Numerical",
    }


@pytest.mark.slow
@pytest.mark.parametrize("start", range(10_000, 13_000, 100))
def test_many_more_random_formulas(start: int) -> None:
    for seed in range(start, start + 100):
        rng = random.Random(seed)
        formula = FormulaSampler(rng, ("a", "b"), past_only=seed % 3 == 0).formula(6)
        batches = list(batches_of_words(rng, Alphabet(("a", "b")), LONGEST))
        assert_exact(formula, Alphabet(("a", "b")), batches, hard=False)


FIXED = (
    "Y a",
    "WY (Y a)",
    "X b",
    "WX (a & X b)",
    "a S b",
    "(a -> Y b) T a",
    "O (a & Y a)",
    "H (a -> (b | Y a))",
    "F (a & X a)",
    "G (a -> F b)",
    "(a | X a) U (b & X b)",
    "#<[a] >= #<[b]",
    "#>[a] == #>[b]",
    "3*#<[a] - 2*#<[Y b] > 5",
    "2*#[a] == len",
    "#<[a] == #>[b]",
    "even(#<[a]) xor square(#>[b])",
    "#[a] % 3 = 1",
    "!O (#<[Y a] = #>[a])",
    "odd(pos) & prime(#<[O b]) | last & first",
)


@pytest.mark.sweep(3)
@pytest.mark.parametrize("text", FIXED)
def test_fixed_formulas_are_exact_to_length_4096(text: str) -> None:
    alphabet = Alphabet(("a", "b"))
    formula = parse(text, alphabet)
    rng = random.Random(text)
    batches = []
    for length in (4095, 4096):
        words = list(adversarial_words(rng, alphabet.symbols, length))
        batches.append(rng.sample(words, 5))
    assert_exact(formula, alphabet, batches, hard=False)
