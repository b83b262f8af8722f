"""How far what is read through a normalisation is off: against balls, against runs, against PyTorch's own."""

from __future__ import annotations

import random
from collections.abc import Callable
from fractions import Fraction
from functools import cache
from itertools import product

import flint
import pytest
import torch

import attemper
from attemper.checker.analysis import Analysis
from attemper.checker.proof import prove
from attemper.checker.rounding.arithmetic import Kernel
from attemper.checker.rounding.network import Bounds, Rounding
from attemper.checker.rounding.normalised import BIASES, SCALE, SQUARES, STEPS
from attemper.compiling.softening import normalise
from attemper.compiling.softening.normalise import LayerNorm
from attemper.exact.balls import ball, precision
from attemper.exact.formats import FLOAT32, FLOAT64, FORMATS, REAL, FloatFormat
from attemper.languages.words import Word
from attemper.networks.layers import Norm, Normalisation
from attemper.networks.meaning_soft import residual_streams
from attemper.workbench.model import Model

KINDS = {"float64": torch.float64, "float32": torch.float32, "bfloat16": torch.bfloat16}
NESTED = "'a' S ('b' & Y ('b' & Y 'b'))"
GAINS = tuple(Fraction(random.Random(1).uniform(0.25, 1.75)) for _ in range(31))
BIASED = tuple(Fraction(random.Random(2).uniform(-1, 1)) for _ in range(29))


@cache
def wide(formula: str, letters: str, how: LayerNorm, regime: str = "temperature") -> tuple[Model, Analysis]:
    model = attemper.compile(formula, letters, regime=regime, layer_norm=how)
    return model, prove(model.network, model.language.definition)


def bounds_of(analysis: Analysis, form: FloatFormat, length: int) -> Bounds:
    bounds = Rounding(analysis, form).bounds_at(Kernel.NUMERATOR_FIRST, length)
    assert bounds.failure is None, bounds.failure
    return bounds


def words(letters: str, length: int, count: int, seed: int) -> list[Word]:
    rng = random.Random(seed)
    return [tuple(rng.choice(letters) for _ in range(rng.randint(1, length))) for _ in range(count)]


# Real arithmetic ---------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("formula", "letters", "how"),
    [
        (NESTED, "abc", LayerNorm(unit=Fraction(1, 2**10))),
        (NESTED, "abc", LayerNorm(unit=Fraction(1, 2**11), gain=GAINS, bias=BIASED)),
        ("(!'c') S 'b'", "abc", LayerNorm(unit=Fraction(1, 2**10), is_centred=False)),
        ("#<['0'] <= #<['1']", "01", LayerNorm(unit=Fraction(1, 2**12))),
        ("odd(#<['1'])", "01", LayerNorm(unit=Fraction(1, 2**14))),
    ],
)
def test_no_coordinate_is_off_by_more_in_real_arithmetic(formula: str, letters: str, how: LayerNorm) -> None:
    """The stream, divided by the unit, against the plain network's, which is off by its own errors."""
    model, analysis = wide(formula, letters, how)
    bounds = bounds_of(analysis, REAL, 9)
    seen = flint.arb(0)
    for word in words(letters, 9, 10, 3):
        stream = residual_streams(model.network, word)[-1]
        plain = residual_streams(analysis.network, word)[-1]
        with precision(200):
            for row, exact in zip(stream, plain, strict=True):
                for c, off in enumerate(bounds.offs):
                    apart = abs(row[c] / ball(how.unit) - exact[c])
                    own = ball(analysis.end.errors[c])
                    most = off.constant.max(off.average + off.relative * (abs(exact[c]) + own)) + own
                    # Balls of exact numbers are wider than nothing.
                    assert not apart > most
                    seen = seen.max(apart)
    assert seen > ball(how.unit**2)


def test_errors_in_real_arithmetic_are_those_of_rho() -> None:
    """Four times smaller squares of lambda make errors four times smaller."""
    found = []
    for k in (12, 13):
        _, analysis = wide("(!'c') S 'b'", "abc", LayerNorm(unit=Fraction(1, 2**k)))
        bounds = bounds_of(analysis, REAL, 20)
        found.append(max(float(lost_share.upper()) for lost_share in bounds.lost_shares.values()))
    assert 3.9 < found[0] / found[1] < 4.1


# Floats ------------------------------------------------------------------------------------------


@pytest.mark.sweep(2, also=["#<['0'] <= #<['1']-01-how3-form3-60"])
@pytest.mark.parametrize(
    ("how", "form", "length"),
    [
        (LayerNorm(unit=Fraction(1, 2**24)), FLOAT32, 60),
        (LayerNorm(unit=Fraction(1, 2**14), gain=GAINS), FLOAT32, 40),
        (LayerNorm(unit=Fraction(1, 2**12), bias=BIASED), FLOAT32, 12),
        (LayerNorm(unit=Fraction(1, 2**12), is_centred=False), FLOAT32, 60),
        (LayerNorm(bias=BIASED), FLOAT64, 60),
        (LayerNorm(eps=Fraction(0), padding=Fraction(2**16)), FLOAT64, 60),
    ],
)
@pytest.mark.parametrize(
    ("formula", "letters"), [("(!'c') S 'b'", "abc"), (NESTED, "abc"), ("#<['0'] <= #<['1']", "01")]
)
def test_runs_stay_within_their_bounds(
    formula: str, letters: str, how: LayerNorm, form: FloatFormat, length: int
) -> None:
    model, analysis = wide(formula, letters, how)
    off = bounds_of(analysis, form, length).offs[model.network.output].constant
    module = model.dense(dtype=form.name)
    numbers = {symbol: k for k, symbol in enumerate(letters)}
    for word in words(letters, length, 25, 5):
        with torch.no_grad():
            outputs = module(torch.tensor([[numbers[symbol] for symbol in word]]))[0]
        for output, bit in zip(outputs.flatten().tolist(), model.positions(word), strict=True):
            assert abs(ball(Fraction(output)) - int(bit)) <= off


# The arithmetic of normalisations ----------------------------------------------------------------


def normalise_by_torch(x: torch.Tensor, norm: tuple[torch.Tensor, torch.Tensor], eps: float) -> torch.Tensor:
    return torch.nn.functional.layer_norm(x, x.shape, *norm, eps)


def normalise_in_two_passes(
    x: torch.Tensor, norm: tuple[torch.Tensor, torch.Tensor], eps: float
) -> torch.Tensor:
    mean = x.sum() / len(x)
    apart = x - mean
    scale = 1 / ((apart * apart).sum() / len(x) + eps).sqrt()
    return apart * scale * norm[0] + norm[1]


def normalise_in_one_pass(
    x: torch.Tensor, norm: tuple[torch.Tensor, torch.Tensor], eps: float
) -> torch.Tensor:
    mean = x.sum() / len(x)
    scale = 1 / ((x * x).sum() / len(x) - mean * mean + eps).sqrt()
    factor = scale * norm[0]
    return x * factor + (norm[1] - mean * factor)


def normalise_while_reading(
    x: torch.Tensor, norm: tuple[torch.Tensor, torch.Tensor], eps: float
) -> torch.Tensor:
    """Welford's way."""
    mean = squares = torch.zeros((), dtype=x.dtype)
    for count, value in enumerate(x, start=1):
        apart = value - mean
        mean = mean + apart / count
        squares = squares + apart * (value - mean)
    scale = 1 / (squares / len(x) + eps).sqrt()
    return (x * scale - mean * scale) * norm[0] + norm[1]


Way = Callable[[torch.Tensor, tuple[torch.Tensor, torch.Tensor], float], torch.Tensor]

WAYS: list[Way] = [
    normalise_by_torch,
    normalise_in_two_passes,
    normalise_in_one_pass,
    normalise_while_reading,
]


def pairs_of(rng: random.Random, width: int, kind: torch.dtype) -> torch.Tensor:
    """Numbers and their negatives, not quite opposite where they were rounded apart."""
    scale = 2.0 ** rng.randint(-24, 3)
    half = [
        rng.choice([0.0, 1.0, rng.uniform(-2, 2), rng.uniform(-2, 2) / 1000]) * scale for _ in range(width)
    ]
    other = [-value * (1 + rng.choice([0, 0, 1]) * 2.0**-20) for value in half]
    return torch.tensor([*half, *other], dtype=torch.float64).to(kind)


@pytest.mark.parametrize(
    ("way", "form"), [*product(WAYS, ("float64", "float32")), (normalise_by_torch, "bfloat16")]
)
def test_normalisations_are_of_the_class_that_is_assumed(way: Way, form: str) -> None:
    """One s and one m for all numbers: s within its bound, m by the mean, each result within its own.

    In bfloat16 sums are formed in float32, as PyTorch does.
    """
    rng, kind = random.Random(7), KINDS[form]
    u, sums = (ball(own) for own in (FORMATS[form].roundoff, FORMATS[form].sum_roundoff))
    for _ in range(12):
        width = rng.choice([3, 7, 20])
        x = pairs_of(rng, width, kind)
        gain, bias = (torch.tensor([rng.uniform(-2, 2) for _ in x], dtype=kind) for _ in range(2))
        if rng.random() < 0.5:
            bias = torch.zeros_like(bias)
        eps = rng.choice([1e-5, 2.0**-17])
        found = way(x, (gain, bias), eps)
        with precision(300):
            rows = [[ball(Fraction(v)) for v in own.double().tolist()] for own in (x, gain, bias, found)]
            total = 2 * width
            mean = sum(rows[0], flint.arb(0)) / total
            spread = sum(map(abs, rows[0]), flint.arb(0)) / total
            variance = sum(((h - mean) ** 2 for h in rows[0]), flint.arb(0)) / total
            added = variance + ball(Fraction(eps))
            exact = 1 / added.sqrt()
            near = 2 * total * sums * spread
            rate = SCALE * u + (total + SQUARES) * sums * variance / added
            for h, g, b, y in zip(*rows, strict=True):
                own = STEPS * u * (abs(h - mean) + abs(mean) + 2 * near) + near + rate * abs(h - mean)
                most = abs(g) * exact * (1 + rate) * own + BIASES * u * abs(b) + ball(Fraction(1, 2**120))
                assert abs(y - (g * exact * (h - mean) + b)) <= most


def test_a_norm_that_makes_nothing_of_pairs_reads_zero_as_zero() -> None:
    """RMSNorm takes nothing off: what is exactly 0 is read as that, in floats too."""
    model, analysis = wide("(!'c') S 'b'", "abc", LayerNorm(is_centred=False))
    assert isinstance(model.network.normalisation, Normalisation)
    assert isinstance(model.network.normalisation.before_attention[0], Norm)
    assert bounds_of(analysis, FLOAT32, 50).offs[model.network.output].at_zero == 0


@pytest.mark.parametrize(
    "how",
    [
        {"unit": Fraction(1), "eps": Fraction(0), "padding": Fraction(2**64), "is_centred": False},
        {"unit": Fraction(1), "eps": Fraction(10**39)},
        {"unit": Fraction(1), "eps": Fraction(0), "padding": Fraction(2**50), "is_centred": False},
    ],
)
def test_squares_and_eps_stay_in_the_range_of_the_format(
    how: dict[str, object], monkeypatch: pytest.MonkeyPatch
) -> None:
    """2^64 is a number of float32, and its square is none: such networks are written by hand only."""
    monkeypatch.setattr(normalise, "LARGEST_PADDING", 2**200)
    monkeypatch.setattr(LayerNorm, "__post_init__", lambda own: None)
    model = attemper.compile("Y 'a'", "ab", regime="temperature", layer_norm=LayerNorm(**how))
    analysis = prove(model.network, model.language.definition)
    for form in (FLOAT32, FORMATS["bfloat16"]):
        found = Rounding(analysis, form).bounds_at(Kernel.NUMERATOR_FIRST, 2)
        assert found.failure == "a normalisation (its squares leave the range of the format)"
    assert Rounding(analysis, FLOAT64).bounds_at(Kernel.NUMERATOR_FIRST, 2).failure is None
