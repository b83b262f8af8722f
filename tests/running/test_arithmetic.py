"""The arithmetic that float claims assume (FORMAT.md, section 6), measured on the backends that people get.

Every result is compared with exact numbers: rationals where they are rational, balls of 200 bits else.
docs/arithmetic.md says which backend is of which class. Measured here: CPU kernels.
"""

from __future__ import annotations

import itertools
import random
from collections.abc import Callable, Iterator, Sequence
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
import torch
from flint import arb, ctx
from torch import Tensor
from torch.nn.attention import SDPBackend, sdpa_kernel
from torch.nn.functional import linear, scaled_dot_product_attention

import attemper
from attemper.errors import UnsupportedError
from attemper.exact.closed_forms import Number, Position, Power, Product, Sum
from attemper.networks.layers import Masking
from attemper.running.closed_form_tensors import form_values
from attemper.running.engines.fused import _running_means
from attemper.running.places import Places
from attemper.running.traceable.attention import weights_of
from tests.support.drawn.samples import adversarial_words

EXP_ULPS = 8
"""exp is within so many u, relatively; for a float32 or float64 network it is exactly 1 at 0."""

MEAN_ULPS = 3
"""The quotient of exact sums is within so many u, relatively, in numerator-first kernels."""

BFLOAT16_EXP_ULPS = Fraction(1, 16)
"""In bfloat16, fused denominators add up float32 numbers within so many u of exp, also at 0."""

LEAST_EXP = {
    torch.float64: Fraction(2) ** -1021,
    torch.float32: Fraction(2) ** -125,
    torch.bfloat16: Fraction(2) ** -125,
}
"""Where exp is at most 18/25 of that, it may be off by that, absolutely. 2^-100 is what is claimed."""

SUM_FACTOR = Fraction(8, 7)
"""A sum of k products is within SUM_FACTOR k u times the sum of absolute values, in any order."""

KEYS_PER_RESCALING = 16
"""A kernel rescales its sums over positions at most once per so many keys."""

WORST_EXP_ARGUMENT = -86.94361877441406
"""Where exp in full vectors of the fused kernel is off by 7.71 u in float32, its worst."""

POWER_EXPONENTS = range(1, 17)

FORMATS = (torch.float32, torch.float64, torch.bfloat16)
WIDE_FORMATS = (torch.float32, torch.float64)
UNIT = {
    torch.float64: Fraction(1, 2**53),
    torch.float32: Fraction(1, 2**24),
    torch.bfloat16: Fraction(1, 2**8),
}
"""u, the unit round-off of each format."""

SUM_UNIT = {**UNIT, torch.bfloat16: UNIT[torch.float32]}
"""The unit round-off of sums: those of bfloat16 are formed in float32."""


# The backends -----------------------------------------------------------------------------------------


Attend = Callable[[Tensor, Tensor, Tensor], Tensor]


def fused(q: Tensor, k: Tensor, v: Tensor) -> Tensor:
    with sdpa_kernel(SDPBackend.FLASH_ATTENTION):
        return scaled_dot_product_attention(q, k, v, scale=1.0)


def traceable(q: Tensor, k: Tensor, v: Tensor) -> Tensor:
    """What every export computes, where all keys are seen."""
    scores = q @ k.transpose(-1, -2)
    weights, total = weights_of(scores, torch.ones_like(scores, dtype=torch.bool))
    return (weights @ v) / total


def math_path(q: Tensor, k: Tensor, v: Tensor) -> Tensor:
    with sdpa_kernel(SDPBackend.MATH):
        return scaled_dot_product_attention(q, k, v, scale=1.0)


def eager(q: Tensor, k: Tensor, v: Tensor) -> Tensor:
    """This library's scores way, in which everything is in the format."""
    return (q @ k.transpose(-1, -2)).softmax(dim=-1) @ v


def as_in_transformer_lens(q: Tensor, k: Tensor, v: Tensor) -> Tensor:
    """As in TransformerLens: 16-bit formats have scores and softmax in float32, and a rounded pattern."""
    if q.dtype not in WIDE_FORMATS:
        q, k = q.float(), k.float()
    return (q @ k.transpose(-1, -2) / 1.0).softmax(dim=-1).to(v.dtype) @ v


def as_in_hugging_face(q: Tensor, k: Tensor, v: Tensor) -> Tensor:
    """As in Hugging Face's eager attention: softmax is in float32 whatever the format, its result rounded."""
    scores = torch.matmul(q, k.transpose(2, 3)) * 1.0
    return torch.matmul(scores.softmax(dim=-1, dtype=torch.float32).to(q.dtype), v)


NORMALISE_FIRST: tuple[Attend, ...] = (math_path, eager, as_in_transformer_lens, as_in_hugging_face)
NUMERATOR_FIRST: tuple[Attend, ...] = (fused, traceable)
ALL_BACKENDS: tuple[Attend, ...] = (*NUMERATOR_FIRST, *NORMALISE_FIRST)
BACKENDS_AND_FORMATS = [
    (attend, dtype)
    for attend, dtype in itertools.product(ALL_BACKENDS, FORMATS)
    if (attend, dtype) != (as_in_hugging_face, torch.float64)
]
"""A float64 network has no float64 softmax in Hugging Face's eager attention; a test below shows it."""


# Exact numbers ----------------------------------------------------------------------------------------


@pytest.fixture(autouse=True)
def settled() -> Iterator[None]:
    """Each test has 200 bits of precision and the same random numbers."""
    torch.manual_seed(0)
    with ctx.workprec(200):
        yield


def rationals(numbers: Tensor) -> list[Fraction]:
    return [Fraction(number) for number in numbers.double().flatten().tolist()]


def ball(number: Fraction) -> arb:
    return arb(number.numerator) / arb(number.denominator)


def worst(errors: Sequence[Any], allowed: Sequence[Any]) -> float:
    """The largest error as a part of what is allowed: at most 1 if the claim holds."""
    return max(
        float(error / allowance) if allowance else float(error != 0)
        for error, allowance in zip(errors, allowed, strict=True)
    )


def exp_errors(arguments: Tensor, results: Sequence[Fraction]) -> float:
    """The worst error of exp as a part of EXP_ULPS units, relatively; absolutely where it vanishes."""
    relative, least = ball(EXP_ULPS * UNIT[arguments.dtype]), ball(LEAST_EXP[arguments.dtype])
    exact = [ball(argument).exp() for argument in rationals(arguments)]
    errors = [abs(ball(result) - value).upper() for result, value in zip(results, exact, strict=True)]
    allowed = [(relative * value if value > least * 18 / 25 else least).lower() for value in exact]
    return worst(errors, allowed)


def uniform(count: int, low: float, high: float) -> Tensor:
    return torch.empty(count, dtype=torch.float64).uniform_(low, high)


# (A) exp ----------------------------------------------------------------------------------------------


def exp_arguments(dtype: torch.dtype) -> Tensor:
    """Random arguments, small ones, neighbours of multiples of half log 2, and the worst one for float32.

    The last was found by trying every float32 from -86.98 to -2^-12 in full vectors of the fused kernel.
    """
    deep = -740.0 if dtype is torch.float64 else -104.0
    halves = torch.arange(1, 200, dtype=torch.float64) * -0.34657359027997264
    near = (halves[:, None] * (1 + torch.arange(-4, 5) * 2.0**-23)).flatten()
    small = -(2.0 ** -torch.arange(0, 60, dtype=torch.float64))
    worst_seen = torch.tensor([WORST_EXP_ARGUMENT], dtype=torch.float64)
    spread = [uniform(800, deep, 0), uniform(400, -1, 0), uniform(400, -87, -86)]
    return torch.cat([*spread, near[near >= deep], small, worst_seen]).to(dtype)


def row_with_one_other_key(arguments: Tensor, keys: int, place: int) -> tuple[Tensor, Tensor, Tensor]:
    """Queries [argument, 1, 1, 3], keys and values [argument, 1, keys, 3]: key 0 scores 0, all others x.

    The first column of values shows key 0 alone; what the others show is left to the caller.
    """
    count = len(arguments)
    q = torch.zeros(count, 1, 1, 3, dtype=arguments.dtype)
    k = torch.zeros(count, 1, keys, 3, dtype=arguments.dtype)
    v = torch.zeros_like(k)
    q[:, 0, 0, 0] = arguments
    k[:, 0, 1:, 0] = 1
    v[:, 0, 0, 0] = 1
    v[:, 0, place, 1] = 1
    return q, k, v


def fused_exp(arguments: Tensor, keys: int, place: int) -> list[Fraction]:
    """What fused attention takes for exp at the arguments.

    With values -c at key 0 and 1 at the other key, c near exp(x), the numerator e - c has no rounding.
    It and 1, the numerator of another column, are multiplied by the same reciprocal, so that their
    quotient is (e - c) (1 + 2 u) and e is known to far less than a unit in its last place.
    """
    guess = arguments.double().exp().to(arguments.dtype)
    q, k, v = row_with_one_other_key(arguments, keys, place)
    v[:, 0, 0, 1] = -guess
    shown = fused(q, k, v)[:, 0, 0]
    return [
        near + difference / inverse
        for near, inverse, difference in zip(
            rationals(guess), rationals(shown[:, 0]), rationals(shown[:, 1]), strict=True
        )
    ]


@pytest.mark.sweep(3)
@pytest.mark.parametrize("dtype", WIDE_FORMATS)
@pytest.mark.parametrize(("keys", "place"), [(2, 1), (16, 5), (17, 16), (40, 33)])
def test_exp_of_fused_attention(dtype: torch.dtype, keys: int, place: int) -> None:
    """Full vectors of keys have another exp than the rest: 7.7 u and 1.0 u in float32 where measured."""
    arguments = exp_arguments(dtype)
    results = fused_exp(arguments, keys, place)
    assert exp_errors(arguments, results) <= 1


def test_exp_of_numpy() -> None:
    """The exp of the engine `numpy`, which is float64 only."""
    arguments = exp_arguments(torch.float64)
    assert exp_errors(arguments, rationals(torch.from_numpy(np.exp(arguments.numpy())))) <= 1
    assert (np.exp(np.zeros(40)) == 1).all()


@pytest.mark.parametrize("dtype", FORMATS)
def test_exp_of_torch(dtype: torch.dtype) -> None:
    arguments = exp_arguments(dtype)
    assert exp_errors(arguments, rationals(arguments.exp())) <= 1
    assert torch.zeros(40, dtype=dtype).exp().eq(1).all()


@pytest.mark.parametrize("dtype", FORMATS)
@pytest.mark.parametrize("keys", [2, 16, 33])
def test_exp_of_softmax(dtype: torch.dtype, keys: int) -> None:
    """Scores so low that the sum is exactly 1 in the format show exp itself."""
    arguments = exp_arguments(dtype)
    arguments = arguments[arguments < -45]
    scores = arguments[:, None].repeat(1, keys)
    scores[:, 0] = 0
    weights = scores.softmax(dim=-1)
    assert weights[:, 0].eq(1).all()
    for place in {1, keys - 1}:
        assert exp_errors(arguments, rationals(weights[:, place])) <= 1


@pytest.mark.parametrize(("keys", "place"), [(16, 5), (17, 16), (40, 33)])
def test_exp_in_fused_numerators_of_bfloat16(keys: int, place: int) -> None:
    """Numerators have exp rounded to bfloat16."""
    arguments = exp_arguments(torch.bfloat16)
    arguments = arguments[arguments < -20]
    q, k, v = row_with_one_other_key(arguments, keys, place)
    shown = fused(q, k, v)[:, 0, 0]
    assert shown[:, 0].eq(1).all()
    assert exp_errors(arguments, rationals(shown[:, 1])) <= 1


@pytest.mark.parametrize("keys", [2, 16, 17, 64, 500])
def test_exp_in_fused_denominators_of_bfloat16_is_not_1_at_0(keys: int) -> None:
    """Denominators have exp in float32, by a faster formula: 1 - 5.3e-5 at 0 where this was written.

    The kernel's second result is the logarithm of the denominator, in float32: 2^-20 covers its rounding.
    """
    for x in (0.0, *torch.linspace(-6, 0, 60).tolist()):
        q = torch.full((1, 1, 1, 8), 0.0, dtype=torch.bfloat16)
        q[..., 0] = x
        k = torch.zeros(1, 1, keys, 8, dtype=torch.bfloat16)
        k[0, 0, 1:, 0] = 1
        _, logarithms = torch.ops.aten._scaled_dot_product_flash_attention_for_cpu(q, k, k, scale=1.0)
        exact = 1 + (keys - 1) * ball(rationals(q[0, 0, 0, :1])[0]).exp()
        error = abs(arb(logarithms.item()).exp() / exact - 1)
        assert error < ball(BFLOAT16_EXP_ULPS * UNIT[torch.bfloat16] + Fraction(1, 2**20))


# (B) Means at equal scores ----------------------------------------------------------------------------


def equal_scores(values: Tensor) -> tuple[Tensor, Tensor, Tensor]:
    """A query and keys of 0 for values [keys, column]."""
    v = values[None, None]
    return torch.zeros_like(v[:, :, :1]), torch.zeros_like(v), v


def mean_values(count: int, dtype: torch.dtype) -> Tensor:
    """Integers [count, 6] whose sums are exact in every order: bits, all 1, both signs, sums that cancel."""
    size = 100 if dtype is not torch.bfloat16 else 9
    bits = torch.rand(count, 2) < torch.tensor([0.1, 0.7])
    signed = torch.randint(-size, size + 1, (count, 1))
    ties = torch.arange(count)[:, None] % 2 * 2 * size - size
    ties[-1] = 1 - ties[:-1].sum()
    ties = ties.clamp(-2 * size, 2 * size)
    ones = torch.ones(count, 1)
    first = (torch.arange(count) == 0)[:, None]
    return torch.cat([bits, ones, first, signed, ties], dim=1).to(dtype)


COUNTS = (*range(1, 130), 255, 256, 257, 511, 512, 513, 1000, 4097, 20_000)


def mean_error(attend: Attend, dtype: torch.dtype, count: int) -> Fraction:
    """The worst relative error of the means at equal scores, in units of u."""
    values = mean_values(count, dtype)
    means = rationals(attend(*equal_scores(values)))
    exact = [Fraction(int(total), count) for total in values.double().sum(dim=0).tolist()]
    for mean, value in zip(means, exact, strict=True):
        assert value or not mean
    pairs = zip(means, exact, strict=True)
    return max(abs(mean / value - 1) / UNIT[dtype] for mean, value in pairs if value)


@pytest.mark.parametrize("dtype", FORMATS)
@pytest.mark.parametrize("attend", NUMERATOR_FIRST)
def test_numerator_first_means_are_almost_correctly_rounded(attend: Attend, dtype: torch.dtype) -> None:
    """Fused: the reciprocal of the denominator is rounded, and its product: at most 2 u + u^2.

    Traceable: one quotient; in bfloat16 numerator and denominator are rounded before: at most 3 u + 3 u^2.
    """
    assert max(mean_error(attend, dtype, count) for count in COUNTS) <= MEAN_ULPS


def test_fused_means_are_not_correctly_rounded() -> None:
    """The mean of 41 ones is 1 - 2^-24."""
    ones = torch.ones(41, 1)
    assert fused(*equal_scores(ones)).item() == 1 - 2.0**-24


def uniform_head(q: Tensor, k: Tensor, v: Tensor) -> Tensor:
    """This library's uniform heads, at the last position of future-masked attention."""
    count = v.shape[2]
    places = Places(torch.tensor([count]), count)
    return _running_means(v.transpose(1, 2), Masking.FUTURE, places).transpose(1, 2)[:, :, -1:]


def unmasked_uniform_head(q: Tensor, k: Tensor, v: Tensor) -> Tensor:
    """This library's uniform heads without a mask."""
    count = v.shape[2]
    places = Places(torch.tensor([count]), count)
    return _running_means(v.transpose(1, 2), Masking.NONE, places).transpose(1, 2)[:, :, -1:]


@pytest.mark.parametrize("dtype", FORMATS)
@pytest.mark.parametrize("attend", [uniform_head, unmasked_uniform_head])
def test_this_librarys_uniform_heads_round_once(attend: Attend, dtype: torch.dtype) -> None:
    """float32 and float64: correctly rounded. bfloat16: rounded to float32, then to bfloat16."""
    twice = UNIT[torch.float32] / UNIT[dtype] * 2 if dtype is torch.bfloat16 else Fraction(0)
    assert max(mean_error(attend, dtype, count) for count in COUNTS) <= 1 + twice


@pytest.mark.parametrize(
    ("attend", "dtype"), [pair for pair in BACKENDS_AND_FORMATS if pair[0] in NORMALISE_FIRST]
)
def test_normalise_first_means(attend: Attend, dtype: torch.dtype) -> None:
    """Each weight is a rounded quotient (MEAN_ULPS), the sum has N roundings, its result one."""
    for count in COUNTS:
        values = mean_values(count, dtype)
        means = rationals(attend(*equal_scores(values)))
        totals = values.double().sum(dim=0).tolist(), values.double().abs().sum(dim=0).tolist()
        for mean, total, absolute in zip(means, *totals, strict=True):
            relative = SUM_FACTOR * count * SUM_UNIT[dtype] + (MEAN_ULPS + 1) * UNIT[dtype]
            assert abs(mean - Fraction(total) / count) <= relative * Fraction(absolute) / count


@pytest.mark.parametrize("dtype", WIDE_FORMATS)
@pytest.mark.parametrize("attend", NORMALISE_FIRST)
def test_normalise_first_means_are_another_class(attend: Attend, dtype: torch.dtype) -> None:
    """Where this fails a backend has become better than docs/arithmetic.md says."""
    assert mean_error(attend, dtype, 20_000) > 100


def test_watching_scores_makes_this_library_normalise_first() -> None:
    """`run_with_cache` without names watches scores and patterns, too."""
    model = attemper.compile("#<[a] <= #<[b]", "ab", at="last").dense(dtype="float32")
    tokens = (torch.rand(1, 600) < 0.3).long()

    def worst_mean(names: list[str] | None) -> Fraction:
        _, cache = model.run_with_cache(tokens, names=names)
        means, values = cache["blocks.0.attn.hook_z"][0], cache["blocks.0.attn.hook_v"][0]
        totals = rationals(values.double().cumsum(dim=0))
        exact = [t / (1 + p // values[0].numel()) for p, t in enumerate(totals)]
        pairs = zip(rationals(means), exact, strict=True)
        return max(abs(mean / value - 1) / UNIT[torch.float32] for mean, value in pairs if value)

    assert worst_mean(["blocks.0.attn.hook_z", "blocks.0.attn.hook_v"]) <= 1
    assert worst_mean(None) > 2 * MEAN_ULPS


# (C) Sums over positions and rescaling ----------------------------------------------------------------


def score_patterns(count: int) -> dict[str, Tensor]:
    """Scores that make a kernel rescale often, seldom or never."""
    t = torch.arange(count, dtype=torch.float64)
    return {
        "growing": t * (60 / count),
        "growing fast": t * 0.5,
        "growing once per 16 keys": (t // 16) * 0.3,
        "growing once per 512 keys": (t // 512) * 5,
        "falling": -t * (60 / count),
        "alternating": (t % 2) * 7,
        "sawtooth": (t % 700) / 50,
        "almost equal": t * 2.0**-20,
        "random": torch.randn(count, dtype=torch.float64) * 3,
    }


def attended(attend: Attend, scores: Tensor, values: Tensor) -> Fraction:
    """One query's result where key j scores scores[j] exactly and has the value values[j]."""
    q = torch.tensor([1, 0], dtype=scores.dtype)[None, None, None]
    k, v = (torch.stack([row, torch.zeros_like(row)], dim=1)[None, None] for row in (scores, values))
    return Fraction(attend(q, k, v)[0, 0, 0, 0].item())


def attention_error(attend: Attend, scores: Tensor, values: Tensor) -> float:
    """The error of one query as a part of what section 6 allows.

    Each e_j is off by EXP_ULPS u and by u times the distance of its score from the largest one. Two sums
    of N terms, rescaled, cost 2 N u each. A quotient costs MEAN_ULPS u, and normalise-first kernels round
    the result again.
    """
    unit, sums = UNIT[scores.dtype], SUM_UNIT[scores.dtype]
    s, v = rationals(scores), rationals(values)
    top, largest = max(s), max(map(abs, v))
    numerator = denominator = spread = arb(0)
    for score, value in zip(s, v, strict=True):
        weight = ball(score - top).exp()
        numerator += weight * ball(value)
        denominator += weight
        spread += weight * ball(top - score)
    exact, spread = numerator / denominator, spread / denominator
    twice = 4 * len(s) * sums / (1 - 2 * len(s) * sums)
    constant = (2 * EXP_ULPS + MEAN_ULPS + (attend in NORMALISE_FIRST)) * unit + twice
    bound = ball(largest) * (ball(constant) + 2 * ball(unit) * spread)
    return float(abs(ball(attended(attend, scores, values)) - exact).upper() / bound.lower())


@pytest.mark.sweep(11)
@pytest.mark.parametrize("count", [5, 100, 1500])
@pytest.mark.parametrize(("attend", "dtype"), BACKENDS_AND_FORMATS)
def test_attention_is_within_its_bound(attend: Attend, dtype: torch.dtype, count: int) -> None:
    for scores in score_patterns(count).values():
        signs = torch.randint(0, 2, (count,)).mul(2).sub(1).to(dtype)
        last = torch.arange(count).eq(count - 1).to(dtype)
        for values in (last, signs, uniform(count, 0.5, 1).to(dtype)):
            assert 0 <= attention_error(attend, scores.to(dtype), values) <= 1


@pytest.mark.parametrize(("dtype", "count"), [(torch.float32, 1500), (torch.float64, 1500)])
def test_sums_and_rescaling_cost_far_less_than_their_bound(dtype: torch.dtype, count: int) -> None:
    """Positive values: each pattern costs less than N / 8 units, where 2 N are allowed for each sum."""
    unit = UNIT[dtype]
    for scores in score_patterns(count).values():
        values = uniform(count, 0.5, 1).to(dtype)
        weights = [ball(score).exp() for score in rationals(scores.to(dtype))]
        numerator = sum((w * ball(v) for w, v in zip(weights, rationals(values), strict=True)), arb(0))
        exact = numerator / sum(weights, arb(0))
        error = abs(ball(attended(fused, scores.to(dtype), values)) / exact - 1)
        assert error < ball(unit * (2 * EXP_ULPS + Fraction(count, 8)))


@pytest.mark.parametrize("dtype", FORMATS)
@pytest.mark.parametrize("attend", ALL_BACKENDS)
def test_keys_far_behind_add_nothing(attend: Attend, dtype: torch.dtype) -> None:
    """Their exp is exactly 0, whatever they would add: so are those of hidden keys, which score -inf."""
    for count, drop in itertools.product((2, 17, 40, 600), (1000.0, 1e30)):
        scores = torch.full((count,), -drop, dtype=dtype)
        scores[count // 2] = 0
        values = torch.full((count,), 2.0**60, dtype=dtype)
        values[count // 2] = 0.75
        assert attended(attend, scores, values) == Fraction(3, 4)


@pytest.mark.parametrize("dtype", FORMATS)
def test_causal_attention_adds_nothing_for_hidden_keys(dtype: torch.dtype) -> None:
    """The means of the first i values, where the hidden ones are large; several blocks of keys."""
    values = mean_values(1100, dtype)
    places = torch.arange(1, 1101)
    shown = places <= 600
    hidden = torch.where(shown[:, None], values, torch.full_like(values, 2.0**60))[None, None]
    zeros = torch.zeros_like(hidden)
    with sdpa_kernel(SDPBackend.FLASH_ATTENTION):
        means = scaled_dot_product_attention(zeros, zeros, hidden, is_causal=True, scale=1.0)[0, 0, :600]
    totals = rationals(values[:600].double().cumsum(dim=0))
    exact = [total / (1 + place // values.shape[1]) for place, total in enumerate(totals)]
    errors = [abs(mean - value) for mean, value in zip(rationals(means), exact, strict=True)]
    assert worst(errors, [MEAN_ULPS * UNIT[dtype] * abs(value) for value in exact]) <= 1


def first_key_weight(drop: Tensor, count: int, step: int, queries: int) -> Fraction:
    """The numerator of key 0 where keys before `step` score 0 and the others `drop`, times a power of 2."""
    q = torch.zeros(1, 1, queries, 2)
    q[..., 0] = 1
    k = torch.zeros(1, 1, count, 2)
    k[0, 0, step:, 0] = drop
    v = torch.zeros(1, 1, count, 2)
    v[0, 0, 0, 0] = 1
    return Fraction(fused(q, k, v)[0, 0, -1, 0].item()) * (count - step)


@pytest.mark.parametrize("queries", [1, 200, 800])
def test_blocks_of_keys_are_not_short(queries: int) -> None:
    """A kernel that rescales has another exp for rescaling than for keys, in full vectors: so it shows.

    Key 0 has exp(-drop) directly while the step is in its own block, and 1 times a rescaling factor from
    the block's end on. Where this was written the block ends at 512. Without vectors nothing shows.
    """
    count = 1088
    steps = [16, 31, 32, 48, 64, 96, 128, 192, 256, 320, 384, 448, 480, 512, 513, 528, 640, 800, 1024, 1040]
    ends = set()
    for drop in torch.tensor([40.3, 41.1, 42.7, 43.9, 45.3, 47.1, 50.9, 53.3]):
        weights = [first_key_weight(drop, count, step, queries) for step in steps]
        changes = [abs(weight / weights[0] - 1) > 3 * UNIT[torch.float32] for weight in weights]
        ends |= {steps[changes.index(True)]} if any(changes) else set()
    assert all(end > KEYS_PER_RESCALING for end in ends)
    assert ends <= {512}


# (D) Temperature and position embeddings --------------------------------------------------------------


def dots(q: Tensor, k: Tensor) -> Tensor:
    """q . k for rows [case, R]."""
    return torch.bmm(q[:, None, :], k[:, :, None]).flatten()


@pytest.mark.parametrize("dtype", FORMATS)
@pytest.mark.parametrize("rows", [1, 2, 3, 16])
def test_temperature_on_either_side_of_the_product(dtype: torch.dtype, rows: int) -> None:
    """One more rounding than the sum has: of each t q, or of t (q . k)."""
    q, k = (torch.randn(300, rows, dtype=torch.float64).to(dtype) for _ in "qk")
    t = uniform(300, 0.01, 100).to(dtype)
    exact, allowed = [], []
    for a, b, c in zip(*(x.double().tolist() for x in (q, k, t)), strict=True):
        products = [Fraction(x) * Fraction(y) * Fraction(c) for x, y in zip(a, b, strict=True)]
        exact.append(sum(products, Fraction(0)))
        allowed.append(SUM_FACTOR * (rows + 1) * UNIT[dtype] * sum(map(abs, products), Fraction(0)))
    for scores in (dots(q * t[:, None], k), dots(q, k * t[:, None]), dots(q, k) * t):
        errors = [abs(a - b) for a, b in zip(rationals(scores), exact, strict=True)]
        assert worst(errors, allowed) <= 1


def test_the_math_path_splits_a_scale_of_its_own() -> None:
    """A `scale` that is not 1 becomes its square root on either side: not the same numbers (3 u more)."""
    differ = 0
    for x in uniform(60, 0, 20).float():
        q, k, v = torch.zeros(1, 1, 1, 64), torch.zeros(1, 1, 2, 64), torch.zeros(1, 1, 2, 64)
        q[..., 0], k[0, 0, 1, 0], v[0, 0, 1, 0] = x, -1, 1
        with sdpa_kernel(SDPBackend.MATH):
            inside = scaled_dot_product_attention(q, k, v, scale=1 / 8)
        differ += bool(inside[0, 0, 0, 0] != math_path(q / 8, k, v)[0, 0, 0, 0])
    assert differ > 0


FORMS = (
    (Position(), 0, lambda i: Fraction(i)),
    (Power(Position(), -1), 1, lambda i: Fraction(1, i)),
    (Power(Position(), -2), 2, lambda i: Fraction(1, i * i)),
    (Power(Position(), 2), 1, lambda i: Fraction(i * i)),
    (Product((Number(Fraction(4)), Power(Position(), 2))), 2, lambda i: Fraction(4 * i * i)),
    (Product((Number(Fraction(1, 3)), Position())), 2, lambda i: Fraction(i, 3)),
    (
        Sum((Power(Position(), 2), Product((Number(Fraction(2)), Position())))),
        3,
        lambda i: Fraction(i * i + 2 * i),
    ),
    (Power(Sum((Position(), Number(Fraction(1, 2)))), 3), 3, lambda i: (i + Fraction(1, 2)) ** 3),
)
"""Positive forms, how many operations round, and their exact values."""


@pytest.mark.parametrize("dtype", FORMATS)
@pytest.mark.parametrize(("form", "operations", "exact"), FORMS)
def test_position_embeddings_round_once(
    form: Any, operations: int, exact: Callable[[int], Fraction], dtype: torch.dtype
) -> None:
    """Each operation is one rounding of float64, and there is one of the format: exact numbers stay exact."""
    i = torch.cat([torch.arange(1, 200), torch.randint(200, 10**6, (300,))])
    wide = form_values(form, i, i)
    values = [exact(position) for position in i.tolist()]
    errors = [abs(result - value) for result, value in zip(rationals(wide), values, strict=True)]
    assert worst(errors, [operations * UNIT[torch.float64] * value for value in values]) <= 1
    rounded = rationals(wide.to(dtype))
    errors = [abs(result - value) for result, value in zip(rounded, values, strict=True)]
    once = UNIT[dtype] + (operations + 1) * UNIT[torch.float64] * (dtype is not torch.float64)
    allowed = [max(once, operations * UNIT[dtype]) * value for value in values]
    assert worst(errors, allowed) <= 1


@pytest.mark.parametrize("dtype", FORMATS)
def test_position_embeddings_computed_in_the_format(dtype: torch.dtype) -> None:
    """i^2 + 2 i and 1/i^2 with every operation in the format: a rounding each, and one for i itself."""
    numbers = torch.cat([torch.arange(1, 200), torch.randint(200, 10**6, (300,))])
    i = numbers.to(dtype)
    exact = [Fraction(position) for position in numbers.tolist()]
    for values, operations, form in (
        (i * i + 2 * i, 4, lambda x: x * x + 2 * x),
        (1 / (i * i), 4, lambda x: 1 / (x * x)),
    ):
        errors = [abs(a - form(x)) for a, x in zip(rationals(values), exact, strict=True)]
        allowed = [SUM_FACTOR * operations * UNIT[dtype] * form(x) for x in exact]
        assert worst(errors, allowed) <= 1


# (E) Matrix products ----------------------------------------------------------------------------------


def ways_to_multiply(x: Tensor, weight: Tensor) -> list[Tensor]:
    """x [batch, n, d] times weight [d, units], as networks do it."""
    return [
        x @ weight,
        torch.einsum("bnd,hde->bnhe", x, weight[None])[:, :, 0],
        linear(x, weight.T.contiguous()),
        torch.stack([word @ weight for word in x]),
        torch.stack([(weight.T @ word.T).T for word in x]),
        torch.stack([torch.stack([weight.T @ row for row in word]) for word in x]),
        torch.bmm(x, weight.expand(len(x), -1, -1)),
    ]


SHAPES = ((1, 1, 5, 1), (1, 1, 33, 7), (2, 20, 40, 70), (1, 90, 64, 64), (3, 7, 129, 65))


@pytest.mark.parametrize("dtype", FORMATS)
@pytest.mark.parametrize(("batch", "n", "d", "units"), SHAPES)
def test_one_product_among_zeros_is_rounded_once(
    dtype: torch.dtype, batch: int, n: int, d: int, units: int
) -> None:
    x = torch.zeros(batch, n, d, dtype=dtype)
    place = torch.randint(d, (batch, n, 1))
    size = 2.0 ** torch.randint(-20, 20, (batch, n, 1))
    x.scatter_(2, place, (torch.randn(batch, n, 1) * size).to(dtype))
    weight = torch.randn(d, units).to(dtype)
    chosen = [Fraction(a) for a in x.gather(2, place).double().flatten().tolist()]
    rows = weight.double()[place.flatten()].tolist()
    # Products of two float32 or bfloat16 numbers are float64 numbers, so that each is rounded once.
    wide = [[float(a * Fraction(b)) for b in row] for a, row in zip(chosen, rows, strict=True)]
    expected = torch.tensor(wide, dtype=torch.float64).to(dtype).reshape(batch, n, units)
    for product in ways_to_multiply(x, weight):
        assert torch.equal(product, expected)


@pytest.mark.sweep(6)
@pytest.mark.parametrize("dtype", FORMATS)
@pytest.mark.parametrize(
    ("n", "d", "units"), [(1, 2, 1), (40, 2, 40), (1, 200, 4), (5, 200, 4), (3, 700, 2), (17, 33, 17)]
)
@pytest.mark.parametrize("signed", [False, True])
def test_sums_of_products(dtype: torch.dtype, n: int, d: int, units: int, signed: bool) -> None:
    """Each product is rounded, and each of d - 1 additions; bfloat16 sums are float32 sums, rounded once."""
    low = -1.0 if signed else 1.0
    x, weight = uniform(n * d, low, 1.06).reshape(1, n, d).to(dtype), uniform(d * units, low, 1.06)
    weight = weight.reshape(d, units).to(dtype)
    exact, allowed = [], []
    for row, column in itertools.product(x[0].double().tolist(), weight.T.double().tolist()):
        products = [Fraction(a) * Fraction(b) for a, b in zip(row, column, strict=True)]
        total, absolute = sum(products, Fraction(0)), sum(map(abs, products), Fraction(0))
        once = UNIT[dtype] * abs(total) if dtype is torch.bfloat16 else Fraction(0)
        exact.append(total)
        allowed.append(SUM_FACTOR * d * SUM_UNIT[dtype] * absolute + once)
    for product in ways_to_multiply(x, weight):
        errors = [abs(a - b) for a, b in zip(rationals(product), exact, strict=True)]
        assert worst(errors, allowed) <= 1


def test_two_products_are_off_by_more_than_one_addition() -> None:
    """Why k products count k roundings and not k - 1: two of them reach 1.9 u, one of them u."""
    x, weight = (uniform(4000, 1, 1.06).reshape(2000, 2).float() for _ in "xw")
    products = [
        Fraction(a[0]) * Fraction(b[0]) + Fraction(a[1]) * Fraction(b[1])
        for a, b in zip(x.tolist(), weight.tolist(), strict=True)
    ]
    errors = [abs(a / b - 1) for a, b in zip(rationals(dots(x, weight)), products, strict=True)]
    assert SUM_FACTOR < max(errors) / UNIT[torch.float32] <= 2


def test_float32_products_are_float32_products() -> None:
    """By default no narrower format (bfloat16, TF32) stands in: users can change that."""
    assert torch.get_float32_matmul_precision() == "highest"
    x = torch.full((64, 64), 1 + 2.0**-23)
    assert torch.equal(x @ torch.eye(64), x)


@pytest.mark.parametrize("dtype", FORMATS)
@pytest.mark.parametrize("n", [1, 2, 50])
def test_a_bias_is_one_more_term_of_the_sum(dtype: torch.dtype, n: int) -> None:
    """This library adds it after the sum; `linear` adds it inside, and rounds bfloat16 once less."""
    x, weight, bias = (torch.randn(shape).to(dtype) for shape in ((n, 7), (7, 5), (5,)))
    exact, allowed = [], []
    for row in x.double().tolist():
        for column, b in zip(weight.T.double().tolist(), bias.double().tolist(), strict=True):
            terms = [Fraction(p) * Fraction(q) for p, q in zip(row, column, strict=True)] + [Fraction(b)]
            exact.append(sum(terms, Fraction(0)))
            allowed.append(SUM_FACTOR * len(terms) * UNIT[dtype] * sum(map(abs, terms), Fraction(0)))
    for product in (x @ weight + bias, linear(x, weight.T.contiguous(), bias)):
        errors = [abs(p - q) for p, q in zip(rationals(product), exact, strict=True)]
        assert worst(errors, allowed) <= 1


@pytest.mark.parametrize("dtype", FORMATS)
def test_a_bias_keeps_exact_sums_exact(dtype: torch.dtype) -> None:
    """Sums of at most two terms that the format holds: x - threshold, both ways."""
    x, weight = torch.zeros(60, 9, dtype=dtype), torch.zeros(9, 4, dtype=dtype)
    x[:, 3] = torch.randint(-60, 60, (60,)).to(dtype)
    weight[3] = torch.tensor([1, 2, -1, 0.5]).to(dtype)
    bias = torch.tensor([-3, 8, 16, -0.25]).to(dtype)
    expected = x[:, 3:4].double() * weight[3].double() + bias.double()
    for product in (x @ weight + bias, linear(x, weight.T.contiguous(), bias)):
        assert torch.equal(product.double(), expected)


# (F) Powers -------------------------------------------------------------------------------------------


@pytest.mark.parametrize("exponent", POWER_EXPONENTS)
def test_powers_are_repeated_products(exponent: int) -> None:
    """At most exponent - 1 roundings, and no error where float64 holds the power."""
    i = torch.cat([torch.arange(1, 2000), torch.randint(2000, 10**6 + 1, (2000,)), torch.tensor([10**6])])
    powers = form_values(Power(Position(), exponent), i, i).tolist()
    for position, power in zip(i.tolist(), powers, strict=True):
        exact = position**exponent
        error = abs(int(power) - exact)
        assert error * 2**53 <= (exponent - 1) * exact
        assert not error or int(float(exact)) != exact


# (G) Sums over positions of this library's uniform heads ----------------------------------------------


@pytest.mark.sweep(2)
@pytest.mark.parametrize("dtype", WIDE_FORMATS)
@pytest.mark.parametrize("count", [10, 1000, 20_000])
def test_running_sums(dtype: torch.dtype, count: int) -> None:
    """N - 1 additions in the format or better: where measured, float32 sums are float64 sums, rounded."""
    values = uniform(count, 0, 1).to(dtype)
    exact = list(itertools.accumulate(rationals(values)))
    rows = torch.stack([values, values.flip(0), values], dim=1)[None, :, :, None]
    sums = rationals(rows.cumsum(dim=1)[0, :, 0, 0])
    errors = [abs(a - b) for a, b in zip(sums, exact, strict=True)]
    allowed = [SUM_FACTOR * n * UNIT[dtype] * total for n, total in enumerate(exact)]
    assert worst(errors[1:], allowed[1:]) <= 1
    total = rationals(rows.sum(dim=1)[0, :, 0])
    assert all(abs(t - exact[-1]) <= allowed[-1] for t in total)


# (H) softmax ------------------------------------------------------------------------------------------


@pytest.mark.sweep(4)
@pytest.mark.parametrize("dtype", FORMATS)
@pytest.mark.parametrize("count", [1, 2, 15, 16, 100])
def test_softmax_weights(dtype: torch.dtype, count: int) -> None:
    """Each weight has the errors of its exp, of the sum and of a quotient; bfloat16 is rounded at the end."""
    for width in (0.0, 1.0, 6.0):
        scores = (torch.randn(20, count) * width).to(dtype)
        for row, weights in zip(scores, scores.softmax(dim=-1), strict=True):
            exact = [ball(score - max(rationals(row))).exp() for score in rationals(row)]
            total = sum(exact, arb(0))
            distance = max(rationals(row)) - min(rationals(row))
            unit = SUM_UNIT[dtype]
            once = 2 * UNIT[dtype] if dtype is torch.bfloat16 else Fraction(0)
            allowed = ball((2 * EXP_ULPS + SUM_FACTOR * count + MEAN_ULPS + 2 * distance) * unit + once)
            for weight, value in zip(rationals(weights), exact, strict=True):
                assert abs(ball(weight) * total / value - 1) <= allowed


# Which backend is in use ------------------------------------------------------------------------------


FLASH, MATH = int(SDPBackend.FLASH_ATTENTION), int(SDPBackend.MATH)


@pytest.mark.parametrize("regime", ["unbounded", "temperature", "decoder"])
def test_this_librarys_softmax_heads_get_the_fused_kernel(
    regime: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    choices: list[int] = []

    def noted(q: Tensor, k: Tensor, v: Tensor, **options: Any) -> Tensor:
        choices.append(torch._fused_sdp_choice(q, k, v, **options))
        return scaled_dot_product_attention(q, k, v, **options)

    monkeypatch.setattr(torch.nn.functional, "scaled_dot_product_attention", noted)
    rng = random.Random(0)
    for formula in ("Y a", "a S b", "#<[a] <= #<[b]", "X a", "a U b", "even(#[a])", "#<[a] <= #>[b]"):
        try:
            model = attemper.compile(formula, "ab", at="last", regime=regime)
        except UnsupportedError:
            continue
        for dtype in ("float64", "float32", "bfloat16"):
            for words in ([("a",)], list(adversarial_words(rng, ("a", "b"), 40)), [("a",), ("a", "b") * 9]):
                assert len(list(model.run(words, dtype=dtype))) == len(words)
    assert len(choices) > 20
    assert set(choices) == {FLASH}


def test_how_to_ask_which_kernel_is_chosen() -> None:
    """What docs/arithmetic.md lists as reasons for the math path."""
    x = torch.randn(1, 2, 5, 4)
    mask = torch.zeros(1, 1, 5, 5)
    assert torch._fused_sdp_choice(x, x, x, is_causal=True) == FLASH
    assert torch._fused_sdp_choice(x, x, x, attn_mask=mask) == FLASH
    assert torch._fused_sdp_choice(x, x, x, attn_mask=mask.clone().requires_grad_()) == MATH
    assert torch._fused_sdp_choice(x, x, x, dropout_p=0.1) == MATH
    assert torch._fused_sdp_choice(x[0], x[0], x[0]) == MATH
    assert torch._fused_sdp_choice(x, x, torch.randn(1, 2, 5, 6)) == MATH
    assert torch._fused_sdp_choice(x, x[:, :1], x[:, :1]) == MATH
    assert torch._fused_sdp_choice(*[x.transpose(-1, -2)] * 3) == MATH
    with sdpa_kernel(SDPBackend.MATH):
        assert torch._fused_sdp_choice(x, x, x) == MATH


def test_hugging_faces_softmax_is_float32_in_a_float64_network() -> None:
    """No float64 claim covers that: the mean of three values is off by 2^24 units and more."""
    assert mean_error(as_in_hugging_face, torch.float64, 3) > 2**24
