"""The output without the clamps that write it: what it is, and what gradients of it see."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from functools import partial

import pytest
import torch
from torch import Tensor

import attemper
from attemper.compiling.softening.normalise import LayerNorm
from attemper.languages.named.zoo import language_named
from attemper.running.dense import DenseTransformer
from attemper.running.hooks import hooks

SEEN = {"majority": [1, 1], "dyck-1": [0, 0, 1], "k-hop-2": [0, 0, 3]}
"""How many heads of each layer have a gradient of `unclamped`, as docs/networks.md says."""


def words_of(name: str) -> list[tuple[str, ...]]:
    pairs = language_named(name).near_misses(count=25, longest=24, seed=1)
    return [word for pair in pairs for word in pair if word]


def heads_with_gradients(
    module: DenseTransformer, put_out: Callable[[Tensor, Tensor], Tensor], tokens: Tensor, lengths: Tensor
) -> list[int]:
    found: dict[int, Tensor] = {}

    def keep(layer: int, z: Tensor) -> None:
        z.retain_grad()
        found[layer] = z

    points = {f"blocks.{layer}.attn.hook_z": partial(keep, layer) for layer in range(module.cfg.n_layers)}
    with hooks(module, points):
        put_out(tokens, lengths)[0, -1].backward()  # type: ignore[no-untyped-call]
    grads = [found[layer].grad for layer in sorted(found)]
    return [0 if grad is None else int((grad != 0).any(dim=(0, 1, 3)).sum()) for grad in grads]


@pytest.mark.parametrize("name", SEEN)
def test_gradients_see_the_heads_behind_the_last_clamp(name: str) -> None:
    model = attemper.compile(f"zoo:{name}")
    module = model.dense().requires_grad_()
    counts: Counter[tuple[str, tuple[int, ...]]] = Counter()
    for word in words_of(name):
        for put_out in (module.forward, module.unclamped):
            seen = heads_with_gradients(module, put_out, *model.to_tokens([word]))
            counts[put_out.__name__, tuple(seen)] += 1
    assert counts == {("forward", (0,) * len(SEEN[name])): 50, ("unclamped", tuple(SEEN[name])): 50}


@pytest.mark.parametrize("name", ["majority", "dyck-1", "tomita-3", "ab-star"])
def test_of_one_clamp_it_is_above_a_half_where_the_bit_is_one(name: str) -> None:
    model = attemper.compile(f"zoo:{name}")
    module = model.dense()
    tokens, lengths = model.to_tokens(words_of(name))
    real = torch.arange(tokens.shape[1])[None] < lengths[:, None]
    line, output = module.unclamped(tokens, lengths), module(tokens, lengths)
    assert torch.equal((line > 0.5)[real], (output > 0.5)[real])
    assert bool((line != output)[real].any())


@pytest.mark.parametrize("norm", [None, LayerNorm()])
def test_it_is_the_sum_that_the_clamp_rounds(norm: LayerNorm | None) -> None:
    model = attemper.compile("O a", "ab", layer_norm=norm)
    line = model.dense().unclamped(*model.to_tokens(["bab"]))
    torch.testing.assert_close(line, torch.tensor([[-0.5, 1.5, 1.5]], dtype=line.dtype), atol=0.01, rtol=0)


def test_every_output_has_its_own() -> None:
    model = attemper.compile("zoo:copy-previous-symbol")
    tokens, lengths = model.to_tokens(["abcab"])
    module = model.dense()
    assert module.unclamped(tokens, lengths).shape == module(tokens, lengths).shape


def test_what_no_clamp_writes_is_the_output_itself() -> None:
    model = attemper.compile("a", "ab")
    tokens, lengths = model.to_tokens(["abba"])
    module = model.dense()
    assert torch.equal(module.unclamped(tokens, lengths), module(tokens, lengths))
