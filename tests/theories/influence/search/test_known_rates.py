"""The rates at which one symbol's influence falls, in closed forms and in small models: docs/influence.md."""

from __future__ import annotations

from collections.abc import Callable

import flint
import numpy as np
import pytest

from attemper.exact.balls import precision
from attemper.models.arrays import Floats
from attemper.theories.influence.search.influence import WordFrame, given_words, merged
from tests.support.oracles.plain_attention import alibi_bias, changes, output, t5_bias, window_bias


def lookup(s: int, n: int, k: int) -> flint.arb:
    """PARITY's lookup with bounded positions: scores -s (i/n - k/n)^2, values (-1)^i, i = 1, ..., n."""
    powers = [(flint.arb(-s) * (flint.arb(i - k) / n) ** 2).exp() for i in range(1, n + 1)]
    return sum((-1) ** i * power for i, power in enumerate(powers, start=1)) / sum(powers)


def moved(s: int, n: int, k: int) -> float:
    """How much the output moves when one more symbol is a 1, of k."""
    with precision(300):
        return float(abs(lookup(s, n, k + 1) - lookup(s, n, k)))


def test_the_lookup_of_parity_needs_logits_of_n_squared() -> None:
    """On a typical word the influence falls exponentially below n^2; on the worst, without a 1, as 1/n."""
    assert f"{moved(128, 128, 64):.1e}" == "5.9e-16"
    assert f"{moved(128, 128, 0):.2e}" == "4.99e-03"
    assert f"{moved(256, 256, 0):.2e}" == "2.49e-03"
    assert f"{moved(128**2, 128, 64):.4f}" == "0.3392"
    worst = max(range(0, 128, 8), key=lambda k: moved(128, 128, k))
    assert worst == 0


def causal_means(layers: int, n: int) -> float:
    """n times the influence of x_1, where each layer adds the mean over all that is seen."""
    stream = np.zeros(n)
    stream[0] = 1.0
    for _ in range(layers):
        stream = stream + np.cumsum(stream) / np.arange(1, n + 1)
    return float(n * stream[-1])


@pytest.mark.parametrize(
    ("layers", "short", "long"), [(2, "5.3807", "16.4402"), (3, "19.65", "151.40"), (4, "59.83", "1025.08")]
)
def test_early_symbols_of_causal_models_fall_slower_than_one_over_n(
    layers: int, short: str, long: str
) -> None:
    """n times the influence grows as (ln n)^(L-1): with L = 2 it is 2 + 1 + 1/2 + ... + 1/n."""
    digits = len(short.split(".")[1])
    assert f"{causal_means(layers, 16):.{digits}f}" == short
    assert f"{causal_means(layers, 2**20):.{digits}f}" == long


def test_with_two_causal_layers_the_influence_is_a_harmonic_number() -> None:
    assert causal_means(2, 1000) == pytest.approx(2 + sum(1 / k for k in range(1, 1001)), rel=1e-12)


@pytest.mark.parametrize("bias", [t5_bias, alibi_bias, window_bias])
def test_one_pass_over_a_word_makes_all_its_exchanges(bias: Callable[[int], Floats]) -> None:
    word = np.random.default_rng(1).integers(0, 2, 16)
    found = merged(given_words(lambda words: output(words, bias(16)), WordFrame((0, 1)), word[None]))
    wanted = changes(word, bias(16))[:-1].max()
    assert max(each.largest for each in found.values()) == pytest.approx(wanted, rel=1e-9)


def greatest(bias: Callable[[int], Floats], length: int) -> float:
    """The largest change on random words, x_n not exchanged."""
    words = np.random.default_rng(length).integers(0, 2, (8, length))
    return max(float(changes(word, bias(length))[:-1].max()) for word in words)


def test_bounded_buckets_of_distances_leave_one_over_n() -> None:
    scaled = [n * greatest(t5_bias, n) for n in (64, 512, 4096, 32768)]
    assert scaled == sorted(scaled)
    assert scaled[3] < 1.25 * scaled[2]


@pytest.mark.parametrize("bias", [alibi_bias, window_bias])
def test_distances_that_count_without_end_leave_a_constant(bias: Callable[[int], Floats]) -> None:
    near = [greatest(bias, n) for n in (64, 512, 4096)]
    assert min(near) > 0.1
    assert near[2] > 0.5 * near[0]
