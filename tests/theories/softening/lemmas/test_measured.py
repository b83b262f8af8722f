"""What is measured of a softened network, against a plain run of its matrices in floats."""

from __future__ import annotations

from fractions import Fraction
from itertools import product

import numpy as np
import pytest

from attemper.exact.closed_forms import evaluate
from attemper.theories.softening.check.hard import uniform_heads
from attemper.theories.softening.lemmas.measured import measured
from attemper.theories.softening.search.soften import constant
from attemper.theories.softening.search.temperatures import softened
from tests.support.drawn.tieless_networks import DrawnHead, DrawnLayer, DrawnNetwork, tieless

Stream = np.ndarray


def embedded(drawn: DrawnNetwork, word: tuple[str, ...]) -> Stream:
    network, n = drawn.network, len(word)
    stream = np.zeros((n, len(network.coordinates)))
    for i, symbol in enumerate(word):
        for c, value in network.embedding["ab".index(symbol)]:
            stream[i, c] += float(value)
        for c, form in network.positions:
            stream[i, c] += float(evaluate(form, i + 1, n))
    return stream


def scores(head: DrawnHead, stream: Stream, visible: np.ndarray) -> Stream:
    query, key = np.array(head.query, dtype=float), np.array(head.key, dtype=float)
    return np.where(visible, (stream @ query.T) @ (stream @ key.T).T / 2, -np.inf)


def shown(layer: DrawnLayer, n: int) -> np.ndarray:
    return np.array([[j + 1 in layer.masking.visible(i + 1, n) for j in range(n)] for i in range(n)])


def weights(raw: Stream, visible: np.ndarray, cold: float | None) -> Stream:
    """Hard where there is no temperature: all positions of the greatest score, several in uniform heads."""
    top = raw.max(axis=1, keepdims=True)
    powers = np.where(visible, raw >= top if cold is None else np.exp((raw - top) * cold), 0.0)
    return powers / powers.sum(axis=1, keepdims=True)


def fed(layer: DrawnLayer, middle: Stream) -> Stream:
    inner, outer = (np.array(rows, dtype=float) for rows in (layer.inner, layer.outer))
    return middle + np.maximum(middle @ inner.T + np.array(layer.bias, dtype=float), 0) @ outer.T


def plainly(drawn: DrawnNetwork, n: int, cold: float) -> list[dict[str, object]]:
    """The greatest of everything over all words of n symbols."""
    found = [
        {"read": 0.0, "before": 0.0, "behind_heads": 0.0, "after": 0.0, "outputs": 0.0}
        | {
            "heads": [
                dict.fromkeys(("sizes", "scores", "weights", "exact_weights", "values"), 0.0)
                for _ in one.heads
            ]
        }
        for one in drawn.layers
    ]

    def seen(into: dict, name: str, values: Stream) -> None:
        into[name] = max(into[name], float(np.abs(values).max()))

    for word in product("ab", repeat=n):
        hard = soft = embedded(drawn, word)
        for layer, into in zip(drawn.layers, found, strict=True):
            visible = shown(layer, n)
            seen(into, "read", hard)
            seen(into, "before", soft - hard)
            middle, softly = hard.copy(), soft.copy()
            for head, own in zip(layer.heads, into["heads"], strict=True):
                value = np.array(head.value, dtype=float)
                seen(own, "sizes", hard @ value.T)
                were, are = scores(head, hard, visible), scores(head, soft, visible)
                chosen, spread = weights(were, visible, None), weights(are, visible, cold)
                stray = chosen == 0
                seen(own, "scores", np.where(visible, are, 0) - np.where(visible, were, 0))
                seen(own, "weights", 2 * (spread * stray).sum(axis=1))
                seen(own, "exact_weights", 2 * (weights(were, visible, cold) * stray).sum(axis=1))
                added = spread @ (soft @ value.T) - chosen @ (hard @ value.T)
                seen(own, "values", added)
                middle += chosen @ (hard @ value.T)
                softly += spread @ (soft @ value.T)
            seen(into, "behind_heads", softly - middle)
            hard, soft = fed(layer, middle), fed(layer, softly)
            seen(into, "after", soft - hard)
            seen(into, "outputs", (soft - hard)[:, :1])
    return found


@pytest.mark.sweep(3)
@pytest.mark.parametrize("seed", range(12))
def test_errors_are_those_of_a_plain_run_of_the_matrices(seed):
    drawn, n, cold = tieless(seed, 3), 3, Fraction(40)
    soft = softened(drawn.network, constant(uniform_heads(drawn.network), cold))
    exact = measured(drawn.network, soft, product("ab", repeat=n))
    for number, (known, plain) in enumerate(zip(exact, plainly(drawn, n, float(cold)), strict=True)):
        for name in ("read", "before", "behind_heads", "after", "outputs"):
            assert float(getattr(known, name).mid()) == pytest.approx(plain[name], rel=1e-6, abs=1e-12)
        for head, own in zip(known.heads, plain["heads"], strict=True):
            for name, value in own.items():
                assert float(getattr(head, name).mid()) == pytest.approx(value, rel=1e-6, abs=1e-12), number


def test_before_the_first_layer_nothing_is_off_and_that_is_exactly_0():
    drawn = tieless(3, 3)
    soft = softened(drawn.network, constant(uniform_heads(drawn.network), Fraction(5)))
    first, *others = measured(drawn.network, soft, product("ab", repeat=3))
    assert first.before == 0
    assert all(head.scores == 0 for head in first.heads)
    assert others
    assert all(layer.before > 0 for layer in others)
