# ---
# jupyter:
#   jupytext:
#     text_representation:
#       extension: .py
#       format_name: percent
#   kernelspec:
#     display_name: Python 3
#     language: python
#     name: python3
# ---

# %% [markdown]
# # Patching a network whose truth is known
#
# *What does activation patching see of a network, and what does it miss?*
#
# Activation patching asks which part of a network carries what decides its answer: run it on a corrupted
# word, put one activation of the clean word in its place, and look whether the answer comes back. Here the
# network is compiled, so that what reads what is known exactly, and we can see what patching finds and what
# it misses.
#
# It needs `pip install '.[transformer-lens]'` in a clone, and takes a minute. Files go to a folder that is
# removed at the end.

# %%
import json
import os
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from tempfile import TemporaryDirectory

os.environ["TQDM_DISABLE"] = "1"  # no bars for hundreds of small runs

import torch
from transformer_lens import patching
from transformer_lens.hook_points import HookPoint

import attemper
from attemper.exports.transformer_lens import load

workplace = TemporaryDirectory()
folder = Path(workplace.name)

# %% [markdown]
# ## The network
#
# `k-hop-2`: from the last symbol go to what followed its previous occurrence, and from there once more; a
# word is accepted if this ends at an a. Induction heads do one such hop. Layers of this network differ in
# how many heads they have; `uniform_heads` adds heads that do nothing, since tools of patching want a
# table.

# %%
model = attemper.compile("zoo:k-hop-2")
assert [len(layer.heads) for layer in model.network.layers] == [1, 3, 3]
model.export("transformer-lens", folder / "lens", uniform_heads=True)
lens = load(folder / "lens")
assert (lens.cfg.n_layers, lens.cfg.n_heads) == (3, 3)
model

# %% [markdown]
# ## Clean and corrupted words
#
# The zoo gives pairs of one length that differ in one place, the first accepted and the second not. We take
# those whose last symbol is the same, so that the first hop starts alike.

# %%
Word = list[str]

drawn = [pair[:2] for pair in attemper.zoo["k-hop-2"].pairs(length=12, count=60, seed=1)]
pairs = [(list(clean), list(corrupted)) for clean, corrupted in drawn if clean[-1] == corrupted[-1]]
assert len(pairs) == 45
for clean, corrupted in pairs:
    assert [model.accepts(clean), model.accepts(corrupted)] == [True, False]
    assert sum(map(str.__ne__, clean, corrupted)) == 1
print("\n".join(f"{''.join(clean)} {''.join(corrupted)}" for clean, corrupted in pairs[:5]))

# %% [markdown]
# ## What patching sees
#
# Each head in turn, at all positions at once; the metric is the output at the last position, which is a
# bit.


# %%
def verdict(output: torch.Tensor) -> torch.Tensor:
    return output[0, -1]


@torch.no_grad()
def restored_by(clean: Word, corrupted: Word) -> torch.Tensor:
    """Which heads bring the answer back, [layer, head]."""
    _, cache = lens.run_with_cache([clean])
    tokens = lens.to_tokens([corrupted])
    patched: torch.Tensor = patching.get_act_patch_attn_head_out_all_pos(lens, tokens, cache, verdict)
    return patched > 0.5


found = torch.stack([restored_by(clean, corrupted) for clean, corrupted in pairs])
found.sum(dim=0)  # in how many of the 45 pairs, [layer, head]

# %% [markdown]
# In every pair exactly one head of the last layer brings the answer back: the one that reads the symbol
# which the second hop starts from. The padding heads of layer 0 never do.

# %%
assert (found[:, 2].sum(dim=1) == 1).all()
assert not found[:, 0, 1:].any()

# %% [markdown]
# ## What is true
#
# [The circuit](../circuit.md) is read off the exact weights: all seven heads reach the output, and what is
# no edge there has no influence at all.

# %%
model.export("circuit", folder / "circuit.json")
circuit = json.loads((folder / "circuit.json").read_text())
reads = {(edge["from"], edge["to"]) for edge in circuit["edges"]}


def behind(component: str) -> set[str]:
    """What a component can have an influence on."""
    seen = {component}
    while more := {target for source, target in reads if source in seen} - seen:
        seen |= more
    return seen - {component}


heads = [entry["component"] for entry in circuit["components"] if entry["kind"] == "head"]
assert len(heads) == 7
assert all("output" in behind(head) for head in heads)
assert {"head 2.0", "head 2.1", "head 2.2"} <= behind("head 1.0")
assert not any(head.startswith("head 1") for head in behind("head 1.0"))

# %% [markdown]
# ## What patching misses
#
# The first hop is made in layer 1. But in most pairs no head of layer 1 brings the answer back, and all
# three of them together do in 13 pairs of 45.


# %%
@torch.no_grad()
def accepts_with(clean: Word, corrupted: Word, layers: tuple[int, ...]) -> bool:
    """The verdict on the corrupted word with all heads of some layers as in the clean one."""
    _, cache = lens.run_with_cache([clean])

    def patch(z: torch.Tensor, hook: HookPoint) -> torch.Tensor:
        kept: torch.Tensor = cache[hook.name]
        return kept

    hooks = [(f"blocks.{layer}.attn.hook_z", patch) for layer in layers]
    return bool(verdict(lens.run_with_hooks([corrupted], fwd_hooks=hooks)) > 0.5)


restored: Counter[tuple[int, ...]] = Counter()
for clean, corrupted in pairs:
    for layers in [(0,), (1,), (2,), (0, 1)]:
        restored[layers] += accepts_with(clean, corrupted, layers)
assert restored == {(0,): 33, (1,): 13, (2,): 45, (0, 1): 44}
restored

# %% [markdown]
# Yet layer 1 is needed: without its heads the clean word is rejected in most pairs. One changed symbol is
# read twice. Heads of layer 1 and of layer 2 both look for positions *after* a symbol, which layer 0 has
# marked, and the changed symbol spoils the marks for both. With layer 1 as it was, layer 2 still goes by
# spoilt marks; only layers 0 and 1 together bring (nearly) every answer back. A head that patching passes
# over may be a part of the circuit all the same: it can be one of two paths that both must be clean.


# %%
@torch.no_grad()
def is_accepted_without(word: Word, layer: int) -> bool:
    """The verdict on a word with the heads of one layer removed."""
    hooks = [(f"blocks.{layer}.attn.hook_z", lambda z, hook: torch.zeros_like(z))]
    return bool(verdict(lens.run_with_hooks([word], fwd_hooks=hooks)) > 0.5)


without = [sum(is_accepted_without(clean, layer) for clean, _ in pairs) for layer in range(3)]
assert without[0] == 0
assert without[1] < len(pairs) / 2
without

# %% [markdown]
# ## What patching names though it is not used
#
# A head of layer 1 that brings the answer back need not be one that the clean word is decided by: the patch
# can make a path of its own. Whether the clean word needs the head shows where the head is removed.


# %%
@torch.no_grad()
def needs(word: Word, layer: int, head: int) -> bool:
    """Whether a word that is accepted is rejected without one head."""

    def remove(z: torch.Tensor, hook: HookPoint) -> torch.Tensor:
        z[:, :, head] = 0
        return z

    return bool(
        verdict(lens.run_with_hooks([word], fwd_hooks=[(f"blocks.{layer}.attn.hook_z", remove)])) < 0.5
    )


named = (found[:, 1] > 0.5).nonzero().tolist()
unused = [(number, head) for number, head in named if not needs(pairs[number][0], 1, head)]
assert (len(named), len(unused)) == (13, 2)
assert all(needs(pairs[number][0], 2, head) for number, head in (found[:, 2] > 0.5).nonzero().tolist())
[("".join(pairs[number][0]), f"head 1.{head}") for number, head in unused]

# %% [markdown]
# ## Gradients see less
#
# Attribution by gradients would be cheaper than a run for each head. The output is made by clamps, which
# are flat, so its gradient is 0 everywhere; `unclamped` is the sum before the last clamps
# ([networks](../networks.md#gradients)). It reaches the heads of the last layer alone: between layers stand
# clamps.

# %%
lens.requires_grad_(True)


def heads_with_gradients(word: Word, function: Callable[[list[Word]], torch.Tensor]) -> list[bool]:
    """In which layers some head's output has a gradient other than 0."""
    grads: dict[int, bool] = {}

    def keep(grad: torch.Tensor, hook: HookPoint) -> None:
        grads[hook.layer()] = bool((grad != 0).any())

    hooks = [(f"blocks.{layer}.attn.hook_z", keep) for layer in range(3)]
    with lens.hooks(bwd_hooks=hooks):
        verdict(function([word])).backward()  # type: ignore[no-untyped-call]
    return [grads.get(layer, False) for layer in range(3)]


for clean, _ in pairs[:10]:
    assert heads_with_gradients(clean, lens) == [False, False, False]
    assert heads_with_gradients(clean, lens.unclamped) == [False, False, True]

# %% [markdown]
# So on a network whose truth is known: patching names heads that carry the difference between two words,
# one at a time; it misses those that act together, names a few that the clean word does not use, and
# gradients miss all but the last layer. [The circuit](../circuit.md) has the edges to compare any other
# method with.

# %%
workplace.cleanup()
